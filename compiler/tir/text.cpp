// SPDX-License-Identifier: Apache-2.0
// The text form of TIR (docs/ir.md): FunctionForm reads or writes functions. Any bytes give a function or one located
// error: nesting and sizes are bounded, and names are declared before use. verify() checks types, also for functions
// that never were text. Written names are identifiers, unique among the visible names.
#include "tir/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <variant>

#include "support/text_form.h"
#include "support/text_value.h"
#include "tir/arithmetic.h"
#include "tir/visit.h"

namespace aotc::tir {

namespace {

// The largest nesting depth: recursive walks over deeper trees would exhaust the stack.
constexpr int kMaxDepth = 300;
constexpr size_t kMaxText = size_t{8} << 20;

// The words that begin a statement. Other statements begin with a declared name (Assign, Store) or are comments.
constexpr std::pair<std::string_view, StmtKind> kStatementWords[] = {
    {"for", StmtKind::kFor},     {"if", StmtKind::kIf},          {"let", StmtKind::kDeclare},
    {"var", StmtKind::kDeclare}, {"eval", StmtKind::kEvaluate},  {"{", StmtKind::kBlock},
    {"alloc", StmtKind::kAlloc}, {"run", StmtKind::kCallKernel}, {"fail", StmtKind::kFail},
    {"trace", StmtKind::kTrace},
};

// Binary operators by BinaryOp: the precedence, which is C's; a higher number binds tighter. min and max are calls.
constexpr int kStrength[] = {9, 9, 10, 10, 10, 12, 12, 5, 3, 4, 8, 8, 6, 6, 7, 7, 7, 7, 2, 1};
int strength_of(BinaryOp op) { return kStrength[static_cast<size_t>(op)]; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
bool is_name(std::string_view token) { return !token.empty() && is_letter(token[0]); }
bool is_number(std::string_view token) { return !token.empty() && is_digit(token[0]); }

// True for keywords. Roles, "in", "step" and "func" are written where no name can be, so they may be names as well.
bool is_keyword(std::string_view word) {
  for (std::string_view w : {"min", "max", "select", "else", "align"})
    if (w == word) return true;
  return dtype_from_name(word) || intrinsic_from_name(word) ||
         std::any_of(std::begin(kStatementWords), std::end(kStatementWords), [&](auto& w) { return w.first == word; });
}

// A number has digits, a fraction, an exponent and a type suffix. "0 .. 5" may be written "0..5".
size_t token_length(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
  size_t n = 0;
  if (is_digit(text[0])) {
    while (is_digit(at(n))) ++n;
    if (at(n) == '.' && is_digit(at(n + 1))) {
      ++n;
      while (is_digit(at(n))) ++n;
    }
    const size_t sign = at(n + 1) == '+' || at(n + 1) == '-' ? 1 : 0;
    if (at(n) == 'e' && is_digit(at(n + 1 + sign))) n += 1 + sign;
  }
  while (is_letter_or_digit(at(n))) ++n;
  if (n > 0) return n;
  for (std::string_view p : {"<<%", "..", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+%", "-%", "*%"})
    if (text.starts_with(p)) return p.size();
  return 1;
}

constexpr TextDialect kDialect{"tir-parse", token_length, ", not ", "the end of the text", true};

std::string comment_text(const std::string& text) {
  std::string out;
  for (char c : text)
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\' ? text_value::escape(c) : std::string(1, c);
  return out;
}

std::string float_text(DType type, double v) {
  const std::string_view suffix = name_of(type);
  if (std::isnan(v)) return fmt::format("{}.nan", suffix);
  if (std::isinf(v)) return fmt::format("{}{}.inf", v < 0 ? "-" : "", suffix);
  // fmt writes the shortest digits that read back to the same value of the type.
  return type == DType::kF32 ? fmt::format("{}{}", static_cast<float>(v), suffix) : fmt::format("{}{}", v, suffix);
}

class FunctionForm {
 public:
  // `wanted`: the statement whose text found() returns.
  explicit FunctionForm(TextForm form, const Stmt* wanted = nullptr) : f_(std::move(form)), wanted_(wanted) {}

  TextForm& text_form() { return f_; }
  const std::string& found() const { return found_; }

  // The kernels of a function, 'func' NAME and the rest.
  void function(Function& made, bool with_scalars) {
    kernels_.clear();
    if (f_.reading()) {
      while (f_.is("kernel")) kernel(nullptr);
    } else {
      for (const KernelPtr& k : kernels_of(made)) kernel(k);
    }
    f_.text("func ");
    plain_name(made.name);
    rest(made, with_scalars);
  }

 private:
  using Entity = std::variant<VarPtr, BufferPtr>;
  struct Name {
    std::string text;
    TextPlace at;
  };

  // ---------------------------------------------------------------- parts

  // Literals, names, types, numbers, expressions and blocks, one after the other.
  template <typename... Part>
  void parts(Part&&... p) {
    (part(p), ...);
  }

  void part(const char* literal) { f_.text(literal); }

  void plain_name(std::string& name) {
    if (!f_.reading()) return f_.write(text_identifier(name));
    if (!is_name(f_.token()) || is_keyword(f_.token())) return f_.fail("expected a name");
    name = f_.take();
  }

  // A name that `declare` makes visible.
  template <typename T>
  Name name(const std::shared_ptr<const T>& named) {
    Name n{"", f_.place()};
    if (f_.reading()) {
      plain_name(n.text);
      return n;
    }
    const std::string base = text_identifier(named->name);
    n.text = base;
    for (int i = 2; entities_.contains(n.text); ++i) n.text = fmt::format("{}_{}", base, i);
    f_.write(n.text);
    return n;
  }

  template <typename T>
  void declare(const Name& n, const std::shared_ptr<const T>& entity) {
    if (!entities_.try_emplace(n.text, entity).second)
      return f_.fail_at(n.at, fmt::format("'{}' is already declared", n.text));
    names_[entity.get()] = n.text;
    visible_.emplace_back(n.text, entity.get());
  }

  // Ends the scope of the innermost names, until `count` are visible.
  void leave(size_t count) {
    for (; visible_.size() > count; visible_.pop_back()) {
      entities_.erase(visible_.back().first);
      names_.erase(visible_.back().second);
    }
  }

  const Entity* find(std::string_view name) const {
    auto it = entities_.find(std::string(name));
    return it == entities_.end() ? nullptr : &it->second;
  }

  // The variable or buffer that the next token names; null, after an error, if it names none.
  const Entity* named() {
    const Entity* found = find(f_.token());
    if (!found)
      f_.fail_at(f_.place(), fmt::format("'{}' is not declared", escape_for_display(std::string(f_.token()))));
    return found;
  }

  // A declared name. A function that verify() refuses may use another.
  template <typename T>
  void part(std::shared_ptr<const T>& entity) {
    if (f_.reading()) {
      entity = std::get<std::shared_ptr<const T>>(*find(f_.take()));
      return;
    }
    auto it = names_.find(entity.get());
    f_.write(!entity ? "?" : it != names_.end() ? it->second : "?" + comment_text(entity->name));
  }

  void part(DType& type) {
    if (!f_.reading()) return f_.write(name_of(type));
    const auto found = dtype_from_name(f_.token());
    if (!found || *found == DType::kI4) return f_.fail("expected a type");
    type = *found;
    f_.take();
  }

  template <typename T>
  void count(T& value, int64_t least = 0, int64_t most = std::numeric_limits<int32_t>::max()) {
    if (!f_.reading()) return f_.write(fmt::format("{}", value));
    int64_t read = 0;
    if (!is_number(f_.token())) return f_.fail("expected a number");
    if (!text_value::parse(f_.token(), read) || read < least || read > most)
      return f_.fail_at(f_.place(), fmt::format("expected a number from {} to {}", least, most));
    value = static_cast<T>(read);
    f_.take();
  }

  void part(int64_t& value) { count(value); }

  void part(ExprPtr& e) {
    if (f_.reading()) {
      e = binary(1);
    } else {
      write(e);
    }
  }

  // '{' statements '}'. A body may also be a single statement, which is written as a block.
  void part(StmtPtr& s) {
    if (f_.reading() && nesting_ >= kMaxDepth)
      return f_.fail_at(f_.place(), fmt::format("blocks are nested deeper than {}", kMaxDepth));
    const size_t visible = visible_.size();
    std::vector<StmtPtr> body;
    if (s && s->kind == StmtKind::kBlock) {
      body = static_cast<const Block&>(*s).body;
    } else if (s) {
      body = {s};
    }
    ++nesting_;
    f_.block([&] { body.push_back(read_statement()); },
             [&] { std::for_each(body.begin(), body.end(), [&](auto& child) { write_statement(child); }); });
    --nesting_;
    leave(visible);
    if (f_.reading()) s = std::make_shared<Block>(std::move(body));
  }

  // ---------------------------------------------------------------- functions

  // NAME ':' TYPE '[' COUNT ']' ['align' COUNT] ['program']
  void buffer(BufferPtr& b, Role role) {
    Buffer made = b ? *b : Buffer();
    const Name n = name(b);
    parts(": ", made.dtype, "[", made.elements, "]");
    if (f_.option(" align ", made.alignment != 1)) {
      const TextPlace at = f_.place();
      count(made.alignment, 1, 1 << 20);
      if (f_.reading() && (made.alignment & (made.alignment - 1)) != 0)
        f_.fail_at(at, "an alignment must be a power of two");
    }
    if (f_.option(" program", made.space == Space::kProgram)) made.space = Space::kProgram;
    if (f_.reading()) {
      made.name = n.text;
      made.role = role;
      b = std::make_shared<const Buffer>(made);
    }
    declare(n, b);
  }

  void define(VarPtr& v, const Name& n, DType type = DType::kI32) {
    if (f_.reading()) v = std::make_shared<const Variable>(Variable{n.text, type});
    declare(n, v);
  }

  // '(' [ROLE BUFFER {',' ROLE BUFFER}] {',' 'scalar' NAME} ')' BLOCK; scalars only in kernels and functions of
  // programs.
  void rest(Function& made, bool with_scalars) {
    f_.text("(");
    for (size_t i = 0; f_.reading() ? f_.more(")") : i < made.params.size() + made.scalars.size(); ++i) {
      if (i > 0) f_.text(", ");
      if (with_scalars && f_.option("scalar ", i >= made.params.size())) {
        if (f_.reading()) made.scalars.emplace_back();
        VarPtr& v = made.scalars[i - made.params.size()];
        define(v, name(v));
        continue;
      }
      Role role = Role::kLocal;
      if (f_.reading()) {
        for (Role r : {Role::kInput, Role::kConstant, Role::kOutput, Role::kScratch})
          if (f_.is(spelling_of(r))) role = r;
        if (role == Role::kLocal || !made.scalars.empty())
          return f_.fail(with_scalars ? "expected 'in', 'const', 'out', 'scratch' or 'scalar'"
                                      : "expected 'in', 'const', 'out' or 'scratch'");
        f_.take();
        made.params.emplace_back();
      } else {
        f_.write(fmt::format("{} ", spelling_of(made.params[i]->role)));
      }
      buffer(made.params[i], role);
    }
    f_.write(")");
    parts(" ", made.body);
    leave(0);
    f_.write("\n");
  }

  // 'kernel' FAMILY {NAME '=' ['-'] NUMBER} and the rest of a function, the meaning.
  void kernel(const KernelPtr& written) {
    Kernel made = written ? *written : Kernel();
    Function meaning = written ? *made.meaning : Function();
    f_.text("kernel ");
    const TextPlace at = f_.place();
    if (f_.reading()) plain_name(made.family);
    f_.write(made.family);
    for (size_t i = 0; f_.reading() ? !f_.failed() && !f_.is("(") : i < made.parameters.size(); ++i) {
      if (f_.reading()) {
        // A keyword before '=' is a name like any other.
        if (!is_name(f_.token())) return f_.fail("expected a name");
        made.parameters.emplace_back(f_.take(), 0);
      }
      auto& [parameter, value] = made.parameters[i];
      f_.write(" " + parameter);
      f_.text("=");
      const bool negative = f_.accept("-");
      count(value);
      if (negative) value = -value;
    }
    f_.text(" ");
    in_kernel_ = true;
    meaning.name = made.family;
    rest(meaning, true);
    in_kernel_ = false;
    if (!f_.reading() || f_.failed()) return;
    made.meaning = std::make_shared<const Function>(std::move(meaning));
    if (!kernels_.try_emplace(name_of(made), std::make_shared<const Kernel>(made)).second)
      f_.fail_at(at, fmt::format("kernel '{}' is already declared", name_of(made)));
  }

  // ---------------------------------------------------------------- statements

  void write_statement(const StmtPtr& s) {
    f_.line([&] {
      const size_t begin = f_.written().size();
      if (!s) return f_.write("?null");
      visit(*s, [&](auto node) { form(node); });
      if (s.get() != wanted_ || !found_.empty()) return;
      found_ = f_.written().substr(begin);
      found_.resize(std::min(found_.find('\n'), found_.size()));
    });
  }

  std::optional<StmtKind> statement_kind() {
    const std::string_view token = f_.token();
    if (token.starts_with('#')) return StmtKind::kComment;
    for (const auto& [word, kind] : kStatementWords)
      if (token == word) return kind;
    if (!is_name(token) || is_keyword(token)) {
      f_.fail("expected a statement");
      return std::nullopt;
    }
    const Entity* found = named();
    if (!found) return std::nullopt;
    return std::holds_alternative<VarPtr>(*found) ? StmtKind::kAssign : StmtKind::kStore;
  }

  // Null after an error.
  StmtPtr read_statement() {
    const auto kind = statement_kind();
    if (!kind) return nullptr;
    switch (*kind) {
      case StmtKind::kFor: return read(For({}, {}, {}, 1, {}));
      case StmtKind::kIf: return read(If({}, {}, {}));
      case StmtKind::kDeclare: return read(Declare({}, {}, false));
      case StmtKind::kAssign: return read(Assign({}, {}));
      case StmtKind::kStore: return read(Store({}, {}, {}));
      case StmtKind::kEvaluate: return read(Evaluate({}));
      case StmtKind::kBlock: return read(Block({}));
      case StmtKind::kAlloc: return read(Alloc({}));
      case StmtKind::kComment: return read(Comment({}));
      case StmtKind::kCallKernel: return read(CallKernel({}, {}));
      case StmtKind::kFail: return read(Fail());
      case StmtKind::kTrace: return read(Trace(0, {}, 0));
    }
    return nullptr;
  }

  template <typename Node>
  StmtPtr read(Node node) {
    form(node);
    return std::make_shared<const Node>(std::move(node));
  }

  void form(For& s) {
    f_.text("for ");
    const Name n = name(s.var);
    parts(" in ", s.begin, " .. ", s.end);
    if (f_.option(" step ", s.step != 1)) count(s.step, 1);
    const size_t visible = visible_.size();
    define(s.var, n);
    parts(" ", s.body);
    leave(visible);
  }

  void form(If& s) {
    parts("if ", s.condition, " ", s.then);
    if (f_.option(" else ", s.otherwise != nullptr)) part(s.otherwise);
  }

  void form(Declare& s) {
    f_.flag("var ", s.is_mutable);
    if (!s.is_mutable) f_.text("let ");
    const Name n = name(s.var);
    DType type = s.var ? s.var->dtype : DType::kI32;
    parts(": ", type, " = ", s.init);
    define(s.var, n, type);
  }

  void form(Assign& s) { parts(s.var, " = ", s.value); }
  void form(Store& s) { parts(s.buffer, "[", s.index, "] = ", s.value); }
  void form(Evaluate& s) { parts("eval ", s.value); }
  void form(Trace& s) { parts("trace ", s.result, " ", s.bytes, " ", s.from); }
  void form(Fail&) { f_.text("fail"); }

  void form(Block& s) {
    StmtPtr body = f_.reading() ? nullptr : std::make_shared<Block>(s);
    part(body);
    if (f_.reading() && body) s = static_cast<const Block&>(*body);
  }

  void form(Alloc& s) {
    f_.text("alloc ");
    buffer(s.buffer, Role::kLocal);
  }

  void form(Comment& s) {
    if (!f_.reading()) return f_.write(s.text.empty() ? "#" : "# " + comment_text(s.text));
    std::string_view raw = f_.take().substr(1);
    if (raw.starts_with(' ')) raw.remove_prefix(1);
    while (!raw.empty()) {
      const int byte = text_value::escaped_byte(raw);
      s.text += byte < 0 ? raw[0] : static_cast<char>(byte);
      raw.remove_prefix(byte < 0 ? 1 : 4);
    }
  }

  void form(CallKernel& s) {
    f_.text("run ");
    if (f_.reading()) {
      const auto found = kernels_.find(std::string(f_.token()));
      // Kernels in kernels of kernels are refused: calls that double at each depth would have no end.
      if (found == kernels_.end() || (in_kernel_ && !kernels_of(*found->second->meaning).empty()))
        return f_.fail_at(f_.place(), fmt::format("'{}' is not a kernel", escape_for_display(std::string(f_.token()))));
      s.kernel = found->second;
      f_.take();
    } else {
      f_.write(name_of(*s.kernel));
    }
    arguments(s.args);
  }

  // ---------------------------------------------------------------- expressions

  void arguments(std::vector<ExprPtr>& args) {
    int depth = 0;
    f_.text("(");
    f_.list(args, ")", [&](ExprPtr& e) {
      part(e);
      depth = std::max(depth, depth_);
    });
    depth_ = depth;
  }

  // `outer`: the strength below which an operator needs parentheses.
  void write(const ExprPtr& e, int outer = 0) {
    if (!e) return f_.write("?null");
    visit(*e, Overloaded{
                  [&](const IntImm& i) {
                    f_.write(fmt::format("{}{}", i.value, i.type == DType::kI32 ? "" : name_of(i.type)));
                  },
                  [&](const FloatImm& i) { f_.write(float_text(i.type, i.value)); },
                  [&](VarRef v) { part(v.var); },
                  [&](Load l) { parts(l.buffer, "[", l.index, "]"); },
                  [&](Address a) { parts("&", a.buffer, "[", a.index, "]"); },
                  [&](const Unary& u) {
                    // "-5" is the immediate; the negation of an immediate is "-(5)".
                    const bool bare =
                        u.value && (u.value->kind == ExprKind::kVarRef || u.value->kind == ExprKind::kLoad);
                    f_.write(fmt::format("{}{}", spelling_of(u.op), bare ? "" : "("));
                    write(u.value);
                    if (!bare) f_.write(")");
                  },
                  [&](const Binary& b) { write_binary(b, outer); },
                  [&](Cast c) { parts(c.type, c.wrapping ? "%(" : "(", c.value, ")"); },
                  [&](const Select& s) { write_call("select", {s.condition, s.if_true, s.if_false}); },
                  [&](const Call& c) { write_call(info_of(c.callee).name, c.args); },
              });
  }

  void write_call(std::string_view name, std::vector<ExprPtr> args) {
    f_.write(name);
    arguments(args);
  }

  void write_binary(const Binary& b, int outer) {
    if (b.op == BinaryOp::kMin || b.op == BinaryOp::kMax) return write_call(spelling_of(b.op), {b.lhs, b.rhs});
    const int strength = strength_of(b.op);
    const bool may_wrap =
        b.op == BinaryOp::kAdd || b.op == BinaryOp::kSub || b.op == BinaryOp::kMul || b.op == BinaryOp::kShl;
    if (strength < outer) f_.write("(");
    write(b.lhs, strength);
    f_.write(fmt::format(" {}{} ", spelling_of(b.op), b.wrapping && may_wrap ? "%" : ""));
    write(b.rhs, strength + 1);
    if (strength < outer) f_.write(")");
  }

  // The result of the functions below after an error, so that nodes can be made of it.
  static ExprPtr zero() { return std::make_shared<IntImm>(DType::kI32, 0); }
  ExprPtr failure(TextPlace at, std::string message) {
    f_.fail_at(at, std::move(message));
    return zero();
  }

  // `depth`: of the deepest part.
  ExprPtr deeper(ExprPtr e, int depth) {
    depth_ = depth + 1;
    if (depth < kMaxDepth) return e;
    return failure(f_.place(), fmt::format("the expression is nested deeper than {}", kMaxDepth));
  }

  std::optional<BinaryOp> binary_operator(bool* wrapping) const {
    std::string_view text = f_.token();
    *wrapping = text.size() > 1 && text.back() == '%';
    if (*wrapping) text.remove_suffix(1);
    for (int i = 0; !is_name(text) && i <= static_cast<int>(BinaryOp::kOr); ++i)
      if (spelling_of(static_cast<BinaryOp>(i)) == text) return static_cast<BinaryOp>(i);
    return std::nullopt;
  }

  ExprPtr binary(int least) {
    ExprPtr left = operand();
    bool wrapping = false;
    for (auto op = binary_operator(&wrapping); op && strength_of(*op) >= least; op = binary_operator(&wrapping)) {
      const bool wraps = wrapping;
      const int depth = depth_;
      f_.take();
      ExprPtr right = binary(strength_of(*op) + 1);
      const DType type = gives_truth(*op) ? DType::kI32 : left->type;
      left = deeper(std::make_shared<Binary>(*op, type, left, right, wraps), std::max(depth, depth_));
    }
    return left;
  }

  // An expression without binary operators around it.
  ExprPtr operand() {
    if (nesting_ >= kMaxDepth)
      return failure(f_.place(), fmt::format("the expression is nested deeper than {}", kMaxDepth));
    ++nesting_;
    depth_ = 1;
    ExprPtr e = leaf();
    --nesting_;
    return e;
  }

  ExprPtr leaf() {
    const std::string_view token = f_.token();
    if (f_.is("(")) {
      ExprPtr e;
      parts("(", e, ")");
      return e;
    }
    if (is_number(token)) return number(false);
    for (UnaryOp op : {UnaryOp::kNeg, UnaryOp::kLogicalNot, UnaryOp::kBitNot})
      if (f_.accept(spelling_of(op))) return unary(op);
    if (f_.accept("&")) {
      const Entity* found = find(f_.token());
      Address a({std::make_shared<Buffer>()}, {});
      if (found && std::holds_alternative<BufferPtr>(*found)) {
        parts(a.buffer, "[", a.index, "]");
      } else {
        f_.fail("expected a buffer");
      }
      return deeper(std::make_shared<Address>(a), depth_);
    }
    if (f_.is("select")) {
      const std::vector<ExprPtr> args = values(3);
      return deeper(std::make_shared<Select>(args[0], args[1], args[2]), depth_);
    }
    for (BinaryOp op : {BinaryOp::kMin, BinaryOp::kMax}) {
      if (!f_.is(spelling_of(op))) continue;
      const std::vector<ExprPtr> args = values(2);
      return deeper(std::make_shared<Binary>(op, args[0]->type, args[0], args[1], false), depth_);
    }
    if (const auto type = dtype_from_name(token)) {
      f_.take();
      return typed(*type, false);
    }
    if (const IntrinsicInfo* info = intrinsic_from_name(token)) {
      std::vector<ExprPtr> args = values(static_cast<size_t>(info->args));
      const DType type = result_type(info->id, args[0]->type);
      return deeper(std::make_shared<Call>(info->id, type, std::move(args)), depth_);
    }
    if (!is_name(token) || is_keyword(token)) {
      f_.fail("expected an expression");
      return zero();
    }
    const Entity* found = named();
    if (!found) return zero();
    if (const VarPtr* v = std::get_if<VarPtr>(found)) {
      f_.take();
      return std::make_shared<VarRef>(*v);
    }
    Load load(std::get<BufferPtr>(*found), {});
    parts(load.buffer, "[", load.index, "]");
    return deeper(std::make_shared<Load>(load), depth_);
  }

  ExprPtr unary(UnaryOp op) {
    if (op == UnaryOp::kNeg && is_number(f_.token())) return number(true);
    if (const auto type = dtype_from_name(f_.token()); op == UnaryOp::kNeg && type) {
      f_.take();
      return typed(*type, true);
    }
    ExprPtr value = operand();
    return deeper(std::make_shared<Unary>(op, value), depth_);
  }

  // DIGITS [suffix], or a float with suffix.
  ExprPtr number(bool negative) {
    const TextPlace at = f_.place();
    const std::string_view token = f_.take();
    DType type = DType::kI32;
    size_t suffix = 0;
    for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
      const std::string_view name = name_of(static_cast<DType>(i));
      if (!token.ends_with(name) || name.size() < suffix) continue;
      type = static_cast<DType>(i);
      suffix = name.size();
    }
    const std::string_view digits = token.substr(0, token.size() - suffix);
    const auto bad = [&](const char* why) {
      return failure(at, fmt::format("'{}{}' {}", negative ? "-" : "", TextForm::shown(token), why));
    };
    if (is_float(type)) {
      double value = 0;
      float single = 0;
      if (!(type == DType::kF32 ? text_value::parse_number(digits, single) : text_value::parse_number(digits, value)))
        return bad("is not a number of its type");
      if (type == DType::kF32) value = single;
      return std::make_shared<FloatImm>(type, negative ? -value : value);
    }
    uint64_t value = 0;
    if (!std::all_of(digits.begin(), digits.end(), is_digit))
      return bad("is not a number: a type suffix such as f32 or i64 may follow the digits");
    const bool large = !text_value::parse_number(digits, value) || value > (uint64_t{1} << 63) - (negative ? 0 : 1);
    const auto result = static_cast<int64_t>(negative ? 0 - value : value);
    if (large || !fits(type, result)) return bad("does not fit its type");
    return std::make_shared<IntImm>(type, result);
  }

  // After a type name: a cast, or TYPE.inf, TYPE.nan.
  ExprPtr typed(DType type, bool negative) {
    if (is_float(type) && f_.accept(".")) {
      const bool infinite = f_.accept("inf");
      if (!infinite && !f_.accept("nan")) f_.fail("expected 'inf' or 'nan'");
      const double value = infinite ? std::numeric_limits<double>::infinity() : std::nan("");
      return std::make_shared<FloatImm>(type, negative ? -value : value);
    }
    const bool wrapping = f_.accept("%");
    ExprPtr value;
    parts("(", value, ")");
    ExprPtr cast = deeper(std::make_shared<Cast>(type, value, wrapping), depth_);
    return negative ? deeper(std::make_shared<Unary>(UnaryOp::kNeg, cast), depth_) : cast;
  }

  // A function's name and exactly `count` arguments.
  std::vector<ExprPtr> values(size_t count) {
    const TextPlace at = f_.place();
    const std::string_view name = f_.take();
    std::vector<ExprPtr> args;
    arguments(args);
    if (args.size() != count) f_.fail_at(at, fmt::format("'{}' takes {} arguments, not {}", name, count, args.size()));
    args.resize(count, zero());
    return args;
  }

  TextForm f_;
  std::unordered_map<std::string, Entity> entities_;          // by the names that are visible
  std::unordered_map<const void*, std::string> names_;        // their inverse
  std::vector<std::pair<std::string, const void*>> visible_;  // innermost last
  std::unordered_map<std::string, KernelPtr> kernels_;
  bool in_kernel_ = false;
  int nesting_ = 0;
  int depth_ = 0;  // of the expression that was read last
  const Stmt* wanted_;
  std::string found_;
};

bool short_enough(size_t bytes, const std::string& file, Diagnostics& diags) {
  if (bytes <= kMaxText) return true;
  Location where;
  where.file = file;
  diags.error(where, "tir-parse", fmt::format("the text is longer than {} bytes", kMaxText));
  return false;
}

}  // namespace

std::string text_identifier(std::string_view name) {
  std::string base;
  for (char c : name.substr(0, 64)) base += is_letter_or_digit(c) ? c : '_';
  if (base.empty()) base += 'v';
  if (is_digit(base[0])) base.insert(base.begin(), '_');
  if (is_keyword(base)) base += "_";
  return base;
}

std::string print(const Function& function) {
  FunctionForm writing{TextForm()};
  Function copy = function;
  writing.function(copy, true);
  return writing.text_form().written();
}

std::string statement_text(const Function& function, const Stmt* statement) {
  FunctionForm writing(TextForm(), statement);
  Function copy = function;
  writing.function(copy, true);
  constexpr size_t kLimit = 200;
  const std::string& text = writing.found();
  return text.size() > kLimit ? text.substr(0, kLimit) + "..." : text;
}

Result<FunctionPtr> parse(const std::string& text, const std::string& file, Diagnostics& diags) {
  if (!short_enough(text.size(), file, diags)) return kFailure;
  FunctionForm reading(TextForm(kDialect, text, file, diags));
  auto made = std::make_shared<Function>();
  reading.function(*made, false);
  if (!reading.text_form().token().empty()) reading.text_form().fail("expected the end of the text");
  if (reading.text_form().failed()) return kFailure;
  return FunctionPtr(made);
}

Result<std::vector<FunctionPtr>> parse_functions(const std::string& text, size_t begin, const std::string& file,
                                                 Diagnostics& diags) {
  if (!short_enough(text.size() - begin, file, diags)) return kFailure;
  FunctionForm reading(TextForm(kDialect, text, file, diags, begin));
  std::vector<FunctionPtr> out;
  while (!reading.text_form().token().empty()) {
    auto made = std::make_shared<Function>();
    reading.function(*made, true);
    out.push_back(made);
  }
  if (reading.text_form().failed()) return kFailure;
  return out;
}

}  // namespace aotc::tir
