// SPDX-License-Identifier: Apache-2.0
// Prints the data for calls in TVM's packed convention: the DLTensor (TVM's tensor descriptor) of every argument and,
// for the registry convention, the table of functions by name. Descriptors of constants stay in flash. The run function
// copies the descriptors of other arguments and sets their addresses.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

// True if the call uses the packed convention. Calls on devices that launch functions always use it.
bool is_packed(const plan::Program& program, const CodegenOptions& options, const plan::ProgramCall& call);
// True if the storage is a table of PREFIX_data.c, whose address the linker knows.
bool is_table(const plan::Storage& storage);

// True if the call finds its function by name at run time.
bool is_looked_up(const plan::Program& program, const CodegenOptions& options, const plan::ProgramCall& call);
CallingConvention form_of(const plan::Program& program, const CodegenOptions& options,
                          const plan::ProgramFunction& function);

// For each parameter of a packed function: index of the table that every call passes, or -1. The function refers to
// such a table directly instead of receiving it as an argument. User-supplied functions receive all tables as
// arguments.
std::vector<int> bound_tables(const plan::Program& program, const plan::ProgramFunction& function);

class TensorTable {
 public:
  TensorTable(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names);

  bool empty() const { return entries_.empty(); }
  // Index of an argument in PREFIX_tensors; -1 for a table to which the function refers directly.
  int index_of(size_t call, size_t argument) const { return of_call_[call][argument]; }
  // most_arguments: maximal number of arguments of a packed call on the device (-1: on any device). most_places: the
  // same without arguments that are tables.
  int most_arguments(int device = -1) const;
  int most_places(int device) const;
  // "static const DLTensor PREFIX_tensors[] ..." and the shapes that it refers to.
  std::string definition() const;

 private:
  const plan::Program& program_;
  const CodegenOptions& options_;
  const ModelFiles& names_;
  std::vector<int64_t> shapes_;
  std::vector<std::string> entries_;
  int arguments_of(size_t call) const;
  std::string entry(const plan::ProgramCall& call, const plan::CallArgument& argument);

  std::vector<std::vector<int>> of_call_;
  std::vector<bool> packed_;  // by call: true if it is packed
};

// "static const int PREFIX_type_codes[]": the type codes of `count` tensor arguments. Functions do not check the
// arguments of a call that passes this table.
std::string type_codes_definition(const std::string& prefix, int count);

// Declarations of the functions in the user's sources.
std::string external_declarations(const plan::Program& program);

// The system library: a table of functions, sorted by the hashes of their names, and TVMSystemLibEntryPoint. `names`:
// the functions' C symbols. `external`: the symbols among them that external_declarations declares. Names of static
// objects begin with `prefix`.
std::string registry_definition(const std::vector<std::string>& names, const std::string& prefix,
                                const std::set<std::string>& external = {});

}  // namespace aotc::codegen
