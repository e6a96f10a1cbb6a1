// SPDX-License-Identifier: Apache-2.0
// gather: slices of a tensor along an axis, in the order that a list of indices gives. Leading
// dimensions may be a batch, in which each slice of the operand has indices of its own.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"
#include "ops/common/movement.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

struct GatherAttrs : graph::Attributes<GatherAttrs> {
  int32_t axis = 0;
  int32_t batch_dims = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("batch_dims", self.batch_dims);
  }
};

int64_t product(const graph::Shape& shape, size_t from, size_t to) {
  int64_t out = 1;
  for (size_t i = from; i < to; ++i) out *= shape[i];
  return out;
}

class Gather final : public ConstantsOnly {
 public:
  std::string_view name() const override { return "gather"; }
  std::string_view summary() const override { return "slices along an axis, by their indices"; }
  std::vector<TypeSupport> types() const override {
    return constants_only(
        {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kBool});
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<GatherAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {36}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    size_t axis = 0, batch = 0;
    if (!check_counts(op, 2, 2, 1, diags) || !positions(op, axis, batch, diags)) return kFailure;
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& indices = op.operand(1).shape;
    auto at = [](const graph::Shape& s, size_t i) {
      return s.begin() + static_cast<std::ptrdiff_t>(i);
    };
    graph::Shape shape(in.begin(), at(in, axis));
    shape.insert(shape.end(), at(indices, batch), indices.end());
    shape.insert(shape.end(), at(in, axis + 1), in.end());
    return std::vector<graph::Shape>{shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {0};
    if (!check_moves(op, moved, diags) || !check_type(op, 1, {DType::kI32, DType::kI64}, diags))
      return kFailure;
    if (op.constant(1) == nullptr) return success();
    int64_t size = op.operand(0).shape[static_cast<size_t>(op.attrs<GatherAttrs>().axis)];
    for (int64_t index : widen(op.operand(1).dtype, op.constant(1)->bytes)) {
      if (index >= 0 && index < size) continue;
      bad_attribute(op, diags, fmt::format("index {} of a dimension of {}", index, size));
      return kFailure;
    }
    return success();
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    const graph::Shape& in = op.operand(0).shape;
    auto axis = static_cast<size_t>(op.attrs<GatherAttrs>().axis);
    auto batch = static_cast<size_t>(op.attrs<GatherAttrs>().batch_dims);
    std::vector<int64_t> indices = widen(op.operand(1).dtype, data.operands[1]);
    int64_t batches = product(in, 0, batch), outer = product(in, batch, axis);
    int64_t inner = product(in, axis + 1, in.size()) * size_of(op.operand(0).dtype);
    int64_t each = batches == 0 ? 0 : static_cast<int64_t>(indices.size()) / batches;
    auto to = data.results[0].begin();
    for (int64_t row = 0; row < batches * outer; ++row) {
      for (int64_t i = 0; i < each; ++i) {
        int64_t index = indices[static_cast<size_t>(row / outer * each + i)];
        auto from = data.operands[0].begin() + (row * in[axis] + index) * inner;
        to = std::copy(from, from + inner, to);
      }
    }
  }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    auto attrs = std::make_shared<GatherAttrs>();
    op.attributes = attrs;
    OpView view{from.graph(), op};
    const auto* options = from.options<tflite_schema::GatherOptions>();
    if (options == nullptr || !check_counts(view, 2, 2, 1, diags))
      return options == nullptr ? success() : Status(kFailure);
    size_t rank = view.operand(0).shape.size(), axis = 0;
    int64_t batch = options->batch_dims();
    if (batch < 0) batch += static_cast<int64_t>(view.operand(1).shape.size());
    if (!normalize_axis(view, options->axis(), rank, axis, diags)) return kFailure;
    if (batch < 0 || batch > static_cast<int64_t>(axis)) {
      bad_attribute(view, diags,
                    fmt::format("{} batch dimensions before axis {}", options->batch_dims(), axis));
      return kFailure;
    }
    attrs->axis = static_cast<int32_t>(axis);
    attrs->batch_dims = static_cast<int32_t>(batch);
    return success();
  }

 private:
  static bool positions(const OpView& op, size_t& axis, size_t& batch, Diagnostics& diags) {
    const auto& attrs = op.attrs<GatherAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& indices = op.operand(1).shape;
    auto within = [](int32_t value, size_t most) {
      return value >= 0 && static_cast<size_t>(value) <= most;
    };
    bool good = attrs.axis >= 0 && static_cast<size_t>(attrs.axis) < in.size() &&
                within(attrs.batch_dims, static_cast<size_t>(attrs.axis)) &&
                within(attrs.batch_dims, indices.size());
    if (!good)
      return bad_attribute(
          op, diags,
          fmt::format("axis {} and {} batch dimensions of shapes {} and {}", attrs.axis,
                      attrs.batch_dims, graph::to_string(in), graph::to_string(indices)));
    axis = static_cast<size_t>(attrs.axis);
    batch = static_cast<size_t>(attrs.batch_dims);
    for (size_t i = 0; i < batch; ++i)
      if (in[i] != indices[i])
        return bad_shape(op, diags,
                         fmt::format("shapes {} and {} differ in batch dimension {}",
                                     graph::to_string(in), graph::to_string(indices), i));
    return true;
  }
};

}  // namespace

void add_operators_gather(OperatorSet& set) { set.add(std::make_unique<Gather>()); }

}  // namespace aotc::ops
