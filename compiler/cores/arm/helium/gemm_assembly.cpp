// SPDX-License-Identifier: Apache-2.0
// Matrix products with VMLADAVA, which adds the sixteen products of two vectors of bytes to an even
// general register: r0, r2 .. r12 and lr are the eight sums, odd registers hold the pointers. Sums
// are moved into vectors of four channels to be requantised; the even channels' results go to the
// even half lanes and the odd ones' to the odd half lanes of one vector, so that one narrowing and
// one store do for eight channels.
#include "cores/arm/helium/gemm.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"
#include "cores/arm/helium/scaling_writer.h"

namespace aotc::cores::arm {

namespace {

// How many blocks are written out: all of them, or some before and some in a loop.
struct Unrolled {
  Unrolled(int blocks, int most) {
    if (blocks <= most) {
      before = blocks;
      return;
    }
    int rest = blocks % most;
    before = rest == 0 ? most : rest;
    in_loop = most;
    passes = (blocks - before) / most;
  }
  // Where nothing has to come before a loop: fewer passes of as much text.
  void join() {
    const int blocks = before + in_loop * passes, text = before + in_loop;
    if (passes > 0 && blocks % text == 0) before = 0, in_loop = text, passes = blocks / text;
  }
  int before = 0, in_loop = 0, passes = 0;
};

// ProductWriter writes the common part of both products: their blocks and sums.
class ProductWriter : protected ScalingWriter {
 public:
  explicit ProductWriter(const tir::Kernel& kernel)
      : ScalingWriter(kernel),
        rows_(parameter(kernel, "rows")),
        per_row_(parameter(kernel, "blocks")),
        blocks_(rows_ * per_row_),
        first_(parameter(kernel, "first")),
        apart_(parameter(kernel, "apart")),
        window_(has_parameter(kernel, "window")) {}

 protected:
  // Weights of a block and a channel.
  void load_weights(Vec w) { halves_ ? a_.vldrb_after(16, w, r5, 8) : a_.vldrb_after(8, w, r5, 16); }

  // x times the weights at r5 that sums of windows have. q2 is free.
  void add_to_windows(std::initializer_list<std::pair<Reg, Vec>> sums) {
    a_.vldrb_after(8, q2, r5, 16);
    for (auto [sum, x] : sums) a_.vmladava(sum, x, q2);
  }

  // Elements beyond the only block's are read as 0; nothing behind them is touched. Nothing else changes the predicate.
  void predicate() {
    if (first_ >= MveGemm::kBlock) return;
    a_.mov(r0, first_);
    a_.vctp(8, r0);
  }
  void load_partly(std::initializer_list<std::pair<Vec, Reg>> loads) {
    if (first_ < MveGemm::kBlock) {
      a_.vpst(static_cast<int>(loads.size()));
      a_.predicated([&] {
        for (auto [v, from] : loads) a_.vldrb(8, v, from);
      });
    } else {
      for (auto [v, from] : loads) a_.vldrb(8, v, from);
    }
  }

  int rows_, per_row_, blocks_, first_, apart_;
  bool window_;
};

// Two pixels by four channels. r9 and r11 are the pixels, r1 and r3 their outputs, r5 the stream.
// r7 counts groups, or is what is skipped from one row of elements to the next. Where pixels share
// vectors r9 is a row of both, and r11 counts rows or is where the stream of whole groups ends.
class MveGemmWriter : ProductWriter {
 public:
  // `compact` 1: the first row of odd channels is like the others, which takes fewer lines and ten more instructions
  // for four channels; 2: of all channels, and none is written out before a loop of rows.
  MveGemmWriter(const tir::Kernel& kernel, int compact)
      : ProductWriter(kernel), unrolled_(blocks_, MveGemm::kGemmUnroll), compact_(compact) {}

  Implementation run() {
    Label pair = a_.label(), group = a_.label();
    prologue();
    a_.note("For every two pixels. r9 and r11: the pixels, r1 and r3: their outputs, r5: weights.");
    a_.bind(pair);
    if (hoisted()) load_partly({{q6, r9}, {q7, r11}});
    if (window_) sum_windows();
    a_.note("For every eight channels: four even ones, then four odd ones; r0, r2 to r12 and lr sum up.");
    a_.bind(group);
    half(false);
    half(true);
    a_.note("Requantise and store the eight channels of both pixels.");
    if (needs_shape()) a_.ldr(r4, sp, kShape);
    if (!only_sums_) finish({q4, q5});
    if (takes_r3()) {
      a_.ldr(r3, sp, kOutPixel);
      a_.add(r3, r1, r3);
    }
    if (only_sums_) store_sums();
    else
      for (auto [v, to] : {std::pair(q4, r1), std::pair(q5, r3)})
        halves_ ? a_.vstrh_after(v, to, 16) : a_.vstrb_after(16, v, to, 8);
    next_group(group);
    next_pair(pair);
    a_.leave();
    return a_.finish();
  }

