// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_pointers.h"

#include <unordered_set>

#include "tir/visit.h"

namespace aotc::codegen {

namespace {

using namespace tir;  // NOLINT: every node kind is used here

class PointerFinder {
 public:
  void run(const Stmt& stmt) { walk(stmt, false); }

  std::unordered_map<const Variable*, BufferPtr> found() const {
    std::unordered_map<const Variable*, BufferPtr> out;
    for (const auto& [variable, buffer] : buffers_)
      if (candidates_.contains(variable) && !others_.contains(variable)) out.emplace(variable, buffer);
    return out;
  }

 private:
  // `advancing`: inside a loop that advances by several elements.
  void walk(const Stmt& stmt, bool advancing) {
    if (stmt.kind == StmtKind::kAssign) return assign(static_cast<const Assign&>(stmt), advancing);
    if (stmt.kind == StmtKind::kStore) {
      const auto& store = static_cast<const Store&>(stmt);
      address(store.buffer, store.index);
      return read(*store.value);
    }
    if (stmt.kind == StmtKind::kFor) {
      const auto& loop = static_cast<const For&>(stmt);
      if (loop.step > 1) candidates_.insert(loop.var.get());
      advancing = advancing || loop.step > 1;
    }
    for_each_child(stmt, [&](const Expr& e) { read(e); }, [&](const Stmt& s) { walk(s, advancing); });
  }

  void assign(const Assign& s, bool advancing) {
    const auto* sum = s.value->kind == ExprKind::kBinary ? static_cast<const Binary*>(s.value.get()) : nullptr;
    const bool grows = sum != nullptr && sum->op == BinaryOp::kAdd && !sum->wrapping &&
                       sum->lhs->kind == ExprKind::kVarRef && static_cast<const VarRef&>(*sum->lhs).var == s.var;
    if (!grows) others_.insert(s.var.get());
    if (advancing) candidates_.insert(s.var.get());
    read(grows ? *sum->rhs : *s.value);
  }

  void read(const Expr& e) {
    if (e.kind == ExprKind::kVarRef) others_.insert(static_cast<const VarRef&>(e).var.get());
    if (e.kind == ExprKind::kLoad)
      return address(static_cast<const Load&>(e).buffer, static_cast<const Load&>(e).index);
    if (e.kind == ExprKind::kAddress)
      return address(static_cast<const Address&>(e).buffer, static_cast<const Address&>(e).index);
    for_each_operand(e, [&](const Expr& operand) { read(operand); });
  }

  void address(const BufferPtr& buffer, const ExprPtr& index) {
    const auto [base, sum] = based_index(index);
    if (base == nullptr) return read(*index);
    if (sum != nullptr) read(*sum);
    const bool fixed = buffer->role == Role::kInput || buffer->role == Role::kConstant;
    if (!fixed || buffer->space != Space::kData || buffers_.emplace(base.get(), buffer).first->second != buffer)
      others_.insert(base.get());
  }

  std::unordered_map<const Variable*, BufferPtr> buffers_;
  std::unordered_set<const Variable*> candidates_, others_;  // others: with other uses
};

}  // namespace

BasedIndex based_index(const ExprPtr& index) {
  if (index->kind == ExprKind::kVarRef) return {static_cast<const VarRef&>(*index).var, nullptr};
  if (index->kind != ExprKind::kBinary) return {};
  const auto& sum = static_cast<const Binary&>(*index);
  if (sum.op != BinaryOp::kAdd || sum.wrapping || sum.lhs->kind != ExprKind::kVarRef) return {};
  return {static_cast<const VarRef&>(*sum.lhs).var, sum.rhs};
}

std::unordered_map<const Variable*, BufferPtr> pointer_variables(const Function& kernel) {
  PointerFinder finder;
  finder.run(*kernel.body);
  return finder.found();
}

}  // namespace aotc::codegen
