// SPDX-License-Identifier: Apache-2.0
// What a program holds beside the places of tensors: calls and their arguments, functions that are
// shared or merged, tables that are stored once, and what is refused and where.
#include "plan/program.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/operator.h"
#include "plan/placement.h"
#include "state_runs.h"

namespace aotc::plan {
namespace {

using ::testing::HasSubstr;

graph::Graph read(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "test.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  EXPECT_TRUE(ops::verify_graph(*graph, diags)) << diags.str();
  return std::move(*graph);
}

Program planned(const std::string& text, const PlanOptions& options = {}) {
  Diagnostics diags;
  auto program = plan_program(read(text), options, diags);
  EXPECT_TRUE(program.ok()) << diags.str();
  return program.ok() ? std::move(*program) : Program{};
}

// The messages; empty if there is a plan.
std::string refusal(graph::Graph graph, const PlanOptions& options = {}) {
  Diagnostics diags;
  bool planned = plan_program(std::move(graph), options, diags).ok();
  EXPECT_EQ(planned, diags.error_count() == 0);
  return diags.str();
}

std::vector<uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<uint8_t> out(values.size() * 4);
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// Every result of every call and every output is what evaluation says; inputs are 1, -2, 3, -4, ...
void expect_evaluated(const Program& p) {
  std::vector<std::vector<uint8_t>> inputs;
  for (const graph::Port& port : p.graph.inputs) {
    std::vector<float> values;
    for (int64_t i = 0; i < p.graph[port.tensor].type.elements(); ++i)
      values.push_back(static_cast<float>(i % 2 == 0 ? i + 1 : -i - 1));
    inputs.push_back(bytes_of(values));
  }
  auto values = ops::evaluate_graph(p.graph, inputs);
  Diagnostics diags;
  int results = 0;
  auto out = run_program(p, inputs, diags, [&](int c, int r, std::span<const uint8_t> have) {
    graph::TensorId id = p.calls[static_cast<size_t>(c)].results[static_cast<size_t>(r)];
    const auto& want = values[static_cast<size_t>(id.value)];
    EXPECT_TRUE(std::equal(have.begin(), have.end(), want.begin(), want.end())) << "call " << c;
    ++results;
  });
  ASSERT_TRUE(out.ok()) << diags.str();
  EXPECT_GT(results, 0);
  for (size_t o = 0; o < out->size(); ++o) {
    graph::TensorId id = p.graph.outputs[o].tensor;
    if (p.graph.is_constant(id)) continue;
    EXPECT_EQ((*out)[o], values[static_cast<size_t>(id.value)]) << "output " << o;
  }
}

std::vector<PlanOptions> all_contracts() {
  std::vector<PlanOptions> out;
  for (Contract i : {Contract::kPreserve, Contract::kOverwrite})
    for (Contract o : {Contract::kPreserve, Contract::kOverwrite})
      for (bool overlap : {false, true}) {
        out.emplace_back();
        out.back().inputs = i;
        out.back().outputs = o;
        out.back().overlap = overlap;
      }
  return out;
}

// Sums of one input with tables, and a view in the middle.
const char* const kSums = R"(graph "sums" {
  input %0 "x" f32[1x4]
  const %1 "a" f32[1x4] = [1, 2, 3, 4]
  const %2 "b" f32[1x4] = [1, 2, 3, 4]
  const %3 "c" f32[2x2] = [9, 9, 9, 9]
  %4 "s" f32[1x4] = add(%0, %1)
  %5 "t" f32[1x4] = add(%4, %2)
  %6 "v" f32[2x2] = reshape(%5) {shape = [2, 2]}
  %7 "u" f32[2x2] = add(%6, %3)
  %8 "w" f32[2x2] = relu(%7)
  output %8
  output %5
})";

