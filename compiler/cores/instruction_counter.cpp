// SPDX-License-Identifier: Apache-2.0
#include "cores/instruction_counter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "cores/implementation.h"
#include "tir/packed_product.h"
#include "tir/visit.h"

namespace aotc::cores {

using namespace tir;  // NOLINT: every node kind is used here

namespace {

int64_t element(const ops::Constant& table, int64_t index) {
  const int64_t size = size_of(table.dtype);
  int64_t value = 0;
  std::memcpy(&value, table.bytes.data() + index * size, static_cast<size_t>(size));
  const int shift = 64 - static_cast<int>(size) * 8;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}

// The value that is brought into the range of int8; null for any other expression.
const Expr* saturated(const Binary& e) {
  if (e.op != BinaryOp::kMin || e.rhs->kind != ExprKind::kIntImm || e.lhs->kind != ExprKind::kBinary) return nullptr;
  const auto& inner = static_cast<const Binary&>(*e.lhs);
  const bool range = inner.op == BinaryOp::kMax && inner.rhs->kind == ExprKind::kIntImm &&
                     static_cast<const IntImm&>(*e.rhs).value == 127 &&
                     static_cast<const IntImm&>(*inner.rhs).value == -128 && e.type == DType::kI32;
  return range ? inner.lhs.get() : nullptr;
}

}  // namespace

namespace {

// The length of a copy or fill; null for any other expression.
const Expr* length_of(const Expr& e) {
  if (e.kind != ExprKind::kCall) return nullptr;
  const auto& call = static_cast<const Call&>(e);
  const bool copies = call.callee == Intrinsic::kMemcpy || call.callee == Intrinsic::kMemset;
  return copies ? call.args[2].get() : nullptr;
}

// Variables whose values decide how many instructions run.
class Deciding {
 public:
  std::unordered_set<const Variable*> variables;

  void add(const Stmt& stmt) {
    visit(stmt, Overloaded{[&](const For& s) { add_all(*s.begin), add_all(*s.end); },
                           [&](const If& s) { add_all(*s.condition); },
                           [&](const CallKernel& s) {
                             for (const ExprPtr& a : s.args) add_all(*a);
                             if (kernels_.insert(s.kernel.get()).second) add(*s.kernel->meaning->body);
                           },
                           [&](const Declare& s) { declared_.push_back(&s); }, [](const auto&) {}});
    for_each_child(stmt, [&](const Expr& e) { add_lengths(e); }, [&](const Stmt& s) { add(s); });
  }

  // And what these variables are computed from. A declaration is in front of its uses, so one pass from the end does.
  void add_sources() {
    for (size_t i = declared_.size(); i-- > 0;)
      if (variables.contains(declared_[i]->var.get())) add_all(*declared_[i]->init);
  }

 private:
  void add_all(const Expr& e) {
    if (e.kind == ExprKind::kVarRef) variables.insert(static_cast<const VarRef&>(e).var.get());
    for_each_operand(e, [&](const Expr& child) { add_all(child); });
  }

  // Lengths of copies and fills.
  void add_lengths(const Expr& e) {
    if (const Expr* length = length_of(e)) add_all(*length);
    for_each_operand(e, [&](const Expr& child) { add_lengths(child); });
  }

