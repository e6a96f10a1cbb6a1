// SPDX-License-Identifier: Apache-2.0
// Reads a .tflite file into the Graph IR. The one thing to know: the bytes may be anything at all;
// the result is a graph or located errors, and time and memory are bounded by the size of the file.
// What comes back has operators that passed ops::verify_op.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/external/given.h"
#include "ops/operator.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::frontends {

struct ReadOptions {
  // Key of the signature to compile. Empty: subgraph 0, with the names of its first signature if
  // it has one.
  std::string signature;
  // Shapes of inputs, by the name that the caller sees or the tensor's; every dimension at least 1.
  // What depends on them is worked out again.
  std::map<std::string, graph::Shape> shapes;
  // The operators there are; null: every operator of this build.
  const ops::OperatorSet* operators = nullptr;
  // Custom operators that the user gives as C, if any; they go before those of the set.
  const ops::GivenOperators* given = nullptr;
};

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
Result<graph::Graph> read_tflite(std::vector<uint8_t> bytes, const std::string& file,
                                 Diagnostics& diags, const ReadOptions& options = {});

}  // namespace aotc::frontends
