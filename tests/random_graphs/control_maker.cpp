// SPDX-License-Identifier: Apache-2.0
#include "control_maker.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::tests {

using graph::Graph;
using graph::Shape;
using graph::TensorId;
using graph::TensorType;

namespace {

constexpr int kMostDepth = 3;

std::string list(const Shape& values) { return graph::attribute_text::print(values); }

bool is_flag(const TensorType& type) { return type.dtype == DType::kBool && type.elements() == 1; }

void give(GraphMaker& g, TensorId id) { g.made.outputs.push_back({id, fmt::format("out{}", g.made.outputs.size())}); }

TensorId flag(GraphMaker& g, const TensorType& type, bool value) {
  return g.made.add_constant(fmt::format("c{}", g.made.tensors.size()), type, {value ? uint8_t{1} : uint8_t{0}});
}

TensorId number(GraphMaker& g, const TensorType& type, int64_t value) {
  std::vector<uint8_t> bytes(4);
  for (int i = 0; i < 4; ++i)
    bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> 8 * i);
  return g.made.add_constant(fmt::format("c{}", g.made.tensors.size()), type, std::move(bytes));
}

}  // namespace

void ControlMaker::steps(GraphMaker& g, int depth, int64_t count) {
  for (; count > 0; --count) {
    bool control = depth < kMostDepth && left_ > 0 && random_.chance(depth == 0 ? 45 : 30);
    if (control && (random_.chance(50) ? branch(g, depth, {}) : loop(g, depth))) continue;
    g.add_op();
  }
}

Graph ControlMaker::region(const char* name, GraphMaker& outer, const std::vector<TensorId>& operands, int depth,
                           int64_t most_steps, const Finish& finish) {
  std::unique_ptr<GraphMaker> inner = graph_maker(random_, outer.main_type, name);
  for (TensorId id : operands) inner->add_input(outer.of(id));
  steps(*inner, depth, random_.pick(0, most_steps));
  finish(*inner);
  return std::move(inner->made);
}

// ---------------------------------------------------------------- tensors of a type

TensorId ControlMaker::there(GraphMaker& g, const TensorType& type) {
  TensorId id = g.any_of(type);
  return id.valid() ? id : g.constant(type);
}

TensorId ControlMaker::view(GraphMaker& g, const TensorType& type) {
  std::vector<TensorId> fitting;
  for (TensorId id : g.known) {
    const TensorType& t = g.of(id);
    if (t.dtype == type.dtype && t.quantization == type.quantization && t.elements() == type.elements() &&
        t.shape != type.shape && g.bounded(id))
      fitting.push_back(id);
  }
  TensorId from;
  if (!fitting.empty()) {
    from = fitting[static_cast<size_t>(random_.pick(0, static_cast<int64_t>(fitting.size()) - 1))];
  } else {
    TensorId id = there(g, type);
    if (!g.add("reshape", {id}, {{"shape", list({1, type.elements(), 1})}}, {type})) return id;
    from = g.last();
  }
  return g.add("reshape", {from}, {{"shape", list(type.shape)}}, {type}) ? g.last() : g.constant(type);
}

// Every byte is read where another is written: never in place.
TensorId ControlMaker::reversed(GraphMaker& g, TensorId id) {
  Shape begin, strides, counts;
  for (int64_t d : g.of(id).shape) {
    bool turned = random_.chance(70);
    begin.push_back(turned ? d - 1 : 0);
    strides.push_back(turned ? -1 : 1);
    counts.push_back(d);
  }
  const TensorType type = g.of(id);
  bool done = g.add(
      "slice", {id},
      {{"begin", list(begin)}, {"strides", list(strides)}, {"counts", list(counts)}, {"shape", list(counts)}}, {type});
  return done ? g.last() : id;
}

TensorId ControlMaker::computed(GraphMaker& g, const TensorType& type) {
  TensorId a = there(g, type), b = random_.chance(70) ? there(g, type) : g.constant(type);
  if (random_.chance(50)) std::swap(a, b);
  const bool sums = type.dtype == DType::kF32 || type.dtype == DType::kI8;
  const int64_t draw = random_.pick(1, 100);
  if (draw <= 20) return reversed(g, a);
  if (draw <= 65 && sums) {
    static const char* kNames[] = {"add", "sub", "mul"};
    if (g.add(kNames[random_.pick(0, 2)], {a, b}, {{"activation", type.dtype == DType::kI8 ? "none" : "relu_n1_to_1"}},
              {type}))
      return g.last();
  }
  if (draw <= 80 && sums && g.add(random_.chance(50) ? "relu6" : "relu", {a}, {}, {type})) return g.last();
  if (g.add(random_.chance(50) ? "maximum" : "minimum", {a, b}, {}, {type})) return g.last();
  return reversed(g, a);
}

