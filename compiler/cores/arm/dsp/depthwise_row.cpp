// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/depthwise_kernels.h"

#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_lines.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

constexpr int kBiasWord = 2, kLineWord = 3;
// More outputs than these are made in a loop, some of them at a time.
constexpr int64_t kWrittenOut = 6;

}  // namespace

bool DepthwiseRow::fits() const {
  const int64_t written = std::min<int64_t>(columns, kWrittenOut + 1);
  return columns >= 2 && 2 * row + (written * stride + 2) * pixel <= kMostOffset && written * out_pixel <= kMostOffset;
}

KernelPtr dw_row_kernel(const DepthwiseRow& s, int shift, bool sign) {
  FunctionBuilder f("dw_row");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  Ex channels = f.scalar("channels");
  const int64_t words = dw_stream_words(sign), left = s.left ? 1 : 0;
  f.loop("c", 0, channels, [&](Ex c) {
    Ex at_stream = f.let("at_stream", c * words);
    std::vector<Ex> w;
    for (const DepthwisePairs::Place& p : DepthwisePairs::kPlaces)
      w.push_back(f.let(
          "w", (shl_wrapping(load(stream, at_stream + p.word), 24 - 8 * p.byte) >> 24) * (1 << DepthwisePairs::kLeft)));
    Ex bias = f.let("bias", load(stream, at_stream + kBiasWord) & -256);
    f.loop("column", 0, s.columns, [&](Ex column) {
      Ex acc = f.var("acc", bias);
      for (int64_t kx = 0; kx < 3; ++kx)
        for (int64_t ky = 0; ky < 3; ++ky) {
          Ex v = load(x, c + ky * s.row + (column * s.stride + (kx - left)) * s.pixel);
          if (s.left && kx == 0) v = select(column > 0, v, s.zero);
          if (s.right && kx == 2) v = select(column < s.columns - 1, v, s.zero);
          f.assign(acc, add_wrapping(acc, mul_wrapping(f.let("v", v), w[static_cast<size_t>(3 * kx + ky)])));
        }
      f.store(out, c + column * s.out_pixel, line_output(f, acc, stream, at_stream + kLineWord, shift, sign));
    });
  });
  return f.finish_kernel("dw_row", {{"row", s.row},
                                    {"pixel", s.pixel},
                                    {"out_pixel", s.out_pixel},
                                    {"columns", s.columns},
                                    {"stride", s.stride},
                                    {"left", s.left},
                                    {"right", s.right},
                                    {"zero", s.zero},
                                    {"shift", shift},
                                    {"sign", sign}});
}

namespace {

class RowWriter : DepthwiseLines {
 public:
  explicit RowWriter(const tir::Kernel& k)
      : row_(parameter(k, "row")),
        pixel_(parameter(k, "pixel")),
        out_pixel_(parameter(k, "out_pixel")),
        columns_(parameter(k, "columns")),
        stride_(parameter(k, "stride")),
        left_(parameter(k, "left") != 0),
        right_(parameter(k, "right") != 0),
        zero_(parameter(k, "zero")),
        shift_(parameter(k, "shift")),
        sign_(parameter(k, "sign") != 0) {}

