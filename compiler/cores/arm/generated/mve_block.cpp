// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/mve_block.h"

#include <algorithm>

#include "cores/arm/timings.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;

MveMachine::MveMachine(Block& block, LoopConstants& constants) : block_(block), constants_(constants) {
  for (const auto& [constant, number] : constants.assigned()) scalars_[constant] = block.live_in(Bank::kCore, number);
}

MveMachine::Value MveMachine::constant(int value) {
  constants_.use(value);
  if (const auto found = scalars_.find(value); found != scalars_.end()) return found->second;
  return block_.add(mve::kScalar, {}, {value & 0xFFFF});
}

MveMachine::Value MveMachine::vector_constant(int value, int number) {
  vectors_[number] = value;
  auto [found, fresh] = vector_values_.try_emplace(number, kernelgen::kNoValue);
  if (fresh) found->second = block_.live_in(Bank::kVector, number);
  return found->second;
}

// VBIC clears eight neighbouring bits, in the low or the high byte.
MveMachine::Value MveMachine::low_bits(Value n, int bits) {
  const int clear = 0xFFFF & ~((1 << bits) - 1);
  Value t = add_row(mve::kCopy, {n});
  for (int part : {clear & 0xFF00, clear & 0xFF})
    if (part != 0) t = add_row(mve::kClear16, {t}, {part});
  return t;
}

// The bit becomes the sign of its lane.
MveMachine::Value MveMachine::product_if_clear(Value a, Value n, int bit, int factor) {
  const Value sign = bit == 15 ? n : add_row(mve::kShiftLeft16, {n}, {15 - bit});
  return add_row(mve::kProductIfNotNegative16, {a, sign, constant(factor)});
}

MveMachine::Value MveMachine::minus_product(int from, Value a, Value b) {
  constexpr int kRegister = 7;
  return add_row(mve::kSubtract16, {vector_constant(from, kRegister), product(a, b)});
}

MveMachine::Value MveMachine::sigmoid_of(Value guess, Value a) {
  constexpr int kRegister = 6, kHalf = 1 << 14, kMost = 32767;
  const Value twice = add_row(mve::kAdd16, {guess, guess});
  const Value done = add_row(mve::kSubtractIfNotPositive16, {twice, a, vector_constant(kMost, kRegister)});
  return add_row(mve::kSetIfZero16, {done, a}, {kHalf});
}

MveMachine::Value MveMachine::tanh_of(Value guess, Value a) {
  constexpr int kRegister = 7, kQuarter = 1 << 13;
  const Value above = add_row(mve::kSubtract16, {guess, vector_constant(kQuarter, kRegister)});
  const Value magnitude = add_row(mve::kShiftLeftSaturated16, {above}, {2});
  const Value done = add_row(mve::kNegateIfNegative16, {magnitude, a});
  return add_row(mve::kSetIfZero16, {done, a}, {0});
}

void MveText::put(const Block& block, kernelgen::Registers core, kernelgen::Registers vector) {
  append(kernelgen::scheduled_assembly(block, {core, vector}, machine::Isa::kThumb, kCortexM55));
}

}  // namespace aotc::cores::arm
