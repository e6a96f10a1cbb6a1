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

using passes::Device;
using passes::Launch;
using plan::Program;
using plan::ProgramCall;
using plan::ProgramFunction;
using plan::Storage;
using plan::StorageKind;

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
    if (program.device_of(program.graph[id].device).hooks.contains("Copy"))
      return program.graph[id].device;
  return -1;
}

bool is_called(const Program& program, const ProgramFunction& function) {
  return std::any_of(function.calls.begin(), function.calls.end(), [&](int call) {
    return copying_device(program, program.calls[static_cast<size_t>(call)]) < 0;
  });
}

bool has_own_arena(const Program& program, const CodegenOptions& options) {
  return options.arena == ArenaOwner::kModel && options.memory == MemoryMode::kStatic &&
         program.arena_bytes > 0;
}

bool has_pools(const Program& program) {
  return program.pools.size() > 1 || program.pools[0].name != "arena";
}

std::vector<int> context_devices(const Program& program) {
  std::vector<int> out;
  for (size_t d = 0; d < program.devices.size(); ++d)
    if (program.devices[d].has_context()) out.push_back(static_cast<int>(d));
  return out;
}

std::vector<graph::Port> struct_ports(const std::vector<graph::Port>& ports,
                                      plan::Contract contract) {
  return contract == plan::Contract::kPreserve ? ports : std::vector<graph::Port>();
}

std::string run_prototype(const Program& program, const std::string& p) {
  std::string memory =
      has_pools(program) ? fmt::format("const struct {}_pools *pools", p) : "void *arena";
  std::string devices = context_devices(program).empty()
                            ? ""
                            : fmt::format(", const struct {}_devices *devices", p);
  return fmt::format("int32_t {0}_run(const struct {0}_inputs *inputs, const struct {0}_outputs "
                     "*outputs, {1}{2}{3})",
                     p, memory, has_state(program) ? ", void *state" : "", devices);
}

bool is_taken(const std::string& symbol, const Program& program, bool slices) {
  static const std::set<std::string, std::less<>> kTaken = {
      "a",        "args",          "arena", "devices", "function", "inputs", "outputs", "pools",
      "released", "ret_type_code", "s", "state", "status", "tensors", "waited",  "ret_value"};
  if (slices && (symbol == "context" || symbol == "next")) return true;
  bool block = symbol.size() > 1 && symbol[0] == 'w' &&
               symbol.find_first_not_of("0123456789", 1) == std::string::npos;
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
      if (DType type = program.graph[port.tensor].type.dtype; size_of(type) > 1)
        types.emplace(c_type_of(type));
  };
  add(program.graph.inputs, program.input_contract);
  add(program.graph.outputs, program.output_contract);
  if (types.empty()) return "";
  std::string s = "/* What this CPU wants of the addresses of inputs and outputs. */\n";
  for (const std::string& type : types)
    s += fmt::format("struct {0}_place_of_{1} {{ char before; {1} at; }};\n", prefix, type);
  return s + fmt::format("#define {}_MISALIGNED(pointer, type) \\\n"
                         "    (((uintptr_t)(pointer) % offsetof(struct {}_place_of_##type, at)) != 0)\n\n",
                         upper(prefix), prefix);
}

std::string hook_declarations(const Program& program) {
  std::string s;
  for (int d : context_devices(program)) {
    const Device& device = program.device_of(d);
    auto declare = [&](const char* hook, const char* more) {
      s += fmt::format("extern int32_t TVMDevice{}{}(void *context{});\n", device.camel_name(), hook,
                       more);
    };
    for (const char* hook : {"Activate", "Open", "Close", "Deactivate"})
      if (device.hooks.contains(hook)) declare(hook, "");
    if (device.hooks.contains("Copy"))
      declare("Copy", ", void *to, const void *from, uint32_t bytes, int32_t to_device");
    if (device.launch == Launch::kNone) continue;
    declare("Launch", ", TVMBackendPackedCFunc function, TVMValue *args,\n"
                      "                                   int *type_codes, int num_args");
    declare("Sync", "");
  }
  return s.empty() ? s : "/* The application defines these for its devices. */\n" + s + "\n";
}

