// SPDX-License-Identifier: Apache-2.0
// How often tables are read, against what the interpreter reads; and what goes into which section.
#include "plan/constant_reads.h"

#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "cores/cpu.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "source_dir.h"

namespace aotc::plan {
namespace {

Program program_of(const std::string& model, const ops::TargetInfo& target) {
  std::ifstream in(source_dir() + "/tests/models/" + model, std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
  Diagnostics diags;
  auto graph = frontends::read_tflite(bytes, model, diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  EXPECT_TRUE(passes::run_pipeline(*graph, {}, diags)) << diags.str();
  PlanOptions options;
  options.target = target;
  auto program = plan_program(std::move(*graph), options, diags);
  EXPECT_TRUE(program) << diags.str();
  return std::move(*program);
}

// Adds up the bytes that are read of each parameter.
struct Reads final : tir::AccessObserver {
  std::vector<double> bytes;
  void on_read(int param, int64_t, int64_t n) override { bytes[static_cast<size_t>(param)] += static_cast<double>(n); }
  void on_write(int, int64_t, int64_t) override {}
};

// Every call by itself, on zeros: trip counts do not depend on data.
std::vector<double> interpreted(const Program& p) {
  std::vector<double> out(p.constants.size(), 0);
  for (const ProgramCall& call : p.calls) {
    const tir::Function& f = *p.functions[static_cast<size_t>(call.function)].body;
    std::vector<std::vector<uint8_t>> buffers;
    std::vector<tir::Memory> memory;
    for (size_t a = 0; a < f.params.size(); ++a) {
      const CallArgument& argument = call.arguments[a];
      const tir::Buffer& takes = *f.params[a];
      buffers.emplace_back(static_cast<size_t>(takes.elements * size_of(takes.dtype)), 0);
      if (argument.storage.kind == StorageKind::kConstant)
        buffers.back() = p.constants[static_cast<size_t>(argument.storage.index)].data.bytes;
    }
    for (auto& b : buffers) memory.push_back({b.data(), static_cast<int64_t>(b.size())});
    Reads reads;
    reads.bytes.assign(f.params.size(), 0);
    Diagnostics diags;
    auto exact = tir::inline_kernels(p.functions[static_cast<size_t>(call.function)].body);
    EXPECT_TRUE(tir::interpret(*exact, memory, diags, &reads)) << diags.str();
    for (size_t a = 0; a < f.params.size(); ++a)
      if (call.arguments[a].storage.kind == StorageKind::kConstant)
        out[static_cast<size_t>(call.arguments[a].storage.index)] += reads.bytes[a];
  }
  return out;
}

class ConstantReads : public ::testing::TestWithParam<const char*> {};

TEST_P(ConstantReads, AreThoseOfTheInterpreter) {
  for (bool dsp : {false, true}) {
    auto has = [](std::string_view f) { return f != "mve"; };
    const KernelForm form = dsp ? KernelForm::kAssembly : KernelForm::kC;
    ops::TargetInfo target = cores::target_info({"cortex-m4", "armv7e-m", has, form});
    Program p = program_of(GetParam(), target);
    std::vector<double> counted = constant_reads(p), wanted = interpreted(p);
    ASSERT_FALSE(counted.empty());
    for (size_t i = 0; i < counted.size(); ++i) {
      // Borders of windows are conditions, which are counted as always true.
      EXPECT_GE(counted[i], wanted[i] * 0.7) << p.constants[i].name << " " << i;
      EXPECT_LE(counted[i], wanted[i] * 1.6 + 8) << p.constants[i].name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ConstantReads,
                         ::testing::Values("digits/digits_int8.tflite", "gadget/gadget_int8.tflite",
                                           "digits/digits_f32.tflite"));

// One call of a function of a table of four bytes, a number, and a hundred bytes of output.
Program counting(const std::function<void(tir::FunctionBuilder&, const tir::BufferPtr& table, const tir::Ex& number,
                                          const tir::BufferPtr& out)>& body) {
  tir::FunctionBuilder f("f");
  const tir::BufferPtr table = f.constant("t", DType::kI8, 4), number = f.constant("n", DType::kI32, 1),
                       out = f.output("o", DType::kI8, 100);
  body(f, table, f.let("n", load(number, 0)), out);
  Program p;
  p.functions.resize(1);
  p.functions[0].body = f.finish();
  p.constants.resize(2);
  p.constants[0].data = {"t", DType::kI8, {1, 2, 3, 4}};
  p.constants[1].data = {"n", DType::kI32, {7, 0, 0, 0}};
  ProgramCall call;
  call.function = 0;
  call.arguments.push_back({{StorageKind::kConstant, 0}, DType::kI8, 4, {4}});
  call.arguments.push_back({{StorageKind::kConstant, 1}, DType::kI32, 1, {1}});
  call.arguments.push_back({{StorageKind::kOutput, 0}, DType::kI8, 100, {100}});
  p.calls.push_back(call);
  return p;
}

// A long loop is walked once, with the mean of its variable; conditions behind it go the way that the numbers of
// tables say.
TEST(CountedReads, ConditionsBehindALoopAreKnown) {
  Program p = counting(
      [](tir::FunctionBuilder& f, const tir::BufferPtr& table, const tir::Ex& number, const tir::BufferPtr& out) {
        f.loop("i", 0, 100, [&](const tir::Ex& i) { f.store(out, i, load(table, 0)); });
        f.if_(
            number > 5, [&] { f.store(out, 0, load(table, 1)); },
            [&] { f.loop("j", 0, 100, [&](const tir::Ex& j) { f.store(out, j, load(table, 2)); }); });
      });
  EXPECT_EQ(constant_reads(p), (std::vector<double>{101, 4}));
  p.constants[1].data.bytes[0] = 5;
  EXPECT_EQ(constant_reads(p), (std::vector<double>{200, 4}));
}

// In a loop that is walked with a mean conditions go both ways, however short it is: the third of nested ones.
TEST(CountedReads, ConditionsInLoopsOfMeansGoBothWays) {
  for (int64_t turns : {2, 3, 40}) {
    Program p = counting([&](tir::FunctionBuilder& f, const tir::BufferPtr& table, const tir::Ex&,
                             const tir::BufferPtr& out) {
      auto inner = [&](const tir::Ex& k) {
        f.if_(
            k > 0, [&] { f.store(out, k, load(table, 1)); }, [&] { f.store(out, k, load(table, 2) + load(table, 3)); });
      };
      f.loop("i", 0, 2,
             [&](const tir::Ex&) { f.loop("j", 0, 2, [&](const tir::Ex&) { f.loop("k", 0, turns, inner); }); });
    });
    EXPECT_EQ(constant_reads(p)[0], 4 * 1.5 * static_cast<double>(turns)) << turns;
  }
}

Program tables(const std::vector<size_t>& bytes) {
  Program p;
  for (size_t n : bytes) {
    ProgramConstant c;
    c.data.dtype = DType::kI8;
    c.data.alignment = 4;
    c.data.bytes.assign(n, 1);
    p.constants.push_back(c);
  }
  return p;
}

TEST(AssignSections, OneWithoutSizeTakesAll) {
  Program p = tables({100, 8, 3});
  EXPECT_EQ(assign_sections(p, {{".flash"}}), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(assign_sections(p, {}), (std::vector<int>{-1, -1, -1}));
}

TEST(AssignSections, FillsUpToTheSizeWithRoomForAlignment) {
  Program p = tables({100, 8, 3});
  EXPECT_EQ(assign_sections(p, {{".fast", 12}, {".slow"}}), (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(assign_sections(p, {{".fast", 11}, {".slow"}}), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(assign_sections(p, {{".fast", 0}, {".slow"}}), (std::vector<int>{1, 1, 1}));
  // A byte beyond a multiple of the alignment takes all of the next.
  EXPECT_EQ(assign_sections(tables({5}), {{".fast", 7}, {".slow"}}), (std::vector<int>{1}));
  EXPECT_EQ(assign_sections(tables({5}), {{".fast", 8}, {".slow"}}), (std::vector<int>{0}));
  // Without one that takes the rest, the rest is where tables are by default.
  EXPECT_EQ(assign_sections(p, {{".fast", 12}}), (std::vector<int>{-1, 0, 0}));
}

// A number that is read sixteen times comes before a table of which more is read, each byte once.
TEST(AssignSections, BytesThatAreReadOftenComeFirst) {
  std::string row;
  for (int i = 0; i < 32; ++i) row += (i > 0 ? ", " : "") + std::to_string(i);
  Diagnostics diags;
  auto graph = graph::parse(R"(graph "g" {
  input %0 "x" f32[32]
  input %1 "z" f32[4x4]
  const %2 "row" f32[32] = [)" + row +
                                R"(]
  const %3 "one" f32[2] = [7, 8]
  const %4 "at" i32[16] = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
  %5 "a" f32[32] = add(%0, %2)
  %6 "b" f32[16] = gather(%3, %4) {axis = 0}
  output %5
  output %6
})",
                            "t.air", ops::definition_lookup(), diags);
  ASSERT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  auto program = plan_program(std::move(*graph), {}, diags);
  ASSERT_TRUE(program) << diags.str();
  std::vector<double> reads = constant_reads(*program);
  std::vector<int> section = assign_sections(*program, {{".fast", 128}, {".slow"}});
  for (size_t i = 0; i < section.size(); ++i) {
    const size_t bytes = program->constants[i].data.bytes.size();
    if (bytes == 8) {
      EXPECT_EQ(reads[i], 64);
      EXPECT_EQ(section[i], 0);
    }
    if (bytes == 128) {
      EXPECT_EQ(reads[i], 128);
      EXPECT_EQ(section[i], 1);
    }
  }
}

TEST(AssignSections, WhatIsReadMostPerByteIsFast) {
  auto none = [](std::string_view) { return false; };
  ops::TargetInfo target = cores::target_info({"cortex-m4", "armv7e-m", none, KernelForm::kC});
  Program p = program_of("digits/digits_int8.tflite", target);
  std::vector<double> reads = constant_reads(p);
  std::vector<int> section = assign_sections(p, {{".fast", 2048}, {".slow"}});
  auto heat = [&](size_t i) { return reads[i] / static_cast<double>(p.constants[i].data.bytes.size()); };
  int64_t used = 0, left = INT64_MAX;
  double coldest = 1e30;
  for (size_t i = 0; i < section.size(); ++i)
    if (section[i] == 0) {
      used += static_cast<int64_t>(p.constants[i].data.bytes.size());
      coldest = std::min(coldest, heat(i));
    }
  left = 2048 - used;
  EXPECT_GT(used, 0);
  EXPECT_GE(left, 0);
  // What is outside and read more did not fit in.
  for (size_t i = 0; i < section.size(); ++i)
    if (section[i] == 1 && heat(i) > coldest) {
      EXPECT_GT(static_cast<int64_t>(p.constants[i].data.bytes.size()), left) << i;
    }
}

}  // namespace
}  // namespace aotc::plan
