// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 depthwise_conv_2d onto the quad kernels (cores/arm/helium/depthwise_kernels.h). The input
// rows of a band of outputs are woven into scratch, between columns of zero points, then one kernel
// call makes all channels of the band. An image of one column is woven whole.
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/helium/depthwise_kernels.h"
#include "cores/arm/helium/lowerings.h"
#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostRows = 1 << 14;

int64_t in_every_byte(int32_t value) {
  return static_cast<int32_t>((static_cast<uint32_t>(value) & 0xFF) * 0x01010101u);
}

class MveDepthwiseLowering {
 public:
  MveDepthwiseLowering(const OpView& op, const TargetInfo& target)
      : op_(op), f_(op, "depthwise_conv_2d"), target_(target), smallest_(target.level == Level::kSize) {
    const graph::Shape& w = op.operand(1).shape;
    Window window = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2]);
    y_ = window.y;
    x_ = window.x;
    batch_ = window.batch;
    channels_ = w[3];
    // A row of pixels is a column to a kernel that has one row.
    if (y_.in == 1 && y_.kernel == 1 && y_.out == 1) std::swap(x_, y_);
  }

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    if (batch_ != 1 || op_.operand(0).shape[3] != channels_ || y_.in > kMostRows ||
        row_bytes() < MveDepthwise::kWeaveLeast || !choose_kind())
      return std::nullopt;
    const std::vector<int16_t> centred = centred_weights(op_);
    if (std::any_of(centred.begin(), centred.end(), [](int16_t v) { return v < -128 || v > 127; })) return std::nullopt;
    std::vector<int8_t> w = by_channel(centred);
    int64_t taps = y_.kernel * x_.kernel;
    FoldedBias folded = fold_bias(op_, channels_, [&](int64_t c) {
      return std::vector<int32_t>(w.begin() + c * taps, w.begin() + (c + 1) * taps);
    });
    Requantization what = depthwise_scaling(op_, folded.ranges);
    what.tame_constant_channels(folded.bias);
    auto scaling = fit_mve_scaling(what, folded.bias, target_);
    if (!scaling || !fits_mve_depthwise(*scaling)) return std::nullopt;
    choose_sizes();
    const bool pairs = makes_pairs(*scaling);
    in_ = f_.operand(0);
    stream_ =
        f_.constant("stream", DType::kI32, mve_depthwise_stream(kind_, w, channels_, y_.kernel, x_.kernel, *scaling));
    shape_ = f_.constant("shape", DType::kI32, shape(*scaling, pairs));
    woven_ = f_.scratch("woven", DType::kI32, words_ * channels_, 4);
    out_ = f_.result(0);
    const auto squares = whole_ == 2 ? MveDepthwise::kSquaresOnce : MveDepthwise::kSquares;
    quads_ = mve_quads_kernel(pairs ? squares : kind_, *scaling, tail_ > 0);
    emit();
    f_.algorithm("patches");
    return f_.finish(fmt::format("{}, {}", kind_name(), scaling->text()));
  }

 private:
  int64_t row_bytes() const { return x_.in * channels_; }

  bool choose_kind() {
    if (y_.dilation != 1 || x_.dilation != 1) return false;
    bool one_column = x_.in == 1 && x_.kernel == 1 && x_.out == 1;
    if (one_column && y_.stride == 1 && y_.kernel <= 17 - std::min<int64_t>(y_.out, 4)) {
      kind_ = MveDepthwise::kColumn;
      return true;
    }
    if (x_.kernel > 3 || y_.kernel > 4) return false;
    bool square = y_.stride == 1 && x_.stride == 1 && y_.kernel <= 3 && y_.out > 1 && x_.out > 1;
    kind_ = square ? MveDepthwise::kSquare : MveDepthwise::kRow;
    return true;
  }

  const char* kind_name() const {
    switch (kind_) {
      case MveDepthwise::kSquare: return "2x2 outputs";
      case MveDepthwise::kRow: return "4 outputs of a row";
      default: return "4 outputs of a column";
    }
  }

  void choose_sizes() {
    int64_t per_quad = kind_ == MveDepthwise::kSquare ? 2 : 4;
    int64_t along = kind_ == MveDepthwise::kColumn ? y_.out : x_.out;
    whole_ = along / per_quad;
    tail_ = along % per_quad * (4 / per_quad);
    int64_t quads = whole_ + (tail_ > 0);
    // Woven pixels that the last patch ends with.
    if (kind_ == MveDepthwise::kSquare) words_ = 2 * (quads - 1) + 4;
    if (kind_ == MveDepthwise::kRow) words_ = (4 * quads - 1) * x_.stride + 4;
    if (kind_ == MveDepthwise::kColumn) words_ = quads - 1 + 4;
    words_ = std::max(words_, woven_end());
    band_ = kind_ == MveDepthwise::kSquare ? 2 : 1;
  }

  // Where the pixels of the image end among the woven.
  int64_t woven_end() const {
    if (kind_ != MveDepthwise::kColumn) return x_.pad_before + x_.in;
    return (y_.pad_before + y_.in + 3) / 4;
  }

  // Whether the outputs of two quads are stored at once. Layers with an odd number have another kernel.
  bool makes_pairs(const MveScaling& scaling) const {
    const int64_t furthest = (x_.out + 3) * channels_;
    return kind_ == MveDepthwise::kSquare && !smallest_ && scaling.form == MveScaling::Form::kLine &&
           !scaling.clamps() && whole_ > 0 && whole_ % 2 == 0 && furthest <= UINT16_MAX;
  }

  std::vector<int32_t> shape(const MveScaling& scaling, bool pairs) const {
    std::vector<int32_t> out(pairs ? MveDepthwise::kPairShapeWords : MveDepthwise::kShapeWords);
    auto set = [&](int64_t at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
    bool square = kind_ == MveDepthwise::kSquare, row = kind_ == MveDepthwise::kRow;
    int64_t pixel = 4 * channels_, out_row = x_.out * channels_;
    int64_t step = square ? 2 * pixel : row ? x_.stride * pixel : pixel;
    int64_t out_step = square ? 2 * channels_ : 4 * channels_;
    for (int64_t i = 0; i < 4; ++i) {
      set(MveDepthwise::kGather + i, i * pixel);
      set(MveDepthwise::kScatter + i, square ? i % 2 * out_row + i / 2 * channels_ : i * channels_);
    }
    for (int64_t i = 0; pairs && i < 4; ++i) {
      const int64_t to = out[static_cast<size_t>(MveDepthwise::kScatter + i)];
      set(MveDepthwise::kScatterPairs + i, static_cast<int32_t>(static_cast<uint32_t>(to | (to + out_step) << 16)));
    }
    set(MveDepthwise::kQuads, whole_);
    set(MveDepthwise::kTail, tail_);
    set(MveDepthwise::kStep, step);
    set(MveDepthwise::kOutStep, out_step);
    set(MveDepthwise::kBack, 4 - whole_ * step * (row ? 4 : 1));
    set(MveDepthwise::kOutBack, 1 - whole_ * out_step);
    set(MveDepthwise::kStreamBytes, 4 * channels_ * mve_depthwise_record(kind_, scaling));
    set(MveDepthwise::kZero, scaling.zero_point);
    for (int64_t i = 0; i < 4; ++i) {
      set(MveDepthwise::kLeast + i, in_every_byte(scaling.clamp.min));
      set(MveDepthwise::kMost + i, in_every_byte(scaling.clamp.max));
    }
    return out;
  }

  // [tap][channel] as [channel][tap].
  std::vector<int8_t> by_channel(const std::vector<int16_t>& w) const {
    std::vector<int8_t> out;
    auto channels = static_cast<size_t>(channels_);
    for (size_t c = 0; c < channels; ++c)
      for (size_t at = c; at < w.size(); at += channels) out.push_back(static_cast<int8_t>(w[at]));
    return out;
  }

  void emit() {
    // Woven pixels beside the image.
    int64_t before = kind_ == MveDepthwise::kColumn ? 0 : x_.pad_before;
    int zero = op_.operand(0).zero_point() & 0xFF;
    f_.fill_bytes(woven_, 0, zero, before * channels_);
    f_.fill_bytes(woven_, woven_end() * channels_, zero, (words_ - woven_end()) * channels_);
    if (kind_ == MveDepthwise::kColumn) {
      emit_column();
    } else {
      emit_bands(before);
    }
  }

  // The rows of a band, first to end of four from `top`, that are read from the input.
  struct Rows {
    int64_t first, end;
  };
  Rows rows_at(int64_t top, int64_t keep) const {
    int64_t most = kind_ == MveDepthwise::kColumn ? 4 : window_rows();
    return {std::clamp<int64_t>(-top, keep, 4), std::clamp<int64_t>(y_.in - top, 0, most)};
  }

  // Four rows from `top`, of which only those inside of the image are read, to woven pixel `to`.
  void weave(const Ex& top, int64_t known_top, int64_t keep, const Ex& to) {
    Rows rows = rows_at(known_top, keep);
    int64_t count = std::max<int64_t>(rows.end - rows.first, 0);
    if (count == 0 && keep == 0) {
      f_.fill_bytes(woven_, to, op_.operand(0).zero_point() & 0xFF, row_bytes());
      return;
    }
    Ex from = count > 0 ? (top + rows.first) * row_bytes() : Ex(0);
    f_.run(mve_weave_kernel(rows.first, count, keep),
           {address(in_, from), address(woven_, to), row_bytes(), op_.operand(0).zero_point()});
  }

  // Input rows that a band looks at.
  int64_t window_rows() const { return (band_ - 1) * y_.stride + y_.kernel; }

  void make(const Ex& first_row) {
    f_.run(quads_, {address(woven_, 0), address(stream_, 0), address(out_, first_row * (x_.out * channels_)),
                    address(shape_, 0)});
  }

  void emit_column() {
    int64_t groups = woven_end();
    for_runs(
        groups, [&](int64_t g) { return 4 * g - y_.pad_before; }, [](int64_t) { return 0; },
        [&](const Ex& g, int64_t known) { weave(g * 4 - y_.pad_before, 4 * known - y_.pad_before, 0, g * channels_); });
    make(0);
    WriteOrder order;
    order.steps.push_back({0, y_.in * row_bytes(), 0, 0});
    order.steps.push_back({0, 0, 0, y_.out * channels_});
    f_.publish(std::move(order));
  }

  // Each input row is read once where a band keeps what it shares with the one before: then the
  // result may lie on the input.
  void emit_bands(int64_t before) {
    std::vector<int64_t> starts = tile_starts(y_.out, band_);
    auto top = [&](int64_t b) { return y_.start(starts[static_cast<size_t>(b)]); };
    auto keep = [&](int64_t b) {
      bool keeps = kind_ == MveDepthwise::kSquare && y_.kernel == 3 && row_bytes() % 16 == 0;
      return keeps && b > 0 ? 4 - (top(b) - top(b - 1)) : 0;
    };
    WriteOrder order;
    int64_t out_row = x_.out * channels_;
    for (int64_t b = 0; b < static_cast<int64_t>(starts.size()); ++b) {
      Rows rows = rows_at(top(b), keep(b));
      if (rows.first < rows.end)
        order.steps.push_back({(top(b) + rows.first) * row_bytes(), (top(b) + rows.end) * row_bytes(), 0, 0});
      int64_t start = starts[static_cast<size_t>(b)];
      order.steps.push_back({0, 0, start * out_row, (start + band_) * out_row});
    }
    f_.publish(std::move(order));
    auto band = [&](const Ex& b, int64_t known) {
      int64_t start = starts[static_cast<size_t>(known)];
      // Only the last band may begin elsewhere than at its multiple.
      Ex first = start == known * band_ ? f_.let("row", b * band_) : Ex(start);
      weave(f_.let("top", first * y_.stride - y_.pad_before), top(known), keep(known), before * channels_);
      make(first);
    };
    for_runs(static_cast<int64_t>(starts.size()), top, keep, band);
  }

  // body(i, known) for 0 to count: in a loop where all four rows from top(i) are in the image and i
  // is like its neighbours, by itself elsewhere. `known` is an index that is like i.
  template <typename Top, typename Keep, typename Body>
  void for_runs(int64_t count, Top top, Keep keep, Body body) {
    // The last band may overlap the one before: it is then nearer to it than others are.
    const int64_t step = kind_ == MveDepthwise::kColumn ? 4 : band_ * y_.stride;
    auto inner = [&](int64_t i) {
      return i < count && top(i) >= 0 && top(i) + 4 <= y_.in &&
             (i == 0 ? keep(0) == keep(std::min<int64_t>(1, count - 1)) : top(i) - top(i - 1) == step);
    };
    for (int64_t i = 0; i < count;) {
      int64_t end = i;
      while (inner(end)) ++end;
      if (end > i + 1) {
        f_.loop("b", i, end, [&](Ex b) { body(b, i); });
      } else {
        end = i + 1;
        body(Ex(i), i);
      }
      i = end;
    }
  }

  const OpView& op_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  WindowAxis y_, x_;
  bool smallest_;
  int64_t batch_ = 1, channels_ = 1;
  MveDepthwise::Kind kind_ = MveDepthwise::kSquare;
  int64_t whole_ = 0, tail_ = 0, words_ = 0, band_ = 1;
  tir::KernelPtr quads_;
  BufferPtr in_, out_, woven_, stream_, shape_;
};

}  // namespace

std::optional<Lowered> lower_depthwise_conv_2d_mve(const OpView& op, const TargetInfo& target) {
  return MveDepthwiseLowering(op, target).run();
}

}  // namespace aotc::cores::arm
