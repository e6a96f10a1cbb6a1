// SPDX-License-Identifier: Apache-2.0
#include <tuple>
#include <utility>

#include "cores/riscv/kernel_text.h"
#include "cores/riscv/winograd.h"

namespace aotc::cores::riscv {

namespace {

using ops::TripleGemm;

// a0 x, a1 blank, a2 panel, a3 table; s0 to s11 the columns of the tiles, which is where their next elements are; t0 to
// t3 what the first words hold of the columns, t4, t5, a4 and a5 the second; a6 and a7 temporaries, t6 the row's end.
class ColumnsWriter : KernelText {
 public:
  explicit ColumnsWriter(const tir::Kernel& kernel)
      : channels_(parameter_of(kernel, "channels")),
        rows_(parameter_of(kernel, "rows")),
        dilation_(parameter_of(kernel, "dilation")),
        height_(parameter_of(kernel, "height")),
        width_(parameter_of(kernel, "width")) {}

  Implementation run() {
    define_tile();
    define_element();
    save(kFrame);
    for (int t = 0; t < kTiles; ++t) {
      line("lw a4,{}(a3)", kWord * (t * Winograd::kTileWords + Winograd::kRow));
      line("lw a5,{}(a3)", kWord * (t * Winograd::kTileWords + Winograd::kElement));
      line("sw a4,{}(sp)", kPlaces + 2 * kWord * t);
      line("sw a5,{}(sp)", kPlaces + 2 * kWord * t + kWord);
    }
    line("li a4,{}", rows_);
    line("1:");
    line("sw a4,{}(sp)", kRowsLeft);
    for (int t = 0; t < kTiles; ++t)
      line("aotc_t {},{},s{},s{},s{},s{}", kPlaces + 2 * kWord * t, kWord * t * Winograd::kTileWords, kColumns * t,
           kColumns * t + 1, kColumns * t + 2, kColumns * t + 3);
    line("addi t6,s1,{}", channels_);
    line("2:");
    for (int i = 0; i < Winograd::kUnroll; ++i)
      line("aotc_e {},{}", i, kWord * static_cast<int>(Winograd::kStepWords) * i);
    for (int i = 0; i < kTiles * kColumns; ++i) line("addi s{0},s{0},{1}", i, Winograd::kUnroll);
    line("addi a2,a2,{}", kWord * Winograd::kStepWords * Winograd::kUnroll);
    line("bne s1,t6,2b");
    line("lw a4,{}(sp)", kRowsLeft);
    line("addi a4,a4,-1");
    line("bnez a4,1b");
    restore();
    return finish();
  }

 private:
  static constexpr int kTiles = Winograd::kTiles, kColumns = Winograd::kColumns;
  static constexpr int kPlaces = kSavedBytes, kRowsLeft = kPlaces + 2 * kWord * kTiles, kFrame = 80;

  // A tile whose row and element are at `p`, and its words of the table at `o`: where the columns of this row begin.
  void define_tile() {
    line(".macro aotc_t p,o,i,j,k,l");
    line("lw a4,\\\\p(sp)");
    line("lw a5,\\\\p+{}(sp)", kWord);
    line("li a6,{}", dilation_ * width_ * channels_);
    line("add a6,a6,a5");
    line("sw a6,\\\\p+{}(sp)", kWord);
    line("addi a6,a4,{}", dilation_);
    line("sw a6,\\\\p(sp)");
    line("add \\\\i,a0,a5");
    line("addi \\\\j,\\\\i,{}", channels_);
    line("addi \\\\k,\\\\i,{}", 2 * channels_);
    line("addi \\\\l,\\\\i,{}", 3 * channels_);
    for (const auto& [edge, column] : {std::pair{Winograd::kLeftEdge, "i"}, std::pair{Winograd::kRightEdge, "l"}}) {
      line("lw a6,\\\\o+{}(a3)", kWord * edge);
      line("beqz a6,8f");
      line("mv \\\\{},a1", column);
      line("8:");
    }
    line("li a6,{}", height_);
    line("bltu a4,a6,8f");
    for (const char* column : {"i", "j", "k", "l"}) line("mv \\\\{},a1", column);
    line("8:");
    line(".endm");
  }

