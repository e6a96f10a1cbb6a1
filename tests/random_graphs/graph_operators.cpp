// SPDX-License-Identifier: Apache-2.0
// The operators of random graphs, each with a maker of its own.
#include <algorithm>
#include <iterator>

#include "graph_bits.h"
#include "graph_layouts.h"
#include "graph_maker.h"
#include "graph_movers.h"
#include "graph_products.h"
#include "graph_recurrent.h"
#include "graph_signal.h"
#include "graph_states.h"
#include "graph_trees.h"
#include "ops/common/constants_only.h"
#include "ops/operator.h"

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

constexpr int64_t kMostElements = 3000;

std::string list(const Shape& values) { return graph::attribute_text::print(values); }

class OperatorMaker final : public GraphMaker {
 public:
  using GraphMaker::GraphMaker;

  void add_op() override {
    using Make = bool (OperatorMaker::*)();
    static constexpr Make kMakers[] = {
        &OperatorMaker::convolution, &OperatorMaker::convolution,  &OperatorMaker::depthwise,
        &OperatorMaker::dense,       &OperatorMaker::dense,        &OperatorMaker::pool,
        &OperatorMaker::binary,      &OperatorMaker::binary,       &OperatorMaker::binary,
        &OperatorMaker::unary,       &OperatorMaker::unary,        &OperatorMaker::softmax,
        &OperatorMaker::reshape,     &OperatorMaker::reshape,      &OperatorMaker::concatenation,
        &OperatorMaker::split,       &OperatorMaker::slice,        &OperatorMaker::transpose,
        &OperatorMaker::pad,         &OperatorMaker::mean,         &OperatorMaker::pack,
        &OperatorMaker::unpack,      &OperatorMaker::resize,       &OperatorMaker::arg_max,
        &OperatorMaker::cast,        &OperatorMaker::requantize,   &OperatorMaker::simple,
        &OperatorMaker::simple,      &OperatorMaker::simple,       &OperatorMaker::simple,
        &OperatorMaker::mean,        &OperatorMaker::batch_matmul, &OperatorMaker::transpose_conv,
        &OperatorMaker::mover,       &OperatorMaker::mover,        &OperatorMaker::mover,
        &OperatorMaker::simple,      &OperatorMaker::simple,       &OperatorMaker::simple,
        &OperatorMaker::simple,      &OperatorMaker::simple,       &OperatorMaker::simple,
        &OperatorMaker::mover,       &OperatorMaker::mover,        &OperatorMaker::mover,
        &OperatorMaker::recurrent,   &OperatorMaker::stateful,     &OperatorMaker::signal,
        &OperatorMaker::signal,      &OperatorMaker::planes,       &OperatorMaker::planes,
        &OperatorMaker::product,     &OperatorMaker::bits};
    for (int tries = 0; tries < 20; ++tries)
      if ((this->*kMakers[random.pick(0, std::size(kMakers) - 1)])()) return;
  }

 private:
  TensorId any_with_rank(size_t rank) {
    for (int tries = 0; tries < 8; ++tries)
      if (TensorId id = any(); made[id].type.shape.size() == rank) return id;
    return any();
  }

  std::string activation() {
    static const char* kNames[] = {"relu", "relu6", "relu_n1_to_1"};
    if (random.chance(50)) return "none";
    std::string name = kNames[random.pick(0, 2)];
    return activation_exists(name) ? name : "none";
  }
  static bool activation_exists(const std::string& name) {
    auto attrs = ops::operators().find("add")->default_attributes();
    return attrs->parse("activation", name);
  }

  Attributes window() {
    return {{"stride_h", std::to_string(random.pick(1, 2))},
            {"stride_w", std::to_string(random.pick(1, 2))},
            {"pad_top", std::to_string(random.pick(0, 1))},
            {"pad_bottom", std::to_string(random.pick(0, 1))},
            {"pad_left", std::to_string(random.pick(0, 1))},
            {"pad_right", std::to_string(random.pick(0, 1))},
            {"activation", activation()}};
  }

