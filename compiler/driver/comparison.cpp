// SPDX-License-Identifier: Apache-2.0
#include "driver/comparison.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "driver/terminal.h"
#include "ops/tolerance.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr uint32_t kOutputMagic = 0x52544F41;
constexpr uint32_t kRecordTiming = 0xFFFFFFFD, kRecordSummary = 0xFFFFFFFF;

std::string integer_text(const uint8_t* at, DType t) {
  switch (t) {
    case DType::kI8: return std::to_string(static_cast<int8_t>(*at));
    case DType::kU8:
    case DType::kBool: return std::to_string(*at);
    default: {
      int64_t v = 0;
      std::memcpy(&v, at, static_cast<size_t>(size_of(t)));
      if (t == DType::kI16) v = static_cast<int16_t>(v);
      if (t == DType::kI32) v = static_cast<int32_t>(v);
      return std::to_string(v);
    }
  }
}

std::string index_text(size_t flat, const graph::Shape& shape) {
  std::string out;
  for (size_t d = shape.size(); d-- > 0;) {
    auto n = static_cast<size_t>(std::max<int64_t>(shape[d], 1));
    out = fmt::format("{}{}{}", flat % n, out.empty() ? "" : ",", out);
    flat /= n;
  }
  return "[" + out + "]";
}

template <typename T>
T number_at(std::span<const uint8_t> bytes, size_t at) {
  T v;
  std::memcpy(&v, &bytes[at], sizeof v);
  return v;
}

}  // namespace

DeviceResults read_results(std::span<const uint8_t> file) {
  DeviceResults out;
  size_t at = 4;
  out.well_formed = file.size() >= at && number_at<uint32_t>(file, 0) == kOutputMagic;
  while (out.well_formed && at + 16 <= file.size()) {
    DeviceRecord r{
        number_at<uint32_t>(file, at), number_at<uint32_t>(file, at + 4), number_at<uint32_t>(file, at + 8), {}};
    const size_t n = number_at<uint32_t>(file, at + 12);
    at += 16;
    out.well_formed = n <= file.size() - at;
    if (!out.well_formed) break;
    r.data = file.subspan(at, n);
    at += n;
    if (r.op == kRecordTiming && n == 8) {
      out.op_ticks.push_back(number_at<int64_t>(r.data, 0));
    } else if (r.op == kRecordSummary && n == 24) {
      out.summary.status = number_at<int32_t>(r.data, 0);
      out.summary.stack_bytes = number_at<uint32_t>(r.data, 4);
      out.summary.guard_ok = number_at<uint32_t>(r.data, 8);
      out.summary.length = number_at<uint64_t>(r.data, 16);
      out.ended = true;
    } else {
      out.records.push_back(r);
    }
  }
  // More ticks than a clock of 10 GHz makes in three years.
  constexpr uint64_t kMostTicks = uint64_t{1} << 60;
  out.times_possible = out.summary.length <= kMostTicks;
  for (int64_t ticks : out.op_ticks)
    out.times_possible = out.times_possible && ticks >= 0 && static_cast<uint64_t>(ticks) <= kMostTicks;
  return out;
}

Comparison::Comparison(const Compiled& compiled, std::string place, const RunSequence& sequence, Diagnostics& diags)
    : compiled_(compiled),
      diags_(diags),
      layers_(compiled.program.calls.size()),
      reference_(evaluate_sequence(compiled.program.reference(), sequence, &compiled.program)),
      // The model as read, before any pass: its outputs must be what the optimised graph gives.
      original_(evaluate_sequence(compiled.original, sequence)) {
  where_.file = std::move(place);
  for (size_t i = 0; i < reference_.size(); ++i) {
    inputs_.push_back(sequence.runs[i].inputs);
    tolerances_.emplace_back(compiled.program, inputs_[i], reference_[i]);
  }
  for (const plan::ProgramCall& call : compiled.program.calls) {
    rows_.emplace_back();
    for (graph::TensorId id : call.rows) {
      rows_.back().push_back({id, layers_.size(), std::vector<size_t>(reference_.size(), 0)});
      layers_.emplace_back();
    }
  }
}

