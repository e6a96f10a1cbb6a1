// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace aotc::tests::proof {

Machine::Machine(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call)
    : t_(terms), memory_(memory), call_(call), text_(text) {
  for (size_t i = 0; i < text.size(); ++i) index_[text[i].at] = i;
}

void Machine::begin(int registers, int floats, int first_argument) {
  for (int r = 0; r < registers; ++r) now_.r.push_back(unknown(r));
  for (int s = 0; s < floats; ++s) now_.s.push_back(unknown(registers + s));
  for (size_t i = 0; i < call_.arguments.size(); ++i)
    now_.r[i + static_cast<size_t>(first_argument)] = call_.arguments[i];
  const int64_t stack = memory_.region(call_.stack).bytes;
  set(stack_pointer(), t_.add(t_.base(call_.stack), constant(stack)));
  first_ = now_;
}

void Machine::run(std::vector<bool>* ran, int64_t* steps, Trial* trial) {
  ran_ = ran, trial_ = trial;
  run_from(0, end());
  if (steps != nullptr) *steps = count_;
  check_end();
}

void Machine::run_from(int at, int end) {
  while (at != end) {
    const auto found = index_.find(at);
    if (found == index_.end()) throw Failure("a jump to no instruction");
    if (++count_ > call_.most_steps) throw Failure("too many steps");
    const Instruction& i = text_[found->second];
    if (ran_ != nullptr) (*ran_)[found->second] = true;
    next_ = at + i.bytes;
    at_ = at;
    if (trial_ != nullptr && trial_->where == found->second) compare(i, *trial_);
    else step(i);
    stored_.clear();
    at = next_;
  }
}

void Machine::step(const Instruction& i) {
  const Term condition = condition_of(i);
  if (const auto v = t_.value_of(condition)) {
    if (*v != 0) execute(i);
    return;
  }
  if (target_of(i)) return branch_both_ways(i, condition);
  const State before = now_;
  const int behind = next_;
  ++ways_;
  execute(i);
  --ways_;
  if (next_ != behind) throw Failure("data decides a computed jump");
  const State taken = std::exchange(now_, before);
  join(condition, taken, before);
}

// Runs both ways to where they meet.
void Machine::branch_both_ways(const Instruction& i, Term condition) {
  if (dry_) throw Failure("the trial is a branch that data decides");
  const int taken_at = *target_of(i), other_at = next_, meet = joins()[index_.at(i.at)];
  constexpr int kMostWays = 64;
  if (meet < 0 || ways_ == kMostWays) throw Failure("data decides, and the ways do not meet");
  const State before = now_;
  ++ways_;
  {
    const Terms::Assumption taken_way(t_, condition, true);
    run_from(taken_at, meet);
  }
  const State taken = std::exchange(now_, before);
  {
    const Terms::Assumption other_way(t_, condition, false);
    run_from(other_at, meet);
  }
  --ways_;
  const State other = std::exchange(now_, before);
  join(condition, taken, other);
  next_ = meet;
}

void Machine::join(Term condition, const State& taken, const State& other) {
  for (size_t r = 0; r < now_.r.size(); ++r) now_.r[r] = t_.select(condition, taken.r[r], other.r[r]);
  for (size_t s = 0; s < now_.s.size(); ++s) now_.s[s] = t_.select(condition, taken.s[s], other.s[s]);
  now_.flags = taken.flags == other.flags ? taken.flags : Flags{};
}

