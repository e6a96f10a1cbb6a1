// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/plain_thumb.h"
#include "cores/arm/triples.h"
#include "ops/common/triple_kernel.h"

namespace aotc::cores::arm {

namespace {

using ops::TripleKernel;

class TripleWriter {
 public:
  explicit TripleWriter(const tir::Kernel& kernel)
      : unroll_(parameter(kernel, "unroll")),
        shift_(parameter(kernel, "shift")),
        many_(parameter(kernel, "many") != 0),
        sign_(parameter(kernel, "sign") != 0) {}

  // r0 stream, r1 panel, r2 out, r3 shape.
  Implementation run() {
    Label group = a_.label(), segment = a_.label();
    a_.enter(many_ ? kTotals + kChannels * kPixels * 4 : kSegments);
    a_.str(r1, sp, kPanel);
    a_.str(r2, sp, kOut);
    keep(TripleKernel::kGroups, kGroups);
    keep(TripleKernel::kStride, kStride);
    keep(TripleKernel::kPanelBytes, kPanelBytes);
    if (many_) keep(TripleKernel::kSegments, kSegments);
    a_.bind(group);
    a_.ldr(kX, sp, kPanel);
    if (many_) begin_totals();
    a_.bind(segment);
    sums();
    if (many_) {
      end_segment(segment);
      outputs_of_totals();
    } else {
      if (!sign_) a_.ldr(kTo, sp, kOut);
      for (int c = 0; c < kChannels; ++c) outputs(c);
      if (!sign_) a_.str(kTo, sp, kOut);
    }
    a_.ldr(r4, sp, kGroups);
    a_.subs(r4, r4, 1);
    a_.str(r4, sp, kGroups);
    a_.b("ne", group);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kChannels = 4, kPixels = 3, kLane = ops::TripleGemm::kLane, kRest = ops::TripleGemm::kRest;
  static constexpr int kPanel = 0, kOut = 4, kGroups = 8, kStride = 12, kPanelBytes = 16, kSegments = 20,
                       kSegmentsLeft = 24, kTotals = 28;
  static constexpr Reg kX = r1, kTo = r1, kXa = r2, kXb = r3, kWeight = r12, kEnd = lr;

  static Reg sum_a(int c) { return {4 + 2 * c}; }
  static Reg sum_b(int c) { return {5 + 2 * c}; }
  static int total(int c, int p) { return kTotals + (c * kPixels + p) * 4; }

  void keep(int word, int place) {
    a_.ldr(r4, r3, 4 * word);
    a_.str(r4, sp, place);
  }

  void begin_totals() {
    a_.ldr(r4, sp, kSegments);
    a_.str(r4, sp, kSegmentsLeft);
    a_.add(r12, sp, kTotals);
    for (Reg r : {r4, r5, r6, r7}) a_.mov(r, 0);
    for (int p = 0; p < kPixels; ++p) a_.stm_after(r12, {r4, r5, r6, r7});
  }

  void sums() {
    Label turn = a_.label();
    a_.ldr(kEnd, sp, kPanelBytes);
    a_.add(kEnd, kX, kEnd);
    for (int c = 0; c < kChannels; ++c) {
      a_.mov(sum_a(c), 0);
      a_.mov(sum_b(c), 0);
    }
    a_.bind(turn);
    a_.repeat(unroll_, [&] {
      a_.ldm_after(kX, {kXa, kXb});
      for (int c = 0; c < kChannels; ++c) {
        a_.ldrsb_after(kWeight, r0, 1);
        a_.mla(sum_a(c), kXa, kWeight, sum_a(c));
        a_.mla(sum_b(c), kXb, kWeight, sum_b(c));
      }
    });
    a_.cmp(kX, kEnd);
    a_.b("ne", turn);
  }

  // The sums of channel c: pixel 0 in lr, 1 in its own second register, 2 in r2.
  void split(int c) {
    const Reg a = sum_a(c), b = sum_b(c);
    a_.sbfx(lr, a, kLane);
    a_.sub(a, a, lr);
    a_.sub_asr(b, b, a, kRest);
    a_.sbfx(r2, b, kLane);
    a_.sub(b, b, r2);
    a_.asr(b, b, kLane - kRest);
    a_.add_asr(b, b, a, kLane);
  }

  void end_segment(Label segment) {
    for (int c = 0; c < kChannels; ++c) {
      split(c);
      a_.ldrd(r3, r12, sp, total(c, 0));
      a_.add(r3, r3, lr);
      a_.add(r12, r12, sum_b(c));
      a_.strd(r3, r12, sp, total(c, 0));
      a_.ldr(r3, sp, total(c, 2));
      a_.add(r3, r3, r2);
      a_.str(r3, sp, total(c, 2));
    }
    a_.ldr(r4, sp, kSegmentsLeft);
    a_.subs(r4, r4, 1);
    a_.str(r4, sp, kSegmentsLeft);
    a_.b("ne", segment);
  }

  void outputs(int c) {
    // The registers of channels that are done are free.
    const Reg pixel[] = {lr, sum_b(c), r2}, multiplier = sum_a(c), stride = c == 0 ? r3 : sum_a(0);
    split(c);
    if (sign_) {
      a_.ldr_after(r3, r0, 4);
      a_.ldr_after(multiplier, r0, 4);
      a_.ldr_after(r12, r0, 4);
    } else {
      a_.ldm_after(r0, {r3, multiplier, r12});
    }
    for (Reg p : pixel) a_.add_lsl(p, r3, p, TripleKernel::kLeft);
    for (Reg p : pixel) requantize_one(p, multiplier);
    if (sign_) {
      a_.add(r0, r0, 4);
      a_.ldr(kTo, sp, kOut);
    }
    if (c <= 1) a_.ldr(stride, sp, kStride);
    // The first pixel's last: its address is the one that moves on.
    a_.strb_index(pixel[2], kTo, stride, 1);
    a_.strb_index(pixel[1], kTo, stride);
    a_.strb_after(pixel[0], kTo, 1);
    if (sign_) a_.str(kTo, sp, kOut);
  }

  // The same of all channels' totals, with all registers free.
  void outputs_of_totals() {
    const Reg pixel[] = {r5, r6, r7}, bias = r8, multiplier = r9, offset = r10, correction = r11, stride = lr, end = r2;
    Label channel = a_.label();
    a_.ldr(kTo, sp, kOut);
    a_.ldr(stride, sp, kStride);
    a_.add(r4, sp, kTotals);
    a_.add(end, sp, total(kChannels, 0));
    a_.bind(channel);
    a_.ldm_after(r4, {r5, r6, r7});
    sign_ ? a_.ldm_after(r0, {bias, multiplier, offset, correction}) : a_.ldm_after(r0, {bias, multiplier, offset});
    for (Reg x : pixel) {
      a_.add_lsl(x, bias, x, TripleKernel::kLeft);
      if (sign_) a_.and_asr(r12, correction, x, 31);
      a_.smull(r3, x, x, multiplier);
      a_.add(x, x, offset);
      if (sign_) a_.sub(x, x, r12);
      a_.ssat(x, 8, x, shift_);
    }
    a_.strb_index(pixel[2], kTo, stride, 1);
    a_.strb_index(pixel[1], kTo, stride);
    a_.strb_after(pixel[0], kTo, 1);
    a_.cmp(r4, end);
    a_.b("ne", channel);
    a_.str(kTo, sp, kOut);
  }

  // By the multiplier and the offset in r12; changes r3 and, with the sign's word at r0, r1.
  void requantize_one(Reg x, Reg multiplier) {
    if (sign_) {
      a_.ldr(r3, r0);
      a_.and_asr(r3, r3, x, 31);
    }
    a_.smull(sign_ ? r1 : r3, x, x, multiplier);
    a_.add(x, x, r12);
    if (sign_) a_.sub(x, x, r3);
    a_.ssat(x, 8, x, shift_);
  }

  PlainThumb a_;
  int unroll_, shift_;
  bool many_, sign_;
};

}  // namespace

Implementation triples_thumb2(const tir::Kernel& kernel) { return TripleWriter(kernel).run(); }

}  // namespace aotc::cores::arm
