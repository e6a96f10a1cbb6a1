// SPDX-License-Identifier: Apache-2.0
// Matrix products of int16 with SMLAD. A word of the weight stream holds two taps of two channels, a0 b0 a1
// b1: two SXTB16 make a pair of taps of each. An output is one rounded high product, saturated.
#include <array>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/gemm16.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

namespace {

class HalvesWriter {
 public:
  HalvesWriter(int pixels, bool relu, int shift) : pixels_(pixels), relu_(relu), shift_(shift) {}

  Implementation run() {
    Label pair = a_.label(), body = a_.label();
    a_.enter(24);
    prologue(body);
    a_.bind(pair);
    // The biases wait in the accumulators that the first step writes last.
    a_.ldrd_after(acc(pixels_ - 1, 0), acc(pixels_ - 1, 1), r1, 8);
    step(true);
    a_.jump(sp, kEntry);
    a_.bind(body);
    a_.repeat(HalvesGemm::kUnroll, [&] { step(false); });
    a_.ldr(r12, sp, kPanelEnd);
    a_.cmp(r0, r12);
    a_.b("ne", body);
    finish_pair();
    a_.ldr(r0, sp, kStreamEnd);
    a_.cmp(r1, r0);
    a_.ldr(r0, sp, kPanel);
    a_.b("ne", pair);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kPanel = 0, kPanelEnd = 4, kEntry = 8, kOut = 12, kStride = 16, kStreamEnd = 20;
  static Reg acc(int pixel, int channel) { return {2 + 2 * pixel + channel}; }
  // Four pixels leave four registers beside the accumulators and two pointers, fewer leave more.
  Reg weight(int channel) const { return {(pixels_ == 4 ? 10 : 8) + channel}; }

  // r0 weights, r1 panel, r2 out, r3 shape. Leaves r0 panel, r1 weights.
  void prologue(Label body) {
    a_.ldrd(r4, r5, r3, PairGemm::kShapePanelBytes * 4);  // and the stream's bytes
    a_.add(r4, r4, r1);
    a_.strd(r1, r4, sp, kPanel);
    a_.add(r5, r5, r0);
    a_.str(r5, sp, kStreamEnd);
    a_.ldr(r6, r3, PairGemm::kShapeEntry * 4);
    a_.adr(r7, body);
    a_.add(r6, r6, r7);
    a_.str(r6, sp, kEntry);
    a_.ldr(r7, r3, PairGemm::kShapeStride * 4);
    a_.strd(r2, r7, sp, kOut);
    a_.mov(r12, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r12);
  }

  // Every instruction here is 4 bytes: the entry into the unrolled body counts on it.
  void step(bool first) {
    a_.ldr_after(weight(1), r1, 4);
    a_.sxtb16(weight(0), weight(1));
    a_.sxtb16(weight(1), weight(1), 8);
    if (pixels_ == 4) {
      for (int p = 0; p < 4; p += 2) {
        a_.ldrd_after(r12, lr, r0, 8);
        multiply(p, r12, first);
        multiply(p + 1, lr, first);
      }
      return;
    }
    if (pixels_ == 3) a_.ldm_after(r0, {r10, r11, r12});
    if (pixels_ == 2) a_.ldrd_after(r10, r11, r0, 8);
    if (pixels_ == 1) a_.ldr_after(r10, r0, 4);
    for (int p = 0; p < pixels_; ++p) multiply(p, {10 + p}, first);
  }

  void multiply(int pixel, Reg x, bool first) {
    int from = first ? pixels_ - 1 : pixel;
    for (int c = 0; c < 2; ++c) a_.smlad(acc(pixel, c), x, weight(c), acc(from, c));
  }

  void finish_pair() {
    a_.ldrd_after(r10, r11, r1, 8);
    a_.ldrd(r0, r12, sp, kOut);  // and the stride
    a_.add(lr, r0, 4);
    a_.str(lr, sp, kOut);
    for (int p = 0; p < pixels_; ++p) {
      for (int c = 0; c < 2; ++c) {
        const Reg multiplier = c == 0 ? r10 : r11;
        shift_ == 0 ? a_.smmulr(acc(p, c), acc(p, c), multiplier) : a_.smmul(acc(p, c), acc(p, c), multiplier);
        if (relu_) {
          a_.usat(acc(p, c), 15, acc(p, c), shift_);
        } else {
          a_.ssat(acc(p, c), 16, acc(p, c), shift_);
        }
        a_.strh(acc(p, c), r0, 2 * c);
      }
      if (p + 1 < pixels_) a_.add(r0, r0, r12);
    }
  }

  Thumb a_;
  int pixels_;
  bool relu_;
  int shift_;
};

// One pixel, four pairs of channels: the accumulators are r2 to r9, channel 2 * pair + c.
class HalvesVectorWriter {
 public:
  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.enter(GemvFrame::kBytes);
    begin_gemv(a_, body);
    a_.bind(group);
    a_.ldm_after(r0, {r2, r3, r4, r5, r6, r7, r8, r9});
    a_.jump(sp, GemvFrame::kEntry);
    a_.bind(body);
    a_.repeat(HalvesGemm::kGemvUnroll, [&] { step(); });
    a_.ldr(r12, sp, GemvFrame::kPixelEnd);
    a_.cmp(r1, r12);
    a_.b("ne", body);
    a_.ldr(r1, sp, GemvFrame::kOut);
    a_.stm_after(r1, {r2, r3, r4, r5, r6, r7, r8, r9});
    a_.str(r1, sp, GemvFrame::kOut);
    end_group(a_, group);
    return a_.finish();
  }

