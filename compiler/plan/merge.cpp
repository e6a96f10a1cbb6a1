// SPDX-License-Identifier: Apache-2.0
#include "plan/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "tir/visit.h"

namespace aotc::plan {

namespace {

using namespace tir;  // NOLINT: many kinds of nodes are used here

// Sizes of memcpy and memset, which alone have a third argument, stay literal: compilers expand small ones in line only
// if they know them.
bool is_literal(size_t argument) { return argument == 2; }

// Writes out all of a function but the i32 immediates that may vary, which are listed.
class SkeletonWriter {
 public:
  Skeleton run(const Function& f) {
    for (const BufferPtr& p : f.params) {
      note(fmt::format("{}:{}:{}", static_cast<int>(p->dtype), static_cast<int>(p->role), p->alignment));
      if (p->space == Space::kProgram) note("program");
      number(p.get());
    }
    stmt(f.body);
    return std::move(out_);
  }

  void stmt(const StmtPtr& s) {
    if (!s) return note("-");
    note(fmt::format("s{}", static_cast<int>(s->kind)));
    visit(*s, [&](const auto& n) { std::decay_t<decltype(n)>::fields(n, *this); });
    if (s->kind == StmtKind::kBlock) note("}");
  }
  void expr(const ExprPtr& e) {
    note(fmt::format("e{}.{}", static_cast<int>(e->kind), static_cast<int>(e->type)));
    if (e->kind == ExprKind::kIntImm && e->type == DType::kI32 && !literal_) {
      out_.values.push_back(static_cast<const IntImm&>(*e).value);
    } else if (e->kind == ExprKind::kCall) {
      const auto& call = static_cast<const Call&>(*e);
      value(call.callee);
      for (size_t i = 0; i < call.args.size(); ++i) {
        literal_ = is_literal(i);
        expr(call.args[i]);
        literal_ = false;
      }
    } else {
      visit(*e, [&](const auto& n) { std::decay_t<decltype(n)>::fields(n, *this); });
    }
  }
  void define(const VarPtr& v) {
    note(fmt::format("d{}", static_cast<int>(v->dtype)));
    number(v.get());
  }
  void use(const VarPtr& v) { note(fmt::format("v{}", number(v.get()))); }
  void buffer(const BufferPtr& b) { note(fmt::format("b{}", number(b.get()))); }
  void allocate(const BufferPtr& b) {
    note(fmt::format("a{}", b->elements));
    buffer(b);
  }
  void kernel(const KernelPtr& k) { note(name_of(*k)); }
  void value(bool v) { note(v ? "w" : ""); }
  void value(int64_t v) { note(fmt::format("={}", v)); }
  void value(double v) { note(fmt::format("={:a}", v)); }
  template <typename T>
    requires std::is_enum_v<T>
  void value(T v) {
    note(fmt::format("{}", static_cast<int>(v)));
  }

 private:
  void note(const std::string& text) { out_.text += text + ";"; }
  size_t number(const void* p) { return numbers_.emplace(p, numbers_.size()).first->second; }

  Skeleton out_;
  bool literal_ = false;  // within a size that stays
  std::unordered_map<const void*, size_t> numbers_;
};

class BufferReplacer : public Mutator {
 public:
  explicit BufferReplacer(const std::unordered_map<const Buffer*, BufferPtr>& buffers) : buffers_(buffers) {}

 private:
  BufferPtr buffer(const BufferPtr& b) override {
    auto found = buffers_.find(b.get());
    return found == buffers_.end() ? b : found->second;
  }
  const std::unordered_map<const Buffer*, BufferPtr>& buffers_;
};

// Replaces every immediate that may vary by what `plan` says for its position.
class Merger final : public BufferReplacer {
 public:
  struct Replacement {
    VarPtr var;       // null: the immediate stays
    int64_t add = 0;  // var + add
  };
  Merger(const std::vector<Replacement>& plan, const std::unordered_map<const Buffer*, BufferPtr>& buffers)
      : BufferReplacer(buffers), plan_(plan) {}

  ExprPtr expr(const ExprPtr& e) override {
    if (e->kind == ExprKind::kIntImm && e->type == DType::kI32) return literal_ ? e : immediate(e);
    if (e->kind == ExprKind::kCall) return call(static_cast<const Call&>(*e));
    ExprPtr made = rebuilt(e);
    return e->kind == ExprKind::kBinary ? regrouped(static_cast<const Binary&>(*e), made) : made;
  }

 private:
  ExprPtr immediate(const ExprPtr& e) {
    const Replacement& r = plan_[next_++];
    if (!r.var) return e;
    ExprPtr v = std::make_shared<VarRef>(r.var);
    if (r.add == 0) return v;
    return std::make_shared<Binary>(r.add > 0 ? BinaryOp::kAdd : BinaryOp::kSub, DType::kI32, v,
                                    std::make_shared<IntImm>(DType::kI32, std::abs(r.add)), false);
  }
  ExprPtr call(const Call& n) {
    std::vector<ExprPtr> args;
    for (size_t i = 0; i < n.args.size(); ++i) {
      literal_ = is_literal(i);
      args.push_back(expr(n.args[i]));
      literal_ = false;
    }
    return std::make_shared<Call>(n.callee, n.type, std::move(args));
  }
  // x + (v + 3) becomes (x + v) + 3, which compilers turn into one register and an offset.
  static ExprPtr regrouped(const Binary& before, const ExprPtr& made) {
    const auto& n = static_cast<const Binary&>(*made);
    if (n.op != BinaryOp::kAdd || n.wrapping || before.rhs->kind != ExprKind::kIntImm ||
        n.rhs->kind != ExprKind::kBinary)
      return made;
    const auto& sum = static_cast<const Binary&>(*n.rhs);
    ExprPtr first = std::make_shared<Binary>(BinaryOp::kAdd, n.type, n.lhs, sum.lhs, false);
    return std::make_shared<Binary>(sum.op, n.type, first, sum.rhs, false);
  }

