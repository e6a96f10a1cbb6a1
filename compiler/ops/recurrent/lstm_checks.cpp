// SPDX-License-Identifier: Apache-2.0
// What the operands of an LSTM have to be, whatever its types and directions.
#include <tuple>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/recurrent/float_lstm.h"
#include "ops/recurrent/recurrent.h"

namespace aotc::ops {

namespace {

bool has_port(const OpView& op, size_t first, size_t gate) {
  return first != LstmPorts::kNone && op.has_operand(first + gate);
}

bool wrong_operands(const OpView& op, Diagnostics& diags, const std::string& message) {
  diags.error(op.where(), "op-operands", message);
  return false;
}

// All of gates 1 to 3 or none, and the input gate's with them unless it is coupled to the forget gate.
bool whole(const OpView& op, size_t first, bool coupled, bool must_be) {
  if (first == LstmPorts::kNone) return true;
  const bool there = op.has_operand(first + 1);
  return (there || !must_be) && op.has_operand(first + 2) == there && op.has_operand(first + 3) == there &&
         op.has_operand(first) == (there && !coupled);
}

}  // namespace

std::vector<size_t> lstm_matrices(const LstmPorts& p) {
  std::vector<size_t> out;
  for (size_t first : {p.weights, p.recurrent, p.aux_weights})
    for (size_t g = 0; g < LstmPorts::kGates && first != LstmPorts::kNone; ++g) out.push_back(first + g);
  out.push_back(p.projection);
  return out;
}

std::vector<size_t> lstm_vectors(const LstmPorts& p) { return {p.peephole, p.peephole + 1, p.peephole + 2}; }

std::vector<OperandSpec> lstm_operand_specs(size_t count, std::span<const LstmPorts> lstms) {
  std::vector<OperandSpec> out(count);
  for (const LstmPorts& p : lstms) {
    const std::tuple<std::string_view, size_t, size_t> vectors_and_matrices[] = {
        {"weights", p.weights, LstmPorts::kGates},
        {"recurrent_weights", p.recurrent, LstmPorts::kGates},
        {"peephole", p.peephole, LstmPorts::kGates - 1},
        {"bias", p.bias, LstmPorts::kGates},
        {"projection_bias", p.projection_bias, 1},
        {"normalization", p.norm, LstmPorts::kGates},
        {"auxiliary_weights", p.aux_weights, LstmPorts::kGates}};
    for (const auto& [name, first, number] : vectors_and_matrices)
      for (size_t i = first; first != LstmPorts::kNone && i < first + number; ++i)
        out[i] = {.name = name, .optional = true};
    out[p.projection] = {.name = "projection", .optional = true, .ranks = {2, 2}};
    out[p.output_state] = {.name = "output_state", .ranks = {2, 2}};
    out[p.cell_state] = {.name = "cell_state", .ranks = {2, 2}};
    if (p.aux != LstmPorts::kNone) out[p.aux] = {.name = "auxiliary_input", .optional = true, .ranks = {3, 3}};
  }
  return out;
}

bool check_lstm_operands(const OpView& op, const LstmPorts& p, Diagnostics& diags) {
  const bool coupled = !op.has_operand(p.weights);
  for (size_t first : {p.weights, p.recurrent, p.bias})
    if (!whole(op, first, coupled, true))
      return wrong_operands(op, diags,
                            "weights, recurrent weights and biases of every gate must be there; those of "
                            "the input gate may be left out together");
  for (size_t first : {p.norm, p.aux_weights})
    if (!whole(op, first, coupled, false))
      return wrong_operands(op, diags, "what one gate has of layer normalisation or an auxiliary input, all have");
  const bool forget = op.has_operand(p.peephole + 1);
  if (op.has_operand(p.peephole + 2) != forget || op.has_operand(p.peephole) != (forget && !coupled))
    return wrong_operands(op, diags, "peepholes go to the input, forget and output gate, or to none");
  if (op.has_operand(p.projection_bias) && !op.has_operand(p.projection))
    return wrong_operands(op, diags, "a bias of the projection without its weights");
  if (has_port(op, p.aux_weights, 1) && !op.has_operand(p.aux))
    return wrong_operands(op, diags, "weights of an auxiliary input without the input");
  return true;
}

LstmSizes::LstmSizes(const OpView& op, const LstmPorts& p, bool is_time_major) {
  const graph::Shape& in = op.operand(p.input).shape;
  rows = {in[is_time_major ? 1 : 0], in[is_time_major ? 0 : 1], is_time_major};
  inputs = in[2];
  aux_inputs = has_port(op, p.aux_weights, 1) ? op.operand(p.aux).shape[2] : 0;
  cells = op.operand(p.cell_state).shape[1];
  projected = op.has_operand(p.projection);
  outputs = projected ? op.operand(p.projection).shape[0] : cells;
  coupled = !op.has_operand(p.weights);
  peepholes = op.has_operand(p.peephole + 1);
  normalised = has_port(op, p.norm, 1);
  gates = coupled ? std::vector<size_t>{1, 2, 3} : std::vector<size_t>{0, 1, 2, 3};
}

int64_t LstmSizes::macs() const {
  const int64_t of_gates = cells * static_cast<int64_t>(gates.size()) * (inputs + aux_inputs + outputs);
  return rows.batches * rows.times * (of_gates + (projected ? cells * outputs : 0));
}

bool check_lstm_shapes(const OpView& op, const LstmPorts& p, const LstmSizes& s, Diagnostics& diags) {
  auto wants = [&](size_t operand, const graph::Shape& wanted) { return check_shape_of(op, operand, wanted, diags); };
  bool good = wants(p.output_state, {s.rows.batches, s.outputs}) && wants(p.cell_state, {s.rows.batches, s.cells}) &&
              wants(p.projection, {s.outputs, s.cells}) && wants(p.projection_bias, {s.outputs});
  for (size_t g = 0; g < LstmPorts::kGates && good; ++g)
    good = wants(p.weights + g, {s.cells, s.inputs}) && wants(p.recurrent + g, {s.cells, s.outputs}) &&
           wants(p.bias + g, {s.cells}) && wants(LstmPorts::of(p.norm, g), {s.cells}) &&
           wants(LstmPorts::of(p.aux_weights, g), {s.cells, s.aux_inputs}) &&
           (g == 3 || wants(p.peephole + g, {s.cells}));
  if (good && s.aux_inputs > 0) {
    graph::Shape wanted = op.operand(p.input).shape;
    wanted[2] = s.aux_inputs;
    good = wants(p.aux, wanted);
  }
  if (good && (s.inputs < 1 || s.cells < 1 || s.outputs < 1 || s.rows.batches < 1 || s.rows.times < 1))
    return bad_shape(op, diags, "a sequence without elements");
  return good;
}

bool check_float_lstms(const OpView& op, std::span<const LstmPorts> lstms, Diagnostics& diags) {
  std::vector<size_t> weights, floats;
  for (const LstmPorts& p : lstms) {
    weights = joined(joined(std::move(weights), lstm_matrices(p)), lstm_vectors(p));
    floats = joined(std::move(floats), {p.input, p.output_state, p.cell_state, p.projection_bias, p.aux});
    for (size_t g = 0; g < LstmPorts::kGates; ++g)
      floats = joined(std::move(floats), {p.bias + g, LstmPorts::of(p.norm, g)});
  }
  if (!check_float_weights(op, weights, diags)) return false;
  for (size_t i : floats)
    if (op.has_operand(i) && !check_type(op, i, {DType::kF32}, diags)) return false;
  return true;
}

}  // namespace aotc::ops
