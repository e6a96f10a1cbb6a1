// SPDX-License-Identifier: Apache-2.0
#include "rows_maker.h"

#include <algorithm>

namespace aotc::tests {

using graph::TensorId;
using graph::TensorType;

namespace {

class RowsMaker {
 public:
  RowsMaker(Random& random, DType main_type, const std::string& name)
      : random_(random), maker_(graph_maker(random, main_type, name)), type_(main_type) {}

  graph::Graph run() {
    maker_->add_input(maker_->type(type_, {1, random_.pick(5, 22), random_.pick(1, 6), channels()}));
    for (int64_t i = random_.pick(2, 7); i > 0; --i) step();
    if (random_.chance(50)) sums();
    maker_->made.outputs.push_back({maker_->last(), "out"});
    return std::move(maker_->made);
  }

 private:
  int64_t channels() { return random_.chance(75) ? 4 * random_.pick(1, 3) : random_.pick(1, 5); }
  static std::string text(int64_t v) { return std::to_string(v); }
  const graph::Shape& shape() const { return maker_->of(maker_->last()).shape; }

  TensorId weights(const graph::Shape& of, int axis) {
    TensorType t;
    t.dtype = type_ == DType::kF32 ? DType::kF32 : DType::kI8;
    t.shape = of;
    if (t.dtype == DType::kI8) {
      t.quantization.axis = axis;
      for (int64_t c = of[static_cast<size_t>(axis)]; c > 0; --c) {
        t.quantization.scale.push_back(random_.real(0.001f, 0.03f));
        t.quantization.zero_point.push_back(0);
      }
    }
    return maker_->constant(t);
  }

  std::string activation() { return random_.chance(40) ? "relu" : "none"; }

  // `same`: as many rows and columns as before.
  Attributes window(int64_t height, int64_t width, bool same) {
    Attributes a = {{"activation", activation()}};
    const int64_t dilation = !same && random_.chance(15) ? 2 : 1;
    if (!same) {
      a["stride_h"] = text(random_.pick(1, random_.chance(20) ? 3 : 2));
      a["stride_w"] = text(random_.pick(1, 2));
      a["dilation_h"] = text(dilation);
    }
    const bool pads = same || random_.chance(60);
    a["pad_top"] = text(pads ? (same ? (height - 1) / 2 : random_.pick(0, height - 1)) : 0);
    a["pad_bottom"] = text(pads ? (same ? height / 2 : random_.pick(0, height - 1)) : 0);
    a["pad_left"] = text(same ? (width - 1) / 2 : random_.pick(0, width - 1));
    a["pad_right"] = text(same ? width / 2 : random_.pick(0, width - 1));
    return a;
  }

  bool convolution(bool same, int64_t out) {
    const int64_t height = random_.chance(30) ? 1 : random_.pick(1, 4), width = random_.pick(1, 3);
    return maker_->add("conv_2d", {maker_->last(), weights({out, height, width, shape()[3]}, 0)},
                       window(height, width, same), {maker_->type(type_, {})});
  }

  bool depthwise(bool same) {
    const int64_t height = random_.pick(1, 4), width = random_.pick(1, 3);
    return maker_->add("depthwise_conv_2d", {maker_->last(), weights({1, height, width, shape()[3]}, 3)},
                       window(height, width, same), {maker_->type(type_, {})});
  }

  bool pool() {
    const int64_t height = random_.pick(1, 3), width = random_.pick(1, 3);
    Attributes a = window(height, width, false);
    for (const char* dilation : {"dilation_h", "dilation_w"}) a[dilation] = "1";
    a["filter_h"] = text(height);
    a["filter_w"] = text(width);
    return maker_->add(random_.chance(60) ? "max_pool_2d" : "average_pool_2d", {maker_->last()}, a,
                       {maker_->of(maker_->last())});
  }

  bool constant_operand() {
    graph::Shape other = shape();
    other[1] = 1;
    if (random_.chance(50)) other = {other[3]};
    return maker_->add(random_.chance(60) ? "add" : "mul", {maker_->last(), maker_->constant(maker_->type(type_, other))},
                       {{"activation", activation()}}, {maker_->type(type_, {})});
  }

  bool residual() {
    const TensorId from = maker_->last();
    const graph::Shape before = shape();
    if (!convolution(true, before[3]) || (random_.chance(60) && !depthwise(true))) return false;
    return shape() == before && maker_->add("add", {from, maker_->last()}, {{"activation", activation()}},
                                            {maker_->type(type_, {})});
  }

  // One result of all rows, which segments add up as they come.
  bool sums() {
    const int64_t draw = random_.pick(1, 100);
    if (draw <= 40) return connected();
    if (draw <= 60) return pool_of_all();
    static const char* const kNames[] = {"mean", "mean", "sum", "reduce_max", "reduce_min"};
    static const char* const kAxes[] = {"[1, 2]", "[1, 2]", "[1]", "[0, 1]", "[1, 2, 3]"};
    TensorType type = maker_->type(type_, {});
    const char* name = kNames[random_.pick(0, 4)];
    if (name[0] == 'r') type = maker_->of(maker_->last());
    return maker_->add(name, {maker_->last()},
                       {{"axes", kAxes[random_.pick(0, 4)]}, {"keep_dims", random_.chance(50) ? "true" : "false"}},
                       {type});
  }

  bool connected() {
    const int64_t depth = maker_->of(maker_->last()).elements();
    if (depth > 1500) return false;
    if (random_.chance(60) && !maker_->add("reshape", {maker_->last()}, {{"shape", "[1, " + text(depth) + "]"}},
                                           {maker_->of(maker_->last())}))
      return false;
    return maker_->add("fully_connected", {maker_->last(), weights({random_.pick(1, 9), depth}, 0)},
                       {{"activation", activation()}}, {maker_->type(type_, {})});
  }

  bool pool_of_all() {
    const Attributes a = {{"filter_h", text(shape()[1])}, {"filter_w", text(shape()[2])}, {"activation", activation()}};
    return maker_->add(random_.chance(70) ? "average_pool_2d" : "max_pool_2d", {maker_->last()}, a,
                       {maker_->of(maker_->last())});
  }

  void step() {
    for (int tries = 0; tries < 10; ++tries) {
      const int64_t draw = random_.pick(1, 100);
      const bool made = draw <= 30   ? convolution(random_.chance(40), channels())
                        : draw <= 55 ? depthwise(random_.chance(40))
                        : draw <= 65 ? pool()
                        : draw <= 75 ? constant_operand()
                        : draw <= 80 ? maker_->add("relu", {maker_->last()}, {}, {maker_->of(maker_->last())})
                                     : residual();
      if (made) return;
    }
  }

  Random& random_;
  std::unique_ptr<GraphMaker> maker_;
  DType type_;
};

}  // namespace

graph::Graph rows_graph(Random& random, DType main_type, const std::string& name) {
  return RowsMaker(random, main_type, name).run();
}

}  // namespace aotc::tests