TEST(Program, CallsAndTheirArguments) {
  for (const PlanOptions& options : all_contracts()) {
    Program p = planned(kSums, options);
    ASSERT_EQ(p.calls.size(), 4u);
    EXPECT_EQ(p.tensors.size(), 9u);
    for (const ProgramCall& call : p.calls) {
      const tir::Function& f = *p.functions[static_cast<size_t>(call.function)].body;
      ASSERT_EQ(call.arguments.size(), f.params.size());
      ASSERT_EQ(call.results.size(), 1u);
      EXPECT_EQ(call.scratch_offset, -1);
      for (size_t a = 0; a < f.params.size(); ++a) {
        EXPECT_EQ(call.arguments[a].dtype, f.params[a]->dtype);
        EXPECT_EQ(call.arguments[a].elements, f.params[a]->elements);
      }
      EXPECT_EQ(call.arguments.back().storage, p.tensors[static_cast<size_t>(call.results[0].value)]);
      EXPECT_EQ(call.arguments.back().shape, p.graph[call.results[0]].type.shape);
      EXPECT_EQ(call.arguments[0].shape,
                p.graph[p.graph.ops[static_cast<size_t>(call.op_index)].operands[0]].type.shape);
    }
    // The view's operand and result are the same bytes.
    EXPECT_EQ(p.tensors[5], p.tensors[6]);
    // Equal tables are stored once; a table that is an operand as it is has its tensor's shape.
    EXPECT_EQ(p.constants.size(), 2u);
    EXPECT_EQ(p.calls[0].arguments[1].storage, p.calls[1].arguments[1].storage);
    EXPECT_EQ(p.calls[0].arguments[1].storage.kind, StorageKind::kConstant);
    EXPECT_EQ(p.constants[0].op_index, 0);
    expect_evaluated(p);
  }
}

TEST(Program, EqualOperatorsShareAFunction) {
  Program p = planned(kSums);
  EXPECT_EQ(p.functions.size(), 2u);
  EXPECT_EQ(p.functions[0].calls, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(p.functions[1].calls, (std::vector<int>{3}));
  for (const ProgramFunction& f : p.functions) EXPECT_FALSE(f.merged);
}

TEST(Program, FiguresAreThoseOfThePlacement) {
  PlanOptions options;
  options.inputs = options.outputs = Contract::kOverwrite;
  Program p = planned(kSums, options);
  ASSERT_EQ(p.pools.size(), 1u);
  EXPECT_EQ(p.pools[0].bytes, p.arena_bytes);
  EXPECT_EQ(p.arena_bytes, 32);
  EXPECT_EQ(p.arena_lower_bound, 32);
  EXPECT_TRUE(p.arena_proven_optimal);
  EXPECT_FALSE(p.arena_method.empty());
  EXPECT_EQ(p.arena_without_overlap, 48);
  EXPECT_EQ(p.live_bytes.size(), 4u);
  EXPECT_EQ(p.constant_pool, -1);
  EXPECT_FALSE(p.program_tables);
}

// `count` sums of vectors of other lengths, one behind the other.
std::string sums_of_lengths(int count) {
  std::string text = "graph \"g\" {\n", sums, outputs;
  int id = 0;
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(3 + i), a = std::to_string(id++);
    text += "  input %" + a + " \"x\" f32[1x" + n + "]\n";
  }
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(3 + i), y = std::to_string(id++), x = std::to_string(i);
    sums += "  %" + y + " \"y\" f32[1x" + n + "] = add(%" + x + ", %" + x + ")\n";
    outputs += "  output %" + y + "\n";
  }
  return text + sums + outputs + "}\n";
}

TEST(Program, FunctionsThatDifferInNumbersBecomeOneWhereThatPays) {
  for (int count : {1, 2, 3, 5, 8})
    for (int least : {0, 2, 3, 6}) {
      PlanOptions options;
      options.merge_at_least = least;
      Program p = planned(sums_of_lengths(count), options);
      int merged = 0;
      size_t calls = 0;
      for (const ProgramFunction& f : p.functions) {
        merged += f.merged;
        calls += f.calls.size();
        EXPECT_TRUE(std::is_sorted(f.calls.begin(), f.calls.end()));
        for (int c : f.calls) {
          const int of_call = p.calls[static_cast<size_t>(c)].function;
          EXPECT_EQ(&p.functions[static_cast<size_t>(of_call)], &f);
        }
      }
      EXPECT_EQ(calls, p.calls.size());
      // One number for functions of so many characters pays from the third on.
      const bool wanted = least > 0 && count >= least && count >= 3;
      EXPECT_EQ(merged, wanted ? 1 : 0) << count << " " << least;
      EXPECT_EQ(p.functions.size(), static_cast<size_t>(wanted ? 1 : count)) << count << " " << least;
      expect_evaluated(p);
      if (!wanted) continue;
      EXPECT_EQ(p.constants.size(), static_cast<size_t>(count));
      const CallArgument& shape = p.calls[1].arguments.back();
      EXPECT_EQ(shape.storage, (Storage{StorageKind::kConstant, 1, 0, -1}));
      EXPECT_EQ(shape.elements, 1);
      EXPECT_EQ(shape.shape, graph::Shape{1});
      EXPECT_EQ(shape.dtype, DType::kI32);
    }
}

