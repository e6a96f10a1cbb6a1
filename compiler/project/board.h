// SPDX-License-Identifier: Apache-2.0
// A board as its folder boards/<name>/board.json describes it: CPU, features, memories, console,
// emulator and what frameworks call it. The one thing to know: a board is data; what the compiler
// derives from it is `target_of`, and what a template wants of it is `field`.
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
  // By framework ("bare_metal", "zephyr", ...): the linker sections that lead into this memory, for
  // what has initial values, and for arenas.
  std::map<std::string, std::string> sections, arena_sections;
  // What a read of flash waits for at the full clock, once for each line; 0: not said.
  int wait_states = 0, line_bytes = 0;
  std::string setup;  // what must be done before it works; empty: works after reset

  std::string lower_name() const;  // as pools and sections are called
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
  std::string argument_style;        // "argv", "semihosting" or empty
  bool stand_in = false;             // the emulator's machine is another one: its results count, not its times
  std::string note;                  // for people
  std::vector<std::string> aliases;  // other names that people look for
  std::string project;               // the kind of project to make if nobody says one; empty: bare_metal
  bool own = false;                  // described by a file of the user's
  std::shared_ptr<const nlohmann::json> description;  // all of board.json, for templates

  bool has(std::string_view feature) const;
  bool is_host() const { return platform == "host"; }
  // No board in particular: portable C for any.
  bool is_generic() const { return name == kGenericBoard; }
  // Whether board.json says how a framework ("zephyr", "arduino") calls it.
  bool has_framework(const std::string& framework) const;
  // Whether board.json says how its chip starts: then its firmware needs no debugger.
  bool has_chip() const;
  // Beginnings of the names of other boards and chips that are most like this board, and the CPU of each, as --cpu
  // takes it.
  std::map<std::string, std::string> relatives() const;
  // The unit of the emulator's counts. A machine that stands in for the board counts instructions.
  std::string emulated_unit() const { return stand_in ? "instructions" : field("clock.unit"); }
  // By the default map of Arm's architecture a RAM there is Device memory, where unaligned accesses fault.
  bool is_device(const Memory& memory) const;
  // A description of what code must do before a memory with `setup` works.
  std::string setup_of(const Memory& memory) const;
  // Takes what a framework says that it has of the RAM of variables ("ram"), if that is less than there is.
  void limit_to(const std::string& framework);
  // Bytes of the memory that placement.<use> ("arena", "constants") names; 0 if unlimited.
  int64_t memory_bytes(const std::string& use) const;
  // nullptr if it has none of that name.
  const Memory* memory(std::string_view name) const;
  // What frameworks it is known to: "zephyr", "arduino", ...
  std::vector<std::string> frameworks() const;
  // Value at a dotted path as text; empty if there is none. Lists are joined by spaces.
  std::string field(const std::string& path) const;
};

// The command that runs a firmware image (an absolute path) in the board's emulator; empty if it has
// none.
std::vector<std::string> emulator_command(const Board& board, const std::string& image,
                                          const std::vector<std::string>& arguments);

const char* name_of(Speed speed);

std::vector<std::string> board_names();
// A board by its description. Reports [board-invalid], and [board-core] if the core is not one that the compiler knows
// or a feature is not one of its instruction set, with their places.
Result<Board> read_board(const std::string& text, const std::string& file, const std::string& name, Diagnostics& diags);
// `name`: of a board of this build, or of one that was remembered, or the path of a description (NAME.json), which is
// remembered. Reports [board-unknown] with the closest names, and what read_board and read_file report.
Result<Board> find_board(const std::string& name, Diagnostics& diags);

// find_board finds it by its name from now on, before those of the build.
void remember_board(const Board& board);

// `assembly`: microkernels in assembly where the CPU has them; false for portable C only.
ops::TargetInfo target_of(const Board& board, bool assembly = true);

}  // namespace aotc::project
