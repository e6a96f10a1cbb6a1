// SPDX-License-Identifier: Apache-2.0
// Where execution of a meaning would trap, its result is not defined, so the proof assumes that it does not: a sum that
// may not wrap is taken modulo 2^32, too, and a stored value fits its element.
#include "meaning.h"

#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tir/arithmetic.h"
#include "tir/visit.h"

namespace aotc::tests::proof {

namespace {

using tir::BinaryOp;

// An i32, a float's bits or, of i64, a * b + addend of words.
struct Value {
  DType type = DType::kI32;
  Term a = 0;
  Term b = -1;  // -1: no product
  int64_t addend = 0;
};

class Meaning {
 public:
  Meaning(Terms& terms, Memory& memory) : terms_(terms), memory_(memory) {}

  void run(const tir::Function& f, const std::vector<int32_t>& scalars) {
    for (size_t i = 0; i < f.params.size(); ++i) regions_[f.params[i].get()] = static_cast<int32_t>(i);
    for (size_t i = 0; i < f.scalars.size(); ++i)
      variables_[f.scalars[i].get()] = {DType::kI32, terms_.constant(static_cast<uint32_t>(scalars[i]))};
    run(*f.body);
  }

 private:
  static Failure unsupported(const std::string& what) { return Failure("the meaning has " + what); }

  // ---- expressions
  Value value(const tir::ExprPtr& e) {
    return tir::visit(*e, [&](const auto& n) { return of(n); });
  }
  Value word(Term t) const { return {DType::kI32, t}; }

  Value of(const tir::IntImm& n) {
    if (n.type == DType::kI64 && (n.value < INT32_MIN || n.value > INT32_MAX)) return {n.type, 0, -1, n.value};
    return {n.type, terms_.constant(static_cast<uint32_t>(n.value))};
  }
  Value of(const tir::FloatImm& n) {
    if (n.type != DType::kF32) throw unsupported("doubles");
    return {n.type, terms_.constant(std::bit_cast<uint32_t>(static_cast<float>(n.value)))};
  }
  Value of(const tir::VarRef& n) {
    const auto found = variables_.find(n.var.get());
    if (found == variables_.end()) throw unsupported("an unknown variable");
    return found->second;
  }
  Value of(const tir::Load& n) {
    const DType type = n.buffer->dtype;
    const bool is_signed = type == DType::kI8 || type == DType::kI16;
    if (size_of(type) > 4) throw unsupported("wide elements");
    const int32_t region = region_of(n.buffer);
    auto load_at = [&](Term index) {
      return memory_.load(region, int64_t{known({DType::kI32, index})} * size_of(type), static_cast<int>(size_of(type)),
                          is_signed);
    };
    const Term index = value(n.index).a;
    return {tir::promoted(type), terms_.has_choices() ? terms_.by_cases(index, load_at) : load_at(index)};
  }
  Value of(const tir::Unary& n) {
    const Value v = value(n.value);
    if (v.type != DType::kI32 || n.op == tir::UnaryOp::kLogicalNot) throw unsupported("an operator");
    if (n.op == tir::UnaryOp::kNeg) return word(terms_.subtract(0, v.a));
    return word(terms_.subtract(terms_.constant(~uint32_t{0}), v.a));
  }
  Value of(const tir::Address&) { throw unsupported("an address"); }

