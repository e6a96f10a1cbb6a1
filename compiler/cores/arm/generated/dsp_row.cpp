// SPDX-License-Identifier: Apache-2.0
// The kernel of one row of 3 x 3 depthwise convolutions (DepthwiseRow), generated. A column of the image is three
// bytes, two as a pair and a single one, and is added to the sums of all outputs that read it. So two sums (one with
// strides of 2) are live between two outputs. The outputs of a short row are one block, those of a long one a loop.
#include <utility>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_kernels.h"
#include "cores/arm/dsp/depthwise_lines.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/depthwise_block.h"
#include "cores/arm/generated/dsp_block.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;
using kernelgen::register_bit;
using kernelgen::Registers;
using kernelgen::Value;

namespace {

DepthwiseRow row_of(const tir::Kernel& k) {
  return {parameter(k, "row"),    parameter(k, "pixel"),     parameter(k, "out_pixel"),  parameter(k, "columns"),
          parameter(k, "stride"), parameter(k, "left") != 0, parameter(k, "right") != 0, parameter(k, "zero")};
}

// Outputs whose columns all lie inside of the image, except the first one's first.
int64_t inner_outputs(const DepthwiseRow& row) { return row.columns - (row.right ? 1 : 0); }

// The blocks of a row. Those of a loop leave the sums of the next output and of the one after it in the same registers,
// so the loop may be entered at any output.
class RowBlocks {
 public:
  static constexpr int kImage = 0, kOut = 1, kThis = 2, kBias = 8, kMultiplier = 9, kOffset = 10, kNext = 14;

  RowBlocks(const DepthwiseRow& row, const DepthwiseResult& how) : row_(row), how_(how) {}

  Registers temporaries() const {
    return register_bit(kThis) | register_bit(kNext) | register_bit(11) | register_bit(12) |
           (how_.sign || how_.shift == 0 ? register_bit(kMultiplier) : 0) | (how_.sign ? register_bit(kOffset) : 0);
  }
  // Columns behind those that begin() reads.
  int64_t begun() const { return (row_.left ? 0 : 1) + (row_.stride == 1 ? 1 : 0); }

  // All outputs of a channel. The pointers move on to the next one.
  Block all() const {
    Columns columns(*this, true);
    columns.begin_row();
    for (int64_t k = 0, at = begun(); k < inner_outputs(row_); ++k, at += row_.stride)
      columns.output(k, at, row_.columns - 1 - k);
    if (row_.right) columns.last(inner_outputs(row_), begun() + inner_outputs(row_) * row_.stride);
    return columns.finish();
  }

  // Of a loop: what the first output reads before its last column (its last two, with strides of 2); output k of an
  // iteration; the output whose last column is outside.
  Block begin() const {
    Columns columns(*this, false);
    columns.begin_row();
    return columns.keep_sums();
  }
  Block output(int64_t k) const {
    Columns columns(*this, false);
    columns.take_sums();
    columns.output(k, k * row_.stride, row_.columns);
    return columns.keep_sums();
  }
  Block last() const {
    Columns columns(*this, false);
    columns.take_sums();
    columns.last(0, 0);
    return columns.finish();
  }

 private:
  struct Columns : DepthwiseBlock {
    // `moves`: whether the pointers move with the first access.
    Columns(const RowBlocks& of, bool moves)
        : DepthwiseBlock(kBias),
          row(of.row_),
          how(of.how_),
          image_moves(moves),
          out_moves(moves),
          image(block.live_in(Bank::kCore, kImage, !moves)),
          out(block.live_in(Bank::kCore, kOut, !moves)),
          skips(moves && row.zero == 0) {}

