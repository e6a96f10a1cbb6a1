// SPDX-License-Identifier: Apache-2.0
// The weighted sum of two int8 tensors for cores with vectors (Helium). Each element is read before the result of the
// same index is written, so results may overwrite operands.
#pragma once

#include "cores/arm/lowering.h"
#include "ops/common/affine.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

struct MveSum {
  static constexpr int kGroup = 16;             // elements at a time; what is left goes by fours
  static constexpr double kInstructions = 1.8;  // of an element
  // Words of the table that mve_sum takes.
  enum Table { kElements, kWeightA, kWeightB, kOffset, kTableWords };
};

// Whether the kernel below does this form (its clamp being int8's range).
bool mve_sum_fits(const AffineForm& form);
std::vector<int32_t> mve_sum_table(const AffineForm& form, int64_t elements);
// (a, b, out, table): saturate((a * weight[0] + b * weight[1] + offset) >> shift), at least one
// element.
tir::KernelPtr mve_sum_kernel(int shift);

}  // namespace aotc::cores::arm
