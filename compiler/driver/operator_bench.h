// SPDX-License-Identifier: Apache-2.0
// Prepares a bench: the functions to run on a device, the values of their parameters, their origin and their estimated
// cost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "mlf/archive.h"
#include "mlf/metadata.h"
#include "rpc/session.h"

namespace aotc::driver {

struct BenchParameter {
  std::string name, dtype;
  rpc::TensorType type;
  std::vector<uint8_t> value;  // empty: zeros
  bool result = false;
};

struct BenchOperator {
  std::string name;
  std::string title;     // a description for people
  std::vector<int> ops;  // operators of the model's file that it serves
  std::vector<BenchParameter> parameters;
  int64_t macs = 0;                     // of one call; 0: unknown or none
  double instructions = 0, cycles = 0;  // the cost model's estimate; 0: none
  tir::FunctionPtr function;            // its definition in TIR; null if only the device has it
};

struct Bench {
  mlf::Archive archive;  // with the functions' code
  std::vector<BenchOperator> operators;
};

// The operators of a model that aotc compiles, of an archive of style operator, or of an archive of the graph executor
// with its own code. Reports the errors of compiling and of reading archives, and [bench-tables].
Result<Bench> prepare_bench(const CompileOptions& options, uint64_t seed, Diagnostics& diags);

// Functions and parameters of an archive of either kind, without its tables; the options' model_path is the archive's.
Result<std::vector<BenchOperator>> archive_operators(const mlf::Archive& archive, const CompileOptions& options,
                                                     uint64_t seed, Diagnostics& diags);

// Converts the operators to the form in which projects store them.
std::vector<mlf::OperatorInfo> infos_of(const std::vector<BenchOperator>& operators);

// The expected results by parameter, interpreted from the function's TIR; empty if there is none. Reports [tir-trap].
Result<std::vector<std::vector<uint8_t>>> expected_results(const BenchOperator& op, Diagnostics& diags);

}  // namespace aotc::driver
