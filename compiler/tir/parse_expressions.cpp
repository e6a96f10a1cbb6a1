// SPDX-License-Identifier: Apache-2.0
// Expressions of the text form.
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

namespace aotc::tir::text {

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
  Parsed left = operand();
  while (left.expr) {
    bool wrapping = false;
    std::optional<BinaryOp> op = binary_operator(&wrapping);
    if (!op || strength_of(*op) < least) break;
    advance();
    Parsed right = binary(strength_of(*op) + 1);
    if (!right.expr) return {};
    DType type = gives_truth(*op) ? DType::kI32 : left.expr->type;
    left =
        deeper(std::make_shared<Binary>(*op, type, left.expr, right.expr, wrapping), std::max(left.depth, right.depth));
  }
  return left;
}

std::optional<ExprKind> Parser::expression_kind() {
  if (token_.kind == TokenKind::kNumber) return ExprKind::kIntImm;
  if (const auto kind = kind_of(kExpressionForms, token_.text)) return kind;
  if (token_.kind != TokenKind::kName) {
    expected("an expression");
    return std::nullopt;
  }
  if (dtype_from_name(token_.text)) return ExprKind::kCast;
  if (intrinsic_from_name(token_.text)) return ExprKind::kCall;
  if (is_text_keyword(token_.text)) {
    error(token_, fmt::format("expected an expression, not '{}'", token_.text));
    return std::nullopt;
  }
  const Entity* found = named();
  if (!found) return std::nullopt;
  return std::holds_alternative<VarPtr>(*found) ? ExprKind::kVarRef : ExprKind::kLoad;
}

// What operators stand between.
Parsed Parser::operand() {
#define AOTC_TIR_READER(Name) &Parser::read_##Name,
  static constexpr Parsed (Parser::* kReaders[])() = {AOTC_TIR_EXPRESSIONS(AOTC_TIR_READER)};
#undef AOTC_TIR_READER
  if (nesting_ >= kMaxDepth) {
    error(token_, fmt::format("the expression is nested deeper than {}", kMaxDepth));
    return {};
  }
  ++nesting_;
  Parsed result;
  if (accept("(")) {
    result = expr();
    if (result.expr && !expect(")")) result = {};
  } else if (const auto kind = expression_kind()) {
    result = (this->*kReaders[static_cast<size_t>(*kind)])();
  }
  --nesting_;
  return result;
}

Parsed Parser::read_Unary() {
  UnaryOp op = UnaryOp::kNeg;
  for (UnaryOp u : {UnaryOp::kLogicalNot, UnaryOp::kBitNot})
    if (is(spelling_of(u))) op = u;
  advance();
  if (op == UnaryOp::kNeg && token_.kind == TokenKind::kNumber) return number(true);
  if (op == UnaryOp::kNeg && token_.kind == TokenKind::kName)
    if (const auto type = dtype_from_name(token_.text)) {
      advance();
      return typed(*type, true);
    }
  Parsed value = operand();
  return value.expr ? deeper(std::make_shared<Unary>(op, value.expr), value.depth) : Parsed{};
}

// Which of the two a number is, its suffix says.
Parsed Parser::read_IntImm() { return number(false); }
Parsed Parser::read_FloatImm() { return number(false); }

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
    error(token, fmt::format("'{}{}' {}", negative ? "-" : "", escape_for_display(std::string(token.text), 40), why));
    return Parsed{};
  };
  if (is_float(type)) {
    double value = 0;
    float single = 0;
    auto [rest, status] =
        type == DType::kF32 ? std::from_chars(text.data(), end, single) : std::from_chars(text.data(), end, value);
    if (type == DType::kF32) value = single;
    if (status != std::errc() || rest != end) return bad("is not a number of its type");
    return {std::make_shared<FloatImm>(type, negative ? -value : value), 1};
  }
  uint64_t value = 0;
  auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc() && rest != end)
    return bad("is not a number: a type suffix such as f32 or i64 may follow the digits");
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

Parsed Parser::read_Cast() {
  const DType type = *dtype_from_name(token_.text);
  advance();
  return typed(type, false);
}

Parsed Parser::read_VarRef() {
  const VarPtr variable = std::get<VarPtr>(*named());
  advance();
  return {std::make_shared<VarRef>(variable), 1};
}

Parsed Parser::index() {
  if (!expect("[")) return {};
  Parsed at = expr();
  return at.expr && expect("]") ? at : Parsed{};
}

Parsed Parser::read_Load() {
  const BufferPtr buffer = std::get<BufferPtr>(*named());
  advance();
  Parsed at = index();
  return at.expr ? deeper(std::make_shared<Load>(buffer, at.expr), at.depth) : Parsed{};
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

bool Parser::values(size_t count, std::vector<ExprPtr>* args, int* depth) {
  const Token name = token_;
  advance();
  if (!arguments(args, depth)) return false;
  return args->size() == count ||
         error(name, fmt::format("'{}' takes {} arguments, not {}", name.text, count, args->size()));
}

Parsed Parser::read_Call() {
  const IntrinsicInfo* info = intrinsic_from_name(token_.text);
  std::vector<ExprPtr> args;
  int depth = 0;
  if (!values(static_cast<size_t>(info->args), &args, &depth)) return {};
  DType type = result_type(info->id, args[0]->type);
  return deeper(std::make_shared<Call>(info->id, type, std::move(args)), depth);
}

Parsed Parser::read_Select() {
  std::vector<ExprPtr> args;
  int depth = 0;
  if (!values(3, &args, &depth)) return {};
  return deeper(std::make_shared<Select>(args[0], args[1], args[2]), depth);
}

// min and max; the others stand between their operands.
Parsed Parser::read_Binary() {
  const BinaryOp op = is("min") ? BinaryOp::kMin : BinaryOp::kMax;
  std::vector<ExprPtr> args;
  int depth = 0;
  if (!values(2, &args, &depth)) return {};
  return deeper(std::make_shared<Binary>(op, args[0]->type, args[0], args[1], false), depth);
}

Parsed Parser::read_Address() {
  advance();
  const Entity* found = token_.kind == TokenKind::kName ? find(token_.text) : nullptr;
  const BufferPtr* buffer = found ? std::get_if<BufferPtr>(found) : nullptr;
  if (!buffer) {
    expected("a buffer");
    return {};
  }
  const BufferPtr kept = *buffer;
  advance();
  Parsed at = index();
  return at.expr ? deeper(std::make_shared<Address>(kept, at.expr), at.depth) : Parsed{};
}

}  // namespace aotc::tir::text
