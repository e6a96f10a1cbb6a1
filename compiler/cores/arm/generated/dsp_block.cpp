// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/dsp_block.h"

#include <cassert>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "cores/arm/timings.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;

namespace {

bool fits_movw(int value) { return value >= 0 && value <= 0xFFFF; }

// A schedule depends on everything but immediates.
std::vector<int64_t> structure_of(const Block& block, kernelgen::Registers core) {
  std::vector<int64_t> out = {core};
  for (const kernelgen::ValueInfo& v : block.values())
    out.insert(out.end(), {static_cast<int64_t>(v.bank), v.allowed, v.fixed, v.live_out});
  out.insert(out.end(), block.inputs().begin(), block.inputs().end());
  for (const kernelgen::Op& op : block.ops()) {
    out.insert(out.end(), {reinterpret_cast<intptr_t>(op.row), op.result, op.moved, op.stream});
    out.insert(out.end(), op.uses.begin(), op.uses.end());
  }
  return out;
}

}  // namespace

DspMachine::DspMachine(Block& block, LoopConstants& constants) : block_(block), constants_(constants) {
  for (const auto& [constant, number] : constants.assigned()) values_[constant] = block.live_in(Bank::kCore, number);
}

DspMachine::Value DspMachine::constant(int value) {
  constants_.use(value);
  if (const auto found = values_.find(value); found != values_.end()) return found->second;
  if (fits_movw(value)) return block_.add(dsp::kMove, {}, {value});
  constexpr int kFrame = 9;  // a stream of its own
  return block_.add(dsp::kFrameWord, {}, {constants_.frame_offset(value, 0)}, kFrame);
}

DspMachine::Value DspMachine::product_plus(Value a, int b, int c) {
  const Value addend = fits(b) ? constant(c) : add_row(dsp::kAdd, {a, constant(c)});
  return add_row(dsp::kHighAdd, {a, high(b), addend});
}

DspMachine::Value DspMachine::plus_quarter_square(Value a, Value b) {
  constexpr int kQuarterRounding = kRounding + (2 << kFraction), kQuarterFraction = kFraction + 2;
  const Value square = add_row(dsp::kHalvesAdd, {b, b, constant(kQuarterRounding)});
  return add_row(dsp::kAddRight, {a, square}, {kQuarterFraction});
}

DspMachine::Value DspMachine::product_if_clear(Value a, Value n, int bit, int factor) {
  assert(fits(factor));
  block_.access(dsp::kHighIfClear, a, {n, high(factor)}, {1 << bit}, 0);
  return a;
}

DspMachine::Value DspMachine::products_if_clear(Value a, Value n, int bit, int factor, int next_factor) {
  assert(fits(factor) == fits(next_factor));
  block_.access(fits(factor) ? dsp::kHighIfClearTwice : dsp::kHighAddIfClearTwice, a,
                {n, high(factor), high(next_factor)}, {31 - bit}, 0);
  return a;
}

DspMachine::Value DspMachine::minus_magnitude(Value a) {
  const Value turned = add_row(dsp::kExclusiveRight, {a, a}, {31});
  return add_row(dsp::kFromRight, {a, turned}, {31});
}

DspMachine::Value DspMachine::sigmoid_of(Value guess, Value a) {
  constexpr int kHalf = 1 << 14, kSignTo15Bits = 17;
  const Value twice = add_row(dsp::kLeft, {guess}, {1});
  const Value done = add_row(dsp::kExclusiveRightUnsigned, {twice, a}, {kSignTo15Bits});
  return add_row(dsp::kSetIfZero, {done, a}, {kHalf});
}

DspMachine::Value DspMachine::tanh_of(Value guess, Value a) {
  constexpr int kQuarter = 1 << 13;
  const Value magnitude = add_row(dsp::kSaturateLeft, {add_row(dsp::kSubtractNumber, {guess}, {kQuarter})}, {16, 2});
  const Value turned = add_row(dsp::kExclusiveRight, {magnitude, a}, {31});
  return add_row(dsp::kSetIfZero, {add_row(dsp::kSubtractRight, {turned, a}, {31}), a}, {0});
}

std::optional<kernelgen::Schedule> DspText::find(const Block& block, kernelgen::Registers core) {
  static std::mutex mutex;
  static std::map<std::vector<int64_t>, std::optional<kernelgen::Schedule>> known;
  const std::lock_guard lock(mutex);
  const auto [found, added] = known.try_emplace(structure_of(block, core));
  if (added) found->second = kernelgen::find_schedule(block, {core, 0}, machine::Isa::kThumb, kCortexM4);
  return found->second;
}

void DspText::put(const Block& block, kernelgen::Registers core) {
  const auto found = find(block, core);
  if (!found) std::abort();
  put(block, *found);
}

void DspText::load_constant(Reg to, int value) {
  if (fits_movw(value)) emit("movw", {name(to), imm_text(value)});
  else mov32(to, static_cast<uint32_t>(value));
}

}  // namespace aotc::cores::arm
