// SPDX-License-Identifier: Apache-2.0
// Lowering of depthwise_conv_2d to plain C, one channel at a time: pixels of a few channels are
// copied from NHWC into compact planes whose padding is the input's zero point, so every output is
// an interior one at small fixed offsets and needs no test. Weights and scaling of a channel are
// loaded once per band. Outputs are made in one of two ways: neighbours of a row together, which
// share weights and elements; or down a column with all weights in registers, each element added to
// every output that looks at it.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/conv_taps.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/common/nibbles.h"
#include "ops/depthwise_conv_2d/bands.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Windows up to this many taps are unrolled whole, their weights in variables.
constexpr int64_t kUnrolledTaps = 25;
// Shorter columns are not worth what starting one costs.
constexpr int64_t kLeastRows = 4;
constexpr int64_t kUnrolledColumns = 16;

class DepthwiseLowering {
 public:
  DepthwiseLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        f_(op, "depthwise_conv_2d"),
        target_(target),
        channels_(op.operand(1).shape[3]),
        in_channels_(op.operand(0).shape[3]),
        is_float_(op.operand(0).dtype == DType::kF32),
        nibbles_(packs_nibbles(op, target)),
        window_(window_of(op, op.attrs<DepthwiseConv2DAttrs>(), op.operand(1).shape[1], op.operand(1).shape[2])),
        tall_(window_.x.in == 1 && window_.x.out == 1 && window_.x.kernel == 1),
        taps_(window_.y.kernel * window_.x.kernel) {
    const WindowAxis& x = window_.x;
    plane_width_ = (x.out - 1) * x.stride + x.effective_kernel();
    // Input columns that outputs look at; those beyond exist with strides only.
    first_column_ = x.pad_before;
    columns_ = std::min(x.in, plane_width_ - first_column_);
    choose_shape();
    choose_group();
  }

  Lowered run() {
    const WindowAxis& y = window_.y;
    in_ = f_.operand(0);
    make_constants();
    plane_ = f_.scratch("plane", in_->dtype, bands_->plane_elements(), 4);
    out_ = f_.result(0);
    if (requantizer_) requantizer_->begin(f_);
    if (wide_) wide_->begin(f_);
    f_.loop("n", 0, window_.batch, [&](Ex n) {
      if (bands_->one()) return emit_band(n, 0, y.out);
      f_.loop(
          "b", bands_->begin(), y.out,
          [&](Ex b) {
            if (bands_->even()) return emit_band(n, b, bands_->height());
            Ex first = f_.let("first", max(b, 0));
            emit_band(n, first, f_.let("rows", min(b + bands_->height(), y.out) - first));
          },
          bands_->height());
    });
    f_.publish(bands_->write_order());
    return finish();
  }

 private:
  Lowered finish() {
    f_.algorithm(columns_down_ ? "columns" : "neighbours");
    f_.choice("rows", bands_->height());
    f_.choice("channels", group_);
    if (!columns_down_) f_.choice("pixels", block_);
    std::string plane = fmt::format("plane of {}x{}", bands_->plane_rows(), plane_width_);
    if (is_float_) return f_.finish(plane);
    return f_.finish(fmt::format("{}, {}", plane, wide_ ? wide_->form() : requantizer_->form()));
  }

  // An image of one column lies in memory like one of one row: neighbours are those along y then.
  const WindowAxis& along() const { return tall_ ? window_.y : window_.x; }
  const WindowAxis& across() const { return tall_ ? window_.x : window_.y; }

  // How many outputs of a column look at an element.
  int64_t in_flight() const { return (window_.y.kernel + window_.y.stride - 1) / window_.y.stride; }

  // Rows that are read for outputs below the last.
  int64_t extra_rows() const { return columns_down_ ? in_flight() * window_.y.stride - window_.y.kernel : 0; }

