// SPDX-License-Identifier: Apache-2.0
// Recognises functions that an exporter decomposed into several operators, and replaces each by one operator: layer
// normalisation (by mean and variance, or root mean square), GELU (by erf, by tanh), hard swish, softmax, attention.
// Results differ in the last bits from the decomposed form. onnxruntime fuses the same functions, so its results differ
// as well.
#pragma once

#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::frontends::onnx {

// Rewrites the graph and its regions. The new operator takes the position and the result of the last operator of its
// group. A group is replaced only if no other operator reads its intermediate results.
void recognise_written_out(graph::Graph& graph, const ops::OperatorSet& set);

// Recognises attention in one graph: the product of queries and keys, softmax, and the product with the values, with
// their transposes and masks. The group is replaced only if the single operator needs no more memory.
void recognise_attention(graph::Graph& graph, const ops::OperatorSet& set);

}  // namespace aotc::frontends::onnx