TensorId ControlMaker::make(GraphMaker& g, const TensorType& type, int depth) {
  const int64_t draw = random_.pick(1, 100);
  if (draw <= 25) return there(g, type);
  if (draw <= 33) return g.constant(type);
  if (draw <= 48) return view(g, type);
  if (draw <= 58 && depth < kMostDepth && left_ > 0 && branch(g, depth, {type})) return g.last();
  TensorId id = computed(g, type);
  // Several operators in a row.
  for (int i = 0; i < 3 && random_.chance(25); ++i) id = computed(g, type);
  return id;
}

// ---------------------------------------------------------------- conditions

// One element of something, as a bool.
TensorId ControlMaker::computed_condition(GraphMaker& g) {
  TensorId id = something(g);
  const TensorType from = g.of(id);
  Shape begin, ones(from.shape.size(), 1);
  for (int64_t d : from.shape) begin.push_back(random_.pick(0, d - 1));
  TensorType one = from;
  if (!from.shape.empty() && random_.chance(40)) {
    TensorType index;
    index.dtype = DType::kI32;
    if (g.add("arg_max", {id}, {{"axis", std::to_string(from.shape.size() - 1)}}, {index})) {
      id = g.last();
      one = g.of(id);
      begin.pop_back();
      ones.pop_back();
    }
  }
  if (!g.add("slice", {id},
             {{"begin", list(begin)}, {"strides", list(ones)}, {"counts", list(ones)}, {"shape", list({1})}}, {one}))
    return {};
  if (random_.chance(60)) g.add("relu", {g.last()}, {}, {g.of(g.last())});
  TensorType type;
  type.dtype = DType::kBool;
  return g.add("cast", {g.last()}, {}, {type}) ? g.last() : TensorId{};
}

TensorId ControlMaker::condition(GraphMaker& g) {
  std::vector<TensorId> flags;
  for (TensorId id : g.known)
    if (is_flag(g.of(id))) flags.push_back(id);
  if (!flags.empty() && random_.chance(65))
    return flags[static_cast<size_t>(random_.pick(0, static_cast<int64_t>(flags.size()) - 1))];
  if (TensorId id = random_.chance(85) ? computed_condition(g) : TensorId{}; id.valid()) return id;
  return flag(g, g.type(DType::kBool, {}), random_.chance(50));
}

// ---------------------------------------------------------------- branches

// Rather no bool: there are many.
TensorId ControlMaker::something(GraphMaker& g) {
  TensorId id = g.any();
  for (int tries = 0; tries < 4 && g.of(id).dtype == DType::kBool; ++tries) id = g.any();
  return id;
}

TensorId ControlMaker::read_before(GraphMaker& g, const TensorType& type) {
  std::vector<TensorId> fitting;
  for (const graph::Op& op : g.made.ops)
    for (TensorId id : op.operands)
      if (!op.regions.empty() && g.of(id) == type && g.bounded(id)) fitting.push_back(id);
  if (fitting.empty()) return {};
  return fitting[static_cast<size_t>(random_.pick(0, static_cast<int64_t>(fitting.size()) - 1))];
}

// What the last branch or loop was given is needed behind it.
void ControlMaker::read_again(GraphMaker& g) {
  const std::vector<TensorId> operands = g.made.ops.back().operands;
  for (TensorId id : operands)
    if (random_.chance(25)) g.add("maximum", {id, there(g, g.of(id))}, {}, {g.of(id)});
}

// Two results may be one tensor.
TensorId ControlMaker::again_or_made(GraphMaker& g, const TensorType& type, int depth) {
  if (!g.made.outputs.empty() && random_.chance(30))
    if (TensorId id = g.made.outputs.back().tensor; g.of(id) == type) return id;
  return make(g, type, depth);
}

