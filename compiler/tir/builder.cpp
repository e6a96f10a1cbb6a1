// SPDX-License-Identifier: Apache-2.0
#include "tir/builder.h"

#include <cassert>

#include "tir/arithmetic.h"

namespace aotc::tir {

namespace {

Ex make_int(DType type, int64_t v) { return Ex(std::make_shared<IntImm>(type, v)); }
Ex make_float(DType type, double v) { return Ex(std::make_shared<FloatImm>(type, v)); }

bool float_imm(const Ex& e, double* value) {
  if (e.ptr()->kind != ExprKind::kFloatImm) return false;
  *value = static_cast<const FloatImm&>(*e.ptr()).value;
  return true;
}

Ex node(BinaryOp op, const Ex& a, const Ex& b, bool wrapping = false) {
  DType type = gives_truth(op) ? DType::kI32 : a.type();
  return Ex(std::make_shared<Binary>(op, type, a.ptr(), b.ptr(), wrapping));
}

bool is_truth(const Ex& e) {
  return e.ptr()->kind == ExprKind::kBinary && gives_truth(static_cast<const Binary&>(*e.ptr()).op);
}

// Matches `inner OP immediate` of a non-wrapping node.
bool match_imm(const Ex& e, BinaryOp op, Ex* inner, int64_t* value) {
  if (e.ptr()->kind != ExprKind::kBinary) return false;
  const Binary& b = static_cast<const Binary&>(*e.ptr());
  if (b.op != op || b.wrapping || b.rhs->kind != ExprKind::kIntImm) return false;
  *inner = Ex(b.lhs);
  *value = static_cast<const IntImm&>(*b.rhs).value;
  return true;
}

// x + c with c of either sign; negative ones are written as a subtraction so that text and C read
// well, and immediates already inside x are merged when their sum fits.
Ex add_imm(const Ex& x, int64_t c) {
  DType type = x.type();
  Ex inner;
  int64_t before = 0;
  int64_t sum = 0;
  if (match_imm(x, BinaryOp::kAdd, &inner, &before)) {
    if (fold_int(BinaryOp::kAdd, type, before, c, false, &sum)) return add_imm(inner, sum);
  } else if (match_imm(x, BinaryOp::kSub, &inner, &before)) {
    if (fold_int(BinaryOp::kSub, type, c, before, false, &sum)) return add_imm(inner, sum);
  }
  if (c == 0) return x;
  if (c < 0 && c != int_range(type).min) return node(BinaryOp::kSub, x, make_int(type, -c));
  return node(BinaryOp::kAdd, x, make_int(type, c));
}

Ex mul_imm(const Ex& x, int64_t c) {
  Ex inner;
  int64_t before = 0;
  int64_t product = 0;
  if (c == 1) return x;
  if (c == 0) return make_int(x.type(), 0);
  if (match_imm(x, BinaryOp::kMul, &inner, &before) && before != 0 &&
      fold_int(BinaryOp::kMul, x.type(), before, c, false, &product))
    return mul_imm(inner, product);
  return node(BinaryOp::kMul, x, make_int(x.type(), c));
}

// 0 or 1 for any integer.
Ex truth_of(const Ex& e) { return is_truth(e) ? e : e != make_int(e.type(), 0); }

// Identities with one immediate side; a null Ex if none applies. None is for wrapping nodes that
// change their shape: those keep what the author wrote.
Ex simplify_int(BinaryOp op, const Ex& a, const Ex& b) {
  int64_t c = 0;
  bool left = a.is_imm(&c);
  if (left && (op == BinaryOp::kAdd || op == BinaryOp::kMul))
    return op == BinaryOp::kAdd ? add_imm(b, c) : mul_imm(b, c);
  if (left && op == BinaryOp::kAnd) return c == 0 ? Ex(0) : truth_of(b);
  if (left && op == BinaryOp::kOr) return c != 0 ? Ex(1) : truth_of(b);
  if (a.ptr() == b.ptr() && (op == BinaryOp::kMin || op == BinaryOp::kMax)) return a;
  if (!b.is_imm(&c)) return {};
  switch (op) {
    case BinaryOp::kAdd: return add_imm(a, c);
    case BinaryOp::kSub:
      if (c == 0) return a;
      if (a.type() == DType::kU32 || c == int_range(a.type()).min) return {};
      return add_imm(a, -c);
    case BinaryOp::kMul: return mul_imm(a, c);
    case BinaryOp::kDiv: return c == 1 ? a : Ex();
    case BinaryOp::kMod: return c == 1 ? make_int(a.type(), 0) : Ex();
    // Nothing lies in an empty range.
    case BinaryOp::kLt: return c == 0 && a.type() == DType::kU32 ? Ex(0) : Ex();
    case BinaryOp::kShl:
    case BinaryOp::kShr: return c == 0 ? a : Ex();
    case BinaryOp::kAnd: return c == 0 ? Ex(0) : truth_of(a);
    case BinaryOp::kOr: return c != 0 ? Ex(1) : truth_of(a);
    default: return {};
  }
}

Ex binary(BinaryOp op, const Ex& a, const Ex& b, bool wrapping = false) {
  assert(a.type() == b.type() && "mixed types: cast first");
  assert(promoted(a.type()) == a.type() && "small types are only for stores: cast to i32");
  int64_t x = 0;
  int64_t y = 0;
  double f = 0;
  double g = 0;
  if (a.is_imm(&x) && b.is_imm(&y)) {
    int64_t result = 0;
    bool folds = fold_int(op, a.type(), x, y, wrapping, &result);
    // Without assertions the node stays, for the verifier or the interpreter to reject.
    assert(folds && "constant arithmetic overflows or divides by zero");
    if (folds) return make_int(gives_truth(op) ? DType::kI32 : a.type(), result);
  } else if (float_imm(a, &f) && float_imm(b, &g)) {
    double result = 0;
    if (fold_float(op, a.type(), f, g, &result))
      return gives_truth(op) ? Ex(static_cast<int64_t>(result)) : make_float(a.type(), result);
  } else if (!is_float(a.type()) && !wrapping) {
    Ex simple = simplify_int(op, a, b);
    if (simple.ptr()) return simple;
  }
  return node(op, a, b, wrapping);
}

Ex make_cast(DType type, const Ex& value, bool wrapping) {
  if (value.type() == type) return value;
  int64_t v = 0;
  double f = 0;
  // A cast to a small type stays: an immediate of a small type is no expression of its own.
  if (promoted(type) != type) {
    int64_t wrapped = 0;
    if (wrapping && value.is_imm(&v) && fold_int_cast(type, v, true, &wrapped))
      return Ex(std::make_shared<Cast>(type, make_int(value.type(), wrapped).ptr(), false));
    return Ex(std::make_shared<Cast>(type, value.ptr(), wrapping));
  }
  if (value.is_imm(&v)) {
    int64_t result = 0;
    if (is_float(type)) return make_float(type, int_to_float(type, v));
    bool folds = fold_int_cast(type, v, wrapping, &result);
    assert(folds && "a constant is outside of the type of its cast");
    if (folds) return make_int(type, result);
  }
  if (float_imm(value, &f)) {
    int64_t result = 0;
    if (type == DType::kF64) return make_float(type, f);
    if (type == DType::kF32) return make_float(type, static_cast<float>(f));
    if (float_to_int(type, f, &result)) return make_int(type, result);
  }
  return Ex(std::make_shared<Cast>(type, value.ptr(), wrapping));
}

}  // namespace

Ex::Ex(int64_t v) : e_(std::make_shared<IntImm>(DType::kI32, v)) {
  assert(fits(DType::kI32, v) && "an i32 immediate is out of range: use i64()");
}

bool Ex::is_imm(int64_t* value) const {
  if (!e_ || e_->kind != ExprKind::kIntImm) return false;
  if (value) *value = static_cast<const IntImm&>(*e_).value;
  return true;
}

Ex i64(int64_t v) { return make_int(DType::kI64, v); }
Ex f32(float v) { return make_float(DType::kF32, v); }
Ex f64(double v) { return make_float(DType::kF64, v); }
Ex imm(DType type, int64_t v) {
  if (is_float(type)) return make_float(type, int_to_float(type, v));
  assert(fits(type, v) && "an immediate is outside of its type");
  return make_int(promoted(type), v);
}
Ex var_ref(VarPtr v) { return Ex(std::make_shared<VarRef>(std::move(v))); }

Ex operator+(const Ex& a, const Ex& b) { return binary(BinaryOp::kAdd, a, b); }
Ex operator-(const Ex& a, const Ex& b) { return binary(BinaryOp::kSub, a, b); }
Ex operator*(const Ex& a, const Ex& b) { return binary(BinaryOp::kMul, a, b); }
Ex operator/(const Ex& a, const Ex& b) { return binary(BinaryOp::kDiv, a, b); }
Ex operator%(const Ex& a, const Ex& b) { return binary(BinaryOp::kMod, a, b); }
Ex operator-(const Ex& a) {
  int64_t v = 0;
  double f = 0;
  int64_t negated = 0;
  if (a.is_imm(&v) && fold_int(BinaryOp::kSub, a.type(), 0, v, false, &negated)) return make_int(a.type(), negated);
  if (float_imm(a, &f)) return make_float(a.type(), -f);
  return Ex(std::make_shared<Unary>(UnaryOp::kNeg, a.ptr()));
}
Ex operator<<(const Ex& a, const Ex& b) { return binary(BinaryOp::kShl, a, b); }
Ex operator>>(const Ex& a, const Ex& b) { return binary(BinaryOp::kShr, a, b); }
Ex operator<(const Ex& a, const Ex& b) { return binary(BinaryOp::kLt, a, b); }
Ex operator<=(const Ex& a, const Ex& b) { return binary(BinaryOp::kLe, a, b); }
Ex operator>(const Ex& a, const Ex& b) { return binary(BinaryOp::kGt, a, b); }
Ex operator>=(const Ex& a, const Ex& b) { return binary(BinaryOp::kGe, a, b); }
Ex operator==(const Ex& a, const Ex& b) { return binary(BinaryOp::kEq, a, b); }
Ex operator!=(const Ex& a, const Ex& b) { return binary(BinaryOp::kNe, a, b); }
Ex operator&&(const Ex& a, const Ex& b) { return binary(BinaryOp::kAnd, a, b); }
Ex operator||(const Ex& a, const Ex& b) { return binary(BinaryOp::kOr, a, b); }
Ex operator&(const Ex& a, const Ex& b) { return binary(BinaryOp::kBitAnd, a, b); }
Ex operator|(const Ex& a, const Ex& b) { return binary(BinaryOp::kBitOr, a, b); }
Ex operator^(const Ex& a, const Ex& b) { return binary(BinaryOp::kBitXor, a, b); }
Ex min(const Ex& a, const Ex& b) { return binary(BinaryOp::kMin, a, b); }
Ex max(const Ex& a, const Ex& b) { return binary(BinaryOp::kMax, a, b); }
Ex add_wrapping(const Ex& a, const Ex& b) { return binary(BinaryOp::kAdd, a, b, true); }
Ex sub_wrapping(const Ex& a, const Ex& b) { return binary(BinaryOp::kSub, a, b, true); }
Ex mul_wrapping(const Ex& a, const Ex& b) { return binary(BinaryOp::kMul, a, b, true); }
Ex shl_wrapping(const Ex& a, const Ex& b) { return binary(BinaryOp::kShl, a, b, true); }

Ex select(const Ex& condition, const Ex& if_true, const Ex& if_false) {
  assert(if_true.type() == if_false.type() && "both sides of a select must have the same type");
  assert(condition.type() == DType::kI32);
  int64_t c = 0;
  if (condition.is_imm(&c)) return c != 0 ? if_true : if_false;
  return Ex(std::make_shared<Select>(condition.ptr(), if_true.ptr(), if_false.ptr()));
}

Ex cast(DType type, const Ex& value) { return make_cast(type, value, false); }
Ex cast_wrapping(DType type, const Ex& value) { return make_cast(type, value, true); }

Ex call(Intrinsic callee, DType type, std::vector<Ex> args) {
  std::vector<ExprPtr> pointers;
  pointers.reserve(args.size());
  for (const Ex& a : args) pointers.push_back(a.ptr());
  return Ex(std::make_shared<Call>(callee, type, std::move(pointers)));
}

Ex load(const BufferPtr& buffer, const Ex& index) {
  assert(index.type() == DType::kI32 && "an index must be i32");
  return Ex(std::make_shared<Load>(buffer, index.ptr()));
}

Ex address(const BufferPtr& buffer, const Ex& index) {
  assert(index.type() == DType::kI32 && "an index must be i32");
  return Ex(std::make_shared<Address>(buffer, index.ptr()));
}

// ---------------------------------------------------------------- functions

FunctionBuilder::FunctionBuilder(std::string name) : name_(std::move(name)) { blocks_.emplace_back(); }

BufferPtr FunctionBuilder::param(std::string name, DType type, int64_t elements, Role role, int alignment) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = std::move(name);
  buffer->dtype = type;
  buffer->elements = elements;
  buffer->role = role;
  buffer->alignment = alignment < size_of(type) ? size_of(type) : alignment;
  if (role != Role::kLocal) params_.push_back(buffer);
  return buffer;
}

