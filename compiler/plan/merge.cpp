// SPDX-License-Identifier: Apache-2.0
#include "plan/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace aotc::plan {

namespace {

using namespace tir;  // NOLINT: every node kind is used here

// Walks a function in a fixed order and rebuilds it; `immediate` decides what becomes of each i32
// immediate that may vary. Sizes of memcpy and memset stay literal: compilers expand small ones
// in line only if they know them.
class Walker {
 public:
  virtual ~Walker() = default;

  StmtPtr stmt(const StmtPtr& s) {
    if (!s) {
      note("-");
      return s;
    }
    note(fmt::format("s{}", static_cast<int>(s->kind)));
    switch (s->kind) {
      case StmtKind::kFor: {
        const auto& n = static_cast<const For&>(*s);
        note(fmt::format("+{}", n.step));
        ExprPtr begin = expr(n.begin), end = expr(n.end);
        VarPtr v = define(n.var);
        return std::make_shared<For>(v, begin, end, n.step, stmt(n.body));
      }
      case StmtKind::kIf: {
        const auto& n = static_cast<const If&>(*s);
        ExprPtr c = expr(n.condition);
        StmtPtr then = stmt(n.then);
        return std::make_shared<If>(c, then, stmt(n.otherwise));
      }
      case StmtKind::kDeclare: {
        const auto& n = static_cast<const Declare&>(*s);
        note(n.is_mutable ? "m" : "l");
        ExprPtr init = expr(n.init);
        return std::make_shared<Declare>(define(n.var), init, n.is_mutable);
      }
      case StmtKind::kAssign: {
        const auto& n = static_cast<const Assign&>(*s);
        VarPtr v = use(n.var);
        return std::make_shared<Assign>(v, expr(n.value));
      }
      case StmtKind::kStore: {
        const auto& n = static_cast<const Store&>(*s);
        BufferPtr b = buffer(n.buffer);
        ExprPtr i = expr(n.index);
        return std::make_shared<Store>(b, i, expr(n.value));
      }
      case StmtKind::kEvaluate:
        return std::make_shared<Evaluate>(expr(static_cast<const Evaluate&>(*s).value));
      case StmtKind::kBlock: {
        std::vector<StmtPtr> body;
        for (const StmtPtr& c : static_cast<const tir::Block&>(*s).body) body.push_back(stmt(c));
        note("}");
        return std::make_shared<tir::Block>(std::move(body));
      }
      case StmtKind::kAlloc: {
        const auto& b = static_cast<const Alloc&>(*s).buffer;
        note(fmt::format("a{}", b->elements));
        return std::make_shared<Alloc>(buffer(b));
      }
      case StmtKind::kCallKernel: {
        const auto& n = static_cast<const CallKernel&>(*s);
        note(name_of(*n.kernel));
        std::vector<ExprPtr> args;
        for (const ExprPtr& a : n.args) args.push_back(expr(a));
        return std::make_shared<CallKernel>(n.kernel, std::move(args));
      }
      case StmtKind::kFail:
      case StmtKind::kComment: return s;
    }
    return s;
  }