  void choose_shape() {
    constexpr int64_t kMostInFlight = 3, kBeside = 6;
    choose_block();
    const WindowAxis& y = window_.y;
    int64_t registers = taps_ + in_flight() + window_.x.kernel + kBeside;
    bool possible = !tall_ && unrolled() && y.dilation == 1 && y.kernel > 1;
    bool pays = y.out >= kLeastRows && in_flight() <= kMostInFlight && registers <= target_.registers;
    columns_asked_ = target_.asked && target_.asked->algorithm == "columns";
    columns_down_ = possible && (columns_asked_ || (pays && target_.allows("columns")));
  }

  // Neighbouring outputs computed together: they share weights and most input elements, but each
  // needs an accumulator beside a row of weights. Blocks at a row's end overlap, which is paid too.
  void choose_block() {
    constexpr int64_t kFinish = 9, kLoop = 6;  // instructions per output and per block
    const WindowAxis& x = along();
    // A row of weights stays in registers, or as many of it as there are accumulators.
    int64_t most = std::max<int64_t>(target_.registers - 3 - x.kernel, (target_.registers - 4) / 2);
    most = unrolled() || across().kernel == 1 ? std::clamp<int64_t>(most, 2, 5) : 2;
    double least = 0;
    for (int64_t b = 1; b <= std::min(most, x.out); ++b) {
      int64_t columns = std::min((b - 1) * x.stride + x.effective_kernel(), b * x.kernel);
      int64_t block = across().kernel * columns + taps_ * (b + 1) + kFinish * b + kLoop;
      double cost = static_cast<double>(block * ((x.out + b - 1) / b));
      if (b > 1 && cost >= least) continue;
      least = cost;
      block_ = b;
    }
    block_ = target_.wish("pixels", block_, 1, x.out);
  }

  // Channels copied together: as many as make a word, unless planes for them cost more bands.
  void choose_group() {
    auto bands_for = [&](int64_t group) {
      return Bands(op_, window_, {plane_width_ * group, size_of(op_.operand(0).dtype), extra_rows()}, target_);
    };
    bands_.emplace(bands_for(1));
    if (columns_down_ && !columns_asked_ && bands_->height() < kLeastRows) {
      columns_down_ = false;
      bands_.emplace(bands_for(1));
    }
    for (int64_t group : {4, 2}) {
      if (group_ > 1 || in_channels_ % group != 0) continue;
      Bands wide = bands_for(group);
      bool pays = !is_float_ && target_.unaligned_words && target_.spends_ram() &&
                  wide.height() * (columns_down_ ? 1 : 2) >= bands_->height();
      if (target_.wish("channels", pays ? group : 1, 1, 4) != group) continue;
      bands_.emplace(wide);
      group_ = group;
    }
    if (tall_) block_ = std::min(block_, bands_->least_height());
  }

  void make_constants() {
    if (is_float_) {
      weights_ = f_.constant("weights", DType::kF32, by_channel(op_.constant(1)->to_vector<float>()));
      std::vector<float> bias;
      for (int64_t c = 0; c < channels_; ++c) bias.push_back(float_bias_at(op_, c));
      bias_ = f_.constant("bias", DType::kF32, bias);
      return;
    }
    std::vector<int16_t> w = by_channel(centred_weights(op_));
    // A channel's taps are the k of one.
    if (nibbles_)
      weights_ = f_.constant("weights", DType::kI8,
                             pack_nibbles(std::vector<int8_t>(w.begin(), w.end()), channels_, taps_, 1));
    else weights_ = weights_constant(f_, "weights", w);
    if (in_->dtype == DType::kI16) {
      WideScaling scaling = depthwise_wide_scaling(op_);
      bias_ = wide_bias(f_, scaling);
      wide_.emplace(f_, scaling);
      return;
    }
    FoldedBias folded = fold_bias(op_, channels_, [&](int64_t c) {
      return std::vector<int32_t>(w.begin() + c * taps_, w.begin() + (c + 1) * taps_);
    });
    Requantization scaling = depthwise_scaling(op_, folded.ranges);
    scaling.tame_constant_channels(folded.bias);
    requantizer_.emplace(f_, scaling);
    choose_scaling(scaling, folded.bias);
    bias_ = f_.constant("bias", DType::kI32, folded.bias);
  }

