// SPDX-License-Identifier: Apache-2.0
// Tensors of a TFLite subgraph: types, shapes, quantisation and constant data. The one thing to
// know: only tensors with a role are read; an odd tensor that nobody uses is no reason to fail.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontends/tflite/source.h"
#include "graph/graph.h"
#include "support/result.h"

namespace aotc::frontends {

// What a tensor is used for, by tensor index of the subgraph.
struct Role {
  bool input = false;    // of the subgraph
  bool output = false;   // of the subgraph
  bool operand = false;  // of a supported operator
  bool result = false;   // of a supported operator
  bool state = false;    // a variable tensor that a supported operator changes
  bool kept = false;     // a result that its operator keeps: it may be a variable tensor
  bool widened = false;  // float16 that a DEQUANTIZE makes float32
  bool word = false;     // uint64 of an operator that takes it
  bool blocks = false;   // weights that may have a scale for each block
  bool scales = false;   // float16, those scales

  bool any() const { return input || output || operand || result || widened || word || scales; }
};

// Adds every tensor with a role to the graph, in file order; constants of float16 that are only widened
// are float32 in it. `ids` receives the graph's id for each
// index of the subgraph, invalid for those left out. Reports all problems up to a limit.
Status read_tensors(Source& source, const std::vector<Role>& roles, graph::Graph& graph,
                    std::vector<graph::TensorId>& ids);

// Where the scales are of weights that have one for each block of a row: tensors of the subgraph.
struct BlockScales {
  int32_t scales, zero_points;
  int64_t size;
};
std::optional<BlockScales> block_scales(const tflite_schema::Tensor& raw);

// Bytes of a tensor, or -1 if a dimension is negative or the tensor exceeds the limits.
int64_t bounded_bytes(const graph::Shape& shape, DType dtype);

// May a tensor that the file gives `stored` as shape have shape `inferred`? Only dimensions that
// the file declares unknown may differ.
bool shape_may_become(const tflite_schema::Tensor& raw, const graph::Shape& stored,
                      const graph::Shape& inferred);

// False, told as [tflite-limit]: the subgraph's weights are more than is ever emitted. Looks at sizes only.
bool check_weights(const Source& source, Diagnostics& told);

}  // namespace aotc::frontends
