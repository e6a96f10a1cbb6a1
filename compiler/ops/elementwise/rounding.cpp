// SPDX-License-Identifier: Apache-2.0
// Rounding of floats, and the sign of a number.
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;
using tir::f32;
using tir::Intrinsic;

Ex floor_of(const Ex& x) { return call(Intrinsic::kFloor, x.type(), {x}); }

Ex rounded_down(const Element& e) { return floor_of(e[0]); }

Ex rounded_up(const Element& e) { return call(Intrinsic::kCeil, e.type(), {e[0]}); }

// Ties go to the even neighbour; what is rounded up to zero is +0, as the reference's sum gives it.
Ex rounded(const Element& e) {
  Ex low = e.f.let("low", floor_of(e[0]));
  Ex above = e.f.let("above", e[0] - low);
  Ex half = e.f.let("half", low * f32(0.5f));
  return select(above < f32(0.5f), low, select(above == f32(0.5f) && half == floor_of(half), low, low + f32(1.0f)));
}

Ex sign(const Element& e) {
  auto number = [&](int64_t v) { return tir::imm(e.type(), v); };
  Ex rest = is_float(e.type()) ? select(e[0] == number(0), number(0), e[0]) : number(0);  // NaN
  return select(e[0] > number(0), number(1), select(e[0] < number(0), number(-1), rest));
}

}  // namespace

std::span<const Row> rounding_rows() {
  static const Row rows[] = {
      {"floor", "largest whole number not above x", 1, {DType::kF32}, rounded_down},
      {"ceil", "smallest whole number not below x", 1, {DType::kF32}, rounded_up},
      {"round", "nearest whole number, ties to even", 1, {DType::kF32}, rounded},
      {"sign", "-1, 0 or 1", 1, {DType::kI32, DType::kF32}, sign},
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
