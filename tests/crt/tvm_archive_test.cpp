// SPDX-License-Identifier: Apache-2.0
// The C sources of archives that TVM wrote, compiled and linked with the runtime unchanged: every
// operator is called by name, on the host and on an emulated Cortex-M4.
//
// The archives lie in ../shared/tvm beside the repository (or $AOTC_SHARED/tvm). Without them the
// cases are skipped, unless CI=true.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "toolchain.h"

namespace {

fs::path archives() {
  const char* shared = std::getenv("AOTC_SHARED");
  return (shared != nullptr ? fs::path(shared) : kCrt.parent_path().parent_path() / "shared") /
         "tvm";
}

class TvmArchive : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const fs::path archive = archives() / (GetParam() + ".tar");
    if (!fs::exists(archive)) {
      const char* ci = std::getenv("CI");
      if (ci != nullptr && std::string(ci) == "true") FAIL() << archive << " is missing";
      GTEST_SKIP() << archive << " is missing";
    }
    ASSERT_FALSE(scratch_.path.empty());
    const auto tar = run("tar -xf " + archive.string() + " -C " + scratch_.path.string());
    ASSERT_EQ(tar.status, 0) << tar.output;
    for (const auto& entry : fs::directory_iterator(scratch_.path / "codegen/host/src")) {
      read_operators(entry.path());
      sources_ += " " + entry.path().string();
    }
    ASSERT_FALSE(operators_.empty());
    write_list();
  }

  // Each packed function with the number of its arguments: the highest whose code it reads, plus 1.
  void read_operators(const fs::path& source) {
    std::ifstream file(source);
    std::stringstream text;
    text << file.rdbuf();
    const std::regex definition(R"(int32_t (\w+)\(void\* args)");
    const std::regex argument(R"(arg_type_ids\[(\d+)\])");
    std::string operator_name;
    for (std::string line; std::getline(text, line);) {
      std::smatch found;
      if (std::regex_search(line, found, definition)) {
        operator_name = found[1];
        operators_[operator_name] = 0;
      } else if (std::regex_search(line, found, argument)) {
        int& count = operators_[operator_name];
        count = std::max(count, std::stoi(found[1]) + 1);
      }
      has_system_lib_ |= line.find("TVMSystemLibEntryPoint") != std::string::npos;
    }
  }

  void write_list() {
    std::ofstream list(scratch_.path / "archive.inc");
    for (const auto& [name, arguments] : operators_) {
      list << "extern int32_t " << name << "(TVMValue *, int *, int, TVMValue *, int *, void *);\n";
    }
    // A function without arguments of its own forwards to another.
    list << "#define OPERATORS";
    for (const auto& [name, arguments] : operators_) {
      list << " \\\n  OPERATOR(" << name << ", " << (arguments == 0 ? 3 : arguments) << ")";
    }
    list << "\n";
  }

  std::string compile_command() const {
    return std::string(
               " -std=c99 -w -ffunction-sections -Wl,--gc-sections "
               "-DTVM_WORKSPACE_SIZE_BYTES=262144") +
           (has_system_lib_ ? "" : " -DREGISTER_BY_HAND") + include_flag() + "-I" +
           scratch_.path.string() + " " + (kTests / "model/tvm_archive.c").string() + sources_ +
           runtime_sources() + " -lm -o " + program();
  }
  std::string program() const { return (scratch_.path / "program").string(); }

  Scratch scratch_;
  std::map<std::string, int> operators_;
  std::string sources_;
  bool has_system_lib_ = false;
};

TEST_P(TvmArchive, OperatorsAreCalledByNameOnTheHost) {
  const auto link = run(kHostC + " -O1 -g -fsanitize=address" + compile_command());
  ASSERT_EQ(link.status, 0) << link.output;
  const auto check = run("timeout 100 " + program());
  EXPECT_EQ(check.status, 0) << "check that failed: tvm_archive.c\n" << check.output;
}

TEST_P(TvmArchive, OperatorsAreCalledByNameOnCortexM4) {
  const std::string compiler = with_flags(AOTC_ARM_GCC, " -mcpu=cortex-m4 -mthumb -O2");
  const std::string board = emulator("mps2-an386");
  if (compiler.empty() || board.empty()) GTEST_SKIP() << "no Arm compiler or emulator installed";
  const auto link = run(compiler + " -nostartfiles --specs=nosys.specs -T " +
                        (kTests / "board/tvm_archive.ld").string() + compile_command());
  ASSERT_EQ(link.status, 0) << link.output;
  const auto check = run(board + program());
  EXPECT_EQ(check.status, 0) << "check that failed: tvm_archive.c\n" << check.output;
}

INSTANTIATE_TEST_SUITE_P(Archives, TvmArchive,
                         testing::Values("op_add_c", "op_add_crt_syslib", "kws_graph",
                                         "resnet_graph"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