    void load(int64_t column) {
      const int64_t at = column * row.pixel;
      outside = false;
      if (std::exchange(image_moves, false)) {
        pair = block.access(dsp::kLoadByteAfter, image, {}, {1}, kInput);
        moved_by = 1;
      } else {
        pair = byte(at);
      }
      pair = block.add(dsp::kPairHalves, {pair, byte(at + row.row)});
      single = byte(at + 2 * row.row);
    }
    Value byte(int64_t at) { return block.add(dsp::kLoadByteAt, {image}, {at - moved_by}, kInput); }
    void load_outside() {
      outside = true;
      if (skips) return;
      constexpr int64_t kHalves = 0x10001;
      pair = row.zero < 0 ? block.add(dsp::kMoveNotHalves, {}, {kHalves * ~row.zero})
                          : block.add(dsp::kMoveHalves, {}, {kHalves * row.zero});
      single = pair;
    }
    // The sum with the column as column `kx` of a window.
    Value put(int kx, Value to) {
      if (outside && skips) return to;
      return to == bias() ? moved(kx, to) : add(kx, to);
    }

    void begin_row() {
      int64_t at = 0;
      row.left ? load_outside() : load(at++);
      sum = put(0, bias());
      if (row.stride > 1) return;
      load(at);
      sum = put(1, sum);
      next = begin();
    }
    // One output, its columns from `at` on; `more`: outputs behind it.
    void output(int64_t k, int64_t at, int64_t more) {
      if (row.stride == 2) {
        load(at++);
        sum = put(1, sum);
      }
      load(at);
      store(put(2, sum), k);
      if (row.stride == 2) {
        if (more > 0) sum = begin();
        return;
      }
      if (more > 0) sum = moved(1, next);
      if (more > 1) next = begin();
    }
    void last(int64_t k, int64_t at) {
      if (row.stride == 2) {
        load(at);
        sum = put(1, sum);
      }
      load_outside();
      store(put(2, sum), k);
    }
    void store(Value of, int64_t k) {
      const Value byte = result(of, how);
      if (std::exchange(out_moves, false)) {
        block.access(dsp::kStoreByteAfter, out, {byte}, {1}, kOutput);
        stored_by = 1;
      } else {
        block.add(dsp::kStoreByteAt, {out, byte}, {k * row.out_pixel - stored_by}, kOutput);
      }
    }

    void take_sums() {
      sum = block.live_in(Bank::kCore, kThis, false);
      if (row.stride == 1) next = block.live_in(Bank::kCore, kNext, false);
    }
    Block keep_sums() {
      block.keep(sum, kThis);
      if (row.stride == 1) block.keep(next, kNext);
      return std::move(block);
    }
    Block finish() {
      if (moved_by > 0) block.keep(image);
      if (stored_by > 0) block.keep(out);
      return std::move(block);
    }

    const DepthwiseRow& row;
    const DepthwiseResult& how;
    bool image_moves, out_moves;
    int64_t moved_by = 0, stored_by = 0;
    Value image, out, sum = kernelgen::kNoValue, next = kernelgen::kNoValue;
    bool outside = false;
    bool skips;  // columns outside, which are 0
  };

  const DepthwiseRow& row_;
  const DepthwiseResult& how_;
};

// The frame around the blocks.
class RowText {
 public:
  explicit RowText(const tir::Kernel& kernel)
      : row_(row_of(kernel)),
        how_{parameter(kernel, "shift"), parameter(kernel, "sign") != 0, RowBlocks::kMultiplier, RowBlocks::kOffset},
        blocks_(row_, how_) {}

