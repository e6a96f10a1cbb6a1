// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_options.h"

#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include "driver/device.h"
#include "driver/port_run.h"
#include "driver/together.h"
#include "options/stored.h"
#include "project/cpus.h"

namespace aotc::driver {

using options::one_of;
using options::Option;
using options::Takes;

Option json_option(CommonOptions& common) {
  return {.names = "--json",
          .target = &common.json,
          .help = "Print the figures as JSON on standard output",
          .common = true};
}

Option quiet_option(CommonOptions& common) {
  return {.names = "-q,--quiet", .target = &common.quiet, .help = "Print no progress", .common = true};
}

Option model_argument(CompileOptions& compile) {
  return {.names = "MODEL",
          .target = &compile.model_path,
          .help = "A model: .tflite, .onnx, a TVM graph (.json), or an archive that holds one (.tar)",
          .required = true,
          .takes = Takes::kFile};
}

std::vector<Option> model_arguments(ModelsChoice& models) {
  return {
      {.names = "MODEL",
       .target = &models.paths,
       .help =
           "A model: .tflite, .onnx, a TVM graph (.json), or an archive that holds one (.tar); several with --together",
       .required = true,
       .takes = Takes::kFile},
      {.names = "--together",
       .target = &models.together,
       .help = "Make one program of several models. They share one arena, equal tables and equal functions; --prefix "
               "names the shared part",
       .see = "together.md"},
      {.names = "--name",
       .value = "NAME",
       .target = &models.names,
       .help =
           "With --together: set the prefix of each model, in the order of the models (default: from the file name)"}};
}

Option board_option(std::string& name, const char* help) {
  return {.names = "--board",
          .value = "NAME",
          .target = &name,
          .help = help,
          .offers = project::board_names,
          .common = true};
}

Option cpu_option(CompileOptions& compile) {
  return {.names = "--cpu",
          .value = "NAME",
          .target = &compile.cpu_name,
          .help = "Compile for this CPU instead of a board; 'aotc cpus' lists the CPUs",
          .offers = project::cpu_names,
          .key = "cpu",
          .common = true};
}

Option level_option(CompileOptions& compile) {
  options::Choice levels =
      one_of(&compile.level,
             {{"speed", ops::Level::kSpeed}, {"balanced", ops::Level::kBalanced}, {"size", ops::Level::kSize}});
  levels.set = [set = levels.set, &compile](const std::string& word) {
    set(word);
    compile.level_given = true;
  };
  return {.names = "-O,--optimize",
          .target = std::move(levels),
          .help =
              "Choose what the code is optimised for. speed: fewest cycles, each operator has its own function. "
              "balanced: three "
              "or more operators that differ only in constants share a function. size: all such operators share one, "
              "and loops "
              "are shorter",
          .key = "level",
          .common = true};
}

Option assembly_option(CompileOptions& compile) {
  return {.names = "--asm",
          .target = one_of(&compile.assembly, {{"on", true}, {"off", false}}),
          .help = "Use assembly for inner loops if the CPU has kernels, or only portable C",
          .key = "assembly"};
}

Option schedules_option(CompileOptions& compile) {
  return {
      .names = "--schedules",
      .value = "FILE",
      .target = &compile.schedules_path,
      .help =
          "Lower operators as this JSON file says, instead of as the cost model chooses; NAME.map.json has its form",
      .takes = Takes::kFile,
      .see = "#schedules"};
}

bool read_input_contract(const std::string& word, CompileOptions& compile) {
  if (word != "overwrite" && word != "preserve" && word != "rows") return false;
  compile.inputs = word == "overwrite" ? plan::Contract::kOverwrite : plan::Contract::kPreserve;
  // Frames in time are always fed.
  compile.feed = word == "rows" || compile.stream == plan::Stream::kTime;
  if (compile.feed) compile.inputs = plan::Contract::kPreserve;
  return true;
}

namespace {

std::string name_of(plan::Contract c) { return c == plan::Contract::kOverwrite ? "overwrite" : "preserve"; }

options::Choice output_choice(CompileOptions& c) {
  return {{"overwrite", "preserve"},
          "preserve",
          [&c](const std::string& word) {
            c.outputs = word == "overwrite" ? plan::Contract::kOverwrite : plan::Contract::kPreserve;
          },
          [&c] { return name_of(contracts_of(c).outputs); }};
}

options::Choice input_choice(CompileOptions& c) {
  return {{"overwrite", "preserve", "rows"},
          "overwrite",
          [&c](const std::string& word) { read_input_contract(word, c); },
          [&c] { return c.feed ? "rows" : name_of(contracts_of(c).inputs); }};
}

options::Choice stream_choice(CompileOptions& c) {
  options::Choice choice = options::one_of(&c.stream, {{"off", plan::Stream::kOff},
                                                       {"auto", plan::Stream::kAuto},
                                                       {"max", plan::Stream::kMax},
                                                       {"time", plan::Stream::kTime}});
  choice.set = [&c, set = choice.set](const std::string& word) {
    set(word);
    if (c.stream == plan::Stream::kTime) read_input_contract("rows", c);
  };
  return choice;
}

options::Choice interface_choice(CompileOptions& c) {
  return {{"aotc", "tvm"},
          "aotc",
          [&c](const std::string& word) {
            c.tvm_interface = word == "tvm";
            c.interface_given = true;
          },
          [&c] { return c.tvm_interface ? "tvm" : "aotc"; }};
}

// Several sections are one text, as projects keep it.
options::Setter sections_setter(CompileOptions& c) {
  return {
      [&c](const std::string& section) { c.constants_section += (c.constants_section.empty() ? "" : ",") + section; },
      [&c] { return c.constants_section; }};
}

// What is said of the model, besides its file.
std::vector<options::Option> model_options(CompileOptions& c) {
  return {
      {.names = "--signature",
       .value = "NAME",
       .target = &c.signature,
       .help = "Use this signature of a model that has several",
       .key = "signature"},
      {.names = "--shape",
       .value = "INPUT=1,98,40",
       .target = &c.shapes,
       .help = "Set the shape of an input; aotc derives all other shapes again. A project stores it",
       .key = "shapes",
       .common = true},
      {.names = "--dim",
       .value = "NAME=1",
       .target = &c.dimensions,
       .help = "Set a named dimension of an ONNX model, such as the batch. A project stores it",
       .see = "onnx.md",
       .key = "dimensions"},
      {.names = "--value",
       .value = "INPUT=[0,2]",
       .target = &c.values,
       .help = "Replace an input of an ONNX model by a constant: axes, shapes, a scalar that selects a branch. A "
               "project stores it",
       .see = "onnx.md",
       .key = "values"},
      {.names = "--input-layout",
       .target = one_of(&c.images_last, {{"nchw", false}, {"nhwc", true}}),
       .help = "Set the layout of four-dimensional inputs of an ONNX model. nchw: planes, as in the file. nhwc: the "
               "channels of a pixel are adjacent, as in camera images and .tflite models. A project stores it",
       .see = "onnx.md",
       .key = "input_layout"},
      {.names = "--rounding",
       .target = one_of(&c.literal_rounding, {{"onnxruntime", false}, {"spec", true}}),
       .help = "Compute operators between DequantizeLinear and QuantizeLinear of an ONNX model as onnxruntime's "
               "default session does, or as the specification says. A project stores it",
       .see = "onnx.md",
       .key = "rounding"},
      {.names = "--state",
       .value = "OUTPUT=INPUT",
       .target = &c.states,
       .help = "Keep an output as the input of the next run. NAME_init sets it to real 0, or to the value in a file: "
               "OUTPUT=INPUT@FILE.npy",
       .see = "state.md",
       .key = "states"}};
}

options::Choice preference(CompileOptions& c) {
  return {{"cycles", "ram", "flash"},
          "cycles",
          [&c](const std::string& word) {
            c.prefer_ram = word == "ram";
            if (!c.level_given) c.level = word == "flash" ? ops::Level::kSize : CompileOptions().level;
          },
          [&c] { return c.prefer_ram ? "ram" : "cycles"; }};
}

// How operators are computed.
std::vector<options::Option> schedule_options(CompileOptions& c) {
  return {
      level_option(c),
      {.names = "--prefer",
       .target = preference(c),
       .help =
           "Choose the resource to save when a trade-off exists: cycles, ram, or flash. -O chooses how code is shared, "
           "--prefer which schedules win; flash also means -O size unless -O is given",
       .key = "prefer",
       .common = true},
      {.names = "--stream",
       .target = stream_choice(c),
       .help =
           "Compute consecutive operators row by row, so that RAM holds only some rows of the tensors between them. "
           "auto: if the arena shrinks for at most 3 % more instructions. max: if the arena shrinks. time: rows are "
           "frames of a stream, which the caller feeds",
       .see = "streaming.md",
       .key = "stream",
       .common = true},
      {.names = "--stream-most",
       .value = "PERCENT",
       .target = &c.stream_most,
       .help = "With --stream auto: allow this many percent more instructions",
       .range = options::Range{0, 10000},
       .see = "streaming.md",
       .key = "stream_most"},
      assembly_option(c),
      schedules_option(c)};
}

// How operators and the model are called.
std::vector<options::Option> interface_options(CompileOptions& c) {
  return {
      {.names = "--calling-convention",
       .target = one_of(&c.convention, {{"plain", CallingConvention::kPlain},
                                        {"packed", CallingConvention::kPacked},
                                        {"registry", CallingConvention::kRegistry}}),
       .help = "Call operators with typed pointers, with TVM's packed arguments, or by name through the C runtime's "
               "registry",
       .see = "emitted-c.md#calling-conventions",
       .key = "calling_convention"},
      {.names = "--slice",
       .value = "call|INSTRUCTIONS",
       .target = &c.slice,
       .help =
           "Add NAME_begin and NAME_step, which run the model in slices: operator by operator, or in parts of at most "
           "this many instructions",
       .see = "slices.md",
       .key = "slice"},
      {.names = "--interface",
       .target = interface_choice(c),
       .help = "tvm: add tvmgen_NAME.h and .c with the entry point of TVM's C interface",
       .see = "emitted-c.md#tvms-c-interface",
       .key = "interface"},
      {.names = "--devices",
       .value = "FILE",
       .target = &c.devices_path,
       .help = "Run operators on the devices that this JSON file names",
       .takes = Takes::kFile,
       .see = "devices.md"},
      {.names = "--strip-float-io",
       .target = &c.strip_boundary_float,
       .help = "Remove QUANTIZE and DEQUANTIZE at the inputs and outputs; the caller passes integers",
       .key = "strip_boundary_float"},
      {.names = "--keep-dead-channels",
       .target = &c.keep_dead_channels,
       .help = "Keep channels that are constant or unread; by default they are removed from tensors and weights",
       .key = "keep_dead_channels"}};
}

options::Group code_group(CompileOptions& c) {
  options::Group out = {
      "Options of compiling",
      {{.names = "--prefix",
        .value = "NAME",
        .target = &c.prefix,
        .help = "Begin every C name with NAME (default: from the file name)"},
       board_option(c.board_name, "Compile for this board and check its limits; 'aotc boards' lists the boards"),
       cpu_option(c)},
      true};
  for (const auto& part : {model_options(c), schedule_options(c), interface_options(c)})
    out.options.insert(out.options.end(), part.begin(), part.end());
  return out;
}

options::Group memory_group(CompileOptions& c, bool contract_of_input) {
  using codegen::ArenaOwner, codegen::MemoryMode;
  options::Group out = {
      "Options of memory",
      {{.names = "--arena",
        .target = one_of(&c.arena, {{"caller", ArenaOwner::kCaller}, {"model", ArenaOwner::kModel}}),
        .help = "Let the caller pass the arena, or the model own it",
        .key = "arena"},
       {.names = "--memory",
        .target = one_of(&c.memory, {{"static", MemoryMode::kStatic}, {"workspace", MemoryMode::kWorkspace}}),
        .help = "Place intermediate tensors in one planned arena, or allocate them from the C runtime during the run",
        .see = "crt.md",
        .key = "memory"},
       {.names = "--output",
        .target = output_choice(c),
        .help = "overwrite: outputs are in the arena, valid until the next run. preserve: in buffers of the caller. "
                "(-o names "
                "the output directory)",
        .see = "emitted-c.md#inputs-and-outputs",
        .key = "output"},
       {.names = "--overlap",
        .target = one_of(&c.overlap, {{"on", true}, {"off", false}}),
        .help = "Let outputs reuse the memory of inputs that are no longer needed",
        .key = "overlap"},
       {.names = "--pool",
        .value = "NAME:BYTES[:fast|:constants]",
        .target = &c.pools,
        .help = "Place tensors in this memory of the caller instead of one arena. fast: for the most used tensors. "
                "constants: for all tables",
        .see = "emitted-c.md#pools",
        .key = "pools"},
       {.names = "--constants",
        .target = one_of(&c.constants_in_ram, {{"flash", false}, {"ram", true}}),
        .help = "On AVR: keep tables in program memory, or in RAM, which is faster",
        .see = "emitted-c.md#program-memory",
        .key = "constants"},
       {.names = "--constants-section",
        .value = "NAME[:BYTES]",
        .target = sections_setter(c),
        .help = "Place tables in this linker section. With several, fastest first: the most read tables fill the first "
                "up to "
                "its size, and a section without a size takes the rest",
        .see = "memories.md",
        .key = "constants_section"}},
      true};
  if (!contract_of_input) return out;
  out.options.insert(out.options.begin() + 2, {.names = "--input",
                                               .target = input_choice(c),
                                               .help = "overwrite: inputs are in the arena, which reuses their memory. "
                                                       "preserve: in buffers of the caller, which are "
                                                       "only read. rows: the caller feeds an image row by row",
                                               .see = "emitted-c.md#inputs-and-outputs",
                                               .key = "input"});
  return out;
}

options::Group graph_group(CompileOptions& c) {
  return {"Options of operators in C and of TVM graphs",
          {{.names = "--params",
            .value = "FILE",
            .target = &c.params_path,
            .help = "Read the parameters of a TVM graph from this file",
            .takes = Takes::kFile,
            .see = "graph-json.md"},
           {.names = "--operators",
            .value = "FILE.c",
            .target = &c.operators,
            .help = "Take operators from this C source: custom operators of a .tflite model, which FILE.json beside it "
                    "describes, or the functions of a TVM graph; aotc-analyze checks them against the model",
            .takes = Takes::kFile,
            .see = "custom-operators.md"},
           {.names = "--operator-include",
            .value = "DIR",
            .target = &c.include_dirs,
            .help = "Search this directory for headers of --operators",
            .takes = Takes::kDirectory},
           {.names = "--operator-workspace",
            .value = "BYTES",
            .target = &c.operator_workspace,
            .help = "State how many bytes the functions of --operators allocate at most, if no archive says it",
            .range = options::Range{0, int64_t{1} << 30}}},
          true};
}

options::Group looking_group(CompileOptions& c) {
  return {"Options for looking inside",
          {{.names = "--dump-after",
            .value = "PASS",
            .target = &c.dump_after,
            .help = "Print the graph after a pass, or after 'all' passes, to standard error; 'tir' prints the "
                    "functions of operators, "
                    "'plan' the memory plan and the calls",
            .see = "ir.md"},
           {.names = "--time-passes", .target = &c.time_passes, .help = "Print the time of each pass"}},
          true};
}

}  // namespace

std::vector<Option> constants_options(CompileOptions& c) {
  return {
      {.names = "--constants-file",
       .value = "NAME",
       .target = &c.constants_file,
       .help =
           "Write the tables to a file beside the C, so that weights can be updated without the code. NAME_load checks "
           "its size, version, layout and checksum",
       .see = "weights.md",
       .key = "constants_file"},
      {.names = "--constants-address",
       .value = "0xADDRESS",
       .target = &c.constants_address,
       .help = "Set the address of that file in memory; by default NAME_load receives it",
       .see = "weights.md",
       .key = "constants_address"},
      {.names = "--constants-open",
       .target = &c.constants_open,
       .help = "Write code that accepts any weights, biases and weight scales of int8 CONV_2D, DEPTHWISE_CONV_2D and "
               "FULLY_CONNECTED, for the same shapes and activation scales; it is slower",
       .see = "weights.md#code-for-any-weights",
       .key = "constants_open"}};
}

std::vector<options::Group> compile_groups(CompileOptions& compile, bool contract_of_input) {
  return {code_group(compile), memory_group(compile, contract_of_input), graph_group(compile), looking_group(compile)};
}

options::Group variant_group(CompileOptions& compile) {
  const std::set<std::string> keys = {"level", "prefer", "stream", "stream_most", "input_layout"};
  options::Group out;
  for (std::vector<Option>& rows : std::array{model_options(compile), schedule_options(compile)})
    for (Option& option : rows)
      if (keys.contains(option.key)) out.options.push_back(std::move(option));
  return out;
}

nlohmann::ordered_json variant_json(const VariantOptions& variant) {
  CompileOptions bound;
  static_cast<VariantOptions&>(bound) = variant;
  return options::stored_values({variant_group(bound)});
}

std::string VariantOptions::options() const {
  CompileOptions bound, usual;
  static_cast<VariantOptions&>(bound) = *this;
  if (stream != plan::Stream::kAuto) bound.stream_most = usual.stream_most;
  std::string out = std::string("-O ") + name_of(level);
  bound.level = usual.level;
  for (const std::string& other : options::differences(variant_group(usual), variant_group(bound))) out += " " + other;
  return out;
}

std::vector<options::Group> stored_groups(CompileOptions& compile) {
  std::vector<options::Group> out = compile_groups(compile);
  out.push_back({"", constants_options(compile)});
  return out;
}

namespace {

std::vector<Option> line_options(std::string& port, int& baud) {
  return {{.names = "--port",
           .value = "PORT",
           .target = &port,
           .help = "Use the board at this port instead of the emulator: a serial device, unix:PATH, tcp:HOST:PORT",
           .takes = Takes::kFile,
           .see = "boards.md#on-the-board-itself"},
          {.names = "--baud",
           .value = "RATE",
           .target = &baud,
           .help = "Set the rate of the serial device",
           .range = options::Range{1, 4000000}}};
}

}  // namespace

std::vector<Option> port_options(PortChoice& choice) { return line_options(choice.port, choice.baud); }

std::vector<Option> device_options(DeviceChoice& device) {
  std::vector<Option> out = line_options(device.port, device.baud);
  out.push_back({.names = "--timeout",
                 .value = "SECONDS",
                 .target = &device.timeout,
                 .help = "End a function that runs longer",
                 .range = options::Range{1, 86400}});
  return out;
}

}  // namespace aotc::driver
