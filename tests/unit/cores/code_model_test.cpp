// SPDX-License-Identifier: Apache-2.0
// What the model of an optimising compiler counts in loops of TIR, and what it does not.
#include "cores/code_model.h"

#include <gtest/gtest.h>

#include "tir/tir.h"
#include "tir/visit.h"

namespace aotc::cores {
namespace {

struct Modelled {
  tir::FunctionPtr function;
  CodeCosts costs;
  std::unique_ptr<CodeModel> model;
  std::vector<const tir::Stmt*> loops, stores;

  double turn(size_t loop) const { return model->of(*loops[loop]).turn; }
  double store(size_t i) const { return model->of(*stores[i]).once; }
};

void collect(const tir::Stmt& s, Modelled& out) {
  if (s.kind == tir::StmtKind::kFor) out.loops.push_back(&s);
  if (s.kind == tir::StmtKind::kStore) out.stores.push_back(&s);
  tir::visit(s, [&](const auto& node) {
    tir::for_each_child(node, [](const tir::Expr&) {}, [&](const tir::Stmt& child) { collect(child, out); });
  });
}

Modelled modelled(const std::string& body, const CodeCosts& costs = {}) {
  Diagnostics diags;
  auto f = tir::parse(
      "func f(in x: i32[64], in a: i32[4], in p: f32[64], out y: i32[64], out q: f32[64]) {\n" + body + "\n}\n",
      "model", diags);
  EXPECT_TRUE(f) << diags.str();
  Modelled out{f ? *f : nullptr, costs, nullptr, {}, {}};
  if (!f) return out;
  out.model = std::make_unique<CodeModel>(out.costs);
  out.model->add(*out.function);
  collect(*out.function->body, out);
  return out;
}

TEST(CodeModel, WhatALoopDoesNotChangeIsComputedBeforeIt) {
  const std::string values = "let b: i32 = a[0]\nlet c: i32 = a[1]\n";
  const Modelled inside = modelled(values + "for i in 0 .. 64 {\n  y[i] = x[i] + b / c\n}");
  const Modelled before = modelled(values + "let d: i32 = b / c\nfor i in 0 .. 64 {\n  y[i] = x[i] + d\n}");
  EXPECT_EQ(inside.store(0), before.store(0));
  EXPECT_GT(modelled(values + "for i in 0 .. 64 {\n  y[i] = x[i] / c + b\n}").store(0), inside.store(0));
  // The loop stores to y, which may be a.
  EXPECT_GT(modelled("for i in 0 .. 64 {\n  y[i] = x[i] + a[0]\n}").store(0), before.store(0));
}

TEST(CodeModel, EqualExpressionsAreComputedOnce) {
  const std::string values = "let b: i32 = a[0]\nlet c: i32 = a[1]\n",
                    loop = "for i in 0 .. 64 {\n  q[i] = f32(x[i] / b)\n";
  EXPECT_LT(modelled(values + loop + "  y[i] = x[i] / b\n}").store(1),
            modelled(values + loop + "  y[i] = x[i] / c\n}").store(1));
}

TEST(CodeModel, AccessesThatMoveWithALoopHavePointers) {
  CodeCosts riscv;
  riscv.thumb = false;  // no post-indexed addresses: each pointer is moved on by an instruction
  const std::string one = "for i in 0 .. 64 {\n  y[i] = 1\n}", two = "for i in 0 .. 64 {\n  y[i] = x[i]\n}";
  EXPECT_EQ(modelled(two).turn(0), modelled(one).turn(0));
  EXPECT_GT(modelled(two, riscv).turn(0), modelled(one, riscv).turn(0));
}

// A visit of both branches twice would take 2^40 visits.
TEST(CodeModel, NestedBranchesAreVisitedOnce) {
  std::string text = "y[0] = 1";
  for (int i = 0; i < 40; ++i)
    text = "if x[" + std::to_string(i) + "] > 0 {\n" + text + "\n} else {\ny[" + std::to_string(i) + "] = 2\n}";
  EXPECT_GT(modelled(text).store(0), 0);
}

// Low bits of a number have all values equally often.
TEST(CodeModel, ABranchThatHardlyEverRunsIsNotTheUsualOne) {
  auto usual = [](const std::string& condition) {
    const Modelled m =
        modelled("let b: i32 = a[0]\nif " + condition + " {\n  y[0] = x[0] / b\n} else {\n  y[0] = b\n}");
    const tir::Stmt* branch = nullptr;
    tir::visit(*m.function->body, [&](const auto& block) {
      tir::for_each_child(
          block, [](const tir::Expr&) {},
          [&](const tir::Stmt& child) {
            if (child.kind == tir::StmtKind::kIf) branch = &child;
          });
    });
    if (branch == nullptr || m.model->of(*branch).usual == nullptr) return "none";
    return m.model->of(*branch).usual == static_cast<const tir::If&>(*branch).then.get() ? "then" : "otherwise";
  };
  EXPECT_STREQ(usual("(b & 65535) < 3"), "otherwise");
  EXPECT_STREQ(usual("(b & 65535) < 30000"), "none");
  EXPECT_STREQ(usual("(b & 3) < 1"), "none");
  EXPECT_STREQ(usual("b < 3"), "none");
}

TEST(CodeModel, ValuesThatFindNoRegisterAreLoadedAgain) {
  const std::string loop = "for i in 0 .. 64 {\n  y[i] = x[i] + a[0] * x[i] + a[1] * x[i] + a[2] * x[i] + a[3]\n}";
  CodeCosts few;
  few.integer_registers = 4;
  EXPECT_GT(modelled(loop, few).turn(0), modelled(loop).turn(0));
}

TEST(CodeModel, StatementsThatNeverRunCostNothing) {
  EXPECT_EQ(modelled("for i in 0 .. 64 {\n  if i < 0 {\n    y[i] = x[i]\n  }\n}").store(0), 0);
  EXPECT_GT(modelled("for i in 0 .. 64 {\n  if i < 5 {\n    y[i] = x[i]\n  }\n}").store(0), 0);
}

TEST(CodeModel, FloatsWithoutAnFpuAreCalls) {
  CodeCosts soft;
  soft.float_unit = false;
  soft.float_add = 77, soft.float_multiply = 111;
  const std::string loop = "for i in 0 .. 64 {\n  q[i] = p[i] * p[i] + p[i]\n}";
  EXPECT_GT(modelled(loop, soft).store(0), 77 + 111);
  EXPECT_LT(modelled(loop).store(0), 10);
}

TEST(CodeModel, ShortCopiesOfKnownLengthAreNoCalls) {
  const CodeCosts costs;
  const CodeModel model(costs);
  EXPECT_LT(model.block(true, 16, true), model.block(true, 16, false));
  EXPECT_GE(model.block(true, 1024, true), costs.copy);
  EXPECT_LT(model.block(false, 8, true), model.block(false, 1024, true));
}

TEST(CodeModel, AnotherFunctionCostsNothing) {
  const Modelled one = modelled("y[0] = x[0]"), other = modelled("y[0] = x[1] * x[2]");
  EXPECT_EQ(one.model->of(*other.stores[0]).once, 0);
  EXPECT_GT(other.store(0), 0);
}

}  // namespace
}  // namespace aotc::cores
