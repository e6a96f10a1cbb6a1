// Lowering of int8 conv_2d onto the pair kernels (ops/common/dsp_gemm.h). The windows of a tile of
// neighbouring outputs are spread into a panel of halfwords, then one kernel call makes all their
// channels. Elements of a window's row are taken four at a time; what remains of each row comes
// last, two to a step.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/conv_order.h"
#include "ops/common/dsp_gemm.h"
#include "ops/conv_2d/conv_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class DspConvLowering {
 public:
  DspConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op), f_(op, "conv_2d"), target_(target) {
    const graph::Shape& w = op.operand(1).shape;
    window_ = window_of(op, op.attrs<Conv2DAttrs>(), w[1], w[2]);
    in_channels_ = op.operand(0).shape[3];
    out_channels_ = w[0];
    k_ = w[1] * w[2] * w[3];
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    pointwise_ = k_ == in_channels_ && y.kernel == 1 && x.kernel == 1 && y.stride == 1 &&
                 x.stride == 1 && y.in == y.out && x.in == x.out;
    row_elements_ = x.kernel * in_channels_;
    row_words_ = row_elements_ / 4;
    row_rest_ = row_elements_ % 4;
    zero_ = op.operand(0).zero_point();
  }

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    bool grouped = op_.operand(1).shape[3] != in_channels_;
    bool one_image = pointwise_ || window_.batch == 1;
    if (grouped || !one_image || window_.x.dilation != 1 || row_words_ == 0) return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    if (!pairs_fit(w, out_channels_, k_)) return std::nullopt;
    FoldedBias folded = fold_bias(op_, out_channels_, [&](int64_t c) {
      return std::vector<int32_t>(w.begin() + c * k_, w.begin() + (c + 1) * k_);
    });
    Requantization scaling{conv_scales(op_.operand(0), op_.operand(1), op_.result(), out_channels_),
                           folded.ranges, Rounding::kDouble, op_.result().zero_point(),
                           quantized_clamp(op_.attrs<Conv2DAttrs>().activation, op_.result())};
    scaling.tame_constant_channels(folded.bias);
    auto lines = fit_pair_lines(scaling, folded.bias);
    if (!lines) return std::nullopt;
    make_order();
    choose_tile();
    in_ = f_.operand(0);
    make_tables(w, folded.bias, *lines);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    out_ = f_.result(0);
    emit();
    f_.algorithm("pairs");
    f_.choice("pixels", tile_);
    return f_.finish(fmt::format("{} steps, shift {}{}", steps(), lines->fit.shift,
                                 lines->sign() ? ", sign" : ""));
  }

 private:
  int64_t steps() const { return static_cast<int64_t>(order_.size()); }
  int64_t pixels() const { return window_.batch * window_.y.out * window_.x.out; }
  int64_t row_bytes() const { return window_.x.in * in_channels_; }

  void make_order() {
    for (int64_t ky = 0; ky < window_.y.kernel; ++ky)
      for (int64_t i = 0; i < row_words_; ++i) {
        int at = static_cast<int>(ky * row_elements_ + 4 * i);
        order_.push_back({at, at + 2});
        order_.push_back({at + 1, at + 3});
      }
    std::vector<int> rest;
    for (int64_t ky = 0; ky < window_.y.kernel; ++ky)
      for (int64_t j = 0; j < row_rest_; ++j)
        rest.push_back(static_cast<int>(ky * row_elements_ + row_words_ * 4 + j));
    if (rest.size() % 2 == 1) rest.push_back(-1);
    for (size_t i = 0; i < rest.size(); i += 2) order_.push_back({rest[i], rest[i + 1]});
  }

  // Pixels per tile: what overlapping tiles compute twice counts.
  void choose_tile() {
    double least = 0;
    int64_t most = std::min<int64_t>(4, pixels());
    for (int64_t p = most; p >= 1; --p) {
      auto n = static_cast<double>(p);
      Work step{.load = p == 4 ? 3.0 : 2.0, .alu = 1, .dual = 2 * n};
      Work finish = Work{.store = 2, .alu = 5, .high = 2} * n + Work{.load = 8, .store = 1, .alu = 1};
      Work loop = Work{.load = 1, .alu = 1, .branch = 1} *
                  std::ceil(static_cast<double>(steps()) / PairGemm::kUnroll);
      Work pair = step * static_cast<double>(steps()) + finish + loop;
      Work pack = (Work{.load = 1, .store = 0.75, .alu = 2} * n + Work{.alu = 1, .branch = 1}) *
                  (static_cast<double>(steps()) / 2);
      Work call{.load = 20, .store = 20, .alu = 50, .branch = 10};
      Work tile = pair * (static_cast<double>(out_channels_ + 1) / 2) + pack + call;
      double cost = target_.costs.of(tile) * static_cast<double>((pixels() + p - 1) / p);
      if (p < most && cost >= least) continue;
      least = cost;
      tile_ = p;
    }
    tile_ = target_.wish("pixels", tile_, 1, most);
  }

  void make_tables(const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                   const PairLines& lines) {
    pairs_ = out_channels_ / 2;
    std::vector<int64_t> first = tile_starts(out_channels_, 2);
    stream_ = f_.constant("stream", DType::kI32, gemm_stream(w, k_, order_, first, bias, lines));
    stream_words_ = static_cast<int64_t>(gemm_stream(w, k_, order_, {0}, bias, lines).size());
    gemm_ = gemm_pairs_kernel(tile_, lines.fit.shift, lines.sign());
    shape_ = f_.constant("shape", DType::kI32,
                         gemm_shape(steps(), pairs_, out_channels_, tile_, lines.sign()));
    // An odd last channel is made again with the one before it.
    if (out_channels_ % 2 == 1)
      last_shape_ = f_.constant("last_shape", DType::kI32,
                                gemm_shape(steps(), 1, out_channels_, tile_, lines.sign()));
    int64_t rows = pointwise_ ? 1 : window_.y.kernel;
    int64_t skip = window_.y.dilation * row_bytes() - row_words_ * 4;
    std::vector<int32_t> pack(4);
    pack[PairGemm::kPackPixelStride] = static_cast<int32_t>(window_.x.stride * in_channels_);
    pack[PairGemm::kPackWords] = static_cast<int32_t>(row_words_);
    pack[PairGemm::kPackRows] = static_cast<int32_t>(rows);
    pack[PairGemm::kPackRowSkip] = static_cast<int32_t>(pointwise_ ? 0 : skip);
    pack_shape_ = f_.constant("pack", DType::kI32, pack);
  }

  void emit() {
    // Where the result is larger than the input, from the last pixel to the first, so that it can
    // be written over the input from behind.
    bool backwards = pointwise_ && out_channels_ > in_channels_;
    PixelBytes bytes{in_channels_, out_channels_};
    auto order = pointwise_ ? pointwise_order(pixels(), tile_, bytes, backwards, false)
                            : window_order(window_, tile_, bytes);
    if (order) f_.publish(std::move(*order));
    f_.loop(
        "p", 0, pixels(),
        [&](Ex p) {
          Ex start = backwards ? Ex(pixels() - tile_) - p : p;
          if (pixels() % tile_ != 0)
            start = backwards ? max(start, 0) : min(start, Ex(pixels() - tile_));
          Ex first = f_.let("pixel", start);
          if (pointwise_) {
            pack_fast(f_.let("from", first * in_channels_));
          } else {
            pack_windows(first);
          }
          multiply(first);
        },
        tile_);
  }

  void multiply(const Ex& first) {
    Ex to = f_.let("to", first * out_channels_);
    f_.run(gemm_, {address(stream_, 0), address(panel_, 0), address(out_, to), address(shape_, 0)});
    if (out_channels_ % 2 == 1)
      f_.run(gemm_, {address(stream_, pairs_ * stream_words_), address(panel_, 0),
                     address(out_, to + (out_channels_ - 2)), address(last_shape_, 0)});
  }

  // All pixels of a tile that lie in one row with windows inside of the image; `from` is the first
  // element of the first window.
  void pack_fast(const Ex& from) {
    f_.run(pack_pixels_kernel(tile_),
           {address(in_, from), address(panel_, 0), address(pack_shape_, 0)});
    if (row_rest_ == 0) return;
    for (int64_t p = 0; p < tile_; ++p)
      store_rest(p, [&](int64_t ky, int64_t j) {
        int64_t at = ky * window_.y.dilation * row_bytes() + row_words_ * 4 + j;
        return load(in_, from + (p * window_.x.stride * in_channels_ + at));
      });
  }

  // The steps that follow the words of all rows; `element` gives one of row ky.
  template <typename Element>
  void store_rest(const Ex& p, Element element) {
    std::vector<Ex> rest;
    for (int64_t ky = 0; ky < window_.y.kernel; ++ky)
      for (int64_t j = 0; j < row_rest_; ++j) rest.push_back(element(ky, j));
    if (rest.size() % 2 == 1) rest.push_back(0);
    int64_t step = 2 * row_words_ * window_.y.kernel;
    for (size_t i = 0; i < rest.size(); i += 2, ++step)
      f_.store(panel_, p + step * tile_, pair_word(rest[i], rest[i + 1]));
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

  void pack_windows(const Ex& first) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex row = f_.let("row", first / x.out);
    Ex column = f_.let("column", first - row * x.out);
    Range rows = inside(y), columns = inside(x);
    columns.high -= tile_ - 1;
    auto fast = [&] {
      Ex top = row * y.stride - y.pad_before, left = column * x.stride - x.pad_before;
      pack_fast(f_.let("from", (top * x.in + left) * in_channels_));
    };
    auto slow = [&] {
      f_.loop("i", 0, tile_, [&](Ex i) { pack_one(first + i, i); });
    };
    if (columns.low > columns.high || rows.low > rows.high) return slow();
    f_.if_(row >= rows.low && row <= rows.high && column >= columns.low && column <= columns.high,
           fast, slow);
  }

  // One pixel's window wherever it lies, into column i of the panel.
  void pack_one(const Ex& pixel, const Ex& i) {
    const WindowAxis& y = window_.y;
    const WindowAxis& x = window_.x;
    Ex at = f_.let("at", pixel);
    Ex oy = f_.let("oy", at / x.out);
    Ex top = f_.let("top", oy * y.stride - y.pad_before);
    Ex left = f_.let("left", (at - oy * x.out) * x.stride - x.pad_before);
    f_.loop("ky", 0, y.kernel, [&](Ex ky) {
      Ex iy = f_.let("iy", top + ky * y.dilation);
      Ex to = f_.let("to", ky * (2 * row_words_ * tile_) + i);
      auto blank = [&] { fill(to, 2 * row_words_); };
      auto row = [&] {
        if (in_channels_ % 4 == 0) {
          pack_taps(iy, left, to);
        } else {
          pack_elements(iy, left, to);
        }
      };
      f_.if_(iy >= 0 && iy < y.in, row, blank);
    });
    if (row_rest_ == 0) return;
    store_rest(i, [&](int64_t ky, int64_t j) {
      // A kernel larger than the image has elements that no window brings into it.
      int64_t in_row = row_words_ * 4 + j;
      bool ever = x.start(x.out - 1) * in_channels_ + in_row >= 0 &&
                  x.start(0) * in_channels_ + in_row < row_bytes() &&
                  y.start(y.out - 1) + ky * y.dilation >= 0 && y.start(0) + ky * y.dilation < y.in;
      if (!ever) return Ex(zero_);
      Ex iy = f_.let("iy", top + ky * y.dilation);
      return f_.let("v", element(iy, f_.let("q", left * in_channels_ + (row_words_ * 4 + j)), true));
    });
  }

  void fill(const Ex& to, const Ex& steps) {
    auto half = static_cast<uint32_t>(zero_) & 0xFFFF;
    Ex word(static_cast<int64_t>(static_cast<int32_t>(half << 16 | half)));
    f_.loop("s", 0, steps, [&](Ex s) { f_.store(panel_, to + s * tile_, word); });
  }

  // A row of a window whose taps are whole words: blanks, the taps inside of the image, blanks.
  void pack_taps(const Ex& iy, const Ex& left, const Ex& to) {
    const WindowAxis& x = window_.x;
    Ex before = f_.let("before", min(max(-left, 0), x.kernel));
    Ex after = f_.let("after", min(max(left + x.kernel - x.in, 0), Ex(x.kernel) - before));
    Ex taps = f_.let("taps", Ex(x.kernel) - before - after);
    int64_t steps = in_channels_ / 2;
    fill(to, before * steps);
    f_.if_(taps > 0, [&] {
      f_.run(pack_run_kernel(tile_),
             {address(in_, (iy * x.in + left + before) * in_channels_),
              address(panel_, to + before * (steps * tile_)), taps * (in_channels_ / 4)});
    });
    fill(to + (before + taps) * (steps * tile_), after * steps);
  }

  void pack_elements(const Ex& iy, const Ex& left, const Ex& to) {
    Ex begin = f_.let("begin", left * in_channels_);
    f_.loop("word", 0, row_words_, [&](Ex word) {
      std::vector<Ex> v;
      for (int64_t j = 0; j < 4; ++j)
        v.push_back(f_.let("v", element(iy, f_.let("q", begin + word * 4 + j), false)));
      Ex at = f_.let("step", to + word * (2 * tile_));
      f_.store(panel_, at, pair_word(v[0], v[2]));
      f_.store(panel_, at + tile_, pair_word(v[1], v[3]));
    });
  }

  // Element q of an image row; the zero point outside of it.
  Ex element(const Ex& iy, const Ex& q, bool check_row) {
    Ex in_row = q >= 0 && q < row_bytes();
    Ex inside = check_row ? (iy >= 0 && iy < window_.y.in) && in_row : in_row;
    return select(inside, load(in_, iy * row_bytes() + q), zero_);
  }

  const OpView& op_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  Window window_;
  int64_t in_channels_, out_channels_, k_;
  int64_t row_elements_, row_words_, row_rest_;
  int64_t tile_ = 4, pairs_ = 1, stream_words_ = 0;
  int32_t zero_;
  bool pointwise_;
  PairOrder order_;
  tir::KernelPtr gemm_;
  BufferPtr in_, out_, panel_, stream_, shape_, last_shape_, pack_shape_;
};

}  // namespace

std::optional<Lowered> lower_conv_2d_dsp(const OpView& op, const TargetInfo& target) {
  return DspConvLowering(op, target).run();
}

}  // namespace aotc::ops
