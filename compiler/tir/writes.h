// SPDX-License-Identifier: Apache-2.0
// Writes: the buffers and variables that the statements of a TIR body write.
#pragma once

#include <unordered_set>

#include "tir/visit.h"

namespace aotc::tir {

// `targets`: the written buffers and variables. A loop whose end reads one of them may change its length.
struct Writes {
  std::unordered_set<const void*> targets;
  void add(const StmtPtr& s);
  // Buffers whose addresses are direct parts of the node.
  template <typename Node>
  void add_addresses(const Node& n) {
    for_each_operand(n, [&](const Expr& e) {
      if (e.kind == ExprKind::kAddress) targets.insert(static_cast<const Address&>(e).buffer.get());
    });
  }
};

inline void Writes::add(const StmtPtr& s) {
  if (!s) return;
  for_each_stmt(*s, [&](const Stmt& n) {
    if (n.kind == StmtKind::kAssign) targets.insert(static_cast<const Assign&>(n).var.get());
    if (n.kind == StmtKind::kStore) targets.insert(static_cast<const Store&>(n).buffer.get());
    if (n.kind == StmtKind::kCallKernel) add_addresses(n);
    if (n.kind == StmtKind::kEvaluate && static_cast<const Evaluate&>(n).value)
      add_addresses(*static_cast<const Evaluate&>(n).value);
  });
}

}  // namespace aotc::tir
