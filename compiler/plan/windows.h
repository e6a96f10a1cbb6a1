// SPDX-License-Identifier: Apache-2.0
// Windows that a model keeps itself: a state, behind which an operator puts new rows, and another takes the newest of
// them all for the next state. The one thing to know: all of it lies in the state's memory, which is as large as the
// window; the rows are put behind what is kept (or computed there), and what is kept is moved to the front once a run.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace aotc::plan {

struct Window {
  size_t state = 0;
  size_t push = 0;   // the operator that puts rows behind what is kept
  size_t slide = 0;  // the one that takes the newest: before it, or behind it
  // By operand of `push`: it is in its place before that runs. The first always is, which is the state or a piece of
  // it; another where its operator can write it there.
  std::vector<bool> there;
  bool operator==(const Window&) const = default;
};

// Of a graph without regions, on one device: the windows that can be, in the order of the states.
std::vector<Window> find_windows(const graph::Graph& graph);

// Brings the operators into an order in which nothing is read behind what destroys it, and everything else stays as it
// was. Returns those of `windows` for which there is one, with operators as they are numbered then.
std::vector<Window> order_for_windows(graph::Graph& graph, std::vector<Window> windows);

// Bytes that a window takes more than its state.
int64_t growth_of(const graph::Graph& graph, const Window& window);

}  // namespace aotc::plan
