// SPDX-License-Identifier: Apache-2.0
// The calls of a run function, with what is passed.
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
    if (const int part = parts_[static_cast<size_t>(call.op_index)]; part >= 0) entry["part"] = part;
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
  if (copying >= 0) print_copy(index);
  else if (is_packed(program_, options_, call)) print_packed_call(index);
  else print_direct_call(index);
  if (may_fail(index)) fail_if_status();
  if (sliced_) print_next_band(index);
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
    bool unpacked = f.external && f.external->convention == CallingConvention::kUnpacked;
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
    list(fmt::format("    status = {}Launch(", hook), {context(call.device), function, args, codes, count});
    if (launch_of(call.device) == Launch::kSync) {
      fail_if_status();
      line(fmt::format("    status = {}Sync({});", hook, context(call.device)));
    }
    return;
  }
  if (is_looked_up(program_, options_, call)) {
    line(fmt::format("    status = TVMFuncGetGlobal(\"{}\", &function);", name));
    line("    if (status == 0) {");
    list("        status = TVMFuncCall(", {"function", args, codes, count, "&ret_value", "&ret_type_code"});
    line("    }");
    return;
  }
  if (f.external) codes = fmt::format("(int32_t *)(void *){}_type_codes", p_);
  std::string code = f.external ? "(int32_t *)(void *)&ret_type_code" : "&ret_type_code";
  list(fmt::format("    status = {}(", name), {args, codes, count, "&ret_value", code, context(call.device)});
}

// A local DLTensor of the argument: one that an earlier call has filled, or the one that was not used
// for longest.
std::string RunPrinter::tensor_for(size_t index, size_t a, const std::string& local) {
  const plan::CallArgument& argument_of = program_.calls[index].arguments[a];
  bool of_caller =
      argument_of.storage.kind == StorageKind::kInput || argument_of.storage.kind == StorageKind::kConstant;
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
        for (graph::TensorId id : *ids) touches = touches || (id.valid() && program_.graph[id].device == device);
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
  line(fmt::format("    /* wait until call {} is done */", call));
  line(fmt::format("    {}_under_way = 0;", local_name(device)));
  line(fmt::format("    status = TVMDevice{}Sync({});", d.camel_name(), context(device)));
  fail_if_status();
  print_trace(call);
  under_way_[static_cast<size_t>(device)] = -1;
}

std::string RunPrinter::trace_index(size_t index) const {
  return repeat_ == nullptr ? std::to_string(index) : fmt::format("{} + {} * {}", index, repeat_->period, turn());
}

void RunPrinter::print_trace(size_t index) {
  const ProgramCall& call = program_.calls[index];
  line(fmt::format("#ifdef {}_TRACE", up_));
  for (size_t r = 0; r < call.results.size(); ++r)
    line(fmt::format("    {}_trace({}, {}, {}, {}u);", p_, trace_index(index), r,
                     result_pointer(index, call.results[r]), program_.graph[call.results[r]].type.bytes()));
  if (call.results.empty()) {
    const plan::CallArgument& copy = call.arguments.back();
    line(fmt::format("    {}_trace({}, 0, {}, {}u);", p_, trace_index(index),
                     argument(index, call.arguments.size() - 1), copy.elements * size_of(copy.dtype)));
  }
  line("#endif");
}

std::string RunPrinter::argument(size_t call, size_t argument) const {
  const Storage& s = program_.calls[call].arguments[argument].storage;
  if (repeat_ != nullptr) return repeated_argument(call, argument);
  if (workspace_ && s.kind == StorageKind::kArena) {
    WorkspaceOccupant wanted{s.index, s.index < 0 ? static_cast<int>(call) : -1};
    for (size_t b = 0; b < blocks_.size(); ++b)
      if (std::find(blocks_[b].occupants.begin(), blocks_[b].occupants.end(), wanted) != blocks_[b].occupants.end())
        return fmt::format("w{}", b);
  }
  return pointer(s, call);
}

std::string RunPrinter::pointer(const Storage& s, size_t call) const {
  auto index = static_cast<size_t>(s.index);
  switch (s.kind) {
    case StorageKind::kArena: return fmt::format("(void *)({} + {})", base(s.pool), places_.offset(s, call));
    case StorageKind::kInput: return "inputs->" + names_.input_fields[index];
    case StorageKind::kOutput: return "outputs->" + names_.output_fields[index];
    case StorageKind::kConstant:
      if (s.pool >= 0) return fmt::format("(const void *)({} + {})", base(s.pool), s.offset);
      return names_.constant_names[index];
    case StorageKind::kState: return fmt::format("(void *)(s + {})", s.offset);
    case StorageKind::kNone: break;
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