TEST(Program, LevelsMerge) {
  EXPECT_EQ(merge_at_least(ops::Level::kSize), 2);
  EXPECT_EQ(merge_at_least(ops::Level::kBalanced), 3);
  EXPECT_EQ(merge_at_least(ops::Level::kSpeed), 0);
}

TEST(Program, TablesInAPoolLieOneBehindTheOther) {
  for (int64_t limit : {-1, 32, 31}) {
    PlanOptions options;
    Pool tables{"tables"};
    tables.constants = true;
    tables.limit = limit;
    options.pools = {Pool{"ram"}, tables};
    if (limit == 31) {
      EXPECT_THAT(refusal(read(kSums), options), HasSubstr("pool 'tables' has 31 bytes, and the model needs 32 of it"));
      continue;
    }
    Program p = planned(kSums, options);
    EXPECT_EQ(p.constant_pool, 1);
    EXPECT_EQ(p.pools[1].bytes, 32);
    EXPECT_EQ(p.constants[0].offset, 0);
    EXPECT_EQ(p.constants[1].offset, 16);
    for (const ProgramCall& call : p.calls)
      for (const CallArgument& a : call.arguments)
        if (a.storage.kind == StorageKind::kConstant) {
          EXPECT_EQ(a.storage.pool, 1);
          EXPECT_EQ(a.storage.offset, a.storage.index * 16);
        }
    expect_evaluated(p);
  }
}

TEST(Program, PoolsThatAreTooSmallAreReported) {
  for (int64_t limit : {48, 47}) {
    PlanOptions options;
    options.inputs = options.outputs = Contract::kOverwrite;
    options.overlap = false;
    options.pools = {Pool{"ram", limit}};
    std::string said = refusal(read(kSums), options);
    if (limit == 48) {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_THAT(said, HasSubstr("pool 'ram' has 47 bytes, and the model needs 48 of it"));
      EXPECT_THAT(said, HasSubstr("[pool-too-small]"));
    }
  }
}

// The pairs are counted here by hand: a chain in which every tensor lives until the last operator.
TEST(Program, TooManyTensorsAliveAreCountedBeforeAnythingIsLowered) {
  constexpr int kCount = 1100;
  std::string text = "graph \"g\" {\n  input %0 \"x\" f32[4]\n";
  for (int i = 1; i <= kCount; ++i)
    text += "  %" + std::to_string(i) + " \"t\" f32[4] = tanh(%" + std::to_string(i - 1) + ")\n";
  std::string sums;
  int total = kCount;
  for (int i = 1; i < kCount; ++i) {
    sums += "  %" + std::to_string(kCount + i) + " \"s\" f32[4] = add(%" + std::to_string(total) + ", %" +
            std::to_string(i) + ")\n";
    total = kCount + i;
  }
  text += sums + "  output %" + std::to_string(total) + "\n}\n";
  for (Contract inputs : {Contract::kPreserve, Contract::kOverwrite})
    for (Contract outputs : {Contract::kPreserve, Contract::kOverwrite}) {
      // By tensor in the arena: first and last call.
      std::vector<std::pair<int, int>> life;
      if (inputs == Contract::kOverwrite) life.push_back({0, 1});
      for (int i = 1; i < kCount; ++i) life.push_back({i, kCount + i});
      life.push_back({kCount, kCount + 1});
      for (int i = 1; i < kCount - 1; ++i) life.push_back({kCount + i, kCount + i + 1});
      if (outputs == Contract::kOverwrite) life.push_back({2 * kCount - 1, 2 * kCount - 1});
      int64_t pairs = 0;
      for (size_t a = 0; a < life.size(); ++a)
        for (size_t b = 0; b < a; ++b) pairs += life[a].first <= life[b].second && life[b].first <= life[a].second;
      ASSERT_GT(pairs, kMaxPairs);
      PlanOptions options;
      options.inputs = inputs;
      options.outputs = outputs;
      graph::Graph g = read(text);
      // Lowering would tell that this cannot be had.
      g.ops[0].location.op_index = 0;
      options.schedules[0].algorithm = "winograd";
      std::string said = refusal(g, options);
      EXPECT_THAT(said, HasSubstr(std::to_string(pairs) + " pairs of tensors are alive at the same time"));
      EXPECT_THAT(said, HasSubstr("[plan-limit]"));
      EXPECT_THAT(said, testing::Not(HasSubstr("schedule")));
    }
}

