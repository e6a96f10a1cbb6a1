// SPDX-License-Identifier: Apache-2.0
// Maps quantised values of ONNX models to quantised tensors. A tensor of the file is integers without a scale, because
// the scales are inputs of the operators around it; aotc's operators expect int8 tensors with a scale. int8_of returns
// the int8 tensor that a tensor of the file represents. It looks through operators that only move elements, so no
// tensor of the file remains between two quantised operators.
#pragma once

#include <optional>
#include <vector>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

// Scales and zero points of the file for an int8 or uint8 tensor. Both are constants.
struct Affine {
  DType stored = DType::kU8;
  std::vector<float> scale;
  std::vector<int64_t> zero;  // as many as scales

  bool per_tensor() const { return scale.size() == 1; }
  // The quantisation of the int8 tensor.
  graph::Quantization int8(int axis = 0) const;
};
// Reads a scale and a zero point from two operands of the call. The second may be absent: 0, of type `otherwise`.
// nullopt if they are not constant or the type is another.
std::optional<Affine> affine_of(Call& c, size_t scale, size_t zero, DType otherwise = DType::kU8);
// Stops if affine_of returns nullopt or several scales.
Affine known_affine(Call& c, size_t scale, size_t zero, DType otherwise = DType::kU8);
// Scale and zero point of operand i, which are the two operands after it.
Affine operand_affine(Call& c, size_t i);

// The int8 tensor with quantisation `q` (of int8) for an int8 or uint8 tensor of the file.
Id int8_of(Builder& b, Id stored, const graph::Quantization& q);
inline Id int8_of(Builder& b, Id stored, const Affine& a) { return int8_of(b, stored, a.int8()); }
// The file's tensor (of type `stored`) for an int8 tensor with its quantisation.
Id stored_of(Builder& b, Id int8, DType stored);

// Dequantises with one scale and zero point.
Id dequantized(Builder& b, Id stored, const Affine& a);
// Quantises; uses a table of 256 entries if the floats depend elementwise on one quantised tensor alone.
Id quantized(Builder& b, Id real, const Affine& a);

// The attribute of aotc's operators that selects onnxruntime's arithmetic.
inline Setting onnxruntime_rounding() { return {"rounding", "onnxruntime"}; }

// Floats quantised dynamically by their minimum and maximum: integers 0 to 255 and the zero point as f32, and the
// scale.
struct ByData {
  Id whole, scale, zero;
};
ByData by_data(Builder& b, Id x);
// The i32 product of two matrices (i32 or f32) of integers of 9 bits.
Id exact_product(Builder& b, Id x, Id y);

}  // namespace aotc::frontends::onnx
