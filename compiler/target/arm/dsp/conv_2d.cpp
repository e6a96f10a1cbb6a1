// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 conv_2d onto the pair kernels (target/arm/dsp/gemm.h), and of int16 onto those of
// halves (target/arm/dsp/gemm16.h), with weights of 4 bits onto that of target/arm/dsp/nibbles.h. The windows of a tile of
// neighbouring outputs are spread into a panel of halfwords (conv_panel.h), then one kernel call makes all their channels.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "ops/common/conv_order.h"
#include "ops/common/nibbles.h"
#include "ops/conv_2d/shape.h"
#include "target/arm/dsp/conv_panel.h"
#include "target/arm/dsp/gemm16.h"
#include "target/arm/dsp/lowerings.h"
#include "target/arm/dsp/nibbles.h"
#include "target/arm/dsp/row_product.h"
#include "target/arm/dsp/window_sums.h"

namespace aotc::target::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class DspConvLowering {
 public:
  DspConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        conv_(op),
        f_(op, "conv_2d"),
        target_(target),
        spread_(f_, conv_, op.operand(0).dtype, op.operand(0).zero_point()) {}

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    bool one_image = conv_.pointwise || conv_.window.batch == 1;
    if (conv_.grouped() || !one_image || conv_.window.x.dilation != 1 || spread_.row_words() == 0) return std::nullopt;
    if (op_.operand(0).dtype == DType::kI16) return run_int16();
    if (packs_nibbles(op_, target_)) return run_nibbles();
    order_ = window_steps(conv_.window.y.kernel, spread_.row_elements(), spread_.lanes());
    auto stored = weights_with_sums(op_, conv_.out_channels, conv_.k, order_);
    if (!stored) return std::nullopt;
    stored_k_ = stored->k, sum_steps_ = stored->steps;
    const std::vector<int8_t>& w = stored->weights;
    bool pairs = pairs_fit(w, conv_.out_channels, stored_k_);
    bool applies = (pairs && target_.allows("pairs")) || words_allowed(target_);
    if (conv_.out_channels < 2 || !applies) return std::nullopt;
    auto [folded, scaling] = ConvScaling(op_, conv_);
    std::vector<int32_t> bias = folded.bias;
    auto lines = fit_pair_lines(scaling, bias, PairGemm::kLeft, target_.fpu);
    if (!lines) return std::nullopt;
    if (mixes() && (lines->sign() || lines->even())) {
      // A sign costs two instructions for every result, a float five where there is one.
      auto mixed = fit_mixed_lines(scaling, folded.bias);
      if (mixed && (lines->even() || 3 * mixed->float_channels() <= conv_.out_channels)) lines = std::move(mixed), bias = folded.bias;
    }
    choose_kernel(pairs, lines->sign());
    if (lines->mixed())
      work_ += mixed_work(tile_, conv_.out_channels / 2, lines->float_channels() / 2) * static_cast<double>((pixels() + tile_ - 1) / tile_);
    in_ = f_.operand(0);
    make_tables(w, bias, *lines);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    spread_.use(in_, panel_);
    out_ = f_.result(0);
    emit();
    f_.algorithm(words_ ? "words" : "pairs");
    f_.choice("pixels", tile_);
    if (rest_ > 0) f_.choice("rest", 1);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("{} steps{}, {}, {}", steps(), sum_steps_ > 0 ? " with sums of inputs" : "",
                                 form_text(*lines), estimate_text(work_, target_)));
  }

 private:
  // The form of two ways to requantise is for pairs. It takes more bytes, and no equal time for equal groups of channels.
  bool mixes() const { return target_.fpu && target_.level != Level::kSize && !words_allowed(target_) && target_.slice == 0; }

  std::optional<Lowered> run_nibbles() {
    if (conv_.out_channels < 4) return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    auto [folded, scaling] = ConvScaling(op_, conv_);
    auto lines = fit_nibble_lines(scaling, folded.bias);
    if (!lines) return std::nullopt;
    order_ = window_steps(conv_.window.y.kernel, spread_.row_elements(), spread_.lanes());
    NibbleTile tile = choose_nibbles(lines->lines.sign());
    tile.bias = !lines->bias.empty();
    in_ = f_.operand(0);
    make_nibbles(w, *lines, tile);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    spread_.use(in_, panel_);
    out_ = f_.result(0);
    emit();
    f_.algorithm("nibbles");
    f_.choice("pixels", tile_);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("{} channels, {} steps, shift {}{}, {}", group_, steps(),
                                 lines->lines.fit.shift, lines->lines.sign() ? ", sign" : "",
                                 estimate_text(work_, target_)));
  }

  // Two pixels by four channels, or one by eight (by four where there are no eight).
  NibbleTile choose_nibbles(bool sign) {
    int64_t rows = conv_.window.y.kernel, most = std::min<int64_t>(2, pixels());
    auto tile_of = [&](int64_t p) { return NibbleTile{p, p == 2 || conv_.out_channels < 8 ? 4 : 8, true}; };
    auto work = [&](int64_t p) {
      NibbleTile tile = tile_of(p);
      Work element{.load = 1, .store = 1, .alu = 4};
      int64_t groups = (conv_.out_channels + tile.channels - 1) / tile.channels;
      Work one = nibble_work(tile, steps(), groups, sign) + pack_work(p, spread_.row_words(), rows) +
                 element * static_cast<double>(rows * spread_.row_rest() * p);
      return one * static_cast<double>((pixels() + p - 1) / p);
    };
    tile_ = most;
    if (most == 2 && target_.level != Level::kSize &&
        target_.costs.of(work(1)) < target_.costs.of(work(2)))
      tile_ = 1;
    tile_ = target_.wish("pixels", tile_, 1, most);
    work_ = work(tile_);
    return tile_of(tile_);
  }

  void make_nibbles(const std::vector<int8_t>& w, const NibbleLines& lines, const NibbleTile& tile) {
    group_ = tile.channels;
    pairs_ = conv_.out_channels / group_;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, group_);
    bool sign = lines.lines.sign();
    std::vector<int32_t> stream = nibble_stream(w, conv_.k, order_, first, group_, lines);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    gemm_ = gemm_nibbles_kernel(tile, lines.lines.fit.shift, sign);
    auto shape = [&](int64_t groups) { return nibble_shape(steps(), groups, conv_.out_channels, tile, sign); };
    make_shapes(nibble_work(tile, steps(), 1, sign), shape);
    spread_.make_tables(tile_);
  }

  std::optional<Lowered> run_int16() {
    if (conv_.out_channels < 2 || !target_.allows("halves")) return std::nullopt;
    auto scaling = fit_halves(conv_wide_scaling(op_, conv_));
    if (!scaling) return std::nullopt;
    order_ = window_steps(conv_.window.y.kernel, spread_.row_elements(), spread_.lanes());
    choose_tile();
    in_ = f_.operand(0);
    make_halves(*scaling);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    spread_.use(in_, panel_);
    out_ = f_.result(0);
    emit();
    f_.algorithm("halves");
    f_.choice("pixels", tile_);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("{} steps, {}", steps(), estimate_text(work_, target_)));
  }

  int64_t steps() const { return static_cast<int64_t>(order_.size()); }
  int64_t pixels() const { return conv_.pixels(); }

  // The form of the weights, the pixels per tile, and whether those that are left over have a kernel of their own.
  void choose_kernel(bool pairs_fit, bool sign) {
    int64_t rows = conv_.window.y.kernel, most = std::min<int64_t>(4, pixels());
    GemmShape shape{pixels(), rows, spread_.row_words(), rows * spread_.row_rest(), conv_.out_channels};
    auto apart = [&](bool words, int64_t tile) {
      GemmShape whole = shape, rest = shape;
      rest.pixels = pixels() % tile;
      whole.pixels -= rest.pixels;
      return whole.work(words, tile, sign) + rest.work(words, rest.pixels, sign);
    };
    double least = 0;
    for (bool words : {false, true}) {
      if (words ? !words_allowed(target_) : !(pairs_fit && target_.allows("pairs"))) continue;
      // For size all layers share the kernel of the largest tile.
      for (int64_t p = most; p >= (target_.level == Level::kSize ? most : 1); --p) {
        double cost = target_.costs.of(shape.work(words, p, sign));
        if (least > 0 && cost >= least) continue;
        least = cost;
        tile_ = p;
        words_ = words;
      }
    }
    tile_ = target_.wish("pixels", tile_, 1, most);
    work_ = shape.work(words_, tile_, sign);
    // A second kernel must be worth its bytes.
    constexpr double kWorthIt = 0.95;
    auto worth = [&](int64_t tile) {
      return pixels() % tile != 0 && target_.costs.of(apart(words_, tile)) < kWorthIt * target_.costs.of(work_);
    };
    int64_t tile = tile_;
    if (target_.level != Level::kSize && !target_.asked)
      for (int64_t p = most; p > 1; --p)
        if (worth(p) && (!worth(tile) || target_.costs.of(apart(words_, p)) < target_.costs.of(apart(words_, tile)))) tile = p;
    const bool better = target_.level != Level::kSize && worth(tile);
    if (pixels() % tile == 0 || target_.wish("rest", better ? 1 : 0, 0, 1) == 0) return;
    tile_ = tile;
    rest_ = pixels() % tile;
    work_ = apart(words_, tile_);
  }

  // The pixels per tile of int16.
  void choose_tile() {
    int64_t rows = conv_.window.y.kernel, most = std::min<int64_t>(4, pixels());
    auto work = [&](int64_t p) {
      Work element{.load = 1, .store = 1, .alu = 4};
      Work one = halves_work(p, steps(), (conv_.out_channels + 1) / 2) +
                 pack_halves_work(p, spread_.row_words(), rows) + element * static_cast<double>(rows * spread_.row_rest() * p);
      return one * static_cast<double>((pixels() + p - 1) / p);
    };
    tile_ = most;
    for (int64_t p = most; p >= (target_.level == Level::kSize ? most : 1); --p)
      if (target_.costs.of(work(p)) < target_.costs.of(work(tile_))) tile_ = p;
    tile_ = target_.wish("pixels", tile_, 1, most);
    work_ = work(tile_);
  }

  void make_halves(const HalvesScaling& scaling) {
    pairs_ = conv_.out_channels / 2;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, 2);
    std::vector<int32_t> bias;
    for (int64_t c = 0; c < conv_.out_channels; ++c)
      bias.push_back(static_cast<int32_t>(wide_bias_at(op_, c)));
    std::vector<int32_t> stream = halves_stream(op_.constant(1)->to_vector<int8_t>(), conv_.k, order_,
                                                first, bias, scaling);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    gemm_ = gemm_halves_kernel(tile_, scaling.relu);
    int64_t stride = conv_.out_channels * 2;
    make_shapes(halves_work(tile_, steps(), 1),
                [&](int64_t pairs) { return halves_shape(steps(), pairs, stride, tile_); });
    spread_.make_tables(tile_);
  }

  void make_tables(const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                   const PairLines& lines) {
    pairs_ = conv_.out_channels / 2;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, 2);
    bool sign = lines.sign();
    auto make_stream = words_ ? gemm_words_stream : gemm_stream;
    auto make_shape = [&](int64_t pairs) {
      return words_ ? gemm_words_shape(steps(), pairs, conv_.out_channels, tile_, sign)
                    : gemm_shape(steps(), pairs, conv_.out_channels, tile_, sign, lines.mixed());
    };
    std::vector<int32_t> stream = make_stream(w, stored_k_, order_, first, bias, lines);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    auto of_tile = [&] {
      gemm_ = words_ ? gemm_words_kernel(tile_, lines.fit.shift, sign)
                     : gemm_pairs_kernel(tile_, lines.fit.shift, sign, lines.mixed());
      make_shapes(gemm_work(words_, tile_, steps(), 1, sign), make_shape);
    };
    if (rest_ > 0) {
      for_tile(rest_, of_tile);
      of_rest_ = {gemm_, turns_, shapes_, last_shape_};
    }
    of_tile();
    spread_.make_tables(tile_);
  }

  // What `body` does for a tile of so many pixels.
  template <typename Body>
  void for_tile(int64_t pixels, Body body) {
    const int64_t before = std::exchange(tile_, pixels);
    body();
    tile_ = before;
  }

  // Tables for turns of groups of channels, of which one takes `group`.
  void make_shapes(const Work& group, const std::function<std::vector<int32_t>(int64_t groups)>& shape) {
    turns_ = turns_of(pairs_, target_.costs.of(group), target_);
    shapes_ = TurnTables(f_, turns_, "shape", shape);
    // Last channels that are no whole group are made again with the ones before them.
    if (conv_.out_channels % group_ != 0) last_shape_ = f_.constant("last_shape", DType::kI32, shape(1));
  }

  void emit() {
    // Where the result is larger than the input, from the last pixel to the first, so that it can
    // be written over the input from behind.
    bool backwards = conv_.pointwise && conv_.out_channels > conv_.in_channels;
    const int64_t element = spread_.element_bytes();
    PixelBytes bytes{conv_.in_channels * element, conv_.out_channels * element};
    auto order = conv_.pointwise ? pointwise_order(pixels(), tile_, bytes, backwards, false)
                            : window_order(conv_.window, tile_, bytes);
    if (order) f_.publish(std::move(*order));
    // The pixels that are left over come last, wherever they are: less than the order above says is read and written.
    const int64_t whole = pixels() - rest_;
    f_.loop(
        "p", 0, whole,
        [&](Ex p) {
          Ex start = backwards ? Ex(pixels() - tile_) - p : p;
          if (whole % tile_ != 0)
            start = backwards ? max(start, 0) : min(start, Ex(pixels() - tile_));
          emit_tile(f_.let("pixel", start));
        },
        tile_);
    if (rest_ == 0) return;
    std::tie(gemm_, turns_, shapes_, last_shape_) = of_rest_;
    for_tile(rest_, [&] { emit_tile(f_.let("pixel", backwards ? 0 : whole)); });
  }

  void emit_tile(const Ex& first) {
    spread_.pack(first, tile_);
    multiply(first);
  }

  void multiply(const Ex& first) {
    emit_window_sums(f_, {panel_, tile_, steps() - sum_steps_, sum_steps_});
    Ex to = f_.let("to", first * conv_.out_channels);
    f_.take_turns(turns_, [&](const Ex& pair, int64_t pairs) {
      f_.run(gemm_, {address(stream_, pair * stream_words_), address(panel_, 0), address(out_, to + pair * group_),
                     address(shapes_.of(pairs), 0)});
    });
    if (conv_.out_channels % group_ != 0)
      f_.run(gemm_, {address(stream_, pairs_ * stream_words_), address(panel_, 0),
                     address(out_, to + (conv_.out_channels - group_)), address(last_shape_, 0)});
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  ConvPanel spread_;
  int64_t group_ = 2;  // channels at a time
  int64_t tile_ = 4, pairs_ = 1, stream_words_ = 0;
  int64_t rest_ = 0;  // pixels behind the tiles that have a kernel of their own
  int64_t stored_k_ = 0, sum_steps_ = 0;  // with the sums of windows (target/arm/dsp/window_sums.h)
  Work work_;
  bool words_ = false;
  PairOrder order_;
  tir::KernelPtr gemm_;
  Turns turns_;  // of pairs_
  TurnTables shapes_;
  std::tuple<tir::KernelPtr, Turns, TurnTables, BufferPtr> of_rest_;
  BufferPtr in_, out_, panel_, stream_, last_shape_;
};

}  // namespace

