// SPDX-License-Identifier: Apache-2.0
// transpose: dimension i of the result is dimension order[i] of the operand.
#include <fmt/format.h>

#include "ops/common/affine_map.h"
#include "ops/common/checks.h"
#include "ops/transpose/attributes.h"

namespace aotc::ops {

namespace {

class Transpose final : public RearrangeOperator, public Transposable {
 public:
  Transpose()
      : RearrangeOperator({.name = "transpose",
                           .summary = "dimensions in another order",
                           .operands = {{.name = "x", .types = movable_types()}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<TransposeAttrs>}) {}

  std::optional<Order> as_transposition(const OpView& op) const override {
    const auto& order = op.attrs<TransposeAttrs>().order;
    return Order(order.begin(), order.end());
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    const std::vector<int64_t>& order = op.attrs<TransposeAttrs>().order;
    std::vector<bool> used(in.size(), false);
    graph::Shape out;
    for (int64_t axis : order) {
      bool fits = axis >= 0 && axis < static_cast<int64_t>(in.size());
      if (!fits || used[static_cast<size_t>(axis)]) break;
      used[static_cast<size_t>(axis)] = true;
      out.push_back(in[static_cast<size_t>(axis)]);
    }
    if (out.size() != order.size() || out.size() != in.size()) {
      bad_attribute(op, diags,
                    fmt::format("{} is not an order of {} dimensions", graph::attribute_text::print(order), in.size()));
      return kFailure;
    }
    return std::vector<graph::Shape>{out};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const graph::Quantization &from = op.operand(0).quantization, &to = op.result().quantization;
    const size_t moved[] = {0};
    if (op.constant(0) == nullptr || !from.per_channel()) return check_moves(op, moved, diags);
    const std::vector<int64_t>& order = op.attrs<TransposeAttrs>().order;
    const bool along =
        to.axis >= 0 && static_cast<size_t>(to.axis) < order.size() && order[static_cast<size_t>(to.axis)] == from.axis;
    if (!check_type(op, 0, {DType::kI8, DType::kI16}, diags)) return false;
    if (along) return check_same_quantization(op, 0, 0, diags);
    diags
        .error(op.where(), "op-quantization",
               fmt::format("the operand is quantised along dimension {}, which the result does not have as its "
                           "quantised dimension {}",
                           from.axis, to.axis))
        .help("convert the model again");
    return false;
  }

  AffineMap map_of(const OpView& op) const override {
    const graph::Shape& out = op.result().shape;
    std::vector<int64_t> from = strides_of(op.operand(0).shape), to = strides_of(out);
    const std::vector<int64_t>& order = op.attrs<TransposeAttrs>().order;
    AffineMap map;
    for (size_t i = 0; i < out.size(); ++i) map.add_axis(out[i], to[i], from[static_cast<size_t>(order[i])]);
    return map;
  }
};

}  // namespace

void add_operators_transpose(OperatorSet& set) { set.add(std::make_unique<Transpose>()); }

}  // namespace aotc::ops