// `count` tensors that live until they are added up, and behind them `tail` more, each alive with the next.
std::string many_alive(int count, int tail) {
  std::string text = "graph \"g\" {\n  input %0 \"x\" f32[4]\n";
  int last = 0;
  auto op = [&](const std::string& what) { text += "  %" + std::to_string(++last) + " \"t\" f32[4] = " + what + "\n"; };
  for (int i = 1; i <= count; ++i) op("tanh(%" + std::to_string(i - 1) + ")");
  for (int i = 1; i < count; ++i) op("add(%" + std::to_string(last) + ", %" + std::to_string(i) + ")");
  for (int i = 0; i < tail; ++i) op("tanh(%" + std::to_string(last) + ")");
  return text + "  output %" + std::to_string(last) + "\n}\n";
}

TEST(Program, AsManyPairsAsArePlannedAreJustPlanned) {
  // Which is refused says how many there are.
  constexpr int kCount = 1024;
  std::string said = refusal(read(many_alive(kCount, 4000)));
  const int64_t pairs = std::stoll(said.substr(said.find("error: ") + 7));
  const auto most = static_cast<int>(4000 - (pairs - kMaxPairs));
  ASSERT_GT(most, 0);
  EXPECT_EQ(refusal(read(many_alive(kCount, most))), "");
  EXPECT_THAT(refusal(read(many_alive(kCount, most + 1))), HasSubstr("1048577 pairs"));
}

TEST(Program, SchedulesThatCannotBeHadAreReported) {
  graph::Graph g = read(kSums);
  for (size_t i = 0; i < g.ops.size(); ++i) g.ops[i].location.op_index = static_cast<int>(10 + i);
  PlanOptions options;
  options.schedules[12] = {};  // the view has none to be asked for, which nothing asked is
  options.schedules[11] = {};
  EXPECT_EQ(refusal(g, options), "");
  options.schedules[11].algorithm = "winograd";
  std::string said = refusal(g, options);
  EXPECT_THAT(said, HasSubstr("[schedule-impossible]"));
  EXPECT_THAT(said, HasSubstr("'winograd'"));
  options.schedules[11] = {};
  options.schedules[11].numbers["pixels"] = 4;
  EXPECT_THAT(refusal(g, options), HasSubstr("[schedule-impossible]"));
  options.schedules = {{9, {}}};
  said = refusal(g, options);
  EXPECT_THAT(said, HasSubstr("[schedule-unknown-op]"));
  EXPECT_THAT(said, HasSubstr("operator 9"));
  EXPECT_THAT(said, HasSubstr("sums"));
}

