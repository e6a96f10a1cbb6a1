// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. Their states are variable tensors of the file.
#include <array>

#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "frontends/tflite/rules/options.h"
#include "ops/recurrent/attributes.h"
#include "ops/recurrent/lstm.h"
#include "ops/svdf/svdf.h"

namespace aotc::frontends::tflite {

namespace {

// ActivationFunctionType; false for the sign bit.
bool nonlinearity_of(int code, Nonlinearity& out) {
  constexpr std::array kByCode = {Nonlinearity::kNone, Nonlinearity::kRelu, Nonlinearity::kReluN1To1,
                                  Nonlinearity::kRelu6, Nonlinearity::kTanh};
  if (code < 0 || code >= static_cast<int>(kByCode.size())) return false;
  out = kByCode[static_cast<size_t>(code)];
  return true;
}

// Reports that there is no such activation.
Status refuse_activation(const graph::Op& op, Diagnostics& diags) {
  diags.error(op.location, "op-attribute", "the activation is not supported")
      .help("the supported activations are tanh, RELU, RELU6 and RELU_N1_TO_1, and for RNNs also none");
  return kFailure;
}

Status import_lstm(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto refuse = [&](const char* what) {
    diags.error(op.location, "op-attribute", fmt::format("{} is not supported", what))
        .help("a Keras LSTM layer with its default activations is supported");
    return Status(kFailure);
  };
  auto attrs = std::make_shared<LstmAttrs>();
  op.attributes = attrs;
  const auto* options = from.options<schema::UnidirectionalSequenceLSTMOptions>();
  if (options == nullptr ||
      !nonlinearity_of(static_cast<int>(options->fused_activation_function()), attrs->nonlinearity))
    return refuse("an LSTM with activation SIGN_BIT, or without options,");
  // The reference then multiplies what another gate left in its memory.
  if (attrs->nonlinearity == Nonlinearity::kNone) return refuse("an LSTM without an activation");
  if (options->diagonal_recurrent_tensors()) return refuse("a diagonal of recurrent weights");
  attrs->time_major = options->time_major();
  attrs->cell_clip = options->cell_clip();
  attrs->projection_clip = options->proj_clip();
  attrs->asymmetric_rows = options->asymmetric_quantize_inputs();
  op.operands.resize(lstm::kOperands);
  const bool normalised = op.operands[lstm::kNorm + 1].valid();
  for (uint32_t g = 0; normalised && g < attrs->gate_scales.size(); ++g)
    if (auto gate = from.intermediate_quantization(g)) attrs->gate_scales[g] = gate->first;
  if (auto hidden = from.intermediate_quantization(4)) {
    attrs->hidden_scale = hidden->first;
    attrs->hidden_zero_point = hidden->second;
  }
  return success();
}

Status import_bidirectional_lstm(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<BidirectionalLstmAttrs>();
  op.attributes = attrs;
  const auto* options = from.options<schema::BidirectionalSequenceLSTMOptions>();
  // Without an activation the reference multiplies what another gate left in its memory.
  if (options == nullptr ||
      !nonlinearity_of(static_cast<int>(options->fused_activation_function()), attrs->nonlinearity) ||
      attrs->nonlinearity == Nonlinearity::kNone)
    return refuse_activation(op, diags);
  attrs->time_major = options->time_major();
  attrs->merge_outputs = options->merge_outputs();
  attrs->cell_clip = options->cell_clip();
  attrs->projection_clip = options->proj_clip();
  attrs->asymmetric_rows = options->asymmetric_quantize_inputs();
  op.operands.resize(kBothOperands);
  return success();
}

// Those of all RNNs; false: there are none.
template <typename Options>
bool take(const Options* options, RnnAttrs& attrs, bool& known) {
  if (options == nullptr) return false;
  attrs.asymmetric_rows = options->asymmetric_quantize_inputs();
  known = nonlinearity_of(static_cast<int>(options->fused_activation_function()), attrs.nonlinearity);
  return true;
}

Status import_rnn(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<RnnAttrs>();
  op.attributes = attrs;
  bool known = false;
  take(from.options<schema::RNNOptions>(), *attrs, known);
  return known ? success() : refuse_activation(op, diags);
}

Status import_sequence_rnn(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<RnnAttrs>();
  op.attributes = attrs;
  bool known = false;
  const auto* options = from.options<schema::SequenceRNNOptions>();
  if (take(options, *attrs, known)) attrs->time_major = options->time_major();
  return known ? success() : refuse_activation(op, diags);
}

Status import_bidirectional_rnn(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<RnnAttrs>();
  op.attributes = attrs;
  bool known = false;
  const auto* options = from.options<schema::BidirectionalSequenceRNNOptions>();
  if (take(options, *attrs, known)) {
    attrs->time_major = options->time_major();
    attrs->merge_outputs = options->merge_outputs();
  }
  op.operands.resize(12);
  return known ? success() : refuse_activation(op, diags);
}

Status import_svdf(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SvdfAttrs>();
  op.attributes = attrs;
  const auto* options = from.options<schema::SVDFOptions>();
  if (options == nullptr) return success();
  attrs->rank = options->rank();
  attrs->asymmetric_rows = options->asymmetric_quantize_inputs();
  if (activation_of(options->fused_activation_function(), attrs->activation)) return success();
  diags.error(op.location, "op-attribute", "the fused activation is not supported")
      .help("export the layer without an activation, and add the activation as a separate operator");
  return kFailure;
}

}  // namespace

std::span<const Rule> recurrent_rules() {
  static const Rule all[] = {
      {.name = "UNIDIRECTIONAL_SEQUENCE_LSTM",
       .op = "unidirectional_sequence_lstm",
       .import = import_lstm,
       .states = {lstm::kOutputState, lstm::kCellState}},
      {.name = "BIDIRECTIONAL_SEQUENCE_LSTM",
       .op = "bidirectional_sequence_lstm",
       .import = import_bidirectional_lstm,
       .states = {35, 36, 37, 38}},
      {.name = "RNN", .op = "rnn", .import = import_rnn, .states = {4}},
      {.name = "UNIDIRECTIONAL_SEQUENCE_RNN",
       .op = "unidirectional_sequence_rnn",
       .import = import_sequence_rnn,
       .states = {4}},
      {.name = "BIDIRECTIONAL_SEQUENCE_RNN",
       .op = "bidirectional_sequence_rnn",
       .import = import_bidirectional_rnn,
       .states = {4, 8}},
      {.name = "SVDF", .op = "svdf", .import = import_svdf, .states = {svdf::kState}},
  };
  return all;
}

}  // namespace aotc::frontends::tflite
