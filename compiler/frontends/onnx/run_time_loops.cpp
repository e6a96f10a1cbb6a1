// SPDX-License-Identifier: Apache-2.0
// Loop and Scan whose number of turns is known only when the model runs, or too large to write every turn out: a
// while of the graph. Its operands are the turn, what goes from turn to turn, what the body reads from outside, whether
// to go on, and for each output that every turn adds to a tensor with room for the most turns.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

namespace {

bool has_graphs_that_read(const Node& node, const std::set<std::string_view>& names) {
  for (const Attribute& a : node.attributes) {
    std::vector<std::string_view> read;
    if (a.graph) find_outer_names(*a.graph, {}, read);
    if (std::any_of(read.begin(), read.end(), [&](std::string_view n) { return names.contains(n); })) return true;
  }
  return false;
}

// Element `turn` of dimension 0, without it.
Id seen_at(Builder& b, Id x, Id turn, bool backwards) {
  const int64_t last = b.shape(x)[0] - 1;
  Id at = backwards ? b.binary("sub", b.filled_int(DType::kI64, last), turn) : turn;
  return b.set_element(b.add("gather", {x, at}, {{"axis", 0}}), b.element(x));
}

// A tensor with one of its elements along dimension 0 replaced.
Id replaced(Builder& b, Id whole, Id element, Id turn, bool backwards) {
  const graph::Shape shape = b.shape(whole);
  graph::Shape one = shape;
  one[0] = 1;
  Id at = backwards ? b.binary("sub", b.filled_int(DType::kI64, shape[0] - 1), turn) : turn;
  at = b.reshape(at, {1});
  if (shape.size() > 1) at = b.add("concatenation", {at, b.int_list(Ints(shape.size() - 1, 0))}, {{"axis", 0}});
  const int32_t kind = b.element(element);
  return b.set_element(b.add("dynamic_update_slice", {whole, b.reshape(element, one), at}), kind);
}

}  // namespace

// Does what the body says of going on depend on what is known only when the model runs? `seeds` are inputs of the
// body that do; inputs behind the second go from turn to turn.
bool Importer::depends(const Graph& body, std::set<std::string_view> seeds, size_t carried, const Scope& scope) {
  std::vector<std::string_view> outer;
  find_outer_names(body, {}, outer);
  for (std::string_view name : outer) {
    Id id = find(scope, name);
    bool known = true;
    if (id.valid()) (void)build(name, [&] { known = builder_.is_constant(id); });
    if (!known) seeds.insert(name);
  }
  for (bool more = true; more;) {
    for (const Node& node : body.nodes) {
      if (node.type == "Shape" || node.type == "Size") continue;
      const bool reads =
          std::any_of(node.inputs.begin(), node.inputs.end(), [&](std::string_view n) { return seeds.contains(n); });
      if (reads || has_graphs_that_read(node, seeds)) seeds.insert(node.outputs.begin(), node.outputs.end());
    }
    more = false;
    for (size_t i = 0; i < carried; ++i)
      if (seeds.contains(body.outputs[1 + i].name)) more = seeds.insert(body.inputs[2 + i].name).second || more;
  }
  return seeds.contains(body.outputs[0].name);
}

// A value that the while begins with, as the region's input; a constant that does not change is the region's own.
Id Importer::while_operand(WhileBody& loop, Id first, std::string_view name, bool changes, Importer& inner) {
  const Id id = hand_over(first, name, changes, inner);
  if (loop.region.is_constant(id)) return id;
  loop.first.push_back(first);
  loop.before.push_back(id);
  loop.after.push_back(id);
  return id;
}

// The body's operators, told of what they read.
bool Importer::read_while_body(const Graph& body, const LoopForm& form, const Versions& versions, const Scope& scope,
                               int depth, Importer& inner, WhileBody& loop) {
  Scope values;
  std::vector<std::string_view> names;
  if (!captures_of(loop.node, body, scope, names)) return false;
  const size_t states = form.state.size(), from = form.decides ? 2 : 0;
  bool good = build_at(where_node(loop.node), [&] {
    const Id turn = while_operand(loop, builder_.filled_int(DType::kI64, 0), "turn", true, inner);
    if (form.decides) values.values[body.inputs[0].name] = turn;
    for (size_t i = 0; i < states; ++i) {
      const std::string_view name = body.inputs[from + i].name;
      values.values[name] = while_operand(loop, form.state[i], name, true, inner);
    }
  });
  if (!good) return false;
  for (std::string_view name : names)
    values.values.emplace(name, while_operand(loop, find(scope, name), name, false, inner));
  good = inner.build_at(where_node(loop.node), [&] {
    Builder& b = inner.builder_;
    if (form.decides) values.values[body.inputs[1].name] = b.filled_int(DType::kBool, 1);
    for (size_t i = 0; i < form.seen.size(); ++i) {
      const std::string_view name = body.inputs[states + i].name;
      const Id seen = while_operand(loop, form.seen[i], name, false, inner);
      values.values[name] = seen_at(b, seen, loop.before[0], form.seen_backwards[i]);
    }
  });
  return good && inner.add_initializers(body, values) && inner.add_nodes(body.nodes, versions, values, depth + 1) &&
         inner.find_outputs(body, values, loop.outputs);
}

