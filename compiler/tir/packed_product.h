// SPDX-License-Identifier: Apache-2.0
// packed_product(): recognises sums with two products of halfwords, which cores with the DSP extension compute in one
// instruction.
#pragma once

#include <optional>

#include "tir/tir.h"

namespace aotc::tir {

// sum + low(x) * low(w) + high(x) * high(w) modulo 2^32, where low and high are the signed halves of a word.
// even_bytes: bytes 0 and 2 of w, sign-extended, are in place of its halves.
struct PackedProduct {
  ExprPtr sum, x, w;
  bool even_bytes = false;
};
std::optional<PackedProduct> packed_product(const Expr& e);

}  // namespace aotc::tir