BufferPtr FunctionBuilder::input(std::string name, DType type, int64_t elements) {
  return param(std::move(name), type, elements, Role::kInput, 1);
}
BufferPtr FunctionBuilder::output(std::string name, DType type, int64_t elements) {
  return param(std::move(name), type, elements, Role::kOutput, 1);
}
BufferPtr FunctionBuilder::constant(std::string name, DType type, int64_t elements, int alignment) {
  return param(std::move(name), type, elements, Role::kConstant, alignment);
}
BufferPtr FunctionBuilder::scratch(std::string name, DType type, int64_t elements, int alignment) {
  return param(std::move(name), type, elements, Role::kScratch, alignment);
}
BufferPtr FunctionBuilder::local(std::string name, DType type, int64_t elements) {
  BufferPtr buffer = param(std::move(name), type, elements, Role::kLocal, 1);
  emit(std::make_shared<Alloc>(buffer));
  return buffer;
}

StmtPtr FunctionBuilder::collect(const Body& body) {
  blocks_.emplace_back();
  body();
  auto block = std::make_shared<Block>(std::move(blocks_.back()));
  blocks_.pop_back();
  return block;
}

namespace {

// Whether two expressions without loads are written alike.
bool alike(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->type != b->type) return false;
  if (a->kind == ExprKind::kIntImm) return static_cast<const IntImm&>(*a).value == static_cast<const IntImm&>(*b).value;
  if (a->kind == ExprKind::kVarRef) return static_cast<const VarRef&>(*a).var == static_cast<const VarRef&>(*b).var;
  if (a->kind != ExprKind::kBinary) return false;
  const Binary& x = static_cast<const Binary&>(*a);
  const Binary& y = static_cast<const Binary&>(*b);
  return x.op == y.op && x.wrapping == y.wrapping && alike(x.lhs, y.lhs) && alike(x.rhs, y.rhs);
}

