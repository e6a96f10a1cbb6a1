// SPDX-License-Identifier: Apache-2.0
// maximum and minimum, with broadcasting. They compare stored values, as the reference does, so all
// tensors must share one quantisation.
#include <fmt/format.h>

#include "ops/common/binary.h"
#include "ops/common/checks.h"

namespace aotc::ops {

namespace {

using tir::Ex;

constexpr std::string_view kOneQuantization = "one quantisation throughout";

class Extremum final : public BinaryElementwise {
 public:
  Extremum(std::string_view name, std::string_view summary, bool largest)
      : BinaryElementwise({.name = name,
                           .summary = summary,
                           .operands = {{.name = "a",
                                         .types = {{DType::kI8, kOneQuantization},
                                                   {DType::kU8, kOneQuantization},
                                                   {DType::kI16, kOneQuantization},
                                                   DType::kI32,
                                                   DType::kI64,
                                                   DType::kF32}},
                                        {.name = "b", .same_type_as = 0}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kBroadcast,
                           .quantized = Quantized::kOne,
                           .uint8 = Uint8::kEither}),
        largest_(largest) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kF32) {
      evaluate_binary_float(op, data, [&](float a, float b) { return pick(a, b); });
    } else {
      evaluate_binary_int(op, data, [&](int64_t a, int64_t b) { return pick(a, b); });
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    std::string name(this->name());
    auto on_bytes = [&](int64_t a, int64_t b) { return pick(a, b); };
    if (auto clamp = lower_with_scalar(op, name, on_bytes)) return std::move(*clamp);
    return lower_binary(op, name, [&](const Ex& a, const Ex& b) { return largest_ ? max(a, b) : min(a, b); });
  }

 private:
  // The second where neither is greater: NaN and zeros follow from that.
  template <typename T>
  T pick(T a, T b) const {
    if (largest_) return a > b ? a : b;
    return a < b ? a : b;
  }

  bool largest_;
};

}  // namespace

void add_operators_maximum(OperatorSet& set) {
  set.add(std::make_unique<Extremum>("maximum", "larger of two tensors, broadcasting", true));
  set.add(std::make_unique<Extremum>("minimum", "smaller of two tensors, broadcasting", false));
}

}  // namespace aotc::ops