TEST(Program, EveryPartOfAScheduleIsChecked) {
  graph::Graph g = read(R"(graph "layer" {
  input %0 "x" i8[1x4x4x2] quant(0.5, 0)
  const %1 "w" i8[2x1x1x2] quant(0.25, 0) = [1, 2, 3, 4]
  const %2 "b" i32[2] quant(0.125, 0) = [5, 6]
  %3 "y" i8[1x4x4x2] quant(1, 0) = conv_2d(%0, %1, %2)
  output %3
})");
  g.ops[0].location.op_index = 7;
  Diagnostics diags;
  auto plan = plan_program(g, {}, diags);
  ASSERT_TRUE(plan.ok()) << diags.str();
  const ops::Schedule chosen = plan->calls[0].schedule;
  ASSERT_FALSE(chosen.algorithm.empty());
  ASSERT_FALSE(chosen.numbers.empty());
  auto said = [&](auto change) {
    PlanOptions options;
    options.schedules[7] = chosen;
    change(options.schedules[7]);
    return refusal(g, options);
  };
  EXPECT_EQ(said([](ops::Schedule&) {}), "");
  EXPECT_EQ(said([](ops::Schedule& s) { s.algorithm = ""; }), "");
  EXPECT_EQ(said([](ops::Schedule& s) { s.numbers.clear(); }), "");
  // What is asked last can be had, what is asked before cannot.
  EXPECT_THAT(said([](ops::Schedule& s) { s.algorithm = "magic"; }), HasSubstr("[schedule-impossible]"));
  EXPECT_THAT(said([](ops::Schedule& s) { s.numbers["a"] = 1; }), HasSubstr("[schedule-impossible]"));
}

TEST(Program, TablesInProgramMemory) {
  PlanOptions options;
  options.program_tables = true;
  Program p = planned(kSums, options);
  EXPECT_TRUE(p.program_tables);
  int tables = 0;
  for (const ProgramFunction& f : p.functions)
    for (const tir::BufferPtr& b : f.body->params) tables += b->space == tir::Space::kProgram;
  EXPECT_EQ(tables, 1);
  expect_evaluated(p);
  // Tables in a pool are data that the caller fills.
  Pool pool{"tables"};
  pool.constants = true;
  options.pools = {Pool{"ram"}, pool};
  EXPECT_FALSE(planned(kSums, options).program_tables);
}

// Outputs that are an input, a table, a view of either, or listed twice.
const char* const kOdd = R"(graph "odd" {
  input %0 "x" f32[1x4]
  input %1 "z" f32[1x4]
  const %2 "c" f32[1x4] = [5, 6, 7, 8]
  %3 "vc" f32[2x2] = reshape(%2) {shape = [2, 2]}
  %4 "vx" f32[2x2] = reshape(%0) {shape = [2, 2]}
  %5 "y" f32[2x2] = add(%3, %4)
  %6 "vy" f32[4] = reshape(%5) {shape = [4]}
  %7 "r" f32[1x4] = relu(%1)
  output %6
  output %4
  output %3
  output %5
  output %7
  output %7
})";

TEST(Program, ViewsAndCopiesOfOutputs) {
  for (const PlanOptions& options : all_contracts()) {
    Program p = planned(kOdd, options);
    expect_evaluated(p);
    ASSERT_EQ(p.outputs.size(), 6u);
    ASSERT_EQ(p.inputs.size(), 2u);
    const bool caller = options.outputs == Contract::kPreserve;
    for (size_t o = 0; o < 6; ++o) {
      EXPECT_EQ(p.outputs[o].kind, caller ? StorageKind::kOutput : StorageKind::kArena);
      if (caller) {
        EXPECT_EQ(p.outputs[o].index, static_cast<int>(o));
      }
    }
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(p.inputs[i].kind, options.inputs == Contract::kPreserve ? StorageKind::kInput : StorageKind::kArena);
    for (const ProgramCall& call : p.calls) {
      if (call.op_index >= 0) continue;
      EXPECT_EQ(call.schedule.note, "copy");
      ASSERT_EQ(call.arguments.size(), 2u);
      EXPECT_EQ(call.arguments[0].shape, call.arguments[1].shape);
    }
  }
}

