// SPDX-License-Identifier: Apache-2.0
#include "cores/code_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tir/packed_product.h"
#include "tir/ranges.h"
#include "tir/visit.h"

namespace aotc::cores {

using namespace tir;  // NOLINT: every node kind is used here

namespace {

using Key = uint64_t;

constexpr double kRounds = 4194304;  // 2^22: a sum with a larger constant has no fraction, and needs no normalisation
constexpr double kIterations = 5;    // the number of iterations from pointers, and DLS
constexpr int kMostTemporaries = 5;  // registers for operands that an iteration loads
constexpr double kExtreme = 3;       // min, max: a comparison, IT and a move, also where a select is CSEL
constexpr double kConverted = 3;     // instructions of the longest side of a select that is computed in any case

Key mixed(Key a, Key b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a ^= a >> 31;
  return a * 0xbf58476d1ce4e5b9u;
}

template <typename... More>
Key mixed(Key a, Key b, More... more) {
  return mixed(mixed(a, b), static_cast<Key>(more)...);
}

Key key_of(const void* p) { return static_cast<Key>(reinterpret_cast<uintptr_t>(p)); }

bool is_imm(const Expr& e) { return e.kind == ExprKind::kIntImm; }
int64_t imm_of(const Expr& e) { return static_cast<const IntImm&>(e).value; }
bool is_power(int64_t v) { return v > 0 && std::has_single_bit(static_cast<uint64_t>(v)); }

const Binary* binary_of(const Expr& e, BinaryOp op) {
  if (e.kind != ExprKind::kBinary) return nullptr;
  const auto& b = static_cast<const Binary&>(e);
  return b.op == op ? &b : nullptr;
}

const Variable* variable_of(const Expr& e) {
  return e.kind == ExprKind::kVarRef ? static_cast<const VarRef&>(e).var.get() : nullptr;
}

// A product of i32 operands in 64 bits.
const Binary* wide_product(const Expr& e) {
  const Binary* b = binary_of(e, BinaryOp::kMul);
  if (b == nullptr || b->type != DType::kI64) return nullptr;
  auto narrow = [](const Expr& side) {
    if (is_imm(side)) return imm_of(side) == static_cast<int32_t>(imm_of(side));
    return side.kind == ExprKind::kCast && static_cast<const Cast&>(side).value->type == DType::kI32;
  };
  return narrow(*b->lhs) && narrow(*b->rhs) ? b : nullptr;
}

// A left shift by a constant, which may be written as a product.
const Binary* shifted(const Expr& e) {
  if (const Binary* b = binary_of(e, BinaryOp::kShl); b != nullptr && is_imm(*b->rhs)) return b;
  const Binary* b = binary_of(e, BinaryOp::kMul);
  return b != nullptr && is_imm(*b->rhs) && is_power(imm_of(*b->rhs)) ? b : nullptr;
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kGe; }

bool is_double(const Expr& e) {
  return e.type == DType::kF64 || !all_children(e, [](const Expr& child) { return !is_double(child); });
}

// True if a statement computes in f64. An If of which only one branch does is false: its other branch is the usual one.
// Each statement is visited once, because branches nest.
bool computes_doubles(const Stmt& stmt) {
  if (stmt.kind == StmtKind::kIf) {
    const auto& s = static_cast<const If&>(stmt);
    const bool then = computes_doubles(*s.then);
    if (s.otherwise && computes_doubles(*s.otherwise) != then) return false;
    return then || is_double(*s.condition);
  }
  bool found = false;
  for_each_child(
      stmt, [&](const Expr& e) { found = found || is_double(e); },
      [&](const Stmt& s) { found = found || computes_doubles(s); });
  return found;
}

// True if the low bits of a number are compared with a constant so small that the comparison hardly ever holds. All
// values of these bits are taken to be equally frequent.
bool hardly_holds(const Expr& e) {
  constexpr int64_t kRare = 64;
  const Binary* less = binary_of(e, BinaryOp::kLt);
  const Binary* bits = less != nullptr ? binary_of(*less->lhs, BinaryOp::kBitAnd) : nullptr;
  if (bits == nullptr || !is_imm(*less->rhs) || !is_imm(*bits->rhs)) return false;
  const int64_t values = imm_of(*bits->rhs) + 1;
  return is_power(values) && imm_of(*less->rhs) <= values / kRare;
}

bool is_any(const Stmt& stmt, const std::function<bool(const Stmt&)>& is) {
  bool found = is(stmt);
  for_each_child(stmt, [](const Expr&) {}, [&](const Stmt& s) { found = found || is_any(s, is); });
  return found;
}

bool assigns_floats(const Stmt& s) {
  if (s.kind == StmtKind::kStore) return static_cast<const Store&>(s).buffer->dtype == DType::kF32;
  return s.kind == StmtKind::kAssign && static_cast<const Assign&>(s).value->type == DType::kF32;
}
bool sums_floats(const Stmt& stmt) {
  return is_any(stmt, [](const Stmt& s) { return s.kind == StmtKind::kFor && is_any(s, assigns_floats); });
}
bool stores_bytes(const Stmt& stmt) {
  return is_any(stmt, [](const Stmt& s) {
    return s.kind == StmtKind::kStore && size_of(static_cast<const Store&>(s).buffer->dtype) == 1;
  });
}

// The branch for usual operands, if the other one computes in f64, sums floats for a byte, or hardly ever runs;
// otherwise null.
const Stmt* usual_branch(const If& s) {
  if (!s.otherwise) return nullptr;
  if (hardly_holds(*s.condition)) return s.otherwise.get();
  const bool then = computes_doubles(*s.then), otherwise = computes_doubles(*s.otherwise);
  return then == otherwise ? integer_branch(s) : then ? s.otherwise.get() : s.then.get();
}

// Integer arithmetic on variables: what it costs depends on its uses.
bool is_pure(const Expr& e) {
  if (e.type != DType::kI32) return false;
  if (is_imm(e) || e.kind == ExprKind::kVarRef) return true;
  return e.kind == ExprKind::kBinary && all_children(e, is_pure);
}

}  // namespace

const Stmt* integer_branch(const If& s) {
  if (!s.otherwise || !stores_bytes(*s.then) || !stores_bytes(*s.otherwise)) return nullptr;
  const bool then = sums_floats(*s.then), otherwise = sums_floats(*s.otherwise);
  return then == otherwise ? nullptr : then ? s.otherwise.get() : s.then.get();
}

class CodeModel::Walker {
 public:
  Walker(const CodeCosts& costs, CodeModel& model) : c_(costs), model_(model) {}

