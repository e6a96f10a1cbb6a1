// SPDX-License-Identifier: Apache-2.0
#include "driver/project_dir.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "driver/compile_options.h"
#include "driver/schedules.h"
#include "frontends/foreign.h"
#include "options/options.h"
#include "project/generate.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

std::string hex_of(const std::vector<uint8_t>& bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

// Anything that is no digit counts as 0: a value of the wrong size is refused where it is used.
std::vector<uint8_t> bytes_of_hex(const std::string& text) {
  auto digit = [](char c) {
    size_t at = std::string_view("0123456789abcdef").find(c);
    return at == std::string_view::npos ? 0u : static_cast<unsigned>(at);
  };
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
  return out;
}

}  // namespace

bool is_project(const std::string& path) {
  std::error_code ec;
  return fs::is_directory(path, ec) && !frontends::recognise_foreign_folder(path);
}

nlohmann::ordered_json describe_compile(const CompileOptions& options) {
  CompileOptions bound = options;
  nlohmann::ordered_json j = options::stored_values(stored_groups(bound));
  j["operators"] = options.kept_operators;
  j["state_values"] = nlohmann::ordered_json::object();
  for (const auto& [text, bytes] : options.initial_values) j["state_values"][text] = hex_of(bytes);
  j["devices"] = options.devices_text;
  j["schedules"] = schedules_json(options.schedules);
  if (options.arrangement) j["arrangement"] = to_json(*options.arrangement);
  return j;
}

nlohmann::ordered_json begin_manifest(const char* kind, const std::string& prefix, const CompileOptions& options) {
  return {{"aotc", 1},
          {"format_version", project::kFormatVersion},
          {"kind", kind},
          {"prefix", prefix},
          {"compile", describe_compile(options)}};
}

// The schedules and the arrangement that a manifest's "compile" holds; a failure if it holds something else.
static Result<ScheduleFile> schedules_of(const nlohmann::json& compile) {
  Diagnostics said_by_the_caller;
  nlohmann::json file;
  file["calls"] = compile.value("schedules", nlohmann::json::array());
  if (compile.contains("arrangement")) file["arrangement"] = compile["arrangement"];
  return parse_schedules(json_text(file), project::kManifest, said_by_the_caller);
}

CompileOptions ProjectDir::compile_options() const {
  CompileOptions o;
  o.model_path = path + "/" + manifest.value("model", "");
  o.prefix = manifest.value("prefix", "");
  o.board_name = manifest.value("board", "");
  const auto& c = manifest["compile"];
  (void)options::restore_values(stored_groups(o), c);  // see is_description
  for (const std::string& name : c.value("operators", std::vector<std::string>()))
    o.operators.push_back(path + "/" + manifest.value("model_folder", "") + name);
  const nlohmann::json values = c.value("state_values", nlohmann::json::object());
  for (const auto& [text, hex] : values.items()) o.initial_values[text] = bytes_of_hex(hex.get<std::string>());
  o.devices_text = c.value("devices", "");
  if (!o.devices_text.empty()) o.devices_path = path + "/" + project::kManifest;
  if (auto schedules = schedules_of(c)) {
    o.schedules = std::move(schedules->operators);
    o.arrangement = std::move(schedules->arrangement);
  }
  return o;
}

bool is_description(const nlohmann::json& compile) {
  CompileOptions unused;
  if (!compile.is_object() || !options::restore_values(stored_groups(unused), compile)) return false;
  const nlohmann::json values = compile.value("state_values", nlohmann::json::object());
  if (!values.is_object()) return false;
  for (const auto& [text, hex] : values.items())
    if (!hex.is_string()) return false;
  if (compile.contains("devices") && !compile["devices"].is_string()) return false;
  const nlohmann::json operators = compile.value("operators", nlohmann::json::array());
  if (!operators.is_array()) return false;
  for (const auto& name : operators)
    if (!name.is_string()) return false;
  return schedules_of(compile).ok();
}