// The first tensor of a graph may be a table, also behind a view.
TEST(Program, TheFirstTensorMayBeATable) {
  for (const PlanOptions& options : all_contracts()) {
    Program p = planned(R"(graph "g" {
  const %0 "c" f32[1x4] = [5, 6, 7, 8]
  input %1 "x" f32[2x2]
  %2 "v" f32[2x2] = reshape(%0) {shape = [2, 2]}
  %3 "y" f32[2x2] = add(%1, %2)
  output %3
})",
                        options);
    expect_evaluated(p);
    EXPECT_EQ(p.tensors[0].kind, StorageKind::kConstant);
    ASSERT_EQ(p.constants.size(), 1u);
    EXPECT_EQ(p.constants[0].data.bytes, bytes_of({5, 6, 7, 8}));
  }
}

TEST(Program, ViewsCostNothingWhereOneSideIsFree) {
  Program p = planned(R"(graph "g" {
  input %0 "x" f32[1x4]
  %1 "v" f32[2x2] = reshape(%0) {shape = [2, 2]}
  %2 "y" f32[2x2] = relu(%1)
  %3 "w" f32[4] = reshape(%2) {shape = [4]}
  output %3
})");
  EXPECT_EQ(p.calls.size(), 1u);
  EXPECT_EQ(p.arena_bytes, 0);
  EXPECT_EQ(p.tensors[2].kind, StorageKind::kOutput);
  EXPECT_EQ(p.tensors[1].kind, StorageKind::kInput);
  expect_evaluated(p);
  // From an input to an output is one copy, by the view itself.
  p = planned(R"(graph "g" {
  input %0 "x" f32[1x4]
  %1 "v" f32[2x2] = reshape(%0) {shape = [2, 2]}
  output %1
})");
  ASSERT_EQ(p.calls.size(), 1u);
  EXPECT_EQ(p.calls[0].op_index, 0);
  EXPECT_EQ(p.tensors[1].kind, StorageKind::kOutput);
}

// Kernels load words: four bytes are a word.
TEST(Program, TensorsOfFourBytesAreAligned) {
  PlanOptions options;
  Program p = planned(R"(graph "g" {
  input %0 "a" f32[5]
  input %1 "b" f32[4]
  input %2 "c" f32[3]
  %3 "a8" i8[5] = cast(%0)
  %4 "b8" i8[4] = cast(%1)
  %5 "c8" i8[3] = cast(%2)
  %6 "a32" f32[5] = cast(%3)
  %7 "b32" f32[4] = cast(%4)
  %8 "c32" f32[3] = cast(%5)
  output %6
  output %7
  output %8
})");
  EXPECT_EQ(p.tensors[3].offset % 4, 0);
  EXPECT_EQ(p.tensors[4].offset % 4, 0);
}

// States lie by alignment, so that nothing is lost between them.
TEST(PlanStates, LieByAlignment) {
  const std::string text = R"(graph "g" {
  input %0 "x" f32[1]
  input %1 "z" bool[1]
  state %2 "byte" bool[1] = [false]
  state %3 "word" f32[1] = [0]
  %4 "sum" f32[1] = add(%3, %0)
  %5 "ever" bool[1] = logical_or(%2, %1)
  output %4
  output %5
  next %2 = %5
  next %3 = %4
})";
  Program p = planned(text);
  EXPECT_EQ(p.state_bytes, 5);
  EXPECT_EQ(p.arena_bytes, 0);
  EXPECT_TRUE(p.windows.empty());
  tests::expect_runs(text, "a byte in front of a word", 6);
}

// Two large tensors are alive one behind the other, if the second is computed after the first is read.
TEST(PlanOrder, IsOneThatNeedsLess) {
  const std::string text = R"(graph "g" {
  input %0 "x" f32[100]
  %1 "a" f32[100] = neg(%0)
  %2 "b" f32[100] = relu(%0)
  %3 "c" f32[10] = slice(%1) {begin = [0], strides = [10], counts = [10], shape = [10]}
  %4 "d" f32[10] = slice(%2) {begin = [0], strides = [10], counts = [10], shape = [10]}
  %5 "y" f32[10] = add(%3, %4)
  output %5
})";
  Program p = planned(text);
  EXPECT_EQ(p.arena_bytes, 480);
  EXPECT_EQ(p.state_bytes, 0);
  EXPECT_TRUE(p.windows.empty());
  tests::expect_runs(text, "both are computed first", 6);
}

