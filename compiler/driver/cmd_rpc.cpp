// SPDX-License-Identifier: Apache-2.0
// rpc: the operators of a device, listed, called and timed one by one.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/device.h"
#include "support/files.h"
#include "support/json.h"
#include "support/npy.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct RpcOptions {
  DeviceChoice device;
  CommonOptions common;
  std::string function, out;
  std::vector<std::string> inputs, types;
  uint32_t repeats = 10, warm_up = 1;
  uint64_t seed = 1;
};

// What a function's parameters are: as the project knows them, or as --type says.
struct Parameters {
  std::vector<rpc::TensorType> types;
  std::vector<std::string> names, dtypes;
};

// "int8[2,3]".
Result<rpc::TensorType> parse_type(const std::string& text, std::string& dtype, Diagnostics& diags) {
  size_t open = std::min(text.find('['), text.size());
  dtype = text.substr(0, open);
  std::vector<int64_t> shape;
  for (size_t at = open + 1; at < text.size();) {
    size_t end = std::min(text.find_first_of(",]", at), text.size());
    std::string digits = text.substr(at, end - at);
    bool number = !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (number || !digits.empty()) shape.push_back(number ? std::stoll(digits) : -1);
    at = end + 1;
  }
  return tensor_type(dtype, shape, diags);
}

Result<Parameters> parameters_of(const RpcOptions& options, const OpenDevice& device, Diagnostics& diags) {
  Parameters out;
  if (!options.types.empty()) {
    for (const std::string& text : options.types) {
      std::string dtype;
      auto type = parse_type(text, dtype, diags);
      if (!type) return kFailure;
      out.types.push_back(*type);
      out.dtypes.push_back(dtype);
      out.names.emplace_back();
    }
    return out;
  }
  const mlf::OperatorInfo* op = device.find(options.function);
  if (op == nullptr) {
    Location where;
    where.file = options.device.target;
    auto& d = diags.error(where, device.project ? "rpc-function" : "rpc-types",
                          device.project
                              ? fmt::format("the device has no operator '{}'", escape_for_display(options.function))
                              : "the types of the function's parameters are unknown");
    std::vector<std::string> names;
    for (const mlf::OperatorInfo& o : device.operators) names.push_back(o.name);
    for (const std::string& near : closest(options.function, names)) d.help(fmt::format("did you mean '{}'?", near));
    if (!device.project) d.help("give the type of each parameter with --type, as in --type 'int8[2,3]'");
    return kFailure;
  }
  for (const mlf::OperatorParameter& p : op->parameters) {
    auto type = tensor_type(p.dtype, p.shape, diags);
    if (!type) return kFailure;
    out.types.push_back(*type);
    out.dtypes.push_back(p.dtype);
    out.names.push_back(p.binding);
  }
  return out;
}

// One entry for each parameter, empty where none is given: FILE in order, or INDEX=FILE.
Result<std::vector<std::vector<uint8_t>>> read_inputs(const RpcOptions& options, const Parameters& parameters,
                                                      Diagnostics& diags) {
  std::vector<std::vector<uint8_t>> out(parameters.types.size());
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    std::string file = options.inputs[i];
    size_t index = i, equals = file.find('=');
    if (equals != std::string::npos && equals > 0 && equals < 4 && file.find_first_not_of("0123456789") == equals) {
      index = static_cast<size_t>(std::stoi(file.substr(0, equals)));
      file = file.substr(equals + 1);
    }
    Location where;
    where.file = file;
    if (index >= out.size()) {
      diags.error(where, "input-count",
                  fmt::format("parameter {} does not exist: the function has {} parameters", index, out.size()));
      return kFailure;
    }
    auto array = read_npy(file, diags);
    if (!array) return kFailure;
    if (array->bytes.size() != parameters.types[index].bytes()) {
      diags.error(where, "input-shape",
                  fmt::format("the file holds {}, but parameter {} needs {}",
                              exact_bytes(static_cast<int64_t>(array->bytes.size())), index,
                              exact_bytes(static_cast<int64_t>(parameters.types[index].bytes()))));
      return kFailure;
    }
    out[index] = std::move(array->bytes);
  }
  return out;
}

