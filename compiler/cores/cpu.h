// SPDX-License-Identifier: Apache-2.0
// What a CPU has: the microkernels it can run, how many registers loops may use, how large blocks
// should be, and what instructions cost. A board names its CPU, its instruction set and its
// features; everything lowering knows of the hardware comes from here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/timing.h"
#include "ops/lowering.h"
#include "support/kernel_form.h"

namespace aotc::cores {

struct CpuQuery {
  std::string cpu;                            // "cortex-m4": chooses the table of cycles
  std::string isa;                            // "armv7e-m", "rv32imac", "native"
  std::function<bool(std::string_view)> has;  // features: "dsp", "mve", "fpu"
  KernelForm kernels = KernelForm::kAssembly;
};

// A CPU that is not known gets what its instruction set promises.
ops::TargetInfo target_info(const CpuQuery& query);

// Adds the lowerings of the family's extensions whose features the core has, and whose kernels exist in the target's
// kernel_form.
void extend(ops::TargetInfo& target, std::string_view family, const std::function<bool(std::string_view)>& has);

// The target with the goal: at kSize, loops are unrolled less.
ops::TargetInfo for_goal(ops::TargetInfo target, const ops::Goal& goal);

// Cycles of its instructions (docs/cycles.md has the sources); nullptr for a core of which nothing is known.
const machine::Timing* timing_of(std::string_view cpu);
// The cores that have such a table.
std::vector<std::string> timed_cpus();

// Was this name thought of? A board's must have been: a misspelt one would silently get the costs of
// a Cortex-M4.
bool knows_cpu(std::string_view cpu);

// A CPU of no board: as the core `like`, which boards have, except for what is not empty.
struct CpuWithoutBoard {
  std::string cpu, isa, like;
  std::vector<std::string> features, flags;  // all of them; flags: of the C compiler
};
std::vector<CpuWithoutBoard> cpus_without_boards();

// The core whose code also runs on `cpu` and that more compilers know: "cortex-m55" for "cortex-m85"; empty if there is
// none.
std::string older_cpu(std::string_view cpu);

// The known CPU whose code runs on `cpu`, which is not known; empty if there is none.
std::string nearest_cpu(std::string_view cpu);

// The first thing that a description of a core says and that cannot be so.
struct CoreProblem {
  enum Part { kCpu, kIsa, kFeature };
  Part part = kCpu;
  std::string word;     // the value that is wrong
  std::string message;  // what is wrong with it
  std::string help;
};
// A CPU that is not known, an instruction set that its family has not, a feature that the instruction set has not.
std::optional<CoreProblem> core_problem(std::string_view cpu, std::string_view isa,
                                        const std::vector<std::string>& features);

}  // namespace aotc::cores
