// SPDX-License-Identifier: Apache-2.0
#include "terms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "word.h"

namespace aotc::tests::proof {

namespace {

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();

size_t mix(size_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); }

}  // namespace

size_t Terms::HashAtom::operator()(const Atom& a) const {
  size_t hash = mix(a.is_operation, static_cast<uint64_t>(a.source));
  hash = mix(hash, static_cast<uint64_t>(a.low * 1000 + a.count * 2 + a.is_signed));
  hash = mix(hash, static_cast<uint64_t>(a.op));
  for (Term t : a.operands) hash = mix(hash, static_cast<uint64_t>(t));
  for (int64_t n : a.numbers) hash = mix(hash, static_cast<uint64_t>(n));
  return hash;
}

Terms::Terms(const Rules& rules) : rules_(rules) { intern(Sum{}); }

void Terms::forget(const Mark& mark) {
  for (size_t t = mark.terms; t < terms_.size(); ++t) {
    const auto [first, last] = term_of_.equal_range(hashes_[t]);
    for (auto at = first; at != last; ++at)
      if (at->second == static_cast<Term>(t)) {
        term_of_.erase(at);
        break;
      }
  }
  // Bits of an older term may be those of a newer one.
  for (size_t b = mark.bits; b < bits_order_.size(); ++b) bits_.erase(bits_order_[b]);
  bits_order_.resize(mark.bits);
  for (size_t a = mark.atoms; a < atoms_.size(); ++a) atom_of_.erase(atoms_[a]);
  terms_.resize(mark.terms);
  hashes_.resize(mark.terms);
  atoms_.resize(mark.atoms);
  for (size_t i = mark.sources; i < source_names_.size(); ++i) source_ranges_.erase(static_cast<int32_t>(i) * 2 + 1);
  source_names_.resize(mark.sources);
  for (size_t r = mark.ranges; r < range_order_.size(); ++r) ranges_.erase(range_order_[r]);
  range_order_.resize(mark.ranges);
}

Term Terms::intern(Sum sum) {
  size_t hash = sum.size();
  for (const Monomial& m : sum) {
    for (int32_t f : m.factors) hash = mix(hash, static_cast<uint64_t>(f));
    hash = mix(hash, m.coefficient);
  }
  const auto [first, last] = term_of_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (terms_[static_cast<size_t>(at->second)] == sum) return at->second;
  const auto made = static_cast<Term>(terms_.size());
  term_of_.emplace(hash, made);
  hashes_.push_back(hash);
  terms_.push_back(std::move(sum));
  return made;
}

int32_t Terms::intern(const Atom& atom) {
  const auto [found, is_new] = atom_of_.try_emplace(atom, static_cast<int32_t>(atoms_.size()));
  if (is_new) atoms_.push_back(atom);
  return found->second;
}

Term Terms::of_atom(int32_t atom, uint32_t coefficient) {
  if (coefficient == 0) return 0;
  Monomial m{{}, coefficient};
  m.factors.fill(kNone);
  m.factors[0] = atom;
  return intern(Sum{m});
}

Term Terms::constant(uint32_t value) {
  if (value == 0) return 0;
  Monomial m{{}, value};
  m.factors.fill(kNone);
  return intern(Sum{m});
}

std::optional<uint32_t> Terms::value_of(Term t) const {
  const Sum& sum = terms_[static_cast<size_t>(t)];
  if (sum.empty()) return 0;
  if (sum.size() == 1 && sum[0].factors[0] == kNone) return sum[0].coefficient;
  return std::nullopt;
}

Term Terms::sum(Term a, Term b, uint32_t factor) {
  if (b == 0 || factor == 0) return a;
  if (factor != 1 && factor != ~uint32_t{0}) return add(a, scale(b, factor));
  const Sum &x = terms_[static_cast<size_t>(a)], &y = terms_[static_cast<size_t>(b)];
  Sum out, moved;
  out.reserve(x.size() + y.size());
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i].factors < y[j].factors)) {
      out.push_back(x[i++]);
    } else if (i == x.size() || y[j].factors < x[i].factors) {
      out.push_back({y[j].factors, y[j].coefficient * factor});
      ++j;
    } else {
      const uint32_t c = x[i].coefficient + y[j].coefficient * factor;
      const Monomial m{x[i].factors, c};
      if (c != 0) (reaches_top(m) ? moved : out).push_back(m);
      ++i, ++j;
    }
  }
  Term made = intern(std::move(out));
  for (const Monomial& m : moved) made = add(made, lengthened(m));
  return made;
}