// e as base + offset; a null base for an immediate.
Ex split(const Ex& e, int64_t* offset) {
  *offset = 0;
  Ex inner;
  if (e.is_imm(offset)) return {};
  if (match_imm(e, BinaryOp::kAdd, &inner, offset)) return inner;
  if (!match_imm(e, BinaryOp::kSub, &inner, offset)) return e;
  *offset = -*offset;
  return inner;
}

// end - begin when it is known: the two differ by an immediate.
bool known_extent(const Ex& begin, const Ex& end, int64_t* extent) {
  int64_t b = 0;
  int64_t e = 0;
  Ex x = split(begin, &b);
  Ex y = split(end, &e);
  *extent = e - b;
  if (!x.ptr() || !y.ptr()) return !x.ptr() && !y.ptr();
  return alike(x.ptr(), y.ptr());
}

bool is_empty(const StmtPtr& block) { return !block || static_cast<const Block&>(*block).body.empty(); }

}  // namespace

void FunctionBuilder::loop(const std::string& name, const Ex& begin, const Ex& end, const std::function<void(Ex)>& body,
                           int64_t step) {
  assert(step > 0);
  assert(begin.type() == DType::kI32 && end.type() == DType::kI32);
  int64_t extent = 0;
  if (known_extent(begin, end, &extent)) {
    if (extent <= 0) return;
    if (extent <= step) {
      // `begin` may be long or read a variable the body assigns: name it.
      body(let(name, begin));
      return;
    }
  }
  auto variable = std::make_shared<Variable>(Variable{name, DType::kI32});
  StmtPtr block = collect([&] { body(var_ref(variable)); });
  if (is_empty(block)) return;
  emit(std::make_shared<For>(variable, begin.ptr(), end.ptr(), step, block));
}

