// SPDX-License-Identifier: Apache-2.0
// Operators on single elements; most have no options.
#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "frontends/tflite/rules/options.h"
#include "ops/common/binary.h"
#include "ops/common/checks.h"
#include "ops/common/fixed_scale.h"
#include "ops/elementwise/attributes.h"
#include "ops/leaky_relu/attributes.h"

namespace aotc::frontends::tflite {

namespace {

// The fused activation of an options table, none without one.
template <typename Options>
bool import_activation(const TfliteOp& from, const OpView& op, Activation& out, Diagnostics& diags) {
  const auto* options = from.options<Options>();
  return fused_activation(op, options ? static_cast<int>(options->fused_activation_function()) : 0, out, diags);
}

template <typename Options>
Status import_binary(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<BinaryAttrs>();
  op.attributes = attrs;
  return import_activation<Options>(from, {from.graph(), op}, attrs->activation, diags) ? success() : Status(kFailure);
}

// LiteRT divides no int64, which ONNX models do.
Status import_quotient(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  const OpView view{from.graph(), op};
  if (view.operand_count() > 0 && view.has_operand(0) && view.operand(0).dtype == DType::kI64 &&
      !check_type(view, 0, {DType::kI8, DType::kU8, DType::kI32, DType::kF32}, diags))
    return kFailure;
  return import_binary<schema::DivOptions>(from, op, diags);
}

// LiteRT broadcasts nothing here.
Status import_atan2(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  const OpView view{from.graph(), op};
  if (!import_defaults(from, op, diags)) return kFailure;
  if (view.operand_count() == 2 && view.has_operand(0) && view.has_operand(1) &&
      view.operand(0).shape != view.operand(1).shape) {
    bad_shape(view, diags,
              fmt::format("the operands have shapes {} and {}, but must have the same shape",
                          graph::to_string(view.operand(0).shape), graph::to_string(view.operand(1).shape)));
    return kFailure;
  }
  return success();
}

// LiteRT takes no other result of bytes.
Status import_logistic(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  if (!import_defaults(from, op, diags)) return kFailure;
  if (op.results.size() != 1) return success();
  const OpView view{from.graph(), op};
  const graph::TensorType& out = view.result();
  if (out.dtype != DType::kI8 || !out.quantization.present() || out.scale() == 1.0f / 256) return success();
  diags.error(view.where(), "op-quantization",
              fmt::format("the result has scale {}; logistic of int8 gives 1/256", out.scale()));
  return kFailure;
}

// Does the model ask for the arithmetic of `shift_only`? Unless it says no, where all scales are
// powers of two.
template <typename Options>
bool asks_for_shifts(const TfliteOp& from, const OpView& op) {
  if (op.operand_count() != 2 || !op.has_operand(0) || op.operand(0).dtype != DType::kI16) return false;
  const auto* options = from.options<Options>();
  return (options == nullptr || options->pot_scale_int16()) && whole_log2(op.operand(0).scale()) &&
         whole_log2(op.operand(1).scale()) && whole_log2(op.result().scale());
}

template <typename Options>
Status import_sum(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<BinaryAttrs>();
  op.attributes = attrs;
  const OpView view{from.graph(), op};
  attrs->shift_only = asks_for_shifts<Options>(from, view);
  return import_activation<Options>(from, view, attrs->activation, diags) ? success() : Status(kFailure);
}

Status import_gelu(const TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attrs = std::make_shared<GeluAttrs>();
  if (const auto* options = from.options<schema::GeluOptions>()) attrs->approximate = options->approximate();
  op.attributes = attrs;
  return success();
}

Status import_leaky_relu(const TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attrs = std::make_shared<LeakyReluAttrs>();
  if (const auto* options = from.options<schema::LeakyReluOptions>()) attrs->alpha = options->alpha();
  op.attributes = attrs;
  return success();
}

}  // namespace

std::span<const Rule> elementwise_rules() {
  static const Rule all[] = {
      {"ADD", "add", import_sum<schema::AddOptions>},
      {"SUB", "sub", import_sum<schema::SubOptions>},
      {"MUL", "mul", import_binary<schema::MulOptions>},
      {"DIV", "div", import_quotient},
      {"GELU", "gelu", import_gelu},
      {"LEAKY_RELU", "leaky_relu", import_leaky_relu},
      {"ABS", "abs"},
      {"ADD_N", "add_n"},
      {"ATAN2", "atan2", import_atan2},
      {"BITCAST", "bitcast"},
      {"BITWISE_XOR", "bitwise_xor"},
      {"CAST", "cast"},
      {"CEIL", "ceil"},
      {"COS", "cos"},
      {"DEQUANTIZE", "dequantize"},
      {"ELU", "elu"},
      {"EQUAL", "equal"},
      {"EXP", "exp"},
      {"FLOOR", "floor"},
      {"FLOOR_DIV", "floor_div"},
      {"FLOOR_MOD", "floor_mod"},
      {"GREATER", "greater"},
      {"GREATER_EQUAL", "greater_equal"},
      {"HARD_SWISH", "hard_swish"},
      {"LESS", "less"},
      {"LESS_EQUAL", "less_equal"},
      {"LOG", "log"},
      {"LOGICAL_AND", "logical_and"},
      {"LOGICAL_NOT", "logical_not"},
      {"LOGICAL_OR", "logical_or"},
      {"LOGISTIC", "logistic", import_logistic},
      {.name = "MAXIMUM", .op = "maximum", .is_stored = are_stored<0, 1>},
      {.name = "MINIMUM", .op = "minimum", .is_stored = are_stored<0, 1>},
      {"NEG", "neg"},
      {"NOT_EQUAL", "not_equal"},
      {"POW", "pow"},
      {"PRELU", "prelu"},
      {"QUANTIZE", "quantize"},
      {"RELU", "relu"},
      {"RELU6", "relu6"},
      {"RELU_0_TO_1", "relu_0_to_1"},
      {"RELU_N1_TO_1", "relu_n1_to_1"},
      {"RIGHT_SHIFT", "right_shift"},
      {"ROUND", "round"},
      {"RSQRT", "rsqrt"},
      {.name = "SELECT", .op = "select", .is_stored = are_stored<1, 2>},
      {.name = "SELECT_V2", .op = "select_v2", .is_stored = are_stored<1, 2>},
      {"SIGN", "sign"},
      {"SIN", "sin"},
      {"SQRT", "sqrt"},
      {"SQUARE", "square"},
      {"SQUARED_DIFFERENCE", "squared_difference"},
      {"TANH", "tanh"},
  };
  return all;
}

}  // namespace aotc::frontends::tflite