  // The element at `e` of all columns, to the step at `o`.
  void define_element() {
    line(".macro aotc_e e,o");
    for (int j = 0; j < kColumns; ++j) {
      line("lb a6,\\\\e(s{})", kColumns + j);
      line("slli a7,a6,{}", TripleGemm::kLane);
      line("lb {},\\\\e(s{})", kFirst[j], j);
      line("add {0},{0},a7", kFirst[j]);
      line("slli a6,a6,{}", TripleGemm::kLane - TripleGemm::kRest);
      line("lb {},\\\\e(s{})", kSecond[j], 2 * kColumns + j);
      line("add {0},{0},a6", kSecond[j]);
    }
    for (const auto& [x, place] : {std::pair{kFirst, 0}, std::pair{kSecond, kWord}}) {
      line("sub {0},{0},{1}", x[0], x[2]);
      line("sub {0},{0},{1}", x[3], x[1]);
      line("add a6,{},{}", x[1], x[2]);
      line("sub {0},{0},{1}", x[2], x[1]);
      line("slli {0},{0},1", x[0]);
      line("slli {0},{0},1", x[3]);
      const char* product[] = {x[0], "a6", x[2], x[3]};
      for (int j = 0; j < kColumns; ++j) line("sw {},\\\\o+{}(a2)", product[j], place + 2 * kWord * j);
    }
    line(".endm");
  }

  static constexpr const char* kFirst[] = {"t0", "t1", "t2", "t3"};
  static constexpr const char* kSecond[] = {"t4", "t5", "a4", "a5"};

  int channels_, rows_, dilation_, height_, width_;
};

// Two sums for each channel. Beside these: a0 stream, a1 panel, a2 out, a3 the segment's panel; a4 to a7 temporaries,
// t0 where totals are, t1 which of two products is made, t2 where its panel ends.
class WinogradTriplesWriter : KernelText {
 public:
  explicit WinogradTriplesWriter(const tir::Kernel& kernel)
      : shift_(parameter_of(kernel, "shift")), sign_(parameter_of(kernel, "sign") != 0) {}

  // a0 stream, a1 panel, a2 out, a3 shape.
  Implementation run() {
    define_macros();
    enter();
    line("1:");
    line("lw a3,{}(sp)", kPanel);
    line("lw a4,{}(sp)", kSegments);
    line("sw a4,{}(sp)", kLeftSegments);
    begin_totals();
    line("2:");
    segment();
    line("lw a4,{}(sp)", kLeftSegments);
    line("addi a4,a4,-1");
    line("sw a4,{}(sp)", kLeftSegments);
    line("bnez a4,2b");
    outputs();
    line("lw a4,{}(sp)", kStreamEnd);
    line("bne a0,a4,1b");
    restore();
    return finish();
  }

