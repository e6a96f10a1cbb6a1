// SPDX-License-Identifier: Apache-2.0
// Matrix products with SMLAD. A word of the weight stream holds two taps of two channels: each
// halfword is 256 * b + a. SXTB16 of it gives the pair of taps of channel a; the word itself gives
// 256 * sum b + sum a, from which one subtraction takes channel b, scaled as its requantisation
// wants it. That is one extension for eight multiplications.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

int parameter(const tir::Kernel& kernel, std::string_view name) {
  for (const auto& [key, value] : kernel.parameters)
    if (key == name) return static_cast<int>(value);
  std::abort();
}

bool has_parameter(const tir::Kernel& kernel, std::string_view name) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const auto& p) { return p.first == name; });
}

void requantize(Thumb& a, Reg acc, Reg multiplier, Reg offset, int shift, const Reg* sign, Reg temp, bool same) {
  if (shift == 0) {
    a.round_even(acc, multiplier, offset, same);
    return;
  }
  if (sign) {
    a.and_asr(temp, *sign, acc, 31);
    a.sub(temp, offset, temp);
    a.smmla(acc, acc, multiplier, temp);
  } else {
    a.smmla(acc, acc, multiplier, offset);
  }
  a.ssat(acc, 8, acc, shift);
}

void requantize_channels(Thumb& a, int pixels, const PairAccumulators& acc, const PairRequantization& how) {
  for (int c = 0; c < 2; ++c) {
    const Reg multiplier = how.sign || c == 0 ? r10 : r12, offset = how.sign || c == 0 ? r11 : lr, sign = r12;
    if (how.sign) a.ldm_after(r0, {r10, r11, r12});
    for (int p = 0; p < pixels; ++p) {
      if (c == 0 && how.left) a.lsl(acc(p, 0), acc(p, 0), PairGemm::kLeft);
      requantize(a, acc(p, c), multiplier, offset, how.shift, how.sign ? &sign : nullptr, lr, p > 0);
    }
  }
}

namespace {

class GemmWriter {
 public:
  // `words`: the weight stream has a word for each of the two channels of a step. `sums`: accumulators
  // are written as they are, and begin as 0 unless they begin with biases.
  GemmWriter(int pixels, int shift, bool sign, bool words, bool sums, int unroll)
      : pixels_(pixels),
        shift_(shift),
        unroll_(unroll),
        sign_(sign),
        words_(words),
        sums_(sums),
        biased_(!sums),
        triple_(pixels == 3 && !words && !sums) {}

  // Pairs by lines and by floats; an even number of steps.
  GemmWriter& with(bool mixed, bool even) {
    mixed_ = mixed, even_ = even;
    return *this;
  }

  GemmWriter& with_biases(bool biased) {
    biased_ = biased;
    return *this;
  }

  Implementation run() {
    Label pair = a_.label(), body = a_.label();
    a_.note(fmt::format("On entry r0: weights, r1: panel of {} pixels, r2: out, r3: shape.", pixels_));
    a_.enter();
    a_.note(
        "On the stack from sp: panel, end of weights, out, its stride, where the unrolled body is entered, the panel's "
        "end.");
    begin_gemm(a_, body, triple_ || even_);
    a_.note(fmt::format(
        "For every pair of channels a, b. r0: weights, r1: panel, r2 to r{}: sums of a and b of each pixel.",
        1 + 2 * pixels_));
    a_.bind(pair);
    // The biases wait in the accumulators that the first step writes last.
    const Reg a = acc(pixels_ - 1, 0), b = acc(pixels_ - 1, 1);
    if (!biased_) {
      a_.mov(a, 0);
      a_.mov(b, 0);
      load_weights();
    } else if (words_) {
      a_.ldm_after(kStream, {a, b, word(), extended()});
    } else if (even_) {
      a_.ldm_after(kStream, {a, b, r6, r7});
    } else {
      a_.ldm_after(kStream, {a, b, word()});
      a_.sxtb16(extended(), word());
    }
    a_.note(
        even_
            ? "The first two steps add to the biases; then into the body, as many steps from its end as are left over."
            : "The first step adds to the biases; then into the body, as many steps from its end as are left over.");
    even_ ? first_two_steps() : multiply_pixels(true);
    if (triple_ || even_) {
      a_.note(fmt::format(
          "The body is entered behind its load of {} words of weights, of which the first may be of no use.",
          triple_ ? "three" : "four"));
      a_.ldr(r12, sp, GemmFrame::kBack);
      a_.sub(kStream, kStream, r12);
      triple_ ? a_.ldm_after(kStream, {r8, r9, r10}) : a_.ldm_after(kStream, {r6, r7, r8, r9});
    }
    a_.jump(sp, GemmFrame::kEntry);
    a_.bind(body);
    a_.note(words_ ? "A step: two taps of two channels, a word of weights for each."
                   : "A step: two taps of two channels. A word of weights has 256 * b + a in each half.");
    if (triple_) {
      a_.repeat(PairGemm::kTripleUnroll, [&] { three_steps(); });
    } else if (even_) {
      a_.repeat(PairGemm::kEvenUnroll, [&] { four_steps(); });
    } else {
      a_.repeat(unroll_, [&] {
        load_weights();
        multiply_pixels(false);
      });
    }
    a_.ldr(r12, sp, GemmFrame::kPanelEnd);
    a_.cmp(kX, r12);
    a_.b("ne", body);
    a_.note(sums_ ? "The sums are the results." : "Requantise: multiply, add the offset, shift, saturate; store.");
    sums_ ? finish_sums() : finish_pair();
    end_group(a_, pair);
    return a_.finish();
  }

