// SPDX-License-Identifier: Apache-2.0
// move-transposes on random graphs in which operators of NHWC stand between transposes: the same
// outputs, byte for byte, and never more elements transposed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "passes/layout.h"
#include "test_operators.h"

namespace aotc::passes {
namespace {

class Planes {
 public:
  explicit Planes(unsigned seed) : random_(seed), is_float_(seed % 2 == 1) {}

  std::string make() {
    text_ = "graph \"g\" {\n";
    for (int i = 0; i < 2; ++i) {
      graph::Shape shape = {1, 2 + below(3), 1 + below(4), 2 + below(3)};
      text_ += fmt::format("  input %{} \"x{}\" {}\n", next_, i, type(shape));
      known_.push_back({next_++, shape});
    }
    for (int64_t i = 6 + below(14); i > 0; --i) step();
    text_ += fmt::format("  output %{}\n", known_.back().id);
    const Value& other = any();
    if (other.id != known_.back().id && other.id > 1) text_ += fmt::format("  output %{}\n", other.id);
    return text_ + "}\n";
  }

 private:
  struct Value {
    int id;
    graph::Shape shape;
  };

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  // Mostly one of the youngest.
  Value any() {
    auto n = static_cast<int64_t>(known_.size());
    int64_t least = below(3) > 0 ? std::max<int64_t>(0, n - 3) : 0;
    return known_[static_cast<size_t>(least + below(n - least))];
  }
  std::string type(const graph::Shape& shape) const {
    return fmt::format("{}[{}]{}", is_float_ ? "f32" : "i8", fmt::join(shape, "x"), is_float_ ? "" : " quant(0.05, 3)");
  }
  void add(const graph::Shape& shape, const std::string& op) {
    text_ += fmt::format("  %{} \"t{}\" {} = {}\n", next_, next_, type(shape), op);
    known_.push_back({next_++, shape});
  }
  int constant(const graph::Shape& shape) {
    std::string values;
    for (int64_t i = graph::element_count(shape); i > 0; --i)
      values += fmt::format("{}{}", values.empty() ? "" : ", ", below(200) - 100);
    text_ += fmt::format("  const %{} \"c\" {} = [{}]\n", next_, type(shape), values);
    return next_++;
  }

  void transpose(const Value& v) {
    static const std::vector<ops::Order> kOrders = {{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 3, 1},
                                                    {0, 3, 1, 2}, {0, 2, 1, 3}, {3, 0, 1, 2}};
    ops::Order order = kOrders[static_cast<size_t>(below(static_cast<int64_t>(kOrders.size())))];
    if (v.shape.size() != 4) {
      order = ops::identity_order(v.shape.size());
      std::reverse(order.begin(), order.end());
    }
    add(ops::ordered_shape(v.shape, order),
        fmt::format("transpose(%{}) {{order = [{}]}}", v.id, fmt::join(order, ", ")));
  }

  void binary(const Value& v) {
    const char* name = below(2) == 0 ? "add" : "mul";
    for (const Value& other : known_)
      if (other.id != v.id && other.shape == v.shape && below(2) == 0)
        return add(v.shape, fmt::format("{}(%{}, %{})", name, v.id, other.id));
    graph::Shape shape = v.shape;
    for (int64_t& d : shape)
      if (below(2) == 0) d = 1;
    shape.erase(shape.begin(), shape.begin() + below(static_cast<int64_t>(shape.size())));
    int c = constant(shape);
    add(v.shape,
        below(2) == 0 ? fmt::format("{}(%{}, %{})", name, v.id, c) : fmt::format("{}(%{}, %{})", name, c, v.id));
  }

  void join_and_cut(const Value& v, size_t axis) {
    graph::Shape shape = v.shape;
    if (below(2) == 0 || shape[axis] < 2) {
      shape[axis] *= 2;
      return add(shape, fmt::format("concatenation(%{}, %{}) {{axis = {}}}", v.id, v.id, axis));
    }
    if (below(2) == 0) {
      graph::Shape begin(shape.size(), 0), strides(shape.size(), 1), counts = shape;
      counts[axis] = below(2) == 0 ? 1 : counts[axis] - 1;
      begin[axis] = 1;
      shape = counts;
      if (counts[axis] == 1 && below(2) == 0 && shape.size() > 2) shape.erase(shape.begin() + static_cast<long>(axis));
      return add(shape, fmt::format("slice(%{}) {{begin = [{}], strides = [{}], counts = [{}], shape = [{}]}}", v.id,
                                    fmt::join(begin, ", "), fmt::join(strides, ", "), fmt::join(counts, ", "),
                                    fmt::join(shape, ", ")));
    }
    graph::Shape other = shape;
    shape[axis] = 1;
    other[axis] -= 1;
    text_ += fmt::format("  %{} \"a\" {}, %{} \"b\" {} = split(%{}) {{axis = {}, sizes = [1, {}]}}\n", next_,
                         type(shape), next_ + 1, type(other), v.id, axis, other[axis]);
    known_.push_back({next_, shape});
    known_.push_back({next_ + 1, other});
    next_ += 2;
  }

