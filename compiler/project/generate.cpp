// SPDX-License-Identifier: Apache-2.0
#include "project/generate.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_function.h"
#include "project/embedded.h"
#include "project/template.h"
#include "support/crc32.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::project {

std::string run_command(const Board& board) {
  std::string out;
  for (const std::string& word : board.emulator_argv) {
    const std::string arg = filled_in(word, {{"{image}", "build/firmware.elf"}, {"{arguments}", ""}});
    if (!arg.empty()) out += (out.empty() ? "" : " ") + arg;
  }
  return out;
}

void add_runtime(const std::string& folder, const std::string& licence, OutputDirectory& out) {
  const std::vector<std::string> there = out.names();  // a template may have some of it
  for (const EmbeddedFile* f : embedded_below("crt/"))
    if (std::string name = fmt::format("{}{}", folder, f->path.substr(4));
        std::find(there.begin(), there.end(), name) == there.end())
      out.add(name, with_licence(std::string(f->content), licence));
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
  const nlohmann::json parts = board.description->value("parts", nlohmann::json::array());
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

// How an input is fed that is never there as a whole; the demo runs it.
void choose_example(const ProjectModel& model, Values& values) {
  const bool fed = std::find(model.needs.begin(), model.needs.end(), "rows") != model.needs.end();
  values.keys["demo_call"] =
      fed ? fmt::format("{0}_demo_with({0}_feed_demo)", model.prefix) : fmt::format("{}_demo()", model.prefix);
  if (fed) values.examples.insert(model.description.value("stream", "") == "time" ? "frames" : "rows");
}

std::string sample_text(const std::vector<std::vector<uint8_t>>& samples) {
  std::string out;
  for (const auto& sample : samples)
    for (uint8_t b : sample) out += fmt::format("{}{}", out.empty() ? "" : out.size() % 96 < 4 ? ",\n    " : ",", b);
  return out.empty() ? "0" : out;
}

std::string check_text(const std::vector<LayerCheck>& checks) {
  std::string out;
  for (const LayerCheck& c : checks)
    out += fmt::format("{}    {{{}, {}, {}u, 0x{:08X}u, {}, {}}},", out.empty() ? "" : "\n", c.call, c.result, c.bytes,
                       c.checksum, codegen::c_float(c.sum, DType::kF32),
                       c.floating ? codegen::c_float(c.tolerance, DType::kF32) : "-1.0f");
  return out;
}

// Each name ends with a null of its own.
std::string names_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names)
    out += fmt::format("{}    {}", out.empty() ? "" : "\n", c_string_literal(name + '\0'));
  return out;
}

// PREFIX_PLACE_pool: the section of a memory of the same name if the framework has one for it, else
// nothing; or what the project defines.
std::string places_text(const Board& board, const std::string& framework, const ProjectModel& model) {
  std::string out;
  for (const std::string& pool : model.pools) {
    std::string place;
    for (const Memory& m : board.memories)
      if (auto it = m.arena_sections.find(framework); it != m.arena_sections.end() && m.lower_name() == pool)
        place = fmt::format(" __attribute__((section(\"{}\")))", it->second);
    out += fmt::format("#ifndef {0}_PLACE_{1}\n#define {0}_PLACE_{1}{2}\n#endif\n", upper(model.prefix), pool, place);
  }
  return out;
}

// A pool that is called like a memory of the board lies in it.
std::string pool_sections_text(const Board& board, const ProjectModel& model) {
  std::string out;
  for (const std::string& pool : model.pools) {
    std::string section = ".bss.arena";
    for (const Memory& m : board.memories)
      if (auto it = m.arena_sections.find("bare_metal"); it != m.arena_sections.end() && m.lower_name() == pool)
        section = it->second;
    out += fmt::format("#define SECTION_OF_MODEL_{} \"{}\"\n", pool, section);
  }
  return out;
}

// Bytes of stack for a thread of an operating system that runs the model and prints what comes out:
// printf-like functions and what the system itself puts there.
int64_t thread_stack(int64_t model_stack) {
  constexpr int64_t kPrinting = 1536, kUnit = 256;
  return (model_stack + kPrinting + kUnit - 1) / kUnit * kUnit;
}

// What an operating system that protects memory gives a thread: arena, inputs, outputs and state.
// Where its regions are powers of two (Arm's of v6-M and v7-M), the next one is what they take.
void add_sizes(const ProjectModel& model, Values& values) {
  // A project that only verifies, and then goes, has none.
  const nlohmann::ordered_json summary = model.summary.is_object() ? model.summary : nlohmann::ordered_json::object();
  auto number = [&](const char* name) { return summary.value(name, int64_t{0}); };
  const int64_t shared = model.arena_bytes + number("state_bytes") +
                         (summary.value("input_in_arena", false) ? 0 : number("input_bytes")) +
                         (summary.value("output_in_arena", false) ? 0 : number("output_bytes"));
  int64_t region = 32;
  while (region < shared) region *= 2;
  auto kilobytes = [](int64_t bytes) { return std::to_string((bytes + 1023) / 1024); };
  // With what the system and the demo take around it, rounded up: boards that have less are not tried.
  constexpr int64_t kSystemRam = 8 << 10, kSystemFlash = 64 << 10;
  values.keys["shared_bytes"] = std::to_string(shared);
  values.keys["region_bytes"] = std::to_string(region);
  values.keys["min_ram"] = kilobytes(shared + thread_stack(model.stack_bytes) + kSystemRam);
  values.keys["min_flash"] = kilobytes(number("constants_bytes") + number("input_bytes") * 2 + kSystemFlash);
}

