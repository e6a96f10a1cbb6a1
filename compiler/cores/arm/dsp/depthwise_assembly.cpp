// SPDX-License-Identifier: Apache-2.0
// 3 x 3 depthwise convolution with SMLAD, a channel at a time. A row of a window is two loads from
// a plane of halfwords: a pair and a single element. It is added to the outputs in flight, which
// change places among the accumulators: the loop is written out for as many outputs as there are,
// and entered so that it ends with the last one.
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_kernels.h"
#include "cores/arm/dsp/depthwise_lines.h"

namespace aotc::cores::arm {

namespace {

class ColumnWriter : DepthwiseLines {
 public:
  explicit ColumnWriter(const tir::Kernel& kernel)
      : pitch_(2 * parameter(kernel, "pitch")),
        stride_(parameter(kernel, "stride")),
        shift_(parameter(kernel, "shift")),
        sign_(parameter(kernel, "sign") != 0),
        nibbles_(kernel.family == "dw_column_nibbles"),
        in_flight_(DepthwisePairs::in_flight(stride_)),
        turn_(in_flight_ * parameter(kernel, "unroll")) {
    for (int i = 0; i < turn_; ++i) start_.push_back(a_.label());
  }

  Implementation run() {
    std::vector<Label> output;
    for (int i = 0; i < turn_; ++i) output.push_back(a_.label());
    Label column = a_.label(), done = a_.label();
    a_.note("On entry r0: weights, bias and scale of a channel, r1: plane, r2: out, r3: shape.");
    a_.enter(kFrame);
    prologue();
    a_.note("A column of outputs. r0: plane, r1: out, r2: bytes between two outputs, r3 to r6 and the top of r7: the");
    a_.note("weights in pairs, r8 to r10: sums of the three outputs in flight, lr: bias. The first are begun apart.");
    a_.bind(column);
    a_.ldr(kLast, sp, kCounter);
    a_.jump(sp, kEntry);
    for (int skip = 0; skip < turn_; ++skip) {
      a_.bind(start_[static_cast<size_t>(skip)]);
      begin_column(skip);
      if (skip > 0) a_.b(output[static_cast<size_t>(skip)]);
      if (skip > 0) continue;
      // The loop follows the start that leaves nothing out; the other starts follow the loop.
      a_.note(
          "For every output: a row of the plane is the last of it, the second of the next, the first of the one "
          "after.");
      for (int j = 0; j < turn_; ++j) {
        a_.bind(output[static_cast<size_t>(j)]);
        one_output(j);
      }
      if (turn_ % 2 == 1) a_.add(r1, r1, kOutRow);
      a_.subs(kLast, kLast, 1 << 16);
      a_.b("pl", output[0]);
      next_column();
      a_.b("ne", column);
      a_.b(done);
    }
    a_.bind(done);
    a_.leave();
    return a_.finish();
  }

 private:
  // Frame.
  static constexpr int kMultiplier = RequantizeLine::kMultiplier, kSign = RequantizeLine::kSign,
                       kCounter = RequantizeLine::kEnd, kNext = 16, kEntry = 24, kColumnsLeft = 28, kFrame = 32;
  // r0 is the plane, r1 the output.
  static constexpr Reg kOutRow = r2, kBias = lr;
  // Lines are rows; the turns that are left are above the last weight.
  Reg acc(int i) const { return {8 + i % in_flight_}; }

