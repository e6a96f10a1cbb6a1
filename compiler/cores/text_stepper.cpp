// SPDX-License-Identifier: Apache-2.0
#include "cores/text_stepper.h"

#include <cmath>
#include <cstring>
#include <span>

namespace aotc::cores {

namespace {

constexpr int64_t kMostSteps = int64_t{1} << 22, kWord = 4;

}  // namespace

TextValue text_unknown(TextValue a, TextValue b) {
  const bool left_out = a.where == TextValue::kLeftOut || b.where == TextValue::kLeftOut;
  return {left_out ? TextValue::kLeftOut : TextValue::kUnknown};
}

TextValue text_sum(TextValue a, TextValue b, int sign) {
  if (!a.known() || !b.known()) return text_unknown(a, b);
  if (b.where == TextValue::kNumber) return {a.where, a.number + sign * b.number};
  if (a.where == b.where && sign < 0) return {TextValue::kNumber, a.number - b.number};
  return a.where == TextValue::kNumber && sign > 0 ? TextValue{b.where, a.number + b.number} : TextValue{};
}

bool TextStepper::decide(Condition condition, int64_t number) {
  facts_.push_back({Fact::kDecision, condition, number});
  switch (condition) {
    case Condition::kEqual: return number == 0;
    case Condition::kNotEqual: return number != 0;
    case Condition::kAtLeast: return number >= 0;
    case Condition::kLess: return number < 0;
    case Condition::kMore: return number > 0;
  }
  return false;
}

std::optional<int64_t> TextStepper::run() {
  const auto sums = count(nullptr);
  return sums ? std::optional(sums->steps) : std::nullopt;
}

std::optional<double> TextStepper::cycles(const machine::Timing& timing) {
  const auto sums = count(&timing);
  return sums ? std::optional(sums->cycles) : std::nullopt;
}

std::optional<TextStepper::Sums> TextStepper::count(const machine::Timing* timing) {
  std::vector<machine::InstructionCost> cost;
  if (timing != nullptr) cost = costs(*timing);
  Sums sums;
  int64_t stepped = 0;
  for (at_ = 0; at_ < size(); ++stepped) {
    const size_t here = at_++;
    if (stepped > kMostSteps || !step(here)) return std::nullopt;
    ++sums.steps;
    if (timing != nullptr) sums.cycles += cost[here].cycles + (at_ != here + 1 ? cost[here].taken : 0);
    if (at_ <= here && skips_ && !end_iteration(here, sums)) return std::nullopt;
  }
  return sums;
}

std::vector<TextStepper::Value*> TextStepper::all_values() {
  std::vector<Value*> out;
  values(out);
  for (auto& [address, value] : stack_) out.push_back(&value);
  return out;
}

// How many further iterations the condition holds if the number changes by `change` in each; nullopt: it holds for
// ever.
std::optional<int64_t> TextStepper::further_times(Condition condition, int64_t number, int64_t change) {
  if (condition == Condition::kLess) return further_times(Condition::kMore, -number, -change);
  if (condition == Condition::kAtLeast) return further_times(Condition::kMore, number + 1, change);
  const bool ends = change != 0 && (condition == Condition::kEqual || (number > 0) != (change > 0));
  if (!ends) return std::nullopt;
  if (condition == Condition::kEqual) return 0;
  if (condition == Condition::kMore) return (number - 1) / -change;
  return number % change == 0 ? std::optional(-number / change - 1) : std::nullopt;
}

// True if the facts from `first` on equal those of the previous iteration, except for the number of the last fact.
bool TextStepper::same_facts(const Visit& before, size_t first) const {
  const size_t facts = facts_.size() - first;
  if (facts != before.facts || facts == 0) return false;
  for (size_t i = 0; i < facts; ++i) {
    const Fact &was = facts_[before.first_fact + i], &is = facts_[first + i];
    if (is.kind == Fact::kNever || was.kind != is.kind || was.condition != is.condition) return false;
    if (i + 1 < facts && was.number != is.number) return false;
  }
  return facts_.back().kind == Fact::kDecision;
}

// Called after a backward branch. If the last two iterations had the same facts and changed every value by the same
// amount, all further iterations do so until the condition of this branch changes. The reason: a step either adds
// registers and constants, or reports a fact.
bool TextStepper::end_iteration(size_t jump, Sums& sums) {
  constexpr size_t kMostFacts = size_t{1} << 18;
  constexpr double kRounding = 1e-6;
  constexpr int kMostFailures = 1000;  // then stepping is cheaper
  if (facts_.size() > kMostFacts) {
    facts_.clear();
    visits_.clear();
  }
  Visit& visit = visits_[jump];
  if (visit.failures > kMostFailures) return true;
  const std::vector<Value*> now = all_values();
  if (facts_.size() == visit.first_fact + visit.facts && !visit.values.empty()) return false;  // nothing decides
  Visit next;
  next.first_fact = visit.first_fact + visit.facts;
  next.own = {sums.steps - visit.at.steps, sums.cycles - visit.at.cycles};
  next.comparable = visit.values.size() == now.size();
  for (size_t i = 0; i < now.size() && next.comparable; ++i) {
    next.comparable = visit.values[i].where == now[i]->where;
    next.change.push_back(now[i]->number - visit.values[i].number);
  }
  const bool repeats = next.comparable && visit.comparable && next.change == visit.change &&
                       next.own.steps == visit.own.steps && std::abs(next.own.cycles - visit.own.cycles) < kRounding &&
                       same_facts(visit, next.first_fact);
  if (repeats) {
    const Fact &was = facts_[visit.first_fact + visit.facts - 1], &is = facts_.back();
    const std::optional<int64_t> times = further_times(is.condition, is.number, is.number - was.number);
    if (!times) return false;
    sums.steps += *times * next.own.steps;
    sums.cycles += static_cast<double>(*times) * next.own.cycles;
    for (size_t i = 0; i < now.size(); ++i) now[i]->number += *times * next.change[i];
  }
  for (const Value* value : now) next.values.push_back(*value);
  next.facts = facts_.size() - next.first_fact;
  next.at = sums;
  next.failures = repeats ? 0 : visit.failures + 1;
  visit = std::move(next);
  return true;
}

std::vector<machine::InstructionCost> TextStepper::costs(const machine::Timing& timing) const {
  std::vector<machine::InstructionCost> out;
  for (size_t i = 0; i < size(); ++i)
    out.push_back(machine::cost_of(timing, parsed(i), i > 0 ? &parsed(i - 1) : nullptr,
                                   i + 1 < size() ? &parsed(i + 1) : nullptr));
  return out;
}

TextValue TextStepper::argument(size_t a) const {
  return arguments_[a].pointer ? Value{static_cast<int>(a), 0} : Value{Value::kNumber, arguments_[a].value};
}

TextValue TextStepper::load(Value address) {
  if (address.where == Value::kStack) {
    depend_on(address.number);
    auto found = stack_.find(address.number);
    return found == stack_.end() ? Value{} : found->second;
  }
  if (address.where == Value::kLeftOut) return address;
  if (address.where < 0 || address.where >= static_cast<int>(arguments_.size())) return {};
  const std::span<const uint8_t> table = arguments_[static_cast<size_t>(address.where)].table;
  if (!reads_long_tables_ && table.size() > kShortTable) {
    left_out_ = true;
    return {Value::kLeftOut};
  }
  if (!table.empty()) depend_on(address.number);
  if (address.number < 0 || address.number + kWord > static_cast<int64_t>(table.size())) return {};
  int32_t word = 0;
  std::memcpy(&word, table.data() + address.number, sizeof word);
  return {Value::kNumber, word};
}

void TextStepper::store(Value address, Value value) {
  if (address.where != Value::kStack) return;
  depend_on(address.number);
  stack_[address.number] = value;
}

}  // namespace aotc::cores
