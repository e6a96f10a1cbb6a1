// SPDX-License-Identifier: Apache-2.0
// Texts of the kernels of floats. What they compute is said by their meanings in cores/arm/helium/floats.cpp.
#include <functional>
#include <vector>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/floats.h"
#include "cores/arm/helium/helium.h"

namespace aotc::cores::arm {

namespace {

// What the texts of both kernels have in common.
class FloatText {
 protected:
  // Flags of FPSCR: an operand was flushed (IDC), or a result was (UFC).
  static constexpr int kFlushed = 0x88;

  // Stores the bounds that `stream` begins with. Changes r4 and r5.
  void begin(int locals, int shape, int bounds) {
    a_.note("On entry r0: weights, r1: x, r2: out, r3: shape.");
    a_.enter(locals);
    clear_flags();
    a_.str(r3, sp, shape);
    a_.ldrd(r4, r5, r0, 0);
    a_.strd(r4, r5, sp, bounds);
  }

  // Changes r4.
  void clear_flags() {
    a_.read_fpscr(r4);
    a_.bic(r4, r4, kFlushed);
    a_.write_fpscr(r4);
  }

  void check(Reg scratch, Label again) {
    a_.note("Were subnormal numbers taken as 0? Then the FPU computes the tile.");
    a_.read_fpscr(scratch);
    a_.tst(scratch, kFlushed);
    a_.b_at_most("ne", again, 0);
  }

  // The first `sums` vectors, by bounds at sp. Changes q4, low and high.
  void clamp(int sums, int bounds, Reg low, Reg high) {
    a_.ldrd(low, high, sp, bounds);
    a_.vdup(32, q4, low);
    for (int s = 0; s < sums; ++s) {
      a_.vpt_more(q4, Vec{s});
      a_.predicated([&] { a_.vorr(Vec{s}, q4, q4); });
      a_.vpt_more(Vec{s}, high);
      a_.predicated([&] { a_.vdup(32, Vec{s}, high); });
    }
  }

  // s0 += s1 * s2, rounded twice.
  void add_product() {
    a_.vmul(1, 1, 2);
    a_.vadd(0, 0, 1);
  }

  // s0, by bounds at sp.
  void clamp_scalar(int bounds) {
    a_.vldr(1, sp, bounds);
    a_.take_if_less(0, 0, 1);
    a_.vldr(1, sp, bounds + 4);
    a_.take_if_more(0, 0, 1);
  }

  Helium a_;
};

// q0 and further are the tile's sums, q4 and further the weights of a step, one for each vector of channels. All other
// vector registers take products. r0 to r2 are the pixels, r4 to r9 their values in two steps, r12 the weights, lr
// counts iterations in a row, of which there are r3; r10 counts rows and r11 is skipped between two of them.
class FloatWriter : FloatText {
 public:
  explicit FloatWriter(const tir::Kernel& kernel)
      : pixels_(parameter(kernel, "pixels")),
        vectors_(parameter(kernel, "vectors")),
        unroll_(parameter(kernel, "unroll")),
        rows_(parameter(kernel, "rows") != 0),
        part_(parameter(kernel, "part") != 0),
        back_(parameter(kernel, "back")),
        lanes_(parameter(kernel, "lanes")),
        clamps_(parameter(kernel, "clamp") != 0) {}

  Implementation run() {
    const Label tile = a_.label(), group = a_.label(), row = a_.label(), turn = a_.label(), again = a_.label(),
                ready = a_.label(), end = a_.label();
    prologue();
    a_.note("For every tile of pixels.");
    a_.bind(tile);
    begin_tile();
    a_.note("For every group of channels. r0 to r2: the pixels, r12: weights.");
    a_.bind(group);
    for (int p = 0; p < pixels_; ++p) a_.ldr(pixel(p), sp, kX + 4 * p);
    for (int v = 0; v < vectors_; ++v) load_weights(v, vectors_);
    for (int s = 0; s < sums(); ++s) a_.vmov_imm(32, Vec{s}, 0);
    if (rows_) {
      a_.ldr(r10, sp, kShape);
      a_.ldr(r10, r10, FloatShape::kRows * 4);
      a_.bind(row);
    }
    a_.dls(r3);
    a_.bind(turn);
    multiply();
    a_.le(turn);
    if (rows_) {
      for (int p = 0; p < pixels_; ++p) a_.add(pixel(p), pixel(p), r11);
      a_.subs(r10, r10, 1);
      a_.b("ne", row);
    }
    a_.note("Behind the weights, the biases were loaded.");
    for (int p = 0; p < pixels_; ++p)
      for (int v = 0; v < vectors_; ++v) a_.vadd_float(sum(p, v), sum(p, v), weight(v));
    check(r4, again);
    if (clamps_) clamp(sums(), kLow, r5, r6);
    a_.bind(ready);
    store();
    a_.ldr(r4, sp, kGroups);
    a_.subs(r4, r4, 1);
    a_.str(r4, sp, kGroups);
    a_.b("ne", group);
    a_.ldr(r4, sp, kLeft);
    a_.subs(r4, r4, pixels_);
    a_.str(r4, sp, kLeft);
    a_.b("gt", tile);
    a_.b(end);
    a_.bind(again);
    compute_again();
    a_.b(ready);
    a_.bind(end);
    a_.leave();
    return a_.finish(true);
  }

