// SPDX-License-Identifier: Apache-2.0
// Thumb-1 has eight registers for arithmetic, multiplies into one of its operands and gives the low word only. A weight
// is loaded as an unsigned byte, which alone takes an offset: it is 128 too large, and the sums begin with
// -128 times the sum of the panel, in the same lanes. The high word of a product is made of four products of halves.
#include <string>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/triples.h"
#include "ops/common/triple_kernel.h"

namespace aotc::cores::arm {

namespace {

using ops::TripleKernel;

// Instructions of 16 bits: those that compute set the flags.
class Thumb1 : public Thumb {
 public:
  void adds(Reg d, Reg m) { three("adds", d, m); }
  void adds(Reg d, Reg n, Reg m) { emit("adds", {name(d), name(n), name(m)}); }
  void adds(Reg d, int imm) { emit("adds", {name(d), name(d), imm_text(imm)}); }
  void subs(Reg d, Reg m) { emit("subs", {name(d), name(d), name(m)}); }
  void subs(Reg d, int imm) { emit("subs", {name(d), name(d), imm_text(imm)}); }
  // Registers above r7 as well.
  void add_any(Reg d, Reg m) { emit("add", {name(d), name(d), name(m)}); }
  void movs(Reg d, int imm) { emit("movs", {name(d), imm_text(imm)}); }
  void muls(Reg d, Reg m) { three("muls", d, m); }
  void negs(Reg d, Reg m) { emit("rsbs", {name(d), name(m), imm_text(0)}); }
  void lsls(Reg d, Reg m, int by) { emit("lsls", {name(d), name(m), imm_text(by)}); }
  void lsrs(Reg d, Reg m, int by) { emit("lsrs", {name(d), name(m), imm_text(by)}); }
  void ands(Reg d, Reg m) { emit("ands", {name(d), name(d), name(m)}); }
  void eors(Reg d, Reg m) { emit("eors", {name(d), name(d), name(m)}); }
  void sxtb(Reg d, Reg m) { three("sxtb", d, m); }

  // Pushes r4 to r11 and lr below `locals` bytes, together a multiple of 8.
  void enter_all(int locals) {
    lines_.insert(lines_.begin(), ".syntax unified");  // gcc writes statements of Thumb-1 in the other one
    emit("push", {"{r4-r7, lr}"});
    unwind(".cfi_remember_state; .cfi_def_cfa_register sp; .cfi_adjust_cfa_offset 20");
    unwind(".cfi_rel_offset r4, 0; .cfi_rel_offset r5, 4; .cfi_rel_offset r6, 8");
    unwind(".cfi_rel_offset r7, 12; .cfi_rel_offset lr, 16");
    for (int high = 8; high < 12; ++high) mov(Reg{high - 4}, Reg{high});
    emit("push", {"{r4-r7}"});
    unwind(".cfi_adjust_cfa_offset 16");
    unwind(".cfi_rel_offset r8, 0; .cfi_rel_offset r9, 4; .cfi_rel_offset r10, 8; .cfi_rel_offset r11, 12");
    local_bytes_ = locals + (8 - (kSaved + locals) % 8) % 8;
    sub(sp, sp, local_bytes_);
    unwind(".cfi_adjust_cfa_offset " + std::to_string(local_bytes_));
  }

  void leave_all() {
    add(sp, sp, local_bytes_);
    unwind(".cfi_adjust_cfa_offset -" + std::to_string(local_bytes_));
    emit("pop", {"{r4-r7}"});
    unwind(".cfi_adjust_cfa_offset -16");
    for (int high = 8; high < 12; ++high) mov(Reg{high}, Reg{high - 4});
    // No instruction of this core takes lr off the stack but as a return.
    ldr(r0, sp, 16);
    mov(lr, r0);
    emit("pop", {"{r4-r7}"});
    add(sp, sp, 4);
    unwind(".cfi_restore_state");
  }

  Implementation finish() {
    Implementation out = Thumb::finish("defined(__thumb__) && defined(__ARMEL__)");
    out.stack_bytes = kSaved + local_bytes_;
    return out;
  }

 private:
  static constexpr int kSaved = 9 * 4;
  int local_bytes_ = 0;
};

class TripleWriter1 {
 public:
  explicit TripleWriter1(const tir::Kernel& kernel)
      : unroll_(parameter(kernel, "unroll")),
        shift_(parameter(kernel, "shift")),
        sign_(parameter(kernel, "sign") != 0) {}

  // r0 stream, r1 panel, r2 out, r3 shape.
  Implementation run() {
    a_.enter_all(kFrame);
    begin();
    Label channel = a_.label();
    a_.bind(channel);
    sums();
    split();
    outputs();
    // Far from where it goes to: conditional branches reach 256 bytes.
    Label done = a_.label();
    a_.ldr(r1, sp, kGroups);
    a_.subs(r1, 1);
    a_.str(r1, sp, kGroups);
    a_.b("eq", done);
    a_.b(channel);
    a_.bind(done);
    a_.leave_all();
    return a_.finish();
  }

 private:
  static constexpr int kPanel = 0, kStartA = 4, kStartB = 8, kGroups = 12, kSign = 16, kMask = 20, kFrame = 24;
  static constexpr int kPixels = 3, kLane = ops::TripleGemm::kLane, kRest = ops::TripleGemm::kRest;
  static constexpr int kLeft = TripleKernel::kLeft;
  static constexpr Reg kEnd = r8, kPixel1 = r9, kPixel2 = r10, kOffset = r11, kOut = r12, kStride = lr;

