// SPDX-License-Identifier: Apache-2.0
// TfliteOp: gives an import rule access to one operator of a verified TFLite file and to the graph under construction.
// The types of namespace tflite_schema are generated from tflite_schema.fbs, a subset of TFLite's schema.
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
  // True if all operands have the shapes that the file states. Otherwise the result shapes that the file states are
  // meaningless.
  bool shapes_as_in_file() const { return shapes_as_in_file_; }
  // True if operands that are uint8 in the file have been replaced by int8 tensors (uint8.cpp). The reader sets it.
  bool shifted() const { return shifted_; }
  void set_shifted(bool shifted) { shifted_ = shifted; }
  // True after constant folding: an operand that is still not constant is computed at run time. Before, rules that
  // prefer a constant operand refuse any other. The reader sets it.
  bool settled() const { return settled_; }
  void set_settled(bool settled) { settled_ = settled; }
  // The options table of type T; null if the file has none or one of another type, and then defaults apply.
  template <typename T>
  const T* options() const {
    return raw_.builtin_options_as<T>();
  }

  // The bytes of a custom operator's options; empty if there are none.
  std::span<const uint8_t> custom_options() const {
    const auto* bytes = raw_.custom_options();
    return bytes == nullptr ? std::span<const uint8_t>() : std::span(bytes->data(), bytes->size());
  }

  // The tensor of scales if operand 1 has one scale for each block of a row, else invalid. The reader sets it.
  graph::TensorId block_scales() const { return block_scales_; }
  void set_block_scales(graph::TensorId scales) { block_scales_ = scales; }

  // Scale and zero point of intermediate tensor `i`, which describes values inside the operator; nullopt if the file
  // has none.
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
