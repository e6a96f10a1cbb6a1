// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the text form (docs/ir.md). Any bytes give a function or one located
// [tir-parse] error: nesting and sizes are bounded, names must be declared before use. Types are
// not checked here: verify() does that, also for functions that never were text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <variant>

#include "tir/arithmetic.h"
#include "tir/lexer.h"
#include "tir/print.h"

namespace aotc::tir {

namespace {

constexpr size_t kMaxText = size_t{8} << 20;
// Deeper trees would need more stack than every later walk over them can count on.
constexpr int kMaxDepth = 300;

struct Parsed {
  ExprPtr expr;  // null after an error
  int depth = 0;
};

class Parser {
 public:
  Parser(const std::string& text, const std::string& file, Diagnostics& diags)
      : lexer_(text), file_(file), diags_(diags) {
    advance();
  }
  Result<FunctionPtr> function();

 private:
  using Entity = std::variant<VarPtr, BufferPtr>;

  void advance() { token_ = lexer_.next(); }
  bool error(const Token& where, std::string message);
  // "expected X, not Y" at the current token.
  bool expected(std::string_view what);
  bool is(std::string_view text) const {
    return (token_.kind == TokenKind::kPunctuation || token_.kind == TokenKind::kName) &&
           token_.text == text;
  }
  bool accept(std::string_view text);
  bool expect(std::string_view text);

  bool new_name(std::string* name);
  bool declare(const Token& where, const std::string& name, Entity entity);
  const Entity* find(std::string_view name) const;
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();

  bool dtype(DType* type);
  bool count(int64_t least, int64_t most, int64_t* value);
  bool buffer(Role role);

  StmtPtr block();
  StmtPtr statement();
  StmtPtr loop();
  StmtPtr branch();
  StmtPtr declaration(bool is_mutable);
  StmtPtr assignment();
  StmtPtr comment();
  bool rest_of_function(Function* made, bool is_kernel);
  bool kernel();
  StmtPtr kernel_call();

  Parsed expr() { return binary(1); }
  Parsed binary(int least);
  Parsed unary();
  Parsed primary();
  Parsed number(bool negative);
  Parsed named();
  Parsed typed(DType type, bool negative);
  Parsed function_call(const Token& name);
  Parsed address();
  bool arguments(std::vector<ExprPtr>* args, int* depth);
  std::optional<BinaryOp> binary_operator(bool* wrapping) const;
  Parsed deeper(ExprPtr e, int depth);

