// SPDX-License-Identifier: Apache-2.0
#include "machine/walker.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::machine {

namespace {

// An instruction is reached with as many depths only where the stack grows in a loop.
constexpr size_t kMostDepths = 12;
// Of one function: what is larger is no program for a microcontroller.
constexpr size_t kMostSteps = 4'000'000;

struct Node {
  uint32_t address = 0;
  int32_t sp = 0;
  bool sp_known = true;
  uint32_t inside_of = 0;  // where the last subroutine within the function was called

  auto operator<=>(const Node&) const = default;
};

// The walk of one function in progress.
class Walking {
 public:
  Walking(const Elf& elf, const Listing& listing, const Semantics& semantics, const std::set<uint32_t>& noreturn,
          uint32_t entry, const Arguments& arguments)
      : elf_(elf), listing_(listing), semantics_(semantics), noreturn_(noreturn) {
    out_.entry = out_.depth_place = entry;
    State state = semantics.at_entry();
    entry_sp_ = state.sp;
    for (auto [r, value] : arguments) state.registers[static_cast<size_t>(r)] = Value::number(value);
    go(entry, state);
    run();
    guess_jumps();
    collect();
  }

  Walk take() { return std::move(out_); }

 private:
  void run() {
    while (!work_.empty() && steps_ < kMostSteps) {
      Node node = *work_.begin();
      work_.erase(work_.begin());
      ++steps_;
      visit(node);
    }
    if (!work_.empty())
      problem(ProblemKind::kNoCode, work_.begin()->address, "the function is too large for the analysis");
  }

  void problem(ProblemKind kind, uint32_t at, std::string text, bool assumed = false) {
    problems_.insert({kind, at, std::move(text), assumed, false});
  }

  // Control comes to an address with a state.
  void go(uint32_t address, const State& state) {
    if (state.sp <= -kMostStack || state.sp >= kMostStack)
      return problem(ProblemKind::kStackGrows, address, "the stack grows beyond all memory");
    Node node{address, state.sp, state.sp_known, state.inside_of};
    auto [known, fresh] = states_.try_emplace(node, state);
    if (fresh) {
      depths_[address].insert(state.sp);
      if (depths_[address].size() > kMostDepths) {
        states_.erase(known);
        problem(ProblemKind::kStackGrows, address, "the stack grows in a loop");
        return;
      }
      work_.insert(node);
    } else if (known->second.join(state)) {
      work_.insert(node);
    }
  }

  void visit(const Node& node) {
    const State before = states_.at(node);
    const Instruction* i = listing_.at(node.address);
    if (i == nullptr || elf_.is_data(node.address)) {
      problem(ProblemKind::kNoCode, node.address, "execution reaches an address without an instruction");
      return;
    }
    if (-before.sp > out_.depth) deepest(node.address, -before.sp);
    State after = before;
    Step step = semantics_.step(*i, after);
    if (-after.sp > out_.depth) deepest(node.address, -after.sp);
    if (!step.problem.empty()) problem(ProblemKind::kStackPointer, i->address, step.problem);
    if (!step.assumption.empty()) problem(ProblemKind::kException, i->address, step.assumption, true);
    if (!step.length_assumption.empty()) problem(ProblemKind::kVectorLength, out_.entry, step.length_assumption, true);
    if (step.stack_switched) {
      out_.switches_stack = true;
      after.sp = entry_sp_;
      after.sp_known = true;
    }
    note_numbers(after);
    follow(*i, before, after, step);
  }

  void deepest(uint32_t at, int32_t depth) {
    out_.depth = depth;
    out_.depth_place = at;
  }

  void note_numbers(const State& state) {
    for (const Value& v : state.registers)
      if (v.is_constant()) out_.numbers.insert(v.base);
  }

  void follow(const Instruction& i, const State& before, State& after, const Step& step) {
    using Flow = Step::Flow;
    if (i.conditional && step.flow != Flow::kCall) go(i.next(), before);
    switch (step.flow) {
      case Flow::kNext: go(i.next(), after); break;
      case Flow::kBranch: branch(i, after, step); break;
      case Flow::kJump: jump(i, after, step); break;
      case Flow::kCall: call(i, before, after, step); break;
      case Flow::kReturn: returned(i, after); break;
      case Flow::kStop: break;
    }
  }

