// SPDX-License-Identifier: Apache-2.0
// split: the operand cut along an axis into parts of the given sizes, one result each. SPLIT and
// SPLIT_V are both this operator.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/common/pieces.h"
#include "ops/split/attributes.h"

namespace aotc::ops {

namespace {

Parts parts_of(const OpView& op) {
  const auto& attrs = op.attrs<SplitAttrs>();
  AxisView v = view_at(op.operand(0).shape, static_cast<size_t>(attrs.axis));
  Parts parts;
  parts.outer = v.outer;
  for (int64_t size : attrs.sizes) parts.row_elements.push_back(size * v.inner);
  return parts;
}

class Split final : public SpecifiedOperator, public TakesPieces, public Fusable, public Transposable {
 public:
  Split()
      : SpecifiedOperator(
            {.name = "split",
             .summary = "cuts a tensor into parts along an axis (SPLIT, SPLIT_V)",
             .operands = {{.name = "x", .types = movable_types("LiteRT has no kernel for it"), .moved = true}},
             .results = {{.name = "part"}},
             .any_results = true,
             .shapes = Shapes::kOwn,
             .uint8 = Uint8::kEither,
             .attributes = make_attributes<SplitAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    split_parts(parts_of(op), data.operands[0], data.results, size_of(op.operand(0).dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return lower_split(op, parts_of(op)); }

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return same_axes(1, op.op.results.size(), op.operand(0).shape.size());
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<SplitAttrs>(op.attrs<SplitAttrs>());
    attributes->axis = inverse_order(axes)[static_cast<size_t>(attributes->axis)];
    return attributes;
  }

  bool is_identity(const OpView& op) const override { return op.op.results.size() == 1; }

  std::optional<std::vector<int64_t>> pieces(const OpView& op) const override { return pieces_of(parts_of(op)); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<SplitAttrs>();
    if (attrs.sizes.empty() || attrs.sizes.size() > kMostResults) {
      bad_attribute(op, diags, fmt::format("{} parts, expected 1 to {}", attrs.sizes.size(), kMostResults));
      return kFailure;
    }
    if (!check_counts(op, 1, 1, attrs.sizes.size(), diags)) return kFailure;
    const graph::Shape& in = op.operand(0).shape;
    size_t axis = 0;
    if (attrs.axis < 0 || !normalize_axis(op, attrs.axis, in.size(), axis, diags)) {
      if (attrs.axis < 0) bad_attribute(op, diags, fmt::format("axis {} is negative", attrs.axis));
      return kFailure;
    }
    std::vector<graph::Shape> shapes;
    int64_t left = in[axis];
    for (int64_t size : attrs.sizes) {
      if (size < 0 || size > left) break;
      left -= size;
      shapes.push_back(in);
      shapes.back()[axis] = size;
    }
    if (shapes.size() != attrs.sizes.size() || left != 0) {
      bad_attribute(op, diags,
                    fmt::format("parts {} do not add up to the {} of dimension {}",
                                graph::attribute_text::print(attrs.sizes), in[axis], axis));
      return kFailure;
    }
    return shapes;
  }
};

}  // namespace

void add_operators_split(OperatorSet& set) { set.add(std::make_unique<Split>()); }

}  // namespace aotc::ops
