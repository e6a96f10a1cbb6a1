// SPDX-License-Identifier: Apache-2.0
#include "project/board.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "project/embedded.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"
#include "target/cpu.h"

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

bool Board::is_device(const Memory& memory) const {
  if (!isa.starts_with("arm") || memory.flash) return false;
  const uint64_t origin = std::strtoull(memory.origin.c_str(), nullptr, 16);
  return (origin >= 0x40000000 && origin < 0x60000000) || origin >= 0xA0000000;
}

std::string Board::setup_of(const Memory& memory) const {
  std::string out = memory.setup;
  if (is_device(memory))
    out += fmt::format(
        "; the MPU must make {} bytes at {} Normal memory: by the architecture's default map they are Device memory, "
        "where unaligned accesses fault",
        memory.size, memory.origin);
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

// Boards and chips that people have and that are none of this build: what they begin with, a CPU of ours, and the
// board of ours that is most like them.
struct Relative {
  std::string_view name, cpu, board;
};
constexpr Relative kRelatives[] = {{"bluepill", "cortex-m3", "nucleo_f446re"},
                                   {"blackpill", "cortex-m4f", "nucleo_f446re"},
                                   {"stm32f0", "cortex-m0", "rp2040_pico"},
                                   {"stm32f1", "cortex-m3", "nucleo_f446re"},
                                   {"stm32f2", "cortex-m3", "nucleo_f446re"},
                                   {"stm32f3", "cortex-m4f", "nucleo_g431kb"},
                                   {"stm32f4", "cortex-m4f", "nucleo_f446re"},
                                   {"stm32f7", "cortex-m7f", "stm32f746g_disco"},
                                   {"stm32g0", "cortex-m0plus", "rp2040_pico"},
                                   {"stm32g4", "cortex-m4f", "nucleo_g431kb"},
                                   {"stm32h5", "cortex-m33f", "nrf5340dk"},
                                   {"stm32h7", "cortex-m7f", "nucleo_h743zi"},
                                   {"stm32l0", "cortex-m0plus", "rp2040_pico"},
                                   {"stm32l1", "cortex-m3", "nucleo_f446re"},
                                   {"stm32l4", "cortex-m4f", "nucleo_l4r5zi"},
                                   {"stm32l5", "cortex-m33f", "nrf5340dk"},
                                   {"stm32n6", "cortex-m55f", "qemu_mps3_an547"},
                                   {"stm32u5", "cortex-m33f", "nrf5340dk"},
                                   {"stm32wb", "cortex-m4f", "nucleo_f446re"},
                                   {"nucleo_f0", "cortex-m0", "rp2040_pico"},
                                   {"nucleo_f1", "cortex-m3", "nucleo_f446re"},
                                   {"nucleo_f3", "cortex-m4f", "nucleo_g431kb"},
                                   {"nucleo_f4", "cortex-m4f", "nucleo_f446re"},
                                   {"nucleo_f7", "cortex-m7f", "stm32f746g_disco"},
                                   {"nucleo_g0", "cortex-m0plus", "rp2040_pico"},
                                   {"nucleo_g4", "cortex-m4f", "nucleo_g431kb"},
                                   {"nucleo_h5", "cortex-m33f", "nrf5340dk"},
                                   {"nucleo_h7", "cortex-m7f", "nucleo_h743zi"},
                                   {"nucleo_l0", "cortex-m0plus", "rp2040_pico"},
                                   {"nucleo_l4", "cortex-m4f", "nucleo_l4r5zi"},
                                   {"nucleo_u5", "cortex-m33f", "nrf5340dk"},
                                   {"nrf51", "cortex-m0", "qemu_microbit"},
                                   {"nrf52", "cortex-m4f", "nrf52840dk"},
                                   {"nrf53", "cortex-m33f", "nrf5340dk"},
                                   {"nrf54", "cortex-m33f", "nrf5340dk"},
                                   {"nrf91", "cortex-m33f", "nrf5340dk"},
                                   {"pico2", "cortex-m33f", "nrf5340dk"},
                                   {"pico_2", "cortex-m33f", "nrf5340dk"},
                                   {"rp2350", "cortex-m33f", "nrf5340dk"},
                                   {"samd21", "cortex-m0plus", "rp2040_pico"},
                                   {"samd51", "cortex-m4f", "nrf52840dk"},
                                   {"mimxrt", "cortex-m7f", "teensy41"},
                                   {"imxrt", "cortex-m7f", "teensy41"},
                                   {"ra8", "cortex-m55f", "qemu_mps3_an547"},
                                   {"esp32c", "rv32imc", "esp32c3"},
                                   {"esp32h", "rv32imc", "esp32c3"},
                                   {"esp32p", "rv32imac", "esp32c3"},
                                   {"esp32s2", "xtensa-lx7", "esp32s3"},
                                   {"atmega", "atmega328p", "arduino_uno"},
                                   {"nano", "atmega328p", "arduino_uno"}};

std::string folded_name(const std::string& name) {
  std::string out;
  for (char c : name)
    out += c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Diagnostic& unknown_board(const std::string& name, Diagnostics& diags) {
  Location where;
  where.file = name;
  auto& d = diags.error(where, "board-unknown", "there is no such board");
  const std::string wanted = folded_name(name);
  std::vector<std::string> boards = board_names(), aliases;
  std::map<std::string, std::string> board_of;
  for (const std::string& board : boards) {
    Diagnostics ours_are_right;
    auto read = find_board(board, ours_are_right);
    if (!read) continue;
    for (const std::string& alias : read->aliases) aliases.push_back(alias), board_of[alias] = board;
  }
  auto did_you_mean = [&](const std::string& board) -> Diagnostic& {
    return d.help(fmt::format("did you mean '{}'?", board));
  };
  if (auto alias = board_of.find(wanted); alias != board_of.end()) return did_you_mean(alias->second);
  const Relative* relative = nullptr;
  for (const Relative& r : kRelatives)
    if (wanted.starts_with(r.name) && (relative == nullptr || r.name.size() > relative->name.size())) relative = &r;
  if (relative != nullptr) {
    d.help(fmt::format("code for its core: --cpu {}; the board that is most like it: '{}'", relative->cpu,
                       relative->board));
    return d.help(fmt::format("or describe yours: --board FILE.json with {{\"like\": \"{}\", ...}}", relative->board));
  }
  for (const std::string& near : closest(wanted, boards)) did_you_mean(near);
  if (d.helps.empty())
    for (const std::string& near : closest(wanted, aliases, 1)) did_you_mean(board_of[near]);
  return d.help("'aotc boards' lists them all; --board FILE.json takes one of your own");
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
    diags.error(where, "board-invalid", "this machine, and no board in particular, need no description")
        .help("write --board host or --board generic, and give the file another name");
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

ops::TargetInfo target_of(const Board& board, bool assembly) {
  return target::target_info(
      {board.cpu, board.isa, [&](std::string_view feature) { return board.has(feature); }, assembly});
}

}  // namespace aotc::project