  // Where a channel has more outputs than taps, its weights are shifted left instead of its sums.
  void choose_scaling(const Requantization& scaling, std::vector<int32_t>& bias) {
    int left = requantizer_->common_left();
    bool pays = bands_->height() * window_.x.out > taps_ + 1;
    for (const AccRange& range : scaling.ranges) pays = pays && range.magnitude() << left < int64_t{1} << 31;
    for (int32_t b : bias) pays = pays && std::abs(int64_t{b}) << left < int64_t{1} << 31;
    if (left == 0 || !pays || !unrolled()) return;
    left_ = left;
    for (int32_t& b : bias) b = static_cast<int32_t>(static_cast<uint32_t>(b) << left);
  }

  // [tap][channel] as [channel][tap].
  template <typename T>
  std::vector<T> by_channel(const std::vector<T>& w) const {
    std::vector<T> out;
    out.reserve(w.size());
    for (int64_t c = 0; c < channels_; ++c)
      for (int64_t t = 0; t < taps_; ++t) out.push_back(w[static_cast<size_t>(t * channels_ + c)]);
    return out;
  }

  bool padded() const { return extra_rows() > 0 || columns_ < plane_width_ || window_.y.reaches_beyond(); }

  void emit_band(const Ex& n, const Ex& first, const Ex& rows) {
    if (padded()) {
      const int32_t zero = is_float_ ? 0 : op_.operand(0).zero_point();
      fill_elements(f_, plane_, 0, zero, bands_->plane_elements());
    }
    Ex top = f_.let("top", first * window_.y.stride - window_.y.pad_before);
    Ex out = f_.let("out_at", (n * window_.y.out + first) * window_.x.out * channels_);
    int64_t multiplier = channels_ / in_channels_;
    f_.loop(
        "c", 0, in_channels_,
        [&](Ex c) {
          copy_planes(n, top, c, rows);
          f_.loop("lane", 0, group_, [&](Ex lane) {
            f_.loop("m", 0, multiplier,
                    [&](Ex m) { emit_channel(f_.let("channel", (c + lane) * multiplier + m), lane, out, rows); });
          });
        },
        group_);
  }

  // The input rows of the band that exist, channels c.. of them, into the planes.
  void copy_planes(const Ex& n, const Ex& top, const Ex& c, const Ex& rows) {
    const WindowAxis& y = window_.y;
    if (columns_ <= 0) return;
    Ex begin = y.pad_before > 0 ? f_.let("begin", max(-top, 0)) : Ex(0);
    Ex end = (rows - 1) * y.stride + y.effective_kernel();
    bool inside = y.start(y.out - 1) + y.effective_kernel() <= y.in;
    end = f_.let("end", inside ? end : min(end, Ex(y.in) - top));
    if (tall_) {
      Ex from = ((n * y.in + top + begin)) * in_channels_ + c;
      return copy_row(from, begin * group_, end - begin);
    }
    f_.loop("r", begin, end, [&](Ex r) {
      Ex from = ((n * y.in + top + r) * window_.x.in) * in_channels_ + c;
      Ex to = f_.let("to", (r * plane_width_ + first_column_) * group_);
      if (in_channels_ == 1) {
        f_.copy(plane_, to, in_, from, columns_);
      } else {
        copy_row(from, to, columns_);
      }
    });
  }

