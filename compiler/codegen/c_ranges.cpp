// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_ranges.h"

#include <algorithm>

#include "tir/arithmetic.h"

namespace aotc::codegen {

using namespace tir;  // NOLINT: every node kind is used here

namespace {

constexpr int64_t kMostI32 = INT32_MAX;
constexpr CRange kWide = {-kMostI32 - 1, kMostI32, false};

// Nothing is known of what leaves 32 bits: there it wraps or traps.
std::optional<CRange> within_i32(CRange r) {
  if (r.low < kWide.low || r.high > kWide.high) return std::nullopt;
  return r;
}

// The range of `op` over all values of its operands, wide where that is simplest.
CRange combine(BinaryOp op, const CRange& a, const CRange& b) {
  switch (op) {
    case BinaryOp::kAdd: return {a.low + b.low, a.high + b.high};
    case BinaryOp::kSub: return {a.low - b.high, a.high - b.low};
    case BinaryOp::kMul: {
      auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return {low, high};
    }
    // The quotient is no larger than the dividend; the least int by -1 is.
    case BinaryOp::kDiv:
    case BinaryOp::kMod: return {std::min(a.low, -a.high), std::max(-a.low, a.high)};
    case BinaryOp::kMin: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryOp::kMax: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case BinaryOp::kBitAnd:
      if (a.low >= 0) return {0, b.low >= 0 ? std::min(a.high, b.high) : a.high};
      if (b.low >= 0) return {0, b.high};
      [[fallthrough]];
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor: return a.fits_int() && b.fits_int() ? CRange{-32768, 32767} : kWide;
    // Shifts by more than an int has are for the wider type.
    case BinaryOp::kShl:
      return b.low < 0 || b.high > 14 || a.low < 0 ? kWide : CRange{a.low << b.low, a.high << b.high};
    case BinaryOp::kShr:
      if (b.low < 0 || b.high > 14) return kWide;
      return {std::min(a.low >> b.low, a.low >> b.high), std::max(a.high >> b.low, a.high >> b.high)};
    default: return kWide;
  }
}

bool is_shift(BinaryOp op) { return op == BinaryOp::kShl || op == BinaryOp::kShr; }

}  // namespace

std::optional<CRange> CRanges::binary(const Binary& n) const {
  if (is_comparison(n.op) || n.op == BinaryOp::kAnd || n.op == BinaryOp::kOr) return CRange{0, 1, true};
  auto a = of(n.lhs), b = of(n.rhs);
  if (is_shift(n.op) && a && !b) b = CRange{0, 31, false};
  // A mask and a bound say something of any value.
  bool bounds = n.op == BinaryOp::kBitAnd || n.op == BinaryOp::kMin || n.op == BinaryOp::kMax;
  if (narrow_ && bounds && n.type == DType::kI32) {
    if (!a) a = kWide;
    if (!b) b = kWide;
  }
  if (!a || !b) return std::nullopt;
  CRange out = combine(n.op, *a, *b);
  bool function = n.op == BinaryOp::kMin || n.op == BinaryOp::kMax;  // of int32_t
  out.is_int = !n.wrapping && !function && a->is_int && (b->is_int || is_shift(n.op));
  return out;
}

std::optional<CRange> CRanges::unary(const Unary& n) const {
  if (n.op == UnaryOp::kLogicalNot) return CRange{0, 1, true};
  auto v = of(n.value);
  if (!v) return std::nullopt;
  if (n.op == UnaryOp::kNeg) return CRange{-v->high, -v->low, v->is_int};
  return CRange{~v->high, ~v->low, v->is_int};
}

std::optional<CRange> CRanges::of(const ExprPtr& e) const {
  std::optional<CRange> out;
  if (e->kind == ExprKind::kLoad || e->kind == ExprKind::kCast) {
    DType type = e->kind == ExprKind::kLoad ? static_cast<const Load&>(*e).buffer->dtype : e->type;
    if (e->kind == ExprKind::kCast && type == DType::kI32) {
      const ExprPtr& value = static_cast<const Cast&>(*e).value;
      if (narrow_ && promoted(value->type) == DType::kI32) out = of(value);
      if (out && value->type != DType::kI32) out->is_int = false;
      return out;
    }
    if (!narrow_ || type == DType::kI32 || promoted(type) != DType::kI32) return std::nullopt;
    // An unsigned short is an unsigned int, which no expression is to become.
    auto range = int_range(type);
    return CRange{static_cast<int64_t>(range.min), static_cast<int64_t>(range.max), type != DType::kU16};
  }
  if (e->type != DType::kI32) return std::nullopt;
  switch (e->kind) {
    case ExprKind::kIntImm: {
      int64_t v = static_cast<const IntImm&>(*e).value;
      out = {v, v, true};
      break;
    }
    case ExprKind::kVarRef: {
      auto found = known_.find(static_cast<const VarRef&>(*e).var.get());
      if (found != known_.end()) out = found->second;
      break;
    }
    case ExprKind::kUnary: out = unary(static_cast<const Unary&>(*e)); break;
    case ExprKind::kBinary: out = binary(static_cast<const Binary&>(*e)); break;
    case ExprKind::kSelect: {
      const auto& n = static_cast<const Select&>(*e);
      auto a = of(n.if_true), b = of(n.if_false);
      if (a && b) out = {std::min(a->low, b->low), std::max(a->high, b->high), a->is_int && b->is_int};
      break;
    }
    default: break;
  }
  if (!out) return std::nullopt;
  // What does not fit is a long already, or has been made an int32_t.
  if (!out->fits_int()) out->is_int = false;
  if (!narrow_ && !out->is_int) return std::nullopt;
  return within_i32(*out);
}

bool CRanges::leaves_int(const Binary& n) const {
  if (n.type != DType::kI32) return false;
  auto range = binary(n);
  return range && range->is_int && !range->fits_int();
}

bool CRanges::is_int_product(const Binary& n) const {
  if (!narrow_ || n.op != BinaryOp::kMul || n.type != DType::kI32 || n.lhs->kind == ExprKind::kIntImm ||
      n.rhs->kind == ExprKind::kIntImm)
    return false;
  auto range = binary(n);
  return range && range->is_int && range->fits_int();
}

bool CRanges::leaves_int(const Unary& n) const {
  auto range = unary(n);
  return n.type == DType::kI32 && range && range->is_int && !range->fits_int();
}

const char* CRanges::type_of_let(const VarPtr& var, const ExprPtr& init) {
  forget(var);
  if (!narrow_ || var->dtype != DType::kI32) return nullptr;
  auto range = of(init);
  if (!range || !range->fits_int()) return nullptr;
  range->is_int = true;
  known_[var.get()] = *range;
  bool byte = init->kind == ExprKind::kLoad && static_cast<const Load&>(*init).buffer->dtype == DType::kI8;
  return byte ? "int8_t" : "int16_t";
}

const char* CRanges::type_of_loop(const For& loop) {
  forget(loop.var);
  auto begin = of(loop.begin), end = of(loop.end);
  if (!narrow_ || !begin || !end) return nullptr;
  // Behind the last turn the variable is a step further.
  CRange counted = {begin->low, std::max(begin->high, end->high - 1 + loop.step), true};
  if (!counted.fits_int()) return nullptr;
  known_[loop.var.get()] = {begin->low, std::max(begin->low, end->high - 1), true};
  return "int16_t";
}

}  // namespace aotc::codegen
