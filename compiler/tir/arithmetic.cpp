// SPDX-License-Identifier: Apache-2.0
#include "tir/arithmetic.h"

#include <cmath>
#include <limits>

namespace aotc::tir {

int64_t wrap_to(DType type, int64_t v) {
  switch (type) {
    case DType::kBool: return v != 0 ? 1 : 0;
    case DType::kI8: return static_cast<int8_t>(v);
    case DType::kU8: return static_cast<uint8_t>(v);
    case DType::kI16: return static_cast<int16_t>(v);
    case DType::kU16: return static_cast<uint16_t>(v);
    case DType::kI32: return static_cast<int32_t>(v);
    case DType::kU32: return static_cast<uint32_t>(v);
    default: return v;
  }
}

namespace {

bool finish(DType type, int64_t exact, bool wrapping, int64_t* result) {
  *result = wrap_to(type, exact);
  return wrapping || *result == exact;
}

// Shifts of the wrapping and the exact kind; amounts outside [0, width) always trap.
bool shift(BinaryOp op, DType type, int64_t a, int64_t b, bool wrapping, int64_t* result) {
  int width = size_of(type) * 8;
  if (b < 0 || b >= width) return false;
  if (op == BinaryOp::kShr) {
    *result = a >> b;
    return true;
  }
  int64_t shifted = static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  *result = wrap_to(type, shifted);
  return wrapping || (*result == shifted && (shifted >> b) == a);
}

bool divide(BinaryOp op, DType type, int64_t a, int64_t b, int64_t* result) {
  if (b == 0) return false;
  if (b == -1 && a == int_range(type).min && type != DType::kU32) return false;
  *result = op == BinaryOp::kDiv ? a / b : a % b;
  return true;
}

int64_t compare(BinaryOp op, auto a, auto b) {
  switch (op) {
    case BinaryOp::kEq: return a == b;
    case BinaryOp::kNe: return a != b;
    case BinaryOp::kLt: return a < b;
    case BinaryOp::kLe: return a <= b;
    case BinaryOp::kGt: return a > b;
    default: return a >= b;
  }
}

template <typename T>
bool fold_float_as(BinaryOp op, T a, T b, double* result) {
  switch (op) {
    case BinaryOp::kAdd: *result = a + b; return true;
    case BinaryOp::kSub: *result = a - b; return true;
    case BinaryOp::kMul: *result = a * b; return true;
    case BinaryOp::kDiv:
      if (b == T(0)) return false;  // left to run time: no trap, but no constant either
      *result = a / b;
      return true;
    case BinaryOp::kMin: *result = a < b ? a : b; return true;
    case BinaryOp::kMax: *result = a > b ? a : b; return true;
    default:
      if (!is_comparison(op)) return false;
      *result = static_cast<double>(compare(op, a, b));
      return true;
  }
}

}  // namespace

bool fold_int(BinaryOp op, DType type, int64_t a, int64_t b, bool wrapping, int64_t* result) {
  int64_t exact = 0;
  bool overflow = false;
  switch (op) {
    case BinaryOp::kAdd: overflow = __builtin_add_overflow(a, b, &exact); break;
    case BinaryOp::kSub: overflow = __builtin_sub_overflow(a, b, &exact); break;
    case BinaryOp::kMul: overflow = __builtin_mul_overflow(a, b, &exact); break;
    case BinaryOp::kDiv:
    case BinaryOp::kMod: return divide(op, type, a, b, result);
    case BinaryOp::kMin: exact = a < b ? a : b; break;
    case BinaryOp::kMax: exact = a > b ? a : b; break;
    case BinaryOp::kBitAnd: exact = a & b; break;
    case BinaryOp::kBitOr: exact = a | b; break;
    case BinaryOp::kBitXor: exact = a ^ b; break;
    case BinaryOp::kShl:
    case BinaryOp::kShr: return shift(op, type, a, b, wrapping, result);
    case BinaryOp::kAnd: *result = a != 0 && b != 0; return true;
    case BinaryOp::kOr: *result = a != 0 || b != 0; return true;
    default: *result = compare(op, a, b); return true;
  }
  if (overflow && !wrapping) return false;
  return finish(type, exact, wrapping, result);
}

bool fold_float(BinaryOp op, DType type, double a, double b, double* result) {
  if (type == DType::kF32) return fold_float_as(op, static_cast<float>(a), static_cast<float>(b), result);
  return fold_float_as(op, a, b, result);
}

bool fold_int_cast(DType type, int64_t v, bool wrapping, int64_t* result) { return finish(type, v, wrapping, result); }

bool float_to_int(DType type, double v, int64_t* result) {
  if (std::isnan(v)) return false;
  double t = std::trunc(v);
  IntRange r = int_range(type);
  // 2^63 is exact in double while INT64_MAX is not: the upper bound is exclusive there.
  bool below = type == DType::kI64 ? t < 9223372036854775808.0 : t <= static_cast<double>(r.max);
  if (t < static_cast<double>(r.min) || !below) return false;
  *result = static_cast<int64_t>(t);
  return true;
}

double int_to_float(DType type, int64_t v) {
  return type == DType::kF32 ? static_cast<double>(static_cast<float>(v)) : static_cast<double>(v);
}

namespace {

constexpr IntrinsicInfo kIntrinsics[] = {
    {Intrinsic::kExp, "exp", 1, true},
    {Intrinsic::kLog, "log", 1, true},
    {Intrinsic::kTanh, "tanh", 1, true},
    {Intrinsic::kSqrt, "sqrt", 1, true},
    {Intrinsic::kFloor, "floor", 1, true},
    {Intrinsic::kCeil, "ceil", 1, true},
    {Intrinsic::kRound, "round", 1, true},
    {Intrinsic::kAbs, "abs", 1, true},
    {Intrinsic::kErf, "erf", 1, true},
    {Intrinsic::kSin, "sin", 1, true},
    {Intrinsic::kCos, "cos", 1, true},
    {Intrinsic::kPow, "pow", 2, true},
    {Intrinsic::kRoundToEven, "round_to_even", 1, true},
    {Intrinsic::kMemcpy, "memcpy", 3, false},
    {Intrinsic::kMemset, "memset", 3, false},
    {Intrinsic::kFloatBits, "float_bits", 1, true},
    {Intrinsic::kFloatFromBits, "float_from_bits", 1, true},
    {Intrinsic::kKeep, "keep", 1, true},
    {Intrinsic::kFence, "fence", 1, true},
    {Intrinsic::kFmod, "fmod", 2, true},
    {Intrinsic::kErfc, "erfc", 1, true},
    {Intrinsic::kExpm1, "expm1", 1, true},
    {Intrinsic::kAtan2, "atan2", 2, true},
};

constexpr std::string_view kBinaryText[] = {"+",  "-",  "*",  "/",  "%", "min", "max", "&",  "|",  "^",
                                            "<<", ">>", "==", "!=", "<", "<=",  ">",   ">=", "&&", "||"};

}  // namespace

const IntrinsicInfo& info_of(Intrinsic id) { return kIntrinsics[static_cast<size_t>(id)]; }

DType result_type(Intrinsic id, DType type) {
  if (id == Intrinsic::kFloatFromBits) return DType::kF32;
  return id == Intrinsic::kFloatBits || !info_of(id).is_scalar ? DType::kI32 : type;
}

const IntrinsicInfo* intrinsic_from_name(std::string_view name) {
  for (const IntrinsicInfo& i : kIntrinsics)
    if (i.name == name) return &i;
  return nullptr;
}

std::string_view spelling_of(BinaryOp op) { return kBinaryText[static_cast<size_t>(op)]; }

std::string_view spelling_of(UnaryOp op) { return op == UnaryOp::kNeg ? "-" : op == UnaryOp::kLogicalNot ? "!" : "~"; }

std::string_view spelling_of(Role role) {
  switch (role) {
    case Role::kInput: return "in";
    case Role::kConstant: return "const";
    case Role::kOutput: return "out";
    case Role::kScratch: return "scratch";
    case Role::kLocal: return "local";
  }
  return "";
}

}  // namespace aotc::tir
