// SPDX-License-Identifier: Apache-2.0
// Prints a planned program as the C files of a model: NAME.h, NAME.c, NAME_data.h, NAME_data.c and the source map
// NAME.map.json. The output depends only on the program and the options. Every external name begins with the prefix.
#pragma once

#include <map>
#include <string>

#include "codegen/c_function.h"
#include "plan/bands.h"
#include "plan/constant_reads.h"
#include "plan/program.h"
#include "support/calling_convention.h"
#include "support/kernel_form.h"

namespace aotc::codegen {

enum class ArenaOwner { kCaller, kModel };
enum class MemoryMode { kStatic, kWorkspace };

struct CodegenOptions {
  std::string prefix;          // a C identifier; by default c_identifier(model name)
  std::string program;         // prefix of names that several models share; empty: a single model
  std::string model_name;      // name in TVM's interface: tvmgen_<model_name>
  bool tvm_interface = false;  // also emit tvmgen_<model_name>.h and .c
  // Linker sections of the tables, from fast to slow; empty: the compiler's default.
  std::vector<plan::ConstantSection> constants_sections;
  // True if the tables are in a separate image, which PREFIX_load receives (c_constants.h). The program then has a pool
  // of constants that the caller does not provide.
  bool constants_image = false;
  uint32_t constants_address = 0;  // fixed address of the image; 0: PREFIX_load receives it
  ArenaOwner arena = ArenaOwner::kCaller;
  MemoryMode memory = MemoryMode::kStatic;
  CallingConvention convention = CallingConvention::kPlain;  // not kUnpacked, which is only for user-supplied functions
  KernelForm kernels = KernelForm::kAssembly;
  bool narrow_int = false;                                   // the C is for a CPU with 16-bit int
  // Only for kRegistry: true if the model's system library contains the user-supplied functions; false if their sources
  // contain a system library.
  bool register_externals = false;
  plan::Bands bands;          // parts of long calls, for slices of bounded length
  bool slices = false;        // also emit PREFIX_begin and PREFIX_step
  int64_t longest_slice = 0;  // upper bound of instructions by `cost_model`; 0: unknown
  int64_t longest_feed = 0,
          longest_feed_row = 0;  // for input by rows: instructions of the longest feed, and its row
  std::string cost_model;
  std::string version;  // version of aotc, for the first comment of each file
};

struct ModelFiles {
  std::map<std::string, std::string> files;  // name -> content
  std::vector<std::string> function_names;   // C name of each program function
  std::vector<std::string> constant_names;   // C name of each program constant
  std::vector<bool> is_row;                  // by constant: true if only row tables of loops contain its values
  std::vector<std::string> input_fields;     // struct field of each graph input
  std::vector<std::string> output_fields;
  std::string image;             // content of the image file, if the tables are in an image
  uint64_t layout_hash = 0;      // hash of the code that the image belongs to
  int64_t printed_calls = 0;     // calls in the text of the run function; a call in a loop counts once
  int64_t loop_table_bytes = 0;  // bytes of the tables of loops, minus the tables that they replace
};

ModelFiles print_model(const plan::Program& program, const CodegenOptions& options);

// One of several models that are printed as one C program. Each model has its PREFIX.h; all models share one source and
// one file of tables. Equal parts are emitted once: helpers, kernels, functions with equal text, tables with equal
// bytes.
struct ModelOfProgram {
  const plan::Program* program = nullptr;
  CodegenOptions options;
  ModelFiles names;  // set by print_program, except the files
};
struct ProgramFiles {
  std::map<std::string, std::string> files;
  int64_t arena_bytes = 0;     // the maximum over the models, which run one at a time
  int64_t constant_bytes = 0;  // tables of all models, as emitted
  int64_t functions = 0;       // number of emitted functions
};
// `common`: options of the shared parts. Its prefix equals `options.program` of each model. The models use the plain
// calling convention and one arena.
ProgramFiles print_program(std::vector<ModelOfProgram>& models, const CodegenOptions& common);

// "int8 1x49x10x1 scale 0.58 zero 83", for comments and reports.
std::string describe(const graph::TensorType& type);

// Maximal columns of a line of emitted C.
inline constexpr size_t kMostColumns = 110;

// "'image': int8 1x32x32x3, scale 0.5 zero 0", for a comment of one line. The name is cut if the title has more than
// `columns` characters.
std::string tensor_title(const std::string& name, const graph::TensorType& type, size_t columns = kMostColumns - 10);

// The title of a call in code and reports: "op 3 CONV_2D 'name'"; the name is escaped for comments.
std::string call_title(const plan::Program& program, const plan::ProgramCall& call);

}  // namespace aotc::codegen
