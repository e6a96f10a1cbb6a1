// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 convolutions of windows three columns wide by Winograd's algorithm (cores/riscv/winograd.h). The
// windows of three tiles of the flat list of outputs are put into a panel, which then serves all output channels.
// Taken where the estimates say that it needs fewer instructions than products of windows; at -O balanced where they
// are worth the flash that the transformed weights take.
#include <algorithm>

#include <fmt/format.h>

#include "cores/riscv/winograd.h"
#include "ops/common/conv_order.h"
#include "ops/common/triple_kernel.h"
#include "ops/common/winograd.h"

namespace aotc::cores::riscv {

using ops::ConvShape;
using ops::Lowered;
using ops::OpView;
using ops::TargetInfo;
using ops::WindowAxis;
using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kTiles = Winograd::kTiles, kOutputs = Winograd::kTileOutputs;

class WinogradLowering {
 public:
  WinogradLowering(const OpView& op, const TargetInfo& target)
      : op_(op), conv_(op), f_(op, "conv_2d"), target_(target) {}

  bool applies() const {
    constexpr int64_t kMostChannels = 512;  // whose columns are in reach of an offset
    const WindowAxis& x = conv_.window.x;
    return x.kernel == 3 && x.stride == 1 && x.dilation == 1 && x.pad_before <= 1 && x.out % kOutputs == 0 &&
           x.start(x.out - 1) + 3 <= x.in + 1 && conv_.window.batch == 1 && !conv_.grouped() && tiles() >= kTiles &&
           conv_.in_channels % Winograd::kUnroll == 0 && conv_.in_channels <= kMostChannels &&
           conv_.out_channels >= Winograd::kChannels && conv_.window.y.in < 1 << 11;
  }

  // Nothing where no requantisation in the kernel's form is exact, or where it does not pay.
  std::optional<Lowered> run() {
    const std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    auto plan = plan_winograd(w, conv_.out_channels, conv_.window.y.kernel, conv_.in_channels);
    if (!plan) return std::nullopt;
    plan_ = *plan;
    auto [folded, scaling] = ops::ConvScaling(op_, conv_);
    if (scaling.open || scaling.clamp.min != -128 || scaling.clamp.max != 127) return std::nullopt;
    std::vector<int32_t> bias = folded.bias;
    auto direct = ops::fit_triple_kernel(w, conv_.out_channels, conv_.k, scaling, bias, target_);
    if (!direct) return std::nullopt;
    auto lines = ops::fit_common_line(scaling, Winograd::kLeft, folded.bias);
    if (!lines || lines->shift == 0) return std::nullopt;
    first_ = ops::tile_starts(conv_.out_channels, Winograd::kChannels);
    if (!ops::takes_winograd(target_, offer(*direct, lines->with_sign))) return std::nullopt;
    in_ = f_.operand(0);
    make_tables(w, folded.bias, *lines);
    panel_ = f_.scratch("panel", DType::kI32, plan_.panel_words(), 4);
    out_ = f_.result(0);
    emit();
    f_.algorithm(ops::kWinograd);
    return f_.finish(
        fmt::format("{} segments, shift {}{}", plan_.segments, lines->shift, lines->with_sign ? ", sign" : ""));
  }

 private:
  int64_t tiles() const { return conv_.window.y.out * conv_.window.x.out / kOutputs; }
  int64_t whole_groups() const { return conv_.out_channels / Winograd::kChannels; }

  ops::WinogradOffer offer(const ops::TripleKernelFit& direct, bool sign) {
    constexpr double kPerElement = 11;
    const auto groups = static_cast<int64_t>(first_.size());
    const int64_t kernel_groups = (conv_.out_channels + direct.kernel.channels - 1) / direct.kernel.channels;
    const double triples =
        static_cast<double>((kOutputs * tiles() + ops::TripleGemm::kPixels - 1) / ops::TripleGemm::kPixels);
    const double whole = triples * (static_cast<double>(direct.kernel.cost(direct.plan, kernel_groups, target_)) +
                                    kPerElement * static_cast<double>(conv_.k));
    const double call = winograd_triples_cost(plan_, groups, sign);
    const double own = static_cast<double>((tiles() + kTiles - 1) / kTiles) * (call + winograd_columns_cost(conv_));
    // Transformed weights take six bytes where there were three.
    const auto bytes = static_cast<double>(conv_.k * conv_.out_channels);
    f_.buys_flash(bytes, whole - own);
    return {whole - own, bytes, 2 * call};
  }

