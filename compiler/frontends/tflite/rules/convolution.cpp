// SPDX-License-Identifier: Apache-2.0
// CONV_2D and what else sums products: convolutions, products of matrices, pools.
#include <cmath>

#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "frontends/tflite/rules/options.h"
#include "ops/batch_matmul/attributes.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/hybrid.h"
#include "ops/common/import.h"
#include "ops/conv_2d/conv_2d.h"
#include "ops/conv_3d/conv_3d.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"
#include "ops/fully_connected/fully_connected.h"
#include "ops/pool_2d/pool_2d.h"
#include "ops/transpose_conv/transpose_conv.h"

namespace aotc::frontends::tflite {

namespace {

// The reference reads the bias of int16 activations as int64 unless the model's option
// quantized_bias_type says int32. Reports [op-attribute].
bool check_bias_option(const OpView& op, int type, Diagnostics& diags) {
  if (op.operand(0).dtype != DType::kI16) return true;
  constexpr int kNotSet = 0, kInt32 = 2, kInt64 = 4;  // TensorType
  // Sums would be rounded as with a bias of 32 bits.
  if (!op.has_operand(2))
    return type != kInt32 || op.op.name() == "fully_connected" ||
           bad_attribute(op, diags, "quantized_bias_type says i32, but there is no bias; convert the model again");
  DType have = op.operand(2).dtype;
  if (have == DType::kI64 && (type == kNotSet || type == kInt64)) return true;
  if (have == DType::kI32 && type == kInt32) return true;
  return bad_attribute(op, diags,
                       fmt::format("the bias is {}, but quantized_bias_type says {}; convert the "
                                   "model again",
                                   name_of(have), type == kInt32 ? "i32" : "i64"));
}

// LiteRT takes weights of uint8 with activations of uint8 alone, and reads others there as if they were. Reports
// [op-type].
bool check_weight_bytes(const TfliteOp& from, const OpView& op, Diagnostics& diags) {
  if (op.operand_count() < 2 || !op.has_operand(1)) return true;
  if (from.shifted()) return check_type(op, 1, {DType::kU8}, diags);
  return op.operand(1).dtype != DType::kU8 || check_type(op, 1, {DType::kI8, DType::kI4, DType::kF32}, diags);
}

// Weights, or a bias of floats, that only a run of the model gives: an operator of its own takes them.
void take_computed_weights(const TfliteOp& from, graph::Op& op, std::string_view computed) {
  OpView view{from.graph(), op};
  auto is_computed = [&](size_t i) { return view.has_operand(i) && view.constant(i) == nullptr; };
  if (from.settled() && (is_computed(1) || (is_computed(2) && view.operand(2).dtype == DType::kF32)))
    op.definition = operators().find(computed);
}

// Both kinds of convolution; `check` is what one of them asks beside. Options may be null there.
template <typename Attrs, typename Options>
Status import_convolution(const TfliteOp& from, graph::Op& op, Diagnostics& diags,
                          bool (*check)(const OpView&, const Options*, Diagnostics&)) {
  auto attrs = std::make_shared<Attrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 3, 1, diags) || !check_rank(view, 0, 4, 4, diags) || !check_rank(view, 1, 4, 4, diags) ||
      !check_weight_bytes(from, view, diags) || (from.shifted() && !check_bias_scale(view, diags)))
    return kFailure;
  // Sums as they are have no kernel in LiteRT.
  if (view.result().dtype == DType::kI32 && !check_result_type(view, 0, view.operand(0).dtype, diags)) return kFailure;
  const auto* options = from.options<Options>();
  if (!check(view, options, diags)) return kFailure;
  if (!options) {
    bad_attribute(view, diags, "the options (strides) are missing in the model");
    return kFailure;
  }
  attrs->stride_h = options->stride_h();
  attrs->stride_w = options->stride_w();
  attrs->dilation_h = options->dilation_h_factor();
  attrs->dilation_w = options->dilation_w_factor();
  const graph::Shape& w = view.operand(1).shape;
  bool done = import_window(view, options->padding(), options->fused_activation_function(), w[1], w[2], *attrs, diags);
  return done ? success() : Status(kFailure);
}

Status import_conv_2d(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  take_computed_weights(from, op, "conv_2d_computed");
  return import_convolution<Conv2DAttrs, schema::Conv2DOptions>(
      from, op, diags, [](const OpView& view, const schema::Conv2DOptions* options, Diagnostics& told) {
        return check_bias_option(view, options ? options->quantized_bias_type() : 0, told);
      });
}

Status import_depthwise_conv_2d(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  return import_convolution<DepthwiseConv2DAttrs, schema::DepthwiseConv2DOptions>(
      from, op, diags, [](const OpView& view, const schema::DepthwiseConv2DOptions*, Diagnostics& told) {
        return !view.has_operand(2) || check_rank(view, 2, 1, 1, told);
      });
}

