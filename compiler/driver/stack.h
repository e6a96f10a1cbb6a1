// SPDX-License-Identifier: Apache-2.0
// Computes bounds of stacks: of one run of a model before firmware is built, and of linked firmware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/compilation.h"
#include "driver/project_dir.h"
#include "machine/stack_report.h"

namespace aotc::driver {

// Computes the maximal stack bytes of one run of a model: a bound from the call graph that the board's own compiler
// writes, or a safe guess if that compiler is missing.
struct StackNeed {
  int64_t bytes = 0;
  bool computed = false;  // false: the compiler is missing or writes no call graph
};

// Compiles the emitted C as a project does, in a temporary folder: one or two seconds.
StackNeed stack_need(const Compiled& compiled);
int64_t model_stack_bytes(const Compiled& compiled);

// Stack bytes of the deepest path from `entry` in call graphs of gcc's -fcallgraph-info=su, with the text of the
// sources, for registers that assembly pushes. 0 if `entry` is in no graph. For tests as well.
struct CallGraphFile {
  std::string graph, source;
};
int64_t deepest_path(const std::vector<CallGraphFile>& files, const std::string& entry);

// Computes an upper bound for the stack of a project's linked firmware from its instructions (compiler/machine), which
// the toolchain's objdump decodes. The bound is `proven` if the analysis is complete, and `assumed` if some code cannot
// be analysed completely. A stack without a bound is `unbounded`.
struct FirmwareStack {
  int64_t reserved = 0;                         // size of the section .stack; 0: the firmware has none
  std::optional<machine::StackBound> model;     // bound of the run function
  std::optional<machine::StackBound> firmware;  // bound from the entry point, if the section exists
  int64_t firmware_bytes = 0;                   // `firmware` plus the largest handler and fault handler
  nlohmann::ordered_json model_json, firmware_json;

  bool fitted = false;  // true if an earlier build set the size from the bound

  bool fits() const { return !firmware || firmware_bytes <= reserved; }
  // "proven", "assumed" or "unbounded": the worst of the firmware and its handlers.
  std::string state() const;
  bool handlers_bounded = true, handlers_proven = true;
};

// nullopt if there is no image, no readable image, or no objdump for it.
std::optional<FirmwareStack> stack_of_firmware(const ProjectDir& project);

// Links again with a stack of the computed bound until the bound no longer changes. Reports [stack-fixed] if the
// project's linker script has no parameter for the size, [stack-unbounded] if there is no bound, and the errors of
// build_project.
int fit_stack(const ProjectDir& project, bool quiet, std::optional<FirmwareStack>& stack, Diagnostics& diags);

std::string stack_text(const FirmwareStack& stack);
nlohmann::ordered_json stack_json(const FirmwareStack& stack);

}  // namespace aotc::driver