  std::vector<const Declare*> declared_;
  std::unordered_set<const Kernel*> kernels_;
};

// True if the expression has a copy or fill whose length is not a constant.
bool depends_on_values(const Expr& e) {
  const Expr* length = length_of(e);
  if (length != nullptr && length->kind != ExprKind::kIntImm) return true;
  return !all_children(e, [](const Expr& child) { return !depends_on_values(child); });
}

}  // namespace

void InstructionCounter::skip_values_that_decide_nothing(const Stmt& body) {
  Deciding found;
  found.add(body);
  found.add_sources();
  deciding_ = std::move(found.variables);
}

double InstructionCounter::cost_once(const Expr& e) {
  if (e.kind == ExprKind::kIntImm || e.kind == ExprKind::kVarRef) return 0;
  auto known = costs_.find(&e);
  if (known == costs_.end()) known = costs_.emplace(&e, depends_on_values(e) ? -1.0 : cost(e)).first;
  return known->second >= 0 ? known->second : cost(e);
}

double InstructionCounter::run(const Stmt& stmt) {
  return visit(stmt, Overloaded{
                         [&](const For& s) { return loop(s); },
                         [&](const If& s) {
                           const double test = code_ ? code_->of(s).once : cost_once(*s.condition) + c_.branch;
                           const Number holds = exactly_ ? value(*s.condition) : std::nullopt;
                           const double then = !holds || *holds != 0 ? run(*s.then) : 0;
                           const double otherwise = s.otherwise && (!holds || *holds == 0) ? run(*s.otherwise) : 0;
                           if (const Stmt* usual = holds ? nullptr : usual_branch(s))
                             return test + (usual == s.then.get() ? then : otherwise);
                           return test + std::max(then, otherwise);
                         },
                         [&](const Declare& s) {
                           if (!deciding_ || deciding_->contains(s.var.get()))
                             values_[s.var.get()] = s.is_mutable ? std::nullopt : value(*s.init);
                           return own(s, *s.init);
                         },
                         [&](const Assign& s) { return own(s, *s.value); },
                         [&](const Store& s) {
                           return code_ ? own(s, *s.value) : c_.store + address(*s.index) + cost_once(*s.value);
                         },
                         [&](const Evaluate& s) { return own(s, *s.value); },
                         [&](const Block& s) { return block(s); },
                         [&](const CallKernel& s) { return kernel(s); },
                         [](const Alloc&) { return 0.0; },
                         [](const Fail&) { return 0.0; },
                         [](const Trace&) { return 0.0; },
                         [](const Comment&) { return 0.0; },
                     });
}

const Stmt* InstructionCounter::usual_branch(const If& s) {
  if (code_) return code_->of(s).usual;
  if (c_.timing == nullptr) return nullptr;  // a bound counts the longer branch
  auto known = usual_.find(&s);
  if (known == usual_.end()) known = usual_.emplace(&s, integer_branch(s)).first;
  return known->second;
}

double InstructionCounter::own(const Stmt& stmt, const Expr& value) {
  return code_ ? code_->of(stmt).once + blocks(value) : cost_once(value);
}

double InstructionCounter::blocks(const Expr& e) {
  if (length_of(e) == nullptr) return 0;
  const auto& call = static_cast<const Call&>(e);
  return code_->block(call.callee == Intrinsic::kMemcpy, value(*call.args[2]).value_or(0),
                      call.args[2]->kind == ExprKind::kIntImm);
}

bool InstructionCounter::is_fixed(const Stmt& stmt) const {
  return visit(stmt, Overloaded{
                         [&](const For& s) {
                           return s.begin->kind == ExprKind::kIntImm && s.end->kind == ExprKind::kIntImm &&
                                  is_fixed(*s.body);
                         },
                         [](const If&) { return false; },
                         [](const CallKernel&) { return false; },
                         [&](const Declare& s) {
                           return deciding_ && !deciding_->contains(s.var.get()) && !depends_on_values(*s.init);
                         },
                         [](const Assign& s) { return !depends_on_values(*s.value); },
                         [](const Store& s) { return !depends_on_values(*s.value) && !depends_on_values(*s.index); },
                         [](const Evaluate& s) { return !depends_on_values(*s.value); },
                         [&](const Block& s) {
                           return std::all_of(s.body.begin(), s.body.end(),
                                              [&](const StmtPtr& child) { return is_fixed(*child); });
                         },
                         [](const auto&) { return true; },
                     });
}

double InstructionCounter::block(const Block& s) {
  auto known = blocks_.find(&s);
  if (known == blocks_.end()) {
    Parts parts;
    for (const StmtPtr& child : s.body) {
      if (is_fixed(*child)) parts.fixed += run(*child);
      else parts.others.push_back(child.get());
    }
    known = blocks_.emplace(&s, std::move(parts)).first;
  }
  const Parts& parts = known->second;  // stays where it is while other blocks are added
  double out = parts.fixed;
  for (const Stmt* child : parts.others) out += run(*child);
  return out;
}

// Does a turn take what every other takes? Then the values of loop variables decide nothing in it.
bool InstructionCounter::is_uniform(const For& s) {
  auto known = uniform_.find(&s);
  if (known != uniform_.end()) return known->second;
  std::unordered_set<const Variable*> own = {s.var.get()};
  return uniform_[&s] = all_alike(*s.body, own);
}

// `own` is what changes from turn to turn.
bool InstructionCounter::all_alike(const Stmt& stmt, std::unordered_set<const Variable*>& own) {
  switch (stmt.kind) {
    case StmtKind::kIf:
    case StmtKind::kCallKernel: return false;
    case StmtKind::kDeclare: own.insert(static_cast<const Declare&>(stmt).var.get()); return true;
    case StmtKind::kFor: {
      const auto& inner = static_cast<const For&>(stmt);
      for (const ExprPtr& bound : {inner.begin, inner.end})
        if (bound->kind != ExprKind::kIntImm &&
            (bound->kind != ExprKind::kVarRef || own.contains(static_cast<const VarRef&>(*bound).var.get())))
          return false;
      own.insert(inner.var.get());
      return all_alike(*inner.body, own);
    }
    case StmtKind::kBlock: {
      const auto& body = static_cast<const Block&>(stmt).body;
      return std::all_of(body.begin(), body.end(), [&](const StmtPtr& s) { return all_alike(*s, own); });
    }
    default: return true;
  }
}

double InstructionCounter::loop(const For& s) {
  const Number begin = value(*s.begin), end = value(*s.end);
  double trips = 1, out = cost(*s.begin) + cost(*s.end) + c_.branch;
  const CodeModel::Cost* code = code_ ? &code_->of(s) : nullptr;
  if (code != nullptr) out = code->once;
  const double each = code != nullptr ? code->turn : c_.turn;
  if (begin && end) trips = std::max(0.0, std::ceil((*end - *begin) / static_cast<double>(s.step)));
  if (code != nullptr && trips > 0) out += code->entry;
  const bool alike = is_uniform(s);
  if (begin && end && !alike && trips <= static_cast<double>(turns_left_)) {
    for (double i = 0; i < trips; ++i) out += turn(s, *begin + i * static_cast<double>(s.step));
    return out;
  }
  values_[s.var.get()] = begin ? Number(*begin + std::floor((trips - 1) / 2) * static_cast<double>(s.step)) : begin;
  const bool exactly = std::exchange(exactly_, exactly_ && (alike || trips <= 1));
  if (trips > 0) out += trips * (each + run(*s.body));
  exactly_ = exactly;
  return out;
}

double InstructionCounter::turn(const For& s, double at) {
  --turns_left_;
  values_[s.var.get()] = at;
  return (code_ ? code_->of(s).turn : c_.turn) + run(*s.body);
}

double InstructionCounter::kernel(const CallKernel& s) {
  const Function& meaning = *s.kernel->meaning;
  double out = code_ ? code_->of(s).once : c_.kernel_call;
  std::vector<CountArgument> arguments;
  std::vector<std::pair<const Buffer*, Table>> bound;
  std::string key;
  auto add_to_key = [&key](const void* bytes, size_t count) { key.append(static_cast<const char*>(bytes), count); };
  const Kernel* callee = s.kernel.get();
  add_to_key(&callee, sizeof callee);
  bool known = true;
  size_t a = 0;
  for (const BufferPtr& p : meaning.params) {
    const auto& at = static_cast<const Address&>(*s.args[a++]);
    if (!code_) out += c_.argument + cost_once(*at.index);
    auto found = tables_.find(at.buffer.get());
    Table table = found == tables_.end() ? Table{} : found->second;
    if (table.data) table.begin += value(*at.index).value_or(0);
    CountArgument argument{.pointer = true};
    if (table.data) {
      const auto from = static_cast<size_t>(table.begin) * static_cast<size_t>(size_of(table.data->dtype));
      argument.table = std::span<const uint8_t>(table.data->bytes);
      argument.table = argument.table.subspan(std::min(from, argument.table.size()));
      // What a long table says decides nothing but in bits that are the same everywhere.
      if (table.data->bytes.size() <= kShortTable) {
        const size_t bytes = argument.table.size();
        add_to_key(&bytes, sizeof bytes);
        add_to_key(argument.table.data(), bytes);
      }
    }
    arguments.push_back(argument);
    bound.emplace_back(p.get(), table);
  }
  for (const VarPtr& v : meaning.scalars) {
    if (!code_) out += c_.argument + cost_once(*s.args[a]);
    const Number n = value(*s.args[a++]);
    known = known && n;
    values_[v.get()] = n;
    arguments.push_back({.pointer = false, .value = static_cast<int64_t>(n.value_or(0))});
    add_to_key(&arguments.back().value, sizeof arguments.back().value);
  }
  if (auto seen = counted_.find(key); known && seen != counted_.end()) return out + seen->second;
  Number counted;
  if (auto text = known ? implementation_of(*s.kernel, kernels_) : std::nullopt) {
    if (c_.timing != nullptr && text->cycles) counted = text->cycles(*text, arguments, *c_.timing);
    else if (const auto n = text->count ? text->count(*text, arguments) : std::nullopt)
      counted = static_cast<double>(*n);
  }
  for (auto& [buffer, table] : bound) tables_[buffer] = table;
  if (!counted && code_ && modelled_.insert(s.kernel.get()).second) code_->add(meaning);
  const double body = counted ? *counted : run(*meaning.body);
  if (known) counted_[key] = body;
  return out + body;
}

// What an index adds to the access: constants and loop variables are in its address.
double InstructionCounter::address(const Expr& e) {
  if (e.kind == ExprKind::kIntImm || e.kind == ExprKind::kVarRef) return 0;
  if (e.kind == ExprKind::kBinary) {
    const auto& b = static_cast<const Binary&>(e);
    if (b.op == BinaryOp::kAdd || b.op == BinaryOp::kSub) return address(*b.lhs) + address(*b.rhs);
    if (b.op == BinaryOp::kMul && b.rhs->kind == ExprKind::kIntImm) return address(*b.lhs);
  }
  return cost(e);
}

double InstructionCounter::cost(const Expr& e) {
  return visit(e, Overloaded{
                      [](const IntImm&) { return 0.0; },
                      [](const FloatImm&) { return 0.0; },
                      [](const VarRef&) { return 0.0; },
                      [&](const Load& s) { return c_.memory + address(*s.index); },
                      [&](const Unary& s) { return cost(*s.value) + c_.alu; },
                      [&](const Binary& s) { return binary(s); },
                      [&](const Cast& s) {
                        const bool converts = is_float(s.type) != is_float(s.value->type);
                        return cost(*s.value) + (converts ? c_.float_add : 0);
                      },
                      [&](const Select& s) {
                        return cost(*s.condition) + std::max(cost(*s.if_true), cost(*s.if_false)) + c_.choose;
                      },
                      [&](const Call& s) { return call(s); },
                      [&](const Address& s) { return cost(*s.index); },
                  });
}

double InstructionCounter::binary(const Binary& e) {
  if (const Expr* inner = saturated(e)) return cost(*inner) + c_.saturate;
  if (const auto product = c_.packed_product > 0 ? packed_product(e) : std::nullopt)
    return cost(*product->sum) + cost(*product->x) + cost(*product->w) + (product->even_bytes ? c_.alu : 0) +
           c_.packed_product;
  if (const auto product = c_.packed_product > 0 ? half_product(e) : std::nullopt)
    return cost(*product->sum) + cost(*product->low) + cost(*product->high) + c_.packed_product;
  const double sides = cost(*e.lhs) + cost(*e.rhs);
  const bool wide = e.lhs->type == DType::kI64;
  if (is_float(e.lhs->type)) {
    const double times = e.lhs->type == DType::kF64 ? 2 : 1;
    return sides + times * (e.op == BinaryOp::kMul   ? c_.float_multiply
                            : e.op == BinaryOp::kDiv ? c_.float_divide
                                                     : c_.float_add);
  }
  switch (e.op) {
    case BinaryOp::kMul: return sides + (wide ? c_.high : c_.multiply);
    case BinaryOp::kAdd:
      // One instruction with the product.
      for (const ExprPtr& side : {e.lhs, e.rhs})
        if (c_.fused && !wide && side->kind == ExprKind::kBinary &&
            static_cast<const Binary&>(*side).op == BinaryOp::kMul)
          return sides;
      return sides + (wide ? 2 : 1) * c_.alu;
    case BinaryOp::kAnd:
    case BinaryOp::kOr: return sides;
    case BinaryOp::kDiv:
    case BinaryOp::kMod: return sides + (e.rhs->kind == ExprKind::kIntImm ? c_.divide : c_.divide_any) * (wide ? 4 : 1);
    case BinaryOp::kMin:
    case BinaryOp::kMax: return sides + c_.choose;
    case BinaryOp::kShr:
      // The high word of a product is there already.
      if (wide && e.rhs->kind == ExprKind::kIntImm && static_cast<const IntImm&>(*e.rhs).value >= 32) return sides;
      [[fallthrough]];
    default: return sides + (wide ? 2 : 1) * c_.alu;
  }
}

double InstructionCounter::call(const Call& e) {
  double out = 0;
  for (const ExprPtr& a : e.args) out += cost(*a);
  switch (e.callee) {
    case Intrinsic::kKeep:
    case Intrinsic::kFence:
    case Intrinsic::kFloatBits:
    case Intrinsic::kFloatFromBits: return out + 1;
    case Intrinsic::kAbs: return out + 2;
    case Intrinsic::kMemcpy:
    case Intrinsic::kMemset:
      if (const Number bytes = value(*e.args[2]); bytes && *bytes <= 4 * c_.short_block)
        return out + std::ceil(*bytes / c_.short_block) * ((e.callee == Intrinsic::kMemcpy ? c_.memory : 0) + c_.store);
      return out + c_.block + c_.block_byte * value(*e.args[2]).value_or(0);
    case Intrinsic::kSqrt: return out + c_.float_divide;
    case Intrinsic::kExp: return out + c_.exponential;
    default: return out + c_.function;
  }
}

InstructionCounter::Number InstructionCounter::value(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kIntImm: return static_cast<double>(static_cast<const IntImm&>(e).value);
    case ExprKind::kVarRef: {
      auto known = values_.find(static_cast<const VarRef&>(e).var.get());
      return known == values_.end() ? std::nullopt : known->second;
    }
    case ExprKind::kLoad: {
      const auto& l = static_cast<const Load&>(e);
      auto table = tables_.find(l.buffer.get());
      const Number index = value(*l.index);
      if (!index || table == tables_.end() || !table->second.data) return std::nullopt;
      const ops::Constant& data = *table->second.data;
      const auto at = static_cast<int64_t>(table->second.begin + *index);
      if (is_float(data.dtype) || at < 0 || (at + 1) * size_of(data.dtype) > static_cast<int64_t>(data.bytes.size()))
        return std::nullopt;
      return static_cast<double>(element(data, at));
    }
    case ExprKind::kCast: return value(*static_cast<const Cast&>(e).value);
    case ExprKind::kUnary: {
      const auto& u = static_cast<const Unary&>(e);
      const Number v = value(*u.value);
      return v && u.op == UnaryOp::kNeg ? Number(-*v) : std::nullopt;
    }
    case ExprKind::kSelect: {
      const auto& s = static_cast<const Select&>(e);
      const Number holds = value(*s.condition);
      return holds ? value(*holds != 0 ? *s.if_true : *s.if_false) : std::nullopt;
    }
    case ExprKind::kBinary: return value_of(static_cast<const Binary&>(e));
    default: return std::nullopt;
  }
}