// What the next turn begins with.
void Importer::change_operands(const LoopForm& form, Importer& inner, WhileBody& loop) {
  Builder& b = inner.builder_;
  loop.after[0] = b.binary("add", loop.before[0], b.filled_int(DType::kI64, 1));
  const size_t from = form.decides ? 1 : 0;
  for (size_t i = 0; i < form.state.size(); ++i) {
    const Id before = loop.before[1 + i], after = loop.outputs[from + i];
    auto type = [&](Id id) { return element_type_name(b.element(id)) + " " + graph::to_string(b.shape(id)); };
    if (type(before) != type(after))
      b.stop("onnx-shape",
             fmt::format("loop variable {} is {} at first, but {} after an iteration", i, type(before), type(after)),
             "both must have the same type and shape, unless the number of iterations is known at compile time");
    if (b.type(after).elements() == 0)
      b.stop("onnx-empty", "a loop variable has no elements", "export the model with fixed shapes");
    loop.after[1 + i] = after;
  }
  if (form.most.valid() && !builder_.is_constant(form.most)) {
    loop.limit = loop.first.size();
    (void)while_operand(loop, form.most, "most", false, inner);
  }
  if (!form.decides) return;
  const std::optional<double> known = b.number(loop.outputs[0]);
  if (known && *known != 0 && form.go_on.valid() && builder_.number(form.go_on).value_or(0) != 0) return;
  loop.going = loop.first.size();
  (void)while_operand(loop, form.go_on, "go_on", true, inner);
  loop.after.back() = b.reshape(loop.outputs[0], {});
}

// Room for an element of each turn.
void Importer::add_rows(const LoopForm& form, Importer& inner, WhileBody& loop) {
  Builder& b = inner.builder_;
  loop.given = loop.first.size();
  const size_t states = form.state.size(), from = (form.decides ? 1 : 0) + states;
  for (size_t i = 0; i < form.given_axes.size(); ++i) {
    const Id element = loop.outputs[from + i];
    if (loop.node.outputs[states + i].empty()) continue;
    const double most = form.most.valid() ? builder_.number(form.most).value_or(-1) : -1;  // -1: not known
    graph::Shape whole = b.shape(element);
    whole.insert(whole.begin(), static_cast<int64_t>(std::clamp(most, 0.0, 1e15)));
    if (most >= 0 && bounded_bytes(whole, b.dtype(element)) < 0)
      b.stop("onnx-limit", fmt::format("scan output {} is too large with {:.0f} iterations", states + i, most),
             "reduce the maximum trip count, or remove this output");
    if (most < 0)
      b.stop("onnx-constant", fmt::format("scan output {} needs a constant maximum trip count", states + i),
             "make the maximum trip count a constant, as small as possible, or remove this output");
    const Id room =
        builder_.broadcast(builder_.reshape(builder_.filled_int(b.dtype(element), 0), Ints(whole.size(), 1)), whole);
    const Id before = while_operand(loop, room, "rows", true, inner);
    loop.after.back() = replaced(b, before, element, loop.before[0], form.given_backwards[i]);
  }
}

// Whether there is one more turn, of the counter, the limit and what the body says.
Id Importer::goes_on_in(Builder& b, const LoopForm& form, const WhileBody& loop, const std::vector<Id>& given) {
  Id goes_on;
  if (form.most.valid()) {
    const Id most = loop.limit ? given[*loop.limit] : b.filled_int(DType::kI64, builder_.ints(form.most)->at(0));
    goes_on = b.add("less", {given[0], most}, {}, DType::kBool);
  }
  if (loop.going) {
    const Id says = given[*loop.going];
    goes_on = goes_on.valid() ? b.add("logical_and", {goes_on, says}) : b.copy(says);
  }
  if (!goes_on.valid()) goes_on = b.copy(b.filled_int(DType::kBool, 1));
  return goes_on;
}

