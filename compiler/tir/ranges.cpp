// SPDX-License-Identifier: Apache-2.0
#include "tir/ranges.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "tir/arithmetic.h"

namespace aotc::tir {

namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

Interval whole_type(DType type) {
  if (is_float(type)) return {kLowest, kHighest};
  IntRange r = int_range(type);
  return {r.min, r.max};
}

Interval meet(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Interval join(Interval a, Interval b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
int64_t ceil_div(int64_t a, int64_t b) { return a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0); }

// The interval of a monotonic operation from its corners; nothing if one of them overflows.
std::optional<Interval> corners(BinaryOp op, Interval a, Interval b) {
  Interval out{kHighest, kLowest};
  for (int64_t x : {a.lo, a.hi}) {
    for (int64_t y : {b.lo, b.hi}) {
      int64_t v = 0;
      if (!fold_int(op, DType::kI64, x, y, false, &v)) return std::nullopt;
      out = {std::min(out.lo, v), std::max(out.hi, v)};
    }
  }
  return out;
}

BinaryOp negated(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEq: return BinaryOp::kNe;
    case BinaryOp::kNe: return BinaryOp::kEq;
    case BinaryOp::kLt: return BinaryOp::kGe;
    case BinaryOp::kLe: return BinaryOp::kGt;
    case BinaryOp::kGt: return BinaryOp::kLe;
    default: return BinaryOp::kLt;
  }
}

}  // namespace

void Ranges::set(const Variable* variable, Known known) {
  auto it = known_.find(variable);
  bool was_known = it != known_.end();
  changes_.push_back({variable, was_known, was_known ? it->second : Known{}});
  known_[variable] = std::move(known);
}

void Ranges::restore(const Mark& mark) {
  while (changes_.size() > mark.changes) {
    Change& change = changes_.back();
    if (change.was_known) {
      known_[change.variable] = std::move(change.before);
    } else {
      known_.erase(change.variable);
    }
    changes_.pop_back();
  }
  exact_path_ = mark.exact_path;
  reachable_ = mark.reachable;
  may_not_run_ = mark.may_not_run;
}

void Ranges::enter_loop(const For& loop) {
  Interval begin = of(loop.begin);
  Interval end = of(loop.end);
  Known known;
  known.fixed = true;
  known.interval = {begin.lo, end.hi - 1};
  known.exact = begin.lo == begin.hi && end.lo == end.hi;
  if (known.exact) {
    known.base = begin.lo;
    known.step = loop.step;
    if (!known.interval.empty()) known.interval.hi = begin.lo + (known.interval.hi - begin.lo) / loop.step * loop.step;
  } else {
    exact_path_ = false;  // the body may not run at all
    may_not_run_ = may_not_run_ || end.lo <= begin.hi;
  }
  if (known.interval.empty()) reachable_ = false;
  set(loop.var.get(), known);
}

void Ranges::declare(const Declare& declaration) {
  if (is_float(declaration.var->dtype)) return;
  Known known;
  known.fixed = !declaration.is_mutable;
  known.interval = known.fixed ? of(declaration.init) : whole_type(declaration.var->dtype);
  if (known.fixed) known.linear = linear(declaration.init);
  set(declaration.var.get(), known);
}

// ---------------------------------------------------------------- intervals

