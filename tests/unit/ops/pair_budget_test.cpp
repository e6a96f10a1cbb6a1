// SPDX-License-Identifier: Apache-2.0
// Proofs over all pairs are counted, and thousands of small operators are planned without most of them.
#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "ops/common/affine.h"
#include "ops/common/known_fits.h"
#include "ops/common/pair_budget.h"
#include "ops/operator.h"
#include "plan/program.h"

namespace aotc {
namespace {

using ops::PairBudget;

// `count` int8 operators one behind the other.
graph::Graph chain(const std::string& name, int count) {
  const std::string type = " i8[16] quant(0.05, 0)";
  std::string text = "graph \"g\" {\n  input %0 \"x\"" + type + "\n";
  for (int i = 1; i <= count; ++i)
    text += "  %" + std::to_string(i) + " \"t\"" + type + " = " + name + "(%" + std::to_string(i - 1) + ", %0)\n";
  text += "  output %" + std::to_string(count) + "\n}\n";
  Diagnostics diags;
  auto graph = graph::parse(text, "t.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  return graph ? std::move(*graph) : graph::Graph{};
}

int64_t spent_by_one(const std::string& name) {
  const graph::Graph graph = chain(name, 1);
  PairBudget budget(1 << 30);
  ops::definition_of(graph.ops[0]).lower({graph, graph.ops[0]}, {});
  return (1 << 30) - budget.left();
}

std::string form_of_one(const std::string& name) {
  const graph::Graph graph = chain(name, 1);
  return ops::definition_of(graph.ops[0]).lower({graph, graph.ops[0]}, {}).schedule.note;
}

TEST(PairBudget, CountsWhatProofsLookAt) {
  EXPECT_EQ(spent_by_one("mul"), 65536);
  // The table of what is wanted, and all pairs of the form that fits.
  EXPECT_GE(spent_by_one("add"), 2 * 65536);
}

// A sum that no form gives, because one pair in the middle is another: each of the weights tried costs a few
// rows, not all.
TEST(PairBudget, WhatDoesNotFitCostsFewRows) {
  std::vector<int8_t> wanted;
  for (int a = -128; a < 128; ++a)
    for (int b = -128; b < 128; ++b)
      wanted.push_back(
          static_cast<int8_t>(std::clamp(static_cast<int>(std::floor(0.4 * a + 0.3 * b + 0.5)), -128, 127)));
  wanted[(37 + 128) * 256 + 128] = static_cast<int8_t>(wanted[(37 + 128) * 256 + 128] + 5);
  PairBudget budget(1 << 30);
  EXPECT_FALSE(ops::fit_affine(wanted, {0.4, 0.3}, 0.0, {-128, 127}));
  EXPECT_LT((1 << 30) - budget.left(), 65536 / 2);
  // A value of a million has no room for a shift.
  wanted.assign(65536, 127);
  EXPECT_TRUE(ops::fit_affine(wanted, {0, 0}, 999998, {-128, 127}));
  EXPECT_FALSE(ops::fit_affine(wanted, {0, 0}, 999999, {-128, 127}));
}

TEST(PairBudget, WithoutAnyLeftTheReferenceIsLowered) {
  for (const char* name : {"add", "sub", "mul"}) {
    const std::string proven = form_of_one(name);
    ASSERT_NE(proven.substr(0, 11), "fixed point") << name;
    {
      PairBudget none(0);
      EXPECT_EQ(form_of_one(name).substr(0, 11), "fixed point") << name;
      PairBudget one(1);
      EXPECT_EQ(form_of_one(name), proven) << name;
      EXPECT_EQ(form_of_one(name).substr(0, 11), "fixed point") << name;
    }
    EXPECT_EQ(form_of_one(name), proven) << name;
  }
}

// What is kept from an earlier plan is the same plan, with as many proofs.
TEST(PairBudget, IsSpentByWhatIsKnown) {
  constexpr int kCount = 1100;
  for (const char* name : {"mul", "add", "sub"}) {
    auto text_of_plan = [&] {
      Diagnostics diags;
      auto program = plan::plan_program(chain(name, kCount), {}, diags);
      EXPECT_TRUE(program) << diags.str();
      std::string out;
      for (const plan::ProgramCall& call : program->calls) {
        out += call.schedule.note + ";";
        for (const plan::CallArgument& a : call.arguments)
          if (a.storage.kind == plan::StorageKind::kConstant)
            for (uint8_t byte : program->constants[static_cast<size_t>(a.storage.index)].data.bytes)
              out += static_cast<char>(byte);
      }
      return out;
    };
    const std::string without = text_of_plan();
    const ops::KnownFits fits;
    EXPECT_EQ(text_of_plan(), without) << name;
    EXPECT_EQ(text_of_plan(), without) << name;
    const int64_t each = spent_by_one(name);
    EXPECT_EQ(spent_by_one(name), each) << name;
    EXPECT_GE(each, 65536) << name;
  }
  // Another scale, another form.
  const ops::KnownFits fits;
  const std::string type = " i8[16] quant(0.05, 0)";
  for (const char* name : {"mul", "add", "sub"}) {
    std::set<std::string> forms;
    for (const char* scale : {"0.05", "0.07"}) {
      Diagnostics diags;
      auto graph = graph::parse("graph \"g\" {\n  input %0 \"x\"" + type + "\n  %1 \"t\" i8[16] quant(" + scale +
                                    ", 0) = " + name + "(%0, %0)\n  output %1\n}\n",
                                "t.air", ops::definition_lookup(), diags);
      ASSERT_TRUE(graph) << diags.str();
      std::string bytes;
      for (const ops::Constant& c : ops::definition_of(graph->ops[0]).lower({*graph, graph->ops[0]}, {}).constants)
        bytes.append(c.bytes.begin(), c.bytes.end());
      forms.insert(bytes);
    }
    EXPECT_EQ(forms.size(), 2U) << name;
  }
}

// Proofs of a plan stop where they have looked at kMostPairs, whatever the machine; the next plan
// has as many again.
TEST(PairBudget, BoundsAPlan) {
  constexpr int kCount = 1100;
  for (const char* name : {"mul", "add"}) {
    const int64_t each = spent_by_one(name);
    const std::string proven = form_of_one(name);
    for (int plan = 0; plan < 2; ++plan) {
      Diagnostics diags;
      auto program = plan::plan_program(chain(name, kCount), {}, diags);
      ASSERT_TRUE(program) << diags.str();
      int64_t proofs = 0;
      for (const plan::ProgramCall& call : program->calls) proofs += call.schedule.note == proven;
      EXPECT_EQ(proofs, (ops::kMostPairs + each - 1) / each) << name;
      EXPECT_LT(proofs, kCount) << name;
    }
  }
}

}  // namespace
}  // namespace aotc
