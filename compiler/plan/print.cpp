// SPDX-License-Identifier: Apache-2.0
#include "plan/print.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/constant_text.h"
#include "support/text.h"
#include "tir/print.h"

namespace aotc::plan {

namespace {

std::string quoted(const std::string& name) { return graph::attribute_text::print(name); }

// Functions are called by names that no other has.
std::vector<std::string> function_names(const Program& program) {
  constexpr size_t kLongest = 48;
  UniqueNames unique;
  std::vector<std::string> out;
  for (const ProgramFunction& f : program.functions)
    out.push_back(unique.make(tir::text_identifier(f.body->name).substr(0, kLongest)));
  return out;
}

std::string shape_text(const graph::Shape& shape) {
  std::string out;
  for (int64_t dim : shape) out += fmt::format("{}{}", out.empty() ? "" : "x", dim);
  return "[" + out + "]";
}

// Without its quantisation, of which a program knows nothing.
std::string type_text(const graph::TensorType& type) {
  return std::string(name_of(type.dtype)) + shape_text(type.shape);
}

// Words that places begin with, so that no pool is called by them.
bool is_place_word(std::string_view name) {
  constexpr std::string_view kWords[] = {"pool", "input", "output", "table", "state", "nothing"};
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

class Printer {
 public:
  Printer(const Program& program, const PrintOptions& options)
      : program_(program), options_(options), names_(function_names(program)) {}

  std::string run() {
    out_ = fmt::format("plan {} {{\n", quoted(program_.graph.name));
    memories();
    ports("input", program_.graph.inputs, program_.inputs);
    ports("output", program_.graph.outputs, program_.outputs);
    states();
    tables();
    for (size_t d = 1; d < program_.devices.size(); ++d)
      out_ += fmt::format("  device {} {}\n", d, quoted(program_.devices[d].name));
    for (size_t f = 0; f < program_.functions.size(); ++f) declared_function(f);
    steps(program_.body, "  ");
    out_ += "}\n";
    if (options_.functions)
      for (size_t f = 0; f < program_.functions.size(); ++f) out_ += function_text(f);
    return out_;
  }

 private:
  void memories() {
    for (const Pool& pool : program_.pools) {
      out_ += fmt::format("  pool {} {} bytes", pool.name, pool.bytes);
      if (pool.limit >= 0) out_ += fmt::format(" limit {}", pool.limit);
      out_ += fmt::format("{}{}\n", pool.fast ? " fast" : "", pool.constants ? " constants" : "");
    }
    if (program_.state_bytes > 0) out_ += fmt::format("  state {} bytes\n", program_.state_bytes);
    if (program_.program_tables) out_ += "  program_tables\n";
  }

  void ports(const char* word, const std::vector<graph::Port>& ports, const std::vector<Storage>& places) {
    for (size_t i = 0; i < ports.size(); ++i)
      out_ += fmt::format("  {} {} {} at {}\n", word, quoted(ports[i].name),
                          type_text(program_.graph[ports[i].tensor].type), place(places[i]));
  }

  void states() {
    for (size_t i = 0; i < program_.graph.states.size(); ++i) {
      const graph::State& state = program_.graph.states[i];
      const graph::Tensor& tensor = program_.graph[state.before];
      out_ += fmt::format("  state {} {} at {} = {}\n", quoted(tensor.name), type_text(tensor.type),
                          place(program_.states[i]), constant(tensor.type.dtype, state.initial));
    }
  }

  void tables() {
    for (size_t i = 0; i < program_.constants.size(); ++i) {
      const ProgramConstant& c = program_.constants[i];
      const graph::ConstantView bytes{nullptr, c.data.bytes};
      const auto elements = static_cast<int64_t>(c.data.bytes.size()) / size_of(c.data.dtype);
      out_ += fmt::format("  table {} {} {}[{}] align {}", i, quoted(c.name), name_of(c.data.dtype), elements,
                          c.data.alignment);
      if (program_.constant_pool >= 0) out_ += fmt::format(" at {}", c.offset);
      out_ += fmt::format(" = {}\n", constant(c.data.dtype, bytes));
    }
  }

  std::string constant(DType dtype, const graph::ConstantView& bytes) const {
    return graph::print_constant(dtype, bytes, options_.constants_limit);
  }

  // What a function's own text does not say.
  void declared_function(size_t f) {
    const ProgramFunction& function = program_.functions[f];
    std::string text;
    if (function.merged) text += " merged";
    if (function.device != 0) text += fmt::format(" on {}", function.device);
    if (const auto& e = function.external)
      text += fmt::format(" external {} {}{}{}", quoted(e->symbol), name_of(e->convention),
                          e->context ? " context" : "", e->flatten ? " flatten" : "");
    if (!text.empty()) out_ += fmt::format("  function {}{}\n", names_[f], text);
  }

  std::string function_text(size_t f) const {
    const bool divided =
        options_.bands != nullptr && !options_.bands->functions.empty() && options_.bands->functions[f] != nullptr;
    tir::Function named = divided ? *options_.bands->functions[f] : *program_.functions[f].body;
    named.name = names_[f];
    if (program_.functions[f].external) named.body = std::make_shared<tir::Block>(std::vector<tir::StmtPtr>());
    return tir::print(named);
  }

  void steps(const std::vector<ProgramStep>& steps_of, const std::string& indent) {
    for (const ProgramStep& step : steps_of) {
      switch (step.kind) {
        case ProgramStep::Kind::kCall: call(static_cast<size_t>(step.call), indent); break;
        case ProgramStep::Kind::kBranch:
          out_ += fmt::format("{}if {} {{\n", indent, place(step.condition));
          steps(step.blocks[0], indent + "  ");
          out_ += indent + "} else {\n";
          steps(step.blocks[1], indent + "  ");
          out_ += indent + "}\n";
          break;
        case ProgramStep::Kind::kRepeat:
          out_ += fmt::format("{}repeat {} times {{\n", indent, step.blocks.size());
          for (const auto& turn : step.blocks) steps(turn, indent + "  ");
          out_ += indent + "}\n";
          break;
        case ProgramStep::Kind::kLoop:
          out_ += indent + (step.trip_count < 0 ? "loop {\n" : fmt::format("loop {} times {{\n", step.trip_count));
          steps(step.blocks[0], indent + "  ");
          out_ += fmt::format("{}  while {}\n", indent, place(step.condition));
          steps(step.blocks[1], indent + "  ");
          out_ += indent + "}\n";
          break;
      }
    }
  }

  void call(size_t index, const std::string& indent) {
    const ProgramCall& c = program_.calls[index];
    const auto f = static_cast<size_t>(c.function);
    std::string in, results;
    for (size_t a = 0; a < c.arguments.size(); ++a) {
      std::string& list = program_.functions[f].body->params[a]->role == tir::Role::kOutput ? results : in;
      list += (list.empty() ? "" : ", ") + argument(c.arguments[a]);
    }
    out_ += fmt::format("{}{}: {}({}) -> {}", indent, index, names_[f], in, results.empty() ? "nothing" : results);
    for (size_t r = 0; r < c.results.size(); ++r)
      out_ += fmt::format("{}{}", r == 0 ? " as " : ", ", result(c, c.results[r]));
    for (size_t r = 0; r < c.rows.size(); ++r) {
      const graph::Tensor& tensor = program_.graph[c.rows[r]];
      out_ += fmt::format("{}{} {}", r == 0 ? " rows " : ", ", quoted(tensor.name), type_text(tensor.type));
    }
    if (c.by_rows && c.rows.empty()) out_ += " by_rows";
    if (c.device != 0) out_ += fmt::format(" on {}", c.device);
    if (options_.bands != nullptr && options_.bands->has(c)) parts(options_.bands->calls[index]);
    out_ += "\n";
  }

  std::string argument(const CallArgument& a) const {
    std::string out = fmt::format("{} {}", place(a.storage), shape_text(a.shape));
    if (graph::element_count(a.shape) != a.elements) out += fmt::format(" count {}", a.elements);
    return out;
  }

  // A tensor that the call computes, and where it lies unless that is the only place that the call writes.
  std::string result(const ProgramCall& c, graph::TensorId id) const {
    const graph::Tensor& tensor = program_.graph[id];
    const Storage& storage = program_.tensors[static_cast<size_t>(id.value)];
    std::string out = quoted(tensor.name) + " " + type_text(tensor.type), where = place(storage);
    const auto& params = program_.functions[static_cast<size_t>(c.function)].body->params;
    size_t outputs = 0;
    bool written = false;
    for (size_t a = 0; a < c.arguments.size(); ++a) {
      if (params[a]->role != tir::Role::kOutput) continue;
      ++outputs;
      written = place(c.arguments[a].storage) == where;
    }
    return outputs == 1 && written ? out : out + " at " + where;
  }

  void parts(const CallBands& bands) {
    for (size_t i = 0; i < bands.levels.size(); ++i) {
      const BandLevel& level = bands.levels[i];
      out_ += fmt::format("{} from {} to {} step {} turns {}", i == 0 ? " parts" : ",", level.begin, level.end,
                          level.step, level.turns);
    }
  }

  std::string place(const Storage& s) const {
    switch (s.kind) {
      case StorageKind::kArena: {
        const std::string& name = program_.pools[static_cast<size_t>(s.pool)].name;
        return is_place_word(name) ? fmt::format("pool {} + {}", s.pool, s.offset)
                                   : fmt::format("{} + {}", name, s.offset);
      }
      case StorageKind::kInput: return fmt::format("input {}", s.index);
      case StorageKind::kOutput: return fmt::format("output {}", s.index);
      case StorageKind::kConstant: return fmt::format("table {}", s.index);
      case StorageKind::kState: return fmt::format("state + {}", s.offset);
      case StorageKind::kNone: break;
    }
    return "nothing";
  }

  const Program& program_;
  const PrintOptions& options_;
  std::vector<std::string> names_;
  std::string out_;
};

}  // namespace

std::string print(const Program& program, const PrintOptions& options) { return Printer(program, options).run(); }

std::string print_functions(const Program& program) {
  std::string out;
  for (const ProgramFunction& f : program.functions)
    if (!f.external) out += tir::print(*f.body) + "\n";
  return out;
}

}  // namespace aotc::plan
