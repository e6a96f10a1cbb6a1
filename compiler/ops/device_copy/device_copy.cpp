// SPDX-License-Identifier: Apache-2.0
// device_copy: the operand's bytes in the memory of another device. It computes nothing, and is never
// removed: what it is for lies in the devices of its operand and its result.
#include <algorithm>
#include <iterator>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

// Beside what operators of movement take: what models have as inputs, outputs and stored floats.
constexpr DType kAlso[] = {DType::kU32, DType::kF64};

std::vector<TypeEntry> copied_types() {
  std::vector<TypeEntry> out = movable_types();
  out.insert(out.end(), std::begin(kAlso), std::end(kAlso));
  return out;
}

class DeviceCopy final : public SpecifiedOperator {
 public:
  DeviceCopy()
      : SpecifiedOperator({.name = "device_copy",
                           .summary = "a tensor brought to the memory of another device; made by the compiler",
                           .operands = {{.name = "x", .types = copied_types()}},
                           .results = {{.name = "y"}},
                           .traits = {.device_copy = true}}) {}

  void evaluate(const OpView&, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
  }
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "device_copy");
    tir::BufferPtr in = f.operand(0), out = f.result();
    f.copy(out, 0, in, 0, in->elements);
    return f.finish("copy");
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {0};
    return std::find(std::begin(kAlso), std::end(kAlso), op.operand(0).dtype) != std::end(kAlso) ||
           check_moves(op, moved, diags);
  }
};

}  // namespace

void add_operators_device_copy(OperatorSet& set) { set.add(std::make_unique<DeviceCopy>()); }

}  // namespace aotc::ops