void FunctionBuilder::if_(const Ex& condition, const Body& then, const Body& otherwise) {
  assert(condition.type() == DType::kI32);
  int64_t c = 0;
  if (condition.is_imm(&c)) {
    if (c != 0) {
      then();
    } else if (otherwise) {
      otherwise();
    }
    return;
  }
  StmtPtr yes = collect(then);
  StmtPtr no = otherwise ? collect(otherwise) : nullptr;
  if (is_empty(no)) no = nullptr;
  if (is_empty(yes) && !no) return;
  emit(std::make_shared<If>(condition.ptr(), yes, no));
}

Ex FunctionBuilder::let(const std::string& name, const Ex& value) {
  ExprKind kind = value.ptr()->kind;
  if (kind == ExprKind::kIntImm || kind == ExprKind::kFloatImm) return value;
  if (kind == ExprKind::kVarRef && !mutable_.contains(static_cast<const VarRef&>(*value.ptr()).var.get())) return value;
  auto variable = std::make_shared<Variable>(Variable{name, value.type()});
  emit(std::make_shared<Declare>(variable, value.ptr(), false));
  return var_ref(variable);
}

Ex FunctionBuilder::var(const std::string& name, const Ex& init) {
  auto variable = std::make_shared<Variable>(Variable{name, init.type()});
  mutable_.insert(variable.get());
  emit(std::make_shared<Declare>(variable, init.ptr(), true));
  return var_ref(variable);
}