RunPrinter::RunPrinter(const Program& program, const CodegenOptions& options,
                       const ModelFiles& names, const TensorTable& tensors,
                       const PlaceNames& places)
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
  if (head.size() > kLongHead && !arguments.empty()) {
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

void RunPrinter::declare_memory() {
  bool uses_arena = !workspace_ && program_.arena_bytes > 0;
  if (has_pools(program_)) {
    for (size_t i = 0; i < program_.pools.size(); ++i)
      if (program_.pools[i].bytes > 0)
        line(fmt::format("    {2}uint8_t *const {0} = pools != NULL ? ({2}uint8_t *)pools->{1} : NULL;",
                         base(static_cast<int>(i)), program_.pools[i].name,
                         program_.pools[i].constants ? "const " : ""));
    if (std::all_of(program_.pools.begin(), program_.pools.end(),
                    [](const plan::Pool& pool) { return pool.bytes == 0; }))
      line("    (void)pools;");
  } else if (uses_arena) {
    line(has_own_arena(program_, options_)
             ? fmt::format("    uint8_t *const a = arena != NULL ? (uint8_t *)arena : {}_arena;", p_)
             : "    uint8_t *const a = (uint8_t *)arena;");
  } else {
    line("    (void)arena;");
  }
  if (has_state(program_)) line("    uint8_t *const s = (uint8_t *)state;");
}

void RunPrinter::declare_locals() {
  declare_memory();
  std::string unused;
  for (int d : context_devices(program_)) {
    const std::string& name = program_.device_of(d).name;
    line(fmt::format("    void *const {} = devices != NULL ? devices->{} : NULL;", context(d), name));
    if (launch_of(d) == Launch::kAsync)
      line(fmt::format("    int32_t {}_under_way = 0;", local_name(d)));
    if (!uses_context(d)) unused += fmt::format("    (void){};\n", context(d));
  }
  if (has_status_) line("    int32_t status = 0;");
  declare_call_locals();
  for (size_t b = 0; b < blocks_.size(); ++b) line(fmt::format("    void *w{} = NULL;", b));
  if (!unused.empty()) line(unused.substr(0, unused.size() - 1));
}

// What packed calls are given, and the functions that are found by name.
void RunPrinter::declare_call_locals() {
  if (tensors_.most_arguments() > 0) {
    int places = 0, arguments = 0;
    bool returns = false;
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      const ProgramCall& call = program_.calls[c];
      returns = returns || (is_packed(program_, options_, call) &&
                            launch_of(call.device) == Launch::kNone);
    }
    for (size_t i = 0; i < program_.devices.size(); ++i) {
      int d = static_cast<int>(i);
      std::string local = local_prefix(d);
      if (local.empty()) {
        places = std::max(places, tensors_.most_places(d));
        locals_[local].most = static_cast<size_t>(std::max(1, places));
        arguments = std::max(arguments, tensors_.most_arguments(d));
      } else if (tensors_.most_arguments(d) > 0) {
        locals_[local].most = static_cast<size_t>(std::max(1, tensors_.most_places(d)));
        line(fmt::format("    DLTensor {}tensors[{}];", local, std::max(1, tensors_.most_places(d))));
        line(fmt::format("    TVMValue {}args[{}];", local, tensors_.most_arguments(d)));
      }
    }
    if (arguments > 0) {
      line(fmt::format("    DLTensor tensors[{}];", std::max(1, places)));
      line(fmt::format("    TVMValue args[{}];", arguments));
    }
    if (returns) line("    TVMValue ret_value;\n    int ret_type_code = kTVMNullptr;");
  }
  if (options_.convention == CallingConvention::kRegistry &&
      std::any_of(program_.calls.begin(), program_.calls.end(),
                  [&](const ProgramCall& c) { return is_looked_up(program_, options_, c); }))
    line("    TVMFunctionHandle function = NULL;");
}

Launch RunPrinter::launch_of(int device) const {
  const Launch launch = program_.device_of(device).launch;
  return sliced_ && launch == Launch::kAsync ? Launch::kSync : launch;
}

std::string RunPrinter::base(int pool) const {
  return has_pools(program_) ? "a_" + program_.pools[static_cast<size_t>(pool)].name : "a";
}

// What the device's own variables begin with. The model's tables begin with its prefix, pools with "a_".
std::string RunPrinter::local_name(int device) const {
  const std::string& name = program_.device_of(device).name;
  bool taken = name == p_ || (name == "s" && has_state(program_)) || (has_pools(program_) && (name == "a" || name.starts_with("a_")));
  return taken ? "on_" + name : name;
}