 private:
  // kOutStep here is from the end of a pixel's channels. kGroups is where the stream of whole
  // groups ends if r7 does not count them. The first seven are stored and loaded at once. kShape is the
  // zero point if only that is needed.
  static constexpr int kPairs = 0, kXStep = 4, kStream = 8, kXPixel = 12, kGroups = 16, kOutStep = 20, kOutPixel = 24,
                       kShape = 28, kGroupsLeft = 32, kLocals = 36, kWindows = 36, kFirst = 44, kMoreLocals = 48;
  static Reg sum(int pixel, int channel) { return kSums[static_cast<size_t>(4 * pixel + channel)]; }
  // The one block stays in registers.
  bool hoisted() const { return blocks_ == 1; }
  bool several_rows() const { return rows_ > 1; }
  bool row_loop() const { return several_rows() && blocks_ > MveGemm::kGemmUnroll; }
  bool shares() const { return apart_ > 0; }
  bool takes_r3() const { return row_loop() && !shares(); }  // to count rows
  bool block_loop() const { return !several_rows() && unrolled_.passes > 0; }

  // r0 stream, r1 x, r2 out, r3 shape. Leaves the first pair's addresses.
  void prologue() {
    a_.note("On entry r0: weights, r1: x, r2: out, r3: shape.");
    a_.enter(window_ ? kMoreLocals : kLocals);
    if (needs_shape()) {
      a_.str(r3, sp, kShape);
    } else if (products_) {
      a_.ldr(r9, r3, MveGemm::kZero * 4);
      a_.str(r9, sp, kShape);
    }
    a_.mov(r9, r1);
    a_.mov(r1, r2);
    a_.mov(r5, r0);
    if (several_rows()) {
      a_.ldrd(r7, r8, r3, MveGemm::kRowSkip * 4);  // and the stream's bytes
      a_.add(r8, r8, r0);
      a_.ldr(r2, r3, MveGemm::kPairs * 4);
    } else {
      a_.ldrd(r2, r7, r3, MveGemm::kPairs * 4);  // and groups
    }
    const Reg out_step = several_rows() ? r10 : r8, out_pixel = several_rows() ? r12 : r10;
    a_.ldrd(r4, out_step, r3, MveGemm::kXStep * 4);
    a_.ldr(out_pixel, r3, MveGemm::kChannels * 4);
    a_.sub(out_step, out_step, out_pixel);
    a_.ldrd(r6, out_pixel, r3, MveGemm::kXPixel * 4);
    if (several_rows()) {
      a_.stm(sp, {r2, r4, r5, r6, r8, out_step, out_pixel});
    } else {
      a_.stm(sp, {r2, r4, r5, r6, r7, out_step, out_pixel});
    }
    if (!shares()) {
      a_.add(r11, r9, r6);
    } else if (!row_loop()) {
      a_.mov(r11, r8);
    }
    if (!takes_r3()) a_.add(r3, r1, out_pixel);
    if (hoisted()) predicate();
  }

  void next_pair(Label pair) {
    Reg out_step = r8, out_pixel = r10;
    if (several_rows()) {
      out_step = r10, out_pixel = r12;
      a_.ldm(sp, {r2, r4, r5, r6, r8, out_step, out_pixel});
    } else {
      a_.ldm(sp, {r2, r4, r5, r6, r7, out_step, out_pixel});
    }
    a_.subs(r2, r2, 1);
    a_.str(r2, sp, kPairs);
    a_.add(r9, r9, r4);
    a_.add(r1, r1, out_step);
    if (!shares()) a_.add(r11, r9, r6);
    if (!takes_r3()) a_.add(r3, r1, out_pixel);
    a_.b("ne", pair);
  }

