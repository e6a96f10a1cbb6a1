// SPDX-License-Identifier: Apache-2.0
// add and sub of int8 by the vector kernel for weighted sums (elementwise.h), else by that of the DSP extension.
#include "target/arm/dsp/add.h"
#include "target/arm/helium/elementwise.h"
#include "target/arm/helium/lowerings.h"

namespace aotc::target::arm {

namespace {

class VectorSumLowering final : public DspSumLowering {
 public:
  using DspSumLowering::DspSumLowering;

 private:
  std::optional<Lowered> run_kernel(const AffineForm& form) override {
    if (!saturates() || !mve_sum_fits(form)) return DspSumLowering::run_kernel(form);
    tir::BufferPtr a = f_.operand(0), b = f_.operand(1);
    tir::BufferPtr parameters =
        f_.constant("parameters", DType::kI32, mve_sum_table(form, op_.result().elements()));
    tir::BufferPtr result = f_.result();
    f_.run(mve_sum_kernel(form.shift),
           {address(a, 0), address(b, 0), address(result, 0), address(parameters, 0)});
    publish_in_place(f_, op_);
    return f_.finish("weighted sum in vectors, proven equal for all pairs");
  }
};

}  // namespace

std::optional<Lowered> lower_sum_mve(const OpView& op, const TargetInfo&) { return VectorSumLowering(op).run(); }

}  // namespace aotc::target::arm
