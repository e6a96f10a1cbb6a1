// SPDX-License-Identifier: Apache-2.0
// Prints stack bounds as text and JSON, with interrupts added. Handlers of one priority do not interrupt each other;
// those of different priorities do.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "machine/stack.h"

namespace aotc::machine {

struct Interrupt {
  int priority = 0;
  StackBound bound;
};

struct StackReport {
  std::vector<StackBound> roots;
  std::vector<Interrupt> interrupts;
  int64_t frame_bytes = 0;      // pushed by the processor for one exception, alignment included
  bool handlers_apart = false;  // handlers have a stack of their own, as under an RTOS

  // The bound of one root plus the deepest handler of every priority, or plus the first frame.
  int64_t with_interrupts(const StackBound& root) const;
  // The bound of the handlers' own stack; the first frame is on the root's.
  int64_t handlers_stack() const;
  // False if the bound of any root or handler is not proven, the user's annotations aside.
  bool proven() const;

 private:
  int64_t handlers() const;
};

// Bytes that an exception pushes: with registers of the floating-point unit if the program uses it.
int64_t exception_frame(const Elf& elf, const Listing& listing);

std::string stack_text(const Elf& elf, const StackReport& report);
nlohmann::ordered_json stack_json(const Elf& elf, const StackReport& report);

}  // namespace aotc::machine
