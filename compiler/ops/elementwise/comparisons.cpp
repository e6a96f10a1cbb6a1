// SPDX-License-Identifier: Apache-2.0
// less, greater and their like. The reference brings quantised operands to 2^8 times their real
// values in fixed point and compares those, so that values nearer than its rounding are equal.
#include <array>
#include <functional>

#include <fmt/format.h>

#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;

constexpr int kHeadroom = 8;

// What the reference compares instead of a stored value.
int32_t scaled(const graph::TensorType& type, int64_t stored) {
  auto shifted = static_cast<int32_t>((stored - type.zero_point()) * (1 << kHeadroom));
  return multiply_by_quantized_multiplier(shifted, quantize_multiplier(static_cast<double>(type.scale())));
}

// Do the operands' stored values compare as what the reference makes of them?
bool compare_as_stored(const OpView& op) {
  const graph::TensorType &a = op.operand(0), &b = op.operand(1);
  if (a.scale() != b.scale() || a.zero_point() != b.zero_point()) return false;
  IntRange range = int_range(a.dtype);
  for (int64_t q = range.min; q < range.max; ++q)
    if (scaled(a, q) >= scaled(a, q + 1)) return false;
  return true;
}

bool verify_scales(const OpView& op, Diagnostics& diags) {
  if (!carries_scale(op.operand(0).dtype)) return true;
  for (size_t i = 0; i < 2; ++i) {
    if (quantize_multiplier(static_cast<double>(op.operand(i).scale())).shift <= 0) continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("operand {} of {} has scale {:g}; from 1 on the reference's arithmetic is "
                           "undefined",
                           i, op.op.name(), op.operand(i).scale()))
        .help("compare real numbers: put a dequantize operator before this one");
    return false;
  }
  return true;
}

// The values of an operand before the first at which `truth` changes, and how often it does.
struct Steps {
  std::vector<int64_t> at;  // values whose truth differs from that of the value below
  bool first;
};

Steps steps_of(const graph::TensorType& type, const std::function<bool(int64_t)>& truth) {
  IntRange range = int_range(type.dtype);
  Steps out{{}, truth(range.min)};
  for (int64_t q = range.min + 1; q <= range.max; ++q)
    if (truth(q) != truth(q - 1)) out.at.push_back(q);
  return out;
}

Ex inverted_if(bool condition, const Ex& truth) { return condition ? truth == 0 : truth; }

// All comparisons with a constant are true or false between two bounds.
Ex emit_steps(const Steps& steps, const Ex& x) {
  if (steps.at.empty()) return Ex(steps.first ? 1 : 0);
  Ex from = steps.first ? x < steps.at[0] : x >= steps.at[0];
  if (steps.at.size() == 1) return from;
  return inverted_if(steps.first, x >= steps.at[0] && x < steps.at[1]);
}

template <typename Compare>
Quantized against_constant(const OpView& op, size_t constant, Compare compare) {
  const graph::TensorType &type = op.operand(1 - constant), &other = op.operand(constant);
  int64_t stored = op.constant(constant)->bytes[0];
  if (other.dtype == DType::kI8) stored = static_cast<int8_t>(stored);
  int32_t bound = scaled(other, stored);
  Steps steps = steps_of(type, [&](int64_t q) {
    return constant == 0 ? compare(bound, scaled(type, q)) : compare(scaled(type, q), bound);
  });
  return {{}, [=](const Element& e) { return emit_steps(steps, e[1 - constant]); }};
}

template <typename Compare>
Quantized quantized(const OpView& op, LoweringBuilder& f, Parameters& p) {
  auto compare = [](const auto& a, const auto& b) { return Compare()(a, b); };
  if (compare_as_stored(op)) return {{}, [=](const Element& e) { return compare(e[0], e[1]); }};
  for (size_t i = 0; i < 2; ++i)
    if (op.constant(i) != nullptr && op.operand(i).elements() == 1) return against_constant(op, i, compare);
  auto zero = std::make_shared<std::array<size_t, 2>>();
  auto scalers = std::make_shared<std::vector<Scaler>>();
  for (size_t i = 0; i < 2; ++i) {
    (*zero)[i] = p.add(i == 0 ? "a_zero" : "b_zero", op.operand(i).zero_point());
    scalers->emplace_back(p, i == 0 ? "a" : "b", quantize_multiplier(static_cast<double>(op.operand(i).scale())),
                          kHeadroom);
  }
  return {[=, &f, &p](size_t i, const Ex& x) { return (*scalers)[i].emit(f, f.let("d", x - p[(*zero)[i]])); },
          [=](const Element& e) { return compare(e[0], e[1]); }};
}

template <typename Compare>
Ex plain(const Element& e) {
  return Compare()(e[0], e[1]);
}

template <typename Compare>
Row row(std::string_view name, std::string_view summary, bool of_bool) {
  Row r{name, summary, 2, {DType::kI8, DType::kU8, DType::kI32, DType::kI64, DType::kF32}, plain<Compare>};
  if (of_bool) r.types.insert(r.types.begin(), DType::kBool);
  r.truth = true;
  r.stored = Stored::kQuantized;
  r.quantized = quantized<Compare>;
  r.note = "scales below 1";
  r.verify = verify_scales;
  return r;
}

}  // namespace

std::span<const Row> comparison_rows() {
  static const Row rows[] = {
      row<std::less<>>("less", "a < b, broadcasting", false),
      row<std::less_equal<>>("less_equal", "a <= b, broadcasting", false),
      row<std::greater<>>("greater", "a > b, broadcasting", false),
      row<std::greater_equal<>>("greater_equal", "a >= b, broadcasting", false),
      row<std::equal_to<>>("equal", "a == b, broadcasting", true),
      row<std::not_equal_to<>>("not_equal", "a != b, broadcasting", true),
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
