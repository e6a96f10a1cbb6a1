// SPDX-License-Identifier: Apache-2.0
// create, for the kinds of projects that serve operators: from an archive instead of a model.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/operator_bench.h"
#include "project/generate.h"
#include "project/operators.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"

namespace aotc::driver {

Status write_operator_project(const std::string& archive_path, const std::string& board_name,
                              const ProjectChoice& choice, OutputDirectory& out, Diagnostics& diags) {
  const project::TemplateSource source{choice.kind, choice.templates_dir};
  auto description = project::read_description(source, diags);
  if (!description) return kFailure;
  auto board = project::find_board(board_name, diags);
  auto bytes = read_file(archive_path, diags, mlf::kMaxBytes);
  if (!board || !bytes) return kFailure;
  auto archive = mlf::read_archive_bytes(*bytes, archive_path, diags);
  if (!archive) return kFailure;
  CompileOptions options;
  options.model_path = archive_path;
  auto operators = archive_operators(*archive, options, 0, diags);
  if (!operators) return kFailure;
  project::OperatorProject project;
  project.archive = &*archive;
  project.bytes = &*bytes;
  project.operators = infos_of(*operators);
  project.file_name = archive_path;
  project.source = source;
  project.options = choice.options;
  project.licence = choice.licence;
  if (!project::generate_operator_project(*description, *board, project, out, diags)) return kFailure;
  return out.commit(diags);
}

int create_operators_command(const std::string& archive_path, const std::string& board_name,
                             const ProjectChoice& choice, const std::string& out, bool force,
                             const CommonOptions& common) {
  Diagnostics diags;
  if (board_name.empty()) {
    Location where;
    where.file = archive_path;
    diags.error(where, "board-missing", "no board is given for the project")
        .help("pass --board NAME; 'aotc boards' lists the boards");
    return fail(diags, kExitUsage);
  }
  OutputDirectory directory(out.empty() ? "operators_app" : out, project::kManifest, force);
  if (!write_operator_project(archive_path, board_name, choice, directory, diags)) return fail(diags);
  print_diagnostics(diags);
  if (common.json) {
    nlohmann::ordered_json j;
    j["project"] = directory.path();
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  print_out("wrote {}/ ({} files)\nnext: aotc build {} && aotc rpc list {}\n", directory.path(),
            directory.names().size(), directory.path(), directory.path());
  return kExitDone;
}

}  // namespace aotc::driver
