// SPDX-License-Identifier: Apache-2.0
// Broadcasting: which element of each operand makes a result element, as the smallest loop nest.
// Dimensions of one element vanish and neighbours that every operand walks in step become one loop,
// so operands of equal shape, and scalars, give a single flat loop. The one thing to know: in
// emitted code an operand is prepared as far out as its index allows, so whatever `prepare`
// computes of a broadcast operand is computed once per inner loop.
#pragma once

#include <functional>
#include <vector>

#include "ops/lowering.h"
#include "ops/operator.h"

namespace aotc::ops {

// The common shape of both, aligned at the last dimension; false if there is none.
bool broadcast_shapes(const graph::Shape& a, const graph::Shape& b, graph::Shape& out);

class Broadcast {
 public:
  // `operands` must broadcast to `result`.
  Broadcast(const graph::Shape& result, const std::vector<graph::Shape>& operands);
  // All operands of `op` to its result.
  explicit Broadcast(const OpView& op);

  // Outermost first; no loop at all means one element.
  struct Loop {
    int64_t size;
    std::vector<int64_t> strides;  // per operand, in elements; 0 where it is broadcast
  };
  const std::vector<Loop>& loops() const { return loops_; }

  // visit(result index, operand indices) for every result element in order.
  template <typename F>
  void for_each(F visit) const {
    std::vector<int64_t> position(loops_.size(), 0);
    std::vector<int64_t> index(operands_, 0);
    for (int64_t at = 0; at < elements_; ++at) {
      visit(static_cast<size_t>(at), index);
      advance(position, index);
    }
  }

  // prepare(operand, index) gives the value of an operand's element, which combine(values) makes a
  // result of; the result is stored in `out`.
  using Prepare = std::function<tir::Ex(size_t operand, const tir::Ex& index)>;
  using Combine = std::function<tir::Ex(const std::vector<tir::Ex>& values)>;
  void emit(tir::FunctionBuilder& f, const tir::BufferPtr& out, const Prepare& prepare, const Combine& combine) const;

 private:
  struct Emission;
  void advance(std::vector<int64_t>& position, std::vector<int64_t>& index) const;
  // Number of loops that must be open before the operand's index is known.
  size_t depth_of(size_t operand) const;

  size_t operands_;
  int64_t elements_ = 1;
  std::vector<Loop> loops_;
};

// Publishes that the result may lie on an operand of its own shape and type: each element is read
// before it is written.
void publish_in_place(LoweringBuilder& f, const OpView& op);

}  // namespace aotc::ops
