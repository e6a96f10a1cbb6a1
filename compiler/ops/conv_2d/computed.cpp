// SPDX-License-Identifier: Apache-2.0
// conv_2d_computed: conv_2d with weights that the model computes.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/computed_weights.h"
#include "ops/common/gemm.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/conv_2d/conv_2d.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::Ex;

namespace {

ComputedWeights computed_convolution(const OpView& op) {
  const graph::Shape& w = op.operand(1).shape;
  return {.channels = w[0],
          .terms = w[1] * w[2] * w[3],
          .activation = op.attrs<Conv2DAttrs>().activation,
          .wide_rounding = convolution_rounding(op)};
}

class ComputedConv2D final : public SpecifiedOperator {
 public:
  ComputedConv2D()
      : SpecifiedOperator(
            {.name = "conv_2d_computed",
             .summary = "2-D convolution with weights that the model computes",
             .operands = {{.name = "x",
                           .types = {{DType::kI8, "weights int8 or uint8"}, {DType::kI16, "weights int8"}, DType::kF32},
                           .ranks = {4, 4}},
                          {.name = "weights", .ranks = {4, 4}},
                          {.name = "bias", .optional = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<Conv2DAttrs>}) {}

  int64_t macs(const OpView& op) const override {
    return op.result().elements() * op.operand(1).elements() / op.operand(1).shape[0];
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const graph::Shape& w = op.operand(1).shape;
    const Window window = window_of(op, op.attrs<Conv2DAttrs>(), w[1], w[2]);
    LoweringBuilder f(op, "conv_2d");
    ComputedSums sums(op, f, computed_convolution(op));
    sums.begin();
    f.loop("n", 0, window.batch, [&](Ex n) {
      f.loop("y", 0, window.y.out, [&](Ex y) {
        f.loop("x", 0, window.x.out, [&](Ex x) {
          Ex to = f.let("to", ((n * window.y.out + y) * window.x.out + x) * w[0]);
          f.loop("c", 0, w[0], [&](Ex c) { emit_output(f, op, window, sums, {n, y, x, c}, to); });
        });
      });
    });
    return f.finish(sums.form() + ", computed weights");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return infer_conv_2d(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_conv_2d_channels(op, diags) && verify_computed_weights(op, computed_convolution(op), diags);
  }

 private:
  struct Place {
    Ex n, y, x, c;
  };

  // Runs `body` for the taps of an axis that lie in the image, with the tap and its place there.
  static void taps(LoweringBuilder& f, const char* name, const WindowAxis& axis, const Ex& output,
                   const std::function<void(Ex tap, Ex at)>& body) {
    f.loop(name, 0, axis.kernel, [&](Ex tap) {
      Ex at = f.let("at", output * axis.stride + tap * axis.dilation - axis.pad_before);
      if (axis.pad_before == 0 && axis.pad_after == 0) return body(tap, at);
      f.if_(at >= 0 && at < axis.in, [&] { body(tap, at); });
    });
  }

  static void emit_output(LoweringBuilder& f, const OpView& op, const Window& window, const ComputedSums& sums,
                          const Place& at, const Ex& to) {
    const graph::Shape& w = op.operand(1).shape;
    const int64_t channels = op.operand(0).shape[3], groups = channels / w[3];
    Ex first = groups == 1 ? Ex(0) : f.let("first", at.c / (w[0] / groups) * w[3]);
    Ex acc = f.var("acc", sums.start(at.c));
    taps(f, "ky", window.y, at.y, [&](Ex ky, Ex iy) {
      taps(f, "kx", window.x, at.x, [&](Ex kx, Ex ix) {
        Ex from = f.let("from", ((at.n * window.y.in + iy) * window.x.in + ix) * channels + first);
        Ex weights = f.let("weights", ((at.c * window.y.kernel + ky) * window.x.kernel + kx) * w[3]);
        f.loop("k", 0, w[3],
               [&](Ex k) { f.assign(acc, acc + product_for(acc, sums.input(from + k), sums.weight(weights + k))); });
      });
    });
    f.store(sums.result(), to + at.c, sums.finish(acc, at.c));
  }
};

}  // namespace

void add_conv_2d_computed(OperatorSet& set) { set.add(std::make_unique<ComputedConv2D>()); }

}  // namespace aotc::ops
