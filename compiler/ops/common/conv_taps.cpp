// SPDX-License-Identifier: Apache-2.0
#include "ops/common/conv_taps.h"

#include <algorithm>
#include <cmath>

#include "ops/common/conv.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class TapLowering {
 public:
  TapLowering(const OpView& op, const TapConv& conv) : op_(op), conv_(conv), f_(op, conv.name) {}

  Lowered run() {
    in_ = f_.operand(0);
    weights_ = f_.constant("weights", DType::kF32, op_.constant(1)->to_vector<float>());
    std::vector<float> bias;
    for (int64_t c = 0; c < conv_.out_channels; ++c) bias.push_back(float_bias_at(op_, c));
    bias_ = f_.constant("bias", DType::kF32, bias);
    out_ = f_.result(0);
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    int64_t groups = conv_.in_channels / conv_.group_in, group_out = conv_.out_channels / groups;
    f_.loop("n", 0, conv_.window.batch, [&](Ex n) {
      f_.loop("oy", 0, y.out, [&](Ex oy) {
        f_.loop("ox", 0, x.out, [&](Ex ox) {
          f_.loop("g", 0, groups, [&](Ex g) {
            f_.loop("c", 0, group_out, [&](Ex c) { emit_output(n, oy, ox, g, f_.let("channel", g * group_out + c)); });
          });
        });
      });
    });
    f_.algorithm("taps");
    return f_.finish("padding skipped: weights are not finite");
  }

 private:
  void emit_output(const Ex& n, const Ex& oy, const Ex& ox, const Ex& g, const Ex& channel) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    Ex acc = f_.var("acc", tir::f32(0.0f));
    f_.loop("ky", 0, y.kernel, [&](Ex ky) {
      Ex iy = f_.let("iy", oy * y.stride - y.pad_before + ky * y.dilation);
      f_.if_(iy >= 0 && iy < y.in, [&] {
        f_.loop("kx", 0, x.kernel, [&](Ex kx) {
          Ex ix = f_.let("ix", ox * x.stride - x.pad_before + kx * x.dilation);
          f_.if_(ix >= 0 && ix < x.in, [&] {
            Ex from = f_.let("from", ((n * y.in + iy) * x.in + ix) * conv_.in_channels + g * conv_.group_in);
            Ex tap = conv_.channels_last ? (ky * x.kernel + kx) * conv_.out_channels + channel
                                         : ((channel * y.kernel + ky) * x.kernel + kx) * conv_.group_in;
            Ex weight = f_.let("weight", tap);
            f_.loop("k", 0, conv_.group_in,
                    [&](Ex k) { f_.assign(acc, acc + load(in_, from + k) * load(weights_, weight + k)); });
          });
        });
      });
    });
    Ex to = ((n * y.out + oy) * x.out + ox) * conv_.out_channels + channel;
    f_.store(out_, to, emit_clamp(acc + load(bias_, channel), float_clamp(conv_.activation)));
  }

  const OpView& op_;
  const TapConv& conv_;
  LoweringBuilder f_;
  BufferPtr in_, weights_, bias_, out_;
};

}  // namespace

bool needs_taps(const OpView& op, const Window& window) {
  if (op.operand(0).dtype != DType::kF32) return false;
  if (!window.y.reaches_beyond() && !window.x.reaches_beyond()) return false;
  std::vector<float> weights = op.constant(1)->to_vector<float>();
  return !std::all_of(weights.begin(), weights.end(), [](float w) { return std::isfinite(w); });
}

Lowered lower_conv_taps(const OpView& op, const TapConv& conv) { return TapLowering(op, conv).run(); }

}  // namespace aotc::ops
