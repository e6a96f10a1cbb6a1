// SPDX-License-Identifier: Apache-2.0
// --budget and --objective: searches for the options and schedules with which a model meets limits of RAM, flash and
// time. Every candidate is compiled, so its figures are those of the C that a user gets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"

namespace aotc::driver {

// The figures of one compiled candidate.
struct BudgetFigures {
  int64_t ram = 0;             // bytes: arena or workspace, state, and the inputs and outputs outside the arena
  int64_t flash = 0;           // bytes: constants and the code of the model
  bool code_measured = false;  // false: the code is estimated from its text, because the board's compiler is missing
  int64_t cycles = 0;          // of a run, estimated, with the wait states of the flash if they are known; 0: unknown
  double milliseconds = 0;     // 0: unknown, because no board with a clock is named
};

// How the result of a search was found. Stored in Compiled::budget.
struct BudgetResult {
  std::string limits;  // as the user wrote them
  BudgetFigures figures;
  int64_t tried = 0;      // candidates that were compiled
  int64_t schedules = 0;  // operators with a schedule that the search chose
};

// True if the options ask for a search.
bool has_budget(const CompileOptions& options);

// Compiles the candidate that meets all limits and is best by the objective. In its options, the search has replaced
// -O, --prefer, --stream and --stream-most, if they had their defaults, and the schedules. The result depends only on
// the options, not on the speed of this machine. Reports [budget-invalid], [over-budget] with the closest candidate and
// limits that can be met, and the errors of compile_model.
Result<Compiled> compile_in_budget(const CompileOptions& options, Diagnostics& diags);

// "RAM 5,534 bytes, flash 60,210 bytes, 12.3 ms".
std::string budget_text(const BudgetFigures& figures);
// "schedules of 2 operators".
std::string schedules_text(int64_t operators);
nlohmann::ordered_json budget_json(const BudgetResult& result);

}  // namespace aotc::driver
