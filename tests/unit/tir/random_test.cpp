// SPDX-License-Identifier: Apache-2.0
// Random programs: the interpreter against an evaluation of its own here in exact arithmetic, with
// the text form, the verifier and the builder's folding on the way.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "testing.h"
#include "tir/builder.h"

namespace aotc::tir {
namespace {

using testing::memory_of;

__extension__ typedef __int128 Wide;

struct Value {
  Wide i = 0;
  double d = 0;  // f32 values are exact in it
};
using Outcome = std::optional<Value>;  // nothing: a trap

Wide wrapped(Wide v, DType type) {
  int bits = size_of(type) * 8;
  Wide modulus = static_cast<Wide>(1) << bits;
  v %= modulus;
  if (v < 0) v += modulus;
  if (type != DType::kU32 && type != DType::kU8 && type != DType::kU16 && v >= modulus / 2) v -= modulus;
  return v;
}

Outcome in_range(Wide v, DType type, bool wrapping) {
  Wide w = wrapped(v, type);
  if (w != v && !wrapping) return std::nullopt;
  return Value{w, 0};
}

template <typename T>
Outcome apply_float(BinaryOp op, T a, T b) {
  volatile T result = 0;
  switch (op) {
    case BinaryOp::kAdd: result = a + b; break;
    case BinaryOp::kSub: result = a - b; break;
    case BinaryOp::kMul: result = a * b; break;
    case BinaryOp::kDiv: result = a / b; break;
    case BinaryOp::kMin: result = a < b ? a : b; break;
    case BinaryOp::kMax: result = a > b ? a : b; break;
    case BinaryOp::kEq: return Value{a == b, 0};
    case BinaryOp::kNe: return Value{a != b, 0};
    case BinaryOp::kLt: return Value{a < b, 0};
    case BinaryOp::kLe: return Value{a <= b, 0};
    case BinaryOp::kGt: return Value{a > b, 0};
    default: return Value{a >= b, 0};
  }
  return Value{0, static_cast<double>(result)};
}

Outcome apply_int(const Binary& e, Wide a, Wide b) {
  DType type = e.lhs->type;
  int width = size_of(type) * 8;
  switch (e.op) {
    case BinaryOp::kAdd: return in_range(a + b, type, e.wrapping);
    case BinaryOp::kSub: return in_range(a - b, type, e.wrapping);
    case BinaryOp::kMul: return in_range(a * b, type, e.wrapping);
    case BinaryOp::kDiv: return b == 0 ? Outcome() : in_range(a / b, type, false);
    case BinaryOp::kMod:
      if (b == 0 || !in_range(a / b, type, false)) return std::nullopt;
      return Value{a % b, 0};
    case BinaryOp::kMin: return Value{a < b ? a : b, 0};
    case BinaryOp::kMax: return Value{a > b ? a : b, 0};
    case BinaryOp::kBitAnd: return Value{a & b, 0};
    case BinaryOp::kBitOr: return Value{a | b, 0};
    case BinaryOp::kBitXor: return Value{a ^ b, 0};
    case BinaryOp::kShl:
      if (b < 0 || b >= width) return std::nullopt;
      return in_range(a * (static_cast<Wide>(1) << static_cast<int>(b)), type, e.wrapping);
    case BinaryOp::kShr:
      if (b < 0 || b >= width) return std::nullopt;
      return Value{a >> static_cast<int>(b), 0};
    case BinaryOp::kEq: return Value{a == b, 0};
    case BinaryOp::kNe: return Value{a != b, 0};
    case BinaryOp::kLt: return Value{a < b, 0};
    case BinaryOp::kLe: return Value{a <= b, 0};
    case BinaryOp::kGt: return Value{a > b, 0};
    case BinaryOp::kGe: return Value{a >= b, 0};
    case BinaryOp::kAnd: return Value{a != 0 && b != 0, 0};
    case BinaryOp::kOr: return Value{a != 0 || b != 0, 0};
  }
  return std::nullopt;
}

Outcome evaluate(const ExprPtr& e, const std::vector<int32_t>& x);

Outcome evaluate_cast(const Cast& c, const std::vector<int32_t>& x) {
  Outcome v = evaluate(c.value, x);
  if (!v) return v;
  bool from_float = is_float(c.value->type);
  if (c.type == DType::kF64) return Value{0, from_float ? v->d : static_cast<double>(v->i)};
  if (c.type == DType::kF32) {
    float f = from_float ? static_cast<float>(v->d) : static_cast<float>(v->i);
    return Value{0, static_cast<double>(f)};
  }
  if (!from_float) return in_range(v->i, c.type, c.wrapping);
  if (!(std::fabs(v->d) < 1e30)) return std::nullopt;
  return in_range(static_cast<Wide>(v->d), c.type, false);
}

Outcome evaluate(const ExprPtr& e, const std::vector<int32_t>& x) {
  switch (e->kind) {
    case ExprKind::kIntImm: return Value{static_cast<const IntImm&>(*e).value, 0};
    case ExprKind::kFloatImm: return Value{0, static_cast<const FloatImm&>(*e).value};
    case ExprKind::kLoad: {
      Outcome at = evaluate(static_cast<const Load&>(*e).index, x);
      if (!at || at->i < 0 || at->i >= static_cast<Wide>(x.size())) return std::nullopt;
      return Value{x[static_cast<size_t>(at->i)], 0};
    }
    case ExprKind::kUnary: {
      const Unary& u = static_cast<const Unary&>(*e);
      Outcome v = evaluate(u.value, x);
      if (!v) return v;
      if (is_float(e->type)) return Value{0, -v->d};
      if (u.op == UnaryOp::kNeg) return in_range(-v->i, e->type, false);
      if (u.op == UnaryOp::kLogicalNot) return Value{v->i == 0, 0};
      return Value{wrapped(~v->i, e->type), 0};
    }
    case ExprKind::kBinary: {
      const Binary& b = static_cast<const Binary&>(*e);
      Outcome l = evaluate(b.lhs, x);
      Outcome r = evaluate(b.rhs, x);
      if (!l || !r) return std::nullopt;
      if (b.lhs->type == DType::kF64) return apply_float(b.op, l->d, r->d);
      if (b.lhs->type == DType::kF32) return apply_float(b.op, static_cast<float>(l->d), static_cast<float>(r->d));
      return apply_int(b, l->i, r->i);
    }
    case ExprKind::kCast: return evaluate_cast(static_cast<const Cast&>(*e), x);
    case ExprKind::kSelect: {
      const Select& s = static_cast<const Select&>(*e);
      Outcome c = evaluate(s.condition, x);
      return !c ? c : evaluate(c->i != 0 ? s.if_true : s.if_false, x);
    }
    default: ADD_FAILURE(); return std::nullopt;
  }
}

class Generator {
 public:
  Generator(unsigned seed, BufferPtr x) : random_(seed), x_(std::move(x)) {}
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  ExprPtr expr(DType type, int depth) {
    if (depth == 0 || below(8) == 0) return leaf(type);
    unsigned kind = below(10);
    if (kind == 0) return select(type, depth);
    if (kind == 1) return cast_to(type, depth);
    if (kind == 2) return unary(type, depth);
    return is_float(type) ? float_binary(type, depth) : int_binary(type, depth);
  }

