// SPDX-License-Identifier: Apache-2.0
// Generates a firmware project around an archive of operators, and reads the list of operators from the project's
// manifest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mlf/archive.h"
#include "mlf/metadata.h"
#include "project/board.h"
#include "project/description.h"
#include "support/files.h"

namespace aotc::project {

// The archive's file name in a project. TVM's Project API requires this name: the file distinguishes a project from a
// template.
inline constexpr const char* kOperatorsFile = "model.tar";

struct OperatorProject {
  const mlf::Archive* archive = nullptr;
  const std::vector<uint8_t>* bytes = nullptr;  // the archive, unmodified
  std::string file_name;                        // for messages
  // The functions and their parameters. For an archive of style operator, they come from its metadata.
  std::vector<mlf::OperatorInfo> operators;
  TemplateSource source = {"host_driven", ""};
  std::map<std::string, std::string> options;
  std::string licence = {};  // an SPDX expression; empty: 0BSD
};

// Reports [license-form], [operators-none], [operators-registry] and the errors of templates.
Status generate_operator_project(const TemplateDescription& description, const Board& board,
                                 const OperatorProject& project, OutputDirectory& out, Diagnostics& diags);

// The operators that aotc.json lists; empty if it lists none.
std::vector<mlf::OperatorInfo> operators_of_manifest(const nlohmann::json& manifest);

}  // namespace aotc::project
