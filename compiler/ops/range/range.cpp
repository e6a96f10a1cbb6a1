// SPDX-License-Identifier: Apache-2.0
// range: start, start + delta, ... up to a limit that is left out.
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"

namespace aotc::ops {

namespace {

// More than this is no list that a model of this kind works with.
constexpr int64_t kMostElements = int64_t{1} << 24;

template <typename T>
int64_t int_count(T start, T limit, T delta) {
  // As unsigned, whose distance does not overflow.
  auto distance = start < limit ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  auto step = delta < 0 ? uint64_t{0} - static_cast<uint64_t>(delta) : static_cast<uint64_t>(delta);
  uint64_t count = distance / step + (distance % step != 0 ? 1 : 0);
  return count > static_cast<uint64_t>(kMostElements) ? -1 : static_cast<int64_t>(count);
}

template <typename T>
void count_up(const EvalData& data) {
  T value = data.in<T>(0)[0];
  T delta = data.in<T>(2)[0];
  for (T& to : data.out<T>()) {
    to = value;
    // The sum behind the last element may leave the type.
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(static_cast<uint64_t>(value) + static_cast<uint64_t>(delta));
    } else {
      value += delta;
    }
  }
}

class Range final : public ConstantsOnly {
 public:
  Range()
      : ConstantsOnly(
            {.name = "range",
             .summary = "numbers in equal steps",
             .operands = {{.name = "start", .types = {DType::kI32, DType::kI64, DType::kF32}, .ranks = {0, 0}},
                          {.name = "limit", .same_type_as = 0, .ranks = {0, 0}},
                          {.name = "delta", .same_type_as = 0, .ranks = {0, 0}}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    switch (op.result().dtype) {
      case DType::kI32: return count_up<int32_t>(data);
      case DType::kI64: return count_up<int64_t>(data);
      default: return count_up<float>(data);
    }
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    DType type = op.operand(0).dtype;
    for (size_t i = 0; i < 3; ++i) {
      if (!check_type(op, i, {DType::kI32, DType::kI64, DType::kF32}, diags) || !check_type(op, i, {type}, diags) ||
          !check_rank(op, i, 0, 0, diags))
        return kFailure;
      if (op.constant(i) != nullptr) continue;
      diags
          .error(op.where(), "op-attribute",
                 fmt::format("start, limit and delta of range must be constant (operand {})", i))
          .help("export the model so that this does not depend on the input");
      return kFailure;
    }
    int64_t count = type == DType::kF32 ? float_count(op) : integer_count(op);
    if (count >= 0) return std::vector<graph::Shape>{{count}};
    bad_attribute(op, diags, "start, limit and delta give no list of numbers");
    return kFailure;
  }

 private:
  // -1: the steps do not lead from start to limit.
  template <typename T>
  static bool leads(T start, T limit, T delta) {
    return (start <= limit && delta > 0) || (start >= limit && delta < 0);
  }

  static int64_t integer_count(const OpView& op) {
    int64_t v[3];
    for (size_t i = 0; i < 3; ++i) v[i] = widen(op.operand(i).dtype, op.constant(i)->bytes)[0];
    return leads(v[0], v[1], v[2]) ? int_count(v[0], v[1], v[2]) : -1;
  }

  static int64_t float_count(const OpView& op) {
    float start = op.constant(0)->get<float>(0), limit = op.constant(1)->get<float>(0);
    float delta = op.constant(2)->get<float>(0);
    if (!leads(start, limit, delta)) return -1;
    float count = std::ceil(std::abs((limit - start) / delta));
    return count <= static_cast<float>(kMostElements) ? static_cast<int64_t>(count) : -1;
  }
};

}  // namespace

void add_operators_range(OperatorSet& set) { set.add(std::make_unique<Range>()); }

}  // namespace aotc::ops
