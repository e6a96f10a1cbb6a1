// SPDX-License-Identifier: Apache-2.0
// Branches and loops in corners of the planner that random graphs found.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cores/cpu.h"
#include "ops/operator.h"
#include "plan/program.h"
#include "state_runs.h"

namespace aotc {
namespace {

using tests::expect_runs;
using tests::parsed;

TEST(PlanControl, RegionsWithoutOperatorsAreRegions) {
  graph::Graph g = parsed(R"(graph "g" source "g" {
  input %0 "c" bool[1]
  input %1 "a" f32[2]
  input %2 "b" f32[2]
  %3 "r" f32[2] = if(%0, %1, %2) region "then" {
    input %0 "x" f32[2]
    input %1 "y" f32[2]
    output %0
  } region "else" {
    input %0 "x" f32[2]
    input %1 "y" f32[2]
    output %1
  }
  output %3
}
)");
  Diagnostics diags;
  auto program = plan::plan_program(g, {}, diags);
  ASSERT_TRUE(program) << diags.str();
  ASSERT_NE(program->source, nullptr);
  EXPECT_EQ(program->reference().ops.size(), 1u);
}

// A loop that doubles until the sum is large, with `before` computing its first value %1 and `behind` reading
// what is there.
std::string doubling(const std::string& before, const std::string& behind) {
  return "graph \"g\" {\n  input %0 \"x\" f32[2]\n" + before +
         R"(  %2 "r" f32[2] = while(%1) region "goes" {
    input %0 "a" f32[2]
    const %1 "end" f32[] = [1000]
    %2 "s" f32[] = sum(%0) {axes = [0]}
    %3 "go" bool[] = less(%2, %1)
    output %3
  } region "body" {
    input %0 "a" f32[2]
    %1 "b" f32[2] = add(%0, %0)
    output %1
  }
)" + behind +
         "}\n";
}

size_t copies(const std::string& text) {
  Diagnostics diags;
  plan::PlanOptions options;
  options.inputs = plan::Contract::kPreserve;
  auto program = plan::plan_program(parsed(text), options, diags);
  EXPECT_TRUE(program) << diags.str();
  size_t count = 0;
  for (const plan::ProgramCall& call : program->calls) count += call.op_index < 0;
  return count;
}

// The loop works on the tensor that was computed for it, where nobody else needs that. One copy is in the body,
// whose sum of a tensor with itself cannot be written over it.
TEST(PlanControl, ALoopBeginsInThePlaceOfItsFirstValue) {
  const std::string tanh = "  %1 \"t\" f32[2] = tanh(%0)\n";
  const std::string uses_result = "  %3 \"y\" f32[2] = neg(%2)\n  output %3\n";
  EXPECT_EQ(copies(doubling(tanh, uses_result)), 1u);
  // An operator behind the loop reads what it began with, or it is an output.
  EXPECT_EQ(copies(doubling(tanh, "  %3 \"y\" f32[2] = add(%2, %1)\n  output %3\n")), 2u);
  EXPECT_EQ(copies(doubling(tanh, uses_result + "  output %1\n")), 2u);
}

TEST(PlanControl, ATableThatIsTestedIsInThePoolOfTables) {
  graph::Graph g = parsed(R"(graph "g" source "g" {
  input %0 "a" f32[2]
  const %1 "yes" bool[1] = [true]
  %2 "r" f32[2] = if(%1, %0) region "then" {
    input %0 "x" f32[2]
    %1 "t" f32[2] = relu(%0)
    output %1
  } region "else" {
    input %0 "x" f32[2]
    output %0
  }
  output %2
}
)");
  Diagnostics diags;
  plan::PlanOptions options;
  options.pools = {{"ram", INT32_MAX}, {"tables", INT32_MAX, false, true}};
  auto program = plan::plan_program(g, options, diags);
  ASSERT_TRUE(program) << diags.str();
  ASSERT_EQ(program->body.size(), 1u);
  EXPECT_EQ(program->body[0].condition.kind, plan::StorageKind::kConstant);
  EXPECT_EQ(program->body[0].condition.pool, 1);
}

// One column of windows lies inside of the image and its neighbour beside it: they are no pair.
TEST(PlanControl, ConvolutionBesideTheImageOnMve) {
  std::string weights;
  for (int i = 0; i < 9 * 2 * 8; ++i) weights += (i > 0 ? ", " : "") + std::to_string(i * 37 % 101 - 50);
  graph::Graph g = parsed(R"(graph "g" source "g" {
  input %0 "in" i8[1x7x1x8] quant(0.2, 26)
  const %1 "w" i8[9x2x1x8] quant(0.01, 0) = [)" +
                          weights + R"(]
  %2 "out" i8[1x8x2x9] quant(0.05, 97) = conv_2d(%0, %1) {pad_top = 1, pad_bottom = 1, pad_right = 1}
  output %2
}
)");
  auto has = [](std::string_view feature) { return feature == "unaligned" || feature == "dsp" || feature == "mve"; };
  plan::PlanOptions options;
  options.target = cores::target_info({"armv8.1-m.main", "armv8.1-m.main", has});
  Diagnostics diags;
  auto program = plan::plan_program(g, options, diags);
  ASSERT_TRUE(program) << diags.str();
  std::vector<std::vector<uint8_t>> inputs(1, std::vector<uint8_t>(56));
  for (size_t i = 0; i < 56; ++i) inputs[0][i] = static_cast<uint8_t>(i * 29);
  auto out = plan::run_program(*program, inputs, diags);
  ASSERT_TRUE(out) << diags.str();
  EXPECT_EQ((*out)[0], ops::evaluate_graph(g, inputs)[2]);
}