// The graph that says whether there is one more turn.
graph::Graph Importer::condition_of(const LoopForm& form, const WhileBody& loop) {
  graph::Graph out;
  out.name = loop.region.name;
  out.source_file = file_;
  std::vector<Id> given;
  for (const graph::Port& port : loop.region.inputs) {
    graph::Tensor tensor;
    tensor.name = loop.region[port.tensor].name;
    tensor.type = loop.region[port.tensor].type;
    given.push_back(out.add_tensor(std::move(tensor)));
    out.inputs.push_back({given.back(), port.name});
  }
  Builder b(out, ops::operators());
  Diagnostics told;
  b.begin(builder_.where(), told);
  Id goes_on;
  try {
    goes_on = goes_on_in(b, form, loop, given);
  } catch (const Stop&) {
    for (const Diagnostic& d : told.all()) append(diags_, d);
    throw;
  }
  b.finish();
  out.outputs.push_back({goes_on, "goes_on"});
  return out;
}

bool Importer::add_while(const Node& node, const Graph& body, LoopForm form, const Versions& versions, Scope& scope,
                         int depth) {
  if (depth >= limits::kMaxDepth)
    return error(where_node(node), "onnx-limit",
                 fmt::format("branches, loops and functions are nested more than {} deep", limits::kMaxDepth),
                 "export the model with fewer nested loops");
  WhileBody loop(node);
  Importer inner = open_region(body, loop.region);
  bool good = build_at(where_node(node), [&] {
    if (form.most.valid()) form.most = builder_.cast(builder_.reshape(form.most, {}), DType::kI64);
    if (form.decides)
      form.go_on = form.go_on.valid() ? builder_.reshape(form.go_on, {}) : builder_.filled_int(DType::kBool, 1);
  });
  good = good && read_while_body(body, form, versions, scope, depth, inner, loop);
  auto settle = [&] {
    if (form.decides && inner.builder_.dtype(loop.outputs[0]) != DType::kBool)
      inner.builder_.stop("onnx-type", "the condition of the body must be bool",
                          "the file is damaged; export the model again");
    change_operands(form, inner, loop);
    add_rows(form, inner, loop);
    for (Id& id : loop.after) {
      if (loop.region.is_constant(id) || loop.region.is_output(id)) id = inner.builder_.copy(id);
      loop.region.outputs.push_back({id, loop.region[id].name});
      loop.elements.push_back(inner.builder_.element(id));
    }
  };
  // Both graphs get operators.
  good = good && build_at(where_node(node), [&] {
           if (!inner.build_at(where_node(node), settle)) throw Stop{};
         });
  close_region(inner);
  std::vector<Id> results;
  good = good && build_at(where_node(node), [&] {
           std::vector<graph::Graph> regions;
           regions.push_back(condition_of(form, loop));
           regions.push_back(std::move(loop.region));
           results = builder_.add_control("while", loop.first, std::move(regions));
         });
  return good && define_while(form, loop, results, scope);
}

// Its results as the node's outputs: states, then what turns added to.
bool Importer::define_while(const LoopForm& form, const WhileBody& loop, const std::vector<Id>& results, Scope& scope) {
  const size_t states = form.state.size();
  size_t from = loop.given;
  Id count;
  for (size_t i = 0; i < loop.node.outputs.size(); ++i) {
    const std::string_view name = loop.node.outputs[i];
    if (name.empty()) continue;
    const size_t which = i < states ? 1 + i : from++;
    Id id = results[which];
    bool good = build_at(where_node(loop.node), [&] {
      builder_.set_element(id, loop.elements[which]);
      if (i >= states && loop.going) {
        if (!count.valid()) count = builder_.reshape(builder_.cast(results[0], DType::kI32), {1});
        builder_.set_counted(id, {count, 0});
      } else if (i >= states) {
        const int64_t rank = builder_.rank(id), axis = builder_.axis(form.given_axes[i - states], rank);
        Ints order;
        for (int64_t d = 1; d < rank; ++d) order.push_back(d);
        order.insert(order.begin() + axis, 0);
        id = builder_.set_element(builder_.transpose(id, order), loop.elements[which]);
      }
      builder_.name(id, name);
    });
    if (!good || !define(loop.node, i, id, scope)) return false;
  }
  return true;
}

}  // namespace aotc::frontends::onnx
