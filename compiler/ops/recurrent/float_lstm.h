// SPDX-License-Identifier: Apache-2.0
// One LSTM over a sequence in float: where its operands are, what they have to be, and the loops over steps. The
// one thing to know: unidirectional and bidirectional layers are made of it, float32 and dynamic range.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ops/recurrent/float_products.h"
#include "ops/signature.h"

namespace aotc::ops {

// Operands and results of one LSTM. Gates are in the order input, forget, cell, output; those of the input gate
// are absent where it is one less the forget gate. Peepholes are of the input, forget and output gate.
struct LstmPorts {
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kGates = 4;

  size_t input = 0, weights, recurrent, peephole, bias, projection, projection_bias, output_state, cell_state;
  size_t norm = kNone, aux = kNone, aux_weights = kNone;
  size_t output = 0, next_output = 0, next_cell = 0;  // results

  // Of gate g, kNone where the layer has none.
  static size_t of(size_t first, size_t g) { return first == kNone ? kNone : first + g; }
  size_t peephole_of(size_t gate) const { return peephole + (gate == 3 ? 2 : gate); }
};

struct LstmSizes {
  LstmSizes(const OpView& op, const LstmPorts& ports, bool is_time_major);

  SequenceRows rows;
  int64_t inputs, aux_inputs, cells, outputs;
  bool coupled, peepholes, normalised, projected;
  std::vector<size_t> gates;  // those that there are

  int64_t macs() const;
};

// The operands of these LSTMs with their presence and ranks; the caller states the input, and all types are left to the
// checks. LstmSizes may be made once these and check_lstm_operands hold.
std::vector<OperandSpec> lstm_operand_specs(size_t count, std::span<const LstmPorts> lstms);
// Which operands there are together; then shapes.
bool check_lstm_operands(const OpView& op, const LstmPorts& ports, Diagnostics& diags);
bool check_lstm_shapes(const OpView& op, const LstmPorts& ports, const LstmSizes& sizes, Diagnostics& diags);
// Of float activations: types, constants, quantisation; the weights of all directions have one type.
bool check_float_lstms(const OpView& op, std::span<const LstmPorts> lstms, Diagnostics& diags);

struct FloatLstmOptions {
  Nonlinearity nonlinearity = Nonlinearity::kTanh;
  float cell_clip = 0, projection_clip = 0;
  bool backward = false;
  int64_t output_at = 0, output_depth = 0;  // where in a row of the output
};
// Every operand that is a matrix, and those that are vectors of weights.
std::vector<size_t> lstm_matrices(const LstmPorts& ports);
std::vector<size_t> lstm_vectors(const LstmPorts& ports);
// Elements of scratch.
int64_t lstm_floats(const LstmSizes& sizes);
int64_t lstm_quantised(const LstmSizes& sizes);

void emit_float_lstm(LoweringBuilder& f, FloatProducts& products, const LstmPorts& ports, const LstmSizes& sizes,
                     const FloatLstmOptions& options);

}  // namespace aotc::ops
