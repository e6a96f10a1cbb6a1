// SPDX-License-Identifier: Apache-2.0
#include "driver/inputs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "ops/constants.h"
#include "ops/operator.h"
#include "support/npy.h"
#include "support/text.h"

namespace aotc::driver {

uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

namespace {

// Values of integer inputs that the operators which take them as indices accept. An operator that may fail checks
// indices that are constants (Operator::verify), so indices that follow from the inputs by integer operators alone are
// computed and shown to it as constants.
class IndexRanges {
 public:
  explicit IndexRanges(const graph::Graph& graph) : work_(graph), known_(graph.tensors.size(), false) {
    std::vector<bool> leave_out;
    for (size_t t = 0; t < known_.size(); ++t)
      known_[t] = is_whole(work_.tensors[t]) && work_.tensors[t].constant.has_value();
    for (const graph::Port& port : work_.inputs) known_[at(port.tensor)] = is_whole(work_[port.tensor]);
    for (const graph::Op& op : work_.ops) {
      const bool follows = ops::may_evaluate({work_, op}) && all(op.operands, true) && all(op.results, false);
      for (graph::TensorId id : op.results) known_[at(id)] = follows;
      leave_out.push_back(!follows);
      if (ops::definition_of(op).traits().may_fail && op.regions.empty()) takers_.push_back(op);
    }
    graph::remove_ops(work_, leave_out);
    work_.outputs.clear();
  }

  // Are 0 and `largest` accepted in every element of this input, while the others are 0?
  bool takes(size_t input, uint64_t largest) {
    std::vector<std::vector<uint8_t>> values;
    for (const graph::Port& port : work_.inputs) {
      const graph::TensorType& t = work_[port.tensor].type;
      values.emplace_back(static_cast<size_t>(t.bytes()));
      if (values.size() - 1 != input) continue;
      for (size_t i = 0; i < values.back().size(); i += static_cast<size_t>(size_of(t.dtype)))
        values.back()[i] = static_cast<uint8_t>(largest);
    }
    const auto computed = ops::evaluate_graph(work_, values);
    return std::all_of(takers_.begin(), takers_.end(),
                       [&](const graph::Op& op) { return accepts(op, values, computed); });
  }

  // The number of values from 0 on, at most `most`, that are accepted; `most` if not even 0 is, so that it is no matter
  // of range.
  uint64_t count(size_t input, uint64_t most) {
    if (takers_.empty() || !known_[at(work_.inputs[input].tensor)] || takes(input, most - 1) || !takes(input, 0))
      return most;
    uint64_t good = 0, bad = most - 1;
    while (bad - good > 1) {
      const uint64_t middle = (good + bad) / 2;
      (takes(input, middle) ? good : bad) = middle;
    }
    return bad;
  }

 private:
  static size_t at(graph::TensorId id) { return static_cast<size_t>(id.value); }
  static bool is_whole(const graph::Tensor& t) {
    return t.type.dtype != DType::kF32 && t.type.dtype != DType::kF64 && !t.type.quantization.present();
  }
  bool all(const std::vector<graph::TensorId>& ids, bool known) const {
    return std::all_of(ids.begin(), ids.end(), [&](graph::TensorId id) {
      return !id.valid() || (known ? known_[at(id)] : is_whole(work_[id]));
    });
  }

  bool accepts(const graph::Op& op, const std::vector<std::vector<uint8_t>>& inputs,
               const std::vector<std::vector<uint8_t>>& computed) {
    std::vector<graph::TensorId> shown;
    for (graph::TensorId id : op.operands) {
      if (!id.valid() || !known_[at(id)] || work_[id].constant) continue;
      std::vector<uint8_t> bytes = computed[at(id)];
      for (size_t i = 0; i < inputs.size(); ++i)
        if (work_.inputs[i].tensor == id) bytes = inputs[i];
      work_[id].constant = graph::own_bytes(std::move(bytes));
      shown.push_back(id);
    }
    Diagnostics quiet;
    const bool good = shown.empty() || ops::verify_op({work_, op}, quiet);
    for (graph::TensorId id : shown) work_[id].constant.reset();
    return good;
  }

