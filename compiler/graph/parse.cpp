// SPDX-License-Identifier: Apache-2.0
// The text form of the graph IR, read. print.cpp writes it; docs/ir.md describes it. Parsing stops
// at the first error: a text is written by a tool or a test, where one wrong token says enough.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "graph/constant_text.h"
#include "graph/graph.h"
#include "graph/parse_scope.h"
#include "graph/text_reader.h"
#include "support/text.h"

namespace aotc::graph {

namespace {

class Parser : private Scope, private TextReader {
 public:
  Parser(const std::string& text, const std::string& file, const DefinitionLookup& find, Diagnostics& diags)
      : TextReader(text, file, "ir-parse", diags), find_(find) {}

  Result<Graph> run() {
    if (!parse_header()) return kFailure;
    while (!cursor_.accept('}'))
      if (!parse_statement()) return kFailure;
    if (!cursor_.at_end()) return fail("expected the end of the text after '}'");
    if (!assign_ids()) return kFailure;
    return std::move(graph_);
  }

 private:
  Status parse_header() {
    if (!cursor_.accept_word("graph")) return fail("expected 'graph'");
    auto name = parse_string("the graph's name");
    if (!name) return kFailure;
    graph_.name = std::move(*name);
    graph_.source_file = file_;
    if (cursor_.accept_word("source")) {
      auto source = parse_string("the source file");
      if (!source) return kFailure;
      graph_.source_file = std::move(*source);
    }
    if (cursor_.accept_word("description")) {
      auto description = parse_string("the description");
      if (!description) return kFailure;
      graph_.description = std::move(*description);
    }
    return expect('{');
  }

  Status parse_statement() {
    if (cursor_.next_is('%')) return parse_op();
    TextPosition at = cursor_.position();
    std::string_view word = cursor_.word();
    if (word == "input") return parse_port(graph_.inputs, true);
    if (word == "output") return parse_port(graph_.outputs, false);
    if (word == "const") return parse_constant();
    if (word == "tensor") return parse_tensor_statement();
    if (word == "state") return parse_state();
    if (word == "next") return parse_next();
    if (!word.empty() && cursor_.next_is('(')) return parse_call({}, word, at);
    if (word.empty()) return fail("expected a statement or '}'");
    return fail_at(at, fmt::format("expected a statement or '}}', found '{}'", shown(word)),
                   "statements begin with input, output, const, state, next, tensor, or %result = operator(...)");
  }

  // '%' and a name; an id valid here is an index into names_.
  Result<TensorId> parse_reference() {
    TextPosition at = cursor_.position();
    if (!cursor_.accept('%')) return fail("expected a tensor such as '%3'");
    std::string_view name = cursor_.word();
    if (name.empty()) return fail_at(at, "expected a name after '%'");
    auto [entry, added] = index_.try_emplace(name, static_cast<int32_t>(names_.size()));
    if (added) names_.push_back({name, at, false, {}});
    return TensorId{entry->second};
  }

  Result<TensorId> parse_optional_reference() {
    if (!cursor_.accept_word("_")) return parse_reference();
    return TensorId{};
  }

  Named& named(TensorId id) { return names_[static_cast<size_t>(id.value)]; }

  // A reference, with a declaration if one follows: "name" type quant(...) device N.
  Result<TensorId> parse_declared(bool required) {
    TextPosition at = cursor_.position();
    auto id = parse_optional_reference();
    if (!id || !id->valid()) return id;
    if (!cursor_.next_is('"')) {
      if (!required) return id;
      return fail(fmt::format("expected the name of %{} as a quoted string", named(*id).name));
    }
    if (named(*id).declared) return fail_at(at, fmt::format("tensor %{} is declared twice", named(*id).name));
    Tensor tensor;
    auto name = parse_string("the tensor's name");
    if (!name) return kFailure;
    tensor.name = std::move(*name);
    if (!parse_type(tensor.type)) return kFailure;
    if (cursor_.accept_word("device")) {
      auto device = parse_int<int>("a device number");
      if (!device) return kFailure;
      tensor.device = *device;
    }
    named(*id).declared = true;
    named(*id).tensor = std::move(tensor);
    return id;
  }

