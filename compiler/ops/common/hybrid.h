// SPDX-License-Identifier: Apache-2.0
// Dynamic range: quantises rows of float activations at run time, multiplies them with int8 weights and scales the
// sums. kLitert equals LiteRT to the bit, which rounds groups of eight elements otherwise than the rest. kOnnxruntime
// equals DynamicQuantizeLinear. If a row has a NaN, an infinity or too small a range, LiteRT's result is undefined;
// then all its elements count as 0, and the scale is what comes out.
#pragma once

#include <cstdint>
#include <span>

#include "ops/common/rounding.h"
#include "ops/operator.h"

namespace aotc::ops {

// Float activations, int8 weights?
bool is_hybrid(const OpView& op);

// Of one row: value = scale * (q - zero). `zero` is 0 unless asymmetric; a row of zeros has
// scale 1.
struct RowScale {
  float scale = 1;
  int32_t zero = 0;
};
// kOnnxruntime: asymmetric, with quotients by the scale, rounded to even.
RowScale quantize_row(std::span<const float> x, std::span<int8_t> q, bool asymmetric,
                      RoundingRule rule = RoundingRule::kLitert);

// The same in TIR, from x[at .. at + count) to `store`, which is given a position in the row and
// the q from there on: four at a time in rows of a multiple of four, an even number in rows of even
// length.
struct RowQuantization {
  tir::Ex scale, zero;
};
struct RowRequest {
  tir::BufferPtr x;
  tir::Ex at;
  int64_t count = 0;
  bool asymmetric = false;
  bool centred = false;  // q less its zero point, of 9 bits
  std::function<void(const tir::Ex& position, const std::vector<tir::Ex>& q)> store;
  // Where it is not elements of a buffer: element i of the row, in the place of x and at.
  std::function<tir::Ex(const tir::Ex& i)> element = nullptr;
  bool fours = false;  // stored four at a time: position is the number of the four, and count a multiple of 4
  RoundingRule rule = RoundingRule::kLitert;
};
RowQuantization emit_quantize_row(tir::FunctionBuilder& f, const RowRequest& row);
// Into q[to .. to + count).
RowQuantization emit_quantize_row(tir::FunctionBuilder& f, RowRequest row, const tir::BufferPtr& q, const tir::Ex& to);

// Publishes that each of `batches` of operand 0 is read whole before the first of its results is
// written.
void publish_batches(LoweringBuilder& f, const OpView& op, int64_t batches);

// Scale of the weights of channel c.
float weight_scale(const OpView& op, int64_t c);
// Sum of the weights of each of `channels`, which lie `stride` elements apart beginning with c *
// first.
std::vector<int32_t> weight_sums(const OpView& op, int64_t channels, int64_t first, int64_t stride);

// Has every element of the input magnitude 0? Where a bias is -0, LiteRT adds nothing to it then,
// and +0 otherwise.
bool has_negative_zero(const OpView& op, int64_t channels);

// Types, constants, quantisation and sizes of (input, weights, optional bias); `channel_axis` is
// the weights' axis of output channels. Reports what is wrong.
bool verify_hybrid(const OpView& op, int64_t channels, int channel_axis, Diagnostics& diags);

// Dynamic range, by the first of `matrices` that there is?
bool has_integer_weights(const OpView& op, const std::vector<size_t>& matrices);

// Types, constants, quantisation and lengths of operands that are matrices or vectors of weights: float32, or
// all int8. Reports what is wrong.
bool check_float_weights(const OpView& op, const std::vector<size_t>& weights, Diagnostics& diags);

}  // namespace aotc::ops
