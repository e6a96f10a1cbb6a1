// SPDX-License-Identifier: Apache-2.0
// A byte_table that clamps int8, sixteen bytes at a time: the lowering, the meaning of the kernel and its assembly.
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Kernel arguments: x, out, number of bytes, at least one. Both may begin at the same byte.
tir::KernelPtr mve_clamp_kernel(ops::ClampI32 range) {
  tir::FunctionBuilder f("mve_clamp");
  const BufferPtr x = f.input("x", DType::kI8, 0), out = f.output("out", DType::kI8, 0);
  const Ex bytes = f.scalar("bytes");
  f.loop("i", 0, bytes, [&](const Ex& i) { f.store(out, i, clamp(load(x, i), range.min, range.max)); });
  return f.finish_kernel("mve_clamp", {{"least", range.min}, {"most", range.max}});
}

}  // namespace

std::optional<Lowered> lower_byte_clamp_mve(const OpView& op, const TargetInfo& target) {
  constexpr int64_t kBlock = 16;
  constexpr double kInstructions = 6.0 / kBlock;  // of a byte
  const auto range = clamp_of_table(op);
  if (!range || op.result().elements() == 0) return std::nullopt;
  LoweringBuilder f(op, "byte_table");
  const BufferPtr in = f.operand(0), out = f.result();
  f.take_turns(turns_of(op.result().elements(), kInstructions, target, kBlock), [&](const Ex& at, int64_t bytes) {
    f.run(mve_clamp_kernel(*range), {address(in, at), address(out, at), Ex(bytes)});
  });
  f.publish_in_place(0);
  return f.finish("clamp in vectors");
}

Implementation mve_clamp(const tir::Kernel& kernel) {
  Helium a;
  const Label block = a.label();
  a.note("On entry r0: x, r1: out, r2: bytes.");
  a.enter(0);
  a.mov(r3, parameter(kernel, "least"));
  a.vdup(8, q1, r3);
  a.mov(r3, parameter(kernel, "most"));
  a.vdup(8, q2, r3);
  a.dlstp(8, r2);
  a.bind(block);
  a.vldrb_after(8, q0, r0, 16);
  a.vmax(8, q0, q0, q1);
  a.vmin(8, q0, q0, q2);
  a.vstrb_after(8, q0, r1, 16);
  a.letp(block);
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
