// SPDX-License-Identifier: Apache-2.0
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/channel_ranges.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/signature.h"

namespace aotc::ops {

Requantization depthwise_scaling(const OpView& op, std::vector<AccRange> ranges) {
  int64_t channels = op.operand(1).shape[3];
  if (gives_sums(op)) return Requantization::of_sums(channels, std::move(ranges));
  const RoundingRule rule = op.attrs<DepthwiseConv2DAttrs>().rounding;
  return {conv_scales(op.operand(0), op.operand(1), op.result(), channels, rule),
          std::move(ranges),
          rounding_of(rule, Rounding::kDouble),
          op.result().zero_point(),
          quantized_clamp(op.attrs<DepthwiseConv2DAttrs>().activation, op.result()),
          op.graph.open_constants};
}

WideScaling depthwise_wide_scaling(const OpView& op) {
  int64_t channels = op.operand(1).shape[3];
  std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  return wide_scaling(op, channels, convolution_rounding(op, op.attrs<DepthwiseConv2DAttrs>().rounding),
                      op.attrs<DepthwiseConv2DAttrs>().activation, [&](int64_t c) {
                        std::vector<int32_t> taps;
                        for (size_t i = static_cast<size_t>(c); i < w.size(); i += static_cast<size_t>(channels))
                          taps.push_back(w[i]);
                        return taps;
                      });
}

namespace {

// begin(c), product(x_index, w_index) for every tap inside the input in row, column order, then
// end(out_index, c), for every result element.
template <typename Begin, typename Product, typename End>
void for_each_output(const OpView& op, Begin begin, Product product, End end) {
  const graph::Shape& w = op.operand(1).shape;
  Window window = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2]);
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  int64_t channels = w[3];
  int64_t in_channels = op.operand(0).shape[3];
  int64_t multiplier = channels / in_channels;
  int64_t at = 0;
  for (int64_t n = 0; n < window.batch; ++n)
    for (int64_t oy = 0; oy < y.out; ++oy)
      for (int64_t ox = 0; ox < x.out; ++ox)
        for (int64_t c = 0; c < channels; ++c, ++at) {
          begin(c);
          for (int64_t ky = 0; ky < y.kernel; ++ky) {
            int64_t iy = y.start(oy) + ky * y.dilation;
            if (iy < 0 || iy >= y.in) continue;
            for (int64_t kx = 0; kx < x.kernel; ++kx) {
              int64_t ix = x.start(ox) + kx * x.dilation;
              if (ix < 0 || ix >= x.in) continue;
              product(((n * y.in + iy) * x.in + ix) * in_channels + c / multiplier,
                      (ky * x.kernel + kx) * channels + c);
            }
          }
          end(at, c);
        }
}

// Weights [1][KH][KW][C] as [C][KH][KW][1].
graph::TensorId channels_first(graph::Graph& graph, const graph::Tensor& from) {
  graph::TensorType type = from.type;
  const graph::Shape& shape = from.type.shape;
  type.shape = {shape[3], shape[1], shape[2], 1};
  if (type.quantization.per_channel()) type.quantization.axis = 0;
  auto channels = static_cast<size_t>(shape[3]), size = static_cast<size_t>(size_of(type.dtype));
  std::span<const uint8_t> bytes = from.constant->bytes;
  std::vector<uint8_t> out;
  out.reserve(bytes.size());
  for (size_t c = 0; c < channels; ++c)
    for (size_t at = c * size; at < bytes.size(); at += channels * size)
      out.insert(out.end(), bytes.begin() + static_cast<ptrdiff_t>(at),
                 bytes.begin() + static_cast<ptrdiff_t>(at + size));
  return graph.add_constant(from.name + " (channels first)", std::move(type), std::move(out));
}

