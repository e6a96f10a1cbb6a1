// SPDX-License-Identifier: Apache-2.0
// Generated kernels of the int8 LSTM. The gates of a step are rows [gate][cell] of int16, in the order of LstmScaling:
// (input,) forget, output, cell gate. Rows of gates have `stride` elements, at least the number of cells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cores/implementation.h"
#include "support/numerics.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

// Words of the table that the kernels of cells read.
struct LstmCellTable {
  enum Word { kStride, kCells, kMultiplier, kRight, kZeroPoint, kAddend, kPasses, kWords };
  int64_t stride = 0, cells = 0;
  QuantizedMultiplier hidden;
  int32_t zero_point = 0;

  // The stride is in bytes; kPasses: of eight cells; kRight is 0 or negative. kAddend: what is added before the shift
  // to round and to add the zero point.
  std::vector<int32_t> words() const;
};

// `set`: "mve" or "dsp"; the kernels of a set have its instructions, and the same meaning.

// (values: int16, in place; count). Sigmoid has 3 integer bits.
tir::KernelPtr lstm_sigmoid_kernel(const std::string& set);
tir::KernelPtr lstm_tanh_kernel(const std::string& set, int integer_bits);
// (gates, cell: int16, table): cell = saturate(forget * cell + input * fresh), limited by `clip` if that is above 0.
// The new cell state is also stored in the rows of gate 0, where tanh of it follows. `exponent`: of the cell's scale.
// `part`: the number of cells is no multiple of the cells of a pass; of the kernels that have several.
tir::KernelPtr lstm_cell_kernel(const std::string& set, int exponent, int32_t clip, bool part = true);
// (gates, out: int8, table): out = requantised product of the output gate (gate 2) and gate 0.
// The multiplier has no left shift: the reference's 32 bits would not hold it. `right`: it has a right shift.
tir::KernelPtr lstm_hidden_kernel(const std::string& set, bool right, bool part = true);

// Where a table has the words of a multiplier; -1: the shift is not made. `negative`: the shift to the right is stored
// as 0 or a negative number.
struct ScalingWords {
  int multiplier, left, right;
  bool negative = true;
};
// x times the multiplier, as the reference rounds it.
tir::Ex emit_scaling(tir::FunctionBuilder& f, const tir::Ex& x, const tir::BufferPtr& table, const ScalingWords& words);

Implementation mve_lstm_sigmoid(const tir::Kernel& kernel);
Implementation mve_lstm_tanh(const tir::Kernel& kernel);
Implementation mve_lstm_cell(const tir::Kernel& kernel);
Implementation mve_lstm_hidden(const tir::Kernel& kernel);

Implementation dsp_lstm_sigmoid(const tir::Kernel& kernel);
Implementation dsp_lstm_tanh(const tir::Kernel& kernel);
Implementation dsp_lstm_cell(const tir::Kernel& kernel);
Implementation dsp_lstm_hidden(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
