// SPDX-License-Identifier: Apache-2.0
#include "project/board.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "project/embedded.h"
#include "support/json.h"
#include "support/text.h"
#include "target/cpu.h"

namespace aotc::project {

namespace {

constexpr std::string_view kPrefix = "boards/";
constexpr std::string_view kSuffix = "/board.json";

std::vector<std::string> strings(const nlohmann::json& j, const char* key) {
  std::vector<std::string> out;
  for (const auto& v : j.value(key, nlohmann::json::array())) out.push_back(v.get<std::string>());
  return out;
}

std::map<std::string, std::string> texts(const nlohmann::json& j, const char* key) {
  return j.value(key, std::map<std::string, std::string>());
}

Memory memory_of(const nlohmann::json& j) {
  Memory m;
  m.name = j.at("name");
  m.flash = j.at("kind") == "flash";
  m.origin = j.at("origin");
  m.size = j.at("size");
  for (Speed speed : {Speed::kFast, Speed::kSlow})
    if (j.value("speed", "") == name_of(speed)) m.speed = speed;
  m.sections = texts(j, "sections");
  m.arena_sections = texts(j, "arena_sections");
  m.wait_states = j.value("wait_states", 0);
  m.line_bytes = j.value("line_bytes", 0);
  m.setup = j.value("setup", "");
  return m;
}

Board from_json(const std::string& name, const nlohmann::json& j) {
  Board b;
  b.name = name;
  b.description = std::make_shared<const nlohmann::json>(j);
  b.title = j.at("title");
  b.cpu = j.at("cpu");
  b.isa = j.at("isa");
  b.platform = j.at("platform");
  b.features = strings(j, "features");
  const auto& tools = j.at("toolchain");
  b.toolchain_prefix = tools.at("prefix");
  b.compiler = tools.at("compiler");
  b.cflags = strings(tools, "cflags");
  b.toolchain_packages = strings(tools, "packages");
  for (const auto& m : j.at("memories")) b.memories.push_back(memory_of(m));
  b.stack_bytes = j.at("stack_bytes");
  if (j.contains("emulator")) {
    const auto& e = j["emulator"];
    b.emulator_program = e.at("program");
    b.emulator_argv = strings(e, "argv");
    b.emulator_packages = strings(e, "packages");
    b.argument_style = e.value("argument_style", "");
    b.stand_in = e.value("stand_in", false);
  }
  b.note = j.value("note", "");
  return b;
}

}  // namespace

std::string Memory::lower_name() const {
  std::string out = name;
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const char* name_of(Speed speed) {
  return speed == Speed::kFast ? "fast" : speed == Speed::kSlow ? "slow" : "normal";
}

bool Board::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

bool Board::has_chip() const { return description && description->contains("chip"); }

bool Board::has_framework(const std::string& framework) const {
  return description && description->contains("frameworks") && (*description)["frameworks"].contains(framework);
}

int64_t Board::memory_bytes(const std::string& use) const {
  const Memory* m = memory(field("placement." + use));
  return m ? m->size : 0;
}

const Memory* Board::memory(std::string_view wanted) const {
  for (const Memory& m : memories)
    if (m.name == wanted) return &m;
  return nullptr;
}

std::vector<std::string> Board::frameworks() const {
  std::vector<std::string> out;
  if (description && description->contains("frameworks"))
    for (const auto& [key, value] : (*description)["frameworks"].items()) out.push_back(key);
  return out;
}

std::string Board::field(const std::string& path) const {
  if (!description) return "";
  const nlohmann::json* at = description.get();
  for (size_t begin = 0; begin <= path.size();) {
    size_t dot = std::min(path.find('.', begin), path.size());
    std::string key = path.substr(begin, dot - begin);
    if (!at->is_object() || !at->contains(key)) return "";
    at = &(*at)[key];
    begin = dot + 1;
  }
  if (at->is_string()) return at->get<std::string>();
  if (at->is_array()) {
    std::string out;
    for (const auto& v : *at)
      if (v.is_string()) out += (out.empty() ? "" : " ") + v.get<std::string>();
    return out;
  }
  return json_text(*at);
}

std::vector<std::string> emulator_command(const Board& board, const std::string& image,
                                          const std::vector<std::string>& arguments) {
  std::vector<std::string> argv;
  for (const std::string& arg : board.emulator_argv) {
    if (arg == "{arguments}") {
      argv.insert(argv.end(), arguments.begin(), arguments.end());
      continue;
    }
    std::string joined;
    if (board.argument_style == "semihosting") {
      // Also without arguments: QEMU would give the image's path, in which spaces separate.
      joined = ",arg=firmware";
      for (const std::string& a : arguments) {
        joined += ",arg=";
        for (char c : a) joined += c == ',' ? ",," : std::string(1, c);  // QEMU's escape
      }
    }
    argv.push_back(filled_in(arg, {{"{image}", image}, {"{arguments}", joined}}));
  }
  return argv;
}

std::vector<std::string> board_names() {
  std::vector<std::string> out;
  for (const EmbeddedFile* f : embedded_below(kPrefix))
    if (f->path.ends_with(kSuffix))
      out.emplace_back(f->path.substr(kPrefix.size(), f->path.size() - kPrefix.size() - kSuffix.size()));
  return out;
}

Result<Board> find_board(const std::string& name, Diagnostics& diags) {
  Location where;
  where.file = name;
  const EmbeddedFile* f = find_embedded(fmt::format("{}{}{}", kPrefix, name, kSuffix));
  if (!f) {
    auto& d = diags.error(where, "board-unknown", "there is no such board");
    for (const std::string& near : closest(name, board_names())) d.help(fmt::format("did you mean '{}'?", near));
    d.help("'aotc boards' lists them all");
    return kFailure;
  }
  nlohmann::json json;
  if (auto problem = parse_json(f->content, json)) {
    diags.error(where, "board-invalid", fmt::format("board.json is not valid: {}", escape_for_display(problem->what)));
    return kFailure;
  }
  try {
    return from_json(name, json);
  } catch (const nlohmann::json::exception& e) {
    diags.error(where, "board-invalid",
                fmt::format("board.json is not valid: {}", escape_for_display(json_reason(e.what()))));
    return kFailure;
  }
}

ops::TargetInfo target_of(const Board& board, bool assembly) {
  return target::target_info(
      {board.cpu, board.isa, [&](std::string_view feature) { return board.has(feature); }, assembly});
}

}  // namespace aotc::project
