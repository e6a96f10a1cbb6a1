// SPDX-License-Identifier: Apache-2.0
// What a family of CPUs brings along: a folder of compiler/cores that defines `void
// add_family_<folder>(std::vector<Family>&)`, of which CMake makes a table. The one thing to know: everything in a
// family is chosen by names that boards give (`cpu`, `isa`, `features`), and nothing of it changes results.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cores/cpu.h"
#include "cores/implementation.h"
#include "cores/operation_costs.h"
#include "machine/timing.h"
#include "ops/lowering.h"

namespace aotc::cores {

// An instruction set, and what boards may say that a core with it has.
struct Isa {
  std::string_view name;                   // "armv7e-m"
  std::vector<std::string_view> features;  // "dsp", "fpu"
};

// How --cpu describes a core that no board of aotc has: as a core of a board, except for what is set here.
struct LikeCore {
  std::string_view core;                        // "cortex-m55"; empty: --cpu knows the core only by its boards
  std::vector<std::string_view> features = {};  // all features; empty: those of `core`
  std::vector<std::string_view> flags = {};     // all flags, for gcc 12 and Clang 19; empty: those of `core`
};

// A core that boards may name.
struct Core {
  std::string_view cpu;                     // "cortex-m4"
  std::string_view isa;                     // empty: any of the family
  const machine::Timing* timing = nullptr;  // the cycles of its instructions; nullptr: nothing is known of them
  // What compilers' code takes there beside the sums of these, where estimates were far off what was counted.
  void (*in_programs)(OperationCosts& cycles) = nullptr;
  LikeCore like = {};
};

// The text of a microkernel, by the family that its meaning names.
struct KernelText {
  std::string_view family;
  Implementation (*make)(const tir::Kernel& kernel);
  bool intrinsics = false;  // the text is C with intrinsics, and no assembly
  // The assembly as C with intrinsics, nullopt if it has no such form; null: none has.
  std::optional<Implementation> (*translate)(const tir::Kernel& kernel, const Implementation& assembly) = nullptr;
};

// What cores with a feature are better at.
struct Extension {
  std::string_view feature;                    // "dsp"
  std::vector<ops::TargetLowering> lowerings;  // asked before the operators' own
  std::vector<KernelText> kernels;             // what their calls are printed as
  void (*describe)(ops::TargetInfo& target) = nullptr;
  bool intrinsics = false;  // compilers have intrinsics for what the meanings of its kernels compute
};

struct Family {
  std::string_view name;  // its folder
  std::vector<Isa> isas;
  std::vector<Core> cores;
  // The core of ours whose code runs on another core of the family, or nothing: "cortex-m23" gives "cortex-m0plus".
  std::string_view (*nearest)(std::string_view cpu) = nullptr;
  // What compilers make of loops there; false where the instruction set is another's.
  bool (*describe)(const CpuQuery& query, ops::TargetInfo& target) = nullptr;
  // And of single operations, where it is not what they make of them for Thumb-2.
  void (*operations)(const ops::TargetInfo& target, OperationCosts& costs) = nullptr;
  std::vector<Extension> extensions;  // for cores of this family only
  std::vector<KernelText> kernels;    // of cores that need no feature for them
};

// nullptr if no family has it.
const Core* find_core(std::string_view cpu);

// What loops are like on most cores of 32 bits.
void describe_usual(ops::TargetInfo& target);

// Those of the build, and what was added.
const std::vector<Family>& families();
// For programs that bring a family along. Before the first question for a CPU.
void add_family(Family family);

}  // namespace aotc::cores
