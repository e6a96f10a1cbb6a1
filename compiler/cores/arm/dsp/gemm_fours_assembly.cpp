// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/gemm_fours.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

namespace {

class FoursWriter {
 public:
  FoursWriter(int shift, bool sign, const FoursForm& form) : shift_(shift), sign_(sign), form_(form) {}

  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.note("On entry r0: weights, r1: panel of 2 pixels, r2: out, r3: shape.");
    a_.enter();
    a_.note(
        "On the stack from sp: panel, end of weights, out, its stride, where the unrolled body is entered, the panel's "
        "end.");
    begin_gemm(a_, body, false);
    a_.note(
        "For every four channels. r0: weights, r1: panel, r2 to r5: sums of the first pixel, r6 to r9: of the second.");
    a_.bind(group);
    a_.note("The biases wait in the second pixel's accumulators, which the first step writes last.");
    a_.ldm_after(kStream, {r6, r7, r8, r9});
    step(true);
    if (form_.written == 0) a_.jump(sp, GemmFrame::kEntry);
    a_.bind(body);
    a_.note("A step: two taps of four channels. A word of weights has 256 * b + a in each half.");
    a_.repeat(form_.written > 0 ? static_cast<int>(form_.written) : FourGemm::kUnroll, [&] { step(false); });
    if (form_.loop) {
      a_.ldr(r12, sp, GemmFrame::kPanelEnd);
      a_.cmp(kX, r12);
      a_.b("ne", body);
    }
    a_.note("Requantise: multiply, add the offset, shift, saturate; store.");
    for (int c = 0; c < FourGemm::kChannels; c += 2) finish_pair(c);
    store();
    end_group(a_, group);
    return a_.finish();
  }

 private:
  static constexpr Reg kStream = r0, kX = r1, kTo = r1;
  static Reg acc(int pixel, int channel) { return {2 + FourGemm::kChannels * pixel + channel}; }

  // Every instruction is 4 bytes: the entry into the unrolled body counts on it. Loads follow one another, and no
  // address is one that the load before has moved.
  void step(bool first) {
    constexpr Reg kWords[] = {r10, r11}, kPixels[] = {r12, lr};
    a_.ldr(kWords[1], kStream, 4);
    a_.ldr(kPixels[1], kX, 4);
    a_.ldr_after(kWords[0], kStream, 8);
    a_.ldr_after(kPixels[0], kX, 8);
    auto multiply = [&](int channel, Reg w) {
      for (int p = 0; p < FourGemm::kPixels; ++p)
        a_.smlad(acc(p, channel), kPixels[p], w, acc(first ? FourGemm::kPixels - 1 : p, channel));
    };
    for (int i = 0; i < 2; ++i) multiply(2 * i + 1, kWords[i]);
    for (int i = 0; i < 2; ++i) a_.sxtb16(kWords[i], kWords[i]);
    for (int i = 0; i < 2; ++i) multiply(2 * i, kWords[i]);
  }

  // Channels `first` and the next one.
  void finish_pair(int first) {
    for (int p = 0; p < FourGemm::kPixels; ++p) a_.sub(acc(p, first + 1), acc(p, first + 1), acc(p, first));
    if (!sign_) a_.ldm_after(kStream, {r10, r11, r12, lr});
    requantize_channels(a_, FourGemm::kPixels, [&](int p, int c) { return acc(p, first + c); }, {shift_, sign_, true});
  }

  void store() {
    a_.at_any_address();
    a_.ldrd(kTo, r10, sp, GemmFrame::kOut);  // and the stride
    for (int c = 0; c < FourGemm::kChannels; c += 2) {
      for (int p = 0; p < FourGemm::kPixels; ++p) a_.bfi(acc(p, c), acc(p, c + 1), 8, 8);
      a_.strh_index(acc(1, c), kTo, r10);
      a_.strh_after(acc(0, c), kTo, 2);
    }
    a_.str(kTo, sp, GemmFrame::kOut);
  }

  Thumb a_;
  int shift_;
  bool sign_;
  FoursForm form_;
};

}  // namespace

Implementation gemm_fours(const tir::Kernel& kernel) {
  FoursForm form;
  if (has_parameter(kernel, "written")) form = {parameter(kernel, "written"), parameter(kernel, "loop") != 0};
  return FoursWriter(parameter(kernel, "shift"), parameter(kernel, "sign") != 0, form).run();
}

}  // namespace aotc::cores::arm
