// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "graph/graph.h"
#include "test_graph.h"

namespace aotc::graph {
namespace {

constexpr char kAll[] =
    R"air(graph "all \"of\" it" source "m/a\\b.tflite" description "two\x0alines" {
  input %0 "in" i8[1x2x2x1] quant(0.5, -3) as "signature"
  input %9 "second" f32[] device 1
  const %1 "w" i8[2x1x1x1] quant(axis 0, [0.1, 1e-10]) = [-128, 127]
  const %2 "z" u8[2] quant(axis 0, [1, 2], [3, 4]) = [0, 255]
  const %3 "f" f32[4] = [-0, inf, nan(0xffc00001), 3.4028235e+38]
  const %4 "d" f64[2] = [0.1, -inf]
  const %5 "b" bool[2] = [true, false]
  const %6 "odd bool" bool[1] = hex {
    02
  }
  const %7 "long" i64[17] = hex {
    00000000000000000100000000000000020000000000000003000000000000000400000000000000
    05000000000000000600000000000000070000000000000008000000000000000900000000000000
    0a000000000000000b000000000000000c000000000000000d000000000000000e00000000000000
    0f000000000000001000000000000000
  }
  const %8 "empty" u16[0] = []
  tensor %10 "orphan" i32[3]
  tensor %11 "odd" i16[3] quant(1, 0) device 2
  %12 "*/ \xff evil" f32[1], %13 "two" f32[2] = everything(%0, _, %1) {flag = true, small = -7, large = 99999999999, ratio = 0.33333334, label = "q\"{}()", axes = [1, -2], type = i8, mood = cross} device 3 loc("a.tflite" subgraph 1 op 7 type "CONV_2D" tensor "conv\x01")
  %14 "x" f32[1] = plain() loc("t.air":4:7 op 0)
  plain(%12, %13) loc("")
  output %12
  output %13 as "Identity"
}
)air";

TEST(GraphText, PrintsWhatItParsed) { EXPECT_EQ(print(parse_ok(kAll)), kAll); }

TEST(GraphText, ParsesEveryPart) {
  Graph graph = parse_ok(kAll);
  EXPECT_EQ(graph.name, "all \"of\" it");
  EXPECT_EQ(graph.description, "two\nlines");
  EXPECT_EQ(graph.inputs[0].name, "signature");
  EXPECT_EQ(graph.inputs[1].name, "second");
  EXPECT_EQ(graph.tensors[1].type.quantization.zero_point, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(graph.tensors[7].constant->to_vector<int64_t>()[16], 16);
  EXPECT_EQ(graph.tensors[12].name, "*/ \xff evil");
  EXPECT_EQ(graph.ops[0].location.str(), "a.tflite: subgraph 1 op 7 CONV_2D 'conv\\x01'");
  EXPECT_EQ(graph.ops[0].attrs<EverythingAttrs>().label, "q\"{}()");
  EXPECT_EQ(graph.ops[0].operands, (std::vector<TensorId>{{0}, {-1}, {1}}));
}

TEST(GraphText, NamedTensorsFollowNumberedOnes) {
  Graph graph = parse_ok(R"(graph "g" {
  input %in "in" f32[1]   // a comment
  %out "out" f32[1] = plain(%in, %10, %9)
  const %10 "ten" f32[1] = [1]
  const %9 "nine" f32[1] = [1]
  output %out
})");
  ASSERT_EQ(graph.tensors.size(), 4u);
  EXPECT_EQ(graph.tensors[0].name, "nine");
  EXPECT_EQ(graph.tensors[1].name, "ten");
  EXPECT_EQ(graph.tensors[2].name, "in");
  EXPECT_EQ(graph.ops[0].location.str(), "t.air:3:23: plain 'out'");
}

TEST(GraphText, LeavesOutLocationsAndLongConstantsOnRequest) {
  PrintOptions options;
  options.locations = false;
  options.constants_limit = 4;
  std::string text = print(parse_ok(R"(graph "g" {
  const %0 "c" i8[5] = [1, 2, 3, 4, 5]
  const %1 "d" i8[4] = [1, 2, 3, 4]
  %2 "x" f32[1] = plain(%0) loc("f" op 1)
})"),
                           options);
  EXPECT_EQ(text, R"(graph "g" {
  const %0 "c" i8[5] = hash 0f66dcbf4f6b7d88 of 5 bytes
  const %1 "d" i8[4] = [1, 2, 3, 4]
  %2 "x" f32[1] = plain(%0)
}
)");
  EXPECT_EQ(parse_error(text),
            "t.air:2:24: error: the constant's bytes were omitted from this text [ir-parse]\n"
            "  help: print the graph without a limit on constants\n");
}

