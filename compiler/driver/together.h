// SPDX-License-Identifier: Apache-2.0
// Together: several models in one C program. Each model is compiled as if it were alone; then all are printed with one
// source and one file of tables. They share one arena, so they run one at a time. Only equal parts are shared, so each
// model computes the same as alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/commands.h"
#include "driver/compilation.h"

namespace aotc::driver {

struct Together {
  std::string prefix;            // prefix of shared names
  std::vector<Compiled> models;  // `c` of each has names but no files
  codegen::ProgramFiles c;
};

// The options for several models.
struct ModelsChoice {
  std::vector<std::string> paths;
  std::vector<std::string> names;  // names of the models, in order; empty: from their files
  bool together = false;
};

// `options` applies to all models; its prefix is the prefix of the program. Reports [option-conflict] for options that
// apply to one model or cannot be shared yet, [model-names] for names that are not distinct, and the errors of
// plan_model.
Result<Together> compile_together(const CompileOptions& options, const ModelsChoice& choice, Diagnostics& diags);

std::string together_text(const Together& t);
nlohmann::ordered_json together_json(const Together& t);

// The commands check and compile for several models; compile writes to `out`, or to the default for the program's
// prefix.
int check_together_command(const CompileOptions& options, const ModelsChoice& choice, const CommonOptions& common);
int compile_together_command(const CompileOptions& options, const ModelsChoice& choice, const std::string& out,
                             bool force, const CommonOptions& common);

}  // namespace aotc::driver
