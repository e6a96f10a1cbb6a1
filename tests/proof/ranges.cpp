// SPDX-License-Identifier: Apache-2.0
// Ranges of terms, by intervals.
#include <algorithm>
#include <cstdlib>

#include "terms.h"
#include "word.h"

namespace aotc::tests::proof {

Range Terms::range_of_source(int32_t source) {
  if (source % 2 == 0) return range_of(source / 2);
  const auto found = source_ranges_.find(source);
  return found != source_ranges_.end() ? found->second : Range{};
}

Range Terms::range_of_atom(int32_t number) {
  const Atom atom = atoms_[static_cast<size_t>(number)];
  if (!atom.is_operation) {
    const Range whole = range_of_source(atom.source);
    if (atom.low + atom.count <= kWord && atom.low + atom.count >= signed_width(whole.low, whole.high) &&
        (atom.is_signed || whole.low >= 0))
      return {whole.low >> atom.low, whole.high >> atom.low};
    const int64_t size = int64_t{1} << atom.count;
    return atom.is_signed ? Range{-size / 2, size / 2 - 1} : Range{0, size - 1};
  }
  auto of = [&](int k) { return range_of(atom.operands[static_cast<size_t>(k)]); };
  switch (atom.op) {
    case Operation::kClamp: return {atom.numbers[0], atom.numbers[1]};
    case Operation::kLess:
    case Operation::kIsZero: return {0, 1};
    case Operation::kHighWord: {
      const Range a = of(0), b = of(1);
      if (std::abs(atom.numbers[0]) > int64_t{1} << 40) return {};  // far more than rounding needs
      const int64_t products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      const Range out{(*std::ranges::min_element(products) + atom.numbers[0]) >> atom.numbers[1],
                      (*std::ranges::max_element(products) + atom.numbers[0]) >> atom.numbers[1]};
      return out.is_word() ? out : Range{};
    }
    case Operation::kMinimum: return {std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
    case Operation::kMaximum: return {std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
    case Operation::kSelect: return {std::min(of(1).low, of(2).low), std::max(of(1).high, of(2).high)};
    default: return {};
  }
}

Range Terms::range_of(Term t) {
  if (const auto found = ranges_.find(t); found != ranges_.end()) return found->second;
  const Sum sum = terms_[static_cast<size_t>(t)];
  constexpr int64_t kMost = int64_t{1} << 61;
  auto times = [](Range a, Range b) -> std::optional<Range> {
    int64_t products[4] = {};
    if (__builtin_mul_overflow(a.low, b.low, &products[0]) || __builtin_mul_overflow(a.low, b.high, &products[1]) ||
        __builtin_mul_overflow(a.high, b.low, &products[2]) || __builtin_mul_overflow(a.high, b.high, &products[3]))
      return std::nullopt;
    const Range out{*std::ranges::min_element(products), *std::ranges::max_element(products)};
    return out.within(-kMost, kMost) ? std::optional(out) : std::nullopt;
  };
  auto of_sum = [&]() -> Range {
    Range out{0, 0};
    for (const Monomial& m : sum) {
      std::optional<Range> part = Range{as_signed(m.coefficient), as_signed(m.coefficient)};
      for (int32_t f : m.factors)
        if (f != kNone && part) part = times(*part, range_of_atom(f));
      if (!part) return {};
      out = {out.low + part->low, out.high + part->high};
      if (!out.within(-kMost, kMost)) return {};
    }
    return out.is_word() ? out : Range{};
  };
  const Range made = of_sum();
  ranges_.emplace(t, made);
  range_order_.push_back(t);
  return made;
}

Term Terms::new_word(Range range) {
  const int32_t source = new_source("case");
  source_ranges_[source] = range;
  return word_of_source(source);
}

}  // namespace aotc::tests::proof
