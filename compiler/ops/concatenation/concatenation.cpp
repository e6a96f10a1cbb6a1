// SPDX-License-Identifier: Apache-2.0
// concatenation: the operands one after the other along an axis. All have the result's
// quantisation, as LiteRT demands: nothing is requantised.
#include <fmt/format.h>

#include <numeric>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

struct ConcatenationAttrs : graph::Attributes<ConcatenationAttrs> {
  int32_t axis = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
  }
};

constexpr size_t kMostJoined = 1000;

Parts parts_of(const OpView& op) {
  auto axis = static_cast<size_t>(op.attrs<ConcatenationAttrs>().axis);
  Parts parts;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    AxisView v = view_at(op.operand(i).shape, axis);
    parts.outer = v.outer;
    parts.row_elements.push_back(v.axis * v.inner);
  }
  return parts;
}

class Concatenation final : public Operator {
 public:
  std::string_view name() const override { return "concatenation"; }
  std::string_view summary() const override { return "joins tensors along an axis"; }
  std::vector<TypeSupport> types() const override {
    std::vector<TypeSupport> types = movable_types();
    types[0].note = "operands and result have one scale and zero point";
    return types;
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ConcatenationAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {2}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    size_t count = op.operand_count();
    if (!check_counts(op, std::max<size_t>(count, 1), kMostJoined, 1, diags)) return kFailure;
    graph::Shape shape = op.operand(0).shape;
    int32_t value = op.attrs<ConcatenationAttrs>().axis;
    size_t axis = 0;
    if (value < 0) {
      bad_attribute(op, diags, fmt::format("axis {} is negative", value));
      return kFailure;
    }
    if (!normalize_axis(op, value, shape.size(), axis, diags)) return kFailure;
    for (size_t i = 1; i < count; ++i) {
      graph::Shape other = op.operand(i).shape;
      bool same_rank = other.size() == shape.size();
      int64_t length = same_rank ? other[axis] : 0;
      if (same_rank) other[axis] = shape[axis];
      if (other != shape) {
        bad_shape(op, diags,
                  fmt::format("operand {} of shape {} does not fit operand 0 of shape {} but along "
                              "axis {}",
                              i, graph::to_string(op.operand(i).shape),
                              graph::to_string(op.operand(0).shape), axis));
        return kFailure;
      }
      shape[axis] += length;
    }
    return std::vector<graph::Shape>{shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    std::vector<size_t> moved(op.operand_count());
    std::iota(moved.begin(), moved.end(), size_t{0});
    return check_moves(op, moved, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    join_parts(parts_of(op), data.operands, data.results[0], size_of(op.result().dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_join(op, parts_of(op));
  }

  bool is_identity(const OpView& op) const override { return op.operand_count() == 1; }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    auto attrs = std::make_shared<ConcatenationAttrs>();
    op.attributes = attrs;
    OpView view{from.graph(), op};
    if (!check_counts(view, 1, kMostJoined, 1, diags)) return kFailure;
    const auto* options = from.options<tflite_schema::ConcatenationOptions>();
    if (options == nullptr) return success();
    size_t axis = 0;
    if (options->fused_activation_function() != tflite_schema::ActivationFunctionType_NONE) {
      bad_attribute(view, diags, "a concatenation with a fused activation is not supported");
      return kFailure;
    }
    if (!normalize_axis(view, options->axis(), view.operand(0).shape.size(), axis, diags))
      return kFailure;
    attrs->axis = static_cast<int32_t>(axis);
    return success();
  }
};

}  // namespace

void add_operators_concatenation(OperatorSet& set) { set.add(std::make_unique<Concatenation>()); }

}  // namespace aotc::ops
