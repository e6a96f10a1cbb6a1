// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/depthwise_kernels.h"

#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_lines.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "ops/common/conv.h"
#include "ops/common/nibbles.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

constexpr int64_t kTileOutputs = 4, kTapsOfWord = 4;

int64_t weight_words(int64_t taps) { return (taps + kTapsOfWord - 1) / kTapsOfWord; }
// Of a word of weights, of a tap: taken with a mask, and shifted and taken with it, the halves are neighbours.
int64_t byte_of(int64_t tap) {
  constexpr int64_t kBytes[] = {0, 2, 1, 3};
  return kBytes[tap % kTapsOfWord];
}

}  // namespace

bool DepthwiseTaps::fits() const {
  // Two sizes of tiles of more taps would be a longer string literal than C99 promises.
  constexpr int64_t kMostOfTwo = 12;
  if (taps > kMostOfTwo && outputs > kTileOutputs && outputs % kTileOutputs != 0) return false;
  return taps >= kFewest && taps <= kMost && outputs >= 1 && (taps + kTileOutputs) * pixel <= kMostOffset;
}

int64_t dw_taps_words(int64_t taps, bool sign) { return weight_words(taps) + 1 + line_words(sign); }

std::vector<int32_t> dw_taps_stream(const std::vector<int8_t>& weights, int64_t taps, const std::vector<int32_t>& bias,
                                    const PairLines& lines) {
  std::vector<int32_t> out;
  for (int64_t c = 0; c < static_cast<int64_t>(bias.size()); ++c) {
    std::vector<uint32_t> words(static_cast<size_t>(weight_words(taps)));
    for (int64_t t = 0; t < taps; ++t)
      words[static_cast<size_t>(t / kTapsOfWord)] |=
          uint32_t{static_cast<uint8_t>(weights[static_cast<size_t>(c * taps + t)])} << (8 * byte_of(t));
    for (uint32_t w : words) out.push_back(static_cast<int32_t>(w));
    out.push_back(shifted_bias(bias, c, PairGemm::kLeft));
    put_line(out, lines, c);
  }
  return out;
}

KernelPtr dw_taps_kernel(const DepthwiseTaps& s, int shift, bool sign) {
  FunctionBuilder f("dw_taps");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  Ex channels = f.scalar("channels");
  const int64_t words = weight_words(s.taps);
  f.loop("c", 0, channels, [&](Ex c) {
    Ex at = f.let("at", c * dw_taps_words(s.taps, sign));
    f.loop("o", 0, s.outputs, [&](Ex o) {
      Ex from = f.let("from", c + o * s.pixel);
      Ex acc = f.var("acc", load(stream, at + words));
      for (int64_t t = 0; t < s.taps; ++t) {
        Ex w = shl_wrapping(load(stream, at + t / kTapsOfWord), 24 - 8 * byte_of(t)) >> 24;
        f.assign(acc, add_wrapping(acc, mul_wrapping(load(x, from + t * s.pixel), w * (1 << PairGemm::kLeft))));
      }
      f.store(out, from, line_output(f, acc, stream, at + (words + 1), shift, sign));
    });
  });
  return f.finish_kernel(
      "dw_taps", {{"taps", s.taps}, {"outputs", s.outputs}, {"pixel", s.pixel}, {"shift", shift}, {"sign", sign}});
}

namespace {

class TapsWriter {
 public:
  explicit TapsWriter(const tir::Kernel& k)
      : taps_(parameter(k, "taps")),
        outputs_(parameter(k, "outputs")),
        pixel_(parameter(k, "pixel")),
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
        "A channel. r0: image, r1: out, r2: weights of the next one, lr: bias; its weights are on the stack in pairs.");
    a_.bind(channel);
    take_weights();
    const int tiles = outputs_ / kTile, rest = outputs_ % kTile;
    if (tiles > 0) all_tiles(tiles);
    if (rest > 0) tile(rest);
    // Back to the first element, of the next channel.
    move(r0, 1 - tiles * kTile * pixel_);
    move(r1, 1 - tiles * kTile * pixel_);
    count_down(kChannels, channel);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kTile = static_cast<int>(kTileOutputs);
  static constexpr int kMultiplier = 0, kSign = 8, kChannels = 12, kTilesLeft = 16, kWeights = 24,
                       kFrame = kWeights + 2 * static_cast<int>(DepthwiseTaps::kMost);
  static constexpr int kHighBytes = static_cast<int>(0xFF00FF00);
  static constexpr Reg kStream = r2, kCorrection = r5, kWeight = r12, kBias = lr;
  static Reg acc(int output) { return {8 + output}; }

  void move(Reg r, int by) { move_by(a_, r, by, kWeight); }
  void count_down(int counter, Label again) {
    a_.ldr(kWeight, sp, counter);
    a_.subs(kWeight, kWeight, 1);
    a_.str(kWeight, sp, counter);
    a_.b("ne", again);
  }

  void take_weights() {
    for (int w = 0; w < weight_words(taps_); ++w) {
      a_.ldr_after(r4, kStream, 4);
      a_.lsl(r3, r4, 8);
      a_.and_(r3, r3, kHighBytes);
      a_.and_(r4, r4, kHighBytes);
      a_.strd(r3, r4, sp, kWeights + 8 * w);
    }
    a_.ldr_after(kBias, kStream, 4);
    a_.ldrd_after(r3, r4, kStream, 8);
    a_.strd(r3, r4, sp, kMultiplier);
    if (sign_) a_.ldr_after(r4, kStream, 4);
    if (sign_) a_.str(r4, sp, kSign);
  }

