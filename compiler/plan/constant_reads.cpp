// SPDX-License-Identifier: Apache-2.0
#include "plan/constant_reads.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "plan/executions.h"
#include "tir/tir.h"
#include "tir/visit.h"

namespace aotc::plan {

namespace {

using namespace tir;

using Number = std::optional<double>;

// A table as far as its values are known: shapes of merged functions are tables.
struct Table {
  int constant = -1;  // -1: no table
  const ops::Constant* data = nullptr;
  double begin = 0;  // element at which a kernel's parameter begins
};

int64_t element(const ops::Constant& table, int64_t index) {
  const int64_t size = size_of(table.dtype);
  int64_t value = 0;
  std::memcpy(&value, table.bytes.data() + index * size, static_cast<size_t>(size));
  const int shift = 64 - static_cast<int>(size) * 8;
  bool is_signed = table.dtype == DType::kI8 || table.dtype == DType::kI16 || table.dtype == DType::kI32 ||
                   table.dtype == DType::kI64;
  return is_signed && shift > 0 ? static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift : value;
}

// Walks one call with mean values for loop variables: their range is what matters.
class Counter {
 public:
  explicit Counter(std::vector<double>& reads) : reads_(reads) {}

  void bind(const Buffer* buffer, Table table) { tables_[buffer] = table; }
  void bind(const Variable* variable, Number value) { values_[variable] = value; }

  void run(const Stmt& stmt, double times) {
    visit(stmt, Overloaded{
                    [&](const For& s) { loop(s, times); },
                    [&](const If& s) { branch(s, times); },
                    [&](const Declare& s) {
                      Number value = evaluate(*s.init, times);
                      values_[s.var.get()] = s.is_mutable ? std::nullopt : value;
                    },
                    [&](const Assign& s) { evaluate(*s.value, times); },
                    [&](const Store& s) {
                      evaluate(*s.index, times);
                      evaluate(*s.value, times);
                    },
                    [&](const Evaluate& s) { evaluate(*s.value, times); },
                    [&](const Block& s) {
                      for (const StmtPtr& child : s.body) run(*child, times);
                    },
                    [&](const CallKernel& s) { kernel(s, times); },
                    [](const Alloc&) {},
                    [](const Fail&) {},
                    [](const Trace&) {},
                    [](const Comment&) {},
                });
  }

 private:
  // Short outer loops are run turn by turn: what they read may say how long inner ones are.
  static constexpr double kExactTrips = 16;
  static constexpr int kExactLoops = 2;

  void loop(const For& s, double times) {
    Number begin = evaluate(*s.begin, times), end = evaluate(*s.end, times);
    double trips = 1;
    values_[s.var.get()] = std::nullopt;
    if (begin && end) {
      trips = std::max(0.0, std::ceil((*end - *begin) / static_cast<double>(s.step)));
      if (trips <= kExactTrips && exact_loops_ < kExactLoops) {
        ++exact_loops_;
        for (double i = 0; i < trips; ++i) {
          values_[s.var.get()] = *begin + i * static_cast<double>(s.step);
          run(*s.body, times);
        }
        --exact_loops_;
        return;
      }
      values_[s.var.get()] = *begin + (trips - 1) / 2 * static_cast<double>(s.step);
    }
    mean_loops_ += trips > 1;
    run(*s.body, times * trips);
    mean_loops_ -= trips > 1;
  }

  // A condition that mean values decide may still go both ways.
  void branch(const If& s, double times) {
    Number holds = evaluate(*s.condition, times);
    if (holds && mean_loops_ == 0) {
      if (*holds != 0) run(*s.then, times);
      if (*holds == 0 && s.otherwise) run(*s.otherwise, times);
      return;
    }
    run(*s.then, s.otherwise ? times / 2 : times);
    if (s.otherwise) run(*s.otherwise, times / 2);
  }

  void kernel(const CallKernel& s, double times) {
    const Function& meaning = *s.kernel->meaning;
    size_t a = 0;
    for (const BufferPtr& p : meaning.params) {
      const auto& address = static_cast<const Address&>(*s.args[a++]);
      Number begin = evaluate(*address.index, times);
      auto known = tables_.find(address.buffer.get());
      Table table = known == tables_.end() ? Table{} : known->second;
      // Without a place only that it is read is known, not what.
      if (!begin) table.data = nullptr;
      table.begin += begin.value_or(0);
      tables_[p.get()] = table;
    }
    for (const VarPtr& v : meaning.scalars) values_[v.get()] = evaluate(*s.args[a++], times);
    run(*meaning.body, times);
  }

  void read(const Buffer& buffer, double bytes) {
    auto known = tables_.find(&buffer);
    if (known != tables_.end() && known->second.constant >= 0)
      reads_[static_cast<size_t>(known->second.constant)] += bytes;
  }

