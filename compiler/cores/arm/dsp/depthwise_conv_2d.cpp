// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 3 x 3 depthwise convolutions onto the kernels of depthwise_kernels.h: each channel of
// a band is copied into a plane of halfwords whose padding is the input's zero point, then its
// outputs are made column by column. A dilated window is an ordinary one over every few rows and columns, so there is a
// plane for each such part of a channel. With strides of 2 they are made row by row from the image itself
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
    const Plane& first = planes_.front();
    const bool own = planes_.size() == 1 && first.bands.even();
    const DepthwiseColumn column = own ? column_of(pitch_, window_.y.stride, shape_of(first, first.bands.height()),
                                                   window_.batch * channels_ * first.y.count * first.x.count *
                                                       (first.y.axis.out / first.bands.height()),
                                                   target_)
                                       : shared_column(pitch_, window_.y.stride, target_);
    make_tables(column);
    if (floats_) float_column_ = dw_column_kernel(column, 0, false, nibbles_);
    int64_t elements = 0;
    for (const Plane& plane : planes_) elements = std::max(elements, plane.bands.plane_elements());
    plane_ = f_.scratch("plane", DType::kI16, elements, 4);
    out_ = f_.result(0);
    column_ = dw_column_kernel(column, lines->fit.shift, lines->sign(), nibbles_);
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      for (const Plane& plane : planes_) emit(plane, n);
    });
    emit_byte_clamp(f_, out_, lines->clamp, target_);
    publish_planes();
    f_.algorithm("pairs");
    f_.choice("rows", first.bands.height());
    return f_.finish(fmt::format("plane of {}x{}{}, {}{}", first.bands.plane_rows(), pitch_,
                                 dilated() ? ", dilated" : "", form_text(*lines),
                                 nibbles_ ? ", weights of 4 bits" : ""));
  }

 private:
  // Outputs first, first + 1 .. of an axis, each with every step-th one behind it, where `step` is the dilation. Each
  // of these sequences reads every step-th element, `shift` elements behind its first output: an ordinary `axis`.
  struct Phases {
    int64_t first, count, shift;
    WindowAxis axis;
  };
  // A plane for each of some phases.
  struct Plane {
    Phases y, x;
    int64_t left, columns;  // the plane's first column that is copied, and how many are
    Bands bands;
  };

  bool dilated() const { return window_.y.dilation * window_.x.dilation != 1; }

  // Neighbours of equal axes are one entry.
  static std::vector<Phases> phases_of(const WindowAxis& a) {
    const int64_t step = a.dilation;
    std::vector<Phases> all;
    for (int64_t phase = 0; phase < std::min(step, a.out); ++phase) {
      WindowAxis axis = a;
      axis.dilation = 1;
      axis.pad_before = (std::max<int64_t>(a.pad_before - phase, 0) + step - 1) / step;
      axis.out = (a.out - phase + step - 1) / step;
      const int64_t shift = axis.pad_before * step - a.pad_before;
      axis.in = (std::max<int64_t>(a.in - phase - shift, 0) + step - 1) / step;
      if (step == 1) return {{0, 1, 0, a}};
      const bool same =
          !all.empty() && all.back().shift == shift && all.back().axis.in == axis.in && all.back().axis.out == axis.out;
      same ? void(++all.back().count) : all.push_back({phase, 1, shift, axis});
    }
    return all;
  }

  // Sets the planes.
  bool fits() {
    auto possible = [](const WindowAxis& a) { return a.kernel == 3 && (a.dilation == 1 || a.stride == 1); };
    if (!possible(window_.y) || !possible(window_.x) || window_.y.stride > 2) return false;
    const std::vector<Phases> columns = phases_of(window_.x);
    pitch_ = 0;
    for (const Phases& x : columns)
      if (!fits_pitch(x)) return false;
    constexpr int64_t kPitchStep = 8, kShared = 32;
    // Small planes round their pitch up, so that more layers share their code.
    if (pitch_ <= kShared) pitch_ = (pitch_ + kPitchStep - 1) / kPitchStep * kPitchStep;
    for (const Phases& y : phases_of(window_.y))
      for (const Phases& x : columns) {
        const Window part{y.axis, x.axis, window_.batch};
        planes_.push_back({y, x, left_of(x), columns_of(x), Bands(op_, part, PlaneLayout{pitch_, 2, 0}, target_)});
        if (!fits_bands(planes_.back())) return false;
      }
    return !dilated() || in_place() || target_.spends_ram();
  }

  // The first column that is copied begins at a word.
  static int64_t left_of(const Phases& x) { return x.axis.pad_before + x.axis.pad_before % 2; }
  static int64_t width_of(const Phases& x) { return (x.axis.out - 1) * x.axis.stride + x.axis.kernel; }
  static int64_t columns_of(const Phases& x) { return std::min(x.axis.in, width_of(x) - x.axis.pad_before); }

  // Widens the pitch for the phases.
  bool fits_pitch(const Phases& x) {
    int64_t pitch = left_of(x) - x.axis.pad_before + width_of(x);
    pitch += pitch % 2;
    pitch_ = std::max(pitch_, pitch);
    return columns_of(x) >= 1 && pitch <= DepthwisePairs::kMostPitch &&
           pitch - columns_of(x) <= DepthwisePairs::kMostGap;
  }

  // Every band has rows to be copied. Parts of a dilated window are made whole: they are smaller than a plane of all.
  bool fits_bands(const Plane& plane) const {
    const WindowAxis& y = plane.y.axis;
    return y.pad_before < plane.bands.height() && y.pad_before < y.kernel && y.start(y.out - 1) < y.in &&
           (plane.bands.even() || y.pad_before < 2) && (!dilated() || plane.bands.one());
  }

  // Whether the results of a dilated window are written where their plane was copied from.
  bool in_place() const {
    auto same = [](const WindowAxis& a) { return a.in == a.out; };
    return channels_ == in_channels_ && same(window_.y) && same(window_.x) &&
           std::all_of(planes_.begin(), planes_.end(), [](const Plane& p) { return p.y.shift == 0 && p.x.shift == 0; });
  }

  void publish_planes() {
    if (!dilated()) return f_.publish(planes_.front().bands.write_order());
    if (in_place()) f_.publish_in_place(0);
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

  // Bytes of an output row, and of an input row, of the whole image.
  int64_t out_row() const { return window_.x.out * channels_; }
  int64_t in_row() const { return window_.x.in * in_channels_; }

  DepthwiseShape shape_of(const Plane& plane, int64_t rows) const {
    return {rows,       plane.x.axis.out,    window_.y.dilation * out_row(), window_.x.dilation * channels_,
            2 * pitch_, 2 * window_.x.stride};
  }

  void make_tables(const DepthwiseColumn& column) {
    std::vector<int32_t> plane(2);
    plane[DepthwisePairs::kPixel] = static_cast<int32_t>(window_.x.dilation * in_channels_);
    plane[DepthwisePairs::kRow] = static_cast<int32_t>(window_.y.dilation * in_row());
    plane_shape_ = f_.constant("plane_shape", DType::kI32, plane);
    std::vector<int32_t> shapes;
    for (const Plane& p : planes_)
      for (int64_t rows : heights(p.bands, p.y.axis.out)) {
        const std::vector<int32_t> one = dw_shape(window_.y.stride, column.turn, shape_of(p, rows));
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
  static std::vector<int64_t> heights(const Bands& bands, int64_t out) {
    if (bands.even()) return {bands.height()};
    int64_t height = bands.height();
    int64_t first = bands.begin() + height;
    int64_t last = (out - first) % height;
    return {height, first, last == 0 ? height : last};
  }

  void emit(const Plane& plane, const Ex& n) {
    const Bands& bands = plane.bands;
    int64_t height = bands.height(), out = plane.y.axis.out, words = DepthwisePairs::kShapeWords;
    if (bands.even()) {
      // Of several planes each has one band.
      const int64_t shape = words * (&plane - planes_.data());
      f_.loop("b", 0, out, [&](Ex b) { emit_band(plane, n, b, height, shape); }, height);
      return;
    }
    f_.loop(
        "b", bands.begin(), out,
        [&](Ex b) {
          Ex first = f_.let("first", max(b, 0));
          Ex rows = f_.let("rows", min(b + height, out) - first);
          Ex shape = select(b < 0, words, select(b + height > out, 2 * words, 0));
          emit_band(plane, n, first, rows, f_.let("shape_at", shape));
        },
        height);
  }

  void emit_band(const Plane& plane, const Ex& n, const Ex& first, const Ex& rows, const Ex& shape) {
    const WindowAxis& y = plane.y.axis;
    Ex top = f_.let("top", first * y.stride - y.pad_before);
    Ex begin = f_.let("begin", max(-top, 0));
    Ex end = f_.let("end", min((rows - 1) * y.stride + y.kernel, Ex(y.in) - top));
    fill_padding(plane, begin, end);
    const int64_t step = window_.y.dilation;
    Ex from = f_.let("from", (n * window_.y.in + top * step + begin * step) * in_row());
    Ex to = f_.let("to", (n * window_.y.out + first * step) * out_row());
    if (!dilated()) return emit_plane(plane, {from, to, begin, end, shape});
    f_.loop("py", plane.y.first, plane.y.first + plane.y.count, [&](Ex py) {
      f_.loop("px", plane.x.first, plane.x.first + plane.x.count, [&](Ex px) {
        Ex pixel = (py + plane.y.shift) * in_row() + (px + plane.x.shift) * in_channels_;
        emit_plane(plane, {f_.let("phase_from", from + pixel), f_.let("phase_to", to + py * out_row() + px * channels_),
                           begin, end, shape});
      });
    });
  }

  // Where a plane's first element and first output are, the plane's rows that are copied, and the table of its shape.
  struct PlanePlace {
    Ex from, to, begin, end, shape;
  };

  void emit_plane(const Plane& plane, const PlanePlace& at) {
    const tir::KernelPtr copy = dw_plane_kernel(plane.columns, pitch_);
    int64_t multiplier = channels_ / in_channels_;
    f_.loop("c", 0, in_channels_, [&](Ex c) {
      f_.run(copy, {address(in_, at.from + c), address(plane_, at.begin * pitch_ + plane.left),
                    address(plane_shape_, 0), at.end - at.begin});
      f_.loop("m", 0, multiplier, [&](Ex m) {
        Ex channel = f_.let("channel", c * multiplier + m);
        run_column(channel, address(plane_, plane.left - plane.x.axis.pad_before), address(out_, at.to + channel),
                   address(shape_, at.shape));
      });
    });
  }

  // What copies leave alone.
  void fill_padding(const Plane& plane, const Ex& begin, const Ex& end) {
    const WindowAxis& y = plane.y.axis;
    const WindowAxis& x = plane.x.axis;
    int32_t zero = op_.operand(0).zero_point();
    int64_t elements = plane.bands.plane_elements();
    auto fill = [&](const Ex& from, const Ex& to) { f_.loop("i", from, to, [&](Ex i) { f_.store(plane_, i, zero); }); };
    if (y.pad_before > 0) fill(0, begin * pitch_);
    int64_t last = y.start(y.out - 1) + y.kernel;
    if (last > y.in) fill(end * pitch_, elements);
    int64_t before = plane.left, after = plane.left + plane.columns;
    int64_t width = plane.left - x.pad_before + (x.out - 1) * x.stride + x.kernel;
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
  int64_t pitch_ = 0, stream_words_ = 5;
  std::vector<Plane> planes_;
  tir::KernelPtr column_;
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
