#include "project/generate.h"

#include <algorithm>

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

// Binds the model's devices to what the board has: keys and parts of the template.
void bind_devices(const Board& board, const ProjectModel& model, Values& values) {
  std::string definitions, inline_devices;
  const nlohmann::json parts = board.json.value("parts", nlohmann::json::array());
  const bool second_core = std::find(parts.begin(), parts.end(), "second_core") != parts.end();
  for (const std::string& name : model.devices) {
    if (second_core && definitions.empty()) {
      definitions = fmt::format("SECOND_CORE_DEVICE={} SECOND_CORE_MEASURE=1", name);
      values.parts.insert("second_core");
    } else {
      inline_devices += fmt::format("INLINE_DEVICE({})\n", name);
      values.parts.insert("inline_devices");
    }
  }
  values.keys["device_definitions"] = definitions;
  values.keys["inline_devices"] = inline_devices;
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
  bind_devices(board, model, values);
  auto rendered = render_template({options.kind, options.templates_dir}, board, values, diags);
  if (!rendered) return kFailure;
  for (auto& [path, text] : rendered->files) out.add(path, std::move(text));
  for (const auto& [name, text] : model.files->files) out.add(rendered->model_folder + "/" + name, text);
  if (model.bytes)
    out.add(rendered->model_folder + "/" + model.file_name,
            std::string(model.bytes->begin(), model.bytes->end()));
  if (model.runtime || model.workspace || !model.devices.empty()) {
    add_runtime(rendered->runtime_folder, out);
    // The default binding allocates from a buffer of this size.
    if (model.workspace)
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