// The instruction that is on all ways from one to the end, and the first such: by the instructions that all ways from
// each instruction have in common, made smaller until nothing changes.
const std::vector<int>& Machine::joins() {
  if (!joins_.empty()) return joins_;
  const size_t count = text_.size();
  std::vector<std::vector<size_t>> next(count);
  for (size_t i = 0; i < count; ++i) {
    if (is_computed_jump(text_[i])) throw Failure("data decides in a text with computed jumps");
    const auto target = target_of(text_[i]);
    auto add = [&](int at) {
      const auto found = index_.find(at);
      if (at != end() && found == index_.end()) throw Failure("a jump to no instruction");
      next[i].push_back(at == end() ? count : found->second);
    };
    if (target) add(*target);
    if (!target || is_conditional(text_[i])) add(text_[i].at + text_[i].bytes);
  }
  using Set = std::vector<uint64_t>;  // bit k: instruction k; the last one: the end
  constexpr size_t kBits = 64;
  const Set none(count / kBits + 1), every(count / kBits + 1, ~uint64_t{0});
  auto has = [&](const Set& set, size_t k) { return (set[k / kBits] >> (k % kBits) & 1) != 0; };
  auto with = [&](Set set, size_t k) {
    set[k / kBits] |= uint64_t{1} << (k % kBits);
    return set;
  };
  std::vector<Set> all(count + 1, every);
  all[count] = with(none, count);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = count; i-- > 0;) {
      Set common = every;
      for (size_t n : next[i])
        for (size_t k = 0; k < common.size(); ++k) common[k] &= all[n][k];
      common = with(std::move(common), i);
      if (common != all[i]) all[i] = std::move(common), changed = true;
    }
  }
  std::vector<int> sizes;
  for (const Set& set : all) {
    sizes.push_back(0);
    for (uint64_t bits : set) sizes.back() += std::popcount(bits);
  }
  joins_.assign(count, -1);
  for (size_t i = 0; i < count; ++i) {
    // The first has the most in common with the end.
    int most = 0;
    for (size_t k = 0; k <= count; ++k) {
      if (k == i || !has(all[i], k) || sizes[k] <= most) continue;
      most = sizes[k];
      joins_[i] = k == count ? end() : text_[k].at;
    }
  }
  return joins_;
}

// Runs the text's instruction, and makes unknown what the other one would leave otherwise.
void Machine::compare(const Instruction& own, Trial& trial) {
  const State first = now_;
  const int first_next = next_;
  dry_ = true;
  stored_.clear();
  step(trial.other);
  // What it jumps to may be a few instructions that lead to the same place.
  const int end = next_after(own, first_next);
  constexpr int kMostSteps = 8;
  for (int k = 0; k < kMostSteps && next_ != end; ++k) {
    const auto found = index_.find(next_);
    if (found == index_.end()) break;
    const Instruction& more = text_[found->second];
    if (target_of(more) || is_conditional(more)) break;
    at_ = more.at, next_ = more.at + more.bytes;
    step(more);
  }
  at_ = own.at;
  dry_ = false;
  const auto other_stored = std::exchange(stored_, {});
  const State other = std::exchange(now_, first);
  const int other_next = std::exchange(next_, first_next);
  stored_.clear();
  dry_ = true;
  step(own);
  dry_ = false;
  if (next_ != other_next) throw Failure("the trial jumps elsewhere");
  store_both(other_stored, trial);
  bool same = true;
  for (size_t r = 0; r < now_.r.size(); ++r) same &= forget_difference(now_.r[r], other.r[r]);
  for (size_t s = 0; s < now_.s.size(); ++s) same &= forget_difference(now_.s[s], other.s[s]);
  if (now_.flags != other.flags) {
    now_.flags = {};
    same = false;
  }
  trial.same = trial.same && same;
}

// Where a branch goes, and what follows another instruction.
int Machine::next_after(const Instruction& own, int behind) {
  const auto target = target_of(own);
  return target && t_.value_of(condition_of(own)) != uint32_t{0} ? *target : behind;
}

// Stores what the text's own instruction stores, but bytes unknown where the other one would leave other bytes.
void Machine::store_both(const std::vector<Stored>& others, Trial& trial) {
  using Bytes = std::map<std::pair<int32_t, int64_t>, Memory::Byte>;
  auto bytes_of = [&](const std::vector<Stored>& stores) {
    Bytes out;
    for (const Stored& s : stores) {
      const Bits bits = t_.bits(s.value);
      for (int i = 0; i < s.bytes; ++i) std::copy_n(bits.begin() + 8 * i, 8, out[{s.region, s.offset + i}].begin());
    }
    return out;
  };
  const Bytes own = bytes_of(stored_), other = bytes_of(others);
  std::vector<std::pair<int32_t, int64_t>> different;
  Bytes all = own;
  all.insert(other.begin(), other.end());
  for (const auto& [place, byte] : all) {
    auto after = [&](const Bytes& stores) {
      const auto found = stores.find(place);
      return found != stores.end() ? found->second : memory_.byte(place.first, place.second);
    };
    if (after(own) != after(other)) different.push_back(place);
  }
  for (const Stored& s : stored_) memory_.store(s.region, s.offset, s.bytes, s.value);
  for (const auto& [region, offset] : different) {
    Bits unknown{};
    const int32_t source = t_.new_source("unknown");
    for (size_t i = 0; i < unknown.size(); ++i) unknown[i] = {source, static_cast<int32_t>(i)};
    memory_.store(region, offset, 1, t_.of_bits(unknown));
    trial.same = false;
  }
}

