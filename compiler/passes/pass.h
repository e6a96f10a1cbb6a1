// SPDX-License-Identifier: Apache-2.0
// Pass: a function from graph to graph. A pass tests properties of operators (ops::Traits and the facts of
// ops::Operator), never their names, and leaves a graph that ops::verify_graph accepts and that computes bit-identical
// outputs.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::passes {

struct DeviceSet;  // passes/devices.h

// Statistics of passes, for reports.
struct PassStatistics {
  int64_t channels_cut_tensors = 0;  // tensors that lost channels
  int64_t constant_channels = 0;     // channels removed because they have one value
  int64_t unread_channels = 0;       // channels removed because nothing reads them
};

// Options of passes. strip_boundary_float and remove_rounding change what the model's caller sees: off by default.
struct PassOptions {
  // Devices other than the host; null: none.
  const DeviceSet* devices = nullptr;
  // Inputs and outputs that the model converts from or to float become the quantised tensors.
  bool strip_boundary_float = false;
  // Removes quantize followed by dequantize, which rounds: outputs then differ from the model's.
  bool remove_rounding = false;
  // Disables the removal of constant and unread channels.
  bool keep_dead_channels = false;
  // Receives statistics, unless null.
  PassStatistics* statistics = nullptr;
  // Limit on the steps of all searches for unnecessary transposes together; the default takes about a second.
  int64_t transpose_work = int64_t{1} << 22;
};

struct Pass {
  std::string_view name;    // the name for --pass= and --dump-after=
  std::string_view reason;  // one line: why it is in the pipeline
  Status (*run)(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);
};

}  // namespace aotc::passes
