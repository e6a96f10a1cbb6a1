// SPDX-License-Identifier: Apache-2.0
#include "driver/counted_cycles.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/summary.h"
#include "driver/temporary.h"
#include "project/embedded.h"
#include "support/files.h"
#include "support/json.h"
#include "support/process.h"
#include "support/text.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSource = "compiler/driver/emulator/counts.c";
constexpr int kCompileSeconds = 120;

Location at(const std::string& file) {
  Location where;
  where.file = file;
  return where;
}

// Path of the plugin in `folder`.
Result<std::string> compile_plugin(const std::string& folder, Diagnostics& diags) {
  const std::string source = folder + "/counts.c", plugin = folder + "/counts.so";
  if (!write_file(source, std::string(project::find_embedded(kSource)->content), diags)) return kFailure;
  ProcessResult made = run_process({"cc", "-shared", "-fPIC", "-O2", "-w", "-o", plugin, source}, "", kCompileSeconds);
  if (!made.started) {
    diags
        .error(at("cc"), "tool-missing",
               "cc is not installed, but aotc needs it to compile the QEMU plugin that counts instructions")
        .help("install it: apt-get install gcc libc6-dev");
    return kFailure;
  }
  if (made.exit_code == 0) return plugin;
  diags.error(at("cc"), "tool-failed", "the QEMU plugin that counts instructions does not compile")
      .note(escape_for_display(made.output, 400));
  return kFailure;
}

// Where code may be: from the first section that has any to the end of the last.
std::pair<uint32_t, uint32_t> code_of(const machine::Elf& elf) {
  uint32_t from = UINT32_MAX, to = 0;
  for (const machine::Section& s : elf.sections())
    if (s.allocated() && s.executable() && s.size > 0) {
      from = std::min(from, s.address & ~1u);
      to = std::max(to, s.address + s.size);
    }
  return {from, to};
}

// In QEMU's options a comma is written twice.
std::string escaped(const std::string& path) {
  std::string out;
  for (char c : path) out += c == ',' ? ",," : std::string(1, c);
  return out;
}

// Whether the board's core runs such instructions at all.
bool runs(const project::Board& board, machine::Isa isa) {
  return isa == machine::Isa::kThumb ? board.isa.starts_with("armv") : board.isa.starts_with("rv");
}

Diagnostic& other_board(const machine::Elf& elf, const project::Board& board, const std::string& why,
                        Diagnostics& diags) {
  Diagnostic& d = diags.error(at(elf.file()), "board-mismatch",
                              fmt::format("the file is not a program for board '{}': {}", board.name, why));
  d.help("name the board of the program with --board; 'aotc boards' lists the boards");
  return d;
}

Status check_emulator(const machine::Elf& elf, const project::Board& board, Diagnostics& diags) {
  if (elf.isa() == machine::Isa::kAvr) {
    diags
        .error(at(elf.file()), "no-emulator",
               "aotc cannot count the instructions of AVR programs: QEMU emulates AVR wrongly, and simavr supports no "
               "plugin")
        .help("'aotc run' prints the cycles of one inference, which simavr counts itself");
    return kFailure;
  }
  if (!board.emulator_program.starts_with("qemu-system-")) {
    diags
        .error(at(elf.file()), "no-emulator",
               fmt::format("QEMU does not emulate board '{}', but aotc counts instructions in QEMU", board.name))
        .help(
            "name a board with the same core that QEMU emulates, such as qemu_mps2_an386 (Cortex-M4); 'aotc boards' "
            "lists the boards");
    return kFailure;
  }
  if (runs(board, elf.isa())) return success();
  other_board(elf, board, fmt::format("the core of the board runs {} instructions", board.isa), diags);
  return kFailure;
}

std::string plugin_option(const machine::Elf& elf, const std::string& plugin, const std::string& out,
                          const CountedRun& run) {
  const auto [from, to] = code_of(elf);
  std::string option = fmt::format("{},out={},from={:x},to={:x}", escaped(plugin), escaped(out), from, to);
  if (run.root == 0) return option;
  const machine::Symbol* function = elf.function_around(run.root);
  const uint32_t end = function != nullptr && function->size > 0 ? function->address + function->size : run.root + 2;
  return option + fmt::format(",root={:x},root_end={:x},nth={:x}", run.root, end, run.nth);
}

// Nothing of a file that is not there.
std::string text_of(const std::string& path) {
  Diagnostics ignored;
  auto bytes = read_file(path, ignored);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

}  // namespace

