// SPDX-License-Identifier: Apache-2.0
// Lists the schedules that each operator of a model can have for the target. The list comes from its lowering, so
// --schedules accepts each of them. An operator of a streamed segment, or inside of a branch or loop, has no schedule
// of its own and is not listed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "ops/schedule.h"

namespace aotc::driver {

struct Alternative {
  ops::Schedule schedule;  // only with the parameters that a user may set
  // The operator's name in archives, equal for equal code in any model ("conv_2d_0123456789abcdef").
  std::string name;
  int64_t constant_bytes = 0, scratch_bytes = 0;
  bool chosen = false;  // true for the schedule of the compiled model
};

struct OperatorAlternatives {
  int op_index = -1;  // in the model's file
  std::string op_type;
  std::vector<Alternative> alternatives;  // the chosen one first, no two with the same code
};

// `most`: limit for each operator.
std::vector<OperatorAlternatives> alternatives_of(const Compiled& compiled, size_t most);

}  // namespace aotc::driver
