// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_function.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "codegen/c_helpers.h"
#include "codegen/c_layout.h"
#include "codegen/c_pointers.h"
#include "codegen/c_ranges.h"
#include "support/text.h"
#include "tir/arithmetic.h"
#include "tir/visit.h"

namespace aotc::codegen {

namespace {

using namespace tir;  // NOLINT: every node kind is used here

// C operator precedence, higher binds tighter.
enum Precedence {
  kConditional = 1,
  kLogicalOr,
  kLogicalAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelational,
  kShift,
  kAdditive,
  kMultiplicative,
  kUnary,
  kPostfix
};

struct Text {
  std::string text;
  int precedence;
};

struct BinarySpelling {
  const char* op;
  int precedence;
};

BinarySpelling spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return {"+", kAdditive};
    case BinaryOp::kSub: return {"-", kAdditive};
    case BinaryOp::kMul: return {"*", kMultiplicative};
    case BinaryOp::kDiv: return {"/", kMultiplicative};
    case BinaryOp::kMod: return {"%", kMultiplicative};
    case BinaryOp::kBitAnd: return {"&", kBitAnd};
    case BinaryOp::kBitOr: return {"|", kBitOr};
    case BinaryOp::kBitXor: return {"^", kBitXor};
    case BinaryOp::kShl: return {"<<", kShift};
    case BinaryOp::kShr: return {">>", kShift};
    case BinaryOp::kEq: return {"==", kEquality};
    case BinaryOp::kNe: return {"!=", kEquality};
    case BinaryOp::kLt: return {"<", kRelational};
    case BinaryOp::kLe: return {"<=", kRelational};
    case BinaryOp::kGt: return {">", kRelational};
    case BinaryOp::kGe: return {">=", kRelational};
    case BinaryOp::kAnd: return {"&&", kLogicalAnd};
    case BinaryOp::kOr: return {"||", kLogicalOr};
    case BinaryOp::kMin:
    case BinaryOp::kMax: break;
  }
  return {"?", kPostfix};
}

