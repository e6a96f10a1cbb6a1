// SPDX-License-Identifier: Apache-2.0
// Lowering of unidirectional_sequence_lstm of int8 for any CPU: cell by cell, so that nothing but the states is kept.
#pragma once

#include <optional>
#include <vector>

#include "ops/recurrent/lstm.h"

namespace aotc::ops {

class LstmLowering {
 public:
  explicit LstmLowering(const OpView& op);

  Lowered run();

 private:
  // Makes the tables of the products. Weights are [cell][input][gate], recurrent ones alike.
  void begin_products(const std::vector<int8_t>& weights, const std::vector<int8_t>& recurrent);
  // A step of one batch: its input begins at `x`, its states at `h`, its output at `to`.
  void cells(const tir::Ex& x, const tir::Ex& h, const tir::Ex& to);

  static tir::Ex clamp16(const tir::Ex& v) { return clamp(v, tir::Ex(-32768), tir::Ex(32767)); }
  // The output, from what gates_ hold; the cell state is changed.
  tir::Ex cell_of_gates(const tir::Ex& h, const tir::Ex& c);

  void pack();
  void step(const tir::Ex& t, const tir::Ex& b);
  void dots(const tir::Ex& bias, const tir::BufferPtr& weights, const tir::Ex& row, const tir::BufferPtr& values,
            const tir::Ex& first, int64_t depth);
  void integer_gates(const tir::Ex& x, const tir::Ex& h, const tir::Ex& c);

  const OpView& op_;
  LoweringBuilder f_;
  LstmSizes shape_;
  std::optional<LstmScaling> scaling_;
  std::optional<Requantizer> sums_, hidden_;
  tir::BufferPtr in_, out_, next_output_, next_cell_, weights_, recurrent_, bias_, gates_, sums_of_;
};

}  // namespace aotc::ops