int list(const RpcOptions& options) {
  Diagnostics diags;
  auto device = open_device(options.device, diags);
  if (!device) return fail(diags, kExitDevice);
  auto names = device->session->functions(diags);
  if (!names) return fail(diags, kExitDevice);
  const rpc::DeviceInfo& info = device->session->device();
  if (options.common.json) {
    nlohmann::ordered_json j;
    j["board"] = info.board;
    j["protocol"] = AOTC_RPC_VERSION;
    j["packet_bytes"] = info.max_payload;
    j["pool_bytes"] = info.pool_bytes;
    j["tensors"] = info.slots;
    j["arguments"] = info.max_args;
    j["dimensions"] = info.max_dims;
    j["ticks_per_second"] = info.ticks_per_second;
    j["unit"] = device->unit();
    j["functions"] = *names;
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  std::vector<std::vector<std::string>> rows = {{"function", "parameters"}};
  for (const std::string& name : *names) {
    std::string text;
    if (const mlf::OperatorInfo* op = device->find(name))
      for (const mlf::OperatorParameter& p : op->parameters) {
        std::string shape;
        for (int64_t d : p.shape) shape += (shape.empty() ? "" : ",") + std::to_string(d);
        text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", p.dtype, shape);
      }
    rows.push_back({escape_for_display(name), escape_for_display(text)});
  }
  print_out("{}\n{} on {}: {} functions, {} for tensors, packets of {}\n", format_table(rows), options.device.target,
            escape_for_display(info.board), names->size(), format_bytes(info.pool_bytes),
            format_bytes(info.max_payload));
  return kExitDone;
}

// What was not given is a result, or unused: all of it is shown.
int show_results(const RpcOptions& options, OpenDevice& device, const Parameters& parameters,
                 const std::vector<std::vector<uint8_t>>& given, Diagnostics& diags) {
  nlohmann::ordered_json j;
  j["function"] = options.function;
  j["results"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < parameters.types.size(); ++i) {
    if (!given[i].empty()) continue;
    const rpc::TensorType& type = parameters.types[i];
    auto bytes = device.session->download(static_cast<uint8_t>(i), type.bytes(), diags);
    if (!bytes) return fail(diags, kExitDevice);
    if (!options.common.json) print_out("{} {} = {}\n", i, parameters.dtypes[i], values_text(type, *bytes, 16));
    j["results"].push_back({{"parameter", i},
                            {"name", parameters.names[i]},
                            {"dtype", parameters.dtypes[i]},
                            {"shape", type.shape},
                            {"values", values_json(type, *bytes)}});
    if (options.out.empty()) continue;
    const std::string path = fmt::format("{}/{}.bin", options.out, i);
    if (!write_file(path, std::string(bytes->begin(), bytes->end()), diags)) return fail(diags, 1);
  }
  if (options.common.json) print_out("{}\n", json_text(j, 1));
  return kExitDone;
}

int call(const RpcOptions& options) {
  Diagnostics diags;
  auto device = open_device(options.device, diags);
  if (!device) return fail(diags, kExitDevice);
  auto parameters = parameters_of(options, *device, diags);
  if (!parameters) return fail(diags, kExitBadInput);
  auto given = read_inputs(options, *parameters, diags);
  if (!given) return fail(diags, kExitBadInput);
  if (!options.out.empty()) {
    std::error_code ec;
    std::filesystem::create_directories(options.out, ec);  // what fails, fails at the first file
  }
  auto arguments = place_parameters(*device->session, parameters->types, *given, diags);
  if (!arguments || !device->session->call(options.function, *arguments, diags)) return fail(diags, kExitDevice);
  return show_results(options, *device, *parameters, *given, diags);
}

int time(const RpcOptions& options) {
  Diagnostics diags;
  auto device = open_device(options.device, diags);
  if (!device) return fail(diags, kExitDevice);
  auto parameters = parameters_of(options, *device, diags);
  if (!parameters) return fail(diags, kExitBadInput);
  auto values = read_inputs(options, *parameters, diags);
  if (!values) return fail(diags, kExitBadInput);
  for (size_t i = 0; i < values->size(); ++i)
    if ((*values)[i].empty()) (*values)[i] = random_values(parameters->types[i], options.seed + i);
  auto arguments = place_parameters(*device->session, parameters->types, *values, diags);
  if (!arguments) return fail(diags, kExitDevice);
  auto timing = device->session->time(options.function, *arguments, options.repeats, options.warm_up, diags);
  if (!timing) return fail(diags, kExitDevice);
  const rpc::DeviceInfo& info = device->session->device();
  const uint64_t mean = timing->total / std::max<uint32_t>(options.repeats, 1);
  if (options.common.json) {
    nlohmann::ordered_json j;
    j["function"] = options.function;
    j["unit"] = device->unit();
    j["ticks_per_second"] = info.ticks_per_second;
    j["repeats"] = options.repeats;
    j["warm_up"] = options.warm_up;
    j["total"] = timing->total;
    j["least"] = timing->least;
    j["most"] = timing->most;
    j["mean"] = mean;
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  print_out("{}: {} {} (least {}, most {}, {} runs)\n", escape_for_display(options.function),
            with_commas(static_cast<int64_t>(mean)), device->unit(), with_commas(static_cast<int64_t>(timing->least)),
            with_commas(static_cast<int64_t>(timing->most)), options.repeats);
  return kExitDone;
}

options::Command declare(const char* name, const char* summary, int (*run)(const RpcOptions&),
                         const std::shared_ptr<RpcOptions>& o) {
  options::Command out = {
      .name = name,
      .summary = summary,
      .options = {{.names = "TARGET",
                   .target = &o->device.target,
                   .help = "The directory of a host-driven project, or a port (a serial device, unix:PATH or "
                           "tcp:HOST:PORT)",
                   .required = true,
                   .takes = options::Takes::kFile}},
      .run = [o, run] { return run(*o); }};
  for (options::Option& option : device_options(o->device)) out.options.push_back(std::move(option));
  out.options.push_back(json_option(o->common));
  return out;
}

// What call and time take as well.
options::Command declare_function(const char* name, const char* summary, int (*run)(const RpcOptions&),
                                  const std::shared_ptr<RpcOptions>& o) {
  options::Command out = declare(name, summary, run, o);
  out.options.insert(
      out.options.begin() + 1,
      {{.names = "FUNCTION", .target = &o->function, .help = "Name of the operator", .required = true},
       {.names = "--type",
        .value = "TYPE",
        .target = &o->types,
        .help = "Set the types of the parameters in order, such as 'int8[2,3]' (default: the types in the project)"},
       {.names = "--input",
        .value = "FILE.npy",
        .target = &o->inputs,
        .help = "Read a parameter from this file. Give the files in the order of the parameters, or as INDEX=FILE. "
                "Parameters without a file are results",
        .takes = options::Takes::kFile}});
  return out;
}

}  // namespace

options::Command rpc_declaration() {
  auto o = std::make_shared<RpcOptions>();
  options::Command caller = declare_function("call", "Call a function and show its results", call, o);
  caller.options.push_back({.names = "-o,--directory",
                            .value = "DIRECTORY",
                            .target = &o->out,
                            .help = "Write the bytes of each result to INDEX.bin in this directory",
                            .takes = options::Takes::kDirectory});
  options::Command timer = declare_function("time", "Time a function on random inputs, or on given inputs", time, o);
  timer.options.push_back({.names = "--repeats",
                           .value = "N",
                           .target = &o->repeats,
                           .help = "Measure N runs",
                           .range = options::Range{1, 1000000}});
  timer.options.push_back({.names = "--warm-up",
                           .value = "N",
                           .target = &o->warm_up,
                           .help = "Run N times before the measured runs",
                           .range = options::Range{0, 1000000}});
  timer.options.push_back(
      {.names = "--seed", .value = "N", .target = &o->seed, .help = "Set the seed of the random inputs"});
  return {
      .name = "rpc",
      .summary = "Call and time operators on a device",
      .commands = {declare("list", "List the functions of a device", list, o), std::move(caller), std::move(timer)}};
}

}  // namespace aotc::driver
