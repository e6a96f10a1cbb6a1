// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_run.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_state.h"
#include "ops/operator.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

bool is_device_copy(const Program& program, const ProgramCall& call) {
  if (call.op_index < 0) return false;
  const graph::Op& op = program.graph.ops[static_cast<size_t>(call.op_index)];
  return ops::definition_of(op).traits().device_copy;
}

}  // namespace

// The hook of the result's device goes first.
int copying_device(const Program& program, const ProgramCall& call) {
  if (!is_device_copy(program, call)) return -1;
  const graph::Op& op = program.graph.ops[static_cast<size_t>(call.op_index)];
  for (graph::TensorId id : {op.results[0], op.operands[0]})
    if (program.device_of(program.graph[id].device).hooks.contains("Copy")) return program.graph[id].device;
  return -1;
}

bool is_called(const Program& program, const ProgramFunction& function) {
  return std::any_of(function.calls.begin(), function.calls.end(),
                     [&](int call) { return copying_device(program, program.calls[static_cast<size_t>(call)]) < 0; });
}

bool has_own_arena(const Program& program, const CodegenOptions& options) {
  return options.arena == ArenaOwner::kModel && options.memory == MemoryMode::kStatic && program.arena_bytes > 0;
}

std::string arena_name(const CodegenOptions& options) {
  return (options.program.empty() ? options.prefix : options.program) + "_arena";
}

bool has_pools(const Program& program) {
  return program.pools.size() > (program.constants_apart ? 2 : 1) || program.pools[0].name != "arena";
}

std::vector<int> context_devices(const Program& program) {
  std::vector<int> out;
  for (size_t d = 0; d < program.devices.size(); ++d)
    if (program.devices[d].has_context()) out.push_back(static_cast<int>(d));
  return out;
}

std::vector<graph::Port> struct_ports(const std::vector<graph::Port>& ports, plan::Contract contract) {
  return contract == plan::Contract::kPreserve ? ports : std::vector<graph::Port>();
}

std::string run_prototype(const Program& program, const std::string& p) {
  std::string memory = has_pools(program) ? fmt::format("const struct {}_pools *pools", p) : "void *arena";
  std::string devices = context_devices(program).empty() ? "" : fmt::format(", const struct {}_devices *devices", p);
  return fmt::format(
      "int32_t {0}_run(const struct {0}_inputs *inputs, const struct {0}_outputs "
      "*outputs, {1}{2}{3})",
      p, memory, has_state(program) ? ", void *state" : "", devices);
}

bool is_taken(const std::string& symbol, const Program& program, bool slices) {
  static const std::set<std::string, std::less<>> kTaken = {
      "a",        "args",          "arena", "devices", "function", "inputs",  "outputs", "pools",
      "released", "ret_type_code", "s",     "state",   "status",   "tensors", "waited",  "ret_value"};
  static const std::set<std::string, std::less<>> kOfRows = {"context", "end",  "failed", "from",
                                                             "from0",   "next", "row",    "to0"};
  if (program.feeding && kOfRows.contains(symbol)) return true;
  if (slices && (symbol == "context" || symbol == "next")) return true;
  bool block = symbol.size() > 1 && symbol[0] == 'w' && symbol.find_first_not_of("0123456789", 1) == std::string::npos;
  bool header = symbol == "NULL" || symbol.starts_with("TVM") || symbol.starts_with("DL") ||
                symbol.starts_with("kTVM") || symbol.starts_with("kDL") ||
                (symbol.ends_with("_t") && (symbol.find("int") <= 1 || symbol == "size_t"));
  if (kTaken.contains(symbol) || block || header) return true;
  for (const plan::Pool& pool : program.pools)
    if (symbol == "a_" + pool.name) return true;
  for (const Device& d : program.devices)
    for (const char* of : {"_args", "_context", "_tensors", "_under_way"})
      if (symbol == d.name + of || symbol == "on_" + d.name + of) return true;
  return false;
}

std::string alignment_definitions(const Program& program, const std::string& prefix) {
  std::set<std::string> types;
  auto add = [&](const std::vector<graph::Port>& ports, plan::Contract contract) {
    for (const graph::Port& port : struct_ports(ports, contract))
      if (DType type = program.graph[port.tensor].type.dtype; size_of(type) > 1) types.emplace(c_type_of(type));
  };
  add(program.graph.inputs, program.input_contract);
  add(program.graph.outputs, program.output_contract);
  if (types.empty()) return "";
  std::string s = "/* Alignment that this CPU needs for the addresses of inputs and outputs. */\n";
  for (const std::string& type : types)
    s += fmt::format("struct {0}_place_of_{1} {{ char before; {1} at; }};\n", prefix, type);
  return s + fmt::format(
                 "#define {}_MISALIGNED(pointer, type) \\\n"
                 "    (((uintptr_t)(pointer) % offsetof(struct {}_place_of_##type, at)) != 0)\n\n",
                 upper(prefix), prefix);
}

