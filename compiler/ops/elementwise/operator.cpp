// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/operator.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/broadcast.h"
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lowered_evaluation.h"

namespace aotc::ops::elementwise {

using tir::Ex;

namespace {

ops::Quantized quantized_of(Stored stored) {
  if (stored == Stored::kNoScale) return ops::Quantized::kUnchecked;
  return stored == Stored::kCopied ? ops::Quantized::kOne : ops::Quantized::kPerTensor;
}

Signature signature_of(const Row& row) {
  const char* names[] = {"a", "b", "c"};
  std::vector<OperandSpec> operands;
  for (size_t i = 0; i < row.operands; ++i)
    operands.push_back({.name = row.operands == 1 ? "x" : names[i], .same_type_as = row.condition ? 1 : 0});
  const size_t first = row.condition ? 1 : 0;
  if (row.condition) operands[0].types = {DType::kBool};
  for (DType t : row.types) operands[first].types.emplace_back(t, carries_scale(t) ? row.note : std::string_view());
  ResultSpec result = {.name = "y", .type_of = static_cast<int>(first)};
  if (row.truth) result.types = {DType::kBool};
  return {.name = row.name,
          .summary = row.summary,
          .operands = std::move(operands),
          .results = {std::move(result)},
          .principal = first,
          .shapes = ops::Shapes::kBroadcast,
          .quantized = quantized_of(row.stored),
          .traits = {.elementwise = row.operands == 1, .uses_libm = row.libm, .may_fail = row.fails},
          .attributes = row.attributes != nullptr ? row.attributes : make_attributes<graph::NoAttributes>};
}

}  // namespace

RowOperator::RowOperator(const Row& row) : SpecifiedOperator(signature_of(row)), row_(row) {}

// A condition of the first dimension only gets the rank of the others.
std::vector<graph::Shape> RowOperator::aligned_shapes(const OpView& op) const {
  std::vector<graph::Shape> out;
  for (size_t i = 0; i < op.operand_count(); ++i) out.push_back(op.operand(i).shape);
  if (row_.shapes == Shapes::kLeadingCondition && out[0].size() == 1 && out[1].size() > 1)
    out[0].resize(out[1].size(), 1);
  return out;
}

std::optional<AxisFlow> RowOperator::axis_flow(const OpView& op) const {
  std::vector<graph::Shape> given;
  for (size_t i = 0; i < op.operand_count(); ++i) given.push_back(op.operand(i).shape);
  // A condition of the first dimension only is not aligned at the last.
  if (row_.shapes == Shapes::kLeadingCondition && given[0].size() != given[1].size()) return std::nullopt;
  return broadcast_axes(given, op.result().shape);
}

Result<std::vector<graph::Shape>> RowOperator::shapes(const OpView& op, Diagnostics& diags) const {
  if (row_.shapes == Shapes::kBroadcast) return SpecifiedOperator::shapes(op, diags);
  const graph::Shape condition = aligned_shapes(op)[0], &shape = op.operand(1).shape;
  for (size_t i = 1; i < op.operand_count(); ++i) {
    graph::Shape common;
    if (broadcast_shapes(condition, shape, common) && common == shape && op.operand(i).shape == shape) continue;
    bad_shape(op, diags,
              fmt::format("shapes {} and {} do not fit", graph::to_string(op.operand(0).shape),
                          graph::to_string(op.operand(i).shape)));
    return kFailure;
  }
  return std::vector<graph::Shape>{shape};
}

bool RowOperator::check(const OpView& op, Diagnostics& diags) const {
  return row_.verify == nullptr || row_.verify(op, diags);
}

void RowOperator::evaluate(const OpView& op, const EvalData& data) const { evaluate_lowering(op, data); }

Lowered RowOperator::lower_elements(const OpView& op) const {
  LoweringBuilder f(op, std::string(row_.name));
  std::vector<tir::BufferPtr> in;
  for (size_t i = 0; i < row_.operands; ++i) in.push_back(f.operand(i));
  Parameters parameters;
  Quantized form;
  if (row_.stored == Stored::kQuantized && carries_scale(op.operand(0).dtype)) form = row_.quantized(op, f, parameters);
  if (!parameters.empty()) parameters.load(f);
  tir::BufferPtr out = f.result();
  Broadcast nest(op.result().shape, aligned_shapes(op));
  auto name = [&](size_t i) -> std::string {
    return row_.operands == 1 ? "x" : std::string(1, static_cast<char>('a' + i));
  };
  nest.emit(
      f, out,
      [&](size_t i, const Ex& index) {
        Ex x = f.let(name(i), load(in[i], index));
        return form.prepare ? form.prepare(i, x) : x;
      },
      [&](const std::vector<Ex>& values) {
        Element element{op, f, values};
        return form.combine ? form.combine(element) : row_.expression(element);
      });
  // Elements are read before they are written, in order; a smaller result only falls behind.
  for (size_t i = 0; i < row_.operands; ++i)
    if (!op.constant(i) && op.operand(i).shape == op.result().shape &&
        size_of(op.result().dtype) <= size_of(op.operand(i).dtype))
      f.publish_in_place(static_cast<int>(i));
  return f.finish(nest.loops().size() > 1 ? "broadcast" : "flat loop");
}

Lowered RowOperator::lower(const OpView& op, const TargetInfo&) const {
  if (row_.bytes != nullptr && is_byte(op.operand(0).dtype))
    return lower_byte_function(op, std::string(row_.name), row_.bytes(op));
  return lower_elements(op);
}

}  // namespace aotc::ops::elementwise