  TensorId weights(DType dtype, Shape shape, int axis, int64_t channels) {
    TensorType t;
    t.dtype = dtype == DType::kI16 ? DType::kI8 : dtype;
    t.shape = std::move(shape);
    if (t.dtype == DType::kU8) {
      t.quantization.scale = {random.real(0.001f, 0.03f)};
      t.quantization.zero_point = {random.chance(50) ? 128 : random.pick(0, 255)};
    } else if (t.dtype == DType::kI8) {
      bool per_channel = random.chance(60);
      t.quantization.axis = per_channel ? axis : 0;
      for (int64_t c = 0; c < (per_channel ? channels : 1); ++c) {
        t.quantization.scale.push_back(random.real(0.001f, 0.03f));
        t.quantization.zero_point.push_back(0);
      }
    }
    return constant(t);
  }

  void maybe_bias(std::vector<TensorId>& operands, DType dtype, int64_t channels) {
    if (random.chance(30)) return;
    TensorType t;
    t.dtype = dtype == DType::kI8 ? DType::kI32 : dtype == DType::kI16 ? DType::kI64 : DType::kF32;
    t.shape = {channels};
    operands.push_back(constant(t));
  }

  bool is_main(TensorId id) const {
    DType dtype = of(id).dtype;
    return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kF32;
  }

  // Of an operator with activations of `dtype`: float ones take int8 weights as well, int8 ones uint8 weights, as uint8
  // models have them.
  DType weights_type(DType dtype) {
    if (dtype == DType::kI8) return random.chance(25) ? DType::kU8 : dtype;
    return dtype == DType::kF32 && random.chance(35) ? DType::kI8 : dtype;
  }

  bool convolution() {
    TensorId in = any_with_rank(4);
    if (!is_main(in) || of(in).shape.size() != 4) return false;
    int64_t depth = of(in).shape[3], out = random.pick(1, 9);
    int64_t groups = depth % 2 == 0 && random.chance(20) ? 2 : 1;
    out = (out + groups - 1) / groups * groups;
    DType dtype = of(in).dtype;
    std::vector<TensorId> operands = {
        in, weights(weights_type(dtype), {out, random.pick(1, 3), random.pick(1, 3), depth / groups}, 0, out)};
    maybe_bias(operands, dtype, out);
    Attributes attrs = window();
    attrs["dilation_h"] = std::to_string(random.chance(15) ? 2 : 1);
    attrs["dilation_w"] = std::to_string(random.chance(15) ? 2 : 1);
    const graph::TensorType result = rounded(attrs, type(dtype, {}), true);
    return add("conv_2d", operands, attrs, {result});
  }

  bool transpose_conv() {
    TensorId in = any_with_rank(4);
    if (!is_main(in) || of(in).shape.size() != 4) return false;
    DType dtype = of(in).dtype;
    const Shape shape = of(in).shape;
    int64_t out = random.pick(1, 9), kernel_h = random.pick(1, 4), kernel_w = random.pick(1, 4);
    int64_t stride_h = random.pick(1, 3), stride_w = random.pick(1, 3);
    std::vector<TensorId> operands = {in, weights(weights_type(dtype), {out, kernel_h, kernel_w, shape[3]}, 0, out)};
    maybe_bias(operands, dtype, out);
    auto text = [](int64_t v) { return std::to_string(v); };
    return add("transpose_conv", operands,
               {{"height", text(std::max<int64_t>(1, shape[1] * stride_h + random.pick(-1, 2)))},
                {"width", text(std::max<int64_t>(1, shape[2] * stride_w + random.pick(-1, 2)))},
                {"stride_h", text(stride_h)},
                {"stride_w", text(stride_w)},
                {"pad_top", text(random.pick(0, kernel_h - 1))},
                {"pad_left", text(random.pick(0, kernel_w - 1))},
                {"activation", activation()}},
               {type(dtype, {})});
  }

  bool stateful() { return make_stateful(*this); }

  bool signal() { return make_signal(*this); }
  bool bits() { return random.chance(70) ? make_bits(*this) : make_trees(*this); }
  bool planes() { return make_planes(*this); }
  bool mover() { return make_mover(*this); }

  bool depthwise() {
    TensorId in = any_with_rank(4);
    if (!is_main(in) || of(in).shape.size() != 4) return false;
    int64_t out = of(in).shape[3] * random.pick(1, 2);
    DType dtype = of(in).dtype;
    std::vector<TensorId> operands = {
        in, weights(weights_type(dtype), {1, random.pick(1, 3), random.pick(1, 3), out}, 3, out)};
    maybe_bias(operands, dtype, out);
    Attributes attrs = window();
    const graph::TensorType result = rounded(attrs, type(dtype, {}), true);
    return add("depthwise_conv_2d", operands, attrs, {result});
  }

