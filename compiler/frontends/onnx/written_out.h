// SPDX-License-Identifier: Apache-2.0
// Replaces functions that exporters decompose into several operators by one operator: layer normalisation (by mean and
// variance, or root mean square), GELU (by erf, by tanh), hard swish, softmax, attention. Results differ in the last
// bits from those of the file's steps, as onnxruntime's do, which fuses them too.
#pragma once

#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::frontends::onnx {

// Rewrites the graph and its regions. The replacement takes the position and result of the last operator of the group;
// the others are removed if nothing else reads their results.
void recognise_written_out(graph::Graph& graph, const ops::OperatorSet& set);

// Rewrites one graph: queries by keys, softmax, and a product by values, with their transposes and masks, if one
// operator for all of them needs no more memory.
void recognise_attention(graph::Graph& graph, const ops::OperatorSet& set);

}  // namespace aotc::frontends::onnx