InstructionCounter::Number InstructionCounter::value_of(const Binary& e) {
  const Number l = value(*e.lhs), r = value(*e.rhs);
  if (!l || !r) return std::nullopt;
  switch (e.op) {
    case BinaryOp::kAdd: return *l + *r;
    case BinaryOp::kSub: return *l - *r;
    case BinaryOp::kMul: return *l * *r;
    case BinaryOp::kDiv: return *r == 0 ? std::nullopt : Number(std::trunc(*l / *r));
    case BinaryOp::kMod: return *r == 0 ? std::nullopt : Number(std::fmod(*l, *r));
    case BinaryOp::kMin: return std::min(*l, *r);
    case BinaryOp::kMax: return std::max(*l, *r);
    case BinaryOp::kShl: return *l * std::exp2(*r);
    case BinaryOp::kShr: return std::floor(*l / std::exp2(*r));
    case BinaryOp::kEq: return *l == *r;
    case BinaryOp::kNe: return *l != *r;
    case BinaryOp::kLt: return *l < *r;
    case BinaryOp::kLe: return *l <= *r;
    case BinaryOp::kGt: return *l > *r;
    case BinaryOp::kGe: return *l >= *r;
    case BinaryOp::kAnd: return *l != 0 && *r != 0;
    case BinaryOp::kOr: return *l != 0 || *r != 0;
    default: return std::nullopt;
  }
}

