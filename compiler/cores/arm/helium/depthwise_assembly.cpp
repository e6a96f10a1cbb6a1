// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution with VMLADAV: the sixteen products of a patch with an output's weights are
// one instruction. What the kernels do is said by their meanings in cores/arm/helium/depthwise_kernels.cpp.
#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/helium/depthwise_kernels.h"
#include "cores/arm/helium/helium.h"
#include "cores/arm/helium/lowerings.h"

namespace aotc::cores::arm {

namespace {

constexpr int kVectorLanes = 4;

// q1 to q4 weights of the outputs; for kRow q2 to q4 are offsets of the later patches' words. q5
// offsets of a patch's words, q6 of outputs; q7 the multiplier (kLine), signs (kTwice) or the second
// factor (kTwice of products without a clamp). kEven is as kTwice without shift and signs. r0 woven, r1 stream, r2 out,
// r5 step, r7 offset or bias, r12 step of the outputs (kSquares: of two quads); r3 shape, r9 end of the stream, r11
// quads (kLine), or shift or factor, multiplier, zero (kTwice; r3 stays the shape where q7 is the factor). With a clamp
// r9 is the multiplier of kLine too.
class MveQuadsWriter {
 public:
  explicit MveQuadsWriter(const tir::Kernel& kernel)
      : once_(parameter(kernel, "kind") == MveDepthwise::kSquaresOnce),
        pairs_(once_ || parameter(kernel, "kind") == MveDepthwise::kSquares),
        kind_(pairs_ ? MveDepthwise::kSquare : static_cast<MveDepthwise::Kind>(parameter(kernel, "kind"))),
        twice_(parameter(kernel, "twice") != 0),
        products_(parameter(kernel, "twice") == MveScaling::kTwiceProducts),
        floats_(parameter(kernel, "twice") == MveScaling::kTwiceFloats),
        left_(parameter(kernel, "left")),
        shift_(parameter(kernel, "shift")),
        clamps_(parameter(kernel, "clamps") != 0),
        tail_(parameter(kernel, "tail") != 0) {}

