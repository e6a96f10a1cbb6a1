// SPDX-License-Identifier: Apache-2.0
#include "ops/common/movement.h"

#include <gtest/gtest.h>

#include <random>

namespace aotc::ops {
namespace movement_test {
namespace {

using Rng = std::mt19937;

int64_t pick(Rng& rng, int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(rng); }

// A move out of a random larger array, with strides of any sign and order, into a dense one.
Movement random_move(Rng& rng, int64_t& from_elements) {
  Movement m;
  auto rank = static_cast<size_t>(pick(rng, 0, 5));
  graph::Shape from;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < rank; ++i) {
    m.extents.push_back(pick(rng, 1, 4));
    steps.push_back(pick(rng, 0, 3) == 0 ? pick(rng, -2, 2) : 1);
    from.push_back((m.extents[i] - 1) * std::max<int64_t>(std::abs(steps[i]), 1) + pick(rng, 1, 2));
  }
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = i;
  if (pick(rng, 0, 1) == 1) std::shuffle(order.begin(), order.end(), rng);
  graph::Shape arranged;
  for (size_t i : order) arranged.push_back(from[i]);
  std::vector<int64_t> arranged_strides = strides_of(arranged);
  m.from_strides.resize(rank);
  for (size_t k = 0; k < rank; ++k) {
    size_t i = order[k];
    m.from_strides[i] = arranged_strides[k] * steps[i];
    if (steps[i] < 0) m.from_offset -= (m.extents[i] - 1) * m.from_strides[i];
  }
  m.to_strides = strides_of(m.extents);
  from_elements = graph::element_count(from);
  return m;
}

// Straight from the definition, without merging anything.
std::vector<int16_t> moved(const Movement& m, const std::vector<int16_t>& from) {
  std::vector<int16_t> to(static_cast<size_t>(graph::element_count(m.extents)));
  for (size_t n = 0; n < to.size(); ++n) {
    auto left = static_cast<int64_t>(n);
    int64_t at = m.from_offset, out = m.to_offset;
    for (size_t d = m.extents.size(); d-- > 0;) {
      at += left % m.extents[d] * m.from_strides[d];
      out += left % m.extents[d] * m.to_strides[d];
      left /= m.extents[d];
    }
    to[static_cast<size_t>(out)] = from[static_cast<size_t>(at)];
  }
  return to;
}

TEST(Movement, EvaluationAndTirFollowTheDefinition) {
  Rng rng(7);
  int merged = 0;
  for (int round = 0; round < 500; ++round) {
    int64_t elements = 0;
    Movement m = random_move(rng, elements);
    std::vector<int16_t> from(static_cast<size_t>(elements));
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int16_t>(i + 1);
    std::vector<int16_t> wanted = moved(m, from);

    std::vector<int16_t> run(wanted.size());
    auto bytes = [](auto& v) { return reinterpret_cast<uint8_t*>(v.data()); };
    run_movement(m, {bytes(from), from.size() * 2}, {bytes(run), run.size() * 2}, 2);
    EXPECT_EQ(run, wanted) << round;

    tir::FunctionBuilder f("move");
    tir::BufferPtr in = f.input("in", DType::kI16, elements);
    tir::BufferPtr out = f.output("out", DType::kI16, static_cast<int64_t>(wanted.size()));
    emit_movement(f, out, in, m);
    tir::FunctionPtr function = f.finish();
    Diagnostics diags;
    ASSERT_TRUE(tir::verify(*function, diags)) << diags.str() << tir::print(*function);
    std::vector<int16_t> interpreted(wanted.size());
    ASSERT_TRUE(tir::interpret(
        *function, {{bytes(from), elements * 2}, {bytes(interpreted), static_cast<int64_t>(wanted.size()) * 2}}, diags))
        << diags.str();
    EXPECT_EQ(interpreted, wanted) << tir::print(*function);
    if (simplified(m).extents.size() < m.extents.size()) ++merged;
  }
  EXPECT_GT(merged, 100);
}

TEST(Movement, MergesWhatIsContiguousOnBothSides) {
  Movement m;
  m.extents = {2, 1, 3, 4};
  m.to_strides = {12, 12, 4, 1};
  m.from_strides = {40, 7, 4, 1};
  Movement s = simplified(m);
  EXPECT_EQ(s.extents, (graph::Shape{2, 12}));
  EXPECT_EQ(s.to_strides, (std::vector<int64_t>{12, 1}));
  EXPECT_EQ(s.from_strides, (std::vector<int64_t>{40, 1}));
}

TEST(Movement, FillsWithAnyElement) {
  auto filled = [](DType type, std::vector<uint8_t> value, int64_t elements) {
    tir::FunctionBuilder f("fill");
    emit_fill(f, f.output("out", type, elements), 0, value, elements);
    std::vector<uint8_t> out(static_cast<size_t>(elements * size_of(type)), 0x5A);
    Diagnostics diags;
    EXPECT_TRUE(tir::interpret(*f.finish(), {{out.data(), static_cast<int64_t>(out.size())}}, diags)) << diags.str();
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], value[i % value.size()]) << i;
  };
  for (int64_t n : {1, 4, 5, 9}) {
    filled(DType::kI8, {0x80}, n);
    filled(DType::kU8, {0xFF}, n);
    filled(DType::kBool, {1}, n);
    filled(DType::kI16, {0x34, 0x82}, n);
    filled(DType::kI32, {1, 2, 3, 0x84}, n);
    filled(DType::kI64, {1, 2, 3, 4, 5, 6, 7, 0x88}, n);
    filled(DType::kF32, {0, 0, 0, 0x80}, n);  // -0.0
    filled(DType::kF32, {0, 0, 0xC0, 0x3F}, n);
  }
}

}  // namespace
}  // namespace movement_test
}  // namespace aotc::ops
