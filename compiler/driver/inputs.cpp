// SPDX-License-Identifier: Apache-2.0
#include "driver/inputs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "support/npy.h"
#include "support/text.h"

namespace aotc::driver {

uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

Sample random_sample(const graph::Graph& graph, uint64_t seed) {
  uint64_t state = seed * 0x2545F4914F6CDD1Dull + 1;
  Sample out;
  for (const graph::Port& port : graph.inputs) {
    const graph::TensorType& t = graph[port.tensor].type;
    std::vector<uint8_t> bytes(static_cast<size_t>(t.bytes()));
    if (t.dtype == DType::kF32) {
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        float v =
            static_cast<float>(static_cast<double>(next_random(state) >> 11) / 4503599627370496.0 - 1.0);
        std::memcpy(&bytes[i], &v, 4);
      }
    } else if (t.dtype == DType::kI32 || t.dtype == DType::kI64) {
      // Small numbers: these are indices or counts far more often than full-range data.
      auto step = static_cast<size_t>(size_of(t.dtype));
      for (size_t i = 0; i < bytes.size(); i += step)
        bytes[i] = static_cast<uint8_t>(next_random(state) % 100);
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
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(out),
               [](int64_t d) { return d != 1; });
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

Result<std::vector<Sample>> read_samples(const graph::Graph& graph,
                                         const std::vector<std::string>& files,
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
        if (graph.inputs[index].name == name || c_identifier(graph.inputs[index].name) == name)
          break;
      if (index == graph.inputs.size()) {
        where.file = files[i];
        std::vector<std::string> names;
        for (const auto& p : graph.inputs) names.push_back(escape_for_display(p.name));
        auto& d = diags.error(where, "input-name", "the model has no such input");
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
                fmt::format("the model has {} inputs, {} files were given", graph.inputs.size(),
                            files.size()));
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
                  fmt::format("the array is {}, input '{}' is {}", name_of(array->dtype),
                              escape_for_display(graph.inputs[i].name), name_of(t.dtype)));
      return kFailure;
    }
    auto each = static_cast<size_t>(t.bytes());
    size_t count = each > 0 ? array->bytes.size() / each : 0;
    if (count == 0 || array->bytes.size() % each != 0 || !stacks(array->shape, t, count)) {
      diags
          .error(where, "input-shape",
                 fmt::format("the array has shape {}, input '{}' takes {} (several may be stacked)",
                             graph::to_string(array->shape),
                             escape_for_display(graph.inputs[i].name), graph::to_string(t.shape)))
          .help("give the axes in the model's order: numpy.transpose, numpy.reshape");
      return kFailure;
    }
    if (i == 0) out.resize(count);
    if (out.size() != count) {
      diags.error(where, "input-count",
                  fmt::format("holds {} samples, the first file holds {}", count, out.size()));
      return kFailure;
    }
    for (size_t s = 0; s < count; ++s)
      out[s].emplace_back(array->bytes.begin() + static_cast<long>(s * each),
                          array->bytes.begin() + static_cast<long>((s + 1) * each));
  }
  return out;
}

}  // namespace aotc::driver
