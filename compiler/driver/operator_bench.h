// SPDX-License-Identifier: Apache-2.0
// Prepares a benchmark of operators: the functions to run on a device, the values of their parameters, their origin and
// their estimated cost.
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
  std::vector<int> ops;  // indices in the model's file of the operators that call it
  std::vector<BenchParameter> parameters;
  int64_t macs = 0;                     // multiply-accumulates of one call; 0: unknown or none
  double instructions = 0, cycles = 0;  // the cost model's estimate; 0: none
  tir::FunctionPtr function;            // its definition in TIR (loop-level code); null if unknown
};

struct Bench {
  mlf::Archive archive;  // contains the functions' code
  std::vector<BenchOperator> operators;
};

// The operators of options.model_path: a model that aotc compiles, an archive of style operator, or an archive of the
// graph executor that contains its own code. Reports the errors of compiling and of reading archives, and
// [bench-tables].
Result<Bench> prepare_bench(const CompileOptions& options, uint64_t seed, Diagnostics& diags);

// The functions and parameters of an archive of either kind, without its tables. options.model_path must be the path of
// the archive.
Result<std::vector<BenchOperator>> archive_operators(const mlf::Archive& archive, const CompileOptions& options,
                                                     uint64_t seed, Diagnostics& diags);

// Converts the operators to the form in which projects store them.
std::vector<mlf::OperatorInfo> infos_of(const std::vector<BenchOperator>& operators);

// The expected value of each parameter after a call, computed by interpreting op.function; empty if that is null.
// Reports [tir-trap].
Result<std::vector<std::vector<uint8_t>>> expected_results(const BenchOperator& op, Diagnostics& diags);

}  // namespace aotc::driver
