// SPDX-License-Identifier: Apache-2.0
// A tensor's affine quantisation as slices: one for a per-tensor type, one per index of the
// quantised axis otherwise. For operators that convert between stored and real values.
#pragma once

#include <functional>

#include "ops/operator.h"

namespace aotc::ops {

// Scales positive and finite, zero points in range, their number 1 or the length of the axis.
// Reports [op-quantization].
bool check_slices(const OpView& op, const graph::Tensor& tensor, Diagnostics& diags);

// Of a type that check_slices accepts.
class Slices {
 public:
  explicit Slices(const graph::TensorType& type);

  size_t count() const { return count_; }
  float scale(size_t slice) const { return quantization_.scale[slice]; }
  int32_t zero_point(size_t slice) const;
  // Of an element that exists: an empty tensor has none.
  size_t channel_of(size_t element) const { return element / inner_ % count_; }
  int64_t outer() const { return outer_; }
  int64_t inner() const { return static_cast<int64_t>(inner_); }

 private:
  const graph::Quantization& quantization_;
  size_t count_ = 1, inner_ = 1;
  int64_t outer_ = 1;
};

// Scales and zero points as constants of a function, and the loops over all elements.
class SliceTables {
 public:
  SliceTables(LoweringBuilder& f, const Slices& slices);
  // body(element index, scale, zero point)
  using Body = std::function<void(const tir::Ex&, const tir::Ex&, const tir::Ex&)>;
  void for_each(tir::FunctionBuilder& f, const Body& body) const;

 private:
  Slices slices_;
  tir::BufferPtr scales_, zero_points_;
};

}  // namespace aotc::ops
