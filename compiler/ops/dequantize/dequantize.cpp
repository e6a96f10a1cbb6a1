// SPDX-License-Identifier: Apache-2.0
// dequantize: a quantised type to float32.
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/quantization.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

using tir::Ex;

constexpr std::string_view kPerChannelToo = "to float32; per channel too";

class Dequantize final : public SpecifiedOperator {
 public:
  Dequantize()
      : SpecifiedOperator({.name = "dequantize",
                           .summary = "a quantised type to float32",
                           .operands = {{.name = "x",
                                         .types = {{DType::kI8, kPerChannelToo},
                                                   {DType::kU8, kPerChannelToo},
                                                   {DType::kI16, kPerChannelToo}}}},
                           .results = {{.name = "y", .types = {DType::kF32}}},
                           .uint8 = Uint8::kEither,
                           .traits = {.elementwise = true, .conversion = true}}) {}

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

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_slices(op, op.operand_tensor(0), diags);
  }
};

}  // namespace

void add_operators_dequantize(OperatorSet& set) { set.add(std::make_unique<Dequantize>()); }

}  // namespace aotc::ops