// "acc_" for a device that works while the host goes on: what its call was given must stay.
std::string RunPrinter::local_prefix(int device) const {
  return launch_of(device) == Launch::kAsync ? local_name(device) + "_" : "";
}

// Without hooks around the run and with all its calls elsewhere, nobody does.
bool RunPrinter::uses_context(int device) const {
  const Device& d = program_.device_of(device);
  if (d.launch == Launch::kAsync) return true;
  for (const char* hook : {"Activate", "Open", "Close", "Deactivate"})
    if (d.hooks.contains(hook)) return true;
  return std::any_of(program_.calls.begin(), program_.calls.end(), [&](const ProgramCall& call) {
    int copying = copying_device(program_, call);
    if (copying >= 0 || call.device != device) return copying == device;
    const auto& external = program_.functions[static_cast<size_t>(call.function)].external;
    return (is_packed(program_, options_, call) && !is_looked_up(program_, options_, call)) ||
           (external && external->context);
  });
}

std::string RunPrinter::context(int device) const {
  return program_.device_of(device).has_context() ? local_name(device) + "_context" : "NULL";
}

// Null or misaligned pointers, those in the structs included: once a run, before anything is read.
void RunPrinter::check_arguments() {
  std::vector<std::string> conditions;
  auto check_ports = [&](const char* name, const std::vector<graph::Port>& all,
                         plan::Contract contract, const std::vector<std::string>& fields) {
    std::vector<graph::Port> ports = struct_ports(all, contract);
    if (ports.empty()) return line(fmt::format("    (void){};", name));
    conditions.push_back(fmt::format("{} == NULL", name));
    for (size_t i = 0; i < ports.size(); ++i) {
      std::string pointer = fmt::format("{}->{}", name, fields[i]);
      conditions.push_back(pointer + " == NULL");
      DType type = program_.graph[ports[i].tensor].type.dtype;
      if (size_of(type) > 1)
        conditions.push_back(fmt::format("{}_MISALIGNED({}, {})", up_, pointer, c_type_of(type)));
    }
  };
  check_ports("inputs", program_.graph.inputs, program_.input_contract, names_.input_fields);
  check_ports("outputs", program_.graph.outputs, program_.output_contract, names_.output_fields);
  for (size_t i = 0; i < program_.pools.size(); ++i) {
    if (workspace_ || program_.pools[i].bytes == 0) continue;
    std::string a = base(static_cast<int>(i));
    conditions.push_back(a + " == NULL");
    conditions.push_back(fmt::format("((uintptr_t){} & ({}_ARENA_ALIGN - 1u)) != 0", a, up_));
  }
  if (has_state(program_)) {
    conditions.push_back("s == NULL");
    conditions.push_back(fmt::format("((uintptr_t)s & ({}_STATE_ALIGN - 1u)) != 0", up_));
  }
  if (conditions.empty()) return;
  std::string text = "    if (";
  for (size_t i = 0; i < conditions.size(); ++i) {
    std::string more = conditions[i] + (i + 1 < conditions.size() ? " ||" : ") {");
    if (text.size() > 8 && text.size() + more.size() > 99) {
      line(text);
      text = "       ";
    }
    text += (text.back() == '(' ? "" : " ") + more;
  }
  line(text);
  line(fmt::format("        return {}_ERROR_ARGUMENT;", up_));
  line("    }");
}

// Where a failure leads: to what is held last, so that all of it is given back.
std::string RunPrinter::fail() {
  if (sliced_ && depth_ > 0) return "break;";
  if (!held_.empty()) {
    held_.back().jumped_to = true;
    return fmt::format("goto {};", held_.back().label);
  }
  if (workspace_ && !blocks_.empty()) return "goto done;";
  if (context_devices(program_).empty()) return "return status;";
  jumps_to_done_ = true;
  return "goto done;";
}

void RunPrinter::fail_if_status(const std::string& indent) {
  line(indent + "if (status != 0) {");
  line(indent + "    " + fail());
  line(indent + "}");
}

