// SPDX-License-Identifier: Apache-2.0
#include "ops/fully_connected/fully_connected.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/channel_ranges.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/common/units.h"
#include "ops/signature.h"

namespace aotc::ops {

Requantization fully_connected_scaling(const OpView& op, std::vector<AccRange> ranges) {
  int64_t units = op.operand(1).shape[0];
  const RoundingRule rule = op.attrs<FullyConnectedAttrs>().rounding;
  return {conv_scales(op.operand(0), op.operand(1), op.result(), units, rule, false),
          std::move(ranges),
          rounding_of(rule, Rounding::kSingle),
          op.result().zero_point(),
          quantized_clamp(op.attrs<FullyConnectedAttrs>().activation, op.result()),
          op.graph.open_constants};
}

WideScaling fully_connected_wide_scaling(const OpView& op) {
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  int32_t zero = op.operand(1).zero_point();
  std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  const bool high = op.attrs<FullyConnectedAttrs>().rounding == RoundingRule::kOnnxruntime;
  return wide_scaling(op, units, high ? WideRounding::kHigh : WideRounding::kReal,
                      op.attrs<FullyConnectedAttrs>().activation, [&](int64_t u) {
                        std::vector<int32_t> row(w.begin() + u * depth, w.begin() + (u + 1) * depth);
                        for (int32_t& v : row) v -= zero;
                        return row;
                      });
}

Result<std::vector<graph::Shape>> fully_connected_shape(const OpView& op, Diagnostics& diags) {
  const graph::Shape& in = op.operand(0).shape;
  const graph::Shape& w = op.operand(1).shape;
  bool keep = op.attrs<FullyConnectedAttrs>().keep_num_dims;
  int64_t elements = graph::element_count(in);
  if (w[0] < 1 || w[1] < 1 || elements < 1 || elements % w[1] != 0 || (keep && in.back() != w[1])) {
    bad_shape(op, diags,
              fmt::format("an input of {} does not divide into rows for weights {}", graph::to_string(in),
                          graph::to_string(w)));
    return kFailure;
  }
  if (!keep) return std::vector<graph::Shape>{{elements / w[1], w[0]}};
  graph::Shape out = in;
  out.back() = w[0];
  return std::vector<graph::Shape>{out};
}

std::optional<AxisFlow> fully_connected_axes(const OpView& op) {
  if (!op.attrs<FullyConnectedAttrs>().keep_num_dims) return std::nullopt;
  AxisFlow flow = same_axes(1, 1, op.result().shape.size());
  flow.operands.resize(op.operand_count());
  return flow;
}

SharedAttributes fully_connected_attributes(const OpView& op, const Order& axes) {
  return axes.back() == static_cast<int>(axes.size()) - 1 ? op.op.attributes : nullptr;
}

namespace {

class FullyConnected final : public SpecifiedOperator,
                             public HasUnits,
                             public Fusable,
                             public Transposable,
                             public Streamable,
                             public Prunable {
 public:
  FullyConnected()
      : SpecifiedOperator(
            {.name = "fully_connected",
             .summary = "matrix product with constant weights",
             .operands =
                 {{.name = "x",
                   .types = {{DType::kI8,
                              "weights int8 (per tensor with any zero point) or int4, per tensor or per channel"},
                             {DType::kU8, "weights uint8, per tensor with any zero point"},
                             {DType::kI16, "weights int8 or int4; bias int64 or int32"},
                             {DType::kF32, "weights float32, or int8 or int4 (dynamic range)"}},
                   .ranks = {1, 8}},
                  {.name = "weights", .ranks = {2, 2}},
                  {.name = "bias", .optional = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .uint8 = Uint8::kWeighted,
             .attributes = make_attributes<FullyConnectedAttrs>}) {}

  int64_t macs(const OpView& op) const override { return op.result().elements() * op.operand(1).shape[1]; }

  bool takes_addition(const OpView& op) const override {
    return op.operand(0).dtype == DType::kF32 && !is_hybrid(op) && !op.has_operand(2);
  }

  // Sums of integers alone; in float their order counts.
  int64_t permutable_reduction(const OpView& op) const override {
    bool integers = op.operand(0).dtype != DType::kF32 && op.constant(1) != nullptr;
    return integers && !op.attrs<FullyConnectedAttrs>().keep_num_dims ? op.operand(1).shape[1] : 0;
  }
  int64_t units(const OpView& op) const override {
    const bool constants = op.constant(1) != nullptr && (!op.has_operand(2) || op.constant(2) != nullptr);
    const bool listed = !op.has_operand(2) || op.operand(2).shape.size() == 1;
    const bool whole_bytes = op.operand(1).dtype == DType::kI8 || op.operand(1).dtype == DType::kF32;
    return constants && listed && whole_bytes && !is_hybrid(op) ? op.operand(1).shape[0] : 0;
  }
  std::optional<AxisFlow> axis_flow(const OpView& op) const override { return fully_connected_axes(op); }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    return fully_connected_attributes(op, axes);
  }

  ChannelFlow channel_flow(const OpView& op) const override {
    const graph::TensorType& in = op.operand(0);
    bool rows_are_channels = !in.shape.empty() && in.shape.back() == op.operand(1).shape[1];
    return in.dtype == DType::kI8 && rows_are_channels && op.operand(1).zero_point() == 0 && !has_uint8_weights(op)
               ? ChannelFlow::kSum
               : ChannelFlow::kOpaque;
  }

  ChannelRanges channel_ranges(const OpView& op, const std::vector<ChannelRanges>& operands) const override {
    return sum_channel_ranges(op, fully_connected_scaling(op, {}), operands[0], false);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    int64_t units = op.operand(1).shape[0];
    int64_t depth = op.operand(1).shape[1];
    int64_t rows = op.operand(0).elements() / depth;
    if (is_hybrid(op)) return evaluate_fully_connected_hybrid(op, data);
    if (op.operand(0).dtype == DType::kF32) {
      evaluate_float(op, data, rows, units, depth);
    } else if (op.operand(0).dtype == DType::kI16) {
      evaluate_int16(op, data, rows, units, depth);
    } else {
      evaluate_int8(op, data, rows, units, depth);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override { return lower_fully_connected(op, target); }

  bool sums_pieces(const OpView& op, int64_t pieces) const override {
    const int64_t depth = op.operand(1).shape[1];
    const bool constants = op.constant(1) != nullptr && (!op.has_operand(2) || op.constant(2) != nullptr);
    return constants && !is_hybrid(op) && op.operand(0).elements() == depth && depth % pieces == 0;
  }
  RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo& target) const override {
    return lower_fully_connected_pieces(op, pieces, target);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return fully_connected_shape(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const bool even = op.attrs<FullyConnectedAttrs>().rounding == RoundingRule::kOnnxruntime;
    bool good =
        verify_convolution(
            op, op.operand(1).shape[0], 0, diags,
            {.weights_zero_point = true, .bias_zero_point = true, .int16_zero_points = even, .computed_bias = true}) &&
        check_rounding_rule(op, op.attrs<FullyConnectedAttrs>().rounding, diags,
                            op.operand(0).dtype == DType::kI16 || is_hybrid(op));
    DType type = op.operand(0).dtype;
    if (!good || type == DType::kF32) return good;
    good = check_activation_bounds(op, op.attrs<FullyConnectedAttrs>().activation, diags) &&
           (type == DType::kI8 ? check_scaled_sums(op, diags) && check_scales(op, diags)
                               : check_wide_sums(op, fully_connected_wide_scaling(op), diags));
    return good;
  }

 private:
  static bool check_scales(const OpView& op, Diagnostics& diags) {
    return op.attrs<FullyConnectedAttrs>().rounding == RoundingRule::kLitert ||
           check_even_scales(op, fully_connected_scaling(op, {}).scales, diags);
  }

  // The reference converts the scaled sum to int32 before it is clamped, which is undefined for a
  // number outside.
  static bool check_scaled_sums(const OpView& op, Diagnostics& diags) {
    int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
    std::vector<double> reals =
        conv_scales(op.operand(0), op.operand(1), op.result(), units, RoundingRule::kLitert, false);
    const std::vector<int16_t> weights = centred_weights(op);
    int64_t zero_x = op.operand(0).zero_point();
    constexpr double kLimit = 2147483648.0 - 256;  // the zero point is added in 32 bits
    for (int64_t u = 0; u < units; ++u) {
      double real = reals[static_cast<size_t>(u)];
      if (real < 1) continue;  // the sum itself is a number of 32 bits
      int64_t low = bias_at(op, u), high = low;
      for (int64_t k = 0; k < depth; ++k) {
        int64_t w = weights[static_cast<size_t>(u * depth + k)];
        low += std::min(w * (-128 - zero_x), w * (127 - zero_x));
        high += std::max(w * (-128 - zero_x), w * (127 - zero_x));
      }
      auto largest = static_cast<double>(std::max(std::abs(low), std::abs(high)));
      if (largest * real < kLimit) continue;
      diags
          .error(
              op.where(), "op-quantization",
              fmt::format("the scaled sums of output {} reach {:g}, which is no number of 32 bits", u, largest * real))
          .help("the reference result is undefined for such a layer; re-quantise the model");
      return false;
    }
    return true;
  }

  static void evaluate_float(const OpView& op, const EvalData& data, int64_t rows, int64_t units, int64_t depth) {
    auto x = data.in<float>(0);
    auto w = data.in<float>(1);
    auto out = data.out<float>();
    ClampF32 range = float_clamp(op.attrs<FullyConnectedAttrs>().activation);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t u = 0; u < units; ++u) {
        float sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += x[static_cast<size_t>(r * depth + k)] * w[static_cast<size_t>(u * depth + k)];
        if (op.has_operand(2)) sum += data.in<float>(2)[static_cast<size_t>(u)];
        out[static_cast<size_t>(r * units + u)] = std::min(std::max(sum, range.min), range.max);
      }
  }

  static void evaluate_int8(const OpView& op, const EvalData& data, int64_t rows, int64_t units, int64_t depth) {
    auto x = data.in<int8_t>(0);
    std::vector<int16_t> w = centred_weights(op);
    auto out = data.out<int8_t>();
    Requantization scaling = fully_connected_scaling(op, {});
    int32_t zero_x = op.operand(0).zero_point();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t u = 0; u < units; ++u) {
        int32_t sum = bias_at(op, u);
        for (int64_t k = 0; k < depth; ++k)
          sum += (x[static_cast<size_t>(r * depth + k)] - zero_x) * w[static_cast<size_t>(u * depth + k)];
        out[static_cast<size_t>(r * units + u)] = static_cast<int8_t>(scaling.apply(sum, static_cast<size_t>(u)));
      }
  }

  static void evaluate_int16(const OpView& op, const EvalData& data, int64_t rows, int64_t units, int64_t depth) {
    auto x = data.in<int16_t>(0);
    auto w = data.in<int8_t>(1);
    auto out = data.out<int16_t>();
    WideScaling scaling = fully_connected_wide_scaling(op);
    const int64_t zero_x = op.operand(0).zero_point();
    int32_t zero_w = op.operand(1).zero_point();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t u = 0; u < units; ++u) {
        int64_t sum = scaling.centred_bias[static_cast<size_t>(u)];
        for (int64_t k = 0; k < depth; ++k)
          sum += (x[static_cast<size_t>(r * depth + k)] - zero_x) * (w[static_cast<size_t>(u * depth + k)] - zero_w);
        out[static_cast<size_t>(r * units + u)] = static_cast<int16_t>(scaling.apply(sum, static_cast<size_t>(u)));
      }
  }
};

}  // namespace

void add_operators_fully_connected(OperatorSet& set) {
  set.add(std::make_unique<FullyConnected>());
  add_fully_connected_computed(set);
  add_fully_connected_blocks(set);
  add_fully_connected_dequantized(set);
}

}  // namespace aotc::ops
