// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/depthwise_kernels.h"

#include <fmt/format.h>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_lines.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

constexpr int kBias = 2, kLine = 3;

}  // namespace

bool StridedRows::fits() const {
  return columns >= 2 && 2 * row + 3 * pixel <= kMostOffset && 4 * pixel <= kMostOffset && out_pixel * 2 <= kMostOffset;
}

KernelPtr dw_strided_kernel(const StridedRows& s, int shift, bool sign) {
  FunctionBuilder f("dw_strided");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex rows = f.let("rows", load(shape, StridedShape::kRows));
  Ex missing = f.let("missing", load(shape, StridedShape::kMissing));
  // Which row of the windows the first one of x is.
  Ex first = f.let("first", select(missing == StridedShape::kTop, 1, select(missing == StridedShape::kBottom, -1, 0)));
  std::vector<Ex> w;
  for (const DepthwisePairs::Place& p : DepthwisePairs::kPlaces)
    w.push_back(f.let("w", (shl_wrapping(load(stream, p.word), 24 - 8 * p.byte) >> 24) * (1 << DepthwisePairs::kLeft)));
  Ex bias = f.let("bias", load(stream, kBias) & -256);
  const int64_t left = s.left ? 1 : 0;
  f.loop("r", 0, rows, [&](Ex r) {
    f.loop("column", 0, s.columns, [&](Ex column) {
      Ex acc = f.var("acc", bias);
      for (int64_t kx = 0; kx < 3; ++kx)
        for (int64_t ky = 0; ky < 3; ++ky) {
          Ex at_row = f.let("row", ky - first), at_column = f.let("at", column * 2 + (kx - left));
          Ex inside = at_row >= 0 && at_row < 3;
          if (s.left && kx == 0) inside = inside && column > 0;
          if (s.right && kx == 2) inside = inside && column < s.columns - 1;
          Ex v = f.let("v", select(inside, load(x, (r * 2 + at_row) * s.row + at_column * s.pixel), s.zero));
          f.assign(acc, add_wrapping(acc, mul_wrapping(v, w[static_cast<size_t>(3 * kx + ky)])));
        }
      f.store(out, (r * s.columns + column) * s.out_pixel, line_output(f, acc, stream, kLine, shift, sign));
    });
  });
  return f.finish_kernel("dw_strided", {{"row", s.row},
                                        {"pixel", s.pixel},
                                        {"out_pixel", s.out_pixel},
                                        {"columns", s.columns},
                                        {"left", s.left},
                                        {"right", s.right},
                                        {"zero", s.zero},
                                        {"shift", shift},
                                        {"sign", sign}});
}

namespace {

class StridedWriter : DepthwiseLines {
 public:
  explicit StridedWriter(const tir::Kernel& k)
      : row_(parameter(k, "row")),
        pixel_(parameter(k, "pixel")),
        out_pixel_(parameter(k, "out_pixel")),
        columns_(parameter(k, "columns")),
        left_(parameter(k, "left") != 0),
        right_(parameter(k, "right") != 0),
        zero_(parameter(k, "zero")),
        shift_(parameter(k, "shift")),
        sign_(parameter(k, "sign") != 0) {}