// A C library that leaves mathematics out, as small ones do, is not enough.
bool needs_math(const codegen::ModelFiles& files) {
  return std::any_of(files.files.begin(), files.files.end(),
                     [](const auto& file) { return file.second.find("#include <math.h>") != std::string::npos; });
}

// What firmware says that it is, so that a host knows whether a board has that of a project.
uint32_t firmware_id(const Board& board, const ProjectModel& model) {
  auto add = [](const std::string& text, uint32_t before) {
    return crc32({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, before);
  };
  uint32_t id = add(board.name, 0);
  for (const auto& [name, text] : model.files->files) id = add(text, add(name, id));
  return id;
}

// A sentence with the board's names in Zephyr: names changed with 3.7 and some with 4.0, and some boards came later.
std::string zephyr_names(const Board& board) {
  const auto name = [&](const char* field) { return board.field(std::string("frameworks.zephyr.") + field); };
  if (name("board").empty()) return "";
  if (const std::string since = name("since"); !since.empty())
    return fmt::format("Zephyr has this board since version {}. With earlier versions, choose another board with `-b`.",
                       since);
  if (const std::string between = name("board_3_7"); !between.empty())
    return fmt::format("Zephyr 3.7 calls this board `{}`; Zephyr 4.0 and later call it `{}`.", between,
                       name("board_v2"));
  if (name("board") == name("board_v2"))
    return fmt::format("All versions of Zephyr call this board `{}`.", name("board"));
  return fmt::format("Zephyr 3.7 and later call this board `{}`.", name("board_v2"));
}

Values values_of(const TemplateDescription& description, const Board& board, const ProjectModel& model,
                 const ProjectOptions& options) {
  Values values;
  values.options = options.options;
  std::string labels;
  for (const std::string& label : options.labels) labels += c_string_literal(label) + ", ";
  values.keys = {{"project_name", fmt::format("{}_{}", model.prefix, board.name)},
                 {"run_command", run_command(board)},
                 {"prefix", model.prefix},
                 {"macro_prefix", upper(model.prefix)},
                 {"camel_prefix", camel_case(model.prefix)},
                 {"dashed_prefix", dashed(model.prefix)},
                 {"rust_interface", model.rust_interface},
                 {"model_title", model.title},
                 {"version", model.version},
                 {"board", board.name},
                 {"zephyr_names", zephyr_names(board)},
                 {"arena_bytes", std::to_string(model.arena_bytes)},
                 {"model_stack", std::to_string(model.stack_bytes)},
                 {"thread_stack", std::to_string(thread_stack(model.stack_bytes))},
                 {"pool_places",  // PlatformIO's projects are for the Arduino core
                  places_text(board, description.framework == "platformio" ? "arduino" : description.framework, model)},
                 {"pool_sections", pool_sections_text(board, model)},
                 {"tables_section", model.tables_section},
                 {"sample_count", std::to_string(options.samples.size())},
                 {"sample_bytes", sample_text(options.samples)},
                 {"layer_count", std::to_string(model.layer_names.size())},
                 {"layer_names", names_text(model.layer_names)},
                 {"check_count", std::to_string(model.checks.size())},
                 {"layer_checks", check_text(model.checks)},
                 {"labels", labels},
                 {"label_names", options.labels.empty() ? "    \"\"" : names_text(options.labels)},
                 {"label_count", std::to_string(options.labels.size())},
                 {"needs_math", needs_math(*model.files) ? "y" : "n"}};
  values.keys["firmware_id"] = fmt::format("0x{:08X}u", firmware_id(board, model));
  values.model["arena_memory"] = model.arena_memory.empty() ? board.field("placement.arena") : model.arena_memory;
  bind_devices(board, model, values);
  choose_example(model, values);
  add_licence_values(options.licence, values);
  add_sizes(model, values);
  add_arduino_values(board, camel_case(model.prefix), options.folder, values);
  return values;
}

Status check_needs(const TemplateDescription& t, const ProjectModel& model, Diagnostics& diags) {
  for (const std::string& need : model.needs) {
    if (std::find(t.models.begin(), t.models.end(), need) != t.models.end()) continue;
    Location where;
    where.file = "template " + t.kind;
    diags
        .error(where, "template-model",
               fmt::format("a project of this kind does not support a model compiled with {}",
                           need == "registry" || need == "packed" ? "--calling-convention " + need
                           : need == "workspace"                  ? "--memory workspace"
                           : need == "devices"                    ? "devices"
                           : need == "interface"                  ? "--interface tvm"
                           : need == "operators"                  ? "--operators"
                                                                  : "--pool"))
        .help("compile the model without this option, or use --project bare-metal");
    return kFailure;
  }
  return success();
}

}  // namespace

