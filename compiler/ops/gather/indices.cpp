// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/indices.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"

namespace aotc::ops {

using tir::Ex;

bool check_indices(const OpView& op, const Tuples& tuples, Diagnostics& diags, bool small) {
  if (!(small ? check_type(op, tuples.operand, {DType::kI32, DType::kI64, DType::kI16}, diags)
              : check_type(op, tuples.operand, {DType::kI32, DType::kI64}, diags)))
    return false;
  const graph::ConstantView* constant = op.constant(tuples.operand);
  if (constant == nullptr || tuples.sizes.empty()) return true;
  std::vector<int64_t> values = widen(op.operand(tuples.operand).dtype, constant->bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t size = tuples.sizes[i % tuples.sizes.size()];
    if (values[i] < 0 || values[i] >= size)
      return bad_attribute(op, diags, fmt::format("index {} of a dimension of {}", values[i], size));
  }
  return true;
}

std::optional<std::vector<int64_t>> offsets_of(const OpView& op, const EvalData& data, const Tuples& tuples) {
  size_t each = tuples.sizes.size();
  const graph::TensorType& type = op.operand(tuples.operand);
  if (each == 0)
    return std::vector<int64_t>(
        static_cast<size_t>(graph::element_count(graph::Shape(type.shape.begin(), type.shape.end() - 1))), 0);
  std::vector<int64_t> values = widen(type.dtype, data.operands[tuples.operand]), out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= tuples.sizes[i % each]) return std::nullopt;
    if (i % each == 0) out.push_back(0);
    out.back() += values[i] * tuples.strides[i % each];
  }
  return out;
}

Ex emit_offset(LoweringBuilder& f, const OpView& op, const tir::BufferPtr& indices, const Tuples& tuples,
               const Ex& tuple) {
  Ex offset = 0;
  auto each = static_cast<int64_t>(tuples.sizes.size());
  for (int64_t j = 0; j < each; ++j) {
    auto at = static_cast<size_t>(j);
    Ex index = f.let("index", load(indices, tuple * each + j));
    if (op.constant(tuples.operand) == nullptr)
      f.if_(index < tir::imm(index.type(), 0) || index >= tir::imm(index.type(), tuples.sizes[at]), [&] { f.fail(); });
    offset = offset + (index.type() == DType::kI32 ? index : cast(DType::kI32, index)) * tuples.strides[at];
  }
  return offset;
}

void clear_results(const EvalData& data) {
  for (std::span<uint8_t> result : data.results) std::fill(result.begin(), result.end(), uint8_t{0});
}

}  // namespace aotc::ops