  Value of(const tir::Binary& n) {
    const Value a = value(n.lhs), b = value(n.rhs);
    if (a.type == DType::kF32) return of_floats(n.op, a, b);
    if (a.type == DType::kI64) return of_wide(n.op, a, b);
    const auto x = terms_.value_of(a.a), y = terms_.value_of(b.a);
    if (x && y && a.type == DType::kI32) {
      int64_t folded = 0;
      if (!tir::fold_int(n.op, a.type, static_cast<int32_t>(*x), static_cast<int32_t>(*y), n.wrapping, &folded))
        throw unsupported("an operation that traps");
      return word(terms_.constant(static_cast<uint32_t>(folded)));
    }
    const bool is_signed = a.type == DType::kI32;
    auto result = [&](Term t) { return Value{n.type, t}; };
    switch (n.op) {
      case BinaryOp::kAdd: return result(terms_.add(a.a, b.a));
      case BinaryOp::kSub: return result(terms_.subtract(a.a, b.a));
      case BinaryOp::kMul: return result(terms_.multiply(a.a, b.a));
      case BinaryOp::kMin: return result(terms_.minimum(a.a, b.a));
      case BinaryOp::kMax: return result(terms_.maximum(a.a, b.a));
      case BinaryOp::kBitAnd: return result(terms_.bit_operation(Operation::kAnd, a.a, b.a));
      case BinaryOp::kBitOr: return result(terms_.bit_operation(Operation::kOr, a.a, b.a));
      case BinaryOp::kBitXor: return result(terms_.bit_operation(Operation::kXor, a.a, b.a));
      case BinaryOp::kShl: return result(terms_.shift_left(a.a, known(b)));
      case BinaryOp::kShr:
        if (terms_.has_choices())
          return result(terms_.by_cases(b.a, [&](Term by) {
            return terms_.shift_right(terms_.simplified(a.a), known({DType::kI32, by}), is_signed);
          }));
        return result(terms_.shift_right(a.a, known(b), is_signed));
      case BinaryOp::kLt: return word(terms_.less(a.a, b.a));
      case BinaryOp::kGt: return word(terms_.less(b.a, a.a));
      case BinaryOp::kLe: return word(terms_.subtract(terms_.constant(1), terms_.less(b.a, a.a)));
      case BinaryOp::kGe: return word(terms_.subtract(terms_.constant(1), terms_.less(a.a, b.a)));
      case BinaryOp::kEq: return word(terms_.is_zero(terms_.subtract(a.a, b.a)));
      case BinaryOp::kNe: return word(terms_.opposite(terms_.is_zero(terms_.subtract(a.a, b.a))));
      case BinaryOp::kAnd: return word(terms_.bit_operation(Operation::kAnd, a.a, b.a));
      case BinaryOp::kOr: return word(terms_.bit_operation(Operation::kOr, a.a, b.a));
      case BinaryOp::kDiv:
      case BinaryOp::kMod: known(a), known(b); break;  // of sizes
    }
    throw unsupported("a division");
  }

  Value of_wide(BinaryOp op, const Value& a, const Value& b) {
    if (op == BinaryOp::kMul && a.b < 0 && b.b < 0 && a.addend == 0 && b.addend == 0) return {a.type, a.a, b.a, 0};
    if (op == BinaryOp::kAdd && b.a == 0 && b.b < 0) return {a.type, a.a, a.b, a.addend + b.addend};
    if (op == BinaryOp::kAdd && b.b < 0 && b.addend == 0)
      if (const auto v = terms_.value_of(b.a)) return {a.type, a.a, a.b, a.addend + static_cast<int32_t>(*v)};
    if (op == BinaryOp::kShr && a.b >= 0) return {a.type, terms_.high_word(a.a, a.b, a.addend, known(b))};
    // Numbers that are words.
    if (a.b < 0 && b.b < 0)
      if (const auto x = word_of(a), y = word_of(b); x && y) {
        const Range p = terms_.range_of(*x), q = terms_.range_of(*y);
        if (op == BinaryOp::kAdd && Range{p.low + q.low, p.high + q.high}.is_word())
          return {a.type, terms_.add(*x, *y)};
        if (op == BinaryOp::kSub && Range{p.low - q.high, p.high - q.low}.is_word())
          return {a.type, terms_.subtract(*x, *y)};
        if (op == BinaryOp::kShr) return {a.type, terms_.shift_right(*x, known(b), true)};
      }
    throw unsupported("an operation of 64 bits");
  }