  Implementation run() {
    const Label channel = a_.label();
    a_.note("On entry r0: weights, bias and scale of channels, r1: the image, r2: out, r3: how many channels.");
    a_.enter(stream_at() + 8);
    a_.note("On the stack: lines with signs, then where the weights of the next channel begin and the last ones end.");
    a_.add_lsl(r12, r3, r3, how_.sign ? 1 : 2);
    a_.add_lsl(r12, r0, r12, how_.sign ? 3 : 2);
    a_.str(r12, sp, stream_at() + 4);
    a_.mov(r4, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r2);
    a_.mov(r2, r4);
    a_.note("A channel. r0: image, r1: out, r3 to r6 and the lower half of r7: its weights by columns, r8: bias,");
    a_.note("r9, r10: multiplier, offset; r2, lr: sums of the next two outputs.");
    a_.bind(channel);
    take_weights();
    loops() ? loop() : put(blocks_.all());
    a_.ldrd(kStream, r12, sp, stream_at());
    a_.cmp(kStream, r12);
    a_.b("ne", channel);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr Reg kStream = r2, kLast = {DepthwiseBlock::kLast}, kBias = {RowBlocks::kBias};

  int stream_at() const { return how_.sign ? DepthwiseBlock::kOffsetAt + 4 : 0; }
  int64_t inner() const { return inner_outputs(row_); }
  bool loops() const { return inner() > DepthwiseRow::kMostWritten; }
  // Outputs of an iteration, iterations, and outputs of the first one that are left out.
  int64_t turn() const { return row_.stride == 1 ? 3 : 2; }
  int64_t turns() const { return (inner() + turn() - 1) / turn(); }
  int64_t entry() const { return turns() * turn() - inner(); }

  void put(const Block& block) { a_.put(block, blocks_.temporaries()); }
  void move(Reg r, int64_t by) { move_by(a_, r, static_cast<int>(by), r12); }

  void take_weights() {
    constexpr int kHighBytes = static_cast<int>(0xFF00FF00);
    if (how_.sign) {
      a_.ldm_after(kStream, {r3, r4, kBias, r9, r10, r11});
      a_.str(r11, sp, DepthwiseBlock::kSignAt);
      a_.strd(r9, r10, sp, DepthwiseBlock::kMultiplierAt);
    } else {
      a_.ldm_after(kStream, {r3, r4, kBias, r9, r10});
    }
    a_.str(kStream, sp, stream_at());
    if (how_.shift == 0) a_.vmov(1, r9);
    a_.lsl(r5, r4, 8);
    a_.and_(r6, r4, kHighBytes);
    a_.and_(r5, r5, kHighBytes);
    a_.and_(r4, r3, kHighBytes);
    a_.lsl(r3, r3, 8);
    a_.and_(r3, r3, kHighBytes);
    if (loops()) {
      a_.and_(kLast, kBias, 0xFF);
      a_.lsl(kLast, kLast, 8);
      a_.mov(r12, static_cast<int>(turns() - 1));
      a_.add_lsl(kLast, kLast, r12, 16);
    } else {
      a_.lsl(kLast, kBias, 8);
    }
    a_.bic(kBias, kBias, 0xFF);
  }

  void loop() {
    const int64_t first = entry(), behind = blocks_.begun(), stride = row_.stride;
    put(blocks_.begin());
    move(r0, (behind - first * stride) * row_.pixel);
    move(r1, -first * row_.out_pixel);
    const Label turn_begin = a_.label(), in_turn = a_.label();
    if (first > 0) a_.b(in_turn);
    a_.bind(turn_begin);
    for (int64_t k = 0; k < turn(); ++k) {
      if (k == first && first > 0) a_.bind(in_turn);
      put(blocks_.output(k));
    }
    a_.add(r0, r0, static_cast<int>(turn() * stride * row_.pixel));
    a_.add(r1, r1, static_cast<int>(turn() * row_.out_pixel));
    a_.subs(kLast, kLast, 1 << 16);
    a_.b("pl", turn_begin);
    if (row_.right) put(blocks_.last());
    // Back to the first column, of the next channel.
    move(r0, 1 - (behind + inner() * stride) * row_.pixel);
    move(r1, 1 - inner() * row_.out_pixel);
  }

  const DepthwiseRow row_;
  const DepthwiseResult how_;
  const RowBlocks blocks_;
  DspText a_;
};

}  // namespace

Implementation dw_row(const tir::Kernel& kernel) {
  return cached(kernel, [&] { return RowText(kernel).run(); });
}

}  // namespace aotc::cores::arm
