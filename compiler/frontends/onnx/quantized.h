// SPDX-License-Identifier: Apache-2.0
// Quantised values of ONNX models. The one thing to know: a tensor that the file names is integers
// without a scale, because there the operators around it have the scales; ours are on tensors of
// int8. int8_of gives the tensor with a scale that a tensor of the file stands for, and goes back
// through what only moves elements, so that between two quantised operators nothing is left of the
// file's tensor.
#pragma once

#include <optional>
#include <vector>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

// Scales and zero points of the file for a tensor of int8 or uint8. Both are constants.
struct Affine {
  DType stored = DType::kU8;
  std::vector<float> scale;
  std::vector<int64_t> zero;  // as many

  bool per_tensor() const { return scale.size() == 1; }
  // As int8 has it.
  graph::Quantization int8(int axis = 0) const;
};
// Two operands of the call, of which the second may be absent: 0, of type `otherwise`. Nothing
// where they are not known, or the type is another.
std::optional<Affine> affine_of(Call& c, size_t scale, size_t zero, DType otherwise = DType::kU8);
// Stops where affine_of gives nothing, or several scales.
Affine known_affine(Call& c, size_t scale, size_t zero, DType otherwise = DType::kU8);
// Of operand i, which these two follow.
Affine operand_affine(Call& c, size_t i);

// The int8 tensor with this quantisation (of int8) for a tensor of int8 or uint8 of the file.
Id int8_of(Builder& b, Id stored, const graph::Quantization& q);
inline Id int8_of(Builder& b, Id stored, const Affine& a) { return int8_of(b, stored, a.int8()); }
// The file's tensor (of a.stored) for an int8 tensor with its quantisation.
Id stored_of(Builder& b, Id int8, DType stored);

// One scale and zero point.
Id dequantized(Builder& b, Id stored, const Affine& a);
// Where the floats follow elementwise from one quantised tensor alone, as a table of 256.
Id quantized(Builder& b, Id real, const Affine& a);

// Setting of our operators for onnxruntime's arithmetic.
inline Setting onnxruntime_rounding() { return {"rounding", "onnxruntime"}; }

// Floats as bytes by their least and largest: whole numbers of 0 to 255 and the zero point as f32, and the scale.
struct ByData {
  Id whole, scale, zero;
};
ByData by_data(Builder& b, Id x);
// The i32 product of matrices of whole numbers of 9 bits, i32 or f32.
Id exact_product(Builder& b, Id x, Id y);

}  // namespace aotc::frontends::onnx
