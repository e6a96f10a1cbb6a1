// SPDX-License-Identifier: Apache-2.0
// What a rule sees: the operator table of the (already verified) file and the graph under
// construction. The generated schema types come from tflite_schema.fbs, our own subset of the
// format.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "graph/graph.h"
#include "tflite_schema_generated.h"

namespace aotc::frontends {

class TfliteOp {
 public:
  TfliteOp(const tflite_schema::Operator& raw, const graph::Graph& graph, bool shapes_as_in_file,
           const tflite_schema::SubGraph* subgraph)
      : raw_(raw), graph_(graph), shapes_as_in_file_(shapes_as_in_file), subgraph_(subgraph) {}

  const graph::Graph& graph() const { return graph_; }
  // Have the operands the shapes that the file gives them? Otherwise those of the results mean
  // nothing.
  bool shapes_as_in_file() const { return shapes_as_in_file_; }
  // Are operands that the file has as uint8 here as int8 (Uint8)? Set by the reader.
  bool shifted() const { return shifted_; }
  void set_shifted(bool shifted) { shifted_ = shifted; }
  // Was everything folded that can be? Then an operand that is not constant is computed when the model runs.
  // Rules that prefer a constant refuse what is not one until then. Set by the reader.
  bool settled() const { return settled_; }
  void set_settled(bool settled) { settled_ = settled; }
  // The options table if it is there and of type T, else null (defaults apply).
  template <typename T>
  const T* options() const {
    return raw_.builtin_options_as<T>();
  }

  // Of a custom operator, as they are in the file; empty if there are none.
  std::span<const uint8_t> custom_options() const {
    const auto* bytes = raw_.custom_options();
    return bytes == nullptr ? std::span<const uint8_t>() : std::span(bytes->data(), bytes->size());
  }

  // The tensor of scales where operand 1 has one for each block of a row. Set by the reader.
  graph::TensorId block_scales() const { return block_scales_; }
  void set_block_scales(graph::TensorId scales) { block_scales_ = scales; }

  // Scale and zero point of an intermediate tensor, which stands for values inside the operator;
  // nothing if the file does not give them.
  std::optional<std::pair<float, int64_t>> intermediate_quantization(uint32_t i) const;

 private:
  const tflite_schema::Operator& raw_;
  const graph::Graph& graph_;
  bool shapes_as_in_file_;
  bool shifted_ = false;
  bool settled_ = false;
  graph::TensorId block_scales_;
  const tflite_schema::SubGraph* subgraph_;
};

}  // namespace aotc::frontends