std::vector<TensorId> ControlMaker::captured(GraphMaker& g) {
  std::vector<TensorId> out;
  for (TensorId id : g.known)
    if (is_flag(g.of(id)) && random_.chance(25)) out.push_back(id);
  for (int64_t i = random_.pick(0, 4); i > 0; --i) {
    TensorId id = something(g);
    out.push_back(random_.chance(90) ? id : g.constant(g.of(id)));
  }
  return out;
}

bool ControlMaker::branch(GraphMaker& g, int depth, std::vector<TensorType> results) {
  --left_;
  std::vector<TensorId> operands = captured(g);
  if (results.empty() && !random_.chance(5))
    for (int64_t i = random_.pick(1, 3); i > 0; --i) {
      const bool again = !results.empty() && random_.chance(35);
      results.push_back(again ? results.back()
                              : g.of(operands.empty() || random_.chance(40) ? something(g) : operands.back()));
    }
  for (const TensorType& t : results)
    if (random_.chance(60)) operands.push_back(there(g, t));
  const TensorId flag_of = condition(g);
  auto finish = [&](GraphMaker& inner) {
    for (const TensorType& t : results) give(inner, again_or_made(inner, t, depth + 1));
  };
  Graph first = region("then", g, operands, depth + 1, 3, finish);
  Graph second = region("else", g, operands, depth + 1, 3, finish);
  operands.insert(operands.begin(), flag_of);
  if (!g.add("if", operands, {}, results, {std::move(first), std::move(second)})) return false;
  if (results.empty() || !random_.chance(30)) return true;
  const TensorId last = g.last();
  read_again(g);
  // `make` takes the last tensor as the result.
  g.known.push_back(last);
  return true;
}

// ---------------------------------------------------------------- loops

void ControlMaker::add_chain(GraphMaker& g, int depth, std::vector<Carried>& all) {
  const int64_t length = random_.pick(1, depth == 0 ? 5 : 3);
  const TensorType type = g.type(DType::kBool, random_.chance(60) ? Shape{1} : Shape{});
  for (int64_t i = 1; i <= length; ++i) {
    TensorId initial = random_.chance(35) ? g.any_of(type) : TensorId{};
    if (!initial.valid()) initial = flag(g, type, random_.chance(80));
    all.push_back({Role::kChain, type, initial, all.size() + (i < length ? 1 : 0)});
  }
}

// How far it counts is known at run time only, or from the start.
void ControlMaker::add_counter(GraphMaker& g, int depth, std::vector<Carried>& all) {
  const TensorType type = g.type(DType::kI32, random_.chance(60) ? Shape{} : Shape{1});
  const int64_t most = depth == 0 ? 5 : 3, from = random_.pick(-3, 3);
  TensorId limit = number(g, type, from + random_.pick(0, most - 1));
  TensorType flag_type = type;
  flag_type.dtype = DType::kBool;
  TensorId more = g.any_of(flag_type);
  if (more.valid() && random_.chance(70) && g.add("cast", {more}, {}, {type}) &&
      g.add("add", {limit, g.last()}, {}, {type}))
    limit = g.last();
  const size_t first = all.size();
  all.push_back({Role::kCounter, type, number(g, type, from), first + 1});
  all.push_back({Role::kInvariant, type, limit, 0});
}

std::vector<ControlMaker::Carried> ControlMaker::carried(GraphMaker& g, int depth) {
  std::vector<Carried> all;
  if (random_.chance(50)) add_chain(g, depth, all);
  else add_counter(g, depth, all);
  for (int64_t i = random_.pick(0, 4); i > 0; --i) {
    const TensorType type = g.of(something(g));
    TensorId initial = random_.chance(75) ? g.any_of(type) : TensorId{};
    if (TensorId id = random_.chance(25) ? read_before(g, type) : TensorId{}; id.valid()) initial = id;
    if (!initial.valid()) initial = g.constant(type);
    const Role role = random_.chance(60) ? Role::kComputed : Role::kInvariant;
    all.push_back({role, type, initial, 0});
    // The body needs what it began with, too.
    if (random_.chance(20)) all.push_back({Role::kInvariant, type, initial, 0});
    // Two or three that change places.
    if (!random_.chance(30)) continue;
    const size_t first = all.size() - 1;
    const int64_t more = random_.pick(1, 2);
    for (int64_t k = 0; k < more; ++k) {
      all.back().other = all.size();
      if (k > 0 || random_.chance(80)) all.back().role = Role::kOther;
      all.push_back({Role::kOther, type, random_.chance(50) ? initial : there(g, type), first});
    }
  }
  return all;
}

