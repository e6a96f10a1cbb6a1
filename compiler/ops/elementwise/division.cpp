// SPDX-License-Identifier: Apache-2.0
// Division, truncating and rounding down, and its rest. Where the reference stops at a divisor of 0,
// the function fails and the run ends with its status; a divisor known to be 0 is refused.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/binary.h"
#include "ops/common/checks.h"
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;
using tir::Intrinsic;

// The stored value that stands for 0.
int32_t stored_zero(const OpView& op, size_t operand) {
  return is_byte(op.operand(operand).dtype) ? op.operand(operand).zero_point() : 0;
}

// May an element of the divisor be 0? Known where it is constant.
bool may_be_zero(const OpView& op) {
  const graph::ConstantView* divisor = op.constant(1);
  if (divisor == nullptr) return true;
  DType type = op.operand(1).dtype;
  if (type != DType::kF32) {
    std::vector<int64_t> values = widen(type, divisor->bytes);
    return std::find(values.begin(), values.end(), stored_zero(op, 1)) != values.end();
  }
  for (size_t at = 0; at < divisor->bytes.size(); at += sizeof(float)) {
    float value;
    std::memcpy(&value, divisor->bytes.data() + at, sizeof value);
    if (value == 0.0f) return true;
  }
  return false;
}

bool verify_divisor(const OpView& op, Diagnostics& diags) {
  if (op.constant(1) == nullptr || !may_be_zero(op)) return true;
  return bad_attribute(op, diags, fmt::format("{} by a constant that holds 0", op.op.name()));
}

// Of floats FLOOR_MOD gives NaN, and DIV infinity.
bool verify_integer_divisor(const OpView& op, Diagnostics& diags) {
  return op.operand(0).dtype == DType::kF32 || verify_divisor(op, diags);
}

void fail_at_zero(const Element& e) {
  if (!may_be_zero(e.op)) return;
  e.f.if_(e[1] == tir::imm(e.type(), stored_zero(e.op, 1)), [&] { e.f.fail(); });
}

// The least value by -1, which has no quotient, wraps around: -1 is divided by as by 1.
struct Truncated {
  Ex by_minus_one, divisor, quotient, rest;

  explicit Truncated(const Element& e) {
    auto number = [&](int64_t v) { return tir::imm(e.type(), v); };
    by_minus_one = e[1] == number(-1);
    divisor = e.f.let("d", select(by_minus_one, number(1), e[1]));
    quotient = e.f.let("q", e[0] / divisor);
    rest = e.f.let("r", e[0] % divisor);
  }
  // Is the quotient not whole and its sign negative?
  Ex rounds_up() const {
    Ex zero = tir::imm(rest.type(), 0);
    return rest != zero && ((rest < zero) != (divisor < zero));
  }
};

Ex floor_quotient(const Element& e) {
  fail_at_zero(e);
  if (is_float(e.type())) {
    Ex real = cast(DType::kF64, e[0]) / cast(DType::kF64, e[1]);
    return cast(DType::kF32, call(Intrinsic::kFloor, DType::kF64, {real}));
  }
  Truncated t(e);
  return select(t.by_minus_one, sub_wrapping(tir::imm(e.type(), 0), e[0]), t.quotient - cast(e.type(), t.rounds_up()));
}

Ex floor_rest(const Element& e) {
  if (is_float(e.type())) {
    Ex zero = tir::f32(0.0f);
    Ex rest = e.f.let("r", call(Intrinsic::kFmod, e.type(), {e[0], e[1]}));
    return select(rest != zero && ((e[1] < zero) != (rest < zero)), rest + e[1], rest);
  }
  fail_at_zero(e);
  Truncated t(e);
  return select(t.rounds_up(), t.rest + t.divisor, t.rest);
}

// ---------------------------------------------------------------- div

Activation activation_of(const OpView& op) { return op.attrs<BinaryAttrs>().activation; }

Ex quotient(const Element& e) {
  if (is_float(e.type())) return emit_clamp(e[0] / e[1], float_clamp(activation_of(e.op)));
  fail_at_zero(e);
  Truncated t(e);
  Ex whole = select(t.by_minus_one, sub_wrapping(tir::imm(e.type(), 0), e[0]), t.quotient);
  return emit_integer_clamp(whole, activation_of(e.op));
}

// 1 / (1 + x) for x in [0, 1), all with 31 bits behind the point: the reference's guess and three
// steps of Newton's method, in numbers with 29.
int32_t inverse_of_one_plus(int32_t x) {
  auto high_mul = saturating_rounding_doubling_high_mul;
  auto shifted_left = [](int32_t v, int bits) {
    return static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(v) * (1 << bits), INT32_MIN, INT32_MAX));
  };
  auto half = static_cast<int32_t>((static_cast<int64_t>(x) + INT32_MAX + 1) / 2);
  int32_t y = 1515870810 + high_mul(half, -1010580540);
  for (int i = 0; i < 3; ++i) y += shifted_left(high_mul(y, (1 << 29) - high_mul(half, y)), 2);
  return shifted_left(y, 1);
}

int leading_zeros(uint32_t v) {
  int count = 0;
  for (; count < 32 && (v & (0x80000000u >> count)) == 0; ++count) {
  }
  return count;
}

// Of |divisor| up to 255: the reciprocal as a multiplier, and what it is to be shifted by.
struct Reciprocals {
  std::vector<int32_t> multiplier = {0};
  std::vector<uint8_t> shift = {0};

