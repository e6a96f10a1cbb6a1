// SPDX-License-Identifier: Apache-2.0
// Ranges: interval analysis of integer variables at one point of a TIR function. Enclosing loops and conditions refine
// the intervals. An interval contains every value that can occur. If it is exact, both of its ends do occur,
// independently of other loops.
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

// A linear expression: constant + sum of coefficient * variable. Variables are loop variables and immutable variables
// (let).
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
  // A saved state. restore() discards conditions and loop variables that were added after it.
  struct Mark {
    size_t changes;
    bool exact_path;
    bool reachable;
    bool may_not_run;
  };
  Mark mark() const { return {changes_.size(), exact_path_, reachable_, may_not_run_}; }
  void restore(const Mark& mark);

  void enter_loop(const For& loop);
  void declare(const Declare& declaration);
  // Assumes from here on that the condition is true (`holds`) or false.
  void assume(const ExprPtr& condition, bool holds);

  Interval of(const ExprPtr& e);
  // False if the present point cannot be reached, because the interval of a variable is empty.
  bool reachable() const { return reachable_; }
  // True in a loop that may have no iteration, because its bounds are not known.
  bool may_not_run() const { return may_not_run_; }
  // True if both ends of the interval of(e) occur in every execution of the function.
  bool is_exact(const ExprPtr& e);

 private:
  struct Known {
    Interval interval;
    bool exact = false;  // true for a loop variable with constant bounds
    bool fixed = false;  // immutable
    int64_t base = 0;    // values are base + n * step
    int64_t step = 1;
    Linear linear;  // value of an immutable variable, in terms of loop variables and others
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
  // Narrows the interval of e to `limit`. `whole`: the limit says as much as the assumed condition.
  void limit(const ExprPtr& e, Interval limit, bool whole);
  bool narrow(const Variable* variable, Interval limit);
  bool assume_unsigned(const Binary& b, bool holds);
  void compare(BinaryOp op, const ExprPtr& a, const ExprPtr& b);

  std::unordered_map<const Variable*, Known> known_;
  std::vector<Change> changes_;
  bool exact_path_ = true;
  bool reachable_ = true;
  bool may_not_run_ = false;
  int selects_ = 0;
};

}  // namespace aotc::tir
