// SPDX-License-Identifier: Apache-2.0
// A format of models is one folder: toy/ is recognised by its content, read by rules of its own,
// and what it gives goes through passes, planner and printer, is compiled and run on this computer.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "codegen/c_model.h"
#include "frontends/foreign.h"
#include "frontends/frontend.h"
#include "in_directory.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/program.h"

namespace aotc::frontends {

void add_frontend_toy(std::vector<Frontend>& to);

namespace {

// What CMake's table does for the folders of compiler/frontends.
const bool registered = [] {
  std::vector<Frontend> toy;
  add_frontend_toy(toy);
  for (Frontend& frontend : toy) add_frontend(std::move(frontend));
  return true;
}();

constexpr char kModel[] = R"(toy 1
input a 2 3
input b 3
c = larger a b
d = smooth c 0.25
e = total d 1
output e
)";

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

Result<graph::Graph> read(const std::string& text, Diagnostics& diags, const std::string& file = "m.toy") {
  return read_model(bytes_of(text), file, diags);
}

std::string refusal(const std::string& text, const std::string& file = "m.toy") {
  Diagnostics diags;
  EXPECT_FALSE(read(text, diags, file).ok());
  return diags.str();
}

TEST(ToyFrontend, IsKnownByItsContent) {
  EXPECT_TRUE(registered);
  ASSERT_NE(recognise(bytes_of(kModel)), nullptr);
  EXPECT_EQ(recognise(bytes_of(kModel))->name, "toy");
  EXPECT_EQ(recognise(bytes_of("toy 2\n")), nullptr);
  EXPECT_EQ(recognise({}), nullptr);
  const Frontend* tflite = recognise(bytes_of(std::string("\x1c\0\0\0TFL3\0\0\0\0", 12)));
  ASSERT_NE(tflite, nullptr);
  EXPECT_EQ(tflite->name, "tflite");
}

TEST(ToyFrontend, StandsBesideTheOthers) {
  ASSERT_NE(find_frontend("toy"), nullptr);
  ASSERT_NE(find_frontend("tflite"), nullptr);
  EXPECT_EQ(find_frontend("toys"), nullptr);
  // Every operator that a format names is there.
  for (const Frontend& frontend : frontends())
    for (const FormatOperator& o : frontend.operators())
      EXPECT_TRUE(o.op.empty() || ops::operators().find(o.op) != nullptr) << o.name << " " << o.op;
}

TEST(ToyFrontend, RefusesWithPlaces) {
  EXPECT_NE(refusal("toy 1\ninput a 3\nb = larger a c\n").find("m.toy:3: error: there is no 'c'"), std::string::npos)
      << refusal("toy 1\ninput a 3\nb = larger a c\n");
  EXPECT_NE(refusal("toy 1\n\nb = twice a\n").find("m.toy:3: error: no operator 'twice'"), std::string::npos);
  // What the operator itself refuses.
  EXPECT_NE(refusal("toy 1\ninput a 3\ninput b 2\nc = larger a b\n").find("do not broadcast"), std::string::npos);
}

TEST(ToyFrontend, WhatNobodyRecognisesIsTold) {
  const std::string said = refusal("a letter", "letter.txt");
  EXPECT_NE(said.find("[model-format]"), std::string::npos) << said;
  EXPECT_NE(said.find("TensorFlow Lite (.tflite)"), std::string::npos) << said;
  EXPECT_NE(said.find("toys (.toy)"), std::string::npos) << said;
  // By the extension of a file that is none after all, the format is asked what is wrong with it.
  EXPECT_NE(refusal("a letter", "letter.tflite").find("without the identifier TFL3"), std::string::npos);
}

codegen::ModelFiles compiled() {
  Diagnostics diags;
  auto graph = read(kModel, diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  EXPECT_TRUE(passes::run_pipeline(*graph, {}, diags)) << diags.str();
  auto program = plan::plan_program(std::move(*graph), {}, diags);
  EXPECT_TRUE(program.ok()) << diags.str();
  codegen::CodegenOptions options;
  options.prefix = options.model_name = "toy";
  return codegen::print_model(*program, options);
}

// In halves and quarters: sums are exact.
constexpr char kMain[] = R"(#include <stdio.h>
#include "toy.h"
int main(void) {
    static const float a[] = {1.0f, -4.0f, 8.0f, -2.0f, 0.5f, -16.0f};
    static const float b[] = {-1.0f, -2.0f, -8.0f};
    static float e[2];
    static unsigned char arena[TOY_ARENA_SIZE > 0 ? TOY_ARENA_SIZE : 1];
    struct toy_inputs inputs = {a, b};
    struct toy_outputs outputs = {e};
    if (toy_run(&inputs, &outputs, arena) != 0) return 1;
    printf("%g %g\n", e[0], e[1]);
    return 0;
}
)";

// The larger: 1 -2 8 and -1 0.5 -8; a quarter of what is negative: 1 -0.5 8 and -0.25 0.5 -2.
constexpr char kWanted[] = "8.5 -1.75\n";

using tests::InDirectory;

TEST_F(InDirectory, AModelIsReadCompiledAndRun) {
  const codegen::ModelFiles files = compiled();
  write(files, kMain);
  EXPECT_EQ(built_and_run(files, {"-std=c99", "-O1"}), kWanted);
}

}  // namespace
}  // namespace aotc::frontends
