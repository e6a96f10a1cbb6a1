// SPDX-License-Identifier: Apache-2.0
// fully_connected of float rows with int8 weights: a row is quantised, multiplied four units at a time, and every
// sum is scaled and added to its bias in float. The one thing to know: a target with kernels for the sums takes
// the parts that are virtual.
#pragma once

#include <string_view>

#include "ops/common/hybrid.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::ops {

struct HybridSizes {
  explicit HybridSizes(const OpView& op);

  int64_t units, depth, rows;
  bool asymmetric, per_channel;
  RoundingRule rule;
};

class HybridRowsLowering {
 public:
  HybridRowsLowering(const OpView& op, const TargetInfo& target);
  virtual ~HybridRowsLowering() = default;

  Lowered run();

 protected:
  // Weights and scratch.
  virtual void begin();
  // Quantises the row: sets q_.
  virtual void quantize();
  // All units of the row, by emit_result; `to` is where its results begin.
  virtual void multiply(const tir::Ex& to);
  virtual std::string_view algorithm() const { return "tiles"; }

  RowRequest request() const {
    RowRequest row{in_, row_, s_.depth, s_.asymmetric, false, nullptr};
    row.rule = s_.rule;
    return row;
  }
  void emit_result(const tir::Ex& to, const tir::Ex& unit, const tir::Ex& sum);

  const OpView& op_;
  const TargetInfo& target_;
  HybridSizes s_;
  LoweringBuilder f_;
  bool nibbles_;
  bool centred_ = false;  // sums are of elements less their zero point
  RowQuantization q_;

 private:
  tir::Ex emit_blank();

  int64_t block_ = 4, unroll_ = 4;
  tir::BufferPtr in_, out_, weights_, bytes_, bias_, scales_, sums_;
  tir::Ex row_, step_;
};

}  // namespace aotc::ops
