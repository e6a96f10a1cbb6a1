// SPDX-License-Identifier: Apache-2.0
// Maps ONNX element types that aotc's tensors do not have to carrier types, which represent them inside the graph. The
// carrier of any other float format is the f32 of the same value; for float64, of the nearest value. The carrier of a
// 4-bit integer has 8 bits, and the carrier of uint64 is the int64 with the same bits. `Builder::element` returns the
// ONNX type that a tensor represents.
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
  bool packed = false;  // the file stores two elements in a byte
};

// nullopt if aotc does not support the type (strings, complex numbers).
std::optional<ElementForm> form_of(int32_t element_type);
// The ONNX number of the type; 0 for i4, which has none.
int32_t element_of(DType type);

// Converts the bits of a stored float to f32, exactly as the operators of ops/float_formats do.
float decode_float(ops::FloatFormat format, uint64_t stored);

// Converts the bytes of a tensor from the file's form to the carrier's. `bytes` must hold all elements.
std::vector<uint8_t> to_carrier(const ElementForm& form, const uint8_t* bytes, int64_t elements);

}  // namespace aotc::frontends::onnx
