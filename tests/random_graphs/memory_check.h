// An independent check of a memory plan: every byte of the arena carries the name of the call that
// wrote it last, and every tensor read must still be whole. No solver, no intervals.
#pragma once

#include <string>

#include "plan/program.h"

namespace aotc::tests {

// Empty if the plan is sound, else what is wrong.
std::string check_memory(const plan::Program& program);

}  // namespace aotc::tests
