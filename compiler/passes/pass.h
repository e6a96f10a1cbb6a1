// SPDX-License-Identifier: Apache-2.0
// A pass: a function from graph to graph. The one thing to know: a pass looks at properties of
// operators (ops::Traits and the facts of ops::Operator), never at their names, and leaves a graph
// that ops::verify_graph accepts and that computes the same outputs, bit for bit.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::passes {

struct DeviceSet;  // passes/devices.h

// What passes did, for reports.
struct PassStatistics {
  int64_t channels_cut_tensors = 0;  // tensors that lost channels
  int64_t constant_channels = 0;     // channels removed because they have one value
  int64_t unread_channels = 0;       // channels removed because nobody reads them
};

// What a user may ask for. The first two change what a model's caller sees: off by default.
struct PassOptions {
  // Devices beside the host; null: there are none.
  const DeviceSet* devices = nullptr;
  // Inputs and outputs that the model converts from or to float become the quantised tensors.
  bool strip_boundary_float = false;
  // Removes quantize followed by dequantize, which rounds: outputs then differ from the model's.
  bool remove_rounding = false;
  // Leaves channels that are constant or that nobody reads where they are.
  bool keep_dead_channels = false;
  // Added to, if given.
  PassStatistics* statistics = nullptr;
  // Steps of the search for transposes that are not needed, of all searches together: by default about a second.
  int64_t transpose_work = int64_t{1} << 22;
};

struct Pass {
  std::string_view name;    // as --pass= and --dump-after= take it
  std::string_view reason;  // one line: why it is in the pipeline
  Status (*run)(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);
};

}  // namespace aotc::passes
