// SPDX-License-Identifier: Apache-2.0
#include "tir/visit.h"

namespace aotc::tir {

// Puts into a copy of a node what the mutator makes of its parts.
struct Mutator::Rebuild {
  Mutator& to;
  bool changed = false;

  template <typename P>
  void replace(P& part, P with) {
    changed = changed || with != part;
    part = std::move(with);
  }
  void expr(ExprPtr& e) { replace(e, to.expr(e)); }
  void stmt(StmtPtr& s) { replace(s, to.stmt(s)); }
  void use(VarPtr& v) { replace(v, to.use(v)); }
  void define(VarPtr& v) { replace(v, to.define(v)); }
  void buffer(BufferPtr& b) { replace(b, to.buffer(b)); }
  void allocate(BufferPtr& b) { replace(b, to.allocate(b)); }
  void kernel(const KernelPtr&) {}
  template <typename T>
  void value(const T&) {}

  template <typename Pointer>
  static Pointer of(Mutator& to, const Pointer& node) {
    return visit(*node, [&](const auto& n) -> Pointer {
      using Node = std::decay_t<decltype(n)>;
      Node copy = n;
      Rebuild parts{to};
      Node::fields(copy, parts);
      return parts.changed ? std::make_shared<Node>(std::move(copy)) : node;
    });
  }
};

ExprPtr Mutator::rebuilt(const ExprPtr& e) { return Rebuild::of(*this, e); }
StmtPtr Mutator::rebuilt(const StmtPtr& s) { return Rebuild::of(*this, s); }

ExprPtr Mutator::expr(const ExprPtr& e) { return e ? rebuilt(e) : e; }
StmtPtr Mutator::stmt(const StmtPtr& s) { return s ? rebuilt(s) : s; }

}  // namespace aotc::tir
