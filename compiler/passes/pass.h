// A pass: a function from graph to graph. The one thing to know: a pass looks at properties of
// operators (ops::Traits and the facts of ops::Operator), never at their names, and leaves a graph
// that ops::verify_graph accepts and that computes the same outputs, bit for bit.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::passes {

// What a user may ask for. These change what a model's caller sees, so they are off by default.
struct PassOptions {
  // Inputs and outputs that the model converts from or to float become the quantised tensors.
  bool strip_boundary_float = false;
  // Removes quantize followed by dequantize, which rounds: outputs then differ from the model's.
  bool remove_rounding = false;
};

struct Pass {
  std::string_view name;    // as --pass= and --dump-after= take it
  std::string_view reason;  // one line: why it is in the pipeline
  Status (*run)(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);
};

}  // namespace aotc::passes