// A multiple of 2^n of a run has only its lowest 32 - n bits. The run is then called one of 32 bits, whatever its
// length was, as that of the whole word is.
bool Terms::reaches_top(const Monomial& m) const {
  if (m.factors[0] == kNone || m.factors[1] != kNone) return false;
  const Atom& atom = atoms_[static_cast<size_t>(m.factors[0])];
  return !atom.is_operation && !(atom.is_signed && atom.count == kWord) &&
         atom.count + std::countr_zero(m.coefficient) >= kWord;
}

Term Terms::lengthened(const Monomial& m) {
  const Atom atom = atoms_[static_cast<size_t>(m.factors[0])];
  return run(atom.source, atom.low, kWord, true, m.coefficient);
}

Term Terms::scale(Term a, uint32_t factor) {
  if (factor == 1 || a == 0) return a;
  if (factor == 0) return 0;
  const Sum from = terms_[static_cast<size_t>(a)];
  Sum out;
  Term more = 0;
  for (const Monomial& m : from) {
    const uint32_t c = m.coefficient * factor;
    if (c == 0) continue;
    if (reaches_top({m.factors, c})) {
      more = add(more, lengthened({m.factors, c}));
      continue;
    }
    out.push_back({m.factors, c});
  }
  return add(intern(std::move(out)), more);
}

Term Terms::multiply(Term a, Term b) {
  if (const auto v = value_of(a)) return scale(b, *v);
  if (const auto v = value_of(b)) return scale(a, *v);
  const Sum x = terms_[static_cast<size_t>(a)], y = terms_[static_cast<size_t>(b)];
  auto degree = [](const Monomial& m) {
    return std::count_if(m.factors.begin(), m.factors.end(), [](int32_t f) { return f != kNone; });
  };
  auto most = [&](const Sum& s) {
    int64_t out = 0;
    for (const Monomial& m : s) out = std::max<int64_t>(out, degree(m));
    return out;
  };
  if (most(x) + most(y) > static_cast<int64_t>(kDegree))
    return operation(Operation::kProduct, {std::min(a, b), std::max(a, b)});
  Term out = 0;
  for (const Monomial& m : x) {
    Sum part;
    for (const Monomial& n : y) {
      Monomial made{m.factors, m.coefficient * n.coefficient};
      if (made.coefficient == 0) continue;
      auto at = made.factors.begin() + degree(m);
      for (int32_t f : n.factors)
        if (f != kNone) *at++ = f;
      std::sort(made.factors.begin(), at);
      part.push_back(made);
    }
    std::sort(part.begin(), part.end(), [](const Monomial& p, const Monomial& q) { return p.factors < q.factors; });
    Sum joined;
    for (const Monomial& p : part) {
      if (!joined.empty() && joined.back().factors == p.factors) joined.back().coefficient += p.coefficient;
      else joined.push_back(p);
      if (joined.back().coefficient == 0) joined.pop_back();
    }
    // A product by a constant may be a run that is too long for its coefficient.
    out = add(out, scale(intern(std::move(joined)), 1));
  }
  return out;
}

const Terms::Atom* Terms::only_operation(Term t) const {
  const Sum& sum = terms_[static_cast<size_t>(t)];
  if (sum.size() != 1 || sum[0].coefficient != 1 || sum[0].factors[0] == kNone || sum[0].factors[1] != kNone)
    return nullptr;
  const Atom& atom = atoms_[static_cast<size_t>(sum[0].factors[0])];
  return atom.is_operation ? &atom : nullptr;
}

// The bits of a source that is a word, as its range tells.
Bits Terms::own_bits(int32_t source) {
  const Range range = range_of_source(source);
  const int width = signed_width(range.low, range.high);
  Bits out{};
  for (int i = 0; i < kWord; ++i) {
    Bit& bit = out[static_cast<size_t>(i)];
    if (i < width - 1) bit = {source, i};
    else if (range.low >= 0) bit = {};
    else if (range.high < 0) bit = {Bit::kConstant, 1};
    else bit = {source, width - 1};
  }
  return out;
}

