// SPDX-License-Identifier: Apache-2.0
// The text form of TIR; docs/ir.md describes it. What is printed parses back to a function that
// prints the same. Names are hints: they are made identifiers, and unique among what is visible.
#include "tir/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "tir/arithmetic.h"
#include "tir/forms.h"
#include "tir/visit.h"

namespace aotc::tir {

namespace {

std::string float_text(DType type, double v) {
  std::string suffix(name_of(type));
  if (std::isnan(v)) return suffix + ".nan";
  if (std::isinf(v)) return (v < 0 ? "-" : "") + suffix + ".inf";
  // fmt writes the shortest digits that read back to the same value of the type.
  if (type == DType::kF32) return fmt::format("{}{}", static_cast<float>(v), suffix);
  return fmt::format("{}{}", v, suffix);
}

std::string comment_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    unsigned char u = static_cast<unsigned char>(c);
    if (u < 0x20 || u == 0x7F || c == '\\') {
      out += fmt::format("\\x{:02x}", u);
    } else {
      out += c;
    }
  }
  return out;
}

class Printer {
 public:
  explicit Printer(const Stmt* wanted = nullptr) : wanted_(wanted) {}

  std::string function(const Function& f);
  const std::string& found() const { return found_; }

 private:
  std::string declare(const void* identity, const std::string& hint);
  std::string name(const void* identity, const std::string& hint) const;
  // Of a missing one, which the verifier complains about, as well.
  std::string name_of_buffer(const BufferPtr& buffer) const { return buffer ? name(buffer.get(), buffer->name) : "?"; }
  std::string buffer_text(const Buffer& b, const std::string& printed_name) const;
  std::string expr(const ExprPtr& e, int outer = 0) const;
  std::string binary(const Binary& b, int outer) const;
  std::string call(const Call& c) const;
  void parameters(const Function& f);
  void statement(const StmtPtr& s);
  void loop(const For& s);
  void branch(const If& s);
  // The statements of a body, which may be a Block or a single statement.
  void body(const StmtPtr& s);
  // Forgets the innermost names until `visible` are left.
  void leave(size_t visible);
  void line(const Stmt* s, const std::string& text);

  std::string out_;
  std::string indent_;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> visible_;
  std::vector<const void*> order_;  // what is visible, innermost last
  const Stmt* wanted_;
  std::string found_;
};

std::string Printer::declare(const void* identity, const std::string& hint) {
  const std::string base = text_identifier(hint);
  std::string candidate = base;
  for (int n = 2; visible_.contains(candidate); ++n) candidate = fmt::format("{}_{}", base, n);
  names_[identity] = candidate;
  visible_.insert(candidate);
  order_.push_back(identity);
  return candidate;
}

std::string Printer::name(const void* identity, const std::string& hint) const {
  auto it = names_.find(identity);
  return it != names_.end() ? it->second : fmt::format("?{}", comment_text(hint));
}

std::string Printer::buffer_text(const Buffer& b, const std::string& printed_name) const {
  std::string text = fmt::format("{}: {}[{}]", printed_name, name_of(b.dtype), b.elements);
  if (b.alignment != 1) text += fmt::format(" align {}", b.alignment);
  if (b.space == Space::kProgram) text += " program";
  return text;
}

std::string Printer::binary(const Binary& b, int outer) const {
  if (b.op == BinaryOp::kMin || b.op == BinaryOp::kMax)
    return fmt::format("{}({}, {})", spelling_of(b.op), expr(b.lhs), expr(b.rhs));
  int strength = strength_of(b.op);
  bool may_wrap = b.op == BinaryOp::kAdd || b.op == BinaryOp::kSub || b.op == BinaryOp::kMul || b.op == BinaryOp::kShl;
  std::string text = fmt::format("{} {}{} {}", expr(b.lhs, strength), spelling_of(b.op),
                                 b.wrapping && may_wrap ? "%" : "", expr(b.rhs, strength + 1));
  return strength < outer ? fmt::format("({})", text) : text;
}

