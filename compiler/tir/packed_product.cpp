// SPDX-License-Identifier: Apache-2.0
#include "tir/packed_product.h"

#include <utility>

namespace aotc::tir {

namespace {

const Binary* binary_of(const Expr& e, BinaryOp op, bool wrapping) {
  if (e.kind != ExprKind::kBinary || e.type != DType::kI32) return nullptr;
  const auto& n = static_cast<const Binary&>(e);
  return n.op == op && n.wrapping == wrapping ? &n : nullptr;
}

bool is_same(const ExprPtr& a, const ExprPtr& b) {
  if (a == nullptr || b == nullptr) return false;
  if (a == b) return true;
  if (a->kind != ExprKind::kVarRef || b->kind != ExprKind::kVarRef) return false;
  return static_cast<const VarRef&>(*a).var == static_cast<const VarRef&>(*b).var;
}

std::optional<int64_t> number_of(const Expr& e) {
  return e.kind == ExprKind::kIntImm ? std::optional(static_cast<const IntImm&>(e).value) : std::nullopt;
}

// The word of which `e` is the part with these shifts; null if it is another expression.
ExprPtr word_of(const Expr& e, int64_t up, int64_t down) {
  const auto part = word_part(e);
  return part && part->up == up && part->down == down ? part->word : nullptr;
}

// The word of which `e` is the upper half; null if it is another expression.
ExprPtr word_of_high_half(const Expr& e) {
  const Binary* down = binary_of(e, BinaryOp::kShr, false);
  return down != nullptr && number_of(*down->rhs) == 16 ? down->lhs : nullptr;
}

}  // namespace

std::optional<WordPart> word_part(const Expr& e) {
  const Binary* down = binary_of(e, BinaryOp::kShr, false);
  const Binary* up = down != nullptr ? binary_of(*down->lhs, BinaryOp::kShl, true) : nullptr;
  if (up == nullptr) return std::nullopt;
  const auto left = number_of(*up->rhs), right = number_of(*down->rhs);
  return left && right ? std::optional(WordPart{up->lhs, *left, *right}) : std::nullopt;
}

std::optional<PackedProduct> packed_product(const Expr& e) {
  const Binary* second = binary_of(e, BinaryOp::kAdd, true);
  const Binary* first = second != nullptr ? binary_of(*second->lhs, BinaryOp::kAdd, true) : nullptr;
  const Binary* high = second != nullptr ? binary_of(*second->rhs, BinaryOp::kMul, true) : nullptr;
  const Binary* low = first != nullptr ? binary_of(*first->rhs, BinaryOp::kMul, true) : nullptr;
  if (high == nullptr || low == nullptr) return std::nullopt;
  const ExprPtr x = word_of(*low->lhs, 16, 16), x_again = word_of_high_half(*high->lhs);
  if (!is_same(x, x_again)) return std::nullopt;
  const ExprPtr halves = word_of(*low->rhs, 16, 16), halves_again = word_of_high_half(*high->rhs);
  if (is_same(halves, halves_again)) return PackedProduct{first->lhs, x, halves, false};
  const ExprPtr bytes = word_of(*low->rhs, 24, 24), bytes_again = word_of(*high->rhs, 8, 24);
  if (is_same(bytes, bytes_again)) return PackedProduct{first->lhs, x, bytes, true};
  return std::nullopt;
}

std::optional<HalfProduct> half_product(const Expr& e) {
  const Binary* sum = binary_of(e, BinaryOp::kAdd, true);
  const Binary* product = sum != nullptr ? binary_of(*sum->rhs, BinaryOp::kMul, true) : nullptr;
  if (product == nullptr) return std::nullopt;
  for (const auto& [a, b] : {std::pair(product->lhs, product->rhs), std::pair(product->rhs, product->lhs)})
    if (const ExprPtr low = word_of(*a, 16, 16), high = word_of_high_half(*b); low != nullptr && high != nullptr)
      return HalfProduct{sum->lhs, low, high};
  return std::nullopt;
}

}  // namespace aotc::tir
