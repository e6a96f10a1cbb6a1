// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a TFLite subgraph: types, shapes, quantisation and constant data. Only tensors with a role
// (Role) are read, so an invalid tensor that nothing uses is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontends/tflite/source.h"
#include "graph/graph.h"
#include "support/result.h"

namespace aotc::frontends {

// The uses of one tensor of the subgraph.
struct Role {
  bool input = false;    // of the subgraph
  bool output = false;   // of the subgraph
  bool operand = false;  // of a supported operator
  bool result = false;   // of a supported operator
  bool state = false;    // a variable tensor that a supported operator changes
  bool kept = false;     // a result that may be a variable tensor (Rule::variable_results)
  bool widened = false;  // a float16 tensor that a DEQUANTIZE converts to float32
  bool word = false;     // a uint64 tensor of an operator that supports uint64
  bool blocks = false;   // weights that may have one scale for each block
  bool scales = false;   // float16 scales of such blocks

  bool any() const { return input || output || operand || result || widened || word || scales; }
};

// Adds every tensor with a role to the graph, in file order. A float16 constant that is only converted to float32
// becomes a float32 constant. `ids` receives the graph's id for each tensor index of the subgraph; it is invalid for
// tensors without a role. Reports all problems up to a limit.
Status read_tensors(Source& source, const std::vector<Role>& roles, graph::Graph& graph,
                    std::vector<graph::TensorId>& ids);

// Blockwise quantisation of weights: each block of `size` elements of a row has its own scale. `scales`, `zero_points`:
// indices of the tensors of the subgraph that hold them.
struct BlockScales {
  int32_t scales, zero_points;
  int64_t size;
};
std::optional<BlockScales> block_scales(const tflite_schema::Tensor& raw);

// Bytes of a tensor, or -1 if a dimension is negative or the tensor exceeds the limits.
int64_t bounded_bytes(const graph::Shape& shape, DType dtype);

// True if a tensor whose shape in the file is `stored` may have shape `inferred`. Only dimensions that the file
// declares unknown may differ.
bool shape_may_become(const tflite_schema::Tensor& raw, const graph::Shape& stored, const graph::Shape& inferred);

// Reports [tflite-limit] and returns false if the subgraph's weights exceed graph::kMostConstantBytes. Checks only
// sizes.
bool check_weights(const Source& source, Diagnostics& told);

}  // namespace aotc::frontends
