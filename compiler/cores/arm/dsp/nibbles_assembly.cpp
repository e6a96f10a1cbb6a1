// SPDX-License-Identifier: Apache-2.0
// Matrix products with weights of 4 bits (cores/arm/dsp/nibbles.h). A word of the stream is
// multiplied as it is and behind each of three masks, which takes three instructions for 8 products
// of a pixel.
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/nibbles.h"

namespace aotc::cores::arm {

namespace {

// The accumulators are r2 to r9: channel c of pixel p is r(2 + channels * p + c).
class NibbleWriter {
 public:
  NibbleWriter(int pixels, int channels, bool bias, int shift, bool sign)
      : pixels_(pixels), channels_(channels), shift_(shift), bias_(bias), sign_(sign) {}

  Implementation run() {
    Label sum = a_.label(), group = a_.label(), body = a_.label();
    a_.enter(32);
    prologue(sum, body);
    a_.bind(group);
    begin_group();
    a_.jump(sp, kEntry);
    a_.bind(body);
    a_.repeat(NibbleGemm::kUnroll, [&] { step(); });
    a_.ldr(r12, sp, kPanelEnd);
    a_.cmp(r0, r12);
    a_.b("ne", body);
    separate();
    finish_group();
    a_.ldr(r0, sp, kStreamEnd);
    a_.cmp(r1, r0);
    a_.ldr(r0, sp, kPanel);
    a_.b("ne", group);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kPanel = 0, kPanelEnd = 4, kEntry = 8, kOut = 12, kStride = 16, kStreamEnd = 20, kSums = 24;
  Reg acc(int pixel, int channel) const { return {2 + channels_ * pixel + channel}; }
  static Reg x(int pixel) { return {10 + pixel}; }

  // r0 weights, r1 panel, r2 out, r3 shape. Leaves r0 panel, r1 weights.
  void prologue(Label sum, Label body) {
    a_.ldrd(r4, r5, r3, NibbleGemm::kPanelBytes * 4);  // and the stream's bytes
    a_.add(r4, r4, r1);
    a_.strd(r1, r4, sp, kPanel);
    a_.add(r5, r5, r0);
    a_.str(r5, sp, kStreamEnd);
    a_.ldr(r6, r3, NibbleGemm::kEntry * 4);
    a_.adr(r7, body);
    a_.add(r6, r6, r7);
    a_.str(r6, sp, kEntry);
    a_.ldr(r7, r3, NibbleGemm::kStride * 4);
    a_.strd(r2, r7, sp, kOut);
    add_panel(sum);
    a_.mov(r12, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r12);
  }

  // -8 times the sum of each pixel.
  void add_panel(Label sum) {
    a_.mov32(r12, 0xFFF8FFF8);
    a_.mov(lr, r1);
    for (int p = 0; p < pixels_; ++p) a_.mov({6 + p}, 0);
    a_.bind(sum);
    load_pixels(lr);
    for (int p = 0; p < pixels_; ++p) a_.smlad({6 + p}, x(p), r12, {6 + p});
    a_.cmp(lr, r4);
    a_.b("ne", sum);
    a_.strd(r6, r7, sp, kSums);
  }

  void load_pixels(Reg from) {
    if (pixels_ == 2) {
      a_.ldrd_after(x(0), x(1), from, 8);
    } else {
      a_.ldr_after(x(0), from, 4);
    }
  }

  void begin_group() {
    if (bias_ && channels_ == 4) a_.ldm_after(r1, {r2, r3, r4, r5});
    if (bias_ && channels_ == 8) a_.ldm_after(r1, {r2, r3, r4, r5, r6, r7, r8, r9});
    a_.ldrd(x(0), x(1), sp, kSums);
    for (int p = pixels_ - 1; p >= 0; --p) {
      a_.add_lsl(r12, x(p), x(p), 4);
      a_.add_lsl(lr, r12, x(p), 8);
      for (int c = 0; c < channels_; c += 4) begin_quad(p, c);
    }
  }

  // The biases are in the first pixel's accumulators, which come last.
  void begin_quad(int p, int c) {
    if (bias_) {
      a_.add(acc(p, c), acc(0, c), x(p));
      a_.add(acc(p, c + 1), acc(0, c + 1), r12);
      a_.add_lsl(acc(p, c + 2), acc(0, c + 2), x(p), 8);
      a_.add(acc(p, c + 3), acc(0, c + 3), lr);
    } else {
      a_.mov(acc(p, c), x(p));
      a_.mov(acc(p, c + 1), r12);
      a_.lsl(acc(p, c + 2), x(p), 8);
      a_.mov(acc(p, c + 3), lr);
    }
  }

  // Every instruction here is 4 bytes: the entry into the unrolled body counts on it.
  void step() {
    load_pixels(r0);
    if (channels_ == 4) {
      a_.ldr_after(r12, r1, 4);
      multiply_quad(0, r12);
    } else {
      a_.ldrd_after(r11, r12, r1, 8);
      multiply_quad(0, r11);
      multiply_quad(4, r12);
    }
  }

  void multiply_quad(int c, Reg w) {
    multiply(c + 3, w);
    a_.and_(lr, w, 0x0F000F00);
    multiply(c + 2, lr);
    a_.and_(lr, w, 0x00FF00FF);
    multiply(c + 1, lr);
    a_.and_(w, w, 0x000F000F);
    multiply(c, w);
  }

  void multiply(int c, Reg w) {
    for (int p = 0; p < pixels_; ++p) a_.smlad(acc(p, c), x(p), w, acc(p, c));
  }

  // 4096 times the channels' sums.
  void separate() {
    for (int p = 0; p < pixels_; ++p)
      for (int c = 0; c < channels_; c += 4) {
        a_.sub(acc(p, c + 3), acc(p, c + 3), acc(p, c + 2));
        a_.sub(acc(p, c + 3), acc(p, c + 3), acc(p, c + 1));
        a_.lsl(acc(p, c + 2), acc(p, c + 2), 4);
        a_.sub(acc(p, c + 1), acc(p, c + 1), acc(p, c));
        a_.lsl(acc(p, c + 1), acc(p, c + 1), 8);
        a_.lsl(acc(p, c), acc(p, c), 12);
      }
  }

  void finish_group() {
    Reg sign = r12;
    for (int c = 0; c < channels_; ++c) {
      if (sign_) {
        a_.ldm_after(r1, {r10, r11, r12});
      } else {
        a_.ldrd_after(r10, r11, r1, 8);
      }
      for (int p = 0; p < pixels_; ++p) requantize(a_, acc(p, c), r10, r11, shift_, sign_ ? &sign : nullptr, lr);
    }
    a_.ldrd(r0, r10, sp, kOut);  // and the stride
    a_.add(r11, r0, channels_);
    a_.str(r11, sp, kOut);
    for (int p = 0; p < pixels_; ++p) {
      for (int c = 0; c < channels_; ++c) a_.strb(acc(p, c), r0, c);
      if (p + 1 < pixels_) a_.add(r0, r0, r10);
    }
  }

  Thumb a_;
  int pixels_, channels_, shift_;
  bool bias_, sign_;
};

}  // namespace

Implementation gemm_nibbles(const tir::Kernel& kernel) {
  return NibbleWriter(parameter(kernel, "pixels"), parameter(kernel, "channels"), parameter(kernel, "bias") != 0,
                      parameter(kernel, "shift"), parameter(kernel, "sign") != 0)
      .run();
}

}  // namespace aotc::cores::arm
