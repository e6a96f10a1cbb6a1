// SPDX-License-Identifier: Apache-2.0
// Several models in one program: each compiled as if it were alone, printed with one source, one file of tables and one
// arena, in which their runs take turns. The one thing to know: what is shared is what came out equal, so a model
// computes what it computes alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/commands.h"
#include "driver/compilation.h"

namespace aotc::driver {

struct Together {
  std::string prefix;            // of what is shared
  std::vector<Compiled> models;  // their `c` has names and no files
  codegen::ProgramFiles c;
};

// What the command line says of several models.
struct ModelsChoice {
  std::vector<std::string> paths;
  std::vector<std::string> names;  // of each, in order; empty: from their files
  bool together = false;
};

// `options` is for all of them; its prefix is the program's. Reports [option-conflict] for what is said of one model
// or cannot be shared yet, [model-names] for names that are not different, and what plan_model does.
Result<Together> compile_together(const CompileOptions& options, const ModelsChoice& choice, Diagnostics& diags);

std::string together_text(const Together& t);
nlohmann::ordered_json together_json(const Together& t);

// The commands check and compile for several models; compile writes to `out`, or where the program's prefix says.
int check_together_command(const CompileOptions& options, const ModelsChoice& choice, const CommonOptions& common);
int compile_together_command(const CompileOptions& options, const ModelsChoice& choice, const std::string& out,
                             bool force, const CommonOptions& common);

}  // namespace aotc::driver
