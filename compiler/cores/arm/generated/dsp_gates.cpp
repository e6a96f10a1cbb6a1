// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/dsp_gates.h"

#include <algorithm>
#include <cassert>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/generated/cached.h"
#include "cores/arm/generated/dsp_block.h"
#include "cores/arm/generated/dsp_tile.h"
#include "cores/arm/generated/lstm_kernels.h"

namespace aotc::cores::arm {

using kernelgen::Bank;
using kernelgen::Block;
using kernelgen::register_bit;
using kernelgen::Registers;
using kernelgen::Value;
using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

class ScalarGates : public DspTile {
 public:
  // Frame.
  static constexpr int kPanelAt = 0, kOutAt = 4, kStreamEnd = 8, kPanelEnd = 12, kMultiplierAt = 16, kHalfAt = 20,
                       kByAt = 24, kLocals = 28;

  explicit ScalarGates(const DspGateProducts& g) : DspTile(g.pixels, g.channels), g_(g) {}

  // From sums to int16.
  Block epilogue() const {
    Block block;
    std::vector<Value> sums;
    for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(block.live_in(Bank::kCore, kFirstSum + i, false));
    const Value multiplier = frame(block, kMultiplierAt), out = frame(block, kOutAt);
    const Value half = g_.right ? frame(block, kHalfAt) : kernelgen::kNoValue;
    const Value by = g_.right ? frame(block, kByAt) : kernelgen::kNoValue;
    for (int p = 0; p < pixels_; ++p)
      for (int c = 0; c < channels_; c += 2) {
        // The products double their operand; the sum of channel b has 8 bits behind it.
        const int left = static_cast<int>(g_.left) + 1;
        const Value a = sums[static_cast<size_t>(p * channels_ + c)],
                    b = sums[static_cast<size_t>(p * channels_ + c + 1)];
        const Value above = block.add(dsp::kSubtract, {b, a});
        const Value doubled[] = {block.add(dsp::kLeft, {a}, {left}), left == 8 ? above
                                                                     : left > 8
                                                                         ? block.add(dsp::kLeft, {above}, {left - 8})
                                                                         : block.add(dsp::kRight, {above}, {8 - left})};
        for (int i = 0; i < 2; ++i) {
          const int64_t at = 2 * (p * g_.out_step + c + i);
          Value value = g_.right ? block.add(dsp::kHighAdd, {doubled[i], multiplier, half})
                                 : block.add(dsp::kHigh, {doubled[i], multiplier});
          if (g_.right) value = block.add(dsp::kRightBy, {block.add(dsp::kAddRight, {value, doubled[i]}, {31}), by});
          if (g_.add) value = block.add(dsp::kAdd, {value, block.add(dsp::kLoadHalfAt, {out}, {at}, kOut)});
          block.add(dsp::kStoreHalfAt, {out, block.add(dsp::kSaturate, {value}, {16})}, {at}, kOut);
        }
      }
    block.add(dsp::kStoreWord, {block.add(dsp::kAddNumber, {out}, {2 * channels_})}, {kOutAt}, kFrame);
    return block;
  }

 private:
  static Value frame(Block& block, int at) { return block.add(dsp::kFrameWord, {}, {at}, kFrame); }

  const DspGateProducts& g_;
};

}  // namespace

kernelgen::SegmentCost DspGateProducts::cost() const {
  const ScalarGates blocks(*this);
  const int first = blocks.first_steps(steps());
  constexpr int64_t kCompareEnd = 4, kOnce = 8;
  return {.once = kOnce + (pixels == 3 ? 1 : 0),
          .group = blocks.steps(first, true).instructions() + blocks.epilogue().instructions() + kCompareEnd,
          .piece = blocks.steps(blocks.piece_steps(), false).instructions(),
          .pieces = (steps() - first) / blocks.piece_steps(),
          .begin = 0,
          .end = 3};
}

