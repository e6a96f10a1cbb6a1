// SPDX-License-Identifier: Apache-2.0
// Checks that many operators' verify and infer share; each reports and returns false.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "ops/operator.h"

namespace aotc::ops {

// Operand count within [least, most], the first `least` present; result count as given.
bool check_counts(const OpView& op, size_t least, size_t most, size_t results, Diagnostics& diags);

// Operand `i` has one of the types.
bool check_type(const OpView& op, size_t i, std::span<const DType> allowed, Diagnostics& diags);
inline bool check_type(const OpView& op, size_t i, std::initializer_list<DType> allowed, Diagnostics& diags) {
  return check_type(op, i, std::span(allowed.begin(), allowed.size()), diags);
}
bool check_result_type(const OpView& op, size_t i, DType wanted, Diagnostics& diags);

bool check_rank(const OpView& op, size_t i, size_t least, size_t most, Diagnostics& diags);

// int8, uint8 or int16, whose values a scale makes real.
bool has_scale(DType type);
// For int8/uint8/int16: operand or result has one scale > 0, finite, and a zero point in range.
bool check_per_tensor(const OpView& op, const graph::Tensor& tensor, Diagnostics& diags);
bool check_quantized_io(const OpView& op, Diagnostics& diags);  // every operand and result
// int16 operands and results have zero point 0, as the reference demands of this operator.
bool check_symmetric_io(const OpView& op, Diagnostics& diags);
// Result has operand 0's quantisation exactly (copying operators).
bool check_same_quantization(const OpView& op, size_t operand, size_t result, Diagnostics& diags);

// Reports [op-attribute] with the message.
bool bad_attribute(const OpView& op, Diagnostics& diags, const std::string& message);
bool bad_shape(const OpView& op, Diagnostics& diags, const std::string& message);
// "int8 or float32"
std::string list_types(std::span<const DType> types);
inline std::string list_types(std::initializer_list<DType> types) {
  return list_types(std::span(types.begin(), types.size()));
}

// `axis` counted from the end if negative; false (reported) when outside the rank.
bool normalize_axis(const OpView& op, int64_t axis, size_t rank, size_t& out, Diagnostics& diags);

}  // namespace aotc::ops
