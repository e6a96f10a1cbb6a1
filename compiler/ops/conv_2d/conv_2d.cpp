// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_2d/conv_2d.h"

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/channel_ranges.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/conv_2d/shape.h"
#include "ops/signature.h"

namespace aotc::ops {

Result<std::vector<graph::Shape>> infer_conv_2d(const OpView& op, Diagnostics& diags) {
  const graph::Shape& w = op.operand(1).shape;
  Window window;
  if (!infer_window(op, op.attrs<Conv2DAttrs>(), w[1], w[2], window, diags)) return kFailure;
  return std::vector<graph::Shape>{{window.batch, window.y.out, window.x.out, w[0]}};
}

bool check_conv_2d_channels(const OpView& op, Diagnostics& diags) {
  const graph::Shape &in = op.operand(0).shape, &w = op.operand(1).shape;
  if (w[0] >= 1 && w[3] >= 1 && in[3] >= 1 && in[3] % w[3] == 0 && w[0] % (in[3] / w[3]) == 0) return true;
  return bad_shape(op, diags, fmt::format("weights {} do not fit an input of {} channels", graph::to_string(w), in[3]));
}

namespace {

struct Sizes {
  Window window;
  int64_t in_channels, out_channels, group_in, groups, group_out;
};

Sizes sizes_of(const OpView& op) {
  const graph::Shape& w = op.operand(1).shape;
  Sizes s;
  s.window = window_of(op, op.attrs<Conv2DAttrs>(), w[1], w[2]);
  s.in_channels = op.operand(0).shape[3];
  s.out_channels = w[0];
  s.group_in = w[3];
  s.groups = s.in_channels / s.group_in;
  s.group_out = s.out_channels / s.groups;
  return s;
}

// Calls visit(out_index, c, x_index, w_index) for every product, taps in row, column, channel
// order.
template <typename Begin, typename Product, typename End>
void for_each_output(const Sizes& s, Begin begin, Product product, End end) {
  const WindowAxis& y = s.window.y;
  const WindowAxis& x = s.window.x;
  int64_t at = 0;
  for (int64_t n = 0; n < s.window.batch; ++n)
    for (int64_t oy = 0; oy < y.out; ++oy)
      for (int64_t ox = 0; ox < x.out; ++ox)
        for (int64_t c = 0; c < s.out_channels; ++c, ++at) {
          begin(c);
          int64_t first_channel = c / s.group_out * s.group_in;
          for (int64_t ky = 0; ky < y.kernel; ++ky) {
            int64_t iy = y.start(oy) + ky * y.dilation;
            if (iy < 0 || iy >= y.in) continue;
            for (int64_t kx = 0; kx < x.kernel; ++kx) {
              int64_t ix = x.start(ox) + kx * x.dilation;
              if (ix < 0 || ix >= x.in) continue;
              int64_t xi = ((n * y.in + iy) * x.in + ix) * s.in_channels + first_channel;
              int64_t wi = ((c * y.kernel + ky) * x.kernel + kx) * s.group_in;
              for (int64_t k = 0; k < s.group_in; ++k) product(xi + k, wi + k);
            }
          }
          end(at, c);
        }
}

class Conv2D final : public SpecifiedOperator, public Streamable, public Prunable {
 public:
  Conv2D()
      : SpecifiedOperator({.name = "conv_2d",
                           .summary = "2-D convolution, NHWC",
                           .operands = convolution_operands(
                               {{DType::kI8, "weights int8 or int4, per tensor or per channel; also sums"},
                                {DType::kU8, "weights uint8, per tensor with any zero point"},
                                {DType::kI16, "weights int8 or int4; bias int64 or int32"},
                                {DType::kF32, "weights float32, or int8 or int4 (dynamic range)"}}),
                           .results = {{.name = "y", .type_of = ResultSpec::kOwn}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kWeighted,
                           .traits = {.zero_pads = true},
                           .attributes = make_attributes<Conv2DAttrs>}) {}

  int64_t macs(const OpView& op) const override {
    return op.result().elements() * op.operand(1).elements() / op.operand(1).shape[0];
  }

  // Of float rows with int8 weights, the whole image has one scale.
  std::optional<RowFlow> row_flow(const OpView& op) const override {
    if (is_hybrid(op)) return std::nullopt;
    return rows_of_window(sizes_of(op).window.y, zero_element(op.operand(0)));
  }
  SharedAttributes attributes_for_rows(const OpView& op) const override { return without_row_padding<Conv2DAttrs>(op); }
  bool is_pointwise(const OpView& op) const override { return !is_hybrid(op) && ConvShape(op).pointwise; }

  ChannelFlow channel_flow(const OpView& op) const override {
    Sizes s = sizes_of(op);
    if (op.operand(0).dtype != DType::kI8 || has_uint8_weights(op) || gives_sums(op) || s.groups != 1)
      return ChannelFlow::kOpaque;
    return has_padding(op.attrs<Conv2DAttrs>()) ? ChannelFlow::kPaddedSum : ChannelFlow::kSum;
  }

  ChannelRanges channel_ranges(const OpView& op, const std::vector<ChannelRanges>& operands) const override {
    Requantization scaling = conv_requantization(op, {});
    return sum_channel_ranges(op, scaling, operands[0], has_padding(op.attrs<Conv2DAttrs>()));
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    Sizes s = sizes_of(op);
    if (is_hybrid(op)) {
      evaluate_hybrid(op, data, s);
    } else if (op.operand(0).dtype == DType::kF32) {
      evaluate_float(op, data, s);
    } else if (op.operand(0).dtype == DType::kI16) {
      evaluate_int16(op, data, s);
    } else {
      evaluate_int8(op, data, s);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override { return lower_conv_2d(op, target); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return infer_conv_2d(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& w = op.operand(1).shape;
    if (!check_conv_2d_channels(op, diags)) return false;
    if (is_hybrid(op) && in[3] != w[3] && op.operand(1).quantization.scale.size() < static_cast<size_t>(w[0])) {
      diags
          .error(op.where(), "op-quantization",
                 "int8 weights of a grouped convolution of floats need a scale for each channel")
          .help("LiteRT reads scales that are not there; convert the model with scales per channel");
      return false;
    }
    const bool even = op.attrs<Conv2DAttrs>().rounding == RoundingRule::kOnnxruntime;
    bool good = verify_convolution(op, w[0], 0, diags, {.int16_zero_points = even, .sums = true}) &&
                check_convolution_multipliers(op, diags) &&
                check_activation_bounds(op, op.attrs<Conv2DAttrs>().activation, diags) &&
                check_rounding_rule(op, op.attrs<Conv2DAttrs>().rounding, diags,
                                    op.operand(0).dtype == DType::kI16 || is_hybrid(op));
    if (good && even && op.operand(0).dtype == DType::kI8 && !gives_sums(op))
      good = check_even_scales(op, conv_requantization(op, {}).scales, diags);
    if (good && op.operand(0).dtype == DType::kI16)
      good = check_wide_sums(op, conv_wide_scaling(op, ConvShape(op)), diags);
    return good;
  }

 private:
  static void evaluate_float(const OpView& op, const EvalData& data, const Sizes& s) {
    auto x = data.in<float>(0);
    auto w = data.in<float>(1);
    auto out = data.out<float>();
    ClampF32 range = float_clamp(op.attrs<Conv2DAttrs>().activation);
    float sum = 0;
    for_each_output(
        s, [&](int64_t) { sum = 0; },
        [&](int64_t xi, int64_t wi) { sum += x[static_cast<size_t>(xi)] * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          float v = sum + float_bias_at(op, c);
          out[static_cast<size_t>(at)] = std::min(std::max(v, range.min), range.max);
        });
  }

  static void evaluate_hybrid(const OpView& op, const EvalData& data, const Sizes& s) {
    auto x = data.in<float>(0);
    auto w = data.in<int8_t>(1);
    auto out = data.out<float>();
    const bool asymmetric = conv_rows_are_asymmetric(op);
    const RoundingRule rule = op.attrs<Conv2DAttrs>().rounding;
    std::vector<int8_t> q(x.size());
    std::vector<RowScale> rows;
    const size_t batch = x.size() / static_cast<size_t>(s.window.batch);
    for (size_t at = 0; at < x.size(); at += batch)
      rows.push_back(quantize_row(x.subspan(at, batch), std::span(q).subspan(at, batch), asymmetric, rule));
    ClampF32 range = float_clamp(op.attrs<Conv2DAttrs>().activation);
    int32_t sum = 0;
    for_each_output(
        s, [&](int64_t) { sum = 0; },
        [&](int64_t xi, int64_t wi) {
          auto i = static_cast<size_t>(xi);
          sum += (q[i] - rows[i / batch].zero) * w[static_cast<size_t>(wi)];
        },
        [&](int64_t at, int64_t c) {
          const RowScale& row = rows[static_cast<size_t>(at) / (out.size() / rows.size())];
          float scale = weight_scale(op, c);
          const bool twice = asymmetric && rule == RoundingRule::kLitert;
          float v = twice ? static_cast<float>(sum) * scale * row.scale : static_cast<float>(sum) * (row.scale * scale);
          v += float_bias_at(op, c);
          v = v < range.min ? range.min : v;
          out[static_cast<size_t>(at)] = range.max < v ? range.max : v;
        });
  }

  static void evaluate_int8(const OpView& op, const EvalData& data, const Sizes& s) {
    auto x = data.in<int8_t>(0);
    const std::vector<int16_t> w = centred_weights(op);
    const std::vector<ChannelReference> value_of = conv_requantization(op, {}).references();
    int32_t zero_in = op.operand(0).zero_point();
    int32_t sum = 0;
    for_each_output(
        s, [&](int64_t c) { sum = bias_at(op, c); },
        [&](int64_t xi, int64_t wi) { sum += (x[static_cast<size_t>(xi)] - zero_in) * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) { store_result(op, data, at, value_of[static_cast<size_t>(c)](sum)); });
  }

  static void evaluate_int16(const OpView& op, const EvalData& data, const Sizes& s) {
    auto x = data.in<int16_t>(0);
    auto w = data.in<int8_t>(1);
    auto out = data.out<int16_t>();
    WideScaling scaling = conv_wide_scaling(op, ConvShape(op));
    const int64_t zero = op.operand(0).zero_point();
    int64_t sum = 0;
    for_each_output(
        s, [&](int64_t c) { sum = scaling.centred_bias[static_cast<size_t>(c)]; },
        [&](int64_t xi, int64_t wi) { sum += (x[static_cast<size_t>(xi)] - zero) * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          out[static_cast<size_t>(at)] = static_cast<int16_t>(scaling.apply(sum, static_cast<size_t>(c)));
        });
  }
};

}  // namespace

void add_operators_conv_2d(OperatorSet& set) {
  set.add(std::make_unique<Conv2D>());
  add_conv_2d_computed(set);
}

}  // namespace aotc::ops