  graph::Graph work_;        // with the operators that compute indices alone
  std::vector<bool> known_;  // by tensor: follows from integer inputs and constants
  std::vector<graph::Op> takers_;
};

}  // namespace

Sample random_sample(const graph::Graph& graph, uint64_t seed) {
  uint64_t state = seed * 0x2545F4914F6CDD1Dull + 1;
  Sample out;
  constexpr uint64_t kMostIndex = 100;
  std::optional<IndexRanges> ranges;
  for (const graph::Port& port : graph.inputs) {
    const graph::TensorType& t = graph[port.tensor].type;
    std::vector<uint8_t> bytes(static_cast<size_t>(t.bytes()));
    uint64_t count = kMostIndex;
    if (t.dtype == DType::kI16 || t.dtype == DType::kI32 || t.dtype == DType::kI64) {
      if (!ranges) ranges.emplace(graph);
      count = ranges->count(out.size(), kMostIndex);
    }
    if (t.dtype == DType::kF32) {
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        float v = static_cast<float>(static_cast<double>(next_random(state) >> 11) / 4503599627370496.0 - 1.0);
        std::memcpy(&bytes[i], &v, 4);
      }
    } else if (t.dtype == DType::kI32 || t.dtype == DType::kI64 || count < kMostIndex) {
      // Small numbers: these are indices or counts far more often than full-range data.
      auto step = static_cast<size_t>(size_of(t.dtype));
      for (size_t i = 0; i < bytes.size(); i += step) bytes[i] = static_cast<uint8_t>(next_random(state) % count);
    } else {
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(next_random(state) >> 56);
      if (t.dtype == DType::kBool)
        for (uint8_t& b : bytes) b &= 1;
    }
    out.push_back(std::move(bytes));
  }
  return out;
}

namespace {

std::vector<int64_t> without_ones(const std::vector<int64_t>& shape) {
  std::vector<int64_t> out;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(out), [](int64_t d) { return d != 1; });
  return out;
}

// Is an array of so many samples one of stacked samples in the order of the tensor's elements?
// Dimensions of 1 are not looked at; samples may be given flat, and stacked along a first dimension
// that the tensor has.
bool stacks(const std::vector<int64_t>& array, const graph::TensorType& t, size_t samples) {
  const std::vector<int64_t> have = without_ones(array), want = without_ones(t.shape);
  const auto count = static_cast<int64_t>(samples);
  const auto is_stack_of = [&](const std::vector<int64_t>& sample) {
    std::vector<int64_t> stacked = sample;
    if (count > 1) stacked.insert(stacked.begin(), count);
    if (have == stacked) return true;
    if (sample.empty()) return false;
    stacked = sample;
    stacked[0] *= count;
    return have == stacked;
  };
  return is_stack_of(want) || is_stack_of(without_ones({t.elements()}));
}

}  // namespace

Result<std::vector<Sample>> read_samples(const graph::Graph& graph, const std::vector<std::string>& files,
                                         Diagnostics& diags) {
  Location where;
  std::vector<std::string> path(graph.inputs.size());
  for (size_t i = 0; i < files.size(); ++i) {
    size_t eq = files[i].find('=');
    size_t index = i;
    std::string file = files[i];
    if (eq != std::string::npos && !std::filesystem::exists(file)) {
      std::string name = file.substr(0, eq);
      file = file.substr(eq + 1);
      for (index = 0; index < graph.inputs.size(); ++index)
        if (graph.inputs[index].name == name || c_identifier(graph.inputs[index].name) == name) break;
      if (index == graph.inputs.size()) {
        where.file = files[i];
        std::vector<std::string> names;
        for (const auto& p : graph.inputs) names.push_back(escape_for_display(p.name));
        auto& d = diags.error(where, "input-name", "the model has no input with this name");
        for (const std::string& n : names) d.note("input: " + n);
        return kFailure;
      }
    }
    if (index >= path.size()) break;
    path[index] = file;
  }
  if (files.size() != graph.inputs.size()) {
    where.file = graph.source_file;
    diags.error(where, "input-count",
                fmt::format("the model has {} inputs, but {} files were given", graph.inputs.size(), files.size()));
    return kFailure;
  }
  std::vector<Sample> out;
  for (size_t i = 0; i < path.size(); ++i) {
    where.file = path[i];
    auto array = read_npy(path[i], diags);
    if (!array) return kFailure;
    const graph::TensorType& t = graph[graph.inputs[i].tensor].type;
    if (array->dtype != t.dtype) {
      diags.error(where, "input-type",
                  fmt::format("the array has type {}, but input '{}' has type {}", name_of(array->dtype),
                              escape_for_display(graph.inputs[i].name), name_of(t.dtype)));
      return kFailure;
    }
    auto each = static_cast<size_t>(t.bytes());
    size_t count = each > 0 ? array->bytes.size() / each : 0;
    if (count == 0 || array->bytes.size() % each != 0 || !stacks(array->shape, t, count)) {
      diags
          .error(where, "input-shape",
                 fmt::format("the array has shape {}, but input '{}' needs {} (you may stack several samples)",
                             graph::to_string(array->shape), escape_for_display(graph.inputs[i].name),
                             graph::to_string(t.shape)))
          .help("bring the axes into the model's order with numpy.transpose, or change the shape with numpy.reshape");
      return kFailure;
    }
    if (i == 0) out.resize(count);
    if (out.size() != count) {
      diags.error(where, "input-count",
                  fmt::format("the file holds {} samples, but the first file holds {}", count, out.size()));
      return kFailure;
    }
    for (size_t s = 0; s < count; ++s)
      out[s].emplace_back(array->bytes.begin() + static_cast<long>(s * each),
                          array->bytes.begin() + static_cast<long>((s + 1) * each));
  }
  return out;
}

}  // namespace aotc::driver