namespace {

// Everything that is read from aotc.json later is there, with the right types.
bool is_complete(const nlohmann::json& manifest) {
  if (!manifest.is_object()) return false;
  for (const char* key : {"board", "prefix"})
    if (!manifest.contains(key)) return false;
  for (const char* key : {"verify", "stand_in", "semihosting"})
    if (manifest.contains(key) && !manifest[key].is_boolean()) return false;
  if (manifest.contains("firmware_id") && !manifest["firmware_id"].is_number_unsigned()) return false;
  if (manifest.value("stand_in", false) && !(manifest.contains("configure") && manifest.contains("build")))
    return false;
  if (manifest.contains("tool") && !manifest["tool"].is_string()) return false;
  // Some kinds keep no model, some are not built by aotc; what can be verified has everything.
  for (const char* key : {"model", "image", "configure", "build"})
    if (manifest.value("verify", true) && !manifest.contains(key)) return false;
  for (const char* key : {"board", "prefix", "model", "image"}) {
    auto it = manifest.find(key);
    if (it != manifest.end() && (!it->is_string() || it->get<std::string>().empty())) return false;
  }
  if (manifest.contains("install") && !manifest["install"].is_string()) return false;
  for (const char* key : {"configure", "build"}) {
    auto it = manifest.find(key);
    if (it == manifest.end()) continue;
    if (!it->is_array() || it->empty()) return false;
    for (const auto& word : *it)
      if (!word.is_string()) return false;
    if ((*it)[0].get<std::string>().empty()) return false;
  }
  auto compile = manifest.find("compile");
  if (compile == manifest.end() || !compile->is_object()) return false;
  return is_description(*compile);
}

}  // namespace

Result<ProjectDir> open_project(const std::string& path, Diagnostics& diags) {
  Location where;
  where.file = path;
  std::error_code ec;
  std::string manifest = path + "/" + project::kManifest;
  if (!fs::exists(manifest, ec)) {
    bool there = fs::exists(path, ec);
    diags
        .error(where, "project-invalid",
               there ? "the directory is not a project: it has no aotc.json" : "the project does not exist")
        .help("create a project with 'aotc MODEL --board BOARD -o DIRECTORY'");
    return kFailure;
  }
  auto bytes = read_file(manifest, diags, 1 << 20);
  if (!bytes) return kFailure;
  ProjectDir out;
  out.path = path;
  // What is no JSON is null, and so not complete.
  (void)parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, out.manifest);
  bool good = is_complete(out.manifest);
  if (out.manifest.is_object() && out.manifest.contains("kind") &&
      (out.manifest["kind"] == "model" || out.manifest["kind"] == "models")) {
    diags
        .error(where, "project-invalid",
               "the directory holds a compiled model, not a project: there is nothing to build or run")
        .help("create a project with 'aotc MODEL --board BOARD -o DIRECTORY'");
    return kFailure;
  }
  if (!good) {
    diags.error(where, "project-invalid", "aotc.json is damaged, or another version of aotc wrote it")
        .help("create the project again");
    return kFailure;
  }
  if (out.manifest.contains("board_description")) {
    auto own =
        project::read_board(json_text(out.manifest["board_description"], 1), manifest, out.manifest["board"], diags);
    if (!own) return kFailure;
    own->own = true;
    project::remember_board(*own);
  }
  auto board = project::find_board(out.manifest["board"], diags);
  if (!board) return kFailure;
  out.board = std::move(*board);
  return out;
}

bool require_image(const ProjectDir& project, Diagnostics& diags) {
  std::error_code ec;
  if (fs::exists(project.image(), ec)) return true;
  Location where;
  where.file = project.path;
  diags.error(where, "not-built", "the firmware is not built").help("run 'aotc build " + project.path + "'");
  return false;
}

bool require_model(const ProjectDir& project, Diagnostics& diags) {
  if (project.has_model()) return true;
  Location where;
  where.file = project.path;
  diags.error(where, "project-no-model", "the project does not contain the model file")
      .help("name the model file instead of the project; the firmware tests itself when it starts");
  return false;
}

namespace {

std::string packages_help(const std::vector<std::string>& packages) {
  std::string list;
  for (const std::string& p : packages) list += " " + p;
  return "install it: apt-get install" + list;
}

std::vector<std::string> fill_in(const nlohmann::json& command, const std::string& project) {
  const char* generator = find_program("ninja").empty() ? "Unix Makefiles" : "Ninja";
  std::vector<std::string> out;
  for (const std::string word : command)
    out.push_back(filled_in(word, {{"{generator}", generator}, {"{project}", project}}));
  return out;
}

std::string last_lines(const std::string& text, size_t count) {
  size_t at = text.size();
  for (size_t n = 0; at > 0; --at)
    if (text[at - 1] == '\n' && ++n > count) break;
  return text.substr(at);
}

// Sees output as it comes; false when the line is complete that ends a demo.
class DemoEnd {
 public:
  bool operator()(const std::string& piece) {
    bytes_ += piece.size();
    if (flooded()) return false;
    text_ += piece;
    if (text_.size() > kLongestLine) text_.erase(0, text_.size() - kLongestLine);
    const size_t at = text_.find("@aotc done status=");
    if (at != std::string::npos) return text_.find('\n', at) == std::string::npos;
    if (text_.size() > 64) text_.erase(0, text_.size() - 64);
    return true;
  }

