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
    const graph::Shape image = {1, random_.pick(5, 22), random_.pick(1, random_.chance(20) ? 15 : 6), channels()};
    // Rows of floats are quantised as they come.
    const bool floats = type_ != DType::kF32 && random_.chance(10);
    maker_->add_input(maker_->type(floats ? DType::kF32 : type_, image));
    if (floats) maker_->add("quantize", {maker_->last()}, {}, {maker_->type(type_, {})});
    for (int64_t i = random_.pick(2, 7); i > 0; --i) step();
    // Of the results between some are outputs, too: they end a segment.
    if (random_.chance(10)) maker_->made.outputs.push_back({maker_->last(), "between"});
    if (random_.chance(50) && sums()) tail();
    maker_->made.outputs.push_back({maker_->last(), "out"});
    return std::move(maker_->made);
  }

 private:
  int64_t channels() {
    if (random_.chance(8)) return 4 * random_.pick(4, 8);
    return random_.chance(75) ? 4 * random_.pick(1, 3) : random_.pick(1, 5);
  }
  // Rows or columns of a kernel.
  int64_t taps(int64_t usual) { return random_.pick(1, random_.chance(12) ? 7 : usual); }
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

  // Biases of half of the products: of int16 ones 64 bits.
  std::vector<TensorId> with_bias(std::vector<TensorId> operands, int64_t channels) {
    TensorType t;
    t.dtype = type_ == DType::kI8 ? DType::kI32 : type_ == DType::kI16 ? DType::kI64 : DType::kF32;
    t.shape = {channels};
    if (random_.chance(50)) operands.push_back(maker_->constant(t));
    return operands;
  }

  std::string activation() {
    static const char* const kNames[] = {"none", "none", "none", "relu", "relu", "relu6"};
    return kNames[random_.pick(0, 5)];
  }

  // `same`: as many rows and columns as before.
  Attributes window(int64_t height, int64_t width, bool same) {
    Attributes a = {{"activation", activation()}};
    if (!same) {
      for (const char* stride : {"stride_h", "stride_w"}) a[stride] = text(random_.pick(1, random_.chance(20) ? 4 : 2));
      for (const char* dilation : {"dilation_h", "dilation_w"})
        a[dilation] = text(random_.chance(15) ? random_.pick(2, 3) : 1);
    }
    const bool pads = same || random_.chance(60);
    a["pad_top"] = text(pads ? (same ? (height - 1) / 2 : random_.pick(0, height - 1)) : 0);
    a["pad_bottom"] = text(pads ? (same ? height / 2 : random_.pick(0, height - 1)) : 0);
    a["pad_left"] = text(same ? (width - 1) / 2 : random_.pick(0, width - 1));
    a["pad_right"] = text(same ? width / 2 : random_.pick(0, width - 1));
    return a;
  }

  bool convolution(bool same, int64_t out) {
    const int64_t height = random_.chance(30) ? 1 : taps(4), width = taps(3), depth = shape()[3];
    const int64_t groups = depth % 2 == 0 && out % 2 == 0 && random_.chance(10) ? 2 : 1;
    return maker_->add("conv_2d", with_bias({maker_->last(), weights({out, height, width, depth / groups}, 0)}, out),
                       window(height, width, same), {maker_->type(type_, {})});
  }

  bool depthwise(bool same) {
    const int64_t height = taps(4), width = taps(3),
                  out = shape()[3] * (same || random_.chance(85) ? 1 : random_.pick(2, 3));
    return maker_->add("depthwise_conv_2d", with_bias({maker_->last(), weights({1, height, width, out}, 3)}, out),
                       window(height, width, same), {maker_->type(type_, {})});
  }

  bool pool() {
    const int64_t height = taps(3), width = taps(3);
    static const char* const kNames[] = {"max_pool_2d", "max_pool_2d", "average_pool_2d", "average_pool_2d",
                                         "l2_pool_2d"};
    const char* name = kNames[random_.pick(0, type_ == DType::kF32 ? 4 : 3)];
    Attributes a = window(height, width, false);
    for (const char* dilation : {"dilation_h", "dilation_w"}) a[dilation] = "1";
    a["filter_h"] = text(height);
    a["filter_w"] = text(width);
    return maker_->add(name, {maker_->last()}, a, {maker_->of(maker_->last())});
  }

  // As many rows, columns and channels.
  bool elementwise() {
    static const char* const kNames[] = {"relu", "relu6", "leaky_relu", "hard_swish", "logistic", "tanh", "quantize"};
    const std::string name = kNames[random_.pick(0, 6)];
    TensorType out = name.starts_with("relu") ? maker_->of(maker_->last()) : maker_->type(type_, {});
    const bool sigmoid = name == "logistic";
    if (type_ == DType::kI8 && (sigmoid || name == "tanh"))
      out.quantization = {{sigmoid ? 1.0f / 256 : 1.0f / 128}, {sigmoid ? -128 : 0}, 0};
    if (type_ == DType::kI16 && (sigmoid || name == "tanh")) out.quantization = {{1.0f / 32768}, {0}, 0};
    return maker_->add(name.c_str(), {maker_->last()}, {}, {out});
  }

  // Rows around the image that are read as any others, which passes may give to the window behind it; or rows that are
  // left out.
  bool pad_or_slice() {
    if (random_.chance(60))
      return maker_->add("pad", {maker_->last()},
                         {{"before", "[0, " + text(random_.pick(0, 2)) + ", " + text(random_.pick(0, 1)) + ", 0]"},
                          {"after", "[0, " + text(random_.pick(0, 2)) + ", " + text(random_.pick(0, 1)) + ", 0]"}},
                         {maker_->of(maker_->last())});
    const graph::Shape whole = shape();
    const int64_t first = random_.pick(0, whole[1] - 1), stride = random_.pick(1, 2);
    graph::Shape counts = whole;
    counts[1] = random_.pick(1, (whole[1] - 1 - first) / stride + 1);
    const std::string shape_text = graph::attribute_text::print(counts);
    return maker_->add("slice", {maker_->last()},
                       {{"begin", "[0, " + text(first) + ", 0, 0]"},
                        {"strides", "[1, " + text(stride) + ", 1, 1]"},
                        {"counts", shape_text},
                        {"shape", shape_text}},
                       {maker_->of(maker_->last())});
  }

  bool constant_operand() {
    graph::Shape other = shape();
    other[1] = 1;
    if (random_.chance(50)) other = {other[3]};
    return maker_->add(random_.chance(60) ? "add" : "mul",
                       {maker_->last(), maker_->constant(maker_->type(type_, other))}, {{"activation", activation()}},
                       {maker_->type(type_, {})});
  }

  bool residual() {
    const TensorId from = maker_->last();
    const graph::Shape before = shape();
    if (!convolution(true, before[3]) || (random_.chance(60) && !depthwise(true))) return false;
    return shape() == before &&
           maker_->add("add", {from, maker_->last()}, {{"activation", activation()}}, {maker_->type(type_, {})});
  }

  // Half as many rows and columns, on both ways: the shorter one has rows to wait with.
  bool smaller_residual() {
    const TensorId from = maker_->last();
    const int64_t depth = shape()[3], out = channels();
    Attributes halves = window(3, 3, true), points = {{"activation", activation()}};
    for (Attributes* a : {&halves, &points}) (*a)["stride_h"] = (*a)["stride_w"] = "2";
    if (!maker_->add("conv_2d", with_bias({from, weights({out, 3, 3, depth}, 0)}, out), halves,
                     {maker_->type(type_, {})}))
      return false;
    if (random_.chance(60) && !convolution(true, out)) return false;
    const TensorId one = maker_->last();
    return maker_->add("conv_2d", with_bias({from, weights({out, 1, 1, depth}, 0)}, out), points,
                       {maker_->type(type_, {})}) &&
           maker_->add(random_.chance(80) ? "add" : "mul", {one, maker_->last()}, {{"activation", activation()}},
                       {maker_->type(type_, {})});
  }

  // What is behind a segment.
  void tail() {
    if (random_.chance(40)) connected();
    if (random_.chance(40)) {
      TensorType out = maker_->type(type_, {});
      if (type_ == DType::kI8) out.quantization = {{1.0f / 256}, {-128}, 0};
      if (type_ == DType::kI16) out.quantization = {{1.0f / 32768}, {0}, 0};
      maker_->add("softmax", {maker_->last()}, {}, {out});
    }
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
    if (name[0] == 'm' && type_ == DType::kI8 && random_.chance(50)) name = "dequantized_mean";
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
    const int64_t units = random_.pick(1, 9);
    return maker_->add("fully_connected", with_bias({maker_->last(), weights({units, depth}, 0)}, units),
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
      const bool made = draw <= 28   ? convolution(random_.chance(40), channels())
                        : draw <= 50 ? depthwise(random_.chance(40))
                        : draw <= 60 ? pool()
                        : draw <= 68 ? constant_operand()
                        : draw <= 76 ? elementwise()
                        : draw <= 80 ? pad_or_slice()
                        : draw <= 93 ? residual()
                                     : smaller_residual();
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