  Lexer lexer_;
  Token token_;
  std::string file_;
  Diagnostics& diags_;
  bool failed_ = false;
  int nesting_ = 0;
  std::unordered_map<std::string, Entity> entities_;
  std::vector<std::vector<std::string>> scopes_;
  BufferPtr last_buffer_;
  std::unordered_map<std::string, KernelPtr> kernels_;
  bool in_kernel_ = false;
};

bool Parser::error(const Token& where, std::string message) {
  if (failed_) return false;
  failed_ = true;
  Location location;
  location.file = file_;
  location.line = where.line;
  location.column = where.column;
  diags_.error(location, "tir-parse", std::move(message));
  return false;
}

bool Parser::expected(std::string_view what) {
  std::string found;
  switch (token_.kind) {
    case TokenKind::kEnd: found = "the end of the text"; break;
    case TokenKind::kComment: found = "a comment"; break;
    default: found = fmt::format("'{}'", escape_for_display(std::string(token_.text), 40));
  }
  return error(token_, fmt::format("expected {}, not {}", what, found));
}

bool Parser::accept(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

bool Parser::expect(std::string_view text) {
  return accept(text) || expected(fmt::format("'{}'", text));
}

bool Parser::new_name(std::string* name) {
  if (token_.kind != TokenKind::kName || is_text_keyword(token_.text)) return expected("a name");
  *name = std::string(token_.text);
  advance();
  return true;
}

bool Parser::declare(const Token& where, const std::string& name, Entity entity) {
  if (!entities_.try_emplace(name, std::move(entity)).second)
    return error(where, fmt::format("'{}' is already declared", name));
  scopes_.back().push_back(name);
  return true;
}

const Parser::Entity* Parser::find(std::string_view name) const {
  auto it = entities_.find(std::string(name));
  return it == entities_.end() ? nullptr : &it->second;
}

void Parser::close_scope() {
  for (const std::string& name : scopes_.back()) entities_.erase(name);
  scopes_.pop_back();
}

bool Parser::dtype(DType* type) {
  std::optional<DType> found;
  if (token_.kind == TokenKind::kName) found = dtype_from_name(token_.text);
  if (!found || *found == DType::kI4) return expected("a type");
  *type = *found;
  advance();
  return true;
}

bool Parser::count(int64_t least, int64_t most, int64_t* value) {
  if (token_.kind != TokenKind::kNumber) return expected("a number");
  const char* end = token_.text.data() + token_.text.size();
  auto [rest, status] = std::from_chars(token_.text.data(), end, *value);
  if (status != std::errc() || rest != end || *value < least || *value > most)
    return error(token_, fmt::format("expected a number from {} to {}", least, most));
  advance();
  return true;
}

// NAME ':' TYPE '[' COUNT ']' ['align' COUNT] ['program']
bool Parser::buffer(Role role) {
  auto made = std::make_shared<Buffer>();
  made->role = role;
  Token where = token_;
  if (!new_name(&made->name) || !expect(":") || !dtype(&made->dtype) || !expect("[") ||
      !count(0, int_range(DType::kI32).max, &made->elements) || !expect("]"))
    return false;
  if (accept("align")) {
    int64_t alignment = 1;
    Token number = token_;
    if (!count(1, 1 << 20, &alignment)) return false;
    if ((alignment & (alignment - 1)) != 0)
      return error(number, "an alignment is a power of two");
    made->alignment = static_cast<int>(alignment);
  }
  if (accept("program")) made->space = Space::kProgram;
  last_buffer_ = made;
  return declare(where, made->name, last_buffer_);
}

// '(' [ROLE BUFFER {',' ROLE BUFFER}] {',' 'scalar' NAME} ')' BLOCK; scalars only in kernels.
bool Parser::rest_of_function(Function* made, bool is_kernel) {
  if (!expect("(")) return false;
  while (!is(")")) {
    if (!(made->params.empty() && made->scalars.empty()) && !expect(",")) return false;
    if (is_kernel && accept("scalar")) {
      Token where = token_;
      std::string name;
      if (!new_name(&name)) return false;
      made->scalars.push_back(std::make_shared<const Variable>(Variable{name, DType::kI32}));
      if (!declare(where, name, made->scalars.back())) return false;
      continue;
    }
    std::optional<Role> role;
    for (Role r : {Role::kInput, Role::kConstant, Role::kOutput, Role::kScratch})
      if (is(spelling_of(r))) role = r;
    if (!role || !made->scalars.empty())
      return expected(is_kernel ? "'in', 'const', 'out', 'scratch' or 'scalar'"
                                : "'in', 'const', 'out' or 'scratch'");
    advance();
    if (!buffer(*role)) return false;
    made->params.push_back(last_buffer_);
  }
  advance();
  made->body = block();
  return !failed_;
}

// 'kernel' FAMILY {NAME '=' ['-'] NUMBER} and the rest of a function that is its meaning.
bool Parser::kernel() {
  auto made = std::make_shared<Kernel>();
  auto meaning = std::make_shared<Function>();
  Token where = token_;
  if (!new_name(&made->family)) return false;
  while (!is("(")) {
    std::string name;
    int64_t value = 0;
    // In front of '=' a keyword is a name like any other.
    if (token_.kind != TokenKind::kName) return expected("a name");
    name = std::string(token_.text);
    advance();
    if (!expect("=")) return false;
    bool negative = accept("-");
    if (!count(0, int_range(DType::kI32).max, &value)) return false;
    made->parameters.emplace_back(name, negative ? -value : value);
  }
  meaning->name = made->family;
  open_scope();
  in_kernel_ = true;
  if (!rest_of_function(meaning.get(), true)) return false;
  in_kernel_ = false;
  close_scope();
  made->meaning = meaning;
  if (!kernels_.try_emplace(name_of(*made), made).second)
    return error(where, fmt::format("kernel '{}' is already declared", name_of(*made)));
  return true;
}

Result<FunctionPtr> Parser::function() {
  while (accept("kernel"))
    if (!kernel()) return kFailure;
  auto made = std::make_shared<Function>();
  open_scope();
  if (!expect("func") || !new_name(&made->name) || !rest_of_function(made.get(), false))
    return kFailure;
  if (token_.kind != TokenKind::kEnd) {
    expected("the end of the text");
    return kFailure;
  }
  return FunctionPtr(made);
}

StmtPtr Parser::kernel_call() {
  Token name = token_;
  auto found = kernels_.find(std::string(name.text));
  if (found == kernels_.end() || in_kernel_) {
    error(name, fmt::format("'{}' is no kernel", escape_for_display(std::string(name.text))));
    return nullptr;
  }
  KernelPtr kernel = found->second;
  advance();
  std::vector<ExprPtr> args;
  int depth = 0;
  if (!arguments(&args, &depth)) return nullptr;
  return std::make_shared<CallKernel>(kernel, std::move(args));
}

StmtPtr Parser::block() {
  if (nesting_ >= kMaxDepth) {
    error(token_, fmt::format("blocks are nested deeper than {}", kMaxDepth));
    return nullptr;
  }
  if (!expect("{")) return nullptr;
  ++nesting_;
  open_scope();
  std::vector<StmtPtr> body;
  while (!is("}")) {
    StmtPtr s = statement();
    if (!s || failed_) return nullptr;
    body.push_back(std::move(s));
  }
  advance();
  close_scope();
  --nesting_;
  return std::make_shared<Block>(std::move(body));
}

StmtPtr Parser::statement() {
  if (token_.kind == TokenKind::kComment) return comment();
  if (is("{")) return block();
  if (accept("for")) return loop();
  if (accept("if")) return branch();
  if (accept("let")) return declaration(false);
  if (accept("var")) return declaration(true);
  if (accept("alloc")) {
    if (!buffer(Role::kLocal)) return nullptr;
    return std::make_shared<Alloc>(last_buffer_);
  }
  if (accept("eval")) {
    Parsed value = expr();
    return value.expr ? std::make_shared<Evaluate>(value.expr) : nullptr;
  }
  if (accept("run")) return kernel_call();
  if (accept("fail")) return std::make_shared<Fail>();
  if (token_.kind != TokenKind::kName || is_text_keyword(token_.text)) {
    expected("a statement");
    return nullptr;
  }
  return assignment();
}

StmtPtr Parser::comment() {
  std::string text;
  auto hex = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string_view raw = token_.text;
  for (size_t i = 0; i < raw.size(); ++i) {
    bool escape = raw[i] == '\\' && i + 3 < raw.size() && raw[i + 1] == 'x' &&
                  hex(raw[i + 2]) >= 0 && hex(raw[i + 3]) >= 0;
    if (escape) {
      text += static_cast<char>(hex(raw[i + 2]) * 16 + hex(raw[i + 3]));
      i += 3;
    } else {
      text += raw[i];
    }
  }
  advance();
  return std::make_shared<Comment>(std::move(text));
}

StmtPtr Parser::loop() {
  Token where = token_;
  std::string name;
  if (!new_name(&name) || !expect("in")) return nullptr;
  Parsed begin = expr();
  if (!begin.expr || !expect("..")) return nullptr;
  Parsed end = expr();
  if (!end.expr) return nullptr;
  int64_t step = 1;
  if (accept("step") && !count(1, int_range(DType::kI32).max, &step)) return nullptr;
  auto variable = std::make_shared<const Variable>(Variable{name, DType::kI32});
  open_scope();
  if (!declare(where, name, variable)) return nullptr;
  StmtPtr body = block();
  if (!body) return nullptr;
  close_scope();
  return std::make_shared<For>(variable, begin.expr, end.expr, step, body);
}

StmtPtr Parser::branch() {
  Parsed condition = expr();
  if (!condition.expr) return nullptr;
  StmtPtr then = block();
  if (!then) return nullptr;
  StmtPtr otherwise;
  if (accept("else") && !(otherwise = block())) return nullptr;
  return std::make_shared<If>(condition.expr, then, otherwise);
}

StmtPtr Parser::declaration(bool is_mutable) {
  Token where = token_;
  Variable variable;
  if (!new_name(&variable.name) || !expect(":") || !dtype(&variable.dtype) || !expect("="))
    return nullptr;
  Parsed init = expr();
  if (!init.expr) return nullptr;
  auto made = std::make_shared<const Variable>(variable);
  if (!declare(where, variable.name, made)) return nullptr;
  return std::make_shared<Declare>(made, init.expr, is_mutable);
}

StmtPtr Parser::assignment() {
  Token name = token_;
  const Entity* found = find(name.text);
  if (!found) {
    error(name, fmt::format("'{}' is not declared", escape_for_display(std::string(name.text))));
    return nullptr;
  }
  Entity entity = *found;
  advance();
  if (const VarPtr* variable = std::get_if<VarPtr>(&entity)) {
    if (!expect("=")) return nullptr;
    Parsed value = expr();
    return value.expr ? std::make_shared<Assign>(*variable, value.expr) : nullptr;
  }
  if (!expect("[")) return nullptr;
  Parsed index = expr();
  if (!index.expr || !expect("]") || !expect("=")) return nullptr;
  Parsed value = expr();
  if (!value.expr) return nullptr;
  return std::make_shared<Store>(std::get<BufferPtr>(entity), index.expr, value.expr);
}

// ---------------------------------------------------------------- expressions

Parsed Parser::deeper(ExprPtr e, int depth) {
  if (depth < kMaxDepth) return {std::move(e), depth + 1};
  error(token_, fmt::format("the expression is nested deeper than {}", kMaxDepth));
  return {};
}

std::optional<BinaryOp> Parser::binary_operator(bool* wrapping) const {
  if (token_.kind != TokenKind::kPunctuation) return std::nullopt;
  std::string_view text = token_.text;
  *wrapping = text.size() > 1 && text.back() == '%';
  if (*wrapping) text.remove_suffix(1);
  for (int i = 0; i <= static_cast<int>(BinaryOp::kOr); ++i)
    if (spelling_of(static_cast<BinaryOp>(i)) == text) return static_cast<BinaryOp>(i);
  return std::nullopt;
}

Parsed Parser::binary(int least) {
  Parsed left = unary();
  while (left.expr) {
    bool wrapping = false;
    std::optional<BinaryOp> op = binary_operator(&wrapping);
    if (!op || strength_of(*op) < least) break;
    advance();
    Parsed right = binary(strength_of(*op) + 1);
    if (!right.expr) return {};
    DType type = gives_truth(*op) ? DType::kI32 : left.expr->type;
    left = deeper(std::make_shared<Binary>(*op, type, left.expr, right.expr, wrapping),
                  std::max(left.depth, right.depth));
  }
  return left;
}

Parsed Parser::unary() {
  if (nesting_ >= kMaxDepth) {
    error(token_, fmt::format("the expression is nested deeper than {}", kMaxDepth));
    return {};
  }
  ++nesting_;
  Parsed result;
  std::optional<UnaryOp> op;
  for (UnaryOp u : {UnaryOp::kNeg, UnaryOp::kLogicalNot, UnaryOp::kBitNot})
    if (is(spelling_of(u))) op = u;
  if (op) {
    advance();
    bool number_follows = *op == UnaryOp::kNeg && token_.kind == TokenKind::kNumber;
    std::optional<DType> type;
    if (*op == UnaryOp::kNeg && token_.kind == TokenKind::kName) type = dtype_from_name(token_.text);
    if (number_follows) {
      result = number(true);
    } else if (type) {
      advance();
      result = typed(*type, true);
    } else {
      Parsed value = unary();
      if (value.expr) result = deeper(std::make_shared<Unary>(*op, value.expr), value.depth);
    }
  } else {
    result = primary();
  }
  --nesting_;
  return result;
}

Parsed Parser::primary() {
  if (token_.kind == TokenKind::kNumber) return number(false);
  if (token_.kind == TokenKind::kName) return named();
  if (accept("&")) return address();
  if (accept("(")) {
    Parsed inner = expr();
    if (!inner.expr || !expect(")")) return {};
    return inner;
  }
  expected("an expression");
  return {};
}

// DIGITS [suffix], or a float with suffix.
Parsed Parser::number(bool negative) {
  Token token = token_;
  std::string_view text = token.text;
  DType type = DType::kI32;
  size_t suffix = 0;
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    std::string_view name = name_of(static_cast<DType>(i));
    if (!text.ends_with(name) || name.size() < suffix) continue;
    type = static_cast<DType>(i);
    suffix = name.size();
  }
  text.remove_suffix(suffix);
  advance();
  const char* end = text.data() + text.size();
  auto bad = [&](const char* why) {
    error(token, fmt::format("'{}{}' {}", negative ? "-" : "",
                             escape_for_display(std::string(token.text), 40), why));
    return Parsed{};
  };
  if (is_float(type)) {
    double value = 0;
    float single = 0;
    auto [rest, status] = type == DType::kF32 ? std::from_chars(text.data(), end, single)
                                              : std::from_chars(text.data(), end, value);
    if (type == DType::kF32) value = single;
    if (status != std::errc() || rest != end) return bad("is no number of its type");
    return {std::make_shared<FloatImm>(type, negative ? -value : value), 1};
  }
  uint64_t value = 0;
  auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc() && rest != end)
    return bad("is no number: a type suffix such as f32 or i64 may follow the digits");
  bool large = status != std::errc() || value > (uint64_t{1} << 63) - (negative ? 0 : 1);
  int64_t result = static_cast<int64_t>(negative ? 0 - value : value);
  if (large || !fits(type, result)) return bad("does not fit its type");
  return {std::make_shared<IntImm>(type, result), 1};
}

// After a type name: a cast, or TYPE.inf, TYPE.nan.
Parsed Parser::typed(DType type, bool negative) {
  if (is_float(type) && accept(".")) {
    bool infinite = is("inf");
    if (!infinite && !is("nan")) {
      expected("'inf' or 'nan'");
      return {};
    }
    advance();
    double value = infinite ? std::numeric_limits<double>::infinity() : std::nan("");
    return {std::make_shared<FloatImm>(type, negative ? -value : value), 1};
  }
  bool wrapping = accept("%");
  if (!expect("(")) return {};
  Parsed value = expr();
  if (!value.expr || !expect(")")) return {};
  Parsed result = deeper(std::make_shared<Cast>(type, value.expr, wrapping), value.depth);
  if (!negative || !result.expr) return result;
  return deeper(std::make_shared<Unary>(UnaryOp::kNeg, result.expr), result.depth);
}

Parsed Parser::named() {
  Token name = token_;
  advance();
  if (std::optional<DType> type = dtype_from_name(name.text)) return typed(*type, false);
  if (is_text_keyword(name.text)) return function_call(name);
  const Entity* found = find(name.text);
  if (!found) {
    error(name, fmt::format("'{}' is not declared", escape_for_display(std::string(name.text))));
    return {};
  }
  if (const VarPtr* variable = std::get_if<VarPtr>(found))
    return {std::make_shared<VarRef>(*variable), 1};
  BufferPtr buffer = std::get<BufferPtr>(*found);
  if (!expect("[")) return {};
  Parsed index = expr();
  if (!index.expr || !expect("]")) return {};
  return deeper(std::make_shared<Load>(buffer, index.expr), index.depth);
}

bool Parser::arguments(std::vector<ExprPtr>* args, int* depth) {
  if (!expect("(")) return false;
  while (!is(")")) {
    if (!args->empty() && !expect(",")) return false;
    Parsed value = expr();
    if (!value.expr) return false;
    args->push_back(value.expr);
    *depth = std::max(*depth, value.depth);
  }
  advance();
  return true;
}

Parsed Parser::function_call(const Token& name) {
  const IntrinsicInfo* info = intrinsic_from_name(name.text);
  bool least = name.text == "min";
  bool chooses = name.text == "select";
  if (!info && !chooses && !least && name.text != "max") {
    error(name, fmt::format("expected an expression, not '{}'", name.text));
    return {};
  }
  std::vector<ExprPtr> args;
  int depth = 0;
  if (!arguments(&args, &depth)) return {};
  size_t wanted = info ? static_cast<size_t>(info->args) : chooses ? 3 : 2;
  if (args.size() != wanted) {
    error(name, fmt::format("'{}' takes {} arguments, not {}", name.text, wanted, args.size()));
    return {};
  }
  if (chooses) return deeper(std::make_shared<Select>(args[0], args[1], args[2]), depth);
  if (!info) {
    BinaryOp op = least ? BinaryOp::kMin : BinaryOp::kMax;
    return deeper(std::make_shared<Binary>(op, args[0]->type, args[0], args[1], false), depth);
  }
  DType type = result_type(info->id, args[0]->type);
  return deeper(std::make_shared<Call>(info->id, type, std::move(args)), depth);
}

Parsed Parser::address() {
  const Entity* found = token_.kind == TokenKind::kName ? find(token_.text) : nullptr;
  const BufferPtr* named = found ? std::get_if<BufferPtr>(found) : nullptr;
  if (!named) {
    expected("a buffer");
    return {};
  }
  BufferPtr buffer = *named;
  advance();
  if (!expect("[")) return {};
  Parsed index = expr();
  if (!index.expr || !expect("]")) return {};
  return deeper(std::make_shared<Address>(buffer, index.expr), index.depth);
}

}  // namespace

Result<FunctionPtr> parse(const std::string& text, const std::string& file, Diagnostics& diags) {
  if (text.size() > kMaxText) {
    Location where;
    where.file = file;
    diags.error(where, "tir-parse", fmt::format("the text is longer than {} bytes", kMaxText));
    return kFailure;
  }
  return Parser(text, file, diags).function();
}

}  // namespace aotc::tir
