// SPDX-License-Identifier: Apache-2.0
// add and sub of int8 by the vector kernel for weighted sums (elementwise.h), else by that of the DSP extension.
#include "cores/arm/dsp/add.h"
#include "cores/arm/helium/elementwise.h"
#include "cores/arm/helium/lowerings.h"

namespace aotc::cores::arm {

namespace {

class VectorSumLowering final : public DspSumLowering {
 public:
  using DspSumLowering::DspSumLowering;

 private:
  std::optional<Lowered> run_kernel(const AffineForm& form) override {
    if (!saturates() || !mve_sum_fits(form)) return DspSumLowering::run_kernel(form);
    tir::BufferPtr a = f_.operand(0), b = f_.operand(1);
    const Turns turns = turns_of(op_.result().elements(), MveSum::kInstructions, target_, MveSum::kGroup);
    const TurnTables tables(f_, turns, "parameters", [&](int64_t elements) { return mve_sum_table(form, elements); });
    tir::BufferPtr result = f_.result();
    f_.take_turns(turns, [&](const tir::Ex& at, int64_t elements) {
      f_.run(mve_sum_kernel(form.shift),
             {address(a, at), address(b, at), address(result, at), address(tables.of(elements), 0)});
    });
    publish_in_place(f_, op_);
    return f_.finish("weighted sum in vectors, proven equal for all pairs");
  }
};

}  // namespace

std::optional<Lowered> lower_sum_mve(const OpView& op, const TargetInfo& target) {
  return VectorSumLowering(op, target).run();
}

}  // namespace aotc::cores::arm