 private:
  // The frame, bytes from sp: x and out of each pixel, which move on with the groups; what is left; bounds of results;
  // the next tile; sums of a tile that is computed again.
  static constexpr int kX = 0, kOut = 12, kLeft = 24, kShape = 28, kStream = 32, kGroups = 36, kLow = 40, kNextX = 48,
                       kSums = 64, kLocals = 128;

  int sums() const { return pixels_ * vectors_; }
  Vec sum(int p, int v) const { return {p * vectors_ + v}; }
  static Vec weight(int v) { return {4 + v}; }
  static Reg pixel(int p) { return {p}; }
  static Reg value(int p, int step) { return {4 + 2 * p + step % 2}; }
  int vector_bytes() const { return 16 * vectors_; }

  std::vector<Vec> temporaries() const {
    std::vector<Vec> out;
    for (int q = 4 + vectors_; q < 8; ++q) out.push_back({q});
    for (int q = sums(); q < 4; ++q) out.push_back({q});
    return out;
  }

  // Load number `i` of `count` before r12 moves behind all of them, which the first one does.
  void load_weights(int i, int count) {
    const Vec to = weight(i % vectors_);
    if (i == 0) a_.vldrw_after(to, r12, 16 * count);
    else a_.vldrw(to, r12, 16 * (i - count));
  }

  void load_values(int step) {
    const bool two = step + 1 < unroll_;
    for (int p = 0; p < pixels_; ++p) {
      const Reg to = value(p, 0);
      if (step == 0 && two) a_.ldrd_after(to, value(p, 1), pixel(p), 4 * unroll_);
      else if (step == 0) a_.ldr_after(to, pixel(p), 4 * unroll_);
      else if (two) a_.ldrd(to, value(p, 1), pixel(p), 4 * (step - unroll_));
      else a_.ldr(to, pixel(p), 4 * (step - unroll_));
    }
  }

  // The steps of an iteration. A product is added after the next one is made, so that neighbours use different units
  // and no sum waits for its product. A weight is loaded for the next step after its last product is made; without
  // temporaries, products replace the weights, which are loaded after the sum.
  void multiply() {
    const std::vector<Vec> free = temporaries();
    std::function<void()> add;
    size_t made = 0;
    for (int step = 0; step < unroll_; ++step) {
      if (step % 2 == 0) load_values(step);
      for (int p = 0; p < pixels_; ++p)
        for (int v = 0; v < vectors_; ++v) {
          const Vec product = free.empty() ? weight(v) : free[made++ % free.size()];
          auto next = [this, step, v] { load_weights(step * vectors_ + v, unroll_ * vectors_); };
          a_.vmul_float(product, weight(v), value(p, step));
          if (p + 1 == pixels_ && !free.empty()) next();
          if (add) add();
          add = [this, p, v, product, next] {
            a_.vadd_float(sum(p, v), sum(p, v), product);
            if (product == weight(v)) next();
          };
        }
    }
    add();
  }

  void prologue() {
    begin(kLocals, kShape, kLow);
    a_.add(r0, r0, FloatTile::kHead * 4);
    a_.str(r0, sp, kStream);
    a_.ldr(r4, r3, FloatShape::kPixels * 4);
    a_.str(r4, sp, kLeft);
    a_.strd(r1, r2, sp, kNextX);
  }

