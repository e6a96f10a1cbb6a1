// SPDX-License-Identifier: Apache-2.0
// add and sub of int8 by the kernel for weighted sums (elementwise.h).
#pragma once

#include "cores/arm/lowering.h"
#include "ops/add/sum.h"
#include "ops/common/broadcast.h"

namespace aotc::cores::arm {

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
