// SPDX-License-Identifier: Apache-2.0
// Weights of uint8 for kernels of bytes. They are stored less 128, and what their zero point then adds to a result
// is a multiple of the sum of its window. The one thing to know: the sum, in parts that fit in halfwords, is made
// more elements of the window, with that multiple as weight, so the kernels know nothing of it.
#pragma once

#include <optional>
#include <vector>

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

// The steps of a window of so many rows: words of `lanes` elements of each row, then what remains of all rows.
PairOrder window_steps(int64_t rows, int64_t row_elements, int64_t lanes);

struct SummedWeights {
  std::vector<int8_t> weights;  // [channels][k]
  int64_t k;                    // elements of a window, and behind them the parts of its sum
  int64_t steps = 0;            // of these parts
};
// `order` is that of the window's k elements; the steps of its sum are appended. Of int8 weights nothing is, and the
// weights are the operand's. Nothing if the multiple is no byte.
std::optional<SummedWeights> weights_with_sums(const ops::OpView& op, int64_t channels, int64_t k, PairOrder& order);

struct WindowPanel {
  tir::BufferPtr panel;  // [steps + sum_steps][pixels] of two halfwords
  int64_t pixels, steps, sum_steps;
};
// Fills the last steps from the others.
void emit_window_sums(tir::FunctionBuilder& f, const WindowPanel& window);

}  // namespace aotc::cores::arm
