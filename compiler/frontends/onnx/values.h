// SPDX-License-Identifier: Apache-2.0
// Parses the values that the user specifies for inputs of an ONNX model.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"

namespace aotc::frontends::onnx {

// Parses "3", "[1, 2]", "[[1.5], [2]]", "true": numbers in nested lists. The shape is that of the text, or `shape` if
// specified, which must have as many elements. nullopt if the text is invalid or a number does not fit the type.
struct GivenValue {
  graph::TensorType type;
  std::vector<uint8_t> bytes;
};
std::optional<GivenValue> parse_value(const std::string& text, DType type, const std::optional<graph::Shape>& shape);

}  // namespace aotc::frontends::onnx
