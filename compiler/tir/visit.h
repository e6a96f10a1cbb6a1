// SPDX-License-Identifier: Apache-2.0
// Functions that walk and rewrite TIR. They use only the list of node kinds and the function `fields` of each node
// (tir/tir.h), so a new kind of node needs no change here. A shared node is visited once for each of its parents.
#pragma once

#include <cstdlib>
#include <type_traits>
#include <utility>

#include "tir/tir.h"

namespace aotc::tir {

// Combines functions for several node types: visit(e, Overloaded{[](const Load&) {...}, [](const auto&) {...}}).
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

// Calls f with the node, cast to the type of its kind.
template <typename F>
decltype(auto) visit(const Expr& e, F&& f) {
#define AOTC_TIR_CASE(Name) \
  case ExprKind::k##Name:   \
    return std::forward<F>(f)(static_cast<const Name&>(e));
  switch (e.kind) { AOTC_TIR_EXPRESSIONS(AOTC_TIR_CASE) }
#undef AOTC_TIR_CASE
  std::abort();
}

template <typename F>
decltype(auto) visit(const Stmt& s, F&& f) {
#define AOTC_TIR_CASE(Name) \
  case StmtKind::k##Name:   \
    return std::forward<F>(f)(static_cast<const Name&>(s));
  switch (s.kind) { AOTC_TIR_STATEMENTS(AOTC_TIR_CASE) }
#undef AOTC_TIR_CASE
  std::abort();
}

// A base for the argument f of `fields` that ignores every part. Derived classes handle only some parts.
struct IgnoreFields {
  void expr(const ExprPtr&) {}
  void stmt(const StmtPtr&) {}
  void use(const VarPtr&) {}
  void define(const VarPtr&) {}
  void buffer(const BufferPtr&) {}
  void allocate(const BufferPtr&) {}
  void kernel(const KernelPtr&) {}
  template <typename T>
  void value(const T&) {}
};

// Calls e(const Expr&) for each direct subexpression and s(const Stmt&) for each direct substatement of a node, in
// order of evaluation.
template <typename Node, typename E, typename S>
void for_each_child(const Node& node, E&& e, S&& s) {
  struct Children : IgnoreFields {
    E& on_expr;
    S& on_stmt;
    Children(E& e, S& s) : on_expr(e), on_stmt(s) {}
    void expr(const ExprPtr& child) {
      if (child) on_expr(*child);
    }
    void stmt(const StmtPtr& child) {
      if (child) on_stmt(*child);
    }
  };
  visit(node, [&](const auto& n) { std::decay_t<decltype(n)>::fields(n, Children(e, s)); });
}

// Calls f(const Expr&) for each direct subexpression of a node.
template <typename Node, typename F>
void for_each_operand(const Node& node, F&& f) {
  for_each_child(node, f, [](const Stmt&) {});
}

// True if the predicate holds for every direct subexpression.
template <typename F>
bool all_children(const Expr& e, F&& holds) {
  bool all = true;
  for_each_operand(e, [&](const Expr& child) { all = all && holds(child); });
  return all;
}

// Calls f(const Stmt&) for a statement and all statements inside it, outermost first.
template <typename F>
void for_each_stmt(const Stmt& s, F&& f) {
  f(s);
  for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { for_each_stmt(child, f); });
}

// Rewrites trees: a derived class overrides functions to replace parts. Unchanged nodes are not copied. Replacements
// must keep types; a new buffer has the same element type.
class Mutator {
 public:
  virtual ~Mutator() = default;

  virtual ExprPtr expr(const ExprPtr& e);
  virtual StmtPtr stmt(const StmtPtr& s);

 protected:
  virtual VarPtr use(const VarPtr& v) { return v; }
  virtual VarPtr define(const VarPtr& v) { return v; }
  virtual BufferPtr buffer(const BufferPtr& b) { return b; }
  virtual BufferPtr allocate(const BufferPtr& b) { return buffer(b); }

  // Returns the node with its parts rewritten.
  ExprPtr rebuilt(const ExprPtr& e);
  StmtPtr rebuilt(const StmtPtr& s);

 private:
  struct Rebuild;
};

}  // namespace aotc::tir