 private:
  // The panel, and from the last step of a pair on what it writes.
  static constexpr Reg kStream = r0, kX = r1, kTo = r1;
  static Reg acc(int pixel, int channel) { return {2 + 2 * pixel + channel}; }
  // Four pixels leave four registers beside the accumulators and two pointers, fewer leave more.
  Reg word() const { return pixels_ == 4 ? r10 : r8; }
  Reg extended() const { return pixels_ == 4 ? r11 : r9; }

  // Every instruction here is 4 bytes, as in the two below.
  void three_steps() {
    a_.ldm_after(kStream, {r8, r9, r10});
    for (int i = 0; i < 3; ++i) {
      const Reg w = {8 + i};
      const Reg x[] = {r11, r12, lr};
      a_.ldm_after(kX, {r11, r12, lr});
      for (int p = 0; p < 3; ++p) a_.smlad(acc(p, 1), x[p], w, acc(p, 1));
      a_.sxtb16(w, w);
      for (int p = 0; p < 3; ++p) a_.smlad(acc(p, 0), x[p], w, acc(p, 0));
    }
  }

  // A step of two pixels. The word itself is of no use behind it.
  void even_step(Reg w, Reg x0, Reg x1) {
    a_.smlad(acc(0, 1), x0, w, acc(0, 1));
    a_.smlad(acc(1, 1), x1, w, acc(1, 1));
    a_.sxtb16(w, w);
    a_.smlad(acc(0, 0), x0, w, acc(0, 0));
    a_.smlad(acc(1, 0), x1, w, acc(1, 0));
  }

  void four_steps() {
    a_.ldm_after(kStream, {r6, r7, r8, r9});
    for (const auto& [first, second] : {std::pair(r6, r7), std::pair(r8, r9)}) {
      a_.ldm_after(kX, {r10, r11, r12, lr});
      even_step(first, r10, r11);
      even_step(second, r12, lr);
    }
  }

  // With weights in r6 and r7, and the biases in the accumulators of the second pixel.
  void first_two_steps() {
    a_.ldm_after(kX, {r10, r11, r12, lr});
    a_.sxtb16(r8, r6);
    for (int p = 0; p < 2; ++p) {
      const Reg x = {10 + p};
      a_.smlad(acc(p, 0), x, r8, acc(1, 0));
      a_.smlad(acc(p, 1), x, r6, acc(1, 1));
    }
    even_step(r7, r12, lr);
  }

  // A step, of which every instruction is 4 bytes: the entry into the unrolled body counts on it.
  void load_weights() {
    if (words_) {
      a_.ldrd_after(word(), extended(), kStream, 8);
    } else {
      a_.ldr_after(word(), kStream, 4);
      a_.sxtb16(extended(), word());
    }
  }

  void multiply_pixels(bool first) {
    if (pixels_ == 4) {
      for (int p = 0; p < 4; p += 2) {
        a_.ldrd_after(r12, lr, kX, 8);
        multiply(p, r12, first);
        multiply(p + 1, lr, first);
      }
      return;
    }
    if (pixels_ == 3) a_.ldm_after(kX, {r10, r11, r12});
    if (pixels_ == 2) a_.ldrd_after(r10, r11, kX, 8);
    if (pixels_ == 1) a_.ldr_after(r10, kX, 4);
    for (int p = 0; p < pixels_; ++p) multiply(p, {10 + p}, first);
  }

