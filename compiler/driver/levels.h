// SPDX-License-Identifier: Apache-2.0
// What other options of compiling make of a model: every level of -O with both words of --prefer, and the words of
// --stream, and ONNX models' pictures with their channels last. Each is really compiled. The one thing to know: code is measured with the board's own compiler, as a
// project would call it; without that compiler the other figures still stand.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// The options in which variants differ.
struct VariantOptions {
  ops::Level level = ops::Level::kBalanced;
  bool prefer_ram = false;
  plan::Stream stream = plan::Stream::kOff;
  int stream_most = plan::kUsualStreamMost;
  bool images_last = false;  // of an ONNX model: --input-layout nhwc

  // "-O size --prefer ram": what is not the default.
  std::string options() const;
};

struct Variant : VariantOptions {
  // `instructions`, `cycles`: estimated, of one run; 0 if some function is given in C, and if nothing is known of the
  // core's cycles.
  int64_t arena_bytes = 0, constants_bytes = 0, functions = 0, instructions = 0, cycles = 0;
  std::optional<int64_t> code_bytes = {};
  bool chosen = false;  // what the caller asked for
  // Variants are compared by this.
  int64_t cost() const { return cycles > 0 ? cycles : instructions; }
  // No other has a smaller arena at the same cost, nor a lower cost in as small an arena.
  bool pareto = false;
  std::vector<plan::StreamTried> tried = {};  // on the way to it, with other segments
};

// The levels from size to speed, first with the caller's --prefer and --stream; then with the other word of --prefer;
// then the caller's level with the other words of --stream, and with --input-layout nhwc. Where rows make the arena
// smaller, behind them what is between --stream auto and max, by --stream-most, and --stream max at other levels. What
// cannot be compiled is left out. `measure_code` takes a second for each. `others`: not only `compiled`, which is
// what the options make.
std::vector<Variant> variants_of(const CompileOptions& options, const Compiled& compiled, bool measure_code,
                                 bool others = true);

// "levels" of a report: those that differ from what was asked for in -O only.
nlohmann::ordered_json levels_json(const std::vector<Variant>& variants);
nlohmann::ordered_json variants_json(const std::vector<Variant>& variants);
std::string levels_text(const std::vector<Variant>& variants);

// "pareto" of a report: those that none is better than in arena and estimated cost, from the smallest arena on;
// among them what was asked for, with "instead" if another is better. Empty if no cost is known.
nlohmann::ordered_json pareto_json(const std::vector<Variant>& variants);
std::string pareto_text(const std::vector<Variant>& variants);

// Advice to the user: changes of one option that make something smaller or faster by at least one percent, with all
// that they change. {"option", "text", "arena_bytes", "constants_bytes", "code_bytes" (if measured),
// "estimated_instructions", "estimated_cycles" (if known)}: new less present.
nlohmann::ordered_json next_steps_json(const std::vector<Variant>& variants);

}  // namespace aotc::driver
