// SPDX-License-Identifier: Apache-2.0
// dequantize: a quantised type to float32.
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/quantization.h"

namespace aotc::ops {

namespace {

using tir::Ex;

class Dequantize final : public UnaryElementwise {
 public:
  std::string_view name() const override { return "dequantize"; }
  std::string_view summary() const override { return "a quantised type to float32"; }
  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, "to float32; per channel too"},
            {DType::kU8, "to float32; per channel too"},
            {DType::kI16, "to float32; per channel too"}};
  }
  Traits traits() const override { return {.elementwise = true, .conversion = true}; }
  Uint8 uint8_form(const OpView&) const override { return Uint8::kEither; }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_type(op, 0, {DType::kI8, DType::kU8, DType::kI16}, diags) ||
        !check_result_type(op, 0, DType::kF32, diags) || !check_slices(op, op.operand_tensor(0), diags) ||
        !check_symmetric_io(op, diags))
      return kFailure;
    return success();
  }

  // The difference has at most 17 bits, so the product is rounded once, as the reference's is.
  void evaluate(const OpView& op, const EvalData& data) const override {
    std::vector<int64_t> in = widen(op.operand(0).dtype, data.operands[0]);
    auto out = data.out<float>();
    Slices slices(op.operand(0));
    for (size_t i = 0; i < in.size(); ++i) {
      size_t c = slices.channel_of(i);
      out[i] = slices.scale(c) * static_cast<float>(in[i] - slices.zero_point(c));
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    Slices slices(op.operand(0));
    LoweringBuilder f(op, "dequantize");
    tir::BufferPtr in = f.operand(0);
    SliceTables tables(f, slices);
    tir::BufferPtr out = f.result();
    tables.for_each(f, [&](const Ex& i, const Ex& scale, const Ex& zero) {
      f.store(out, i, scale * cast(DType::kF32, load(in, i) - zero));
    });
    return f.finish(slices.count() > 1 ? "per channel" : "flat loop");
  }
};

}  // namespace

void add_operators_dequantize(OperatorSet& set) { set.add(std::make_unique<Dequantize>()); }

}  // namespace aotc::ops