namespace {

// A convolution whose only window is the whole image, of so many multiplications that the kernel for it is worth its bytes.
bool is_row_product(const OpView& op, const ConvShape& conv) {
  constexpr int64_t kLeast = 8192;
  const WindowAxis &y = conv.window.y, &x = conv.window.x;
  const bool dilated = y.dilation * x.dilation != 1 && conv.k > conv.in_channels;
  return op.operand(0).dtype == DType::kI8 && !conv.grouped() && !dilated && conv.pixels() == 1 && conv.window.batch == 1 &&
         y.pad_before == 0 && x.pad_before == 0 && op.operand(0).elements() == conv.k && conv.k % 4 == 0 &&
         conv.k * conv.out_channels >= kLeast;
}

std::optional<Lowered> lower_as_row(const OpView& op, const TargetInfo& target) {
  const ConvShape conv(op);
  const bool words = row_product_words(conv.k, target);
  if (target.level == Level::kSize || !is_row_product(op, conv) || packs_nibbles(op, target) || (!words && !target.allows("pairs")) ||
      conv.out_channels < row_product_group(words) || target.wish("pixels", 0, 0, 1) != 0)
    return std::nullopt;
  auto [folded, scaling] = ConvScaling(op, conv);
  return lower_row_product(op, target, {"conv_2d", conv.out_channels, conv.k, 1, folded, scaling});
}

}  // namespace

std::optional<Lowered> lower_conv_2d_dsp(const OpView& op, const TargetInfo& target) {
  if (auto row = faster_form(op, target, lower_as_row)) return row;
  return faster_form(op, target, [](const OpView& o, const TargetInfo& t) { return DspConvLowering(o, t).run(); });
}

}  // namespace aotc::target::arm
