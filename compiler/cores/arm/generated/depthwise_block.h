// SPDX-License-Identifier: Apache-2.0
// DepthwiseBlock builds blocks of 3 x 3 depthwise convolutions. A window is taken line by line, rows or columns: two
// elements of a line are the halves of one register and the third is in another, and so are the weights
// (cores/arm/dsp/depthwise_lines.h). A line is added to the sums of all outputs that read it.
#pragma once

#include <map>

#include "cores/arm/generated/dsp_rows.h"
#include "kernelgen/block.h"

namespace aotc::cores::arm {

// How results are made of sums.
struct DepthwiseResult {
  int shift = 0;  // 0: by the FPU
  bool sign = false;
  int multiplier = 0, offset = 0;  // registers, except with signs: then both are in the frame
};

class DepthwiseBlock {
 public:
  using Block = kernelgen::Block;
  using Value = kernelgen::Value;

  static constexpr int kFirstWeights = 3, kThird = 6, kLast = 7;
  // Frame; lines with signs are there, others are in registers.
  static constexpr int kSignAt = 0, kMultiplierAt = 4, kOffsetAt = 8;
  enum Stream { kInput, kOutput, kFrame };

  // `bias`: its register.
  explicit DepthwiseBlock(int bias) : bias_(bias) {}

  // A value that stays in the register.
  Value constant(int number);
  Value bias() { return constant(bias_); }
  // The sum with the loaded line times line `line` of the weights, in its register or in another one.
  Value add(int line, Value sum) { return add_third(line, block.add(dsp::kDotAdd, {sum, pair, weights(line)})); }
  Value moved(int line, Value sum) { return add_third(line, block.add(dsp::kDot, {pair, weights(line), sum})); }
  // The sum of an output whose first line is loaded.
  Value begin() { return moved(0, bias()); }
  // The result of a sum, whose register it takes.
  Value result(Value sum, const DepthwiseResult& how);

  Block block;
  Value pair = kernelgen::kNoValue, single = kernelgen::kNoValue;  // the loaded line

 private:
  Value weights(int line) { return constant(kFirstWeights + line); }
  Value add_third(int line, Value sum);

  int bias_;
  std::map<int, Value> constants_;
};

}  // namespace aotc::cores::arm