  // More than any demo says; nobody would read it.
  bool flooded() const { return bytes_ > kMostProcessOutput; }

 private:
  static constexpr size_t kLongestLine = 65536;
  std::string text_;
  size_t bytes_ = 0;
};

// Folders that builds of aotc make in a project. One that was not there before is marked as made
// from the project, and goes when the project is made again.
class BuildFolders {
 public:
  explicit BuildFolders(const std::string& project) {
    std::error_code ec;
    for (const char* name : {"build", ".pio"})
      if (fs::path folder = fs::path(project) / name; !fs::exists(folder, ec)) absent_.push_back(std::move(folder));
  }

  // `make`: not only those that a build has made by now.
  void mark(bool make = false) const {
    Diagnostics ignored;  // without a mark it is somebody's own, and stays
    for (const fs::path& folder : absent_) {
      std::error_code ec;
      if (make && folder.filename() == "build") fs::create_directory(folder, ec);
      const fs::path mark = folder / kDerivedMarker;
      if (!fs::is_directory(folder, ec) || fs::exists(mark, ec)) continue;
      (void)write_scratch_file(mark.string(), "Made by 'aotc build', deleted when the project is made again.\n",
                               ignored);
    }
  }

 private:
  std::vector<fs::path> absent_;
};

}  // namespace