  ExprPtr expr(const ExprPtr& e) {
    note(fmt::format("e{}.{}", static_cast<int>(e->kind), static_cast<int>(e->type)));
    switch (e->kind) {
      case ExprKind::kIntImm: {
        const auto& n = static_cast<const IntImm&>(*e);
        if (e->type == DType::kI32) return immediate(e, n.value);
        note(fmt::format("={}", n.value));
        return e;
      }
      case ExprKind::kFloatImm:
        note(fmt::format("={:a}", static_cast<const FloatImm&>(*e).value));
        return e;
      case ExprKind::kVar: return std::make_shared<VarRef>(use(static_cast<const VarRef&>(*e).var));
      case ExprKind::kLoad: {
        const auto& n = static_cast<const Load&>(*e);
        BufferPtr b = buffer(n.buffer);
        return std::make_shared<Load>(b, expr(n.index));
      }
      case ExprKind::kUnary: {
        const auto& n = static_cast<const Unary&>(*e);
        note(fmt::format("{}", static_cast<int>(n.op)));
        return std::make_shared<Unary>(n.op, expr(n.value));
      }
      case ExprKind::kBinary: {
        const auto& n = static_cast<const Binary&>(*e);
        note(fmt::format("{}{}", static_cast<int>(n.op), n.wrapping ? "w" : ""));
        ExprPtr l = expr(n.lhs), r = expr(n.rhs);
        return binary(n, l, r);
      }
      case ExprKind::kCast: {
        const auto& n = static_cast<const Cast&>(*e);
        note(n.wrapping ? "w" : "");
        return std::make_shared<Cast>(n.type, expr(n.value), n.wrapping);
      }
      case ExprKind::kSelect: {
        const auto& n = static_cast<const Select&>(*e);
        ExprPtr c = expr(n.condition), a = expr(n.if_true);
        return std::make_shared<Select>(c, a, expr(n.if_false));
      }
      case ExprKind::kCall: {
        const auto& n = static_cast<const Call&>(*e);
        note(fmt::format("{}", static_cast<int>(n.callee)));
        std::vector<ExprPtr> args;
        bool sized = n.callee == Intrinsic::kMemcpy || n.callee == Intrinsic::kMemset;
        for (size_t i = 0; i < n.args.size(); ++i) {
          literal_ = sized && i == 2;
          args.push_back(expr(n.args[i]));
          literal_ = false;
        }
        return std::make_shared<Call>(n.callee, n.type, std::move(args));
      }
      case ExprKind::kAddress: {
        const auto& n = static_cast<const Address&>(*e);
        BufferPtr b = buffer(n.buffer);
        return std::make_shared<Address>(b, expr(n.index));
      }
    }
    return e;
  }

 protected:
  virtual void note(const std::string&) {}
  virtual ExprPtr immediate(const ExprPtr& e, int64_t) { return e; }
  virtual ExprPtr binary(const Binary& n, ExprPtr l, ExprPtr r) {
    return std::make_shared<Binary>(n.op, n.type, std::move(l), std::move(r), n.wrapping);
  }
  virtual VarPtr define(const VarPtr& v) { return v; }
  virtual VarPtr use(const VarPtr& v) { return v; }
  virtual BufferPtr buffer(const BufferPtr& b) { return b; }

  bool literal_ = false;
};

class SkeletonWalker final : public Walker {
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

 private:
  void note(const std::string& text) override { out_.text += text + ";"; }
  ExprPtr immediate(const ExprPtr& e, int64_t value) override {
    if (literal_) {
      note(fmt::format("={}", value));
    } else {
      out_.values.push_back(value);
    }
    return e;
  }
  VarPtr define(const VarPtr& v) override {
    note(fmt::format("d{}", static_cast<int>(v->dtype)));
    number(v.get());
    return v;
  }
  VarPtr use(const VarPtr& v) override {
    note(fmt::format("v{}", number(v.get())));
    return v;
  }
  BufferPtr buffer(const BufferPtr& b) override {
    note(fmt::format("b{}", number(b.get())));
    return b;
  }
  size_t number(const void* p) { return numbers_.emplace(p, numbers_.size()).first->second; }

  Skeleton out_;
  std::unordered_map<const void*, size_t> numbers_;
};

// Replaces every immediate by what `plan` says for its position.
class MergeWalker final : public Walker {
 public:
  struct Replacement {
    VarPtr var;       // null: the immediate stays
    int64_t add = 0;  // var + add
  };
  MergeWalker(const std::vector<Replacement>& plan,
              const std::unordered_map<const Buffer*, BufferPtr>& buffers)
      : plan_(plan), buffers_(buffers) {}