  void reduce(const Value& v) {
    static const char* const kNames[] = {"mean", "sum", "reduce_max"};
    graph::Shape axes, shape;
    bool keep = below(2) == 0;
    for (size_t i = 0; i < v.shape.size(); ++i) {
      bool reduced = below(3) == 0 && (keep || v.shape.size() > 2);
      if (reduced) axes.push_back(static_cast<int64_t>(i));
      if (!reduced || keep) shape.push_back(reduced ? 1 : v.shape[i]);
    }
    if (shape.empty()) return;
    add(shape,
        fmt::format("{}(%{}) {{axes = [{}], keep_dims = {}}}", kNames[below(3)], v.id, fmt::join(axes, ", "), keep));
  }

  void reshape(const Value& v) {
    graph::Shape shape = v.shape;
    auto at = below(static_cast<int64_t>(shape.size()));
    if (below(2) == 0 && at + 1 < static_cast<int64_t>(shape.size())) {
      shape[static_cast<size_t>(at)] *= shape[static_cast<size_t>(at + 1)];
      shape.erase(shape.begin() + at + 1);
    } else if (shape.size() < 5) {
      shape.insert(shape.begin() + at, 1);
      if (shape[static_cast<size_t>(at + 1)] % 2 == 0)
        shape[static_cast<size_t>(at + 1)] /= 2, shape[static_cast<size_t>(at)] = 2;
    }
    add(shape, fmt::format("reshape(%{}) {{shape = [{}]}}", v.id, fmt::join(shape, ", ")));
  }

  void dense(const Value& v) {
    int64_t row = graph::element_count(v.shape);
    if (row > 200) return;
    std::string values;
    for (int64_t i = 0; i < 3 * row; ++i) values += fmt::format("{}{}", i > 0 ? ", " : "", below(200) - 100);
    text_ += fmt::format("  const %{} \"w\" {}[3x{}]{} = [{}]\n", next_, is_float_ ? "f32" : "i8", row,
                         is_float_ ? "" : " quant(0.01, 0)", values);
    int weights = next_++, in = v.id;
    if (below(2) == 0) {
      add({1, row}, fmt::format("reshape(%{}) {{shape = [1, {}]}}", v.id, row));
      in = known_.back().id;
    }
    add({1, 3}, fmt::format("fully_connected(%{}, %{})", in, weights));
  }

  void step() {
    Value v = any();
    if (graph::element_count(v.shape) > 600) return;
    auto axis = static_cast<size_t>(below(static_cast<int64_t>(v.shape.size())));
    switch (below(14)) {
      case 0: return add(v.shape, fmt::format("relu(%{})", v.id));
      case 1:
      case 2: return binary(v);
      case 3: return join_and_cut(v, axis);
      case 4: return reduce(v);
      case 5: return reshape(v);
      case 6: return dense(v);
      case 7: {
        graph::Shape before(v.shape.size(), 0), after(v.shape.size(), 0), shape = v.shape;
        before[axis] = 1;
        after[axis] = below(2);
        shape[axis] += 1 + after[axis];
        return add(shape, fmt::format("pad(%{}) {{before = [{}], after = [{}]}}", v.id, fmt::join(before, ", "),
                                      fmt::join(after, ", ")));
      }
      default: return transpose(v);
    }
  }

  std::mt19937 random_;
  bool is_float_;
  std::string text_;
  int next_ = 0;
  std::vector<Value> known_;
};

TEST(MoveTransposes, KeepsOutputsOfRandomGraphs) {
  int64_t before = 0, after = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::string text = Planes(seed).make();
    graph::Graph read = run_on("dead-code", text, {}, false);
    graph::Graph graph = run_on("move-transposes", text);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << text;
    ASSERT_LE(transpose_cost(graph), transpose_cost(read)) << text;
    ASSERT_LE(std::get<0>(transpose_cost(graph)), std::get<0>(transpose_cost(read))) << text;
    before += std::get<2>(transpose_cost(read));
    after += std::get<2>(transpose_cost(graph));
  }
  // Most of them go.
  EXPECT_LT(after * 2, before) << before << " transposes, then " << after;
}

}  // namespace
}  // namespace aotc::passes
