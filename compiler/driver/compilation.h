// SPDX-License-Identifier: Apache-2.0
// Compiles one model: read, verify, passes, plan, print. Every command calls `compile_model` with the same options, so
// all commands agree.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/c_model.h"
#include "driver/input_options.h"
#include "passes/pass.h"
#include "plan/program.h"
#include "project/board.h"
#include "project/generate.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// The options in which variants of a model differ (variants.h).
struct VariantOptions : ops::Goal {
  plan::Streaming stream;
  bool images_last = false;  // for an ONNX model: --input-layout nhwc

  // -O, and the options that differ from the defaults: "-O size --prefer ram".
  std::string options() const;
  bool operator==(const VariantOptions&) const = default;
};

// The figure that a search makes as small as possible (budget.h).
enum class Objective : uint8_t { kTime, kRam, kFlash };

struct CompileOptions : VariantOptions {
  std::string model_path;
  std::string prefix;      // empty: derived from the file name
  std::string board_name;  // empty: generic target
  std::string cpu_name;    // instead of a board: one of project::cpus()
  std::string signature;
  std::vector<std::string> shapes;              // "INPUT=1,98,40", unparsed
  std::vector<std::string> dimensions, values;  // for an ONNX model: "NAME=1", "INPUT=[1,2]", unparsed
  bool literal_rounding = false;                // for an ONNX model: --rounding spec
  std::vector<std::string> states;              // "OUTPUT=INPUT[@FILE]", unparsed
  InitialValues initial_values;                 // of states: from files that compile_model reads, or from a project
  std::string params_path;                      // parameters of a TVM graph
  // C sources of a TVM graph's operators, or of a .tflite model's custom operators, with their descriptions.
  std::vector<std::string> operators, include_dirs;
  std::vector<std::string> kept_operators;  // files of `operators` that a project stores; set by compile_model
  int64_t operator_workspace = -1;          // bytes that a TVM graph's operators allocate; -1: as its archive states
  codegen::ArenaOwner arena = codegen::ArenaOwner::kCaller;
  codegen::MemoryMode memory = codegen::MemoryMode::kStatic;
  CallingConvention convention = CallingConvention::kPlain;
  std::string slice;               // also emit NAME_begin and NAME_step: "call", or the maximal instructions of a slice
  bool tvm_interface = false;      // also emit tvmgen_NAME.h and .c
  std::string constants_section;   // linker sections of the tables: "NAME[:BYTES],..."
  std::string constants_file;      // --constants-file: the image of the tables, a file beside the code
  std::string constants_address;   // address of the image, unparsed; empty: NAME_load receives it
  bool constants_open = false;     // the code does not depend on weights
  bool constants_in_ram = false;   // --constants ram, for CPUs that read flash by special instructions
  std::vector<std::string> pools;  // "NAME:BYTES[:fast|:constants]", unparsed
  std::string devices_path;        // file that compile_model reads into devices_text
  std::string devices_text;        // content of devices.json
  bool strip_boundary_float = false;
  bool keep_dead_channels = false;
  bool overlap = true;  // outputs may reuse the memory of inputs
  // The owner of the memory of inputs and outputs; nullopt: the default of `contracts_of`.
  std::optional<plan::Contract> inputs, outputs;
  bool feed = false;  // --input rows; the run function then preserves inputs (kPreserve)
  // The long names of the choices that the command line or a project has, even with the default value: "--prefer".
  std::set<std::string> given;
  KernelForm kernels = KernelForm::kAssembly;
  std::string schedules_path;  // file that compile_model reads into `schedules` and `arrangement`
  ops::Schedules schedules;
  // Order, windows and segments; nullopt: the planner searches for them.
  std::optional<plan::Arrangement> arrangement;
  bool ignores_arrangement = false;  // true for a variant: the given arrangement is for other options
  // Instructions of a run that each further byte of tables must save; set by compile_model for large tables.
  double instructions_per_byte = ops::kInstructionsPerByte;
  std::string budget;  // "ram=64K,flash=256K,ms=20", unparsed; empty: no limits
  Objective objective = Objective::kTime;
  bool quiet = false;                   // a search shows no progress
  std::vector<std::string> dump_after;  // pass names, or "all"
  bool time_passes = false;
};