  // A constant becomes a range, too: another way may come here with another one.
  static void refine(Value& v, uint32_t most) {
    const bool within = v.is_number() && v.count > 0 && v.base + uint64_t{v.stride} * v.count <= most;
    if (!within && !v.is_stack() && Value::up_to(most).known()) v = Value::up_to(most);
  }

  // A function that is declared weak and is nowhere is at 0, and not called: the program asks before.
  bool is_absent(uint32_t to) const { return to == 0 && listing_.at(0) == nullptr; }

  void branch(const Instruction& i, const State& after, const Step& step) {
    for (bool taken : {false, true}) {
      if (step.taken && *step.taken != taken) continue;
      State way = after;
      if (step.bounded >= 0 && step.bounded_if_taken == taken) {
        Value& v = way.registers[static_cast<size_t>(step.bounded)];
        refine(v, step.not_above);
        if (step.bounds_pair && step.bounded < 31 && step.not_above < 256)
          way.registers[static_cast<size_t>(step.bounded) + 1] = Value::number(0);
      }
      if (!taken) go(i.next(), way);
      else if (step.target.is_constant()) go(step.target.base, way);
      else problem(ProblemKind::kNoCode, i.address, "a branch with an unknown target");
    }
  }

  void jump(const Instruction& i, const State& after, const Step& step) {
    auto targets = all_of(elf_, step.target);
    if (!targets) {
      unresolved_[i.address] = {after, step.by_register};
      return;
    }
    resolved_.insert(i.address);
    State there = after;
    if (targets->size() == 1 && targets->front() == after.inside_of) there.inside_of = 0;
    for (uint32_t to : *targets)
      if (!is_absent(to)) go(elf_.isa() == Isa::kThumb ? to & ~1u : to, there);
  }

  void call(const Instruction& i, const State& before, State& after, const Step& step) {
    if (step.inside) {
      // A subroutine comes back to where it was called; a far jump of v6-M loses what the link register held.
      if (i.conditional) go(i.next(), before);
      after.inside_of = i.next();
      return go(step.target.base, after);
    }
    Call& c = calls_[i.address];
    c.address = i.address;
    c.depth = std::max(c.depth, -before.sp);
    auto targets = all_of(elf_, step.target);
    bool goes_on = true;
    if (targets) {
      goes_on = false;
      for (uint32_t to : *targets) {
        if (elf_.isa() == Isa::kThumb) to &= ~1u;
        if (is_absent(to)) continue;
        if (std::find(c.targets.begin(), c.targets.end(), to) == c.targets.end()) c.targets.push_back(to);
        if (!noreturn_.contains(to)) goes_on = true;
      }
    } else {
      c.indirect = true;
      // Compilers put nothing behind a call that does not return.
      goes_on = elf_.function_at(i.next()) == nullptr && !elf_.is_data(i.next());
    }
    if (i.conditional) go(i.next(), before);
    semantics_.after_call(after);
    if (goes_on && ends_function(i)) {
      problem(ProblemKind::kNoReturn, i.address,
              "a call that is the last instruction of its function: assumed not to return", true);
      goes_on = false;
    }
    if (goes_on) go(i.next(), after);
  }

  // Compilers put nothing behind a call that they know not to come back: what stands there is another function's, or
  // data.
  bool ends_function(const Instruction& i) const {
    const Symbol* here = elf_.function_around(i.address);
    if (here == nullptr || here->size == 0 || i.conditional) return false;
    return i.next() - here->address >= here->size || elf_.is_data(i.next());
  }

  void returned(const Instruction& i, const State& after) {
    out_.returns = true;
    if (after.sp_known && after.sp != entry_sp_)
      problem(ProblemKind::kUnbalanced, i.address,
              fmt::format("the function returns with a stack pointer that is {} bytes off", entry_sp_ - after.sp));
  }