void RunPrinter::open_devices() {
  for (int d : context_devices(program_)) {
    const Device& device = program_.device_of(d);
    std::string hook = "TVMDevice" + device.camel_name();
    for (auto [take, give] : {std::pair{"Activate", "Deactivate"}, {"Open", "Close"}}) {
      if (device.hooks.contains(take)) {
        line(fmt::format("    status = {}{}({});", hook, take, context(d)));
        fail_if_status();
      }
      if (device.hooks.contains(give))
        held_.push_back({fmt::format("{}_{}", give[0] == 'C' ? "close" : "deactivate", device.name),
                         fmt::format("{}{}({})", hook, give, context(d)), -1});
    }
    if (launch_of(d) == Launch::kAsync)
      held_.push_back({fmt::format("wait_{}", device.name), "", d});
  }
}

void RunPrinter::close_everything() {
  auto label = [&](const std::string& name) { line(""), line(name + ":"); };
  if (workspace_ && !blocks_.empty()) {
    // The label also serves the run that succeeded: nothing is open then.
    label("done");
    for (size_t b = blocks_.size(); b-- > 0;)
      line(fmt::format(
          "    if (w{0} != NULL && TVMBackendFreeWorkspace(1, 0, w{0}) != 0 && status == "
          "0) {{ status = {1}_ERROR_WORKSPACE; }}",
          b, up_));
    return;
  }
  if (held_.empty() && !jumps_to_done_) return line("");
  for (size_t h = held_.size(); h-- > 0;) {
    const Held& held = held_[h];
    if (held.jumped_to) label(held.label);
    std::string release = held.release, indent = "    ";
    if (release.empty()) {
      // Only a failure leaves a launch behind: the device may still be using the memory.
      line(fmt::format("    if ({}_under_way != 0) {{", local_name(held.waits_for)));
      release = fmt::format("TVMDevice{}Sync({})", program_.device_of(held.waits_for).camel_name(),
                            context(held.waits_for));
      indent += "    ";
      line(fmt::format("{}const int32_t waited = {};", indent, release));
      line(fmt::format("{}status = status != 0 ? status : waited;", indent));
      line("    }");
      continue;
    }
    line("    {");
    line(fmt::format("        const int32_t released = {};", release));
    line("        status = status != 0 ? status : released;");
    line("    }");
  }
  if (jumps_to_done_) label("done");
}

void RunPrinter::open_blocks(size_t call) {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].first != static_cast<int>(call)) continue;
    line(fmt::format("    w{} = TVMBackendAllocWorkspace(1, 0, {}u, 2, 8);", b,
                     std::max<int64_t>(blocks_[b].bytes, 1)));
    line(fmt::format("    if (w{} == NULL) {{", b));
    line(fmt::format("        status = {}_ERROR_WORKSPACE;", up_));
    line("        goto done;");
    line("    }");
    open_.push_back(b);
  }
}

void RunPrinter::close_blocks(size_t call) {
  while (!open_.empty() && blocks_[open_.back()].last <= static_cast<int>(call)) {
    size_t b = open_.back();
    open_.pop_back();
    line(fmt::format("    if (TVMBackendFreeWorkspace(1, 0, w{}) != 0) {{", b));
    line(fmt::format("        status = {}_ERROR_WORKSPACE;", up_));
    line(fmt::format("        w{} = NULL;", b));
    line("        goto done;");
    line("    }");
    line(fmt::format("    w{} = NULL;", b));
  }
}

// What earlier calls left in local arrays is known only where every way leads past them.
void RunPrinter::forget_locals() {
  for (auto& [prefix, locals] : locals_) {
    locals.tensors.clear();
    locals.used.clear();
    locals.args.clear();
  }
}

