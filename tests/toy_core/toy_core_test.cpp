// SPDX-License-Identifier: Apache-2.0
// A core with kernels is one folder: toy/ is chosen by its CPU's name and feature, its kernel is taken before the
// operator's own lowering, printed, compiled and run on this computer.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/c_model.h"
#include "cores/cpu.h"
#include "cores/family.h"
#include "graph/graph.h"
#include "in_directory.h"
#include "ops/operator.h"
#include "plan/program.h"

namespace aotc::cores {

void add_family_toy(std::vector<Family>& to);

namespace {

// What CMake's table does for the folders of compiler/cores.
const bool registered = [] {
  std::vector<Family> toy;
  add_family_toy(toy);
  for (Family& family : toy) add_family(std::move(family));
  return true;
}();

constexpr int kElements = 12;

// The first is int8, which the toy takes; the second is not.
std::string model() {
  return fmt::format(R"(graph "toy" {{
  input %0 "a" i8[{0}] quant(0.5, 0)
  input %1 "b" i8[{0}] quant(0.5, 0)
  input %2 "c" i32[{0}]
  input %3 "d" i32[{0}]
  %4 "larger" i8[{0}] quant(0.5, 0) = maximum(%0, %1)
  %5 "other" i32[{0}] = maximum(%2, %3)
  output %4
  output %5
}}
)",
                     kElements);
}

ops::TargetInfo toy(bool assembly = true, bool feature = true) {
  auto has = [=](std::string_view name) { return feature && name == "toy"; };
  return target_info({"toy", "toy", has, assembly ? KernelForm::kAssembly : KernelForm::kC});
}

graph::Graph parsed() {
  Diagnostics diags;
  auto g = graph::parse(model(), "toy.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(g.ok() && ops::verify_graph(*g, diags)) << diags.str();
  return std::move(*g);
}

plan::Program planned(const ops::TargetInfo& target) {
  plan::PlanOptions options;
  options.target = target;
  Diagnostics diags;
  auto program = plan::plan_program(parsed(), options, diags);
  EXPECT_TRUE(program.ok()) << diags.str();
  return std::move(*program);
}

std::string algorithm(const ops::TargetInfo& target, size_t op) {
  const graph::Graph g = parsed();
  return ops::lower({g, g.ops[op]}, target).schedule.algorithm;
}

TEST(ToyCore, IsKnownByName) {
  EXPECT_TRUE(registered);
  EXPECT_TRUE(knows_cpu("toy"));
  EXPECT_EQ(timing_of("toy")->load, 7);
  EXPECT_EQ(toy().registers, 5);
  EXPECT_FALSE(knows_cpu("toys"));
}

TEST(ToyCore, ItsLoweringIsTakenWhereItApplies) {
  EXPECT_EQ(algorithm(toy(), 0), "toy");
  EXPECT_EQ(algorithm(toy(), 1), "");
  EXPECT_EQ(algorithm(toy(false), 0), "");
  EXPECT_EQ(algorithm(toy(true, false), 0), "");
}

TEST(ToyCore, ASchedulesFileMayRuleItOut) {
  ops::Schedule portable;
  portable.algorithm = "portable";
  ops::TargetInfo target = toy();
  target.asked = &portable;
  EXPECT_EQ(algorithm(target, 0), "");
}

int8_t byte_at(int input, int i) { return static_cast<int8_t>(input == 0 ? 40 * i - 120 : 90 - 17 * i); }
int32_t word_at(int input, int i) { return input == 2 ? 1000 * i : 9000 - 70 * i * i; }

// Prints the results of a run as numbers.
std::string main_c() {
  std::string arrays;
  for (int input = 0; input < 4; ++input) {
    arrays += fmt::format("    static const {} in{}[] = {{", input < 2 ? "int8_t" : "int32_t", input);
    for (int i = 0; i < kElements; ++i) arrays += fmt::format("{},", input < 2 ? byte_at(input, i) : word_at(input, i));
    arrays += "};\n";
  }
  return fmt::format(R"(#include <stdio.h>
#include "toy.h"
int main(void) {{
{}    static int8_t larger[{}];
    static int32_t other[{}];
    static unsigned char arena[TOY_ARENA_SIZE > 0 ? TOY_ARENA_SIZE : 1];
    struct toy_inputs inputs = {{in0, in1, in2, in3}};
    struct toy_outputs outputs = {{larger, other}};
    int i;
    if (toy_run(&inputs, &outputs, arena) != 0) return 1;
    for (i = 0; i < {}; ++i) printf("%d %d\n", larger[i], (int)other[i]);
    return 0;
}}
)",
                     arrays, kElements, kElements, kElements);
}

std::string wanted() {
  std::string out;
  for (int i = 0; i < kElements; ++i)
    out += fmt::format("{} {}\n", std::max(byte_at(0, i), byte_at(1, i)), std::max(word_at(2, i), word_at(3, i)));
  return out;
}

using tests::InDirectory;

TEST_F(InDirectory, TheKernelIsPrintedCompiledAndRun) {
  codegen::CodegenOptions options;
  options.prefix = options.model_name = "toy";
  const codegen::ModelFiles files = codegen::print_model(planned(toy()), options);
  write(files, main_c());
  const std::string& c = files.files.at("toy.c");
  EXPECT_NE(c.find("kernel toy_larger"), std::string::npos);
  EXPECT_NE(c.find("register const int8_t *a0 __asm__(\"rdi\")"), std::string::npos) << c;
  run({"cc", "-std=gnu99", "-O2", "-S", "toy.c"});
#ifdef __x86_64__
  EXPECT_NE(text("toy.s").find("cmovll %r8d, %eax"), std::string::npos);
#endif
  EXPECT_EQ(built_and_run(files, {"-std=gnu99", "-O2"}), wanted());
}

}  // namespace
}  // namespace aotc::cores