bool import_transpose_conv_options(const TfliteOp& from, const OpView& op, TransposeConvAttrs& attrs,
                                   Diagnostics& diags) {
  const auto* options = from.options<schema::TransposeConvOptions>();
  if (options == nullptr) return bad_attribute(op, diags, "the options (strides) are missing in the model");
  attrs.stride_h = options->stride_h();
  attrs.stride_w = options->stride_w();
  if (!check_padding(op, options->padding(), diags)) return false;
  // As of a convolution from the result to the input.
  const graph::Shape& w = op.operand(1).shape;
  int32_t behind = 0;
  set_pads(options->padding(), attrs.height, w[1], attrs.stride_h, 1, attrs.pad_top, behind);
  set_pads(options->padding(), attrs.width, w[2], attrs.stride_w, 1, attrs.pad_left, behind);
  return fused_activation(op, options->fused_activation_function(), attrs.activation, diags);
}

// The constant operand 0. If the model computes the operand, the shape that the file gives the result.
bool shape_of_transposed(const TfliteOp& from, const OpView& op, size_t rank, std::vector<int64_t>& shape,
                         Diagnostics& diags) {
  const graph::Shape& in_file = op.result().shape;
  const bool computed = from.settled() && op.constant(0) == nullptr;
  if (!computed || !from.shapes_as_in_file() || in_file.size() != rank)
    return constant_ints(op, 0, "shape", rank, shape, diags);
  shape.assign(in_file.begin(), in_file.end());
  return true;
}

// From (shape of the result, weights, input, bias).
Status import_transpose_conv(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<TransposeConvAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> shape;
  if (!check_counts(view, 3, 4, 1, diags) || !check_rank(view, 1, 4, 4, diags) || !check_rank(view, 2, 4, 4, diags) ||
      !check_weight_bytes(from, view, diags) || !shape_of_transposed(from, view, 4, shape, diags))
    return kFailure;
  if (shape.size() != 4 || !is_image_length(shape[1]) || !is_image_length(shape[2]) ||
      shape[0] != view.operand(2).shape[0] || shape[3] != view.operand(1).shape[0]) {
    bad_shape(view, diags,
              fmt::format("a result of shape {} does not match an input of shape {} and weights of shape {}",
                          graph::attribute_text::print(shape), graph::to_string(view.operand(2).shape),
                          graph::to_string(view.operand(1).shape)));
    return kFailure;
  }
  attrs->height = static_cast<int32_t>(shape[1]);
  attrs->width = static_cast<int32_t>(shape[2]);
  if (!import_transpose_conv_options(from, view, *attrs, diags)) return kFailure;
  std::vector<graph::TensorId> operands = {op.operands[2], op.operands[1]};
  if (op.operands.size() > 3) operands.push_back(op.operands[3]);
  op.operands = operands;
  const int bias_type = from.options<schema::TransposeConvOptions>()->quantized_bias_type();
  if (!check_bias_option(OpView{from.graph(), op}, bias_type, diags)) return kFailure;
  if (from.shifted() && !check_bias_scale(OpView{from.graph(), op}, diags)) return kFailure;
  return success();
}

// Options, and the pads with which windows of `w` lie in a volume of `lengths`.
bool import_volume(const TfliteOp& from, const OpView& view, const graph::Shape& w, std::span<const int64_t> lengths,
                   Conv3DAttrs& attrs, Diagnostics& diags) {
  const auto* options = from.options<schema::Conv3DOptions>();
  if (options == nullptr) return bad_attribute(view, diags, "the options (strides) are missing in the model");
  attrs.strides = {options->stride_d(), options->stride_h(), options->stride_w()};
  attrs.dilations = {options->dilation_d_factor(), options->dilation_h_factor(), options->dilation_w_factor()};
  if (!check_padding(view, options->padding(), diags)) return false;
  for (size_t i = 0; i < 3; ++i) {
    int32_t before = 0, after = 0;
    set_pads(options->padding(), lengths[i], w[i], attrs.strides[i], attrs.dilations[i], before, after);
    attrs.pads_before[i] = before;
    attrs.pads_after[i] = after;
  }
  return fused_activation(view, options->fused_activation_function(), attrs.activation, diags);
}

Status import_conv_3d(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<Conv3DAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 3, 1, diags) || !check_rank(view, 0, 5, 5, diags) || !check_rank(view, 1, 5, 5, diags))
    return kFailure;
  const std::span<const int64_t> lengths = std::span(view.operand(0).shape).subspan(1, 3);
  return import_volume(from, view, view.operand(1).shape, lengths, *attrs, diags) ? success() : Status(kFailure);
}

