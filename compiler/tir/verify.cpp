// SPDX-License-Identifier: Apache-2.0
// Rejects functions that are not well formed. Types and scopes are decided always. An access is
// rejected when its whole interval is outside the buffer, or when part of it is and the index is a
// sum of independent loop variables, so that the interval is exact; anything else is left to the
// interpreter, which checks every access it makes.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "tir/arithmetic.h"
#include "tir/ranges.h"
#include "tir/text.h"
#include "tir/visit.h"
#include "tir/writes.h"

namespace aotc::tir {

namespace {

constexpr int kMaxErrors = 20;

bool is_pot(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }
bool writable(const Buffer& b) { return b.role == Role::kOutput || b.role == Role::kScratch || b.role == Role::kLocal; }
bool may_wrap(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kSub || op == BinaryOp::kMul || op == BinaryOp::kShl;
}

class Verifier {
 public:
  Verifier(const Function& function, Diagnostics& diags) : function_(function), diags_(diags) {}
  bool run();

 private:
  struct VariableState {
    bool is_mutable;
    bool is_loop;
  };

  bool error(const std::string& message);

  bool declare(const VarPtr& v, bool is_mutable, bool is_loop);
  bool buffer_is_sound(const BufferPtr& b);
  bool visible(const BufferPtr& b);

  // Each reports what is wrong with the expression; true if nothing is.
  bool expr(const ExprPtr& e);
  bool immediate(const Expr& e);
  bool unary(const Unary& u);
  bool binary(const Binary& b);
  bool cast(const Cast& c, bool small_allowed);
  bool select(const Select& s);
  bool call(const Call& c);
  bool memory_call(const Call& c);
  bool typed(const ExprPtr& e, DType type, std::string_view what);
  bool access(const BufferPtr& b, const ExprPtr& index, int64_t elements = 1);

  void body(const StmtPtr& s);
  void statement(const StmtPtr& s);
  void loop(const For& s);
  void branch(const If& s);
  void assign(const Assign& a);
  void store(const Store& s);
  void kernel_call(const CallKernel& c);
  // Whether the expression reads something in `writes`.
  bool reads(const Expr& e, const Writes& writes) const;

