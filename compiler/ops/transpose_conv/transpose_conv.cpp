// SPDX-License-Identifier: Apache-2.0
#include "ops/transpose_conv/transpose_conv.h"
#include "ops/signature.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/common/lowered_evaluation.h"

namespace aotc::ops {

TransposeShape::TransposeShape(const OpView& op) {
  const graph::Shape& in = op.operand(0).shape;
  const graph::Shape& w = op.operand(1).shape;
  const auto& attrs = op.attrs<TransposeConvAttrs>();
  y = {in[1], attrs.height, w[1], attrs.stride_h, attrs.pad_top};
  x = {in[2], attrs.width, w[2], attrs.stride_w, attrs.pad_left};
  batch = in[0];
  in_channels = in[3];
  out_channels = w[0];
}

WideScaling transpose_conv_wide_scaling(const OpView& op) {
  const std::vector<int16_t> w = centred_weights(op);
  const auto each = static_cast<std::ptrdiff_t>(w.size()) / op.operand(1).shape[0];
  return wide_scaling(
      op, op.operand(1).shape[0], convolution_rounding(op), op.attrs<TransposeConvAttrs>().activation,
      [&](int64_t c) { return std::vector<int32_t>(w.begin() + c * each, w.begin() + (c + 1) * each); });
}

namespace {

constexpr int64_t kLargest = int64_t{1} << 24;

// Calls begin(c), product(x_index, w_index) for every product in the reference's order, and
// end(out_index, c), for every result.
template <typename Begin, typename Product, typename End>
void for_each_output(const TransposeShape& s, Begin begin, Product product, End end) {
  int64_t at = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.y.out; ++oy)
      for (int64_t ox = 0; ox < s.x.out; ++ox)
        for (int64_t c = 0; c < s.out_channels; ++c, ++at) {
          begin(c);
          for (int64_t iy = 0; iy < s.y.in; ++iy) {
            int64_t ky = oy + s.y.pad - iy * s.y.stride;
            if (ky < 0 || ky >= s.y.kernel) continue;
            for (int64_t ix = 0; ix < s.x.in; ++ix) {
              int64_t kx = ox + s.x.pad - ix * s.x.stride;
              if (kx < 0 || kx >= s.x.kernel) continue;
              int64_t xi = ((n * s.y.in + iy) * s.x.in + ix) * s.in_channels;
              int64_t wi = ((c * s.y.kernel + ky) * s.x.kernel + kx) * s.in_channels;
              for (int64_t k = 0; k < s.in_channels; ++k) product(xi + k, wi + k);
            }
          }
          end(at, c);
        }
}

class TransposeConv final : public SpecifiedOperator {
 public:
  TransposeConv()
      : SpecifiedOperator(
            {.name = "transpose_conv",
             .summary = "transposed 2-D convolution, NHWC",
             .operands = convolution_operands({{DType::kI8, "per tensor or per channel"},
                                               {DType::kU8, "weights uint8, per tensor with any zero point"},
                                               {DType::kI16, "weights int8; bias int64 or int32"},
                                               {DType::kF32, "weights float32, or int8 per channel (dynamic range)"}}),
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .uint8 = Uint8::kWeighted,
             .attributes = make_attributes<TransposeConvAttrs>}) {}

