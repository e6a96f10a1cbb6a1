#include "project/arduino.h"

#include <fmt/format.h>

namespace aotc::project {

namespace {

// A section of platformio.ini. Without a board it is a program for this machine.
std::string environment(const Board& board) {
  if (!board.has_framework("platformio")) return "[env:native]\nplatform = native";
  auto field = [&](const char* name) {
    return board.field(fmt::format("frameworks.platformio.{}", name));
  };
  return fmt::format("[env:{}]\nplatform = {}\nboard = {}\nframework = {}\nmonitor_speed = 115200",
                     board.name, field("platform"), field("board"), field("framework"));
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

}  // namespace aotc::project