  // Jumps to what is not known. With nothing on the stack it may be a tail call through a pointer; and it
  // may go to all code of the function that nothing else reaches.
  void guess_jumps() {
    while (!unresolved_.empty()) {
      auto [at, jump] = *unresolved_.begin();
      unresolved_.erase(unresolved_.begin());
      if (!guessed_.insert(at).second) continue;
      const bool table = reach_rest(at, jump.state) || reach_rest(out_.entry, jump.state);
      if (table) {
        problem(ProblemKind::kJump, at,
                "a computed jump: assumed to reach all code of the function that no other path reaches", true);
      } else if (resolved_.contains(at)) {
        problem(ProblemKind::kJump, at,
                "a jump through a variable: assumed to reach the addresses that the function stores in it", true);
      } else if (jump.by_register && jump.state.sp_known && jump.state.sp == entry_sp_) {
        Call& c = calls_[at];
        c.address = at;
        c.depth = std::max(c.depth, -jump.state.sp);
        c.indirect = true;
        out_.returns = true;
      } else {
        problem(ProblemKind::kJump, at, "a computed jump to an unknown address");
      }
      run();
    }
  }

  // Walks what of the function around an address was not reached; false if there is nothing.
  bool reach_rest(uint32_t around, const State& from) {
    const Symbol* function = elf_.function_around(around);
    if (function == nullptr || function->size == 0) return false;
    bool any = false;
    for (const Instruction* i = listing_.from(function->address);
         i != nullptr && i->address - function->address < function->size; i = listing_.from(i->next())) {
      if (depths_.contains(i->address) || elf_.is_data(i->address) || i->op == Op::kNop) continue;
      any = true;
      go(i->address, from);
      run();
    }
    return any;
  }

  void collect() {
    for (auto& [at, depths] : depths_) out_.reached.insert(at);
    std::map<uint32_t, Arguments> arguments;
    for (const auto& [node, state] : states_) {
      if (!calls_.contains(node.address)) continue;
      const auto [known, first] = arguments.try_emplace(node.address);
      for (int r : semantics_.arguments())
        if (const Value& v = state.registers[static_cast<size_t>(r)]; first && v.is_constant())
          known->second[r] = v.base;
      std::erase_if(known->second, [&](const auto& argument) {
        return state.registers[static_cast<size_t>(argument.first)] != Value::number(argument.second);
      });
    }
    for (auto& [at, c] : calls_) {
      c.arguments = {arguments[at]};
      out_.calls.push_back(std::move(c));
    }
    out_.problems.assign(problems_.begin(), problems_.end());
  }

  struct Unresolved {
    State state;
    bool by_register = false;
  };

  const Elf& elf_;
  const Listing& listing_;
  const Semantics& semantics_;
  const std::set<uint32_t>& noreturn_;
  Walk out_;
  int32_t entry_sp_ = 0;
  std::map<Node, State> states_;
  std::map<uint32_t, std::set<int32_t>> depths_;
  std::set<Node> work_;
  std::map<uint32_t, Call> calls_;
  std::set<Problem> problems_;
  std::map<uint32_t, Unresolved> unresolved_;
  std::set<uint32_t> guessed_, resolved_;
  size_t steps_ = 0;
};

}  // namespace

void Walk::add(const Walk& other) {
  if (other.depth > depth) {
    depth = other.depth;
    depth_place = other.depth_place;
  }
  returns = returns || other.returns;
  switches_stack = switches_stack || other.switches_stack;
  for (const Call& c : other.calls) {
    auto mine = std::find_if(calls.begin(), calls.end(), [&](const Call& m) { return m.address == c.address; });
    if (mine == calls.end()) {
      calls.push_back(c);
      continue;
    }
    mine->depth = std::max(mine->depth, c.depth);
    mine->indirect = mine->indirect || c.indirect;
    for (uint32_t to : c.targets)
      if (std::find(mine->targets.begin(), mine->targets.end(), to) == mine->targets.end()) mine->targets.push_back(to);
    mine->arguments.insert(c.arguments.begin(), c.arguments.end());
  }
  problems.insert(problems.end(), other.problems.begin(), other.problems.end());
  reached.insert(other.reached.begin(), other.reached.end());
  numbers.insert(other.numbers.begin(), other.numbers.end());
}

Walk Walker::walk(uint32_t entry, const std::set<uint32_t>& noreturn, const Arguments& arguments) const {
  return Walking(elf_, listing_, semantics_, noreturn, entry, arguments).take();
}

}  // namespace aotc::machine