  // Now and then by the rule of onnxruntime, which knows zero points of int16, or the sums of int8.
  graph::TensorType rounded(Attributes& attrs, graph::TensorType type, bool sums = false) {
    if (sums && type.dtype == DType::kI8 && random.chance(10)) {
      attrs["activation"] = "none";
      return this->type(DType::kI32, {});
    }
    if (!random.chance(25)) return type;
    attrs["rounding"] = "onnxruntime";
    if (type.dtype == DType::kI16) type.quantization.zero_point = {random.pick(-32768, 32767)};
    return type;
  }

  bool dense() {
    TensorId in = any();
    if (!is_main(in) || of(in).shape.empty()) return false;
    bool keep = random.chance(50);
    int64_t depth = keep || random.chance(50) ? of(in).shape.back() : of(in).elements();
    int64_t out = random.pick(1, 9);
    if (depth * out > kMostElements) return false;
    DType dtype = of(in).dtype;
    std::vector<TensorId> operands = {in, weights(weights_type(dtype), {out, depth}, 0, out)};
    maybe_bias(operands, dtype, out);
    bool asymmetric = dtype == DType::kF32 && random.chance(50);
    Attributes attrs = {{"activation", activation()},
                        {"keep_num_dims", keep ? "true" : "false"},
                        {"asymmetric_rows", asymmetric ? "true" : "false"}};
    return add("fully_connected", operands, attrs, {rounded(attrs, type(dtype, {}))});
  }

  // int16 with any scale and zero point.
  TensorType uneven() {
    TensorType out = type(DType::kI16, {});
    out.quantization = {{1.0f / static_cast<float>(random.pick(100, 70000))}, {random.pick(-32768, 32767)}, 0};
    return out;
  }

  bool pool() {
    TensorId in = any_with_rank(4);
    Attributes attrs = window();
    attrs["filter_h"] = std::to_string(random.pick(1, 3));
    attrs["filter_w"] = std::to_string(random.pick(1, 3));
    static const char* kNames[] = {"max_pool_2d", "average_pool_2d", "l2_pool_2d"};
    const char* name = kNames[random.pick(0, 2)];
    if (of(in).dtype == DType::kI16 && random.chance(50)) {
      attrs["rounding"] = "onnxruntime";
      if (add("average_pool_2d", {in}, attrs, {uneven()})) return true;
      attrs.erase("rounding");
    }
    return add(name, {in}, attrs, {of(in)});
  }

  // A partner of the same type: a tensor of the pool, itself, or a constant that may be broadcast.
  TensorId partner(TensorId a) {
    for (int tries = 0; tries < 6; ++tries)
      if (TensorId b = any(); of(b).dtype == of(a).dtype && random.chance(70)) return b;
    if (random.chance(10)) return a;
    Shape shape = of(a).shape;
    if (random.chance(60))
      for (int64_t& d : shape)
        if (random.chance(50)) d = 1;
    if (random.chance(20)) shape.clear();
    return constant(type(of(a).dtype, shape));
  }

  bool binary() {
    static const char* kNames[] = {"add", "sub", "mul", "maximum", "minimum"};
    std::string name = kNames[random.pick(0, 4)];
    TensorId a = any(), b = partner(a);
    if (of(b).dtype == DType::kI32 && name == "mul") return false;                           // would overflow
    if (of(b).dtype == DType::kI64 && name != "maximum" && name != "minimum") return false;  // on constants only
    if (random.chance(50)) std::swap(a, b);
    if (name == "maximum" || name == "minimum") {
      if (made.is_constant(a)) made[a].type.quantization = of(b).quantization;
      if (made.is_constant(b)) made[b].type.quantization = of(a).quantization;
      return add(name.c_str(), {a, b}, {}, {of(a)});
    }
    return add(name.c_str(), {a, b}, {{"activation", of(a).dtype == DType::kI32 ? "none" : activation()}},
               {type(of(a).dtype, {})});
  }

  TensorId flag(TensorId a, TensorId b) {
    for (TensorId id : known)
      if (of(id).dtype == DType::kBool && random.chance(50)) return id;
    return add("less", {a, b}, {}, {type(DType::kBool, {})}) ? known.back() : TensorId{};
  }