std::string Printer::call(const Call& c) const {
  std::string text(info_of(c.callee).name);
  text += "(";
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (i > 0) text += ", ";
    text += expr(c.args[i]);
  }
  return text + ")";
}

std::string Printer::expr(const ExprPtr& e, int outer) const {
  if (!e) return "?null";
  return visit(
      *e,
      Overloaded{
          [](const IntImm& i) { return fmt::format("{}{}", i.value, i.type == DType::kI32 ? "" : name_of(i.type)); },
          [](const FloatImm& f) { return float_text(f.type, f.value); },
          [&](const VarRef& v) { return name(v.var.get(), v.var->name); },
          [&](const Load& l) { return fmt::format("{}[{}]", name_of_buffer(l.buffer), expr(l.index)); },
          [&](const Address& a) { return fmt::format("&{}[{}]", name_of_buffer(a.buffer), expr(a.index)); },
          [&](const Unary& u) {
            // "-5" is the immediate; the negation of an immediate is "-(5)".
            bool bare = u.value && (u.value->kind == ExprKind::kVarRef || u.value->kind == ExprKind::kLoad);
            return fmt::format("{}{}{}{}", spelling_of(u.op), bare ? "" : "(", expr(u.value), bare ? "" : ")");
          },
          [&](const Binary& b) { return binary(b, outer); },
          [&](const Cast& c) { return fmt::format("{}{}({})", name_of(c.type), c.wrapping ? "%" : "", expr(c.value)); },
          [&](const Select& s) {
            return fmt::format("select({}, {}, {})", expr(s.condition), expr(s.if_true), expr(s.if_false));
          },
          [&](const Call& c) { return call(c); },
      });
}

void Printer::line(const Stmt* s, const std::string& text) {
  if (s && s == wanted_ && found_.empty()) found_ = text;
  out_ += indent_ + text + "\n";
}

void Printer::leave(size_t visible) {
  for (; order_.size() > visible; order_.pop_back()) {
    auto it = names_.find(order_.back());
    if (it == names_.end()) continue;
    visible_.erase(it->second);
    names_.erase(it);
  }
}

void Printer::body(const StmtPtr& s) {
  size_t before = order_.size();
  indent_ += "  ";
  if (s && s->kind == StmtKind::kBlock) {
    for (const StmtPtr& child : static_cast<const Block&>(*s).body) statement(child);
  } else if (s) {
    statement(s);
  }
  indent_.resize(indent_.size() - 2);
  leave(before);
}

void Printer::loop(const For& s) {
  std::string begin = expr(s.begin);
  std::string end = expr(s.end);
  size_t before = order_.size();
  std::string variable = declare(s.var.get(), s.var->name);
  std::string step = s.step == 1 ? "" : fmt::format(" step {}", s.step);
  line(&s, fmt::format("for {} in {} .. {}{} {{", variable, begin, end, step));
  body(s.body);
  line(nullptr, "}");
  leave(before);
}

void Printer::branch(const If& s) {
  line(&s, fmt::format("if {} {{", expr(s.condition)));
  body(s.then);
  if (s.otherwise) {
    line(nullptr, "} else {");
    body(s.otherwise);
  }
  line(nullptr, "}");
}

