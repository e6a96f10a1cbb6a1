// SPDX-License-Identifier: Apache-2.0
// Functions that exporters write out, because the operator set of their day had no operator for them, as one operator
// again: normalisations of layers (by mean and variance, or root mean square), GELU (by erf, by tanh), hard swish,
// softmax, attention. The one thing to know: results differ in the last bits from those of the file's steps, as
// onnxruntime's do, which fuses them too.
#pragma once

#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::frontends::onnx {

// In the graph and its regions. What takes the place of several operators is where the last of them was, and has its
// result; the others are gone, and only where nothing else reads what they computed.
void recognise_written_out(graph::Graph& graph, const ops::OperatorSet& set);

// Of one graph: queries by keys, softmax and a product by values, with what transposes them and bounds them, where
// one operator for all needs no more memory.
void recognise_attention(graph::Graph& graph, const ops::OperatorSet& set);

}  // namespace aotc::frontends::onnx
