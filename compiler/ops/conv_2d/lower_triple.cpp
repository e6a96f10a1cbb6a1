// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 conv_2d onto products of three pixels in two words (ops/common/triple_gemm.h).
// The windows of three neighbouring outputs of the flat list of pixels are put into a panel, which
// then serves all output channels. Padding is the zero point, so it adds nothing once the zero
// point is folded into the bias.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv_order.h"
#include "ops/common/gemm.h"
#include "ops/common/triple_kernel.h"
#include "ops/conv_2d/triple_panel.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kPixels = TripleGemm::kPixels;

class TripleConvLowering {
 public:
  TripleConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op), conv_(op), f_(op, "conv_2d"), target_(target) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    pixels_ = conv_.window.batch * y.out * x.out;
  }

  // Nothing where another way is faster or this one does not apply.
  std::optional<Lowered> run() {
    bool one_image = conv_.pointwise || conv_.window.batch == 1;
    if (conv_.grouped() || !one_image || conv_.window.x.dilation != 1 || pixels_ < kPixels) return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    if (target_.allows("packed"))
      if (auto lowered = run_kernel(w)) return lowered;
    if (!target_.allows("triples")) return std::nullopt;
    const bool open = op_.graph.open_constants;  // then sums are as large as any weights make them
    auto plan = plan_triples(open ? std::vector<int8_t>(w.size(), -128) : w, conv_.out_channels, conv_.k, target_);
    if (!plan) return std::nullopt;
    bool asked = target_.asked && target_.asked->algorithm == "triples";
    if (!asked && triple_cost(*plan, pixels_, conv_.out_channels, !conv_.pointwise, target_) >=
                      plain_cost(pixels_, conv_.out_channels, conv_.k, !conv_.pointwise, target_))
      return std::nullopt;
    plan_ = *plan;
    in_ = f_.operand(0);
    make_constants(w);
    windows_.emplace(f_, conv_, op_.operand(0).zero_point());
    use_panel();
    f_.algorithm("triples");
    f_.choice("channels", plan_.channels);
    f_.choice("unroll", plan_.unroll);
    std::string segments = plan_.segments() > 1 ? fmt::format("{} segments, ", plan_.segments()) : "";
    return f_.finish(fmt::format("{}{}", segments, requantizer_->form()));
  }

 private:
  // By the core's microkernel, where it has one that fits.
  std::optional<Lowered> run_kernel(const std::vector<int8_t>& w) {
    auto [folded, scaling] = ConvScaling(op_, conv_);
    auto fit = fit_triple_kernel(w, conv_.out_channels, conv_.k, scaling, folded.bias, target_);
    if (!fit) return std::nullopt;
    const TripleKernel& kernel = fit->kernel;
    const std::vector<int64_t> first = tile_starts(conv_.out_channels, kernel.channels);
    const int64_t whole = conv_.out_channels / kernel.channels;
    const auto groups = static_cast<int64_t>(first.size());
    const int64_t call = kernel.cost(fit->plan, groups, target_);
    const int64_t calls = (pixels_ + kPixels - 1) / kPixels;
    const int64_t fill = fit->plan.k * (conv_.pointwise ? 8 : 12);
    const bool asked = target_.asked && target_.asked->algorithm == "packed";
    // A kernel of several channels is longer than the C that it replaces, and each depth and form of scaling has its
    // own.
    if (!asked && target_.level == Level::kSize && kernel.channels > 1) return std::nullopt;
    if (!asked &&
        (calls * (call + fill) >= plain_cost(pixels_, conv_.out_channels, conv_.k, !conv_.pointwise, target_) ||
         (target_.slice > 0 && call > target_.slice / 2)))
      return std::nullopt;
    fit_ = fit;
    plan_ = fit->plan;
    in_ = f_.operand(0);
    weights_ = f_.constant("stream", DType::kI32, kernel.stream(plan_, w, first, folded.bias, fit->lines));
    shape_ = f_.constant("shape", DType::kI32, kernel.shape(plan_, whole, conv_.out_channels));
    if (groups > whole)
      last_shape_ = f_.constant("last_shape", DType::kI32, kernel.shape(plan_, 1, conv_.out_channels));
    windows_.emplace(f_, conv_, op_.operand(0).zero_point(), target_);
    use_panel();
    f_.algorithm("packed");
    std::string segments = plan_.segments() > 1 ? fmt::format("{} segments, ", plan_.segments()) : "";
    return f_.finish(fmt::format("{}shift {}{}", segments, kernel.shift, kernel.sign ? ", sign" : ""));
  }

  void multiply_by_kernel(const Ex& first) {
    const TripleKernel& kernel = fit_->kernel;
    const int64_t whole = conv_.out_channels / kernel.channels;
    Ex to = f_.let("to", first * conv_.out_channels);
    f_.run(kernel.kernel(), {address(weights_, 0), address(panel_, 0), address(out_, to), address(shape_, 0)});
    if (conv_.out_channels % kernel.channels != 0)
      f_.run(kernel.kernel(), {address(weights_, whole * kernel.words(plan_.padded_k)), address(panel_, 0),
                               address(out_, to + (conv_.out_channels - kernel.channels)), address(last_shape_, 0)});
  }

  void use_panel() {
    windows_->make_tables();
    panel_ = f_.scratch("panel", DType::kI32, plan_.panel_words(), 4);
    windows_->use(in_, panel_);
    out_ = f_.result(0);
    emit();
  }

  void make_constants(const std::vector<int8_t>& w) {
    weights_ = f_.constant("weights", DType::kI8, pack_triple_weights(plan_, w, conv_.out_channels));
    auto [folded, scaling] = ConvScaling(op_, conv_);
    bias_ = f_.constant("bias", DType::kI32, folded.bias);
    requantizer_.emplace(f_, scaling);
  }

  void emit() {
    // Where the result is larger than the input, from the last pixel to the first, so that it can
    // be written over the input from behind.
    const PixelBytes bytes{conv_.in_channels, conv_.out_channels * size_of(out_->dtype)};
    const bool backwards = conv_.pointwise && bytes.out > bytes.in;
    auto order = conv_.pointwise ? pointwise_order(pixels_, kPixels, bytes, backwards, false)
                                 : window_order(conv_.window, kPixels, bytes);
    if (order) f_.publish(std::move(*order));
    if (requantizer_) requantizer_->begin(f_);
    emit_triple_padding(f_, plan_, panel_);
    windows_->begin();
    f_.loop(
        "p", 0, pixels_,
        [&](Ex p) {
          Ex start = backwards ? Ex(pixels_ - kPixels) - p : p;
          if (pixels_ % kPixels != 0) start = backwards ? max(start, 0) : min(start, Ex(pixels_ - kPixels));
          Ex first = f_.let("pixel", start);
          windows_->pack(first);
          multiply(first);
        },
        kPixels);
  }

  // All output channels of the three pixels from `first` on.
  void multiply(const Ex& first) {
    if (fit_) return multiply_by_kernel(first);
    f_.loop(
        "c", 0, conv_.out_channels,
        [&](Ex c) {
          Ex channel = conv_.out_channels % plan_.channels == 0
                           ? c
                           : f_.let("channel", min(c, Ex(conv_.out_channels - plan_.channels)));
          // c is a multiple of C, so tile number * (padded_k * C) is c * padded_k.
          Ex base = f_.let("wi", c * plan_.padded_k);
          if (plan_.segments() == 1) {
            finish_one(emit_triple_sums(f_, plan_, panel_, weights_, base, 0), first, channel);
          } else {
            finish_many(base, first, channel);
          }
        },
        plan_.channels);
  }

  void finish_one(const TripleSums& sums, const Ex& first, const Ex& channel) {
    Ex to = f_.let("to", first * conv_.out_channels + channel);
    for (int64_t c = 0; c < plan_.channels; ++c) {
      std::array<Ex, 3> s = emit_split(f_, sums[static_cast<size_t>(c)]);
      Ex bias = f_.let("bias", load(bias_, channel + c));
      for (Ex& v : s) v = f_.let("acc", v + bias);
      store(s, to, channel, c);
    }
  }

  void finish_many(const Ex& base, const Ex& first, const Ex& channel) {
    std::vector<std::array<Ex, 3>> total;
    for (int64_t c = 0; c < plan_.channels; ++c) {
      Ex bias = f_.let("bias", load(bias_, channel + c));
      total.push_back({f_.var("acc0", bias), f_.var("acc1", bias), f_.var("acc2", bias)});
    }
    f_.loop(
        "segment", 0, plan_.padded_k,
        [&](Ex begin) {
          TripleSums sums = emit_triple_sums(f_, plan_, panel_, weights_, base, begin);
          for (size_t c = 0; c < sums.size(); ++c) {
            std::array<Ex, 3> s = emit_split(f_, sums[c]);
            for (size_t p = 0; p < 3; ++p) f_.assign(total[c][p], total[c][p] + s[p]);
          }
        },
        plan_.segment);
    Ex to = f_.let("to", first * conv_.out_channels + channel);
    for (int64_t c = 0; c < plan_.channels; ++c) store(total[static_cast<size_t>(c)], to, channel, c);
  }

  void store(const std::array<Ex, 3>& acc, const Ex& to, const Ex& channel, int64_t c) {
    Requantizer::Channel scale = requantizer_->prepare(f_, channel + c);
    for (int64_t p = 0; p < kPixels; ++p)
      f_.store(out_, to + (p * conv_.out_channels + c), requantizer_->emit(f_, acc[static_cast<size_t>(p)], scale));
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  int64_t pixels_;
  TripleGemm plan_;
  BufferPtr in_, out_, panel_, weights_, bias_, shape_, last_shape_;
  std::optional<Requantizer> requantizer_;
  std::optional<TripleKernelFit> fit_;
  std::optional<TriplePanel> windows_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_triple(const OpView& op, const TargetInfo& target) {
  return TripleConvLowering(op, target).run();
}

}  // namespace aotc::ops
