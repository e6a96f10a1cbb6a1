// SPDX-License-Identifier: Apache-2.0
// Parser: parses the text form of TIR. parse.cpp implements functions and statements, parse_expressions.cpp implements
// expressions. Other files call parse() instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "tir/lexer.h"
#include "tir/tir.h"

namespace aotc::tir::text {

// The largest nesting depth: recursive walks over deeper trees would exhaust the stack.
constexpr int kMaxDepth = 300;

struct Parsed {
  ExprPtr expr;  // null after an error
  int depth = 0;
};

// statement_kind and expression_kind determine the kind of the next node; read_<kind> then parses it.
class Parser {
 public:
  Parser(const std::string& text, const std::string& file, Diagnostics& diags, size_t begin = 0)
      : lexer_(text, begin), file_(file), diags_(diags) {
    advance();
  }
  Result<FunctionPtr> function();
  // Parses all functions of the text; they may have scalar parameters.
  Result<std::vector<FunctionPtr>> functions();

 private:
  using Entity = std::variant<VarPtr, BufferPtr>;

  void advance() { token_ = lexer_.next(); }
  bool error(const Token& where, std::string message);
  // Reports "expected X, not Y" at the current token.
  bool expected(std::string_view what);
  bool is(std::string_view text) const {
    return (token_.kind == TokenKind::kPunctuation || token_.kind == TokenKind::kName) && token_.text == text;
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

  // One function for each kind of node in the lists of tir.h. It parses the node from its first word on.
#define AOTC_TIR_READER(Name) StmtPtr read_##Name();
  AOTC_TIR_STATEMENTS(AOTC_TIR_READER)
#undef AOTC_TIR_READER
#define AOTC_TIR_READER(Name) Parsed read_##Name();
  AOTC_TIR_EXPRESSIONS(AOTC_TIR_READER)
#undef AOTC_TIR_READER

  StmtPtr statement();
  // Returns the kind of the next statement; nullopt after an error.
  std::optional<StmtKind> statement_kind();
  std::optional<ExprKind> expression_kind();
  // Returns the buffer or variable that the current token names; null, after an error, if it names none.
  const Entity* named();

  bool rest_of_function(Function* made, bool with_scalars);
  FunctionPtr next_function(bool with_scalars);
  bool kernel();

  Parsed expr() { return binary(1); }
  Parsed binary(int least);
  Parsed operand();
  Parsed number(bool negative);
  Parsed typed(DType type, bool negative);
  // Parses exactly `count` arguments after a function's name.
  bool values(size_t count, std::vector<ExprPtr>* args, int* depth);
  // Parses "[index]" after a buffer.
  Parsed index();
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

}  // namespace aotc::tir::text