  const std::vector<Replacement>& plan_;
  size_t next_ = 0;
  bool literal_ = false;
};

BufferPtr resized(const BufferPtr& b, int64_t elements) {
  auto copy = std::make_shared<Buffer>(*b);
  copy->elements = elements;
  return copy;
}

}  // namespace

Skeleton skeleton_of(const Function& function) { return SkeletonWriter().run(function); }

Merged merge_functions(const std::vector<FunctionPtr>& functions) {
  std::vector<std::vector<int64_t>> values;  // per function
  for (const FunctionPtr& f : functions) values.push_back(skeleton_of(*f).values);
  Merged out;
  out.shapes.resize(functions.size());
  // Columns that differ by a constant share one table entry: keyed by differences to the first row.
  std::map<std::vector<int64_t>, size_t> entry_of;
  std::vector<VarPtr> vars;
  std::vector<int64_t> base;
  std::vector<Merger::Replacement> plan(values[0].size());
  for (size_t i = 0; i < plan.size(); ++i) {
    std::vector<int64_t> deltas;
    bool varies = false;
    for (const auto& row : values) {
      deltas.push_back(row[i] - values[0][i]);
      varies = varies || deltas.back() != 0;
    }
    if (!varies) continue;
    auto [at, fresh] = entry_of.emplace(deltas, vars.size());
    if (fresh) {
      vars.push_back(std::make_shared<Variable>(Variable{fmt::format("n{}", vars.size()), DType::kI32}));
      base.push_back(values[0][i]);
      for (size_t f = 0; f < functions.size(); ++f) out.shapes[f].push_back(static_cast<int32_t>(values[f][i]));
    }
    plan[i] = {vars[at->second], values[0][i] - base[at->second]};
  }
  auto made = std::make_shared<Function>();
  made->name = functions[0]->name;
  std::unordered_map<const Buffer*, BufferPtr> buffers;
  for (size_t p = 0; p < functions[0]->params.size(); ++p) {
    int64_t most = 0;
    for (const FunctionPtr& f : functions) most = std::max(most, f->params[p]->elements);
    made->params.push_back(resized(functions[0]->params[p], most));
    buffers[functions[0]->params[p].get()] = made->params.back();
  }
  auto shape =
      std::make_shared<Buffer>(Buffer{"shape", DType::kI32, static_cast<int64_t>(vars.size()), Role::kConstant, 4});
  if (!vars.empty()) made->params.push_back(shape);
  std::vector<StmtPtr> body;
  for (size_t i = 0; i < vars.size(); ++i)
    body.push_back(std::make_shared<Declare>(
        vars[i], std::make_shared<Load>(shape, std::make_shared<IntImm>(DType::kI32, static_cast<int64_t>(i))), false));
  StmtPtr rest = Merger(plan, buffers).stmt(functions[0]->body);
  for (const StmtPtr& s : static_cast<const tir::Block&>(*rest).body) body.push_back(s);
  made->body = std::make_shared<tir::Block>(std::move(body));
  out.function = made;
  return out;
}

namespace {

FunctionPtr with_parameters(const Function& function, std::vector<BufferPtr> params) {
  auto made = std::make_shared<Function>();
  made->name = function.name;
  made->params = std::move(params);
  std::unordered_map<const Buffer*, BufferPtr> buffers;
  for (size_t p = 0; p < function.params.size(); ++p) buffers[function.params[p].get()] = made->params[p];
  made->body = BufferReplacer(buffers).stmt(function.body);
  return made;
}

}  // namespace

FunctionPtr with_parameter_sizes(const Function& function, const std::vector<int64_t>& elements) {
  std::vector<BufferPtr> params;
  for (size_t p = 0; p < function.params.size(); ++p) params.push_back(resized(function.params[p], elements[p]));
  return with_parameters(function, std::move(params));
}

FunctionPtr with_kept_scratch(const Function& function) {
  std::vector<BufferPtr> params;
  for (const BufferPtr& param : function.params) {
    auto copy = std::make_shared<Buffer>(*param);
    if (copy->role == Role::kScratch) copy->role = Role::kOutput;
    params.push_back(std::move(copy));
  }
  return with_parameters(function, std::move(params));
}

FunctionPtr with_parameter_spaces(const Function& function, const std::vector<Space>& spaces) {
  std::vector<BufferPtr> params;
  for (size_t p = 0; p < function.params.size(); ++p) {
    auto copy = std::make_shared<Buffer>(*function.params[p]);
    copy->space = spaces[p];
    params.push_back(std::move(copy));
  }
  return with_parameters(function, std::move(params));
}

}  // namespace aotc::plan