// What branches, loops and states hand on: which of it is computed in its place and which is copied
// there, and that what comes out is what evaluation says, run after run.

int moves_copied(const std::string& text) {
  Diagnostics diags;
  auto program = plan::plan_program(parsed(text), {}, diags);
  EXPECT_TRUE(program) << diags.str();
  int count = 0;
  for (size_t c = 0; program && c < program->calls.size(); ++c) count += program->calls[c].op_index < 0;
  return count;
}

struct Moved {
  const char* what;
  int copies;
  const char* body;
};

void expect_moves(const std::vector<Moved>& cases) {
  for (const Moved& c : cases) {
    const std::string text = std::string("graph \"g\" {\n") + c.body + "}\n";
    EXPECT_EQ(moves_copied(text), c.copies) << c.what;
    expect_runs(text, c.what);
  }
}

TEST(PlanMoves, OfBranches) {
  expect_moves({
      {"each arm computes the result in its place", 0, R"(
  input %0 "c" bool[1]
  input %1 "a" f32[16]
  %2 "r" f32[16] = if(%0, %1) region "then" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = neg(%0)
    output %1
  } region "else" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = tanh(%0)
    output %1
  }
  %3 "y" f32[16] = relu(%2)
  output %3
)"},
      {"one value for two results is copied to both", 2, R"(
  input %0 "c" bool[1]
  input %1 "a" f32[16]
  %2 "r" f32[16], %3 "q" f32[16] = if(%0, %1) region "then" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = neg(%0)
    output %1
    output %1
  } region "else" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = tanh(%0)
    %2 "u" f32[16] = neg(%0)
    output %1
    output %2
  }
  %4 "y" f32[16] = sub(%2, %3)
  output %4
)"},
      {"what is handed on as it is, is copied", 2, R"(
  input %0 "c" bool[1]
  input %1 "a" f32[16]
  input %2 "b" f32[16]
  %3 "r" f32[16] = if(%0, %1, %2) region "then" {
    input %0 "x" f32[16]
    input %1 "y" f32[16]
    output %0
  } region "else" {
    input %0 "x" f32[16]
    input %1 "y" f32[16]
    output %1
  }
  %4 "y" f32[16] = relu(%3)
  output %4
)"},
  });
}

// Counts to three; `next` is what becomes of a and b, which begin with inputs.
std::string counting(const std::string& body) {
  return R"(
  input %0 "a" f32[4x4]
  input %1 "b" f32[4x4]
  const %2 "zero" f32[1] = [0]
  %3 "n" f32[1], %4 "r" f32[4x4], %5 "q" f32[4x4] = while(%2, %0, %1) region "goes" {
    input %0 "n" f32[1]
    input %1 "a" f32[4x4]
    input %2 "b" f32[4x4]
    const %3 "end" f32[1] = [3]
    %4 "go" bool[1] = less(%0, %3)
    output %4
  } region "body" {
    input %0 "n" f32[1]
    input %1 "a" f32[4x4]
    input %2 "b" f32[4x4]
    const %3 "one" f32[1] = [1]
    %4 "m" f32[1] = add(%0, %3)
)" + body +
         R"(
  }
  %6 "y" f32[4x4] = sub(%4, %5)
  output %6
  output %4
)";
}

TEST(PlanMoves, OfLoops) {
  // Three copies are what the loop begins with.
  const std::string in_place = counting(R"(
    %5 "c" f32[4x4] = neg(%1)
    %6 "d" f32[4x4] = add(%2, %3)
    output %4
    output %5
    output %6)");
  // What cannot be written over what it reads is computed beside it.
  const std::string turned = counting(R"(
    %5 "c" f32[4x4] = transpose(%1) {order = [1, 0]}
    %6 "d" f32[4x4] = add(%2, %2)
    output %4
    output %5
    output %6)");
  // The old value is still handed on when the new one is there.
  const std::string behind = counting(R"(
    %5 "c" f32[4x4] = add(%1, %3)
    output %4
    output %5
    output %1)");
  // The old value is read behind the new one.
  const std::string late = counting(R"(
    %5 "c" f32[4x4] = add(%1, %3)
    %6 "d" f32[4x4] = sub(%5, %1)
    output %4
    output %5
    output %6)");
  // An operand that is left out is no value of the loop.
  const std::string without = counting(R"(
    const %5 "w" f32[4x4] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    %6 "c" f32[4x4] = fully_connected(%1, %5, _)
    %7 "d" f32[4x4] = add(%2, %3)
    output %4
    output %6
    output %7)");
  const std::string swapped = counting(R"(
    output %4
    output %2
    output %1)");
  const std::string twice = counting(R"(
    %5 "c" f32[4x4] = sub(%1, %2)
    output %4
    output %5
    output %5)");
  expect_moves({{"in place", 3, in_place.c_str()},
                {"turned", 5, turned.c_str()},
                {"one behind the other", 6, behind.c_str()},
                {"read late", 4, late.c_str()},
                {"without a bias", 4, without.c_str()},
                {"swapped", 7, swapped.c_str()},
                {"one for two", 5, twice.c_str()}});
}