  void run(const Function& f) {
    path_.emplace_back();
    walk(*f.body);
  }

 private:
  // What the statements inside a loop write.
  struct Effects {
    struct Step {
      int64_t sum = 0;       // of the constants that are added in an iteration
      bool constant = true;  // nothing else is assigned
    };
    std::unordered_map<const Variable*, Step> assigned;
    std::unordered_set<const Buffer*> stored;
    uint32_t types = 0;  // bits of element types stored
    bool bytes = false;  // a store that may alias every type

    void store(const Buffer* b) {
      stored.insert(b);
      types |= 1u << static_cast<unsigned>(b->dtype);
      bytes = bytes || size_of(b->dtype) == 1;
    }
    void add(const Stmt& stmt) {
      visit(stmt, Overloaded{[&](const Assign& s) { assign(s); }, [&](const Store& s) { store(s.buffer.get()); },
                             [&](const Evaluate& s) { evaluate(*s.value); }, [&](const CallKernel&) { bytes = true; },
                             [](const auto&) {}});
      for_each_child(stmt, [](const Expr&) {}, [&](const Stmt& s) { add(s); });
    }
    bool may_write(const Buffer& b) const {
      if (b.role == Role::kConstant) return false;
      if (b.role == Role::kLocal) return stored.contains(&b) || bytes;
      return bytes || (types >> static_cast<unsigned>(b.dtype) & 1) != 0;
    }

   private:
    void assign(const Assign& s) {
      Step& step = assigned[s.var.get()];
      const Binary* sum = binary_of(*s.value, BinaryOp::kAdd);
      if (sum != nullptr && variable_of(*sum->lhs) == s.var.get() && is_imm(*sum->rhs)) step.sum += imm_of(*sum->rhs);
      else step.constant = false;
    }
    void evaluate(const Expr& e) {
      if (e.kind != ExprKind::kCall) return;
      const auto& call = static_cast<const Call&>(e);
      if (call.callee != Intrinsic::kMemcpy && call.callee != Intrinsic::kMemset) return;
      bytes = true;
      stored.insert(static_cast<const Address&>(*call.args[0]).buffer.get());
    }
  };

  struct Value {
    Key key = 0;
    int level = 0;  // depth of the innermost loop that changes it
    bool half_zero = false;
    bool integer = false;  // in a register for integers
  };
  struct Term {
    Value value;
    int64_t factor = 1;
    bool induction = false;  // advances by a constant in each iteration of the loop `value.level`
    int64_t step = 0;
  };
  // Terms, their products with factors and a constant are added up.
  struct Linear {
    std::vector<Term> terms;
    int64_t constant = 0;
  };
  struct Pointer {
    std::vector<int64_t> offsets;  // bases of groups of offsets that one register reaches
    int accesses = 0;
    int64_t step_bytes = 0, access_bytes = 0;
    bool of_float = false, passed_on = false;
  };
  struct Scope {
    const For* loop = nullptr;
    Effects effects;
    std::unordered_set<Key> hoisted;
    std::map<Key, Pointer> pointers;
    std::unordered_map<Key, int> integers;  // values from outside that the loop reads, with the number of reads
    int loads = 0;                          // in an iteration
    bool plain = true;                      // no loop, branch or call inside
    bool counter_used = false;
    double entry = 0;
  };

  int depth() const { return static_cast<int>(path_.size()) - 1; }

  // `cost` instructions compute the value, where that is needed and not known.
  Value charge(Value v, double cost, DType type) {
    v.integer = !is_float(type) || !c_.float_unit;
    if (v.level < depth()) {
      Scope& s = path_[static_cast<size_t>(v.level) + 1];
      if (cost > 0 && !available_.contains(v.key) && s.hoisted.insert(v.key).second) s.entry += cost;
    } else if (cost > 0 && available_.insert(v.key).second) {
      *once_ += cost;
    }
    return v;
  }

  // An instruction of the innermost loop reads the value.
  void read(const Value& v) {
    if (v.integer && v.level < depth()) ++path_.back().integers[v.key];
  }

  int level_of_memory(const Buffer& b) const {
    for (int k = depth(); k > 0; --k)
      if (path_[static_cast<size_t>(k)].effects.may_write(b)) return k;
    return 0;
  }

  Key memory_version(const Buffer& b) const {
    if (b.role == Role::kConstant) return 0;
    if (b.role == Role::kLocal) {
      auto found = local_versions_.find(&b);
      return found == local_versions_.end() ? 0 : found->second;
    }
    return versions_[static_cast<size_t>(b.dtype)];
  }

  void written(const Effects& e) {
    for (size_t t = 0; t < std::size(versions_); ++t)
      if (e.bytes || (e.types >> t & 1) != 0) versions_[t] = ++serial_;
    for (const Buffer* b : e.stored) local_versions_[b] = ++serial_;
  }

  // ---------------------------------------------------------------- addresses

  void add_term(Linear& to, Term t) {
    for (Term& known : to.terms)
      if (known.value.key == t.value.key) {
        known.factor += t.factor;
        return;
      }
    to.terms.push_back(t);
  }

