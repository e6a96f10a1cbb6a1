// SPDX-License-Identifier: Apache-2.0
// maximum and minimum, with broadcasting. They compare stored values, as the reference does, so all
// tensors must share one quantisation.
#include <fmt/format.h>

#include "ops/common/binary.h"
#include "ops/common/checks.h"

namespace aotc::ops {

namespace {

using tir::Ex;

class Extremum : public BinaryElementwise {
 public:
  explicit Extremum(bool largest) : largest_(largest) {}

  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, "one quantisation throughout"},
            {DType::kU8, "one quantisation throughout"},
            {DType::kI16, "one quantisation throughout"},
            {DType::kI32, ""},
            {DType::kI64, ""},
            {DType::kF32, ""}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!verify_binary_types(op, {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kF32}, diags))
      return kFailure;
    for (size_t i = 0; i < 2; ++i) {
      if (op.operand(i).quantization == op.result().quantization) continue;
      diags
          .error(op.where(), "op-quantization",
                 fmt::format("operand {} of {} and its result are quantised differently; stored "
                             "values can only be compared within one quantisation",
                             i, op.op.name()))
          .help("re-quantise the model, or put a quantize operator before this one");
      return kFailure;
    }
    return success();
  }

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

class Maximum final : public Extremum {
 public:
  Maximum() : Extremum(true) {}
  std::string_view name() const override { return "maximum"; }
  std::string_view summary() const override { return "larger of two tensors, broadcasting"; }
  Uint8 uint8_form(const OpView&) const override { return Uint8::kEither; }
};

class Minimum final : public Extremum {
 public:
  Minimum() : Extremum(false) {}
  std::string_view name() const override { return "minimum"; }
  std::string_view summary() const override { return "smaller of two tensors, broadcasting"; }
  Uint8 uint8_form(const OpView&) const override { return Uint8::kEither; }
};

}  // namespace

void add_operators_maximum(OperatorSet& set) {
  set.add(std::make_unique<Maximum>());
  set.add(std::make_unique<Minimum>());
}

}  // namespace aotc::ops
