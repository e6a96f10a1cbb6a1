// SPDX-License-Identifier: Apache-2.0
// One model taken through the whole compiler: read, verify, passes, plan, print. Every command that
// needs any of it calls `compile_model` with the same options, so they always agree.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/c_model.h"
#include "driver/state_pairs.h"
#include "passes/pass.h"
#include "plan/program.h"
#include "project/board.h"
#include "project/generate.h"
#include "support/diagnostics.h"

namespace aotc::driver {

struct CompileOptions {
  std::string model_path;
  std::string prefix;      // empty: from the file name
  std::string board_name;  // empty: generic target
  std::string cpu_name;    // instead of a board: of project::cpus()
  std::string signature;
  std::vector<std::string> shapes;  // "INPUT=1,98,40", as given
  std::vector<std::string> dimensions, values;  // of an ONNX model: "NAME=1", "INPUT=[1,2]", as given
  bool literal_rounding = false;    // of an ONNX model: --rounding spec
  bool images_last = false;         // of an ONNX model: --input-layout nhwc
  std::vector<std::string> states;  // "OUTPUT=INPUT[@FILE]", as given
  InitialValues initial_values;     // of those with a file: read by compile_model, or from a project
  std::string params_path;  // of a TVM graph
  // C sources of a TVM graph's operators; of a .tflite model's custom operators, with their descriptions.
  std::vector<std::string> operators, include_dirs;
  std::vector<std::string> kept_operators;  // what of these a project of a .tflite model holds; set by compile_model
  int64_t operator_workspace = -1;  // bytes that its operators allocate; -1: as its archive says
  codegen::ArenaOwner arena = codegen::ArenaOwner::kCaller;
  codegen::MemoryMode memory = codegen::MemoryMode::kStatic;
  CallingConvention convention = CallingConvention::kPlain;
  std::string slice;               // NAME_begin and NAME_step as well: "call", or the most instructions of a slice
  bool tvm_interface = false;      // tvmgen_NAME.h and .c as well
  bool interface_given = false;    // --interface: also where it is the default
  std::string constants_section;   // linker sections of the tables: "NAME[:BYTES],..."
  std::string constants_file;      // --constants-file: the image of the tables, a file beside the code
  std::string constants_address;   // where it lies, as given; empty: NAME_load is told
  bool constants_open = false;     // code that assumes nothing of the weights
  bool constants_in_ram = false;   // on boards that read program memory by instructions of its own
  std::vector<std::string> pools;  // "NAME:BYTES[:fast]", as given
  std::string devices_path;        // read by compile_model into:
  std::string devices_text;        // devices.json
  bool strip_boundary_float = false;
  bool keep_dead_channels = false;
  bool overlap = true;                  // results may be written over operands that die
  // Who has the inputs (outputs); nothing: the default, which `contracts_of` knows.
  std::optional<plan::Contract> inputs, outputs;
  bool feed = false;  // --input rows: inputs are kPreserve to the run function
  ops::Level level = ops::Level::kBalanced;
  bool level_given = false;  // by -O, which --prefer flash then leaves alone
  bool prefer_ram = false;
  plan::Stream stream = plan::Stream::kOff;
  int stream_most = plan::kUsualStreamMost;
  bool assembly = true;  // microkernels in assembly; false: portable C only
  std::string schedules_path;              // read by compile_model into:
  std::map<int, ops::Schedule> schedules;  // by operator index in the model's file
  std::vector<std::string> dump_after;  // pass names, or "all"
  bool time_passes = false;
};

// What came with a model beside it.
struct GivenOperators {
  std::map<std::string, std::string> files;  // C sources and headers
  std::map<std::string, FileBytes> model_files;  // that the model has constants in, beside it
  // The most that one of them takes from TVMBackendAllocWorkspace, as the C runtime counts it.
  int64_t workspace_bytes = 0;
  InitialValues initial_values;  // of states, from files
};

struct CycleEstimate;

struct Compiled {
  CompileOptions options;
  std::optional<project::Board> board;
  FileBytes model_bytes;
  std::map<std::string, FileBytes> model_files;  // beside the model, which it has constants in
  graph::Graph original;  // as read and verified, before any pass
  passes::PassStatistics statistics;
  plan::PlanOptions plan_options;  // with the board's target
  plan::Program program;  // its graph is after the passes
  int64_t operator_workspace_bytes = 0;  // of operators that were given in C
  std::vector<int64_t> instructions;  // of the longest slice of every call, at most; with --slice
  int64_t more_arena = 0;             // than without --slice
  codegen::ModelFiles c;  // the operators that were given in C are below "operators/"
  std::string prefix;
  mutable std::shared_ptr<const CycleEstimate> cycles;  // once it was asked for (cycle_estimate.h)
  double milliseconds = 0;  // reading to printing, for people; not deterministic
};

inline constexpr const char* kVersion = AOTC_VERSION;

// "size", "balanced", "speed"; anything else is balanced.
const char* name_of(ops::Level level);
ops::Level level_of(const std::string& name);

const char* name_of(plan::Stream stream);

// What a C name begins with that is made of `name`, a file's or the user's.
std::string prefix_of(const std::string& name);

struct Contracts {
  plan::Contract inputs, outputs;
};
Contracts contracts_of(const CompileOptions& options);

// "plain", "packed", "registry"; anything else is plain.

// Reads "NAME:BYTES[:fast]" texts; reports [pool-invalid].
Result<std::vector<plan::Pool>> parse_pools(const std::vector<std::string>& texts,
                                            Diagnostics& diags);

// Reads "NAME[:BYTES],..." texts; reports [option-conflict].
Result<std::vector<plan::ConstantSection>> parse_sections(const CompileOptions& options, Diagnostics& diags);

// Reads and verifies only: a .tflite file, or a TVM graph or archive (graph_model.h) with what comes
// with it. Both pointers may be null.
Result<graph::Graph> load_model(const CompileOptions& options, FileBytes* bytes,
                                GivenOperators* operators, Diagnostics& diags);
// Everything.
Result<Compiled> compile_model(const CompileOptions& options, Diagnostics& diags);
// All but the C: `c` is empty, and `code` says how it would be printed.
Result<Compiled> plan_model(const CompileOptions& options, codegen::CodegenOptions& code, Diagnostics& diags);

// What a project takes of a compiled model; refers to it.
project::ProjectModel project_model_of(const Compiled& compiled);

// Figures of a compiled model.
struct Figures {
  int64_t macs = 0;  // of a run, or per iteration of a loop whose length is not known
  int64_t arena_bytes = 0, workspace_bytes = 0;
  int64_t state_bytes = 0;         // kept from run to run
  int64_t constant_bytes = 0;      // tables as emitted
  int64_t raw_constant_bytes = 0;  // constants of the model that operators read
  int64_t input_bytes = 0, output_bytes = 0;
  int64_t caller_bytes = 0;        // those of them that are not in the arena
};
Figures figures_of(const Compiled& compiled);

}  // namespace aotc::driver