  Implementation run() {
    Label channel = a_.label();
    a_.note("On entry r0: weights, bias and scale of channels, r1: the image, r2: out, r3: how many channels.");
    a_.enter(kFrame);
    a_.str(r3, sp, kChannels);
    a_.mov(r4, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r2);
    a_.mov(kStream, r4);
    a_.note(
        "A channel. r0: image, r1: out, r2: weights of the next one, r3 to r6 and the lower half of r7: its weights "
        "by");
    a_.note(
        "columns, r8: bias, r9, r10, lr: sums of outputs in flight, r11 and r12: a column, its first two rows as a "
        "pair.");
    a_.bind(channel);
    take_weights();
    begin_row();
    inner();
    if (right_) last_output();
    // Back to the first column, of the next channel.
    move(r0, 1 - moved_ * pixel_);
    move(r1, 1 - (loops() ? whole() : 0) * out_pixel_);
    a_.ldr(kPair, sp, kChannels);
    a_.subs(kPair, kPair, 1);
    a_.str(kPair, sp, kChannels);
    a_.b("ne", channel);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kMultiplier = RequantizeLine::kMultiplier, kSign = RequantizeLine::kSign,
                       kChannels = RequantizeLine::kEnd, kFrame = 16;
  static constexpr Reg kStream = r2, kBias = r8;

  // Outputs that read a column, and so the sums in flight, which change places.
  int in_flight() const { return stride_ == 1 ? 3 : 2; }
  Reg acc(int output) const {
    constexpr Reg kSums[] = {r9, r10, lr};
    return kSums[output % in_flight()];
  }
  // Outputs with all columns inside of the image.
  int whole() const { return columns_ - (right_ ? 1 : 0); }
  bool loops() const { return whole() > kWrittenOut; }
  int turns() const { return (whole() + in_flight() - 1) / in_flight(); }

  void move(Reg r, int by) { move_by(a_, r, by, kSingle); }

  void take_weights() {
    a_.ldrd_after(r10, r11, kStream, 8);
    a_.ldr_after(r12, kStream, 4);
    a_.ldrd_after(r3, r4, kStream, 8);
    keep_line(a_, r3, r4, shift_);
    if (sign_) a_.ldr_after(r4, kStream, 4);
    if (sign_) a_.str(r4, sp, kSign);
    unpack_bytes();
    a_.bic(kBias, r12, 0xFF);
    a_.and_(kLast, r12, 0xFF);
    a_.lsl(kLast, kLast, 8);
    if (loops()) a_.mov(r12, turns() - 1);
    if (loops()) a_.add_lsl(kLast, kLast, r12, 16);
  }

  // Column `offset` columns from r0; `free` is a sum that is not in flight.
  void read_column(int offset, Reg free) { load_column(r0, offset * pixel_, row_, free); }
  // The column that is loaded, as column `kx` of a window.
  void add_column(int kx, Reg to) { add_line(kx, to, kx == 0 ? kBias : to); }
  // A column outside of the image.
  void load_outside() {
    const auto half = static_cast<uint32_t>(zero_) & 0xFFFF;
    a_.mov32(kPair, half << 16 | half);
    a_.mov(kSingle, kPair);
  }
  void finish_output(Reg sum, int to) {
    requantize_by_line(a_, sum, kPair, kSingle, shift_, sign_);
    a_.strb(sum, r1, to * out_pixel_);
  }

  // What the first output reads before its last column (its last two, of strides of 2).
  void begin_row() {
    const int first = entry();
    if (left_) {
      load_outside();
      add_column(0, acc(first));
    } else {
      read_column(at_++, acc(first + 1));
      add_column(0, acc(first));
    }
    if (stride_ > 1) return;
    read_column(at_++, acc(first + 1));
    add_column(1, acc(first));
    add_column(0, acc(first + 1));
  }

  // Outputs of a loop's first turn that are left out.
  int entry() const { return loops() ? turns() * in_flight() - whole() : 0; }

  // One output, its columns from `column` on; `more`: outputs behind it that its last column begins.
  void one_output(int output, int column, int to, int more) {
    if (stride_ == 2) {
      read_column(column++, acc(output + 1));
      add_column(1, acc(output));
    }
    read_column(column, acc(output + in_flight() - 1));
    add_column(2, acc(output));
    if (stride_ == 1 && more > 0) add_column(1, acc(output + 1));
    if (more > 2 - stride_) add_column(0, acc(output + in_flight() - 1));
    finish_output(acc(output), to);
  }

  void inner() {
    if (!loops()) {
      for (int i = 0; i < whole(); ++i, at_ += stride_) one_output(i, at_, i, columns_ - 1 - i);
      return;
    }
    Label turn = a_.label(), in_turn = a_.label();
    const int first = entry(), behind = at_;  // where the columns of a turn begin
    move(r0, (behind - first * stride_) * pixel_);
    move(r1, -first * out_pixel_);
    if (first > 0) a_.b(in_turn);
    a_.bind(turn);
    for (int i = 0; i < in_flight(); ++i) {
      if (i == first && first > 0) a_.bind(in_turn);
      one_output(i, i * stride_, i, in_flight());
    }
    a_.add(r0, r0, in_flight() * stride_ * pixel_);
    a_.add(r1, r1, in_flight() * out_pixel_);
    a_.subs(kLast, kLast, 1 << 16);
    a_.b("pl", turn);
    moved_ = behind + whole() * stride_;
  }

  void last_output() {
    const int output = loops() ? in_flight() * turns() : whole();
    if (stride_ == 2) {
      read_column(loops() ? 0 : at_, acc(output + 1));
      add_column(1, acc(output));
    }
    load_outside();
    add_column(2, acc(output));
    finish_output(acc(output), loops() ? 0 : whole());
  }

  int row_, pixel_, out_pixel_, columns_, stride_;
  bool left_, right_;
  int zero_, shift_;
  bool sign_;
  int at_ = 0;     // the column behind those that were read, where they are not read in a loop
  int moved_ = 0;  // columns that r0 has moved by
};

}  // namespace

Implementation dw_row(const tir::Kernel& kernel) { return RowWriter(kernel).run(); }

}  // namespace aotc::cores::arm
