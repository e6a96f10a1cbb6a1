// SPDX-License-Identifier: Apache-2.0
// From vectors of sums to results: the part that assembly of all products and taps has in common. r5 is the stream of
// what requantises, four sums are those of every other channel.
#pragma once

#include <algorithm>
#include <utility>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/gemm.h"
#include "cores/arm/helium/helium.h"

namespace aotc::cores::arm {

class ScalingWriter {
 public:
  explicit ScalingWriter(const tir::Kernel& kernel)
      : back_(parameter(kernel, "back")),
        left_(parameter(kernel, "left")),
        shift_(parameter(kernel, "shift")),
        twice_(parameter(kernel, "twice") != 0),
        products_(parameter(kernel, "twice") == MveScaling::kTwiceProducts),
        floats_(parameter(kernel, "twice") == MveScaling::kTwiceFloats),
        clamps_(parameter(kernel, "clamp") != 0),
        halves_(has_parameter(kernel, "halves")),
        only_sums_(has_parameter(kernel, "sums") ||
                   (halves_ && parameter(kernel, "halves") == MveScaling::kNotNarrowed)) {}

 protected:
  // Two vectors of sums, of the same channels, into the half lanes of two results. q2, q3 are free; r0 is the zero
  // point, which products add. Sums that are results stay apart: even ones go to the results, odd ones remain.
  void requantize(Vec a, Vec b, Vec to_a, Vec to_b, bool odd) {
    if (only_sums_) {
      a_.vldrw_after(q2, r5, 16);
      a_.vadd(32, odd ? a : to_a, a, q2);
      a_.vadd(32, odd ? b : to_b, b, q2);
      return;
    }
    if (halves_) {
      a_.vldrw_after(q2, r5, 16);
      a_.vldrw_after(q3, r5, 16);
      for (Vec v : {a, b}) scale_half(v, q2, q3);
      a_.narrow(32, to_a, a, 0, odd);
      a_.narrow(32, to_b, b, 0, odd);
      return;
    }
    if (twice_) {
      a_.vldrw_after(q2, r5, 16);
      a_.vldrw_after(q3, r5, 16);
      for (Vec v : {a, b}) a_.vadd(32, v, v, q2);
      if (floats_) {
        for (Vec v : {a, b}) scale_float(v, q3);
      } else if (products_) {
        for (Vec v : {a, b}) a_.vqrdmulh(32, v, v, q3);
        a_.vldrw_after(q2, r5, 16);
        for (Vec v : {a, b}) a_.vqrdmlash(32, v, q2, r0);
      } else {
        for (Vec v : {a, b}) {
          a_.vshr(32, q2, v, 31);
          a_.vqrdmulh(32, v, v, q3);
          a_.vadd(32, v, v, q2);
        }
        a_.vldrw_after(q2, r5, 16);
        for (Vec v : {a, b}) a_.vrshl(32, v, v, q2);
      }
      narrow(a, to_a, odd);
      narrow(b, to_b, odd);
      return;
    }
    a_.vldrw_after(q2, r5, 16);
    a_.vshl(32, a, a, left_);
    a_.vshl(32, b, b, left_);
    a_.vldrw_after(q3, r5, 16);
    a_.vmulh(32, a, a, q2);
    a_.vmulh(32, b, b, q2);
    a_.vadd(32, a, a, q3);
    a_.vadd(32, b, b, q3);
    narrow(a, to_a, odd);
    narrow(b, to_b, odd);
  }

  void scale_float(Vec v, Vec scale) {
    a_.vcvt_to_float(v, v);
    a_.vmul_float(v, v, scale);
    a_.vcvt_to_nearest(v, v);
  }

  void scale_half(Vec v, Vec bias, Vec multiplier) {
    a_.vadd(32, v, v, bias);
    if (shift_ == 0) return a_.vrmulh(32, v, v, multiplier);
    a_.vmulh(32, v, v, multiplier);
    a_.vshr(32, v, v, shift_);
  }

  // q0 has the sums of the even ones of eight channels, q1 those of the odd ones; the results go to q0. q2, q3 are
  // free.
  void requantize_halves() {
    for (Vec v : {q0, q1}) {
      bool odd = v == q1;
      a_.vldrw_after(q2, r5, 16);
      if (halves_) {
        a_.vldrw_after(q3, r5, 16);
        scale_half(v, q2, q3);
        a_.narrow(32, q0, v, 0, odd);
        continue;
      }
      if (twice_) {
        a_.vadd(32, v, v, q2);
        a_.vldrw_after(q3, r5, 16);
        if (floats_) {
          scale_float(v, q3);
          narrow(v, q0, odd);
          continue;
        }
        if (!products_) a_.vshr(32, q2, v, 31);
        a_.vqrdmulh(32, v, v, q3);
        a_.vldrw_after(q3, r5, 16);
        if (products_) {
          a_.vqrdmlash(32, v, q3, r0);
        } else {
          a_.vadd(32, v, v, q2);
          a_.vrshl(32, v, v, q3);
        }
      } else {
        a_.vshl(32, v, v, left_);
        a_.vldrw_after(q3, r5, 16);
        a_.vmulh(32, v, v, q2);
        a_.vadd(32, v, v, q3);
      }
      narrow(v, q0, odd);
    }
  }

  int bits() const { return halves_ ? 16 : 8; }
  int result_bytes() const { return only_sums_ ? 4 : bits() / 8; }

  // Words to half words.
  void narrow(Vec v, Vec to, bool odd) { a_.narrow(32, to, v, twice_ ? 0 : std::min(shift_, 16), odd); }

  // Half words to bytes in their even places, or nothing but the clamp. r0, r2 and q2, q3 are free, r4 points to the
  // shape.
  void finish(std::initializer_list<Vec> results) {
    if (twice_ && !products_) {
      a_.ldr(r0, r4, MveGemm::kZero * 4);
      for (Vec v : results) a_.vqadd(16, v, v, r0);
    }
    if (!halves_)
      for (Vec v : results) a_.narrow(16, v, v, twice_ ? 0 : std::max(shift_ - 16, 0));
    if (!clamps_) return;
    a_.ldrd(r0, r2, r4, MveGemm::kLeast * 4);
    a_.vdup(bits(), q2, r0);
    a_.vdup(bits(), q3, r2);
    for (Vec v : results) {
      a_.vmax(bits(), v, v, q2);
      a_.vmin(bits(), v, v, q3);
    }
  }
  bool needs_shape() const { return (twice_ && !products_) || clamps_; }

  // Channels that do not exist have neither products nor results.
  void store(int width) {
    if (width == MveGemm::kGroup) return halves_ ? a_.vstrh_after(q0, r3, 16) : a_.vstrb_after(16, q0, r3, 8);
    a_.mov(r0, width);
    a_.vctp(16, r0);
    a_.vpst(1);
    a_.predicated([&] { halves_ ? a_.vstrh(q0, r3) : a_.vstrb(16, q0, r3); });
  }

  Helium a_;
  int back_, left_, shift_;
  bool twice_, products_, floats_, clamps_, halves_, only_sums_;
};

}  // namespace aotc::cores::arm
