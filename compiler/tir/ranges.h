// SPDX-License-Identifier: Apache-2.0
// What is known of integer values at a point of a function: intervals of variables, refined by the
// conditions on the way there. The one thing to know: an interval always holds every value that
// can occur; `exact` says in addition that both its ends do occur, whatever other loops do.
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
  // State to return to; conditions and loop variables are forgotten by restore().
  struct Mark {
    size_t changes;
    bool exact_path;
    bool reachable;
  };
  Mark mark() const { return {changes_.size(), exact_path_, reachable_}; }
  void restore(const Mark& mark);

  void enter_loop(const For& loop);
  void declare(const Declare& declaration);
  // From here on the condition holds (or, negated, does not).
  void assume(const ExprPtr& condition, bool holds);

  Interval of(const ExprPtr& e);
  // False where no execution comes by: an interval of a variable is empty.
  bool reachable() const { return reachable_; }
  // Whether both ends of of(e) occur in every execution of the function.
  bool is_exact(const ExprPtr& e);

 private:
  struct Known {
    Interval interval;
    bool exact = false;    // a loop variable with constant bounds
    bool fixed = false;    // immutable
    int64_t base = 0;      // values are base + n * step
    int64_t step = 1;
    Linear linear;         // of a let, over loop variables and other lets
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
  // e lies in `limit`; `whole`: that says everything the condition says.
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