  Status parse_port(std::vector<Port>& ports, bool declares) {
    TextPosition at = cursor_.position();
    auto id = declares ? parse_declared(false) : parse_optional_reference();
    if (!id) return kFailure;
    if (!id->valid()) return fail_at(at, "an input or output needs a tensor");
    Port port{*id, ""};
    bool has_name = cursor_.accept_word("as");
    if (has_name) {
      auto name = parse_string("the port's name");
      if (!name) return kFailure;
      port.name = std::move(*name);
    }
    ports.push_back(std::move(port));
    (declares ? unnamed_inputs_ : unnamed_outputs_).push_back(!has_name);
    return success();
  }

  Status parse_tensor_statement() { return parse_declared(true) ? success() : Status(kFailure); }

  Status parse_constant() {
    auto id = parse_declared(true);
    if (!id) return kFailure;
    if (!id->valid()) return fail("expected a tensor such as '%3'");
    std::vector<uint8_t> bytes;
    if (!parse_value(named(*id).tensor.type.dtype, bytes)) return kFailure;
    named(*id).tensor.constant = own_bytes(std::move(bytes));
    return success();
  }

  // state %0 "name" type = value
  Status parse_state() {
    auto id = parse_declared(true);
    if (!id) return kFailure;
    if (!id->valid()) return fail("expected a tensor such as '%3'");
    std::vector<uint8_t> bytes;
    if (!parse_value(named(*id).tensor.type.dtype, bytes)) return kFailure;
    graph_.states.push_back({*id, {}, own_bytes(std::move(bytes))});
    return success();
  }

  // next %0 = %3
  Status parse_next() {
    TextPosition at = cursor_.position();
    auto before = parse_reference();
    if (!before || !expect('=')) return kFailure;
    auto after = parse_reference();
    if (!after) return kFailure;
    for (State& state : graph_.states) {
      if (state.before != *before) continue;
      if (state.after.valid())
        return fail_at(at, fmt::format("state %{} has two next values", shown(named(*before).name)));
      state.after = *after;
      return success();
    }
    return fail_at(at, fmt::format("%{} is not a state", shown(named(*before).name)),
                   "declare the state first, with a line that begins with 'state'");
  }

  Status parse_op() {
    std::vector<TensorId> results;
    do {
      auto id = parse_declared(false);
      if (!id) return kFailure;
      results.push_back(*id);
    } while (cursor_.accept(','));
    if (!expect('=')) return kFailure;
    TextPosition at = cursor_.position();
    std::string_view name = cursor_.word();
    if (name.empty()) return fail("expected an operator");
    return parse_call(std::move(results), name, at);
  }

  // name(operands) {attributes} device N loc(...), from the '(' on.
  Status parse_call(std::vector<TensorId> results, std::string_view name, TextPosition at) {
    Op op;
    op.definition = find_(name);
    if (op.definition == nullptr)
      return fail_at(at, fmt::format("unknown operator '{}'", shown(name)), "'aotc ops' lists the operators");
    op.results = std::move(results);
    op.location.file = file_;
    op.location.line = at.line;
    op.location.column = at.column;
    op.location.op_type = std::string(name);
    if (!op.results.empty() && op.results[0].valid()) op.location.tensor = named(op.results[0]).tensor.name;
    if (!expect('(')) return kFailure;
    while (!cursor_.accept(')')) {
      if (!op.operands.empty() && !expect(',')) return kFailure;
      auto id = parse_optional_reference();
      if (!id) return kFailure;
      op.operands.push_back(*id);
    }
    if (!parse_attributes(op)) return kFailure;
    if (cursor_.accept_word("device")) {
      auto device = parse_int<int>("a device number");
      if (!device) return kFailure;
      op.device = *device;
    }
    if (cursor_.accept_word("loc") && !parse_location(op.location)) return kFailure;
    while (cursor_.accept_word("region"))
      if (!parse_region(op)) return kFailure;
    graph_.ops.push_back(std::move(op));
    return success();
  }

  // region "name" { statements }, in which tensors are numbered anew.
  Status parse_region(Op& op) {
    if (++depth_ > kMostDepth) return fail(fmt::format("regions are nested more than {} deep", kMostDepth));
    Scope outer;
    std::swap(outer, static_cast<Scope&>(*this));
    auto name = parse_string("the region's name");
    bool good = name.ok() && expect('{').ok();
    if (good) graph_.name = std::move(*name);
    graph_.source_file = outer.graph_.source_file;
    while (good && !cursor_.accept('}')) good = parse_statement().ok();
    good = good && assign_ids().ok();
    std::swap(outer, static_cast<Scope&>(*this));
    if (good) op.regions.push_back(std::move(outer.graph_));
    --depth_;
    return good ? success() : Status(kFailure);
  }

