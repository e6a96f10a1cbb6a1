// SPDX-License-Identifier: Apache-2.0
// Element types of ONNX that no tensor of ours has. The one thing to know: inside the graph a float
// of another format is the f32 of the same value (float64: the nearest), a number of four bits is
// one of eight, and an uint64 is the int64 of the same bits; `Builder::element` says which one a
// tensor stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/float_formats/attributes.h"
#include "support/dtype.h"

namespace aotc::frontends::onnx {

struct ElementForm {
  DType carrier;  // inside the graph
  DType stored;   // of inputs and outputs of the C
  std::optional<ops::FloatFormat> format;
  bool packed = false;  // two in a byte of the file
};

// Nothing for what aotc does not take (strings, complex numbers).
std::optional<ElementForm> form_of(int32_t element_type);
// How files number the type; 0 for i4, which is none of theirs.
int32_t element_of(DType type);

// The f32 of a stored float, f64 as its bits; and back, as the operators of ops/float_formats do
// it.
float decode_float(ops::FloatFormat format, uint64_t stored);

// Bytes of a tensor as the file has them, as the graph has them. The file's are as many as they
// should be.
std::vector<uint8_t> to_carrier(const ElementForm& form, const uint8_t* bytes, int64_t elements);

}  // namespace aotc::frontends::onnx
