#include "project/generate.h"

#include <fmt/format.h>

#include "project/embedded.h"
#include "support/text.h"

namespace aotc::project {

std::string run_command(const Board& board) {
  std::string out;
  for (std::string arg : board.emulator_argv) {
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"{image}", "build/firmware.elf"},
                                     {"{arguments}", ""}}) {
      size_t at = arg.find(key);
      if (at != std::string::npos) arg.replace(at, key.size(), value);
    }
    if (!arg.empty()) out += (out.empty() ? "" : " ") + arg;
  }
  return out;
}

void add_runtime(const std::string& folder, OutputDirectory& out) {
  for (const EmbeddedFile* f : embedded_below("crt/"))
    out.add(fmt::format("{}/{}", folder, f->path.substr(4)), std::string(f->content));
}

namespace {

std::string c_string_literal(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    bool plain = c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '?';
    out += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return out + "\"";
}

}  // namespace

Status generate_project(const Board& board, const ProjectModel& model, const ProjectOptions& options,
                        OutputDirectory& out, Diagnostics& diags) {
  Values values;
  values.options = options.options;
  std::string bytes;
  for (const auto& sample : options.samples)
    for (uint8_t b : sample) bytes += fmt::format("{}{}", bytes.empty() ? "" : bytes.size() % 96 < 4 ? ",\n    " : ",", b);
  std::string labels;
  for (const std::string& label : options.labels) labels += c_string_literal(label) + ", ";
  values.keys = {{"project_name", fmt::format("{}_{}", model.prefix, board.name)},
                 {"run_command", run_command(board)},
                 {"prefix", model.prefix},
                 {"macro_prefix", upper(model.prefix)},
                 {"board", board.name},
                 {"sample_count", std::to_string(options.samples.size())},
                 {"sample_bytes", bytes.empty() ? "0" : bytes},
                 {"labels", labels}};
  auto rendered = render_template({options.kind, options.templates_dir}, board, values, diags);
  if (!rendered) return kFailure;
  for (auto& [path, text] : rendered->files) out.add(path, std::move(text));
  for (const auto& [name, text] : model.files->files) out.add(rendered->model_folder + "/" + name, text);
  if (model.bytes)
    out.add(rendered->model_folder + "/" + model.file_name,
            std::string(model.bytes->begin(), model.bytes->end()));
  if (model.workspace) {
    add_runtime(rendered->runtime_folder, out);
    // The default binding allocates from a buffer of this size.
    out.add(rendered->runtime_folder + "/workspace.cmake",
            fmt::format("add_compile_definitions(TVM_WORKSPACE_SIZE_BYTES={})\n", model.workspace_bytes));
  }
  nlohmann::ordered_json manifest;
  manifest["aotc"] = 1;
  manifest["kind"] = "project";
  manifest["project"] = options.kind;
  manifest["board"] = board.name;
  manifest["prefix"] = model.prefix;
  manifest["model_folder"] = rendered->model_folder;
  manifest["model"] = rendered->model_folder + "/" + model.file_name;
  manifest["configure"] = rendered->build.configure;
  manifest["build"] = rendered->build.build;
  manifest["image"] = rendered->build.image;
  manifest["compile"] = model.description;
  out.add(kManifest, manifest.dump(1) + "\n");
  return success();
}

}  // namespace aotc::project
