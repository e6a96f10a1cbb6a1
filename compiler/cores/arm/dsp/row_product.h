// SPDX-License-Identifier: Apache-2.0
// Products of rows with all weights of their units, by the kernels that take one row and many units at a time
// (gemv_pairs, gemv_words of cores/arm/dsp/gemm.h): fully connected layers, and convolutions with one window that is
// the whole image.
#pragma once

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/lowering.h"
#include "ops/common/conv.h"

namespace aotc::cores::arm {

struct RowProduct {
  std::string name;            // of the function
  int64_t units, depth, rows;  // weights are operand 1, [units][depth]
  ops::FoldedBias folded;
  Requantization scaling;
};

// How many units at a time: by words four, by pairs eight.
int64_t row_product_group(bool words);
// Whether they are taken as words; depth is a multiple of 4.
bool row_product_words(int64_t depth, const TargetInfo& target);
// Nothing where the kernels do not fit the weights or the requantisation. There are as many units as a group has.
std::optional<Lowered> lower_row_product(const OpView& op, const TargetInfo& target, RowProduct product);

}  // namespace aotc::cores::arm