  // r0 stream, r1 plane, r2 out, r3 shape.
  void prologue() {
    static_assert(DepthwisePairs::kColumns == 0 && DepthwisePairs::kTurns == 1 && DepthwisePairs::kSkip == 2 &&
                  DepthwisePairs::kOutRow == 3 && DepthwisePairs::kPlaneNext == 4 && DepthwisePairs::kOutNext == 5);
    a_.ldm(r3, {r4, r5, r6, r7, r8, r9});
    a_.str(r4, sp, kColumnsLeft);
    a_.strd(r8, r9, sp, kNext);
    choose_entry(r6);
    a_.mov(r8, r5);
    const int bias = nibbles_ ? 4 : 8;
    nibbles_ ? a_.ldm(r0, {r10, r12}) : a_.ldm(r0, {r10, r11, r12});
    a_.ldrd(r3, r4, r0, bias + 4);
    keep_line(a_, r3, r4, shift_);
    if (sign_) a_.ldr(r4, r0, bias + 12);
    if (sign_) a_.str(r4, sp, kSign);
    a_.mov(r0, r1);
    a_.mov(r1, r2);
    a_.mov(kOutRow, r7);
    nibbles_ ? unpack_nibbles() : unpack_bytes();
    a_.bic(kBias, r12, 0xFF);
    a_.and_(r12, r12, 0xFF);
    a_.add_lsl(r7, r8, r12, 8);
    a_.str(r7, sp, kCounter);
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

  // Where columns begin, by what is left out.
  void choose_entry(Reg skip) {
    Label found = a_.label();
    for (int i = 0; i < turn_; ++i) {
      a_.adr(r12, start_[static_cast<size_t>(i)]);
      if (i + 1 == turn_) break;
      a_.cmp(skip, i);
      a_.b("eq", found);
    }
    a_.bind(found);
    a_.add(r12, r12, 1);
    a_.str(r12, sp, kEntry);
  }

  void load_row() {
    a_.at_any_address();
    a_.ldr_after(kPair, r0, 4);
    a_.ldrsh_after(kSingle, r0, pitch_ - 4);
  }
  void add_row(int row, Reg to) { add_line(row, to, to); }
  void start(Reg to) { add_line(0, to, kBias); }

  // Rows above the first output's last, entering the loop at output `skip` of a turn.
  void begin_column(int skip) {
    if (skip % 2 == 1) a_.sub(r1, r1, kOutRow);
    load_row();
    start(acc(skip));
    if (stride_ > 1) return;
    load_row();
    add_row(1, acc(skip));
    start(acc(skip + 1));
  }

  // Output j of a turn.
  void one_output(int j) {
    Reg done = acc(j);
    if (stride_ > 1) {
      load_row();
      add_row(1, done);
    }
    load_row();
    add_row(2, done);
    if (stride_ == 1) add_row(1, acc(j + 1));
    start(acc(j + in_flight_ - 1));
    requantize_by_line(a_, done, kPair, kSingle, shift_, sign_);
    // The output's pointer moves by two rows at a time.
    if (j % 2 == 0) a_.strb(done, r1);
    if (j % 2 == 1) a_.strb_index(done, r1, kOutRow);
    if (j % 2 == 1) a_.add_lsl(r1, r1, kOutRow, 1);
  }

  // Sets the flags to "ne" if there is one.
  void next_column() {
    a_.ldrd(kPair, kSingle, sp, kNext);
    a_.add(r0, r0, kPair);
    a_.add(r1, r1, kSingle);
    a_.ldr(kPair, sp, kColumnsLeft);
    a_.subs(kPair, kPair, 1);
    a_.str(kPair, sp, kColumnsLeft);
  }

  int pitch_, stride_, shift_;
  bool sign_, nibbles_;
  int in_flight_, turn_;  // outputs: accumulators, and those of a turn of the loop
  std::vector<Label> start_;
};

// `count` (1 to 4) elements from `from`, r4 bytes apart, to the plane; its last store moves the
// plane's pointer by `extra` more.
void copy_elements(Thumb& a, Reg from, int count, int extra) {
  a.ldrsb(r8, from);
  if (count > 1) a.ldrsb_index(r9, from, r4);
  if (count > 2) a.ldrsb_index(r10, from, r4, 1);
  if (count > 3) a.ldrsb_index(r11, from, r6);
  if (count > 1) a.pkhbt(r8, r8, r9);
  if (count > 3) a.pkhbt(r10, r10, r11);
  if (count == 1) a.strh_after(r8, r1, 2 + extra);
  if (count == 2) a.str_after(r8, r1, 4 + extra);
  if (count == 3) {
    a.str_after(r8, r1, 4);
    a.strh_after(r10, r1, 2 + extra);
  }
  if (count == 4) a.strd_after(r8, r10, r1, 8 + extra);
}

}  // namespace

Implementation dw_column(const tir::Kernel& kernel) { return ColumnWriter(kernel).run(); }

// r0 x, r1 plane, r2 shape, r3 rows. Rows of the plane begin at words.
Implementation dw_plane(const tir::Kernel& kernel) {
  int columns = parameter(kernel, "columns");
  int skip = 2 * parameter(kernel, "pitch") - 2 * columns;
  Thumb a;
  Label row = a.label(), chunk = a.label();
  a.note("On entry r0: a channel of the image, r1: plane, r2: shape, r3: rows. Bytes become halfwords.");
  a.enter(0);
  a.ldrd(r4, r5, r2, DepthwisePairs::kPixel * 4);  // and bytes from row to row
  a.add_lsl(r6, r4, r4, 1);
  a.bind(row);
  int chunks = (columns - 1) / 4, rest = columns - 4 * chunks;  // 1 to 4 are left
  Reg from = chunks > 0 ? r12 : r0;
  if (columns == 5) {
    a.ldrsb_index(r12, r0, r4, 2);
    copy_elements(a, r0, 4, 0);
    a.strh_after(r12, r1, 2 + skip);
    rest = 0;
  } else if (chunks == 1) {
    copy_elements(a, r0, 4, 0);
    a.add_lsl(r12, r0, r4, 2);
  } else if (chunks > 1) {
    a.mov(r12, r0);
    int twice = chunks / 2;
    if (twice > 1) a.mov(r7, twice);
    if (twice > 1) a.bind(chunk);
    for (int i = 0; i < 2; ++i) {
      copy_elements(a, r12, 4, 0);
      a.add_lsl(r12, r12, r4, 2);
    }
    if (twice > 1) a.subs(r7, r7, 1);
    if (twice > 1) a.b("ne", chunk);
    if (chunks % 2 == 1) {
      copy_elements(a, r12, 4, 0);
      a.add_lsl(r12, r12, r4, 2);
    }
  }
  if (rest > 0) copy_elements(a, from, rest, skip);
  a.add(r0, r0, r5);
  a.subs(r3, r3, 1);
  a.b("ne", row);
  a.leave();
  return a.finish();
}

void DepthwiseLines::unpack_bytes() {
  a_.lsl(r3, r10, 8);
  a_.and_(r3, r3, kHighBytes);
  a_.and_(r4, r10, kHighBytes);
  a_.lsl(r5, r11, 8);
  a_.and_(r5, r5, kHighBytes);
  a_.and_(r6, r11, kHighBytes);
}

void DepthwiseLines::load_column(Reg from, int offset, int row, Reg temp) {
  a_.ldrsb(kPair, from, offset);
  a_.ldrsb(temp, from, offset + row);
  a_.ldrsb(kSingle, from, offset + 2 * row);
  a_.pkhbt(kPair, kPair, temp);
}

void DepthwiseLines::add_line(int line, Reg to, Reg from) {
  a_.smlad(to, kPair, weights(line), from);
  if (line == 1) {
    a_.smlabt(to, kSingle, kThird, to);
  } else {
    a_.smlabb(to, kSingle, line == 0 ? kThird : kLast, to);
  }
}

void move_by(Thumb& a, Reg r, int bytes, Reg temp) {
  if (bytes > kMostOffset || bytes < -kMostOffset) {
    a.mov32(temp, static_cast<uint32_t>(bytes));
    a.add(r, r, temp);
  } else if (bytes > 0) {
    a.add(r, r, bytes);
  } else if (bytes < 0) {
    a.sub(r, r, -bytes);
  }
}

}  // namespace aotc::cores::arm