Interval Ranges::of(const ExprPtr& e) {
  Interval type = whole_type(e->type);
  Interval result = type;
  switch (e->kind) {
    case ExprKind::kIntImm: {
      int64_t v = static_cast<const IntImm&>(*e).value;
      return {v, v};
    }
    case ExprKind::kVarRef: {
      auto it = known_.find(static_cast<const VarRef&>(*e).var.get());
      if (it != known_.end()) result = it->second.interval;
      break;
    }
    case ExprKind::kLoad: return whole_type(static_cast<const Load&>(*e).buffer->dtype);
    case ExprKind::kUnary: {
      const Unary& u = static_cast<const Unary&>(*e);
      if (u.op == UnaryOp::kLogicalNot) return {0, 1};
      if (u.op != UnaryOp::kNeg || is_float(e->type)) return type;
      Interval v = of(u.value);
      if (v.lo > type.lo) result = {-v.hi, -v.lo};
      break;
    }
    case ExprKind::kBinary: result = of_binary(static_cast<const Binary&>(*e)); break;
    case ExprKind::kCast: {
      const Cast& c = static_cast<const Cast&>(*e);
      if (is_float(c.value->type) || is_float(e->type)) return type;
      Interval v = of(c.value);
      bool changes = v.lo < type.lo || v.hi > type.hi;
      result = c.wrapping && changes ? type : v;
      break;
    }
    case ExprKind::kSelect: {
      const Select& s = static_cast<const Select&>(*e);
      // A condition is looked at twice, so nested ones would take exponential time.
      if (selects_ >= 4) return type;
      ++selects_;
      Mark before = mark();
      assume(s.condition, true);
      Interval yes = reachable_ ? of(s.if_true) : Interval{1, 0};
      restore(before);
      assume(s.condition, false);
      Interval no = reachable_ ? of(s.if_false) : Interval{1, 0};
      restore(before);
      result = join(yes, no);
      --selects_;
      break;
    }
    default: return type;
  }
  result = meet(result, type);
  Linear l = linear(e);
  return l.known ? meet(result, meet(of_linear(l), type)) : result;
}

Interval Ranges::of_binary(const Binary& b) {
  if (gives_truth(b.op)) return {0, 1};
  Interval type = whole_type(b.type);
  if (is_float(b.type)) return type;
  Interval x = of(b.lhs);
  Interval y = of(b.rhs);
  std::optional<Interval> out;
  switch (b.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul: out = corners(b.op, x, y); break;
    case BinaryOp::kShl:
    case BinaryOp::kShr:
    case BinaryOp::kDiv:
      // Monotonic in the left operand for one amount or divisor.
      if (y.lo == y.hi && y.lo > 0) out = corners(b.op, x, y);
      break;
    case BinaryOp::kMod:
      if (y.lo > 0) {
        int64_t most = y.hi - 1;
        out = Interval{x.lo >= 0 ? 0 : std::max(-most, x.lo), x.hi <= 0 ? 0 : std::min(most, x.hi)};
      }
      break;
    case BinaryOp::kMin: out = Interval{std::min(x.lo, y.lo), std::min(x.hi, y.hi)}; break;
    case BinaryOp::kMax: out = Interval{std::max(x.lo, y.lo), std::max(x.hi, y.hi)}; break;
    case BinaryOp::kBitAnd:
      if (x.lo >= 0) out = Interval{0, x.hi};
      if (y.lo >= 0) out = Interval{0, x.lo >= 0 ? std::min(x.hi, y.hi) : y.hi};
      break;
    default: break;
  }
  if (!out) return type;
  bool leaves = out->lo < type.lo || out->hi > type.hi;
  return b.wrapping && leaves ? type : *out;
}

// ---------------------------------------------------------------- linear forms

// Keeps later sums of terms far from overflow and hostile input cheap.
constexpr int64_t kLargest = int64_t{1} << 40;
constexpr size_t kMaxTerms = 32;

Linear bounded(Linear l) {
  auto large = [](int64_t v) { return v > kLargest || v < -kLargest; };
  bool bad = large(l.constant) || l.terms.size() > kMaxTerms;
  for (const Linear::Term& t : l.terms) bad = bad || large(t.coefficient);
  return bad ? Linear{} : l;
}

Linear Ranges::scaled(const Linear& a, int64_t factor) const {
  Linear out = a;
  if (__builtin_mul_overflow(a.constant, factor, &out.constant)) return {};
  for (Linear::Term& t : out.terms)
    if (__builtin_mul_overflow(t.coefficient, factor, &t.coefficient)) return {};
  if (factor == 0) out.terms.clear();
  return bounded(std::move(out));
}