bool Comparison::compare(const DeviceResults& results) {
  for (const RunValues& run : reference_) {
    if (!run.gave_up) continue;
    diags_.error(where_, "verify-loop", "a loop of the model does not end in the reference run")
        .help("give inputs for which the loop ends, with --input FILE.npy");
    return false;
  }
  if (!results.well_formed) return bad_file();
  if (!results.times_possible) {
    diags_
        .error(where_, "verify-device",
               fmt::format("the device reports impossible times: {} for a run", results.summary.length))
        .help("the clock of the firmware is wrong: create it again with this aotc, or correct clock.hz in board.json");
    return false;
  }
  expect_calls();
  for (const DeviceRecord& r : results.records) {
    if (r.sample >= reference_.size()) return bad_file();
    if (r.is_output() ? !output(r) : !layer(r)) return false;
  }
  if (!results.ended || results.summary.status != 0) {
    diags_.error(where_, "verify-device",
                 fmt::format("the run of the model failed: status {}", results.summary.status));
    return false;
  }
  if (results.summary.guard_ok != 1) {
    diags_.error(where_, "verify-guard", "the model wrote outside of its arena");
    return false;
  }
  return all_came();
}

int64_t Comparison::worst_ulp() const {
  int64_t worst = 0;
  for (const Layer& l : layers_) worst = std::max(worst, l.worst_ulp);
  return worst;
}

int Comparison::exact_layers() const {
  return static_cast<int>(std::count_if(layers_.begin(), layers_.end(),
                                        [](const Layer& l) { return l.worst_ulp == 0 && !l.not_compared; }));
}

int Comparison::layers_not_compared() const {
  return static_cast<int>(std::count_if(layers_.begin(), layers_.end(), [](const Layer& l) { return l.not_compared; }));
}

void Comparison::expect_calls() {
  expected_.assign(reference_.size(), {});
  for (size_t s = 0; s < reference_.size(); ++s) {
    expected_[s].resize(rows_.size());
    for (const CallResult& result : reference_[s].calls)
      expected_[s][static_cast<size_t>(result.call)].push_back(&result);
  }
}

bool Comparison::bad_file() {
  diags_.error(where_, "verify-device", "the device wrote a malformed result file");
  return false;
}

bool Comparison::all_came() {
  for (size_t s = 0; s < expected_.size(); ++s)
    for (size_t c = 0; c < expected_[s].size(); ++c) {
      if (expected_[s][c].empty()) continue;
      diags_.error(where_, "verify-device",
                   fmt::format("call {} did not report {} of its results for sample {}", c, expected_[s][c].size(), s));
      return false;
    }
  for (size_t c = 0; c < rows_.size(); ++c)
    for (const Rows& rows : rows_[c])
      for (size_t s = 0; s < rows.bytes.size(); ++s) {
        if (rows.bytes[s] == reference_[s].values[static_cast<size_t>(rows.id.value)].size()) continue;
        diags_.error(
            where_, "verify-device",
            fmt::format(
                "call {} reported {} of '{}' for sample {}, expected {}", c,
                exact_bytes(static_cast<int64_t>(rows.bytes[s])),
                escape_for_display(compiled_.program.graph[rows.id].name), s,
                exact_bytes(static_cast<int64_t>(reference_[s].values[static_cast<size_t>(rows.id.value)].size()))));
        return false;
      }
  return true;
}

bool Comparison::layer(const DeviceRecord& r) {
  const plan::Program& p = compiled_.program;
  if (r.op >= p.calls.size()) return bad_file();
  const plan::ProgramCall& call = p.calls[r.op];
  if (call.op_index < 0) return true;  // a copy to an output: compared as the output
  if (r.result >= call.results.size() + call.rows.size()) return bad_file();
  if (r.result >= call.results.size()) return row(r, call, rows_[r.op][r.result - call.results.size()]);
  std::deque<const CallResult*>& expected = expected_[r.sample][r.op];
  if (expected.empty() || expected.front()->result != static_cast<int>(r.result)) {
    diags_.error(where_, "verify-differs",
                 fmt::format("{}: for sample {}, the device executes this call more often than the reference",
                             codegen::call_title(p, call), r.sample));
    return false;
  }
  const CallResult* want = expected.front();
  expected.pop_front();
  graph::TensorId id = call.results[r.result];
  const auto allowed = tolerances_[r.sample].of(id, want->bytes);
  if (!allowed) {
    layers_[r.op].not_compared = true;
    return r.data.size() == want->bytes.size() || bad_file();
  }
  return equal(r, want->bytes, p.graph[id], *allowed, codegen::call_title(p, call), &layers_[r.op].worst_ulp);
}