std::vector<int32_t> DspGateProducts::stream(const std::vector<int8_t>& weights,
                                             const std::vector<int32_t>& bias) const {
  std::vector<int32_t> out;
  auto element = [&](int64_t k) { return static_cast<int>(k < depth ? k : -1); };
  const auto rows = static_cast<int64_t>(bias.size());
  for (int64_t first = 0; first < rows; first += channels) {
    for (int64_t c = first; c < first + channels; c += 2) put_biases(out, bias, c);
    for (int64_t step = 0; step < steps(); ++step)
      for (int64_t c = first; c < first + channels; c += 2) {
        const int64_t k = step / 2 * 4 + step % 2;
        out.push_back(stream_word(weights, depth, {element(k), element(k + 2)}, c));
      }
  }
  return out;
}

std::vector<int32_t> DspGateProducts::table(QuantizedMultiplier scale, int64_t rows) const {
  std::vector<int32_t> out(kWords);
  out[kStreamBytes] = static_cast<int32_t>(4 * rows / channels * (channels + steps() * channels / 2));
  out[kRowBytes] = static_cast<int32_t>(4 * steps());
  out[kMultiplier] = scale.multiplier;
  const int by = std::max(-scale.shift, 0);
  out[kHalf] = by > 0 ? 1 << (by - 1) : 0;
  out[kRight] = by;
  return out;
}

tir::KernelPtr DspGateProducts::kernel() const {
  FunctionBuilder f("dsp_gates");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr panel = f.input("panel", DType::kI16, 0);
  BufferPtr out = f.output("out", DType::kI16, 0);
  BufferPtr table = f.constant("table", DType::kI32, 0);
  const int64_t pairs = channels / 2, group_words = channels + steps() * pairs;
  f.loop("group", 0, load(table, kStreamBytes) / (4 * group_words), [&](const Ex& group) {
    Ex from = f.let("from", group * group_words);
    f.loop("p", 0, pixels, [&](const Ex& p) {
      f.loop("pair", 0, pairs, [&](const Ex& pair) {
        Ex a = f.var("a", load(stream, from + pair * 2)), b = f.var("b", load(stream, from + pair * 2 + 1));
        f.loop("s", 0, steps(), [&](const Ex& s) {
          Ex w = f.let("w", load(stream, from + channels + s * pairs + pair));
          Ex at = f.let("at", (s * pixels + p) * 2);
          Ex x = f.let("x", pair_word(load(panel, at), load(panel, at + 1)));
          f.assign(a, dot_low_bytes(a, x, w));
          f.assign(b, dot_words(b, x, w));
        });
        for (int64_t i = 0; i < 2; ++i) {
          Ex sum = i == 0 ? a : f.let("sum", sub_wrapping(b, a) >> 8);
          if (left > 0) sum = f.let("shifted", shl_wrapping(sum, left));
          Ex value = emit_scaling(f, sum, table, {kMultiplier, -1, right ? kRight : -1, false});
          Ex to = f.let("to", p * out_step + group * channels + pair * 2 + i);
          if (add) value = f.let("limited", clamp(value, -(1 << 16), 1 << 16)) + load(out, to);
          f.store(out, to, clamp(value, -32768, 32767));
        }
      });
    });
  });
  return f.finish_kernel("dsp_gates", {{"pixels", pixels},
                                       {"channels", channels},
                                       {"depth", depth},
                                       {"add", add ? 1 : 0},
                                       {"left", left},
                                       {"right", right ? 1 : 0},
                                       {"out_step", out_step},
                                       {"unroll", unroll}});
}

DspGateProducts DspGateProducts::of(const tir::Kernel& kernel) {
  return {parameter(kernel, "pixels"),   parameter(kernel, "channels"), parameter(kernel, "depth"),
          parameter(kernel, "add") != 0, parameter(kernel, "left"),     parameter(kernel, "right") != 0,
          parameter(kernel, "out_step"), parameter(kernel, "unroll")};
}