  void add(Linear& to, const Linear& from, int64_t factor) {
    to.constant += from.constant * factor;
    for (Term t : from.terms) {
      t.factor *= factor;
      add_term(to, t);
    }
  }

  std::optional<int> loop_level(const Variable* v) const {
    for (int k = depth(); k > 0; --k)
      if (path_[static_cast<size_t>(k)].loop->var.get() == v) return k;
    return std::nullopt;
  }

  Linear linear(const ExprPtr& p) {
    const Expr& e = *p;
    Linear out;
    if (const auto known = number(p)) {
      out.constant = *known;
      return out;
    }
    if (const Variable* v = variable_of(e)) {
      if (const auto k = loop_level(v)) {
        out.terms.push_back({{key_of(v), *k}, 1, true, path_[static_cast<size_t>(*k)].loop->step});
        return out;
      }
      if (auto symbol = symbols_.find(v); symbol != symbols_.end()) return symbol->second;
      if (auto lazy = lazy_.find(v); lazy != lazy_.end()) return linear(lazy->second);
      out.terms.push_back({value_of(v)});
      return out;
    }
    if (e.kind == ExprKind::kBinary) {
      const auto& b = static_cast<const Binary&>(e);
      if (b.op == BinaryOp::kAdd || b.op == BinaryOp::kSub) {
        out = linear(b.lhs);
        add(out, linear(b.rhs), b.op == BinaryOp::kAdd ? 1 : -1);
        return out;
      }
      if (b.op == BinaryOp::kMul && is_imm(*b.rhs)) {
        add(out, linear(b.lhs), imm_of(*b.rhs));
        return out;
      }
      if (b.op == BinaryOp::kShl && is_imm(*b.rhs)) {
        add(out, linear(b.lhs), int64_t{1} << imm_of(*b.rhs));
        return out;
      }
    }
    out.terms.push_back({emit(p)});
    return out;
  }

  static Key key_of_terms(Key base, const std::vector<Term>& terms) {
    Key sum = 0;  // terms in any order
    for (const Term& t : terms)
      if (t.factor != 0) sum += mixed(t.value.key, static_cast<Key>(t.factor));
    return mixed(base, sum);
  }

  struct Access {
    const Buffer* buffer;
    int64_t size;
    bool of_float, passed_on;
  };

  // Charges what forms the address. The value: the address without its constant.
  Value address(const Buffer& buffer, const ExprPtr& index, bool passed_on) {
    Linear l = linear(index);
    std::erase_if(l.terms, [](const Term& t) { return t.factor == 0; });
    const int64_t size = size_of(buffer.dtype);
    const Access a{&buffer, size, is_float(buffer.dtype) && c_.float_unit, passed_on};
    Value base = pointer(a, l.terms, l.constant * size);
    base.key = mixed(base.key, static_cast<Key>(l.constant));
    return base;
  }

  Value pointer(const Access& a, const std::vector<Term>& terms, int64_t bytes) {
    const Key key = key_of_terms(key_of(a.buffer), terms);
    int level = 0;
    for (const Term& t : terms) level = std::max(level, t.value.level);
    const Value v{key, level};
    if (terms.empty()) {
      if (!a.passed_on) read({v.key, v.level, false, true});
      return v;
    }
    std::vector<Term> rest;
    bool induction = level > 0;
    int64_t step = 0;
    double opaque = 0;
    for (const Term& t : terms) {
      if (t.value.level < level) {
        rest.push_back(t);
        continue;
      }
      induction = induction && t.induction;
      step += t.factor * t.step;
      const int64_t scale = std::abs(t.factor) * a.size;
      opaque += c_.thumb ? (is_power(scale) && scale <= 8 && t.factor > 0 ? 1 : 2) : (scale == 1 ? 1 : 2);
    }
    if (!rest.empty()) pointer({a.buffer, a.size, a.of_float, true}, rest, 0);
    if (induction) {
      Scope& s = path_[static_cast<size_t>(level)];
      Pointer& p = s.pointers[key];
      const int64_t reach = a.of_float ? c_.float_offset_bytes : c_.offset_bytes;
      const bool reached = std::any_of(p.offsets.begin(), p.offsets.end(),
                                       [&](int64_t base) { return std::abs(bytes - base) <= reach; });
      if (!reached) {
        p.offsets.push_back(bytes);
        s.entry += 1;
      }
      ++p.accesses;
      p.step_bytes = step * a.size;
      p.access_bytes = a.size;
      p.of_float = a.of_float;
      p.passed_on = p.passed_on || a.passed_on || level < depth();
      if (!a.passed_on) read({v.key, v.level, false, true});
      return v;
    }
    // A register offset reaches one element; others need the sum.
    const bool direct = c_.thumb && !a.of_float && !a.passed_on && bytes == 0 && opaque == 1;
    if (!direct) charge({mixed(key, 1), level}, opaque, DType::kI32);
    if (!a.passed_on) read({v.key, v.level, false, true});
    return v;
  }

  // ---------------------------------------------------------------- expressions

  Value value_of(const Variable* v) {
    auto known = values_.find(v);
    return known == values_.end() ? Value{key_of(v), 0} : known->second;
  }

  Value emit_variable(const Variable* v, DType type) {
    if (const auto k = loop_level(v)) {
      path_[static_cast<size_t>(*k)].counter_used = true;
      return charge({key_of(v), *k}, 0, type);
    }
    if (auto symbol = symbols_.find(v); symbol != symbols_.end()) {
      const Linear& l = symbol->second;
      int level = 0;
      for (const Term& t : l.terms) {
        level = std::max(level, t.value.level);
        if (t.induction) path_[static_cast<size_t>(t.value.level)].pointers[t.value.key].passed_on = true;
      }
      const double sums = l.terms.empty() ? 0 : static_cast<double>(l.terms.size()) - 1 + (l.constant != 0 ? 1 : 0);
      return charge({key_of_terms(static_cast<Key>(l.constant), l.terms), level}, sums, type);
    }
    if (auto lazy = lazy_.find(v); lazy != lazy_.end()) return emit(lazy->second);
    return charge(value_of(v), 0, type);
  }

