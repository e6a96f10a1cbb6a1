// SPDX-License-Identifier: Apache-2.0
// The order of graph passes. pipeline.cpp has the only list of passes; every command uses it.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace aotc::passes {

// All passes, in the order in which a compilation runs them.
std::span<const Pass> pipeline();

const Pass* find_pass(std::string_view name);

// The passes of a comma-separated list, in its order; reports unknown names as [pass-unknown].
Result<std::vector<Pass>> parse_pass_list(std::string_view names, Diagnostics& diags);

struct RunOptions {
  PassOptions passes;
#ifdef NDEBUG
  bool verify_each = false;
#else
  bool verify_each = true;  // ops::verify_graph before the first and after every pass
#endif
  // Called after each pass, if set: for --dump-after and --time-passes.
  std::function<void(const Pass&, const graph::Graph&)> after;
  std::function<void(const Pass&, std::chrono::nanoseconds)> timed;
};

// Runs the passes over the graph, which ops::verify_graph must accept, and removes operators that no output needs after
// each: a pass may leave such operators, and finds none. Fails if a pass reports an error or, with verify_each, leaves
// a graph that does not verify: a bug in aotc, reported as [internal] after the verifier's own messages.
Status run_passes(graph::Graph& graph, std::span<const Pass> passes, const RunOptions& options, Diagnostics& diags);
Status run_pipeline(graph::Graph& graph, const RunOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
