// SPDX-License-Identifier: Apache-2.0
#include "project/board.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "project/embedded.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::project {

namespace {

constexpr std::string_view kPrefix = "boards/";
constexpr std::string_view kSuffix = "/board.json";

}  // namespace

std::string Memory::lower_name() const {
  std::string out = name;
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const char* name_of(Speed speed) { return speed == Speed::kFast ? "fast" : speed == Speed::kSlow ? "slow" : "normal"; }

bool Board::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

bool Board::has_chip() const { return description && description->contains("chip"); }

bool Board::has_framework(const std::string& framework) const {
  return description && description->contains("frameworks") && (*description)["frameworks"].contains(framework);
}

std::map<std::string, std::string> Board::relatives() const {
  if (!description) return {};
  return description->value("relatives", std::map<std::string, std::string>());
}

bool Board::is_device(const Memory& memory) const {
  if (!isa.starts_with("arm") || memory.flash) return false;
  const uint64_t origin = std::strtoull(memory.origin.c_str(), nullptr, 16);
  return (origin >= 0x40000000 && origin < 0x60000000) || origin >= 0xA0000000;
}

std::string Board::setup_of(const Memory& memory) const {
  std::string out = memory.setup;
  if (is_device(memory))
    out += fmt::format(
        "; the MPU must define {} bytes at {} as Normal memory: by the architecture's default map they are Device "
        "memory, where unaligned accesses fault",
        with_commas(memory.size), memory.origin);
  return out;
}

void Board::limit_to(const std::string& framework) {
  const std::string ram = field("frameworks." + framework + ".ram");
  for (Memory& m : memories)
    if (!ram.empty() && m.name == field("placement.data"))
      m.size = std::min<int64_t>(m.size, std::strtoll(ram.c_str(), nullptr, 10));
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

namespace {

std::map<std::string, Board>& remembered() {
  static std::map<std::string, Board> boards;
  return boards;
}

std::string folded_name(const std::string& name) {
  std::string out;
  for (char c : name)
    out += c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Diagnostic& unknown_board(const std::string& name, Diagnostics& diags) {
  Location where;
  where.file = name;
  auto& d = diags.error(where, "board-unknown", "no board has this name");
  const std::string wanted = folded_name(name);
  std::vector<std::string> boards = board_names(), aliases;
  std::map<std::string, std::string> board_of;
  std::string family, cpu, relative;  // the longest beginning of the name that a board knows, and what that board says
  for (const std::string& board : boards) {
    Diagnostics ours_are_right;
    auto read = find_board(board, ours_are_right);
    if (!read) continue;
    for (const std::string& alias : read->aliases) aliases.push_back(alias), board_of[alias] = board;
    for (const auto& [begin, core] : read->relatives())
      if (wanted.starts_with(begin) && begin.size() > family.size()) family = begin, cpu = core, relative = board;
  }
  auto did_you_mean = [&](const std::string& board) -> Diagnostic& {
    return d.help(fmt::format("did you mean '{}'?", board));
  };
  if (auto alias = board_of.find(wanted); alias != board_of.end()) return did_you_mean(alias->second);
  if (!family.empty()) {
    d.help(fmt::format("compile for its core with --cpu {}; the most similar board is '{}'", cpu, relative));
    return d.help(fmt::format("or describe your board: --board FILE.json with {{\"like\": \"{}\", ...}}", relative));
  }
  for (const std::string& near : closest(wanted, boards)) did_you_mean(near);
  if (d.helps.empty())
    for (const std::string& near : closest(wanted, aliases, 1)) did_you_mean(board_of[near]);
  return d.help("'aotc boards' lists all boards; --board FILE.json describes your own board");
}

// By a description of the user's; its name is the file's.
Result<Board> own_board(const std::string& path, Diagnostics& diags) {
  auto bytes = read_file(path, diags, 1 << 20);
  if (!bytes) return kFailure;
  const std::string name = c_identifier(folded_name(std::filesystem::path(path).stem().string()), "board");
  auto board = read_board({bytes->begin(), bytes->end()}, path, name, diags);
  if (!board) return kFailure;
  if (board->is_host() || board->is_generic()) {
    Location where;
    where.file = path;
    diags.error(where, "board-invalid", "the boards 'host' and 'generic' cannot be described in a file")
        .help("use --board host or --board generic, or give the file another name");
    return kFailure;
  }
  board->own = true;
  remember_board(*board);
  return board;
}

}  // namespace

void remember_board(const Board& board) { remembered().insert_or_assign(board.name, board); }

Result<Board> find_board(const std::string& name, Diagnostics& diags) {
  if (auto known = remembered().find(name); known != remembered().end()) return known->second;
  if (name.ends_with(".json")) return own_board(name, diags);
  const EmbeddedFile* f = find_embedded(fmt::format("{}{}{}", kPrefix, name, kSuffix));
  if (f != nullptr) return read_board(std::string(f->content), std::string(f->path), name, diags);
  unknown_board(name, diags);
  return kFailure;
}

ops::TargetInfo target_of(const Board& board, KernelForm kernels) {
  return cores::target_info(
      {board.cpu, board.isa, [&](std::string_view feature) { return board.has(feature); }, kernels});
}

}  // namespace aotc::project
