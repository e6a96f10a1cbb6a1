// SPDX-License-Identifier: Apache-2.0
#include "ops/interfaces.h"

#include "ops/operator.h"

namespace aotc::ops {

SharedAttributes Transposable::attributes_for_axes(const OpView& op, const Order&) const { return op.op.attributes; }
SharedAttributes Streamable::attributes_for_rows(const OpView& op) const { return op.op.attributes; }
SharedAttributes Prunable::attributes_for_channels(const OpView& op, int64_t) const { return op.op.attributes; }
RowSums Streamable::lower_pieces(const OpView&, int64_t, const TargetInfo&) const { return {}; }

OperatorState OperatorState::counter(int32_t initial) {
  OperatorState out{{DType::kI32, {}, {}}, {}, {}};
  for (int part : {0, 8, 16, 24}) out.initial.push_back(static_cast<uint8_t>(static_cast<uint32_t>(initial) >> part));
  return out;
}

std::optional<AxisFlow> axis_flow(const OpView& op) {
  const Operator& definition = definition_of(op.op);
  if (const auto* axes = definition.as<Transposable>()) return axes->axis_flow(op);
  if (!definition.traits().elementwise || op.operand_count() != 1 || op.op.results.size() != 1 || !op.has_operand(0) ||
      op.operand(0).shape != op.result().shape)
    return std::nullopt;
  return same_axes(1, 1, op.result().shape.size());
}

std::optional<RowFlow> row_flow(const OpView& op) {
  const Operator& definition = definition_of(op.op);
  if (const auto* rows = definition.as<Streamable>()) return rows->row_flow(op);
  if (definition.traits().elementwise) return RowFlow();
  const auto axes = axis_flow(op);
  return axes && axes->broadcasts ? std::optional(RowFlow()) : std::nullopt;
}

SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) {
  const auto* order = definition_of(op.op).as<Transposable>();
  return order != nullptr ? order->attributes_for_axes(op, axes) : op.op.attributes;
}

SharedAttributes attributes_for_rows(const OpView& op) {
  const auto* rows = definition_of(op.op).as<Streamable>();
  return rows != nullptr ? rows->attributes_for_rows(op) : op.op.attributes;
}

SharedAttributes attributes_for_channels(const OpView& op, int64_t channels) {
  const auto* prunable = definition_of(op.op).as<Prunable>();
  return prunable != nullptr ? prunable->attributes_for_channels(op, channels) : op.op.attributes;
}

int64_t permutable_reduction(const OpView& op) {
  const auto* order = definition_of(op.op).as<Transposable>();
  return order != nullptr ? order->permutable_reduction(op) : 0;
}

bool is_pointwise(const OpView& op) {
  const auto* rows = definition_of(op.op).as<Streamable>();
  return rows != nullptr && rows->is_pointwise(op);
}

bool sums_pieces(const OpView& op, int64_t pieces) {
  const auto* rows = definition_of(op.op).as<Streamable>();
  return rows != nullptr && rows->sums_pieces(op, pieces);
}

ChannelFlow channel_flow(const OpView& op) {
  const auto* prunable = definition_of(op.op).as<Prunable>();
  return prunable != nullptr ? prunable->channel_flow(op) : ChannelFlow::kOpaque;
}

}  // namespace aotc::ops