KernelForm kernels_of(const ops::TargetInfo& target) {
  return target.has_assembly() || target.calls_intrinsics() ? target.kernel_form : KernelForm::kC;
}

namespace {

double counted(const ops::Lowered& lowered, const ops::TargetInfo& target, const OperationCosts& costs, int64_t turns) {
  InstructionCounter counter(costs, kernels_of(target), turns);
  for (size_t a = 0; a < lowered.args.size() && a < lowered.function->params.size(); ++a)
    if (lowered.args[a].kind == ops::ArgKind::kConstant)
      counter.bind(lowered.function->params[a].get(), &lowered.constants[static_cast<size_t>(lowered.args[a].index)]);
  counter.add(*lowered.function);
  counter.skip_values_that_decide_nothing(*lowered.function->body);
  const double parameters = costs.code ? costs.code->parameter * static_cast<double>(lowered.args.size()) : 0;
  return costs.call + parameters + counter.run(*lowered.function->body);
}

double counted_cycles(const ops::Lowered& lowered, const ops::TargetInfo& target, int64_t turns) {
  const OperationCosts cycles = operation_cycles(target);
  return cycles.timing != nullptr ? counted(lowered, target, cycles, turns) : 0;
}

}  // namespace

LoweredCost cost_of(const ops::Lowered& lowered, const ops::TargetInfo& target) {
  if (lowered.external) return {};
  return {counted(lowered, target, operation_costs(target), InstructionCounter::kMostTurns),
          counted_cycles(lowered, target, InstructionCounter::kMostTurns)};
}

LoweredCost estimate_of(const ops::Lowered& lowered, const ops::TargetInfo& target) {
  if (lowered.external) return {};
  return {std::ceil(counted(lowered, target, expected_costs(target), InstructionCounter::kMostTurns)),
          std::ceil(counted_cycles(lowered, target, InstructionCounter::kTurnsOfEstimate))};
}

}  // namespace aotc::cores