std::optional<Bits> Terms::pieces(Term t) {
  const Sum sum = terms_[static_cast<size_t>(t)];
  Bits out{};
  std::array<bool, kWord> taken{};
  auto put = [&](int at, Bit bit) {
    if (taken[static_cast<size_t>(at)]) return false;
    taken[static_cast<size_t>(at)] = true;
    out[static_cast<size_t>(at)] = bit;
    return true;
  };
  for (const Monomial& m : sum) {
    if (m.factors[0] == kNone) {
      for (int i = 0; i < kWord; ++i)
        if ((m.coefficient >> i & 1) != 0 && !put(i, {Bit::kConstant, 1})) return std::nullopt;
      continue;
    }
    if (m.factors[1] != kNone) return std::nullopt;
    const int at = std::countr_zero(m.coefficient);
    const Atom atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (!std::has_single_bit(m.coefficient)) {
      // One bit in several places.
      if (atom.is_operation || atom.is_signed || atom.count != 1) return std::nullopt;
      for (int i = 0; i < kWord; ++i)
        if ((m.coefficient >> i & 1) != 0 && !put(i, {atom.source, atom.low})) return std::nullopt;
      continue;
    }
    if (atom.is_operation || source_ranges_.contains(atom.source)) {
      if (!atom.is_operation && (atom.low != 0 || atom.count != kWord)) return std::nullopt;
      const Bits own = own_bits(atom.is_operation ? source_of_term(of_atom(m.factors[0])) : atom.source);
      for (int i = 0; at + i < kWord; ++i)
        if (own[static_cast<size_t>(i)] != Bit{} && !put(at + i, own[static_cast<size_t>(i)])) return std::nullopt;
      continue;
    }
    for (int i = 0; at + i < kWord; ++i) {
      if (i >= atom.count && !atom.is_signed) break;
      if (!put(at + i, {atom.source, atom.low + std::min(i, atom.count - 1)})) return std::nullopt;
    }
  }
  return out;
}

const Bits& Terms::bits(Term t) {
  if (const auto found = bits_.find(t); found != bits_.end()) return found->second;
  auto known = pieces(t);
  if (!known) known = high_and_low(t);
  if (!known) known = bits_above_own_low(t);
  if (!known && rules_.bytes_of_words)
    if (const auto high = multiple_of_bytes(t)) {
      known.emplace();
      const Bits above = bits(*high);
      std::copy_n(above.begin(), kWord - 8, known->begin() + 8);
    }
  if (!known) known = own_bits(source_of_term(t));
  bits_order_.push_back(t);
  return bits_[t] = *known;
}

// The bits of a sum whose upper part is a multiple of 2^n, and whose lower part is below that.
std::optional<Bits> Terms::high_and_low(Term t) {
  const Sum sum = terms_[static_cast<size_t>(t)];
  int zeros = kWord;
  for (const Monomial& m : sum) zeros = std::min(zeros, std::countr_zero(m.coefficient));
  Bits out{};
  if (zeros > 0) {
    Sum small = sum;
    for (Monomial& m : small) m.coefficient >>= zeros;
    const Bits from = bits(intern(std::move(small)));
    std::copy_n(from.begin(), kWord - zeros, out.begin() + zeros);
    return out;
  }
  for (int n : {16, 8, 24}) {
    Sum low, high;
    for (const Monomial& m : sum) (std::countr_zero(m.coefficient) >= n ? high : low).push_back(m);
    if (high.empty()) continue;
    const auto below = pieces(intern(std::move(low)));
    if (!below || !std::all_of(below->begin() + n, below->end(), [](const Bit& b) { return b == Bit{}; })) continue;
    const Bits above = bits(intern(std::move(high)));
    std::copy_n(below->begin(), n, out.begin());
    std::copy(above.begin() + n, above.end(), out.begin() + n);
    return out;
  }
  return std::nullopt;
}

