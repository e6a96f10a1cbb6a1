// SPDX-License-Identifier: Apache-2.0
// The three ways in which TensorFlow Lite Micro packs constants: indices into tables of values, values
// without zeros behind a mask, Huffman codes. The one thing to know: every place is checked, so any bytes
// may be given.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/graph.h"

namespace aotc::ops {

struct Packed {
  std::span<const uint8_t> data;  // bits, the highest of each byte first
  std::span<const uint8_t> how;   // kind, version, two unused bytes, 12 of the kind, tables
  const graph::TensorType* type;  // of the result
};

// Fills the bytes of the result; or says why that cannot be done.
std::optional<std::string> decode_packed(const Packed& packed, std::span<uint8_t> out);

}  // namespace aotc::ops
