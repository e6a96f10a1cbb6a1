// SPDX-License-Identifier: Apache-2.0
// Lowering of depthwise_conv_2d of int16, and of bytes whose weights take nine bits, onto the kernel of taps
// (cores/arm/helium/taps.h): one call makes a row of outputs. Where windows reach beyond the image, the rows that they
// look at are copied into a panel, between columns of zero points.
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/helium/lowerings.h"
#include "cores/arm/helium/taps.h"
#include "ops/common/conv_order.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class MveTapsLowering {
 public:
  MveTapsLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        f_(op, "depthwise_conv_2d"),
        target_(target),
        channels_(op.operand(1).shape[3]),
        weights_(centred_weights(op)) {
    const graph::Shape& w = op.operand(1).shape;
    window_ = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2]);
    taps_.bytes = op.operand(0).dtype == DType::kI16 ? 2 : 1;
    taps_.columns = x().kernel;
    const bool nine_bits = std::any_of(weights_.begin(), weights_.end(), [](int16_t v) { return v < -128 || v > 127; });
    taps_.weight_bytes = nine_bits ? 2 : 1;
    const int64_t step = column_step() * taps_.bytes;
    if (step <= MveTaps::kMostStep && target.level != Level::kSize) taps_.step = step;
  }

  // nullopt if the kernel does not apply.
  std::optional<Lowered> run() {
    constexpr int64_t kMostSize = 1 << 15;  // what the size of a copy holds
    if (channels_ < MveGemm::kGroup || op_.operand(0).shape[3] != channels_ || x().kernel > MveTaps::kMostColumns ||
        std::max(x().in, panel_width()) * channels_ * taps_.bytes >= kMostSize || y().kernel >= kMostSize)
      return std::nullopt;
    auto scaling = fit_scaling();
    if (!scaling) return std::nullopt;
    in_ = f_.operand(0);
    stream_ = f_.constant("stream", DType::kI32, mve_taps_stream(taps_, weights_, channels_, *scaling));
    const int64_t row = padded() ? panel_row() : y().dilation * image_row();
    const MveTapSteps steps{x().out, y().kernel, column_step(), row, x().stride * channels_};
    shape_ = f_.constant("shape", DType::kI32, mve_taps_shape(taps_, steps, channels_, *scaling));
    if (padded()) {
      const auto bytes = static_cast<int32_t>(taps_.bytes);
      rows_shape_ = f_.constant<int32_t>(
          "rows", DType::kI32,
          {static_cast<int32_t>(y().dilation * image_row()) * bytes, static_cast<int32_t>(panel_row()) * bytes});
      panel_ = f_.scratch("panel", in_->dtype, panel_elements(), 4);
    }
    out_ = f_.result(0);
    kernel_ = mve_taps_kernel(taps_, channels_, *scaling);
    emit();
    f_.algorithm("vectors");
    return f_.finish(fmt::format("8 channels, {}", padded() ? "panel of rows" : "in place"));
  }

 private:
  const WindowAxis& y() const { return window_.y; }
  const WindowAxis& x() const { return window_.x; }
  // In elements.
  int64_t column_step() const { return x().dilation * channels_; }
  int64_t image_row() const { return x().in * channels_; }
  int64_t panel_width() const { return (x().out - 1) * x().stride + x().effective_kernel(); }
  int64_t panel_row() const { return panel_width() * channels_; }
  int64_t panel_elements() const { return y().kernel * panel_row(); }
  // Columns of the image that the panel has.
  int64_t columns() const { return std::min(x().in, panel_width() - x().pad_before); }
  bool padded() const { return y().reaches_beyond() || x().reaches_beyond(); }

  std::optional<MveScaling> fit_scaling() const {
    if (taps_.bytes == 2) return fit_mve_halves(depthwise_wide_scaling(op_));
    FoldedBias folded = fold_bias(op_, channels_, [&](int64_t c) {
      std::vector<int32_t> of_channel;
      for (auto at = static_cast<size_t>(c); at < weights_.size(); at += static_cast<size_t>(channels_))
        of_channel.push_back(weights_[at]);
      return of_channel;
    });
    Requantization what = depthwise_scaling(op_, folded.ranges);
    what.tame_constant_channels(folded.bias);
    return fit_mve_scaling(what, folded.bias, target_);
  }

  void emit() {
    if (padded()) {
      fill_panel();
      if (window_.batch == 1)
        if (auto order = rows_order(window_, 1, {channels_ * taps_.bytes, channels_ * taps_.bytes}))
          f_.publish(std::move(*order));
    }
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      f_.loop("oy", 0, y().out, [&](Ex oy) {
        const Ex top = f_.let("top", oy * y().stride - y().pad_before), image = f_.let("image", n * y().in);
        if (padded()) copy_rows(image, top);
        const Ex from = padded() ? address(panel_, 0) : address(in_, (image + top) * image_row());
        const Ex row = n * y().out + oy;
        f_.run(kernel_, {address(stream_, 0), from, address(out_, row * (x().out * channels_)), address(shape_, 0)});
      });
    });
  }

  void fill_panel() {
    f_.run(mve_fill_kernel(taps_.bytes),
           {address(panel_, 0), Ex(op_.operand(0).zero_point()), Ex(panel_elements() * taps_.bytes)});
  }

  // The rows of a window from `top` that the image has; the others are zero points.
  void copy_rows(const Ex& image, const Ex& top) {
    const int64_t dilation = y().dilation;
    Ex begin = max(-top, 0), end = max(Ex(y().in) - top, 0);
    if (dilation > 1) begin = (begin + (dilation - 1)) / dilation, end = (end + (dilation - 1)) / dilation;
    begin = f_.let("begin", min(begin, y().kernel));
    end = f_.let("end", min(end, y().kernel));
    if (y().reaches_beyond()) f_.if_(end - begin < y().kernel, [&] { fill_panel(); });
    auto copy = [&] {
      const Ex from = (image + top + begin * dilation) * image_row();
      const Ex size = shl_wrapping(end - begin, 16) | Ex(columns() * channels_ * taps_.bytes);
      f_.run(mve_rows_kernel(taps_.bytes),
             {address(in_, from), address(panel_, begin * panel_row() + x().pad_before * channels_),
              address(rows_shape_, 0), size});
    };
    if (columns() <= 0) return;
    y().reaches_beyond() ? f_.if_(begin < end, copy) : copy();
  }

  const OpView& op_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  int64_t channels_;
  std::vector<int16_t> weights_;
  Window window_;
  MveTaps taps_;
  tir::KernelPtr kernel_;
  BufferPtr in_, out_, panel_, stream_, shape_, rows_shape_;
};

}  // namespace

std::optional<Lowered> lower_depthwise_conv_2d_taps(const OpView& op, const TargetInfo& target) {
  return MveTapsLowering(op, target).run();
}

}  // namespace aotc::cores::arm
