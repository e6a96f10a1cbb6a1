// SPDX-License-Identifier: Apache-2.0
// Recognises expressions on parts of words: a sign-extended part, and a sum with one or two products of halfwords,
// which cores with the DSP extension compute in one instruction.
#pragma once

#include <optional>

#include "tir/tir.h"

namespace aotc::tir {

// (word <<% up) >> down, with constant shifts.
struct WordPart {
  ExprPtr word;
  int64_t up = 0, down = 0;
};
// nullopt if `e` is no such part. A part without a shift to the left is none.
std::optional<WordPart> word_part(const Expr& e);

// sum + low(x) * low(w) + high(x) * high(w) modulo 2^32, where low and high are the signed halves of a word.
// even_bytes: bytes 0 and 2 of w, sign-extended, are in place of its halves.
struct PackedProduct {
  ExprPtr sum, x, w;
  bool even_bytes = false;
};
std::optional<PackedProduct> packed_product(const Expr& e);

// sum + the lower half of the word `low` * the upper half of the word `high`, modulo 2^32. Halves are signed.
struct HalfProduct {
  ExprPtr sum, low, high;
};
std::optional<HalfProduct> half_product(const Expr& e);

}  // namespace aotc::tir
