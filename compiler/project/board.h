// SPDX-License-Identifier: Apache-2.0
// Board: the content of boards/<name>/board.json, which describes CPU, features, memories, console, emulator and the
// board's names in frameworks. `target_of` derives the compiler's target from it; templates read it with `field`.
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

// kFast: tightly coupled, or as fast as the core. kNormal: on a bus. kSlow: external, or accessed through a cache.
enum class Speed { kFast, kNormal, kSlow };

inline constexpr const char* kGenericBoard = "generic";

struct Memory {
  std::string name;
  bool flash = false;
  std::string origin;  // hexadecimal text
  int64_t size = 0;    // bytes
  Speed speed = Speed::kNormal;
  // Linker sections that place data in this memory: `sections` for initialised data, `arena_sections` for arenas. Key:
  // the framework ("bare_metal", "zephyr", ...).
  std::map<std::string, std::string> sections, arena_sections;
  // Wait states for reading one line of `line_bytes` bytes of this flash at the full clock; 0: not specified.
  int wait_states = 0, line_bytes = 0;
  std::string setup;  // work that code must do before the memory works; empty: none

  std::string lower_name() const;  // the name in lower case, as in names of pools and sections
};

struct Board {
  std::string name;
  std::string title;
  std::string cpu;
  std::string isa;
  std::string platform;  // key in a template's "platforms"
  std::vector<std::string> features;
  std::string toolchain_prefix, compiler;
  std::vector<std::string> cflags, toolchain_packages;
  std::vector<Memory> memories;
  int64_t stack_bytes = 0;
  std::string emulator_program;
  std::vector<std::string> emulator_argv, emulator_packages;
  std::string argument_style;        // "argv", "semihosting" or empty
  bool stand_in = false;             // true if the emulator runs another machine: results are valid, times are not
  std::string note;                  // for people
  std::vector<std::string> aliases;  // other names under which users may search for the board
  std::string project;               // the default kind of project; empty: bare_metal
  bool own = false;                  // true if a file of the user describes the board
  std::shared_ptr<const nlohmann::json> description;  // all of board.json, for templates

  bool has(std::string_view feature) const;
  bool is_host() const { return platform == "host"; }
  // True for the generic target: portable C for any board.
  bool is_generic() const { return name == kGenericBoard; }
  // True if board.json has the board's name in a framework ("zephyr", "arduino").
  bool has_framework(const std::string& framework) const;
  // True if board.json describes how the chip starts; its firmware then needs no debugger.
  bool has_chip() const;
  // Similar boards and chips: the beginning of each name, and the CPU to pass to --cpu.
  std::map<std::string, std::string> relatives() const;
  // The unit of the emulator's counts. A stand-in machine counts instructions.
  std::string emulated_unit() const { return stand_in ? "instructions" : field("clock.unit"); }
  // True if a RAM at this address is Device memory in Arm's default memory map: unaligned accesses fault there.
  bool is_device(const Memory& memory) const;
  // Describes the work that code must do before a memory with `setup` works.
  std::string setup_of(const Memory& memory) const;
  // Reduces the size of the memory for variables to the part that the framework leaves to the application ("ram" in
  // board.json), if that is less.
  void limit_to(const std::string& framework);
  // Bytes of the memory that placement.<use> ("arena", "constants") names; 0 if unlimited.
  int64_t memory_bytes(const std::string& use) const;
  // The memory of that name; nullptr if there is none.
  const Memory* memory(std::string_view name) const;
  // The frameworks that support the board: "zephyr", "arduino", ...
  std::vector<std::string> frameworks() const;
  // Value at a dotted path as text; empty if there is none. Lists are joined by spaces.
  std::string field(const std::string& path) const;
};

// The command that runs a firmware image (an absolute path) in the board's emulator; empty if there is no emulator.
std::vector<std::string> emulator_command(const Board& board, const std::string& image,
                                          const std::vector<std::string>& arguments);

const char* name_of(Speed speed);

std::vector<std::string> board_names();
// Parses a board description. Reports [board-invalid], and [board-core] with the location if the compiler does not know
// the core, or if a feature does not belong to its instruction set.
Result<Board> read_board(const std::string& text, const std::string& file, const std::string& name, Diagnostics& diags);
// `name`: the name of a built-in or remembered board, or the path of a description (NAME.json), which the function
// remembers. Reports [board-unknown] with the closest names, and the errors of read_board and read_file.
Result<Board> find_board(const std::string& name, Diagnostics& diags);

// Makes find_board find this board by its name, before the built-in boards.
void remember_board(const Board& board);

// The compiler's target. `assembly`: use microkernels in assembly if the CPU has them; false: portable C only.
ops::TargetInfo target_of(const Board& board, KernelForm kernels = KernelForm::kAssembly);

}  // namespace aotc::project