  // Stores the terms of both pixels, which are added to their sums, on the stack. r6 is the distance of the pixels;
  // r0, r2, r4, r8, r12 and lr are free.
  void sum_windows() {
    a_.note("Add up the window of each pixel.");
    for (Reg sum : {r0, r2}) a_.mov(sum, 0);
    if (hoisted()) {
      add_to_windows({{r0, q6}, {r2, q7}});
    } else {
      a_.str(r9, sp, kFirst);
      Label row = a_.label();
      if (several_rows()) a_.mov(r4, rows_);
      if (several_rows()) a_.bind(row);
      sum_row();
      if (several_rows()) {
        skip(false);
        a_.subs(r4, r4, 1);
        a_.b("ne", row);
      }
      a_.ldr(r9, sp, kFirst);
      if (!shares()) a_.add(r11, r9, r6);
    }
    a_.strd(r0, r2, sp, kWindows);
  }

  void sum_row() {
    auto sum_block = [&](int step) {
      a_.vldrb_after(8, q0, r9, step);
      a_.vldrb_after(8, q1, r11, step);
      add_to_windows({{r0, q0}, {r2, q1}});
    };
    if (shares()) {
      for (int i = 0; i < per_row_; ++i) {
        a_.vldrb(8, q0, r9, MveGemm::kBlock * i);
        a_.vldrb(8, q1, r9, MveGemm::kBlock * (i + apart_));
        add_to_windows({{r0, q0}, {r2, q1}});
      }
      return;
    }
    // The second block may begin early, or all of them are further apart.
    sum_block(first_);
    if (per_row_ == 1) return;
    Label block = a_.label();
    a_.mov(r8, per_row_ - 1);
    a_.dls(r8);
    a_.bind(block);
    sum_block(std::max(first_, +MveGemm::kBlock));
    a_.le(block);
  }

  // Four channels: blocks upwards for the even ones, downwards for the odd ones.
  void half(bool odd) {
    if (row_loop()) {
      loop_rows(odd);
    } else if (block_loop()) {
      loop_blocks(odd);
    } else if (compact_ == 2) {
      for (Reg sum : kSums) a_.mov(sum, 0);
      a_.repeat(rows_, [&] { passed_row(odd, false); });
    } else if (compact_ == 1 && odd) {
      for (Reg sum : kSums) a_.mov(sum, 0);
      a_.repeat(rows_, [&] {
        blocks_of_row(odd, false);
        skip(odd);
      });
      skip(!odd);
    } else {
      blocks_of_row(odd, true);
      a_.repeat(rows_ - 1, [&] {
        skip(odd);
        blocks_of_row(odd, false);
      });
    }
    a_.gather(q0, sum(0, 0), sum(0, 1), sum(0, 2), sum(0, 3));
    a_.gather(q1, sum(1, 0), sum(1, 1), sum(1, 2), sum(1, 3));
    if (window_) {
      a_.ldrd(r0, r2, sp, kWindows);
      a_.vadd(32, q0, q0, r0);
      a_.vadd(32, q1, q1, r2);
    }
    if (products_) {
      a_.ldr(r0, sp, kShape);
      if (needs_shape()) a_.ldr(r0, r0, MveGemm::kZero * 4);
    }
    requantize(q0, q1, q4, q5, odd);
  }

  // Even sums in q4 and q5, odd ones in q0 and q1.
  void store_sums() {
    for (auto [even, odd, to] : {std::tuple(q4, q0, r1), std::tuple(q5, q1, r3)}) {
      a_.vmov(q2, even);
      a_.vmov(q3, odd);
      for (int part : {0, 1}) a_.vst2_words(q2, to, part);
    }
  }

  // Down, a row is entered by the skip that leaves it upwards.
  void passed_row(bool odd, bool begins) {
    if (odd) skip(odd);
    blocks_of_row(odd, begins);
    if (!odd) skip(odd);
  }

  void loop_rows(bool odd) {
    bool peels = per_row_ <= MveGemm::kRowUnroll && compact_ < 2;
    if (peels) {
      passed_row(odd, true);
    } else {
      for (Reg sum : kSums) a_.mov(sum, 0);
    }
    Label body = a_.label();
    const Reg left = shares() ? r11 : r3;
    a_.mov(left, peels ? rows_ - 1 : rows_);
    a_.bind(body);
    passed_row(odd, false);
    a_.subs(left, left, 1);
    a_.b("ne", body);
  }

  // Only the lowest block's length is less than 16, and if it is there is no loop.
  void loop_blocks(bool odd) {
    Label body = a_.label();
    block(odd, first_, true);
    a_.repeat(unrolled_.before - 1, [&] { block(odd, first_, false); });
    a_.str(r7, sp, kGroupsLeft);
    a_.mov(r7, unrolled_.passes);
    a_.bind(body);
    a_.repeat(unrolled_.in_loop, [&] { block(odd, first_, false); });
    a_.subs(r7, r7, 1);
    a_.b("ne", body);
    a_.ldr(r7, sp, kGroupsLeft);
  }

