// SPDX-License-Identifier: Apache-2.0
// Compiles variants of a model with other options: every level of -O with both values of --prefer, the values of
// --stream, and NHWC inputs for ONNX models. Each is really compiled. Code is measured with the board's own compiler,
// as in a project; without that compiler the other figures remain.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

struct Variant : VariantOptions {
  // `instructions`, `cycles`: estimates for one run; 0 if a function is given in C, or if the core has no timing.
  int64_t arena_bytes = 0, constants_bytes = 0, functions = 0, instructions = 0, cycles = 0;
  std::optional<int64_t> code_bytes = {};
  bool chosen = false;  // the requested configuration
  // The cost by which variants are compared.
  int64_t cost() const { return cycles > 0 ? cycles : instructions; }
  // True if no other variant has a smaller arena at the same cost, or a lower cost with as small an arena.
  bool pareto = false;
  std::vector<plan::StreamTried> tried = {};  // segments that the planner tried for it
};

// The levels from size to speed, first with the caller's --prefer and --stream, then with the other --prefer; then the
// caller's level with the other values of --stream, and with --input-layout nhwc. If streaming makes the arena smaller,
// --stream-most values between --stream auto and max follow, and --stream max at other levels. Configurations that
// cannot be compiled are omitted. `measure_code` takes a second for each. `others`: if false, only `compiled`, the
// result of `options`.
std::vector<Variant> variants_of(const CompileOptions& options, const Compiled& compiled, bool measure_code,
                                 bool others = true);

// "levels" of a report: the variants that differ from the requested one in -O only.
nlohmann::ordered_json levels_json(const std::vector<Variant>& variants);
nlohmann::ordered_json variants_json(const std::vector<Variant>& variants);
std::string levels_text(const std::vector<Variant>& variants);

// "pareto" of a report: the Pareto-optimal variants in arena and estimated cost, smallest arena first; with the
// requested one, which has "instead" if another is better. Empty if no cost is known.
nlohmann::ordered_json pareto_json(const std::vector<Variant>& variants);
std::string pareto_text(const std::vector<Variant>& variants);

// Suggestions for the user: changes of one option that improve one figure by at least one percent, with all differences
// (new minus present). {"option", "text", "arena_bytes", "constants_bytes", "code_bytes" (if measured),
// "estimated_instructions", "estimated_cycles" (if known)}.
nlohmann::ordered_json next_steps_json(const std::vector<Variant>& variants);

}  // namespace aotc::driver
