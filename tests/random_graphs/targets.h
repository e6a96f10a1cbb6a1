// SPDX-License-Identifier: Apache-2.0
// The kinds of core that differential tests plan for in turn: they lower to other schedules, and
// what is emitted for any of them is C that also runs on this machine.
#pragma once

#include <cstdint>

#include "plan/program.h"

namespace aotc::tests {

// One kind for every five numbers, all of them within 35.
ops::TargetInfo target_of(uint64_t variant);

// Every way in which the model and its caller share memory, for the kind of core that `variant` is.
plan::PlanOptions plan_options_of(uint64_t variant);

}  // namespace aotc::tests
