// SPDX-License-Identifier: Apache-2.0
// Lists the schedules that each operator of a model can have for the target. A schedule is the algorithm and parameters
// of an operator's code. The list comes from the lowering of the operator (its translation into loops), so --schedules
// accepts each entry. Operators in a streamed segment (computed row by row), a branch or a loop have no schedule of
// their own and are not listed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "ops/schedule.h"

namespace aotc::driver {

struct Alternative {
  ops::Schedule schedule;  // only with the parameters that a user may set
  // The operator's name in archives: "conv_2d_0123456789abcdef". Equal code has the same name in every model.
  std::string name;
  int64_t constant_bytes = 0, scratch_bytes = 0;
  bool chosen = false;  // true for the schedule of the compiled model
  // The options that choose this schedule if the user names none: "-O size", "-O speed --prefer ram". Only with
  // AlternativesChoice::choosers.
  std::vector<std::string> chosen_by;
  // Estimated cycles, or instructions for a core without a timing table; 0: unknown.
  double cost() const { return schedule.cycles > 0 ? schedule.cycles : schedule.instructions; }
};

struct OperatorAlternatives {
  int op_index = -1;  // index in the model's file
  std::string op_type;
  std::vector<Alternative> alternatives;  // the chosen one first, no two with the same code
  size_t total = 0;                       // number of alternatives before the list was cut to `most`
};

struct AlternativesChoice {
  size_t most = 64;   // alternatives of an operator
  int op_index = -1;  // lists only the operator with this index in the model's file; -1: all
  // Lists the operators with the most cycles first, until lowering their alternatives has read about this many bytes of
  // weights; -1: lists all operators, in the order of the model.
  int64_t most_weights = -1;
  bool choosers = false;  // fills in Alternative::chosen_by, which lowers each operator six times more
};
std::vector<OperatorAlternatives> alternatives_of(const Compiled& compiled, const AlternativesChoice& choice);

}  // namespace aotc::driver