// The bits of a - (the lowest n bits of a, signed): zeros, then those of (a >> n) + (bit n - 1 of a).
std::optional<Bits> Terms::bits_above_own_low(Term t) {
  const Sum sum = terms_[static_cast<size_t>(t)];
  for (const Monomial& m : sum) {
    if (m.coefficient != ~uint32_t{0} || m.factors[0] == kNone || m.factors[1] != kNone) continue;
    const Atom atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (atom.is_operation || atom.source % 2 != 0 || atom.low != 0 || !atom.is_signed || atom.count == kWord) continue;
    const Term whole = add(t, of_atom(m.factors[0]));
    if (whole != atom.source / 2 && low_bits(whole, atom.count) != atom.source / 2) continue;
    const Bits above = bits(add(shift_right(whole, atom.count, true), slice(whole, atom.count - 1, 1, false)));
    Bits out{};
    std::copy_n(above.begin(), kWord - atom.count, out.begin() + atom.count);
    return out;
  }
  return std::nullopt;
}

// t / 256 if that is found to be whole when each factor is split behind its lowest byte.
std::optional<Term> Terms::multiple_of_bytes(Term t) {
  constexpr int kByte = 8;
  const Sum sum = terms_[static_cast<size_t>(t)];
  Term out = 0;
  for (const Monomial& m : sum) {
    Term part = constant(m.coefficient);
    for (int32_t f : m.factors) {
      if (f == kNone) break;
      const Atom atom = atoms_[static_cast<size_t>(f)];
      const bool splits = std::countr_zero(m.coefficient) < kByte && !atom.is_operation &&
                          (atom.count > kByte || (atom.count == kByte && atom.is_signed));
      if (!splits) {
        part = multiply(part, of_atom(f));
        continue;
      }
      const Term low = run(atom.source, atom.low, kByte, false, 1);
      const Term high = atom.count > kByte ? run(atom.source, atom.low + kByte, atom.count - kByte, atom.is_signed, 1)
                                           : subtract(0, run(atom.source, atom.low + kByte - 1, 1, false, 1));
      part = multiply(part, add(low, scale(high, 1 << kByte)));
    }
    out = add(out, part);
  }
  Sum high = terms_[static_cast<size_t>(out)];
  if (high.empty()) return std::nullopt;
  for (Monomial& m : high) {
    if (std::countr_zero(m.coefficient) < kByte) return std::nullopt;
    m.coefficient >>= kByte;
  }
  return intern(std::move(high));
}

Term Terms::word_of_source(int32_t source) {
  Atom atom;
  atom.source = source, atom.count = kWord, atom.is_signed = true;
  return of_atom(intern(atom));
}

Term Terms::run(int32_t source, int low, int count, bool is_signed, uint32_t coefficient) {
  const bool to_top = count + std::countr_zero(coefficient) >= kWord;
  if (low == 0 && (source % 2 == 0 || source_ranges_.contains(source))) {
    const Range range = range_of_source(source);
    const int width = signed_width(range.low, range.high);
    const bool straddles = range.low < 0 && range.high >= 0;
    if (to_top || (straddles ? is_signed && count == width : !is_signed && count == width - 1)) {
      const Term whole = source % 2 == 0 ? source / 2 : word_of_source(source);
      if (const Atom* only = only_operation(whole); only == nullptr && (source % 2 == 0)) {
        const Term made = scale(whole, coefficient);
        return to_top || range.high >= 0 ? made : add(made, constant(coefficient << (width - 1)));
      }
      const Term made = of_atom(terms_[static_cast<size_t>(whole)][0].factors[0], coefficient);
      return to_top || range.high >= 0 ? made : add(made, constant(coefficient << (width - 1)));
    }
  }
  Atom atom;
  atom.source = source, atom.low = low, atom.count = to_top ? kWord : count, atom.is_signed = to_top || is_signed;
  return of_atom(intern(atom), coefficient);
}

Term Terms::of_bits(const Bits& bits) {
  uint32_t ones = 0;
  Term out = 0;
  for (int at = 0; at < kWord;) {
    const Bit first = bits[static_cast<size_t>(at)];
    if (first.source == Bit::kConstant) {
      ones |= static_cast<uint32_t>(first.index) << at;
      ++at;
      continue;
    }
    int count = 1;
    while (at + count < kWord && bits[static_cast<size_t>(at + count)] == Bit{first.source, first.index + count})
      ++count;
    int end = at + count;
    while (end < kWord && bits[static_cast<size_t>(end)] == bits[static_cast<size_t>(at + count - 1)]) ++end;
    out = add(out, run(first.source, first.index, count, end == kWord, uint32_t{1} << at));
    at = end == kWord ? end : at + count;
  }
  return add(out, constant(ones));
}

