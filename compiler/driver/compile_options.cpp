// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_options.h"

#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include "driver/device.h"
#include "driver/project_dir.h"
#include "driver/together.h"
#include "options/options.h"
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
          .help = "A model: .tflite, .onnx, a TVM graph (.json), or an archive (.tar) with a TVM graph",
          .required = true,
          .takes = Takes::kFile};
}

std::vector<Option> model_arguments(ModelsChoice& models) {
  return {
      {.names = "MODEL",
       .target = &models.paths,
       .help = "A model: .tflite, .onnx, a TVM graph (.json), or an archive (.tar) with a TVM graph; several models "
               "with --together",
       .required = true,
       .takes = Takes::kFile},
      {.names = "--together",
       .target = &models.together,
       .help = "Compile several models into one program. The models share one arena, equal tables and equal functions; "
               "--prefix names the shared part",
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
  return {.names = "-O,--optimize",
          .target =
              one_of(&compile.level,
                     {{"speed", ops::Level::kSpeed}, {"balanced", ops::Level::kBalanced}, {"size", ops::Level::kSize}}),
          .help =
              "Choose what the code is optimised for. speed: fewest cycles; each operator has its own function. "
              "balanced: three or more operators that differ only in constants share a function. size: all operators "
              "that differ only in constants share a function, and loops have less code",
          .key = "level",
          .common = true};
}

Option kernels_option(CompileOptions& compile) {
  return {.names = "--kernels",
          .target = one_of(
              &compile.kernels,
              {{"assembly", KernelForm::kAssembly}, {"intrinsics", KernelForm::kIntrinsics}, {"c", KernelForm::kC}}),
          .help =
              "Choose the form of inner loops. assembly: assembly if aotc has kernels for the CPU and the C compiler "
              "understands it. intrinsics: C with intrinsics, without assembly (DSP extension, Helium, RISC-V "
              "vectors). c: C without extensions",
          .key = "kernels"};
}

Option schedules_option(CompileOptions& compile) {
  return {.names = "--schedules",
          .value = "FILE",
          .target = &compile.schedules_path,
          .help =
              "Compute operators with the schedules in this JSON file, instead of those that the cost model chooses. "
              "The file has the form of NAME.map.json",
          .takes = Takes::kFile,
          .see = "#schedules"};
}

bool read_input_contract(const std::string& word, CompileOptions& compile) {
  if (word != "overwrite" && word != "preserve" && word != "rows") return false;
  compile.inputs = word == "overwrite" ? plan::Contract::kOverwrite : plan::Contract::kPreserve;
  // Frames in time are always fed.
  compile.feed = word == "rows" || compile.stream.mode == plan::Stream::kTime;
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
  options::Choice choice = options::one_of(&c.stream.mode, {{"off", plan::Stream::kOff},
                                                            {"auto", plan::Stream::kAuto},
                                                            {"max", plan::Stream::kMax},
                                                            {"time", plan::Stream::kTime}});
  choice.set = [&c, set = choice.set](const std::string& word) {
    set(word);
    if (c.stream.mode == plan::Stream::kTime) read_input_contract("rows", c);
  };
  return choice;
}

options::Choice interface_choice(CompileOptions& c) {
  return {{"aotc", "tvm"},
          "aotc",
          [&c](const std::string& word) { c.tvm_interface = word == "tvm"; },
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
       .help = "Compile this signature, if the model has several",
       .key = "signature"},
      {.names = "--shape",
       .value = "INPUT=1,98,40",
       .target = &c.shapes,
       .help = "Set the shape of an input; aotc then derives all other shapes. A project stores this setting",
       .key = "shapes",
       .common = true},
      {.names = "--dim",
       .value = "NAME=1",
       .target = &c.dimensions,
       .help = "Set a named dimension of an ONNX model, such as the batch. A project stores this setting",
       .see = "onnx.md",
       .key = "dimensions"},
      {.names = "--value",
       .value = "INPUT=[0,2]",
       .target = &c.values,
       .help = "Replace an input of an ONNX model by a constant, such as axes, a shape, or a scalar that selects a "
               "branch. A project stores this setting",
       .see = "onnx.md",
       .key = "values"},
      {.names = "--input-layout",
       .target = one_of(&c.images_last, {{"nchw", false}, {"nhwc", true}}),
       .help = "Set the layout of the four-dimensional inputs of an ONNX model, or if it has none of the "
               "three-dimensional ones. nchw: one plane for each channel, as in the file. nhwc: the channels of a "
               "pixel are adjacent, as in camera images and .tflite models. A project stores this setting",
       .see = "onnx.md",
       .key = "input_layout"},
      {.names = "--rounding",
       .target = one_of(&c.literal_rounding, {{"onnxruntime", false}, {"spec", true}}),
       .help =
           "Choose how to compute operators between DequantizeLinear and QuantizeLinear of an ONNX model. onnxruntime: "
           "as its default session does. spec: as the ONNX specification says. A project stores this setting",
       .see = "onnx.md",
       .key = "rounding"},
      {.names = "--state",
       .value = "OUTPUT=INPUT",
       .target = &c.states,
       .help = "Use an output as the input of the next run. For the first run, NAME_init sets this input to the real "
               "value 0, or to the value in a file: OUTPUT=INPUT@FILE.npy",
       .see = "state.md",
       .key = "states"}};
}

options::Choice preference(CompileOptions& c) {
  return {{"cycles", "ram", "flash"},
          "cycles",
          [&c](const std::string& word) {
            c.prefer_ram = word == "ram";
            if (!c.given.contains("--optimize")) c.level = word == "flash" ? ops::Level::kSize : CompileOptions().level;
          },
          [&c] { return c.prefer_ram ? "ram" : "cycles"; }};
}

// How operators are computed.
std::vector<options::Option> schedule_options(CompileOptions& c) {
  return {
      level_option(c),
      {.names = "--prefer",
       .target = preference(c),
       .help = "Choose the resource to save when a trade-off exists: cycles, ram or flash. -O decides how operators "
               "share code; --prefer decides which schedules aotc uses. flash also sets -O size if -O is not given",
       .key = "prefer",
       .common = true},
      {.names = "--stream",
       .target = stream_choice(c),
       .help = "Compute consecutive operators row by row, so that RAM holds only some rows of the tensors between "
               "them. auto: if the arena shrinks and the instructions grow by at most 4 %. max: if the arena shrinks. "
               "time: rows are frames of a stream, which the caller feeds one by one",
       .see = "streaming.md",
       .key = "stream",
       .common = true},
      {.names = "--stream-most",
       .value = "PERCENT",
       .target = &c.stream.most,
       .help = "With --stream auto: allow this many percent more instructions",
       .range = options::Range{0, 10000},
       .see = "streaming.md",
       .key = "stream_most"},
      kernels_option(c),
      schedules_option(c),
      {.names = "--budget",
       .value = "LIMITS",
       .target = &c.budget,
       .help = "Search for the options and schedules that meet these limits, as ram=64K,flash=256K,ms=20. ram: the "
               "arena, state, inputs and outputs. flash: constants and the model's code. ms: a run at the board's "
               "highest clock, estimated; cycles: the same without a clock. Options that you give stay as they are",
       .see = "make-it-fit.md#a-budget"},
      {.names = "--objective",
       .target =
           one_of(&c.objective, {{"ms", Objective::kTime}, {"ram", Objective::kRam}, {"flash", Objective::kFlash}}),
       .help = "Choose what the search of --budget makes as small as possible",
       .see = "make-it-fit.md#a-budget"}};
}

// How operators and the model are called.
std::vector<options::Option> interface_options(CompileOptions& c) {
  return {
      {.names = "--calling-convention",
       .target = one_of(&c.convention, {{"plain", CallingConvention::kPlain},
                                        {"packed", CallingConvention::kPacked},
                                        {"registry", CallingConvention::kRegistry}}),
       .help = "plain: call operators with typed pointers. packed: call operators with TVM's packed arguments. "
               "registry: call operators by name, through the registry of the C runtime",
       .see = "emitted-c.md#calling-conventions",
       .key = "calling_convention"},
      {.names = "--slice",
       .value = "call|INSTRUCTIONS",
       .target = &c.slice,
       .help = "Add the functions NAME_begin and NAME_step, which run the model in slices. call: a slice is one "
               "operator call. INSTRUCTIONS: a slice has at most this many instructions",
       .see = "slices.md",
       .key = "slice"},
      {.names = "--interface",
       .target = interface_choice(c),
       .help = "aotc: write only aotc's C interface. tvm: also write tvmgen_NAME.h and tvmgen_NAME.c, with the entry "
               "point of TVM's C interface",
       .see = "emitted-c.md#tvms-c-interface",
       .key = "interface"},
      {.names = "--devices",
       .value = "FILE",
       .target = &c.devices_path,
       .help = "Run operators on the devices (accelerators or other cores) that this JSON file describes",
       .takes = Takes::kFile,
       .see = "devices.md"},
      {.names = "--strip-float-io",
       .target = &c.strip_boundary_float,
       .help = "Remove QUANTIZE and DEQUANTIZE at the inputs and outputs; the caller then passes and receives integers",
       .key = "strip_boundary_float"},
      {.names = "--keep-dead-channels",
       .target = &c.keep_dead_channels,
       .help = "Keep channels that are constant or that no operator reads; by default, aotc removes them from tensors "
               "and weights",
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
        .help = "caller: the caller passes the arena, the memory of the intermediate tensors. model: the model's C "
                "code contains the arena",
        .key = "arena"},
       {.names = "--memory",
        .target = one_of(&c.memory, {{"static", MemoryMode::kStatic}, {"workspace", MemoryMode::kWorkspace}}),
        .help = "static: place intermediate tensors in one planned arena. workspace: allocate intermediate tensors "
                "from the C runtime during the run",
        .see = "crt.md",
        .key = "memory"},
       {.names = "--output",
        .target = output_choice(c),
        .help = "overwrite: outputs are in the arena, and valid until the next run. preserve: outputs are in buffers "
                "of the caller. (-o names the output directory)",
        .see = "emitted-c.md#inputs-and-outputs",
        .key = "output"},
       {.names = "--overlap",
        .target = one_of(&c.overlap, {{"on", true}, {"off", false}}),
        .help = "Let the outputs of an operator reuse the memory of inputs that are no longer needed",
        .key = "overlap"},
       {.names = "--pool",
        .value = "NAME:BYTES[:fast|:constants]",
        .target = &c.pools,
        .help = "Place tensors in this memory, which the caller provides, instead of in one arena. fast: for the most "
                "used tensors. constants: for all tables (weights and other constants)",
        .see = "emitted-c.md#pools",
        .key = "pools"},
       {.names = "--constants",
        .target = one_of(&c.constants_in_ram, {{"flash", false}, {"ram", true}}),
        .help = "For AVR. flash: keep tables (weights and other constants) in program memory. ram: keep tables in RAM, "
                "which is faster",
        .see = "emitted-c.md#program-memory",
        .key = "constants"},
       {.names = "--constants-section",
        .value = "NAME[:BYTES]",
        .target = sections_setter(c),
        .help = "Place tables (weights and other constants) in this linker section. For several sections, repeat the "
                "option, fastest section first: the most read tables fill each section up to its size, and a section "
                "without a size takes the rest",
        .see = "memories.md",
        .key = "constants_section"}},
      true};
  if (!contract_of_input) return out;
  out.options.insert(
      out.options.begin() + 2,
      {.names = "--input",
       .target = input_choice(c),
       .help = "overwrite: inputs are in the arena, which reuses their memory. preserve: inputs are in buffers of the "
               "caller, which the model only reads. rows: the caller feeds an image row by row",
       .see = "emitted-c.md#inputs-and-outputs",
       .key = "input"});
  return out;
}