 private:
  static constexpr const char* kSums[] = {"s0", "s1", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                          "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
  static constexpr int kTiles = Winograd::kTiles, kOutputs = Winograd::kTileOutputs;
  static constexpr int kChannels = Winograd::kChannels, kTotalWords = kOutputs * kTiles, kUnroll = Winograd::kUnroll;
  static constexpr int kStepBytes = kWord * Winograd::kStepWords, kProductBytes = kWord * TripleGemm::kWords;
  static constexpr int kPanel = kSavedBytes, kStreamEnd = 52, kSegmentBytes = 56, kSegments = 60, kLeftSegments = 64,
                       kStride = 68, kKept = 72, kTotals = kKept + 2 * kWord * kChannels,
                       kFrame = (kTotals + kWord * kChannels * kTotalWords + 15) / 16 * 16;

  int line_bytes() const { return kWord * static_cast<int>(Winograd::line_words(sign_)); }

  void define_macros() {
    // A weight at `o` by both words, loaded by the instruction `l`.
    lines_.insert(lines_.end(), {".macro aotc_m l,a,b,o", "\\\\l a6,\\\\o(a0)", "mul a7,a4,a6", "mul a6,a5,a6",
                                 "add \\\\a,\\\\a,a7", "add \\\\b,\\\\b,a6", ".endm"});
    // A step of sums of taps, and one of taps: its words at `x`, its weights from `o` on.
    for (const auto& [name, load, bytes] : {std::tuple{"aotc_h", "lh", 2}, std::tuple{"aotc_b", "lb", 1}}) {
      line(".macro {} v,o", name);
      line("lw a4,\\\\v(a1)");
      line("lw a5,\\\\v+{}(a1)", kWord);
      for (int c = 0; c < kChannels; ++c)
        line("aotc_m {},{},{},\\\\o+{}", load, kSums[2 * c], kSums[2 * c + 1], bytes * c);
      line(".endm");
    }
    // What is done with all sums, each of which has a place to be kept: begun, kept, taken again.
    line(".macro aotc_a m");
    for (int i = 0; i < 2 * kChannels; ++i) line("\\\\m {},{}", kSums[i], kKept + kWord * i);
    line(".endm");
    lines_.insert(lines_.end(), {".macro aotc_z a,o", "li \\\\a,0", ".endm", ".macro aotc_w a,o", "sw \\\\a,\\\\o(sp)",
                                 ".endm", ".macro aotc_r a,o", "lw \\\\a,\\\\o(sp)", ".endm"});
    // A sum that was kept at `o`, and what both products make.
    line(".macro aotc_c a,o");
    for (const char* text : {"lw a4,\\\\o(sp)", "slli a4,a4,1", "sub a4,a4,\\\\a", "sw a4,\\\\o(sp)"}) line("{}", text);
    line(".endm");
    // The three sums of a and b to the totals at `o`, shifted left as a line takes accumulators.
    line(".macro aotc_s a,b,o");
    constexpr int rest = TripleGemm::kRest, left = Winograd::kLeft - 1;
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
    const char* of_tile[] = {"a4", "\\\\b", "a6"};
    for (int t = 0; t < kTiles; ++t) {
      line("lw a5,\\\\o+{}(t0)", kWord * t);
      line("add a5,a5,{}", of_tile[t]);
      line("sw a5,\\\\o+{}(t0)", kWord * t);
    }
    line(".endm");
    // A total at `o`, to the pixel at p.
    line(".macro aotc_o o,p");
    line("lw a4,\\\\o(t0)");
    line("add a4,a4,a5");
    if (sign_) {
      line("srai t2,a4,31");
      line("and t2,t2,t1");
    }
    line("mulh a4,a4,a6");
    line("add a4,a4,a7");
    if (sign_) line("sub a4,a4,t2");
    line("srai a4,a4,{}", shift_);
    lines_.insert(lines_.end(), {"bge a4,t3,8f", "mv a4,t3", "8:", "bge t4,a4,9f", "mv a4,t4", "9:", "sb a4,0(\\\\p)",
                                 "addi \\\\p,\\\\p,1", ".endm"});
  }

  void begin_totals() {
    constexpr int kAtOnce = 12;
    line("addi t0,sp,{}", kTotals);
    line("addi a4,t0,{}", kWord * kChannels * kTotalWords);
    line("3:");
    for (int i = 0; i < kAtOnce; ++i) line("sw zero,{}(t0)", kWord * i);
    line("addi t0,t0,{}", kWord * kAtOnce);
    line("bne t0,a4,3b");
  }

  void enter() {
    save(kFrame);
    line("sw a1,{}(sp)", kPanel);
    line("lw a4,{}(a3)", kWord * Winograd::kStreamBytes);
    line("add a4,a4,a0");
    line("sw a4,{}(sp)", kStreamEnd);
    line("lw a4,{}(a3)", kWord * Winograd::kPanelBytes);
    line("sw a4,{}(sp)", kSegmentBytes);
    line("lw a4,{}(a3)", kWord * Winograd::kSegments);
    line("sw a4,{}(sp)", kSegments);
    line("lw a4,{}(a3)", kWord * Winograd::kStride);
    line("sw a4,{}(sp)", kStride);
  }

  // A product's steps of a segment: `step` takes one of them, with weights of so many bytes.
  void turns(const char* step, int bytes) {
    line("7:");
    for (int u = 0; u < kUnroll; ++u) line("{} {},{}", step, kStepBytes * u, bytes * kChannels * u);
    line("addi a1,a1,{}", kStepBytes * kUnroll);
    line("addi a0,a0,{}", bytes * kChannels * kUnroll);
    line("bne a1,t2,7b");
  }

  // t2: where the steps of the product that is made end.
  void segment() {
    line("lw t2,{}(sp)", kSegmentBytes);
    line("add t2,t2,a3");
    line("addi t2,t2,{}", kProductBytes);
    line("aotc_a aotc_z");
    // Products 1 and 2: what the first makes is kept, and the second goes on from there.
    line("li t1,1");
    line("addi a1,a3,{}", kProductBytes);
    line("3:");
    turns("aotc_h", 2);
    line("beqz t1,4f");
    line("aotc_a aotc_w");
    line("li t1,0");
    line("addi a1,a3,{}", 2 * kProductBytes);
    line("addi t2,t2,{}", kProductBytes);
    line("beqz t1,3b");
    line("4:");
    // The outputs that product 0 belongs to, then those of product 3.
    line("aotc_a aotc_c");
    line("mv a1,a3");
    line("addi t2,t2,-{}", 2 * kProductBytes);
    line("addi t0,sp,{}", kTotals);
    line("5:");
    turns("aotc_b", 1);
    for (int c = 0; c < kChannels; ++c)
      line("aotc_s {},{},{}", kSums[2 * c], kSums[2 * c + 1], kWord * kTotalWords * c);
    line("addi a4,sp,{}", kTotals);
    line("bne t0,a4,6f");
    line("addi t0,t0,{}", kWord * kTiles);
    line("aotc_a aotc_r");
    line("addi a1,a3,{}", 3 * kProductBytes);
    line("addi t2,t2,{}", 3 * kProductBytes);
    line("beq t0,t0,5b");
    line("6:");
    line("addi a3,t2,-{}", 3 * kProductBytes);
  }

  // s0 to s5: the pixels; t3 and t4 the ends of int8, t5 the end of the totals.
  void outputs() {
    line("lw a4,{}(sp)", kStride);
    line("mv s0,a2");
    for (int p = 1; p < kTotalWords; ++p) line("add s{},s{},a4", p, p - 1);
    line("li t3,-128");
    line("li t4,127");
    line("addi t0,sp,{}", kTotals);
    line("addi t5,t0,{}", kWord * kChannels * kTotalWords);
    line("3:");
    line("lw a5,0(a0)");
    line("lw a6,4(a0)");
    line("lw a7,8(a0)");
    if (sign_) line("lw t1,12(a0)");
    for (int y = 0; y < kOutputs; ++y)
      for (int t = 0; t < kTiles; ++t) line("aotc_o {},s{}", kWord * (y * kTiles + t), t * kOutputs + y);
    line("addi a0,a0,{}", line_bytes());
    line("addi t0,t0,{}", kWord * kTotalWords);
    line("bne t0,t5,3b");
    line("addi a2,a2,{}", kChannels);
  }

  int shift_;
  bool sign_;
};

}  // namespace

Implementation winograd_columns_rv32(const tir::Kernel& kernel) { return ColumnsWriter(kernel).run(); }
Implementation winograd_triples_rv32(const tir::Kernel& kernel) { return WinogradTriplesWriter(kernel).run(); }

}  // namespace aotc::cores::riscv