void FunctionBuilder::assign(const Ex& variable, const Ex& value) {
  assert(variable.ptr()->kind == ExprKind::kVarRef && variable.type() == value.type());
  emit(std::make_shared<Assign>(static_cast<const VarRef&>(*variable.ptr()).var, value.ptr()));
}

void FunctionBuilder::store(const BufferPtr& buffer, const Ex& index, const Ex& value) {
  assert(index.type() == DType::kI32 && "an index must be i32");
  assert((value.type() == promoted(buffer->dtype) || value.type() == buffer->dtype) &&
         "a store needs the promoted element type");
  emit(std::make_shared<Store>(buffer, index.ptr(), value.ptr()));
}

void FunctionBuilder::copy(const BufferPtr& to, const Ex& to_index, const BufferPtr& from, const Ex& from_index,
                           int64_t elements) {
  assert(to->dtype == from->dtype);
  if (elements <= 0) return;
  Ex bytes(elements * size_of(to->dtype));
  emit(std::make_shared<Evaluate>(
      call(Intrinsic::kMemcpy, DType::kI32, {address(to, to_index), address(from, from_index), bytes}).ptr()));
}

void FunctionBuilder::fill_bytes(const BufferPtr& to, const Ex& index, int byte, int64_t elements) {
  if (elements <= 0) return;
  Ex bytes(elements * size_of(to->dtype));
  emit(std::make_shared<Evaluate>(
      call(Intrinsic::kMemset, DType::kI32, {address(to, index), Ex(byte & 0xFF), bytes}).ptr()));
}

void FunctionBuilder::fail() { emit(std::make_shared<Fail>()); }

void FunctionBuilder::trace(int64_t result, const BufferPtr& from, const Ex& index, int64_t elements) {
  emit(std::make_shared<Trace>(result, address(from, index).ptr(), elements * size_of(from->dtype)));
}

void FunctionBuilder::comment(std::string text) { emit(std::make_shared<Comment>(std::move(text))); }

void FunctionBuilder::run(const KernelPtr& kernel, const std::vector<Ex>& args) {
  std::vector<ExprPtr> list;
  for (const Ex& a : args) list.push_back(a.ptr());
  emit(std::make_shared<CallKernel>(kernel, std::move(list)));
}

Ex FunctionBuilder::scalar(const std::string& name) {
  scalars_.push_back(std::make_shared<Variable>(Variable{name, DType::kI32}));
  return var_ref(scalars_.back());
}

FunctionPtr FunctionBuilder::finish() {
  assert(blocks_.size() == 1 && "finish() inside a loop or if");
  auto function = std::make_shared<Function>();
  function->name = name_;
  function->params = params_;
  function->scalars = scalars_;
  function->body = std::make_shared<Block>(std::move(blocks_.back()));
  blocks_.assign(1, {});
  return function;
}

KernelPtr FunctionBuilder::finish_kernel(std::string family, std::vector<std::pair<std::string, int64_t>> parameters) {
  auto made = std::make_shared<Kernel>();
  made->family = std::move(family);
  made->parameters = std::move(parameters);
  made->meaning = finish();
  return made;
}

}  // namespace aotc::tir