constexpr char kRegions[] = R"air(graph "kept" source "t.air" {
  input %0 "x" f32[2]
  input %1 "c" bool[1]
  state %2 "s" f32[2] = [0, 1.5]
  %3 "y" f32[2] = plain(%1, %0, %2) loc("t.air":5:3) region "then" {
    input %0 "a" f32[2]
    const %1 "k" f32[2] = [1, 2]
    %2 "z" f32[2] = plain(%0) loc("t.air":8:5) region "inner" {
      output %0
      tensor %0 "none" f32[1]
    }
    output %2
  } region "else" {
    input %0 "a" f32[2]
    output %0 as "same"
  }
  output %3
  next %2 = %3
}
)air";

TEST(GraphText, StatesAndRegions) {
  Graph graph = parse_ok(kRegions);
  ASSERT_EQ(graph.states.size(), 1u);
  EXPECT_EQ(graph.states[0].before, TensorId{2});
  EXPECT_EQ(graph.states[0].after, TensorId{3});
  EXPECT_EQ(graph.states[0].initial.get<float>(1), 1.5f);
  ASSERT_EQ(graph.ops[0].regions.size(), 2u);
  EXPECT_EQ(graph.ops[0].regions[0].name, "then");
  EXPECT_EQ(graph.ops[0].regions[0].ops[0].regions[0].name, "inner");
  EXPECT_EQ(graph.ops[0].regions[1].outputs[0].name, "same");
  EXPECT_EQ(count_ops(graph), 2u);
  std::string text = print(graph);
  EXPECT_EQ(print(parse_ok(text)), text);
}

TEST(GraphText, StatesHaveOneNextValue) {
  EXPECT_EQ(parse_error(R"(graph "g" { input %0 "x" f32[1] next %0 = %0 })"),
            "t.air:1:38: error: %0 is not a state [ir-parse]\n"
            "  help: declare the state first, with a line that begins with 'state'\n");
  EXPECT_EQ(parse_error(R"(graph "g" { state %0 "s" f32[1] = [1] next %0 = %0 next %0 = %0 })"),
            "t.air:1:57: error: state %0 has two next values [ir-parse]\n");
}

TEST(GraphText, RegionsAreNotDeeperThanCanBeHandled) {
  std::string text = "graph \"g\" { ", end = " }";
  for (int i = 0; i < 100000; ++i) text += "plain() region \"r\" { ";
  EXPECT_NE(parse_error(text).find("regions are nested more than 32 deep"), std::string::npos);
}

TEST(Graph, PairsOfPortsBecomeStates) {
  Graph graph = parse_ok(R"(graph "g" {
  input %0 "x" i8[2] quant(0.5, -3)
  input %1 "y" i8[2]
  %2 "z" i8[2] quant(0.5, -3) = plain(%0, %1)
  output %2
  output %1
})");
  pair_state(graph, 0, 0);
  ASSERT_EQ(graph.states.size(), 1u);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.states[0].initial.get<int8_t>(1), -3);
  EXPECT_TRUE(graph.is_state(TensorId{0}));
  EXPECT_TRUE(graph.is_next_state(TensorId{2}));
  EXPECT_TRUE(graph.is_given(TensorId{1}));
  EXPECT_EQ(graph.state_bytes(), 2);
}

struct BadText {
  const char* text;
  const char* error;
};

