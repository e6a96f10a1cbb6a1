// SPDX-License-Identifier: Apache-2.0
// Whether terms with other normal forms are equal: by their values for all bits, or in all cases of signs.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "terms.h"
#include "word.h"

namespace aotc::tests::proof {

int32_t nearest_even(float v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1p31f) return std::numeric_limits<int32_t>::max();
  if (v < -0x1p31f) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(std::nearbyintf(v));
}

uint32_t Terms::value(Operation op, const std::array<uint32_t, 3>& v, const std::array<int64_t, 2>& numbers) {
  const int64_t a = as_signed(v[0]), b = as_signed(v[1]);
  const float x = float_of_bits(v[0]), y = float_of_bits(v[1]), z = float_of_bits(v[2]);
  switch (op) {
    case Operation::kBase: break;
    case Operation::kHighWord: return static_cast<uint32_t>((a * b + numbers[0]) >> numbers[1]);
    case Operation::kClamp: return static_cast<uint32_t>(std::clamp(a, numbers[0], numbers[1]));
    case Operation::kLess: return a < b ? 1 : 0;
    case Operation::kIsZero: return a == 0 ? 1 : 0;
    case Operation::kMinimum: return static_cast<uint32_t>(std::min(a, b));
    case Operation::kMaximum: return static_cast<uint32_t>(std::max(a, b));
    case Operation::kAnd: return v[0] & v[1];
    case Operation::kOr: return v[0] | v[1];
    case Operation::kXor: return v[0] ^ v[1];
    case Operation::kProduct: return v[0] * v[1];
    case Operation::kSelect: return v[0] != 0 ? v[1] : v[2];
    case Operation::kFloatOfInt: return bits_of_float(static_cast<float>(as_signed(v[0])));
    case Operation::kFloatProduct: return bits_of_float(x * y);
    case Operation::kFloatSum: return bits_of_float(x + y);
    case Operation::kFloatDifference: return bits_of_float(x - y);
    case Operation::kFloatClamp: {
      const float least = x > y ? x : y;
      return bits_of_float(least < z ? least : z);
    }
    case Operation::kNearestEven: return static_cast<uint32_t>(nearest_even(x));
  }
  return 0;
}

// ---------------------------------------------------------------- all values

// Assignments that are computed at a time.
constexpr size_t kColumn = 1024;

// What a term reads: the unknown bits of all terms below it, and whether it has a value for each assignment.
struct Terms::Values {
  std::vector<Bit> unknown;
  uint32_t first = 0;  // assignment
  std::unordered_map<Term, Column> known;

  uint32_t bit(const Bit& of, uint32_t assignment) const {
    const auto found = std::lower_bound(unknown.begin(), unknown.end(), of, before);
    if (found == unknown.end() || !(*found == of)) return 0;  // a coefficient cuts it
    return assignment >> (found - unknown.begin()) & 1;
  }
  static bool before(const Bit& a, const Bit& b) {
    return a.source != b.source ? a.source < b.source : a.index < b.index;
  }
};

bool Terms::has_values(Term t) const {
  std::unordered_set<Term> seen;
  std::vector<Term> left = {t};
  while (!left.empty()) {
    const Term next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    for (const Monomial& m : terms_[static_cast<size_t>(next)])
      for (int32_t f : m.factors) {
        if (f == kNone) break;
        const Atom& atom = atoms_[static_cast<size_t>(f)];
        if (atom.is_operation && atom.op == Operation::kBase) return false;
        if (!atom.is_operation && source_ranges_.contains(atom.source)) return false;
        for (Term operand : atom.operands)
          if (operand != kNone && atom.is_operation) left.push_back(operand);
        if (!atom.is_operation && atom.source % 2 == 0) left.push_back(atom.source / 2);
      }
  }
  return true;
}