  void all_tiles(int tiles) {
    Label again = a_.label();
    if (tiles > 1) a_.mov(kWeight, tiles);
    if (tiles > 1) a_.str(kWeight, sp, kTilesLeft);
    if (tiles > 1) a_.bind(again);
    tile(kTile);
    move(r0, kTile * pixel_);
    move(r1, kTile * pixel_);
    if (tiles > 1) count_down(kTilesLeft, again);
  }

  // So many outputs. An element's register becomes that of the pair with the one behind it, and then that of another
  // element.
  void tile(int outputs) {
    a_.note("Outputs in r8 to r11; r3 to r7: elements, then pairs of neighbours; r12: the weights of two taps.");
    auto element = [&](int e) { return Reg{3 + e % (outputs + 1)}; };
    int loaded = 0, paired = 0;
    for (int tap = 0; tap < taps_; tap += 2) {
      const bool single = tap + 1 == taps_;
      for (const int last = tap + outputs - (single ? 1 : 0); loaded <= last; ++loaded)
        a_.ldrsb(element(loaded), r0, loaded * pixel_);
      for (paired = std::max(paired, tap); !single && paired < tap + outputs; ++paired)
        a_.pkhbt(element(paired), element(paired), element(paired + 1));
      a_.ldr(kWeight, sp, kWeights + 2 * tap);
      for (int i = 0; i < outputs; ++i) {
        const Reg from = tap == 0 ? kBias : acc(i);
        if (single) a_.smlabb(acc(i), element(tap + i), kWeight, from);
        if (!single) a_.smlad(acc(i), element(tap + i), kWeight, from);
      }
    }
    a_.ldrd(r3, r4, sp, kMultiplier);
    if (sign_) a_.ldr(r5, sp, kSign);
    for (int i = 0; i < outputs; ++i) {
      requantize(a_, acc(i), r3, r4, shift_, sign_ ? &kCorrection : nullptr, r6, i > 0);
      a_.strb(acc(i), r1, i * pixel_);
    }
  }

  Thumb a_;
  int taps_, outputs_, pixel_, shift_;
  bool sign_;
};

// The axis along which windows lie, if there is no other.
const WindowAxis* only_axis(const Window& window) {
  auto none = [](const WindowAxis& a) { return a.in == 1 && a.out == 1 && a.kernel == 1; };
  if (none(window.x)) return &window.y;
  return none(window.y) ? &window.x : nullptr;
}

}  // namespace

Implementation dw_taps(const tir::Kernel& kernel) { return TapsWriter(kernel).run(); }

std::optional<Lowered> lower_depthwise_taps(const OpView& op, const TargetInfo& target) {
  constexpr double kInstructions = 4;  // of a tap
  const graph::Shape& filter = op.operand(1).shape;
  const Window window = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), filter[1], filter[2]);
  const WindowAxis* axis = only_axis(window);
  const int64_t channels = filter[3];
  if (!axis || axis->stride != 1 || axis->dilation != 1 || axis->pad_before != 0 || window.batch != 1)
    return std::nullopt;
  // A result that is smaller than its operand keeps all of the operand's bytes while it lives, and is never made in
  // rows.
  if (!target.spends_ram() && axis->out < axis->in) return std::nullopt;
  const DepthwiseTaps shape{axis->kernel, axis->out, channels};
  if (axis->start(axis->out - 1) + axis->kernel > axis->in || channels != op.operand(0).shape[3] || !shape.fits() ||
      packs_nibbles(op, target) || target.level == Level::kSize || shape.outputs < kTileOutputs ||
      target.wish("plane", 0, 0, 1) != 0)
    return std::nullopt;
  const std::vector<int16_t> centred = ops::centred_weights(op);
  std::vector<int8_t> w;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < shape.taps; ++t)
      w.push_back(static_cast<int8_t>(centred[static_cast<size_t>(t * channels + c)]));
  if (std::any_of(centred.begin(), centred.end(), [](int16_t v) { return v < -128 || v > 127; })) return std::nullopt;
  FoldedBias folded = fold_bias(op, channels, [&](int64_t c) {
    return std::vector<int32_t>(w.begin() + c * shape.taps, w.begin() + (c + 1) * shape.taps);
  });
  Requantization scaling = depthwise_scaling(op, folded.ranges);
  scaling.tame_constant_channels(folded.bias);
  const auto lines = fit_pair_lines(scaling, folded.bias, PairGemm::kLeft, target.fpu);
  if (!lines) return std::nullopt;
  LoweringBuilder f(op, "depthwise_conv_2d");
  BufferPtr in = f.operand(0);
  BufferPtr stream = f.constant("stream", DType::kI32, dw_taps_stream(w, shape.taps, folded.bias, *lines));
  BufferPtr out = f.result(0);
  const int64_t words = dw_taps_words(shape.taps, lines->sign());
  const KernelPtr kernel = dw_taps_kernel(shape, lines->fit.shift, lines->sign());
  const Turns turns = turns_of(channels, kInstructions * static_cast<double>(shape.taps * shape.outputs), target);
  f.take_turns(turns, [&](const Ex& first, int64_t count) {
    f.run(kernel, {address(stream, first * words), address(in, first), address(out, first), count});
  });
  emit_byte_clamp(f, out, lines->clamp, target);
  // An element's place is written when all outputs that read it have been made, of each channel for itself.
  WriteOrder order;
  order.in_place = true;
  order.steps.push_back({0, op.operand(0).bytes(), 0, op.result().bytes()});
  f.publish(std::move(order));
  f.algorithm("pairs");
  f.choice("plane", 0);
  return f.finish(fmt::format("{} outputs of {} taps, {}", shape.outputs, shape.taps, form_text(*lines)));
}

}  // namespace aotc::cores::arm
