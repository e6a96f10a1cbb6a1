// SPDX-License-Identifier: Apache-2.0
// The list of graph passes, in the order in which they run, and functions that run them. All commands use this list.
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

// Returns the passes that a comma-separated list names, in the order of the list. Reports unknown names as
// [pass-unknown].
Result<std::vector<Pass>> parse_pass_list(std::string_view names, Diagnostics& diags);

struct RunOptions {
  PassOptions passes;
#ifdef NDEBUG
  bool verify_each = false;
#else
  bool verify_each = true;  // runs ops::verify_graph before the first and after every pass
#endif
  // Called after each pass, if set: `after` for --dump-after, `timed` for --time-passes.
  std::function<void(const Pass&, const graph::Graph&)> after;
  std::function<void(const Pass&, std::chrono::nanoseconds)> timed;
};

// Runs the passes on the graph, which ops::verify_graph must accept. After each pass, operators that no output needs
// are removed, so no pass meets such operators of an earlier one. Fails if a pass reports an error. With verify_each,
// also fails if a pass leaves an invalid graph; this is a bug in aotc and is reported as [internal] after the
// verifier's own messages.
Status run_passes(graph::Graph& graph, std::span<const Pass> passes, const RunOptions& options, Diagnostics& diags);
Status run_pipeline(graph::Graph& graph, const RunOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
