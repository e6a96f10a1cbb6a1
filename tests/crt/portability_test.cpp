// SPDX-License-Identifier: Apache-2.0
// Runs the compilers of this machine on the runtime: each header alone in C99 and C++, each source
// without a warning on every target, a whole program without a libc, and the bounds of every
// configuration macro, which docs/crt.md must state as they are.
//
// A compiler that is not installed skips its cases.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "toolchain.h"

namespace {

std::vector<fs::path> files(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  EXPECT_FALSE(found.empty()) << folder;
  return found;
}

// Compiles nothing but `header`, twice, and a declaration, which a file in C must have.
Outcome include_alone(const std::string& compiler, const fs::path& header) {
  const std::string include = " -include " + header.string();
  return run("echo 'typedef int declaration;' | " + compiler + include_flag() + include + include +
             " -fsyntax-only -");
}

template <typename T>
std::string case_name(const testing::TestParamInfo<T>& parameter) {
  return parameter.param.name;
}

struct Toolchain {
  std::string name;
  std::string command;  // empty: not installed
  bool links;           // has a libgcc for the target
};

void PrintTo(const Toolchain& toolchain, std::ostream* out) { *out << toolchain.name; }

std::vector<Toolchain> toolchains() {
  const std::string arm = AOTC_ARM_GCC;
  return {
      {"host", with_flags(kHostC, " -O2"), true},
      {"clang", with_flags(AOTC_CLANG, " -O2"), true},
      {"cortex_m0", with_flags(arm, " -mcpu=cortex-m0 -mthumb -Os"), true},
      {"cortex_m4", with_flags(arm, " -mcpu=cortex-m4 -mthumb -O2"), true},
      {"rv32imac", with_flags(AOTC_RISCV_GCC, " -march=rv32imac -mabi=ilp32 -Os"), true},
      {"avr", with_flags(AOTC_AVR_GCC, " -mmcu=atmega328p -Os"), true},
  };
}

class Portability : public testing::TestWithParam<Toolchain> {
 protected:
  void SetUp() override {
    if (GetParam().command.empty()) GTEST_SKIP() << GetParam().name << " compiler not installed";
  }
};

TEST_P(Portability, SourcesCompileWithoutWarnings) {
  for (const fs::path& source : files(kCrt / "src", ".c")) {
    for (const char* config :
         {"", "-DTVM_WORKSPACE_SIZE_BYTES=512",
          "-DTVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK=0 -DTVM_RUNTIME_ALLOC_ALIGNMENT_BYTES=8"}) {
      const auto outcome = run(GetParam().command + kStrict + include_flag() + config +
                               " -c -o /dev/null " + source.string());
      EXPECT_EQ(outcome.status, 0) << source << " " << config << "\n" << outcome.output;
    }
  }
}

TEST_P(Portability, EachHeaderStandsAlone) {
  for (const fs::path& header : files(kCrt / "include", ".h")) {
    const auto outcome = include_alone(GetParam().command + kStrict + " -x c", header);
    EXPECT_EQ(outcome.status, 0) << header << "\n" << outcome.output;
  }
}

TEST_P(Portability, ModelLinksWithoutALibc) {
  Scratch scratch;
  ASSERT_FALSE(scratch.path.empty());
  const auto outcome =
      run(GetParam().command + kStrict + include_flag() + "-DTVM_WORKSPACE_SIZE_BYTES=512" +
          " -fno-pie -fno-stack-protector -static -nostdlib"
          " -Wl,-e,workspace_model_run " +
          (kTests / "model/workspace_model.c").string() + " " +
          (kTests / "model/system_lib.c").string() + runtime_sources() + " -lgcc -o " +
          (scratch.path / "program").string());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Toolchains, Portability, testing::ValuesIn(toolchains()),
                         case_name<Toolchain>);

// QEMU's machine and the core it has.
class Board : public testing::TestWithParam<std::array<std::string, 2>> {};

TEST_P(Board, RuntimeWorksWithASizeOf32Bits) {
  const std::string compiler = with_flags(AOTC_ARM_GCC, " -mthumb -Os -mcpu=" + GetParam()[1]);
  const std::string board = emulator(GetParam()[0]);
  if (compiler.empty() || board.empty()) GTEST_SKIP() << "no Arm compiler or emulator installed";
  Scratch scratch;
  ASSERT_FALSE(scratch.path.empty());
  const std::string program = (scratch.path / "program").string();
  const auto link =
      run(compiler + kStrict + include_flag() + "-DTVM_WORKSPACE_SIZE_BYTES=160" +
          " -ffunction-sections -Wl,--gc-sections -nostdlib -T " +
          (kTests / "board/board.ld").string() + " " + (kTests / "board/board_check.c").string() +
          " " + (kTests / "model/workspace_model.c").string() + " " +
          (kTests / "model/system_lib.c").string() + runtime_sources() + " -lgcc -o " + program);
  ASSERT_EQ(link.status, 0) << link.output;
  const auto check = run(board + program);
  EXPECT_EQ(check.status, 0) << "first failed check: line of board_check.c, modulo 256\n"
                             << check.output;
}

INSTANTIATE_TEST_SUITE_P(Qemu, Board,
                         testing::Values(std::array<std::string, 2>{"microbit", "cortex-m0"},
                                         std::array<std::string, 2>{"mps2-an386", "cortex-m4"}));

TEST(CplusplusPortability, EachHeaderStandsAlone) {
  for (const fs::path& header : files(kCrt / "include", ".h")) {
    const auto outcome =
        include_alone(AOTC_HOST_CXX_COMPILER
                      " -std=c++11 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -x c++",
                      header);
    EXPECT_EQ(outcome.status, 0) << header << "\n" << outcome.output;
  }
}

// A configuration macro as docs/crt.md has to state it, and values at and beyond its bounds.
struct Macro {
  std::string name;
  std::string default_value;
  std::string bounds;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

void PrintTo(const Macro& macro, std::ostream* out) { *out << macro.name; }

const std::vector<Macro>& macros() {
  static const std::vector<Macro> list = {
      {"TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES",
       "16",
       "8 .. 4096, a power of two",
       {"8", "16", "4096"},
       {"0", "1", "4", "7", "12", "24", "4095", "8192", "-16"}},
      {"TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK", "1", "0, 1", {"0", "1"}, {"-1", "2"}},
      {"TVM_WORKSPACE_SIZE_BYTES",
       "0",
       "0 .. 2147483647",
       {"0", "1", "2147483647"},
       {"-1", "2147483648", "4294967296"}},
      {"TVM_CRT_LAST_ERROR_BYTES", "64", "16 .. 1024", {"16", "1024"}, {"15", "1025", "0", "-1"}},
      {"TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES",
       "512",
       "64 .. 32768",
       {"64", "32768"},
       {"63", "32769", "0", "-1"}},
      {"TVM_CRT_MAX_REGISTERED_MODULES", "2", "1 .. 12", {"1", "12"}, {"0", "13", "-1"}},
      {"TVM_CRT_MAX_STRLEN_FUNCTION_NAME", "120", "16 .. 1024", {"16", "1024"}, {"15", "1025"}},
      {"TVM_CRT_MAX_ARGS", "10", "1 .. 255", {"1", "255"}, {"0", "256", "-1"}},
      {"TVM_CRT_MAX_NDIM", "6", "1 .. 32", {"1", "32"}, {"0", "33", "-1"}},
      {"TVM_CRT_MAX_PACKET_SIZE_BYTES", "2048", "64 .. 65535", {"64", "65535"}, {"63", "65536"}},
      {"TVM_CRT_MAX_STRLEN_DLTYPE", "10", "8 .. 64", {"8", "64"}, {"7", "65"}},
      {"TVM_CRT_MAX_STRLEN_PARAM_NAME", "80", "16 .. 1024", {"16", "1024"}, {"15", "1025"}},
      {"TVM_CRT_LOG_LEVEL", "0", "0 .. 3", {"0", "3"}, {"-1", "4"}},
      {"TVM_CRT_DEBUG", "0", "0, 1", {"0", "1"}, {"-1", "2"}},
  };
  return list;
}

class Config : public testing::TestWithParam<Macro> {
 protected:
  // Compiles a file that sees nothing but the configuration and checks `expression`.
  static Outcome compile(const std::string& flags, const std::string& expression = "1") {
    Scratch scratch;
    const fs::path source = scratch.path / "config.c";
    std::ofstream(source) << "#include <tvm/runtime/crt/crt_config.h>\n"
                             "typedef char check[("
                          << expression << ") ? 1 : -1];\n";
    return run(kHostC + kStrict + include_flag() + flags + " -fsyntax-only " + source.string());
  }
};

TEST_P(Config, BoundsAreEnforced) {
  const std::string& name = GetParam().name;
  for (const std::string& value : GetParam().good) {
    const auto outcome = compile("-D" + name + "=" + value, name + " == " + value);
    EXPECT_EQ(outcome.status, 0) << value << "\n" << outcome.output;
  }
  for (const std::string& value : GetParam().bad) {
    const auto outcome = compile("-D" + name + "=" + value);
    EXPECT_NE(outcome.status, 0) << name << "=" << value << " was accepted";
    // For the stated reason, not for another.
    EXPECT_NE(outcome.output.find("#error"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("\"" + name + " must be"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("[crt-config]"), std::string::npos) << outcome.output;
  }
}

TEST_P(Config, DefaultIsAsStated) {
  const auto outcome = compile("", GetParam().name + " == " + GetParam().default_value);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_P(Config, HeaderOfTheApplicationIsRead) {
  Scratch scratch;
  std::ofstream(scratch.path / "own.h")
      << "#define " << GetParam().name << " " << GetParam().good.back() << "\n";
  const auto outcome =
      compile("-I" + scratch.path.string() + " '-DTVM_CRT_CONFIG_HEADER=\"own.h\"'",
              GetParam().name + " == " + GetParam().good.back());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_P(Config, DocumentationStatesDefaultAndBounds) {
  std::ifstream file(AOTC_CRT_DOC);
  ASSERT_TRUE(file) << AOTC_CRT_DOC;
  std::stringstream text;
  text << file.rdbuf();
  const std::string row = "| `" + GetParam().name + "` | " + GetParam().default_value + " | " +
                          GetParam().bounds + " |";
  EXPECT_NE(text.str().find(row), std::string::npos) << "no table row begins " << row;
}

INSTANTIATE_TEST_SUITE_P(Macros, Config, testing::ValuesIn(macros()), case_name<Macro>);

TEST(ConfigList, HasEveryMacroOfTheHeader) {
  std::ifstream file(kCrt / "include/tvm/runtime/crt/crt_config.h");
  ASSERT_TRUE(file);
  std::size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string ifndef = "#ifndef ";
    if (line.rfind(ifndef, 0) != 0 || line.find("_H_") != std::string::npos) continue;
    const std::string name = line.substr(ifndef.size());
    bool listed = false;
    for (const Macro& macro : macros()) listed = listed || macro.name == name;
    EXPECT_TRUE(listed) << name << " has no test of its bounds";
    ++found;
  }
  EXPECT_EQ(found, macros().size());
}

}  // namespace