// The model's C may not take the place of a file of the template: both would have one name.
static Status add_emitted(const ProjectModel& model, const std::string& kind, const std::string& folder,
                          const std::string& licence, OutputDirectory& out, Diagnostics& diags) {
  const std::vector<std::string> taken = out.names();
  for (const auto& [name, text] : model.files->files) {
    if (std::find(taken.begin(), taken.end(), folder + name) == taken.end()) {
      // C of the user's operators has the licence that its author gave it.
      out.add(folder + name, name.starts_with("operators/") ? text : with_licence(text, licence));
      continue;
    }
    Location where;
    where.file = "template " + kind;
    diags
        .error(where, "template-key",
               fmt::format("two files have the name '{}': one of the model and one of the project", folder + name))
        .help("choose another prefix with --prefix, or another name with --project-option");
    return kFailure;
  }
  return success();
}

// What the model's constants are in lies beside it in the project as well.
static Status add_model_files(const ProjectModel& model, const std::string& folder, OutputDirectory& out,
                              Diagnostics& diags) {
  if (model.beside == nullptr) return success();
  const std::vector<std::string> taken = out.names();
  for (const auto& [name, bytes] : *model.beside) {
    if (std::find(taken.begin(), taken.end(), folder + name) != taken.end()) {
      Location where;
      where.file = model.title;
      diags
          .error(where, "onnx-external",
                 fmt::format("the data file '{}' of the model has the same name as a file of the project", name))
          .help("export the model again with another name for its data, or as one file");
      return kFailure;
    }
    out.add(folder + name, std::string(bytes.begin(), bytes.end()));
  }
  return success();
}

nlohmann::ordered_json project_manifest(const TemplateDescription& description, const Board& board,
                                        const std::string& prefix, const Rendered& rendered) {
  nlohmann::ordered_json manifest;
  manifest["aotc"] = 1;
  manifest["format_version"] = kFormatVersion;
  manifest["kind"] = "project";
  manifest["project"] = description.kind;
  manifest["board"] = board.name;
  if (board.own) manifest["board_description"] = *board.description;
  manifest["prefix"] = prefix;
  manifest["model_folder"] = rendered.model_folder;
  if (!rendered.configure.empty()) manifest["configure"] = rendered.configure;
  if (!rendered.build.empty()) manifest["build"] = rendered.build;
  if (!rendered.flash.empty()) manifest["flash"] = rendered.flash;
  if (!rendered.flash.empty() && !rendered.flash_port.empty()) manifest["flash_port"] = rendered.flash_port;
  if (!rendered.image.empty()) manifest["image"] = rendered.image;
  if (description.stand_in && board.stand_in) manifest["stand_in"] = true;
  manifest["verify"] = description.verify;
  if (rendered.semihosting) manifest["semihosting"] = true;
  manifest["tool"] = description.tool;
  if (!description.install.empty()) manifest["install"] = description.install;
  return manifest;
}

Status generate_project(const TemplateDescription& description, const Board& board, const ProjectModel& model,
                        const ProjectOptions& options, OutputDirectory& out, Diagnostics& diags) {
  if (!check_licence(options.licence, diags) || !check_needs(description, model, diags)) return kFailure;
  Values values = values_of(description, board, model, options);
  if (!place_arduino_arena(description, board, upper(model.prefix), values, diags)) return kFailure;
  if (model.graph && !choose_benchmark(description, *model.graph, values, diags)) return kFailure;
  auto rendered = render_template(options.source, description, board, values, diags);
  if (!rendered) return kFailure;
  for (auto& [path, text] : rendered->files) out.add(path, with_licence(std::move(text), options.licence));
  if (!add_emitted(model, description.kind, rendered->model_folder, options.licence, out, diags)) return kFailure;
  nlohmann::ordered_json manifest = project_manifest(description, board, model.prefix, *rendered);
  if (description.verify) manifest["firmware_id"] = firmware_id(board, model);
  if (model.bytes && rendered->model_file) {
    manifest["model"] = rendered->model_folder + model.file_name;
    out.add(manifest["model"], std::string(model.bytes->begin(), model.bytes->end()));
    if (!add_model_files(model, rendered->model_folder, out, diags)) return kFailure;
  }
  if (model.runtime || model.workspace || !model.devices.empty()) {
    add_runtime(rendered->runtime_folder, options.licence, out);
    // The default binding allocates from a buffer of this size.
    if (model.workspace)
      out.add(rendered->runtime_folder + "workspace.cmake",
              with_licence(fmt::format("# SPDX-License-Identifier: 0BSD\n"
                                       "add_compile_definitions(TVM_WORKSPACE_SIZE_BYTES={})\n",
                                       model.workspace_bytes),
                           options.licence));
  }
  if (!options.licence.empty()) manifest["license"] = options.licence;
  manifest["compile"] = model.description;
  if (!model.summary.is_null()) manifest["summary"] = model.summary;
  out.add(kManifest, json_text(manifest, 1) + "\n");
  return success();
}

}  // namespace aotc::project