  const Function& function_;
  Diagnostics& diags_;
  int errors_ = 0;
  const Stmt* current_ = nullptr;
  std::unordered_map<const Variable*, VariableState> variables_;
  std::unordered_set<const Buffer*> buffers_;
  std::vector<const Variable*> variable_order_;
  std::vector<const Buffer*> buffer_order_;
  Ranges ranges_;
};

bool Verifier::error(const std::string& message) {
  if (++errors_ > kMaxErrors) return false;
  Location where;
  where.file = "function " + function_.name;
  Diagnostic& d = diags_.error(where, "tir-invalid", message);
  std::string text = current_ ? statement_text(function_, current_) : "";
  if (!text.empty()) d.note("in '" + text + "'");
  return false;
}

// ---------------------------------------------------------------- names

bool Verifier::declare(const VarPtr& v, bool is_mutable, bool is_loop) {
  if (promoted(v->dtype) != v->dtype)
    return error(fmt::format("variable '{}' has type {}, which only buffers may have", v->name, name_of(v->dtype)));
  if (!variables_.try_emplace(v.get(), VariableState{is_mutable, is_loop}).second)
    return error(fmt::format("variable '{}' is declared twice", v->name));
  variable_order_.push_back(v.get());
  return true;
}

bool Verifier::buffer_is_sound(const BufferPtr& b) {
  if (!b) return error("a buffer is missing");
  if (b->elements < 0 || b->elements > int_range(DType::kI32).max)
    return error(fmt::format("buffer '{}' has {} elements", b->name, b->elements));
  if (!is_pot(b->alignment))
    return error(fmt::format("buffer '{}' has alignment {}, expected a power of two", b->name, b->alignment));
  if (b->space == Space::kProgram && writable(*b))
    return error(fmt::format("buffer '{}' is in program memory but not read-only", b->name));
  if (!buffers_.insert(b.get()).second) return error(fmt::format("buffer '{}' is declared twice", b->name));
  buffer_order_.push_back(b.get());
  return true;
}

bool Verifier::visible(const BufferPtr& b) {
  if (!b) return error("a buffer is missing");
  return buffers_.contains(b.get()) || error(fmt::format("buffer '{}' is not declared here", b->name));
}

// ---------------------------------------------------------------- expressions

bool Verifier::typed(const ExprPtr& e, DType type, std::string_view what) {
  if (!expr(e)) return false;
  return e->type == type || error(fmt::format("{} is {}, not {}", what, name_of(e->type), name_of(type)));
}

bool Verifier::immediate(const Expr& e) {
  if (e.kind == ExprKind::kIntImm) {
    int64_t v = static_cast<const IntImm&>(e).value;
    if (is_float(e.type) || promoted(e.type) != e.type)
      return error(fmt::format("integer immediate {} must not have type {}", v, name_of(e.type)));
    return fits(e.type, v) || error(fmt::format("immediate {} does not fit {}", v, name_of(e.type)));
  }
  double v = static_cast<const FloatImm&>(e).value;
  if (!is_float(e.type)) return error(fmt::format("float immediate {} must not have type {}", v, name_of(e.type)));
  bool exact = e.type == DType::kF64 || v != v || static_cast<double>(static_cast<float>(v)) == v;
  return exact || error(fmt::format("immediate {} is not exact in f32", v));
}

bool Verifier::expr(const ExprPtr& e) {
  if (!e) return error("an expression is missing");
  return visit(*e, Overloaded{
                       [&](const IntImm& i) { return immediate(i); },
                       [&](const FloatImm& f) { return immediate(f); },
                       [&](const VarRef& v) {
                         return variables_.contains(v.var.get()) ||
                                error(fmt::format("variable '{}' is not declared here", v.var->name));
                       },
                       [&](const Load& l) {
                         return visible(l.buffer) && typed(l.index, DType::kI32, "an index") &&
                                access(l.buffer, l.index);
                       },
                       [&](const Unary& u) { return unary(u); },
                       [&](const Binary& b) { return binary(b); },
                       [&](const Cast& c) { return cast(c, false); },
                       [&](const Select& s) { return select(s); },
                       [&](const Call& c) { return call(c); },
                       [&](const Address&) { return error("an address is used as a value"); },
                   });
}

bool Verifier::unary(const Unary& u) {
  if (!expr(u.value)) return false;
  DType type = u.value->type;
  bool fine = u.op == UnaryOp::kNeg || (u.op == UnaryOp::kBitNot && !is_float(type)) || type == DType::kI32;
  return fine || error(fmt::format("'{}' does not support {}", spelling_of(u.op), name_of(type)));
}

bool Verifier::binary(const Binary& b) {
  if (!expr(b.lhs) || !expr(b.rhs)) return false;
  DType type = b.lhs->type;
  std::string_view op = spelling_of(b.op);
  if (type != b.rhs->type)
    return error(fmt::format("operands of '{}' are {} and {}", op, name_of(type), name_of(b.rhs->type)));
  DType result = gives_truth(b.op) ? DType::kI32 : type;
  if (b.type != result)
    return error(fmt::format("'{}' has type {}, expected {}", op, name_of(b.type), name_of(result)));
  double ignored = 0;
  if (is_float(type) && !is_comparison(b.op) && !fold_float(b.op, type, 1, 1, &ignored))
    return error(fmt::format("'{}' does not support {}", op, name_of(type)));
  if ((b.op == BinaryOp::kAnd || b.op == BinaryOp::kOr) && type != DType::kI32)
    return error(fmt::format("'{}' does not support {}", op, name_of(type)));
  if (b.wrapping && (is_float(type) || !may_wrap(b.op)))
    return error(fmt::format("'{}' of {} cannot wrap", op, name_of(type)));
  if (b.rhs->kind != ExprKind::kIntImm) return true;
  int64_t v = static_cast<const IntImm&>(*b.rhs).value;
  bool divides = b.op == BinaryOp::kDiv || b.op == BinaryOp::kMod;
  if (divides && v == 0) return error("division by zero");
  bool shifts = b.op == BinaryOp::kShl || b.op == BinaryOp::kShr;
  int width = size_of(type) * 8;
  if (shifts && (v < 0 || v >= width)) return error(fmt::format("shift by {} is outside of [0, {})", v, width));
  return true;
}

bool Verifier::cast(const Cast& c, bool small_allowed) {
  // i32(i8(x)) narrows and widens again.
  bool inner_small = c.value && c.value->kind == ExprKind::kCast && c.type == DType::kI32;
  bool fine = inner_small ? cast(static_cast<const Cast&>(*c.value), true) : expr(c.value);
  if (!fine) return false;
  if (promoted(c.type) != c.type && !small_allowed)
    return error(fmt::format("a cast to {} must be in a store or in a cast to i32", name_of(c.type)));
  bool both_ints = !is_float(c.type) && !is_float(c.value->type);
  return !c.wrapping || both_ints ||
         error(fmt::format("a cast from {} to {} cannot wrap", name_of(c.value->type), name_of(c.type)));
}

bool Verifier::select(const Select& s) {
  if (!typed(s.condition, DType::kI32, "a condition")) return false;
  Ranges::Mark mark = ranges_.mark();
  ranges_.assume(s.condition, true);
  bool fine = expr(s.if_true);
  ranges_.restore(mark);
  ranges_.assume(s.condition, false);
  fine = expr(s.if_false) && fine;
  ranges_.restore(mark);
  if (!fine || s.if_true->type == s.if_false->type) return fine;
  return error(
      fmt::format("the two values of a select are {} and {}", name_of(s.if_true->type), name_of(s.if_false->type)));
}

bool Verifier::call(const Call& c) {
  const IntrinsicInfo& info = info_of(c.callee);
  if (!info.is_scalar) return error(fmt::format("'{}' returns no value", info.name));
  if (c.args.size() != static_cast<size_t>(info.args))
    return error(fmt::format("'{}' takes {} arguments, not {}", info.name, info.args, c.args.size()));
  for (const ExprPtr& a : c.args)
    if (!expr(a)) return false;
  DType type = c.args[0]->type;
  for (const ExprPtr& a : c.args)
    if (a->type != type)
      return error(fmt::format("arguments of '{}' are {} and {}", info.name, name_of(type), name_of(a->type)));
  bool fine = c.callee == Intrinsic::kFloatBits ? type == DType::kF32
              : c.callee == Intrinsic::kFloatFromBits || c.callee == Intrinsic::kKeep || c.callee == Intrinsic::kFence
                  ? type == DType::kI32
              : c.callee == Intrinsic::kAbs ? true
                                            : is_float(type);
  if (!fine) return error(fmt::format("'{}' does not support {}", info.name, name_of(type)));
  DType result = result_type(c.callee, type);
  return c.type == result ||
         error(fmt::format("'{}' has type {}, expected {}", info.name, name_of(c.type), name_of(result)));
}

bool Verifier::memory_call(const Call& c) {
  const IntrinsicInfo& info = info_of(c.callee);
  if (c.args.size() != 3) return error(fmt::format("'{}' takes 3 arguments, not {}", info.name, c.args.size()));
  size_t addresses = c.callee == Intrinsic::kMemcpy ? 2 : 1;
  for (size_t i = addresses; i < 3; ++i)
    if (!typed(c.args[i], DType::kI32, "an argument")) return false;
  Interval bytes = ranges_.of(c.args[2]);
  if (bytes.hi < 0) return error(fmt::format("'{}' has a negative size of {} bytes", info.name, bytes.hi));
  for (size_t i = 0; i < addresses; ++i) {
    if (!c.args[i] || c.args[i]->kind != ExprKind::kAddress)
      return error(fmt::format("argument {} of '{}' is not an address", i + 1, info.name));
    const Address& a = static_cast<const Address&>(*c.args[i]);
    if (!visible(a.buffer) || !typed(a.index, DType::kI32, "an index")) return false;
    if (i == 0 && !writable(*a.buffer)) return error(fmt::format("'{}' is read only", a.buffer->name));
    int64_t size = size_of(a.buffer->dtype);
    int64_t least = bytes.lo > 0 ? (bytes.lo + size - 1) / size : 0;
    if (!access(a.buffer, a.index, least)) return false;
  }
  return true;
}

bool Verifier::access(const BufferPtr& b, const ExprPtr& index, int64_t elements) {
  if (!ranges_.reachable()) return true;
  Interval at = ranges_.of(index);
  int64_t last = b->elements - elements;
  if (at.empty() || (at.lo >= 0 && at.hi <= last)) return true;
  bool all_outside = !ranges_.may_not_run() && (at.hi < 0 || at.lo > last);
  if (!all_outside && !ranges_.is_exact(index)) return true;
  std::string text = at.lo == at.hi ? fmt::format("index {}", at.lo) : fmt::format("index in [{}, {}]", at.lo, at.hi);
  std::string count = elements == 1 ? "" : fmt::format(" for {} elements", elements);
  return error(fmt::format("{}{} is outside of '{}' with {} elements", text, count, b->name, b->elements));
}

// ---------------------------------------------------------------- statements

void Verifier::body(const StmtPtr& s) {
  size_t variables = variable_order_.size();
  size_t buffers = buffer_order_.size();
  Ranges::Mark mark = ranges_.mark();
  if (s && s->kind == StmtKind::kBlock) {
    for (const StmtPtr& child : static_cast<const Block&>(*s).body) statement(child);
  } else {
    statement(s);
  }
  ranges_.restore(mark);
  for (; variable_order_.size() > variables; variable_order_.pop_back()) variables_.erase(variable_order_.back());
  for (; buffer_order_.size() > buffers; buffer_order_.pop_back()) buffers_.erase(buffer_order_.back());
}

bool Verifier::reads(const Expr& e, const Writes& writes) const {
  if (e.kind == ExprKind::kVarRef) return writes.targets.contains(static_cast<const VarRef&>(e).var.get());
  if (e.kind == ExprKind::kLoad && writes.targets.contains(static_cast<const Load&>(e).buffer.get())) return true;
  return !all_children(e, [&](const Expr& child) { return !reads(child, writes); });
}

void Verifier::loop(const For& s) {
  bool bounds = typed(s.begin, DType::kI32, "the begin of a loop") && typed(s.end, DType::kI32, "the end of a loop");
  if (s.step <= 0 || s.step > int_range(DType::kI32).max)
    bounds = error(fmt::format("the step of a loop is {}, but must be a positive i32", s.step));
  if (s.var->dtype != DType::kI32) bounds = error(fmt::format("loop variable '{}' is not i32", s.var->name));
  if (bounds && s.end->kind != ExprKind::kIntImm) {
    // Printed C evaluates the end before every turn, the interpreter once.
    Writes writes;
    writes.add(s.body);
    if (reads(*s.end, writes)) error("the body of a loop changes the loop's end");
  }
  size_t variables = variable_order_.size();
  Ranges::Mark mark = ranges_.mark();
  if (bounds) ranges_.enter_loop(s);
  declare(s.var, false, true);
  body(s.body);
  ranges_.restore(mark);
  for (; variable_order_.size() > variables; variable_order_.pop_back()) variables_.erase(variable_order_.back());
}

void Verifier::branch(const If& s) {
  bool fine = typed(s.condition, DType::kI32, "a condition");
  Ranges::Mark mark = ranges_.mark();
  if (fine) ranges_.assume(s.condition, true);
  body(s.then);
  ranges_.restore(mark);
  if (!s.otherwise) return;
  if (fine) ranges_.assume(s.condition, false);
  body(s.otherwise);
  ranges_.restore(mark);
}

void Verifier::store(const Store& s) {
  if (!visible(s.buffer)) return;
  if (!writable(*s.buffer)) {
    error(fmt::format("'{}' is read only", s.buffer->name));
    return;
  }
  if (!typed(s.index, DType::kI32, "an index") || !access(s.buffer, s.index)) return;
  DType type = s.buffer->dtype;
  bool casts = s.value && s.value->kind == ExprKind::kCast && s.value->type == type;
  if (casts) {
    cast(static_cast<const Cast&>(*s.value), true);
  } else {
    typed(s.value, promoted(type), "the value stored");
  }
}

void Verifier::statement(const StmtPtr& s) {
  current_ = s.get();
  if (!s) {
    error("a statement is missing");
    return;
  }
  visit(*s,
        Overloaded{
            [&](const For& f) { loop(f); },
            [&](const If& i) { branch(i); },
            [&](const Declare& d) {
              bool fine = typed(d.init, d.var->dtype, "the value declared");
              if (fine && promoted(d.var->dtype) == d.var->dtype) ranges_.declare(d);
              declare(d.var, d.is_mutable, false);
            },
            [&](const Assign& a) { assign(a); },
            [&](const Store& t) { store(t); },
            [&](const Evaluate& e) {
              bool memory = e.value && e.value->kind == ExprKind::kCall &&
                            !info_of(static_cast<const Call&>(*e.value).callee).is_scalar;
              if (memory) {
                memory_call(static_cast<const Call&>(*e.value));
              } else {
                expr(e.value);
              }
            },
            [&](const Block&) { body(s); },
            [&](const Alloc& a) {
              if (buffer_is_sound(a.buffer) && a.buffer->role != Role::kLocal)
                error(fmt::format("allocated buffer '{}' has role '{}'", a.buffer->name, spelling_of(a.buffer->role)));
            },
            [&](const CallKernel& c) { kernel_call(c); },
            [](const Fail&) {},
            [&](const Trace& t) {
              if (!t.from || t.from->kind != ExprKind::kAddress) {
                error("the traced operand is not an address");
                return;
              }
              const Address& a = static_cast<const Address&>(*t.from);
              if (visible(a.buffer)) typed(a.index, DType::kI32, "an index");
            },
            [](const Comment&) {},
        });
}

void Verifier::assign(const Assign& a) {
  auto it = variables_.find(a.var.get());
  if (it == variables_.end()) {
    error(fmt::format("variable '{}' is not declared here", a.var->name));
  } else if (!it->second.is_mutable) {
    error(fmt::format("{} '{}' is assigned", it->second.is_loop ? "loop variable" : "let", a.var->name));
  } else {
    typed(a.value, a.var->dtype, "the value assigned");
  }
}

void Verifier::kernel_call(const CallKernel& c) {
  const Function* meaning = c.kernel ? c.kernel->meaning.get() : nullptr;
  if (!meaning || !meaning->body) {
    error("a kernel has no definition in TIR");
    return;
  }
  const std::string name = name_of(*c.kernel);
  if (can_fail(meaning->body)) {
    error(fmt::format("'{}' may fail, but a kernel returns no status", name));
    return;
  }
  size_t buffers = meaning->params.size();
  if (c.args.size() != buffers + meaning->scalars.size()) {
    error(fmt::format("'{}' takes {} arguments, not {}", name, buffers + meaning->scalars.size(), c.args.size()));
    return;
  }
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (i >= buffers) {
      if (!typed(c.args[i], DType::kI32, "an argument")) return;
      continue;
    }
    if (!c.args[i] || c.args[i]->kind != ExprKind::kAddress) {
      error(fmt::format("argument {} of '{}' is not an address", i + 1, name));
      return;
    }
    const Address& a = static_cast<const Address&>(*c.args[i]);
    const Buffer& wanted = *meaning->params[i];
    if (!visible(a.buffer) || !typed(a.index, DType::kI32, "an index")) return;
    if (a.buffer->dtype != wanted.dtype)
      error(fmt::format("argument {} of '{}' is {}, not {}", i + 1, name, name_of(a.buffer->dtype),
                        name_of(wanted.dtype)));
    if (writable(wanted) && !writable(*a.buffer)) error(fmt::format("'{}' is read only", a.buffer->name));
    if (wanted.space != a.buffer->space)
      error(fmt::format("'{}' is in another memory than argument {} of '{}'", a.buffer->name, i + 1, name));
  }
}

bool Verifier::run() {
  for (const BufferPtr& b : function_.params)
    if (buffer_is_sound(b) && b->role == Role::kLocal) error(fmt::format("parameter '{}' is local", b->name));
  if (!function_.body || function_.body->kind != StmtKind::kBlock) {
    error("the body is not a block");
  } else {
    body(function_.body);
  }
  return errors_ == 0;
}

}  // namespace

Status verify(const Function& function, Diagnostics& diags) {
  if (!Verifier(function, diags).run()) return kFailure;
  // What the kernels do to the function's buffers is checked where they are called.
  FunctionPtr whole = inline_kernels(FunctionPtr(FunctionPtr(), &function));
  if (whole.get() == &function || Verifier(*whole, diags).run()) return success();
  return kFailure;
}

}  // namespace aotc::tir