bool check_project_path(const std::string& path, Diagnostics& diags) {
  std::error_code ec;
  const std::string absolute = fs::absolute(path, ec).lexically_normal().string();
  const auto at = std::find_if(absolute.begin(), absolute.end(), [](unsigned char c) {
    return c < 0x20 || c == 0x7F || std::string_view("\"\\;|$").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (at == absolute.end()) return true;
  Location where;
  where.file = path;
  const auto c = static_cast<unsigned char>(*at);
  diags
      .error(where, "project-directory",
             fmt::format("a project cannot be built in a path with {}: {}",
                         c == '\n'               ? "a line break"
                         : c < 0x20 || c == 0x7F ? "a control character"
                                                 : fmt::format("the character {}", *at),
                         escape_for_display(absolute, 400)))
      .help("choose a directory whose whole path has no control characters and none of \" \\ ; | $");
  return false;
}

namespace {

// Ninja configures again and again while a file that it depends on is dated in the future, as after a wrong clock.
// Files of the project get the present; files of an earlier build get an old date, so that they are made again.
void date_back(const std::string& project) {
  const auto now = fs::file_time_type::clock::now();
  std::error_code ec;
  const fs::path build = fs::path(project) / "build";
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(project, options, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (!fs::is_regular_file(at->symlink_status(ignored)) || at->last_write_time(ignored) <= now) continue;
    const auto [in_build, behind] = std::mismatch(build.begin(), build.end(), at->path().begin(), at->path().end());
    fs::last_write_time(at->path(), in_build == build.end() ? now - std::chrono::hours(24 * 3650) : now, ignored);
  }
}

}  // namespace

namespace {

// The core that the flags of the board's compiler name; empty if they name none.
std::string cpu_of_flags(const project::Board& board) {
  constexpr std::string_view kFlag = "-mcpu=";
  for (const std::string& flag : board.cflags)
    if (flag.starts_with(kFlag)) return flag.substr(kFlag.size());
  return "";
}

// `output`: of gcc or Clang.
void help_with_unknown_cpu(const project::Board& board, const std::string& output, Diagnostic& d) {
  const std::string cpu = cpu_of_flags(board);
  if (cpu.empty() || (output.find("unrecognized -mcpu target: " + cpu) == std::string::npos &&
                      output.find("unsupported argument '" + cpu + "' to option '-mcpu='") == std::string::npos))
    return;
  const std::string older = cores::older_cpu(cpu);
  d.help(fmt::format(
      "this {} does not know {}: use a newer compiler{}", board.compiler, cpu,
      older.empty() ? ""
                    : fmt::format(", or -mcpu={} in the board's \"cflags\": its code also runs on {}", older, cpu)));
}

// " with -mcpu=cortex-m55, ..." if the compiler gets the name of an older core; otherwise empty.
std::string older_flag(const project::Board& board) {
  const std::string older = cores::older_cpu(board.cpu);
  if (older.empty() || cpu_of_flags(board) != older) return "";
  return fmt::format(" with -mcpu={}, whose code also runs on {}", older, board.cpu);
}

}  // namespace

int build_project(const ProjectDir& project, bool quiet, Diagnostics& diags) {
  Location where;
  where.file = project.path;
  if (!project.builds()) {
    const std::string tool = project.manifest.value("tool", "");
    diags.error(where, "project-not-built", "aotc does not build projects of this kind")
        .help(fmt::format("build the project with {}: see its README.md",
                          tool.empty() ? "the tools of its framework" : tool));
    return kExitUsage;
  }
  // The toolchain of a framework brings its own compiler.
  const bool own_compiler = project.manifest["build"][0] == "cmake";
  std::vector<std::string> compilers = {project.board.compiler};
  if (!project.board.field("toolchain.link_flags").empty()) compilers.push_back(project.board.toolchain_prefix + "gcc");
  for (const std::string& compiler : compilers) {
    if (!own_compiler || !find_program(compiler).empty()) continue;
    diags.error(where, "tool-missing", fmt::format("the compiler '{}' is not installed", compiler))
        .help(packages_help(project.board.toolchain_packages));
    return kExitToolMissing;
  }
  if (own_compiler && find_program("ninja").empty() && find_program("make").empty()) {
    diags.error(where, "tool-missing", "neither 'ninja' nor 'make' is installed")
        .help("install it: apt-get install ninja-build");
    return kExitToolMissing;
  }
  std::vector<std::vector<std::string>> commands;
  std::string absolute = fs::absolute(project.path).string();
  if (project.manifest.contains("configure")) commands.push_back(fill_in(project.manifest["configure"], absolute));
  commands.push_back(fill_in(project.manifest["build"], absolute));
  if (!check_project_path(project.path, diags)) return kExitUsage;
  if (own_compiler) date_back(project.path);
  const BuildFolders folders(project.path);
  if (own_compiler) folders.mark(true);  // also of a build that is killed
  Progress progress(quiet);
  for (const auto& command : commands) {
    progress.step(fmt::format("{} {}", commands.size() > 1 && &command == &commands[0] ? "configuring" : "building",
                              project.path));
    ProcessResult r = run_process(command, "", 1800);
    folders.mark();
    if (!r.started) {
      diags.error(where, "tool-missing", fmt::format("'{}' is not installed", command[0]))
          .help(project.manifest.contains("install") ? "install it: " + project.manifest.value("install", "")
                : own_compiler
                    ? "install it: apt-get install " + command[0]
                    : "build this project with " + project.manifest.value("tool", "the tools of its framework"));
      return kExitToolMissing;
    }
    if (r.exit_code == 0) continue;
    std::string text;
    for (const std::string& a : command) text += (text.empty() ? "" : " ") + a;
    auto& d = diags.error(where, "build-failed", fmt::format("the build failed with exit code {}", r.exit_code));
    d.note("command: " + text);
    std::istringstream lines(last_lines(r.output, 25));
    for (std::string line; std::getline(lines, line);) d.note(line);
    help_with_unknown_cpu(project.board, r.output, d);
    return kExitBadInput;
  }
  progress.done("built " + (project.has_image() ? project.image() : project.path) + older_flag(project.board));
  return kExitDone;
}

namespace {

// simavr colours what comes over the serial line, and shows the characters that end a line as dots.
std::string said_in_simavr(const std::string& output) {
  std::string out;
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] == '\x1b') {
      i = std::min(output.find('m', i), output.size() - 1);
      continue;
    }
    if (output[i] == '\n')
      for (int dots = 0; dots < 2 && out.ends_with('.'); ++dots) out.pop_back();
    out += output[i];
  }
  return out;
}

}  // namespace

void read_figures(FirmwareRun& run) {
  std::istringstream lines(run.process.output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("@aotc")) continue;
    std::istringstream words(line.substr(5));
    int64_t op = -1;
    for (std::string word; words >> word;) {
      size_t eq = word.find('=');
      if (eq == std::string::npos) continue;
      std::string key = word.substr(0, eq), value = word.substr(eq + 1);
      bool number = !value.empty() && value.find_first_not_of("-0123456789") == std::string::npos && value.size() < 19;
      if (key == "op" && number) {
        op = std::stoll(value);
      } else if (op >= 0 && op < 100000 && key.starts_with("op_") && number) {
        if (run.op_ticks.size() <= static_cast<size_t>(op)) run.op_ticks.resize(static_cast<size_t>(op) + 1);
        run.op_ticks[static_cast<size_t>(op)] = std::stoll(value);
      } else if (number) {
        run.values[key] = std::stoll(value);
      } else {
        run.values[key] = value;
      }
    }
  }
}