  void multiply(int pixel, Reg x, bool first) {
    int from = first ? pixels_ - 1 : pixel;
    a_.smlad(acc(pixel, 0), x, words_ ? word() : extended(), acc(from, 0));
    a_.smlad(acc(pixel, 1), x, words_ ? extended() : word(), acc(from, 1));
  }

  void finish_pair() {
    for (int p = 0; p < pixels_ && !words_; ++p) a_.sub(acc(p, 1), acc(p, 1), acc(p, 0));
    if (mixed_) {
      Label lines = a_.label(), store = a_.label();
      a_.note("Whether the lines of the pair are floats and zero points, which the FPU rounds, ties to even.");
      a_.ldm_after(kStream, {kTo, r10, r11, r12, lr});
      a_.cmp(kTo, 0);
      a_.b_at_most("eq", lines, 3);
      requantize_pair(0);
      a_.b("", store);
      a_.bind(lines);
      requantize_pair(shift_);
      a_.bind(store);
    } else {
      if (!sign_) a_.ldm_after(kStream, {r10, r11, r12, lr});
      requantize_pair(shift_);
    }
    store_pair();
  }

  void requantize_pair(int shift) { requantize_channels(a_, pixels_, acc, {shift, sign_, !words_}); }

  void store_pair() {
    a_.ldrd(kTo, r10, sp, GemmFrame::kOut);  // and the stride
    if (pixels_ == 4) a_.add_lsl(r11, r10, r10, 1);
    for (int p = 0; p < pixels_; ++p) a_.bfi(acc(p, 0), acc(p, 1), 8, 8);
    a_.at_any_address();
    // The first pixel's last: its address is the one that moves on.
    if (pixels_ > 3) a_.strh_index(acc(3, 0), kTo, r11);
    if (pixels_ > 2) a_.strh_index(acc(2, 0), kTo, r10, 1);
    if (pixels_ > 1) a_.strh_index(acc(1, 0), kTo, r10);
    a_.strh_after(acc(0, 0), kTo, 2);
    a_.str(kTo, sp, GemmFrame::kOut);
  }

  void finish_sums() {
    a_.ldrd(kTo, r10, sp, GemmFrame::kOut);  // and the stride
    a_.add(r11, kTo, 8);
    a_.str(r11, sp, GemmFrame::kOut);
    for (int p = 0; p < pixels_; ++p) {
      if (words_) a_.asr(acc(p, 0), acc(p, 0), PairGemm::kLeft);
      else a_.sub(acc(p, 1), acc(p, 1), acc(p, 0));
      a_.asr(acc(p, 1), acc(p, 1), PairGemm::kLeft);
      a_.strd(acc(p, 0), acc(p, 1), kTo);
      if (p + 1 < pixels_) a_.add(kTo, kTo, r10);
    }
  }

  Thumb a_;
  int pixels_, shift_, unroll_;
  bool sign_, words_, sums_, biased_, triple_, mixed_ = false, even_ = false;
};

constexpr const char* kFrameNote =
    "On the stack from sp: panel, end of weights, out, where the unrolled body is entered, the panel's end.";

// One pixel, four pairs of channels: the accumulators are r2 to r9, channel 2 * pair + c. `sums`: they
// begin as 0 and are written as they are, and the first two words of weights of the next eight are loaded by then.
class GemvWriter {
 public:
  GemvWriter(int shift, bool sign, bool sums) : shift_(shift), sign_(sign), sums_(sums) {}

  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.note("On entry r0: weights, r1: panel of one pixel, r2: out, r3: shape.");
    a_.enter(GemvFrame::kBytes);
    a_.note(kFrameNote);
    begin_gemv(a_, body);
    if (sums_) a_.ldrd_after(r12, lr, r0, 8);
    a_.note("For every eight channels. r0: weights, r1: panel, r2 to r9: their sums.");
    a_.bind(group);
    for (int c = 0; c < 8 && sums_; ++c) a_.mov(acc(c), 0);
    if (!sums_) {
      a_.note("The biases, and the first two words of weights.");
      a_.ldm_after(r0, {r2, r3, r4, r5, r6, r7, r8, r9, r12, lr});
    }
    a_.jump(sp, GemvFrame::kEntry);
    a_.bind(body);
    a_.note("A step: four taps of eight channels. A word of weights has 256 * b + a in each half.");
    a_.note("Two words of the next step, or of what follows, are loaded with the last one.");
    a_.repeat(PairGemm::kGemvUnroll, [&] { step(); });
    a_.ldr(r10, sp, GemvFrame::kPixelEnd);
    a_.cmp(r1, r10);
    a_.b("ne", body);
    a_.note(sums_ ? "The sums are the results." : "Requantise: multiply, add the offset, shift, saturate; store.");
    sums_ ? finish_sums() : finish_group();
    end_group(a_, group, r10);
    return a_.finish();
  }

