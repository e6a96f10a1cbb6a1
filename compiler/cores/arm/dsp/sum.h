// SPDX-License-Identifier: Apache-2.0
// add and sub of int8 as the weighted sum of two tensors (ops/common/affine.h), for cores with SSAT: two loads, two
// multiplies, a saturating shift and a store per element.
#pragma once

#include "cores/arm/lowering.h"
#include "ops/add/sum.h"
#include "ops/common/affine.h"
#include "ops/common/broadcast.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

struct DspSum {
  static constexpr int kUnroll = 4;             // elements are a multiple of it
  static constexpr double kInstructions = 6.5;  // of an element
  // Words of the table that dsp_sum takes.
  enum Table { kElements, kWeightA, kWeightB, kOffset, kTableWords };
};

std::vector<int32_t> dsp_sum_table(const AffineForm& form, int64_t elements);
// (a, b, out, table): out[i] = saturate8((a[i] * weight a + offset + b[i] * weight b) >> shift).
// An element is read before the one at its place is written.
tir::KernelPtr dsp_sum_kernel(int shift);

// Two tensors of int8 and one shape, not one of which is a number known now: what kernels for sums take.
bool is_plain_sum(const OpView& op, const TargetInfo& target);

class DspSumLowering : public SumLowering {
 public:
  DspSumLowering(const OpView& op, const TargetInfo& target)
      : SumLowering(op, std::string(op.op.name()), op.op.name() == "sub"), target_(target) {}

 protected:
  std::optional<Lowered> run_kernel(const AffineForm& form) override;
  const TargetInfo& target_;
};

}  // namespace aotc::cores::arm
