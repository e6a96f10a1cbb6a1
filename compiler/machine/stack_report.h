// SPDX-License-Identifier: Apache-2.0
// Prints stack bounds as text and JSON, and adds the stack of interrupt handlers. A handler cannot interrupt another
// one of the same priority, but handlers of different priorities can be active together.
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
  int64_t frame_bytes = 0;      // bytes that the processor pushes for one exception, alignment included
  bool handlers_apart = false;  // true if handlers use another stack than the roots, as under an RTOS

  // The bound of one root, plus the deepest handler of every priority. If handlers have their own stack, only one
  // exception frame is added.
  int64_t with_interrupts(const StackBound& root) const;
  // The bound of the handlers' own stack, without the first exception frame, which is on the root's stack.
  int64_t handlers_stack() const;
  // True if the bounds of all roots and handlers are proven, apart from assumptions that the user stated.
  bool proven() const;

 private:
  int64_t handlers() const;
};

// Bytes that the processor pushes for an exception. They include the floating-point registers if the program uses the
// floating-point unit.
int64_t exception_frame(const Elf& elf, const Listing& listing);

std::string stack_text(const Elf& elf, const StackReport& report);
nlohmann::ordered_json stack_json(const Elf& elf, const StackReport& report);

}  // namespace aotc::machine
