// SPDX-License-Identifier: Apache-2.0
// What is done for a word, a group and a unit is a macro of the assembler, as in triples.cpp.
#include "cores/riscv/kernel_text.h"

#include <fmt/format.h>

#include "ops/common/quad_kernel.h"

namespace aotc::cores::riscv {

namespace {

using ops::QuadKernel;

constexpr int kUnits = 4;

// a0 stream, a1 x, a2 out, a3 starts; s0 to s3 sums, s4 to s11 totals; t0 mask, t1 end of x, t2 x, t3 starts, t4 tiles
// left, t5 multiplier, t6 offset, a7 what it is less by for negative accumulators; a4 to a6 temporaries.
class QuadWriter : KernelText {
 public:
  explicit QuadWriter(const tir::Kernel& kernel)
      : words_(parameter_of(kernel, "words")),
        group_(parameter_of(kernel, "group")),
        same_(parameter_of(kernel, "same") != 0),
        sign_(parameter_of(kernel, "sign") != 0) {}

  Implementation run() {
    define_macros();
    enter();
    line("1:");
    begin_totals();
    line("mv a1,t2");
    line("mv a3,t3");
    line("2:");
    line("lw s0,0(a3)");
    line("lw s1,{}(a3)", kWord);
    if (words_ == 2) line("mv s2,s0");
    if (words_ == 2) line("mv s3,s1");
    line("addi a3,a3,{}", 2 * kWord);
    for (int k = 0; k < group_; ++k) {
      line("lb a4,{}(a1)", k);
      for (int w = 0; w < words_; ++w) line("aotc_w s{},s{},{}", 2 * w, 2 * w + 1, kWord * (k * words_ + w));
    }
    line("addi a0,a0,{}", kWord * group_ * words_);
    line("addi a1,a1,{}", group_);
    for (int w = 0; w < words_; ++w)
      line("aotc_a s{},s{},s{},s{},s{},s{}", 2 * w, 2 * w + 1, total(w, 0), total(w, 1), total(w, 2), total(w, 3));
    line("bne a1,t1,2b");
    take_apart();
    rests();
    outputs();
    line("addi t4,t4,-1");
    line("bnez t4,1b");
    restore();
    return finish();
  }

 private:
  static constexpr int kShift = kSavedBytes, kTotals = kShift + kWord, kFrame = 96;

  static int total(int word, int unit) { return 4 + kUnits * word + unit; }
  int line_bytes() const { return kWord * (same_ ? 1 : sign_ ? 4 : 3); }

  // Escaped as the C string has them.
  void define_macros() {
    // The word at `o` by x in a4.
    lines_.insert(lines_.end(), {".macro aotc_w e,d,o", "lw a5,\\\\o(a0)", "and a6,a5,t0", "mul a6,a6,a4",
                                 "srai a5,a5,8", "mul a5,a5,a4", "add \\\\e,\\\\e,a6", "add \\\\d,\\\\d,a5", ".endm"});
    // A group's sums to the totals.
    lines_.insert(lines_.end(), {".macro aotc_a e,d,j,k,l,m", "srai a4,\\\\e,16", "add \\\\j,\\\\j,\\\\e",
                                 "add \\\\l,\\\\l,a4", "slli a4,a4,8", "sub \\\\d,\\\\d,a4", "add \\\\k,\\\\k,\\\\d",
                                 "srai \\\\d,\\\\d,16", "add \\\\m,\\\\m,\\\\d", ".endm"});
    // Unit c, whose line is at `o`.
    line(".macro aotc_u v,o,c");
    line("lw a5,\\\\o(a0)");
    line("slli \\\\v,\\\\v,{}", QuadKernel::kLeft);
    line("add \\\\v,\\\\v,a5");
    if (!same_) {
      line("lw t5,\\\\o+4(a0)");
      line("lw t6,\\\\o+8(a0)");
      if (sign_) line("lw a7,\\\\o+12(a0)");
    }
    if (sign_) {
      line("srai a6,\\\\v,31");
      line("and a6,a6,a7");
    }
    line("mulh \\\\v,\\\\v,t5");
    line("add \\\\v,\\\\v,t6");
    if (sign_) line("sub \\\\v,\\\\v,a6");
    line("sra \\\\v,\\\\v,a3");
    lines_.insert(lines_.end(), {"bge \\\\v,s0,8f", "mv \\\\v,s0", "8:", "bge s1,\\\\v,9f", "mv \\\\v,s1",
                                 "9:", "sb \\\\v,\\\\c(a2)", ".endm"});
  }

  void enter() {
    save(kFrame);
    line("lw t4,{}(a0)", kWord * QuadKernel::kTiles);
    line("lw t1,{}(a0)", kWord * QuadKernel::kDepth);
    line("add t1,t1,a1");
    line("lw a4,{}(a0)", kWord * QuadKernel::kShift);
    line("sw a4,{}(sp)", kShift);
    if (same_) {
      line("lw t5,{}(a0)", kWord * QuadKernel::kMultiplier);
      line("lw t6,{}(a0)", kWord * QuadKernel::kOffset);
      if (sign_) line("lw a7,{}(a0)", kWord * QuadKernel::kSign);
    }
    line("addi a0,a0,{}", kWord * QuadKernel::kHeader);
    line("mv t2,a1");
    line("mv t3,a3");
    line("lui t0,0xff0");
    line("addi t0,t0,0xff");
  }

  void begin_totals() {
    for (int i = 0; i < kUnits * words_; ++i) line("li s{},0", total(0, i));
  }

  // Units 2 and 3 of a word are still in the totals of 0 and 1.
  void take_apart() {
    for (int w = 0; w < words_; ++w)
      for (int u = 0; u < 2; ++u) {
        line("slli a4,s{},16", total(w, u + 2));
        line("sub s{0},s{0},a4", total(w, u));
      }
  }

  // Weights that were cut: totals are in memory then.
  void rests() {
    line("lw a4,0(a0)");
    line("addi a0,a0,{}", kWord);
    line("beqz a4,4f");
    for (int i = 0; i < kUnits * words_; ++i) line("sw s{},{}(sp)", total(0, i), kTotals + kWord * i);
    line("add a4,a4,a0");
    line("3:");
    for (const char* text : {"lw a5,0(a0)", "srai a6,a5,16", "add a6,a6,t2", "lb a6,0(a6)", "slli s0,a5,24",
                             "srai s0,s0,24", "mul s0,s0,a6", "srli a5,a5,8", "andi a5,a5,255", "add a5,a5,sp"})
      line("{}", text);
    line("lw s1,{}(a5)", kTotals);
    line("add s1,s1,s0");
    line("sw s1,{}(a5)", kTotals);
    line("addi a0,a0,{}", kWord);
    line("bne a0,a4,3b");
    for (int i = 0; i < kUnits * words_; ++i) line("lw s{},{}(sp)", total(0, i), kTotals + kWord * i);
    line("4:");
  }

  void outputs() {
    line("li s0,-128");
    line("li s1,127");
    line("lw a3,{}(sp)", kShift);
    for (int w = 0; w < words_; ++w)
      for (int u = 0; u < kUnits; ++u)
        line("aotc_u s{},{},{}", total(w, u), (w * kUnits + u) * line_bytes(), w * kUnits + u);
    line("addi a0,a0,{}", kUnits * words_ * line_bytes());
    line("addi a2,a2,{}", kUnits * words_);
  }

  int words_, group_;
  bool same_, sign_;
};

}  // namespace

Implementation quads_rv32(const tir::Kernel& kernel) { return QuadWriter(kernel).run(); }

}  // namespace aotc::cores::riscv
