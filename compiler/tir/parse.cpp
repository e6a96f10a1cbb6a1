// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the text form (docs/ir.md). Any bytes give a function or one located
// [tir-parse] error: nesting and sizes are bounded, names must be declared before use. Types are
// not checked here: verify() does that, also for functions that never were text.
#include "tir/parse.h"

#include "tir/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <variant>

#include "tir/arithmetic.h"
#include "tir/forms.h"
#include "tir/print.h"

namespace aotc::tir {

namespace text {

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

bool Parser::expect(std::string_view text) { return accept(text) || expected(fmt::format("'{}'", text)); }

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
    if ((alignment & (alignment - 1)) != 0) return error(number, "an alignment must be a power of two");
    made->alignment = static_cast<int>(alignment);
  }
  if (accept("program")) made->space = Space::kProgram;
  last_buffer_ = made;
  return declare(where, made->name, last_buffer_);
}

// '(' [ROLE BUFFER {',' ROLE BUFFER}] {',' 'scalar' NAME} ')' BLOCK; scalars only in kernels and
// functions of programs.
bool Parser::rest_of_function(Function* made, bool with_scalars) {
  if (!expect("(")) return false;
  while (!is(")")) {
    if (!(made->params.empty() && made->scalars.empty()) && !expect(",")) return false;
    if (with_scalars && accept("scalar")) {
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
      return expected(with_scalars ? "'in', 'const', 'out', 'scratch' or 'scalar'"
                                   : "'in', 'const', 'out' or 'scratch'");
    advance();
    if (!buffer(*role)) return false;
    made->params.push_back(last_buffer_);
  }
  advance();
  made->body = read_Block();
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

FunctionPtr Parser::next_function(bool with_scalars) {
  kernels_.clear();
  while (accept("kernel"))
    if (!kernel()) return nullptr;
  auto made = std::make_shared<Function>();
  open_scope();
  if (!expect("func") || !new_name(&made->name) || !rest_of_function(made.get(), with_scalars)) return nullptr;
  close_scope();
  return made;
}

Result<FunctionPtr> Parser::function() {
  FunctionPtr made = next_function(false);
  if (!made) return kFailure;
  if (token_.kind != TokenKind::kEnd) {
    expected("the end of the text");
    return kFailure;
  }
  return made;
}

Result<std::vector<FunctionPtr>> Parser::functions() {
  std::vector<FunctionPtr> out;
  while (token_.kind != TokenKind::kEnd) {
    out.push_back(next_function(true));
    if (!out.back()) return kFailure;
  }
  return out;
}

std::optional<StmtKind> Parser::statement_kind() {
  if (token_.kind == TokenKind::kComment) return StmtKind::kComment;
  if (const auto kind = kind_of(kStatementForms, token_.text)) return kind;
  if (token_.kind != TokenKind::kName || is_text_keyword(token_.text)) {
    expected("a statement");
    return std::nullopt;
  }
  const Entity* found = named();
  if (!found) return std::nullopt;
  return std::holds_alternative<VarPtr>(*found) ? StmtKind::kAssign : StmtKind::kStore;
}

StmtPtr Parser::statement() {
#define AOTC_TIR_READER(Name) &Parser::read_##Name,
  static constexpr StmtPtr (Parser::* kReaders[])() = {AOTC_TIR_STATEMENTS(AOTC_TIR_READER)};
#undef AOTC_TIR_READER
  const auto kind = statement_kind();
  return kind ? (this->*kReaders[static_cast<size_t>(*kind)])() : nullptr;
}

const Parser::Entity* Parser::named() {
  const Entity* found = find(token_.text);
  if (!found) error(token_, fmt::format("'{}' is not declared", escape_for_display(std::string(token_.text))));
  return found;
}

StmtPtr Parser::read_Block() {
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

StmtPtr Parser::read_Comment() {
  std::string text;
  auto hex = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string_view raw = token_.text;
  for (size_t i = 0; i < raw.size(); ++i) {
    bool escape =
        raw[i] == '\\' && i + 3 < raw.size() && raw[i + 1] == 'x' && hex(raw[i + 2]) >= 0 && hex(raw[i + 3]) >= 0;
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

StmtPtr Parser::read_For() {
  advance();
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
  StmtPtr body = read_Block();
  if (!body) return nullptr;
  close_scope();
  return std::make_shared<For>(variable, begin.expr, end.expr, step, body);
}

StmtPtr Parser::read_If() {
  advance();
  Parsed condition = expr();
  if (!condition.expr) return nullptr;
  StmtPtr then = read_Block();
  if (!then) return nullptr;
  StmtPtr otherwise;
  if (accept("else") && !(otherwise = read_Block())) return nullptr;
  return std::make_shared<If>(condition.expr, then, otherwise);
}

StmtPtr Parser::read_Declare() {
  const bool is_mutable = is("var");
  advance();
  Token where = token_;
  Variable variable;
  if (!new_name(&variable.name) || !expect(":") || !dtype(&variable.dtype) || !expect("=")) return nullptr;
  Parsed init = expr();
  if (!init.expr) return nullptr;
  auto made = std::make_shared<const Variable>(variable);
  if (!declare(where, variable.name, made)) return nullptr;
  return std::make_shared<Declare>(made, init.expr, is_mutable);
}

StmtPtr Parser::read_Assign() {
  const VarPtr variable = std::get<VarPtr>(*named());
  advance();
  if (!expect("=")) return nullptr;
  Parsed value = expr();
  return value.expr ? std::make_shared<Assign>(variable, value.expr) : nullptr;
}

StmtPtr Parser::read_Store() {
  const BufferPtr buffer = std::get<BufferPtr>(*named());
  advance();
  Parsed at = index();
  if (!at.expr || !expect("=")) return nullptr;
  Parsed value = expr();
  return value.expr ? std::make_shared<Store>(buffer, at.expr, value.expr) : nullptr;
}

StmtPtr Parser::read_Alloc() {
  advance();
  return buffer(Role::kLocal) ? std::make_shared<Alloc>(last_buffer_) : nullptr;
}

StmtPtr Parser::read_Evaluate() {
  advance();
  Parsed value = expr();
  return value.expr ? std::make_shared<Evaluate>(value.expr) : nullptr;
}

StmtPtr Parser::read_CallKernel() {
  advance();
  Token name = token_;
  auto found = kernels_.find(std::string(name.text));
  // So deep and no deeper: what is called twice at each depth has no end.
  if (found == kernels_.end() || (in_kernel_ && !kernels_of(*found->second->meaning).empty())) {
    error(name, fmt::format("'{}' is not a kernel", escape_for_display(std::string(name.text))));
    return nullptr;
  }
  KernelPtr kernel = found->second;
  advance();
  std::vector<ExprPtr> args;
  int depth = 0;
  if (!arguments(&args, &depth)) return nullptr;
  return std::make_shared<CallKernel>(kernel, std::move(args));
}

StmtPtr Parser::read_Trace() {
  advance();
  int64_t result = 0, bytes = 0;
  if (!count(0, int_range(DType::kI32).max, &result) || !count(0, int_range(DType::kI32).max, &bytes)) return nullptr;
  const Parsed from = expr();
  return from.expr ? std::make_shared<Trace>(result, from.expr, bytes) : nullptr;
}

StmtPtr Parser::read_Fail() {
  advance();
  return std::make_shared<Fail>();
}

}  // namespace text

constexpr size_t kMaxText = size_t{8} << 20;

namespace {

bool short_enough(size_t bytes, const std::string& file, Diagnostics& diags) {
  if (bytes <= kMaxText) return true;
  Location where;
  where.file = file;
  diags.error(where, "tir-parse", fmt::format("the text is longer than {} bytes", kMaxText));
  return false;
}

}  // namespace

Result<FunctionPtr> parse(const std::string& text, const std::string& file, Diagnostics& diags) {
  if (!short_enough(text.size(), file, diags)) return kFailure;
  return text::Parser(text, file, diags).function();
}

Result<std::vector<FunctionPtr>> parse_functions(const std::string& text, size_t begin, const std::string& file,
                                                 Diagnostics& diags) {
  if (!short_enough(text.size() - begin, file, diags)) return kFailure;
  return text::Parser(text, file, diags, begin).functions();
}

}  // namespace aotc::tir
