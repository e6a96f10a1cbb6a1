// SPDX-License-Identifier: Apache-2.0
// One function of a program, walked from its entry over every way that control can take, with the depth of
// the stack at every instruction. The one thing to know: a jump into another function (a tail call, a
// helper, a cold part) is walked as part of the one that jumps, so depths are right across it.
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
  kStackPointer,  // set to what is not known
  kStackGrows,    // in a loop
  kUnbalanced,    // a return with another depth than at the entry
  kJump,          // a computed jump without a table that was understood
  kIndirectCall,
  kRecursion,
  kException,  // by an instruction: its handler is another root
  kNoReturn,   // a call behind which nothing of the function stands
  kNoCode  // control goes where no instruction was decoded
};

struct Problem {
  ProblemKind kind = ProblemKind::kNoCode;
  uint32_t address = 0;
  std::string text;
  // The bound holds if what the text says was assumed is true; without it, there is none.
  bool assumed = false;
  bool given = false;  // assumed because the user said so

  bool operator<(const Problem& o) const {
    return std::tie(address, kind, text) < std::tie(o.address, o.kind, o.text);
  }
};

struct Call {
  uint32_t address = 0;
  int32_t depth = 0;  // bytes from the stack pointer before the caller's own call
  std::vector<uint32_t> targets;
  bool indirect = false;  // and not known: targets are found by who knows the whole program
};

struct Walk {
  uint32_t entry = 0;
  int32_t depth = 0;         // the deepest of the function's own instructions
  uint32_t depth_place = 0;  // where
  bool returns = false;
  bool switches_stack = false;  // begins its own, as reset handlers do
  std::vector<Call> calls;
  std::vector<Problem> problems;
  std::set<uint32_t> reached;
  std::set<uint32_t> numbers;  // constants that registers held: among them addresses of functions
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
