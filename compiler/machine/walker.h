// SPDX-License-Identifier: Apache-2.0
// Walks one function of a program from its entry over every path of control flow, with the depth of the stack at every
// instruction. A jump into another function (a tail call, a helper, a cold part) is walked as part of the jumping
// function, so depths are right across it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

enum class ProblemKind {
  kStackPointer,  // set to an unknown value
  kStackGrows,    // in a loop
  kUnbalanced,    // a return with another depth than at the entry
  kJump,          // a computed jump whose table was not recognised
  kIndirectCall,
  kRecursion,
  kException,  // by an instruction: its handler is another root
  kNoReturn,   // a call that is the last instruction of the function
  kNoCode      // control goes where no instruction was decoded
};

struct Problem {
  ProblemKind kind = ProblemKind::kNoCode;
  uint32_t address = 0;
  std::string text;
  // The bound holds if the assumption in the text is true; if false, there is no bound.
  bool assumed = false;
  bool given = false;  // assumed because of a user's annotation

  bool operator<(const Problem& o) const { return std::tie(address, kind, text) < std::tie(o.address, o.kind, o.text); }
};

struct Call {
  uint32_t address = 0;
  int32_t depth = 0;  // bytes from the stack pointer before the caller's own call
  std::vector<uint32_t> targets;
  bool indirect = false;  // unknown target, resolved with knowledge of the whole program
};

struct Walk {
  uint32_t entry = 0;
  int32_t depth = 0;         // the deepest of the function's own instructions
  uint32_t depth_place = 0;  // address of the deepest point
  bool returns = false;
  bool switches_stack = false;  // starts its own stack, as reset handlers do
  std::vector<Call> calls;
  std::vector<Problem> problems;
  std::set<uint32_t> reached;
  std::set<uint32_t> numbers;  // constants in registers, among them addresses of functions
};

class Walker {
 public:
  Walker(const Elf& elf, const Listing& listing, const Semantics& semantics)
      : elf_(elf), listing_(listing), semantics_(semantics) {}
  Walk walk(uint32_t entry, const std::set<uint32_t>& noreturn) const;

 private:
  const Elf& elf_;
  const Listing& listing_;
  const Semantics& semantics_;
};

}  // namespace aotc::machine