// The term that the lowest bits of a sum are those of: without what is above them in its runs and coefficients.
Term Terms::low_bits(Term t, int count) {
  const int above = kWord - count;
  Sum sum = terms_[static_cast<size_t>(scale(t, uint32_t{1} << above))];
  for (Monomial& m : sum) m.coefficient >>= above;
  return intern(std::move(sum));
}

Term Terms::slice(Term t, int low, int count, bool is_signed) {
  if (rules_.choices && is_chosen(t)) return by_cases(t, [&](Term one) { return slice(one, low, count, is_signed); });
  if (rules_.low_bits_of_sums && low + count < kWord &&
      bits(t)[static_cast<size_t>(low)] == Bit{source_of_term(t), low})
    t = low_bits(t, low + count);
  const Bits from = bits(t);
  Bits out{};
  for (int i = 0; i < kWord; ++i) {
    const int at = i < count ? i : is_signed ? count - 1 : -1;
    out[static_cast<size_t>(i)] = at < 0 ? Bit{} : from[static_cast<size_t>(low + at)];
  }
  return of_bits(out);
}

Term Terms::shift_right(Term t, int by, bool is_signed) {
  if (by == 0) return t;
  if (by > kWord - 1 && !is_signed) return constant(0);
  by = std::min(by, kWord - 1);
  // (2^by * c + rest) >> by is c + (rest >> by) if nothing wraps.
  if (const Sum& sum = terms_[static_cast<size_t>(t)];
      is_signed && sum.size() > 1 && sum[0].factors[0] == kNone && range_of(t) != Range{}) {
    const int32_t whole = as_signed(sum[0].coefficient) >> by;
    const Term rest = subtract(t, constant(static_cast<uint32_t>(whole) << by));
    if (whole != 0 && range_of(rest) != Range{})
      return add(constant(static_cast<uint32_t>(whole)), slice(rest, by, kWord - by, true));
  }
  return slice(t, by, kWord - by, is_signed);
}

Term Terms::bit_operation(Operation op, Term a, Term b) {
  if (rules_.choices && value_of(b) && is_chosen(a))
    return by_cases(a, [&](Term one) { return bit_operation(op, one, b); });
  const Bits x = bits(a), y = bits(b);
  Bits out{};
  for (size_t i = 0; i < kWord; ++i) {
    Bit p = x[i], q = y[i];
    if (p.source != Bit::kConstant) std::swap(p, q);
    if (p.source == Bit::kConstant) {
      const bool one = p.index != 0;
      if (op == Operation::kAnd) out[i] = one ? q : Bit{};
      if (op == Operation::kOr) out[i] = one ? p : q;
      if (op == Operation::kXor && !one) out[i] = q;
      if (op == Operation::kXor && one && q.source != Bit::kConstant)
        return operation(op, {std::min(a, b), std::max(a, b)});
      if (op == Operation::kXor && one) out[i] = {Bit::kConstant, 1 - q.index};
    } else if (p == q) {
      out[i] = op == Operation::kXor ? Bit{} : p;
    } else {
      return operation(op, {std::min(a, b), std::max(a, b)});
    }
  }
  return of_bits(out);
}

Term Terms::high_word(Term a, Term b, int64_t addend, int shift) {
  if (a == 0 || b == 0) return constant(static_cast<uint32_t>(addend >> shift));
  if (rules_.high_words_of_halves && shift == kWord && addend == 0) return high_word_of_halves(a, b);
  // (2^n * p + addend) >> shift is (p + (addend >> n)) >> (shift - n).
  for (Term* factor : {&a, &b}) {
    Sum sum = terms_[static_cast<size_t>(*factor)];
    int zeros = shift;
    for (const Monomial& m : sum) zeros = std::min(zeros, std::countr_zero(m.coefficient));
    if (zeros == 0) continue;
    // As signed numbers: a product that does not wrap is so often the smaller one.
    for (Monomial& m : sum) m.coefficient = static_cast<uint32_t>(as_signed(m.coefficient) >> zeros);
    const Term small = intern(std::move(sum));
    const Range range = range_of(small);
    if (!Range{range.low << zeros, range.high << zeros}.is_word()) continue;
    *factor = small;
    addend >>= zeros, shift -= zeros;
  }
  return operation(Operation::kHighWord, {std::min(a, b), std::max(a, b)}, {addend, shift});
}

