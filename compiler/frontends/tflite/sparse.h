// SPDX-License-Identifier: Apache-2.0
// Sparse constants of TensorFlow Lite: a tree of dimensions, in the order of storage. A dense dimension has all its
// indices, a sparse one lists those that have elements. Dimensions may be divided into blocks, which come last.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "tflite_schema_generated.h"

namespace aotc::frontends {

// All elements of a tensor of this shape, each `element` bytes, from `data`, the elements of the (untrusted) tree;
// others are zero bytes. nullopt if the tree does not match the shape and the data.
std::optional<std::vector<uint8_t>> densified(const tflite_schema::SparsityParameters& sparsity,
                                              const graph::Shape& shape, int64_t element,
                                              std::span<const uint8_t> data);

}  // namespace aotc::frontends
