// SPDX-License-Identifier: Apache-2.0
// depthwise_conv_2d of float activations with int8 weights: a batch's image is quantised into
// scratch; every result is a plain loop over the taps inside of the image, scaled in float.
#include "ops/common/hybrid.h"
#include "ops/common/conv.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

struct HybridSizes {
  explicit HybridSizes(const OpView& op)
      : window(window_of(op, op.attrs<DepthwiseConv2DAttrs>(), op.operand(1).shape[1], op.operand(1).shape[2])),
        in_channels(op.operand(0).shape[3]),
        channels(op.operand(1).shape[3]),
        image(op.operand(0).elements() / window.batch) {}

  Window window;
  int64_t in_channels, channels, image;
};

class HybridDepthwiseLowering {
 public:
  explicit HybridDepthwiseLowering(const OpView& op) : op_(op), s_(op), f_(op, "depthwise_conv_2d") {}

  Lowered run() {
    const WindowAxis& y = s_.window.y;
    const WindowAxis& x = s_.window.x;
    in_ = f_.operand(0);
    std::vector<float> bias, scales;
    for (int64_t c = 0; c < s_.channels; ++c) {
      bias.push_back(float_bias_at(op_, c));
      scales.push_back(weight_scale(op_, c));
    }
    weights_ = f_.constant("weights", DType::kI8, op_.constant(1)->to_vector<int8_t>());
    bias_ = f_.constant("bias", DType::kF32, bias);
    scales_ = f_.constant("scales", DType::kF32, scales);
    image_ = f_.scratch("quantised", DType::kI8, s_.image, 4);
    out_ = f_.result(0);
    publish_batches(f_, op_, s_.window.batch);
    int64_t multiplier = s_.channels / s_.in_channels;
    f_.loop("n", 0, s_.window.batch, [&](Ex n) {
      RowRequest row{in_, f_.let("batch", n * s_.image), s_.image, true, false, nullptr};
      row.rule = op_.attrs<DepthwiseConv2DAttrs>().rounding;
      q_ = emit_quantize_row(f_, row, image_, 0);
      f_.loop("oy", 0, y.out, [&](Ex oy) {
        f_.loop("ox", 0, x.out, [&](Ex ox) {
          Ex to = f_.let("to", ((n * y.out + oy) * x.out + ox) * s_.channels);
          Taps rows = taps(y, oy), columns = taps(x, ox);
          f_.loop("i", 0, s_.in_channels, [&](Ex i) {
            f_.loop("m", 0, multiplier,
                    [&](Ex m) { emit_output(rows, columns, i, f_.let("channel", i * multiplier + m), to); });
          });
        });
      });
    });
    f_.algorithm("taps");
    return f_.finish("rows quantised, asymmetric");
  }

 private:
  // The taps of an output that lie inside of the image along one axis, and where tap 0 is.
  struct Taps {
    Ex start, begin, end;
  };
  Taps taps(const WindowAxis& a, const Ex& output) {
    Ex start = f_.let("start", output * a.stride - a.pad_before);
    const int64_t up = a.dilation - 1;
    Ex begin = f_.let("first", (max(-start, 0) + up) / a.dilation);
    Ex end = f_.let("end", min(Ex(a.kernel), max(Ex(a.in + up) - start, 0) / a.dilation));
    return {start, begin, end};
  }

  void emit_output(const Taps& rows, const Taps& columns, const Ex& in_channel, const Ex& channel, const Ex& to) {
    const WindowAxis& y = s_.window.y;
    const WindowAxis& x = s_.window.x;
    Ex acc = f_.var("acc", 0);
    f_.loop("ky", rows.begin, rows.end, [&](Ex ky) {
      Ex row = (rows.start + ky * y.dilation) * x.in + columns.start;
      Ex from = f_.let("from", row * s_.in_channels + in_channel);
      Ex weight = f_.let("weight", ky * (x.kernel * s_.channels) + channel);
      f_.loop("kx", columns.begin, columns.end, [&](Ex kx) {
        Ex value = load(image_, from + kx * (x.dilation * s_.in_channels)) - q_.zero;
        f_.assign(acc, acc + value * load(weights_, weight + kx * s_.channels));
      });
    });
    Ex scaled = cast(DType::kF32, acc) * (load(scales_, channel) * q_.scale);
    f_.store(out_, to + channel,
             emit_clamp(f_.let("v", scaled + load(bias_, channel)),
                        float_clamp(op_.attrs<DepthwiseConv2DAttrs>().activation)));
  }

  const OpView& op_;
  HybridSizes s_;
  LoweringBuilder f_;
  BufferPtr in_, out_, image_, weights_, bias_, scales_;
  RowQuantization q_;
};

// Sum of the products of the taps inside of the image, of result (oy, ox) of channel c.
int32_t sum_at(const HybridSizes& s, std::span<const int8_t> q, int32_t zero, std::span<const int8_t> w, int64_t oy,
               int64_t ox, int64_t c) {
  const WindowAxis& y = s.window.y;
  const WindowAxis& x = s.window.x;
  int32_t sum = 0;
  for (int64_t ky = 0; ky < y.kernel; ++ky)
    for (int64_t kx = 0; kx < x.kernel; ++kx) {
      int64_t iy = y.start(oy) + ky * y.dilation, ix = x.start(ox) + kx * x.dilation;
      if (iy < 0 || iy >= y.in || ix < 0 || ix >= x.in) continue;
      int64_t from = (iy * x.in + ix) * s.in_channels + c / (s.channels / s.in_channels);
      sum += (q[static_cast<size_t>(from)] - zero) * w[static_cast<size_t>((ky * x.kernel + kx) * s.channels + c)];
    }
  return sum;
}

}  // namespace

void evaluate_depthwise_conv_2d_hybrid(const OpView& op, const EvalData& data) {
  HybridSizes s(op);
  auto out = data.out<float>();
  ClampF32 range = float_clamp(op.attrs<DepthwiseConv2DAttrs>().activation);
  std::vector<int8_t> q(static_cast<size_t>(s.image));
  size_t at = 0;
  for (int64_t n = 0; n < s.window.batch; ++n) {
    RowScale row = quantize_row(data.in<float>(0).subspan(static_cast<size_t>(n) * q.size(), q.size()), q, true,
                                op.attrs<DepthwiseConv2DAttrs>().rounding);
    for (int64_t oy = 0; oy < s.window.y.out; ++oy)
      for (int64_t ox = 0; ox < s.window.x.out; ++ox)
        for (int64_t c = 0; c < s.channels; ++c, ++at) {
          int32_t sum = sum_at(s, q, row.zero, data.in<int8_t>(1), oy, ox, c);
          float v = static_cast<float>(sum) * (weight_scale(op, c) * row.scale) + float_bias_at(op, c);
          v = v < range.min ? range.min : v;
          out[at] = range.max < v ? range.max : v;
        }
  }
}

Lowered lower_depthwise_conv_2d_hybrid(const OpView& op) { return HybridDepthwiseLowering(op).run(); }

}  // namespace aotc::ops
