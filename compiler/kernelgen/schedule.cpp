// SPDX-License-Identifier: Apache-2.0
#include "kernelgen/schedule.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace aotc::kernelgen {

namespace {

constexpr int kCoreSp = 13, kCoreLr = 14;

size_t at(Value v) { return static_cast<size_t>(v); }
size_t at(Bank b) { return static_cast<size_t>(b); }

std::string register_name(Bank bank, int number) {
  if (bank == Bank::kVector) return fmt::format("q{}", number);
  if (number == kCoreSp) return "sp";
  return number == kCoreLr ? "lr" : fmt::format("r{}", number);
}

// The text of an instruction with registers and immediates.
template <typename Name>
std::string filled(const Block& block, const Op& op, const Name& name) {
  std::string out;
  const std::string_view text = op.row->text;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_place = (text[i] == '%' || text[i] == '$') && i + 1 < text.size();
    if (!is_place) {
      out += text[i];
      continue;
    }
    const char what = text[++i];
    const auto index = static_cast<size_t>(what - '0');
    if (text[i - 1] == '$') {
      out += std::to_string(op.immediates[index]);
      continue;
    }
    if (what == 'l') {
      for (int r = 0; r < op.row->results; ++r) out += (r == 0 ? "{" : ", ") + name(op.row->result, op.result + r);
      out += "}";
      continue;
    }
    const Value v = what == 'd' ? op.result : op.uses[index];
    out += name(block.values()[at(v)].bank, v);
  }
  return out;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == '\n') out.emplace_back();
    else out.back() += c;
  }
  return out;
}

std::vector<Value> results_of(const Op& op) {
  std::vector<Value> out;
  for (int r = 0; r < op.row->results && op.result != kNoValue; ++r) out.push_back(op.result + r);
  return out;
}

using Set = std::vector<uint64_t>;
constexpr size_t kSetBits = 64;
void insert(Set& set, size_t i) { set[i / kSetBits] |= uint64_t{1} << (i % kSetBits); }
bool contains(const Set& set, size_t i) { return (set[i / kSetBits] >> (i % kSetBits) & 1) != 0; }
bool is_subset(const Set& part, const Set& whole) {
  for (size_t i = 0; i < part.size(); ++i)
    if ((part[i] & ~whole[i]) != 0) return false;
  return true;
}

// What the search needs to know of an instruction.
struct OpFacts {
  Set before;                        // instructions that must be issued first
  std::vector<machine::Kind> kinds;  // of its instructions
};

std::vector<OpFacts> facts_of(const Block& block, machine::Isa isa) {
  const std::vector<Op>& ops = block.ops();
  const size_t words = (ops.size() + kSetBits - 1) / kSetBits;
  std::vector<OpFacts> out(ops.size());
  std::vector<int> maker(block.values().size(), -1);
  std::vector<std::vector<size_t>> users(block.values().size());
  for (size_t i = 0; i < ops.size(); ++i) {
    out[i].before.resize(words);
    for (Value v : ops[i].uses) {
      if (maker[at(v)] >= 0) insert(out[i].before, static_cast<size_t>(maker[at(v)]));
      users[at(v)].push_back(i);
    }
    for (Value v : results_of(ops[i])) maker[at(v)] = static_cast<int>(i);
    if (ops[i].moved != kNoValue) maker[at(ops[i].moved)] = static_cast<int>(i);
    using Memory = Row::Memory;
    for (size_t j = 0; j < i && ops[i].row->memory != Memory::kNone; ++j)
      if (ops[j].stream == ops[i].stream && ops[j].row->memory != Memory::kNone &&
          (ops[i].row->memory == Memory::kWrite || ops[j].row->memory == Memory::kWrite))
        insert(out[i].before, j);
    const std::string text = filled(block, ops[i], [](Bank bank, Value) { return register_name(bank, 0); });
    for (const std::string& line : split_lines(text)) {
      const size_t space = std::min(line.find(' '), line.size());
      out[i].kinds.push_back(machine::parse_instruction(isa, 0, 4, line.substr(0, space), line.substr(space)).kind);
    }
  }
  // A register that an instruction overwrites has no reader left.
  for (size_t i = 0; i < ops.size(); ++i)
    for (int overwritten : {ops[i].row->tied, ops[i].row->moved}) {
      if (overwritten < 0) continue;
      for (size_t user : users[at(ops[i].uses[static_cast<size_t>(overwritten)])])
        if (user != i) insert(out[i].before, user);
    }
  return out;
}

