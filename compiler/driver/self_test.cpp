// SPDX-License-Identifier: Apache-2.0
#include "driver/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "driver/run_sequence.h"
#include "ops/operator.h"
#include "ops/tolerance.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// The bytes of floats as they are hashed: what counts as equal has one form (little endian).
uint32_t float_checksum(const std::vector<uint8_t>& bytes) {
  std::string canonical(bytes.begin(), bytes.end());
  for (size_t i = 0; i + 4 <= canonical.size(); i += 4) {
    uint32_t bits;
    std::memcpy(&bits, &canonical[i], 4);
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude == 0) bits = 0;
    if (magnitude > 0x7F800000u) bits = 0x7FC00000u;
    std::memcpy(&canonical[i], &bits, 4);
  }
  return fnv1a_32(canonical);
}

// The firmware adds up the same way, in float: weights 1, 2, ... 7, 1, ... tell most exchanges of
// elements apart, and what each sum loses goes into the next (Kahan), so that the tolerance is that of the
// elements and little more: three roundings an element here and there.
void sum_floats(const std::vector<uint8_t>& bytes, double allowed, project::LayerCheck& check) {
  constexpr double kRoundings = 6.0 / (1 << 24);
  float sum = 0, lost = 0;
  double magnitude = 0, weights = 0;
  for (size_t i = 0; i * 4 < bytes.size(); ++i) {
    float value;
    std::memcpy(&value, &bytes[i * 4], 4);
    auto weight = static_cast<float>(i % 7 + 1);
    float more = value * weight - lost, next = sum + more;
    lost = (next - sum) - more;
    sum = next;
    magnitude += std::abs(static_cast<double>(value) * weight);
    weights += weight;
  }
  check.sum = sum;
  double tolerance = allowed * weights + kRoundings * magnitude;
  check.tolerance = std::nextafter(static_cast<float>(tolerance), std::numeric_limits<float>::max());
}

}  // namespace

std::vector<project::LayerCheck> layer_checks(const Compiled& compiled, const Sample& sample) {
  const graph::Graph& graph = compiled.program.graph;
  for (const graph::Op& op : graph.ops)
    if (ops::definition_of(op).traits().external) return {};
  RunSequence sequence;
  sequence.runs.push_back({sample, true});
  const RunValues run = std::move(evaluate_sequence(compiled.program.reference(), sequence, &compiled.program)[0]);
  if (run.gave_up) return {};
  const RunTolerances tolerances(compiled.program, sample, run);
  std::vector<project::LayerCheck> out;
  for (const CallResult& result : run.calls) {
    const graph::TensorId id =
        compiled.program.calls[static_cast<size_t>(result.call)].results[static_cast<size_t>(result.result)];
    const std::vector<uint8_t>& value = result.bytes;
    const auto tolerance = tolerances.of(id, value);
    if (!tolerance) continue;
    project::LayerCheck check;
    check.call = result.call;
    check.result = result.result;
    check.bytes = static_cast<int64_t>(value.size());
    check.floating = graph[id].type.dtype == DType::kF32;
    if (check.floating && !tolerance->exact()) sum_floats(value, tolerance->allowed(), check);
    else if (check.floating) check.checksum = float_checksum(value);
    else check.checksum = fnv1a_32({reinterpret_cast<const char*>(value.data()), value.size()});
    // A sum that is no number cannot be compared: nothing is said of such a result.
    if (std::isfinite(check.sum) && std::isfinite(check.tolerance)) out.push_back(check);
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
