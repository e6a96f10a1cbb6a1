// SPDX-License-Identifier: Apache-2.0
#include "machine/value.h"

#include <algorithm>
#include <charconv>

namespace aotc::machine {

namespace {

// Tables of jumps are not larger; a larger range is one that nothing was known of.
constexpr uint32_t kMostEntries = 4096;
constexpr size_t kMostSlots = 64;

}  // namespace

Value Value::number(uint32_t value) {
  Value out;
  out.kind = Kind::kNumber;
  out.base = value;
  return out;
}

Value Value::up_to(uint32_t most) {
  if (most >= kMostEntries) return {};
  Value out = number(0);
  out.stride = most == 0 ? 0 : 1;
  out.count = most;
  return out;
}

Value Value::stack(int32_t offset) {
  Value out;
  out.kind = Kind::kStack;
  out.offset = offset;
  return out;
}

Value plus(const Value& a, const Value& b) {
  if (b.is_constant() && !a.is_constant()) {
    Value out = a;
    if (a.is_number()) out.base += b.base;
    else if (a.kind == Value::Kind::kTable) out.add += b.base;
    else if (a.is_stack()) out.offset = static_cast<int32_t>(static_cast<uint32_t>(a.offset) + b.base);
    else return {};
    return out;
  }
  if (a.is_constant() && b.is_constant()) return Value::number(a.base + b.base);
  return a.is_constant() ? plus(b, a) : Value{};
}

Value minus(const Value& a, const Value& b) {
  if (a.is_stack() && b.is_stack())
    return Value::number(static_cast<uint32_t>(a.offset) - static_cast<uint32_t>(b.offset));
  return b.is_constant() ? plus(a, Value::number(0u - b.base)) : Value{};
}

Value shifted_left(const Value& a, uint32_t by) {
  if (by == 0) return a;
  if (by > 31) return {};
  Value out = a;
  if (a.is_number()) {
    out.base <<= by;
    out.stride <<= by;
    return out;
  }
  if (a.kind != Value::Kind::kTable || a.add != 0 || a.shift + by > 31) return {};
  out.shift = static_cast<uint8_t>(a.shift + by);
  return out;
}

Value masked(const Value& a, uint32_t mask) {
  if (a.is_constant()) return Value::number(a.base & mask);
  // Aligning the stack pointer takes at most what the mask clears.
  if (a.is_stack()) {
    const bool aligns = ~mask < 4096 && ((~mask + 1) & ~mask) == 0;
    return aligns ? Value::stack(static_cast<int32_t>(static_cast<uint32_t>(a.offset) - ~mask)) : Value{};
  }
  if ((mask & (mask + 1)) != 0) return {};
  if (a.is_number() && a.base + uint64_t{a.stride} * a.count <= mask) return a;
  return Value::up_to(mask);
}

Value loaded(const Elf& elf, const Value& address, int width, bool is_signed) {
  if (!address.is_number()) return {};
  if (address.is_constant()) {
    auto word = elf.constant(address.base, width);
    if (!word) return {};
    if (is_signed && width == 1) return Value::number(static_cast<uint32_t>(static_cast<int8_t>(*word)));
    if (is_signed && width == 2) return Value::number(static_cast<uint32_t>(static_cast<int16_t>(*word)));
    return Value::number(*word);
  }
  Value out = address;
  out.kind = Value::Kind::kTable;
  out.width = static_cast<uint8_t>(width);
  out.is_signed = is_signed;
  return out;
}

std::optional<std::vector<uint32_t>> all_of(const Elf& elf, const Value& value) {
  if (value.count > kMostEntries || (!value.is_number() && value.kind != Value::Kind::kTable)) return std::nullopt;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i <= value.count; ++i) {
    Value one = Value::number(value.base + i * value.stride);
    if (value.kind == Value::Kind::kTable) {
      one = loaded(elf, one, value.width, value.is_signed);
      if (!one.is_constant()) return std::nullopt;
      one.base = (one.base << value.shift) + value.add;
    }
    out.push_back(one.base);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// True if `a` has all the numbers that `b` has, and more than one.
static bool contains(const Value& a, const Value& b) {
  if (!a.is_number() || !b.is_number() || a.count == 0 || a.stride == 0 || b.base < a.base) return false;
  return (b.base - a.base) % a.stride == 0 && b.stride % a.stride == 0 &&
         b.base + uint64_t{b.stride} * b.count <= a.base + uint64_t{a.stride} * a.count;
}

bool State::join(const State& other) {
  bool less = other.escaped && !escaped;
  escaped = escaped || other.escaped;
  auto keep = [&](Value& mine, const Value& theirs) {
    if (mine == theirs || contains(mine, theirs)) return;
    // An address in the stack that is not followed any more may be written through.
    if ((mine.is_stack() || theirs.is_stack()) && !escaped) escaped = less = true;
    if (!mine.known()) return;
    mine = contains(theirs, mine) ? theirs : Value{};
    less = true;
  };
  for (size_t i = 0; i < registers.size(); ++i) keep(registers[i], other.registers[i]);
  keep(stack_high, other.stack_high);
  keep(stack_low, other.stack_low);
  if (compared >= 0 && (compared != other.compared || compared_with != other.compared_with)) {
    compared = -1;
    less = true;
  }
  for (auto it = slots.begin(); it != slots.end();) {
    auto theirs = other.slots.find(it->first);
    if (theirs != other.slots.end() && theirs->second == it->second) {
      ++it;
    } else {
      it = slots.erase(it);
      less = true;
    }
  }
  return less;
}

bool State::set_stack(const Value& value) {
  if (!value.is_stack() || value.offset <= -kMostStack || value.offset >= kMostStack) return false;
  sp = value.offset;
  sp_known = true;
  return true;
}

void State::store(int64_t at, const Value& value) {
  slots.erase(at);
  if (value.known() && slots.size() < kMostSlots) slots[at] = value;
}

void State::forget_variables() {
  std::erase_if(slots, [](const auto& slot) {
    const Value::Kind kind = slot.second.kind;
    return kind == Value::Kind::kNumber || kind == Value::Kind::kTable;
  });
}

Value State::load(int64_t at) const {
  auto found = slots.find(at);
  return found == slots.end() ? Value{} : found->second;
}

std::optional<int64_t> number_in(const std::string& text) {
  size_t at = !text.empty() && text[0] == '#' ? 1 : 0;
  bool negative = at < text.size() && text[at] == '-';
  if (negative || (at < text.size() && text[at] == '+')) ++at;
  bool hex = text.compare(at, 2, "0x") == 0 || text.compare(at, 2, "0X") == 0;
  if (hex) at += 2;
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || value > INT64_MAX) return std::nullopt;
  const int64_t first = negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  if (end == text.data() + text.size()) return first;
  const auto more = *end == '+' ? number_in(text.substr(static_cast<size_t>(end - text.data()))) : std::nullopt;
  return more && value <= UINT32_MAX ? std::optional(first + *more) : std::nullopt;
}

}  // namespace aotc::machine
