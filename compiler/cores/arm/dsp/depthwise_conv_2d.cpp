// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 3 x 3 depthwise convolutions onto the kernels of depthwise_kernels.h: each channel of
// a band is copied into a plane of halfwords whose padding is the input's zero point, then its
// outputs are made column by column. With strides of 2 they are made row by row from the image itself
// (StridedRows), where instructions reach that far; a result of one row, from the image itself, too
// (DepthwiseRow). Windows over one axis have a kernel of their own (DepthwiseTaps).
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/depthwise_kernels.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "ops/common/conv.h"
#include "ops/common/nibbles.h"
#include "ops/depthwise_conv_2d/bands.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class DspDepthwiseLowering {
 public:
  DspDepthwiseLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        f_(op, "depthwise_conv_2d"),
        target_(target),
        nibbles_(packs_nibbles(op, target)),
        window_(window_of(op, op.attrs<DepthwiseConv2DAttrs>(), op.operand(1).shape[1], op.operand(1).shape[2])),
        channels_(op.operand(1).shape[3]),
        in_channels_(op.operand(0).shape[3]) {}

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    const bool row = fits_row(), strided = !row && fits_strided();
    if (!row && !strided && !fits()) return std::nullopt;
    const std::vector<int16_t> centred = ops::centred_weights(op_);
    if (std::any_of(centred.begin(), centred.end(), [](int16_t v) { return v < -128 || v > 127; })) return std::nullopt;
    std::vector<int8_t> w = weights(centred, row || strided);
    FoldedBias folded = fold_bias(op_, channels_, [&](int64_t c) {
      return std::vector<int32_t>(w.begin() + c * DepthwisePairs::kTaps, w.begin() + (c + 1) * DepthwisePairs::kTaps);
    });
    Requantization scaling = depthwise_scaling(op_, folded.ranges);
    scaling.tame_constant_channels(folded.bias);
    std::vector<int32_t> bias = folded.bias;
    auto lines = fit_pair_lines(scaling, bias, PairGemm::kLeft, target_.fpu);
    if (lines && !row && mixes(*lines, target_)) {
      auto mixed = fit_mixed_lines(scaling, folded.bias, false);
      if (mixed && mixing_pays(*lines, *mixed)) lines = std::move(mixed), bias = folded.bias;
    }
    auto stream = lines ? dw_stream(w, bias, *lines, nibbles_) : std::nullopt;
    if (!stream) return std::nullopt;
    if (lines->mixed())
      floats_ = f_.constant("floats", DType::kI8, std::vector<int8_t>(lines->floats.begin(), lines->floats.end()));
    in_ = f_.operand(0);
    stream_ = f_.constant("stream", DType::kI32, *stream);
    stream_words_ = dw_stream_words(lines->sign(), nibbles_);
    if (row) return run_row(*lines);
    if (strided) return run_strided(*lines);
    const DepthwiseColumn column =
        bands_->even() ? column_of(pitch_, window_.y.stride, shape_of(bands_->height()),
                                   window_.batch * channels_ * (window_.y.out / bands_->height()), target_)
                       : shared_column(pitch_, window_.y.stride, target_);
    make_tables(column);
    if (floats_) float_column_ = dw_column_kernel(column, 0, false, nibbles_);
    plane_ = f_.scratch("plane", DType::kI16, bands_->plane_elements(), 4);
    out_ = f_.result(0);
    copy_ = dw_plane_kernel(columns_, pitch_);
    column_ = dw_column_kernel(column, lines->fit.shift, lines->sign(), nibbles_);
    emit();
    emit_byte_clamp(f_, out_, lines->clamp, target_);
    f_.publish(bands_->write_order());
    f_.algorithm("pairs");
    f_.choice("rows", bands_->height());
    return f_.finish(fmt::format("plane of {}x{}, {}{}", bands_->plane_rows(), pitch_, form_text(*lines),
                                 nibbles_ ? ", weights of 4 bits" : ""));
  }

 private:
  // Sets the plane's layout.
  bool fits() {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    if (y.kernel != 3 || x.kernel != 3 || y.dilation != 1 || x.dilation != 1 || y.stride > 2) return false;
    int64_t width = (x.out - 1) * x.stride + x.kernel;
    // The first column that is copied begins at a word.
    left_ = x.pad_before + x.pad_before % 2;
    columns_ = std::min(x.in, width - x.pad_before);
    pitch_ = left_ - x.pad_before + width;
    pitch_ += pitch_ % 2;
    if (columns_ < 1 || pitch_ > DepthwisePairs::kMostPitch || pitch_ - columns_ > DepthwisePairs::kMostGap)
      return false;
    constexpr int64_t kPitchStep = 8, kShared = 32;
    // Small planes round their pitch up, so that more layers share their code.
    if (pitch_ <= kShared) pitch_ = (pitch_ + kPitchStep - 1) / kPitchStep * kPitchStep;
    bands_.emplace(op_, window_, PlaneLayout{pitch_, 2, 0}, target_);
    // Every band has rows to be copied.
    return y.pad_before < bands_->height() && y.pad_before < y.kernel && y.start(y.out - 1) < y.in &&
           (bands_->even() || y.pad_before < 2);
  }

  // [channel][row][column], or [channel][column][row].
  std::vector<int8_t> weights(const std::vector<int16_t>& centred, bool by_columns) const {
    std::vector<int8_t> out;
    for (int64_t c = 0; c < channels_; ++c)
      for (int64_t t = 0; t < DepthwisePairs::kTaps; ++t) {
        const int64_t tap = by_columns ? t % 3 * 3 + t / 3 : t;
        out.push_back(static_cast<int8_t>(centred[static_cast<size_t>(tap * channels_ + c)]));
      }
    return out;
  }

  // Sets the image's layout. The windows of the result's only row lie inside of the image above and below.
  bool fits_row() {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    const bool one = y.out == 1 && y.kernel == 3 && y.dilation == 1 && y.pad_before == 0 && y.in >= 3;
    const int64_t behind = x.start(x.out - 1) + x.kernel - x.in;  // columns outside
    const bool columns = x.kernel == 3 && x.dilation == 1 && x.stride <= 2 && x.pad_before <= 1 && behind <= 1;
    if (nibbles_ || !one || !columns || window_.batch != 1 || channels_ != in_channels_) return false;
    row_ = {x.in * channels_, channels_,        channels_,  x.out,
            x.stride,         x.pad_before > 0, behind > 0, op_.operand(0).zero_point()};
    return row_.fits() && target_.wish("plane", 0, 0, 1) == 0;
  }

  std::optional<Lowered> run_row(const PairLines& lines) {
    constexpr double kInstructions = 16;  // of an output
    const Turns turns = turns_of(channels_, kInstructions * static_cast<double>(window_.x.out), target_);
    out_ = f_.result(0);
    column_ = dw_row_kernel(row_, lines.fit.shift, lines.sign());
    f_.take_turns(turns, [&](const Ex& first, int64_t count) {
      f_.run(column_, {address(stream_, first * stream_words_), address(in_, first), address(out_, first), count});
    });
    emit_byte_clamp(f_, out_, lines.clamp, target_);
    f_.algorithm("pairs");
    f_.choice("plane", 0);
    return f_.finish(fmt::format("a row of {} from the image, {}", window_.x.out, form_text(lines)));
  }

  // Sets the image's layout.
  bool fits_strided() {
    auto one_outside = [](const WindowAxis& a) {
      return a.kernel == 3 && a.stride == 2 && a.dilation == 1 && a.pad_before <= 1 && a.in >= 3 &&
             a.start(a.out - 1) + a.kernel <= a.in + 1;
    };
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    if (nibbles_ || !one_outside(y) || !one_outside(x)) return false;
    strided_ = {x.in * in_channels_,
                in_channels_,
                channels_,
                x.out,
                x.pad_before > 0,
                x.start(x.out - 1) + x.kernel > x.in,
                op_.operand(0).zero_point()};
    const int64_t top = y.pad_before, bottom = y.start(y.out - 1) + y.kernel > y.in ? 1 : 0;
    inner_ = y.out - top - bottom;
    return strided_.fits() && inner_ >= 0 && target_.wish("plane", 0, 0, 1) == 0;
  }

  std::optional<Lowered> run_strided(const PairLines& lines) {
    constexpr double kInstructions = 20;
    const Turns turns = turns_of(inner_, kInstructions * static_cast<double>(window_.x.out), target_);
    auto rows = [](int64_t count) { return std::vector<int32_t>{static_cast<int32_t>(count), StridedShape::kNone}; };
    if (inner_ > 0) shapes_ = TurnTables(f_, turns, "shape", rows);
    if (window_.y.pad_before > 0)
      top_ = f_.constant("top_shape", DType::kI32, std::vector<int32_t>{1, StridedShape::kTop});
    if (window_.y.out - inner_ > window_.y.pad_before)
      bottom_ = f_.constant("bottom_shape", DType::kI32, std::vector<int32_t>{1, StridedShape::kBottom});
    out_ = f_.result(0);
    column_ = dw_strided_kernel(strided_, lines.fit.shift, lines.sign());
    if (floats_) float_column_ = dw_strided_kernel(strided_, 0, false);
    const int64_t multiplier = channels_ / in_channels_;
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      f_.loop("c", 0, in_channels_, [&](Ex c) {
        f_.loop("m", 0, multiplier, [&](Ex m) { emit_channel(n, c, f_.let("channel", c * multiplier + m), turns); });
      });
    });
    emit_byte_clamp(f_, out_, lines.clamp, target_);
    publish_strided();
    f_.algorithm("pairs");
    f_.choice("plane", 0);
    return f_.finish(fmt::format("rows of {} from the image, {}", window_.x.out, form_text(lines)));
  }

  void emit_channel(const Ex& n, const Ex& c, const Ex& channel, const Turns& turns) {
    const WindowAxis& y = window_.y;
    auto rows = [&](const Ex& first_in, const Ex& first_out, const BufferPtr& shape) {
      run_column(channel, address(in_, (n * y.in + first_in) * strided_.row + c),
                 address(out_, (n * y.out + first_out) * (window_.x.out * channels_) + channel), address(shape, 0));
    };
    // Where a row is outside, the three that are read are the image's first or last.
    if (top_) rows(0, 0, top_);
    const int64_t before = y.pad_before;
    if (inner_ > 0)
      f_.take_turns(turns, [&](const Ex& first, int64_t count) {
        rows((first + before) * 2 - before, first + before, shapes_.of(count));
      });
    if (bottom_) rows(y.in - 3, y.out - 1, bottom_);
  }

  // A pixel's result is written where nothing is read any more but what lies behind, of the same channel.
  void publish_strided() {
    const int64_t in = op_.operand(0).bytes() / window_.batch, out = op_.result().bytes() / window_.batch;
    WriteOrder order;
    order.in_place = channels_ == in_channels_;
    for (int64_t n = 0; n < window_.batch && window_.batch <= WriteOrder::kMostSteps; ++n)
      order.steps.push_back({n * in, (n + 1) * in, n * out, (n + 1) * out});
    f_.publish(std::move(order));
  }

  DepthwiseShape shape_of(int64_t rows) const {
    return {rows, window_.x.out, window_.x.out * channels_, channels_, 2 * pitch_, 2 * window_.x.stride};
  }

  void make_tables(const DepthwiseColumn& column) {
    std::vector<int32_t> plane(2);
    plane[DepthwisePairs::kPixel] = static_cast<int32_t>(in_channels_);
    plane[DepthwisePairs::kRow] = static_cast<int32_t>(window_.x.in * in_channels_);
    plane_shape_ = f_.constant("plane_shape", DType::kI32, plane);
    std::vector<int32_t> shapes;
    for (int64_t rows : heights()) {
      const std::vector<int32_t> one = dw_shape(window_.y.stride, column.turn, shape_of(rows));
      shapes.insert(shapes.end(), one.begin(), one.end());
    }
    shape_ = f_.constant("shape", DType::kI32, shapes);
  }

  // The kernel of the channel: of lines, or of floats.
  void run_column(const Ex& channel, const Ex& x, const Ex& to, const Ex& shape) {
    const Ex stream = address(stream_, channel * stream_words_);
    auto by_line = [&] { f_.run(column_, {stream, x, to, shape}); };
    if (!floats_) return by_line();
    f_.if_(load(floats_, channel) != 0, [&] { f_.run(float_column_, {stream, x, to, shape}); }, by_line);
  }

  // Of the bands: most of them, the first, the last.
  std::vector<int64_t> heights() const {
    if (bands_->even()) return {bands_->height()};
    int64_t height = bands_->height(), out = window_.y.out;
    int64_t first = bands_->begin() + height;
    int64_t last = (out - first) % height;
    return {height, first, last == 0 ? height : last};
  }

  void emit() {
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      if (bands_->even()) {
        f_.loop("b", 0, window_.y.out, [&](Ex b) { emit_band(n, b, bands_->height(), 0); }, bands_->height());
        return;
      }
      int64_t height = bands_->height(), out = window_.y.out;
      f_.loop(
          "b", bands_->begin(), out,
          [&](Ex b) {
            Ex first = f_.let("first", max(b, 0));
            Ex rows = f_.let("rows", min(b + height, out) - first);
            int64_t words = DepthwisePairs::kShapeWords;
            Ex shape = select(b < 0, words, select(b + height > out, 2 * words, 0));
            emit_band(n, first, rows, f_.let("shape_at", shape));
          },
          height);
    });
  }

  void emit_band(const Ex& n, const Ex& first, const Ex& rows, const Ex& shape) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex top = f_.let("top", first * y.stride - y.pad_before);
    Ex begin = f_.let("begin", max(-top, 0));
    Ex end = f_.let("end", min((rows - 1) * y.stride + y.kernel, Ex(y.in) - top));
    fill_padding(begin, end);
    Ex from = f_.let("from", (n * y.in + top + begin) * (x.in * in_channels_));
    Ex to = f_.let("to", (n * y.out + first) * (x.out * channels_));
    int64_t multiplier = channels_ / in_channels_;
    f_.loop("c", 0, in_channels_, [&](Ex c) {
      f_.run(copy_,
             {address(in_, from + c), address(plane_, begin * pitch_ + left_), address(plane_shape_, 0), end - begin});
      f_.loop("m", 0, multiplier, [&](Ex m) {
        Ex channel = f_.let("channel", c * multiplier + m);
        run_column(channel, address(plane_, left_ - x.pad_before), address(out_, to + channel), address(shape_, shape));
      });
    });
  }

  // What copies leave alone.
  void fill_padding(const Ex& begin, const Ex& end) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    int32_t zero = op_.operand(0).zero_point();
    int64_t elements = bands_->plane_elements();
    auto fill = [&](const Ex& from, const Ex& to) { f_.loop("i", from, to, [&](Ex i) { f_.store(plane_, i, zero); }); };
    if (y.pad_before > 0) fill(0, begin * pitch_);
    int64_t last = y.start(y.out - 1) + y.kernel;
    if (last > y.in) fill(end * pitch_, elements);
    int64_t before = left_, after = left_ + columns_;
    int64_t width = left_ - x.pad_before + (x.out - 1) * x.stride + x.kernel;
    if (before == 0 && after >= width) return;
    f_.loop("r", begin, end, [&](Ex r) {
      for (int64_t i = 0; i < width; ++i)
        if (i < before || i >= after) f_.store(plane_, r * pitch_ + i, zero);
    });
  }

  const OpView& op_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  bool nibbles_;
  Window window_;
  int64_t channels_, in_channels_;
  int64_t left_ = 0, columns_ = 0, pitch_ = 0, stream_words_ = 5;
  std::optional<Bands> bands_;
  tir::KernelPtr copy_, column_;
  BufferPtr in_, out_, plane_, stream_, plane_shape_, shape_;
  BufferPtr floats_;  // by channel: whether the FPU rounds it; nothing where all are alike
  tir::KernelPtr float_column_;
  StridedRows strided_;
  DepthwiseRow row_;
  int64_t inner_ = 0;  // rows of the result whose windows lie inside of the image above and below
  TurnTables shapes_;
  BufferPtr top_, bottom_;
};

}  // namespace

std::optional<Lowered> lower_depthwise_conv_2d_dsp(const OpView& op, const TargetInfo& target) {
  if (auto taps = lower_depthwise_taps(op, target)) return taps;
  return DspDepthwiseLowering(op, target).run();
}

}  // namespace aotc::cores::arm
