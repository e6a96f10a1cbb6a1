// SPDX-License-Identifier: Apache-2.0
// Shapes, tensor types and constants in the text forms of graphs and programs (docs/ir.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/text_form.h"

namespace aotc::graph {

// [1x2x3]
void form(TextForm& f, Shape& shape);
// i8[1x2x3] quant(...)
void form(TextForm& f, TensorType& type);
// " = " and a constant: a list of values, or hexadecimal bytes. Preserves the bytes exactly, NaN payloads included.
void form(TextForm& f, DType type, ConstantView& constant, int64_t limit = INT64_MAX);

// Reads a list such as "[1, 2]" as the bytes of its elements.
std::vector<uint8_t> read_list(TextForm& f, DType type);

// Returns "[1, 2, 3]", or "hex {...}" over several lines, or "hash ..." if the constant has more than `limit` bytes.
std::string print_constant(DType type, const ConstantView& constant, int64_t limit);

}  // namespace aotc::graph
