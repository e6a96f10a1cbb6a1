// SPDX-License-Identifier: Apache-2.0
// From a TIR function to the interpreter's register code.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <unordered_map>

#include "tir/arithmetic.h"
#include "tir/machine.h"
#include "tir/program.h"
#include "tir/visit.h"

namespace aotc::tir {

namespace {

Op at_offset(Op base, int offset) { return static_cast<Op>(static_cast<int>(base) + offset); }

const Binary* as_binary(const ExprPtr& e, BinaryOp op) {
  if (!e || e->kind != ExprKind::kBinary) return nullptr;
  const Binary& b = static_cast<const Binary&>(*e);
  return b.op == op && !b.wrapping ? &b : nullptr;
}

class Assembler {
 public:
  explicit Assembler(bool observed) : observed_(observed) {}
  Result<Program> run(const Function& function, std::string* problem);

 private:
  int32_t fail(const std::string& text) {
    if (problem_.empty()) problem_ = text;
    return 0;
  }
  int32_t fresh();
  int32_t temporary();
  int32_t constant(Register value, bool is_int);
  int32_t int_constant(int64_t v);
  int32_t buffer(const BufferPtr& b);
  size_t emit(Instr instr);
  int32_t here() const { return static_cast<int32_t>(program_.code.size()); }

  // The register that holds the value; `into` >= 0 asks for that one.
  int32_t expr(const ExprPtr& e, int32_t into = -1);
  int32_t moved(int32_t from, int32_t into);
  int32_t target(int32_t into) { return into >= 0 ? into : temporary(); }
  int32_t int_binary(const Binary& b, int32_t into);
  int32_t float_binary(const Binary& b, int32_t into);
  int32_t mul_add(const Binary& sum, Op op, int32_t into);
  // One for each kind of expression.
  int32_t value(const IntImm& n, int32_t into);
  int32_t value(const FloatImm& n, int32_t into);
  int32_t value(const VarRef& n, int32_t into);
  int32_t value(const Load& l, int32_t into);
  int32_t value(const Unary& u, int32_t into);
  int32_t value(const Binary& b, int32_t into);
  int32_t value(const Cast& c, int32_t into);
  int32_t value(const Select& s, int32_t into);
  int32_t value(const Call& c, int32_t into);
  int32_t value(const Address&, int32_t) { return fail("an address is used as a value"); }
  // Sets b and c of an access to the two addends of an index.
  void index(const ExprPtr& e, Instr* access);
  void memory_call(const Call& c);

  void statement(const StmtPtr& s);
  // One for each kind of statement.
  void run(const For& s);
  void run(const If& s);
  void run(const Declare& d);
  void run(const Assign& a);
  void run(const Store& s);
  void run(const Evaluate& e);
  void run(const Block& b);
  void run(const Alloc& a);
  void run(const CallKernel&) { fail("a kernel call was not inlined"); }
  void run(const Fail&) { emit({.op = Op::kFail}); }
  void run(const Comment&) {}
  void run(const Trace&) {}

