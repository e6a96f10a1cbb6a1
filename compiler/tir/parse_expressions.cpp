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

}  // namespace aotc::tir::text