std::string hook_declarations(const Program& program) {
  std::string s;
  for (int d : context_devices(program)) {
    const Device& device = program.device_of(d);
    auto declare = [&](const char* hook, const char* more) {
      s += fmt::format("extern int32_t TVMDevice{}{}(void *context{});\n", device.camel_name(), hook, more);
    };
    for (const char* hook : {"Activate", "Open", "Close", "Deactivate"})
      if (device.hooks.contains(hook)) declare(hook, "");
    if (device.hooks.contains("Copy"))
      declare("Copy", ", void *to, const void *from, uint32_t bytes, int32_t to_device");
    if (device.launch == Launch::kNone) continue;
    declare("Launch",
            ", TVMBackendPackedCFunc function, TVMValue *args,\n"
            "                                   int *type_codes, int num_args");
    declare("Sync", "");
  }
  return s.empty() ? s : "/* The application defines these functions for its devices. */\n" + s + "\n";
}

RunPrinter::RunPrinter(const Program& program, const CodegenOptions& options, const ModelFiles& names,
                       const TensorTable& tensors, const PlaceNames& places)
    : program_(program),
      options_(options),
      names_(names),
      tensors_(tensors),
      places_(places),
      p_(options.prefix),
      up_(upper(options.prefix)),
      workspace_(options.memory == MemoryMode::kWorkspace),
      under_way_(program.devices.size(), -1) {
  if (workspace_) blocks_ = workspace_blocks(program);
  has_status_ = !blocks_.empty() || !context_devices(program).empty();
  // Typed functions that are emitted here fail only where their data may be undefined.
  std::vector<bool> fails;
  for (const ProgramFunction& f : program.functions) fails.push_back(f.external || tir::can_fail(f.body->body));
  for (const ProgramCall& call : program.calls) {
    may_fail_.push_back(fails[static_cast<size_t>(call.function)] || copying_device(program, call) >= 0 ||
                        is_packed(program, options, call));
    has_status_ = has_status_ || may_fail_.back();
  }
}

void RunPrinter::line(const std::string& text) {
  const std::string deeper(static_cast<size_t>(depth_) * 4, ' ');
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const bool plain = text[from] == '#' || end == from;
    const std::string folded = fold_line((plain ? "" : deeper) + text.substr(from, end - from));
    text_ += folded + "\n";
    lines_ += 1 + static_cast<int>(std::count(folded.begin(), folded.end(), '\n'));
    from = end + 1;
  }
}

// A call over as many lines as it takes.
void RunPrinter::list(const std::string& head, const std::vector<std::string>& arguments) {
  std::string text = head;
  std::string pad(head.size(), ' ');
  // Names of the user's functions may be longer than a line.
  constexpr size_t kLongHead = 72;
  size_t longest = 0;
  for (const std::string& argument : arguments) longest = std::max(longest, argument.size());
  if ((head.size() > kLongHead || head.size() + longest + 2 > kMostColumns) && !arguments.empty()) {
    line(head);
    text = pad = std::string(head.find_first_not_of(' ') + 8, ' ');
  }
  for (size_t a = 0; a < arguments.size(); ++a) {
    std::string arg = arguments[a] + (a + 1 < arguments.size() ? "," : "");
    if (text.size() > pad.size() && text.size() + arg.size() + 1 > width()) {
      line(text);
      text = pad + arg;
    } else {
      text += (a > 0 && text.size() > pad.size() ? " " : "") + arg;
    }
  }
  line(text + ");");
}

std::string RunPrinter::print(int lines_before, nlohmann::ordered_json& calls) {
  if (program_.feeding) return print_run_by_rows();
  lines_ = lines_before;
  line(run_prototype(program_, p_));
  line("{");
  declare_locals();
  line("");
  check_arguments();
  open_devices();
  print_steps(program_.body, calls);
  for (size_t d = 0; d < under_way_.size(); ++d)
    if (under_way_[d] >= 0) sync(static_cast<int>(d));
  close_everything();
  line(has_status_ ? "    return status;" : "    return 0;");
  line("}");
  return std::move(text_);
}

void RunPrinter::print_steps(const std::vector<plan::ProgramStep>& steps, nlohmann::ordered_json& calls) {
  for (const plan::ProgramStep& step : steps) {
    if (step.kind == plan::ProgramStep::Kind::kCall) {
      print_call(static_cast<size_t>(step.call), calls);
      continue;
    }
    if (step.kind == plan::ProgramStep::Kind::kRepeat) {
      if (prints_loops(program_, options_)) print_repeat(step, calls);
      else
        for (const std::vector<plan::ProgramStep>& turn : step.blocks) print_steps(turn, calls);
      continue;
    }
    const bool loop = step.kind == plan::ProgramStep::Kind::kLoop;
    const std::string holds = condition(step.condition);
    forget_locals();
    line("");
    line(loop ? "    for (;;) {" : fmt::format("    if ({}) {{", holds));
    ++depth_;
    print_steps(step.blocks[0], calls);
    forget_locals();
    if (loop) {
      line("");
      line(fmt::format("    if (!({})) {{", holds));
      line("        break;");
      line("    }");
    } else if (!step.blocks[1].empty()) {
      line("} else {");
    }
    print_steps(step.blocks[1], calls);
    forget_locals();
    --depth_;
    line("    }");
  }
}

}  // namespace aotc::codegen
