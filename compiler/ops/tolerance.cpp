// SPDX-License-Identifier: Apache-2.0
#include "ops/tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/operator.h"

namespace aotc::ops {

namespace {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using Bytes = std::vector<uint8_t>;

// Results of library functions are moved up in one evaluation, and up or down by chance in the others: a
// sum of many errors is largest when they are alike, most other things when they are not.
constexpr int kEvaluations = 3;
// How much worse than the worst of these evaluations it may be, and what is allowed in any case.
constexpr double kMargin = 4;
constexpr int64_t kLeastUlps = 16;

size_t index(TensorId id) { return static_cast<size_t>(id.value); }

std::vector<bool> inexact_tensors(const Graph& graph) {
  std::vector<bool> inexact(graph.tensors.size(), false);
  for (const Op& op : graph.ops) {
    bool here = calls_library(op);
    for (TensorId id : op.operands) here = here || (id.valid() && inexact[index(id)]);
    for (TensorId id : op.results) inexact[index(id)] = here && graph[id].type.dtype == DType::kF32;
  }
  return inexact;
}

float float_at(std::span<const uint8_t> bytes, size_t i) {
  float v;
  std::memcpy(&v, &bytes[i * 4], 4);
  return v;
}

// The same signs in every run of aotc: a hash of what is moved.
bool moves_up(int evaluation, size_t tensor, size_t element) {
  if (evaluation == 0) return true;
  uint64_t h = (static_cast<uint64_t>(evaluation) << 56) ^ (tensor * 0x9E3779B97F4A7C15u) ^ element;
  h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 29)) * 0x94D049BB133111EBu;
  return ((h >> 40) & 1) != 0;
}

void move_by_library(std::span<uint8_t> bytes, int evaluation, size_t tensor) {
  for (size_t i = 0; i * 4 < bytes.size(); ++i) {
    float v;
    std::memcpy(&v, &bytes[i * 4], 4);
    if (!std::isfinite(v)) continue;
    float towards = std::numeric_limits<float>::max() * (moves_up(evaluation, tensor, i) ? 1.0f : -1.0f);
    for (int ulp = 0; ulp < kLibraryUlp; ++ulp) v = std::nextafter(v, towards);
    std::memcpy(&bytes[i * 4], &v, 4);
  }
}

// The values of inexact tensors if library functions gave other last bits; others stay empty.
std::vector<Bytes> evaluate_moved(const Graph& graph, const std::vector<Bytes>& inputs,
                                  const std::vector<Bytes>& values, const std::vector<bool>& inexact, int evaluation) {
  std::vector<Bytes> moved(values.size()), constants(values.size());
  auto given = [&](TensorId id) -> std::span<const uint8_t> {
    if (!id.valid()) return {};
    if (inexact[index(id)]) return moved[index(id)];
    if (const auto& constant = graph[id].constant) {
      // A copy, because constants in a file may lie at any alignment.
      constants[index(id)].assign(constant->bytes.begin(), constant->bytes.end());
      return constants[index(id)];
    }
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      if (graph.inputs[i].tensor == id) return inputs[i];
    return values[index(id)];
  };
  for (const Op& op : graph.ops) {
    bool any = std::any_of(op.results.begin(), op.results.end(), [&](TensorId id) { return inexact[index(id)]; });
    if (!any) continue;
    std::vector<Bytes> results;
    for (TensorId id : op.results) results.emplace_back(static_cast<size_t>(graph[id].type.bytes()));
    EvalData data;
    for (TensorId id : op.operands) data.operands.push_back(given(id));
    for (Bytes& bytes : results) data.results.emplace_back(bytes);
    // Inside of regions, each time.
    Evaluation inside;
    inside.after = [&](size_t, const Graph& region, const Op& inner, const auto& given_out) {
      for (size_t r = 0; r < given_out.size(); ++r)
        if (definition_of(inner).traits().uses_libm && region[inner.results[r]].type.dtype == DType::kF32)
          move_by_library(given_out[r], evaluation, index(inner.results[r]));
    };
    evaluate_op(graph, op, data, inside, 0);
    for (size_t r = 0; r < results.size(); ++r) {
      size_t id = index(op.results[r]);
      if (!inexact[id]) continue;
      if (definition_of(op).traits().uses_libm) move_by_library(results[r], evaluation, id);
      moved[id] = std::move(results[r]);
    }
  }
  return moved;
}

double largest_difference(const Bytes& a, const Bytes& b) {
  double largest = 0;
  for (size_t i = 0; i * 4 < a.size(); ++i) {
    double d = std::abs(static_cast<double>(float_at(a, i)) - float_at(b, i));
    if (std::isfinite(d)) largest = std::max(largest, d);
  }
  return largest;
}

}  // namespace

double ulp_of_largest(std::span<const uint8_t> floats) {
  float largest = std::numeric_limits<float>::min();
  for (size_t i = 0; i * 4 < floats.size(); ++i)
    if (float v = std::abs(float_at(floats, i)); std::isfinite(v)) largest = std::max(largest, v);
  return std::ldexp(1.0, std::ilogb(largest) - (std::numeric_limits<float>::digits - 1));
}

bool calls_library(const Op& op) {
  return definition_of(op).traits().uses_libm ||
         std::any_of(op.regions.begin(), op.regions.end(), [](const Graph& region) { return calls_library(region); });
}

bool calls_library(const Graph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return calls_library(op); });
}

int64_t Tolerance::distance(float a, float b) const {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  double d = std::abs(static_cast<double>(a) - b);
  // Not a number, or an infinity, or further apart than a number can say.
  if (!(d / ulp < 9e18)) return INT64_MAX;
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(d / ulp)));
}

std::vector<Tolerance> tolerances(const Graph& graph, const std::vector<Bytes>& inputs,
                                  const std::vector<Bytes>& values) {
  std::vector<bool> inexact = inexact_tensors(graph);
  std::vector<Tolerance> out(graph.tensors.size());
  for (size_t t = 0; t < out.size(); ++t)
    if (graph.tensors[t].type.dtype == DType::kF32) out[t].ulp = ulp_of_largest(values[t]);
  if (std::find(inexact.begin(), inexact.end(), true) == inexact.end()) return out;
  std::vector<double> worst(out.size(), 0);
  for (int e = 0; e < kEvaluations; ++e) {
    std::vector<Bytes> moved = evaluate_moved(graph, inputs, values, inexact, e);
    for (size_t t = 0; t < out.size(); ++t)
      if (inexact[t]) worst[t] = std::max(worst[t], largest_difference(moved[t], values[t]));
  }
  for (size_t t = 0; t < out.size(); ++t) {
    if (!inexact[t]) continue;
    double ulps = std::min(std::ceil(kMargin * worst[t] / out[t].ulp), 9e18);
    out[t].ulps = std::max(kLeastUlps, static_cast<int64_t>(ulps));
  }
  return out;
}

}  // namespace aotc::ops