void RunPrinter::print_steps(const std::vector<plan::ProgramStep>& steps, nlohmann::ordered_json& calls) {
  for (const plan::ProgramStep& step : steps) {
    if (step.kind == plan::ProgramStep::Kind::kCall) {
      print_call(static_cast<size_t>(step.call), calls);
      continue;
    }
    if (step.kind == plan::ProgramStep::Kind::kRepeat) {
      if (prints_loops(program_, options_, sliced_))
        print_repeat(step, calls);
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

// Is the bool true?
std::string RunPrinter::condition(const Storage& storage) const {
  const bool far = program_.program_tables && storage.kind == StorageKind::kConstant;
  const std::string at = pointer(storage);
  return far ? fmt::format("pgm_read_byte({}) != 0", at) : fmt::format("*(const uint8_t *){} != 0", at);
}

void RunPrinter::print_call(size_t index, nlohmann::ordered_json& calls) {
  sync_for(index);
  line("");
  print_call_itself(index, calls);
}

// What the map of the source says of a call whose code begins in the next line.
nlohmann::ordered_json RunPrinter::call_entry(size_t index) const {
  const ProgramCall& call = program_.calls[index];
  nlohmann::ordered_json entry;
  entry["call"] = index;
  entry["line"] = lines_ + 1;
  int copying = copying_device(program_, call);
  entry["function"] = copying >= 0 ? fmt::format("TVMDevice{}Copy", program_.device_of(copying).camel_name())
                                   : names_.function_names[static_cast<size_t>(call.function)];
  if (program_.devices.size() > 1) entry["device"] = program_.device_of(call.device).name;
  if (call.op_index >= 0) {
    const graph::Op& op = program_.graph.ops[static_cast<size_t>(call.op_index)];
    entry["op_index"] = op.location.op_index;
    // What --schedules takes: this file can be edited and given back.
    if (!call.schedule.algorithm.empty()) {
      entry["schedule"]["algorithm"] = call.schedule.algorithm;
      for (const auto& [name, value] : call.schedule.numbers) entry["schedule"][name] = value;
    }
    entry["op_type"] = op.location.op_type;
    entry["tensor"] = escape_for_display(program_.graph[op.results[0]].name);
  }
  return entry;
}

void RunPrinter::print_call_itself(size_t index, nlohmann::ordered_json& calls) {
  const ProgramCall& call = program_.calls[index];
  std::string shape;
  if (!call.results.empty()) shape = ": " + describe(program_.graph[call.results[0]].type);
  std::string on = call.device == 0 ? "" : " on " + program_.device_of(call.device).name;
  const std::string title = fmt::format("    /* call {}: {}", index, operator_title(program_, call, 60));
  const bool fits = width() >= title.size() + shape.size() + on.size() + 3;
  line(fmt::format("{}{}{}{} */", title, on, fits || shape.empty() ? "" : ":\n     *     ",
                   fits || shape.empty() ? shape : shape.substr(2)));
  if (workspace_) open_blocks(index);
  calls.push_back(call_entry(index));
  int copying = copying_device(program_, call);
  if (copying >= 0)
    print_copy(index);
  else if (is_packed(program_, options_, call))
    print_packed_call(index);
  else
    print_direct_call(index);
  if (may_fail(index)) fail_if_status();
  if (sliced_ && in_parts(index)) {
    line(fmt::format("    if (++context->band < {}) {{", options_.bands.calls[index].parts()));
    line("        next = context->position;\n        break;\n    }\n    context->band = 0;");
  }
  if (launch_of(call.device) == Launch::kAsync && !is_device_copy(program_, call)) {
    line(fmt::format("    {}_under_way = 1;", local_name(call.device)));
    under_way_[static_cast<size_t>(call.device)] = static_cast<int>(index);
    return;  // what it computes is there after the wait
  }
  print_trace(index);
  if (workspace_) close_blocks(index);
}

void RunPrinter::print_direct_call(size_t index) {
  const ProgramCall& call = program_.calls[index];
  const ProgramFunction& f = program_.functions[static_cast<size_t>(call.function)];
  std::vector<std::string> arguments;
  for (size_t a = 0; a < call.arguments.size(); ++a) {
    std::string text = argument(index, a);
    // A function of the user's may take what is const here as not const.
    bool unpacked =
        f.external && f.external->convention == CallingConvention::kUnpacked;
    if (unpacked) text = fmt::format("({} *)(uintptr_t){}", c_type_of(call.arguments[a].dtype), text);
    arguments.push_back(text);
  }
  if (f.external && f.external->context) arguments.push_back(context(call.device));
  for (const std::string& bound : band_arguments(index)) arguments.push_back(bound);
  list(fmt::format("    {}{}(", may_fail(index) ? "status = " : "",
                   names_.function_names[static_cast<size_t>(call.function)]),
       arguments);
}

void RunPrinter::print_packed_call(size_t index) {
  const ProgramCall& call = program_.calls[index];
  const ProgramFunction& f = program_.functions[static_cast<size_t>(call.function)];
  const Device& device = program_.device_of(call.device);
  const std::string& name = names_.function_names[static_cast<size_t>(call.function)];
  std::string local = local_prefix(call.device);
  Locals& locals = locals_[local];
  size_t at = 0;
  for (size_t a = 0; a < call.arguments.size(); ++a) {
    if (tensors_.index_of(index, a) < 0) continue;
    std::string value = is_table(call.arguments[a].storage)
                            ? fmt::format("(void *)&{}_tensors[{}]", p_, tensors_.index_of(index, a))
                            : tensor_for(index, a, local);
    size_t place = at++;
    if (locals.args.size() <= place) locals.args.resize(place + 1);
    if (locals.args[place] == value) continue;
    locals.args[place] = value;
    line(fmt::format("    {}args[{}].v_handle = {};", local, place, value));
  }
  std::string codes = fmt::format("(int *){}_type_codes", p_);
  std::string count = std::to_string(at);
  std::string args = at == 0 ? "NULL" : local + "args";
  if (launch_of(call.device) != Launch::kNone) {
    std::string hook = "TVMDevice" + device.camel_name();
    std::string function = f.external ? "(TVMBackendPackedCFunc)" + name : name;
    list(fmt::format("    status = {}Launch(", hook),
         {context(call.device), function, args, codes, count});
    if (launch_of(call.device) == Launch::kSync) {
      fail_if_status();
      line(fmt::format("    status = {}Sync({});", hook, context(call.device)));
    }
    return;
  }
  if (is_looked_up(program_, options_, call)) {
    line(fmt::format("    status = TVMFuncGetGlobal(\"{}\", &function);", name));
    line("    if (status == 0) {");
    list("        status = TVMFuncCall(",
         {"function", args, codes, count, "&ret_value", "&ret_type_code"});
    line("    }");
    return;
  }
  if (f.external) codes = fmt::format("(int32_t *)(void *){}_type_codes", p_);
  std::string code = f.external ? "(int32_t *)(void *)&ret_type_code" : "&ret_type_code";
  list(fmt::format("    status = {}(", name),
       {args, codes, count, "&ret_value", code, context(call.device)});
}

// A local DLTensor of the argument: one that an earlier call has filled, or the one that was not used
// for longest.
std::string RunPrinter::tensor_for(size_t index, size_t a, const std::string& local) {
  const plan::CallArgument& argument_of = program_.calls[index].arguments[a];
  bool of_caller = argument_of.storage.kind == StorageKind::kInput ||
                   argument_of.storage.kind == StorageKind::kConstant;
  std::string data = (of_caller ? "(void *)(uintptr_t)" : "") + argument(index, a);
  int tensor = tensors_.index_of(index, a);
  std::string wanted = fmt::format("{} {}", tensor, data);
  Locals& locals = locals_[local];
  auto found = std::find(locals.tensors.begin(), locals.tensors.end(), wanted);
  if (found == locals.tensors.end()) {
    if (locals.tensors.size() < locals.most) {
      locals.tensors.emplace_back();
      locals.used.push_back(0);
      found = locals.tensors.end() - 1;
    } else {
      auto oldest = std::min_element(locals.used.begin(), locals.used.end());
      found = locals.tensors.begin() + (oldest - locals.used.begin());
    }
    *found = wanted;
    auto slot = found - locals.tensors.begin();
    line(fmt::format("    {0}tensors[{1}] = {2}_tensors[{3}];", local, slot, p_, tensor));
    line(fmt::format("    {0}tensors[{1}].data = {2};", local, slot, data));
  }
  auto slot = found - locals.tensors.begin();
  locals.used[static_cast<size_t>(slot)] = index + 1;
  return fmt::format("&{}tensors[{}]", local, slot);
}

void RunPrinter::print_copy(size_t index) {
  const ProgramCall& call = program_.calls[index];
  const graph::Op& op = program_.graph.ops[static_cast<size_t>(call.op_index)];
  int device = copying_device(program_, call);
  bool to_device = program_.graph[op.results[0]].device == device;
  list(fmt::format("    status = TVMDevice{}Copy(", program_.device_of(device).camel_name()),
       {context(device), argument(index, 1), argument(index, 0),
        fmt::format("{}u", program_.graph[op.results[0]].type.bytes()), to_device ? "1" : "0"});
}

// An operator of the device itself waits too: at most one is under way. So does the host when it reads,
// writes or frees anything in the device's memory.
void RunPrinter::sync_for(size_t index) {
  const ProgramCall& call = program_.calls[index];
  for (size_t d = 0; d < under_way_.size(); ++d) {
    if (under_way_[d] < 0) continue;
    int device = static_cast<int>(d);
    bool touches = call.device == device;
    if (call.op_index >= 0) {
      const graph::Op& op = program_.graph.ops[static_cast<size_t>(call.op_index)];
      for (const auto* ids : {&op.operands, &op.results})
        for (graph::TensorId id : *ids)
          touches = touches || (id.valid() && program_.graph[id].device == device);
    } else {
      touches = true;
    }
    if (touches) sync(device);
  }
}

void RunPrinter::sync(int device) {
  const Device& d = program_.device_of(device);
  auto call = static_cast<size_t>(under_way_[static_cast<size_t>(device)]);
  line("");
  line(fmt::format("    /* call {} is done */", call));
  line(fmt::format("    {}_under_way = 0;", local_name(device)));
  line(fmt::format("    status = TVMDevice{}Sync({});", d.camel_name(), context(device)));
  fail_if_status();
  print_trace(call);
  under_way_[static_cast<size_t>(device)] = -1;
}

std::string RunPrinter::trace_index(size_t index) const {
  return repeat_ == nullptr ? std::to_string(index) : fmt::format("{} + {} * turn", index, repeat_->period);
}

void RunPrinter::print_trace(size_t index) {
  const ProgramCall& call = program_.calls[index];
  line(fmt::format("#ifdef {}_TRACE", up_));
  for (size_t r = 0; r < call.results.size(); ++r)
    line(fmt::format("    {}_trace({}, {}, {}, {}u);", p_, trace_index(index), r,
                     result_pointer(index, call.results[r]),
                     program_.graph[call.results[r]].type.bytes()));
  if (call.results.empty()) {
    const plan::CallArgument& copy = call.arguments.back();
    line(fmt::format("    {}_trace({}, 0, {}, {}u);", p_, trace_index(index),
                     argument(index, call.arguments.size() - 1),
                     copy.elements * size_of(copy.dtype)));
  }
  line("#endif");
}

std::string RunPrinter::argument(size_t call, size_t argument) const {
  const Storage& s = program_.calls[call].arguments[argument].storage;
  if (repeat_ != nullptr) return repeated_argument(call, argument);
  if (workspace_ && s.kind == StorageKind::kArena) {
    WorkspaceOccupant wanted{s.index, s.index < 0 ? static_cast<int>(call) : -1};
    for (size_t b = 0; b < blocks_.size(); ++b)
      if (std::find(blocks_[b].occupants.begin(), blocks_[b].occupants.end(), wanted) !=
          blocks_[b].occupants.end())
        return fmt::format("w{}", b);
  }
  return pointer(s, call);
}

std::string RunPrinter::pointer(const Storage& s, size_t call) const {
  auto index = static_cast<size_t>(s.index);
  switch (s.kind) {
    case StorageKind::kArena:
      return fmt::format("(void *)({} + {})", base(s.pool), places_.offset(s, call));
    case StorageKind::kInput:
      return "inputs->" + names_.input_fields[index];
    case StorageKind::kOutput:
      return "outputs->" + names_.output_fields[index];
    case StorageKind::kConstant:
      if (s.pool >= 0) return fmt::format("(const void *)({} + {})", base(s.pool), s.offset);
      return names_.constant_names[index];
    case StorageKind::kState:
      return fmt::format("(void *)(s + {})", s.offset);
    case StorageKind::kNone:
      break;
  }
  return "NULL";
}

std::string RunPrinter::result_pointer(size_t call, graph::TensorId id) const {
  const Storage& wanted = program_.tensors[static_cast<size_t>(id.value)];
  for (size_t a = 0; a < program_.calls[call].arguments.size(); ++a)
    if (program_.calls[call].arguments[a].storage == wanted) return argument(call, a);
  // In the arena it would have been an argument.
  return wanted.kind == StorageKind::kArena ? "NULL" : pointer(wanted);
}

}  // namespace aotc::codegen