  // Whatever operator takes one, two or three tensors without saying more: a new one needs no line here.
  bool simple() {
    static const std::vector<const ops::Operator*> all = [] {
      std::vector<const ops::Operator*> out = ops::operators().all();
      std::erase_if(out, [](const ops::Operator* op) {
        const ops::Traits traits = op->traits();
        return traits.external || traits.device_copy || traits.view || traits.conversion || traits.may_fail ||
               traits.control != ops::Control::kNone || !op->default_attributes()->print().empty() ||
               dynamic_cast<const ops::ConstantsOnly*>(op) != nullptr;
      });
      return out;
    }();
    TensorId a = any(), b = partner(a);
    if (random.chance(50)) std::swap(a, b);
    TensorId one = flag(a, b), other = flag(b, a);
    if (!one.valid() || !other.valid()) return false;
    const bool whole = of(a).dtype == DType::kI32 || of(a).dtype == DType::kI64;
    const std::vector<TensorType> results = {type(DType::kBool, {}), of(a), type(of(a).dtype, {})};
    // The first that takes these, from any of them on.
    auto count = static_cast<int64_t>(all.size());
    for (int64_t first = random.pick(0, count - 1), i = first; i < first + count; ++i) {
      const std::string name(all[static_cast<size_t>(i % count)]->name());
      for (const auto& operands : {std::vector<TensorId>{a}, {a, b}, {one, a, b}, {one}, {one, other}})
        for (const TensorType& result : results) {
          // Sums and products of integers would leave their type.
          bool grows = whole && result.dtype != DType::kBool && operands.size() < 3;
          if (!grows && add(name.c_str(), operands, {}, {result})) return true;
        }
    }
    return false;
  }

  bool unary() {
    static const char* kNames[] = {"relu", "relu6", "relu_n1_to_1", "leaky_relu", "hard_swish", "logistic", "tanh",
                                   "cos",  "sin",   "sqrt",         "square",     "sign",       "gelu",     "bounded"};
    std::string name = kNames[random.pick(0, 13)];
    TensorId in = any();
    if (!is_main(in)) return false;
    if (of(in).dtype == DType::kI8 && name == "sqrt") return false;  // fails below 0
    TensorType out = type(of(in).dtype, {});
    if (out.dtype == DType::kI8 && name == "logistic") out.quantization = {{1.0f / 256}, {-128}, 0};
    if (out.dtype == DType::kI8 && name == "tanh") out.quantization = {{1.0f / 128}, {0}, 0};
    if (out.dtype == DType::kI16 && (name == "logistic" || name == "tanh")) out.quantization = {{1.0f / 32768}, {0}, 0};
    if (name.starts_with("relu") && random.chance(50)) out = of(in);
    Attributes attrs;
    if (name == "gelu") attrs["approximate"] = random.chance(50) ? "true" : "false";
    if (name == "bounded") attrs = {{"low", "-0.75"}, {"high", random.chance(50) ? "1.5" : "-1"}};
    if (name == "leaky_relu") attrs["alpha"] = random.chance(50) ? "0.1" : "0.3";
    return add(name.c_str(), {in}, attrs, {out});
  }

  bool softmax() {
    TensorId in = any();
    if (!is_main(in)) return false;
    TensorType out = type(of(in).dtype, {});
    if (out.dtype == DType::kI8) out.quantization = {{1.0f / 256}, {-128}, 0};
    if (out.dtype == DType::kI16) out.quantization = {{1.0f / 32768}, {0}, 0};
    if (out.dtype == DType::kI16 && random.chance(50))
      return add("softmax", {in}, {{"rounding", "onnxruntime"}}, {uneven()});
    return add("softmax", {in}, {{"beta", random.chance(80) ? "1" : "0.5"}}, {out});
  }

  bool reshape() {
    TensorId in = random.chance(20) ? constant(type(main_type, random_shape())) : any();
    int64_t left = of(in).elements();
    Shape shape;
    while (left > 1 && shape.size() < 4) {
      int64_t d = random.pick(1, left);
      while (left % d != 0) --d;
      shape.push_back(d);
      left /= d;
    }
    shape.push_back(left);
    if (random.chance(40)) shape = {1, of(in).elements(), 1, 1};
    return add("reshape", {in}, {{"shape", list(shape)}}, {of(in)});
  }

