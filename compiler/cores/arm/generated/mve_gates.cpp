// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/mve_gates.h"

#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "cores/arm/generated/mve_block.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;
using kernelgen::register_bit;
using kernelgen::Registers;
using kernelgen::Row;
using kernelgen::Value;
using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

// The blocks of one kernel.
class VectorGates {
 public:
  // Frame.
  static constexpr int kEnd = 0, kOutStepAt = 4, kMultiplierAt = 8, kLeftAt = 12, kRightAt = 16, kLocals = 20;
  // Registers that keep their meaning over all blocks.
  static constexpr int kX0 = 1, kX1 = 3, kStream = 5, kOutAt = 7, kBiasAt = 9, kTurns = 11;

  explicit VectorGates(const GateProducts& g)
      : g_(g), pixels_(static_cast<int>(g.pixels)), channels_(static_cast<int>(g.channels)) {}

  // One vector of every row. `first`: the sums begin here; `part`: only the lanes of the predicate count.
  Block vector(bool first, bool part) const {
    Block block;
    std::vector<Value> x, sums;
    if (!first)
      for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(block.live_in(Bank::kCore, sum(i), false));
    for (int p = 0; p < pixels_; ++p) {
      Value pointer = block.live_in(Bank::kCore, p == 0 ? kX0 : kX1, part);
      if (part) {
        x.push_back(block.add(mve::kLoad8Predicated, {pointer}, {}, kX));
      } else {
        x.push_back(block.access(mve::kLoad8After, pointer, {}, {kVectorBytes}, kX));
        block.keep(pointer);
      }
    }
    Value stream = block.live_in(Bank::kCore, kStream, false);
    for (int c = 0; c < channels_; ++c) {
      const Value w = block.access(mve::kLoad8After, stream, {}, {kVectorBytes}, kRows);
      for (int p = 0; p < pixels_; ++p) {
        const int i = p * channels_ + c;
        const Value made = first
                               ? block.add(mve::kDot, {w, x[static_cast<size_t>(p)]})
                               : block.add(mve::kDotAdd, {sums[static_cast<size_t>(i)], w, x[static_cast<size_t>(p)]});
        block.keep(made, sum(i));
      }
    }
    block.keep(stream);
    return block;
  }

  // From sums to int16, and the pointers for the next group.
  Block epilogue() const {
    Block block;
    std::vector<Value> sums, rows;
    for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(block.live_in(Bank::kCore, sum(i), false));
    Value bias = block.live_in(Bank::kCore, kBiasAt, false), out = block.live_in(Bank::kCore, kOutAt, false);
    const int vectors = channels_ / kRowsOfVector;
    for (int v = 0; v < vectors; ++v) rows.push_back(block.access(mve::kLoad32After, bias, {}, {kVectorBytes}, kBias));
    const Value multiplier = frame(block, kMultiplierAt);
    const Value left = g_.left ? frame(block, kLeftAt) : kernelgen::kNoValue;
    const Value right = g_.right ? frame(block, kRightAt) : kernelgen::kNoValue;
    for (int p = 0; p < pixels_; ++p) {
      const Value to = p == 0 ? out : block.add(mve::kAddCore, {out, frame(block, kOutStepAt)});
      for (int v = 0; v < vectors; ++v) {
        auto at = [&](int lane) { return sums[static_cast<size_t>(p * channels_ + v * kRowsOfVector + lane)]; };
        Value value = block.add(mve::kGather, {at(0), at(1), at(2), at(3)});
        value = block.add(mve::kAdd32, {value, rows[static_cast<size_t>(v)]});
        if (g_.left) value = block.add(mve::kShiftByCore32, {value, left});
        value = block.add(mve::kDoubledProduct32, {value, multiplier});
        if (g_.right) {
          value = block.add(mve::kAddSaturated32, {value, block.add(mve::kSign32, {value})});
          value = block.add(mve::kRoundedShiftByCore32, {value, right});
        }
        const int offset = 2 * kRowsOfVector * v;
        if (g_.add) value = block.add(mve::kAddSaturated32, {value, block.add(mve::kLoad16To32, {to}, {offset}, kOut)});
        block.add(mve::kStore32To16, {to, block.add(mve::kSaturate32, {value})}, {offset}, kOut);
      }
    }
    block.keep(block.add(mve::kAdvance, {out}, {2 * channels_}));
    block.keep(bias);
    if (g_.vectors() > 0)
      for (int p = 0; p < pixels_; ++p)
        block.keep(block.add(mve::kRetreat, {block.live_in(Bank::kCore, p == 0 ? kX0 : kX1, false)},
                             {kVectorBytes * g_.vectors()}));
    return block;
  }