  // What all channels share; and what sums begin with, by one turn over the panel.
  void begin() {
    a_.str(r1, sp, kPanel);
    a_.mov(kOut, r2);
    a_.ldr(r4, r3, 4 * TripleKernel::kGroups);
    a_.str(r4, sp, kGroups);
    a_.ldr(r4, r3, 4 * TripleKernel::kStride);
    a_.mov(kStride, r4);
    a_.ldr(r4, r3, 4 * TripleKernel::kPanelBytes);
    a_.adds(r4, r4, r1);
    a_.mov(kEnd, r4);
    a_.movs(r2, 0);
    a_.movs(r3, 0);
    Label turn = a_.label();
    a_.bind(turn);
    a_.ldm_after(r1, {r4, r5, r6, r7});
    a_.adds(r2, r4);
    a_.adds(r3, r5);
    a_.adds(r2, r6);
    a_.adds(r3, r7);
    a_.cmp(r1, kEnd);
    a_.b("ne", turn);
    a_.lsls(r2, r2, 7);
    a_.lsls(r3, r3, 7);
    a_.negs(r2, r2);
    a_.negs(r3, r3);
    a_.str(r2, sp, kStartA);
    a_.str(r3, sp, kStartB);
  }

  // r2 and r3: both words of the channel.
  void sums() {
    a_.ldr(r1, sp, kPanel);
    a_.ldr(r2, sp, kStartA);
    a_.ldr(r3, sp, kStartB);
    Label turn = a_.label();
    a_.bind(turn);
    for (int u = 0; u < unroll_; ++u) {
      a_.ldm_after(r1, {r4, r5});
      a_.ldrb(r6, r0, u);
      a_.muls(r4, r6);
      a_.muls(r5, r6);
      a_.adds(r2, r4);
      a_.adds(r3, r5);
    }
    a_.adds(r0, unroll_);
    a_.cmp(r1, kEnd);
    a_.b("ne", turn);
  }

  // r4, r5, r6: the three sums shifted left.
  void split() {
    a_.lsls(r4, r2, kRest);
    a_.asrs(r4, r4, kRest - kLeft);
    a_.asrs(r5, r4, kLeft);
    a_.subs(r2, r5);
    a_.asrs(r5, r2, kRest);
    a_.subs(r3, r5);
    a_.lsls(r6, r3, kRest);
    a_.asrs(r6, r6, kRest - kLeft);
    a_.asrs(r5, r6, kLeft);
    a_.subs(r3, r5);
    a_.asrs(r2, r2, kLane - kLeft);
    a_.asrs(r3, r3, kLane - kRest - kLeft);
    a_.adds(r5, r2, r3);
  }

  void outputs() {
    a_.ldm_after(r0, {r1, r2, r3});
    a_.adds(r4, r1);
    a_.adds(r5, r1);
    a_.adds(r6, r1);
    a_.mov(kPixel1, r5);
    a_.mov(kPixel2, r6);
    a_.mov(kOffset, r3);
    if (sign_) {
      a_.ldm_after(r0, {r3});
      a_.str(r3, sp, kSign);
    }
    a_.uxth(r1, r2);
    a_.asrs(r2, r2, 16);
    a_.mov(r6, kOut);
    requantize_one();
    a_.add_any(r6, kStride);
    a_.mov(r4, kPixel1);
    requantize_one();
    a_.add_any(r6, kStride);
    a_.mov(r4, kPixel2);
    requantize_one();
    a_.movs(r3, 1);
    a_.add_any(kOut, r3);
  }

  // r4 by the multiplier's halves in r1 and r2, to r6; changes r3, r5 and r7.
  void requantize_one() {
    if (sign_) {
      a_.asrs(r3, r4, 31);
      a_.ldr(r5, sp, kSign);
      a_.ands(r3, r5);
      a_.str(r3, sp, kMask);
    }
    a_.uxth(r7, r4);
    a_.asrs(r4, r4, 16);
    a_.mov(r3, r7);
    a_.muls(r3, r1);
    a_.lsrs(r3, r3, 16);
    a_.muls(r7, r2);
    a_.mov(r5, r4);
    a_.muls(r5, r1);
    a_.muls(r4, r2);
    a_.adds(r5, r3);
    a_.asrs(r3, r5, 16);
    a_.adds(r4, r3);
    a_.uxth(r5, r5);
    a_.adds(r5, r7);
    a_.asrs(r5, r5, 16);
    a_.adds(r4, r5);
    a_.add_any(r4, kOffset);
    if (sign_) {
      a_.ldr(r3, sp, kMask);
      a_.subs(r4, r3);
    }
    a_.asrs(r4, r4, shift_);
    a_.sxtb(r5, r4);
    Label in_range = a_.label();
    a_.cmp(r5, r4);
    a_.b_at_most("eq", in_range, 1);
    a_.asrs(r4, r4, 31);
    a_.movs(r5, 127);
    a_.eors(r5, r4);
    a_.bind(in_range);
    a_.strb(r5, r6);
  }

  Thumb1 a_;
  int unroll_, shift_;
  bool sign_;
};

}  // namespace

Implementation triples_thumb1(const tir::Kernel& kernel) { return TripleWriter1(kernel).run(); }

}  // namespace aotc::cores::arm
