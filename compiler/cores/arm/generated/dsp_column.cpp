// SPDX-License-Identifier: Apache-2.0
// The column kernel of 3 x 3 depthwise convolutions, generated. A row of a window is two loads from a plane of
// halfwords: a pair and a single element. It is added to the sums of all outputs that read it, so two sums (one with
// strides of 2) are live between two outputs. A line without a sign stays in registers for all outputs.
#include <vector>

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

// The blocks of a column. Each leaves the sums of the next output and of the one after it in the same registers, so
// the loop may be entered at any output.
class ColumnBlocks {
 public:
  static constexpr int kPlane = 0, kOut = 1, kThis = 2, kMultiplier = 8, kOffset = 9, kNext = 10, kBias = 14;
  static constexpr int kOutRowAt = DepthwiseBlock::kOffsetAt + 4;  // in the frame

  ColumnBlocks(const DepthwiseColumn& column, const DepthwiseResult& line) : column_(column), line_(line) {}

  Registers temporaries() const {
    const Registers line = register_bit(kMultiplier) | (line_.sign ? register_bit(kOffset) : 0);
    return register_bit(11) | register_bit(12) | register_bit(kThis) | register_bit(kNext) |
           (line_.sign || line_.shift == 0 ? line : 0);
  }

  // Rows above the first output's last.
  Block begin() const {
    Rows rows(column_);
    rows.load();
    Value first = rows.begin();
    if (column_.stride == 1) {
      rows.load();
      first = rows.add(1, first);
      rows.block.keep(rows.begin(), kNext);
    }
    rows.block.keep(first, kThis);
    return rows.finish();
  }

  // Output k of an iteration.
  Block output(int64_t k) const {
    Rows rows(column_);
    Block& block = rows.block;
    Value sum = block.live_in(Bank::kCore, kThis, false);
    if (column_.stride == 1) {
      const Value next = block.live_in(Bank::kCore, kNext, false);
      rows.load();
      sum = rows.add(2, sum);
      store(rows, sum, k);
      block.keep(rows.moved(1, next), kThis);
      block.keep(rows.begin(), kNext);
    } else {
      rows.load();
      sum = rows.add(1, sum);
      rows.load();
      sum = rows.add(2, sum);
      store(rows, sum, k);
      block.keep(rows.begin(), kThis);
    }
    return rows.finish();
  }

 private:
  // Rows of the plane.
  struct Rows : DepthwiseBlock {
    explicit Rows(const DepthwiseColumn& c)
        : DepthwiseBlock(kBias), pitch(2 * c.pitch), plane(block.live_in(Bank::kCore, kPlane, false)) {}

    void load() {
      constexpr int64_t kMostStep = 255;  // bytes by which a load moves its address
      if (pitch <= kMostStep) {
        single = block.add(dsp::kLoadHalfAt, {plane}, {4}, kInput);
        pair = block.access(dsp::kLoadWordAfter, plane, {}, {pitch}, kInput);
      } else {
        pair = block.access(dsp::kLoadWordAfter, plane, {}, {4}, kInput);
        single = block.access(dsp::kLoadHalfAfter, plane, {}, {pitch - 4}, kInput);
      }
    }
    Block finish() {
      block.keep(plane);
      return std::move(block);
    }

    int64_t pitch;
    Value plane;
  };

  void store(Rows& rows, Value sum, int64_t k) const {
    Block& block = rows.block;
    Value out = block.live_in(Bank::kCore, kOut, column_.own());
    const Value result = rows.result(sum, line_);
    if (column_.own()) {
      block.add(dsp::kStoreByteAt, {out, result}, {k * column_.out_row}, DepthwiseBlock::kOutput);
      return;
    }
    block.add(dsp::kStoreByteAt, {out, result}, {0}, DepthwiseBlock::kOutput);
    block.keep(block.add(dsp::kAdd, {out, block.add(dsp::kFrameWord, {}, {kOutRowAt}, DepthwiseBlock::kFrame)}), kOut);
  }