// Files that the user supplies with a model.
struct GivenOperators {
  std::map<std::string, std::string> files;      // C sources and headers
  std::map<std::string, FileBytes> model_files;  // files beside the model that store constants
  // The most bytes that one operator allocates with TVMBackendAllocWorkspace, as the C runtime counts them.
  int64_t workspace_bytes = 0;
  InitialValues initial_values;  // of states, from files
};

// The options with those of a variant. A given arrangement applies only to the variant that `options` has already.
CompileOptions with_variant(const CompileOptions& options, const VariantOptions& variant);

struct CycleEstimate;
struct BudgetResult;

struct Compiled {
  CompileOptions options;
  std::optional<project::Board> board;
  FileBytes model_bytes;
  std::map<std::string, FileBytes> model_files;  // files beside the model that store constants
  graph::Graph original;                         // the graph as read and verified, before any pass
  passes::PassStatistics statistics;
  plan::PlanOptions plan_options;        // options of the planner, with the board's target
  plan::Program program;                 // its graph is the one after the passes
  int64_t operator_workspace_bytes = 0;  // workspace of operators given in C
  std::vector<int64_t> instructions;     // by call: upper bound of its longest slice; only with --slice
  int64_t more_arena = 0;                // additional arena bytes due to --slice
  codegen::ModelFiles c;                 // the emitted C; operators given in C are below "operators/"
  std::string prefix;
  mutable std::shared_ptr<const CycleEstimate> cycles;  // set at first use (estimate.h)
  std::shared_ptr<const BudgetResult> budget;           // of a search (budget.h); null: none was asked for
  double milliseconds = 0;                              // time from reading to printing, for display; not deterministic
};

inline constexpr const char* kVersion = AOTC_VERSION;

// "size", "balanced", "speed".
const char* name_of(ops::Level level);

// The prefix of C names for `name`, a file name or a name that the user chose.
std::string prefix_of(const std::string& name);

struct Contracts {
  plan::Contract inputs, outputs;
};
Contracts contracts_of(const CompileOptions& options);

// Reads "NAME:BYTES[:fast|:constants]" texts; reports [pool-invalid].
Result<std::vector<plan::Pool>> parse_pools(const std::vector<std::string>& texts, Diagnostics& diags);

// Reads "NAME[:BYTES],..." texts; reports [option-conflict].
Result<std::vector<plan::ConstantSection>> parse_sections(const CompileOptions& options, Diagnostics& diags);

// Reads and verifies a model, without passes: a .tflite or .onnx file, or a TVM graph or archive (graph_model.h) with
// its files. `bytes` and `operators` receive the model's bytes and the user's files; both may be null.
Result<graph::Graph> load_model(const CompileOptions& options, FileBytes* bytes, GivenOperators* operators,
                                Diagnostics& diags);
// Runs all stages; with --budget or --objective, for many candidates.
Result<Compiled> compile_model(const CompileOptions& options, Diagnostics& diags);
// Runs all stages except printing. `c` of the result is empty; `code` receives the options for print_model.
Result<Compiled> plan_model(const CompileOptions& options, codegen::CodegenOptions& code, Diagnostics& diags);

// The parts of a compiled model that a project needs. The result points into `compiled`.
project::ProjectModel project_model_of(const Compiled& compiled);

// Figures of a compiled model.
struct Figures {
  int64_t macs = 0;  // multiply-accumulates of a run; for loops of unknown length, of one iteration
  int64_t arena_bytes = 0, workspace_bytes = 0;
  int64_t state_bytes = 0;         // stored between runs
  int64_t constant_bytes = 0;      // tables as emitted
  int64_t raw_constant_bytes = 0;  // constants of the model that operators read
  int64_t input_bytes = 0, output_bytes = 0;
  int64_t caller_bytes = 0;  // inputs and outputs in the caller's memory, outside the arena
};
Figures figures_of(const Compiled& compiled);

}  // namespace aotc::driver
