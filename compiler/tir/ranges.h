// SPDX-License-Identifier: Apache-2.0
// Ranges: intervals of integer variables at a point of a function, refined by the enclosing conditions. An interval
// always contains every value that can occur; `exact` means in addition that both its ends occur, independently of
// other loops.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir {

struct Interval {
  int64_t lo = 0;
  int64_t hi = 0;
  bool empty() const { return lo > hi; }
};

// constant + sum of coefficient * variable; variables are loop variables and lets.
struct Linear {
  struct Term {
    const Variable* variable;
    int64_t coefficient;
  };
  bool known = false;
  int64_t constant = 0;
  std::vector<Term> terms;
};

class Ranges {
 public:
  // A state to which restore() returns; it discards conditions and loop variables.
  struct Mark {
    size_t changes;
    bool exact_path;
    bool reachable;
  };
  Mark mark() const { return {changes_.size(), exact_path_, reachable_}; }
  void restore(const Mark& mark);

  void enter_loop(const For& loop);
  void declare(const Declare& declaration);
  // Assumes that the condition holds (or, negated, does not) from here on.
  void assume(const ExprPtr& condition, bool holds);

  Interval of(const ExprPtr& e);
  // False if the point is unreachable: a variable's interval is empty.
  bool reachable() const { return reachable_; }
  // True if both ends of of(e) occur in every execution of the function.
  bool is_exact(const ExprPtr& e);

 private:
  struct Known {
    Interval interval;
    bool exact = false;  // a loop variable with constant bounds
    bool fixed = false;  // immutable
    int64_t base = 0;    // values are base + n * step
    int64_t step = 1;
    Linear linear;  // value of a let, over loop variables and other lets
  };
  struct Change {
    const Variable* variable;
    bool was_known;
    Known before;
  };

  void set(const Variable* variable, Known known);
  Interval of_binary(const Binary& b);
  Interval of_linear(const Linear& l) const;
  Linear linear(const ExprPtr& e) const;
  Linear combine(const Linear& a, const Linear& b, int64_t factor) const;
  Linear scaled(const Linear& a, int64_t factor) const;
  // Narrows e to `limit`; `whole`: the limit is equivalent to the condition.
  void limit(const ExprPtr& e, Interval limit, bool whole);
  bool narrow(const Variable* variable, Interval limit);
  bool assume_unsigned(const Binary& b, bool holds);
  void compare(BinaryOp op, const ExprPtr& a, const ExprPtr& b);

  std::unordered_map<const Variable*, Known> known_;
  std::vector<Change> changes_;
  bool exact_path_ = true;
  bool reachable_ = true;
  int selects_ = 0;
};

}  // namespace aotc::tir