  const DepthwiseColumn& column_;
  DepthwiseResult line_;
};

// The frame around the blocks.
class ColumnText : DepthwiseLines {
 public:
  explicit ColumnText(const tir::Kernel& kernel)
      : c_(DepthwiseColumn::of(kernel)),
        line_{parameter(kernel, "shift"), parameter(kernel, "sign") != 0, ColumnBlocks::kMultiplier,
              ColumnBlocks::kOffset},
        nibbles_(kernel.family == "dw_column_nibbles"),
        turn_(static_cast<int>(c_.turn)) {
    for (int i = 0; i < turn_; ++i) output_.push_back(a_.label());
  }

  Implementation run() {
    const ColumnBlocks blocks(c_, line_);
    const Label column = a_.label();
    a_.note("On entry r0: weights, bias and scale of a channel, r1: plane, r2: out, r3: shape.");
    a_.enter(c_.own() ? (line_.sign || has_end() ? kOwnFrame : 0) : kFrame);
    prologue();
    a_.note("A column of outputs. r0: plane, r1: out, r3 to r6 and the lower half of r7: weights in pairs, the top of");
    a_.note("r7: iterations, r8, r9: multiplier, offset, r2, r10: sums of the next two outputs, lr: bias.");
    a_.bind(column);
    if (!c_.own()) a_.ldr(kLast, sp, kCounter);
    put(blocks.begin(), find(blocks.begin(), blocks));
    if (!c_.own()) a_.jump(sp, kEntry);
    else if (c_.skip() > 0) a_.b(output_[static_cast<size_t>(c_.skip())]);
    a_.note("For every output: a row of the plane is its last, the second of the next, the first of the one after.");
    const kernelgen::Schedule schedule = find(blocks.output(0), blocks);
    for (int k = 0; k < turn_; ++k) {
      a_.bind(output_[static_cast<size_t>(k)]);
      put(blocks.output(k), schedule);
    }
    if (!c_.own() || c_.turns() > 1) {
      if (c_.own()) move_by(a_, r1, static_cast<int>(c_.turn * c_.out_row), kPair);
      a_.subs(kLast, kLast, kOneTurn);
      a_.b("pl", output_[0]);
    }
    c_.own() ? next_own(column) : next_column(column);
    a_.leave();
    a_.at_any_address();
    return a_.finish();
  }

 private:
  // Frame; that of one layer has the end of the first outputs of columns.
  static constexpr int kEnd = 12, kOwnFrame = 16, kCounter = 16, kNext = 20, kEntry = 28, kColumnsLeft = 32,
                       kFrame = 36;
  static constexpr int kOneTurn = 1 << 16;
  static constexpr Reg kBias = lr, kMultiplier = r8, kOffset = r9;

  bool has_end() const { return c_.turns() > 1 && c_.columns > 1; }

  static kernelgen::Schedule find(const Block& block, const ColumnBlocks& blocks) {
    const auto found = DspText::find(block, blocks.temporaries());
    if (!found) std::abort();  // The unit tests have all forms.
    return *found;
  }
  void put(const Block& block, const kernelgen::Schedule& schedule) {
    a_.append(kernelgen::print_assembly(block, schedule));
  }

  // r0 stream, r1 plane, r2 out, r3 shape.
  void prologue() {
    if (!c_.own()) read_shape();
    const int bias = nibbles_ ? 4 : 8;
    nibbles_ ? a_.ldm(r0, {r10, r12}) : a_.ldm(r0, {r10, r11, r12});
    a_.ldrd(kMultiplier, kOffset, r0, bias + 4);
    if (line_.shift == 0) a_.vmov(1, kMultiplier);
    if (line_.sign) {
      a_.ldr(r3, r0, bias + 12);
      a_.str(r3, sp, DepthwiseBlock::kSignAt);
      a_.strd(kMultiplier, kOffset, sp, DepthwiseBlock::kMultiplierAt);
    }
    a_.mov(r0, r1);
    a_.mov(r1, r2);
    nibbles_ ? unpack_nibbles() : unpack_bytes();
    a_.bic(kBias, r12, 0xFF);
    a_.and_(r12, r12, 0xFF);
    if (!c_.own()) {
      a_.add_lsl(kLast, kLast, r12, 8);
      a_.str(kLast, sp, kCounter);
      return;
    }
    a_.lsl(kLast, r12, 8);
    const int64_t further = (c_.turns() > 1 ? c_.turns() : c_.columns) - 1;
    if (further > 0) a_.add(kLast, kLast, static_cast<int>(further) * kOneTurn);
    move_by(a_, r1, static_cast<int>(-c_.skip() * c_.out_row), kPair);
    if (!has_end()) return;
    a_.mov(kPair, r1);
    move_by(a_, kPair, static_cast<int>(c_.columns * c_.out_column), kSingle);
    a_.str(kPair, sp, kEnd);
  }