namespace {

// r0 stream, r1 panel, r2 out, r3 table. Sums are in r2 to r7, or to r9.
Implementation dsp_gates_text(const tir::Kernel& kernel) {
  const DspGateProducts g = DspGateProducts::of(kernel);
  const ScalarGates blocks(g);
  constexpr Registers kFree = ScalarGates::kTemporaries;
  const kernelgen::SegmentCost cost = g.cost();
  const int piece = blocks.piece_steps();
  static_assert(DspGateProducts::kStreamBytes == 0 && DspGateProducts::kRowBytes == 1 &&
                DspGateProducts::kMultiplier == 2 && DspGateProducts::kHalf == 3 && DspGateProducts::kRight == 4);
  DspText a;
  Label group = a.label(), turn = a.label();
  a.note("On entry r0: weights, r1: panel, r2: out, r3: table.");
  a.enter(ScalarGates::kLocals);
  a.ldm(r3, {r4, r5, r6, r7, r8});
  a.add(r4, r4, r0);
  if (g.pixels == 3) a.add_lsl(r5, r5, r5, 1);
  a.add(r5, r5, r1);
  a.stm(sp, {r1, r2, r4, r5, r6, r7, r8});
  a.note("On the stack from sp: panel, out, ends of weights and panel, multiplier, rounding, shift.");
  a.bind(group);
  a.put(blocks.steps(blocks.first_steps(g.steps()), true), kFree);
  a.repeat(static_cast<int>(cost.rest(g.unroll)), [&] { a.put(blocks.steps(piece, false), kFree); });
  if (cost.iterations(g.unroll) > 0) {
    a.bind(turn);
    a.repeat(static_cast<int>(g.unroll), [&] { a.put(blocks.steps(piece, false), kFree); });
    a.ldr(r12, sp, ScalarGates::kPanelEnd);
    a.cmp(r1, r12);
    a.b("ne", turn);
  }
  a.put(blocks.epilogue(), kFree | register_bit(ScalarGates::kPanelPointer));
  a.ldr(r1, sp, ScalarGates::kPanelAt);
  a.ldr(r12, sp, ScalarGates::kStreamEnd);
  a.cmp(r0, r12);
  a.b("ne", group);
  a.leave();
  return a.finish();
}

}  // namespace

Implementation dsp_gates(const tir::Kernel& kernel) {
  return cached(kernel, [&] { return dsp_gates_text(kernel); });
}

tir::KernelPtr dsp_pack_kernel(int64_t pixels) {
  FunctionBuilder f("dsp_pack");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI16, 0);
  Ex words = f.scalar("words");
  f.loop("w", 0, words, [&](const Ex& w) {
    for (int64_t i = 0; i < 4; ++i) f.store(panel, (w * 2 + i % 2) * (2 * pixels) + i / 2, load(x, w * 4 + i));
  });
  return f.finish_kernel("dsp_pack", {{"pixels", pixels}});
}

// r0 x and r2 its end, r1 panel.
Implementation dsp_pack(const tir::Kernel& kernel) {
  const int step = 4 * parameter(kernel, "pixels");
  Block body;
  Value x = body.live_in(Bank::kCore, 0, false), panel = body.live_in(Bank::kCore, 1, false);
  const Value word = body.access(dsp::kLoadWords[1], x, {}, {}, 1);
  body.access(dsp::kStoreWordAfter, panel, {body.add(dsp::kEvenBytes, {word})}, {step}, 2);
  body.access(dsp::kStoreWordAfter, panel, {body.add(dsp::kOddBytes, {word})}, {step}, 2);
  body.keep(x);
  body.keep(panel);
  DspText a;
  Label loop = a.label();
  a.note("On entry r0: x, r1: panel, r2: words.");
  a.add_lsl(r2, r0, r2, 2);
  a.bind(loop);
  a.put(body, register_bit(3) | register_bit(12));  // those of no argument, which the text need not keep
  a.cmp(r0, r2);
  a.b("ne", loop);
  a.at_any_address();
  return a.finish();
}

}  // namespace aotc::cores::arm
