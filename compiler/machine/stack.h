// SPDX-License-Identifier: Apache-2.0
// How deep the stack of a program gets below some functions. The one thing to know: a bound is `proven` if
// every way was walked, `assumed` if something was taken to be as compilers make it, and otherwise there is
// none, and what stands in its way is listed with its place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/elf.h"
#include "machine/instruction.h"
#include "machine/walker.h"

namespace aotc::machine {

// What a user knows of calls through pointers: in a function, or at one address, they go to these.
struct IndirectCalls {
  std::map<uint32_t, std::vector<uint32_t>> by_function, by_address;
};

// "CALLER: CALLEE CALLEE..." in each line; CALLER is a function or the address of the call; # begins a
// comment. Reports [annotation-invalid] with the line.
Result<IndirectCalls> read_indirect_calls(const std::string& path, const Elf& elf, Diagnostics& diags);

enum class BoundState { kProven, kAssumed, kUnbounded };

struct ChainLink {
  uint32_t function = 0;  // its entry
  uint32_t place = 0;     // of the call of the next; in the last, where the stack is deepest
  int64_t bytes = 0;      // from the call of this one to the call of the next
};

struct StackBound {
  uint32_t root = 0;
  int64_t bytes = 0;
  BoundState state = BoundState::kProven;
  std::vector<ChainLink> chain;
  std::vector<Problem> problems;
  size_t functions = 0;  // walked below the root
};

// What a name of a function (all functions of that name) or an address means; empty: nothing.
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
  // What --indirect says of a call through a pointer; null: nothing.
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
