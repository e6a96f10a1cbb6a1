// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/elementwise.h"

#include <cstdlib>

#include "cores/arm/helium/gemm.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

bool mve_sum_fits(const AffineForm& form) {
  if (form.shift < 1 || form.shift > kMostMveShift) return false;
  int64_t swing = 128 * (std::abs(int64_t{form.weight[0]}) + std::abs(int64_t{form.weight[1]}));
  return swing + std::abs(form.offset - mve_rounding(form.shift)) <= INT32_MAX;
}

std::vector<int32_t> mve_sum_table(const AffineForm& form, int64_t elements) {
  std::vector<int32_t> out(MveSum::kTableWords);
  out[MveSum::kElements] = static_cast<int32_t>(elements);
  out[MveSum::kWeightA] = form.weight[0];
  out[MveSum::kWeightB] = form.weight[1];
  out[MveSum::kOffset] = static_cast<int32_t>(form.offset - mve_rounding(form.shift));
  return out;
}

KernelPtr mve_sum_kernel(int shift) {
  FunctionBuilder f("mve_sum");
  BufferPtr a = f.input("a", DType::kI8, 0);
  BufferPtr b = f.input("b", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  Ex weight_a = f.let("weight_a", load(table, MveSum::kWeightA));
  Ex weight_b = f.let("weight_b", load(table, MveSum::kWeightB));
  Ex offset = f.let("offset", load(table, MveSum::kOffset));
  f.loop("i", 0, load(table, MveSum::kElements), [&](Ex i) {
    Ex sum = f.let("sum", load(a, i) * weight_a + offset + load(b, i) * weight_b);
    f.store(out, i, clamp(f.let("v", (sum + mve_rounding(shift)) >> shift), -128, 127));
  });
  return f.finish_kernel("mve_sum", {{"shift", shift}});
}

}  // namespace aotc::cores::arm
