// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a TFLite subgraph: types, shapes, quantisation and constant data. Only tensors with a role are
// read; an invalid tensor without users is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontends/tflite/source.h"
#include "graph/graph.h"
#include "support/result.h"

namespace aotc::frontends {

// The uses of a tensor, by tensor index of the subgraph.
struct Role {
  bool input = false;    // of the subgraph
  bool output = false;   // of the subgraph
  bool operand = false;  // of a supported operator
  bool result = false;   // of a supported operator
  bool state = false;    // a variable tensor that a supported operator changes
  bool kept = false;     // a state that is a result of its operator: it may be a variable tensor
  bool widened = false;  // float16 that a DEQUANTIZE converts to float32
  bool word = false;     // uint64 of an operator that supports it
  bool blocks = false;   // weights that may have one scale for each block
  bool scales = false;   // float16 scales of such blocks

  bool any() const { return input || output || operand || result || widened || word || scales; }
};

// Adds every tensor with a role to the graph, in file order; constants of float16 that are only widened become float32.
// `ids` receives the graph's id for each index of the subgraph, invalid for dropped ones. Reports all problems up to a
// limit.
Status read_tensors(Source& source, const std::vector<Role>& roles, graph::Graph& graph,
                    std::vector<graph::TensorId>& ids);

// The tensors of the subgraph that hold the scales of weights with one scale for each block of a row.
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

// False, reported as [tflite-limit], if the subgraph's weights exceed the limit of emitted tables. Checks sizes only.
bool check_weights(const Source& source, Diagnostics& told);

}  // namespace aotc::frontends
