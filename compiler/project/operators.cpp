// SPDX-License-Identifier: Apache-2.0
#include "project/operators.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "project/generate.h"
#include "project/template.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::project {

namespace {

constexpr int64_t kTensorAlignment = 16;
// Of operators that allocate while they run and do not say how much.
constexpr int64_t kWorkspaceBytes = 64 * 1024;
// Of each allocation a few bytes more are taken than asked for.
constexpr int64_t kWorkspaceSlack = 1024;
constexpr int64_t kSmallestPool = 4096;

int64_t rounded(int64_t bytes) { return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment; }

// What the sizes of the firmware follow from.
struct Needs {
  int64_t pool = kSmallestPool, workspace = 0;
  size_t parameters = 10, dims = 6;  // the runtime's own defaults, at least
};

bool mentions(const mlf::Archive& archive, std::string_view symbol) {
  return std::any_of(archive.files.begin(), archive.files.end(), [&](const auto& file) {
    std::string_view text(reinterpret_cast<const char*>(file.second.data()), file.second.size());
    return file.first.starts_with("codegen/host/") && text.find(symbol) != std::string_view::npos;
  });
}

Needs needs_of(const std::vector<mlf::OperatorInfo>& operators, const mlf::Archive& archive) {
  Needs needs;
  for (const mlf::OperatorInfo& op : operators) {
    int64_t bytes = 0;
    for (const mlf::OperatorParameter& p : op.parameters) {
      bytes += rounded(p.bytes);
      needs.dims = std::max(needs.dims, p.shape.size());
    }
    needs.pool = std::max(needs.pool, bytes);
    needs.parameters = std::max(needs.parameters, op.parameters.size());
  }
  if (mentions(archive, "TVMBackendAllocWorkspace")) needs.workspace = kWorkspaceBytes;
  for (const mlf::ModuleInfo& module : mlf::modules_of(archive))
    for (const mlf::FunctionWorkspace& f : module.functions)
      needs.workspace = std::max(needs.workspace, rounded(f.bytes) + kWorkspaceSlack);
  return needs;
}

nlohmann::ordered_json json_of(const std::vector<mlf::OperatorInfo>& operators) {
  auto out = nlohmann::ordered_json::array();
  for (const mlf::OperatorInfo& op : operators) {
    auto parameters = nlohmann::ordered_json::array();
    for (const mlf::OperatorParameter& p : op.parameters)
      parameters.push_back({{"name", p.binding}, {"dtype", p.dtype}, {"shape", p.shape}, {"bytes", p.bytes}});
    out.push_back({{"name", op.name}, {"parameters", parameters}});
  }
  return out;
}

Status check(const OperatorProject& project, Diagnostics& diags) {
  Location where;
  where.file = project.file_name;
  if (project.operators.empty()) {
    diags.error(where, "operators-none", "the archive has no operators")
        .help("write an archive with operators: 'aotc compile MODEL --style operator'");
    return kFailure;
  }
  if (!mentions(*project.archive, "TVMSystemLibEntryPoint")) {
    diags
        .error(where, "operators-registry",
               "the archive has no registry of its functions, so firmware cannot call them")
        .help("build the archive with a system library (TVM: runtime \"crt\" with \"system-lib\")");
    return kFailure;
  }
  return success();
}

}  // namespace

Status generate_operator_project(const TemplateDescription& description, const Board& board,
                                 const OperatorProject& project, OutputDirectory& out, Diagnostics& diags) {
  const std::vector<mlf::OperatorInfo>& operators = project.operators;
  if (!check_licence(project.licence, diags) || !check(project, diags)) return kFailure;
  const Needs needs = needs_of(operators, *project.archive);
  const std::string name = c_identifier(project.archive->metadata.value("model_name", ""), "operators");
  Values values;
  values.options = project.options;
  values.model = {{"pool", std::to_string(needs.pool)}, {"workspace", std::to_string(needs.workspace)}};
  values.keys = {{"project_name", fmt::format("{}_{}", name, board.name)},
                 {"run_command", run_command(board)},
                 {"board", board.name},
                 {"max_args", std::to_string(needs.parameters)},
                 {"max_dims", std::to_string(needs.dims)},
                 {"max_tensors", std::to_string(std::max<size_t>(16, needs.parameters))}};
  add_licence_values(project.licence, values);
  auto rendered = render_template(project.source, description, board, values, diags);
  if (!rendered) return kFailure;
  for (auto& [path, text] : rendered->files) out.add(path, with_licence(std::move(text), project.licence));
  for (const auto& [path, bytes] : project.archive->files)
    out.add(rendered->model_folder + path, std::string(bytes.begin(), bytes.end()));
  if (project.bytes) out.add(kOperatorsFile, std::string(project.bytes->begin(), project.bytes->end()));
  add_runtime(rendered->runtime_folder, project.licence, out);
  nlohmann::ordered_json manifest = project_manifest(description, board, name, *rendered);
  manifest["model"] = kOperatorsFile;
  if (!project.licence.empty()) manifest["license"] = project.licence;
  manifest["compile"] = nlohmann::ordered_json::object();
  manifest["operators"] = json_of(operators);
  out.add(kManifest, json_text(manifest, 1) + "\n");
  return success();
}

std::vector<mlf::OperatorInfo> operators_of_manifest(const nlohmann::json& manifest) {
  std::vector<mlf::OperatorInfo> out;
  try {
    for (const auto& op : manifest.value("operators", nlohmann::json::array())) {
      mlf::OperatorInfo info;
      info.name = op.at("name");
      for (const auto& p : op.at("parameters"))
        info.parameters.push_back({p.at("name"), p.at("dtype"), p.at("shape"), p.at("bytes")});
      out.push_back(std::move(info));
    }
  } catch (const nlohmann::json::exception&) {
    return {};  // edited by hand: as if there were none
  }
  return out;
}

}  // namespace aotc::project
