// SPDX-License-Identifier: Apache-2.0
// Kernel calls as ordinary TIR: the meaning put in the place of the call, its buffers replaced by
// what the call passes. The interpreter, the verifier and the plan's checks see nothing else.
#include <unordered_map>

#include <fmt/format.h>

#include "tir/visit.h"

namespace aotc::tir {

namespace {

// Where a parameter of a meaning lies: element `base` of `buffer`.
struct Binding {
  BufferPtr buffer;
  ExprPtr base;
};

class Inliner final : public Mutator {
 public:
  ExprPtr expr(const ExprPtr& e) override { return !e || bindings_.empty() ? e : place(e); }
  StmtPtr stmt(const StmtPtr& s) override {
    if (s && s->kind == StmtKind::kCallKernel) return call(static_cast<const CallKernel&>(*s));
    if (s && s->kind == StmtKind::kStore && !bindings_.empty()) return store(static_cast<const Store&>(*s));
    return Mutator::stmt(s);
  }

 private:
  ExprPtr place(const ExprPtr& e);
  StmtPtr store(const Store& s);
  StmtPtr call(const CallKernel& c);
  // Where element `index` of a meaning's parameter lies, and in which buffer.
  std::pair<BufferPtr, ExprPtr> place(const BufferPtr& b, const ExprPtr& index);

  std::unordered_map<const Buffer*, Binding> bindings_;  // of the call being inlined
};

std::pair<BufferPtr, ExprPtr> Inliner::place(const BufferPtr& b, const ExprPtr& index) {
  auto found = bindings_.find(b.get());
  ExprPtr at = expr(index);
  if (found == bindings_.end()) return {b, at};
  return {found->second.buffer, std::make_shared<Binary>(BinaryOp::kAdd, DType::kI32, found->second.base, at, false)};
}

ExprPtr Inliner::place(const ExprPtr& e) {
  if (e->kind == ExprKind::kLoad) {
    auto [buffer, index] = place(static_cast<const Load&>(*e).buffer, static_cast<const Load&>(*e).index);
    return std::make_shared<Load>(buffer, index);
  }
  if (e->kind == ExprKind::kAddress) {
    auto [buffer, index] = place(static_cast<const Address&>(*e).buffer, static_cast<const Address&>(*e).index);
    return std::make_shared<Address>(buffer, index);
  }
  return rebuilt(e);
}

StmtPtr Inliner::store(const Store& s) {
  auto [buffer, index] = place(s.buffer, s.index);
  return std::make_shared<Store>(buffer, index, expr(s.value));
}

StmtPtr Inliner::call(const CallKernel& c) {
  const Function& meaning = *c.kernel->meaning;
  std::vector<StmtPtr> body;
  // What a kernel passes on may be its own parameters.
  std::unordered_map<const Buffer*, Binding> bindings;
  auto declare = [&](const VarPtr& v, const ExprPtr& value) {
    body.push_back(std::make_shared<Declare>(v, value, false));
  };
  for (size_t i = 0; i < meaning.params.size() && i < c.args.size(); ++i) {
    if (!c.args[i] || c.args[i]->kind != ExprKind::kAddress) continue;
    const auto& a = static_cast<const Address&>(*c.args[i]);
    auto base = std::make_shared<Variable>(Variable{meaning.params[i]->name + "_at", DType::kI32});
    const auto [buffer, index] = place(a.buffer, a.index);
    declare(base, index);
    bindings[meaning.params[i].get()] = {buffer, std::make_shared<VarRef>(base)};
  }
  for (size_t i = 0; i < meaning.scalars.size(); ++i)
    if (meaning.params.size() + i < c.args.size()) declare(meaning.scalars[i], expr(c.args[meaning.params.size() + i]));
  std::swap(bindings_, bindings);
  body.push_back(stmt(meaning.body));
  std::swap(bindings_, bindings);
  return std::make_shared<Block>(std::move(body));
}

}  // namespace

FunctionPtr inline_kernels(const FunctionPtr& function) {
  if (kernels_of(*function).empty()) return function;
  auto made = std::make_shared<Function>(*function);
  made->body = Inliner().stmt(function->body);
  return made;
}

namespace {

void add_kernels(const Function& function, std::vector<KernelPtr>& out) {
  for_each_stmt(*function.body, [&](const Stmt& s) {
    if (s.kind != StmtKind::kCallKernel) return;
    const KernelPtr& kernel = static_cast<const CallKernel&>(s).kernel;
    for (const KernelPtr& known : out)
      if (name_of(*known) == name_of(*kernel)) return;
    if (kernel->meaning && kernel->meaning->body) add_kernels(*kernel->meaning, out);
    out.push_back(kernel);
  });
}

}  // namespace

std::vector<KernelPtr> kernels_of(const Function& function) {
  std::vector<KernelPtr> out;
  add_kernels(function, out);
  return out;
}

std::string name_of(const Kernel& kernel) {
  std::string out = kernel.family;
  for (const auto& [name, value] : kernel.parameters)
    out += value < 0 ? fmt::format("_m{}", -value) : fmt::format("_{}", value);
  return out;
}

}  // namespace aotc::tir