 private:
  enum Stream { kX, kRows, kOut, kBias, kFrame };
  static constexpr int kVectorBytes = static_cast<int>(GateProducts::kVector), kRowsOfVector = 4;

  static int sum(int i) { return kSums[static_cast<size_t>(i)].number; }
  static Value frame(Block& block, int at) { return block.add(mve::kFrameWord, {}, {at}, kFrame); }

  const GateProducts& g_;
  int pixels_, channels_;
};

}  // namespace

kernelgen::SegmentCost GateProducts::cost() const {
  const VectorGates blocks(*this);
  const bool part = depth % kVector != 0, starts = vectors() > 0;
  constexpr int64_t kCompareEnd = 3;
  const int64_t first = blocks.vector(true, !starts).instructions();
  const int64_t tail = part && starts ? blocks.vector(false, true).instructions() : 0;
  return {.once = 10 + (pixels == 2 ? 1 : 0) + (part ? 2 : 0),
          .group = first + tail + blocks.epilogue().instructions() + kCompareEnd,
          .piece = blocks.vector(false, false).instructions(),
          .pieces = starts ? vectors() - 1 : 0,
          .begin = 1,
          .end = 2};
}

std::vector<int8_t> GateProducts::pack(const std::vector<int8_t>& weights, int64_t rows) const {
  std::vector<int8_t> out(static_cast<size_t>(rows * all_vectors() * kVector));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t group = r / channels, vector = k / kVector;
      out[static_cast<size_t>(((group * all_vectors() + vector) * channels + r % channels) * kVector + k % kVector)] =
          weights[static_cast<size_t>(r * depth + k)];
    }
  return out;
}

std::vector<int32_t> GateProducts::table(const std::vector<int32_t>& bias, QuantizedMultiplier scale, int64_t row_step,
                                         int64_t out_step) const {
  std::vector<int32_t> out(kWords);
  out[kBiasBytes] = static_cast<int32_t>(4 * bias.size());
  out[kRowStep] = static_cast<int32_t>(row_step);
  out[kOutStep] = static_cast<int32_t>(2 * out_step);
  out[kMultiplier] = scale.multiplier;
  out[kLeft] = std::max(scale.shift, 0);
  out[kRight] = std::min(scale.shift, 0);
  out.insert(out.end(), bias.begin(), bias.end());
  return out;
}