  bool concatenation() {
    TensorId first = any();
    if (of(first).shape.empty()) return false;
    auto axis = static_cast<size_t>(random.pick(0, static_cast<int64_t>(of(first).shape.size()) - 1));
    std::vector<TensorId> operands = {first};
    for (int64_t i = random.pick(0, 2); i > 0; --i) {
      TensorId other = any();
      Shape a = of(first).shape, b = of(other).shape;
      if (a.size() == b.size()) a[axis] = b[axis] = 0;
      bool fits = a == b && of(other).dtype == of(first).dtype && of(other).quantization == of(first).quantization;
      TensorType t = of(first);
      t.shape[axis] = random.pick(1, 3);
      operands.push_back(fits ? other : random.chance(50) ? first : constant(t));
    }
    return add("concatenation", operands, {{"axis", std::to_string(axis)}}, {of(first)});
  }

  bool split() {
    TensorId in = any();
    if (of(in).shape.empty()) return false;
    auto axis = static_cast<size_t>(random.pick(0, static_cast<int64_t>(of(in).shape.size()) - 1));
    int64_t left = of(in).shape[axis];
    Shape sizes;
    while (left > 0 && sizes.size() < 3) {
      sizes.push_back(sizes.size() == 2 ? left : random.pick(1, left));
      left -= sizes.back();
    }
    return add("split", {in}, {{"axis", std::to_string(axis)}, {"sizes", list(sizes)}},
               std::vector<TensorType>(sizes.size(), of(in)));
  }

  bool slice() {
    TensorId in = any();
    Shape begin, strides, counts;
    for (int64_t d : of(in).shape) {
      int64_t stride = random.chance(25) ? random.pick(1, 2) * (random.chance(50) ? -1 : 1) : 1;
      int64_t at = random.chance(50) ? (stride > 0 ? 0 : d - 1) : random.pick(0, d - 1);
      int64_t room = stride > 0 ? (d - 1 - at) / stride : at / -stride;
      begin.push_back(at);
      strides.push_back(stride);
      counts.push_back(random.chance(50) ? room + 1 : random.pick(1, room + 1));
    }
    Shape shape = counts;
    if (random.chance(30)) shape.insert(shape.begin(), 1);
    return add("slice", {in},
               {{"begin", list(begin)}, {"strides", list(strides)}, {"counts", list(counts)}, {"shape", list(shape)}},
               {of(in)});
  }

