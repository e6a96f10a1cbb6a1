// SPDX-License-Identifier: Apache-2.0
// Bits of 32 and 64, for formats that have more operators on them than LiteRT.
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;

int64_t width_of(const Element& e) { return size_of(e.type()) * 8; }
Ex number(const Element& e, int64_t v) { return tir::imm(e.type(), v); }

// By as many places as there are or more nothing is left.
Ex shifted(const Element& e, Ex (*shift)(const Element&, const Ex&)) {
  Ex places = e.f.let("places", tir::clamp(e[1], number(e, 0), number(e, width_of(e) - 1)));
  return select(e[1] == places, shift(e, places), number(e, 0));
}

Ex left(const Element& e) {
  return shifted(e, [](const Element& x, const Ex& places) { return shl_wrapping(x[0], places); });
}

// Zeros come in at the top.
Ex right(const Element& e) {
  return shifted(e, [](const Element& x, const Ex& places) {
    Ex kept = tir::min(number(x, width_of(x)) - places, number(x, width_of(x) - 1));
    Ex mask = sub_wrapping(shl_wrapping(number(x, 1), kept), number(x, 1));
    return select(places == number(x, 0), x[0], (x[0] >> places) & mask);
  });
}

}  // namespace

std::span<const Row> bit_rows() {
  static const std::vector<DType> kTypes = {DType::kI32, DType::kI64};
  static const Row rows[] = {
      {"bit_and", "bits that both have, broadcasting", 2, kTypes, [](const Element& e) { return e[0] & e[1]; }},
      {"bit_or", "bits that one has, broadcasting", 2, kTypes, [](const Element& e) { return e[0] | e[1]; }},
      {"bit_xor", "bits that one has alone, broadcasting", 2, kTypes, [](const Element& e) { return e[0] ^ e[1]; }},
      {"shift_left", "a * 2^b, its low bits, broadcasting", 2, kTypes, left},
      {"shift_right_unsigned", "a / 2^b of unsigned numbers, broadcasting", 2, kTypes, right},
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