  Number evaluate(const Expr& e, double times) {
    return visit(e, Overloaded{
                        [](const IntImm& s) { return Number(static_cast<double>(s.value)); },
                        [](const FloatImm&) { return Number(); },
                        [&](const VarRef& s) {
                          auto known = values_.find(s.var.get());
                          return known == values_.end() ? Number() : known->second;
                        },
                        [&](const Load& s) { return load(s, times); },
                        [&](const Unary& s) {
                          Number v = evaluate(*s.value, times);
                          return v && s.op == UnaryOp::kNeg ? Number(-*v) : Number();
                        },
                        [&](const Binary& s) { return binary(s, times); },
                        [&](const Cast& s) { return evaluate(*s.value, times); },
                        [&](const Select& s) {
                          evaluate(*s.condition, times);
                          Number a = evaluate(*s.if_true, times / 2), b = evaluate(*s.if_false, times / 2);
                          return a && b ? Number((*a + *b) / 2) : Number();
                        },
                        [&](const Call& s) { return call(s, times); },
                        [&](const Address& s) {
                          evaluate(*s.index, times);
                          return Number();
                        },
                    });
  }

  Number load(const Load& e, double times) {
    Number index = evaluate(*e.index, times);
    read(*e.buffer, times * static_cast<double>(size_of(e.buffer->dtype)));
    auto known = tables_.find(e.buffer.get());
    if (known == tables_.end() || !known->second.data || !index) return std::nullopt;
    const ops::Constant& table = *known->second.data;
    // Between two elements when a loop has an even number of turns: either says as much.
    auto at = static_cast<int64_t>(std::floor(known->second.begin + *index));
    if (is_float(table.dtype) || at < 0 || (at + 1) * size_of(table.dtype) > static_cast<int64_t>(table.bytes.size()))
      return std::nullopt;
    return static_cast<double>(element(table, at));
  }

  Number call(const Call& e, double times) {
    std::vector<Number> args;
    for (const ExprPtr& a : e.args) args.push_back(evaluate(*a, times));
    if (e.callee == Intrinsic::kMemcpy && args[2])
      read(*static_cast<const Address&>(*e.args[1]).buffer, times * *args[2]);
    bool same = e.callee == Intrinsic::kKeep || e.callee == Intrinsic::kFence;
    return same ? args[0] : std::nullopt;
  }

  Number binary(const Binary& e, double times) {
    Number l = evaluate(*e.lhs, times), r = evaluate(*e.rhs, times);
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

  std::vector<double>& reads_;
  int exact_loops_ = 0;
  int mean_loops_ = 0;  // loops around this place whose variable has its mean value
  std::unordered_map<const Buffer*, Table> tables_;
  std::unordered_map<const Variable*, Number> values_;
};

}  // namespace

std::vector<double> constant_reads(const Program& program) {
  std::vector<double> reads(program.constants.size(), 0);
  const Executions executions = executions_of(program);
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const ProgramCall& call = program.calls[c];
    const auto times = static_cast<double>(executions.times[c]);
    const ProgramFunction& function = program.functions[static_cast<size_t>(call.function)];
    Counter counter(reads);
    for (size_t a = 0; a < call.arguments.size() && a < function.body->params.size(); ++a) {
      const Storage& storage = call.arguments[a].storage;
      if (storage.kind != StorageKind::kConstant) continue;
      const ops::Constant& data = program.constants[static_cast<size_t>(storage.index)].data;
      // Of a function given in C nothing is known: once each.
      if (function.external)
        reads[static_cast<size_t>(storage.index)] += times * static_cast<double>(data.bytes.size());
      counter.bind(function.body->params[a].get(), {storage.index, &data, 0});
    }
    if (!function.external) counter.run(*function.body->body, times);
  }
  return reads;
}

std::vector<int> assign_sections(const Program& program, const std::vector<ConstantSection>& sections) {
  std::vector<int> out(program.constants.size(), -1);
  std::vector<size_t> order(program.constants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (sections.size() > 1 || (!sections.empty() && sections[0].bytes >= 0)) {
    std::vector<double> reads = constant_reads(program);
    auto heat = [&](size_t i) {
      return reads[i] / static_cast<double>(std::max<size_t>(1, program.constants[i].data.bytes.size()));
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return heat(a) > heat(b); });
  }
  // Whatever the linker's order: the room that alignment may take is reserved with each table.
  int64_t alignment = 1;
  for (const ProgramConstant& c : program.constants)
    alignment = std::max<int64_t>({alignment, c.data.alignment, size_of(c.data.dtype)});
  std::vector<int64_t> used(sections.size(), 0);
  for (size_t i : order) {
    const ops::Constant& data = program.constants[i].data;
    // A table of nothing takes an element.
    int64_t bytes = std::max<int64_t>(size_of(data.dtype), static_cast<int64_t>(data.bytes.size()));
    int64_t room = (bytes + alignment - 1) / alignment * alignment;
    for (size_t s = 0; s < sections.size(); ++s) {
      if (sections[s].bytes >= 0 && used[s] + room > sections[s].bytes) continue;
      used[s] += room;
      out[i] = static_cast<int>(s);
      break;
    }
  }
  return out;
}

}  // namespace aotc::plan