std::string c_int(int64_t value, DType type) {
  if (type == DType::kI64) {
    if (value == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
    return value < 0 ? fmt::format("(-INT64_C({}))", -value) : fmt::format("INT64_C({})", value);
  }
  if (type == DType::kU32) return fmt::format("UINT32_C({})", value);
  if (value == INT32_MIN) return "(-2147483647 - 1)";
  return std::to_string(value);
}

std::string_view short_name(DType t) { return name_of(t); }

const char* math_name(Intrinsic f) {
  switch (f) {
    case Intrinsic::kExp: return "exp";
    case Intrinsic::kLog: return "log";
    case Intrinsic::kTanh: return "tanh";
    case Intrinsic::kSqrt: return "sqrt";
    case Intrinsic::kFloor: return "floor";
    case Intrinsic::kCeil: return "ceil";
    case Intrinsic::kRound: return "round";
    case Intrinsic::kAbs: return "fabs";
    case Intrinsic::kErf: return "erf";
    case Intrinsic::kSin: return "sin";
    case Intrinsic::kCos: return "cos";
    case Intrinsic::kPow: return "pow";
    case Intrinsic::kRoundToEven: return "rint";
    case Intrinsic::kFmod: return "fmod";
    case Intrinsic::kErfc: return "erfc";
    case Intrinsic::kExpm1: return "expm1";
    case Intrinsic::kAtan2: return "atan2";
    default: return "";
  }
}

bool is_i32(const ExprPtr& e, int64_t value) {
  return e->kind == ExprKind::kIntImm && e->type == DType::kI32 && static_cast<const IntImm&>(*e).value == value;
}

// v of min(max(v, -128), 127).
const ExprPtr* saturated(const Binary& n, int bits) {
  const int64_t beyond = int64_t{1} << (bits - 1);
  if (n.op != BinaryOp::kMin || n.lhs->kind != ExprKind::kBinary || !is_i32(n.rhs, beyond - 1)) return nullptr;
  const auto& inner = static_cast<const Binary&>(*n.lhs);
  return inner.op == BinaryOp::kMax && is_i32(inner.rhs, -beyond) ? &inner.lhs : nullptr;
}

class Printer {
 public:
  Printer(const Function& function, const std::string& name, const std::string& prefix, bool is_kernel = false,
          CallingConvention form = CallingConvention::kPlain, const std::vector<std::string>& bound = {},
          bool narrow = false, int traced_call = -1)
      : function_(function),
        name_(name),
        prefix_(prefix),
        is_kernel_(is_kernel),
        form_(form),
        bound_(bound),
        traced_call_(traced_call),
        ranges_(narrow) {
    if (is_kernel) pointers_ = pointer_variables(function);
  }

  PrintedFunction run() {
    count_uses(*function_.body);
    scopes_.emplace_back();
    lets_.emplace_back();
    if (form_ == CallingConvention::kPacked)
      scopes_.back() = {"args",          "type_codes",      "num_args",     "ret_value",
                        "ret_type_code", "resource_handle", "packed_status"};
    out_.prototype = fmt::format("{} {}(", returns_nothing() ? "void" : "int32_t", name_);
    const size_t head = out_.prototype.size();
    size_t column = head;
    std::string unused;
    auto parameter = [&](const void* node, const std::string& hint, const std::string& type) {
      bool first = out_.prototype.size() == head;
      std::string id = declare(node, hint);
      std::string text = type + id;
      if (!first && column + text.size() + 2 > 99) {
        out_.prototype += ",\n" + std::string(head, ' ');
        column = head;
      } else if (!first) {
        out_.prototype += ", ";
      }
      column += text.size() + 2;
      out_.prototype += text;
      out_.parameters.push_back({type, id});
      if (uses_[node] == 0) unused += fmt::format("    (void){};\n", id);
    };
    for (const BufferPtr& p : function_.params) {
      bool writes = p->role == Role::kOutput || p->role == Role::kScratch;
      parameter(p.get(), p->name, fmt::format("{}{} *", writes ? "" : "const ", c_type_of(p->dtype)));
    }
    for (const VarPtr& v : function_.scalars) parameter(v.get(), v->name, "int32_t ");
    out_.prototype += out_.parameters.empty() ? "void)" : ")";
    if (form_ == CallingConvention::kPacked) unused = packed_head() + unused;
    body_ = unused;
    indent_ = 1;
    print_stmts(function_.body);
    const char* end = returns_nothing() ? "}\n" : "    return 0;\n}\n";
    out_.text = out_.prototype + "\n{\n" + body_ + end;
    return std::move(out_);
  }

 private:
  bool returns_nothing() const {
    return is_kernel_ || (form_ == CallingConvention::kPlain && !can_fail(function_.body));
  }

  // Replaces the prototype; the pointers come out of the arguments.
  std::string packed_head() {
    out_.prototype = fold_prototype(
        fmt::format("int {}(TVMValue *args, int *type_codes, int num_args, TVMValue *ret_value, int *ret_type_code, "
                    "void *resource_handle)",
                    name_));
    bound_.resize(out_.parameters.size());
    auto arguments = std::count(bound_.begin(), bound_.end(), "");
    out_.use.functions.insert("check_tensors");
    if (arguments > 0) out_.use.functions.insert("tensor_data");
    std::string head = fmt::format(
        "    if (num_args != {} || type_codes != {}_type_codes) {{\n{}\n"
        "        if (packed_status != 0) {{\n            return packed_status;\n        }}\n    }}\n",
        arguments, prefix_,
        fold_line(fmt::format("        const int packed_status = {}_check_tensors(args, type_codes, num_args, {});",
                              prefix_, arguments)));
    head += "    (void)ret_value;\n    (void)ret_type_code;\n    (void)resource_handle;\n";
    if (arguments == 0) head += "    (void)args;\n";
    std::vector<PrintedFunction::Parameter> taken;
    for (size_t i = 0; i < out_.parameters.size(); ++i) {
      const auto& p = out_.parameters[i];
      if (!bound_[i].empty()) {
        head += fmt::format("    {}const {} = {};\n", p.type, p.name, bound_[i]);
        continue;
      }
      head +=
          fmt::format("    {0}const {1} = ({0}){2}_tensor_data(args, {3});\n", p.type, p.name, prefix_, taken.size());
      taken.push_back(p);
    }
    out_.parameters = std::move(taken);
    return head;
  }

  // ---- names

  std::string declare(const void* node, const std::string& hint) {
    std::string base = c_identifier(hint);
    std::string candidate = base;
    for (int n = 2; in_scope(candidate); ++n) candidate = fmt::format("{}_{}", base, n);
    scopes_.back().push_back(candidate);
    names_[node] = candidate;
    return candidate;
  }
  bool in_scope(const std::string& name) const {
    for (const auto& scope : scopes_)
      for (const std::string& used : scope)
        if (used == name) return true;
    return false;
  }
  const std::string& name_of_node(const void* node) { return names_[node]; }

  // ---- use counts, so that nothing unused is declared

  struct Counter : IgnoreFields {
    Printer& printer;
    explicit Counter(Printer& p) : printer(p) {}
    void expr(const ExprPtr& e) { printer.count_uses(*e); }
    void stmt(const StmtPtr& s) {
      if (s) printer.count_uses(*s);
    }
    void use(const VarPtr& v) { ++printer.uses_[v.get()]; }
    void buffer(const BufferPtr& b) { ++printer.uses_[b.get()]; }
  };
  void count_uses(const Stmt& s) {
    visit(s, Overloaded{[&](const Block& n) {
                          // Backwards, so that the initialiser of an unused let does not count.
                          for (size_t i = n.body.size(); i-- > 0;)
                            if (!is_unused_let(*n.body[i])) count_uses(*n.body[i]);
                        },
                        [&](const auto& n) { count_fields(n); }});
    // A variable that is assigned to stays, whoever reads it.
    if (s.kind == StmtKind::kDeclare && static_cast<const Declare&>(s).is_mutable)
      ++uses_[static_cast<const Declare&>(s).var.get()];
  }
  void count_uses(const Expr& e) {
    visit(e, [&](const auto& n) { count_fields(n); });
  }
  template <typename Node>
  void count_fields(const Node& n) {
    Node::fields(n, Counter(*this));
  }
  bool is_unused_let(const Stmt& s) {
    if (s.kind != StmtKind::kDeclare) return false;
    const auto& d = static_cast<const Declare&>(s);
    return !d.is_mutable && uses_[d.var.get()] == 0;
  }

  // ---- expressions

  std::string at_least(const ExprPtr& e, int precedence) {
    Text t = expr(e);
    return t.precedence >= precedence ? t.text : "(" + t.text + ")";
  }
  std::string any(const ExprPtr& e) { return expr(e).text; }

  Text expr(const ExprPtr& e) {
    return visit(*e, [&](const auto& n) {
      // What ranges know is known by the place where a node stands.
      if constexpr (std::is_same_v<decltype(n), const Load&>) return text(n, e);
      else return text(n);
    });
  }

  // One for each kind of expression.
  Text text(const IntImm& n) { return {c_int(n.value, n.type), n.value < 0 ? kUnary : kPostfix}; }

  Text text(const FloatImm& n) {
    if (!std::isfinite(n.value)) out_.use.math = true;
    return {c_float(n.value, n.type), std::signbit(n.value) ? kUnary : kPostfix};
  }

  Text text(const VarRef& n) { return {name_of_node(n.var.get()), kPostfix}; }

  Text text(const Load& n, const ExprPtr& e) {
    std::string text = element(n);
    if (n.buffer->dtype == n.type || stays_int(e)) return {text, kPostfix};
    return {fmt::format("({}){}", c_type_of(n.type), text), kUnary};
  }

  Text text(const Cast& n) {
    if (auto call = helper_call(n)) return helper(*call);
    if (n.type == n.value->type) return expr(n.value);
    return {fmt::format("({}){}", c_type_of(n.type), at_least(n.value, kUnary)), kUnary};
  }

  Text text(const Select& n) {
    return {fmt::format("{} ? {} : {}", at_least(n.condition, kLogicalOr), at_least(n.if_true, kLogicalOr),
                        at_least(n.if_false, kConditional)),
            kConditional};
  }

  Text text(const Address& n) {
    const auto* imm = n.index->kind == ExprKind::kIntImm ? static_cast<const IntImm*>(n.index.get()) : nullptr;
    if (imm && imm->value == 0) return {name_of_node(n.buffer.get()), kPostfix};
    if (const auto [base, sum] = based_index(n.index); base && !sum && is_pointer(base))
      return {name_of_node(base.get()), kPostfix};
    return {"&" + place(n.buffer, n.index), kUnary};
  }

  bool is_pointer(const VarPtr& variable) const { return pointers_.contains(variable.get()); }

  // An element: of the buffer, or of a variable that is a pointer into it.
  std::string place(const BufferPtr& buffer, const ExprPtr& index) {
    if (const auto [base, sum] = based_index(index); base && is_pointer(base))
      return fmt::format("{}[{}]", name_of_node(base.get()), sum ? any(sum) : "0");
    return fmt::format("{}[{}]", name_of_node(buffer.get()), any(index));
  }

  std::string element(const Load& n) {
    std::string text = place(n.buffer, n.index);
    if (n.buffer->space != Space::kProgram) return text;
    std::string f = fmt::format("program_{}", short_name(n.buffer->dtype));
    out_.use.functions.insert(f);
    out_.use.program = true;
    return fmt::format("{}_{}(&{})", prefix_, f, text);
  }

  // An element that C leaves in int, where that is wanted.
  bool stays_int(const ExprPtr& load) const {
    auto range = ranges_.of(load);
    return ranges_.narrow() && range && range->is_int;
  }

  Text text(const Unary& n) {
    const char* op = n.op == UnaryOp::kNeg ? "-" : n.op == UnaryOp::kLogicalNot ? "!" : "~";
    Text v = expr(n.value);
    if (ranges_.leaves_int(n)) v = {"(int32_t)" + at_least(n.value, kUnary), kUnary};
    // "- -x" must not become "--x".
    bool brackets = v.precedence < kUnary || v.text[0] == '-';
    return {op + (brackets ? "(" + v.text + ")" : v.text), kUnary};
  }

  Text text(const Binary& n) {
    out_.use.floating = out_.use.floating || is_float(n.type);
    out_.use.comparing = out_.use.comparing || is_float(n.lhs->type);
    if (const ExprPtr equal = only_value(n)) return expr(equal);
    for (int bits : {8, 16})
      if (const ExprPtr* value = saturated(n, bits)) {
        const std::string f = fmt::format("saturate_i{}", bits);
        out_.use.functions.insert(f);
        return {fmt::format("{}_{}({})", prefix_, f, converted(*value)), kPostfix};
      }
    if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) {
      std::string f = fmt::format("{}_{}", n.op == BinaryOp::kMin ? "min" : "max", short_name(n.type));
      out_.use.functions.insert(f);
      return {fmt::format("{}_{}({}, {})", prefix_, f, converted(n.lhs), converted(n.rhs)), kPostfix};
    }
    if (auto call = spelt_out_ ? std::nullopt : helper_call(n)) return helper(*call);
    BinarySpelling s = spelling(n.op);
    if (n.wrapping && is_int(n.type) && n.type != DType::kU32) return wrapping(n, s);
    if (ranges_.is_int_product(n)) {
      out_.use.functions.insert("product");
      return {fmt::format("{}_product({}, {})", prefix_, any(n.lhs), any(n.rhs)), kPostfix};
    }
    // Mixed bitwise and shift operators get brackets even where C does not need them.
    bool careful =
        s.precedence <= kBitAnd || s.precedence == kShift || s.precedence == kEquality || s.precedence == kRelational;
    int left = careful ? std::max(s.precedence + 1, static_cast<int>(kMultiplicative)) : s.precedence;
    int right = careful ? left : s.precedence + 1;
    if (s.precedence == kLogicalAnd || s.precedence == kLogicalOr) left = right = kEquality;
    if (n.op == BinaryOp::kEq || n.op == BinaryOp::kNe || n.op == BinaryOp::kLt || n.op == BinaryOp::kLe ||
        n.op == BinaryOp::kGt || n.op == BinaryOp::kGe)
      left = right = kAdditive;
    std::string lhs = at_least(n.lhs, left);
    std::string rhs = at_least(n.rhs, right);
    if (n.type == DType::kI64) {
      // C converts the other operand, and a shift's amount may be of any type.
      if (s.precedence == kShift && n.rhs->kind == ExprKind::kIntImm)
        rhs = std::to_string(static_cast<const IntImm&>(*n.rhs).value);
      else if (s.precedence >= kAdditive && n.rhs->kind == ExprKind::kCast &&
               static_cast<const Cast&>(*n.rhs).value->type == DType::kI32)
        rhs = at_least(static_cast<const Cast&>(*n.rhs).value, right);
    }
    // The left side of a shift decides its width: a literal would be an int.
    bool narrow_shift = s.precedence == kShift && n.lhs->kind == ExprKind::kIntImm;
    if (n.type == DType::kI32 && (narrow_shift || ranges_.leaves_int(n))) lhs = "(int32_t)" + at_least(n.lhs, kUnary);
    return {fmt::format("{} {} {}", lhs, s.op, rhs), s.precedence};
  }

  // x == c of x >= c && x <= c, or nothing.
  static ExprPtr only_value(const Binary& n) {
    if (n.op != BinaryOp::kAnd || n.lhs->kind != ExprKind::kBinary || n.rhs->kind != ExprKind::kBinary) return nullptr;
    const auto &low = static_cast<const Binary&>(*n.lhs), &high = static_cast<const Binary&>(*n.rhs);
    if (low.op != BinaryOp::kGe || high.op != BinaryOp::kLe || low.lhs->kind != ExprKind::kVarRef ||
        high.lhs->kind != ExprKind::kVarRef || low.rhs->kind != ExprKind::kIntImm ||
        high.rhs->kind != ExprKind::kIntImm)
      return nullptr;
    const bool same = static_cast<const VarRef&>(*low.lhs).var == static_cast<const VarRef&>(*high.lhs).var &&
                      static_cast<const IntImm&>(*low.rhs).value == static_cast<const IntImm&>(*high.rhs).value;
    return same ? std::make_shared<Binary>(BinaryOp::kEq, n.type, low.lhs, low.rhs, false) : nullptr;
  }

  Text helper(const HelperCall& call) {
    out_.use.functions.insert(call.name);
    std::string arguments;
    for (const ExprPtr& a : call.arguments) arguments += (arguments.empty() ? "" : ", ") + converted(a);
    return {fmt::format("{}_{}({})", prefix_, call.name, arguments), kPostfix};
  }

  // Where C converts to int32_t by itself: a small element needs no cast.
  std::string converted(const ExprPtr& e) {
    const bool is_element = e->kind == ExprKind::kLoad && e->type == DType::kI32;
    return is_element ? element(static_cast<const Load&>(*e)) : any(e);
  }

  // A wrapping operation is unsigned arithmetic; its result is converted back where a signed value is needed.
  Text wrapping(const Binary& n, BinarySpelling s) {
    return {fmt::format("({})({})", c_type_of(n.type), modulo(n, s)), kUnary};
  }

  std::string modulo(const Binary& n, BinarySpelling s) {
    const bool is_sum = n.op == BinaryOp::kAdd || n.op == BinaryOp::kSub;
    const auto side = [&](const ExprPtr& e) {
      if (e->kind == ExprKind::kBinary && e->type == n.type) {
        const auto& inner = static_cast<const Binary&>(*e);
        if (is_sum && inner.op == BinaryOp::kMul && inner.wrapping) return modulo(inner, spelling(inner.op));
      }
      return fmt::format("({}){}", n.type == DType::kI64 ? "uint64_t" : "uint32_t", at_least(e, kUnary));
    };
    return fmt::format("{} {} {}", side(n.lhs), s.op, n.op == BinaryOp::kShl ? at_least(n.rhs, kUnary) : side(n.rhs));
  }

  Text text(const Call& n) {
    std::string args;
    switch (n.callee) {
      case Intrinsic::kMemcpy:
        if (static_cast<const Address&>(*n.args[1]).buffer->space == Space::kProgram) {
          out_.use.program = true;
          return {fmt::format("memcpy_P({}, {}, {})", any(n.args[0]), any(n.args[1]), size(n.args[2])), kPostfix};
        }
        out_.use.string = true;
        return {fmt::format("memcpy({}, {}, {})", any(n.args[0]), any(n.args[1]), size(n.args[2])), kPostfix};
      case Intrinsic::kMemset:
        out_.use.string = true;
        return {fmt::format("memset({}, {}, {})", any(n.args[0]), any(n.args[1]), size(n.args[2])), kPostfix};
      case Intrinsic::kFloatBits:
        out_.use.functions.insert("float_bits");
        out_.use.string = true;
        return {fmt::format("{}_float_bits({})", prefix_, any(n.args[0])), kPostfix};
      case Intrinsic::kFloatFromBits:
        out_.use.functions.insert("float_from_bits");
        out_.use.string = true;
        return {fmt::format("{}_float_from_bits({})", prefix_, any(n.args[0])), kPostfix};
      default: break;
    }
    // Measured: behind a helper's parameters gcc allocates the registers of such sums worse.
    const bool around = std::exchange(spelt_out_, n.callee == Intrinsic::kKeep);
    for (const ExprPtr& a : n.args) args += (args.empty() ? "" : ", ") + any(a);
    spelt_out_ = around;
    if (n.callee == Intrinsic::kKeep || n.callee == Intrinsic::kFence) {
      std::string f(info_of(n.callee).name);
      out_.use.functions.insert(f);
      return {fmt::format("{}_{}({})", prefix_, f, args), kPostfix};
    }
    if (n.callee == Intrinsic::kAbs && is_int(n.type)) {
      std::string f = fmt::format("abs_{}", short_name(n.type));
      out_.use.functions.insert(f);
      return {fmt::format("{}_{}({})", prefix_, f, args), kPostfix};
    }
    out_.use.math = true;
    return {fmt::format("{}{}({})", math_name(n.callee), n.type == DType::kF32 ? "f" : "", args), kPostfix};
  }
  std::string size(const ExprPtr& e) {
    if (e->kind == ExprKind::kIntImm) return any(e);
    return "(size_t)" + at_least(e, kUnary);
  }

  // ---- statements

  void line(const std::string& text) {
    body_ += fold_line(std::string(static_cast<size_t>(indent_) * 4, ' ') + text) + "\n";
  }

  // A value that stands under the same name in sight already, and cannot have changed, is that one.
  bool said_before(const Declare& n, const std::string& init) {
    if (n.is_mutable) {
      changing_.insert(n.var.get());
      return false;
    }
    if (!is_fixed(*n.init)) return false;
    const std::string key = fmt::format("{} {} {}", short_name(n.var->dtype), n.var->name, init);
    for (const auto& scope : lets_)
      if (auto found = scope.find(key); found != scope.end()) {
        names_[n.var.get()] = names_[found->second];
        return true;
      }
    lets_.back()[key] = n.var.get();
    return false;
  }
  // No element of what may be written, and no variable that changes.
  bool is_fixed(const Expr& e) const {
    return visit(
        e, Overloaded{[&](const VarRef& n) { return !changing_.contains(n.var.get()); },
                      [&](const Load& n) { return n.buffer->role == Role::kConstant && is_fixed(*n.index); },
                      [](const Select&) { return false; }, [](const Call&) { return false; },
                      [](const Address&) { return false; },
                      [&](const auto& n) { return all_children(n, [&](const Expr& x) { return is_fixed(x); }); }});
  }

  void print_nested(const StmtPtr& s) {
    ++indent_;
    scopes_.emplace_back();
    lets_.emplace_back();
    print_stmts(s);
    lets_.pop_back();
    scopes_.pop_back();
    --indent_;
  }

  void print_stmts(const StmtPtr& s) {
    if (s->kind != StmtKind::kBlock) return stmt(s);
    for (const StmtPtr& child : static_cast<const Block&>(*s).body) {
      if (child->kind == StmtKind::kBlock) {
        line("{");
        print_nested(child);
        line("}");
      } else {
        stmt(child);
      }
    }
  }

  void stmt(const StmtPtr& s) {
    visit(*s, Overloaded{[&](const Block&) { print_stmts(s); }, [&](const auto& n) { print(n); }});
  }

  // One for each kind of statement.
  void print(const If& n) {
    line(fmt::format("if ({}) {{", any(n.condition)));
    print_nested(n.then);
    if (n.otherwise) {
      line("} else {");
      print_nested(n.otherwise);
    }
    line("}");
  }

  void print(const Declare& n) {
    if (is_unused_let(n)) return;
    if (const auto pointer = pointers_.find(n.var.get()); pointer != pointers_.end()) {
      const std::string init = any(std::make_shared<Address>(pointer->second, n.init));
      line(fmt::format("const {} *{} = {};", c_type_of(pointer->second->dtype), declare(n.var.get(), n.var->name),
                       init));
      changing_.insert(n.var.get());
      return;
    }
    std::string init = converted(n.init);
    ranges_.forget(n.var);
    const char* small = n.is_mutable ? nullptr : ranges_.type_of_let(n.var, n.init);
    // A long that fits a short: compilers with -Wconversion ask for the cast.
    if (small && !stays_int(n.init)) init = fmt::format("({}){}", small, at_least(n.init, kUnary));
    if (said_before(n, init)) return;
    std::string id = declare(n.var.get(), n.var->name);
    line(fmt::format("{}{} {} = {};", n.is_mutable ? "" : "const ", small ? small : c_type_of(n.var->dtype), id, init));
  }

  void print(const Store& n) {
    line(fmt::format("{}[{}] = {};", name_of_node(n.buffer.get()), any(n.index), stored(n.value, n.buffer->dtype)));
  }

  void print(const Evaluate& n) {
    if (n.value->kind == ExprKind::kCall && assign_element(static_cast<const Call&>(*n.value))) return;
    line(any(n.value) + ";");
  }

  void print(const Alloc& n) {
    std::string id = declare(n.buffer.get(), n.buffer->name);
    line(fmt::format("{} {}[{}];", c_type_of(n.buffer->dtype), id, n.buffer->elements));
  }

  void print(const CallKernel& n) {
    std::string kernel = name_of(*n.kernel), args;
    out_.use.kernels.emplace(kernel, n.kernel);
    for (const ExprPtr& a : n.args) args += (args.empty() ? "" : ", ") + any(a);
    line(fmt::format("{}_{}({});", prefix_, kernel, args));
  }

  void print(const Trace& n) {
    if (traced_call_ < 0) return;
    body_ += fmt::format("#ifdef {}_TRACE\n", upper(prefix_));
    line(fmt::format("{}_trace({}, {}, {}, {}u);", prefix_, traced_call_, n.result, any(n.from), n.bytes));
    body_ += "#endif\n";
  }

  void print(const Fail&) { line(fmt::format("return {}; /* not defined for this data */", tir::kFailStatus)); }

  void print(const Comment& n) { line("/* " + c_comment_text(n.text, 200) + " */"); }

  // What is stored as `type`: with a cast only where the value may be of a wider one.
  std::string stored(const ExprPtr& value, DType type) {
    const ExprPtr& inner =
        value->kind == ExprKind::kCast && value->type == type ? static_cast<const Cast&>(*value).value : value;
    if (inner->kind == ExprKind::kLoad && static_cast<const Load&>(*inner).buffer->dtype == type)
      return element(static_cast<const Load&>(*inner));
    if (inner->kind == ExprKind::kIntImm && is_int(type)) {
      const int64_t v = static_cast<const IntImm&>(*inner).value;
      const auto range = int_range(type);
      if (promoted(type) == DType::kI32 && v >= static_cast<int64_t>(range.min) && v <= static_cast<int64_t>(range.max))
        return c_int(v, DType::kI32);
    }
    if (type == value->type) return any(value);
    return fmt::format("({}){}", c_type_of(type), at_least(value, kUnary));
  }

  // A copy or a filling of one element is an assignment.
  bool assign_element(const Call& call) {
    if (call.callee != Intrinsic::kMemcpy && call.callee != Intrinsic::kMemset) return false;
    const auto& to = static_cast<const Address&>(*call.args[0]);
    if (!is_i32(call.args[2], size_of(to.buffer->dtype))) return false;
    std::string value;
    if (call.callee == Intrinsic::kMemcpy) {
      const auto& from = static_cast<const Address&>(*call.args[1]);
      if (from.buffer->dtype != to.buffer->dtype || from.buffer->space != Space::kData) return false;
      value = place(from.buffer, from.index);
    } else {
      if (to.buffer->dtype != DType::kI8 || call.args[1]->kind != ExprKind::kIntImm) return false;
      value = std::to_string(static_cast<int8_t>(static_cast<const IntImm&>(*call.args[1]).value));
    }
    line(fmt::format("{}[{}] = {};", name_of_node(to.buffer.get()), any(to.index), value));
    return true;
  }

  void print(const For& n) {
    const auto pointer = pointers_.find(n.var.get());
    const bool is_index = pointer == pointers_.end();
    auto bound = [&](const ExprPtr& e) {
      return is_index ? at_least(e, kAdditive) : any(std::make_shared<Address>(pointer->second, e));
    };
    std::string begin = is_index ? any(n.begin) : bound(n.begin), end = bound(n.end);
    scopes_.emplace_back();
    std::string id = declare(n.var.get(), n.var->name);
    std::string next = n.step == 1 ? "++" + id : fmt::format("{} += {}", id, n.step);
    const char* type = ranges_.type_of_loop(n);
    const std::string declared = is_index ? fmt::format("{} ", type ? type : "int32_t")
                                          : fmt::format("const {} *", c_type_of(pointer->second->dtype));
    // These kernels write out as many steps as registers allow.
    if (!pointers_.empty()) {
      out_.use.functions.insert("no_unroll");
      line(upper(prefix_) + "_NO_UNROLL");
    }
    line(fmt::format("for ({}{} = {}; {} < {}; {}) {{", declared, id, begin, id, end, next));
    print_nested(n.body);
    scopes_.pop_back();
    line("}");
  }

  // "a = a + b" reads better, and is the same, as "a += b".
  void print(const Assign& n) {
    const std::string& id = name_of_node(n.var.get());
    if (n.value->kind == ExprKind::kBinary) {
      const auto& b = static_cast<const Binary&>(*n.value);
      bool own = b.lhs->kind == ExprKind::kVarRef && static_cast<const VarRef&>(*b.lhs).var.get() == n.var.get();
      if (own && !b.wrapping && (b.op == BinaryOp::kAdd || b.op == BinaryOp::kSub))
        return line(fmt::format("{} {}= {};", id, b.op == BinaryOp::kAdd ? "+" : "-", converted(b.rhs)));
    }
    line(fmt::format("{} = {};", id, converted(n.value)));
  }

  const Function& function_;
  std::string name_;
  std::string prefix_;
  bool is_kernel_;
  CallingConvention form_;
  std::vector<std::string> bound_;
  int traced_call_;
  CRanges ranges_;
  PrintedFunction out_;
  std::string body_;
  int indent_ = 0;
  bool spelt_out_ = false;  // no helpers
  std::vector<std::vector<std::string>> scopes_;
  std::unordered_map<const void*, std::string> names_;
  std::vector<std::unordered_map<std::string, const void*>> lets_;  // by scope: what was said
  std::unordered_set<const void*> changing_;                        // variables that are assigned to
  std::unordered_map<const void*, int> uses_;
  std::unordered_map<const Variable*, BufferPtr> pointers_;  // index variables that are pointers
};

}  // namespace

