// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2 x 2, 3 x 3) with halfword pairs; cores/arm/dsp/winograd.h has the layouts.
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/winograd.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

namespace {

// A column (or row) of B^T d on halves: in `d` the inputs, afterwards the results, of which [1] is in
// `temp`. Gives the register that is free afterwards.
Reg transform(Thumb& a, Reg (&d)[4], Reg temp) {
  a.sadd16(temp, d[1], d[2]);
  a.ssub16(d[0], d[0], d[2]);
  a.ssub16(d[3], d[1], d[3]);
  a.ssub16(d[2], d[2], d[1]);
  Reg free = d[1];
  d[1] = temp;
  return free;
}

}  // namespace

// r0 x, r1 strip, r2 row bytes, r3 words.
Implementation winograd_rows(const tir::Kernel& kernel) {
  bool top = parameter(kernel, "top") != 0, bottom = parameter(kernel, "bottom") != 0;
  Thumb a;
  Label word = a.label();
  Reg low[4] = {r4, r5, r6, r7}, high[4] = {r8, r9, r10, r11};
  a.at_any_address();
  a.enter(0);
  // r12: three rows, or the zero points that stand for a missing one.
  if (top && bottom) {
    a.add_lsl(r12, r2, r2, 1);
  } else {
    uint32_t half = static_cast<uint32_t>(parameter(kernel, "zero")) & 0xFFFF;
    a.mov32(r12, half << 16 | half);
  }
  a.bind(word);
  for (int row = 3, at = 2 + (top ? 1 : 0); row >= 0; --row) {
    if ((row == 3 && !bottom) || (row == 0 && !top)) {
      if (row == 3) at = 2 - (top ? 0 : 1);
      continue;
    }
    if (at == 3) a.ldr_index(high[row], r0, r12);
    if (at == 2) a.ldr_index(high[row], r0, r2, 1);
    if (at == 1) a.ldr_index(high[row], r0, r2);
    if (at == 0) a.ldr_after(high[row], r0, 4);
    --at;
  }
  for (int row = 0; row < 4; ++row) {
    bool missing = (row == 3 && !bottom) || (row == 0 && !top);
    if (missing) {
      a.mov(low[row], r12);
      a.mov(high[row], r12);
    } else {
      a.sxtb16(low[row], high[row]);
      a.sxtb16(high[row], high[row], 8);
    }
  }
  Reg free = transform(a, low, lr);
  transform(a, high, free);
  for (int i = 0; i < 4; ++i) a.strd_after(low[i], high[i], r1, 8);
  a.subs(r3, r3, 1);
  a.b("ne", word);
  a.leave();
  return a.finish();
}

// r0 strip, r1 panel, r2 column, r3 words.
Implementation winograd_tile(const tir::Kernel&) {
  constexpr int kStepBytes = Winograd::kProducts * Winograd::kTiles * 4;
  static_assert(2 * kStepBytes == 1 << 9);
  Thumb a;
  Label word = a.label();
  a.enter(4);
  a.add_lsl(r3, r1, r3, 9);  // two steps a word
  a.str(r3, sp);
  a.add_lsl(r3, r0, r2, 2);
  a.add_lsl(r4, r3, r2, 2);
  a.add_lsl(r2, r4, r2, 2);
  const Reg columns[4] = {r0, r3, r4, r2};
  a.bind(word);
  for (int i = 0; i < 4; ++i) {
    Reg low[4] = {r5, r6, r7, r8}, high[4] = {r9, r10, r11, r12};
    for (int j = 0; j < 4; ++j) a.ldrd_after(low[j], high[j], columns[j], 8);
    Reg free = transform(a, low, lr);
    auto to = [&](int j) { return Winograd::product(i, j) * Winograd::kTiles * 4; };
    for (int j = 0; j < 4; ++j) a.str(low[j], r1, to(j));
    transform(a, high, free);
    for (int j = 0; j < 4; ++j) a.str(high[j], r1, kStepBytes + to(j));
  }
  a.add(r1, r1, 2 * kStepBytes);
  a.ldr(lr, sp);
  a.cmp(r1, lr);
  a.b("ne", word);
  a.leave();
  return a.finish();
}