void ControlMaker::finish_condition(GraphMaker& region, const std::vector<Carried>& all, int depth) {
  size_t counted = 0;
  while (all[counted].role != Role::kChain && all[counted].role != Role::kCounter) ++counted;
  auto input = [&](size_t i) { return region.made.inputs[i].tensor; };
  TensorId flag_of = input(counted);
  TensorType type = region.of(flag_of);
  type.dtype = DType::kBool;
  if (all[counted].role == Role::kCounter)
    flag_of = region.add("less", {flag_of, input(all[counted].other)}, {}, {type}) ? region.last()
                                                                                   : flag(region, type, false);
  if (random_.chance(15) && region.add("reshape", {flag_of}, {{"shape", list({1, 1})}}, {type}))
    flag_of = region.last();
  const bool tested = depth < kMostDepth && left_ > 0 && random_.chance(20);
  if (tested) {
    --left_;
    std::vector<TensorId> operands = captured(region);
    operands.push_back(flag_of);
    const TensorType bool_type = region.of(flag_of);
    Graph first = this->region("then", region, operands, depth + 1, 2, [&](GraphMaker& inner) {
      TensorId id = computed_condition(inner);
      if (id.valid() && inner.of(id) != bool_type)
        id = inner.add("reshape", {id}, {{"shape", list(bool_type.shape)}}, {bool_type}) ? inner.last() : TensorId{};
      give(inner, id.valid() ? id : inner.made.inputs.back().tensor);
    });
    Graph second = this->region("else", region, operands, depth + 1, 1,
                                [&](GraphMaker& inner) { give(inner, flag(inner, bool_type, false)); });
    operands.insert(operands.begin(), flag_of);
    if (region.add("if", operands, {}, {bool_type}, {std::move(first), std::move(second)})) flag_of = region.last();
  }
  give(region, flag_of);
}

void ControlMaker::finish_body(GraphMaker& region, const std::vector<Carried>& all, int depth) {
  std::vector<TensorId> next;
  for (size_t i = 0; i < all.size(); ++i) {
    const Carried& c = all[i];
    switch (c.role) {
      case Role::kInvariant: next.push_back(region.made.inputs[i].tensor); break;
      case Role::kComputed: {
        const bool again = !next.empty() && region.of(next.back()) == c.type && random_.chance(30);
        next.push_back(again ? next.back() : make(region, c.type, depth));
        break;
      }
      case Role::kCounter:
        region.add("add", {region.made.inputs[i].tensor, number(region, c.type, 1)}, {}, {c.type});
        next.push_back(region.last());
        break;
      case Role::kOther: next.push_back(region.made.inputs[c.other].tensor); break;
      case Role::kChain:
        next.push_back(c.other == i ? flag(region, c.type, false) : region.made.inputs[c.other].tensor);
        if (random_.chance(30) && region.add("logical_and", {next.back(), next.back()}, {}, {c.type}))
          next.back() = region.last();
    }
  }
  for (TensorId id : next) give(region, id);
}

bool ControlMaker::loop(GraphMaker& g, int depth) {
  --left_;
  std::vector<Carried> all = carried(g, depth);
  // The chain is not always first.
  const auto turn = static_cast<size_t>(random_.pick(0, static_cast<int64_t>(all.size()) - 1));
  const bool chain_first = random_.chance(50);
  if (!chain_first) {
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(turn), all.end());
    for (Carried& c : all) c.other = (c.other + all.size() - turn) % all.size();
  }
  std::vector<TensorId> operands;
  std::vector<TensorType> types;
  for (const Carried& c : all) {
    operands.push_back(c.initial);
    types.push_back(c.type);
  }
  Graph condition = region("condition", g, operands, depth + 1, 1,
                           [&](GraphMaker& inner) { finish_condition(inner, all, depth + 1); });
  Graph body =
      region("body", g, operands, depth + 1, 3, [&](GraphMaker& inner) { finish_body(inner, all, depth + 1); });
  if (!g.add("while", operands, {}, types, {std::move(condition), std::move(body)})) return false;
  if (random_.chance(50)) read_again(g);
  return true;
}

}  // namespace aotc::tests