  void read_shape() {
    static_assert(DepthwisePairs::kColumns == 0 && DepthwisePairs::kTurns == 1 && DepthwisePairs::kSkip == 2 &&
                  DepthwisePairs::kOutRow == 3 && DepthwisePairs::kPlaneNext == 4 && DepthwisePairs::kOutNext == 5);
    a_.ldm(r3, {r4, r5, r6, r7, r8, r9});
    a_.str(r4, sp, kColumnsLeft);
    a_.str(r7, sp, ColumnBlocks::kOutRowAt);
    a_.strd(r8, r9, sp, kNext);
    choose_entry(r6);
    a_.mov(kLast, r5);
  }

  // The entry into a column depends on the number of outputs that are skipped.
  void choose_entry(Reg skip) {
    Label found = a_.label();
    for (int i = 0; i < turn_; ++i) {
      a_.adr(r12, output_[static_cast<size_t>(i)]);
      if (i + 1 == turn_) break;
      a_.cmp(skip, i);
      a_.b("eq", found);
    }
    a_.bind(found);
    a_.add(r12, r12, 1);
    a_.str(r12, sp, kEntry);
  }

  // As of bytes, from the word r10: what is below the 4 bits of a weight is masked off in the end.
  void unpack_nibbles() {
    a_.lsl(r11, r10, 4);
    a_.sxtb16(r3, r10);
    a_.sxtb16(r4, r10, 8);
    a_.sxtb16(r5, r11);
    a_.sxtb16(r6, r11, 8);
    for (Reg w : {r3, r4, r5, r6}) {
      a_.lsl(w, w, 4);
      a_.and_(w, w, kHighBytes);
    }
  }

  void next_own(Label column) {
    if (c_.columns == 1) return;
    move_by(a_, r0, static_cast<int>(c_.plane_column - c_.rows_read() * 2 * c_.pitch), kPair);
    const int64_t written = c_.turns() > 1 ? c_.turns() * c_.turn : 0;
    move_by(a_, r1, static_cast<int>(c_.out_column - written * c_.out_row), kPair);
    if (c_.turns() == 1) {
      a_.subs(kLast, kLast, kOneTurn);
      a_.b("pl", column);
      return;
    }
    a_.add(kLast, kLast, static_cast<int>(c_.turns()) * kOneTurn);
    a_.ldr(kPair, sp, kEnd);
    a_.cmp(r1, kPair);
    a_.b("ne", column);
  }

  void next_column(Label column) {
    a_.ldrd(kPair, kSingle, sp, kNext);
    a_.add(r0, r0, kPair);
    a_.add(r1, r1, kSingle);
    a_.ldr(kPair, sp, kColumnsLeft);
    a_.subs(kPair, kPair, 1);
    a_.str(kPair, sp, kColumnsLeft);
    a_.b("ne", column);
  }

  const DepthwiseColumn c_;
  const DepthwiseResult line_;
  const bool nibbles_;
  const int turn_;
  std::vector<Label> output_;
};

}  // namespace

Implementation dw_column(const tir::Kernel& kernel) {
  return cached(kernel, [&] { return ColumnText(kernel).run(); });
}

}  // namespace aotc::cores::arm
