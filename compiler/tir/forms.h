// SPDX-License-Identifier: Apache-2.0
// The keywords by which TIR's text form identifies the kind of a node. A node without a keyword begins with a declared
// name (VarRef, Load, Assign, Store), a number (IntImm, FloatImm), a type (Cast) or the name of a function (Call).
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "tir/tir.h"

namespace aotc::tir::text {

template <typename Kind>
struct Form {
  std::string_view word;
  Kind kind;
};

inline constexpr Form<StmtKind> kStatementForms[] = {
    {"for", StmtKind::kFor},     {"if", StmtKind::kIf},          {"let", StmtKind::kDeclare},
    {"var", StmtKind::kDeclare}, {"eval", StmtKind::kEvaluate},  {"{", StmtKind::kBlock},
    {"alloc", StmtKind::kAlloc}, {"run", StmtKind::kCallKernel}, {"fail", StmtKind::kFail},
    {"trace", StmtKind::kTrace},
};

inline constexpr Form<ExprKind> kExpressionForms[] = {
    {"-", ExprKind::kUnary},    {"!", ExprKind::kUnary},    {"~", ExprKind::kUnary},       {"&", ExprKind::kAddress},
    {"min", ExprKind::kBinary}, {"max", ExprKind::kBinary}, {"select", ExprKind::kSelect},
};

// Keywords inside a node, after its first word.
inline constexpr std::string_view kInnerWords[] = {"else", "align"};

template <typename Kind, size_t N>
std::optional<Kind> kind_of(const Form<Kind> (&forms)[N], std::string_view word) {
  const auto found = std::find_if(std::begin(forms), std::end(forms), [&](const auto& f) { return f.word == word; });
  return found == std::end(forms) ? std::nullopt : std::optional(found->kind);
}

}  // namespace aotc::tir::text
