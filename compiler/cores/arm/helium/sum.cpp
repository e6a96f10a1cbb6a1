// SPDX-License-Identifier: Apache-2.0
// add and sub of int8 by the vector kernel for weighted sums, else by that of the DSP extension: the lowering, the
// meaning of the kernel and its assembly.
#include <algorithm>
#include <cstdlib>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/sum.h"
#include "cores/arm/helium/gemm.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"
#include "cores/arm/helium/sum.h"

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

// r0 a, r1 b, r2 out, r3 table.
Implementation mve_sum(const tir::Kernel& kernel) {
  constexpr int kUnroll = 4;  // of vectors of four elements
  int shift = parameter(kernel, "shift");
  Helium a;
  Label whole = a.label(), rest = a.label(), few = a.label(), done = a.label();
  auto four = [&] {
    a.vldrb_after(32, q0, r0, 4);
    a.vldrb_after(32, q1, r1, 4);
    a.vmlas(32, q0, q2, r7);
    a.vmla(32, q0, q1, r6);
    a.narrow(32, q0, q0, std::min(shift, 16));
    a.narrow(16, q0, q0, std::max(shift - 16, 0));
    a.vstrb_after(32, q0, r2, 4);
  };
  a.enter(0);
  a.ldrd(r4, r5, r3, MveSum::kElements * 4);  // and a's weight
  a.ldrd(r6, r7, r3, MveSum::kWeightB * 4);   // and the offset
  a.vdup(32, q2, r5);
  a.lsr(r8, r4, 4);
  a.wls(r8, few);
  a.bind(whole);
  a.repeat(kUnroll, four);
  a.le(whole);
  a.bind(few);
  a.lsl(r4, r4, 28);
  a.lsr(r4, r4, 28);
  a.wlstp(32, r4, done);
  a.bind(rest);
  four();
  a.letp(rest);
  a.bind(done);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
