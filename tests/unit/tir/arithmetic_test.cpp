// SPDX-License-Identifier: Apache-2.0
// The arithmetic of TIR against its definition in exact numbers, at the ends of every type.
#include "tir/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace aotc::tir {
namespace {

__extension__ typedef __int128 Wide;

constexpr BinaryOp kFirst = BinaryOp::kAdd, kLast = BinaryOp::kOr;

std::vector<BinaryOp> all_operators() {
  std::vector<BinaryOp> out;
  for (int op = static_cast<int>(kFirst); op <= static_cast<int>(kLast); ++op) out.push_back(static_cast<BinaryOp>(op));
  return out;
}

constexpr DType kIntegers[] = {DType::kBool, DType::kI8,  DType::kU8,  DType::kI16,
                               DType::kU16,  DType::kI32, DType::kU32, DType::kI64};

// The value of the type that differs from `v` by a multiple of 2^bits; of a bool, whether it is
// not 0.
int64_t wrapped(DType type, Wide v) {
  if (type == DType::kBool) return v != 0;
  const Wide modulus = static_cast<Wide>(1) << (size_of(type) * 8);
  v %= modulus;
  while (v < int_range(type).min) v += modulus;
  while (v > int_range(type).max) v -= modulus;
  return static_cast<int64_t>(v);
}

bool inside(DType type, Wide v) { return v >= int_range(type).min && v <= int_range(type).max; }

// Nothing: a trap.
std::optional<int64_t> held(DType type, Wide exact, bool wrapping) {
  if (!wrapping && !inside(type, exact)) return std::nullopt;
  return wrapped(type, exact);
}

std::optional<int64_t> defined(BinaryOp op, DType type, Wide a, Wide b, bool wrapping) {
  const int width = size_of(type) * 8;
  switch (op) {
    case BinaryOp::kAdd: return held(type, a + b, wrapping);
    case BinaryOp::kSub: return held(type, a - b, wrapping);
    case BinaryOp::kMul: return held(type, a * b, wrapping);
    case BinaryOp::kDiv: return b == 0 ? std::nullopt : held(type, a / b, false);
    case BinaryOp::kMod:
      if (b == 0 || !inside(type, a / b)) return std::nullopt;
      return static_cast<int64_t>(a - a / b * b);
    case BinaryOp::kMin: return static_cast<int64_t>(b < a ? b : a);
    case BinaryOp::kMax: return static_cast<int64_t>(b > a ? b : a);
    case BinaryOp::kBitAnd: return static_cast<int64_t>(a & b);
    case BinaryOp::kBitOr: return static_cast<int64_t>(a | b);
    case BinaryOp::kBitXor: return static_cast<int64_t>(a ^ b);
    case BinaryOp::kShl:
      if (b < 0 || b >= width) return std::nullopt;
      return held(type, a * (static_cast<Wide>(1) << static_cast<int>(b)), wrapping);
    case BinaryOp::kShr:
      if (b < 0 || b >= width) return std::nullopt;
      return static_cast<int64_t>(a >> static_cast<int>(b));
    case BinaryOp::kEq: return a == b;
    case BinaryOp::kNe: return a != b;
    case BinaryOp::kLt: return a < b;
    case BinaryOp::kLe: return a <= b;
    case BinaryOp::kGt: return a > b;
    case BinaryOp::kGe: return a >= b;
    case BinaryOp::kAnd: return a != 0 && b != 0;
    case BinaryOp::kOr: return a != 0 || b != 0;
  }
  return std::nullopt;
}

std::vector<int64_t> ends_of(DType type) {
  const IntRange r = int_range(type);
  std::vector<int64_t> out;
  for (int64_t v : {r.min, r.min + 1, r.min / 2, r.max / 2, r.max / 2 + 1, r.max - 1, r.max}) out.push_back(v);
  for (int64_t v : {-65536, -33, -2, -1, 0, 1, 2, 3, 15, 31, 32, 33, 63, 64, 46341, 65536})
    if (inside(type, v)) out.push_back(v);
  return out;
}

TEST(Arithmetic, IntegersAreExactOrTrap) {
  for (DType type : {DType::kI32, DType::kU32, DType::kI64})
    for (BinaryOp op : all_operators())
      for (int64_t a : ends_of(type))
        for (int64_t b : ends_of(type))
          for (bool wrapping : {false, true}) {
            int64_t result = 0;
            const bool good = fold_int(op, type, a, b, wrapping, &result);
            const auto wanted = defined(op, type, a, b, wrapping);
            ASSERT_EQ(good, wanted.has_value()) << name_of(type) << " " << a << spelling_of(op) << b << " " << wrapping;
            if (good) {
              ASSERT_EQ(result, *wanted) << name_of(type) << " " << a << spelling_of(op) << b << " " << wrapping;
            }
          }
}

TEST(Arithmetic, CastsOfIntegersAreExactOrTrap) {
  for (DType to : kIntegers)
    for (DType from : {to, DType::kI64, DType::kI16})
      for (int64_t v : ends_of(from)) {
        EXPECT_EQ(wrap_to(to, v), wrapped(to, v)) << name_of(to) << " " << v;
        EXPECT_EQ(fits(to, v), inside(to, v)) << name_of(to) << " " << v;
        for (bool wrapping : {false, true}) {
          int64_t result = 0;
          const bool good = fold_int_cast(to, v, wrapping, &result);
          ASSERT_EQ(good, wrapping || inside(to, v)) << name_of(to) << " " << v;
          if (good) {
            ASSERT_EQ(result, wrapped(to, v)) << name_of(to) << " " << v;
          }
        }
      }
}

template <typename T>
std::optional<double> defined(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::kAdd: return static_cast<T>(a + b);
    case BinaryOp::kSub: return static_cast<T>(a - b);
    case BinaryOp::kMul: return static_cast<T>(a * b);
    case BinaryOp::kDiv: return b == 0 ? std::nullopt : std::optional<double>(static_cast<T>(a / b));
    case BinaryOp::kMin: return a < b ? a : b;
    case BinaryOp::kMax: return a > b ? a : b;
    case BinaryOp::kEq: return a == b;
    case BinaryOp::kNe: return a != b;
    case BinaryOp::kLt: return a < b;
    case BinaryOp::kLe: return a <= b;
    case BinaryOp::kGt: return a > b;
    case BinaryOp::kGe: return a >= b;
    default: return std::nullopt;
  }
}

