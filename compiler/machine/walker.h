// SPDX-License-Identifier: Apache-2.0
// Walker: follows every path of control flow of one function from its entry, and computes the depth of the stack at
// every instruction. A jump to another function (a tail call, a helper, a cold part) is followed as a part of the
// jumping function, so depths stay right.
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
  kStackPointer,  // the stack pointer is set to an unknown value
  kStackGrows,    // the stack grows in a loop
  kUnbalanced,    // a return at another depth than at the entry
  kJump,          // a computed jump whose jump table was not recognised
  kIndirectCall,
  kRecursion,
  kVectorLength,  // of the vector registers, on which the stack of the function depends
  kException,     // an instruction that raises an exception, whose handler is another root
  kNoReturn,      // a call is the last instruction of the function
  kNoCode         // execution reaches an address without a decoded instruction
};

struct Problem {
  ProblemKind kind = ProblemKind::kNoCode;
  uint32_t address = 0;
  std::string text;
  // True: `text` is an assumption, and the bound holds if it is right. False: there is no bound.
  bool assumed = false;
  bool given = false;  // true if the user stated the assumption in an annotation

  bool operator<(const Problem& o) const { return std::tie(address, kind, text) < std::tie(o.address, o.kind, o.text); }
};

// The constants in a function's argument registers, as far as they are known.
using Arguments = std::map<int, uint32_t>;

struct Call {
  uint32_t address = 0;
  int32_t depth = 0;  // stack in use at the call, from the stack pointer before the caller was called
  // The arguments that are the same whenever a walk of the caller comes here, for each walk.
  std::set<Arguments> arguments;
  std::vector<uint32_t> targets;
  bool indirect = false;  // the target is unknown here; StackAnalysis finds it
};

struct Walk {
  uint32_t entry = 0;
  int32_t depth = 0;         // largest stack depth at an instruction of the function, in bytes
  uint32_t depth_place = 0;  // address of the instruction with that depth
  bool returns = false;
  bool switches_stack = false;  // true if it starts another stack, as reset handlers do
  std::vector<Call> calls;
  std::vector<Problem> problems;
  std::set<uint32_t> reached;
  std::set<uint32_t> numbers;  // constants in registers; some are addresses of functions

  // Joins the walk of the same function with other arguments.
  void add(const Walk& other);
};

class Walker {
 public:
  Walker(const Elf& elf, const Listing& listing, const Semantics& semantics)
      : elf_(elf), listing_(listing), semantics_(semantics) {}
  Walk walk(uint32_t entry, const std::set<uint32_t>& noreturn, const Arguments& arguments = {}) const;

 private:
  const Elf& elf_;
  const Listing& listing_;
  const Semantics& semantics_;
};

}  // namespace aotc::machine