 private:
  static Reg acc(int channel) { return {2 + channel}; }

  // Two words of the panel at a time, with the first two words of weights in r12 and lr. Where the first word of the
  // panel is done with, its register takes weights, so that three come at a time. Every instruction is 4 bytes.
  void step() {
    a_.ldrd_after(r11, r10, r1, 8);
    multiply(r11, r12, 0);
    multiply(r11, lr, 2);
    a_.ldrd_after(r12, lr, r0, 8);
    multiply(r11, r12, 4);
    multiply(r11, lr, 6);
    a_.ldm_after(r0, {r11, r12, lr});
    multiply(r10, r11, 0);
    multiply(r10, r12, 2);
    multiply(r10, lr, 4);
    a_.ldm_after(r0, {r11, r12, lr});
    multiply(r10, r11, 6);
  }

  // Changes w.
  void multiply(Reg x, Reg w, int channel) {
    a_.smlad(acc(channel + 1), x, w, acc(channel + 1));
    a_.sxtb16(w, w);
    a_.smlad(acc(channel), x, w, acc(channel));
  }

  // The first channel's multiplier and offset are in r12 and lr.
  void finish_group() {
    a_.ldr(r1, sp, GemvFrame::kOut);
    for (int channel = 0; channel < 8; ++channel) {
      if (channel % 2 == 0) a_.sub(acc(channel + 1), acc(channel + 1), acc(channel));
      if (channel % 2 == 0) a_.lsl(acc(channel), acc(channel), 8);
      if (sign_) {
        channel == 0 ? a_.ldr_after(r11, r0, 4) : a_.ldm_after(r0, {r10, r11, r12});
        const Reg sign = channel == 0 ? r11 : r12;
        requantize(a_, acc(channel), channel == 0 ? r12 : r10, channel == 0 ? lr : r11, shift_, &sign,
                   channel == 0 ? r10 : lr);
      } else {
        if (channel == 7) a_.ldrd_after(r10, r11, r0, 8);
        if (channel % 2 == 1 && channel < 7) a_.ldm_after(r0, {r10, r11, r12, lr});
        requantize(a_, acc(channel), channel % 2 == 0 ? r12 : r10, channel % 2 == 0 ? lr : r11, shift_, nullptr, lr);
      }
      a_.strb_after(acc(channel), r1, 1);
    }
    a_.str(r1, sp, GemvFrame::kOut);
  }

  void finish_sums() {
    a_.ldr(r1, sp, GemvFrame::kOut);
    for (int b = 1; b < 8; b += 2) {
      a_.sub(acc(b), acc(b), acc(b - 1));
      a_.asr(acc(b), acc(b), 8);
    }
    a_.stm_after(r1, {r2, r3, r4, r5, r6, r7, r8, r9});
    a_.str(r1, sp, GemvFrame::kOut);
  }

  Thumb a_;
  int shift_;
  bool sign_, sums_;
};

// One pixel, four channels over words: a step of the body takes four words of the panel.
class GemvWordsWriter {
 public:
  GemvWordsWriter(int shift, bool sign) : shift_(shift), sign_(sign) {}

  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.note("On entry r0: weights, r1: panel of one pixel, r2: out, r3: shape.");
    a_.enter(GemvFrame::kBytes);
    a_.note(kFrameNote);
    begin_gemv(a_, body);
    a_.note("For every four channels. r0: weights, r1: panel, r2 to r5: their sums, from the biases on.");
    a_.bind(group);
    a_.ldm_after(r0, {r2, r3, r4, r5});
    a_.jump(sp, GemvFrame::kEntry);
    a_.bind(body);
    a_.repeat(PairGemm::kWordsGemvUnroll, [&] { step(); });
    a_.ldr(r12, sp, GemvFrame::kPixelEnd);
    a_.cmp(r1, r12);
    a_.b("ne", body);
    finish_group();
    end_group(a_, group);
    return a_.finish();
  }

 private:
  static Reg acc(int channel) { return {2 + channel}; }

  // Every instruction is 4 bytes.
  void step() {
    a_.ldm_after(r1, {r6, r7, r8, r9});
    for (Reg x : {r6, r7, r8, r9}) {
      a_.ldm_after(r0, {r10, r11, r12, lr});
      int channel = 0;
      for (Reg w : {r10, r11, r12, lr}) {
        a_.smlad(acc(channel), x, w, acc(channel));
        ++channel;
      }
    }
  }

  void finish_group() {
    a_.ldr(r1, sp, GemvFrame::kOut);
    if (!sign_) a_.ldm_after(r0, {r6, r7, r8, r9, r10, r11, r12, lr});
    constexpr Reg kLines[] = {r6, r7, r8, r9, r10, r11, r12, lr};
    for (int c = 0; c < 4; ++c) {
      Reg sign = r12;
      if (sign_) a_.ldm_after(r0, {r10, r11, r12});
      requantize(a_, acc(c), sign_ ? r10 : kLines[2 * c], sign_ ? r11 : kLines[2 * c + 1], shift_,
                 sign_ ? &sign : nullptr, lr);
      a_.strb_after(acc(c), r1, 1);
    }
    a_.str(r1, sp, GemvFrame::kOut);
  }

  Thumb a_;
  int shift_;
  bool sign_;
};

}  // namespace