void Terms::add_column(int32_t number, Values& values, Column& product) {
  const Atom atom = atoms_[static_cast<size_t>(number)];
  if (atom.is_operation) {
    std::array<const Column*, 3> operands = {};
    for (size_t k = 0; k < operands.size(); ++k)
      if (atom.operands[k] != kNone) operands[k] = &column(atom.operands[k], values);
    for (size_t i = 0; i < kColumn; ++i) {
      std::array<uint32_t, 3> v{};
      for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k] != nullptr) v[k] = (*operands[k])[i];
      product[i] *= value(atom.op, v, atom.numbers);
    }
    return;
  }
  const uint32_t mask = atom.count == kWord ? ~uint32_t{0} : (uint32_t{1} << atom.count) - 1;
  const Column* of = atom.source % 2 == 0 ? &column(atom.source / 2, values) : nullptr;
  for (size_t i = 0; i < kColumn; ++i) {
    uint32_t v = 0;
    if (of != nullptr) v = (*of)[i] >> atom.low & mask;
    else
      for (int bit = 0; bit < atom.count; ++bit)
        v |= values.bit({atom.source, atom.low + bit}, values.first + static_cast<uint32_t>(i)) << bit;
    if (atom.is_signed && atom.count < kWord && (v >> (atom.count - 1) & 1) != 0) v |= ~mask;
    product[i] *= v;
  }
}

const Terms::Column& Terms::column(Term t, Values& values) {
  if (const auto found = values.known.find(t); found != values.known.end()) return found->second;
  Column out(kColumn, 0);
  for (const Monomial& m : terms_[static_cast<size_t>(t)]) {
    Column product(kColumn, m.coefficient);
    for (int32_t f : m.factors)
      if (f != kNone) add_column(f, values, product);
    for (size_t i = 0; i < kColumn; ++i) out[i] += product[i];
  }
  return values.known[t] = std::move(out);
}

bool Terms::equal_for_all_values(Term a, Term b) {
  constexpr size_t kMostBits = 16;
  if (!has_values(a) || !has_values(b)) return false;
  Values values;
  add_bits_below(a, values.unknown);
  add_bits_below(b, values.unknown);
  std::ranges::sort(values.unknown, Values::before);
  values.unknown.erase(std::unique(values.unknown.begin(), values.unknown.end()), values.unknown.end());
  if (values.unknown.size() > kMostBits) return false;
  for (uint64_t first = 0; first < uint64_t{1} << values.unknown.size(); first += kColumn) {
    values.first = static_cast<uint32_t>(first);
    values.known.clear();
    const Column left = column(a, values);
    if (left != column(b, values)) return false;
  }
  return true;
}

// ---------------------------------------------------------------- cases of signs

// Bits of a source that are a number, which is another word in the present case.
struct Terms::Case {
  int32_t source = 0;
  int low = 0, count = 0;
  Term number = 0;  // the bits, as a number
  Term word = 0;    // in its place
  std::unordered_map<Term, Term> known = {};
};

bool Terms::equal_by_signs(Term a, Term b, int depth) {
  constexpr int kMostDepth = 8;
  if (a == b) return true;
  if (depth == kMostDepth) return false;
  const auto found = undecided_sign(subtract(a, b));
  if (!found) return false;
  const Range range = range_of(found->number);
  for (const Range part : {Range{range.low, std::min<int64_t>(range.high, -1)},
                           Range{std::max<int64_t>(range.low, 0), std::min<int64_t>(range.high, 0)},
                           Range{std::max<int64_t>(range.low, 1), range.high}}) {
    if (part.low > part.high) continue;
    Case one = *found;
    one.word = part == Range{0, 0} ? 0 : new_word(part);
    if (!equal_by_signs(rebuilt(a, one), rebuilt(b, one), depth + 1)) return false;
  }
  return true;
}