  // The lowest block of a row may be shorter: it is the first upwards, the last downwards.
  void blocks_of_row(bool odd, bool begins) {
    if (shares()) return shared_row(odd, begins);
    if (first_ >= MveGemm::kBlock || per_row_ == 1) {
      if (begins) block(odd, first_, true);
      return a_.repeat(begins ? per_row_ - 1 : per_row_, [&] { block(odd, first_, false); });
    }
    block(odd, odd ? MveGemm::kBlock : first_, begins);
    a_.repeat(per_row_ - 2, [&] { block(odd, MveGemm::kBlock, false); });
    block(odd, odd ? first_ : MveGemm::kBlock, false);
  }

  void skip(bool odd) {
    for (Reg x : {r9, r11})
      if (x == r9 || !shares()) odd ? a_.sub(x, x, r7) : a_.add(x, x, r7);
  }

  // Vector i of a row is the first pixel's block i and the second's that is so many blocks before it.
  void shared_row(bool odd, bool begins) {
    constexpr std::array<Vec, MveGemm::kMostApart + 1> kHeld = {q0, q1, q3};
    auto x = [&](int i) { return kHeld[static_cast<size_t>(i % (apart_ + 1))]; };
    auto load = [&](int i) { a_.vldrb(8, x(i), r9, MveGemm::kBlock * i); };
    for (int i = 0; i < apart_; ++i) load(odd ? per_row_ + i : i);
    for (int n = 0; n < per_row_; ++n) {
      const int i = odd ? per_row_ - 1 - n : n;
      if (odd) load(i);
      for (int c = 0; c < 4; ++c) {
        const Vec w = c % 2 == 0 || apart_ == MveGemm::kMostApart ? q2 : q3;
        load_weights(w);
        multiply(sum(0, c), x(i), w, begins && n == 0);
        if (c == 0 && !odd) load(i + apart_);
        multiply(sum(1, c), x(i + apart_), w, begins && n == 0);
      }
    }
  }

  void block(bool odd, int step, bool begins) {
    Vec x0 = hoisted() ? q6 : q0, x1 = hoisted() ? q7 : q1;
    load_x(x0, r9, odd, step);
    for (int c = 0; c < 4; ++c) {
      Vec w = c % 2 == 0 ? q2 : q3;
      load_weights(w);
      multiply(sum(0, c), x0, w, begins);
      if (c == 0) load_x(x1, r11, odd, step);
      multiply(sum(1, c), x1, w, begins);
    }
  }

  void load_x(Vec x, Reg from, bool odd, int step) {
    if (hoisted()) return;
    odd ? a_.vldrb_before(8, x, from, -step) : a_.vldrb_after(8, x, from, step);
  }

  void multiply(Reg sum, Vec x, Vec w, bool begins) {
    begins ? a_.vmladav(sum, x, w, bits()) : a_.vmladava(sum, x, w, bits());
  }

  // After the whole groups one more that begins earlier, if channels remain.
  void next_group(Label group) {
    Label done = a_.label();
    if (shares() && !row_loop()) {
      a_.cmp(r5, r11);
    } else if (several_rows()) {
      a_.ldr(r0, sp, kGroups);
      a_.cmp(r5, r0);
    } else {
      a_.subs(r7, r7, 1);
    }
    if (back_ == 0) return a_.b("ne", group);
    a_.b(several_rows() ? "lo" : "gt", group);
    a_.b("ne", done);
    a_.sub(r1, r1, back_ * result_bytes());
    a_.sub(r3, r3, back_ * result_bytes());
    a_.b(group);
    a_.bind(done);
  }

  Unrolled unrolled_;
  int compact_;
};

// One pixel by eight channels. r1 is the pixel, r3 the output, r5 the stream.
class MveGemvWriter : ProductWriter {
 public:
  explicit MveGemvWriter(const tir::Kernel& kernel)
      : ProductWriter(kernel),
        width_(parameter(kernel, "width")),
        unrolled_(blocks_, MveGemm::kGemvUnroll),
        held_(std::min(unrolled_.before, kHeld)) {
    unrolled_.before -= held_;
    unrolled_.join();
  }

