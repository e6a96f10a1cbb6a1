// SPDX-License-Identifier: Apache-2.0
// Firmware around an archive of operators: the project, and what it remembers of them.
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

// As TVM calls it: by this file its Project API knows a project from a template.
inline constexpr const char* kOperatorsFile = "model.tar";

struct OperatorProject {
  const mlf::Archive* archive = nullptr;
  const std::vector<uint8_t>* bytes = nullptr;  // the archive as it is in the file
  std::string file_name;                        // for messages
  // What the functions take; those of the archive's metadata, if it is of style operator.
  std::vector<mlf::OperatorInfo> operators;
  TemplateSource source = {"host_driven", ""};
  std::map<std::string, std::string> options;
  std::string licence = {};  // an SPDX expression; empty: 0BSD
};

// Reports [license-form], [operators-none], [operators-registry] and what templates report.
Status generate_operator_project(const TemplateDescription& description, const Board& board, const OperatorProject& project,
                                 OutputDirectory& out, Diagnostics& diags);

// The operators that aotc.json lists; empty if it lists none.
std::vector<mlf::OperatorInfo> operators_of_manifest(const nlohmann::json& manifest);

}  // namespace aotc::project
