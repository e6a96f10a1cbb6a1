// SPDX-License-Identifier: Apache-2.0
// An independent check of a memory plan by execution: the TIR interpreter runs the program over one
// arena while every byte carries the name of the tensor that was last written there. No solver, no
// intervals, no trust in what lowerings say of their write order.
#pragma once

#include <string>
#include <vector>

#include "plan/program.h"

namespace aotc::tests {

// Empty if every byte that is read is the tensor's that the reader means, else what is wrong.
std::string check_memory(const plan::Program& program,
                         const std::vector<std::vector<uint8_t>>& inputs);

}  // namespace aotc::tests
