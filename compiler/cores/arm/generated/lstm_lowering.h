// SPDX-License-Identifier: Apache-2.0
// Lowering of unidirectional_sequence_lstm of int8 in rows [gate][cell], so that gates are vectors of cells. The
// products with the inputs of several time steps are one matrix product; those with the output state follow step by
// step.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cores/arm/generated/lstm_kernels.h"
#include "cores/arm/lowering.h"
#include "kernelgen/segment_cost.h"
#include "ops/recurrent/lstm.h"

namespace aotc::cores::arm {

class LstmGatesLowering {
 public:
  // `set`: of the kernels (lstm_kernels.h).
  LstmGatesLowering(const OpView& op, const TargetInfo& target, std::string set);
  virtual ~LstmGatesLowering() = default;

  Lowered run();

 protected:
  static constexpr int64_t kGates = 4;
  // Elements of a row of gates, and time steps whose inputs are one product. Called first; no scratch yet.
  virtual int64_t stride() const = 0;
  virtual int64_t steps() const = 0;
  // Makes the tables of the products.
  virtual void begin_products() = 0;
  // Elements of int16 that the products need behind the gates.
  virtual int64_t more_scratch() const { return 0; }
  // Gates of `count` steps from the input at `x` on, `row_step` elements apart. Count is steps(), or 1.
  virtual void input_gates(const tir::Ex& x, int64_t row_step, int64_t count) = 0;
  // Adds the products with the output state at `h` to the gates at element `gates` of the scratch.
  virtual void add_recurrent_gates(const tir::Ex& h, const tir::Ex& gates) = 0;
  virtual std::string note() const = 0;

  // Rows [gate][stride][depth], zeros behind the cells.
  std::vector<int8_t> weights(bool recurrent) const;
  QuantizedMultiplier scale(int64_t gate, bool recurrent) const;
  // Biases of a gate, zeros behind the cells.
  std::vector<int32_t> bias(int64_t gate, bool recurrent) const;

  // Runs the product of every gate. Gates with the same kernel share a loop.
  void for_gates(const std::function<tir::KernelPtr(int64_t gate)>& kernel,
                 const std::function<void(const tir::KernelPtr& kernel, const tir::Ex& gate)>& call);
  // Number of pieces of the inner loop to write out, for a product that runs `calls` times for each gate.
  int64_t best_unroll(const kernelgen::SegmentCost& cost, int64_t groups, int64_t calls) const;

  const OpView& op_;
  const TargetInfo& target_;
  LoweringBuilder f_;
  LstmSizes shape_;
  LstmScaling scaling_;
  std::string set_;
  tir::BufferPtr in_, next_output_, gates_;

 private:
  void step(const tir::Ex& row, const tir::Ex& h, const tir::Ex& gates);

  tir::BufferPtr out_, next_cell_, cell_table_;
};

}  // namespace aotc::cores::arm
