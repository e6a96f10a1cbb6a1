// SPDX-License-Identifier: Apache-2.0
// Board: CPU, features, memories, console, emulator and framework names, read from boards/<name>/board.json. A board is
// data: `target_of` derives what the compiler needs, `field` returns what a template needs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "ops/lowering.h"
#include "support/diagnostics.h"

namespace aotc::project {

// kFast: tightly coupled, or as fast as the core. kNormal: on a bus. kSlow: external, or read
// through a cache.
enum class Speed { kFast, kNormal, kSlow };

inline constexpr const char* kGenericBoard = "generic";

struct Memory {
  std::string name;
  bool flash = false;
  std::string origin;  // hexadecimal text
  int64_t size = 0;    // bytes
  Speed speed = Speed::kNormal;
  // By framework ("bare_metal", "zephyr", ...): the linker sections placed in this memory, for initialised data and for
  // arenas.
  std::map<std::string, std::string> sections, arena_sections;
  // Wait states of a flash read at the full clock, once for each line; 0: not specified.
  int wait_states = 0, line_bytes = 0;
  std::string setup;  // setup before it works; empty: works after reset

  std::string lower_name() const;  // spelling in pools and sections
};

struct Board {
  std::string name;
  std::string title;
  std::string cpu;
  std::string isa;
  std::string platform;  // key into a template's "platforms"
  std::vector<std::string> features;
  std::string toolchain_prefix, compiler;
  std::vector<std::string> cflags, toolchain_packages;
  std::vector<Memory> memories;
  int64_t stack_bytes = 0;
  std::string emulator_program;
  std::vector<std::string> emulator_argv, emulator_packages;
  std::string argument_style;  // "argv", "semihosting" or empty
  bool stand_in = false;       // the emulator is another machine: results count, times do not
  std::string note;       // for people
  std::vector<std::string> aliases;                   // other names for searching
  std::string project;                                // default project kind; empty: bare_metal
  bool own = false;                                   // described by a file of the user
  std::shared_ptr<const nlohmann::json> description;  // all of board.json, for templates

  bool has(std::string_view feature) const;
  bool is_host() const { return platform == "host"; }
  // True for portable C without a specific board.
  bool is_generic() const { return name == kGenericBoard; }
  // True if board.json has the board's name in a framework ("zephyr", "arduino").
  bool has_framework(const std::string& framework) const;
  // True if board.json describes how the chip starts: its firmware then needs no debugger.
  bool has_chip() const;
  // The unit of the emulator's counter: a stand-in counts instructions, whatever the unit of the board's clock.
  std::string emulated_unit() const { return stand_in ? "instructions" : field("clock.unit"); }
  // True for RAM that is Device memory in the default map of Arm's architecture, where unaligned accesses fault.
  bool is_device(const Memory& memory) const;
  // The code that must run before a memory with `setup` works.
  std::string setup_of(const Memory& memory) const;
  // Reduces the RAM of variables ("ram") to the part that a framework leaves, if that is less.
  void limit_to(const std::string& framework);
  // Bytes of the memory that placement.<use> ("arena", "constants") names; 0: unlimited.
  int64_t memory_bytes(const std::string& use) const;
  // nullptr if no memory has this name.
  const Memory* memory(std::string_view name) const;
  // The frameworks that support it: "zephyr", "arduino", ...
  std::vector<std::string> frameworks() const;
  // Value at a dotted path as text; empty if missing. Lists are joined by spaces.
  std::string field(const std::string& path) const;
};

// The command that runs a firmware image (an absolute path) in the board's emulator; empty if there is no emulator.
std::vector<std::string> emulator_command(const Board& board, const std::string& image,
                                          const std::vector<std::string>& arguments);

const char* name_of(Speed speed);

std::vector<std::string> board_names();
// Parses the description of a board. Reports [board-invalid], and [board-core] if the compiler does not know the core
// or a feature is not one of its instruction set, with their positions.
Result<Board> read_board(const std::string& text, const std::string& file, const std::string& name, Diagnostics& diags);
// `name`: a board of this build or a remembered one, or the path of a description (NAME.json), which is remembered.
// Reports [board-unknown] with the closest names, and the errors of read_board and read_file.
Result<Board> find_board(const std::string& name, Diagnostics& diags);

// Makes the board available to find_board by name, with precedence over those of the build.
void remember_board(const Board& board);

// `assembly`: use microkernels in assembly if the CPU has them; false: portable C only.
ops::TargetInfo target_of(const Board& board, bool assembly = true);

}  // namespace aotc::project
