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

std::vector<TypeSupport> RowOperator::types() const {
  std::vector<TypeSupport> out;
  for (DType t : row_.types) out.push_back({t, carries_scale(t) ? std::string(row_.note) : std::string()});
  return out;
}

std::shared_ptr<graph::AttributesBase> RowOperator::default_attributes() const {
  if (row_.attributes != nullptr) return row_.attributes();
  return std::make_shared<graph::NoAttributes>();
}

Traits RowOperator::traits() const {
  return {.elementwise = row_.operands == 1, .uses_libm = row_.libm, .may_fail = row_.fails};
}

std::vector<graph::Shape> RowOperator::shapes(const OpView& op) const {
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

Result<std::vector<graph::Shape>> RowOperator::infer(const OpView& op, Diagnostics& diags) const {
  if (!check_counts(op, row_.operands, row_.operands, 1, diags)) return kFailure;
  std::vector<graph::Shape> given = shapes(op);
  graph::Shape shape = given[0];
  for (size_t i = 1; i < given.size(); ++i) {
    graph::Shape common;
    bool fits = broadcast_shapes(shape, given[i], common);
    if (row_.shapes == Shapes::kLeadingCondition) fits = fits && common == given[1] && given[i] == given[1];
    if (!fits) {
      bad_shape(
          op, diags,
          fmt::format("shapes {} and {} do not {}", graph::to_string(op.operand(0).shape),
                      graph::to_string(op.operand(i).shape), row_.shapes == Shapes::kBroadcast ? "broadcast" : "fit"));
      return kFailure;
    }
    shape = common;
  }
  return std::vector<graph::Shape>{shape};
}

bool RowOperator::check_types(const OpView& op, Diagnostics& diags) const {
  size_t first = row_.condition ? 1 : 0;
  if (row_.condition && !check_type(op, 0, {DType::kBool}, diags)) return false;
  DType type = op.operand(first).dtype;
  if (std::find(row_.types.begin(), row_.types.end(), type) == row_.types.end()) {
    std::string all;
    for (DType t : row_.types) all += fmt::format("{}{}", all.empty() ? "" : ", ", name_of(t));
    diags
        .error(op.where(), "op-type",
               fmt::format("operand {} ('{}') of {} is {}; supported: {}", first,
                           escape_for_display(op.operand_tensor(first).name), row_.name, name_of(type), all))
        .help("'aotc ops' lists the types of every operator");
    return false;
  }
  for (size_t i = first + 1; i < row_.operands; ++i)
    if (!check_type(op, i, {type}, diags)) return false;
  return check_result_type(op, 0, row_.truth ? DType::kBool : type, diags);
}

bool RowOperator::check_scales(const OpView& op, Diagnostics& diags) const {
  size_t first = row_.condition ? 1 : 0;
  if (!carries_scale(op.operand(first).dtype)) return true;
  if (row_.stored == Stored::kQuantized) return check_quantized_io(op, diags);
  if (row_.stored == Stored::kNoScale) return true;
  for (size_t i = first; i < row_.operands; ++i) {
    if (op.operand(i).quantization == op.result().quantization) continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("operand {} of {} and its result are quantised differently; stored "
                           "values can only be passed on within one quantisation",
                           i, row_.name))
        .help("re-quantise the model, or put a quantize operator before this one");
    return false;
  }
  return true;
}

Status RowOperator::verify(const OpView& op, Diagnostics& diags) const {
  if (!check_counts(op, row_.operands, row_.operands, 1, diags) || !check_types(op, diags) || !check_scales(op, diags))
    return kFailure;
  return row_.verify == nullptr || row_.verify(op, diags) ? success() : Status(kFailure);
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
  Broadcast nest(op.result().shape, shapes(op));
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