  // Pixels that do not exist are the tile's first one, whose results are stored once more.
  void begin_tile() {
    a_.ldrd(r1, r2, sp, kNextX);
    a_.ldr(r3, sp, kShape);
    a_.ldrd(r5, r6, r3, FloatShape::kXStep * 4);
    if (part_ && pixels_ > 1) a_.ldr(r7, sp, kLeft);
    for (int p = 0; p < pixels_; ++p) {
      const Reg x = p == 0 ? r1 : r8, out = p == 0 ? r2 : r9;
      if (p > 0) {
        a_.add(x, p == 1 ? r1 : r8, r5);
        a_.add(out, p == 1 ? r2 : r9, r6);
        if (part_) {
          a_.cmp(r7, p);
          a_.csel(x, x, r1, "gt");
          a_.csel(out, out, r2, "gt");
        }
      }
      a_.str(x, sp, kX + 4 * p);
      a_.str(out, sp, kOut + 4 * p);
    }
    if (pixels_ % 2 == 1) {
      a_.add(r1, r1, r5);
      a_.add(r2, r2, r6);
    }
    if (pixels_ > 1) {
      a_.add_lsl(r1, r1, r5, 1);
      a_.add_lsl(r2, r2, r6, 1);
    }
    a_.strd(r1, r2, sp, kNextX);
    a_.ldr(r12, sp, kStream);
    a_.ldr(r4, r3, FloatShape::kGroups * 4);
    a_.str(r4, sp, kGroups);
    if (rows_) a_.ldr(r11, r3, FloatShape::kRowSkip * 4);
    a_.ldr(r3, r3, FloatShape::kTurns * 4);
  }

  void store() {
    if (back_ > 0) {
      a_.ldr(r4, sp, kGroups);
      a_.mov(r5, vector_bytes());
      a_.mov(r6, vector_bytes() - 4 * back_);
      a_.cmp(r4, 2);
      a_.csel(r5, r6, r5, "eq");
    }
    if (lanes_ < FloatTile::kLanes) {
      a_.mov(r4, lanes_);
      a_.vctp(32, r4);
    }
    for (int p = 0; p < pixels_; ++p) {
      a_.ldr(r4, sp, kOut + 4 * p);
      for (int v = 0; v < vectors_; ++v) {
        if (lanes_ == FloatTile::kLanes) {
          a_.vstrw(sum(p, v), r4, 16 * v);
          continue;
        }
        a_.vpst(1);
        a_.predicated([&] { a_.vstrw(sum(p, v), r4, 16 * v); });
      }
      back_ > 0 ? a_.add(r4, r4, r5) : a_.add(r4, r4, vector_bytes());
      a_.str(r4, sp, kOut + 4 * p);
    }
  }

  // All sums of the tile by the FPU, clamped. r3, r11 and r12 stay. The vectors are loaded from the frame.
  void compute_again() {
    const Label pixel = a_.label(), channel = a_.label(), row = a_.label(), element = a_.label();
    a_.note("r6: the pixel, r7 counts pixels, r8: weights of the channel, r9 counts channels, r5: its sum.");
    a_.ldr(r10, sp, kShape);
    a_.ldr(r8, r10, FloatShape::kGroupBytes * 4);
    a_.sub(r8, r12, r8);
    a_.add(r5, sp, kSums);
    a_.mov(r6, sp);
    a_.mov(r7, pixels_);
    a_.bind(pixel);
    a_.mov(r9, 4 * vectors_);
    a_.bind(channel);
    a_.ldr(r0, r6);
    a_.mov(r1, r8);
    a_.mov(r2, 0);
    a_.vmov(0, r2);
    if (rows_) {
      a_.ldr(r10, sp, kShape);
      a_.ldr(r10, r10, FloatShape::kRows * 4);
      a_.bind(row);
    }
    a_.mov(r2, unroll_);
    a_.mul(r2, r2, r3);
    a_.bind(element);
    a_.vldr(1, r0);
    a_.vldr(2, r1);
    a_.add(r0, r0, 4);
    a_.add(r1, r1, vector_bytes());
    add_product();
    a_.subs(r2, r2, 1);
    a_.b("ne", element);
    if (rows_) {
      a_.add(r0, r0, r11);
      a_.subs(r10, r10, 1);
      a_.b("ne", row);
    }
    a_.vldr(1, r1);
    a_.vadd(0, 0, 1);
    if (clamps_) clamp_scalar(kLow);
    a_.vstr(0, r5);
    a_.add(r5, r5, 4);
    a_.add(r8, r8, 4);
    a_.subs(r9, r9, 1);
    a_.b("ne", channel);
    a_.sub(r8, r8, vector_bytes());
    a_.add(r6, r6, 4);
    a_.subs(r7, r7, 1);
    a_.b("ne", pixel);
    a_.add(r5, sp, kSums);
    for (int s = 0; s < sums(); ++s) a_.vldrw(Vec{s}, r5, 16 * s);
    clear_flags();
  }

