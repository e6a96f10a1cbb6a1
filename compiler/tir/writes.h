// SPDX-License-Identifier: Apache-2.0
// Writes: collects the buffers and variables that TIR statements write.
#pragma once

#include <unordered_set>

#include "tir/visit.h"

namespace aotc::tir {

// `targets`: pointers to the written buffers and variables. If a loop's body writes a target that the loop's end reads,
// the number of iterations may change during the loop.
struct Writes {
  std::unordered_set<const void*> targets;
  void add(const StmtPtr& s);
  // Adds buffers whose addresses are direct operands of the node.
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
