// SPDX-License-Identifier: Apache-2.0
// device_copy: the operand's bytes in the memory of another device. It computes nothing, and is never
// removed: what it is for lies in the devices of its operand and its result.
#include <algorithm>
#include <iterator>

#include "ops/common/checks.h"
#include "ops/common/movement.h"

namespace aotc::ops {

namespace {

// Beside what operators of movement take: what models have as inputs, outputs and stored floats.
constexpr DType kAlso[] = {DType::kU32, DType::kU16, DType::kF64};

class DeviceCopy final : public Operator {
 public:
  std::string_view name() const override { return "device_copy"; }
  std::string_view summary() const override {
    return "a tensor brought to the memory of another device; made by the compiler";
  }
  std::vector<TypeSupport> types() const override {
    std::vector<TypeSupport> out = movable_types();
    for (DType type : kAlso) out.push_back({type, ""});
    return out;
  }
  Traits traits() const override { return {.device_copy = true}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }
  Status verify(const OpView& op, Diagnostics& diags) const override {
    const DType type = op.operand(0).dtype;
    if (std::find(std::begin(kAlso), std::end(kAlso), type) != std::end(kAlso))
      return check_result_type(op, 0, type, diags) ? success() : Status(kFailure);
    const size_t moved[] = {0};
    return check_moves(op, moved, diags) ? success() : Status(kFailure);
  }
  void evaluate(const OpView&, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
  }
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "device_copy");
    tir::BufferPtr in = f.operand(0), out = f.result();
    f.copy(out, 0, in, 0, in->elements);
    return f.finish("copy");
  }
};

}  // namespace

void add_operators_device_copy(OperatorSet& set) { set.add(std::make_unique<DeviceCopy>()); }

}  // namespace aotc::ops