  Implementation run() {
    Label group = a_.label();
    a_.note("On entry r0: weights, r1: x, r2: out, r3: shape.");
    a_.enter(window_ ? 4 : 0);
    a_.mov(r5, r0);
    a_.mov(r11, r3);
    a_.mov(r3, r2);
    a_.ldr(r9, r11, MveGemm::kGroups * 4);
    if (blocks_ == 1) {
      predicate();
      load_partly({{held(0), r1}});
    } else {
      for (int i = 0; i < held_; ++i) a_.vldrb_after(8, held(i), r1, i == 0 ? first_ : MveGemm::kBlock);
    }
    if (window_) sum_window();
    a_.note("For every eight channels. r1: the pixel, r3: out, r5: weights; r0, r2 to r12 and lr sum up.");
    a_.bind(group);
    products();
    // A block's channels alternate between the two vectors.
    a_.gather(q0, kSums[0], kSums[2], kSums[4], kSums[6]);
    a_.gather(q1, kSums[1], kSums[3], kSums[5], kSums[7]);
    if (window_) {
      a_.ldr(r0, sp, 0);
      for (Vec v : {q0, q1}) a_.vadd(32, v, v, r0);
    }
    if (only_sums_) {
      store_sums();
    } else {
      if (products_) a_.ldr(r0, r11, MveGemm::kZero * 4);
      requantize_halves();
      if (needs_shape()) a_.mov(r4, r11);
      finish({q0});
      store(width_);
    }
    next_group(group);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kHeld = 4;
  // The pixel's first blocks stay in registers.
  static Vec held(int i) { return {4 + i}; }

  // Stores the term that is added to the pixel's sums on the stack.
  void sum_window() {
    a_.note("Add up the window.");
    a_.mov(r0, 0);
    for (int i = 0; i < held_; ++i) add_to_windows({{r0, held(i)}});
    if (blocks_ > held_) {
      Label block = a_.label();
      a_.mov(r8, blocks_ - held_);
      a_.dls(r8);
      a_.bind(block);
      a_.vldrb_after(8, q0, r1, MveGemm::kBlock);
      add_to_windows({{r0, q0}});
      a_.le(block);
      a_.sub(r1, r1, MveGemm::kBlock * (blocks_ - held_));
    }
    a_.str(r0, sp, 0);
  }

  void products() {
    for (int i = 0; i < held_; ++i) multiply(held(i), i == 0);
    if (blocks_ == held_) return;
    if (unrolled_.passes == 0) {
      // The last load goes back to where the first one was.
      a_.repeat(unrolled_.before - 1, [&] { block(MveGemm::kBlock); });
      return block(MveGemm::kBlock * (1 - unrolled_.before));
    }
    a_.repeat(unrolled_.before, [&] { block(MveGemm::kBlock); });
    Label body = a_.label();
    a_.mov(r7, unrolled_.passes);
    a_.bind(body);
    a_.repeat(unrolled_.in_loop, [&] { block(MveGemm::kBlock); });
    a_.subs(r7, r7, 1);
    a_.b("ne", body);
    a_.sub(r1, r1, MveGemm::kBlock * (blocks_ - held_));
  }

  void block(int step) {
    step == 0 ? a_.vldrb(8, q0, r1) : a_.vldrb_after(8, q0, r1, step);
    multiply(q0, false);
  }

  void multiply(Vec x, bool begins) {
    for (size_t c = 0; c < static_cast<size_t>(width_); ++c) {
      Vec w = c % 2 == 0 ? q2 : q3;
      load_weights(w);
      begins ? a_.vmladav(kSums[c], x, w, bits()) : a_.vmladava(kSums[c], x, w, bits());
    }
  }

  // The sums of all eight channels in order.
  void store_sums() {
    for (Vec v : {q0, q1}) {
      a_.vldrw_after(q2, r5, 16);
      a_.vadd(32, v, v, q2);
    }
    for (int part : {0, 1}) a_.vst2_words(q0, r3, part);
  }

  void next_group(Label group) {
    a_.subs(r9, r9, 1);
    if (back_ == 0) return a_.b("ne", group);
    Label done = a_.label();
    a_.b("gt", group);
    a_.b("ne", done);
    a_.sub(r3, r3, back_ * result_bytes());
    a_.b(group);
    a_.bind(done);
  }

  int width_;
  Unrolled unrolled_;
  int held_;
};

}  // namespace

Implementation mve_gemm(const tir::Kernel& kernel) {
  for (int compact : {0, 1}) {
    Implementation made = MveGemmWriter(kernel, compact).run();
    if (fits_literal(made.lines)) return made;
  }
  return MveGemmWriter(kernel, 2).run();
}
Implementation mve_gemv(const tir::Kernel& kernel) { return MveGemvWriter(kernel).run(); }

}  // namespace aotc::cores::arm
