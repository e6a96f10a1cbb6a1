// SPDX-License-Identifier: Apache-2.0
// Bounds the stack depth of a program below given functions. A bound is `proven` if every path was analysed, and
// `assumed` if it relies on conventions of compilers; otherwise there is no bound, and the obstacles are listed with
// their locations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/elf.h"
#include "machine/instruction.h"
#include "machine/walker.h"

namespace aotc::machine {

// The user's annotations of calls through pointers: the possible targets of such calls in a function, or at one
// address.
struct IndirectCalls {
  std::map<uint32_t, std::vector<uint32_t>> by_function, by_address;
};

// Lines of the form "CALLER: CALLEE CALLEE..."; CALLER is a function or the address of the call; # begins a comment.
// Reports [annotation-invalid] with the line.
Result<IndirectCalls> read_indirect_calls(const std::string& path, const Elf& elf, Diagnostics& diags);

enum class BoundState { kProven, kAssumed, kUnbounded };

struct ChainLink {
  uint32_t function = 0;  // its entry point
  uint32_t place = 0;     // the call of the next function; for the last one, where the stack is deepest
  int64_t bytes = 0;      // from the call of this function to the call of the next
};

struct StackBound {
  uint32_t root = 0;
  int64_t bytes = 0;
  BoundState state = BoundState::kProven;
  std::vector<ChainLink> chain;
  std::vector<Problem> problems;
  size_t functions = 0;  // number analysed below the root
};

// The functions that a name (all functions of that name) or an address refers to; empty if there are none.
std::vector<uint32_t> functions_called(const Elf& elf, const std::string& name);

class StackAnalysis {
 public:
  StackAnalysis(const Elf& elf, const Listing& listing, IndirectCalls indirect);
  ~StackAnalysis();
  StackBound bound(uint32_t root);

 private:
  const Walk& walked(uint32_t entry);
  void explore(uint32_t root);
  const std::vector<uint32_t>& address_taken();
  std::vector<uint32_t> below(uint32_t root);
  // The targets that --indirect lists for a call through a pointer; null if it lists none.
  const std::vector<uint32_t>* given_targets(uint32_t function, uint32_t call) const;

  friend class Bounding;

  const Elf& elf_;
  const Listing& listing_;
  IndirectCalls indirect_;
  std::unique_ptr<Semantics> semantics_;
  std::map<uint32_t, Walk> walks_;
  std::set<uint32_t> noreturn_;
  std::optional<std::vector<uint32_t>> address_taken_;
};

}  // namespace aotc::machine