  void make_tables(const std::vector<int8_t>& w, const std::vector<int32_t>& bias, const ops::LineFit& lines) {
    sign_ = lines.with_sign;
    stream_ = f_.constant("stream", DType::kI32,
                          winograd_stream(plan_, w, conv_.window.y.kernel, conv_.in_channels, first_, bias, lines));
    shape_ = f_.constant("shape", DType::kI32, winograd_shape(plan_, whole_groups(), conv_.out_channels, sign_));
    if (has_rest())
      last_shape_ = f_.constant("last_shape", DType::kI32, winograd_shape(plan_, 1, conv_.out_channels, sign_));
    blank_ = f_.constant(
        "blank", DType::kI8,
        std::vector<int8_t>(static_cast<size_t>(conv_.in_channels), static_cast<int8_t>(op_.operand(0).zero_point())),
        1);
    multiply_ = winograd_triples_kernel(lines.shift, sign_);
  }

  // Channels behind the last whole group are made with some of those before them.
  bool has_rest() const { return conv_.out_channels % Winograd::kChannels != 0; }

  void emit() {
    if (auto order = ops::window_order(conv_.window, kTiles * kOutputs, {conv_.in_channels, conv_.out_channels}))
      f_.publish(std::move(*order));
    table_ = f_.local("table", DType::kI32, kTiles * Winograd::kTileWords);
    f_.loop("i", plan_.k * Winograd::kStepWords, plan_.panel_words(), [&](Ex i) { f_.store(panel_, i, 0); });
    f_.loop(
        "t", 0, tiles(),
        [&](Ex t) {
          Ex first = tiles() % kTiles == 0 ? t : f_.let("tile", min(t, tiles() - kTiles));
          pack(first);
          Ex to = f_.let("to", first * (kOutputs * conv_.out_channels));
          f_.run(multiply_, {address(stream_, 0), address(panel_, 0), address(out_, to), address(shape_, 0)});
          if (has_rest())
            f_.run(multiply_,
                   {address(stream_, whole_groups() * plan_.group_words(sign_)), address(panel_, 0),
                    address(out_, to + (conv_.out_channels - Winograd::kChannels)), address(last_shape_, 0)});
        },
        kTiles);
  }

  void pack(const Ex& first) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    const int64_t in_row = x.out / kOutputs;
    for (int64_t t = 0; t < kTiles; ++t) {
      Ex tile = f_.let("tile", first + t);
      Ex oy = f_.let("oy", tile / in_row);
      Ex top = f_.let("top", oy * y.stride - y.pad_before);
      Ex left = f_.let("left", (tile - oy * in_row) * kOutputs - x.pad_before);
      auto put = [&](int64_t word, const Ex& value) { f_.store(table_, t * Winograd::kTileWords + word, value); };
      put(Winograd::kRow, top);
      put(Winograd::kElement, (top * x.in + left) * conv_.in_channels);
      put(Winograd::kLeftEdge, select(left < 0, Ex(1), Ex(0)));
      put(Winograd::kRightEdge, select(left + Winograd::kColumns > x.in, Ex(1), Ex(0)));
    }
    f_.run(winograd_columns_kernel(conv_.window.y, conv_.window.x.in, conv_.in_channels),
           {address(in_, 0), address(blank_, 0), address(panel_, 0), address(table_, 0)});
  }

  const OpView& op_;
  const ConvShape conv_;
  ops::LoweringBuilder f_;
  const TargetInfo& target_;
  Winograd plan_;
  std::vector<int64_t> first_;
  bool sign_ = false;
  tir::KernelPtr multiply_;
  BufferPtr in_, out_, panel_, stream_, shape_, last_shape_, blank_, table_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_winograd(const OpView& op, const TargetInfo& target) {
  WinogradLowering lowering(op, target);
  if (!lowering.applies()) return std::nullopt;
  return lowering.run();
}

}  // namespace aotc::cores::riscv