options::Group graph_group(CompileOptions& c) {
  return {
      "Options of operators in C and of TVM graphs",
      {{.names = "--params",
        .value = "FILE",
        .target = &c.params_path,
        .help = "Read the parameters of a TVM graph from this file",
        .takes = Takes::kFile,
        .see = "graph-json.md"},
       {.names = "--operators",
        .value = "FILE.c",
        .target = &c.operators,
        .help =
            "Take operators from this C source. It defines the custom operators of a .tflite model, which FILE.json "
            "beside it describes, or the functions of a TVM graph. aotc-analyze checks the operators against the model",
        .takes = Takes::kFile,
        .see = "custom-operators.md"},
       {.names = "--operator-include",
        .value = "DIR",
        .target = &c.include_dirs,
        .help = "Search this directory for headers that the sources of --operators include",
        .takes = Takes::kDirectory},
       {.names = "--operator-workspace",
        .value = "BYTES",
        .target = &c.operator_workspace,
        .help = "Set the largest number of bytes that the functions of --operators allocate, if no archive states it",
        .range = options::Range{0, int64_t{1} << 30}}},
      true};
}

options::Group looking_group(CompileOptions& c) {
  return {"Options for looking inside",
          {{.names = "--dump-after",
            .value = "PASS",
            .target = &c.dump_after,
            .help = "Print the graph to standard error after this pass; 'all' prints it after every pass. 'tir' prints "
                    "the functions of operators, and 'plan' prints the memory plan and the calls",
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
       .help = "Write the tables (weights and other constants) to a file beside the C files, so that you can update "
               "weights without the code. NAME_load checks the size, version, layout and checksum of the file",
       .see = "weights.md",
       .key = "constants_file"},
      {.names = "--constants-address",
       .value = "0xADDRESS",
       .target = &c.constants_address,
       .help = "Set the memory address of the --constants-file; by default, the caller passes the address to NAME_load",
       .see = "weights.md",
       .key = "constants_address"},
      {.names = "--constants-open",
       .target = &c.constants_open,
       .help = "Write code that accepts any weights, biases and weight scales of int8 CONV_2D, DEPTHWISE_CONV_2D and "
               "FULLY_CONNECTED, for the same shapes and activation scales; this code is slower",
       .see = "weights.md#code-for-any-weights",
       .key = "constants_open"}};
}

std::vector<options::Group> compile_groups(CompileOptions& compile, bool contract_of_input) {
  std::vector<options::Group> out = {code_group(compile), memory_group(compile, contract_of_input),
                                     graph_group(compile), looking_group(compile)};
  for (options::Group& group : out)
    for (Option& option : group.options)
      if (auto* choice = std::get_if<options::Choice>(&option.target))
        choice->set = [&compile, name = option.long_name(), set = choice->set](const std::string& word) {
          set(word);
          compile.given.insert(name);
        };
  return out;
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
  if (stream.mode != plan::Stream::kAuto) bound.stream.most = usual.stream.most;
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
           .help = "Use the board at this port instead of the emulator: a serial device, unix:PATH or tcp:HOST:PORT",
           .takes = Takes::kFile,
           .see = "boards.md#on-the-board-itself"},
          {.names = "--baud",
           .value = "RATE",
           .target = &baud,
           .help = "Set the baud rate of the serial device",
           .range = options::Range{1, 4000000}}};
}

}  // namespace

std::vector<Option> port_options(PortChoice& choice) { return line_options(choice.port, choice.baud); }

std::vector<Option> device_options(DeviceChoice& device) {
  std::vector<Option> out = line_options(device.port, device.baud);
  out.push_back({.names = "--timeout",
                 .value = "SECONDS",
                 .target = &device.timeout,
                 .help = "Stop a function that runs longer than this many seconds",
                 .range = options::Range{1, 86400}});
  return out;
}

}  // namespace aotc::driver
