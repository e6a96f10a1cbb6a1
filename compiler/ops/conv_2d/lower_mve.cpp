// Lowering of int8 conv_2d onto the vector kernels (ops/common/mve_gemm.h). A pointwise convolution
// is one call that reads its pixels where they are. Any other gathers the windows of two
// neighbouring outputs into a panel, where the rows of a window lie behind each other, and one call
// makes all their channels.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/conv_order.h"
#include "ops/common/mve_gemm.h"
#include "ops/conv_2d/conv_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

int64_t rounded_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

class MveConvLowering {
 public:
  explicit MveConvLowering(const OpView& op) : op_(op), f_(op, "conv_2d") {
    const graph::Shape& w = op.operand(1).shape;
    window_ = window_of(op, op.attrs<Conv2DAttrs>(), w[1], w[2]);
    in_channels_ = op.operand(0).shape[3];
    out_channels_ = w[0];
    k_ = w[1] * w[2] * w[3];
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    pointwise_ = k_ == in_channels_ && y.kernel == 1 && x.kernel == 1 && y.stride == 1 &&
                 x.stride == 1 && y.in == y.out && x.in == x.out && MveBlocks(k_).fit_gemm();
    row_elements_ = x.kernel * in_channels_;
  }

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    bool grouped = op_.operand(1).shape[3] != in_channels_;
    bool one_image = pointwise_ || window_.batch == 1;
    if (grouped || !one_image || window_.x.dilation != 1 || out_channels_ < MveGemm::kGroup ||
        pixels() < 2 || row_elements_ > kMostRow || window_.y.kernel > kMostRow)
      return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    FoldedBias folded = fold_bias(op_, out_channels_, [&](int64_t c) {
      return std::vector<int32_t>(w.begin() + c * k_, w.begin() + (c + 1) * k_);
    });
    Requantization scaling{conv_scales(op_.operand(0), op_.operand(1), op_.result(), out_channels_),
                           folded.ranges, Rounding::kDouble, op_.result().zero_point(),
                           quantized_clamp(op_.attrs<Conv2DAttrs>().activation, op_.result())};
    scaling.tame_constant_channels(folded.bias);
    auto fit = fit_mve_scaling(scaling, folded.bias);
    if (!fit) return std::nullopt;
    scaling_ = std::move(*fit);
    MveBlocks blocks(pointwise_ ? k_ : panel_bytes());
    in_ = f_.operand(0);
    stream_ =
        f_.constant("stream", DType::kI32, mve_gemm_stream(w, out_channels_, blocks, k_, scaling_));
    gemm_ = mve_gemm_kernel(blocks, out_channels_, scaling_);
    if (!pointwise_) panel_ = f_.scratch("panel", DType::kI8, 2 * panel_bytes(), 4);
    out_ = f_.result(0);
    if (pointwise_) {
      emit_pointwise();
    } else {
      emit_windows();
    }
    f_.algorithm("vectors");
    return f_.finish(fmt::format("2x4{}, {} blocks, {}",
                                 pointwise_ ? ", in place" : ", gathered panel", blocks.count,
                                 scaling_.form == MveScaling::Form::kLine
                                     ? fmt::format("shift {}", scaling_.shift)
                                     : "two roundings"));
  }

 private:
  static constexpr int64_t kMostRow = 1 << 15;  // what a size holds

  int64_t pixels() const { return window_.batch * window_.y.out * window_.x.out; }
  int64_t panel_bytes() const { return rounded_up(k_, MveGemm::kBlock); }
  int64_t row_bytes() const { return window_.x.in * in_channels_; }

  // Where the result is larger than the input, from the last pixel to the first, so that it can be
  // written over the input from behind.
  void emit_pointwise() {
    bool backwards = out_channels_ > in_channels_;
    auto order = pointwise_order(pixels(), 2, {in_channels_, out_channels_}, backwards, true);
    if (order) f_.publish(std::move(*order));
    int64_t sign = backwards ? -2 : 2;
    auto shape = [&](const char* name, int64_t pairs) {
      return f_.constant(name, DType::kI32,
                         mve_shape(pairs, out_channels_, in_channels_, out_channels_,
                                   sign * in_channels_, sign * out_channels_, scaling_));
    };
    auto multiply = [&](int64_t first, const BufferPtr& how) {
      f_.run(gemm_, {address(stream_, 0), address(in_, first * in_channels_),
                     address(out_, first * out_channels_), address(how, 0)});
    };
    int64_t last = pixels() - 2;
    multiply(backwards ? last : 0, shape("shape", pixels() / 2));
    // A last pixel that has no neighbour left is done again with the one before it.
    if (pixels() % 2 == 1) multiply(backwards ? 0 : last, shape("last_shape", 1));
  }

  struct Range {
    int64_t low, high;  // outputs whose windows lie inside the image, both inclusive
  };
  static Range inside(const WindowAxis& a) {
    int64_t low = 0, high = a.out - 1;
    while (low <= high && a.start(low) < 0) ++low;
    while (high >= low && a.start(high) + a.effective_kernel() > a.in) --high;
    return {low, high};
  }

  void emit_windows() {
    auto order = window_order(window_, 2, {in_channels_, out_channels_});
    if (order) f_.publish(std::move(*order));
    make_window_tables();
    // Bytes behind a window are multiplied by 0.
    if (panel_bytes() != k_) fill(0, 0, 2 * panel_bytes());
    f_.loop(
        "p", 0, pixels(),
        [&](Ex p) {
          Ex first = f_.let("pixel", pixels() % 2 == 0 ? p : min(p, Ex(pixels() - 2)));
          gather(first);
          f_.run(gemm_, {address(stream_, 0), address(panel_, 0),
                         address(out_, first * out_channels_), address(shape_, 0)});
        },
        2);
  }

  void make_window_tables() {
    shape_ = f_.constant("shape", DType::kI32,
                         mve_shape(1, out_channels_, panel_bytes(), out_channels_, 0, 0, scaling_));
    auto down = static_cast<int32_t>(window_.y.dilation * row_bytes());
    std::vector<int32_t> windows(3);
    windows[MveGemm::kRowStep] = down;
    windows[MveGemm::kPixelStep] = static_cast<int32_t>(window_.x.stride * in_channels_);
    windows[MveGemm::kPanelPixel] = static_cast<int32_t>(panel_bytes());
    windows_shape_ = f_.constant("windows", DType::kI32, windows);
    rows_shape_ =
        f_.constant<int32_t>("rows", DType::kI32, {down, static_cast<int32_t>(row_elements_)});
  }

  void fill(const Ex& at, int value, const Ex& bytes) {
    f_.run(mve_fill_kernel(), {address(panel_, at), Ex(value), bytes});
  }

  // The windows of a pair of pixels into the panel.
  void gather(const Ex& first) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex row = f_.let("row", first / x.out);
    Ex column = f_.let("column", first - row * x.out);
    Range rows = inside(y), columns = inside(x);
    columns.high -= 1;  // of the first pixel
    auto fast = [&] {
      Ex top = row * y.stride - y.pad_before, left = column * x.stride - x.pad_before;
      f_.run(mve_windows_kernel(y.kernel, row_elements_),
             {address(in_, (top * x.in + left) * in_channels_), address(panel_, 0),
              address(windows_shape_, 0)});
    };
    auto slow = [&] {
      f_.loop("i", 0, 2, [&](Ex i) { gather_clipped(first + i, i * panel_bytes()); });
    };
    if (columns.low > columns.high || rows.low > rows.high) return slow();
    f_.if_(row >= rows.low && row <= rows.high && column >= columns.low && column <= columns.high,
           fast, slow);
  }

  // The part of a window along one axis that lies inside of the image: taps begin .. end - 1.
  struct Clip {
    Ex begin, end;
  };
  Clip clip(const WindowAxis& a, const Ex& start) {
    int64_t d = a.dilation;
    Ex begin = max(-start, 0), end = max(Ex(a.in) - start, 0);
    if (d > 1) begin = (begin + (d - 1)) / d, end = (end + (d - 1)) / d;
    return {f_.let("begin", min(begin, a.kernel)), f_.let("end", min(end, a.kernel))};
  }

  // A pixel's window wherever it lies.
  void gather_clipped(const Ex& pixel, const Ex& to) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex at = f_.let("at", pixel);
    Ex oy = f_.let("oy", at / x.out);
    Ex top = f_.let("top", oy * y.stride - y.pad_before);
    Ex left = f_.let("left", (at - oy * x.out) * x.stride - x.pad_before);
    Clip down = clip(y, top), across = clip(x, left);
    fill(to, op_.operand(0).zero_point(), k_);
    f_.if_(down.begin < down.end && across.begin < across.end, [&] {
      Ex from = (top + down.begin * y.dilation) * x.in + left + across.begin;
      Ex size =
          shl_wrapping(down.end - down.begin, 16) | ((across.end - across.begin) * in_channels_);
      f_.run(mve_rows_kernel(),
             {address(in_, from * in_channels_),
              address(panel_, to + down.begin * row_elements_ + across.begin * in_channels_),
              address(rows_shape_, 0), size});
    });
  }

  const OpView& op_;
  LoweringBuilder f_;
  Window window_;
  int64_t in_channels_, out_channels_, k_, row_elements_;
  bool pointwise_;
  MveScaling scaling_;
  tir::KernelPtr gemm_;
  BufferPtr in_, out_, panel_, stream_, shape_, windows_shape_, rows_shape_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_mve(const OpView& op, const TargetInfo&) {
  return MveConvLowering(op).run();
}

}  // namespace aotc::ops