  Status parse_attributes(Op& op) {
    std::shared_ptr<AttributesBase> attributes = op.definition->default_attributes();
    if (cursor_.accept('{')) {
      for (bool first = true; !cursor_.accept('}'); first = false) {
        if (!first && !expect(',')) return kFailure;
        TextPosition at = cursor_.position();
        std::string_view name = cursor_.word();
        if (name.empty()) return fail("expected an attribute or '}'");
        if (!expect('=')) return kFailure;
        TextPosition value_at = cursor_.position();
        std::string_view value = cursor_.value();
        if (value.empty()) return fail("expected the attribute's value");
        if (!attributes->parse(name, value)) return fail_attribute(op, *attributes, name, at, value, value_at);
      }
    }
    op.attributes = std::move(attributes);
    return success();
  }

  Failure fail_attribute(const Op& op, const AttributesBase& attributes, std::string_view name, TextPosition at,
                         std::string_view value, TextPosition value_at) {
    std::vector<std::string> names;
    for (const AttributeText& field : attributes.print()) {
      if (field.first == name)
        return fail_at(value_at, fmt::format("'{}' is not a value of attribute '{}'", shown(value), field.first));
      names.push_back(field.first);
    }
    std::vector<std::string> near = closest(name, names, 1);
    return fail_at(at, fmt::format("operator '{}' has no attribute '{}'", op.name(), shown(name)),
                   near.empty() ? "" : fmt::format("did you mean '{}'?", near[0]));
  }

  Status parse_location(Location& where) {
    where = Location();
    if (!expect('(')) return kFailure;
    auto file = parse_string("the location's file");
    if (!file) return kFailure;
    where.file = std::move(*file);
    if (cursor_.accept(':')) {
      auto line = parse_int<int>("a line");
      if (!line || !expect(':')) return kFailure;
      auto column = parse_int<int>("a column");
      if (!column) return kFailure;
      where.line = *line;
      where.column = *column;
    }
    struct Number {
      const char* word;
      int* field;
    };
    for (Number number : {Number{"subgraph", &where.subgraph}, Number{"op", &where.op_index}}) {
      if (!cursor_.accept_word(number.word)) continue;
      auto value = parse_int<int>("an index");
      if (!value) return kFailure;
      *number.field = *value;
    }
    struct Text {
      const char* word;
      std::string* field;
    };
    for (Text text : {Text{"type", &where.op_type}, Text{"tensor", &where.tensor}}) {
      if (!cursor_.accept_word(text.word)) continue;
      auto value = parse_string("a name");
      if (!value) return kFailure;
      *text.field = std::move(*value);
    }
    return expect(')');
  }

  // By numbers where there are some, so that printed text keeps its ids.
  Status assign_ids() {
    const std::vector<size_t> order = order_of_ids();
    std::vector<TensorId> ids(names_.size());
    for (size_t i : order) {
      if (!names_[i].declared)
        return fail_at(names_[i].first_use, fmt::format("tensor %{} is not declared", shown(names_[i].name)),
                       "declare the tensor with a name and a type where it is defined");
      ids[i] = graph_.add_tensor(std::move(names_[i].tensor));
    }
    auto assign = [&](TensorId& id) {
      if (id.valid()) id = ids[static_cast<size_t>(id.value)];
    };
    for (Op& op : graph_.ops) {
      for (TensorId& id : op.operands) assign(id);
      for (TensorId& id : op.results) assign(id);
    }
    auto finish_ports = [&](std::vector<Port>& ports, const std::vector<bool>& unnamed) {
      for (size_t i = 0; i < ports.size(); ++i) {
        assign(ports[i].tensor);
        if (unnamed[i]) ports[i].name = graph_[ports[i].tensor].name;
      }
    };
    for (State& state : graph_.states) {
      assign(state.before);
      assign(state.after);
    }
    finish_ports(graph_.inputs, unnamed_inputs_);
    finish_ports(graph_.outputs, unnamed_outputs_);
    return success();
  }

  const DefinitionLookup& find_;
  int depth_ = 0;
};

}  // namespace

Result<Graph> parse(const std::string& text, const std::string& file, const DefinitionLookup& find,
                    Diagnostics& diags) {
  return Parser(text, file, find, diags).run();
}

}  // namespace aotc::graph