// What was there before the loop is there in every iteration, also behind its last reader.
TEST(PlanMoves, ALoopKeepsWhatItNeedsAgain) {
  expect_moves({{"the first call's result", 2, R"(
  input %0 "a" f32[16]
  %1 "k" f32[16] = tanh(%0)
  const %2 "zero" f32[1] = [0]
  %3 "n" f32[1], %4 "r" f32[16], %5 "same" f32[16] = while(%2, %0, %1) region "goes" {
    input %0 "n" f32[1]
    input %1 "a" f32[16]
    input %2 "k" f32[16]
    const %3 "end" f32[1] = [3]
    %4 "go" bool[1] = less(%0, %3)
    output %4
  } region "body" {
    input %0 "n" f32[1]
    input %1 "a" f32[16]
    input %2 "k" f32[16]
    const %3 "one" f32[1] = [1]
    %4 "m" f32[1] = add(%0, %3)
    %5 "s" f32[16] = sub(%1, %2)
    %6 "t" f32[16] = neg(%5)
    %7 "u" f32[16] = sub(%6, %5)
    %8 "v" f32[16] = sub(%7, %6)
    output %4
    output %8
    output %2
  }
  output %4
)"}});
}

TEST(PlanMoves, OfStates) {
  const std::string branch = R"(
  %4 "r" f32[16] = if(%1, %0) region "then" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = neg(%0)
    output %1
  } region "else" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = tanh(%0)
    output %1
  }
  output %4
)";
  const std::string begin = R"(
  input %0 "a" f32[16]
  input %1 "c" bool[1]
  state %2 "s" f32[16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
)";
  const std::string sum = "  %3 \"n\" f32[16] = add(%2, %0)\n", next = "  next %2 = %3\n";
  const std::string beside = begin + sum + branch + next;
  const std::string plain = begin + sum + "  %4 \"y\" f32[16] = neg(%3)\n  output %4\n" + next;
  const std::string fresh =
      begin + "  %3 \"y\" f32[16] = neg(%2)\n  %4 \"n\" f32[16] = tanh(%0)\n  output %3\n  next %2 = %4\n";
  const std::string old = begin + "  %3 \"n\" f32[16] = tanh(%0)\n  output %2\n" + next;
  const std::string late = begin + sum + "  %4 \"y\" f32[16] = sub(%2, %0)\n  output %4\n" + next;
  const std::string output = begin + sum + "  output %3\n" + next;
  const std::string turned = R"(
  input %0 "a" f32[4x4]
  state %1 "s" f32[4x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
  %2 "n" f32[4x4] = transpose(%1) {order = [1, 0]}
  %3 "y" f32[4x4] = sub(%0, %2)
  output %3
  next %1 = %2
)";
  // A branch reads the state, or gives its next value.
  const std::string read_inside = begin + R"(
  %3 "y" f32[16] = if(%1, %2) region "then" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = neg(%0)
    output %1
  } region "else" {
    input %0 "x" f32[16]
    %1 "t" f32[16] = tanh(%0)
    output %1
  }
  %4 "n" f32[16] = add(%2, %0)
  output %3
  next %2 = %4
)";
  const std::string written_inside = begin + R"(
  input %3 "b" f32[16]
  %4 "n" f32[16] = if(%1, %0, %3) region "then" {
    input %0 "x" f32[16]
    input %1 "y" f32[16]
    output %0
  } region "else" {
    input %0 "x" f32[16]
    input %1 "y" f32[16]
    output %1
  }
  %5 "y" f32[16] = neg(%2)
  output %5
  next %2 = %4
)";
  expect_moves({{"in place", 0, plain.c_str()},
                {"beside a branch", 0, beside.c_str()},
                {"without the old value", 0, fresh.c_str()},
                {"the old value is an output", 2, old.c_str()},
                {"the old value is read late", 1, late.c_str()},
                {"the next value is an output", 1, output.c_str()},
                {"not in place", 1, turned.c_str()},
                {"read in a branch", 1, read_inside.c_str()},
                {"written in a branch", 3, written_inside.c_str()}});
}

}  // namespace
}  // namespace aotc