 private:
  ExprPtr leaf(DType type) {
    if (is_float(type)) {
      static constexpr double kValues[] = {0, -0.0, 1, 0.1, -2.5, 1e20, 3e38, 1e-40};
      double v = kValues[below(8)];
      if (type == DType::kF32) v = static_cast<double>(static_cast<float>(v));
      return std::make_shared<FloatImm>(type, v);
    }
    if (type == DType::kI32 && below(2) == 0)
      return std::make_shared<Load>(x_, std::make_shared<IntImm>(DType::kI32, below(8)));
    IntRange r = int_range(type);
    const int64_t edge[] = {r.min, r.max, r.max - 1, 0, 1, 2, 31, 7};
    int64_t v = edge[below(8)];
    if (below(2) == 0) v = static_cast<int64_t>(below(40)) - (r.min < 0 ? 20 : 0);
    return std::make_shared<IntImm>(type, v);
  }
  ExprPtr select(DType type, int depth) {
    return std::make_shared<Select>(expr(DType::kI32, depth - 1), expr(type, depth - 1), expr(type, depth - 1));
  }
  ExprPtr cast_to(DType type, int depth) {
    static constexpr DType kAny[] = {DType::kI32, DType::kU32, DType::kI64, DType::kF32, DType::kF64};
    static constexpr DType kSmall[] = {DType::kI8, DType::kU8, DType::kI16, DType::kU16};
    if (type == DType::kI32 && below(2) == 0) {
      auto small = std::make_shared<Cast>(kSmall[below(4)], expr(DType::kI32, depth - 1), below(2) == 0);
      return std::make_shared<Cast>(type, small, false);
    }
    DType from = kAny[below(5)];
    bool wrapping = !is_float(from) && !is_float(type) && below(2) == 0;
    return std::make_shared<Cast>(type, expr(from, depth - 1), wrapping);
  }
  ExprPtr unary(DType type, int depth) {
    UnaryOp op = UnaryOp::kNeg;
    if (type == DType::kI32) op = static_cast<UnaryOp>(below(3));
    if (type == DType::kI64 && below(2) == 0) op = UnaryOp::kBitNot;
    return std::make_shared<Unary>(op, expr(type, depth - 1));
  }
  ExprPtr comparison(int depth) {
    static constexpr DType kAny[] = {DType::kI32, DType::kU32, DType::kI64, DType::kF32, DType::kF64};
    DType type = kAny[below(5)];
    BinaryOp op = static_cast<BinaryOp>(static_cast<unsigned>(BinaryOp::kEq) + below(6));
    return std::make_shared<Binary>(op, DType::kI32, expr(type, depth - 1), expr(type, depth - 1), false);
  }
  ExprPtr float_binary(DType type, int depth) {
    static constexpr BinaryOp kOps[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                                        BinaryOp::kDiv, BinaryOp::kMin, BinaryOp::kMax};
    return std::make_shared<Binary>(kOps[below(6)], type, expr(type, depth - 1), expr(type, depth - 1), false);
  }
  ExprPtr int_binary(DType type, int depth) {
    if (type == DType::kI32 && below(5) == 0) return comparison(depth);
    BinaryOp op = static_cast<BinaryOp>(below(static_cast<unsigned>(BinaryOp::kShr) + 1));
    if (type == DType::kI32 && below(10) == 0) op = below(2) == 0 ? BinaryOp::kAnd : BinaryOp::kOr;
    bool can_wrap = op <= BinaryOp::kMul || op == BinaryOp::kShl;
    bool shifts = op == BinaryOp::kShl || op == BinaryOp::kShr;
    ExprPtr rhs = shifts ? std::make_shared<IntImm>(type, below(31)) : expr(type, depth - 1);
    return std::make_shared<Binary>(op, type, expr(type, depth - 1), rhs, can_wrap && below(2) == 0);
  }