  Implementation run() {
    Label channel = a_.label(), quad = a_.label(), done = a_.label();
    a_.note("On entry r0: woven rows, r1: weights, r2: out, r3: shape.");
    a_.enter(8);
    begin();
    a_.note("For every group of channels; in it, four outputs at a time.");
    a_.bind(channel);
    load_channel();
    if (shape_stays()) {
      a_.ldr(r4, r3, MveDepthwise::kQuads * 4);
    } else if (twice_) {
      a_.ldr(r4, sp, kShape);
      a_.ldr(r11, r4, MveDepthwise::kZero * 4);
      a_.ldr(r4, r4, MveDepthwise::kQuads * 4);
    }
    if (!once_) {
      a_.wls(twice_ ? r4 : r11, done);
      a_.bind(quad);
    }
    pairs_ ? make_two_quads() : make_quad(false);
    if (!once_) {
      a_.le(quad);
      a_.bind(done);
    }
    if (tail_) make_quad(true);
    if (twice_ || clamps_) a_.ldrd(r3, r9, sp, kShape);
    a_.ldrd(r6, r8, r3, MveDepthwise::kBack * 4);
    a_.add(r0, r0, r6);
    a_.add(r2, r2, r8);
    a_.cmp(r1, r9);
    a_.b("ne", channel);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kShape = 0;  // then where the stream ends
  static Reg acc(int lane) { return {4 + 2 * lane}; }
  // kTwice: the second factor is in q7, where a clamp would need it.
  bool shape_stays() const { return products_ && !clamps_; }

  void begin() {
    a_.vldrw(q5, r3, MveDepthwise::kGather * 4);
    a_.vldrw(q6, r3, MveDepthwise::kScatter * 4);
    a_.ldr(r9, r3, MveDepthwise::kStreamBytes * 4);
    a_.add(r9, r9, r1);
    a_.ldrd(r5, r12, r3, MveDepthwise::kStep * 4);
    if (twice_ || clamps_) a_.strd(r3, r9, sp, kShape);
    if (!twice_ && !once_) a_.ldr(r11, r3, MveDepthwise::kQuads * 4);
    if (pairs_ && !once_) a_.lsr(r11, r11, 1);
    if (pairs_) a_.lsl(r12, r12, 1);
    if (shape_stays()) a_.ldr(r11, r3, MveDepthwise::kZero * 4);
    if (tail_) predicate_tail();
    if (kind_ != MveDepthwise::kRow) return;
    Vec from = q5;
    for (Vec v : {q2, q3, q4}) {
      a_.vadd(32, v, from, r5);
      from = v;
    }
    a_.lsl(r5, r5, 2);
  }

  // The first output's weights, then those of the others, shifted in the patch, and what
  // requantises.
  void load_channel() {
    Reg multiplier = twice_ || clamps_ ? r9 : r4;
    a_.vldrw_after(q1, r1, kind_ == MveDepthwise::kColumn ? 16 : 12);
    a_.mov(multiplier, 0);
    if (kind_ == MveDepthwise::kColumn) {
      Vec from = q1;
      for (Vec v : {q2, q3, q4}) {
        a_.vmov(v, from);
        a_.vshlc(v, multiplier, 8);
        from = v;
      }
    } else {
      // In the fourth lane is what follows the weights.
      if (kind_ == MveDepthwise::kSquare) a_.vmov(q3, q1);
      a_.vmov_lane(q1, 3, multiplier);
    }
    if (kind_ == MveDepthwise::kSquare) {
      a_.vshlc(q3, multiplier, 32);
      a_.vshl(32, q2, q1, 8);
      a_.vshl(32, q4, q3, 8);
    }
    a_.ldrd_after(multiplier, r7, r1, 8);
    if (shape_stays()) {
      a_.ldr_after(r4, r1, 4);
      a_.vdup(32, q7, r4);
    } else if (twice_) {
      if (!floats_) a_.ldr_after(r3, r1, 4);
    } else {
      a_.vdup(32, q7, multiplier);
    }
  }

  // As make_quad, and the results of both are narrowed into one vector.
  void make_two_quads() {
    for (Vec v : {q0, q6}) {
      a_.vldrw_gather(v, r0, q5);
      int i = 0;
      for (Vec w : {q1, q2, q3, q4}) a_.vmladav(acc(i++), v, w);
      a_.add(r0, r0, r5);
      gather(v);
    }
    for (Vec v : {q0, q6}) a_.vshl(32, v, v, left_ - 1);
    for (Vec v : {q0, q6}) a_.vqdmlash(32, v, q7, r7);
    a_.narrow(32, q0, q0, std::min(shift_, 16));
    a_.narrow(32, q0, q6, std::min(shift_, 16), true);
    a_.vldrw(q6, r3, MveDepthwise::kScatterPairs * 4);
    a_.narrow(16, q0, q0, std::max(shift_ - 16, 0));
    a_.vstrb_scatter(16, q0, r2, q6);
    a_.add(r2, r2, r12);
  }

  void gather(Vec v) { a_.gather(v, acc(0), acc(1), acc(2), acc(3)); }

  // A square's tail is its first column.
  int tail_outputs() const { return kind_ == MveDepthwise::kSquare ? 2 : kVectorLanes; }

  void make_quad(bool tail) {
    int outputs = tail ? tail_outputs() : kVectorLanes;
    const Vec weights[] = {q1, q2, q3, q4}, patches[] = {q5, q2, q3, q4};
    for (int i = 0; i < outputs; ++i) {
      bool row = kind_ == MveDepthwise::kRow;
      if (row || i == 0) a_.vldrw_gather(q0, r0, patches[i]);
      a_.vmladav(acc(i), q0, row ? q1 : weights[i]);
    }
    if (outputs == 2) {
      for (int i = 0; i < 2; ++i) a_.vmov_lane(q0, i, acc(i));
    } else {
      gather(q0);
    }
    requantize();
    if (tail) return store_tail();
    a_.add(r0, r0, r5);
    a_.vstrb_scatter(32, q0, r2, q6);
    a_.add(r2, r2, r12);
  }

  // Lanes that the tail has. Nothing else changes the predicate.
  void predicate_tail() {
    if (tail_outputs() < kVectorLanes) {
      a_.mov(r4, tail_outputs());
    } else {
      a_.ldr(r4, r3, MveDepthwise::kTail * 4);
    }
    a_.vctp(32, r4);
  }

  void store_tail() {
    if (pairs_) a_.vldrw(q6, r3, MveDepthwise::kScatter * 4);
    a_.vpst(1);
    a_.predicated([&] { a_.vstrb_scatter(32, q0, r2, q6); });
  }

  void requantize() {
    if (products_) {
      a_.vadd(32, q0, q0, r7);
      a_.vqrdmulh(32, q0, q0, r9);
      if (shape_stays()) {
        a_.vqrdmlash(32, q0, q7, r11);
      } else {
        a_.vqrdmulh(32, q0, q0, r3);
        a_.vadd(32, q0, q0, r11);
      }
      a_.vqmovnb(32, q0, q0);
    } else if (floats_) {
      a_.vadd(32, q0, q0, r7);
      a_.vcvt_to_float(q0, q0);
      a_.vmul_float(q0, q0, r9);
      a_.vcvt_to_nearest(q0, q0);
      a_.vqadd(32, q0, q0, r11);
      a_.vqmovnb(32, q0, q0);
    } else if (twice_) {
      a_.vadd(32, q0, q0, r7);
      a_.vshr(32, q7, q0, 31);
      a_.vqrdmulh(32, q0, q0, r9);
      a_.vadd(32, q0, q0, q7);
      a_.vrshl(32, q0, r3);
      a_.vadd(32, q0, q0, r11);
      a_.vqmovnb(32, q0, q0);
    } else {
      a_.vshl(32, q0, q0, left_ - 1);
      a_.vqdmlash(32, q0, q7, r7);
      a_.narrow(32, q0, q0, std::min(shift_, 16));
    }
    a_.narrow(16, q0, q0, std::max(shift_ - 16, 0));
    if (clamps_) clamp();
  }

  void clamp() {
    if (twice_) a_.ldr(r4, sp, kShape);
    Reg shape = twice_ ? r4 : r3;
    a_.vldrw(q7, shape, MveDepthwise::kLeast * 4);
    a_.vmax(8, q0, q0, q7);
    a_.vldrw(q7, shape, MveDepthwise::kMost * 4);
    a_.vmin(8, q0, q0, q7);
    if (!twice_) a_.vdup(32, q7, r9);
  }

  Helium a_;
  bool once_, pairs_;
  MveDepthwise::Kind kind_;
  bool twice_, products_, floats_;
  int left_, shift_;
  bool clamps_, tail_;
};

}  // namespace

Implementation mve_quads(const tir::Kernel& kernel) { return MveQuadsWriter(kernel).run(); }

// r0 x, r1 woven, r2 bytes, r3 zero. With rows that are kept, what is woven is loaded to q0 to q3
// and stored from as many registers further up as rows leave; rows from x are then q4 and up.
Implementation mve_weave(const tir::Kernel& kernel) {
  int first = parameter(kernel, "first"), rows = parameter(kernel, "rows");
  int keep = parameter(kernel, "keep");
  int from = keep > 0 ? kVectorLanes - keep : 0;
  Helium a;
  Label block = a.label(), done = a.label();
  auto row = [](int r) { return Reg{4 + r}; };
  auto weave = [&] {
    for (int part = 0; keep > 0 && part < kVectorLanes; ++part) a.vld4_bytes(q0, r1, part);
    for (int r = 0; r < rows; ++r) a.vldrb_after(8, Vec{from + first + r}, row(r), 16);
    for (int part = 0; part < kVectorLanes; ++part) a.vst4_bytes(Vec{from}, r1, part);
  };
  a.enter(0);
  a.mov(row(0), r0);
  for (int r = 1; r < rows; ++r) a.add(row(r), row(r - 1), r2);
  for (int r = keep; r < kVectorLanes; ++r)
    if (r < first || r >= first + rows) a.vdup(8, Vec{from + r}, r3);
  a.lsr(r12, r2, 4);
  a.lsl(r8, r12, 4);
  a.dls(r12);
  a.bind(block);
  weave();
  a.le(block);
  if (keep == 0) {
    // What remains ends with the rows and overlaps the last block.
    a.mov(r9, 16);
    a.sub(r8, r2, r8);
    a.cmp(r8, 0);
    a.b("eq", done);
    a.sub(r8, r9, r8);
    for (int r = 0; r < rows; ++r) a.sub(row(r), row(r), r8);
    a.lsl(r8, r8, 2);
    a.sub(r1, r1, r8);
    weave();
    a.bind(done);
  }
  a.leave();
  return a.finish();
}

}  // namespace aotc::cores::arm
