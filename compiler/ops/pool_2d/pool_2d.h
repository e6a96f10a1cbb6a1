// SPDX-License-Identifier: Apache-2.0
// average_pool_2d and max_pool_2d over NHWC images. Padding is left out of both: it adds nothing to
// a sum or its count and never is the maximum. What is not a number is the maximum only where it begins it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ops/common/requantize.h"
#include "ops/common/window.h"
#include "ops/common/word_average.h"
#include "ops/row_sums.h"

namespace aotc::ops {

// What a maximum of floats begins with: the least finite number, the first element of the window, or that only
// where the window is not clipped at the sides of the image.
enum class MaxBegin : uint8_t { kLeast, kFirst, kFirstOfWhole };
std::span<const std::string_view> enum_names(MaxBegin);

struct Pool2DAttrs : graph::Attributes<Pool2DAttrs>, WindowFields {
  int32_t filter_h = 1, filter_w = 1;
  // Averages of int8: ties go up, as those of uint8 do in the reference, and not away from zero.
  bool ties_up = false;
  MaxBegin begin = MaxBegin::kLeast;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("filter_h", self.filter_h);
    field("filter_w", self.filter_w);
    visit_window(self, field);
    field("ties_up", self.ties_up);
    field("begin", self.begin);
  }
};

inline Window pool_window(const OpView& op) {
  const auto& attrs = op.attrs<Pool2DAttrs>();
  return window_of(op, attrs, attrs.filter_h, attrs.filter_w);
}

// Positions of output `o`'s window inside the input along one axis: [begin, end).
struct Inside {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};
Inside inside(const WindowAxis& axis, int64_t o);

// How many positions windows have inside the input along an axis, least and most.
struct Counts {
  int64_t least, most;
  int64_t kinds() const { return most - least + 1; }
};
Counts counts_of(const WindowAxis& axis);

// What is added to each value: where ties go up, so that none is below 0; by onnxruntime's rule, so that
// real zero is 0.
inline int32_t average_shift(const OpView& op) {
  const auto& attrs = op.attrs<Pool2DAttrs>();
  if (attrs.rounding == RoundingRule::kOnnxruntime) return -op.operand(0).zero_point();
  return attrs.ties_up ? 128 : 0;
}

// The int8 average of windows with `rows` x `columns` pixels for all rows and columns in the given
// ranges, of values to which average_shift is added, numbered (rows - y.least) * x.kinds() + columns - x.least.
Requantization average_scaling(const OpView& op, Counts y, Counts x);

// The average of int16 by onnxruntime's rule, of stored values; nullopt if the operator computes another one.
std::optional<WordAverage> word_average(const OpView& op);

// kRoot: of the average of squares, float only.
enum class PoolKind { kAverage, kMax, kRoot };
Lowered lower_pool_2d(const OpView& op, PoolKind kind);
// Of one window as large as the image (lower_sums.cpp).
bool pool_sums_pieces(const OpView& op, int64_t pieces);
RowSums lower_pool_pieces(const OpView& op, PoolKind kind, int64_t pieces);
// What is kept joined with an element. In this order a NaN never replaces the maximum, as in the reference.
tir::Ex join_pooled(PoolKind kind, const tir::Ex& so_far, const tir::Ex& element);

}  // namespace aotc::ops
