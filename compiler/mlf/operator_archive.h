// SPDX-License-Identifier: Apache-2.0
// Exports the operators of a graph as an archive of style "operator". An entry is named after its lowering (its
// translation into loops) and a hash of the structure of these loops. So operators that differ only in the contents of
// their tables have the same name, text and code in every model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/c_operators.h"
#include "graph/graph.h"
#include "ops/lowering.h"
#include "passes/devices.h"
#include "support/diagnostics.h"

namespace aotc::mlf {

struct OperatorEntry {
  std::string name;           // "conv_2d_0123456789abcdef"
  tir::FunctionPtr function;  // named `name`; parameters have the same names as in its text
  int device = 0;             // index into the devices; the host is first
  std::vector<int> ops;       // indices into graph.ops of the operators that call it
};

// The name of an entry: the lowering's name and a hash of its structure.
std::string entry_name(const tir::Function& lowered);

struct OperatorChoice {
  ops::TargetInfo target;
  ops::Schedules schedules;
  // Each element: an operator's index in the model's file, its type ("conv_2d", "CONV_2D") or the name of an entry.
  // Empty: all.
  std::vector<std::string> wanted;
};

// The distinct operators of a graph after the passes: the host's first, else in the graph's order. Views and operators
// given in C have no entry. Reports [op-unknown] and [op-none].
Result<std::vector<OperatorEntry>> collect_operators(const graph::Graph& graph, const OperatorChoice& choice,
                                                     const std::vector<passes::Device>& devices, Diagnostics& diags);

struct OperatorArchive {
  std::string name;                  // model_name
  std::vector<std::string> targets;  // as in FullModel
  int64_t date = 0;
  KernelForm kernels = KernelForm::kAssembly;
  std::string version;  // version of aotc
};

// Path in the archive -> content, metadata.json included. Reports [mlf-too-many].
Result<std::map<std::string, std::string>> operator_files(const std::vector<OperatorEntry>& entries,
                                                          const std::vector<passes::Device>& devices,
                                                          const OperatorArchive& archive, Diagnostics& diags);

// Parses the functions of a src/tir-N.txt that aotc wrote, in order.
Result<std::vector<tir::FunctionPtr>> parse_operators(const std::string& text, const std::string& file,
                                                      Diagnostics& diags);

}  // namespace aotc::mlf