// The same bits, or both not a number.
bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

TEST(Arithmetic, FloatsAreRoundedOnceToTheirType) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const double values[] = {0.0, -0.0, 1, -1, 0.1, 1.0 / 3, 16777217, 3e38, -1e-40, 1e300, inf, -inf, nan};
  for (BinaryOp op : all_operators())
    for (double a : values)
      for (double b : values)
        for (DType type : {DType::kF32, DType::kF64}) {
          double result = 0;
          const bool good = fold_float(op, type, a, b, &result);
          const auto wanted =
              type == DType::kF64 ? defined(op, a, b) : defined(op, static_cast<float>(a), static_cast<float>(b));
          ASSERT_EQ(good, wanted.has_value()) << a << spelling_of(op) << b;
          if (good) {
            ASSERT_TRUE(same(result, *wanted)) << a << spelling_of(op) << b << ": " << result;
          }
        }
}

TEST(Arithmetic, FloatsAreTruncatedIntoTheRangeOrTrap) {
  int64_t result = 0;
  const double inf = std::numeric_limits<double>::infinity();
  for (DType type : kIntegers)
    for (double v : {std::nan(""), inf, -inf, 1e30, -1e30})
      EXPECT_FALSE(float_to_int(type, v, &result)) << name_of(type) << " " << v;
  for (DType type : kIntegers) {
    std::vector<double> values = {0, 0.5, -0.5, 1.5, -1.5, 0x1p62, -0x1p62, 0x1p63, -0x1p63};
    for (int64_t end : {int_range(type).min, int_range(type).max})
      for (double d : {-1.0, -0.75, 0.0, 0.75, 1.0}) {
        values.push_back(static_cast<double>(end) + d);
        values.push_back(std::nextafter(static_cast<double>(end) + d, inf));
        values.push_back(std::nextafter(static_cast<double>(end) + d, -inf));
      }
    for (double v : values) {
      const auto exact = static_cast<Wide>(v);
      ASSERT_EQ(float_to_int(type, v, &result), inside(type, exact)) << name_of(type) << " " << v;
      if (inside(type, exact)) {
        ASSERT_EQ(result, static_cast<int64_t>(exact)) << name_of(type) << " " << v;
      }
    }
  }
}

