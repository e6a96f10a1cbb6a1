// SPDX-License-Identifier: Apache-2.0
// What stands around the calls of a run function: its locals, checks of arguments, devices, blocks of memory.
#include "codegen/c_run.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_constants.h"
#include "codegen/c_state.h"
#include "ops/operator.h"
#include "support/text.h"

namespace aotc::codegen {

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
             ? fmt::format("    uint8_t *const a = arena != NULL ? (uint8_t *)arena : {};", arena_name(options_))
             : "    uint8_t *const a = (uint8_t *)arena;");
  } else {
    line("    (void)arena;");
  }
  if (has_state(program_)) line("    uint8_t *const s = (uint8_t *)state;");
  if (has_image(options_)) line(fmt::format("    const uint8_t *const constants = {};", image_tables(options_)));
}

void RunPrinter::declare_locals() {
  declare_memory();
  std::string unused;
  for (int d : context_devices(program_)) {
    const std::string& name = program_.device_of(d).name;
    line(fmt::format("    void *const {} = devices != NULL ? devices->{} : NULL;", context(d), name));
    if (launch_of(d) == Launch::kAsync) line(fmt::format("    int32_t {}_under_way = 0;", local_name(d)));
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
      returns = returns || (is_packed(program_, options_, call) && launch_of(call.device) == Launch::kNone);
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
  if (program_.constants_apart && pool == program_.constant_pool) return "constants";
  return has_pools(program_) ? "a_" + program_.pools[static_cast<size_t>(pool)].name : "a";
}

// What the device's own variables begin with. The model's tables begin with its prefix, pools with "a_".
std::string RunPrinter::local_name(int device) const {
  const std::string& name = program_.device_of(device).name;
  bool taken = name == p_ || (name == "s" && has_state(program_)) ||
               (has_pools(program_) && (name == "a" || name.starts_with("a_")));
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
  auto check_ports = [&](const char* name, const std::vector<graph::Port>& all, plan::Contract contract,
                         const std::vector<std::string>& fields) {
    std::vector<graph::Port> ports = struct_ports(all, contract);
    if (ports.empty()) return line(fmt::format("    (void){};", name));
    conditions.push_back(fmt::format("{} == NULL", name));
    for (size_t i = 0; i < ports.size(); ++i) {
      std::string pointer = fmt::format("{}->{}", name, fields[i]);
      conditions.push_back(pointer + " == NULL");
      DType type = program_.graph[ports[i].tensor].type.dtype;
      if (size_of(type) > 1) conditions.push_back(fmt::format("{}_MISALIGNED({}, {})", up_, pointer, c_type_of(type)));
    }
  };
  if (!program_.feeding) check_ports("inputs", program_.graph.inputs, program_.input_contract, names_.input_fields);
  check_ports("outputs", program_.graph.outputs, program_.output_contract, names_.output_fields);
  for (size_t i = 0; i < program_.pools.size(); ++i) {
    if (workspace_ || program_.pools[i].bytes == 0 || base(static_cast<int>(i)) == "constants") continue;
    std::string a = base(static_cast<int>(i));
    conditions.push_back(a + " == NULL");
    conditions.push_back(fmt::format("((uintptr_t){} & ({}_ARENA_ALIGN - 1u)) != 0", a, up_));
  }
  if (has_state(program_)) {
    conditions.push_back("s == NULL");
    conditions.push_back(fmt::format("((uintptr_t)s & ({}_STATE_ALIGN - 1u)) != 0", up_));
  }
  if (has_image(options_)) {
    line(fmt::format("    if ({}) {{", image_missing(options_)));
    line(fmt::format("        return {}_ERROR_CONSTANTS;", up_));
    line("    }");
    if (program_.pools[static_cast<size_t>(program_.constant_pool)].bytes == 0) line("    (void)constants;");
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
  if (feeding_) {
    jumps_to_failed_ = true;
    return "goto failed;";
  }
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
    if (launch_of(d) == Launch::kAsync) held_.push_back({fmt::format("wait_{}", device.name), "", d});
  }
}

void RunPrinter::close_everything() {
  auto label = [&](const std::string& name) { line(""), line(name + ":"); };
  if (workspace_ && !blocks_.empty()) {
    // The label also serves the run that succeeded: nothing is open then.
    label("done");
    for (size_t b = blocks_.size(); b-- > 0;)
      line(
          fmt::format("    if (w{0} != NULL && TVMBackendFreeWorkspace(1, 0, w{0}) != 0 && status == "
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
      release =
          fmt::format("TVMDevice{}Sync({})", program_.device_of(held.waits_for).camel_name(), context(held.waits_for));
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
    line(
        fmt::format("    w{} = TVMBackendAllocWorkspace(1, 0, {}u, 2, 8);", b, std::max<int64_t>(blocks_[b].bytes, 1)));
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

}  // namespace aotc::codegen