Implementation gemv_words(const tir::Kernel& kernel) {
  return GemvWordsWriter(parameter(kernel, "shift"), parameter(kernel, "sign") != 0).run();
}

Implementation gemm_pairs(const tir::Kernel& kernel) {
  if (has_parameter(kernel, "steps")) return own_gemm(kernel);
  return GemmWriter(parameter(kernel, "pixels"), parameter(kernel, "shift"), parameter(kernel, "sign") != 0, false,
                    false, PairGemm::kUnroll)
      .with(has_parameter(kernel, "mixed"), has_parameter(kernel, "even"))
      .run();
}

Implementation gemm_sums(const tir::Kernel& kernel) {
  const bool words = has_parameter(kernel, "words");
  return GemmWriter(parameter(kernel, "pixels"), 0, false, words, true,
                    words ? parameter(kernel, "words") : PairGemm::kUnroll)
      .with_biases(words || has_parameter(kernel, "biased"))
      .run();
}

Implementation gemm_words(const tir::Kernel& kernel) {
  if (has_parameter(kernel, "steps")) return own_gemm(kernel);
  const int unroll = has_parameter(kernel, "unroll") ? parameter(kernel, "unroll") : PairGemm::kWordsUnroll;
  return GemmWriter(parameter(kernel, "pixels"), parameter(kernel, "shift"), parameter(kernel, "sign") != 0, true,
                    false, unroll)
      .with(has_parameter(kernel, "mixed"), false)
      .run();
}

Implementation gemv_pairs(const tir::Kernel& kernel) {
  return GemvWriter(parameter(kernel, "shift"), parameter(kernel, "sign") != 0, false).run();
}

Implementation gemv_sums(const tir::Kernel&) { return GemvWriter(0, false, true).run(); }

void begin_gemv(Thumb& a, Label body) {
  static_assert(PairGemm::kShapeEntry == 3 && PairGemm::kShapePanelBytes == 4 && PairGemm::kShapeStreamBytes == 5);
  a.ldm(r3, {r4, r5, r6, r7, r8, r9});
  a.add(r4, r0, r9);
  a.mov(r5, r2);
  a.adr(r9, body);
  a.add(r7, r7, r9);
  a.add(r8, r8, r1);
  a.stm(sp, {r1, r4, r5, r7, r8});
}

void end_group(Thumb& a, Label group, Reg scratch) {
  a.ldrd(r1, scratch, sp, GemvFrame::kPixel);  // and the end of the weights
  a.cmp(r0, scratch);
  a.b("ne", group);
  a.leave();
}

void begin_gemm(Thumb& a, Label body, bool back) {
  static_assert(PairGemm::kShapeStride == 2 && PairGemm::kShapeEntry == 3 && PairGemm::kShapePanelBytes == 4 &&
                PairGemm::kShapeStreamBytes == 5 && PairGemm::kShapeBack == 6);
  back ? a.ldm(r3, {r4, r5, r6, r7, r8, r9, r10}) : a.ldm(r3, {r4, r5, r6, r7, r8, r9});
  a.add(r4, r0, r9);
  a.mov(r5, r2);
  a.adr(r9, body);
  a.add(r7, r7, r9);
  a.add(r8, r8, r1);
  a.push({r1, r4, r5, r6, r7, r8, r10});
}

}  // namespace aotc::cores::arm