Linear Ranges::combine(const Linear& a, const Linear& b, int64_t factor) const {
  if (!a.known || !b.known) return {};
  Linear other = scaled(b, factor);
  Linear out = a;
  if (!other.known || __builtin_add_overflow(out.constant, other.constant, &out.constant)) return {};
  for (const Linear::Term& t : other.terms) {
    auto same = std::find_if(out.terms.begin(), out.terms.end(),
                             [&](const Linear::Term& o) { return o.variable == t.variable; });
    if (same == out.terms.end()) {
      out.terms.push_back(t);
    } else if (__builtin_add_overflow(same->coefficient, t.coefficient, &same->coefficient)) {
      return {};
    } else if (same->coefficient == 0) {
      out.terms.erase(same);
    }
  }
  return bounded(std::move(out));
}

Linear Ranges::linear(const ExprPtr& e) const {
  if (e->type != DType::kI32) return {};
  if (e->kind == ExprKind::kIntImm)
    return {.known = true, .constant = static_cast<const IntImm&>(*e).value, .terms = {}};
  if (e->kind == ExprKind::kVarRef) {
    const Variable* variable = static_cast<const VarRef&>(*e).var.get();
    auto it = known_.find(variable);
    if (it == known_.end() || !it->second.fixed) return {};
    if (it->second.linear.known) return it->second.linear;
    return {.known = true, .constant = 0, .terms = {{variable, 1}}};
  }
  if (e->kind != ExprKind::kBinary) return {};
  const Binary& b = static_cast<const Binary&>(*e);
  if (b.wrapping) return {};
  if (b.op == BinaryOp::kAdd) return combine(linear(b.lhs), linear(b.rhs), 1);
  if (b.op == BinaryOp::kSub) return combine(linear(b.lhs), linear(b.rhs), -1);
  if (b.op != BinaryOp::kMul) return {};
  bool left = b.lhs->kind == ExprKind::kIntImm;
  const ExprPtr& factor = left ? b.lhs : b.rhs;
  if (factor->kind != ExprKind::kIntImm) return {};
  Linear other = linear(left ? b.rhs : b.lhs);
  return other.known ? scaled(other, static_cast<const IntImm&>(*factor).value) : Linear{};
}

Interval Ranges::of_linear(const Linear& l) const {
  Interval out{l.constant, l.constant};
  for (const Linear::Term& t : l.terms) {
    auto it = known_.find(t.variable);
    if (it == known_.end()) return {kLowest, kHighest};
    Interval factor{t.coefficient, t.coefficient};
    std::optional<Interval> product = corners(BinaryOp::kMul, it->second.interval, factor);
    std::optional<Interval> sum = product ? corners(BinaryOp::kAdd, out, *product) : std::nullopt;
    if (!sum) return {kLowest, kHighest};
    // Corners of a sum pair low with high too; the extremes are low + low and high + high.
    out = *sum;
  }
  return out;
}

bool Ranges::is_exact(const ExprPtr& e) {
  Linear l = linear(e);
  if (!l.known || !exact_path_) return false;
  return std::all_of(l.terms.begin(), l.terms.end(), [&](const Linear::Term& t) {
    auto it = known_.find(t.variable);
    return it != known_.end() && it->second.exact;
  });
}

// ---------------------------------------------------------------- conditions

bool Ranges::narrow(const Variable* variable, Interval limit) {
  auto it = known_.find(variable);
  if (it == known_.end() || !it->second.fixed) return false;
  Known known = it->second;
  known.interval = meet(known.interval, limit);
  if (known.exact && !known.interval.empty()) {
    // Back onto the values the loop takes.
    Interval& v = known.interval;
    v.lo = known.base + ceil_div(v.lo - known.base, known.step) * known.step;
    v.hi = known.base + floor_div(v.hi - known.base, known.step) * known.step;
  }
  if (known.interval.empty()) reachable_ = false;
  bool exact = known.exact;
  set(variable, std::move(known));
  return exact;
}