  // An i64 as a word, if it is one.
  std::optional<Term> word_of(const Value& v) {
    const Range range = terms_.range_of(v.a);
    if (v.b >= 0 || !Range{range.low + v.addend, range.high + v.addend}.is_word()) return std::nullopt;
    return terms_.add(v.a, terms_.constant(static_cast<uint32_t>(v.addend)));
  }

  Value of_floats(BinaryOp op, const Value& a, const Value& b) {
    const std::vector<Term> both = {a.a, b.a};
    const Term infinity = terms_.constant(std::bit_cast<uint32_t>(std::numeric_limits<float>::infinity()));
    switch (op) {
      case BinaryOp::kAdd: return {a.type, terms_.operation(Operation::kFloatSum, both)};
      case BinaryOp::kSub: return {a.type, terms_.operation(Operation::kFloatDifference, both)};
      case BinaryOp::kMul:
        return {a.type, terms_.operation(Operation::kFloatProduct, {std::min(a.a, b.a), std::max(a.a, b.a)})};
      case BinaryOp::kMax: return {a.type, terms_.operation(Operation::kFloatClamp, {a.a, b.a, infinity})};
      case BinaryOp::kMin: return {a.type, terms_.float_minimum(a.a, b.a)};
      default: throw unsupported("an operation of floats");
    }
  }

  Value of(const tir::Cast& n) {
    Value v = value(n.value);
    if (n.type == v.type) return v;
    if (v.type == DType::kF32 && n.type == DType::kI32) {
      if (const auto whole = terms_.whole_of_rounded(v.a)) return word(*whole);
      if (const auto bits = terms_.value_of(v.a))
        return word(terms_.constant(static_cast<uint32_t>(static_cast<int32_t>(std::bit_cast<float>(*bits)))));
      throw unsupported("a cast of a float");
    }
    if (n.type == DType::kF32 && v.type == DType::kI32)
      return {n.type, terms_.operation(Operation::kFloatOfInt, {v.a})};
    if (v.type == DType::kI64 && (v.b >= 0 || v.addend != 0)) throw unsupported("a cast of 64 bits");
    if (n.type == DType::kF32 || n.type == DType::kF64 || v.type == DType::kF32) throw unsupported("a cast");
    if (n.type == DType::kI64 && v.type != DType::kI32) throw unsupported("a cast of an unsigned word");
    if (size_of(n.type) < 4 && n.wrapping)
      v.a = terms_.slice(v.a, 0, static_cast<int>(8 * size_of(n.type)), n.type == DType::kI8 || n.type == DType::kI16);
    return {n.type, v.a};
  }

  Value of(const tir::Select& n) {
    const Value condition = value(n.condition);
    if (const auto v = terms_.value_of(condition.a)) return value(*v != 0 ? n.if_true : n.if_false);
    Value a, b;
    try {
      a = value(n.if_true), b = value(n.if_false);
    } catch (const Failure&) {
      known(condition);  // one of both is not for this call
      throw;
    }
    if (a.b >= 0 || b.b >= 0) throw unsupported("a selection of 64 bits");
    return {a.type, terms_.select(condition.a, a.a, b.a)};
  }

  Value of(const tir::Call& n) {
    switch (n.callee) {
      case tir::Intrinsic::kKeep:
      case tir::Intrinsic::kFence:
      case tir::Intrinsic::kFloatBits:
      case tir::Intrinsic::kFloatFromBits: {
        const Value v = value(n.args[0]);
        return {n.type, v.a};
      }
      default: throw unsupported("a call");
    }
  }

  // A value that decides.
  int32_t known(const Value& v) {
    if (const auto found = terms_.value_of(v.a)) return static_cast<int32_t>(*found);
    NeedsKnown needs;
    terms_.add_bits_below(v.a, needs.bits);
    throw needs;
  }

