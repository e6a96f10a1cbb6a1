// SPDX-License-Identifier: Apache-2.0
// TfliteOp: an operator of the (already verified) file as its import rule sees it, with the graph under construction.
// The generated schema types come from tflite_schema.fbs, a subset of the format.
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
  // True if the operands have the shapes of the file. If not, the file's shapes of the results are meaningless.
  bool shapes_as_in_file() const { return shapes_as_in_file_; }
  // True if operands that are uint8 in the file are int8 here (Uint8). Set by the reader.
  bool shifted() const { return shifted_; }
  void set_shifted(bool shifted) { shifted_ = shifted; }
  // True after constant folding: an operand that is not constant then is computed at run time. Until then, rules that
  // prefer a constant refuse other operands. Set by the reader.
  bool settled() const { return settled_; }
  void set_settled(bool settled) { settled_ = settled; }
  // The options table if it exists and is of type T, else null (defaults apply).
  template <typename T>
  const T* options() const {
    return raw_.builtin_options_as<T>();
  }

  // The options of a custom operator, as in the file; empty if there are none.
  std::span<const uint8_t> custom_options() const {
    const auto* bytes = raw_.custom_options();
    return bytes == nullptr ? std::span<const uint8_t>() : std::span(bytes->data(), bytes->size());
  }

  // The tensor of scales if operand 1 has one for each block of a row. Set by the reader.
  graph::TensorId block_scales() const { return block_scales_; }
  void set_block_scales(graph::TensorId scales) { block_scales_ = scales; }

  // Scale and zero point of an intermediate tensor, which represents values inside the operator; nullopt if the file
  // does not have them.
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