void SupportUse::merge(const SupportUse& other) {
  functions.insert(other.functions.begin(), other.functions.end());
  kernels.insert(other.kernels.begin(), other.kernels.end());
  math = math || other.math;
  string = string || other.string;
  floating = floating || other.floating;
  comparing = comparing || other.comparing;
  program = program || other.program;
}

PrintedFunction print_c(const tir::Function& function, const std::string& name, const std::string& prefix,
                        CallingConvention form, const std::vector<std::string>& bound, bool narrow, int traced_call) {
  return Printer(function, name, prefix, false, form, bound, narrow, traced_call).run();
}

std::string packed_includes() {
  return "#include <tvm/runtime/c_backend_api.h>\n#include <tvm/runtime/c_runtime_api.h>\n"
         "#include <tvm/runtime/crt/error_codes.h>\n";
}

PrintedFunction print_c_kernel(const tir::Kernel& kernel, const std::string& prefix) {
  return Printer(*kernel.meaning, prefix + "_" + name_of(kernel), prefix, true).run();
}

std::string c_float(double value, DType type) {
  std::string cast = type == DType::kF32 ? "" : "(double)";
  if (std::isnan(value)) return cast + "NAN";
  if (std::isinf(value)) return (value < 0 ? "-" : "") + cast + "INFINITY";
  std::string text = type == DType::kF32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (type == DType::kF32 ? "f" : "");
}

}  // namespace aotc::codegen
