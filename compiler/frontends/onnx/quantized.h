// SPDX-License-Identifier: Apache-2.0
// Converts between the quantised tensors of an ONNX file and aotc's. In the file a quantised tensor consists of
// integers without a scale, because the scales are inputs of the operators around it. aotc's operators expect int8
// tensors with a scale. int8_of returns the int8 tensor for a tensor of the file. It also converts the operands of
// operators that only move elements, so that no tensor of the file remains between two quantised operators.
#pragma once

#include <optional>
#include <vector>

#include "frontends/onnx/window_attributes.h"

namespace aotc::frontends::onnx {

// Constant scales and zero points of the file for an int8, uint8, int16 or uint16 tensor. int16 tensors stay as they
// are; uint16 tensors become int16 as uint8 tensors become int8.
struct Affine {
  DType stored = DType::kU8;
  std::vector<float> scale;
  std::vector<int64_t> zero;  // one for each scale

  bool per_tensor() const { return scale.size() == 1; }
  bool wide() const { return stored == DType::kI16 || stored == DType::kU16; }
  // Element type of the tensor that represents the stored tensor: int8, or int16 if `wide`.
  DType type() const { return wide() ? DType::kI16 : DType::kI8; }
  // The quantisation of the int8 or int16 tensor that represents the stored tensor.
  graph::Quantization int8(int axis = 0) const;
};
// Reads the constants in inputs `scale` and `zero` of the call. If `zero` is absent, the zero point is 0 and the stored
// type is `otherwise`. nullopt if the scale is not a constant f32, the zero point is not a constant i8, u8, i16 or u16,
// or a value is invalid.
std::optional<Affine> affine_of(Call& c, size_t scale, size_t zero, DType otherwise = DType::kU8);
// As affine_of, but calls Builder::stop if the result is nullopt or has several scales.
Affine known_affine(Call& c, size_t scale, size_t zero, DType otherwise = DType::kU8);
// Scale and zero point of operand i: the call's inputs i + 1 and i + 2.
Affine operand_affine(Call& c, size_t i);

// Returns the int8 tensor with quantisation `q` that has the same real values as `stored`, an int8 or uint8 tensor of
// the file.
Id int8_of(Builder& b, Id stored, const graph::Quantization& q);
inline Id int8_of(Builder& b, Id stored, const Affine& a) { return int8_of(b, stored, a.int8()); }
// The inverse of int8_of: the tensor of the file, with element type `stored`, for an int8 tensor.
Id stored_of(Builder& b, Id int8, DType stored);

// Dequantises a tensor of the file with one scale and zero point.
Id dequantized(Builder& b, Id stored, const Affine& a);
// Quantises floats. If they are an elementwise function of one quantised tensor, a lookup table of 256 entries replaces
// that function.
Id quantized(Builder& b, Id real, const Affine& a);

// The attribute of aotc's operators that selects onnxruntime's arithmetic.
inline Setting onnxruntime_rounding() { return {"rounding", "onnxruntime"}; }

// True if the average of `count` elements in integers (average_pool_2d with onnxruntime_rounding) may replace
// onnxruntime's average in float. Of bytes: if both are equal for all values and in any order of the sum. `up`: what
// onnxruntime adds to the zero point of the int8 result before it rounds (averages.cpp). Of 16 bits: if at most one of
// a thousand sums is so near to a tie that the order of the float sum decides.
bool averages_in_integers(const Affine& x, const Affine& y, int64_t count, int64_t up);

// The result of dynamic quantisation, whose scale follows from the minimum and maximum of the data. All members are f32
// tensors; `whole` has the quantised integers 0 to 255.
struct ByData {
  Id whole, scale, zero;
};
ByData by_data(Builder& b, Id x);
// The convolution of float images that are quantised with the range of all of them. Operands: images, integer filters,
// their scale, their zero point, bias.
void dynamic_convolution(Call& c);
// 8-bit integers x, weights, and their zero points, which may be absent. x has one zero point.
struct IntegerOperands {
  Id x, weights, zero, weights_zero;
};
// The i32 sums of products of integers less their zero points, by integer operators. nullopt if the weights or their
// zero points are computed, or differ by more than int8 holds and have several zero points, or sums may leave i32.
std::optional<Id> sums_of_convolution(Builder& b, const IntegerOperands& of, const WindowAttributes& w, int64_t groups);
// The same of rows and a matrix [depth, units], or of computed matrices with known zero points.
std::optional<Id> sums_of_product(Builder& b, const IntegerOperands& of);
// A constant matrix [units, depth] of integers of 4 or 8 bits. Each of `blocks` equal blocks of a row has a scale and a
// zero point.
struct StoredMatrix {
  int64_t units = 0, depth = 0, blocks = 1, bits = 8;
  Ints values;                // [units, depth]
  std::vector<float> scales;  // [units, blocks]
  Ints zeros;                 // [units, blocks]
};
// The product of float rows with the matrix, whose integers become floats only when they are multiplied. `bias`: none,
// or a constant with a number for each unit.
Id stored_product(Builder& b, Id rows, const StoredMatrix& matrix, Id bias = {});
// The exact i32 product of two matrices (i32 or f32) whose elements are integers of at most 9 bits.
Id exact_product(Builder& b, Id x, Id y);

}  // namespace aotc::frontends::onnx
