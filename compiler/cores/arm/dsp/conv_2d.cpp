// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/conv_2d_lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/gemm_fours.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/dsp/row_product.h"
#include "cores/arm/dsp/window_sums.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "cores/instruction_counter.h"
#include "ops/common/nibbles.h"
#include "ops/common/price.h"
#include "ops/conv_2d/neighbours.h"

namespace aotc::cores::arm {

using tir::Ex;

bool DspConvLowering::fits_panel() const {
  const bool one_image = whole_.pointwise || whole_.window.batch == 1;
  // Only products of int8 take panels without words.
  const bool words = spread_.row_words() > 0 || spread_.lanes() == 4;
  if (!whole_.grouped()) return one_image && words;
  if (!plane_.fits() || !one_image || op_.operand(0).dtype != DType::kI8 || packs_nibbles(op_, target_)) return false;
  // The missing half of an odd group would be part of a window's sum.
  return whole_.group_in % 2 == 0 || StoredWeights(op_).correction == 0;
}

std::vector<int64_t> DspConvLowering::first_channels(int64_t size) const {
  std::vector<int64_t> out;
  for (int64_t group = 0; group < whole_.out_channels; group += conv_.out_channels)
    for (int64_t c : tile_starts(conv_.out_channels, size)) out.push_back(group + c);
  return out;
}

void DspConvLowering::order_steps() {
  order_ = plane_.fits() ? plane_.order() : window_steps(spread_.rows(), spread_.row_elements(), spread_.lanes());
}

std::optional<std::vector<int8_t>> DspConvLowering::stored_weights() {
  order_steps();
  auto stored = weights_with_sums(op_, whole_.out_channels, whole_.k, order_);
  if (!stored) return std::nullopt;
  stored_k_ = stored->k, sum_steps_ = stored->steps;
  return std::move(stored->weights);
}

namespace {

// How sums of pairs of channels are requantised, and their biases.
std::optional<PairLines> fit_conv_lines(const OpView& op, const ConvShape& whole, const TargetInfo& target,
                                        std::vector<int32_t>& bias) {
  auto [folded, scaling] = ConvScaling(op, whole);
  bias = folded.bias;
  auto lines = fit_pair_lines(scaling, bias, PairGemm::kLeft, target.fpu);
  // Mixed lines take pairs that begin at even channels.
  const bool even = !whole.grouped() || whole.out_channels / (whole.in_channels / whole.group_in) % 2 == 0;
  if (!lines || words_allowed(target) || !even || !mixes(*lines, target)) return lines;
  auto mixed = fit_mixed_lines(scaling, folded.bias, true);
  if (mixed && mixing_pays(*lines, *mixed)) lines = std::move(mixed), bias = folded.bias;
  return lines;
}

}  // namespace

std::optional<AlikeOps::Key> conv_shapes(const OpView& op, const TargetInfo& target) {
  if (op.op.name() != "conv_2d" || op.operand(0).dtype != DType::kI8 || packs_nibbles(op, target) || gives_sums(op))
    return std::nullopt;
  AlikeOps::Key out = {has_uint8_weights(op)};
  for (const graph::Shape& shape : {op.operand(0).shape, op.operand(1).shape, op.result().shape})
    out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

std::optional<AlikeOps::Key> pairs_text(const OpView& op, const TargetInfo& target) {
  std::vector<int32_t> bias;
  const auto lines = fit_conv_lines(op, ConvShape(op), target, bias);
  if (!lines) return std::nullopt;
  return AlikeOps::Key{lines->fit.shift, lines->sign(), lines->mixed()};
}

std::optional<Lowered> DspConvLowering::run() {
  if (!fits_panel()) return std::nullopt;
  if (op_.operand(0).dtype == DType::kI16) return run_int16();
  if (packs_nibbles(op_, target_)) return spread_.row_words() > 0 ? run_nibbles() : std::nullopt;
  if (target_.asked && target_.asked->algorithm == "fours") return run_fours();
  if (conv_.out_channels < 2) return std::nullopt;
  if (!target_.allows("pairs") && !words_allowed(target_)) return std::nullopt;
  const auto w = stored_weights();
  if (!w) return std::nullopt;
  if (gives_sums(op_)) return run_sums(*w);
  std::vector<int32_t> bias;
  const auto lines = fit_conv_lines(op_, whole_, target_, bias);
  if (!lines) return std::nullopt;
  const bool pairs = pairs_fit(*w, first_channels(2), 2, stored_k_, *lines);
  if (!words_allowed(target_) && !(pairs && target_.allows("pairs"))) return std::nullopt;
  choose_kernel(pairs, lines->sign());
  if (lines->mixed())
    work_ += mixed_work(tile_, conv_.out_channels / 2,
                        lines->float_channels() / 2 * conv_.out_channels / whole_.out_channels) *
             static_cast<double>((pixels() + tile_ - 1) / tile_);
  in_ = f_.operand(0);
  make_tables(*w, bias, *lines);
  return finish(words_ ? "words" : "pairs", text_of(*lines), lines->clamp);
}

std::optional<Lowered> DspConvLowering::run_sums(const std::vector<int8_t>& w) {
  // No channel is negated. The other lowerings take half as many instructions more than words.
  const bool pairs = pairs_fit(w, first_channels(2), 2, stored_k_) && target_.allows("pairs");
  const bool words =
      words_allowed(target_) || (!pairs && target_.level == Level::kBalanced && target_.allows("words"));
  if (!pairs && !words) return std::nullopt;
  const FoldedBias folded = ConvScaling(op_, whole_).folded;
  // Sums are the upper 24 bits of accumulators.
  constexpr int64_t kMost = 1 << (31 - PairGemm::kLeft);
  if (std::any_of(folded.ranges.begin(), folded.ranges.end(), [](AccRange r) { return r.magnitude() >= kMost; }))
    return std::nullopt;
  choose_kernel(pairs, false);
  in_ = f_.operand(0);
  const SumsForm form{!words_, words_ ? words_unroll() : 0};
  const std::vector<int64_t> first = first_channels(group_);
  const int64_t stride = whole_.out_channels * size_of(DType::kI32);
  use_stream(gemm_sums_stream(w, stored_k_, order_, first, form, folded.bias), first.size());
  make_kernels([&](int64_t) {
    gemm_ = gemm_sums_kernel(tile_, form);
    make_shapes(gemm_work(words_, tile_, steps(), 1, false),
                [&](int64_t count) { return gemm_sums_shape(steps(), count, stride, tile_, form); });
  });
  return finish(words_ ? "words" : "pairs", fmt::format("{} steps, sums", steps()));
}

std::optional<Lowered> DspConvLowering::run_fours() {
  if (!fits_panel() || op_.operand(0).dtype != DType::kI8 || packs_nibbles(op_, target_) ||
      (!plane_.fits() && spread_.row_words() == 0) || pixels() < FourGemm::kPixels ||
      conv_.out_channels < FourGemm::kChannels)
    return std::nullopt;
  const auto w = stored_weights();
  if (!w) return std::nullopt;
  auto [folded, scaling] = ConvScaling(op_, whole_);
  const auto lines = fit_pair_lines(scaling, folded.bias, PairGemm::kLeft, target_.fpu);
  constexpr int64_t kGroup = FourGemm::kChannels;
  if (!lines || !pairs_fit(*w, first_channels(kGroup), kGroup, stored_k_, *lines)) return std::nullopt;
  tile_ = FourGemm::kPixels, group_ = FourGemm::kChannels;
  in_ = f_.operand(0);
  make_fours(*w, folded.bias, *lines);
  return finish("fours", text_of(*lines), lines->clamp);
}

std::string DspConvLowering::text_of(const PairLines& lines) const {
  const std::string groups = plane_.fits() ? fmt::format(", {} groups", plane_.groups()) : "";
  return fmt::format("{} steps{}{}, {}", steps(), groups, sum_steps_ > 0 ? " with sums of inputs" : "",
                     form_text(lines));
}

// Behind the tables.
Lowered DspConvLowering::finish(const char* algorithm, const std::string& how, ClampI32 clamp) {
  const int64_t panel_words = steps() * tile_;
  panel_ = f_.scratch("panel", DType::kI32, panel_words + (plane_.fits() ? plane_.words() : 0), 4);
  plane_.fits() ? plane_.use(in_, panel_, panel_words) : spread_.use(in_, panel_);
  out_ = f_.result(0);
  emit();
  work_ += emit_byte_clamp(f_, out_, clamp, target_);
  f_.algorithm(algorithm);
  f_.choice("pixels", tile_);
  if (plane_.fits()) f_.choice("rows", plane_.height());
  const auto groups = static_cast<double>(whole_.out_channels / conv_.out_channels), all = static_cast<double>(parts());
  if (saved_ > 0) f_.buys_flash(groups * bytes_of_words(), all * saved_);
  if (rest_ > 0) f_.choice("rest", 1);
  f_.estimate(work_ * all, target_);
  return f_.finish(how);
}

// Words take twice the bytes of weights: where that is not asked for, they are to be worth it. A layer that reads few
// weights for many pixels saves more than Winograd's algorithm does.
bool DspConvLowering::words_worth(double saved) const {
  return target_.level == Level::kBalanced && target_.allows("words") &&
         ops::is_worth_flash(target_, saved, bytes_of_words());
}

double DspConvLowering::bytes_of_words() const {
  return static_cast<double>((conv_.out_channels + 1) / 2 * steps() * 4);
}

// The form of the weights, the pixels per tile, and whether those that are left over have a kernel of their own.
void DspConvLowering::choose_kernel(bool pairs_fit, bool sign) {
  // Compilers find no registers for eight accumulators.
  const int64_t largest = target_.calls_intrinsics() ? 3 : 4;
  int64_t rows = spread_.rows(), most = std::min(largest, pixels());
  GemmShape shape{pixels(), rows, spread_.row_words(), rows * spread_.row_rest(), conv_.out_channels};
  if (plane_.fits()) shape.rows = 1, shape.words = steps() / 2, shape.rest = steps() % 2;
  auto apart = [&](bool words, int64_t tile) {
    GemmShape whole = shape, rest = shape;
    rest.pixels = pixels() % tile;
    whole.pixels -= rest.pixels;
    return whole.work(words, tile, sign) + rest.work(words, rest.pixels, sign);
  };
  double least = 0;
  // A second kernel must be worth its bytes.
  constexpr double kWorthIt = 0.95;
  const bool free = words_allowed(target_) || !pairs_fit;
  for (bool words : {false, true}) {
    if (words ? !free && least == 0 : !(pairs_fit && target_.allows("pairs"))) continue;
    const double pairs_least = least;
    // Words for the sake of cycles have no larger panel where rows are to save RAM.
    const bool narrow = words && !free && !target_.spends_ram() && target_.whole != nullptr;
    // For size all layers share the kernel of the largest tile.
    for (int64_t p = narrow ? tile_ : most; p >= (target_.level == Level::kSize ? most : 1); --p) {
      double cost = target_.costs.of(shape.work(words, p, sign));
      // Two pixels are hardly faster than four, and loads take cycles.
      const double most_cost = p == 2 && !words ? kWorthIt * least : least;
      if ((least > 0 && cost >= most_cost) || (words && !free && !words_worth(pairs_least - cost))) continue;
      least = cost;
      tile_ = p;
      words_ = words;
      saved_ = words && !words_allowed(target_) ? (pairs_fit ? pairs_least - cost : cost / 2) : 0;
    }
  }
  tile_ = target_.wish("pixels", tile_, 1, most);
  work_ = shape.work(words_, tile_, sign);
  auto worth = [&](int64_t tile) {
    return pixels() % tile != 0 && target_.costs.of(apart(words_, tile)) < kWorthIt * target_.costs.of(work_);
  };
  int64_t tile = tile_;
  if (target_.level != Level::kSize && !target_.asked)
    for (int64_t p = most; p > 1; --p)
      if (worth(p) && (!worth(tile) || target_.costs.of(apart(words_, p)) < target_.costs.of(apart(words_, tile))))
        tile = p;
  const bool better = target_.level != Level::kSize && worth(tile);
  if (pixels() % tile == 0 || target_.wish("rest", better ? 1 : 0, 0, 1) == 0) return;
  tile_ = tile;
  rest_ = pixels() % tile;
  work_ = apart(words_, tile_);
}

void DspConvLowering::make_tables(const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                                  const PairLines& lines) {
  std::vector<int64_t> first = first_channels(group_);
  bool sign = lines.sign();
  const int64_t stride = whole_.out_channels;
  auto make_shape = [&](int64_t pairs) {
    return words_ ? gemm_words_shape(steps(), pairs, stride, tile_, sign, words_unroll(), lines.mixed())
                  : gemm_shape(steps(), pairs, stride, tile_, sign, lines.mixed(), takes_even(tile_, steps()));
  };
  auto own = [&](int64_t tiles) {
    const int64_t bands = plane_.fits() ? plane_.bands() : 1;
    const int64_t groups = bands * tiles * static_cast<int64_t>(first.size());
    if (lines.mixed() || !target_.has_assembly()) return OwnGemm{};  // C by intrinsics has one form
    const OwnGemm all{steps(), stride, 0, tile_, words_};
    auto best = [&](int64_t alike) { return OwnGemm::best(all, groups, alike, target_); };
    // Fitting the lines of other layers takes long: it is done only if they decide on the form.
    const auto least = best(1), most = best(AlikeOps::count(op_, target_, conv_shapes));
    return (least == most ? most : best(AlikeOps::count(op_, target_, conv_shapes, pairs_text))).value_or(OwnGemm{});
  };
  auto make_stream = words_ ? gemm_words_stream : gemm_stream;
  use_stream(make_stream(w, stored_k_, order_, first, bias, lines, group_), first.size());
  auto of_tile = [&](int64_t tiles) {
    const OwnGemm own_form = own(tiles);
    const bool even = takes_even(tile_, steps()) && own_form.steps == 0;
    gemm_ = words_ ? gemm_words_kernel(tile_, lines.fit.shift, sign, words_unroll(), lines.mixed(), own_form)
                   : gemm_pairs_kernel(tile_, lines.fit.shift, sign, lines.mixed(), even, own_form);
    make_shapes(gemm_work(words_, tile_, steps(), 1, sign), make_shape);
  };
  make_kernels(of_tile);
}

void DspConvLowering::make_kernels(const std::function<void(int64_t tiles)>& of_tile) {
  if (rest_ > 0) {
    for_tile(rest_, [&] { of_tile(1); });
    of_rest_ = {gemm_, turns_, shapes_, last_shape_};
  }
  of_tile(rest_ > 0 ? pixels() / tile_ : (pixels() + tile_ - 1) / tile_);
  make_panel_tables();
}

void DspConvLowering::make_fours(const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                                 const PairLines& lines) {
  const std::vector<int64_t> first = first_channels(group_);
  const bool sign = lines.sign();
  use_stream(gemm_stream(w, stored_k_, order_, first, bias, lines, group_), first.size());
  const int64_t tiles = (pixels() + tile_ - 1) / tile_;
  const int64_t groups = static_cast<int64_t>(first.size()) * conv_.out_channels / whole_.out_channels;
  gemm_ = gemm_fours_kernel(lines.fit.shift, sign, fours_form(steps(), parts() * tiles * groups));
  make_shapes(fours_work(steps(), 1, sign),
              [&](int64_t count) { return fours_shape(steps(), count, whole_.out_channels, sign); });
  spread_.save_cycles();
  make_panel_tables();
  work_ = work_of(tile_, fours_work(steps(), groups, sign));
}

void DspConvLowering::use_stream(const std::vector<int32_t>& stream, size_t groups) {
  pairs_ = conv_.out_channels / group_;
  stream_words_ = static_cast<int64_t>(stream.size() / groups);
  stream_ = f_.constant("stream", DType::kI32, stream);
}

// Tables for turns of groups of channels, of which one takes `group`.
void DspConvLowering::make_shapes(const Work& group, const std::function<std::vector<int32_t>(int64_t groups)>& shape) {
  turns_ = turns_of(pairs_, target_.costs.of(group), target_);
  shapes_ = TurnTables(f_, turns_, "shape", shape);
  // Last channels that are no whole group are made again with the ones before them.
  if (conv_.out_channels % group_ != 0) last_shape_ = f_.constant("last_shape", DType::kI32, shape(1));
}

void DspConvLowering::emit() {
  if (plane_.fits()) {
    const int64_t units = (conv_.out_channels + group_ - 1) / group_ * stream_words_;
    return plane_.for_each([&](const Ex& group, const Ex& first) {
      stream_at_ = f_.let("weights_at", group * units);
      out_at_ = f_.let("out_at", first * whole_.out_channels + group * conv_.out_channels);
      emit_tiles(false);
    });
  }
  // Where the result is larger than the input, from the last pixel to the first, so that it can
  // be written over the input from behind.
  const PixelBytes bytes{conv_.in_channels * spread_.element_bytes(), conv_.out_channels * size_of(out_->dtype)};
  const bool backwards = conv_.pointwise && bytes.out > bytes.in;
  auto order = conv_.pointwise ? pointwise_order(pixels(), tile_, bytes, backwards, false)
                               : window_order(conv_.window, tile_, bytes);
  if (order) f_.publish(std::move(*order));
  emit_tiles(backwards);
}

void DspConvLowering::emit_tiles(bool backwards) {
  // The pixels that are left over come last, wherever they are: less than the order above says is read and written.
  const int64_t whole = pixels() - rest_;
  f_.loop(
      "p", 0, whole,
      [&](Ex p) {
        Ex start = backwards ? Ex(pixels() - tile_) - p : p;
        if (whole % tile_ != 0) start = backwards ? max(start, 0) : min(start, Ex(pixels() - tile_));
        emit_tile(f_.let("pixel", start));
      },
      tile_);
  if (rest_ == 0) return;
  std::tie(gemm_, turns_, shapes_, last_shape_) = of_rest_;
  for_tile(rest_, [&] { emit_tile(f_.let("pixel", backwards ? 0 : whole)); });
}

void DspConvLowering::emit_tile(const Ex& first) {
  plane_.fits() ? plane_.pack(first, tile_) : spread_.pack(first, tile_);
  multiply(first);
}

void DspConvLowering::multiply(const Ex& first) {
  emit_window_sums(f_, {panel_, tile_, steps() - sum_steps_, sum_steps_});
  Ex to = f_.let("to", out_at_ + first * whole_.out_channels);
  f_.take_turns(turns_, [&](const Ex& pair, int64_t pairs) {
    f_.run(gemm_, {address(stream_, stream_at_ + pair * stream_words_), address(panel_, 0),
                   address(out_, to + pair * group_), address(shapes_.of(pairs), 0)});
  });
  if (conv_.out_channels % group_ != 0)
    f_.run(gemm_, {address(stream_, stream_at_ + pairs_ * stream_words_), address(panel_, 0),
                   address(out_, to + (conv_.out_channels - group_)), address(last_shape_, 0)});
}

namespace {

// A convolution whose only window is the whole image, of so many multiplications that the kernel for it is worth its
// bytes.
bool is_row_product(const OpView& op, const ConvShape& conv) {
  constexpr int64_t kLeast = 8192;
  const WindowAxis &y = conv.window.y, &x = conv.window.x;
  const bool dilated = y.dilation * x.dilation != 1 && conv.k > conv.in_channels;
  return op.operand(0).dtype == DType::kI8 && !conv.grouped() && !dilated && conv.pixels() == 1 &&
         conv.window.batch == 1 && y.pad_before == 0 && x.pad_before == 0 && op.operand(0).elements() == conv.k &&
         conv.k % 4 == 0 && conv.k * conv.out_channels >= kLeast;
}

std::optional<Lowered> lower_as_row(const OpView& op, const TargetInfo& target) {
  const ConvShape conv(op);
  const bool words = row_product_words(conv.k, target);
  if (target.level == Level::kSize || !is_row_product(op, conv) || packs_nibbles(op, target) ||
      (!words && !target.allows("pairs")) || conv.out_channels < row_product_group(words) ||
      target.wish("pixels", 0, 0, 1) != 0)
    return std::nullopt;
  auto [folded, scaling] = ConvScaling(op, conv);
  return lower_row_product(op, target, {"conv_2d", conv.out_channels, conv.k, 1, folded, scaling});
}

}  // namespace

std::optional<Lowered> lower_conv_2d_dsp(const OpView& op, const TargetInfo& target) {
  // For size, one channel is left to C, which has no kernel.
  if (target.level != Level::kSize)
    if (const auto neighbours = ops::ConvOfNeighbours::of(op)) return lower_conv_2d_dsp(neighbours->view(), target);
  if (auto row = faster_form(op, target, lower_as_row)) return row;
  auto two = faster_form(op, target, [](const OpView& o, const TargetInfo& t) { return DspConvLowering(o, t).run(); });
  if (target.level != Level::kSpeed || target.asked || !two) return two;
  // Four channels at a time are more instructions, and fewer cycles where one load follows another. A gain below a
  // thousandth of the cycles is not worth a third more instructions.
  constexpr double kWorth = 0.999;
  auto fours = DspConvLowering(op, target).run_fours();
  const bool better = fours && cost_of(*fours, target).cycles < kWorth * cost_of(*two, target).cycles;
  return better ? std::move(fours) : std::move(two);
}

}  // namespace aotc::cores::arm