  bool transpose() {
    TensorId in = any();
    Shape order;
    for (size_t i = 0; i < of(in).shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(random.pick(0, static_cast<int64_t>(i) - 1))]);
    return add("transpose", {in}, {{"order", list(order)}}, {of(in)});
  }

  bool pad() {
    TensorId in = random.chance(60) ? any_with_rank(4) : any();
    Shape before, after;
    for (size_t i = 0; i < of(in).shape.size(); ++i) {
      bool spatial = of(in).shape.size() != 4 || i == 1 || i == 2 || random.chance(10);
      before.push_back(spatial ? random.pick(0, 2) : 0);
      after.push_back(spatial ? random.pick(0, 2) : 0);
    }
    std::vector<TensorId> operands = {in};
    if (random.chance(40)) {
      TensorType t = of(in);
      t.shape = {};
      operands.push_back(constant(t));
    }
    return add("pad", operands, {{"before", list(before)}, {"after", list(after)}}, {of(in)});
  }

  bool mean() {
    TensorId in = any();
    Shape axes;
    for (size_t i = 0; i < of(in).shape.size(); ++i)
      if (random.chance(50)) axes.push_back(static_cast<int64_t>(i));
    static const char* kNames[] = {"mean",       "sum",        "reduce_max",     "reduce_min",    "reduce_prod",
                                   "reduce_any", "reduce_all", "reduce_max_nan", "reduce_min_nan"};
    std::string name = kNames[random.pick(0, 8)];
    if (name.ends_with("_nan") && of(in).dtype != DType::kF32) return false;
    const bool whole = of(in).dtype == DType::kI32 || of(in).dtype == DType::kI64;
    // Of integers they would leave the type, of floats the product would.
    if ((name == "sum" && whole) || (name == "reduce_prod" && of(in).dtype != DType::kI8)) return false;
    if (name == "reduce_any" || name == "reduce_all") in = flag(in, partner(in));
    if (!in.valid()) return false;
    axes.resize(std::min(axes.size(), of(in).shape.size()));
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = std::min(axes[i], static_cast<int64_t>(of(in).shape.size()) - 1);
    TensorType out = random.chance(50) ? of(in) : type(of(in).dtype, {});
    if (name == "mean" && of(in).dtype == DType::kI8 && random.chance(50)) {
      static const char* kOrders[] = {"in_order", "lanes", "fours"};
      return add("dequantized_mean", {in}, {{"axes", list(axes)}, {"order", kOrders[random.pick(0, 2)]}}, {out});
    }
    return add(name.c_str(), {in}, {{"axes", list(axes)}, {"keep_dims", random.chance(50) ? "true" : "false"}}, {out});
  }

  bool batch_matmul() {
    TensorId a = any();
    if (!is_main(a) || of(a).shape.size() < 2) return false;
    Shape shape = of(a).shape;
    const int64_t depth = shape.back(), columns = random.pick(1, 4);
    const bool turned = random.chance(50);
    shape[shape.size() - 2] = turned ? columns : depth;
    shape.back() = turned ? depth : columns;
    TensorId b = constant(type(of(a).dtype, shape));
    for (TensorId id : known)
      if (of(id).dtype == of(a).dtype && of(id).shape == shape) b = id;
    TensorType out = type(of(a).dtype, {});
    if (out.dtype == DType::kI8 && random.chance(20)) out = type(DType::kI32, {});
    return add("batch_matmul", {a, b}, {{"adj_y", turned ? "true" : "false"}}, {out});
  }

  bool product() { return make_product(*this, activation()); }

  bool recurrent() { return make_recurrent(*this); }

  bool pack() {
    TensorId first = any();
    auto axis = random.pick(0, static_cast<int64_t>(of(first).shape.size()));
    std::vector<TensorId> operands = {first};
    for (int64_t i = random.pick(0, 2); i > 0; --i) operands.push_back(random.chance(60) ? first : constant(of(first)));
    return add("pack", operands, {{"axis", std::to_string(axis)}}, {of(first)});
  }

  bool unpack() {
    TensorId in = any();
    if (of(in).shape.empty()) return false;
    auto axis = static_cast<size_t>(random.pick(0, static_cast<int64_t>(of(in).shape.size()) - 1));
    if (of(in).shape[axis] > 6) return false;
    return add("unpack", {in}, {{"axis", std::to_string(axis)}},
               std::vector<TensorType>(static_cast<size_t>(of(in).shape[axis]), of(in)));
  }

  bool resize() {
    TensorId in = any_with_rank(4);
    bool corners = random.chance(30), centers = !corners && random.chance(30);
    return add(random.chance(50) ? "resize_nearest_neighbor" : "resize_bilinear", {in},
               {{"height", std::to_string(random.pick(1, 9))},
                {"width", std::to_string(random.pick(1, 9))},
                {"align_corners", corners ? "true" : "false"},
                {"half_pixel_centers", centers ? "true" : "false"}},
               {of(in)});
  }

  bool arg_max() {
    TensorId in = any();
    if (of(in).shape.empty()) return false;
    TensorType out;
    out.dtype = random.chance(70) ? DType::kI32 : DType::kI64;
    return add(random.chance(50) ? "arg_max" : "arg_min", {in},
               {{"axis", std::to_string(random.pick(0, static_cast<int64_t>(of(in).shape.size()) - 1))}}, {out});
  }

  bool cast() {
    static constexpr DType kTo[] = {DType::kI32, DType::kF32, DType::kI8, DType::kBool, DType::kU8, DType::kI64};
    TensorId in = any();
    DType to = kTo[random.pick(0, 5)];
    // Out of range of the integer is undefined in C: only what surely fits.
    if (of(in).dtype == DType::kF32 && to != DType::kI32 && to != DType::kBool && to != DType::kI64) return false;
    return add("cast", {in}, {}, {type(to, {})});
  }

  bool requantize() {
    TensorId in = any();
    static constexpr DType kTo[] = {DType::kI8, DType::kI8, DType::kI8, DType::kU8, DType::kI16};
    DType from = of(in).dtype;
    if (from != DType::kF32 && random.chance(60)) return add("dequantize", {in}, {}, {type(DType::kF32, {})});
    return add("quantize", {in}, {}, {type(kTo[random.pick(0, 4)], {})});
  }
};

}  // namespace

std::unique_ptr<GraphMaker> graph_maker(Random& random, DType main_type, const std::string& name) {
  return std::make_unique<OperatorMaker>(random, main_type, name);
}

}  // namespace aotc::tests
