// SPDX-License-Identifier: Apache-2.0
// Prints what calls in TVM's packed convention need: the DLTensor of every argument and, for the registry convention,
// the table of functions by name. A constant's tensor stays in flash; tensors of other arguments are copied and get
// their address at run time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

// True if the call uses the packed convention. Devices that launch functions always need it.
bool is_packed(const plan::Program& program, const CodegenOptions& options, const plan::ProgramCall& call);
// True if the storage is a table of PREFIX_data.c, whose address the linker knows.
bool is_table(const plan::Storage& storage);

// True if the function is found by name at run time.
bool is_looked_up(const plan::Program& program, const CodegenOptions& options, const plan::ProgramCall& call);
CallingConvention form_of(const plan::Program& program, const CodegenOptions& options,
                          const plan::ProgramFunction& function);

// For each parameter of a packed function: the table that every call passes, or -1. Such a table is part of the
// function and not an argument. Functions of other sources receive all tables as arguments.
std::vector<int> bound_tables(const plan::Program& program, const plan::ProgramFunction& function);

class TensorTable {
 public:
  TensorTable(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names);

  bool empty() const { return entries_.empty(); }
  // Index of an argument in PREFIX_tensors; -1 if it is part of the function.
  int index_of(size_t call, size_t argument) const { return of_call_[call][argument]; }
  // The maximal number of arguments, and of non-constant ones, of one packed call on a device (-1: any).
  int most_arguments(int device = -1) const;
  int most_places(int device) const;
  // "static const DLTensor PREFIX_tensors[] ..." and the objects it refers to.
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
  std::vector<bool> packed_;  // by call
};

// "static const int PREFIX_type_codes[]": codes of `count` tensors. Calls that pass this very table are not checked
// again.
std::string type_codes_definition(const std::string& prefix, int count);

// Declarations of the functions in the user's sources.
std::string external_declarations(const plan::Program& program);

// The functions of the system library by name, in the order of their hashes, and TVMSystemLibEntryPoint. `names` are C
// symbols; external_declarations declares those in `external`. `prefix` begins the names of static objects.
std::string registry_definition(const std::vector<std::string>& names, const std::string& prefix,
                                const std::set<std::string>& external = {});

}  // namespace aotc::codegen
