// SPDX-License-Identifier: Apache-2.0
// Pass: a function that transforms a graph. A pass tests properties of operators (ops::Traits and functions of
// ops::Operator), never their names. Afterwards ops::verify_graph accepts the graph, and its outputs are bit-identical
// to those before.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::passes {

struct DeviceSet;  // passes/devices.h

// Statistics of passes, for reports.
struct PassStatistics {
  int64_t channels_cut_tensors = 0;  // tensors that lost channels
  int64_t constant_channels = 0;     // channels removed because their value is constant
  int64_t unread_channels = 0;       // channels removed because nothing reads them
};

// Options of passes. strip_boundary_float and remove_rounding are off by default, because they change the model's
// interface or outputs.
struct PassOptions {
  // Null if there are no devices other than the host.
  const DeviceSet* devices = nullptr;
  // Makes the model's interface quantised: float inputs and outputs that the model itself quantises or dequantises
  // become the quantised tensors.
  bool strip_boundary_float = false;
  // Removes quantize followed by dequantize. Such a pair rounds, so outputs then differ from the model's.
  bool remove_rounding = false;
  // Disables the removal of constant and unread channels.
  bool keep_dead_channels = false;
  // Receives statistics if not null.
  PassStatistics* statistics = nullptr;
  // Limit on the steps of the pass move-transposes, over all its searches; the default takes about a second.
  int64_t transpose_work = int64_t{1} << 22;
};

struct Pass {
  std::string_view name;    // name for the options --pass= and --dump-after=
  std::string_view reason;  // one line: why it is in the pipeline
  Status (*run)(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);
};

}  // namespace aotc::passes
