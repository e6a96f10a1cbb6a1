// SPDX-License-Identifier: Apache-2.0
#include "target/text_stepper.h"

#include <cstring>
#include <span>

namespace aotc::target {

namespace {

constexpr int64_t kMostSteps = int64_t{1} << 24, kWord = 4;

}  // namespace

TextValue text_sum(TextValue a, TextValue b, int sign) {
  if (!a.known() || !b.known()) return {};
  if (b.where == TextValue::kNumber) return {a.where, a.number + sign * b.number};
  if (a.where == b.where && sign < 0) return {TextValue::kNumber, a.number - b.number};
  return a.where == TextValue::kNumber && sign > 0 ? TextValue{b.where, a.number + b.number} : TextValue{};
}

std::optional<int64_t> TextStepper::run() {
  int64_t steps = 0;
  for (at_ = 0; at_ < size(); ++steps) {
    const size_t here = at_++;
    if (steps > kMostSteps || !step(here)) return std::nullopt;
  }
  return steps;
}

std::optional<double> TextStepper::cycles(const machine::Timing& timing) {
  const std::vector<machine::InstructionCost> cost = costs(timing);
  double out = 0;
  int64_t steps = 0;
  for (at_ = 0; at_ < size(); ++steps) {
    const size_t here = at_++;
    if (steps > kMostSteps || !step(here)) return std::nullopt;
    out += cost[here].cycles + (at_ != here + 1 ? cost[here].taken : 0);
  }
  return out;
}

std::vector<machine::InstructionCost> TextStepper::costs(const machine::Timing& timing) const {
  std::vector<machine::Instruction> all;
  for (size_t i = 0; i < size(); ++i) all.push_back(parsed(i, static_cast<uint32_t>(kWord) * static_cast<uint32_t>(i)));
  std::vector<machine::InstructionCost> out;
  for (size_t i = 0; i < all.size(); ++i)
    out.push_back(machine::cost_of(timing, isa_, all[i], i > 0 ? &all[i - 1] : nullptr,
                                   i + 1 < all.size() ? &all[i + 1] : nullptr));
  return out;
}

TextValue TextStepper::argument(size_t a) const {
  return arguments_[a].pointer ? Value{static_cast<int>(a), 0} : Value{Value::kNumber, arguments_[a].value};
}

TextValue TextStepper::load(Value address) const {
  if (address.where == Value::kStack) {
    auto found = stack_.find(address.number);
    return found == stack_.end() ? Value{} : found->second;
  }
  if (address.where < 0 || address.where >= static_cast<int>(arguments_.size())) return {};
  const std::span<const uint8_t> table = arguments_[static_cast<size_t>(address.where)].table;
  if (address.number < 0 || address.number + kWord > static_cast<int64_t>(table.size())) return {};
  int32_t word = 0;
  std::memcpy(&word, table.data() + address.number, sizeof word);
  return {Value::kNumber, word};
}

void TextStepper::store(Value address, Value value) {
  if (address.where == Value::kStack) stack_[address.number] = value;
}

}  // namespace aotc::target
