// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/depthwise_block.h"

namespace aotc::cores::arm {

using kernelgen::Bank;

DepthwiseBlock::Value DepthwiseBlock::constant(int number) {
  const auto [found, added] = constants_.try_emplace(number, kernelgen::kNoValue);
  if (added) found->second = block.live_in(Bank::kCore, number);
  return found->second;
}

DepthwiseBlock::Value DepthwiseBlock::add_third(int line, Value sum) {
  return line == 1 ? block.add(dsp::kLowTopAdd, {sum, single, constant(kThird)})
                   : block.add(dsp::kLowAdd, {sum, single, constant(line == 0 ? kThird : kLast)});
}

DepthwiseBlock::Value DepthwiseBlock::result(Value sum, const DepthwiseResult& how) {
  constexpr int kBits = 8;
  auto frame = [&](int at) { return block.add(dsp::kFrameWord, {}, {at}, kFrame); };
  if (how.shift == 0) {
    sum = block.add(dsp::kAddHere, {block.add(dsp::kRoundEven, {sum}), constant(how.offset)});
    return block.add(dsp::kSaturate, {sum}, {kBits});
  }
  if (how.sign) {
    const Value less = block.add(dsp::kAndRight, {frame(kSignAt), sum}, {31});
    const Value offset = block.add(dsp::kSubtract, {frame(kOffsetAt), less});
    sum = block.add(dsp::kHighAddDown, {sum, frame(kMultiplierAt), offset});
  } else {
    const Value multiplier = constant(how.multiplier), offset = constant(how.offset);
    sum = block.add(dsp::kHighAddDown, {sum, multiplier, offset});
  }
  return block.add(dsp::kSaturateRightHere, {sum}, {kBits, how.shift});
}

}  // namespace aotc::cores::arm
