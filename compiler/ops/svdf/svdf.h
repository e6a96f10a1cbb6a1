// SPDX-License-Identifier: Apache-2.0
// svdf: what its checks, its evaluation and its lowering share. A filter is a product of the input with its
// weights, remembered for `memory` runs, and a product of what is remembered with weights over time; `rank`
// filters add up to a unit. The one thing to know: the state is the operator's own affair and does not lie as
// LiteRT's does. A filter's values are in rows of `lanes`, the oldest of each lane first, so that a run moves
// all of them on by one row, which is a word for the kernels.
#pragma once

#include <vector>

#include "ops/common/activation.h"
#include "ops/common/requantize.h"
#include "ops/operator.h"

namespace aotc::ops {

struct SvdfAttrs : graph::Attributes<SvdfAttrs> {
  int64_t rank = 1;
  Activation activation = Activation::kNone;
  bool asymmetric_rows = false;  // dynamic range: rows are quantised with a zero point

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("rank", self.rank);
    field("activation", self.activation);
    field("asymmetric_rows", self.asymmetric_rows);
  }
};

// Operands and results. The bias may be absent.
namespace svdf {
constexpr size_t kInput = 0, kFeatures = 1, kTime = 2, kBias = 3, kState = 4;
constexpr size_t kOutput = 0, kNextState = 1;
}  // namespace svdf

// Float activations, int8 weights?
bool svdf_is_hybrid(const OpView& op);

struct SvdfShape {
  explicit SvdfShape(const OpView& op);

  int64_t batches, inputs, filters, memory, rank, units;
  int64_t lanes;  // int16: 2, int8: 4, where they divide `memory`; else 1

  // Where a filter's value of time m lies, 0 being the oldest.
  int64_t place(int64_t m) const { return m % (memory / lanes) * lanes + m / (memory / lanes); }
  // Weights over time [filter][time] in the order of the state.
  template <typename T>
  std::vector<T> as_state(const std::vector<T>& weights) const {
    std::vector<T> out(weights.size());
    for (int64_t i = 0; i < filters * memory; ++i)
      out[static_cast<size_t>(i / memory * memory + place(i % memory))] = weights[static_cast<size_t>(i)];
    return out;
  }
};

// The integer arithmetic, worked out once.
struct SvdfScaling {
  explicit SvdfScaling(const OpView& op);

  std::vector<int32_t> feature_bias;  // what the input's zero point adds
  Requantization features;            // to the state
  int32_t state_zero = 0;             // int8: added to what a feature gives
  std::vector<int32_t> bias;          // by unit, less what the state's zero point adds
  Requantization output;              // of sums that wrap around in 32 bits
};

// Weights over time as int16, [filter][time].
std::vector<int16_t> svdf_time_weights(const OpView& op);

Lowered lower_svdf(const OpView& op, const TargetInfo& target);

}  // namespace aotc::ops
