// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_options.h"

#include "driver/device.h"
#include "driver/port_run.h"
#include "driver/together.h"
#include "project/cpus.h"

namespace aotc::driver {

using options::one_of;
using options::Option;
using options::Takes;

Option json_option(CommonOptions& common) {
  return {.names = "--json",
          .target = &common.json,
          .help = "Print figures as JSON on standard output"};
}

Option quiet_option(CommonOptions& common) {
  return {.names = "-q,--quiet", .target = &common.quiet, .help = "No progress on standard error"};
}

Option model_argument(CompileOptions& compile) {
  return {.names = "MODEL",
          .target = &compile.model_path,
          .help = "A .tflite file, a TVM graph (.json) or an archive with one (.tar)",
          .required = true,
          .takes = Takes::kFile};
}

std::vector<Option> model_arguments(ModelsChoice& models) {
  return {{.names = "MODEL",
           .target = &models.paths,
           .help = "A .tflite file, a TVM graph (.json) or an archive with one (.tar); several with --together",
           .required = true,
           .takes = Takes::kFile},
          {.names = "--together",
           .target = &models.together,
           .help = "Several models as one program: one arena in which their runs take turns, and what is the same of "
                   "their code and tables once; --prefix is the name of what they share",
           .see = "together.md"},
          {.names = "--name",
           .value = "NAME",
           .target = &models.names,
           .help = "With --together: the prefix of a model, in the order of the models; by default from its file's name"}};
}

Option board_option(std::string& name, const char* help) {
  return {.names = "--board",
          .value = "NAME",
          .target = &name,
          .help = help,
          .offers = project::board_names};
}

Option cpu_option(CompileOptions& compile) {
  return {.names = "--cpu",
          .value = "NAME",
          .target = &compile.cpu_name,
          .help = "What the code is for, instead of a board; 'aotc cpus' lists them",
          .offers = project::cpu_names};
}

Option level_option(CompileOptions& compile) {
  options::Choice levels = one_of(&compile.level, {{"speed", ops::Level::kSpeed},
                                                   {"balanced", ops::Level::kBalanced},
                                                   {"size", ops::Level::kSize}});
  levels.set = [set = levels.set, &compile](const std::string& word) {
    set(word);
    compile.level_given = true;
  };
  return {
      .names = "-O,--optimize",
      .target = std::move(levels),
      .help =
          "What the code is for: size shares one function between operators that differ only in "
          "constants and writes loops out less, speed gives every operator its own, balanced "
          "shares where three or more are alike"};
}

Option assembly_option(CompileOptions& compile) {
  return {.names = "--asm",
          .target = one_of(&compile.assembly, {{"on", true}, {"off", false}}),
          .help = "Inner loops in assembly where the CPU has them, or portable C throughout"};
}

Option schedules_option(CompileOptions& compile) {
  return {
      .names = "--schedules",
      .value = "FILE",
      .target = &compile.schedules_path,
      .help =
          "JSON that says how operators are lowered, in the form of NAME.map.json, instead of what "
          "the cost model chooses",
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

options::Choice output_choice(CompileOptions& c) {
  return {{"overwrite", "preserve"}, "preserve", [&c](const std::string& word) {
            c.outputs =
                word == "overwrite" ? plan::Contract::kOverwrite : plan::Contract::kPreserve;
          }};
}

options::Choice input_choice(CompileOptions& c) {
  return {{"overwrite", "preserve", "rows"}, "overwrite", [&c](const std::string& word) {
            read_input_contract(word, c);
          }};
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
  return {{"aotc", "tvm"}, "aotc", [&c](const std::string& word) {
            c.tvm_interface = word == "tvm";
            c.interface_given = true;
          }};
}

// Several sections are one text, as projects keep it.
options::Setter sections_setter(CompileOptions& c) {
  return [&c](const std::string& section) {
    c.constants_section += (c.constants_section.empty() ? "" : ",") + section;
  };
}

// What is said of the model, besides its file.
std::vector<options::Option> model_options(CompileOptions& c) {
  return {{.names = "--signature",
           .value = "NAME",
           .target = &c.signature,
           .help = "Which signature of the model, if it has several"},
          {.names = "--shape",
           .value = "INPUT=1,98,40",
           .target = &c.shapes,
           .help = "The shape of an input, where the model leaves it open or another is wanted. All shapes that "
                   "follow are worked out again; a project keeps it"},
          {.names = "--dim",
           .value = "NAME=1",
           .target = &c.dimensions,
           .help = "The size of a dimension that an ONNX model has by name, such as the batch; a project keeps it",
           .see = "onnx.md"},
          {.names = "--value",
           .value = "INPUT=[0,2]",
           .target = &c.values,
           .help = "The value of an ONNX model's input, which is an input no longer: axes, shapes and the like, "
                   "which must be known while compiling; a project keeps it",
           .see = "onnx.md"},
          {.names = "--input-layout",
           .target = one_of(&c.images_last, {{"nchw", false}, {"nhwc", true}}),
           .help = "What the caller feeds to inputs of an ONNX model with four dimensions: planes as in the file, or the "
                   "channels of each pixel together, as cameras and .tflite models have them; a project keeps it",
           .see = "onnx.md"},
          {.names = "--rounding",
           .target = one_of(&c.literal_rounding, {{"onnxruntime", false}, {"spec", true}}),
           .help = "Operators between DequantizeLinear and QuantizeLinear of an ONNX model: as onnxruntime's default "
                   "session computes them, or as the specification says; a project keeps it",
           .see = "onnx.md"},
          {.names = "--state",
           .value = "OUTPUT=INPUT",
           .target = &c.states,
           .help = "An output that is the input of the next run: the model keeps it, in memory that NAME_init "
                   "makes ready. It begins at real 0, or at the value in a file: OUTPUT=INPUT@FILE.npy",
           .see = "state.md"}};
}

options::Choice preference(CompileOptions& c) {
  return {{"cycles", "ram", "flash", "speed"}, "cycles", [&c](const std::string& word) {
            c.prefer_ram = word == "ram";
            if (!c.level_given) c.level = word == "flash" ? ops::Level::kSize : CompileOptions().level;
          }};
}

// How operators are computed.
std::vector<options::Option> schedule_options(CompileOptions& c) {
  return {
      level_option(c),
      {.names = "--prefer",
       .target = preference(c),
       .help = "What to have less of where a schedule can save only one of them: cycles (speed is its older name), "
               "RAM, or flash, which is -O size unless -O is given"},
      {.names = "--stream",
       .target = stream_choice(c),
       .help = "Operators one behind the other computed row by row, so that only some rows of the tensors between "
               "them are in RAM: never, where the arena is smaller for at most 3 % more instructions, or "
               "wherever the arena is smaller; time: rows are frames that go on from one inference to the next, and "
               "are fed",
       .see = "streaming.md"},
      {.names = "--stream-most",
       .value = "PERCENT",
       .target = &c.stream_most,
       .help = "With --stream auto: how many percent more instructions it may take",
       .range = options::Range{0, 10000},
       .see = "streaming.md"},
      assembly_option(c),
      schedules_option(c)};
}

// How operators and the model are called.
std::vector<options::Option> interface_options(CompileOptions& c) {
  return {{.names = "--calling-convention",
           .target = one_of(&c.convention, {{"plain", CallingConvention::kPlain},
                                            {"packed", CallingConvention::kPacked},
                                            {"registry", CallingConvention::kRegistry}}),
           .help =
               "How operators are called: with typed pointers, with TVM's packed arguments, or with "
               "these by name through the C runtime's registry",
           .see = "emitted-c.md#calling-conventions"},
          {.names = "--slice",
           .value = "call|INSTRUCTIONS",
           .target = &c.slice,
           .help =
               "Adds NAME_begin and NAME_step, which do a run in slices, between which the CPU is free for other "
               "work: call by call, or in parts of calls of at most so many instructions",
           .see = "slices.md"},
          {.names = "--interface",
           .target = interface_choice(c),
           .help = "tvm adds the files tvmgen_NAME.h and .c with the entry point of TVM's C interface",
           .see = "emitted-c.md#tvms-c-interface"},
          {.names = "--devices",
           .value = "FILE",
           .target = &c.devices_path,
           .help = "JSON that says which operators run on which device",
           .takes = Takes::kFile,
           .see = "devices.md"},
          {.names = "--strip-float-io",
           .target = &c.strip_boundary_float,
           .help =
               "A model that quantises its own inputs and outputs takes and gives integers instead"},
          {.names = "--keep-dead-channels",
           .target = &c.keep_dead_channels,
           .help =
               "Channels that have one value whatever the input, or that nobody reads, stay in the "
               "tensors and weights"}};
}

options::Group code_group(CompileOptions& c) {
  options::Group out = {"Options of compiling",
                        {{.names = "--prefix",
                          .value = "NAME",
                          .target = &c.prefix,
                          .help = "Beginning of every C name; by default from the file's name"},
                         board_option(c.board_name,
                                      "What the code is for, and whose limits are printed beside the "
                                      "figures; 'aotc boards' lists them"),
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
        .target =
            one_of(&c.arena, {{"caller", ArenaOwner::kCaller}, {"model", ArenaOwner::kModel}}),
        .help = "Who owns the arena: the caller passes it, or the model holds it"},
       {.names = "--memory",
        .target = one_of(&c.memory,
                         {{"static", MemoryMode::kStatic}, {"workspace", MemoryMode::kWorkspace}}),
        .help = "Intermediates in one planned arena, or from the C runtime during the run",
        .see = "crt.md"},
       {.names = "--output",
        .target = output_choice(c),
        .help = "Where outputs lie: in the arena, valid until the next run, or in buffers of the "
                "caller. "
                "The directory to write is -o",
        .see = "emitted-c.md#inputs-and-outputs"},
       {.names = "--overlap",
        .target = one_of(&c.overlap, {{"on", true}, {"off", false}}),
        .help =
            "Results may be written over operands that die, or every buffer keeps its own bytes"},
       {.names = "--pool",
        .value = "NAME:BYTES[:fast|:constants]",
        .target = &c.pools,
        .help = "Memory that the caller gives instead of one arena: fast pools take the tensors "
                "that are "
                "used most, one of constants takes all tables",
        .see = "emitted-c.md#pools"},
       {.names = "--constants",
        .target = one_of(&c.constants_in_ram, {{"flash", false}, {"ram", true}}),
        .help = "Where tables lie on boards with the feature harvard (AVR): in program memory, or "
                "in RAM, "
                "which is faster",
        .see = "emitted-c.md#program-memory"},
       {.names = "--constants-section",
        .value = "NAME[:BYTES]",
        .target = sections_setter(c),
        .help = "The linker section of the tables; with several, fast ones first: what is read "
                "most goes "
                "into the first up to its size, and one without takes the rest",
        .see = "memories.md"}},
      true};
  if (!contract_of_input) return out;
  out.options.insert(
      out.options.begin() + 2,
      {.names = "--input",
       .target = input_choice(c),
       .help = "Where inputs lie: in the arena, and free for other tensors after their last "
               "use, in buffers of the caller, which are only read, or nowhere: the caller gives "
               "an image row by row, "
               "of which the first operators keep what they need",
       .see = "emitted-c.md#inputs-and-outputs"});
  return out;
}

options::Group graph_group(CompileOptions& c) {
  return {"Options of operators in C and of TVM graphs",
          {{.names = "--params",
            .value = "FILE",
            .target = &c.params_path,
            .help = "The parameters of a TVM graph",
            .takes = Takes::kFile,
            .see = "graph-json.md"},
           {.names = "--operators",
            .value = "FILE.c",
            .target = &c.operators,
            .help = "A C source of operators: custom operators of a .tflite model, which FILE.json beside it "
                    "describes, or the functions of a TVM graph; aotc-analyze checks them against the model",
            .takes = Takes::kFile,
            .see = "custom-operators.md"},
           {.names = "--operator-include",
            .value = "DIR",
            .target = &c.include_dirs,
            .help = "Where these find headers",
            .takes = Takes::kDirectory},
           {.names = "--operator-workspace",
            .value = "BYTES",
            .target = &c.operator_workspace,
            .help = "What these functions allocate at most at a time, if no archive says it",
            .range = options::Range{0, int64_t{1} << 30}}},
          true};
}

options::Group looking_group(CompileOptions& c) {
  return {
      "Options for looking inside",
      {{.names = "--dump-after",
        .value = "PASS",
        .target = &c.dump_after,
        .help =
            "Print the graph after a pass, or after 'all', to standard error, in the text form of "
            "the Graph IR; 'tir' prints the operators' functions, 'plan' what runs when and where",
        .see = "ir.md"},
       {.names = "--time-passes", .target = &c.time_passes, .help = "Print what each pass took"}},
      true};
}

}  // namespace

std::vector<options::Group> compile_groups(CompileOptions& compile, bool contract_of_input) {
  return {code_group(compile), memory_group(compile, contract_of_input), graph_group(compile),
          looking_group(compile)};
}

namespace {

std::vector<Option> line_options(std::string& port, int& baud) {
  return {{.names = "--port",
           .value = "PORT",
           .target = &port,
           .help = "Not the project's emulator but the board at this port: a serial device, unix:PATH, tcp:HOST:PORT",
           .takes = Takes::kFile,
           .see = "boards.md#on-the-board-itself"},
          {.names = "--baud",
           .value = "RATE",
           .target = &baud,
           .help = "Rate of a serial device",
           .range = options::Range{1, 4000000}}};
}

}  // namespace

std::vector<Option> port_options(PortChoice& choice) { return line_options(choice.port, choice.baud); }

std::vector<Option> device_options(DeviceChoice& device) {
  std::vector<Option> out = line_options(device.port, device.baud);
  out.push_back({.names = "--timeout",
                 .value = "SECONDS",
                 .target = &device.timeout,
                 .help = "How long a function may run",
                 .range = options::Range{1, 86400}});
  return out;
}

}  // namespace aotc::driver