tir::KernelPtr GateProducts::kernel() const {
  FunctionBuilder f("mve_gates");
  BufferPtr weights = f.constant("weights", DType::kI8, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI16, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  const int64_t group_bytes = all_vectors() * channels * kVector;
  f.loop("p", 0, pixels, [&](const Ex& p) {
    Ex row = f.let("row", p * load(table, kRowStep));
    Ex to = f.let("to", p * (load(table, kOutStep) >> 1));
    f.loop("r", 0, load(table, kBiasBytes) >> 2, [&](const Ex& r) {
      Ex from = f.let("from", r / channels * group_bytes + r % channels * kVector);
      Ex sum = f.var("sum", load(table, r + kWords));
      f.loop("k", 0, depth, [&](const Ex& k) {
        Ex at = from + (k >> 4) * (channels * kVector) + (k & (kVector - 1));
        f.assign(sum, sum + load(weights, at) * load(x, row + k));
      });
      Ex value = emit_scaling(f, sum, table, {kMultiplier, left ? kLeft : -1, right ? kRight : -1});
      if (add) {
        // Beyond these limits the sum is saturated, whatever is added.
        value = f.let("limited", clamp(value, -(1 << 16), 1 << 16)) + load(out, to + r);
      }
      f.store(out, to + r, clamp(value, -32768, 32767));
    });
  });
  return f.finish_kernel("mve_gates", {{"pixels", pixels},
                                       {"channels", channels},
                                       {"depth", depth},
                                       {"add", add ? 1 : 0},
                                       {"left", left ? 1 : 0},
                                       {"right", right ? 1 : 0},
                                       {"unroll", unroll}});
}

GateProducts GateProducts::of(const tir::Kernel& kernel) {
  return {parameter(kernel, "pixels"),   parameter(kernel, "channels"),  parameter(kernel, "depth"),
          parameter(kernel, "add") != 0, parameter(kernel, "left") != 0, parameter(kernel, "right") != 0,
          parameter(kernel, "unroll")};
}

namespace {

// r0 weights, r1 x, r2 out, r3 table. Then r1 and r3 are the rows, r5 the weights, r7 the output, r9 the biases; sums
// are in even registers.
Implementation mve_gates_text(const tir::Kernel& kernel) {
  const GateProducts g = GateProducts::of(kernel);
  const VectorGates blocks(g);
  const bool part = g.depth % GateProducts::kVector != 0, starts = g.vectors() > 0;
  const kernelgen::SegmentCost cost = g.cost();
  const int64_t turns = cost.iterations(g.unroll), rest = cost.rest(g.unroll);
  constexpr Registers kEpilogue = mve::kEven | register_bit(VectorGates::kTurns);  // r1, r3, r5 and r7 are pointers
  static_assert(GateProducts::kBiasBytes == 0 && GateProducts::kRowStep == 1 && GateProducts::kOutStep == 2 &&
                GateProducts::kMultiplier == 3 && GateProducts::kLeft == 4 && GateProducts::kRight == 5);
  MveText a;
  Label group = a.label(), turn = a.label();
  a.note("On entry r0: weights, r1: x, r2: out, r3: table.");
  a.enter(VectorGates::kLocals);
  a.mov(r5, r0);
  a.mov(r7, r2);
  a.ldm_after(r3, {r0, r2, r4, r6, r8, r10});
  a.mov(r9, r3);
  a.add(r0, r0, r9);
  a.stm(sp, {r0, r4, r6, r8, r10});
  if (g.pixels == 2) a.add(r3, r1, r2);
  if (part) {
    a.mov(r0, static_cast<int>(g.depth % GateProducts::kVector));
    a.vctp(8, r0);
  }
  a.note("For every group of rows. r1, r3: x, r5: weights, r7: out, r9: biases.");
  a.bind(group);
  a.put(blocks.vector(true, !starts), 0);
  a.repeat(static_cast<int>(rest), [&] { a.put(blocks.vector(false, false), 0); });
  if (turns > 0) {
    a.mov(Reg{VectorGates::kTurns}, static_cast<int>(turns));
    a.bind(turn);
    a.repeat(static_cast<int>(g.unroll), [&] { a.put(blocks.vector(false, false), 0); });
    a.subs(Reg{VectorGates::kTurns}, Reg{VectorGates::kTurns}, 1);
    a.b("ne", turn);
  }
  if (part && starts) a.put(blocks.vector(false, true), 0);
  a.put(blocks.epilogue(), kEpilogue);
  a.ldr(r0, sp, VectorGates::kEnd);
  a.cmp(r9, r0);
  a.b("ne", group);
  a.leave();
  return a.finish();
}

}  // namespace

Implementation mve_gates(const tir::Kernel& kernel) {
  return cached(kernel, [&] { return mve_gates_text(kernel); });
}

}  // namespace aotc::cores::arm