TEST(Arithmetic, IntegersAreRoundedToFloats) {
  EXPECT_EQ(int_to_float(DType::kF32, 16777217), 16777216.0);
  EXPECT_EQ(int_to_float(DType::kF64, 16777217), 16777217.0);
  EXPECT_EQ(int_to_float(DType::kF32, -16777219), -16777220.0);
  EXPECT_EQ(int_to_float(DType::kF64, (int64_t{1} << 53) + 1), 0x1p53);
}

TEST(Arithmetic, KindsOfOperators) {
  for (BinaryOp op : all_operators()) {
    const bool compares = op == BinaryOp::kEq || op == BinaryOp::kNe || op == BinaryOp::kLt || op == BinaryOp::kLe ||
                          op == BinaryOp::kGt || op == BinaryOp::kGe;
    EXPECT_EQ(is_comparison(op), compares) << spelling_of(op);
    EXPECT_EQ(gives_truth(op), compares || op == BinaryOp::kAnd || op == BinaryOp::kOr) << spelling_of(op);
  }
}

// The text form: docs/ir.md.
TEST(Arithmetic, Spellings) {
  std::string all;
  for (BinaryOp op : all_operators()) all += std::string(spelling_of(op)) + " ";
  EXPECT_EQ(all, "+ - * / % min max & | ^ << >> == != < <= > >= && || ");
  EXPECT_EQ(spelling_of(UnaryOp::kNeg), "-");
  EXPECT_EQ(spelling_of(UnaryOp::kLogicalNot), "!");
  EXPECT_EQ(spelling_of(UnaryOp::kBitNot), "~");
  all.clear();
  for (Role role : {Role::kInput, Role::kConstant, Role::kOutput, Role::kScratch, Role::kLocal})
    all += std::string(spelling_of(role)) + " ";
  EXPECT_EQ(all, "in const out scratch local ");
}

TEST(Arithmetic, Intrinsics) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Intrinsic::kFence); ++i) {
    const auto id = static_cast<Intrinsic>(i);
    const IntrinsicInfo& info = info_of(id);
    EXPECT_EQ(info.id, id) << info.name;
    EXPECT_EQ(intrinsic_from_name(info.name), &info) << info.name;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    const bool memory = id == Intrinsic::kMemcpy || id == Intrinsic::kMemset;
    EXPECT_EQ(info.is_scalar, !memory) << info.name;
    EXPECT_EQ(info.args, memory ? 3 : id == Intrinsic::kPow ? 2 : 1) << info.name;
    for (DType type : {DType::kI32, DType::kF32, DType::kF64}) {
      DType wanted = memory || id == Intrinsic::kFloatBits ? DType::kI32 : type;
      if (id == Intrinsic::kFloatFromBits) wanted = DType::kF32;
      EXPECT_EQ(result_type(id, type), wanted) << info.name;
    }
  }
  EXPECT_EQ(intrinsic_from_name("exp2"), nullptr);
  EXPECT_EQ(intrinsic_from_name(""), nullptr);
}

}  // namespace
}  // namespace aotc::tir
