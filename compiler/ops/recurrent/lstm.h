// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm: what its checks, its evaluation and its lowering share.
#pragma once

#include <array>
#include <vector>

#include "ops/common/requantize.h"
#include "ops/operator.h"
#include "ops/recurrent/float_lstm.h"

namespace aotc::ops {

struct LstmAttrs : graph::Attributes<LstmAttrs> {
  bool time_major = false;    // input [time, batch, input]; else [batch, time, input]
  float cell_clip = 0;        // the cell state stays within [-cell_clip, cell_clip]; 0: wherever it goes
  float projection_clip = 0;  // the same of what a projection gives
  Nonlinearity nonlinearity = Nonlinearity::kTanh;
  bool asymmetric_rows = false;  // dynamic range: rows are quantised with a zero point
  // int8 only: what the output gate's product is quantised to.
  float hidden_scale = 0;
  int64_t hidden_zero_point = 0;
  // int8 with layer normalisation only: what the sums of the gates are quantised to, in the order of the operands.
  std::array<float, 4> gate_scales = {};

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("time_major", self.time_major);
    field("cell_clip", self.cell_clip);
    field("projection_clip", self.projection_clip);
    field("nonlinearity", self.nonlinearity);
    field("asymmetric_rows", self.asymmetric_rows);
    field("hidden_scale", self.hidden_scale);
    field("hidden_zero_point", self.hidden_zero_point);
    field("input_gate_scale", self.gate_scales[0]);
    field("forget_gate_scale", self.gate_scales[1]);
    field("cell_gate_scale", self.gate_scales[2]);
    field("output_gate_scale", self.gate_scales[3]);
  }
};

// Operands and results.
namespace lstm {
constexpr size_t kInput = 0, kWeights = 1, kRecurrent = 5, kPeephole = 9, kBias = 12, kProjection = 16,
                 kProjectionBias = 17, kOutputState = 18, kCellState = 19, kNorm = 20, kOperands = 24;
constexpr size_t kOutput = 0, kNextOutput = 1, kNextCell = 2;
constexpr size_t kGates = LstmPorts::kGates;
constexpr int64_t kCellGate = 2;  // of the gates
const LstmPorts& ports();
}  // namespace lstm

LstmSizes lstm_sizes(const OpView& op);

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

// The integer arithmetic, worked out once. Gates are those that there are, sigmoids first: (input,) forget,
// output, cell.
struct LstmScaling {
  explicit LstmScaling(const OpView& op);

  std::vector<size_t> gates;               // which of lstm::kGates
  std::vector<std::vector<int32_t>> bias;  // [2 * gate]: of inputs, [2 * gate + 1]: of the output state
  Requantization sums;                     // channels as `bias`; to 12 fraction bits, or the gates' scales
  Requantization hidden;                   // 30 fraction bits to the output, or to what is projected
  int cell_exponent = 0;                   // the cell state's scale is 2 to it
  int32_t cell_clip = 0;                   // 0: none
};

// The exponent of a scale that is a power of two; false for others.
bool exponent_of_scale(float scale, int& exponent);

Lowered lower_lstm(const OpView& op);

}  // namespace aotc::ops