// Cycles that an instruction adds behind another. `registers`: in its list.
double added_cycles(const machine::Timing& t, machine::Kind before, machine::Kind kind, int registers) {
  using machine::Kind;
  const int unit = machine::unit_of(kind), unit_before = machine::unit_of(before);
  const double overlap = unit_before != 0 && unit != 0 && unit != unit_before ? t.vector_before_other - t.vector : 0;
  switch (kind) {
    case Kind::kLoad: return before == Kind::kLoad ? t.next_load : t.load;
    case Kind::kStore: return t.store;
    case Kind::kLoadPair: return t.load_pair;
    case Kind::kStorePair: return t.store_pair;
    case Kind::kLoadMany: return t.many + t.each * registers;
    case Kind::kMultiply: return t.multiply;
    case Kind::kMultiplyAdd: return t.multiply_add;
    case Kind::kLong: return t.long_multiply;
    case Kind::kLongAdd: return t.long_add;
    default: return unit != 0 ? t.vector + overlap : t.alu;
  }
}

struct State {
  Set issued;
  std::array<Registers, kBanks> free = {};
  std::vector<int8_t> registers;  // of values; -1: none yet
  double cycles = 0, distance = 0, pressure = 0;
  machine::Kind last = machine::Kind::kAlu;
  std::shared_ptr<const State> parent;
  size_t op = 0;

  double key() const { return cycles + pressure + 0.001 * distance; }
};
using StatePtr = std::shared_ptr<const State>;

class Search {
 public:
  Search(const Block& block, const SearchOptions& options, machine::Isa isa, const machine::Timing& timing)
      : block_(block), options_(options), timing_(timing), facts_(facts_of(block, isa)) {
    users_.resize(block.values().size());
    for (size_t i = 0; i < block.ops().size(); ++i)
      for (Value v : block.ops()[i].uses) users_[at(v)].push_back(i);
    for (const ValueInfo& v : block.values())
      if (v.allowed != kAnyRegister && v.fixed < 0) scarce_[at(v.bank)] |= v.allowed;
  }

  std::optional<Schedule> run() {
    std::vector<StatePtr> states = {begin()};
    for (size_t step = 0; step < block_.ops().size(); ++step) {
      std::map<std::pair<Set, std::array<Registers, kBanks>>, StatePtr> best;
      for (const StatePtr& state : states) {
        size_t seen = 0;
        for (size_t i = 0; i < block_.ops().size() && seen < options_.window; ++i) {
          if (contains(state->issued, i)) continue;
          ++seen;
          if (!is_subset(facts_[i].before, state->issued) || is_early(*state, i)) continue;
          auto next = issue(state, i, step);
          if (!next) continue;
          StatePtr& kept = best[{next->issued, next->free}];
          if (!kept || next->key() < kept->key()) kept = std::move(next);
        }
      }
      states.clear();
      for (auto& [where, state] : best) states.push_back(std::move(state));
      std::stable_sort(states.begin(), states.end(),
                       [](const StatePtr& a, const StatePtr& b) { return a->key() < b->key(); });
      if (states.size() > options_.beam) states.resize(options_.beam);
      if (states.empty()) return std::nullopt;
    }
    return result(*states.front());
  }

 private:
  StatePtr begin() const {
    auto out = std::make_shared<State>();
    out->issued.resize((block_.ops().size() + kSetBits - 1) / kSetBits);
    out->free = options_.free;
    out->registers.assign(block_.values().size(), -1);
    for (const ValueInfo& info : block_.values())
      if (info.fixed >= 0) out->free[at(info.bank)] |= register_bit(info.fixed);
    for (Value v : block_.inputs()) {
      const ValueInfo& info = block_.values()[at(v)];
      out->registers[at(v)] = static_cast<int8_t>(info.fixed);
      out->free[at(info.bank)] &= ~register_bit(info.fixed);
    }
    return out;
  }

  // A constant, whose only readers wait for other results: it would occupy a register for nothing.
  bool is_early(const State& state, size_t i) const {
    const Op& op = block_.ops()[i];
    if (!op.uses.empty() || op.result == kNoValue || users_[at(op.result)].empty()) return false;
    return std::none_of(users_[at(op.result)].begin(), users_[at(op.result)].end(), [&](size_t user) {
      for (size_t before = 0; before < block_.ops().size(); ++before)
        if (contains(facts_[user].before, before) && !contains(state.issued, before) &&
            !block_.ops()[before].uses.empty())
          return false;
      return true;
    });
  }

