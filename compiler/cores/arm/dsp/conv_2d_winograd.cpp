// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 3 x 3 convolutions of stride 1 by Winograd's algorithm (cores/arm/dsp/winograd.h).
// Of four image rows the columns are transformed into a strip, once; from it four tiles of 2 x 2
// outputs at a time are transformed into the panel, and one kernel call makes all their channels.
// Taken where the estimates say that it needs fewer instructions than the product of windows; at -O balanced
// where they are worth the flash that the transformed weights take.
// Where the image has an odd number of rows or columns the last tile lies over the one before it.
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/dsp/winograd.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "ops/common/conv_order.h"
#include "ops/common/nibbles.h"
#include "ops/common/winograd.h"
#include "ops/conv_2d/shape.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class WinogradLowering {
 public:
  WinogradLowering(const OpView& op, const TargetInfo& target)
      : op_(op), conv_(op), f_(op, "conv_2d"), target_(target) {
    zero_ = op.operand(0).zero_point();
  }

  bool applies() const {
    auto fits = [](const WindowAxis& a) {
      return a.kernel == 3 && a.stride == 1 && a.dilation == 1 && a.pad_before <= 1 &&
             a.start(a.out - 1) + 3 <= a.in + 1;
    };
    return fits(conv_.window.y) && fits(conv_.window.x) && conv_.window.batch == 1 && conv_.window.y.out >= 2 &&
           tiles() >= Winograd::kTiles && !conv_.grouped() && conv_.in_channels % 4 == 0 &&
           steps() <= Winograd::kMostSteps && conv_.out_channels >= 2;
  }

  // Nothing where no requantisation in the kernels' form is exact, or where it does not pay.
  std::optional<Lowered> run() {
    if (!takes_winograd(target_, offer(false))) return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    auto [folded, scaling] = ConvScaling(op_, conv_);
    // Results are 4 times the sums and shifted with the weights: their ranges decide how far.
    std::optional<PairLines> lines;
    WinogradWeights weights;
    for (int left = PairGemm::kLeft; left >= 2 && !lines; left = weights.left - 1) {
      weights = winograd_weights(w, conv_.out_channels, conv_.in_channels, left);
      lines = fit_pair_lines(scaling, folded.bias, weights.left, target_.fpu);
    }
    if (!lines) return std::nullopt;
    if (!takes_winograd(target_, offer(lines->sign()))) return std::nullopt;
    Work work = parts(lines->sign()).of(conv_.window.y.out, conv_.window.x.out);
    in_ = f_.operand(0);
    make_tables(weights, folded.bias, *lines);
    work_ = f_.scratch("work", DType::kI32, strip_words() + Winograd::panel_words(steps()), 8);
    out_ = f_.result(0);
    if (auto order = rows_order(conv_.window, 2, {conv_.in_channels, conv_.out_channels}))
      f_.publish(std::move(*order));
    emit();
    work += emit_byte_clamp(f_, out_, lines->clamp, target_);
    f_.algorithm(kWinograd);
    f_.buys_flash(more_bytes(), saved(lines->sign()));
    f_.estimate(work, target_);
    return f_.finish(fmt::format("{} steps, left {}, {}", steps(), weights.left, form_text(*lines)));
  }

 private:
  bool fast() const { return target_.level == Level::kSpeed; }

  WinogradWork parts(bool sign) const {
    return winograd_work(conv_.window.x.out, conv_.in_channels, conv_.out_channels, sign);
  }

  // Of the product of windows.
  double direct_cost(bool sign) const {
    GemmShape direct{conv_.window.y.out * conv_.window.x.out, 3, 3 * conv_.in_channels / 4, 0, conv_.out_channels};
    return direct.least_cost(target_.costs, fast(), sign);
  }

  double saved(bool sign) const {
    return direct_cost(sign) - target_.costs.of(parts(sign).of(conv_.window.y.out, conv_.window.x.out));
  }
  // Transformed weights take 16 words of 16 bits where there were 9 bytes, or 9 halves of bytes.
  double more_bytes() const {
    const double direct = packs_nibbles(op_, target_) ? 4.5 : 9;
    return (32 - direct) * static_cast<double>(conv_.in_channels * conv_.out_channels);
  }

  // At -O speed, the search for slices divides the turns.
  WinogradOffer offer(bool sign) const {
    return {saved(sign), more_bytes(), fast() ? 0 : parts(sign).longest_turn(target_.costs)};
  }

  int64_t steps() const { return conv_.in_channels / 2; }
  int64_t tiles() const { return (conv_.window.x.out + 1) / 2; }
  int64_t column_words() const { return conv_.in_channels * 2; }
  int64_t strip_words() const { return (conv_.window.x.out + 2) * column_words(); }
  int64_t row_bytes() const { return conv_.window.x.in * conv_.in_channels; }

  void make_tables(const WinogradWeights& weights, const std::vector<int32_t>& bias, const PairLines& lines) {
    pairs_ = conv_.out_channels / 2;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, 2);
    std::vector<int32_t> stream = winograd_stream(weights, conv_.in_channels, first, bias, lines);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    auto shape = [&](int64_t pairs) {
      return winograd_shape(steps(), pairs, conv_.out_channels, conv_.window.x.out * conv_.out_channels, lines.sign());
    };
    shape_ = f_.constant("shape", DType::kI32, shape(pairs_));
    // An odd last channel is made again with the one before it.
    if (conv_.out_channels % 2 == 1) last_shape_ = f_.constant("last_shape", DType::kI32, shape(1));
    multiply_ = winograd_pairs_kernel(steps(), lines.fit.shift, lines.sign());
  }

  void emit() {
    if (conv_.window.x.pad_before > 0) fill_column(0);
    int64_t right = conv_.window.x.in + conv_.window.x.pad_before;  // the column beyond the image
    if (right < conv_.window.x.out + 2) fill_column(right);
    f_.loop(
        "oy", 0, conv_.window.y.out,
        [&](Ex at) {
          Ex oy = f_.let("row", start(at, conv_.window.y.out));
          if (target_.slice > 0) return emit_turns(oy);
          transform_rows(oy);
          f_.loop("tile", 0, tiles(), [&](Ex t) { make_tiles(oy, t); }, Winograd::kTiles);
        },
        2);
  }

  // As emit does, but the strip is a turn of its own, which can be a part of a call.
  void emit_turns(const Ex& oy) {
    constexpr int64_t kTiles = Winograd::kTiles;
    f_.loop(
        "turn", 0, tiles() + kTiles,
        [&](Ex t) { f_.if_(t == 0, [&] { transform_rows(oy); }, [&] { make_tiles(oy, t - kTiles); }); }, kTiles);
  }

  void make_tiles(const Ex& oy, const Ex& t) {
    Ex first = tiles() % Winograd::kTiles == 0 ? t : f_.let("first", min(t, tiles() - Winograd::kTiles));
    transform_tiles(oy, first);
    multiply();
  }

  // The first of two rows (or columns), moved back where only one is left.
  static Ex start(const Ex& at, int64_t total) { return total % 2 == 0 ? at : min(at, Ex(total - 2)); }

  // A column of zero points: the second row of B^T d is twice them, the others are zero.
  void fill_column(int64_t column) {
    auto half = static_cast<uint32_t>(2 * zero_) & 0xFFFF;
    Ex twice(static_cast<int64_t>(static_cast<int32_t>(half << 16 | half)));
    f_.loop("word", 0, conv_.in_channels / 4, [&](Ex word) {
      Ex at = f_.let("at", word * 8 + column * column_words());
      for (int64_t i = 0; i < 8; ++i) f_.store(work_, at + i, i / 2 == 1 ? twice : Ex(0));
    });
  }

  void transform_rows(const Ex& oy) {
    const WindowAxis& y = conv_.window.y;
    bool top_pads = y.pad_before > 0;
    bool bottom_pads = y.start(y.out - 1) + 3 > y.in;
    auto run = [&](bool top, bool bottom) {
      Ex first = top ? oy - y.pad_before : Ex(0);
      Ex to(conv_.window.x.pad_before * column_words());
      f_.run(winograd_rows_kernel(top, bottom, zero_),
             {address(in_, first * row_bytes()), address(work_, to), Ex(row_bytes()), Ex(row_bytes() / 4)});
    };
    if (y.out == 2) return run(!top_pads, !bottom_pads);
    auto inner = [&] { run(true, true); };
    auto lower = [&] {
      if (!bottom_pads) return inner();
      f_.if_(oy == y.out - 2, [&] { run(true, false); }, inner);
    };
    if (!top_pads) return lower();
    f_.if_(oy == 0, [&] { run(false, true); }, lower);
  }

  void transform_tiles(const Ex& oy, const Ex& first) {
    f_.loop("i", 0, Winograd::kTiles, [&](Ex i) {
      Ex ox = f_.let("column", start((first + i) * 2, conv_.window.x.out));
      Ex place = (oy * conv_.window.x.out + ox) * conv_.out_channels;
      f_.store(work_, i * 2 + (strip_words() + Winograd::places_at(steps())), place);
      f_.run(winograd_tile_kernel(), {address(work_, ox * column_words()), address(work_, i + strip_words()),
                                      Ex(column_words()), Ex(conv_.in_channels / 4)});
    });
  }

  void multiply() {
    f_.run(multiply_, {address(stream_, 0), address(work_, strip_words()), address(out_, 0), address(shape_, 0)});
    if (conv_.out_channels % 2 == 1)
      f_.run(multiply_, {address(stream_, pairs_ * stream_words_), address(work_, strip_words()),
                         address(out_, conv_.out_channels - 2), address(last_shape_, 0)});
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  int64_t pairs_ = 1, stream_words_ = 0;
  int32_t zero_;
  tir::KernelPtr multiply_;
  BufferPtr in_, out_, work_, stream_, shape_, last_shape_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_winograd(const OpView& op, const TargetInfo& target) {
  WinogradLowering lowering(op, target);
  if (!lowering.applies()) return std::nullopt;
  return lowering.run();
}

}  // namespace aotc::cores::arm