// From (shape of the result, weights, input, bias).
Status import_conv_3d_transpose(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<Conv3DAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> shape;
  if (!check_counts(view, 3, 4, 1, diags) || !check_rank(view, 1, 5, 5, diags) || !check_rank(view, 2, 5, 5, diags) ||
      !shape_of_transposed(from, view, 5, shape, diags))
    return kFailure;
  const graph::Shape &w = view.operand(1).shape, &in = view.operand(2).shape;
  if (shape.size() != 5 || shape[0] != in[0] || shape[4] != w[3]) {
    bad_shape(view, diags,
              fmt::format("a result of shape {} does not match an input of shape {} and weights of shape {}",
                          graph::attribute_text::print(shape), graph::to_string(in), graph::to_string(w)));
    return kFailure;
  }
  attrs->shape.assign(shape.begin() + 1, shape.end() - 1);
  if (!import_volume(from, view, w, attrs->shape, *attrs, diags)) return kFailure;
  // As of a convolution from the result to the input.
  for (size_t i = 0; i < 3; ++i) {
    const int64_t fits = window_output(attrs->shape[i], w[i], attrs->strides[i], attrs->dilations[i],
                                       attrs->pads_before[i], attrs->pads_after[i]);
    if (fits == in[i + 1]) continue;
    bad_shape(view, diags,
              fmt::format("a result of {} elements needs {} windows, but the input has {} elements", fits,
                          attrs->shape[i], in[i + 1]));
    return kFailure;
  }
  attrs->pads_after = {0, 0, 0};
  std::vector<graph::TensorId> operands = {op.operands[2], op.operands[1]};
  if (op.operands.size() > 3) operands.push_back(op.operands[3]);
  op.operands = operands;
  return success();
}

Status import_fully_connected(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  take_computed_weights(from, op, "fully_connected_computed");
  auto attrs = std::make_shared<FullyConnectedAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 3, 1, diags)) return kFailure;
  const bool blocks = from.block_scales().valid();
  if (blocks) {
    op.definition = operators().find("fully_connected_blocks");
    op.operands.insert(op.operands.begin() + 2, from.block_scales());
  } else if (!check_weight_bytes(from, view, diags) || !check_bias_scale(view, diags)) {
    return kFailure;
  }
  const auto* options = from.options<schema::FullyConnectedOptions>();
  if (!blocks && !check_bias_option(view, options ? options->quantized_bias_type() : 0, diags)) return kFailure;
  if (!options) return success();
  attrs->keep_num_dims = options->keep_num_dims();
  attrs->asymmetric_rows = !blocks && is_hybrid(view) && options->asymmetric_quantize_inputs();
  if (options->weights_format() != schema::FullyConnectedOptionsWeightsFormat_DEFAULT) {
    bad_attribute(view, diags, "shuffled weights are not supported; convert the model without them");
    return kFailure;
  }
  return fused_activation(view, options->fused_activation_function(), attrs->activation, diags) ? success()
                                                                                                : Status(kFailure);
}

Status import_batch_matmul(const TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attrs = std::make_shared<BatchMatmulAttrs>();
  if (const auto* options = from.options<schema::BatchMatMulOptions>()) {
    attrs->adj_x = options->adj_x();
    attrs->adj_y = options->adj_y();
  }
  op.attributes = attrs;
  return success();
}

template <bool average>
Status import_pool_2d(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<Pool2DAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 1, 1, 1, diags) || !check_rank(view, 0, 4, 4, diags)) return kFailure;
  const auto* options = from.options<schema::Pool2DOptions>();
  if (!options) {
    bad_attribute(view, diags, "the pooling options are missing in the model");
    return kFailure;
  }
  attrs->filter_h = options->filter_height();
  attrs->filter_w = options->filter_width();
  attrs->stride_h = options->stride_h();
  attrs->stride_w = options->stride_w();
  attrs->ties_up = average && from.shifted();
  bool done = import_window(view, options->padding(), options->fused_activation_function(), attrs->filter_h,
                            attrs->filter_w, *attrs, diags);
  return done ? success() : Status(kFailure);
}

}  // namespace

std::span<const Rule> convolution_rules() {
  static const Rule all[] = {
      {"CONV_2D", "conv_2d", import_conv_2d},
      {"DEPTHWISE_CONV_2D", "depthwise_conv_2d", import_depthwise_conv_2d},
      {"TRANSPOSE_CONV", "transpose_conv", import_transpose_conv},
      {"CONV_3D", "conv_3d", import_conv_3d},
      {"CONV_3D_TRANSPOSE", "conv_3d_transpose", import_conv_3d_transpose},
      {"FULLY_CONNECTED", "fully_connected", import_fully_connected},
      {"BATCH_MATMUL", "batch_matmul", import_batch_matmul},
      {.name = "AVERAGE_POOL_2D", .op = "average_pool_2d", .import = import_pool_2d<true>, .is_stored = are_stored<0>},
      {.name = "MAX_POOL_2D", .op = "max_pool_2d", .import = import_pool_2d<false>, .is_stored = are_stored<0>},
      {"L2_POOL_2D", "l2_pool_2d", import_pool_2d<false>},
  };
  return all;
}

}  // namespace aotc::frontends::tflite
