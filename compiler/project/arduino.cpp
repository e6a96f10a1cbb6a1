// SPDX-License-Identifier: Apache-2.0
#include "project/template.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::project {

namespace {

// A section of platformio.ini. Without a board it is a program for this machine.
std::string environment(const Board& board) {
  if (!board.has_framework("platformio")) return "[env:native]\nplatform = native";
  auto field = [&](const char* name) { return board.field(fmt::format("frameworks.platformio.{}", name)); };
  return fmt::format("[env:{}]\nplatform = {}\nboard = {}\nframework = {}\nmonitor_speed = 115200", board.name,
                     field("platform"), field("board"), field("framework"));
}

}  // namespace

void add_arduino_values(const Board& board, const std::string& camel_prefix, const std::string& folder,
                        Values& values) {
  const std::string architecture = board.field("frameworks.arduino.architecture");
  values.keys["architectures"] = architecture.empty() ? "*" : architecture;
  values.keys["platformio_environment"] = environment(board);
  values.keys["platformio_program"] =
      board.has_framework("platformio") ? board.name + "/firmware.elf" : "native/program";
  values.model["library_name"] = camel_prefix + "Model";
  values.model["sketch_name"] = folder;
}

Status place_arduino_arena(const TemplateDescription& description, const Board& board, const std::string& macro_prefix,
                           Values& values, Diagnostics& diags) {
  if (description.framework != "arduino" && description.framework != "platformio") return success();
  const auto given = values.options.find("arena");
  const std::string wanted = given == values.options.end() ? board.field("placement.arena") : given->second;
  std::string section, others;
  for (const Memory& m : board.memories) {
    auto it = m.arena_sections.find("arduino");
    if (it == m.arena_sections.end()) continue;
    others += " " + m.name;
    if (m.name == wanted) section = it->second;
  }
  if (!section.empty()) {
    std::string& places = values.keys["pool_places"];
    places = fmt::format(
                 "#ifndef {0}_PLACE_ARENA\n#define {0}_PLACE_ARENA __attribute__((section(\"{1}\")))"
                 "\n#endif\n",
                 macro_prefix, section) +
             places;
    return success();
  }
  // Where variables lie anyway no section is needed; what is no memory at all is said elsewhere.
  const bool known =
      std::any_of(board.memories.begin(), board.memories.end(), [&](const Memory& m) { return m.name == wanted; });
  if (given == values.options.end() || !known || wanted == board.field("placement.data")) return success();
  Location where;
  where.file = "template " + description.kind;
  diags
      .error(where, "template-option",
             fmt::format("option 'arena' is '{}', but the Arduino core of board '{}' has no section in that memory",
                         wanted, board.name))
      .help(others.empty() ? "omit the option: the arena is then placed with the variables"
                           : "memories with a section:" + others);
  return kFailure;
}

}  // namespace aotc::project