  Value emit(const ExprPtr& p) {
    if (const auto known = number(p)) return {mixed(1, static_cast<Key>(*known)), 0};
    return visit(*p, Overloaded{
                         [&](const IntImm& n) { return Value{mixed(1, static_cast<Key>(n.value)), 0}; },
                         [&](const FloatImm& n) {
                           return charge({mixed(2, std::bit_cast<Key>(n.value)), 0}, c_.float_unit ? 1 : 0, n.type);
                         },
                         [&](const VarRef& n) { return emit_variable(n.var.get(), n.type); },
                         [&](const Load& n) { return load(n); },
                         [&](const Unary& n) { return unary(n); },
                         [&](const Binary& n) { return binary(n); },
                         [&](const Cast& n) { return cast(n); },
                         [&](const Select& n) { return select(n); },
                         [&](const Call& n) { return call(n); },
                         [&](const Address& n) { return address(*n.buffer, n.index, true); },
                     });
  }

  // The only value that an i32 can have here, if there is one.
  std::optional<int64_t> number(const ExprPtr& p) {
    if (is_imm(*p)) return imm_of(*p);
    if (auto symbol = symbols_.find(variable_of(*p)); symbol != symbols_.end() && symbol->second.terms.empty())
      return symbol->second.constant;
    if (p->type != DType::kI32 || (p->kind != ExprKind::kBinary && p->kind != ExprKind::kVarRef)) return std::nullopt;
    const Interval i = ranges_.of(p);
    return i.lo == i.hi ? std::optional(i.lo) : std::nullopt;
  }

  Interval interval(const ExprPtr& p) {
    const auto known = number(p);
    return known ? Interval{*known, *known} : ranges_.of(p);
  }

  Value load(const Load& n) {
    Value v = address(*n.buffer, n.index, false);
    v.key = mixed(v.key, 3, memory_version(*n.buffer));
    v.level = std::max(v.level, level_of_memory(*n.buffer));
    if (conditions_ > 0) v.level = depth();
    v.half_zero = model_.half_zero_.contains(n.buffer.get());
    if (v.level == depth()) ++path_.back().loads;
    return charge(v, size_of(n.buffer->dtype) == 8 && !(c_.double_unit && is_float(n.type)) ? 2 : 1, n.type);
  }

  Value made(Key kind, std::initializer_list<Value> parts, double cost, DType type) {
    Value v{mixed(kind, static_cast<Key>(type)), 0};
    for (const Value& p : parts) {
      v.key = mixed(v.key, p.key);
      v.level = std::max(v.level, p.level);
    }
    if (v.level == depth() && !available_.contains(v.key)) {
      for (const Value& p : parts) read(p);
      *once_ += cost;
      available_.insert(v.key);
    }
    return charge(v, cost, type);
  }

  Value unary(const Unary& n) {
    if (n.op == UnaryOp::kLogicalNot && n.value->kind == ExprKind::kBinary) return emit(n.value);
    return made(mixed(4, static_cast<Key>(n.op)), {emit(n.value)}, n.type == DType::kI64 ? 2 : 1, n.type);
  }

  // The operand without the operation that the instruction of its user does as well.
  Value folded(const ExprPtr& p, bool product) {
    const Expr& side = *p;
    if (c_.thumb && side.type == DType::kI32) {
      if (const Binary* b = shifted(side)) return made(5, {emit(b->lhs), emit(b->rhs)}, 0, side.type);
      if (const Binary* b = binary_of(side, BinaryOp::kShr); b != nullptr && is_imm(*b->rhs))
        return made(6, {emit(b->lhs), emit(b->rhs)}, 0, side.type);
      if (const Binary* b = binary_of(side, BinaryOp::kMul); product && b != nullptr && !is_imm(*b->rhs))
        return made(7, {emit(b->lhs), emit(b->rhs)}, 0, side.type);
      if (const Binary* b = binary_of(side, BinaryOp::kLt); b != nullptr && is_imm(*b->rhs) && imm_of(*b->rhs) == 0)
        return made(8, {emit(b->lhs)}, 0, side.type);
    }
    return emit(p);
  }

  Value binary(const Binary& n) {
    const Key kind = mixed(9, static_cast<Key>(n.op));
    const DType type = n.lhs->type;
    if (const auto product = c_.packed_products ? packed_product(n) : std::nullopt) {
      const Value sum = emit(product->sum), x = emit(product->x), w = emit(product->w);
      return made(20, {sum, x, product->even_bytes ? made(21, {w}, 1, type) : w}, 1, type);
    }
    if (const auto product = c_.packed_products ? half_product(n) : std::nullopt)
      return made(22, {emit(product->sum), emit(product->low), emit(product->high)}, 1, type);
    if (n.op == BinaryOp::kAnd || n.op == BinaryOp::kOr || (is_comparison(n.op) && !is_sign(n))) {
      const Value v = condition_of(n);
      return made(mixed(kind, 1), {v}, c_.truth, n.type);
    }
    if (is_comparison(n.op)) return made(kind, {emit(n.lhs)}, 1, n.type);
    if (is_float(type)) return floats(n, kind);
    if (type == DType::kI64) return wide(n, kind);
    if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) return extreme(n, kind);
    const bool adds = n.op == BinaryOp::kAdd || n.op == BinaryOp::kSub;
    const bool logic = n.op == BinaryOp::kBitAnd || n.op == BinaryOp::kBitOr || n.op == BinaryOp::kBitXor;
    if (adds || logic) {
      // One of the operands may be shifted or a product.
      const bool right = folds(*n.rhs, adds);
      const Value a =
          right || (n.op == BinaryOp::kSub && !c_.thumb) ? emit(n.lhs) : folded(n.lhs, n.op == BinaryOp::kAdd);
      return made(kind, {a, right ? folded(n.rhs, adds) : emit(n.rhs)}, 1, n.type);
    }
    return made(kind, {emit(n.lhs), emit(n.rhs)}, integer_cost(n), n.type);
  }