  bool observed_;
  Program program_;
  std::string problem_;
  const Stmt* current_ = nullptr;
  std::unordered_map<const Variable*, int32_t> variables_;
  std::unordered_map<const Buffer*, int32_t> buffers_;
  std::map<std::pair<bool, int64_t>, int32_t> constants_;
  std::vector<int32_t> temporaries_;
  size_t temporaries_used_ = 0;
};

int32_t Assembler::fresh() {
  program_.registers.push_back(Register{0});
  return static_cast<int32_t>(program_.registers.size() - 1);
}

int32_t Assembler::temporary() {
  if (temporaries_used_ == temporaries_.size()) temporaries_.push_back(fresh());
  return temporaries_[temporaries_used_++];
}

int32_t Assembler::constant(Register value, bool is_int) {
  int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  auto [it, is_new] = constants_.try_emplace({is_int, bits}, 0);
  if (is_new) {
    it->second = fresh();
    program_.registers.back() = value;
  }
  return it->second;
}

int32_t Assembler::int_constant(int64_t v) {
  Register r{};
  r.i = v;
  return constant(r, true);
}

int32_t Assembler::buffer(const BufferPtr& b) {
  auto it = b ? buffers_.find(b.get()) : buffers_.end();
  if (it != buffers_.end()) return it->second;
  return fail(b ? fmt::format("buffer '{}' is not declared", b->name) : "a buffer is missing");
}

size_t Assembler::emit(Instr instr) {
  program_.code.push_back(instr);
  program_.origin.push_back(current_);
  return program_.code.size() - 1;
}

int32_t Assembler::moved(int32_t from, int32_t into) {
  if (into < 0 || into == from) return from;
  emit({.op = Op::kMove, .dst = into, .a = from});
  return into;
}

int32_t Assembler::expr(const ExprPtr& e, int32_t into) {
  if (!e) return fail("an expression is missing");
  if (!problem_.empty()) return 0;
  return visit(*e, [&](const auto& n) { return value(n, into); });
}

int32_t Assembler::value(const IntImm& n, int32_t into) { return moved(int_constant(n.value), into); }

int32_t Assembler::value(const FloatImm& n, int32_t into) {
  Register r{};
  if (n.type == DType::kF32) {
    r.f = static_cast<float>(n.value);
  } else {
    r.d = n.value;
  }
  return moved(constant(r, false), into);
}

int32_t Assembler::value(const VarRef& n, int32_t into) {
  auto it = variables_.find(n.var.get());
  if (it == variables_.end()) return fail(fmt::format("variable '{}' is not declared", n.var->name));
  return moved(it->second, into);
}

int32_t Assembler::value(const Load& l, int32_t into) {
  Instr access{.a = buffer(l.buffer)};
  if (!problem_.empty()) return 0;
  index(l.index, &access);
  Op base = tracked(*l.buffer) ? Op::kLoadTrackedBool : Op::kLoadBool;
  bool slow = observed_ && l.buffer->role != Role::kLocal;
  access.op = slow ? Op::kLoadSlow : at_offset(base, static_cast<int>(l.buffer->dtype));
  access.dst = target(into);
  emit(access);
  return access.dst;
}

void Assembler::index(const ExprPtr& e, Instr* access) {
  if (e && is_float(e->type)) {
    fail("an index is not an integer");
    return;
  }
  if (const Binary* sum = as_binary(e, BinaryOp::kAdd)) {
    access->b = expr(sum->lhs);
    access->c = expr(sum->rhs);
    return;
  }
  const Binary* difference = as_binary(e, BinaryOp::kSub);
  if (difference && difference->rhs->kind == ExprKind::kIntImm) {
    access->b = expr(difference->lhs);
    access->c = int_constant(-static_cast<const IntImm&>(*difference->rhs).value);
    return;
  }
  access->b = expr(e);
  access->c = int_constant(0);
}

int32_t Assembler::mul_add(const Binary& sum, Op op, int32_t into) {
  const Binary* product = as_binary(sum.rhs, BinaryOp::kMul);
  const ExprPtr& addend = product ? sum.lhs : sum.rhs;
  if (!product) product = as_binary(sum.lhs, BinaryOp::kMul);
  int32_t a = expr(product->lhs);
  int32_t b = expr(product->rhs);
  int32_t c = expr(addend);
  int32_t dst = target(into);
  emit({.op = op, .dst = dst, .a = a, .b = b, .c = c});
  return dst;
}

int32_t Assembler::value(const Binary& b, int32_t into) {
  if (!b.lhs || !b.rhs) return fail("an operand is missing");
  if (b.lhs->type != b.rhs->type)
    return fail(
        fmt::format("operands of '{}' are {} and {}", spelling_of(b.op), name_of(b.lhs->type), name_of(b.rhs->type)));
  bool has_product = as_binary(b.lhs, BinaryOp::kMul) || as_binary(b.rhs, BinaryOp::kMul);
  if (b.op == BinaryOp::kAdd && !b.wrapping && has_product) {
    if (b.type == DType::kI32) return mul_add(b, Op::kMulAddI32, into);
    if (b.type == DType::kF32) return mul_add(b, Op::kMulAddF32, into);
  }
  return is_float(b.lhs->type) ? float_binary(b, into) : int_binary(b, into);
}

int32_t Assembler::int_binary(const Binary& b, int32_t into) {
  DType type = b.lhs->type;
  Instr instr{.op = Op::kInt, .flag = pack(b.op, type, b.wrapping)};
  int kind = static_cast<int>(b.op);
  if (kind <= static_cast<int>(BinaryOp::kMul)) {
    if (type == DType::kI32) instr.op = at_offset(b.wrapping ? Op::kAddI32Wrap : Op::kAddI32, kind);
    if (type == DType::kI64 && !b.wrapping) instr.op = at_offset(Op::kAddI64, kind);
  } else if (b.op >= BinaryOp::kMin && b.op <= BinaryOp::kBitXor) {
    instr.op = at_offset(Op::kMinInt, kind - static_cast<int>(BinaryOp::kMin));
  } else if (b.op == BinaryOp::kShr) {
    instr.op = Op::kShr;
  } else if (b.op == BinaryOp::kAnd || b.op == BinaryOp::kOr) {
    instr.op = b.op == BinaryOp::kAnd ? Op::kAnd : Op::kOr;
  } else if (is_comparison(b.op)) {
    instr.op = at_offset(Op::kEqInt, kind - static_cast<int>(BinaryOp::kEq));
  }
  instr.a = expr(b.lhs);
  instr.b = expr(b.rhs);
  instr.dst = target(into);
  emit(instr);
  return instr.dst;
}

int32_t Assembler::float_binary(const Binary& b, int32_t into) {
  bool single = b.lhs->type == DType::kF32;
  Instr instr{.flag = static_cast<uint16_t>(b.op)};
  int kind = static_cast<int>(b.op);
  if (is_comparison(b.op)) {
    instr.op = single ? Op::kCompareF32 : Op::kCompareF64;
  } else if (b.op <= BinaryOp::kDiv) {
    instr.op = at_offset(single ? Op::kAddF32 : Op::kAddF64, kind);
  } else if (b.op == BinaryOp::kMin || b.op == BinaryOp::kMax) {
    Op least = single ? Op::kMinF32 : Op::kMinF64;
    instr.op = at_offset(least, kind - static_cast<int>(BinaryOp::kMin));
  } else {
    return fail(fmt::format("'{}' does not support {}", spelling_of(b.op), name_of(b.lhs->type)));
  }
  instr.a = expr(b.lhs);
  instr.b = expr(b.rhs);
  instr.dst = target(into);
  emit(instr);
  return instr.dst;
}

int32_t Assembler::value(const Unary& u, int32_t into) {
  if (!u.value) return fail("an operand is missing");
  DType type = u.value->type;
  Instr instr{.flag = static_cast<uint16_t>(type)};
  if (u.op == UnaryOp::kNeg) {
    instr.op = type == DType::kF32 ? Op::kNegF32 : type == DType::kF64 ? Op::kNegF64 : Op::kNegInt;
  } else if (is_float(type)) {
    return fail(fmt::format("'{}' does not support {}", spelling_of(u.op), name_of(type)));
  } else {
    instr.op = u.op == UnaryOp::kLogicalNot ? Op::kLogicalNot : Op::kBitNot;
  }
  instr.a = expr(u.value);
  instr.dst = target(into);
  emit(instr);
  return instr.dst;
}

int32_t Assembler::value(const Cast& c, int32_t into) {
  if (!c.value) return fail("an operand is missing");
  DType from = c.value->type;
  Instr instr{.flag = static_cast<uint16_t>(c.type)};
  if (!is_float(from) && !is_float(c.type)) {
    IntRange inner = int_range(from);
    IntRange outer = int_range(c.type);
    if (inner.min >= outer.min && inner.max <= outer.max) return expr(c.value, into);
    instr.op = Op::kCastInt;
    instr.flag = pack(BinaryOp::kAdd, c.type, c.wrapping);
  } else if (!is_float(from)) {
    instr.op = c.type == DType::kF32 ? Op::kIntToF32 : Op::kIntToF64;
  } else if (!is_float(c.type)) {
    instr.op = from == DType::kF32 ? Op::kF32ToInt : Op::kF64ToInt;
  } else if (from == c.type) {
    return expr(c.value, into);
  } else {
    instr.op = from == DType::kF32 ? Op::kF32ToF64 : Op::kF64ToF32;
  }
  instr.a = expr(c.value);
  instr.dst = target(into);
  emit(instr);
  return instr.dst;
}

int32_t Assembler::value(const Select& s, int32_t into) {
  if (!s.if_true || !s.if_false || s.if_true->type != s.if_false->type)
    return fail("the two values of a select differ in type");
  int32_t condition = expr(s.condition);
  int32_t dst = target(into);
  size_t skip = emit({.op = Op::kJumpIfZero, .a = condition});
  expr(s.if_true, dst);
  size_t end = emit({.op = Op::kJump});
  program_.code[skip].b = here();
  expr(s.if_false, dst);
  program_.code[end].a = here();
  return dst;
}

int32_t Assembler::value(const Call& c, int32_t into) {
  const IntrinsicInfo& info = info_of(c.callee);
  if (!info.is_scalar || c.args.size() != static_cast<size_t>(info.args) || !c.args[0])
    return fail(fmt::format("'{}' has wrong arguments", info.name));
  Instr instr{.op = Op::kCall, .flag = static_cast<uint16_t>(c.callee)};
  instr.c = static_cast<int32_t>(c.args[0]->type);
  instr.a = expr(c.args[0]);
  if (c.args.size() > 1) {
    if (!c.args[1] || c.args[1]->type != c.args[0]->type)
      return fail(fmt::format("arguments of '{}' differ in type", info.name));
    instr.b = expr(c.args[1]);
  }
  instr.dst = target(into);
  emit(instr);
  return instr.dst;
}

void Assembler::memory_call(const Call& c) {
  std::string name(info_of(c.callee).name);
  bool copy = c.callee == Intrinsic::kMemcpy;
  auto address = [&](size_t i) -> const Address* {
    bool is = c.args.size() == 3 && c.args[i] && c.args[i]->kind == ExprKind::kAddress;
    if (!is) fail(fmt::format("'{}' has wrong arguments", name));
    return is ? static_cast<const Address*>(c.args[i].get()) : nullptr;
  };
  const Address* to = address(0);
  const Address* from = copy && to ? address(1) : nullptr;
  if (!to || (copy && !from)) return;
  if (to->buffer->role == Role::kInput || to->buffer->role == Role::kConstant)
    fail(fmt::format("'{}' is read only", to->buffer->name));
  Instr instr{.op = copy ? Op::kMemcpy : Op::kMemset, .dst = buffer(to->buffer)};
  instr.a = expr(to->index);
  instr.b = copy ? buffer(from->buffer) : expr(c.args[1]);
  if (copy) instr.c = expr(from->index);
  instr.d = expr(c.args[2]);
  emit(instr);
}

void Assembler::run(const Store& s) {
  Instr access{.a = buffer(s.buffer)};
  if (!problem_.empty()) return;
  if (s.buffer->role == Role::kInput || s.buffer->role == Role::kConstant)
    fail(fmt::format("'{}' is read only", s.buffer->name));
  DType type = s.buffer->dtype;
  if (!s.value || (s.value->type != type && s.value->type != promoted(type)))
    fail(fmt::format("the value stored to '{}' is not {}", s.buffer->name, name_of(promoted(type))));
  index(s.index, &access);
  access.dst = expr(s.value);
  bool slow = observed_ && s.buffer->role != Role::kLocal;
  access.op = slow ? Op::kStoreSlow : at_offset(Op::kStoreBool, static_cast<int>(type));
  emit(access);
}

void Assembler::run(const For& s) {
  if (s.step <= 0 || s.step > int_range(DType::kI32).max) {
    fail("the step of a loop is not a positive i32");
    return;
  }
  if (!s.begin || !s.end || s.begin->type != DType::kI32 || s.end->type != DType::kI32) {
    fail("the bounds of a loop are not i32");
    return;
  }
  int32_t variable = fresh();
  expr(s.begin, variable);
  int32_t end = s.end->kind == ExprKind::kIntImm ? expr(s.end) : expr(s.end, fresh());
  variables_[s.var.get()] = variable;
  size_t enter = emit({.op = Op::kLoopEnter, .dst = variable, .a = end});
  int32_t first = here();
  statement(s.body);
  current_ = &s;
  emit({.op = Op::kLoopNext, .dst = variable, .a = end, .b = first, .c = static_cast<int32_t>(s.step)});
  program_.code[enter].b = here();
  program_.loops.push_back({static_cast<size_t>(first), program_.code.size(), variable, s.var->name});
}

void Assembler::run(const If& s) {
  if (s.condition && is_float(s.condition->type)) fail("a condition is not an integer");
  size_t skip = emit({.op = Op::kJumpIfZero, .a = expr(s.condition)});
  statement(s.then);
  if (!s.otherwise) {
    program_.code[skip].b = here();
    return;
  }
  size_t end = emit({.op = Op::kJump});
  program_.code[skip].b = here();
  statement(s.otherwise);
  program_.code[end].a = here();
}

void Assembler::statement(const StmtPtr& s) {
  if (!s) fail("a statement is missing");
  if (!problem_.empty()) return;
  current_ = s.get();
  temporaries_used_ = 0;
  visit(*s, [&](const auto& n) { run(n); });
}

void Assembler::run(const Declare& d) {
  if (d.init && d.init->type != d.var->dtype)
    fail(fmt::format("'{}' is declared with a value of another type", d.var->name));
  int32_t variable = fresh();
  expr(d.init, variable);
  variables_[d.var.get()] = variable;
}

void Assembler::run(const Assign& a) {
  auto it = variables_.find(a.var.get());
  if (it == variables_.end()) {
    fail(fmt::format("variable '{}' is not declared", a.var->name));
  } else if (a.value && a.value->type != a.var->dtype) {
    fail(fmt::format("'{}' is assigned a value of another type", a.var->name));
  } else {
    expr(a.value, it->second);
  }
}

void Assembler::run(const Evaluate& e) {
  const Call* call = e.value && e.value->kind == ExprKind::kCall ? static_cast<const Call*>(e.value.get()) : nullptr;
  if (call && !info_of(call->callee).is_scalar) {
    memory_call(*call);
  } else {
    expr(e.value);
  }
}

void Assembler::run(const Block& b) {
  for (const StmtPtr& child : b.body) statement(child);
}

void Assembler::run(const Alloc& a) {
  const BufferPtr& b = a.buffer;
  if (b->role != Role::kLocal) fail(fmt::format("'{}' is not local", b->name));
  auto [it, is_new] = buffers_.try_emplace(b.get(), static_cast<int32_t>(program_.buffers.size()));
  if (is_new) program_.buffers.push_back({b, -1});
  emit({.op = Op::kAllocate, .a = it->second});
}

Result<Program> Assembler::run(const Function& function, std::string* problem) {
  for (const BufferPtr& b : function.params) {
    if (!buffers_.try_emplace(b.get(), static_cast<int32_t>(program_.buffers.size())).second)
      fail(fmt::format("parameter '{}' is declared twice", b->name));
    program_.buffers.push_back({b, static_cast<int>(program_.buffers.size())});
  }
  statement(function.body);
  current_ = nullptr;
  emit({.op = Op::kHalt});
  if (!problem_.empty()) {
    *problem = problem_;
    return kFailure;
  }
  return std::move(program_);
}

}  // namespace

Result<Program> assemble(const Function& function, bool observed, std::string* problem) {
  return Assembler(observed).run(function, problem);
}

}  // namespace aotc::tir
