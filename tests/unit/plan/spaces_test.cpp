// SPDX-License-Identifier: Apache-2.0
// Memories of parameters: which functions are split, and what is refused.
#include "plan/spaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotc::plan {
namespace {

using ::testing::HasSubstr;

// Copies `in` to `out`, as the plan does for outputs.
tir::FunctionPtr copy_function() {
  tir::FunctionBuilder f("copy");
  tir::BufferPtr in = f.input("in", DType::kI8, 40);
  tir::BufferPtr out = f.output("out", DType::kI8, 40);
  f.copy(out, 0, in, 0, 40);
  f.store(out, 0, tir::load(in, tir::Ex(1)));
  return f.finish();
}

ProgramCall call_with(StorageKind source) {
  ProgramCall call;
  call.function = 0;
  call.arguments = {{{source, 0, 0, source == StorageKind::kConstant ? -1 : 0}, DType::kI8, 40, {40}},
                    {{StorageKind::kOutput, 0, 0, 0}, DType::kI8, 40, {40}}};
  return call;
}

Program program_of(std::initializer_list<StorageKind> sources) {
  Program program;
  program.functions.push_back({copy_function(), {}, false, 0, std::nullopt});
  for (StorageKind source : sources) {
    program.functions[0].calls.push_back(static_cast<int>(program.calls.size()));
    program.calls.push_back(call_with(source));
  }
  program.constants.push_back({"table", -1, {"table", DType::kI8, std::vector<uint8_t>(40), 4}, 0});
  return program;
}

TEST(Spaces, FunctionOfTablesAloneReadsProgramMemory) {
  Program program = program_of({StorageKind::kConstant, StorageKind::kConstant});
  Diagnostics diags;
  ASSERT_TRUE(move_tables_to_program(program, {}, diags));
  ASSERT_EQ(program.functions.size(), 1u);
  EXPECT_EQ(program.functions[0].body->params[0]->space, tir::Space::kProgram);
  EXPECT_EQ(program.functions[0].body->params[1]->space, tir::Space::kData);
  EXPECT_TRUE(program.program_tables);
}

TEST(Spaces, FunctionOfTableAndTensorIsSplit) {
  Program program =
      program_of({StorageKind::kArena, StorageKind::kConstant, StorageKind::kInput, StorageKind::kConstant});
  Diagnostics diags;
  ASSERT_TRUE(move_tables_to_program(program, {}, diags));
  ASSERT_EQ(program.functions.size(), 2u);
  EXPECT_EQ(program.functions[0].calls, (std::vector<int>{0, 2}));
  EXPECT_EQ(program.functions[1].calls, (std::vector<int>{1, 3}));
  for (int c = 0; c < 4; ++c) EXPECT_EQ(program.calls[static_cast<size_t>(c)].function, c % 2);
  EXPECT_EQ(program.functions[0].body->params[0]->space, tir::Space::kData);
  EXPECT_EQ(program.functions[1].body->params[0]->space, tir::Space::kProgram);
  for (const ProgramFunction& f : program.functions) EXPECT_TRUE(tir::verify(*f.body, diags));
  // Every use of the buffer is of the parameter: the text form reads back as the same function.
  std::string text = tir::print(*program.functions[1].body);
  EXPECT_THAT(text, HasSubstr("in in: i8[40] program"));
  auto again = tir::parse(text, "split", diags);
  ASSERT_TRUE(again);
  EXPECT_TRUE(tir::structurally_equal(**again, *program.functions[1].body));
  EXPECT_FALSE(tir::structurally_equal(*program.functions[0].body, *program.functions[1].body));
}

TEST(Spaces, ExternalFunctionsAreNotGivenTables) {
  Program program = program_of({StorageKind::kConstant});
  program.functions[0].external = ops::ExternalFunction{"mine"};
  Diagnostics diags;
  EXPECT_FALSE(move_tables_to_program(program, {}, diags));
  EXPECT_THAT(diags.str(), HasSubstr("[harvard-external]"));
  EXPECT_THAT(diags.str(), HasSubstr("'mine'"));
  // Of an operator, the first one too.
  program.graph.ops.resize(2);
  for (int op : {0, 1}) {
    program.graph.ops[static_cast<size_t>(op)].location.op_index = 40 + op;
    program.calls[0].op_index = op;
    Diagnostics located;
    EXPECT_FALSE(move_tables_to_program(program, {}, located));
    ASSERT_EQ(located.all().size(), 1u);
    EXPECT_EQ(located.all()[0].location.op_index, 40 + op);
  }
}

TEST(Spaces, TablesOutOfReachAreRefused) {
  ops::TargetInfo target;
  for (auto [reach, largest, fine] : {std::tuple{40, 40, true}, {39, 40, false}, {40, 39, false}}) {
    Program program = program_of({StorageKind::kConstant});
    target.program_reach = reach;
    target.largest_object = largest;
    Diagnostics diags;
    EXPECT_EQ(move_tables_to_program(program, target, diags).ok(), fine);
    EXPECT_EQ(diags.str().find("[harvard-tables]") == std::string::npos, fine);
  }
}

TEST(Spaces, DoubleIsRefusedWhereCHasNone) {
  Program program = program_of({StorageKind::kArena});
  tir::FunctionBuilder f("scale");
  tir::BufferPtr in = f.input("in", DType::kF32, 1);
  tir::BufferPtr out = f.output("out", DType::kF32, 1);
  f.store(out, 0, cast(DType::kF32, cast(DType::kF64, tir::load(in, tir::Ex(0))) * tir::f64(0.1)));
  ops::TargetInfo target;
  target.fp64 = false;
  Diagnostics diags;
  EXPECT_TRUE(check_numbers(program, target, diags));
  program.functions[0].body = f.finish();
  EXPECT_FALSE(check_numbers(program, target, diags));
  EXPECT_THAT(diags.str(), HasSubstr("[target-double]"));
  target.fp64 = true;
  EXPECT_TRUE(check_numbers(program, target, diags));
}

}  // namespace
}  // namespace aotc::plan
