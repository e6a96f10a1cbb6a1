// SPDX-License-Identifier: Apache-2.0
// Walking and rewriting functions from the list of nodes.
#include "tir/visit.h"

#include <gtest/gtest.h>

namespace aotc::tir {
namespace {

ExprPtr number(int64_t v) { return std::make_shared<IntImm>(DType::kI32, v); }

struct Sample {
  BufferPtr x = std::make_shared<Buffer>(Buffer{"x", DType::kI8, 8, Role::kInput});
  BufferPtr y = std::make_shared<Buffer>(Buffer{"y", DType::kI8, 8, Role::kOutput});
  VarPtr i = std::make_shared<Variable>(Variable{"i"});
  ExprPtr at = std::make_shared<VarRef>(i);
  ExprPtr sum = std::make_shared<Binary>(BinaryOp::kAdd, DType::kI32, std::make_shared<Load>(x, at), number(1), true);
  StmtPtr store = std::make_shared<Store>(y, at, sum);
  StmtPtr test = std::make_shared<If>(at, store, nullptr);
  StmtPtr loop = std::make_shared<For>(i, number(0), number(8), 1, test);
};

TEST(Visit, ChildrenComeInTheOrderOfEvaluation) {
  Sample s;
  std::vector<const void*> seen;
  auto note = [&](const auto& n) { seen.push_back(&n); };
  for_each_child(*s.loop, note, note);
  const auto& loop = static_cast<const For&>(*s.loop);
  EXPECT_EQ(seen, (std::vector<const void*>{loop.begin.get(), loop.end.get(), loop.body.get()}));
  seen.clear();
  for_each_child(*s.test, note, note);  // what is absent is not visited
  EXPECT_EQ(seen, (std::vector<const void*>{s.at.get(), s.store.get()}));
}

TEST(Visit, StatementsAreFoundWhereverTheyStand) {
  Sample s;
  std::vector<StmtKind> kinds;
  for_each_stmt(*s.loop, [&](const Stmt& n) { kinds.push_back(n.kind); });
  EXPECT_EQ(kinds, (std::vector<StmtKind>{StmtKind::kFor, StmtKind::kIf, StmtKind::kStore}));
  EXPECT_FALSE(can_fail(s.loop));
  EXPECT_TRUE(can_fail(std::make_shared<For>(s.i, number(0), number(8), 1, std::make_shared<Fail>())));
}

TEST(Visit, NodesAreWhatTheyAre) {
  Sample s;
  auto name =
      Overloaded{[](const Binary&) { return 'b'; }, [](const Load&) { return 'l'; }, [](const auto&) { return '-'; }};
  EXPECT_EQ(visit(*s.sum, name), 'b');
  EXPECT_EQ(visit(*static_cast<const Binary&>(*s.sum).lhs, name), 'l');
  EXPECT_EQ(visit(*s.at, name), '-');
}

TEST(Mutator, WhatStaysIsNotCopied) {
  Sample s;
  EXPECT_EQ(Mutator().stmt(s.loop), s.loop);
  EXPECT_EQ(Mutator().stmt(nullptr), nullptr);
}

struct OtherBuffer final : Mutator {
  BufferPtr from, to;
  BufferPtr buffer(const BufferPtr& b) override { return b == from ? to : b; }
};

TEST(Mutator, WhatChangesTakesAllAroundItAlong) {
  Sample s;
  OtherBuffer other;
  other.from = s.x;
  other.to = std::make_shared<Buffer>(*s.x);
  StmtPtr made = other.stmt(s.loop);
  ASSERT_NE(made, s.loop);
  const auto& loop = static_cast<const For&>(*made);
  EXPECT_EQ(loop.var, s.i);
  EXPECT_EQ(loop.begin, static_cast<const For&>(*s.loop).begin);
  const auto& store = static_cast<const Store&>(*static_cast<const If&>(*loop.body).then);
  EXPECT_EQ(store.buffer, s.y);
  EXPECT_EQ(store.index, s.at);
  const auto& sum = static_cast<const Binary&>(*store.value);
  EXPECT_TRUE(sum.wrapping);
  EXPECT_EQ(static_cast<const Load&>(*sum.lhs).buffer, other.to);
  EXPECT_EQ(static_cast<const Load&>(*static_cast<const Binary&>(*s.sum).lhs).buffer, s.x);
}

}  // namespace
}  // namespace aotc::tir
