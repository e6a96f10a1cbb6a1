// SPDX-License-Identifier: Apache-2.0
#include "plan/print.h"

#include <fmt/format.h>

#include "support/text.h"
#include "tir/tir.h"

namespace aotc::plan {

namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    out_ = fmt::format("plan \"{}\" {{\n", escape_for_display(program_.graph.name));
    for (const Pool& pool : program_.pools) out_ += fmt::format("  {}: {} bytes\n", pool.name, pool.bytes);
    if (program_.state_bytes > 0) out_ += fmt::format("  state: {} bytes\n", program_.state_bytes);
    steps(program_.body, "  ");
    return out_ + "}\n";
  }

 private:
  void steps(const std::vector<ProgramStep>& steps_of, const std::string& indent) {
    for (const ProgramStep& step : steps_of) {
      switch (step.kind) {
        case ProgramStep::Kind::kCall: call(step.call, indent); break;
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
          out_ += indent + "loop {\n";
          steps(step.blocks[0], indent + "  ");
          out_ += fmt::format("{}  while {}\n", indent, place(step.condition));
          steps(step.blocks[1], indent + "  ");
          out_ += indent + "}\n";
          break;
      }
    }
  }

  void call(int index, const std::string& indent) {
    const ProgramCall& c = program_.calls[static_cast<size_t>(index)];
    const ProgramFunction& f = program_.functions[static_cast<size_t>(c.function)];
    std::string in, results;
    for (size_t a = 0; a < c.arguments.size(); ++a) {
      std::string& list = f.body->params[a]->role == tir::Role::kOutput ? results : in;
      list += (list.empty() ? "" : ", ") + place(c.arguments[a].storage);
    }
    out_ += fmt::format("{}{}: {}({}) -> {}", indent, index, f.body->name, in, results);
    if (c.op_index >= 0)
      for (graph::TensorId id : c.results)
        out_ += fmt::format(" '{}'", escape_for_display(program_.graph[id].name));
    out_ += "\n";
  }

  std::string place(const Storage& s) const {
    auto port = [&](const std::vector<graph::Port>& ports) {
      return escape_for_display(ports[static_cast<size_t>(s.index)].name);
    };
    switch (s.kind) {
      case StorageKind::kArena:
        return fmt::format("{} + {}", program_.pools[static_cast<size_t>(s.pool)].name, s.offset);
      case StorageKind::kInput: return "input " + port(program_.graph.inputs);
      case StorageKind::kOutput: return "output " + port(program_.graph.outputs);
      case StorageKind::kConstant: return fmt::format("table {}", s.index);
      case StorageKind::kState: return fmt::format("state + {}", s.offset);
      case StorageKind::kNone: break;
    }
    return "nothing";
  }

  const Program& program_;
  std::string out_;
};

}  // namespace

std::string print(const Program& program) { return Printer(program).run(); }

std::string print_functions(const Program& program) {
  std::string out;
  for (const ProgramFunction& f : program.functions)
    if (!f.external) out += tir::print(*f.body) + "\n";
  return out;
}

}  // namespace aotc::plan
