// SPDX-License-Identifier: Apache-2.0
// Which schedules each operator of a model can have, for the target that it was compiled for: found
// by asking its lowering, so that the list is what --schedules takes. The one thing to know: an
// operator of a streamed segment, or inside of a branch or loop, has no schedule of its own and is
// not listed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "ops/schedule.h"

namespace aotc::driver {

struct Alternative {
  ops::Schedule schedule;  // with the numbers that may be asked for, and no other
  // That of the operator in archives: equal for equal code, in whichever model
  // ("conv_2d_0123456789abcdef").
  std::string name;
  int64_t constant_bytes = 0, scratch_bytes = 0;
  bool chosen = false;  // what the model was compiled with
};

struct OperatorAlternatives {
  int op_index = -1;  // in the model's file
  std::string op_type;
  std::vector<Alternative> alternatives;  // the chosen one first, no two with the same code
};

// `most`: of one operator.
std::vector<OperatorAlternatives> alternatives_of(const Compiled& compiled, size_t most);

}  // namespace aotc::driver