  // `count` pixels that are in_channels_ apart, the first at `first`.
  void copy_row(const Ex& first, const Ex& to, const Ex& count) {
    constexpr int64_t kWhole = 8;
    int64_t none = 1;
    if (count.is_imm(&none) && none <= 0) return;
    Ex from = f_.var("from", first);
    auto element = [&](const Ex& at) {
      if (group_ > 1) {
        f_.copy(plane_, at, in_, from, group_);
      } else {
        f_.store(plane_, at, load(in_, from));
      }
      f_.assign(from, from + in_channels_);
    };
    int64_t columns = 0;
    if (!count.is_imm(&columns)) return f_.loop("i", 0, count, [&](Ex i) { element(to + i * group_); });
    int64_t unroll = columns;
    if (columns > kWhole) {
      unroll = 4;
      for (int64_t u : {5, 6, 7, 8})
        if (columns % u == 0 || (columns % unroll != 0 && columns % u < columns % unroll)) unroll = u;
    }
    int64_t whole = columns / unroll * unroll;
    f_.loop(
        "i", 0, whole,
        [&](Ex i) {
          Ex at = f_.let("at", to + i * group_);
          for (int64_t u = 0; u < unroll; ++u) element(at + u * group_);
        },
        unroll);
    for (int64_t u = whole; u < columns; ++u) element(to + u * group_);
  }

  Ex weight_at(const Ex& channel, const Ex& tap) const {
    if (nibbles_) return load_nibble(weights_, channel * nibble_bytes(taps_), tap);
    return load(weights_, channel * taps_ + tap);
  }

  void emit_channel(const Ex& channel, const Ex& lane, const Ex& out, const Ex& rows) {
    weight_values_.clear();
    if (unrolled())
      for (int64_t t = 0; t < taps_; ++t) {
        Ex w = weight_at(channel, t);
        weight_values_.push_back(f_.let(fmt::format("w{}", t), left_ > 0 ? shl_wrapping(w, left_) : w));
      }
    bias_value_ = f_.let("bias", load(bias_, channel));
    if (requantizer_) scale_ = requantizer_->prepare(f_, channel);
    if (wide_) wide_scale_ = wide_->prepare(f_, channel);
    Ex to = f_.let("first_to", out + channel);
    if (columns_down_) {
      f_.loop("ox", 0, window_.x.out, [&](Ex ox) {
        emit_column(f_.var("at", ox * (window_.x.stride * group_) + lane), f_.var("to", to + ox * channels_), rows);
      });
    } else {
      emit_rows(channel, lane, to, rows);
    }
  }

  void emit_rows(const Ex& channel, const Ex& lane, const Ex& to, const Ex& rows) {
    const WindowAxis& x = along();
    Ex length = tall_ ? rows : Ex(x.out);
    int64_t known = 0;
    bool even = length.is_imm(&known) && known % block_ == 0;
    f_.loop("oy", 0, tall_ ? Ex(1) : rows, [&](Ex oy) {
      Ex row = f_.let("row", oy * (across().stride * plane_width_ * group_) + lane);
      Ex out_row = f_.let("to", to + oy * (x.out * channels_));
      f_.loop(
          "ox", 0, length,
          [&](Ex ox) {
            Ex column = even ? ox : f_.let("column", min(ox, length - block_));
            emit_pixels(channel, row + column * (x.stride * group_), out_row + column * channels_);
          },
          block_);
    });
  }

  // A single row of many taps is made from loads in order, so that few are alive.
  bool unrolled() const { return taps_ <= (across().kernel == 1 ? kUnrolledColumns / 2 : kUnrolledTaps); }

  Ex weight(int64_t ky, int64_t kx) const { return weight_values_[static_cast<size_t>(ky * window_.x.kernel + kx)]; }

  void store_output(const Ex& to, const Ex& acc) {
    Activation activation = op_.attrs<DepthwiseConv2DAttrs>().activation;
    Ex v = is_float_   ? emit_clamp(acc + bias_value_, float_clamp(activation))
           : wide_     ? wide_->emit(f_, acc, wide_scale_)
           : left_ > 0 ? requantizer_->emit_scaled(f_, acc, scale_)
                       : requantizer_->emit(f_, acc, scale_);
    f_.store(out_, to, v);
  }

