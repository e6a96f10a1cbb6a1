// SPDX-License-Identifier: Apache-2.0
// Reads a .tflite file into Graph IR. The bytes are untrusted. All operators of the graph have passed ops::verify_op.
// Errors are reported with their location. Time and memory are bounded by the size of the file.
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

// Weights are views of `bytes`; the graph's constants keep the bytes alive. `file`: the model's name in messages; its
// last component becomes the name of the graph. Tensors keep their file order; tensors to which no operator, input or
// output refers are dropped. A batch (first dimension) of -1 is read as 1. Inputs and outputs are in the subgraph's
// order. Operators that depend only on constants and shapes are folded into constants.
//
// Reports [tflite-invalid], [tflite-version], [tflite-limit], [tflite-dtype], [tflite-shape], [tflite-quantization],
// [tflite-sparse], [tflite-variable], [tflite-external], [dynamic-shape], [op-unsupported] (all such operators in one
// error), [model-types], [signature-unknown], [output-not-computed], [input-name], the errors of the operators, and the
// warnings [subgraph-unused] and [quantized-dimension].
Result<graph::Graph> read_tflite(FileBytes bytes, const std::string& file, Diagnostics& diags,
                                 const ReadOptions& options = {}, const tflite::RuleTable& rules = tflite::rules());

}  // namespace aotc::frontends