bool Machine::forget_difference(Term& to, Term other) {
  if (to == other) return true;
  Bits out = t_.bits(to);
  const Bits others = t_.bits(other);
  const int32_t source = t_.new_source("unknown");
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i] != others[i]) out[i] = {source, static_cast<int32_t>(i)};
  to = t_.of_bits(out);
  return false;
}

void Machine::check_end() const {
  auto may_change = [&](const std::string& name) {
    return std::find(call_.clobbers.begin(), call_.clobbers.end(), name) != call_.clobbers.end();
  };
  for (const auto& [r, name] : kept_)
    if (now_.r[static_cast<size_t>(r)] != first_.r[static_cast<size_t>(r)] && !may_change(name))
      throw Failure(name + " is not what it was");
  for (const auto& [s, name] : kept_floats_)
    if (now_.s[static_cast<size_t>(s)] != first_.s[static_cast<size_t>(s)] && !may_change(name))
      throw Failure(name + " is not what it was");
}

// ---------------------------------------------------------------- for instruction sets

const Operand& Machine::operand(const Instruction& i, size_t k) {
  if (k >= i.operands.size()) throw Failure("too few operands: " + i.text);
  return i.operands[k];
}

int Machine::reg(const Instruction& i, size_t k) {
  const Operand& o = operand(i, k);
  if (o.kind != Operand::Kind::kRegister) throw Failure("no register: " + i.text);
  return o.reg;
}

int64_t Machine::number(const Instruction& i, size_t k) {
  const Operand& o = operand(i, k);
  if (o.kind != Operand::Kind::kNumber) throw Failure("no number: " + i.text);
  return o.number;
}

NeedsKnown Machine::needs(Term v) const {
  NeedsKnown out;
  t_.add_bits_below(v, out.bits);
  return out;
}

int64_t Machine::known(Term v) const {
  if (const auto found = t_.value_of(v)) return static_cast<int32_t>(*found);
  throw needs(v);
}

Term Machine::decided(Term truth) const {
  if (t_.value_of(truth)) return truth;
  // What conditions choose must be known.
  if (t_.has_choices()) return t_.by_cases(truth, [&](Term one) { return constant(known(one)); });
  const NeedsKnown all = needs(truth);
  const bool of_data = std::ranges::any_of(all.bits, [&](const Bit& bit) { return !memory_.is_of_table(bit.source); });
  if (call_.data_decides && of_data) return truth;
  throw all;
}

Terms::Address Machine::address(Term v, int64_t alignment) const {
  const auto found = t_.address_of(v);
  if (!found) throw needs(v);
  if (found->region < 0 || found->region == call_.code) throw Failure("no address: " + t_.text(v));
  const Region& region = memory_.region(found->region);
  if (alignment > 1 && (region.alignment % alignment != 0 || found->offset % alignment != 0))
    throw Failure(
        fmt::format("byte {} of '{}' at an address that is no multiple of {}", found->offset, region.name, alignment));
  if (found->region == call_.stack) {
    const auto sp = t_.address_of(get(stack_pointer()));
    if (!sp || sp->region != call_.stack || found->offset < sp->offset) throw Failure("an access below sp");
  }
  return *found;
}

Term Machine::load(Term at, int bytes, bool is_signed, int64_t alignment) {
  auto load_at = [&](Term one) {
    const auto place = address(one, alignment);
    return memory_.load(place.region, place.offset, bytes, is_signed);
  };
  return t_.has_choices() ? t_.by_cases(at, load_at) : load_at(at);
}

void Machine::store(Term at, int bytes, Term v, int64_t alignment) {
  if (ways_ > 0) throw Failure("a store where data decides");
  const auto place = address(at, alignment);
  if (!memory_.region(place.region).writable)
    throw Failure(fmt::format("a store to '{}'", memory_.region(place.region).name));
  stored_.push_back({place.region, place.offset, bytes, t_.slice(v, 0, 8 * bytes, false)});
  if (!dry_) memory_.store(place.region, place.offset, bytes, v);
}

}  // namespace aotc::tests::proof