  int32_t region_of(const tir::BufferPtr& buffer) const {
    const auto found = regions_.find(buffer.get());
    if (found == regions_.end()) throw unsupported("a local buffer");
    return found->second;
  }
  std::pair<int32_t, int64_t> place(const tir::BufferPtr& buffer, const tir::ExprPtr& index) {
    return {region_of(buffer), int64_t{known(value(index))} * size_of(buffer->dtype)};
  }

  // ---- statements
  void run(const tir::Stmt& s) {
    tir::visit(s, [&](const auto& n) { of_statement(n); });
  }
  void of_statement(const tir::For& n) {
    const int32_t begin = known(value(n.begin)), end = known(value(n.end));
    for (int64_t i = begin; i < end; i += n.step) {
      variables_[n.var.get()] = {DType::kI32, terms_.constant(static_cast<uint32_t>(i))};
      run(*n.body);
    }
  }
  void of_statement(const tir::If& n) {
    if (terms_.has_choices()) return run_both_ways(n);
    if (known(value(n.condition)) != 0) run(*n.then);
    else if (n.otherwise) run(*n.otherwise);
  }
  // Of a condition that data decides: both ways, and the variables of either.
  void run_both_ways(const tir::If& n) {
    const Term condition = terms_.by_cases(value(n.condition).a, [&](Term one) {
      return terms_.constant(static_cast<uint32_t>(known({DType::kI32, one})));
    });
    if (const auto v = terms_.value_of(condition)) {
      if (*v != 0) run(*n.then);
      else if (n.otherwise) run(*n.otherwise);
      return;
    }
    const auto before = variables_;
    ++ways_;
    {
      const Terms::Assumption holds(terms_, condition, true);
      run(*n.then);
    }
    const auto then = std::exchange(variables_, before);
    if (n.otherwise) {
      const Terms::Assumption fails(terms_, condition, false);
      run(*n.otherwise);
    }
    --ways_;
    for (auto& [variable, v] : variables_)
      if (const auto found = then.find(variable); found != then.end() && found->second.b < 0 && v.b < 0)
        v.a = terms_.select(condition, found->second.a, v.a);
  }
  void of_statement(const tir::Declare& n) { variables_[n.var.get()] = value(n.init); }
  void of_statement(const tir::Assign& n) { variables_[n.var.get()] = value(n.value); }
  void of_statement(const tir::Store& n) {
    if (ways_ > 0) throw unsupported("a store where data decides");
    const auto [region, at] = place(n.buffer, n.index);
    memory_.store(region, at, static_cast<int>(size_of(n.buffer->dtype)), value(n.value).a);
  }
  void of_statement(const tir::Evaluate& n) {
    if (n.value->kind == tir::ExprKind::kCall) {
      const auto callee = static_cast<const tir::Call&>(*n.value).callee;
      if (callee == tir::Intrinsic::kMemcpy || callee == tir::Intrinsic::kMemset)
        throw unsupported("a memory function");
    }
    value(n.value);
  }
  void of_statement(const tir::Block& n) {
    for (const tir::StmtPtr& s : n.body) run(*s);
  }
  void of_statement(const tir::Comment&) {}
  void of_statement(const tir::Alloc&) { throw unsupported("a local buffer"); }
  void of_statement(const tir::CallKernel&) { throw unsupported("a call of a kernel"); }
  void of_statement(const tir::Fail&) { throw unsupported("a failure"); }
  void of_statement(const tir::Trace&) {}

  Terms& terms_;
  Memory& memory_;
  int ways_ = 0;  // that data chooses, around the present statement
  std::map<const tir::Buffer*, int32_t> regions_;
  std::map<const tir::Variable*, Value> variables_;
};

}  // namespace

void run_meaning(Terms& terms, Memory& memory, const tir::Function& meaning, const std::vector<int32_t>& scalars) {
  Meaning(terms, memory).run(meaning, scalars);
}

}  // namespace aotc::tests::proof