// By four products of halves, none of which is more than 32 bits: with Y = ah * bl + (al * bl >> 16) it is
// ah * bh + (Y >> 16) + ((Y mod 2^16 + al * bh) >> 16).
Term Terms::high_word_of_halves(Term a, Term b) {
  constexpr int kHalf = 16;
  auto low = [&](Term t) { return slice(t, 0, kHalf, false); };
  auto high = [&](Term t) { return shift_right(t, kHalf, true); };
  const Term middle = add(multiply(high(a), low(b)), shift_right(multiply(low(a), low(b)), kHalf, false));
  const Term more = add(low(middle), multiply(low(a), high(b)));
  return add(multiply(high(a), high(b)), add(high(middle), high(more)));
}

Term Terms::clamp(Term a, int32_t low, int32_t high) {
  if (low == kLeast && high == kMost) return a;
  if (const auto v = value_of(a)) return constant(static_cast<uint32_t>(std::clamp(as_signed(*v), low, high)));
  if (const Atom* inner = only_operation(a); inner != nullptr && inner->op == Operation::kClamp) {
    const auto from = static_cast<int32_t>(inner->numbers[0]), to = static_cast<int32_t>(inner->numbers[1]);
    if (from >= low && to <= high) return a;
    return clamp(inner->operands[0], std::clamp(from, low, high), std::clamp(to, low, high));
  }
  const Range range = range_of(a);
  if (range.within(low, high)) return a;
  if (low > range.high) return constant(static_cast<uint32_t>(low));
  if (high < range.low) return constant(static_cast<uint32_t>(high));
  low = static_cast<int32_t>(std::max<int64_t>(low, range.low));
  high = static_cast<int32_t>(std::min<int64_t>(high, range.high));
  const Sum sum = terms_[static_cast<size_t>(a)];
  // What a clamp leaves of a part may as well be all of it, if the sum is clamped then anyhow.
  for (const Monomial& m : sum) {
    if (m.coefficient != 1 || m.factors[0] == kNone || m.factors[1] != kNone) continue;
    const Atom atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (!atom.is_operation || atom.op != Operation::kClamp) continue;
    const Term rest = subtract(a, of_atom(m.factors[0])), inner = atom.operands[0];
    const Range of_rest = range_of(rest), of_inner = range_of(inner);
    if (rest == 0 || atom.numbers[0] + of_rest.high > low || atom.numbers[1] + of_rest.low < high) continue;
    if (Range{of_inner.low + of_rest.low, of_inner.high + of_rest.high}.is_word() &&
        Range{atom.numbers[0] + of_rest.low, atom.numbers[1] + of_rest.high}.is_word())
      return clamp(add(rest, inner), low, high);
  }
  // What is rounded and then kept within 1024 may as well not be, if the offset is small: it is clamped anyhow.
  constexpr int64_t kFloatRange = 1024;
  for (const Monomial& m : sum) {
    if (m.coefficient != 1 || m.factors[0] == kNone || m.factors[1] != kNone || low < -128 || high > 127) continue;
    const Atom atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (!atom.is_operation || atom.op != Operation::kClamp || atom.numbers[0] != -kFloatRange ||
        atom.numbers[1] != kFloatRange)
      continue;
    const Atom* inner = only_operation(atom.operands[0]);
    if (inner == nullptr || inner->op != Operation::kNearestEven) continue;
    float_rules_ = true;
    return clamp(add(subtract(a, of_atom(m.factors[0])), atom.operands[0]), low, high);
  }
  return operation(Operation::kClamp, {a}, {low, high});
}

Term Terms::minimum(Term a, Term b) {
  if (const auto v = value_of(b)) return clamp(a, kLeast, as_signed(*v));
  if (const auto v = value_of(a)) return clamp(b, kLeast, as_signed(*v));
  return a == b ? a : operation(Operation::kMinimum, {std::min(a, b), std::max(a, b)});
}

