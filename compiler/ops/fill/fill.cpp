// SPDX-License-Identifier: Apache-2.0
// fill and zeros_like: tensors of one value.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"

namespace aotc::ops {

namespace {

class Fill final : public Operator {
 public:
  std::string_view name() const override { return "fill"; }
  std::string_view summary() const override { return "a tensor of one value"; }
  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, ""},  {DType::kF32, ""}, {DType::kI16, ""},
            {DType::kI32, ""}, {DType::kI64, ""}, {DType::kBool, ""}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape;
    if (!check_counts(op, 2, 2, 1, diags) || !check_rank(op, 0, 1, 1, diags) ||
        !constant_shape(op, 0, "dimensions", shape, diags))
      return kFailure;
    return std::vector<graph::Shape>{shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    bool good =
        check_rank(op, 1, 0, 0, diags) &&
        check_type(op, 1, {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kBool}, diags) &&
        check_result_type(op, 0, op.operand(1).dtype, diags) && check_same_quantization(op, 1, 0, diags);
    return good ? success() : Status(kFailure);
  }

  void evaluate(const OpView&, const EvalData& data) const override {
    std::span<const uint8_t> value = data.operands[1];
    std::span<uint8_t> out = data.results[0];
    for (size_t at = 0; at < out.size(); at += value.size())
      std::copy(value.begin(), value.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // The dimensions are constant; the value need not be.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "fill");
    tir::BufferPtr in = f.operand(1), out = f.result();
    tir::Ex value = f.let("value", load(in, 0));
    f.loop("i", 0, out->elements, [&](tir::Ex i) { f.store(out, i, value); });
    return f.finish("flat loop");
  }
};

class ZerosLike final : public Operator {
 public:
  std::string_view name() const override { return "zeros_like"; }
  std::string_view summary() const override { return "zeros in the shape of a tensor"; }
  std::vector<TypeSupport> types() const override { return {{DType::kF32, ""}, {DType::kI32, ""}, {DType::kI64, ""}}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }
  Traits traits() const override { return {.reads_shapes_only = true}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    bool good = check_type(op, 0, {DType::kF32, DType::kI32, DType::kI64}, diags) &&
                check_result_type(op, 0, op.operand(0).dtype, diags);
    return good ? success() : Status(kFailure);
  }

  void evaluate(const OpView&, const EvalData& data) const override {
    std::fill(data.results[0].begin(), data.results[0].end(), uint8_t{0});
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "zeros_like");
    tir::BufferPtr out = f.result();
    f.fill_bytes(out, 0, 0, out->elements);
    return f.finish("fill");
  }
};

}  // namespace

void add_operators_fill(OperatorSet& set) {
  set.add(std::make_unique<Fill>());
  set.add(std::make_unique<ZerosLike>());
}

}  // namespace aotc::ops
