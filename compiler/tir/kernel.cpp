// SPDX-License-Identifier: Apache-2.0
// Kernel calls as ordinary TIR: the meaning put in the place of the call, its buffers replaced by
// what the call passes. The interpreter, the verifier and the plan's checks see nothing else.
#include <unordered_map>

#include <fmt/format.h>

#include "tir/tir.h"

namespace aotc::tir {

namespace {

// Where a parameter of a meaning lies: element `base` of `buffer`.
struct Binding {
  BufferPtr buffer;
  ExprPtr base;
};

class Inliner {
 public:
  StmtPtr stmt(const StmtPtr& s);

 private:
  ExprPtr expr(const ExprPtr& e);
  StmtPtr call(const CallKernel& c);
  std::pair<BufferPtr, ExprPtr> place(const BufferPtr& b, const ExprPtr& index);

  std::unordered_map<const Buffer*, Binding> bindings_;  // of the call being inlined
};

std::pair<BufferPtr, ExprPtr> Inliner::place(const BufferPtr& b, const ExprPtr& index) {
  auto found = bindings_.find(b.get());
  ExprPtr at = expr(index);
  if (found == bindings_.end()) return {b, at};
  return {found->second.buffer, std::make_shared<Binary>(BinaryOp::kAdd, DType::kI32,
                                                         found->second.base, at, false)};
}

ExprPtr Inliner::expr(const ExprPtr& e) {
  if (!e || bindings_.empty()) return e;
  switch (e->kind) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kVar: return e;
    case ExprKind::kLoad: {
      const auto& n = static_cast<const Load&>(*e);
      auto [buffer, index] = place(n.buffer, n.index);
      return std::make_shared<Load>(buffer, index);
    }
    case ExprKind::kAddress: {
      const auto& n = static_cast<const Address&>(*e);
      auto [buffer, index] = place(n.buffer, n.index);
      return std::make_shared<Address>(buffer, index);
    }
    case ExprKind::kUnary: {
      const auto& n = static_cast<const Unary&>(*e);
      return std::make_shared<Unary>(n.op, expr(n.value));
    }
    case ExprKind::kBinary: {
      const auto& n = static_cast<const Binary&>(*e);
      return std::make_shared<Binary>(n.op, n.type, expr(n.lhs), expr(n.rhs), n.wrapping);
    }
    case ExprKind::kCast: {
      const auto& n = static_cast<const Cast&>(*e);
      return std::make_shared<Cast>(n.type, expr(n.value), n.wrapping);
    }
    case ExprKind::kSelect: {
      const auto& n = static_cast<const Select&>(*e);
      return std::make_shared<Select>(expr(n.condition), expr(n.if_true), expr(n.if_false));
    }
    case ExprKind::kCall: {
      const auto& n = static_cast<const Call&>(*e);
      std::vector<ExprPtr> args;
      for (const ExprPtr& a : n.args) args.push_back(expr(a));
      return std::make_shared<Call>(n.callee, n.type, std::move(args));
    }
  }
  return e;
}

StmtPtr Inliner::call(const CallKernel& c) {
  const Function& meaning = *c.kernel->meaning;
  std::vector<StmtPtr> body;
  std::unordered_map<const Buffer*, Binding> bindings;
  auto declare = [&](const VarPtr& v, const ExprPtr& value) {
    body.push_back(std::make_shared<Declare>(v, value, false));
  };
  for (size_t i = 0; i < meaning.params.size() && i < c.args.size(); ++i) {
    if (!c.args[i] || c.args[i]->kind != ExprKind::kAddress) continue;
    const auto& a = static_cast<const Address&>(*c.args[i]);
    auto base = std::make_shared<Variable>(Variable{meaning.params[i]->name + "_at", DType::kI32});
    declare(base, a.index);
    bindings[meaning.params[i].get()] = {a.buffer, std::make_shared<VarRef>(base)};
  }
  for (size_t i = 0; i < meaning.scalars.size(); ++i)
    if (meaning.params.size() + i < c.args.size())
      declare(meaning.scalars[i], c.args[meaning.params.size() + i]);
  bindings_ = std::move(bindings);
  body.push_back(stmt(meaning.body));
  bindings_.clear();
  return std::make_shared<Block>(std::move(body));
}

StmtPtr Inliner::stmt(const StmtPtr& s) {
  if (!s) return s;
  switch (s->kind) {
    case StmtKind::kFor: {
      const auto& n = static_cast<const For&>(*s);
      return std::make_shared<For>(n.var, expr(n.begin), expr(n.end), n.step, stmt(n.body));
    }
    case StmtKind::kIf: {
      const auto& n = static_cast<const If&>(*s);
      return std::make_shared<If>(expr(n.condition), stmt(n.then), stmt(n.otherwise));
    }
    case StmtKind::kDeclare: {
      const auto& n = static_cast<const Declare&>(*s);
      return bindings_.empty() ? s : std::make_shared<Declare>(n.var, expr(n.init), n.is_mutable);
    }
    case StmtKind::kAssign: {
      const auto& n = static_cast<const Assign&>(*s);
      return bindings_.empty() ? s : std::make_shared<Assign>(n.var, expr(n.value));
    }
    case StmtKind::kStore: {
      const auto& n = static_cast<const Store&>(*s);
      if (bindings_.empty()) return s;
      auto [buffer, index] = place(n.buffer, n.index);
      return std::make_shared<Store>(buffer, index, expr(n.value));
    }
    case StmtKind::kEvaluate:
      return bindings_.empty()
                 ? s
                 : std::make_shared<Evaluate>(expr(static_cast<const Evaluate&>(*s).value));
    case StmtKind::kBlock: {
      std::vector<StmtPtr> body;
      for (const StmtPtr& child : static_cast<const Block&>(*s).body) body.push_back(stmt(child));
      return std::make_shared<Block>(std::move(body));
    }
    case StmtKind::kCallKernel: return call(static_cast<const CallKernel&>(*s));
    case StmtKind::kAlloc:
    case StmtKind::kComment:
    case StmtKind::kFail: return s;
  }
  return s;
}

void collect(const StmtPtr& s, std::vector<KernelPtr>& out) {
  if (!s) return;
  switch (s->kind) {
    case StmtKind::kFor: return collect(static_cast<const For&>(*s).body, out);
    case StmtKind::kIf:
      collect(static_cast<const If&>(*s).then, out);
      return collect(static_cast<const If&>(*s).otherwise, out);
    case StmtKind::kBlock:
      for (const StmtPtr& child : static_cast<const Block&>(*s).body) collect(child, out);
      return;
    case StmtKind::kCallKernel: {
      const KernelPtr& kernel = static_cast<const CallKernel&>(*s).kernel;
      for (const KernelPtr& known : out)
        if (name_of(*known) == name_of(*kernel)) return;
      out.push_back(kernel);
      return;
    }
    default: return;
  }
}

}  // namespace

FunctionPtr inline_kernels(const FunctionPtr& function) {
  if (kernels_of(*function).empty()) return function;
  auto made = std::make_shared<Function>(*function);
  made->body = Inliner().stmt(function->body);
  return made;
}

std::vector<KernelPtr> kernels_of(const Function& function) {
  std::vector<KernelPtr> out;
  collect(function.body, out);
  return out;
}

std::string name_of(const Kernel& kernel) {
  std::string out = kernel.family;
  for (const auto& [name, value] : kernel.parameters)
    out += value < 0 ? fmt::format("_m{}", -value) : fmt::format("_{}", value);
  return out;
}

}  // namespace aotc::tir
