// SPDX-License-Identifier: Apache-2.0
// Element types of ONNX that aotc's tensors do not have, and their carriers. Inside the graph a float of another format
// is the f32 of the same value (float64: the nearest), a 4-bit integer is one of 8 bits, and a uint64 is the int64 of
// the same bits; `Builder::element` returns the type that a tensor represents.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/float_formats/attributes.h"
#include "support/dtype.h"

namespace aotc::frontends::onnx {

struct ElementForm {
  DType carrier;  // type inside the graph
  DType stored;   // type of inputs and outputs in the C interface
  std::optional<ops::FloatFormat> format;
  bool packed = false;  // two elements in a byte of the file
};

// nullopt if aotc does not support the type (strings, complex numbers).
std::optional<ElementForm> form_of(int32_t element_type);
// The ONNX number of the type; 0 for i4, which has none.
int32_t element_of(DType type);

// Converts a stored float (f64 as its bits) to f32, and back, as the operators of ops/float_formats do.
float decode_float(ops::FloatFormat format, uint64_t stored);

// Converts the bytes of a tensor in the file to those in the graph. `bytes` must have the full length.
std::vector<uint8_t> to_carrier(const ElementForm& form, const uint8_t* bytes, int64_t elements);

}  // namespace aotc::frontends::onnx
