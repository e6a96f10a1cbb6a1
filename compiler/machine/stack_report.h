// SPDX-License-Identifier: Apache-2.0
// Stack bounds for people and for programs, with interrupts on top. The one thing to know: handlers of one
// priority do not interrupt each other, those of another do.
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
  int64_t frame_bytes = 0;  // what the processor pushes for one, alignment included
  bool handlers_apart = false;  // on a stack of their own, as under an RTOS: a root gets what is pushed for the first

  // Of one root under the deepest handler of every priority, or under the first frame.
  int64_t with_interrupts(const StackBound& root) const;
  // Of the stack that only handlers are on: the first frame is on the root's.
  int64_t handlers_stack() const;
  // Of all roots and handlers: false if any is not proven, but for what the user said.
  bool proven() const;

 private:
  int64_t handlers() const;
};

// What an exception pushes: with registers of the floating-point unit if the program uses it.
int64_t exception_frame(const Elf& elf, const Listing& listing);

std::string stack_text(const Elf& elf, const StackReport& report);
nlohmann::ordered_json stack_json(const Elf& elf, const StackReport& report);

}  // namespace aotc::machine