// Whoever reads comes behind whoever wrote, not the other way round: only so is the emptier order among those that can
// be.
TEST(PlanOrder, GoesFromWritersToReaders) {
  const std::string text = R"(graph "g" {
  input %0 "x" f32[60]
  %1 "a" f32[15] = slice(%0) {begin = [0], strides = [1], counts = [15], shape = [15]}
  %2 "b" f32[60] = neg(%0)
  %3 "c" f32[15] = tanh(%1)
  %4 "d" f32[3] = slice(%1) {begin = [0], strides = [1], counts = [3], shape = [3]}
  %5 "e" f32[3] = tanh(%4)
  %6 "f" f32[15] = tanh(%3)
  output %2
  output %5
  output %6
})";
  Program p = planned(text);
  EXPECT_EQ(p.arena_bytes, 72);
  expect_evaluated(p);
}

bool has_repeat(const Program& p) {
  return std::any_of(p.body.begin(), p.body.end(),
                     [](const ProgramStep& s) { return s.kind == ProgramStep::Kind::kRepeat; });
}

// Steps that repeat do so in the emptier order, too.
TEST(PlanOrder, KeepsWhatRepeats) {
  std::string text = R"(graph "g" {
  input %0 "x" f32[100]
  input %1 "h" f32[1x2]
  const %2 "w" f32[2x2] = [0.5, -1, 0.25, 2]
  %3 "a" f32[100] = neg(%0)
  %4 "b" f32[100] = relu(%0)
  %5 "c" f32[10] = slice(%3) {begin = [0], strides = [10], counts = [10], shape = [10]}
  %6 "d" f32[10] = slice(%4) {begin = [0], strides = [10], counts = [10], shape = [10]}
  %7 "y" f32[10] = add(%5, %6)
  output %7
)";
  int last = 1;
  for (int at = 10; at < 130; at += 10) {
    text += fmt::format("  const %{} \"b{}\" f32[1x2] = [{}, 1]\n", at, at, at);
    text += fmt::format("  %{} \"s{}\" f32[1x2] = fully_connected(%{}, %2)\n", at + 1, at, last);
    text += fmt::format("  %{} \"r{}\" f32[1x2] = relu(%{})\n", at + 2, at, at + 1);
    text += fmt::format("  %{} \"t{}\" f32[1x2] = add(%{}, %{})\n", at + 3, at, at + 2, at);
    last = at + 3;
  }
  Program p = planned(text + fmt::format("  output %{}\n}}\n", last));
  EXPECT_TRUE(has_repeat(p));
  EXPECT_EQ(p.arena_bytes, 480);
  expect_evaluated(p);
}

// Sums one behind the other repeat; each in front of the slice that reads it would not.
TEST(PlanOrder, IsTheModelsWhereLessWouldRepeat) {
  std::string text = "graph \"g\" {\n  input %0 \"x\" f32[16]\n", slices, outputs;
  for (int i = 0; i < 24; ++i) {
    text += fmt::format("  const %{} \"b{}\" f32[16] = [{}", 10 + i, i, i);
    for (int e = 1; e < 16; ++e) text += fmt::format(", {}", i * e % 7);
    text += fmt::format("]\n  %{} \"a{}\" f32[16] = add(%0, %{})\n", 40 + i, i, 10 + i);
    slices += fmt::format(
        "  %{0} \"s{1}\" f32[{2}] = slice(%{3}) {{begin = [0], strides = [1], counts = [{2}], shape = [{2}]}}\n",
        70 + i, i, i % 4 + 1, 40 + i);
    outputs += fmt::format("  output %{}\n", 70 + i);
  }
  text += slices + outputs + "}\n";
  Program rolled = planned(text);
  EXPECT_TRUE(has_repeat(rolled));
  EXPECT_EQ(rolled.arena_bytes, 24 * 64);
  PlanOptions options;
  options.repeats = false;
  Program plain = planned(text, options);
  EXPECT_EQ(plain.arena_bytes, 64);
  expect_evaluated(rolled);
  expect_evaluated(plain);
}

}  // namespace
}  // namespace aotc::plan
