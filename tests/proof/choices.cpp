// SPDX-License-Identifier: Apache-2.0
// Values that conditions choose: trees of conditions, in one order of the conditions.
#include <algorithm>

#include "terms.h"

namespace aotc::tests::proof {

// The first condition that chooses a part of t, and t in both cases.
std::optional<Terms::Choice> Terms::choice_of(Term t) {
  const Sum sum = terms_[static_cast<size_t>(t)];
  for (const Monomial& m : sum) {
    if (m.factors[0] == kNone || m.factors[1] != kNone) continue;
    const Atom atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (!atom.is_operation) continue;
    const Term rest = subtract(t, of_atom(m.factors[0], m.coefficient));
    if (atom.op == Operation::kSelect)
      return Choice{atom.operands[0], add(rest, scale(atom.operands[1], m.coefficient)),
                    add(rest, scale(atom.operands[2], m.coefficient))};
    if (atom.op == Operation::kLess || atom.op == Operation::kIsZero)
      return Choice{of_atom(m.factors[0]), add(rest, constant(m.coefficient)), rest};
  }
  return std::nullopt;
}

// Whether t is a sum of nothing but choices and constants.
bool Terms::is_chosen(Term t) {
  bool some = false;
  for (const Monomial& m : terms_[static_cast<size_t>(t)]) {
    if (m.factors[0] == kNone) continue;
    const Atom& atom = atoms_[static_cast<size_t>(m.factors[0])];
    if (m.factors[1] != kNone || !atom.is_operation) return false;
    if (atom.op != Operation::kSelect && atom.op != Operation::kLess && atom.op != Operation::kIsZero) return false;
    some = true;
  }
  return some;
}

void Terms::assume(Term truth, bool holds) {
  const Term other = opposite(truth);
  const bool turned = only_operation(truth) == nullptr && only_operation(other) != nullptr;
  assumed_.emplace_back(turned ? other : truth, holds != turned);
}

// By the first `known` assumptions.
std::optional<bool> Terms::truth_of(Term t, size_t known) const {
  if (const auto v = value_of(t)) return *v != 0;
  for (size_t i = 0; i < known; ++i)
    if (assumed_[i].first == t) return assumed_[i].second;
  const Atom* atom = only_operation(t);
  if (atom == nullptr) {
    // 1 - another truth.
    const Sum& sum = terms_[static_cast<size_t>(t)];
    if (sum.size() != 2 || sum[0].factors[0] != kNone || sum[0].coefficient != 1 ||
        sum[1].coefficient != ~uint32_t{0} || sum[1].factors[1] != kNone)
      return std::nullopt;
    for (size_t i = 0; i < known; ++i) {
      const Sum& of = terms_[static_cast<size_t>(assumed_[i].first)];
      if (of.size() == 1 && of[0].coefficient == 1 && of[0].factors == sum[1].factors) return !assumed_[i].second;
    }
    const Atom& inner = atoms_[static_cast<size_t>(sum[1].factors[0])];
    if (!inner.is_operation || inner.op != Operation::kSelect) return std::nullopt;
    const auto chosen = truth_of_select(inner, known);
    return chosen ? std::optional(!*chosen) : std::nullopt;
  }
  return atom->op == Operation::kSelect ? truth_of_select(*atom, known) : std::nullopt;
}

std::optional<bool> Terms::truth_of_select(const Atom& atom, size_t known) const {
  if (const auto condition = truth_of(atom.operands[0], known))
    return truth_of(atom.operands[*condition ? 1 : 2], known);
  const auto yes = truth_of(atom.operands[1], known), no = truth_of(atom.operands[2], known);
  return yes && no && *yes == *no ? yes : std::nullopt;
}

// Whether no assumption contradicts the others.
bool Terms::is_possible() const {
  for (size_t i = 0; i < assumed_.size(); ++i) {
    const auto [truth, holds] = assumed_[i];
    const Atom* atom = only_operation(truth);
    std::optional<bool> is;
    if (atom != nullptr && atom->op == Operation::kSelect) is = truth_of_select(*atom, assumed_.size());
    else is = truth_of(truth, i);
    if (is && *is != holds) return false;
  }
  return true;
}

Term Terms::by_cases(Term t, const std::function<Term(Term)>& f) {
  const auto choice = choice_of(t);
  if (!choice) return f(t);
  if (const auto is = truth_of(choice->condition, assumed_.size())) return by_cases(*is ? choice->yes : choice->no, f);
  std::array<Term, 2> out = {kNone, kNone};
  for (const bool holds : {true, false}) {
    const Assumption assumption(*this, choice->condition, holds);
    if (is_possible()) out[holds ? 0 : 1] = by_cases(holds ? choice->yes : choice->no, f);
  }
  if (out[0] == kNone && out[1] == kNone) return t;  // nothing is possible
  if (out[0] == kNone) return out[1];
  if (out[1] == kNone) return out[0];
  return select(choice->condition, out[0], out[1]);
}

Term Terms::simplified(Term t) {
  for (auto choice = choice_of(t); choice; choice = choice_of(t)) {
    const auto is = truth_of(choice->condition, assumed_.size());
    if (!is) break;
    t = *is ? choice->yes : choice->no;
  }
  return t;
}

// The conditions of a tree are no trees themselves, and ascend from the top.
Term Terms::ordered_select(Term condition, Term a, Term b) {
  if (a == b) return a;
  if (const auto v = value_of(condition)) return *v != 0 ? a : b;
  auto chosen = [&](Term t) {
    const Atom* atom = only_operation(t);
    return atom != nullptr && atom->op == Operation::kSelect ? std::optional(*atom) : std::nullopt;
  };
  if (const auto of = chosen(condition))
    return ordered_select(of->operands[0], ordered_select(of->operands[1], a, b),
                          ordered_select(of->operands[2], a, b));
  const auto x = chosen(a), y = chosen(b);
  Term first = condition;
  if (x) first = std::min(first, x->operands[0]);
  if (y) first = std::min(first, y->operands[0]);
  auto with = [&](Term t, const std::optional<Atom>& of, bool holds) {
    return of && of->operands[0] == first ? of->operands[holds ? 1 : 2] : t;
  };
  if (first != condition)
    return ordered_select(first, ordered_select(condition, with(a, x, true), with(b, y, true)),
                          ordered_select(condition, with(a, x, false), with(b, y, false)));
  a = with(a, x, true), b = with(b, y, false);
  if (a == b) return a;
  if (a == constant(1) && b == 0) return condition;
  return operation(Operation::kSelect, {condition, a, b});
}

}  // namespace aotc::tests::proof
