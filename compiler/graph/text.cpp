// SPDX-License-Identifier: Apache-2.0
// The text form of Graph IR (docs/ir.md): GraphForm reads or writes a graph.
#include <algorithm>
#include <map>
#include <numeric>

#include "graph/graph.h"
#include "graph/type_form.h"

namespace aotc::graph {

namespace {

// True if the name consists of digits only.
bool is_numeric(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// After "loc(".
void form(TextForm& f, Location& where) {
  f.string("the location's file", where.file);
  if (f.option(":", where.line != 0 || where.column != 0)) {
    f.number("a line", where.line);
    f.text(":");
    f.number("a column", where.column);
  }
  for (auto [word, field] : {std::pair{" subgraph ", &where.subgraph}, {" op ", &where.op_index}})
    if (f.option(word, *field != -1)) f.number("an index", *field);
  for (auto [word, field] : {std::pair{" type ", &where.op_type}, {" tensor ", &where.tensor}})
    if (f.option(word, !field->empty())) f.string("a name", *field);
  f.text(")");
}

// A tensor (%name). While reading, a TensorId is an index into GraphForm::names_, until assign_ids.
struct Named {
  std::string_view name;
  TextPlace first_use;
  bool declared = false;
  Tensor tensor;
};

struct GraphText {
  TextForm f;
  PrintOptions options = {};
  const DefinitionLookup* find = nullptr;
  int depth = 0;
};

// Reads or writes one graph: the whole one or a region, in which tensors have their own numbers.
class GraphForm {
 public:
  GraphForm(GraphText& text, Graph& graph)
      : text_(text), f_(text.f), graph_(graph), names_(f_.reading() ? 0 : graph.tensors.size()) {}

  void whole() {
    f_.text("graph ");
    f_.string("the graph's name", graph_.name);
    if (f_.option(" source ", text_.options.locations)) f_.string("the source file", graph_.source_file);
    if (f_.option(" description ", !graph_.description.empty())) f_.string("the description", graph_.description);
    block();
  }

  void region() {
    if (f_.reading() && text_.depth > kMostDepth)
      return f_.fail(fmt::format("regions are nested more than {} deep", kMostDepth));
    f_.string("the region's name", graph_.name);
    block();
  }

 private:
  void block() {
    f_.text(" ");
    f_.block([&] { read_statement(); }, [&] { write_statements(); });
    if (f_.reading() && !f_.failed()) assign_ids();
  }

  void write_statements() {
    for (Port& p : graph_.inputs) f_.line([&] { port("input ", p, true); });
    for (State& s : graph_.states) f_.line([&] { state(s); });
    // Constants, and tensors that neither an input nor an operator declares.
    std::vector<bool> defined(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) defined[i] = names_[i].declared;
    for (const Op& op : graph_.ops)
      for (TensorId id : op.results)
        if (id.valid()) defined[static_cast<size_t>(id.value)] = true;
    for (size_t i = 0; i < names_.size(); ++i) {
      TensorId id{static_cast<int32_t>(i)};
      if (graph_[id].constant) f_.line([&] { constant(id); });
      if (!graph_[id].constant && !defined[i]) f_.line([&] { tensor_statement(id); });
    }
    for (Op& op : graph_.ops) f_.line([&] { operation(op); });
    for (Port& p : graph_.outputs) f_.line([&] { port("output ", p, false); });
    for (State& s : graph_.states) f_.line([&] { next(s.before, s.after); });
  }

  void read_statement() {
    TensorId id, after;
    if (f_.is("%")) return operation(graph_.ops.emplace_back());
    if (f_.is("input")) return port("input", graph_.inputs.emplace_back(), true);
    if (f_.is("output")) return port("output", graph_.outputs.emplace_back(), false);
    if (f_.is("const")) return constant(id);
    if (f_.is("tensor")) return tensor_statement(id);
    if (f_.is("state")) return state(graph_.states.emplace_back());
    if (f_.is("next")) return next(id, after);
    const TextPlace at = f_.place();
    const std::string name(f_.word());
    if (name.empty()) return f_.fail("expected a statement or '}'");
    if (f_.is("(")) return call(graph_.ops.emplace_back(), name, at);
    f_.fail_at(at, fmt::format("expected a statement or '}}', found '{}'", TextForm::shown(name)),
               "statements begin with input, output, const, state, next, tensor, or %result = operator(...)");
  }

  Named& named(TensorId id) { return names_[static_cast<size_t>(id.value)]; }
  Tensor& tensor(TensorId id) { return f_.reading() ? named(id).tensor : graph_[id]; }

  // '%' and a name.
  void reference(TensorId& id) {
    if (!f_.reading()) return f_.write(id.valid() ? fmt::format("%{}", id.value) : "_");
    const TextPlace at = f_.place();
    if (!f_.accept("%")) return f_.fail("expected a tensor such as '%3'");
    const std::string_view name = f_.word();
    if (name.empty()) return f_.fail_at(at, "expected a name after '%'");
    auto [entry, added] = index_.try_emplace(name, static_cast<int32_t>(names_.size()));
    if (added) names_.push_back({name, at, false, {}});
    id.value = entry->second;
  }

  void optional_reference(TensorId& id) {
    if (!f_.reading() || !f_.accept("_")) reference(id);
  }

  // A reference, and if the text declares the tensor here: "name" type quant(...) device N. A declaration is written
  // once, if `write`; it must be there if `required`.
  void declared(TensorId& id, bool write, bool required = false) {
    const TextPlace at = f_.place();
    optional_reference(id);
    if (!id.valid() || f_.failed()) return;
    if (f_.reading() ? !f_.is("\"") : !write || named(id).declared) {
      if (f_.reading() && required) f_.fail(fmt::format("expected the name of %{} as a quoted string", named(id).name));
      return;
    }
    if (named(id).declared) return f_.fail_at(at, fmt::format("tensor %{} is declared twice", named(id).name));
    named(id).declared = true;
    Tensor& t = tensor(id);
    f_.text(" ");
    f_.string("the tensor's name", t.name);
    f_.text(" ");
    form(f_, t.type);
    if (f_.option(" device ", t.device != 0)) f_.number("a device number", t.device);
  }

  void port(const char* word, Port& p, bool declares) {
    f_.text(word);
    const TextPlace at = f_.place();
    // A port line cannot declare a constant, even in an invalid graph.
    const bool constant = !f_.reading() && p.tensor.valid() && graph_[p.tensor].constant;
    if (declares) {
      declared(p.tensor, !constant);
    } else {
      optional_reference(p.tensor);
    }
    if (f_.reading() && !p.tensor.valid()) return f_.fail_at(at, "an input or output needs a tensor");
    if (f_.option(" as ", !f_.reading() && (!p.tensor.valid() || p.name != graph_[p.tensor].name))) {
      f_.string("the port's name", p.name);
    } else if (f_.reading()) {
      unnamed_.push_back({declares, (declares ? graph_.inputs : graph_.outputs).size() - 1});
    }
  }

  void tensor_statement(TensorId& id) {
    f_.text("tensor ");
    declared(id, true, true);
  }

  void constant(TensorId& id) {
    f_.text("const ");
    ConstantView bytes;
    if (!f_.reading()) bytes = *graph_[id].constant;
    value(id, true, bytes);
    if (!f_.failed() && f_.reading()) tensor(id).constant = bytes;
  }

  // state %0 "name" type = value
  void state(State& s) {
    f_.text("state ");
    value(s.before, f_.reading() || (s.before.valid() && !graph_[s.before].constant), s.initial);
  }

  // A declared tensor, and the bytes of a constant of its type.
  void value(TensorId& id, bool write, ConstantView& bytes) {
    declared(id, write, true);
    if (f_.reading() && !id.valid()) return f_.fail("expected a tensor such as '%3'");
    form(f_, id.valid() ? tensor(id).type.dtype : DType::kU8, bytes, text_.options.constants_limit);
  }

  // next %0 = %3
  void next(TensorId& before, TensorId& after) {
    f_.text("next ");
    const TextPlace at = f_.place();
    reference(before);
    f_.text(" = ");
    reference(after);
    if (!f_.reading() || f_.failed()) return;
    for (State& s : graph_.states) {
      if (s.before != before) continue;
      if (s.after.valid())
        f_.fail_at(at, fmt::format("state %{} has two next values", TextForm::shown(named(before).name)));
      s.after = after;
      return;
    }
    f_.fail_at(at, fmt::format("%{} is not a state", TextForm::shown(named(before).name)),
               "declare the state first, with a line that begins with 'state'");
  }

  void operation(Op& op) {
    if (f_.reading() || !op.results.empty()) {
      f_.list(op.results, "", [&](TensorId& id) { declared(id, true); });
      f_.text(" = ");
    }
    const TextPlace at = f_.place();
    std::string name(f_.reading() ? "" : op.name());
    f_.name("an operator", name);
    call(op, name, at);
  }

  // (operands) {attributes} device N loc(...) region ...
  void call(Op& op, const std::string& name, TextPlace at) {
    if (f_.failed()) return;
    if (f_.reading()) {
      op.definition = (*text_.find)(name);
      if (op.definition == nullptr)
        return f_.fail_at(at, fmt::format("unknown operator '{}'", TextForm::shown(name)),
                          "'aotc ops' lists the operators");
      op.location = f_.location(at);
      op.location.op_type = name;
      if (!op.results.empty() && op.results[0].valid()) op.location.tensor = tensor(op.results[0]).name;
    }
    f_.text("(");
    f_.list(op.operands, ")", [&](TensorId& id) { optional_reference(id); });
    attributes(op);
    if (f_.option(" device ", op.device != 0)) f_.number("a device number", op.device);
    if (f_.option(" loc(", text_.options.locations)) {
      if (f_.reading()) op.location = Location();
      form(f_, op.location);
    }
    ++text_.depth;
    for (size_t i = 0; f_.option(" region ", i < op.regions.size()); ++i) {
      if (f_.reading()) op.regions.emplace_back().source_file = graph_.source_file;
      GraphForm(text_, op.regions[i]).region();
    }
    --text_.depth;
  }

  // {name = value, ...}: written in the order of the operator's `visit`, without those that have their default value.
  void attributes(Op& op) {
    const std::shared_ptr<AttributesBase> made = op.definition->default_attributes();
    std::vector<AttributeText> list;
    if (!f_.reading()) {
      list = op.attributes->print();
      const std::vector<AttributeText> defaults = made->print();
      for (size_t i = list.size(); i-- > 0;)
        if (list[i] == defaults[i]) list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (f_.option(" {", !list.empty()))
      f_.list(list, "}", [&](AttributeText& a) {
        const TextPlace at = f_.place();
        f_.name("an attribute or '}'", a.first);
        f_.text(" = ");
        const TextPlace value_at = f_.place();
        f_.value("the attribute's value", a.second);
        if (f_.reading() && !f_.failed() && !made->parse(a.first, a.second)) fail_attribute(op, *made, a, at, value_at);
      });
    if (f_.reading()) op.attributes = made;
  }

  void fail_attribute(const Op& op, const AttributesBase& attributes, const AttributeText& a, TextPlace at,
                      TextPlace value_at) {
    std::vector<std::string> names;
    for (const AttributeText& field : attributes.print()) {
      if (field.first == a.first)
        return f_.fail_at(value_at,
                          fmt::format("'{}' is not a value of attribute '{}'", TextForm::shown(a.second), field.first));
      names.push_back(field.first);
    }
    const std::vector<std::string> near = closest(a.first, names, 1);
    f_.fail_at(at, fmt::format("operator '{}' has no attribute '{}'", op.name(), TextForm::shown(a.first)),
               near.empty() ? "" : fmt::format("did you mean '{}'?", near[0]));
  }

  // Numeric names come first, by number, so that printed text keeps its ids; then other names by first appearance.
  void assign_ids() {
    std::vector<size_t> order(names_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const std::string_view x = names_[a].name, y = names_[b].name;
      const bool numeric = is_numeric(x);
      if (numeric != is_numeric(y)) return numeric;
      if (!numeric || x == y) return a < b;
      return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
    std::vector<TensorId> ids(names_.size());
    for (size_t i : order) {
      if (!names_[i].declared)
        return f_.fail_at(names_[i].first_use,
                          fmt::format("tensor %{} is not declared", TextForm::shown(names_[i].name)),
                          "declare the tensor with a name and a type where it is defined");
      ids[i] = graph_.add_tensor(std::move(names_[i].tensor));
    }
    auto assign = [&](TensorId& id) {
      if (id.valid()) id = ids[static_cast<size_t>(id.value)];
    };
    for (Op& op : graph_.ops) {
      std::for_each(op.operands.begin(), op.operands.end(), assign);
      std::for_each(op.results.begin(), op.results.end(), assign);
    }
    for (State& s : graph_.states) {
      assign(s.before);
      assign(s.after);
    }
    for (auto* ports : {&graph_.inputs, &graph_.outputs})
      for (Port& p : *ports) assign(p.tensor);
    for (auto [input, i] : unnamed_) {
      Port& p = (input ? graph_.inputs : graph_.outputs)[i];
      p.name = graph_[p.tensor].name;
    }
  }

  GraphText& text_;
  TextForm& f_;
  Graph& graph_;
  std::vector<Named> names_;  // while writing: by id, only `declared`
  std::map<std::string_view, int32_t> index_;
  std::vector<std::pair<bool, size_t>> unnamed_;  // inputs (true) and outputs that have the names of their tensors
};

}  // namespace

Result<Graph> parse(const std::string& text, const std::string& file, const DefinitionLookup& find,
                    Diagnostics& diags) {
  static constexpr TextDialect kDialect{"ir-parse"};
  GraphText reading{TextForm(kDialect, text, file, diags), {}, &find};
  Graph graph;
  graph.source_file = file;
  GraphForm(reading, graph).whole();
  if (!reading.f.token().empty()) reading.f.fail("expected the end of the text after '}'");
  if (reading.f.failed()) return kFailure;
  return graph;
}

std::string print(const Graph& graph, const PrintOptions& options) {
  GraphText writing{{}, options};
  Graph copy = graph;
  GraphForm(writing, copy).whole();
  return writing.f.written() + "\n";
}

std::string print(const Graph& graph, int64_t constants_limit) {
  PrintOptions options;
  options.constants_limit = constants_limit;
  return print(graph, options);
}

}  // namespace aotc::graph