  bool is_dead(const State& state, Value v) const {
    if (block_.values()[at(v)].live_out) return false;
    return std::all_of(users_[at(v)].begin(), users_[at(v)].end(),
                       [&](size_t user) { return contains(state.issued, user); });
  }

  // Registers that values still to come must have.
  Registers reserved(const State& state, Bank bank) const {
    Registers out = 0;
    for (size_t v = 0; v < block_.values().size(); ++v)
      if (block_.values()[v].fixed >= 0 && state.registers[v] < 0 && block_.values()[v].bank == bank)
        out |= register_bit(block_.values()[v].fixed);
    return out;
  }

  // `above`: the register must have a higher number.
  bool take(State& state, Value v, int above = -1) const {
    const ValueInfo& info = block_.values()[at(v)];
    Registers& free = state.free[at(info.bank)];
    Registers choice = free & info.allowed & ~(register_bit(above + 1) - 1);
    if (info.fixed >= 0) {
      choice &= register_bit(info.fixed);
    } else {
      choice &= ~reserved(state, info.bank);
      if (const Registers usual = choice & ~scarce_[at(info.bank)]; info.allowed == kAnyRegister && usual != 0)
        choice = usual;
    }
    if (choice == 0) return false;
    const int number = std::countr_zero(choice);
    state.registers[at(v)] = static_cast<int8_t>(number);
    free &= ~register_bit(number);
    return true;
  }

  bool take_all(State& state, const Op& op) const {
    int last = -1;
    for (Value v : results_of(op)) {
      if (!take(state, v, last)) return false;
      last = state.registers[at(v)];
    }
    return true;
  }

  // The register of an operand becomes that of a result.
  bool pass_on(State& state, Value from, Value to) const {
    const int number = state.registers[at(from)];
    const ValueInfo& info = block_.values()[at(to)];
    if (block_.values()[at(from)].live_out || (info.fixed >= 0 && info.fixed != number)) return false;
    if ((info.allowed & register_bit(number)) == 0) return false;
    state.registers[at(to)] = static_cast<int8_t>(number);
    return true;
  }

  std::shared_ptr<State> issue(const StatePtr& from, size_t i, size_t step) const {
    auto next = std::make_shared<State>(*from);
    const Op& op = block_.ops()[i];
    next->parent = from;
    next->op = i;
    insert(next->issued, i);
    if (op.row->early && op.result != kNoValue && !take(*next, op.result)) return nullptr;
    for (size_t u = 0; u < op.uses.size(); ++u) {
      const Value v = op.uses[u];
      const bool overwritten = static_cast<int>(u) == op.row->tied || static_cast<int>(u) == op.row->moved;
      const bool again = std::find(op.uses.begin(), op.uses.begin() + static_cast<std::ptrdiff_t>(u), v) !=
                         op.uses.begin() + static_cast<std::ptrdiff_t>(u);
      if (!overwritten && !again && is_dead(*next, v)) {
        const ValueInfo& info = block_.values()[at(v)];
        next->free[at(info.bank)] |= register_bit(next->registers[at(v)]);
      }
    }
    if (op.moved != kNoValue && !pass_on(*next, op.uses[static_cast<size_t>(op.row->moved)], op.moved)) return nullptr;
    if (op.result != kNoValue && !op.row->early) {
      const bool got = op.row->tied >= 0 ? pass_on(*next, op.uses[static_cast<size_t>(op.row->tied)], op.result)
                                         : take_all(*next, op);
      if (!got) return nullptr;
    }
    // Results that nobody reads.
    std::vector<Value> made = results_of(op);
    made.push_back(op.moved);
    for (Value v : made)
      if (v != kNoValue && users_[at(v)].empty() && !block_.values()[at(v)].live_out)
        next->free[at(block_.values()[at(v)].bank)] |= register_bit(next->registers[at(v)]);
    for (machine::Kind kind : facts_[i].kinds) {
      next->cycles += added_cycles(timing_, next->last, kind, op.row->results);
      next->last = kind;
    }
    int free = 0;
    for (Registers bank : next->free) free += std::popcount(bank);
    next->pressure = -options_.pressure * free;
    next->distance += i > step ? static_cast<double>(i - step) : static_cast<double>(step - i);
    return next;
  }