  Reciprocals() {
    for (uint32_t v = 1; v < 256; ++v) {
      int zeros = leading_zeros(v);
      multiplier.push_back(inverse_of_one_plus(static_cast<int32_t>((v << zeros) - 0x80000000u)));
      shift.push_back(static_cast<uint8_t>(31 - zeros));
    }
  }
};

// In float32 but for the conversion behind.
double div_multiplier(const OpView& op) {
  float scales = op.operand(1).scale() * op.result().scale();
  return static_cast<double>(op.operand(0).scale() / scales);
}

// The reference's shift of the quotient is at least 23 minus the multiplier's.
constexpr int kMostShift = 23;

bool verify_div(const OpView& op, Diagnostics& diags) {
  Activation activation = activation_of(op);
  if (!verify_integer_divisor(op, diags)) return false;
  if (!is_byte(op.operand(0).dtype)) return true;
  double real = div_multiplier(op);
  if (!std::isfinite(real) || quantize_multiplier(real).shift > kMostShift) {
    diags
        .error(op.where(), "op-quantization",
               fmt::format("the scales of div make a multiplier of {:g}, which the reference's "
                           "arithmetic has no room for",
                           real))
        .help("re-quantise the model; the result's scale is far too small");
    return false;
  }
  return check_activation_bounds(op, activation, diags);
}

// The reference computes a / |b| with the sign of b taken over: the product of a, shifted to the left
// as far as it goes, and the reciprocal; scaled; and shifted back.
Quantized quantized_quotient(const OpView& op, LoweringBuilder& f, Parameters& p) {
  static const Reciprocals reciprocals;
  std::vector<uint8_t> room;  // leading sign bits of 0 .. 255, behind the sign
  for (uint32_t v = 0; v < 256; ++v) room.push_back(static_cast<uint8_t>(leading_zeros(v) - 1));
  QuantizedMultiplier m = quantize_multiplier(div_multiplier(op));
  ClampI32 clamp = quantized_clamp(activation_of(op), op.result());
  size_t zero_a = p.add("a_zero", stored_zero(op, 0)), zero_b = p.add("b_zero", stored_zero(op, 1));
  size_t multiplier = p.add("multiplier", m.multiplier), shift = p.add("shift", -m.shift);
  size_t zero = p.add("out_zero", op.result().zero_point());
  tir::BufferPtr inverse = f.constant("inverse", DType::kI32, reciprocals.multiplier);
  tir::BufferPtr inverse_shift = f.constant("inverse_shift", DType::kU8, reciprocals.shift, 1);
  tir::BufferPtr rooms = f.constant("room", DType::kU8, room, 1);
  return {{}, [=, &f, &p](const Element& e) {
            auto wide = [](const Ex& v) { return cast(DType::kI64, v); };
            auto high_mul = [&](const Ex& a, const Ex& b) {
              return (wide(a) * wide(b) + tir::i64(1 << 30)) >> tir::i64(31);
            };
            fail_at_zero(e);
            Ex b = f.let("divisor", e[1] - p[zero_b]);
            Ex a = f.let("dividend", select(b < 0, p[zero_a] - e[0], e[0] - p[zero_a]));
            Ex size = f.let("size", select(b < 0, -b, b));
            Ex bits = f.let("bits", load(rooms, select(a < 0, -1 - a, a)));
            Ex product = f.let("product", cast(DType::kI32, high_mul(shl_wrapping(a, bits), load(inverse, size))));
            Ex scaled = f.let("scaled", high_mul(product, p[multiplier]));
            Ex by = f.let("by", min(bits + load(inverse_shift, size) + p[shift], 62));
            Ex half = select(by > 0, shl_wrapping(tir::i64(1), wide(max(by - 1, 0))) - wide(scaled < tir::i64(0)),
                             tir::i64(0));
            Ex y = f.let("y", (scaled + half) >> wide(by));
            // Beyond bytes by far it is all the same.
            Ex near = cast(DType::kI32, tir::clamp(y, tir::i64(-65536), tir::i64(65536)));
            return emit_bound(near + p[zero], clamp);
          }};
}

std::shared_ptr<graph::AttributesBase> binary_attributes() { return std::make_shared<BinaryAttrs>(); }

Row div_row() {
  Row r{"div",
        "a / b, truncated if whole; broadcasting",
        2,
        {DType::kI8, DType::kU8, DType::kI32, DType::kF32, DType::kI64},
        quotient};
  r.stored = Stored::kQuantized;
  r.quantized = quantized_quotient;
  r.verify = verify_div;
  r.fails = true;
  r.attributes = binary_attributes;
  return r;
}

Row floor_div_row() {
  Row r{"floor_div", "a / b rounded down, broadcasting", 2, {DType::kI32, DType::kF32}, floor_quotient};
  r.verify = verify_divisor;
  r.fails = true;
  return r;
}

Row floor_mod_row() {
  Row r{
      "floor_mod", "rest of a / b rounded down, broadcasting", 2, {DType::kI32, DType::kI64, DType::kF32}, floor_rest};
  r.verify = verify_integer_divisor;
  r.fails = true;
  return r;
}

}  // namespace

std::span<const Row> division_rows() {
  static const Row rows[] = {div_row(), floor_div_row(), floor_mod_row()};
  return rows;
}

}  // namespace aotc::ops::elementwise
