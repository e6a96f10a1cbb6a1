// SPDX-License-Identifier: Apache-2.0
// What bench runs on a device: functions with the values of their parameters, where they come from,
// and what they are expected to take.
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
  std::string title;     // what it computes, for people
  std::vector<int> ops;  // operators of the model's file that it serves
  std::vector<BenchParameter> parameters;
  int64_t macs = 0;                     // of one call; 0: not known, or none
  double instructions = 0, cycles = 0;  // the cost model's estimate; 0: none
  tir::FunctionPtr function;            // its meaning; null if only the device knows
};

struct Bench {
  mlf::Archive archive;  // with the functions' code
  std::vector<BenchOperator> operators;
};

// The operators of a model that aotc compiles, of an archive of style operator, or of an archive of
// the graph executor, with its own code. Reports what compiling and reading archives report, and
// [bench-tables].
Result<Bench> prepare_bench(const CompileOptions& options, uint64_t seed, Diagnostics& diags);

// Functions and parameters of an archive of either kind, its tables not looked at; the model_path
// of the options is the archive's.
Result<std::vector<BenchOperator>> archive_operators(const mlf::Archive& archive,
                                                     const CompileOptions& options, uint64_t seed,
                                                     Diagnostics& diags);

// As a project keeps them.
std::vector<mlf::OperatorInfo> infos_of(const std::vector<BenchOperator>& operators);

// What the results are, by parameter, according to the function's meaning; empty if there is none.
// Reports [tir-trap].
Result<std::vector<std::vector<uint8_t>>> expected_results(const BenchOperator& op,
                                                           Diagnostics& diags);

}  // namespace aotc::driver
