// SPDX-License-Identifier: Apache-2.0
// How often calls run, beside how often the interpreter runs them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/operator.h"
#include "plan/executions.h"
#include "plan/program.h"
#include "plan/text.h"
#include "state_runs.h"

namespace aotc::plan {
namespace {

// A loop that ends when n, which begins with `first` and grows by `step`, is no longer below `end`. `end` and `first`
// are constants or inputs. A layer of 8 MACs is in the body, one of 4 behind the loop.
std::string looping(const std::string& first, const std::string& end) {
  return R"(graph "g" source "g" {
  input %0 "x" f32[1x2]
)" + first +
         end + R"(
  const %3 "w" f32[2x2] = [1, 2, 3, 4]
  %4 "n" f32[1], %5 "e" f32[1], %6 "r" f32[1x2] = while(%1, %2, %0) region "goes" {
    input %0 "n" f32[1]
    input %1 "end" f32[1]
    input %2 "a" f32[1x2]
    %3 "go" bool[1] = less(%0, %1)
    output %3
  } region "body" {
    input %0 "n" f32[1]
    input %1 "end" f32[1]
    input %2 "a" f32[1x2]
    const %3 "one" f32[1] = [1]
    const %4 "w" f32[2x2] = [0.5, 0.25, 0.125, 0.5]
    %5 "m" f32[1] = add(%0, %3)
    %6 "p" f32[1x2] = fully_connected(%2, %4)
    %7 "b" f32[1x2] = fully_connected(%6, %4)
    output %5
    output %1
    output %7
  }
  %7 "y" f32[1x2] = fully_connected(%6, %3)
  output %7
}
)";
}
const std::string kZero = "  const %1 \"zero\" f32[1] = [0]\n", kGivenZero = "  input %1 \"zero\" f32[1]\n";
const std::string kTwenty = "  const %2 \"end\" f32[1] = [20]\n", kGivenEnd = "  input %2 \"end\" f32[1]\n";

Program program_of_loop(const std::string& text) {
  Diagnostics diags;
  auto program = plan_program(tests::parsed(text), {}, diags);
  EXPECT_TRUE(program) << diags.str();
  return program ? std::move(*program) : Program{};
}

// How often each call of a program runs, by the results that it leaves; -1 where it leaves none.
std::vector<int64_t> runs_of(const Program& program) {
  std::vector<int64_t> out;
  for (const ProgramCall& call : program.calls) out.push_back(call.results.empty() ? -1 : 0);
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t i = 0; i < program.graph.inputs.size(); ++i)
    inputs.push_back(tests::input_of(program.graph[program.graph.inputs[i].tensor].type, 0, i));
  Diagnostics diags;
  auto done = run_program(program, inputs, diags, [&](int call, int result, std::span<const uint8_t>) {
    if (result == 0) ++out[static_cast<size_t>(call)];
  });
  EXPECT_TRUE(done) << diags.str();
  return out;
}

TEST(Executions, OfALoopThatConstantsDecideAreWhatTheInterpreterRuns) {
  const Program p = program_of_loop(looping(kZero, kTwenty));
  const Executions e = executions_of(p);
  EXPECT_TRUE(e.known);
  const std::vector<int64_t> runs = runs_of(p);
  int in_loop = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] < 0) continue;
    EXPECT_EQ(e.times[i], runs[i]) << i;
    EXPECT_FALSE(e.per_iteration[i]);
    in_loop += runs[i] == 20 ? 1 : 0;
  }
  EXPECT_EQ(in_loop, 3);
  EXPECT_EQ(macs_of(p.reference()), 20 * 8 + 4);
  // The condition is computed once more than the body.
  EXPECT_EQ(total_of(p, std::vector<int64_t>(p.calls.size(), 1)), [&] {
    int64_t sum = 0;
    for (int64_t t : e.times) sum += t;
    return sum;
  }());
}

TEST(Executions, OfALoopThatInputsDecideCountOneIteration) {
  for (const std::string& text : {looping(kZero, kGivenEnd), looping(kGivenZero, kTwenty)}) {
    const Program p = program_of_loop(text);
    const Executions e = executions_of(p);
    EXPECT_FALSE(e.known);
    int in_loop = 0;
    for (size_t i = 0; i < e.times.size(); ++i) {
      EXPECT_EQ(e.times[i], 1);
      in_loop += e.per_iteration[i] ? 1 : 0;
    }
    EXPECT_GE(in_loop, 3);
    EXPECT_EQ(macs_of(p.reference()), 8 + 4);
  }
}