 private:
  ExprPtr immediate(const ExprPtr& e, int64_t) override {
    if (literal_) return e;
    const Replacement& r = plan_[next_++];
    if (!r.var) return e;
    ExprPtr v = std::make_shared<VarRef>(r.var);
    if (r.add == 0) return v;
    return std::make_shared<Binary>(r.add > 0 ? BinaryOp::kAdd : BinaryOp::kSub, DType::kI32, v,
                                    std::make_shared<IntImm>(DType::kI32, std::abs(r.add)), false);
  }
  // x + (v + 3) becomes (x + v) + 3, which compilers turn into one register and an offset.
  ExprPtr binary(const Binary& n, ExprPtr l, ExprPtr r) override {
    if (n.op == BinaryOp::kAdd && !n.wrapping && n.rhs->kind == ExprKind::kIntImm && r->kind == ExprKind::kBinary) {
      const auto& sum = static_cast<const Binary&>(*r);
      ExprPtr first = std::make_shared<Binary>(BinaryOp::kAdd, n.type, l, sum.lhs, false);
      return std::make_shared<Binary>(sum.op, n.type, first, sum.rhs, false);
    }
    return Walker::binary(n, std::move(l), std::move(r));
  }
  BufferPtr buffer(const BufferPtr& b) override {
    auto found = buffers_.find(b.get());
    return found == buffers_.end() ? b : found->second;
  }

  const std::vector<Replacement>& plan_;
  const std::unordered_map<const Buffer*, BufferPtr>& buffers_;
  size_t next_ = 0;
};

class ReplaceWalker final : public Walker {
 public:
  explicit ReplaceWalker(const std::unordered_map<const Buffer*, BufferPtr>& buffers) : buffers_(buffers) {}

 private:
  BufferPtr buffer(const BufferPtr& b) override {
    auto found = buffers_.find(b.get());
    return found == buffers_.end() ? b : found->second;
  }
  const std::unordered_map<const Buffer*, BufferPtr>& buffers_;
};

BufferPtr resized(const BufferPtr& b, int64_t elements) {
  auto copy = std::make_shared<Buffer>(*b);
  copy->elements = elements;
  return copy;
}

}  // namespace

Skeleton skeleton_of(const Function& function) { return SkeletonWalker().run(function); }

Merged merge_functions(const std::vector<FunctionPtr>& functions) {
  std::vector<std::vector<int64_t>> values;  // per function
  for (const FunctionPtr& f : functions) values.push_back(skeleton_of(*f).values);
  Merged out;
  out.shapes.resize(functions.size());
  // Columns that differ by a constant share one table entry: keyed by differences to the first row.
  std::map<std::vector<int64_t>, size_t> entry_of;
  std::vector<VarPtr> vars;
  std::vector<int64_t> base;
  std::vector<MergeWalker::Replacement> plan(values[0].size());
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
      for (size_t f = 0; f < functions.size(); ++f)
        out.shapes[f].push_back(static_cast<int32_t>(values[f][i]));
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
  auto shape = std::make_shared<Buffer>(
      Buffer{"shape", DType::kI32, static_cast<int64_t>(vars.size()), Role::kConstant, 4});
  if (!vars.empty()) made->params.push_back(shape);
  std::vector<StmtPtr> body;
  for (size_t i = 0; i < vars.size(); ++i)
    body.push_back(std::make_shared<Declare>(
        vars[i], std::make_shared<Load>(shape, std::make_shared<IntImm>(DType::kI32, static_cast<int64_t>(i))), false));
  MergeWalker walker(plan, buffers);
  StmtPtr rest = walker.stmt(functions[0]->body);
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
  for (size_t p = 0; p < function.params.size(); ++p)
    buffers[function.params[p].get()] = made->params[p];
  ReplaceWalker walker(buffers);
  made->body = walker.stmt(function.body);
  return made;
}

}  // namespace

FunctionPtr with_parameter_sizes(const Function& function, const std::vector<int64_t>& elements) {
  std::vector<BufferPtr> params;
  for (size_t p = 0; p < function.params.size(); ++p)
    params.push_back(resized(function.params[p], elements[p]));
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