  std::mt19937 random_;
  BufferPtr x_;
};

// y[0] = e, for any type.
FunctionPtr storing(const ExprPtr& e, const BufferPtr& x, BufferPtr* y) {
  *y = std::make_shared<Buffer>(Buffer{"y", e->type, 1, Role::kOutput, 1});
  StmtPtr store = std::make_shared<Store>(*y, std::make_shared<IntImm>(DType::kI32, 0), e);
  Function f{"f", {x, *y}, std::make_shared<Block>(std::vector<StmtPtr>{store})};
  return std::make_shared<Function>(f);
}

// What is in the output, to be compared with the expected bits.
std::string bits_of(const Value& v, DType type) {
  std::string out(static_cast<size_t>(size_of(type)), '\0');
  float f = static_cast<float>(v.d);
  int64_t i = static_cast<int64_t>(v.i);
  const void* from = type == DType::kF32   ? static_cast<const void*>(&f)
                     : type == DType::kF64 ? static_cast<const void*>(&v.d)
                                           : static_cast<const void*>(&i);
  std::memcpy(out.data(), from, out.size());
  return out;
}

TEST(RandomPrograms, InterpreterAgreesWithExactArithmetic) {
  std::vector<int32_t> x{0, 1, -1, 100, INT32_MIN, INT32_MAX, 31, -7};
  auto buffer = std::make_shared<Buffer>(Buffer{"x", DType::kI32, 8, Role::kInput, 4});
  static constexpr DType kTypes[] = {DType::kI32, DType::kU32, DType::kI64, DType::kF32, DType::kF64};
  int values = 0;
  int traps = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    Generator generator(seed, buffer);
    DType type = kTypes[seed % 5];
    ExprPtr e = generator.expr(type, 1 + static_cast<int>(seed % 5));
    BufferPtr y;
    FunctionPtr f = storing(e, buffer, &y);
    std::string text = print(*f);
    FunctionPtr again = testing::parsed(text);
    ASSERT_TRUE(again);
    ASSERT_EQ(print(*again), text);
    ASSERT_TRUE(structurally_equal(*f, *again)) << text;
    Diagnostics unwanted;
    bool sound = verify(*again, unwanted).ok();

    Outcome expected = evaluate(e, x);
    std::string out(static_cast<size_t>(size_of(type)), '\xAA');
    std::string told = testing::run(again, {memory_of(x), {reinterpret_cast<uint8_t*>(out.data()), size_of(type)}});
    ASSERT_EQ(expected.has_value(), told.empty()) << told << text;
    if (!expected) {
      ++traps;
      continue;
    }
    ++values;
    // Only what traps may be rejected, unless select skips it.
    if (!sound) {
      EXPECT_NE(unwanted.str().find("division by zero"), std::string::npos) << unwanted.str();
    }
    bool is_nan = is_float(type) && std::isnan(expected->d);
    if (!is_nan) {
      ASSERT_EQ(out, bits_of(*expected, type)) << text;
    }
  }
  EXPECT_GT(values, 1500);
  EXPECT_GT(traps, 500);
}

// The builder's folding: the same operations on immediates and on loaded values.
TEST(RandomPrograms, FoldingKeepsTheValue) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    FunctionBuilder f("f");
    BufferPtr x = f.input("x", DType::kI32, 4);
    BufferPtr y = f.output("y", DType::kI32, 2);
    std::vector<int32_t> in;
    for (int i = 0; i < 4; ++i) in.push_back(static_cast<int32_t>(random() % 9) - 3);
    Ex folded(in[0]);
    Ex mixed = load(x, 0);
    Ex loaded = load(x, 0);
    int64_t magnitude = 4;
    for (int step = 0; step < 6; ++step) {
      size_t k = random() % 4;
      Ex constant(in[k]);
      Ex variable = load(x, static_cast<int>(k));
      Ex some = random() % 2 == 0 ? constant : variable;
      auto apply = [&](const Ex& a, const Ex& b, unsigned op) {
        switch (op) {
          case 0: return a + b;
          case 1: return a - b;
          case 2: return a * b;
          case 3: return min(a, b);
          case 4: return (a < b) || (a == 2);
          case 5: return b + a;
          case 6: return select(a >= b, a, b + 1);
          default: return (b * 2) * a;
        }
      };
      unsigned op = static_cast<unsigned>(random() % 8);
      folded = apply(folded, constant, op);
      mixed = apply(mixed, some, op);
      loaded = apply(loaded, variable, op);
      magnitude *= 12;
    }
    ASSERT_LT(magnitude, int64_t{1} << 31);
    ASSERT_TRUE(folded.is_imm());
    f.store(y, 0, folded - mixed);
    f.store(y, 1, folded - loaded);
    FunctionPtr made = f.finish();
    std::vector<int32_t> out(2, 9);
    ASSERT_EQ(testing::verified(made), "") << print(*made);
    ASSERT_EQ(testing::run(made, {memory_of(in), memory_of(out)}), "") << print(*made);
    ASSERT_EQ(out, (std::vector<int32_t>{0, 0})) << print(*made);
  }
}