  int pixels_, vectors_, unroll_;
  bool rows_, part_;
  int back_, lanes_;
  bool clamps_;
};

// q0 to q3 are the tile's sums, q4 a tap's weights, q5 and q6 products, q7 the biases. r0 to r3 are the pixels, r4
// their results, r5 the weights, r6 is skipped between rows, r7 and r8 are the steps of pixels, r9 that of columns; r11
// counts tiles, lr rows, and r12 is the group of channels.
class FloatTapsWriter : FloatText {
 public:
  explicit FloatTapsWriter(const tir::Kernel& kernel)
      : pixels_(parameter(kernel, "pixels")),
        rows_(parameter(kernel, "rows")),
        columns_(parameter(kernel, "columns")),
        step_(parameter(kernel, "step")),
        part_(parameter(kernel, "part") != 0),
        back_(parameter(kernel, "back")),
        clamps_(parameter(kernel, "clamp") != 0) {}

  Implementation run() {
    const Label group = a_.label(), tile = a_.label(), row = a_.label(), again = a_.label(), ready = a_.label(),
                next = a_.label(), end = a_.label();
    prologue();
    a_.note("For every four channels. r12: their biases and weights.");
    a_.bind(group);
    a_.ldr(r3, sp, kShape);
    a_.ldr(r11, r3, FloatTapsShape::kTiles * 4);
    a_.ldrd(r0, r4, sp, kX);
    a_.vldrw(q7, r12);
    a_.note("For every tile of pixels, r0 to r3.");
    a_.bind(tile);
    a_.str(r0, sp, kTile);
    for (int p = 1; p < pixels_; ++p) a_.add(Reg{p}, Reg{p - 1}, r7);
    a_.add(r5, r12, 16);
    for (int p = 0; p < pixels_; ++p) a_.vmov_imm(32, Vec{p}, 0);
    if (rows_ > 1) {
      a_.mov(r10, rows_);
      a_.dls(r10);
      a_.bind(row);
    }
    multiply();
    if (rows_ > 1) {
      for (int p = 0; p < pixels_; ++p) a_.add(Reg{p}, Reg{p}, r6);
      a_.le(row);
    }
    for (int p = 0; p < pixels_; ++p) a_.vadd_float(Vec{p}, Vec{p}, q7);
    check(r10, again);
    if (clamps_) clamp(pixels_, kLow, r5, r10);
    a_.bind(ready);
    for (int p = 0; p < pixels_; ++p) {
      a_.vstrw(Vec{p}, r4);
      a_.add(r4, r4, r8);
    }
    a_.subs(r11, r11, 1);
    a_.b("eq", next);
    next_tile();
    a_.b(tile);
    a_.bind(next);
    next_group(group);
    a_.b(end);
    a_.bind(again);
    compute_again();
    a_.b(ready);
    a_.bind(end);
    a_.leave();
    return a_.finish(true);
  }

 private:
  // The frame, bytes from sp: x and out of the group; the tile; bounds of results; sums of a tile that is computed
  // again.
  static constexpr int kX = 0, kTile = 8, kShape = 12, kGroups = 16, kPixels = 20, kLow = 24, kSums = 32, kLocals = 96;

  void prologue() {
    begin(kLocals, kShape, kLow);
    a_.add(r12, r0, FloatTile::kHead * 4);
    a_.strd(r1, r2, sp, kX);
    a_.ldr(r4, r3, FloatTapsShape::kGroups * 4);
    a_.str(r4, sp, kGroups);
    a_.ldrd(r7, r8, r3, FloatTapsShape::kXStep * 4);
    a_.ldr(r9, r3, FloatTapsShape::kColumnStep * 4);
    a_.ldr(r6, r3, FloatTapsShape::kRowSkip * 4);
  }

  void load(Vec to, Reg from) {
    if (step_ > 0) return a_.vldrw_after(to, from, step_);
    a_.vldrw(to, from);
    a_.add(from, from, r9);
  }

  // The columns of a row. A product is added after the next one is made, as in FloatWriter.
  void multiply() {
    std::function<void()> add;
    int made = 0;
    for (int column = 0; column < columns_; ++column) {
      a_.vldrw_after(q4, r5, 16);
      for (int p = 0; p < pixels_; ++p) {
        const Vec product = made++ % 2 == 0 ? q5 : q6;
        load(product, Reg{p});
        a_.vmul_float(product, product, q4);
        if (add) add();
        add = [this, p, product] { a_.vadd_float(Vec{p}, Vec{p}, product); };
      }
    }
    add();
  }

