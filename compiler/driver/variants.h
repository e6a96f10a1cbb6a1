// SPDX-License-Identifier: Apache-2.0
// Compiles variants of a model with other options: every level of -O with both values of --prefer, the values of
// --stream, and NHWC inputs for ONNX models. Every variant is really compiled. The code size is measured with the
// board's own compiler, as in a project. Without that compiler, only the code size is missing.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// Code sizes by the text of the C source; different options often give the same source.
using KnownSizes = std::map<std::string, std::optional<int64_t>>;

// Bytes of code that the board's compiler makes of the model's functions, from `known` if it has them; nullopt without
// that compiler.
std::optional<int64_t> measured_code_of(const Compiled& compiled, KnownSizes& known);

// Variants that are worth a try for a model, the present one among them.
std::vector<VariantOptions> proposed_variants(const VariantOptions& present);
// Variants with --stream auto and another --stream-most: the planner of the variant `max` tried these lists of
// segments.
std::vector<VariantOptions> variants_by_rows(const VariantOptions& max, const std::vector<plan::StreamTried>& tried);
// The variants that differ from `present` in one option, except for --input-layout, which changes the model's inputs.
std::vector<VariantOptions> neighbours_of(const VariantOptions& present);

struct Variant : VariantOptions {
  // `instructions` and `cycles` are estimates for one run; 0 if a function is given in C, or if the core has no timing.
  int64_t arena_bytes = 0, constants_bytes = 0, functions = 0, instructions = 0, cycles = 0;
  std::optional<int64_t> code_bytes = {};
  bool chosen = false;  // true for the requested configuration
  // The cost by which variants are compared.
  int64_t cost() const { return cycles > 0 ? cycles : instructions; }
  // True if no other variant has a smaller arena at no higher cost, or a lower cost with no larger arena.
  bool pareto = false;
  std::vector<plan::StreamTried> tried = {};  // lists of segments that the planner tried for the variant
};

// Compiles the variants in this order: the levels from size to speed with the requested --prefer and --stream; the same
// with the other --prefer; the requested level with the other values of --stream; --input-layout nhwc. If streaming
// makes the arena smaller, --stream-most values between --stream auto and max follow, and --stream max at other levels.
// Variants that cannot be compiled are omitted. `compiled`: the result of `options`. `measure_code`: also measure the
// code size, which takes a second for each variant. `others`: if false, only the requested variant.
std::vector<Variant> variants_of(const CompileOptions& options, const Compiled& compiled, bool measure_code,
                                 bool others = true);

// "levels" of a report: the requested variant, and the variants that differ from it only in -O.
nlohmann::ordered_json levels_json(const std::vector<Variant>& variants);
nlohmann::ordered_json variants_json(const std::vector<Variant>& variants);
std::string levels_text(const std::vector<Variant>& variants);

// "pareto" of a report: the variants that are Pareto-optimal in arena and estimated cost, smallest arena first, and the
// requested variant. If another variant is better than the requested one, "instead" has its options. Empty if no cost
// is known.
nlohmann::ordered_json pareto_json(const std::vector<Variant>& variants);
std::string pareto_text(const std::vector<Variant>& variants);

// Suggestions for the user: changes of one option that improve some figure by at least one percent, with the
// differences of all figures (new minus present). {"option", "text", "arena_bytes", "constants_bytes", "code_bytes" (if
// measured), "estimated_instructions", "estimated_cycles" (if known)}.
nlohmann::ordered_json next_steps_json(const std::vector<Variant>& variants);

}  // namespace aotc::driver
