// SPDX-License-Identifier: Apache-2.0
// Tests that write the C of a model into a directory of their own, and build and run it with this computer's compiler.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codegen/c_model.h"
#include "support/files.h"
#include "support/process.h"

namespace aotc::tests {

class InDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "aotc_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // The model, and a main.c that calls it.
  void write(const codegen::ModelFiles& model, const std::string& main_c) {
    for (const auto& [name, text] : model.files) write(name, text);
    write("main.c", main_c);
  }
  void write(const std::string& name, const std::string& text) {
    Diagnostics diags;
    ASSERT_TRUE(write_file(dir_ + "/" + name, text, diags)) << diags.str();
  }
  std::string text(const std::string& name) {
    std::ifstream in(dir_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string run(const std::vector<std::string>& argv) {
    const ProcessResult r = run_process(argv, dir_);
    EXPECT_EQ(r.exit_code, 0) << argv[0] << ": " << r.output;
    return r.output;
  }
  // What the program prints that main.c and the model are.
  std::string built_and_run(const codegen::ModelFiles& model, const std::vector<std::string>& flags) {
    std::vector<std::string> command = {"cc", "-Wall", "-Wextra", "-Werror", "-o", "program", "main.c"};
    command.insert(command.begin() + 1, flags.begin(), flags.end());
    for (const auto& [name, text] : model.files)
      if (name.ends_with(".c")) command.push_back(name);
    run(command);
    return run({dir_ + "/program"});
  }

  std::string dir_;
};

}  // namespace aotc::tests