  Schedule result(const State& last) const {
    Schedule out;
    out.cycles = last.cycles;
    out.registers.assign(last.registers.begin(), last.registers.end());
    for (const State* s = &last; s->parent; s = s->parent.get()) out.order.push_back(s->op);
    std::reverse(out.order.begin(), out.order.end());
    return out;
  }

  const Block& block_;
  const SearchOptions& options_;
  const machine::Timing& timing_;
  std::vector<OpFacts> facts_;
  std::vector<std::vector<size_t>> users_;
  std::array<Registers, kBanks> scarce_ = {};  // that some instructions need
};

}  // namespace

std::optional<Schedule> schedule(const Block& block, const SearchOptions& options, machine::Isa isa,
                                 const machine::Timing& timing) {
  return Search(block, options, isa, timing).run();
}

std::optional<Schedule> find_schedule(const Block& block, std::array<Registers, kBanks> free, machine::Isa isa,
                                      const machine::Timing& timing) {
  for (const auto& [beam, pressure] : {std::pair<size_t, double>{8, 0}, {8, 0.3}, {32, 0.1}}) {
    auto found = schedule(block, {free, beam, pressure}, isa, timing);
    assert(!found || check_schedule(block, *found).empty());
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<std::string> print_assembly(const Block& block, const Schedule& schedule) {
  std::vector<std::string> out;
  for (size_t i : schedule.order) {
    const std::string text = filled(block, block.ops()[i],
                                    [&](Bank bank, Value v) { return register_name(bank, schedule.registers[at(v)]); });
    for (std::string& line : split_lines(text)) out.push_back(std::move(line));
  }
  return out;
}

std::vector<std::string> scheduled_assembly(const Block& block, std::array<Registers, kBanks> free, machine::Isa isa,
                                            const machine::Timing& timing) {
  const auto found = find_schedule(block, free, isa, timing);
  if (!found) std::abort();
  return print_assembly(block, *found);
}

std::string check_schedule(const Block& block, const Schedule& schedule) {
  std::array<std::map<int, Value>, kBanks> holds;
  auto put = [&](Value v) { holds[at(block.values()[at(v)].bank)][schedule.registers[at(v)]] = v; };
  for (Value v : block.inputs()) put(v);
  std::vector<size_t> sorted = schedule.order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < block.ops().size(); ++i)
    if (i >= sorted.size() || sorted[i] != i) return fmt::format("instruction {} is not issued once", i);
  for (size_t i : schedule.order) {
    const Op& op = block.ops()[i];
    for (Value v : op.uses) {
      const ValueInfo& info = block.values()[at(v)];
      if (holds[at(info.bank)][schedule.registers[at(v)]] != v)
        return fmt::format("'{}' does not find value {}", op.row->text, v);
    }
    std::vector<Value> made = results_of(op);
    for (size_t r = 1; r < made.size(); ++r)
      if (schedule.registers[at(made[r])] <= schedule.registers[at(made[r - 1])]) return "a list does not ascend";
    made.push_back(op.moved);
    for (Value v : made) {
      if (v == kNoValue) continue;
      const ValueInfo& info = block.values()[at(v)];
      if ((info.allowed & register_bit(schedule.registers[at(v)])) == 0)
        return fmt::format("'{}' cannot have this register", op.row->text);
      if (info.fixed >= 0 && info.fixed != schedule.registers[at(v)]) return "a fixed register is another";
      if (op.row->early && v == op.result)
        for (size_t u = 0; u < op.uses.size(); ++u)
          if (static_cast<int>(u) != op.row->tied && schedule.registers[at(op.uses[u])] == schedule.registers[at(v)] &&
              block.values()[at(op.uses[u])].bank == info.bank)
            return fmt::format("'{}' overwrites an operand", op.row->text);
      put(v);
    }
  }
  for (size_t v = 0; v < block.values().size(); ++v) {
    const ValueInfo& info = block.values()[v];
    if (info.live_out && holds[at(info.bank)][schedule.registers[v]] != static_cast<Value>(v))
      return fmt::format("value {} is lost", v);
  }
  return "";
}

}  // namespace aotc::kernelgen
