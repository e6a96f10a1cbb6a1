// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/lowerings.h"
#include "cores/arm/helium/scaling_writer.h"
#include "cores/arm/helium/taps.h"

namespace aotc::cores::arm {

namespace {

// r1 x, r3 out, r5 stream; r6 the pixel, r7 from the end of a row of taps to the next, r8 from column to column, r9
// groups, r10 rows of a window, r11 shape, r12 from the last tap to the next group. q0, q1 are the sums.
class MveTapsWriter : ScalingWriter {
 public:
  explicit MveTapsWriter(const tir::Kernel& kernel)
      : ScalingWriter(kernel),
        columns_(parameter(kernel, "columns")),
        step_(parameter(kernel, "step")),
        bytes_(parameter(kernel, "bytes")),
        weight_bytes_(parameter(kernel, "weights")) {}

  Implementation run() {
    Label pixel = a_.label(), group = a_.label(), row = a_.label(), done = a_.label();
    a_.note("On entry r0: weights, r1: x, r2: out, r3: shape.");
    a_.enter(kLocals);
    begin();
    a_.note("For every pixel. r5: weights, r6: x, r3: out.");
    a_.bind(pixel);
    a_.ldrd(r5, r9, sp, kStream);
    a_.mov(r1, r6);
    a_.note("For every eight channels: q0 adds up the even ones, q1 the odd ones.");
    a_.bind(group);
    for (Vec sum : {q0, q1}) a_.vmov_imm(32, sum, 0);
    a_.dls(r10);
    a_.bind(row);
    a_.repeat(columns_, [&] { tap(); });
    a_.add(r1, r1, r7);
    a_.le(row);
    a_.add(r1, r1, r12);
    if (products_) a_.ldr(r0, r11, MveGemm::kZero * 4);
    requantize_halves();
    if (needs_shape()) a_.mov(r4, r11);
    finish({q0});
    store(MveGemm::kGroup);
    a_.subs(r9, r9, 1);
    if (back_ == 0) {
      a_.b("ne", group);
    } else {
      // After the whole groups one more that begins earlier.
      a_.b("gt", group);
      a_.b("ne", done);
      a_.sub(r1, r1, back_ * bytes_);
      a_.sub(r3, r3, back_ * bits() / 8);
      a_.b(group);
      a_.bind(done);
    }
    a_.ldrd(r0, r2, sp, kPixels);
    a_.add(r6, r6, r2);
    a_.subs(r0, r0, 1);
    a_.str(r0, sp, kPixels);
    a_.b("ne", pixel);
    a_.leave();
    return a_.finish();
  }

 private:
  // The stream and the groups; pixels that are left and the step to the next.
  static constexpr int kStream = 0, kPixels = 8, kLocals = 16;

  void begin() {
    a_.mov(r11, r3);
    a_.mov(r6, r1);
    a_.mov(r3, r2);
    a_.ldrd(r4, r9, r11, MveTaps::kPixels * 4);      // and groups
    a_.ldrd(r10, r8, r11, MveTaps::kRows * 4);       // and from column to column
    a_.ldrd(r2, r12, r11, MveTaps::kPixelStep * 4);  // and from group to group
    a_.ldr(r7, r11, MveTaps::kRowSkip * 4);
    a_.strd(r0, r9, sp, kStream);
    a_.strd(r4, r2, sp, kPixels);
  }

  void tap() {
    const int lanes = bytes_ == 1 ? 16 : 8;  // bytes that become half words, or half words as they are
    if (step_ > 0) {
      a_.vldrb_after(lanes, q3, r1, step_);
    } else {
      a_.vldrb(lanes, q3, r1);
      a_.add(r1, r1, r8);
    }
    weight_bytes_ == 1 ? a_.vldrb_after(16, q4, r5, 8) : a_.vldrb_after(8, q4, r5, 16);
    a_.vmullb(16, q2, q3, q4);
    a_.vadd(32, q0, q0, q2);
    a_.vmullt(16, q2, q3, q4);
    a_.vadd(32, q1, q1, q2);
  }

  int columns_, step_, bytes_, weight_bytes_;
};

}  // namespace

Implementation mve_taps(const tir::Kernel& kernel) { return MveTapsWriter(kernel).run(); }

}  // namespace aotc::cores::arm