  Value floats(const Binary& n, Key kind) {
    const Value a = emit(n.lhs), b = emit(n.rhs);
    double cost = float_cost(n);
    const bool zeros = a.half_zero || b.half_zero;
    if (zeros && !c_.float_unit && n.type == DType::kF32) {
      if (n.op == BinaryOp::kMul) cost = (cost + c_.float_multiply_zero) / 2;
      if (cost == c_.float_add) cost = (cost + c_.float_add_zero) / 2;
    }
    Value v = made(kind, {a, b}, cost, n.type);
    const bool relu = n.op == BinaryOp::kMax && (is_zero(*n.lhs) || is_zero(*n.rhs));
    const bool keeps = n.op == BinaryOp::kMul || n.op == BinaryOp::kMin;
    // The neighbours in a pooling window are mostly zero together.
    const bool largest =
        n.op == BinaryOp::kMax && (a.half_zero || is_below_zero(*n.lhs)) && (b.half_zero || is_below_zero(*n.rhs));
    v.half_zero = relu || (zeros && (keeps || largest));
    return v;
  }

  static bool is_zero(const Expr& e) {
    return e.kind == ExprKind::kFloatImm && static_cast<const FloatImm&>(e).value == 0;
  }

  static bool is_below_zero(const Expr& e) {
    return e.kind == ExprKind::kFloatImm && static_cast<const FloatImm&>(e).value < 0;
  }

  static bool is_sign(const Binary& n) {
    return n.op == BinaryOp::kLt && n.lhs->type == DType::kI32 && is_imm(*n.rhs) && imm_of(*n.rhs) == 0;
  }

  bool folds(const Expr& side, bool product) const {
    if (!c_.thumb || side.kind != ExprKind::kBinary || side.type != DType::kI32) return false;
    const auto& b = static_cast<const Binary&>(side);
    if (shifted(side) != nullptr || is_sign(b) || (b.op == BinaryOp::kShr && is_imm(*b.rhs))) return true;
    return product && b.op == BinaryOp::kMul && !is_imm(*b.rhs);
  }

  double float_cost(const Binary& n) const {
    const bool wide = n.lhs->type == DType::kF64;
    switch (n.op) {
      case BinaryOp::kMul: return wide ? c_.double_multiply : c_.float_multiply;
      case BinaryOp::kDiv: return wide ? c_.double_divide : c_.float_divide;
      case BinaryOp::kMin:
      case BinaryOp::kMax: return (wide ? c_.double_compare : c_.float_compare) + c_.float_choose;
      default:
        if (!wide && !c_.float_unit && n.rhs->kind == ExprKind::kFloatImm &&
            std::abs(static_cast<const FloatImm&>(*n.rhs).value) >= kRounds)
          return c_.float_round;
        return wide ? c_.double_add : c_.float_add;
    }
  }

  double integer_cost(const Binary& n) const {
    if (n.op != BinaryOp::kDiv && n.op != BinaryOp::kMod) return 1;
    const double more = n.op == BinaryOp::kMod ? 1 : 0;
    if (!is_imm(*n.rhs)) return c_.divide_any + (c_.thumb ? more : 0);
    return (is_power(imm_of(*n.rhs)) ? 3 : c_.divide) + more;
  }