namespace {

// Sums of tile t and channel c in r2 + 2t + c.
class PairsWriter {
 public:
  PairsWriter(int steps, int shift, bool sign) : steps_(steps), shift_(shift), sign_(sign) {}

  Implementation run() {
    Label pair = a_.label(), run = a_.label();
    a_.enter(32);
    prologue();
    a_.bind(pair);
    a_.bind(run);
    // What the run begins with waits in the accumulators that the first step writes last.
    a_.ldrd_after(acc(1, 0), acc(1, 1), r1, 8);
    step(true);
    a_.repeat(steps_ - 1, [&] { step(false); });
    a_.ldr(r10, sp, kSums);
    note();
    a_.repeat(steps_, [&] { step(false); });
    a_.ldrd(r10, r11, sp, kSums);  // and their end
    note();
    a_.cmp(r10, r11);
    a_.b("ne", run);
    outputs();
    a_.add(r1, r1, sign_ ? 24 : 16);
    a_.ldr(r10, sp, kOut);
    a_.add(r10, r10, 2);
    a_.str(r10, sp, kOut);
    a_.ldr(r10, sp, kStreamEnd);
    a_.ldr(r0, sp, kPanel);
    a_.cmp(r1, r10);
    a_.b("ne", pair);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kSums = 0, kSumsEnd = 4, kPanel = 8, kOut = 12, kPixel = 16, kRow = 20, kStreamEnd = 24;
  static constexpr int kStepBytes = Winograd::kProducts * Winograd::kTiles * 4;
  static constexpr int kSumBytes = Winograd::kTiles * 2 * 4;  // of one product
  static constexpr int kAllSums = Winograd::kProducts * kSumBytes;
  static Reg acc(int tile, int channel) { return {2 + 2 * tile + channel}; }

  // r0 stream, r1 panel, r2 out, r3 shape. Leaves r0 panel, r1 stream.
  void prologue() {
    a_.ldrd(r4, r5, r3, Winograd::kShapePixel * 4);  // and the row
    a_.strd(r4, r5, sp, kPixel);
    a_.ldr(r4, r3, Winograd::kShapeStreamBytes * 4);
    a_.add(r4, r4, r0);
    a_.str(r4, sp, kStreamEnd);
    a_.strd(r1, r2, sp, kPanel);
    advance(r4, r1, steps_ * kStepBytes);
    a_.add(r5, r4, kAllSums);
    a_.strd(r4, r5, sp, kSums);
    a_.mov(r12, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r12);
  }

  void advance(Reg d, Reg n, int bytes) {
    for (; bytes > 4095; bytes -= 4096, n = d) a_.add(d, n, 4096);
    a_.add(d, n, bytes);
  }

  void step(bool first) {
    a_.ldrd_after(r10, r11, r1, 8);
    a_.ldrd(r12, lr, r0, 8);
    multiply(2, r12, first);
    multiply(3, lr, first);
    a_.ldrd_after(r12, lr, r0, kStepBytes);
    multiply(0, r12, first);
    multiply(1, lr, first);
  }

  void multiply(int tile, Reg x, bool first) {
    a_.smlad(acc(tile, 0), x, r10, acc(first ? 1 : tile, 0));
    a_.smlad(acc(tile, 1), x, r11, acc(first ? 1 : tile, 1));
  }

  // Stores the sums at r10, and goes back to the first step of the next product.
  void note() {
    a_.stm_after(r10, {r2, r3, r4, r5, r6, r7, r8, r9});
    a_.str(r10, sp, kSums);
    int back = steps_ * kStepBytes - Winograd::kTiles * 4;
    for (; back > 4095; back -= 4096) a_.sub(r0, r0, 4096);
    if (back > 0) a_.sub(r0, r0, back);
  }

  // Both channels of tile r0 points to: [output y][output x][channel] in r2 to r9.
  void outputs() {
    Label tile = a_.label();
    a_.sub(r0, r10, kAllSums);
    a_.str(r0, sp, kSums);
    a_.bind(tile);
    for (int i = 1; i <= 2; ++i) {
      Reg y[] = {acc(2 * (i - 1), 0), acc(2 * (i - 1), 1), acc(2 * i - 1, 0), acc(2 * i - 1, 1)};
      a_.ldrd(y[0], y[1], r0, sum(i, 0));
      a_.ldrd(r10, r11, r0, sum(i, 2));
      a_.ldrd(y[2], y[3], r0, sum(i, 1));
      a_.ldrd(r12, lr, r0, sum(i, 3));
      a_.add(y[0], y[0], r10);
      a_.add(y[1], y[1], r11);
      a_.sub(y[2], y[2], r12);
      a_.sub(y[3], y[3], lr);
    }
    // Sum and difference of rows 1 and 2.
    for (int n = 2; n < 6; ++n) {
      a_.add(Reg{n}, Reg{n}, Reg{n + 4});
      a_.sub_lsl(Reg{n + 4}, Reg{n}, Reg{n + 4}, 1);
    }
    outer_rows();
    for (int c = 0; c < 2; ++c) requantize_channel(c);
    store();
    a_.add(r0, r0, 8);
    a_.ldr(r10, sp, kSums);
    a_.sub(r11, r0, kSumBytes);
    a_.cmp(r10, r11);
    a_.b("ne", tile);
  }

  // Row 0 counts for the outputs above, row 3 against those below.
  void outer_rows() {
    a_.ldrd(r10, r11, r0, sum(0, 0));
    a_.ldrd(r12, lr, r0, sum(0, 2));
    for (int c = 0; c < 2; ++c) a_.add(acc(0, c), acc(0, c), Reg{10 + c});
    a_.add(acc(0, 0), acc(0, 0), r12);
    a_.add(acc(0, 1), acc(0, 1), lr);
    a_.ldrd(r10, r11, r0, sum(0, 1));
    a_.ldrd(r12, lr, r0, sum(0, 3));
    for (int c = 0; c < 2; ++c) a_.add(acc(1, c), acc(1, c), Reg{10 + c});
    a_.sub(acc(1, 0), acc(1, 0), r12);
    a_.sub(acc(1, 1), acc(1, 1), lr);
    a_.ldrd(r10, r11, r0, sum(3, 0));
    a_.ldrd(r12, lr, r0, sum(3, 2));
    for (int c = 0; c < 2; ++c) a_.sub(acc(2, c), acc(2, c), Reg{10 + c});
    a_.sub(acc(2, 0), acc(2, 0), r12);
    a_.sub(acc(2, 1), acc(2, 1), lr);
    a_.ldrd(r10, r11, r0, sum(3, 1));
    a_.ldrd(r12, lr, r0, sum(3, 3));
    for (int c = 0; c < 2; ++c) a_.sub(acc(3, c), acc(3, c), Reg{10 + c});
    a_.add(acc(3, 0), acc(3, 0), r12);
    a_.add(acc(3, 1), acc(3, 1), lr);
  }

  static int sum(int i, int j) { return Winograd::product(i, j) * kSumBytes; }

  void requantize_channel(int c) {
    int line = c * (sign_ ? 12 : 8);
    a_.ldrd(r10, r11, r1, line);
    if (sign_) a_.ldr(r12, r1, line + 8);
    const Reg sign = r12;
    for (int n = 0; n < 4; ++n) requantize(a_, acc(n, c), r10, r11, shift_, sign_ ? &sign : nullptr, lr, n > 0);
  }

  void store() {
    a_.ldr(r10, sp, kOut);
    a_.ldr(r11, r0, kAllSums);  // the place of the tile
    a_.add(r10, r10, r11);
    a_.ldrd(r12, lr, sp, kPixel);  // and the row
    for (int y = 0; y < 2; ++y) {
      a_.strb(acc(2 * y, 0), r10);
      a_.strb(acc(2 * y, 1), r10, 1);
      a_.add(r11, r10, r12);
      if (y == 0) a_.add(r10, r10, lr);
      a_.strb(acc(2 * y + 1, 0), r11);
      a_.strb(acc(2 * y + 1, 1), r11, 1);
    }
  }

  Thumb a_;
  int steps_, shift_;
  bool sign_;
};

}  // namespace

Implementation winograd_pairs(const tir::Kernel& kernel) {
  return PairsWriter(parameter(kernel, "steps"), parameter(kernel, "shift"), parameter(kernel, "sign") != 0).run();
}

}  // namespace aotc::cores::arm