Term Terms::maximum(Term a, Term b) {
  if (const auto v = value_of(b)) return clamp(a, as_signed(*v), kMost);
  if (const auto v = value_of(a)) return clamp(b, as_signed(*v), kMost);
  return a == b ? a : operation(Operation::kMaximum, {std::min(a, b), std::max(a, b)});
}

Term Terms::less(Term a, Term b) {
  if (a == b) return 0;
  const Range x = range_of(a), y = range_of(b);
  if (x.high < y.low) return constant(1);
  if (x.low >= y.high) return 0;
  if (b == 0) return slice(a, kWord - 1, 1, false);
  return operation(Operation::kLess, {a, b});
}

Term Terms::is_zero(Term a) {
  const Range range = range_of(a);
  if (range.low > 0 || range.high < 0) return 0;
  if (range == Range{0, 1}) return opposite(a);
  if (value_of(a)) return constant(a == 0 ? 1 : 0);
  for (const Bit& bit : bits(a))
    if (bit == Bit{Bit::kConstant, 1}) return 0;
  Sum sum = terms_[static_cast<size_t>(a)];
  // One bit in another place.
  if (sum.size() == 1 && std::has_single_bit(sum[0].coefficient) && sum[0].factors[0] != kNone &&
      sum[0].factors[1] == kNone && range_of_atom(sum[0].factors[0]) == Range{0, 1}) {
    sum[0].coefficient = 1;
    return opposite(intern(std::move(sum)));
  }
  // x = y has two forms.
  return operation(Operation::kIsZero, {std::min(a, subtract(0, a))});
}

Term Terms::select(Term condition, Term a, Term b) {
  if (const auto v = value_of(condition)) return *v != 0 ? a : b;
  if (a == b) return a;
  if (const Range range = range_of(condition); range.low > 0 || range.high < 0) return a;
  // 1 - condition, of a truth.
  if (const Term other = opposite(condition); only_operation(other) != nullptr && range_of(other) == Range{0, 1})
    return select(other, b, a);
  if (rules_.choices) return ordered_select(condition, a, b);
  if (const Atom* atom = only_operation(condition); atom != nullptr && atom->op == Operation::kLess) {
    const Term x = atom->operands[0], y = atom->operands[1];
    if (x == a && y == b) return minimum(a, b);
    if (x == b && y == a) return maximum(a, b);
  }
  if (const Term byte = saturated_byte(condition, a, b); byte != kNone) return byte;
  return operation(Operation::kSelect, {condition, a, b});
}

// x as a byte if that is x, else 127 or -128 by the sign of x: x, clamped.
Term Terms::saturated_byte(Term condition, Term a, Term b) {
  constexpr int kByte = 8, kMostByte = 127;
  const Atom* atom = only_operation(condition);
  if (atom == nullptr || atom->op != Operation::kIsZero) return kNone;
  const Term difference = atom->operands[0];
  for (const Term x : {subtract(a, difference), add(a, difference)})
    if (slice(x, 0, kByte, true) == a &&
        bit_operation(Operation::kXor, shift_right(x, kWord - 1, true), constant(kMostByte)) == b)
      return clamp(x, -kMostByte - 1, kMostByte);
  return kNone;
}

Term Terms::operation(Operation op, const std::vector<Term>& operands, std::array<int64_t, 2> numbers) {
  std::array<uint32_t, 3> v{};
  bool known = !operands.empty();
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto value = value_of(operands[i]);
    known = known && value.has_value();
    v[i] = value.value_or(0);
  }
  if (known && op != Operation::kBase) return constant(value(op, v, numbers));
  Atom atom;
  atom.is_operation = true;
  atom.op = op;
  std::copy(operands.begin(), operands.end(), atom.operands.begin());
  atom.numbers = numbers;
  return of_atom(intern(atom));
}

Term Terms::float_minimum(Term a, Term high) {
  const Atom* inner = only_operation(a);
  const uint32_t infinity = bits_of_float(std::numeric_limits<float>::infinity());
  if (inner != nullptr && inner->op == Operation::kFloatClamp && value_of(inner->operands[2]) == infinity)
    return operation(Operation::kFloatClamp, {inner->operands[0], inner->operands[1], high});
  return operation(Operation::kFloatClamp, {a, constant(bits_of_float(-std::numeric_limits<float>::infinity())), high});
}

