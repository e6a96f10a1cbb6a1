// SPDX-License-Identifier: Apache-2.0
// What the user gives for an ONNX model's inputs, as bytes of a tensor.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"

namespace aotc::frontends::onnx {

// "3", "[1, 2]", "[[1.5], [2]]", "true": numbers in lists of lists. The shape is that of the text;
// where `shape` is given, of as many elements, it is that. Nothing if the text is no such thing, or
// a number does not fit the type.
struct GivenValue {
  graph::TensorType type;
  std::vector<uint8_t> bytes;
};
std::optional<GivenValue> parse_value(const std::string& text, DType type,
                                      const std::optional<graph::Shape>& shape);

}  // namespace aotc::frontends::onnx