  int64_t macs(const OpView& op) const override {
    return op.operand(0).elements() * op.operand(1).elements() / op.operand(1).shape[3];
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    TransposeShape s(op);
    if (is_hybrid(op)) {
      evaluate_lowering(op, data);
    } else if (op.operand(0).dtype == DType::kI16) {
      evaluate_int16(op, data, s);
    } else if (op.operand(0).dtype == DType::kF32) {
      evaluate_float(op, data, s);
    } else {
      evaluate_int8(op, data, s);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override { return lower_transpose_conv(op, target); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& w = op.operand(1).shape;
    const auto& a = op.attrs<TransposeConvAttrs>();
    auto possible = [](int64_t v) { return v >= 1 && v <= kLargest; };
    for (int64_t v : {in[0], in[1], in[2], in[3], w[0], w[1], w[2]})
      if (!possible(v) || in[3] != w[3]) {
        bad_shape(op, diags,
                  fmt::format("weights {} do not fit an input of shape {}", graph::to_string(w), graph::to_string(in)));
        return kFailure;
      }
    bool good = possible(a.height) && possible(a.width) && possible(a.stride_h) && possible(a.stride_w) &&
                a.pad_top >= 0 && a.pad_left >= 0 && a.pad_top < w[1] && a.pad_left < w[2];
    if (!good) {
      bad_attribute(op, diags,
                    fmt::format("a result of {} x {} with strides {} x {}, {} and {} pixels left out in front",
                                a.height, a.width, a.stride_h, a.stride_w, a.pad_top, a.pad_left));
      return kFailure;
    }
    return std::vector<graph::Shape>{{in[0], a.height, a.width, w[0]}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const int64_t channels = op.operand(1).shape[0];
    if (is_hybrid(op) && op.operand(1).quantization.scale.size() < static_cast<size_t>(channels)) {
      diags
          .error(op.where(), "op-quantization",
                 "int8 weights of a transposed convolution of floats need a scale for each channel")
          .help("LiteRT reads scales that are not there; convert the model with scales per channel");
      return false;
    }
    bool good =
        verify_convolution(op, channels, 0, diags, {.int4 = false, .int4_of_int16 = false, .int4_of_floats = false}) &&
        check_convolution_multipliers(op, diags) &&
        check_activation_bounds(op, op.attrs<TransposeConvAttrs>().activation, diags);
    if (good && op.operand(0).dtype == DType::kI16) good = check_wide_sums(op, transpose_conv_wide_scaling(op), diags);
    return good;
  }

 private:
  static void evaluate_float(const OpView& op, const EvalData& data, const TransposeShape& s) {
    auto x = data.in<float>(0);
    auto w = data.in<float>(1);
    auto out = data.out<float>();
    ClampF32 range = float_clamp(op.attrs<TransposeConvAttrs>().activation);
    float sum = 0;
    for_each_output(
        s, [&](int64_t) { sum = 0; },
        [&](int64_t xi, int64_t wi) { sum += x[static_cast<size_t>(xi)] * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          float v = op.constant(2) ? sum + float_bias_at(op, c) : sum;
          out[static_cast<size_t>(at)] = std::min(std::max(v, range.min), range.max);
        });
  }

  static void evaluate_int16(const OpView& op, const EvalData& data, const TransposeShape& s) {
    auto x = data.in<int16_t>(0);
    auto w = data.in<int8_t>(1);
    auto out = data.out<int16_t>();
    const WideScaling scaling = transpose_conv_wide_scaling(op);
    int64_t sum = 0;
    for_each_output(
        s, [&](int64_t c) { sum = wide_bias_at(op, c); },
        [&](int64_t xi, int64_t wi) { sum += x[static_cast<size_t>(xi)] * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          out[static_cast<size_t>(at)] = static_cast<int16_t>(scaling.apply(sum, static_cast<size_t>(c)));
        });
  }

  static void evaluate_int8(const OpView& op, const EvalData& data, const TransposeShape& s) {
    auto x = data.in<int8_t>(0);
    const std::vector<int16_t> w = centred_weights(op);
    auto out = data.out<int8_t>();
    std::vector<QuantizedMultiplier> multipliers;
    for (double scale : conv_scales(op.operand(0), op.operand(1), op.result(), s.out_channels))
      multipliers.push_back(quantize_multiplier(scale));
    ClampI32 range = quantized_clamp(op.attrs<TransposeConvAttrs>().activation, op.result());
    int32_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
    int32_t sum = 0;
    for_each_output(
        s, [&](int64_t c) { sum = bias_at(op, c); },
        [&](int64_t xi, int64_t wi) { sum += (x[static_cast<size_t>(xi)] - zero_in) * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          int64_t v = multiply_by_quantized_multiplier(sum, multipliers[static_cast<size_t>(c)]);
          out[static_cast<size_t>(at)] = static_cast<int8_t>(std::clamp<int64_t>(v + zero_out, range.min, range.max));
        });
  }
};

}  // namespace

void add_operators_transpose_conv(OperatorSet& set) { set.add(std::make_unique<TransposeConv>()); }

}  // namespace aotc::ops