Result<std::vector<machine::Segment>> count_instructions(const machine::Elf& elf, const project::Board& board,
                                                         const CountedRun& run, Diagnostics& diags) {
  TemporaryDirectory folder;
  if (!check_emulator(elf, board, diags) || !folder.made(diags)) return kFailure;
  auto plugin = compile_plugin(folder.path(), diags);
  if (!plugin) return kFailure;
  const std::string out = folder.path() + "/counts.txt";
  std::vector<std::string> argv = project::emulator_command(board, fs::absolute(elf.file()).string(), {});
  argv.insert(argv.begin() + 1, {"-plugin", plugin_option(elf, *plugin, out, run)});
  ProcessResult ran = run_process(argv, folder.path(), run.timeout);
  if (!ran.started) {
    diags.error(at(elf.file()), "tool-missing", fmt::format("'{}' is not installed", argv[0]))
        .help("install it: apt-get install " + joined(board.emulator_packages, " "));
    return kFailure;
  }
  auto counts = machine::parse_counts(text_of(out));
  if (counts && !counts->empty()) return *counts;
  if (ran.timed_out) {
    diags.error(at(elf.file()), "device-timeout", fmt::format("the program did not end within {} seconds", run.timeout))
        .help("increase --timeout SECONDS, or count only one function with --root");
  } else if (ran.output.find("qemu: fatal: Lockup") != std::string::npos) {
    other_board(elf, board, "the core locked up", diags)
        .note("the core reads invalid code if the program was linked for other addresses");
  } else if (!counts) {
    diags
        .error(at(argv[0]), "tool-failed",
               "QEMU wrote no counts: aotc needs QEMU 7 or 8 built with plugins, such as Debian's (apt-get install "
               "qemu-system-arm qemu-system-misc)")
        .note(escape_for_display(ran.output.substr(ran.output.size() - std::min<size_t>(ran.output.size(), 400)), 400));
  } else {
    diags
        .error(at(elf.file()), "root-not-run",
               fmt::format("the program ended, but {} was not called {} times", elf.function_name(run.root), run.nth))
        .help("name another function with --root, or another call with --call");
  }
  return kFailure;
}

namespace {

using Json = nlohmann::ordered_json;

std::string file_of(const ProjectDir& project) { return project.path + "/build/cycles.json"; }

// What is no count was not written by aotc.
bool take_count(const Json& from, const char* key, Json& to, const char* as) {
  constexpr int64_t kMost = int64_t{1} << 53;
  auto it = from.find(key);
  if (it == from.end() || !it->is_number_integer() || *it < 0 || *it > kMost) return false;
  to[as] = *it;
  return true;
}

}  // namespace

void save_cycles(const ProjectDir& project, const Json& found) {
  Json j = {{"image", image_hash(project)}};
  for (const char* key : {"cpu", "costs", "cycles", "instructions", "llvm_cycles"})
    if (found.contains(key)) j[key] = found[key];
  j["layers"] = Json::array();
  for (const Json& layer : found["layers"]) {
    Json row = Json::object();
    if (layer.is_object() && take_count(layer, "cycles", row, "cycles"))
      take_count(layer, "instructions", row, "instructions");
    j["layers"].push_back(std::move(row));
  }
  Diagnostics ignored;  // a report without them is still a report
  (void)!write_file(file_of(project), json_text(j, 1), ignored);
}

void add_counted_cycles(const ProjectDir& project, Json& report) {
  std::ifstream in(file_of(project));
  if (!in) return;
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Json j;
  (void)parse_json(text, j);  // null if it is no JSON
  if (!j.is_object() || j.value("image", Json()) != image_hash(project)) return;
  Json counted = Json::object();
  if (!take_count(j, "cycles", counted, "cycles") || !take_count(j, "instructions", counted, "instructions")) return;
  take_count(j, "llvm_cycles", counted, "llvm_cycles");
  for (const char* key : {"cpu", "costs"})
    if (j.contains(key) && j[key].is_string()) counted[key] = escape_for_display(j[key].get<std::string>());
  report["counted"] = std::move(counted);
  const Json layers = j.value("layers", Json());
  if (!layers.is_array() || layers.size() != report["layers"].size()) return;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_object()) continue;  // inlined
    take_count(layers[i], "cycles", report["layers"][i], "counted_cycles");
    take_count(layers[i], "instructions", report["layers"][i], "counted_instructions");
  }
}

}  // namespace aotc::driver