TEST(GraphText, ErrorsAreLocated) {
  const BadText cases[] = {
      {"", "t.air:1:1: error: expected 'graph', found end of text [ir-parse]\n"},
      {"graph x",
       "t.air:1:7: error: expected the graph's name as a quoted string on one line, "
       "found 'x' [ir-parse]\n"},
      {"graph \"x",
       "t.air:1:7: error: expected the graph's name as a quoted string on one line, "
       "found '\"' [ir-parse]\n"},
      {"graph \"\\q\" {",
       "t.air:1:7: error: the string has an escape other than \\\", \\\\ and "
       "\\xNN [ir-parse]\n"},
      {"graph \"g\" {\n  bogus %1",
       "t.air:2:3: error: expected a statement or '}', found 'bogus' [ir-parse]\n"
       "  help: statements begin with input, output, const, state, next, tensor, or %result = "
       "operator(...)\n"},
      {"graph \"g\" {} x",
       "t.air:1:14: error: expected the end of the text after '}', found 'x' "
       "[ir-parse]\n"},
      {"graph \"g\" { input %0 \"a\" f33[1] }", "t.air:1:26: error: 'f33' is not an element type [ir-parse]\n"},
      {"graph \"g\" { input %0 \"a\" f32[1x] }", "t.air:1:30: error: '1x' is not a shape such as 1x8 [ir-parse]\n"},
      {"graph \"g\" { input %0 \"a\" f32[1", "t.air:1:30: error: expected ']' after the shape [ir-parse]\n"},
      {"graph \"g\" {\n tensor %0 \"a\" f32[1]\n tensor %0 \"a\" f32[1] }",
       "t.air:3:9: error: tensor %0 is declared twice [ir-parse]\n"},
      {"graph \"g\" { output %x }",
       "t.air:1:20: error: tensor %x is not declared [ir-parse]\n"
       "  help: declare the tensor with a name and a type where it is defined\n"},
      {"graph \"g\" { const %0 \"a\" i8[1] = [128] }",
       "t.air:1:35: error: '128' is not a value of type i8 [ir-parse]\n"},
      {"graph \"g\" { const %0 \"a\" i8[1] = hex { 0 } }",
       "t.air:1:40: error: expected pairs of hexadecimal digits as the constant's bytes "
       "[ir-parse]\n"},
      {"graph \"g\" { plain(,) }", "t.air:1:19: error: expected a tensor such as '%3', found ',' [ir-parse]\n"},
      {"graph \"g\" { frob() }",
       "t.air:1:13: error: unknown operator 'frob' [ir-parse]\n"
       "  help: 'aotc ops' lists the operators\n"},
      {"graph \"g\" { everything() {smal = 1} }",
       "t.air:1:27: error: operator 'everything' has no attribute 'smal' [ir-parse]\n"
       "  help: did you mean 'small'?\n"},
      {"graph \"g\" { everything() {mood = glad} }",
       "t.air:1:34: error: 'glad' is not a value of attribute 'mood' [ir-parse]\n"},
  };
  for (const BadText& bad : cases) EXPECT_EQ(parse_error(bad.text), bad.error) << bad.text;
}

// Whatever the bytes: a graph that prints, or exactly one error.
TEST(GraphText, SurvivesAnyMutation) {
  std::mt19937 random(11);
  const std::string base = kAll;
  int parsed = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = base;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text.resize(at + 1); break;
        case 1: text[at] = static_cast<char>(random()); break;
        case 2: text.erase(at, random() % 8); break;
        default: text.insert(at, base, random() % base.size(), random() % 12); break;
      }
      if (text.empty()) text = "g";
    }
    Diagnostics diags;
    auto graph = parse(text, "t.air", find_test_definition, diags);
    ASSERT_EQ(graph.ok(), diags.error_count() == 0) << text;
    ASSERT_LE(diags.error_count(), 1);
    if (!graph) continue;
    ++parsed;
    Diagnostics ignored;
    static_cast<void>(verify_structure(*graph, ignored).ok());
    std::string printed = print(*graph);
    ASSERT_EQ(print(parse_ok(printed)), printed) << text;
  }
  EXPECT_GT(parsed, 0);
}

}  // namespace
}  // namespace aotc::graph