void Printer::statement(const StmtPtr& s) {
  if (!s) return line(nullptr, "?null");
  visit(*s, Overloaded{
                [&](const For& f) { loop(f); },
                [&](const If& i) { branch(i); },
                [&](const Declare& d) {
                  std::string value = expr(d.init);
                  line(&d, fmt::format("{} {}: {} = {}", d.is_mutable ? "var" : "let",
                                       declare(d.var.get(), d.var->name), name_of(d.var->dtype), value));
                },
                [&](const Assign& a) { line(&a, name(a.var.get(), a.var->name) + " = " + expr(a.value)); },
                [&](const Store& t) {
                  line(&t, fmt::format("{}[{}] = {}", name_of_buffer(t.buffer), expr(t.index), expr(t.value)));
                },
                [&](const Evaluate& e) { line(&e, "eval " + expr(e.value)); },
                [&](const Block& b) {
                  line(&b, "{");
                  body(s);
                  line(nullptr, "}");
                },
                [&](const Alloc& a) {
                  line(&a, "alloc " + buffer_text(*a.buffer, declare(a.buffer.get(), a.buffer->name)));
                },
                [&](const CallKernel& c) {
                  std::string args;
                  for (const ExprPtr& a : c.args) args += (args.empty() ? "" : ", ") + expr(a);
                  line(&c, fmt::format("run {}({})", name_of(*c.kernel), args));
                },
                [&](const Fail& f) { line(&f, "fail"); },
                [&](const Trace& t) { line(&t, fmt::format("trace {} {} {}", t.result, t.bytes, expr(t.from))); },
                [&](const Comment& c) { line(&c, c.text.empty() ? "#" : "# " + comment_text(c.text)); },
            });
}

void Printer::parameters(const Function& f) {
  out_ += "(";
  for (size_t i = 0; i < f.params.size(); ++i) {
    const Buffer& b = *f.params[i];
    out_ += fmt::format("{}{} {}", i > 0 ? ", " : "", spelling_of(b.role), buffer_text(b, declare(&b, b.name)));
  }
  for (size_t i = 0; i < f.scalars.size(); ++i)
    out_ += fmt::format("{}scalar {}", i + f.params.size() > 0 ? ", " : "",
                        declare(f.scalars[i].get(), f.scalars[i]->name));
  out_ += ") {\n";
  body(f.body);
  out_ += "}\n";
}

std::string Printer::function(const Function& f) {
  for (const KernelPtr& k : kernels_of(f)) {
    out_ += "kernel " + k->family;
    for (const auto& [name, value] : k->parameters) out_ += fmt::format(" {}={}", name, value);
    out_ += " ";
    parameters(*k->meaning);
    visible_.clear();
    order_.clear();
  }
  out_ += "func " + declare(&f, f.name);
  // The function's own name hides nothing.
  visible_.clear();
  order_.clear();
  parameters(f);
  return std::move(out_);
}

}  // namespace

int strength_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr: return 1;
    case BinaryOp::kAnd: return 2;
    case BinaryOp::kBitOr: return 3;
    case BinaryOp::kBitXor: return 4;
    case BinaryOp::kBitAnd: return 5;
    case BinaryOp::kEq:
    case BinaryOp::kNe: return 6;
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe: return 7;
    case BinaryOp::kShl:
    case BinaryOp::kShr: return 8;
    case BinaryOp::kAdd:
    case BinaryOp::kSub: return 9;
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kMod: return 10;
    case BinaryOp::kMin:
    case BinaryOp::kMax: return 12;
  }
  return 12;
}

std::string text_identifier(std::string_view name) {
  std::string base;
  for (char c : name) {
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    base += word ? c : '_';
    if (base.size() >= 64) break;
  }
  if (base.empty()) base += 'v';
  if (base[0] >= '0' && base[0] <= '9') base.insert(base.begin(), '_');
  if (is_text_keyword(base)) base += "_";
  return base;
}

// Roles, "in", "step" and "func" stand where no name can, so they may be names as well.
bool is_text_keyword(std::string_view word) {
  if (dtype_from_name(word) || intrinsic_from_name(word)) return true;
  return text::kind_of(text::kStatementForms, word) || text::kind_of(text::kExpressionForms, word) ||
         std::find(std::begin(text::kInnerWords), std::end(text::kInnerWords), word) != std::end(text::kInnerWords);
}

std::string print(const Function& function) { return Printer().function(function); }

std::string statement_text(const Function& function, const Stmt* statement) {
  Printer printer(statement);
  printer.function(function);
  std::string text = printer.found();
  constexpr size_t kLimit = 200;
  return text.size() > kLimit ? text.substr(0, kLimit) + "..." : text;
}

}  // namespace aotc::tir
