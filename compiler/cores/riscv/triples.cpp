// SPDX-License-Identifier: Apache-2.0
// What is done for each channel is a macro of the assembler, which ends with the statement: C99 promises string
// literals of 4095 characters only.
#include "cores/riscv/kernel_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/triple_kernel.h"

namespace aotc::cores::riscv {

namespace {

using ops::TripleGemm;
using ops::TripleKernel;

constexpr int kPixels = 3;
// Two for each channel. Beside these: a0 stream, a1 panel, a2 and a3 first and second pixel of the output, a4 to a7
// temporaries, t0 and t1 the ends of int8, t2 the panel's end and then the output's third pixel.
constexpr const char* kSums[] = {"s0", "s1", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                 "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

class TripleWriter : KernelText {
 public:
  explicit TripleWriter(const tir::Kernel& kernel)
      : channels_(parameter_of(kernel, "channels")),
        unroll_(parameter_of(kernel, "unroll")),
        shift_(parameter_of(kernel, "shift")),
        many_(parameter_of(kernel, "many") != 0),
        sign_(parameter_of(kernel, "sign") != 0) {}

  // a0 stream, a1 panel, a2 out, a3 shape.
  Implementation run() {
    define_macros();
    enter();
    line("1:");
    line("lw a1,{}(sp)", kPanel);
    if (many_) begin_totals();
    line("2:");
    sums();
    if (many_) end_segment();
    outputs();
    line("lw a4,{}(sp)", kStreamEnd);
    line("bne a0,a4,1b");
    restore();
    return finish();
  }

 private:
  static constexpr int kPanel = kSavedBytes, kStreamEnd = 52, kPanelEnd = 56, kThird = 60, kSegments = 64, kLeft = 68,
                       kTotals = 72;

  int frame() const {
    const int bytes = many_ ? kTotals + channels_ * kPixels * kWord : kSegments;
    return (bytes + 15) / 16 * 16;
  }
  int line_bytes() const { return kWord * static_cast<int>(TripleKernel::kLineWords + (sign_ ? 1 : 0)); }

  // Escaped as the C string has them.
  void define_macros() {
    // A weight at `o` by both words: the first products, and those that are added.
    lines_.insert(lines_.end(),
                  {".macro aotc_f a,b,o", "lb a6,\\\\o(a0)", "mul \\\\a,a4,a6", "mul \\\\b,a5,a6", ".endm"});
    lines_.insert(lines_.end(), {".macro aotc_m a,b,o", "lb a6,\\\\o(a0)", "mul a7,a4,a6", "mul a6,a5,a6",
                                 "add \\\\a,\\\\a,a7", "add \\\\b,\\\\b,a6", ".endm"});
    // A step: its words at `x`, its weights from `o` on.
    line(".macro aotc_k m,v,o");
    line("lw a4,\\\\v(a1)");
    line("lw a5,\\\\v+{}(a1)", kWord);
    for (int c = 0; c < channels_; ++c) line("\\\\m {},{},\\\\o+{}", kSums[2 * c], kSums[2 * c + 1], c);
    line(".endm");
    // The three sums shifted left: a4, b, a6.
    line(".macro aotc_s a,b");
    constexpr int rest = TripleGemm::kRest, left = TripleKernel::kLeft;
    line("slli a4,\\\\a,{}", rest);
    line("srai a4,a4,{}", rest - left);
    line("srai a5,a4,{}", left);
    line("sub \\\\a,\\\\a,a5");
    line("srai a5,\\\\a,{}", rest);
    line("sub \\\\b,\\\\b,a5");
    line("slli a6,\\\\b,{}", rest);
    line("srai a6,a6,{}", rest - left);
    line("srai a5,a6,{}", left);
    line("sub \\\\b,\\\\b,a5");
    line("srai \\\\a,\\\\a,{}", TripleGemm::kLane - left);
    line("srai \\\\b,\\\\b,{}", TripleGemm::kLane - rest - left);
    line("add \\\\b,\\\\b,\\\\a");
    line(".endm");
    if (many_) define_totals();
    define_outputs();
  }

  void define_totals() {
    line(".macro aotc_t b,o");
    const char* of_pixel[] = {"a4", "\\\\b", "a6"};
    for (int p = 0; p < kPixels; ++p) {
      line("lw a5,\\\\o+{}(sp)", kWord * p);
      line("add a5,a5,{}", of_pixel[p]);
      line("sw a5,\\\\o+{}(sp)", kWord * p);
    }
    line(".endm");
  }

  void define_outputs() {
    line(".macro aotc_r v,a");
    if (sign_) {
      line("srai t2,\\\\v,31");
      line("and t2,t2,\\\\a");
    }
    line("mulh \\\\v,\\\\v,a5");
    line("add \\\\v,\\\\v,a7");
    if (sign_) line("sub \\\\v,\\\\v,t2");
    line("srai \\\\v,\\\\v,{}", shift_);
    lines_.insert(lines_.end(),
                  {"bge \\\\v,t0,8f", "mv \\\\v,t0", "8:", "bge t1,\\\\v,9f", "mv \\\\v,t1", "9:", ".endm"});
    // Channel c, whose line is at `o`.
    line(".macro aotc_o a,b,o,c");
    line("lw \\\\a,\\\\o(a0)");
    line("lw a5,\\\\o+4(a0)");
    line("lw a7,\\\\o+8(a0)");
    for (const char* x : {"a4", "\\\\b", "a6"}) line("add {0},{0},\\\\a", x);
    if (sign_) line("lw \\\\a,\\\\o+12(a0)");
    for (const char* x : {"a4", "\\\\b", "a6"}) line("aotc_r {},\\\\a", x);
    if (sign_) line("lw t2,{}(sp)", kThird);  // which rounding took as a temporary
    line("sb a4,\\\\c(a2)");
    line("sb \\\\b,\\\\c(a3)");
    line("sb a6,\\\\c(t2)");
    line(".endm");
  }

  void enter() {
    save(frame());
    line("sw a1,{}(sp)", kPanel);
    line("lw a4,{}(a3)", kWord * TripleKernel::kStreamBytes);
    line("add a4,a4,a0");
    line("sw a4,{}(sp)", kStreamEnd);
    line("lw a4,{}(a3)", kWord * TripleKernel::kPanelBytes);
    if (!many_) line("add a4,a4,a1");
    line("sw a4,{}(sp)", kPanelEnd);
    if (many_) keep(TripleKernel::kSegments, kSegments);
    line("lw a4,{}(a3)", kWord * TripleKernel::kStride);
    line("add a3,a2,a4");
    if (sign_) {
      line("add a4,a3,a4");
      line("sw a4,{}(sp)", kThird);
    }
    line("li t0,-128");
    line("li t1,127");
  }

  void keep(int word, int place) {
    line("lw a4,{}(a3)", kWord * word);
    line("sw a4,{}(sp)", place);
  }

  void begin_totals() {
    line("lw a4,{}(sp)", kSegments);
    line("sw a4,{}(sp)", kLeft);
    for (int i = 0; i < channels_ * kPixels; ++i) line("sw zero,{}(sp)", kTotals + kWord * i);
  }

  void sums() {
    line("lw t2,{}(sp)", kPanelEnd);
    if (many_) line("add t2,t2,a1");  // of a segment
    turn(true);
    line("beq a1,t2,4f");
    line("3:");
    turn(false);
    line("bne a1,t2,3b");
    line("4:");
  }

  void turn(bool first) {
    for (int u = 0; u < unroll_; ++u)
      line("aotc_k aotc_{},{},{}", first && u == 0 ? "f" : "m", 2 * kWord * u, u * channels_);
    line("addi a1,a1,{}", 2 * kWord * unroll_);
    line("addi a0,a0,{}", channels_ * unroll_);
  }

  // Totals are shifted as the sums are.
  void end_segment() {
    for (int c = 0; c < channels_; ++c) {
      line("aotc_s {},{}", kSums[2 * c], kSums[2 * c + 1]);
      line("aotc_t {},{}", kSums[2 * c + 1], kTotals + kWord * c * kPixels);
    }
    line("lw a4,{}(sp)", kLeft);
    line("addi a4,a4,-1");
    line("sw a4,{}(sp)", kLeft);
    line("bnez a4,2b");
  }

  void outputs() {
    if (!sign_) {
      line("sub t2,a3,a2");
      line("add t2,t2,a3");
    }
    for (int c = 0; c < channels_; ++c) {
      const char* a = kSums[2 * c];
      const char* b = kSums[2 * c + 1];
      if (many_) {
        const int place = kTotals + kWord * c * kPixels;
        line("lw a4,{}(sp)", place);
        line("lw {},{}(sp)", b, place + kWord);
        line("lw a6,{}(sp)", place + 2 * kWord);
      } else {
        line("aotc_s {},{}", a, b);
      }
      line("aotc_o {},{},{},{}", a, b, c * line_bytes(), c);
    }
    line("addi a0,a0,{}", channels_ * line_bytes());
    line("addi a2,a2,{}", channels_);
    line("addi a3,a3,{}", channels_);
    if (sign_) {
      line("addi t2,t2,{}", channels_);
      line("sw t2,{}(sp)", kThird);
    }
  }

  int channels_, unroll_, shift_;
  bool many_, sign_;
};

}  // namespace

Implementation triples_rv32(const tir::Kernel& kernel) { return TripleWriter(kernel).run(); }

}  // namespace aotc::cores::riscv
