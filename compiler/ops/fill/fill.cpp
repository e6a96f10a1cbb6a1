// SPDX-License-Identifier: Apache-2.0
// fill and zeros_like: tensors of one value.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"

namespace aotc::ops {

namespace {

class Fill final : public SpecifiedOperator {
 public:
  Fill()
      : SpecifiedOperator(
            {.name = "fill",
             .summary = "a tensor of one value",
             .operands = {{.name = "dimensions", .ranks = {1, 1}},
                          {.name = "value",
                           .types = {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kBool},
                           .ranks = {0, 0}}},
             .results = {{.name = "y", .type_of = 1}},
             .principal = 1,
             .shapes = Shapes::kOwn,
             .quantized = Quantized::kCopied}) {}

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

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape;
    if (!constant_shape(op, 0, "dimensions", shape, diags)) return kFailure;
    return std::vector<graph::Shape>{shape};
  }
};

class ZerosLike final : public SpecifiedOperator {
 public:
  ZerosLike()
      : SpecifiedOperator({.name = "zeros_like",
                           .summary = "zeros in the shape of a tensor",
                           .operands = {{.name = "x", .types = {DType::kF32, DType::kI32, DType::kI64}}},
                           .results = {{.name = "y"}},
                           .traits = {.reads_shapes_only = true}}) {}

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