// A number below t whose sign is not known: one of few elements, else one whose sign is read, else a high word.
std::optional<Terms::Case> Terms::undecided_sign(Term t) {
  constexpr size_t kMostElements = 6;
  std::vector<Case> elements, signs, highs;
  std::unordered_set<Term> seen;
  std::vector<Term> left = {t};
  auto add = [&](std::vector<Case>& to, const Atom& atom, int count, Term number) {
    if (to.size() > kMostElements) return;
    const Range range = range_of(number);
    if (range.low > 0 || range.high < 0 || range == Range{0, 1}) return;
    if (std::ranges::find(to, number, &Case::number) != to.end()) return;
    to.push_back({atom.source, atom.is_operation ? 0 : atom.low, count, number});
  };
  while (!left.empty()) {
    const Term next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    const Sum sum = terms_[static_cast<size_t>(next)];
    for (const Monomial& m : sum)
      for (int32_t f : m.factors) {
        if (f == kNone) break;
        const Atom atom = atoms_[static_cast<size_t>(f)];
        if (atom.is_operation) {
          if (atom.op == Operation::kBase) continue;
          if (atom.op == Operation::kHighWord) add(highs, {}, 0, of_atom(f));
          for (Term operand : atom.operands)
            if (operand != kNone) left.push_back(operand);
        } else if (atom.source % 2 == 0) {
          left.push_back(atom.source / 2);
          if (atom.count != 1) continue;
          Atom whole = atom;
          whole.low = 0;
          add(signs, whole, atom.low + 1, run(atom.source, 0, atom.low + 1, true, 1));
        } else if (!source_ranges_.contains(atom.source) && atom.count > 1) {
          add(elements, atom, atom.count, of_atom(f));
        }
      }
  }
  auto first = [](const std::vector<Case>& of) { return *std::ranges::min_element(of, {}, &Case::number); };
  if (!elements.empty() && elements.size() <= kMostElements) return first(elements);
  if (!signs.empty()) return first(signs);
  if (!highs.empty()) return first(highs);
  return std::nullopt;
}

Term Terms::rebuilt(Term t, Case& one) {
  if (t == one.number) return one.word;
  if (const auto found = one.known.find(t); found != one.known.end()) return found->second;
  const Sum sum = terms_[static_cast<size_t>(t)];
  Term out = 0;
  for (const Monomial& m : sum) {
    Term part = constant(m.coefficient);
    for (int32_t f : m.factors)
      if (f != kNone) part = multiply(part, rebuilt_atom(f, one));
    out = add(out, part);
  }
  one.known[t] = out;
  return out;
}

Term Terms::rebuilt_atom(int32_t number, Case& one) {
  const Atom atom = atoms_[static_cast<size_t>(number)];
  const Term whole = of_atom(number);
  if (whole == one.number) return one.word;
  if (!atom.is_operation) {
    if (one.count > 0 && atom.source == one.source && atom.low >= one.low &&
        atom.low + atom.count <= one.low + one.count)
      return slice(one.word, atom.low - one.low, atom.count, atom.is_signed);
    if (atom.source % 2 != 0) return whole;
    const Term made = rebuilt(atom.source / 2, one);
    if (made == atom.source / 2) return whole;
    return slice(made, atom.low, std::min(atom.count, kWord - atom.low), atom.is_signed);
  }
  std::array<Term, 3> v = {};
  std::vector<Term> operands;
  bool same = true;
  for (size_t k = 0; k < atom.operands.size() && atom.operands[k] != kNone; ++k) {
    v[k] = rebuilt(atom.operands[k], one);
    same = same && v[k] == atom.operands[k];
    operands.push_back(v[k]);
  }
  if (same) return whole;
  switch (atom.op) {
    case Operation::kHighWord: return high_word(v[0], v[1], atom.numbers[0], static_cast<int>(atom.numbers[1]));
    case Operation::kClamp:
      return clamp(v[0], static_cast<int32_t>(atom.numbers[0]), static_cast<int32_t>(atom.numbers[1]));
    case Operation::kLess: return less(v[0], v[1]);
    case Operation::kIsZero: return is_zero(v[0]);
    case Operation::kMinimum: return minimum(v[0], v[1]);
    case Operation::kMaximum: return maximum(v[0], v[1]);
    case Operation::kAnd:
    case Operation::kOr:
    case Operation::kXor: return bit_operation(atom.op, v[0], v[1]);
    case Operation::kSelect: return select(v[0], v[1], v[2]);
    default: return operation(atom.op, operands, atom.numbers);
  }
}

}  // namespace aotc::tests::proof