bool Comparison::row(const DeviceRecord& r, const plan::ProgramCall& call, Rows& rows) {
  const plan::Program& p = compiled_.program;
  const std::vector<uint8_t>& whole = reference_[r.sample].values[static_cast<size_t>(rows.id.value)];
  size_t& came = rows.bytes[r.sample];
  if (r.data.size() > whole.size() - came) return bad_file();
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(came);
  const std::vector<uint8_t> want(begin, begin + static_cast<std::ptrdiff_t>(r.data.size()));
  came += r.data.size();
  const auto allowed = tolerances_[r.sample].of(rows.id, want);
  if (!allowed) {
    layers_[rows.layer].not_compared = true;
    return true;
  }
  graph::Tensor tensor = p.graph[rows.id];
  tensor.type.shape[1] = 1;
  const std::string title = fmt::format("{}, bytes {} to {} of '{}'", codegen::call_title(p, call), came - want.size(),
                                        came, escape_for_display(tensor.name));
  return equal(r, want, tensor, *allowed, title, &layers_[rows.layer].worst_ulp);
}

bool Comparison::output(const DeviceRecord& r) {
  const graph::Graph& g = compiled_.program.reference();
  if (r.result >= g.outputs.size()) return bad_file();
  graph::TensorId id = g.outputs[r.result].tensor;
  graph::TensorId before = compiled_.original.outputs[r.result].tensor;
  const std::vector<uint8_t> want = value_of(g, id, r.sample, reference_);
  // Outputs are of the outermost graph, where everything can be compared.
  const ops::Tolerance allowed = tolerances_[r.sample].of(id, want).value_or(ops::Tolerance());
  const std::string title = fmt::format("output '{}'", escape_for_display(g.outputs[r.result].name));
  int64_t worst = 0;
  if (!equal(r, want, g[id], allowed, title, &worst)) return false;
  return !same_types_as_original(id, before) || equal(r, value_of(compiled_.original, before, r.sample, original_),
                                                      g[id], allowed, title + " of the model before passes", &worst);
}

// With stripped boundaries inputs and outputs are another type: nothing to compare.
bool Comparison::same_types_as_original(graph::TensorId id, graph::TensorId before) const {
  const graph::Graph &g = compiled_.program.reference(), &original = compiled_.original;
  bool same = g[id].type.dtype == original[before].type.dtype;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    same = same && g[g.inputs[i].tensor].type.dtype == original[original.inputs[i].tensor].type.dtype;
  return same;
}

std::vector<uint8_t> Comparison::value_of(const graph::Graph& g, graph::TensorId id, uint32_t sample,
                                          const std::vector<RunValues>& values) const {
  if (g.is_constant(id)) return {g[id].constant->bytes.begin(), g[id].constant->bytes.end()};
  const auto& v = values[sample].values[static_cast<size_t>(id.value)];
  if (!v.empty()) return v;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i].tensor == id) return inputs_[sample][i];
  return v;
}

bool Comparison::equal(const DeviceRecord& r, const std::vector<uint8_t>& want, const graph::Tensor& tensor,
                       const ops::Tolerance& allowed, const std::string& title, int64_t* worst) {
  if (r.data.size() != want.size()) return bad_file();
  auto step = static_cast<size_t>(size_of(tensor.type.dtype));
  for (size_t i = 0; i < want.size(); i += step) {
    if (std::memcmp(&r.data[i], &want[i], step) == 0) continue;
    std::string have_text, want_text;
    if (tensor.type.dtype == DType::kF32) {
      const float a = number_at<float>(r.data, i), b = number_at<float>(want, i);
      int64_t d = allowed.distance(a, b);
      *worst = std::max(*worst, d);
      if (d <= allowed.ulps) continue;
      have_text = fmt::format("{}", a);
      want_text =
          fmt::format("{} (difference: {} ulp of the layer's largest value; allowed: {} ulp)", b, d, allowed.ulps);
    } else {
      have_text = integer_text(&r.data[i], tensor.type.dtype);
      want_text = integer_text(&want[i], tensor.type.dtype);
      *worst = INT64_MAX;
    }
    diags_
        .error(where_, "verify-differs",
               fmt::format("{}: sample {}, element {} ({}) is {}, the reference gives {}", title, r.sample, i / step,
                           index_text(i / step, tensor.type.shape), have_text, want_text))
        .note(fmt::format("tensor '{}': {}", escape_for_display(tensor.name), codegen::describe(tensor.type)))
        .help(
            "this is a bug in aotc or in the toolchain: to find out in which of the two, compile with other "
            "optimisation flags");
    return false;
  }
  return true;
}

}  // namespace aotc::driver