  // ---- down a column

  // `at` is the plane index of the first output's window, `to` where that output goes.
  void emit_column(const Ex& at, const Ex& to, const Ex& rows) {
    const WindowAxis& y = window_.y;
    int64_t n = in_flight(), pitch = plane_width_ * group_;
    // A column that is known to have fewer outputs begins no others.
    int64_t outputs = 0;
    if (!rows.is_imm(&outputs) || outputs > n) outputs = n;
    std::vector<Ex> acc;
    for (int64_t i = 0; i < n; ++i)
      acc.push_back(i < outputs ? f_.var(fmt::format("acc{}", i), is_float_ ? tir::f32(0.0f) : bias_value_) : Ex(0));
    const int64_t last = outputs < n ? outputs - 1 : std::numeric_limits<int64_t>::max();
    for (int64_t r = 0; r < (n - 1) * y.stride; ++r) emit_plane_row(acc, 0, at + r * pitch, r, last);
    auto output = [&](int64_t j) {
      for (int64_t s = 0; s < y.stride; ++s) {
        int64_t r = (n - 1) * y.stride + s;
        emit_plane_row(acc, j, at + (j * y.stride + r) * pitch, r, last);
        if (r == y.kernel - 1) store_output(to + j * (window_.x.out * channels_), acc[static_cast<size_t>(j % n)]);
      }
    };
    Ex whole = f_.let("whole", rows / n);
    f_.loop("i", 0, whole, [&](Ex) {
      for (int64_t j = 0; j < n; ++j) output(j);
      f_.assign(at, at + n * y.stride * pitch);
      f_.assign(to, to + n * window_.x.out * channels_);
    });
    for (int64_t j = 0; j + 1 < n; ++j) f_.if_(rows - whole * n > j, [&] { output(j); });
  }

  // Plane row `at`, r rows below the first of the window of output `oldest` (which accumulator
  // `oldest` % n sums), for all outputs up to `last` that look at it.
  void emit_plane_row(const std::vector<Ex>& acc, int64_t oldest, const Ex& at, int64_t r, int64_t last) {
    const WindowAxis& x = window_.x;
    auto n = static_cast<int64_t>(acc.size());
    auto looks = [&](int64_t i) {
      const int64_t ky = r - i * window_.y.stride;
      return ky >= 0 && ky < window_.y.kernel && oldest + i <= last;
    };
    for (int64_t kx = 0; kx < x.kernel; ++kx) {
      bool any = false;
      for (int64_t i = 0; i < n; ++i) any = any || looks(i);
      if (!any) return;
      Ex value = f_.let("x", load(plane_, at + kx * x.dilation * group_));
      for (int64_t i = 0; i < n; ++i) {
        if (!looks(i)) continue;
        const int64_t ky = r - i * window_.y.stride;
        const Ex& a = acc[static_cast<size_t>((oldest + i) % n)];
        Ex product = product_for(a, value, weight(ky, kx));
        bool begins = ky == 0 && kx == 0;
        f_.assign(a, begins ? (is_float_ ? tir::f32(0.0f) : bias_value_) + product : a + product);
      }
    }
  }

  // ---- neighbours of a row

  // `block_` neighbouring outputs of one row; `at` is the plane index of the first one's window.
  void emit_pixels(const Ex& channel, const Ex& at, const Ex& to) {
    const WindowAxis& y = across();
    Ex from = f_.let("from", at);
    std::vector<Ex> acc;
    for (int64_t i = 0; i < block_; ++i)
      acc.push_back(f_.var(fmt::format("acc{}", i), is_float_ ? tir::f32(0.0f) : bias_value_));
    if (unrolled()) {
      for (int64_t ky = 0; ky < y.kernel; ++ky)
        emit_row(acc, from + ky * y.dilation * plane_width_ * group_, [&](int64_t kx) { return weight(ky, kx); });
    } else {
      f_.loop("ky", 0, y.kernel, [&](Ex ky) { emit_looped_row(acc, channel, from, ky); });
    }
    for (int64_t i = 0; i < block_; ++i) store_output(to + i * channels_, acc[static_cast<size_t>(i)]);
  }