// From one input channel to several: each sums over all input channels, as a convolution's do.
std::optional<graph::Op> as_convolution(graph::Graph& graph, const graph::Op& op) {
  OpView view{graph, op};
  // With float activations and int8 weights the two round otherwise.
  if (is_hybrid(view)) return std::nullopt;
  if (view.operand(0).shape[3] != 1 || view.operand(1).shape[3] == 1 || !view.constant(1)) return std::nullopt;
  graph::Op general = op;
  general.definition = operators().find("conv_2d");
  // Both operators have the attributes of a window and no others.
  auto attributes = general.definition->default_attributes();
  for (const auto& [name, text] : op.attributes->print()) attributes->parse(name, text);
  general.attributes = std::move(attributes);
  general.operands[1] = channels_first(graph, graph::Tensor(view.operand_tensor(1)));
  return general;
}

class DepthwiseConv2D final : public SpecifiedOperator, public Streamable, public Prunable {
 public:
  DepthwiseConv2D()
      : SpecifiedOperator({.name = "depthwise_conv_2d",
                           .summary = "2-D convolution per channel, NHWC",
                           .operands = convolution_operands(
                               {{DType::kI8, "weights int8 or int4, per tensor or per channel; also sums"},
                                {DType::kU8, "weights uint8, per tensor with any zero point"},
                                {DType::kI16, "weights int8; bias int64"},
                                {DType::kF32, "weights float32, or int8 (dynamic range)"}}),
                           .results = {{.name = "y", .type_of = ResultSpec::kOwn}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kWeighted,
                           .traits = {.zero_pads = true},
                           .attributes = make_attributes<DepthwiseConv2DAttrs>}) {}

  int64_t macs(const OpView& op) const override {
    const graph::Shape& w = op.operand(1).shape;
    return op.result().elements() * w[1] * w[2];
  }

  // Of float rows with int8 weights, the whole image has one scale.
  std::optional<RowFlow> row_flow(const OpView& op) const override {
    if (is_hybrid(op)) return std::nullopt;
    const graph::Shape& w = op.operand(1).shape;
    return rows_of_window(window_of(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2]).y, zero_element(op.operand(0)));
  }
  SharedAttributes attributes_for_rows(const OpView& op) const override {
    return without_row_padding<DepthwiseConv2DAttrs>(op);
  }

  ChannelFlow channel_flow(const OpView& op) const override {
    bool one_to_one = op.operand(0).shape[3] == op.operand(1).shape[3];
    return op.operand(0).dtype == DType::kI8 && !gives_sums(op) && one_to_one ? ChannelFlow::kEach
                                                                              : ChannelFlow::kOpaque;
  }

  ChannelRanges channel_ranges(const OpView& op, const std::vector<ChannelRanges>& operands) const override {
    Requantization scaling = depthwise_scaling(op, {});
    bool padded = has_padding(op.attrs<DepthwiseConv2DAttrs>());
    auto channels = static_cast<int64_t>(operands[0].size());
    int32_t zero = op.operand(0).zero_point();
    const std::vector<int16_t> weights = centred_weights(op);
    ChannelRanges out;
    for (int64_t c = 0; c < channels; ++c) {
      AccRange acc{bias_at(op, c), bias_at(op, c)};
      for (int64_t i = c; i < op.operand(1).elements(); i += channels) {
        int32_t weight = weights[static_cast<size_t>(i)];
        AccRange product = product_range(weight, operands[0][static_cast<size_t>(c)], zero, padded);
        acc = {acc.low + product.low, acc.high + product.high};
      }
      out.push_back(requantized_range(scaling, static_cast<size_t>(c), acc));
    }
    return out;
  }