  Implementation run() {
    Label row = a_.label(), pair = a_.label(), second = a_.label();
    const int whole = columns_ - (right_ ? 1 : 0);  // outputs with all columns inside
    const bool odd = whole % 2 == 1;
    a_.note("On entry r0: weights, bias and scale of a channel, r1: the image, r2: out, r3: shape.");
    a_.enter(kFrame);
    prologue((whole + 1) / 2 - 1);
    a_.note("A row of outputs. r0: image, r1: out, r3 to r6 and the lower half of r7: weights by columns, r8: bias,");
    a_.note("r9: the sum, r11 and r12: a column, its first two rows as a pair, lr and r2: multiplier, offset.");
    a_.bind(row);
    a_.ldr(kLast, sp, kCounter);
    if (left_) a_.ldr(kAcc, sp, kLeftSum);
    if (!left_) read_column(0);
    if (!left_) add_line(0, kAcc, kBias);
    move(r0, (left_ ? 0 : pixel_) - (odd ? 2 * pixel_ : 0));
    if (odd) a_.sub(r1, r1, out_pixel_);
    if (odd) a_.b(second);
    a_.note("Two outputs. The columns of each are its second and its third, which is the first of the next one.");
    a_.bind(pair);
    one_output(0);
    a_.bind(second);
    one_output(1);
    move(r0, 4 * pixel_);
    a_.add(r1, r1, 2 * out_pixel_);
    a_.subs(kLast, kLast, 1 << 16);
    a_.b("pl", pair);
    if (right_) last_output();
    move(r0, 2 * row_ - (2 * whole + (left_ ? 0 : 1)) * pixel_);
    a_.ldr(kTemp, sp, kRows);
    a_.subs(kTemp, kTemp, 1);
    a_.str(kTemp, sp, kRows);
    a_.b("ne", row);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kSign = 0, kCounter = 4, kLeftSum = 8, kRightSum = 12, kRows = 16, kFrame = 20;
  static constexpr Reg kBias = r8, kAcc = r9, kTemp = r10, kMultiplier = lr, kOffset = r2;

  void move(Reg r, int by) { move_by(a_, r, by, kTemp); }

  // r0 stream, r1 image, r2 out, r3 shape.
  void prologue(int turns) {
    a_.mov(r9, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r2);
    a_.ldrd(r2, r7, r3, StridedShape::kRows * 4);  // and what is missing
    a_.ldrd(r10, r11, r9);
    a_.ldr(r12, r9, 8);
    a_.str(r2, sp, kRows);
    a_.ldrd(kMultiplier, kOffset, r9, 12);
    if (shift_ == 0) a_.vmov(1, kMultiplier);
    if (sign_) a_.ldr(r4, r9, 20);
    if (sign_) a_.str(r4, sp, kSign);
    unpack_bytes();
    a_.bic(kBias, r12, 0xFF);
    a_.and_(r12, r12, 0xFF);
    a_.lsl(r12, r12, 8);
    a_.mov(r10, zero_);
    move_weights();
    if (left_) {
      a_.smlabb(r9, r10, r3, kBias);
      a_.smlabt(r9, r10, r3, r9);
      a_.smlabb(r9, r10, kThird, r9);
      a_.str(r9, sp, kLeftSum);
    }
    if (right_) {
      a_.mov(r9, 0);
      a_.smlabb(r9, r10, r5, r9);
      a_.smlabt(r9, r10, r5, r9);
      a_.smlabb(r9, r10, r12, r9);
      a_.str(r9, sp, kRightSum);
    }
    a_.mov(r9, turns);
    a_.add_lsl(r12, r12, r9, 16);
    a_.str(r12, sp, kCounter);
  }

  // Where a row is missing: r7 says which. The bias takes what its weights add; r12 has the last weight, r10 the zero
  // point.
  void move_weights() {
    Label done = a_.label(), bottom = a_.label();
    a_.cmp(r7, StridedShape::kNone);
    a_.b("eq", done);
    a_.cmp(r7, StridedShape::kTop);
    a_.b("ne", bottom);
    for (int c = 0; c < 3; ++c) a_.smlabb(kBias, r10, weights(c), kBias);
    a_.asr(r9, r3, 16);
    a_.pkhbt(r3, r9, kThird);
    a_.pkhtb(r4, kThird, r4);
    a_.asr(r9, r5, 16);
    a_.pkhbt(r5, r9, r12);
    a_.mov(kThird, 0);
    a_.mov(r12, 0);
    a_.b(done);
    a_.bind(bottom);
    a_.smlabb(kBias, r10, kThird, kBias);
    a_.smlabt(kBias, r10, kThird, kBias);
    a_.smlabb(kBias, r10, r12, kBias);
    a_.lsr(r12, r5, 16);
    a_.pkhtb(kThird, r4, r3);
    for (int c = 0; c < 3; ++c) a_.lsl(weights(c), weights(c), 16);
    a_.bind(done);
  }

  void put_result() {
    if (sign_) a_.ldr(kTemp, sp, kSign);
    requantize(a_, kAcc, kMultiplier, kOffset, shift_, sign_ ? &kTemp : nullptr, kTemp, true);
  }

  void read_column(int offset) { load_column(r0, offset, row_, kTemp); }

  void one_output(int half) {
    read_column(2 * half * pixel_);
    add_line(1, kAcc, kAcc);
    read_column((2 * half + 1) * pixel_);
    add_line(2, kAcc, kAcc);
    put_result();
    a_.strb(kAcc, r1, half * out_pixel_);
    add_line(0, kAcc, kBias);
  }

  // Its last column is outside.
  void last_output() {
    read_column(0);
    add_line(1, kAcc, kAcc);
    a_.ldr(kTemp, sp, kRightSum);
    a_.add(kAcc, kAcc, kTemp);
    put_result();
    a_.strb(kAcc, r1);
    a_.add(r1, r1, out_pixel_);
  }

  int row_, pixel_, out_pixel_, columns_;
  bool left_, right_;
  int zero_, shift_;
  bool sign_;
};

}  // namespace

Implementation dw_strided(const tir::Kernel& kernel) { return StridedWriter(kernel).run(); }

}  // namespace aotc::cores::arm