void Ranges::limit(const ExprPtr& e, Interval limit, bool whole) {
  limit = meet(limit, whole_type(e->type));
  // Through immediates added to a variable, so that a let is narrowed itself.
  const Expr* at = e.get();
  Interval inner = limit;
  while (at->kind == ExprKind::kBinary) {
    const Binary& b = static_cast<const Binary&>(*at);
    bool shifts = b.op == BinaryOp::kAdd || b.op == BinaryOp::kSub;
    if (!shifts || b.wrapping || b.type != DType::kI32 || b.rhs->kind != ExprKind::kIntImm) break;
    int64_t c = static_cast<const IntImm&>(*b.rhs).value;
    if (b.op == BinaryOp::kAdd) c = -c;
    inner = {inner.lo + c, inner.hi + c};
    at = b.lhs.get();
  }
  if (at->kind == ExprKind::kVarRef) narrow(static_cast<const VarRef&>(*at).var.get(), inner);

  Linear l = linear(e);
  bool exact = false;
  if (l.known && l.terms.size() == 1) {
    int64_t k = l.terms[0].coefficient;
    int64_t lo = limit.lo - l.constant;
    int64_t hi = limit.hi - l.constant;
    Interval of_variable =
        k > 0 ? Interval{ceil_div(lo, k), floor_div(hi, k)} : Interval{ceil_div(hi, k), floor_div(lo, k)};
    exact = narrow(l.terms[0].variable, of_variable);
  } else if (l.known && l.terms.empty()) {
    exact = true;
    if (l.constant < limit.lo || l.constant > limit.hi) reachable_ = false;
  }
  if (!exact || !whole) exact_path_ = false;
}

void Ranges::compare(BinaryOp op, const ExprPtr& a, const ExprPtr& b) {
  Interval x = of(a);
  Interval y = of(b);
  bool left_known = x.lo == x.hi;
  bool right_known = y.lo == y.hi;
  if (!left_known && !right_known) exact_path_ = false;
  // One less, one more: never past the ends, which are those of i32.
  switch (op) {
    case BinaryOp::kEq:
      limit(a, y, right_known);
      limit(b, x, left_known || right_known);
      return;
    case BinaryOp::kNe: exact_path_ = false; return;
    case BinaryOp::kLt:
    case BinaryOp::kLe: {
      int64_t less = op == BinaryOp::kLt ? 1 : 0;
      if (!left_known) limit(a, {kLowest, y.hi - less}, right_known);
      if (!right_known || left_known) limit(b, {x.lo + less, kHighest}, left_known);
      return;
    }
    default: compare(op == BinaryOp::kGt ? BinaryOp::kLt : BinaryOp::kLe, b, a);
  }
}

// u32%(a) < u32%(b): the usual way to say 0 <= a && a < b, where b is not negative.
bool Ranges::assume_unsigned(const Binary& b, bool holds) {
  auto inner = [](const ExprPtr& e) -> ExprPtr {
    if (e->kind != ExprKind::kCast || e->type != DType::kU32) return nullptr;
    const ExprPtr& value = static_cast<const Cast&>(*e).value;
    return value->type == DType::kI32 ? value : nullptr;
  };
  if (b.op != BinaryOp::kLt || b.lhs->type != DType::kU32) return false;
  ExprPtr x = inner(b.lhs), y = inner(b.rhs);
  if (!x || !y) return false;
  Interval bound = of(y);
  if (holds && bound.lo >= 0) limit(x, {0, bound.hi - 1}, false);
  exact_path_ = false;
  return true;
}

void Ranges::assume(const ExprPtr& condition, bool holds) {
  if (condition->kind == ExprKind::kUnary) {
    const Unary& u = static_cast<const Unary&>(*condition);
    if (u.op == UnaryOp::kLogicalNot) return assume(u.value, !holds);
  }
  if (condition->kind == ExprKind::kIntImm) {
    if ((static_cast<const IntImm&>(*condition).value != 0) != holds) reachable_ = false;
    return;
  }
  if (condition->kind != ExprKind::kBinary) {
    exact_path_ = false;
    return;
  }
  const Binary& b = static_cast<const Binary&>(*condition);
  bool joint = b.op == (holds ? BinaryOp::kAnd : BinaryOp::kOr);
  if (joint) {
    assume(b.lhs, holds);
    return assume(b.rhs, holds);
  }
  if (assume_unsigned(b, holds)) return;
  if (!is_comparison(b.op) || b.lhs->type != DType::kI32) {
    exact_path_ = false;
    return;
  }
  compare(holds ? b.op : negated(b.op), b.lhs, b.rhs);
}

}  // namespace aotc::tir