  Value wide(const Binary& n, Key kind) {
    auto operands = [&](const Binary& b) {
      auto narrow = [&](const ExprPtr& side) {
        return side->kind == ExprKind::kCast ? emit(static_cast<const Cast&>(*side).value) : emit(side);
      };
      return std::pair(narrow(b.lhs), narrow(b.rhs));
    };
    if (const Binary* product = wide_product(n)) {
      const auto [a, b] = operands(*product);
      return made(kind, {a, b}, c_.widening, n.type);
    }
    const Value a = emit(n.lhs), b = emit(n.rhs);
    double cost = c_.add64;
    // SMLAL adds the product to a pair of registers, which a constant is moved to first.
    const bool product = wide_product(*n.lhs) != nullptr || wide_product(*n.rhs) != nullptr;
    if (c_.thumb && n.op == BinaryOp::kAdd && product) cost = is_imm(*n.lhs) || is_imm(*n.rhs) ? 2 : 0;
    if (n.op == BinaryOp::kMul) cost = c_.multiply64;
    if (n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) cost = c_.divide64;
    if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) cost = c_.compare64 + 2 * c_.choose;
    if (n.op == BinaryOp::kShl) cost = c_.shift64;
    if (n.op == BinaryOp::kShr) {
      // The result mostly becomes an i32.
      const bool high = is_imm(*n.rhs) && imm_of(*n.rhs) >= 32;
      cost = high ? (imm_of(*n.rhs) > 32 ? 1 : 0) : c_.shift64 - (is_imm(*n.rhs) ? 1 : 0);
    }
    return made(kind, {a, b}, cost, n.type);
  }

  Value extreme(const Binary& n, Key kind) {
    const BinaryOp other = n.op == BinaryOp::kMin ? BinaryOp::kMax : BinaryOp::kMin;
    const Binary* inner = binary_of(*n.lhs, other);
    if (inner != nullptr && is_imm(*n.rhs) && is_imm(*inner->rhs)) {
      const int64_t low = imm_of(n.op == BinaryOp::kMin ? *inner->rhs : *n.rhs);
      const int64_t high = imm_of(n.op == BinaryOp::kMin ? *n.rhs : *inner->rhs);
      if (is_power(high + 1) && (low == -high - 1 || low == 0)) {
        const Value v = emit(inner->lhs);
        return made(kind, {v, {static_cast<Key>(low), 0}}, c_.saturate, n.type);
      }
    }
    const Interval left = interval(n.lhs), right = interval(n.rhs);
    const Interval &low = n.op == BinaryOp::kMin ? left : right, &high = n.op == BinaryOp::kMin ? right : left;
    if (low.hi <= high.lo) return emit(n.lhs);
    if (high.hi <= low.lo) return emit(n.rhs);
    const Value a = emit(n.lhs), b = emit(n.rhs);
    const bool relu = n.op == BinaryOp::kMax && is_imm(*n.rhs) && imm_of(*n.rhs) == 0;
    return made(kind, {a, b}, relu ? c_.relu : c_.thumb ? kExtreme : c_.compare + c_.choose, n.type);
  }

  Value cast(const Cast& n) {
    const DType from = n.value->type;
    const Value v = emit(n.value);
    const Key kind = mixed(10, static_cast<Key>(from));
    if (is_float(from) && is_float(n.type)) {
      const double cost = from == n.type ? 0 : n.type == DType::kF64 ? c_.float_to_double : c_.double_to_float;
      return made(kind, {v}, cost, n.type);
    }
    if (is_float(from)) return made(kind, {v}, from == DType::kF64 ? c_.double_to_integer : c_.from_float, n.type);
    if (is_float(n.type)) {
      if (from == DType::kI64)
        return made(kind, {v}, n.type == DType::kF64 ? c_.wide_to_double : c_.wide_to_float, n.type);
      return made(kind, {v}, n.type == DType::kF64 ? c_.integer_to_double : c_.to_float, n.type);
    }
    double cost = 0;
    if (n.type == DType::kI64 && from != DType::kI64) cost = 1;
    if (size_of(n.type) < size_of(from) && size_of(n.type) < 4) cost = n.type == DType::kU8 ? 1 : c_.extend;
    return made(kind, {v}, cost, n.type);
  }

  // Charges the comparisons of a condition, without branches.
  Value condition(const ExprPtr& p) {
    const Expr& e = *p;
    if (number(p)) return {};
    if (e.kind == ExprKind::kUnary && static_cast<const Unary&>(e).op == UnaryOp::kLogicalNot)
      return condition(static_cast<const Unary&>(e).value);
    if (e.kind != ExprKind::kBinary) return made(11, {emit(p)}, c_.compare, DType::kI32);
    const auto& n = static_cast<const Binary&>(e);
    if (n.op != BinaryOp::kAnd && n.op != BinaryOp::kOr && !is_comparison(n.op))
      return made(11, {emit(p)}, c_.compare, DType::kI32);
    return condition_of(n);
  }

  Value condition_of(const Binary& n) {
    const Key kind = mixed(12, static_cast<Key>(n.op));
    if (n.op == BinaryOp::kAnd || n.op == BinaryOp::kOr) {
      if (is_range(n)) {
        const auto& low = static_cast<const Binary&>(*n.lhs);
        const bool zero = is_imm(*low.rhs) && imm_of(*low.rhs) == 0;
        return made(kind, {emit(low.lhs)}, c_.compare + (zero ? 0 : 1), DType::kI32);
      }
      const Value a = condition(n.lhs);
      const Value b = condition(n.rhs);
      return made(kind, {a, b}, c_.branch, DType::kI32);
    }
    const Value a = emit(n.lhs), b = emit(n.rhs);
    const DType type = n.lhs->type;
    const double cost = type == DType::kF64   ? c_.double_compare
                        : is_float(type)      ? c_.float_compare
                        : type == DType::kI64 ? c_.compare64
                                              : c_.compare;
    return made(kind, {a, b}, cost, DType::kI32);
  }

  // low <= x && x < high: one comparison of unsigned numbers.
  static bool is_range(const Binary& n) {
    if (n.op != BinaryOp::kAnd || n.lhs->kind != ExprKind::kBinary || n.rhs->kind != ExprKind::kBinary) return false;
    const auto &a = static_cast<const Binary&>(*n.lhs), &b = static_cast<const Binary&>(*n.rhs);
    const Variable* v = variable_of(*a.lhs);
    return v != nullptr && v == variable_of(*b.lhs) && is_imm(*a.rhs) && is_imm(*b.rhs) &&
           (a.op == BinaryOp::kGe || a.op == BinaryOp::kGt) && (b.op == BinaryOp::kLt || b.op == BinaryOp::kLe);
  }

  Value select(const Select& n) {
    const Value c = condition(n.condition);
    ++conditions_;
    const std::unordered_set<Key> before = available_;
    double first = 0, second = 0;
    double* const outer = std::exchange(once_, &first);
    const Value a = emit(n.if_true);
    available_ = before;
    once_ = &second;
    const Value b = emit(n.if_false);
    available_ = before;
    once_ = outer;
    --conditions_;
    const bool both = std::max(first, second) <= kConverted;
    *once_ += both ? first + second : std::max(first, second);
    const bool floats = is_float(n.type) && c_.float_unit;
    return made(13, {c, a, b}, floats ? c_.float_choose : c_.choose * (n.type == DType::kI64 ? 2 : 1), n.type);
  }

  double library(Intrinsic f, DType type) const {
    if (type == DType::kF64) {
      const bool rounds = f == Intrinsic::kRound || f == Intrinsic::kFloor || f == Intrinsic::kCeil;
      return f == Intrinsic::kAbs ? 1 : rounds ? c_.double_round : c_.double_function;
    }
    const LibraryCosts& l = c_.library;
    switch (f) {
      case Intrinsic::kExp: return l.exponential;
      case Intrinsic::kLog: return l.logarithm;
      case Intrinsic::kTanh: return l.tanh;
      case Intrinsic::kSqrt: return l.sqrt;
      case Intrinsic::kFloor: return l.floor;
      case Intrinsic::kCeil: return l.ceil;
      case Intrinsic::kRound: return l.round;
      case Intrinsic::kRoundToEven: return l.round_to_even;
      case Intrinsic::kErf: return l.erf;
      case Intrinsic::kErfc: return l.erfc;
      case Intrinsic::kExpm1: return l.expm1;
      case Intrinsic::kSin: return l.sine;
      case Intrinsic::kCos: return l.cosine;
      case Intrinsic::kPow: return l.power;
      case Intrinsic::kFmod: return l.remainder;
      case Intrinsic::kAtan2: return l.atan2;
      case Intrinsic::kAbs: return is_float(type) ? (c_.float_unit ? 1 : 2) : 3;
      case Intrinsic::kFloatBits:
      case Intrinsic::kFloatFromBits: return c_.float_unit ? 1 : 0;
      default: return 0;
    }
  }

  Value call(const Call& n) {
    Value v{mixed(14, static_cast<Key>(n.callee)), 0};
    for (const ExprPtr& a : n.args) {
      const Value arg = emit(a);
      read(arg);
      v = {mixed(v.key, arg.key), std::max(v.level, arg.level)};
    }
    if (library(n.callee, n.type) > kConverted + 1) path_.back().plain = false;
    // The bits are loaded into a register for integers.
    if (n.callee == Intrinsic::kFloatBits && n.args[0]->kind == ExprKind::kLoad) return charge(v, 0, n.type);
    const bool pinned = n.callee == Intrinsic::kKeep || n.callee == Intrinsic::kFence;
    if (pinned) return {mixed(v.key, ++serial_), depth()};
    const DType type = n.args.empty() ? n.type : n.args[0]->type;
    return charge(v,
                  library(n.callee, type == DType::kF64           ? type
                                    : n.callee == Intrinsic::kAbs ? n.type
                                                                  : DType::kF32),
                  n.type);
  }

  // ---------------------------------------------------------------- statements

  // The variable has a value of which nothing else is known.
  void forget(const Variable* v, bool half_zero = false) {
    symbols_.erase(v);
    values_[v] = {mixed(key_of(v), ++serial_), depth(), half_zero};
  }

  void forget(const Effects& e) {
    written(e);
    for (const auto& [v, step] : e.assigned) forget(v);
  }

  void declare(const Declare& s) {
    const Variable* v = s.var.get();
    const Expr& init = *s.init;
    ranges_.declare(s);
    if (!s.is_mutable && is_pure(init) && !reads_symbols(init)) {
      lazy_[v] = s.init;
      return;
    }
    if (s.is_mutable && is_pure(init)) {
      symbols_[v] = linear(s.init);
      return;
    }
    const Value value = emit(s.init);
    if (!s.is_mutable) values_[v] = value;
    else forget(v, value.half_zero || is_below_zero(init));
  }

  bool reads_symbols(const Expr& e) const {
    if (const Variable* v = variable_of(e)) {
      if (symbols_.contains(v)) return true;
      auto lazy = lazy_.find(v);
      return lazy == lazy_.end() && mutable_.contains(v);
    }
    return !all_children(e, [&](const Expr& child) { return !reads_symbols(child); });
  }

  void assign(const Assign& s) {
    const Variable* v = s.var.get();
    const Binary* sum = binary_of(*s.value, BinaryOp::kAdd);
    auto symbol = symbols_.find(v);
    if (symbol != symbols_.end() && sum != nullptr && variable_of(*sum->lhs) == v && is_imm(*sum->rhs)) {
      symbol->second.constant += imm_of(*sum->rhs);
      return;
    }
    const bool half_zero = emit(s.value).half_zero;
    forget(v, half_zero);
  }

  void store(const Store& s) {
    const Cast* narrowed = s.value->kind == ExprKind::kCast ? static_cast<const Cast*>(s.value.get()) : nullptr;
    const Value v = emit(narrowed != nullptr && !is_float(narrowed->value->type) ? narrowed->value : s.value);
    read(v);
    if (v.half_zero) model_.half_zero_.insert(s.buffer.get());
    address(*s.buffer, s.index, false);
    *once_ += size_of(s.buffer->dtype) == 8 && !c_.double_unit ? 2 : 1;
    Effects e;
    e.store(s.buffer.get());
    written(e);
  }

  void loop(const For& s) {
    emit(s.begin), emit(s.end);
    if (!is_imm(*s.begin) || !is_imm(*s.end)) *once_ += c_.compare + c_.branch;
    const bool constant = is_imm(*s.begin) && is_imm(*s.end);
    const int64_t trips = constant ? (imm_of(*s.end) - imm_of(*s.begin) + s.step - 1) / s.step : 0;
    Scope scope;
    scope.loop = &s;
    scope.effects.add(*s.body);
    path_.push_back(std::move(scope));
    path_[path_.size() - 2].plain = false;
    Scope& here = path_.back();
    written(here.effects);
    for (const auto& [v, step] : here.effects.assigned) {
      const bool counts = symbols_.contains(v) && step.constant;
      forget(v);
      if (!counts) continue;
      Linear l;
      l.terms.push_back({values_[v], 1, true, step.sum});
      symbols_[v] = l;
    }
    const std::unordered_set<Key> before = available_;
    const Ranges::Mark mark = ranges_.mark();
    ranges_.enter_loop(s);
    walk(*s.body);
    ranges_.restore(mark);
    available_ = before;
    Cost cost;
    cost.entry = path_.back().entry + (c_.loop_ends && path_.back().plain ? kIterations : 1);
    cost.turn = constant && trips <= 1 ? 0 : turn(path_.back());
    const Effects effects = std::move(path_.back().effects);
    path_.pop_back();
    forget(effects);
    Cost& to = model_.costs_[&s];
    to.entry = std::max(to.entry, cost.entry);
    to.turn = std::max(to.turn, cost.turn);
  }

  double turn(const Scope& s) const {
    double steps = 0, pointers = 0;
    for (const auto& [key, p] : s.pointers) {
      pointers += static_cast<double>(std::max<size_t>(1, p.offsets.size()));
      const bool post = c_.thumb && !p.passed_on && p.offsets.size() <= 1 && p.step_bytes == p.access_bytes;
      if (!post) steps += static_cast<double>(std::max<size_t>(1, p.offsets.size()));
    }
    const bool ends = c_.loop_ends && s.plain;  // LE counts, in LR
    const bool counter = (pointers == 0 && !ends) || s.counter_used;
    const double control = !c_.thumb || ends ? 1 : pointers == 0 && !s.counter_used ? 1 : 2;
    return steps + (counter ? 1 : 0) + control + reloads(s, pointers + (counter ? 2 : 1));
  }

  // Loads of values that find no register: those that are read least.
  double reloads(const Scope& s, double used) const {
    for (const auto& [v, step] : s.effects.assigned)
      if (v->dtype == DType::kI32 && !step.constant) used += 1;
    std::vector<int> reads;
    for (const auto& [key, n] : s.integers) reads.push_back(n);
    std::sort(reads.begin(), reads.end());
    used += static_cast<double>(reads.size()) + std::min(kMostTemporaries, 2 + s.loads / 4);
    double out = 0;
    for (size_t i = 0; i < reads.size() && used > c_.integer_registers; ++i, --used) out += reads[i];
    // Then sums, which are loaded and stored.
    return out + 2 * std::max(0.0, used - c_.integer_registers);
  }

  void if_else(const If& s) {
    path_.back().plain = false;
    model_.costs_[&s].usual = usual_branch(s);
    condition(s.condition);
    *once_ += number(s.condition) ? 0 : c_.branch;
    Effects e;
    e.add(*s.then);
    if (s.otherwise) e.add(*s.otherwise);
    double* const outer = once_;
    const std::unordered_set<Key> before = available_;
    ++conditions_;
    const Ranges::Mark mark = ranges_.mark();
    ranges_.assume(s.condition, true);
    if (ranges_.reachable()) walk(*s.then);
    ranges_.restore(mark);
    available_ = before;
    ranges_.assume(s.condition, false);
    if (s.otherwise && ranges_.reachable()) walk(*s.otherwise);
    ranges_.restore(mark);
    available_ = before;
    --conditions_;
    once_ = outer;
    forget(e);
  }

  void kernel_call(const CallKernel& s) {
    *once_ += c_.kernel_call + c_.argument * static_cast<double>(s.args.size());
    for (const ExprPtr& a : s.args) emit(a);
    Effects e;
    e.bytes = true;
    written(e);
  }

  void evaluate(const Evaluate& s) {
    emit(s.value);
    if (s.value->kind == ExprKind::kCall && static_cast<const Call&>(*s.value).callee == Intrinsic::kMemcpy) {
      const auto& copy = static_cast<const Call&>(*s.value);
      if (model_.half_zero_.contains(static_cast<const Address&>(*copy.args[1]).buffer.get()))
        model_.half_zero_.insert(static_cast<const Address&>(*copy.args[0]).buffer.get());
    }
    Effects e;
    e.add(s);
    written(e);
  }

  void walk(const Stmt& stmt) {
    if (stmt.kind == StmtKind::kBlock) {
      for (const StmtPtr& s : static_cast<const Block&>(stmt).body) walk(*s);
      return;
    }
    if (stmt.kind == StmtKind::kFor) {
      double own = 0;
      double* const outer = std::exchange(once_, &own);
      loop(static_cast<const For&>(stmt));
      once_ = outer;
      Cost& to = model_.costs_[&stmt];
      to.once = std::max(to.once, own);
      return;
    }
    double own = 0;
    double* const outer = std::exchange(once_, &own);
    visit(stmt, Overloaded{[&](const Declare& s) {
                             if (s.is_mutable) mutable_.insert(s.var.get());
                             declare(s);
                           },
                           [&](const Assign& s) { assign(s); }, [&](const Store& s) { store(s); },
                           [&](const Evaluate& s) { evaluate(s); }, [&](const CallKernel& s) { kernel_call(s); },
                           [&](const If& s) { if_else(s); }, [](const auto&) {}});
    once_ = outer;
    Cost& to = model_.costs_[&stmt];
    to.once = std::max(to.once, own);
  }

  const CodeCosts& c_;
  CodeModel& model_;
  std::vector<Scope> path_;
  double nothing_ = 0;
  double* once_ = &nothing_;
  int conditions_ = 0;
  Key serial_ = 0;
  Key versions_[32] = {};
  std::unordered_set<Key> available_;
  std::unordered_map<const Buffer*, Key> local_versions_;
  std::unordered_map<const Variable*, Value> values_;
  std::unordered_map<const Variable*, Linear> symbols_;  // mutable integers that only constants change
  std::unordered_map<const Variable*, ExprPtr> lazy_;
  Ranges ranges_;
  std::unordered_set<const Variable*> mutable_;
};

void CodeModel::add(const Function& function) { Walker(c_, *this).run(function); }

const CodeModel::Cost& CodeModel::of(const Stmt& stmt) const {
  static const Cost kNothing;
  auto found = costs_.find(&stmt);
  return found == costs_.end() ? kNothing : found->second;
}

double CodeModel::block(bool copies, double bytes, bool constant) const {
  if (constant) {
    const double pieces = std::ceil(bytes / static_cast<double>(c_.copy_part));
    if (bytes <= (copies ? 16 : c_.inline_fill) && bytes <= c_.inline_copy) return pieces * (copies ? 2 : 1);
    if (bytes <= c_.inline_copy) return pieces * (copies ? 2 : 1) + std::floor(bytes / 16) * 4 + 3;
  }
  return copies ? c_.copy + c_.copy_byte * bytes : c_.fill + c_.fill_byte * bytes;
}

}  // namespace aotc::cores