  std::optional<graph::Op> generalized(graph::Graph& graph, const graph::Op& op) const override {
    return as_convolution(graph, op);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (is_hybrid(op)) {
      evaluate_depthwise_conv_2d_hybrid(op, data);
    } else if (op.operand(0).dtype == DType::kF32) {
      evaluate_float(op, data);
    } else if (op.operand(0).dtype == DType::kI16) {
      evaluate_int16(op, data);
    } else {
      evaluate_int8(op, data);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override {
    return lower_depthwise_conv_2d(op, target);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& w = op.operand(1).shape;
    Window window;
    if (!infer_window(op, op.attrs<DepthwiseConv2DAttrs>(), w[1], w[2], window, diags)) return kFailure;
    return std::vector<graph::Shape>{{window.batch, window.y.out, window.x.out, w[3]}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& w = op.operand(1).shape;
    if (in[0] < 1 || w[0] != 1 || w[3] < 1 || in[3] < 1 || w[3] % in[3] != 0) {
      bad_shape(
          op, diags,
          fmt::format("depthwise weights {} do not fit an input of {}", graph::to_string(w), graph::to_string(in)));
      return false;
    }
    if (is_hybrid(op) && op.operand(1).quantization.scale.size() < static_cast<size_t>(w[3])) {
      diags
          .error(op.where(), "op-quantization",
                 "int8 weights of a depthwise convolution of floats need a scale for each channel")
          .help("LiteRT reads scales that are not there; convert the model with scales per channel");
      return false;
    }
    const bool even = op.attrs<DepthwiseConv2DAttrs>().rounding == RoundingRule::kOnnxruntime;
    bool good = verify_convolution(op, w[3], 3, diags,
                                   {.int16_zero_points = even,
                                    .narrow_bias = false,
                                    .int4_of_int16 = false,
                                    .int4_of_floats = false,
                                    .sums = true}) &&
                check_convolution_multipliers(op, diags) &&
                check_activation_bounds(op, op.attrs<DepthwiseConv2DAttrs>().activation, diags) &&
                check_rounding_rule(op, op.attrs<DepthwiseConv2DAttrs>().rounding, diags,
                                    op.operand(0).dtype == DType::kI16 || is_hybrid(op));
    if (good && even && op.operand(0).dtype == DType::kI8 && !gives_sums(op))
      good = check_even_scales(op, depthwise_scaling(op, {}).scales, diags);
    if (good && op.operand(0).dtype == DType::kI16) good = check_wide_sums(op, depthwise_wide_scaling(op), diags);
    return good;
  }

 private:
  static void evaluate_float(const OpView& op, const EvalData& data) {
    auto x = data.in<float>(0);
    auto w = data.in<float>(1);
    auto out = data.out<float>();
    ClampF32 range = float_clamp(op.attrs<DepthwiseConv2DAttrs>().activation);
    float sum = 0;
    for_each_output(
        op, [&](int64_t) { sum = 0; },
        [&](int64_t xi, int64_t wi) { sum += x[static_cast<size_t>(xi)] * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          float v = sum + float_bias_at(op, c);
          out[static_cast<size_t>(at)] = std::min(std::max(v, range.min), range.max);
        });
  }

  static void evaluate_int8(const OpView& op, const EvalData& data) {
    auto x = data.in<int8_t>(0);
    const std::vector<int16_t> w = centred_weights(op);
    const std::vector<ChannelReference> value_of = depthwise_scaling(op, {}).references();
    int32_t zero_in = op.operand(0).zero_point();
    int32_t sum = 0;
    for_each_output(
        op, [&](int64_t c) { sum = bias_at(op, c); },
        [&](int64_t xi, int64_t wi) { sum += (x[static_cast<size_t>(xi)] - zero_in) * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) { store_result(op, data, at, value_of[static_cast<size_t>(c)](sum)); });
  }

  static void evaluate_int16(const OpView& op, const EvalData& data) {
    auto x = data.in<int16_t>(0);
    auto w = data.in<int8_t>(1);
    auto out = data.out<int16_t>();
    WideScaling scaling = depthwise_wide_scaling(op);
    const int64_t zero = op.operand(0).zero_point();
    int64_t sum = 0;
    for_each_output(
        op, [&](int64_t c) { sum = scaling.centred_bias[static_cast<size_t>(c)]; },
        [&](int64_t xi, int64_t wi) { sum += (x[static_cast<size_t>(xi)] - zero) * w[static_cast<size_t>(wi)]; },
        [&](int64_t at, int64_t c) {
          out[static_cast<size_t>(at)] = static_cast<int16_t>(scaling.apply(sum, static_cast<size_t>(c)));
        });
  }
};

}  // namespace

void add_operators_depthwise_conv_2d(OperatorSet& set) { set.add(std::make_unique<DepthwiseConv2D>()); }

}  // namespace aotc::ops