// Loop nests over affine indices: what the verifier rejects traps, and what runs was accepted.
TEST(RandomPrograms, VerifierRejectsOnlyWhatTraps) {
  std::mt19937 random(11);
  int rejected = 0;
  int ran = 0;
  for (int round = 0; round < 3000; ++round) {
    auto number = [&](int lo, int hi) { return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1)); };
    FunctionBuilder f("f");
    BufferPtr y = f.output("y", DType::kI32, number(20, 30));
    int step = number(1, 3);
    f.loop(
        "i", number(0, 2), number(2, 7),
        [&](Ex i) {
          f.loop("j", 0, number(1, 5), [&](Ex j) {
            Ex k = f.let("k", i * number(-2, 4) + j * number(-1, 4) + number(-2, 6));
            Ex bound(number(-1, 25));
            auto access = [&] { f.store(y, k + number(-1, 2), 1); };
            switch (number(0, 4)) {
              case 0: access(); break;
              case 1: f.if_(i < number(0, 6), access); break;
              case 2: f.if_(k >= 1 && k < bound, access); break;
              case 3: f.if_(k > bound || j == 2, [] {}, access); break;
              default: f.if_(i * 2 - 3 >= j, access, access); break;
            }
          });
        },
        step);
    FunctionPtr made = f.finish();
    Diagnostics diags;
    bool accepted = verify(*made, diags).ok();
    std::vector<int32_t> out(static_cast<size_t>(y->elements));
    Diagnostics traps;
    bool runs = interpret(*made, {memory_of(out)}, traps).ok();
    ASSERT_TRUE(accepted || !runs) << diags.str() << print(*made);
    rejected += accepted ? 0 : 1;
    ran += runs ? 1 : 0;
  }
  EXPECT_GT(rejected, 300);
  EXPECT_GT(ran, 500);
}

}  // namespace
}  // namespace aotc::tir