 private:
  // Every instruction is 4 bytes. The input may lie at any halfword, which a single load may.
  void step() {
    a_.at_any_address();
    a_.ldr_after(r10, r1, 4);
    int channel = 2;
    for (int half = 0; half < 2; ++half) {
      a_.ldrd_after(r12, lr, r0, 8);
      for (Reg w : {r12, lr}) {
        a_.sxtb16(r11, w);
        a_.smlad({channel}, r10, r11, {channel});
        a_.sxtb16(w, w, 8);
        a_.smlad({channel + 1}, r10, w, {channel + 1});
        channel += 2;
      }
    }
  }

  Thumb a_;
};

}  // namespace

Implementation gemv_halves(const tir::Kernel&) { return HalvesVectorWriter().run(); }

Implementation gemm_halves(const tir::Kernel& kernel) {
  return HalvesWriter(parameter(kernel, "pixels"), parameter(kernel, "relu") != 0,
                      has_parameter(kernel, "shift") ? parameter(kernel, "shift") : 0)
      .run();
}

// r0 x, r1 panel, r2 shape.
Implementation pack_halves(const tir::Kernel& kernel) {
  int pixels = parameter(kernel, "pixels");
  Thumb a;
  Label row = a.label(), word = a.label();
  a.enter(0);
  a.ldr(r3, r2, PairGemm::kPackPixelStride * 4);
  a.ldrd(r4, r5, r2, PairGemm::kPackRows * 4);  // and the bytes from one row's end to the next's begin
  a.ldr(r2, r2, PairGemm::kPackWords * 4);
  a.add_lsl(r6, r3, r3, 1);  // of the fourth pixel
  a.bind(row);
  a.mov(r7, r2);
  a.bind(word);
  load_pixels(a, pixels, r3);
  store_pixels(a, pixels);
  return end_packing(a, word, row);
}

// r0 x, r1 panel, r2 words: needs no frame.
Implementation pack_halves_run(const tir::Kernel& kernel) {
  int stride = 4 * parameter(kernel, "pixels");
  Thumb a;
  Label word = a.label();
  a.bind(word);
  a.at_any_address();
  a.ldr_after(r3, r0, 4);
  a.str_after(r3, r1, stride);
  a.subs(r2, r2, 1);
  a.b("ne", word);
  return a.finish();
}

}  // namespace aotc::cores::arm