std::optional<Term> Terms::whole_of_rounded(Term t) {
  constexpr float kWhole = 12582912.0f, kRange = 1024.0f;
  auto inside = [&](Term of, Operation op, float number) -> std::optional<Term> {
    const Atom* atom = only_operation(of);
    if (atom == nullptr || atom->op != op || value_of(atom->operands[1]) != bits_of_float(number)) return std::nullopt;
    return atom->operands[0];
  };
  const auto sum = inside(t, Operation::kFloatDifference, kWhole);
  const auto clamped = sum ? inside(*sum, Operation::kFloatSum, kWhole) : std::nullopt;
  const auto from = clamped ? inside(*clamped, Operation::kFloatClamp, -kRange) : std::nullopt;
  if (!from || value_of(only_operation(*clamped)->operands[2]) != bits_of_float(kRange)) return std::nullopt;
  float_rules_ = true;
  constexpr auto kWholeRange = static_cast<int32_t>(kRange);
  return clamp(operation(Operation::kNearestEven, {*from}), -kWholeRange, kWholeRange);
}

int32_t Terms::new_source(std::string name) {
  source_names_.push_back(std::move(name));
  return static_cast<int32_t>(source_names_.size()) * 2 - 1;
}

std::optional<Terms::Address> Terms::address_of(Term t) const {
  const Sum& sum = terms_[static_cast<size_t>(t)];
  int64_t offset = 0;
  const Atom* base = nullptr;
  for (const Monomial& m : sum) {
    if (m.factors[0] == kNone) {
      offset = as_signed(m.coefficient);
      continue;
    }
    const Atom& atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (base != nullptr || m.coefficient != 1 || m.factors[1] != kNone || !atom.is_operation ||
        atom.op != Operation::kBase)
      return std::nullopt;
    base = &atom;
  }
  if (base == nullptr) return std::nullopt;
  return Address{static_cast<int32_t>(base->numbers[0]), offset};
}

void Terms::add_bits_below(Term t, std::vector<Bit>& out) const {
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
        for (Term operand : atom.operands)
          if (operand != kNone && atom.is_operation) left.push_back(operand);
        if (atom.is_operation) continue;
        if (atom.source % 2 == 0) left.push_back(atom.source / 2);
        const int count = std::min(atom.count, kWord - std::countr_zero(m.coefficient));
        for (int i = 0; i < count && atom.source % 2 != 0; ++i) out.push_back({atom.source, atom.low + i});
      }
  }
}

std::string Terms::text(Term t, int depth) const {
  static constexpr const char* kNames[] = {"base",  "high", "clamp", "less",    "min",    "max",
                                           "and",   "or",   "xor",   "product", "select", "is zero",
                                           "float", "fmul", "fadd",  "fsub",    "fclamp", "nearest"};
  constexpr size_t kMostMonomials = 8;
  if (depth == 0) return "...";
  std::string out;
  size_t count = 0;
  for (const Monomial& m : terms_[static_cast<size_t>(t)]) {
    if (!out.empty()) out += " + ";
    if (++count > kMostMonomials) return out + fmt::format("... {} in all", terms_[static_cast<size_t>(t)].size());
    out += fmt::format("{}", as_signed(m.coefficient));
    for (int32_t f : m.factors) {
      if (f == kNone) break;
      const Atom& a = atoms_[static_cast<size_t>(f)];
      if (a.is_operation) {
        out += fmt::format("*{}(", kNames[static_cast<size_t>(a.op)]);
        for (Term operand : a.operands)
          if (operand != kNone) out += text(operand, depth - 1) + "; ";
        out += fmt::format("{}; {})", a.numbers[0], a.numbers[1]);
      } else {
        const std::string source = a.source % 2 != 0 ? source_names_[static_cast<size_t>(a.source / 2)]
                                                     : "(" + text(a.source / 2, depth - 1) + ")";
        out += fmt::format("*{}{}[{}+:{}]", a.is_signed ? "s" : "u", source, a.low, a.count);
      }
    }
  }
  return out.empty() ? "0" : out;
}

}  // namespace aotc::tests::proof
