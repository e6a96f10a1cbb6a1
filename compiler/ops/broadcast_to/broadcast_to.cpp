// SPDX-License-Identifier: Apache-2.0
// broadcast_to: a tensor repeated to a larger shape; broadcast_args: the shape that two shapes have
// in common.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/broadcast.h"
#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"
#include "ops/common/movement.h"

namespace aotc::ops {

namespace {

class BroadcastTo final : public ConstantsOnly {
 public:
  std::string_view name() const override { return "broadcast_to"; }
  std::string_view summary() const override { return "a tensor repeated to a larger shape"; }
  std::vector<TypeSupport> types() const override {
    return constants_only(
        {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kBool});
  }
  std::vector<int> tflite_builtins() const override { return {130}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape, common;
    if (!check_counts(op, 2, 2, 1, diags) || !check_rank(op, 1, 1, 1, diags) ||
        !constant_shape(op, 1, "dimensions", shape, diags))
      return kFailure;
    if (broadcast_shapes(op.operand(0).shape, shape, common) && common == shape)
      return std::vector<graph::Shape>{shape};
    bad_shape(op, diags,
              fmt::format("shape {} does not broadcast to {}",
                          graph::to_string(op.operand(0).shape), graph::to_string(shape)));
    return kFailure;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {0};
    return check_moves(op, moved, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    Movement move;
    move.extents = op.result().shape;
    move.to_strides = strides_of(move.extents);
    const graph::Shape& from = op.operand(0).shape;
    std::vector<int64_t> strides = strides_of(from);
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] == 1) strides[i] = 0;
    move.from_strides.assign(move.extents.size() - from.size(), 0);
    move.from_strides.insert(move.from_strides.end(), strides.begin(), strides.end());
    run_movement(move, data.operands[0], data.results[0], size_of(op.result().dtype));
  }
};

class BroadcastArgs final : public ConstantsOnly {
 public:
  std::string_view name() const override { return "broadcast_args"; }
  std::string_view summary() const override { return "the shape that two shapes broadcast to"; }
  std::vector<TypeSupport> types() const override {
    return constants_only({DType::kI32, DType::kI64});
  }
  std::vector<int> tflite_builtins() const override { return {145}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 2, 2, 1, diags) || !check_rank(op, 0, 1, 1, diags) ||
        !check_rank(op, 1, 1, 1, diags))
      return kFailure;
    return std::vector<graph::Shape>{{std::max(op.operand(0).shape[0], op.operand(1).shape[0])}};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    bool good = check_type(op, 0, {DType::kI32, DType::kI64}, diags) &&
                check_type(op, 1, {op.operand(0).dtype}, diags) &&
                check_result_type(op, 0, op.operand(0).dtype, diags);
    if (!good) return kFailure;
    if (op.constant(0) == nullptr || op.constant(1) == nullptr) return success();
    graph::Shape common;
    if (common_shape(op, op.constant(0)->bytes, op.constant(1)->bytes, common)) return success();
    bad_shape(op, diags, "its operands are shapes that do not broadcast");
    return kFailure;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    graph::Shape common;
    if (!common_shape(op, data.operands[0], data.operands[1], common)) return;
    narrow(op.result().dtype, common, data.results[0]);
  }

 private:
  static bool common_shape(const OpView& op, std::span<const uint8_t> a, std::span<const uint8_t> b,
                           graph::Shape& out) {
    return broadcast_shapes(widen(op.operand(0).dtype, a), widen(op.operand(1).dtype, b), out);
  }
};

}  // namespace

void add_operators_broadcast_to(OperatorSet& set) {
  set.add(std::make_unique<BroadcastTo>());
  set.add(std::make_unique<BroadcastArgs>());
}

}  // namespace aotc::ops