  // Row ky of the window, of too many taps to be unrolled whole.
  void emit_looped_row(const std::vector<Ex>& acc, const Ex& channel, const Ex& from, const Ex& ky) {
    const WindowAxis& x = along();
    Ex start = f_.let("start", from + ky * (across().dilation * plane_width_ * group_));
    Ex w = f_.let("w", nibbles_ ? ky * x.kernel : channel * taps_ + ky * x.kernel);
    auto value = [&](const Ex& kx) { return nibbles_ ? weight_at(channel, w + kx) : load(weights_, w + kx); };
    if (x.kernel <= kUnrolledColumns) {
      std::vector<Ex> values;
      for (int64_t kx = 0; kx < x.kernel; ++kx) values.push_back(value(kx));
      emit_row(acc, start, [&](int64_t kx) { return values[static_cast<size_t>(kx)]; });
      return;
    }
    f_.loop("kx", 0, x.kernel, [&](Ex kx) {
      Ex weight = f_.let("weight", value(kx));
      for (int64_t i = 0; i < block_; ++i) {
        const Ex& a = acc[static_cast<size_t>(i)];
        Ex at = start + (kx * x.dilation + i * x.stride) * group_;
        f_.assign(a, a + product_for(a, load(plane_, at), weight));
      }
    });
  }

  // One row of taps for all outputs of the block, each input element loaded once. Columns ascend,
  // so each sum adds its taps in order.
  template <typename Weight>
  void emit_row(const std::vector<Ex>& acc, const Ex& start, Weight weight) {
    const WindowAxis& x = along();
    int64_t width = (block_ - 1) * x.stride + x.effective_kernel();
    for (int64_t column = 0; column < width; ++column) {
      Ex value;
      for (int64_t i = 0; i < block_; ++i) {
        int64_t offset = column - i * x.stride;
        if (offset < 0 || offset % x.dilation != 0 || offset / x.dilation >= x.kernel) continue;
        if (!value.ptr()) value = f_.let("x", load(plane_, start + column * group_));
        const Ex& a = acc[static_cast<size_t>(i)];
        f_.assign(a, a + product_for(a, value, weight(offset / x.dilation)));
      }
    }
  }

  const OpView& op_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  int64_t channels_, in_channels_;
  bool is_float_, nibbles_;
  Window window_;
  bool tall_;
  int64_t taps_ = 1;
  int64_t plane_width_ = 0, first_column_ = 0, columns_ = 0;
  std::optional<Bands> bands_;
  int64_t block_ = 1, group_ = 1;
  bool columns_down_ = false, columns_asked_ = false;
  int left_ = 0;
  BufferPtr in_, out_, plane_, weights_, bias_;
  std::optional<Requantizer> requantizer_;
  std::vector<Ex> weight_values_;
  Ex bias_value_;
  Requantizer::Channel scale_;
  std::optional<WideRequantizer> wide_;  // int16
  WideRequantizer::Channel wide_scale_;
};

}  // namespace

Lowered lower_depthwise_conv_2d(const OpView& op, const TargetInfo& target) {
  if (is_hybrid(op)) return lower_depthwise_conv_2d_hybrid(op);
  const graph::Shape& w = op.operand(1).shape;
  Window window = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2]);
  if (needs_taps(op, window))
    return lower_conv_taps(op, {"depthwise_conv_2d", window, op.operand(0).shape[3], w[3], 1, true,
                                op.attrs<DepthwiseConv2DAttrs>().activation});
  return DepthwiseLowering(op, target).run();
}

}  // namespace aotc::ops
