// SPDX-License-Identifier: Apache-2.0
#include "ops/common/triple_pack.h"
#include "cores/riscv/kernel_text.h"

namespace aotc::cores::riscv {

namespace {

using ops::TripleGemm;
using ops::TriplePack;

// a0 x, a1 blank, a2 panel, a3 table: all but the panel are temporaries in the end. a4 to a6 pixels, t0 to t2 what they
// move on by from row to row, t3 elements of a row, t4 what the panel moves on by, t5 the row's end, a7 rows left.
class PackWriter : KernelText {
 public:
  explicit PackWriter(const tir::Kernel& kernel) : unroll_(parameter_of(kernel, "unroll")) {}

  Implementation run() {
    line(".macro aotc_e e,o");
    for (const char* text : {"lb a1,\\\\e(a5)", "lb a0,\\\\e(a4)", "lb a3,\\\\e(a6)"}) line("{}", text);
    line("slli t6,a1,{}", TripleGemm::kLane);
    line("add a0,a0,t6");
    line("slli a1,a1,{}", TripleGemm::kLane - TripleGemm::kRest);
    line("add a3,a3,a1");
    line("sw a0,\\\\o(a2)");
    line("sw a3,\\\\o+{}(a2)", kWord);
    line(".endm");
    line("lw t6,{}(a3)", kWord * TriplePack::kPitch);
    line("lw t3,{}(a3)", kWord * TriplePack::kCount);
    line("lw a7,{}(a3)", kWord * TriplePack::kRows);
    line("lw t4,{}(a3)", kWord * TriplePack::kSkip);
    for (int p = 0; p < TripleGemm::kPixels; ++p) begin(p);
    line("1:");
    line("add t5,a4,t3");
    line("2:");
    for (int i = 0; i < unroll_; ++i) line("aotc_e {},{}", i, TripleGemm::kWords * kWord * i);
    for (int p = 0; p < TripleGemm::kPixels; ++p) line("addi {0},{0},{1}", kPixel[p], unroll_);
    line("addi a2,a2,{}", TripleGemm::kWords * kWord * unroll_);
    line("bne a4,t5,2b");
    for (int p = 0; p < TripleGemm::kPixels; ++p) line("add {0},{0},{1}", kPixel[p], kNext[p]);
    line("add a2,a2,t4");
    line("addi a7,a7,-1");
    line("bnez a7,1b");
    return finish();
  }

 private:
  static constexpr const char* kPixel[] = {"a4", "a5", "a6"};
  static constexpr const char* kNext[] = {"t0", "t1", "t2"};

  // The pixel's first element, or padding, which begins anew in each row.
  void begin(int p) {
    line("lw {},{}(a3)", kPixel[p], kWord * (TriplePack::kFirst + p));
    line("sub {},t6,t3", kNext[p]);
    line("bgez {},1f", kPixel[p]);
    line("sub {},zero,t3", kNext[p]);
    line("sub {},a1,a0", kPixel[p]);
    line("1:");
    line("add {0},{0},a0", kPixel[p]);
  }

  int unroll_;
};

}  // namespace

Implementation triple_pack_rv32(const tir::Kernel& kernel) { return PackWriter(kernel).run(); }

}  // namespace aotc::cores::riscv
