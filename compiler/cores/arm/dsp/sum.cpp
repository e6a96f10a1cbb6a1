// SPDX-License-Identifier: Apache-2.0
// add and sub of int8: the lowering, the meaning of the kernel and its assembly.
#include "cores/arm/dsp/sum.h"
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

bool is_plain_sum(const OpView& op, const TargetInfo&) {
  const bool number = op.result().elements() == 1 && (op.constant(0) || op.constant(1));
  return op.operand(0).dtype == DType::kI8 && op.operand(0).shape == op.operand(1).shape && !number;
}

std::optional<Lowered> DspSumLowering::run_kernel(const AffineForm& form) {
  const int64_t elements = op_.result().elements();
  if (!saturates() || elements == 0 || elements % DspSum::kUnroll != 0) return std::nullopt;
  tir::BufferPtr a = f_.operand(0), b = f_.operand(1);
  const Turns turns = turns_of(elements, DspSum::kInstructions, target_, DspSum::kUnroll);
  const TurnTables tables(f_, turns, "table", [&](int64_t count) { return dsp_sum_table(form, count); });
  tir::BufferPtr result = f_.result();
  f_.take_turns(turns, [&](const tir::Ex& at, int64_t count) {
    f_.run(dsp_sum_kernel(form.shift),
           {address(a, at), address(b, at), address(result, at), address(tables.of(count), 0)});
  });
  publish_in_place(f_, op_);
  return f_.finish("weighted sum, saturated by the shift, proven equal for all pairs");
}

std::optional<Lowered> lower_sum_dsp(const OpView& op, const TargetInfo& target) {
  return DspSumLowering(op, target).run();
}

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

// r0 a, r1 b, r2 out, r3 table.
Implementation dsp_sum(const tir::Kernel& kernel) {
  int shift = parameter(kernel, "shift");
  Thumb a;
  Label more = a.label();
  a.enter(0);
  a.ldrd(r4, r5, r3, DspSum::kElements * 4);  // and the weight of a
  a.ldrd(r6, r7, r3, DspSum::kWeightB * 4);   // and the offset
  a.add(r4, r4, r2);
  a.bind(more);
  a.repeat(DspSum::kUnroll, [&] {
    a.ldrsb_after(r8, r0, 1);
    a.ldrsb_after(r9, r1, 1);
    a.mla(r8, r8, r5, r7);
    a.mla(r8, r9, r6, r8);
    a.ssat(r8, 8, r8, shift);
    a.strb_after(r8, r2, 1);
  });
  a.cmp(r2, r4);
  a.b("ne", more);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
