// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/elementwise.h"

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

std::vector<int32_t> dsp_sum_table(const AffineForm& form, int64_t elements) {
  std::vector<int32_t> out(DspSum::kTableWords);
  out[DspSum::kElements] = static_cast<int32_t>(elements);
  out[DspSum::kWeightA] = form.weight[0];
  out[DspSum::kWeightB] = form.weight[1];
  out[DspSum::kOffset] = form.offset;
  return out;
}

tir::KernelPtr dsp_sum_kernel(int shift) {
  tir::FunctionBuilder f("dsp_sum");
  BufferPtr a = f.input("a", DType::kI8, 0);
  BufferPtr b = f.input("b", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  Ex weight_a = f.let("weight_a", load(table, DspSum::kWeightA));
  Ex weight_b = f.let("weight_b", load(table, DspSum::kWeightB));
  Ex offset = f.let("offset", load(table, DspSum::kOffset));
  f.loop("i", 0, load(table, DspSum::kElements), [&](Ex i) {
    Ex sum = f.let("sum", load(a, i) * weight_a + offset + load(b, i) * weight_b);
    f.store(out, i, clamp(f.let("v", sum >> shift), -128, 127));
  });
  return f.finish_kernel("dsp_sum", {{"shift", shift}});
}

}  // namespace aotc::cores::arm
