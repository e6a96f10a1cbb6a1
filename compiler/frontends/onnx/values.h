// SPDX-License-Identifier: Apache-2.0
// Parses the values that the user specifies for inputs of an ONNX model.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"

namespace aotc::frontends::onnx {

// Parses numbers in nested lists: "3", "[1, 2]", "[[1.5], [2]]", "true". The result has shape `shape`, or the shape of
// the text if `shape` is nullopt. nullopt if the text is invalid, a number does not fit the type, or the number of
// elements is wrong.
struct GivenValue {
  graph::TensorType type;
  std::vector<uint8_t> bytes;
};
std::optional<GivenValue> parse_value(const std::string& text, DType type, const std::optional<graph::Shape>& shape);

}  // namespace aotc::frontends::onnx
