// SPDX-License-Identifier: Apache-2.0
// Compilers and emulators for the tests of this folder: where they are, how a command is run, and
// temporary folders. A tool that is not installed has an empty command.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;

inline const fs::path kCrt = AOTC_CRT_DIR;
inline const fs::path kTests = AOTC_CRT_TESTS_DIR;
inline const std::string kStrict =
    " -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -ffreestanding ";
inline const std::string kHostC = AOTC_HOST_C_COMPILER;

struct Outcome {
  int status;
  std::string output;
};

inline Outcome run(const std::string& command) {
  Outcome outcome{-1, ""};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> chunk;
  while (std::size_t got = fread(chunk.data(), 1, chunk.size(), pipe)) {
    outcome.output.append(chunk.data(), got);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

// A temporary folder that goes with the case.
struct Scratch {
  Scratch() {
    std::string name = (fs::temp_directory_path() / "aotc_crt_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path = name;
  }
  ~Scratch() {
    if (!path.empty()) fs::remove_all(path);
  }
  fs::path path;
};

inline std::string with_flags(const std::string& compiler, const std::string& flags) {
  return compiler.empty() || compiler.find("NOTFOUND") != std::string::npos ? "" : compiler + flags;
}

// All sources of the runtime, as arguments.
inline std::string runtime_sources() {
  std::string sources;
  for (const auto& entry : fs::directory_iterator(kCrt / "src")) {
    if (entry.path().extension() == ".c") sources += " " + entry.path().string();
  }
  return sources;
}

inline std::string include_flag() { return " -I" + (kCrt / "include").string() + " "; }

// QEMU with a machine, for a program that ends it; empty if not installed.
inline std::string emulator(const std::string& machine, const std::string& options = "") {
  const std::string command = with_flags(AOTC_QEMU_ARM, " -M " + machine + " " + options);
  if (command.empty()) return "";
  return "timeout 60 " + command +
         " -display none -monitor none -serial none"
         " -semihosting-config enable=on,target=native -kernel ";
}
