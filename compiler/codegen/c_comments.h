// SPDX-License-Identifier: Apache-2.0
// Prints the comment above each function of the emitted C: the calls of the function, their operands and results, and
// the schedule (algorithm and parameters) of its code.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

class FunctionComments {
 public:
  // `names` contains the struct fields of the model's inputs and outputs.
  FunctionComments(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names)
      : program_(program), options_(options), names_(names) {}

  // Lines that begin with " * ". They list the calls of `f`, then the properties that all these calls share.
  std::string of(const plan::ProgramFunction& f) const;

 private:
  static std::string schedule_of(const plan::ProgramCall& call, const char* indent);
  // The locations of a call's operands and results: "arena + 0 -> arena + 8000".
  std::string places(const plan::ProgramCall& call) const;
  std::string place(const plan::Storage& s) const;
  std::string io_description(const plan::ProgramCall& call, const char* indent) const;

  const plan::Program& program_;
  const CodegenOptions& options_;
  const ModelFiles& names_;
};

}  // namespace aotc::codegen