TEST(Executions, OfALoopThatDoesNotEndAreUnknown) {
  const Program p = program_of_loop(looping(kZero, "  const %2 \"end\" f32[1] = [1e9]\n"));
  EXPECT_FALSE(executions_of(p).known);
}

TEST(Executions, OfLoopsInLoopsMultiply) {
  const Program p = program_of_loop(R"(graph "g" source "g" {
  input %0 "x" f32[1x2]
  const %1 "zero" f32[1] = [0]
  %2 "n" f32[1], %3 "r" f32[1x2] = while(%1, %0) region "goes" {
    input %0 "n" f32[1]
    input %1 "a" f32[1x2]
    const %2 "end" f32[1] = [5]
    %3 "go" bool[1] = less(%0, %2)
    output %3
  } region "body" {
    input %0 "n" f32[1]
    input %1 "a" f32[1x2]
    const %2 "one" f32[1] = [1]
    const %3 "zero" f32[1] = [0]
    %4 "m" f32[1] = add(%0, %2)
    %5 "k" f32[1], %6 "b" f32[1x2] = while(%3, %1) region "goes" {
      input %0 "n" f32[1]
      input %1 "a" f32[1x2]
      const %2 "end" f32[1] = [3]
      %3 "go" bool[1] = less(%0, %2)
      output %3
    } region "body" {
      input %0 "n" f32[1]
      input %1 "a" f32[1x2]
      const %2 "one" f32[1] = [1]
      const %3 "w" f32[2x2] = [0.5, 0.25, 0.125, 0.5]
      %4 "m" f32[1] = add(%0, %2)
      %5 "b" f32[1x2] = fully_connected(%1, %3)
      output %4
      output %5
    }
    output %4
    output %6
  }
  output %3
}
)");
  EXPECT_EQ(macs_of(p.reference()), 5 * 3 * 4);
  const Executions e = executions_of(p);
  const std::vector<int64_t> runs = runs_of(p);
  for (size_t i = 0; i < runs.size(); ++i)
    if (runs[i] >= 0) {
      EXPECT_EQ(e.times[i], runs[i]) << i;
    }
}

TEST(Executions, OfManyLoopsInLoopsEndAtTheMost) {
  ProgramStep step;
  step.kind = ProgramStep::Kind::kCall;
  step.call = 0;
  for (int depth = 0; depth < 5; ++depth) {
    ProgramStep loop;
    loop.kind = ProgramStep::Kind::kLoop;
    loop.trip_count = kMostIterations - 1;
    loop.blocks = {{}, {std::move(step)}};
    step = std::move(loop);
  }
  Program p;
  p.calls.resize(1);
  p.body = {std::move(step)};
  EXPECT_EQ(executions_of(p).times, std::vector<int64_t>{kMostWork});
  EXPECT_EQ(total_of(p, {1000}), kMostWork);
  EXPECT_EQ(multiplied(1000, kMostWork), kMostWork);
  EXPECT_EQ(multiplied(7, 3), 21);
  EXPECT_EQ(multiplied(7, 0), 0);
}

TEST(Executions, OfTwoBranchesTheLargerCounts) {
  const Program p = program_of_loop(R"(graph "g" source "g" {
  input %0 "c" bool[1]
  input %1 "a" f32[1x2]
  %2 "r" f32[1x2] = if(%0, %1) region "then" {
    input %0 "x" f32[1x2]
    const %1 "w" f32[2x2] = [1, 2, 3, 4]
    %2 "t" f32[1x2] = fully_connected(%0, %1)
    output %2
  } region "else" {
    input %0 "x" f32[1x2]
    const %1 "w" f32[2x2] = [1, 2, 3, 4]
    %2 "t" f32[1x2] = fully_connected(%0, %1)
    %3 "u" f32[1x2] = fully_connected(%2, %1)
    output %3
  }
  output %2
}
)");
  EXPECT_EQ(macs_of(p.reference()), 8);
  EXPECT_TRUE(executions_of(p).known);
}

TEST(Executions, AreInTheTextOfAPlan) {
  const Program p = program_of_loop(looping(kZero, kTwenty));
  EXPECT_NE(print(p, {}).find("loop 20 times {"), std::string::npos);
  EXPECT_NE(print(program_of_loop(looping(kZero, kGivenEnd)), {}).find("loop {"), std::string::npos);
}

}  // namespace
}  // namespace aotc::plan
