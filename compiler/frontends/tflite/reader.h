// SPDX-License-Identifier: Apache-2.0
// Reads a .tflite file into Graph IR. The bytes are untrusted; the result is a graph whose operators passed
// ops::verify_op, or located errors. Time and memory are bounded by the size of the file.
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

// Weights are views of `bytes`, which the graph's constants keep alive. `file`: the model's name in messages; the graph
// is named after its last component. Tensors keep their file order; tensors that no operator, input or output refers to
// are dropped. A batch (first dimension) of -1 is read as 1. Inputs and outputs are in the subgraph's order. Operators
// that depend only on constants and shapes are folded into constants.
//
// Reports [tflite-invalid], [tflite-version], [tflite-limit], [tflite-dtype], [tflite-shape], [tflite-quantization],
// [tflite-sparse], [tflite-variable], [tflite-external], [dynamic-shape], [op-unsupported] (all such operators in one
// error), [model-types], [signature-unknown], [output-not-computed], [input-name], the errors of the operators, and the
// warnings [subgraph-unused] and [quantized-dimension].
Result<graph::Graph> read_tflite(FileBytes bytes, const std::string& file, Diagnostics& diags,
                                 const ReadOptions& options = {}, const tflite::RuleTable& rules = tflite::rules());

}  // namespace aotc::frontends
