// SPDX-License-Identifier: Apache-2.0
// Windows that models keep in their states: in which forms they lie in the state's memory, how large both memories are
// then, and that results are those of the graph's evaluation, run after run.
#include "plan/windows.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/program.h"
#include "state_runs.h"

namespace aotc {
namespace {

struct Kept {
  const char* what;
  size_t windows;  // of all
  size_t there;    // operands that are where they are joined, but the first
  int64_t state, arena;
  const char* body;
};

void expect_kept(const std::vector<Kept>& cases) {
  for (const Kept& c : cases) {
    const std::string text = std::string("graph \"g\" {\n") + c.body + "}\n";
    Diagnostics diags;
    auto program = plan::plan_program(tests::parsed(text), {}, diags);
    ASSERT_TRUE(program) << c.what << diags.str();
    size_t there = 0;
    for (const plan::Window& w : program->windows)
      there += static_cast<size_t>(std::count(w.there.begin() + 1, w.there.end(), true));
    EXPECT_EQ(program->windows.size(), c.windows) << c.what;
    EXPECT_EQ(there, c.there) << c.what;
    EXPECT_EQ(program->state_bytes, c.state) << c.what;
    EXPECT_EQ(program->arena_bytes, c.arena) << c.what;
    tests::expect_runs(text, c.what, 6);
  }
}

TEST(PlanWindows, LieInTheMemoryOfTheState) {
  expect_kept({
      {"the whole is read, behind the operator that takes the newest", 1, 0, 64, 0, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %2 "whole" f32[4x4] = concatenation(%1, %0) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  %4 "y" f32[4x4] = neg(%2)
  output %4
  next %1 = %3
)"},
      {"rows are computed where they are to be", 1, 1, 64, 0, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %5 "rows" f32[1x4] = neg(%0)
  %2 "whole" f32[4x4] = concatenation(%1, %5) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  %4 "y" f32[4x4] = neg(%2)
  output %4
  next %1 = %3
)"},
      {"more rows than are kept, seen in other shapes", 1, 1, 64, 0, R"(
  input %0 "x" f32[12]
  state %1 "s" f32[1x1x4] = [1, 2, 3, 4]
  %5 "rows" f32[12] = neg(%0)
  %6 "seen" f32[1x3x4] = reshape(%5) {shape = [1, 3, 4]}
  %2 "whole" f32[1x4x4] = concatenation(%1, %6) {axis = 1}
  %7 "flat" f32[16] = reshape(%2) {shape = [16]}
  %3 "newest" f32[4] = slice(%7) {begin = [12], strides = [1], counts = [4], shape = [4]}
  %8 "back" f32[1x1x4] = reshape(%3) {shape = [1, 1, 4]}
  %4 "y" f32[16] = neg(%7)
  output %4
  next %1 = %8
)"},
      {"what is left is read", 1, 1, 64, 0, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %5 "rows" f32[1x4] = neg(%0)
  %2 "whole" f32[4x4] = concatenation(%1, %5) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  %4 "y" f32[3x4] = neg(%3)
  output %4
  next %1 = %3
)"},
      {"the oldest go before rows come, which are computed before", 1, 1, 48, 0, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %5 "rows" f32[1x4] = neg(%0)
  %2 "left" f32[2x4] = slice(%1) {begin = [1, 0], strides = [1, 1], counts = [2, 4], shape = [2, 4]}
  %3 "newest" f32[3x4] = concatenation(%2, %5) {axis = 0}
  %4 "y" f32[3x4] = neg(%3)
  output %4
  next %1 = %3
)"},
      {"what is kept is read before the oldest go", 1, 1, 48, 16, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %6 "mean" f32[1x4] = mean(%1) {axes = [0], keep_dims = true}
  %5 "rows" f32[1x4] = add(%6, %0)
  %2 "left" f32[2x4] = slice(%1) {begin = [1, 0], strides = [1, 1], counts = [2, 4], shape = [2, 4]}
  %3 "newest" f32[3x4] = concatenation(%2, %5) {axis = 0}
  %4 "y" f32[3x4] = neg(%3)
  output %4
  next %1 = %3
)"},
      {"rows are computed of what is kept: they cannot be in its place yet", 1, 0, 48, 16, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %5 "rows" f32[1x4] = mean(%1) {axes = [0], keep_dims = true}
  %2 "left" f32[2x4] = slice(%1) {begin = [1, 0], strides = [1, 1], counts = [2, 4], shape = [2, 4]}
  %3 "newest" f32[3x4] = concatenation(%2, %5) {axis = 0}
  %4 "y" f32[3x4] = add(%3, %0)
  output %4
  next %1 = %3
)"},
  });
}

TEST(PlanWindows, AreLeftAsTheyWere) {
  expect_kept({
      {"the whole is an output", 0, 0, 48, 0, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %2 "whole" f32[4x4] = concatenation(%1, %0) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  output %2
  next %1 = %3
)"},
      {"the whole is read with what is left of it", 0, 0, 48, 64, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %2 "whole" f32[4x4] = concatenation(%1, %0) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  %4 "y" f32[7x4] = concatenation(%2, %3) {axis = 0}
  output %4
  next %1 = %3
)"},
      {"rows do not lie one behind the other", 0, 0, 48, 64, R"(
  input %0 "x" f32[4x1]
  state %1 "s" f32[4x3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %2 "whole" f32[4x4] = concatenation(%1, %0) {axis = 1}
  %3 "newest" f32[4x3] = slice(%2) {begin = [0, 1], strides = [1, 1], counts = [4, 3], shape = [4, 3]}
  %4 "y" f32[4x4] = neg(%2)
  output %4
  next %1 = %3
)"},
      {"two states become the same", 0, 0, 96, 112, R"(
  input %0 "x" f32[1x4]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  state %5 "t" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %2 "whole" f32[4x4] = concatenation(%1, %0) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  %4 "y" f32[4x4] = neg(%2)
  output %4
  next %1 = %3
  next %5 = %3
)"},
  });
}

// Others make the arena as large as it is: without the whole in it state and arena together would take more.
TEST(PlanWindows, DoNotMakeMemoryLarger) {
  expect_kept({{"the whole fits where larger tensors were", 0, 0, 48, 800, R"(
  input %0 "x" f32[1x4]
  input %5 "z" f32[100]
  state %1 "s" f32[3x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %6 "a" f32[100] = neg(%5)
  %7 "b" f32[100] = relu(%5)
  %8 "c" f32[100] = add(%6, %7)
  %2 "whole" f32[4x4] = concatenation(%1, %0) {axis = 0}
  %3 "newest" f32[3x4] = slice(%2) {begin = [1, 0], strides = [1, 1], counts = [3, 4], shape = [3, 4]}
  %4 "y" f32[4x4] = neg(%2)
  output %4
  output %8
  next %1 = %3
)"}});
}

// The text of `count` zeros.
std::string zeros(int64_t count) {
  std::string out = "[0";
  for (int64_t i = 1; i < count; ++i) out += ", 0";
  return out + "]";
}

// "whole" makes the arena 704 bytes larger than "a" does, which a window saves for 376 bytes of state; the others, with
// rows of so many floats, fit where "a" was.
std::string with_others(const std::vector<int64_t>& others) {
  std::string inputs = "  input %0 \"x\" f32[1x94]\n  input %2 \"u\" f32[200]\n", ops, ends;
  std::string states = "  state %3 \"s\" f32[3x94] = " + zeros(3 * 94) + "\n";
  for (size_t i = 0; i < others.size(); ++i) {
    const size_t first = 10 * (i + 1);
    const int64_t n = others[i];
    inputs += fmt::format("  input %{} \"z{}\" f32[1x{}]\n", first, i, n);
    states += fmt::format("  state %{} \"t{}\" f32[1x{}] = {}\n", first + 1, i, n, zeros(n));
    ops += fmt::format("  %{} \"other{}\" f32[2x{}] = concatenation(%{}, %{}) {{axis = 0}}\n", first + 2, i, n,
                       first + 1, first);
    ops += fmt::format(
        "  %{} \"newer{}\" f32[1x{}] = slice(%{}) {{begin = [1, 0], strides = [1, 1], counts = [1, {}], shape = [1, "
        "{}]}}\n",
        first + 3, i, n, first + 2, n, n);
    ops += fmt::format("  %{} \"w{}\" f32[2x{}] = neg(%{})\n", first + 4, i, n, first + 2);
    ends += fmt::format("  output %{}\n  next %{} = %{}\n", first + 4, first + 1, first + 3);
  }
  return inputs + states + R"(
  %5 "a" f32[200] = neg(%2)
  %6 "b" f32[200] = relu(%5)
  %7 "whole" f32[4x94] = concatenation(%3, %0) {axis = 0}
  %8 "newest" f32[3x94] = slice(%7) {begin = [1, 0], strides = [1, 1], counts = [3, 94], shape = [3, 94]}
  %9 "y" f32[4x94] = neg(%7)
)" + ops +
         "  output %6\n  output %9\n  next %3 = %8\n" + ends;
}

// Those that make both memories larger are left out, the largest first, but only until all together take no more than
// none.
TEST(PlanWindows, SomeAreLeftOut) {
  const std::string large = with_others({100}), small = with_others({25}), both = with_others({25, 100});
  expect_kept({{"the second takes more than the first saves", 1, 0, 1504 + 400, 800, large.c_str()},
               {"both together take less than none", 2, 0, 1504 + 200, 800, small.c_str()},
               {"without the largest the others take less", 2, 0, 1504 + 200 + 400, 800, both.c_str()}});
}

}  // namespace
}  // namespace aotc
