// SPDX-License-Identifier: Apache-2.0
// Reads a .tflite file into the Graph IR. The one thing to know: the bytes may be anything at all;
// the result is a graph or located errors, and time and memory are bounded by the size of the file.
// What comes back has operators that passed ops::verify_op.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/frontend.h"
#include "frontends/tflite/rules.h"
#include "graph/graph.h"
#include "support/diagnostics.h"
#include "support/file_bytes.h"
#include "support/result.h"

namespace aotc::frontends {

// Weights are views of `bytes`, which the graph's constants keep alive. `file` is how messages call
// the model; the graph is named after its last component. Tensors keep the order they have in the
// file; those that no operator, input or output refers to are left out. A batch (first dimension)
// of -1 is read as 1. Inputs and outputs are in the subgraph's order. Operators that depend on
// constants and shapes only are evaluated; their results are constants of the graph.
//
// Reports [tflite-invalid], [tflite-version], [tflite-limit], [tflite-dtype], [tflite-shape],
// [tflite-quantization], [tflite-sparse], [tflite-variable], [tflite-external], [dynamic-shape],
// [op-unsupported] (all such operators in one error), [model-types], [signature-unknown],
// [output-not-computed], [input-name], what the operators report, and the warnings
// [subgraph-unused] and [quantized-dimension].
Result<graph::Graph> read_tflite(FileBytes bytes, const std::string& file,
                                 Diagnostics& diags, const ReadOptions& options = {},
                                 const tflite::RuleTable& rules = tflite::rules());

}  // namespace aotc::frontends
