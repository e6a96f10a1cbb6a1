// SPDX-License-Identifier: Apache-2.0
// The stack of a project's linked firmware, bounded from its instructions (compiler/machine) with the toolchain's
// objdump. The one thing to know: what cannot be walked to the end is `assumed`, and what has no bound is said so;
// neither is called proven.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "driver/project_dir.h"
#include "machine/stack_report.h"

namespace aotc::driver {

struct FirmwareStack {
  int64_t reserved = 0;  // of the section .stack; 0: the firmware has none of its own
  std::optional<machine::StackBound> model;     // of the run function
  std::optional<machine::StackBound> firmware;  // from the entry, if there is such a section
  int64_t firmware_bytes = 0;                   // with handlers on top: faults above all others
  nlohmann::ordered_json model_json, firmware_json;

  bool fitted = false;  // an earlier build was told how much to reserve

  bool fits() const { return !firmware || firmware_bytes <= reserved; }
  // "proven", "assumed", "unbounded": the worse of the firmware and its handlers.
  std::string state() const;
  bool handlers_bounded = true, handlers_proven = true;
};

// Nothing if there is no image, none that can be read, or no objdump for it.
std::optional<FirmwareStack> stack_of_firmware(const ProjectDir& project);

// Links again with as much stack as was bounded, and bounds again, until that is what is reserved. Reports
// [stack-fixed] if the project's linker script takes no size, [stack-unbounded] if there is no bound; also what
// build_project does.
int fit_stack(const ProjectDir& project, bool quiet, std::optional<FirmwareStack>& stack, Diagnostics& diags);

std::string stack_text(const FirmwareStack& stack);
nlohmann::ordered_json stack_json(const FirmwareStack& stack);

}  // namespace aotc::driver
