// SPDX-License-Identifier: Apache-2.0
// What the sources that tests/mutants/rewrite.cpp rewrote call: every place holds the code as it
// was and what it is changed to, and a number that is chosen when the program runs says which of
// all changes is in force (0: none). Also counts what is executed, which bounds loops that a change
// made endless without looking at a clock, and notes which changes a test reaches.
#pragma once

#include <cstdint>
#include <utility>

namespace mutants {

constexpr int kMost = 1 << 16;

struct State {
  int chosen = 0;
  int64_t steps = 0;
  int64_t most_steps = INT64_MAX;
  unsigned char* reached = nullptr;  // by number, or null
};
inline State state;

[[noreturn]] void too_many_steps();

inline bool on(int id) {
  if (++state.steps > state.most_steps) too_many_steps();
  if (state.reached != nullptr) state.reached[id] = 1;
  return id == state.chosen;
}

enum Op { kNone, kAdd, kSub, kMul, kDiv, kMod, kShl, kShr, kAnd, kOr, kLt, kLe, kGt, kGe, kEq, kNe, kLeft, kRight };

template <Op op, class A, class B>
constexpr auto compute(const A& a, const B& b) {
  if constexpr (op == kAdd) return a + b;
  else if constexpr (op == kSub) return a - b;
  else if constexpr (op == kMul) return a * b;
  else if constexpr (op == kDiv) return a / b;
  else if constexpr (op == kMod) return a % b;
  else if constexpr (op == kShl) return a << b;
  else if constexpr (op == kShr) return a >> b;
  else if constexpr (op == kAnd) return a & b;
  else if constexpr (op == kOr) return a | b;
  else if constexpr (op == kLt) return a < b;
  else if constexpr (op == kLe) return a <= b;
  else if constexpr (op == kGt) return a > b;
  else if constexpr (op == kGe) return a >= b;
  else if constexpr (op == kEq) return a == b;
  else if constexpr (op == kNe) return a != b;
  else if constexpr (op == kLeft) return a;
  else return b;
}

// a `was` b, or with another operator.
template <Op was, Op first, int first_id, Op second = kNone, int second_id = 0, class A, class B>
auto binary(const A& a, const B& b) -> decltype(compute<was>(a, b)) {
  using Result = decltype(compute<was>(a, b));
  if (on(first_id)) return static_cast<Result>(compute<first>(a, b));
  if constexpr (second != kNone)
    if (on(second_id)) return static_cast<Result>(compute<second>(a, b));
  return compute<was>(a, b);
}

// a `was`= b, or with another operator.
template <Op was, Op other, int id, class A, class B>
A& assign(A& a, const B& b) {
  a = on(id) ? static_cast<A>(compute<other>(a, b)) : static_cast<A>(compute<was>(a, b));
  return a;
}

// A condition, or its opposite.
template <int id, class A>
bool flip(const A& a) {
  return static_cast<bool>(a) != on(id);
}

// std::min and std::max, or the other of the two.
template <int id, class T>
T least(const T& a, const std::type_identity_t<T>& b) {
  return (b < a) != on(id) ? b : a;
}
template <int id, class T>
T most(const T& a, const std::type_identity_t<T>& b) {
  return (a < b) != on(id) ? b : a;
}

}  // namespace mutants
