// SPDX-License-Identifier: Apache-2.0
#include "driver/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/operator.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// The firmware adds up the same way, in float: weights 1, 2, ... 7, 1, ... tell most exchanges of
// elements apart. The tolerance is for rounding differently in every element and every sum.
void sum_floats(const std::vector<uint8_t>& bytes, project::LayerCheck& check) {
  float sum = 0;
  double magnitude = 0;
  for (size_t i = 0; i * 4 < bytes.size(); ++i) {
    float value;
    std::memcpy(&value, &bytes[i * 4], 4);
    float weighted = value * static_cast<float>(i % 7 + 1);
    sum += weighted;
    magnitude += std::abs(static_cast<double>(weighted));
  }
  check.sum = sum;
  check.tolerance = static_cast<float>(1e-4 * magnitude + 1e-6);
}

}  // namespace

std::vector<project::LayerCheck> layer_checks(const Compiled& compiled, const Sample& sample) {
  const graph::Graph& graph = compiled.program.graph;
  for (const graph::Op& op : graph.ops)
    if (ops::definition_of(op).traits().external) return {};
  const auto values = ops::evaluate_graph(graph, sample);
  std::vector<project::LayerCheck> out;
  for (size_t c = 0; c < compiled.program.calls.size(); ++c) {
    const plan::ProgramCall& call = compiled.program.calls[c];
    if (call.op_index < 0) continue;  // a copy of what was compared before
    for (size_t r = 0; r < call.results.size(); ++r) {
      const auto& value = values[static_cast<size_t>(call.results[r].value)];
      project::LayerCheck check;
      check.call = static_cast<int>(c);
      check.result = static_cast<int>(r);
      check.bytes = static_cast<int64_t>(value.size());
      check.floating = graph[call.results[r]].type.dtype == DType::kF32;
      if (check.floating)
        sum_floats(value, check);
      else
        check.checksum =
            fnv1a_32({reinterpret_cast<const char*>(value.data()), value.size()});
      // Not a number has no sum to compare: nothing can be said of such a result.
      if (std::isfinite(check.sum) && std::isfinite(check.tolerance)) out.push_back(check);
    }
  }
  return out;
}

std::vector<std::string> layer_names(const Compiled& compiled) {
  std::vector<std::string> out;
  for (const plan::ProgramCall& call : compiled.program.calls)
    out.push_back(codegen::call_title(compiled.program, call));
  return out;
}

}  // namespace aotc::driver
