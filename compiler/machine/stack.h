// SPDX-License-Identifier: Apache-2.0
// Computes an upper bound of the stack that a function and its callees use in a linked program. The bound is proven if
// every path was analysed, and assumed if it relies on conventions of compilers. Otherwise there is no bound, and the
// obstacles are listed with their locations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/elf.h"
#include "machine/instruction.h"
#include "machine/walker.h"

namespace aotc::machine {

// The user's annotations of calls through function pointers: the possible targets of all such calls in a function, or
// of the call at an address.
struct IndirectCalls {
  std::map<uint32_t, std::vector<uint32_t>> by_function, by_address;
};

// Reads annotations. A line has the form "CALLER: CALLEE CALLEE...". CALLER is a function or the address of a call; #
// begins a comment. Reports [annotation-invalid] with the line.
Result<IndirectCalls> read_indirect_calls(const std::string& path, const Elf& elf, Diagnostics& diags);

enum class BoundState { kProven, kAssumed, kUnbounded };

struct ChainLink {
  uint32_t function = 0;  // address of its entry point
  uint32_t place = 0;     // address of the call of the next function; in the last link, of the deepest point
  int64_t bytes = 0;      // stack from the call of this function to the call of the next
};

struct StackBound {
  uint32_t root = 0;
  int64_t bytes = 0;
  BoundState state = BoundState::kProven;
  std::vector<ChainLink> chain;
  std::vector<Problem> problems;
  size_t functions = 0;  // number of analysed functions, the root included
};

// The addresses of all functions with a name, or of the function at an address ("0x..."); empty if there is none.
std::vector<uint32_t> functions_called(const Elf& elf, const std::string& name);

class StackAnalysis {
 public:
  StackAnalysis(const Elf& elf, const Listing& listing, IndirectCalls indirect, VectorLength vectors = {});
  ~StackAnalysis();
  StackBound bound(uint32_t root);

 private:
  const Walk& walked(uint32_t entry);
  const Walk& walked_for_any(uint32_t entry);  // whatever its arguments are
  void explore(uint32_t root);
  // Walks functions below the root whose computed jumps depend on their arguments once for each set of arguments that
  // they are called with, until the calls that this finds bring no other arguments.
  void refine(uint32_t root);
  // The constants with which `callers` call a function; an empty set for a call whose arguments are not known.
  std::set<Arguments> arguments_of(uint32_t function, const std::vector<uint32_t>& callers);
  const std::vector<uint32_t>& address_taken();
  std::vector<uint32_t> below(uint32_t root);
  // The targets that the user's annotations list for a call through a pointer; null if they list none.
  const std::vector<uint32_t>* given_targets(uint32_t function, uint32_t call) const;

  friend class Bounding;

  const Elf& elf_;
  const Listing& listing_;
  IndirectCalls indirect_;
  std::unique_ptr<Semantics> semantics_;
  std::map<uint32_t, Walk> walks_;
  std::map<uint32_t, Walk> refined_;  // for the root whose bound is computed
  std::set<uint32_t> noreturn_;
  std::optional<std::vector<uint32_t>> address_taken_;
};

}  // namespace aotc::machine