  void next_tile() {
    a_.ldr(r0, sp, kTile);
    a_.ldr(r3, sp, kShape);
    a_.ldr(r1, r3, FloatTapsShape::kXTile * 4);
    a_.add(r0, r0, r1);
    if (!part_) return;
    a_.ldrd(r2, r5, r3, FloatTapsShape::kXBack * 4);
    a_.sub(r2, r0, r2);
    a_.sub(r5, r4, r5);
    a_.cmp(r11, 1);
    a_.csel(r0, r2, r0, "eq");
    a_.csel(r4, r5, r4, "eq");
  }

  // Falls through behind the last group.
  void next_group(Label group) {
    a_.ldrd(r0, r1, sp, kX);
    a_.ldr(r4, sp, kGroups);
    if (back_ > 0) {
      a_.mov(r2, 16);
      a_.mov(r3, 16 - 4 * back_);
      a_.cmp(r4, 2);
      a_.csel(r2, r3, r2, "eq");
      a_.add(r0, r0, r2);
      a_.add(r1, r1, r2);
    } else {
      a_.add(r0, r0, 16);
      a_.add(r1, r1, 16);
    }
    a_.strd(r0, r1, sp, kX);
    a_.add(r12, r12, 16 * (rows_ * columns_ + 1));
    a_.subs(r4, r4, 1);
    a_.str(r4, sp, kGroups);
    a_.b("ne", group);
  }

  // All sums of the tile by the FPU, clamped. r4, r6 to r9, r11 and r12 stay. The vectors are loaded from the frame.
  void compute_again() {
    const Label pixel = a_.label(), channel = a_.label(), row = a_.label(), column = a_.label();
    a_.note("r0: x, r1: weights, r2 counts columns, r3 channels, lr rows; r5: the channel's sum.");
    a_.mov(r0, pixels_);
    a_.str(r0, sp, kPixels);
    a_.add(r5, sp, kSums);
    a_.bind(pixel);
    a_.mov(r3, static_cast<int>(FloatTile::kLanes));
    a_.bind(channel);
    a_.mov(r10, static_cast<int>(FloatTile::kLanes));
    a_.sub(r10, r10, r3);
    a_.lsl(r10, r10, 2);
    a_.ldr(r0, sp, kTile);
    a_.add(r0, r0, r10);
    a_.add(r1, r12, r10);
    a_.vldr(3, r1);
    a_.mov(r2, 0);
    a_.vmov(0, r2);
    a_.mov(lr, rows_);
    a_.bind(row);
    a_.mov(r2, columns_);
    a_.bind(column);
    a_.add(r1, r1, 16);
    a_.vldr(1, r0);
    a_.vldr(2, r1);
    a_.add(r0, r0, r9);
    add_product();
    a_.subs(r2, r2, 1);
    a_.b("ne", column);
    a_.add(r0, r0, r6);
    a_.subs(lr, lr, 1);
    a_.b("ne", row);
    a_.vadd(0, 0, 3);
    if (clamps_) clamp_scalar(kLow);
    a_.vstr(0, r5);
    a_.add(r5, r5, 4);
    a_.subs(r3, r3, 1);
    a_.b("ne", channel);
    a_.ldr(r0, sp, kTile);
    a_.add(r0, r0, r7);
    a_.str(r0, sp, kTile);
    a_.ldr(r0, sp, kPixels);
    a_.subs(r0, r0, 1);
    a_.str(r0, sp, kPixels);
    a_.b("ne", pixel);
    // The tile's first pixel again.
    a_.ldr(r0, sp, kTile);
    for (int p = 0; p < pixels_; ++p) a_.sub(r0, r0, r7);
    a_.str(r0, sp, kTile);
    a_.add(r5, sp, kSums);
    for (int p = 0; p < pixels_; ++p) a_.vldrw(Vec{p}, r5, 16 * p);
    a_.mov(r5, r4);
    clear_flags();
    a_.mov(r4, r5);
  }

  int pixels_, rows_, columns_, step_;
  bool part_;
  int back_;
  bool clamps_;
};

}  // namespace

Implementation mve_float_taps(const tir::Kernel& kernel) { return FloatTapsWriter(kernel).run(); }

Implementation mve_floats(const tir::Kernel& kernel) { return FloatWriter(kernel).run(); }

}  // namespace aotc::cores::arm