int exit_code_said(const FirmwareRun& run) {
  return run.values.is_object() && run.values.value("status", int64_t{-1}) == 0 ? 0 : 1;
}

ProjectDir in_emulator(const ProjectDir& project) {
  ProjectDir out = project;
  if (!project.manifest.value("stand_in", false)) return out;
  const std::string folder = "build/stand_in";
  for (const char* key : {"configure", "build"})
    for (auto& word : out.manifest[key])
      if (word == "{project}/build") word = "{project}/" + folder;
  out.manifest["configure"].push_back("-DAOTC_STAND_IN=ON");
  const std::string image = project.manifest.value("image", "");
  if (image.starts_with("build/")) out.manifest["image"] = folder + image.substr(5);
  return out;
}

Result<FirmwareRun> run_firmware(const ProjectDir& project, const std::vector<std::string>& arguments,
                                 int timeout_seconds, Diagnostics& diags, const std::string& directory) {
  Location where;
  where.file = project.path;
  if (!project.has_image()) {
    diags
        .error(where, "project-not-run",
               fmt::format("a project of this kind has no program for board '{}'", project.board.name))
        .help("link the project's library into your firmware; the README.md of the project explains how");
    return kFailure;
  }
  if (!require_image(project, diags)) return kFailure;
  const std::string image = fs::absolute(project.image()).string();
  if (project.board.emulator_argv.empty()) {
    diags.error(where, "no-emulator", fmt::format("board '{}' has no emulator", project.board.name))
        .help("'aotc flash " + shell_quoted(project.path) + "' writes the firmware to the board");
    return kFailure;
  }
  std::vector<std::string> argv = project::emulator_command(project.board, image, arguments);
  FirmwareRun out;
  // Firmware on an operating system runs for ever: the emulator is ended with the demo.
  DemoEnd end;
  out.process = run_process(argv, directory, timeout_seconds, [&](const std::string& piece) { return end(piece); });
  if (!out.process.started) {
    diags.error(where, "tool-missing", fmt::format("'{}' is not installed", argv[0]))
        .help(packages_help(project.board.emulator_packages));
    return kFailure;
  }
  if (end.flooded()) {
    diags
        .error(where, "device-flood",
               fmt::format("the firmware printed more than {} and was stopped",
                           exact_bytes(static_cast<int64_t>(kMostProcessOutput))))
        .help("look for a fault in the firmware, such as a loop that prints without end");
    return kFailure;
  }
  if (out.process.timed_out) {
    diags.error(where, "device-timeout", fmt::format("the firmware did not end within {} seconds", timeout_seconds))
        .help("increase --timeout SECONDS");
    return kFailure;
  }
  std::erase(out.process.output, '\r');  // consoles end lines with both
  if (project.board.emulator_program == "simavr") out.process.output = said_in_simavr(out.process.output);
  read_figures(out);
  if (out.process.stopped) out.process.exit_code = exit_code_said(out);
  return out;
}

std::optional<ModelSize> object_size(const project::Board& board, const std::string& file) {
  ProcessResult r = run_process({board.toolchain_prefix + "size", "-A", file}, "", 30);
  if (!r.started || r.exit_code != 0) return std::nullopt;
  ModelSize total;
  std::istringstream lines(r.output);
  std::string name;
  int64_t bytes = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    if (!(words >> name >> bytes)) continue;
    if (name.starts_with(".text")) total.code += bytes;
    if (name.starts_with(".rodata") || name.starts_with(".srodata")) total.constants += bytes;
    if (name.starts_with(".data") || name.starts_with(".bss") || name.starts_with(".sdata") ||
        name.starts_with(".sbss"))
      total.data += bytes;
  }
  return total;
}

std::optional<ModelSize> model_size(const ProjectDir& project) {
  ModelSize total;
  bool any = false;
  std::error_code ec;
  for (const char* part : {"model_plain", "model_data"}) {
    fs::path dir = fs::path(project.path) / "build" / "CMakeFiles" / fmt::format("{}.dir", part);
    for (fs::recursive_directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
      std::string file = it->path().string();
      if (!file.ends_with(".o") && !file.ends_with(".obj")) continue;
      auto size = object_size(project.board, file);
      if (!size) continue;
      any = true;
      total.code += size->code;
      total.constants += size->constants;
      total.data += size->data;
    }
  }
  if (!any) return std::nullopt;
  return total;
}

}  // namespace aotc::driver
