// SPDX-License-Identifier: Apache-2.0
// Prints a planned program as the C files of a model: NAME.h, NAME.c, NAME_data.h, NAME_data.c and the
// source map NAME.map.json. The one thing to know: the output is a pure function of the program and the
// options, and everything external in it begins with the prefix.
#pragma once

#include <map>
#include <string>

#include "codegen/c_function.h"
#include "plan/constant_reads.h"
#include "plan/program.h"
#include "plan/bands.h"
#include "support/calling_convention.h"

namespace aotc::codegen {

enum class ArenaOwner { kCaller, kModel };
enum class MemoryMode { kStatic, kWorkspace };

struct CodegenOptions {
  std::string prefix;  // a C identifier; c_identifier(model name) if the user gave none
  std::string program;  // the prefix of what the models of a program share; empty: the model is alone
  std::string model_name;  // of TVM's interface: tvmgen_<model_name>
  bool tvm_interface = false;  // tvmgen_<model_name>.h and .c as well
  // Linker sections of the tables, from fast to slow; empty: where the compiler puts them.
  std::vector<plan::ConstantSection> constants_sections;
  // The tables are in an image of their own, which PREFIX_load takes (c_constants.h): the program has a pool of
  // constants that is none of the caller's.
  bool constants_image = false;
  uint32_t constants_address = 0;  // where the image lies; 0: PREFIX_load is told
  ArenaOwner arena = ArenaOwner::kCaller;
  MemoryMode memory = MemoryMode::kStatic;
  CallingConvention convention = CallingConvention::kPlain;  // not kUnpacked, which is for functions of users
  bool assembly = true;  // false: portable C throughout
  bool narrow_int = false;  // the C is for a CPU whose int has 16 bits
  // kRegistry: external functions are in the model's system library; false: their sources have one.
  bool register_externals = false;
  plan::Bands bands;       // of long calls, for slices of a given length
  bool slices = false;       // PREFIX_begin and PREFIX_step as well
  int64_t longest_slice = 0;  // instructions, at most, by `cost_model`; 0: not known
  int64_t longest_feed = 0,
          longest_feed_row = 0;  // of a program whose input is fed: instructions as above
  std::string cost_model;
  std::string version;   // of aotc, for the first line of each file
};

struct ModelFiles {
  std::map<std::string, std::string> files;  // name -> content
  std::vector<std::string> function_names;   // C name of each program function
  std::vector<std::string> constant_names;   // C name of each program constant
  std::vector<bool> is_row;                  // by constant: its values are in rows that loops read, and nowhere else
  std::vector<std::string> input_fields;     // struct field of each graph input
  std::vector<std::string> output_fields;
  std::string image;         // of the tables, if they are in one
  uint64_t layout_hash = 0;  // of the code that it is for
  int64_t printed_calls = 0;     // in the text of the run function: those in a loop once
  int64_t loop_table_bytes = 0;  // what its loops read, less the program's tables that are not there for it
};

ModelFiles print_model(const plan::Program& program, const CodegenOptions& options);

// One of several models that are one program: PREFIX.h each, and one source and one file of tables for all. What is
// the same (helpers, kernels, functions by their text, tables by their bytes) is there once.
struct ModelOfProgram {
  const plan::Program* program = nullptr;
  CodegenOptions options;
  ModelFiles names;  // filled by print_program: all but the files
};
struct ProgramFiles {
  std::map<std::string, std::string> files;
  int64_t arena_bytes = 0;     // the most that a model needs: they run one after another
  int64_t constant_bytes = 0;  // as emitted, of all models
  int64_t functions = 0;       // that are there
};
// `common`: options of what is shared, whose prefix is `program` of each. Models are called plainly, with one arena.
ProgramFiles print_program(std::vector<ModelOfProgram>& models, const CodegenOptions& common);

// "int8 1x49x10x1 scale 0.58 zero 83", for comments and reports.
std::string describe(const graph::TensorType& type);

// What codegen and the reports call a call: "CONV_2D 'name'"; name escaped for comments.
std::string call_title(const plan::Program& program, const plan::ProgramCall& call);

}  // namespace aotc::codegen
