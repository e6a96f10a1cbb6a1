// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "ops/operator.h"

namespace aotc::tests {

using graph::Graph;
using graph::Shape;
using graph::TensorId;
using graph::TensorType;

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

int64_t Random::pick(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(next() % static_cast<uint64_t>(most - least + 1));
}

float Random::real(float least, float most) {
  return least + (most - least) * static_cast<float>(next() >> 40) / 16777216.0f;
}

namespace {

constexpr int64_t kMostElements = 3000;

using Attributes = std::map<std::string, std::string>;

std::vector<uint8_t> random_bytes(Random& random, const TensorType& type) {
  std::vector<uint8_t> out(static_cast<size_t>(type.bytes()));
  for (size_t i = 0; i < out.size(); i += static_cast<size_t>(size_of(type.dtype))) {
    if (type.dtype == DType::kF32) {
      float v = random.real(-3.0f, 3.0f);
      if (random.chance(3)) v = 0.0f;
      std::memcpy(&out[i], &v, 4);
    } else if (type.dtype == DType::kI32 || type.dtype == DType::kI64) {
      // What casts to it and sums of it stay far from overflow.
      int64_t v = random.pick(-20000, 20000);
      std::memcpy(&out[i], &v, static_cast<size_t>(size_of(type.dtype)));
    } else {
      uint64_t v = random.next();
      if (type.dtype == DType::kBool) v &= 1;
      std::memcpy(&out[i], &v, static_cast<size_t>(size_of(type.dtype)));
    }
  }
  return out;
}

std::string list(const Shape& values) { return graph::attribute_text::print(values); }

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    main_ = random_.chance(60) ? DType::kI8 : DType::kF32;
    graph_.name = fmt::format("random_{}", seed);
    graph_.source_file = graph_.name;
  }

  Graph run() {
    for (int64_t i = random_.pick(1, 3); i > 0; --i) add_input();
    for (int64_t i = random_.pick(1, 14); i > 0; --i) add_op();
    choose_outputs();
    return std::move(graph_);
  }

 private:
  // ---------------------------------------------------------------- parts

  Shape random_shape() {
    static const Shape kImages[] = {
        {1, 5, 6, 3}, {1, 8, 8, 4}, {1, 1, 1, 7}, {2, 4, 3, 2}, {1, 7, 1, 8}};
    if (random_.chance(70)) return kImages[random_.pick(0, 4)];
    Shape out;
    for (int64_t i = random_.pick(0, 4); i > 0; --i) out.push_back(random_.pick(1, 6));
    return out;
  }

  TensorType type(DType dtype, Shape shape) {
    TensorType t;
    t.dtype = dtype;
    t.shape = std::move(shape);
    if (dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16) {
      float scale = random_.chance(25) ? 0.05f : random_.real(0.005f, 0.2f);
      int64_t zero = dtype == DType::kI16 ? 0 : random_.pick(-128, 127);
      if (dtype == DType::kU8) zero += 128;
      t.quantization = {{scale}, {zero}, 0};
    }
    return t;
  }

  void add_input() {
    DType dtype = random_.chance(90) ? main_ : random_.chance(50) ? DType::kF32 : DType::kI32;
    TensorId id = graph_.add_tensor(
        {fmt::format("in{}", graph_.inputs.size()), type(dtype, random_shape()), {}, 0});
    graph_.inputs.push_back({id, graph_[id].name});
    pool_.push_back(id);
  }

  // Mostly a young tensor, so that chains grow; sometimes any.
  TensorId any() {
    auto n = static_cast<int64_t>(pool_.size());
    int64_t least = random_.chance(60) ? std::max<int64_t>(0, n - 3) : 0;
    return pool_[static_cast<size_t>(random_.pick(least, n - 1))];
  }
  TensorId any_with_rank(size_t rank) {
    for (int tries = 0; tries < 8; ++tries)
      if (TensorId id = any(); graph_[id].type.shape.size() == rank) return id;
    return any();
  }
  const TensorType& of(TensorId id) const { return graph_[id].type; }

  TensorId constant(TensorType t) {
    auto bytes = random_bytes(random_, t);
    return graph_.add_constant(fmt::format("c{}", graph_.tensors.size()), std::move(t),
                               std::move(bytes));
  }

  // Adds the operator if it verifies. `results`: types whose shapes are to be inferred.
  bool add(const char* name, std::vector<TensorId> operands, const Attributes& attributes,
           std::vector<TensorType> results) {
    const ops::Operator* definition = ops::operators().find(name);
    if (definition == nullptr) return false;
    size_t tensors = graph_.tensors.size();
    graph::Op op;
    op.definition = definition;
    op.location.file = graph_.source_file;
    op.location.op_index = static_cast<int>(graph_.ops.size());
    auto attrs = definition->default_attributes();
    for (const auto& [key, value] : attributes)
      if (!attrs->parse(key, value)) return false;
    op.attributes = attrs;
    op.operands = std::move(operands);
    for (TensorType& t : results)
      op.results.push_back(
          graph_.add_tensor({fmt::format("{}_{}", name, graph_.tensors.size()), t, {}, 0}));
    if (settle(op)) {
      for (TensorId id : op.results) pool_.push_back(id);
      graph_.ops.push_back(std::move(op));
      return true;
    }
    graph_.tensors.resize(tensors);
    return false;
  }

  bool settle(const graph::Op& op) {
    Diagnostics refused;
    auto shapes = ops::definition_of(op).infer({graph_, op}, refused);
    if (!shapes || shapes->size() != op.results.size()) return false;
    for (size_t i = 0; i < shapes->size(); ++i) {
      int64_t count = 1;
      for (int64_t d : (*shapes)[i]) {
        if (d < 1 || d > kMostElements) return false;
        count *= d;
        if (count > kMostElements) return false;
      }
      graph_[op.results[i]].type.shape = (*shapes)[i];
    }
    return ops::definition_of(op).verify({graph_, op}, refused).ok();
  }

  std::string activation() {
    static const char* kNames[] = {"relu", "relu6", "relu_n1_to_1"};
    if (random_.chance(50)) return "none";
    std::string name = kNames[random_.pick(0, 2)];
    return activation_exists(name) ? name : "none";
  }
  static bool activation_exists(const std::string& name) {
    auto attrs = ops::operators().find("add")->default_attributes();
    return attrs->parse("activation", name);
  }

  // ---------------------------------------------------------------- operators

  void add_op() {
    using Make = bool (Generator::*)();
    static constexpr Make kMakers[] = {
        &Generator::convolution, &Generator::convolution, &Generator::depthwise,
        &Generator::dense,       &Generator::dense,       &Generator::pool,
        &Generator::binary,      &Generator::binary,      &Generator::binary,
        &Generator::unary,       &Generator::unary,       &Generator::softmax,
        &Generator::reshape,     &Generator::reshape,     &Generator::concatenation,
        &Generator::split,       &Generator::slice,       &Generator::transpose,
        &Generator::pad,         &Generator::mean,        &Generator::pack,
        &Generator::unpack,      &Generator::resize,      &Generator::arg_max,
        &Generator::cast,        &Generator::requantize};
    for (int tries = 0; tries < 20; ++tries)
      if ((this->*kMakers[random_.pick(0, std::size(kMakers) - 1)])()) return;
  }

  Attributes window() {
    return {{"stride_h", std::to_string(random_.pick(1, 2))},
            {"stride_w", std::to_string(random_.pick(1, 2))},
            {"pad_top", std::to_string(random_.pick(0, 1))},
            {"pad_bottom", std::to_string(random_.pick(0, 1))},
            {"pad_left", std::to_string(random_.pick(0, 1))},
            {"pad_right", std::to_string(random_.pick(0, 1))},
            {"activation", activation()}};
  }

  TensorId weights(DType dtype, Shape shape, int axis, int64_t channels) {
    TensorType t;
    t.dtype = dtype;
    t.shape = std::move(shape);
    if (dtype == DType::kI8) {
      bool per_channel = random_.chance(60);
      t.quantization.axis = per_channel ? axis : 0;
      for (int64_t c = 0; c < (per_channel ? channels : 1); ++c) {
        t.quantization.scale.push_back(random_.real(0.001f, 0.03f));
        t.quantization.zero_point.push_back(0);
      }
    }
    return constant(t);
  }

  void maybe_bias(std::vector<TensorId>& operands, DType dtype, int64_t channels) {
    if (random_.chance(30)) return;
    TensorType t;
    t.dtype = dtype == DType::kI8 ? DType::kI32 : DType::kF32;
    t.shape = {channels};
    operands.push_back(constant(t));
  }

  bool is_main(TensorId id) const {
    return of(id).dtype == DType::kI8 || of(id).dtype == DType::kF32;
  }

  bool convolution() {
    TensorId in = any_with_rank(4);
    if (!is_main(in) || of(in).shape.size() != 4) return false;
    int64_t depth = of(in).shape[3], out = random_.pick(1, 9);
    int64_t groups = depth % 2 == 0 && random_.chance(20) ? 2 : 1;
    out = (out + groups - 1) / groups * groups;
    DType dtype = of(in).dtype;
    std::vector<TensorId> operands = {
        in, weights(dtype, {out, random_.pick(1, 3), random_.pick(1, 3), depth / groups}, 0, out)};
    maybe_bias(operands, dtype, out);
    Attributes attrs = window();
    attrs["dilation_h"] = std::to_string(random_.chance(15) ? 2 : 1);
    attrs["dilation_w"] = std::to_string(random_.chance(15) ? 2 : 1);
    return add("conv_2d", operands, attrs, {type(dtype, {})});
  }

  bool depthwise() {
    TensorId in = any_with_rank(4);
    if (!is_main(in) || of(in).shape.size() != 4) return false;
    int64_t out = of(in).shape[3] * random_.pick(1, 2);
    DType dtype = of(in).dtype;
    std::vector<TensorId> operands = {
        in, weights(dtype, {1, random_.pick(1, 3), random_.pick(1, 3), out}, 3, out)};
    maybe_bias(operands, dtype, out);
    return add("depthwise_conv_2d", operands, window(), {type(dtype, {})});
  }

  bool dense() {
    TensorId in = any();
    if (!is_main(in) || of(in).shape.empty()) return false;
    bool keep = random_.chance(50);
    int64_t depth = keep || random_.chance(50) ? of(in).shape.back() : of(in).elements();
    int64_t out = random_.pick(1, 9);
    if (depth * out > kMostElements) return false;
    DType dtype = of(in).dtype;
    std::vector<TensorId> operands = {in, weights(dtype, {out, depth}, 0, out)};
    maybe_bias(operands, dtype, out);
    return add("fully_connected", operands,
               {{"activation", activation()}, {"keep_num_dims", keep ? "true" : "false"}},
               {type(dtype, {})});
  }

  bool pool() {
    TensorId in = any_with_rank(4);
    Attributes attrs = window();
    attrs["filter_h"] = std::to_string(random_.pick(1, 3));
    attrs["filter_w"] = std::to_string(random_.pick(1, 3));
    return add(random_.chance(50) ? "max_pool_2d" : "average_pool_2d", {in}, attrs, {of(in)});
  }

  // A partner of the same type: a tensor of the pool, itself, or a constant that may be broadcast.
  TensorId partner(TensorId a) {
    for (int tries = 0; tries < 6; ++tries)
      if (TensorId b = any(); of(b).dtype == of(a).dtype && random_.chance(70)) return b;
    if (random_.chance(10)) return a;
    Shape shape = of(a).shape;
    if (random_.chance(60))
      for (int64_t& d : shape)
        if (random_.chance(50)) d = 1;
    if (random_.chance(20)) shape.clear();
    return constant(type(of(a).dtype, shape));
  }

  bool binary() {
    static const char* kNames[] = {"add", "sub", "mul", "maximum", "minimum"};
    std::string name = kNames[random_.pick(0, 4)];
    TensorId a = any(), b = partner(a);
    if (of(b).dtype == DType::kI32 && name == "mul") return false;  // would overflow
    if (random_.chance(50)) std::swap(a, b);
    if (name == "maximum" || name == "minimum") {
      if (graph_.is_constant(a)) graph_[a].type.quantization = of(b).quantization;
      if (graph_.is_constant(b)) graph_[b].type.quantization = of(a).quantization;
      return add(name.c_str(), {a, b}, {}, {of(a)});
    }
    return add(name.c_str(), {a, b},
               {{"activation", of(a).dtype == DType::kI32 ? "none" : activation()}},
               {type(of(a).dtype, {})});
  }

  bool unary() {
    static const char* kNames[] = {"relu",       "relu6",    "relu_n1_to_1", "leaky_relu",
                                   "hard_swish", "logistic", "tanh"};
    std::string name = kNames[random_.pick(0, 6)];
    TensorId in = any();
    if (!is_main(in)) return false;
    TensorType out = type(of(in).dtype, {});
    if (out.dtype == DType::kI8 && name == "logistic") out.quantization = {{1.0f / 256}, {-128}, 0};
    if (out.dtype == DType::kI8 && name == "tanh") out.quantization = {{1.0f / 128}, {0}, 0};
    if (name.starts_with("relu") && random_.chance(50)) out = of(in);
    Attributes attrs;
    if (name == "leaky_relu") attrs["alpha"] = random_.chance(50) ? "0.1" : "0.3";
    return add(name.c_str(), {in}, attrs, {out});
  }

  bool softmax() {
    TensorId in = any();
    if (!is_main(in)) return false;
    TensorType out = type(of(in).dtype, {});
    if (out.dtype == DType::kI8) out.quantization = {{1.0f / 256}, {-128}, 0};
    return add("softmax", {in}, {{"beta", random_.chance(80) ? "1" : "0.5"}}, {out});
  }

  bool reshape() {
    TensorId in = random_.chance(20) ? constant(type(main_, random_shape())) : any();
    int64_t left = of(in).elements();
    Shape shape;
    while (left > 1 && shape.size() < 4) {
      int64_t d = random_.pick(1, left);
      while (left % d != 0) --d;
      shape.push_back(d);
      left /= d;
    }
    shape.push_back(left);
    if (random_.chance(40)) shape = {1, of(in).elements(), 1, 1};
    return add("reshape", {in}, {{"shape", list(shape)}}, {of(in)});
  }

  bool concatenation() {
    TensorId first = any();
    if (of(first).shape.empty()) return false;
    auto axis =
        static_cast<size_t>(random_.pick(0, static_cast<int64_t>(of(first).shape.size()) - 1));
    std::vector<TensorId> operands = {first};
    for (int64_t i = random_.pick(0, 2); i > 0; --i) {
      TensorId other = any();
      Shape a = of(first).shape, b = of(other).shape;
      if (a.size() == b.size()) a[axis] = b[axis] = 0;
      bool fits = a == b && of(other).dtype == of(first).dtype &&
                  of(other).quantization == of(first).quantization;
      TensorType t = of(first);
      t.shape[axis] = random_.pick(1, 3);
      operands.push_back(fits ? other : random_.chance(50) ? first : constant(t));
    }
    return add("concatenation", operands, {{"axis", std::to_string(axis)}}, {of(first)});
  }

  bool split() {
    TensorId in = any();
    if (of(in).shape.empty()) return false;
    auto axis = static_cast<size_t>(random_.pick(0, static_cast<int64_t>(of(in).shape.size()) - 1));
    int64_t left = of(in).shape[axis];
    Shape sizes;
    while (left > 0 && sizes.size() < 3) {
      sizes.push_back(sizes.size() == 2 ? left : random_.pick(1, left));
      left -= sizes.back();
    }
    return add("split", {in}, {{"axis", std::to_string(axis)}, {"sizes", list(sizes)}},
               std::vector<TensorType>(sizes.size(), of(in)));
  }

  bool slice() {
    TensorId in = any();
    Shape begin, strides, counts;
    for (int64_t d : of(in).shape) {
      int64_t stride = random_.chance(25) ? random_.pick(1, 2) * (random_.chance(50) ? -1 : 1) : 1;
      int64_t at = random_.chance(50) ? (stride > 0 ? 0 : d - 1) : random_.pick(0, d - 1);
      int64_t room = stride > 0 ? (d - 1 - at) / stride : at / -stride;
      begin.push_back(at);
      strides.push_back(stride);
      counts.push_back(random_.chance(50) ? room + 1 : random_.pick(1, room + 1));
    }
    Shape shape = counts;
    if (random_.chance(30)) shape.insert(shape.begin(), 1);
    return add("slice", {in},
               {{"begin", list(begin)},
                {"strides", list(strides)},
                {"counts", list(counts)},
                {"shape", list(shape)}},
               {of(in)});
  }

  bool transpose() {
    TensorId in = any();
    Shape order;
    for (size_t i = 0; i < of(in).shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1],
                order[static_cast<size_t>(random_.pick(0, static_cast<int64_t>(i) - 1))]);
    return add("transpose", {in}, {{"order", list(order)}}, {of(in)});
  }

  bool pad() {
    TensorId in = random_.chance(60) ? any_with_rank(4) : any();
    Shape before, after;
    for (size_t i = 0; i < of(in).shape.size(); ++i) {
      bool spatial = of(in).shape.size() != 4 || i == 1 || i == 2 || random_.chance(10);
      before.push_back(spatial ? random_.pick(0, 2) : 0);
      after.push_back(spatial ? random_.pick(0, 2) : 0);
    }
    std::vector<TensorId> operands = {in};
    if (random_.chance(40)) {
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
      if (random_.chance(50)) axes.push_back(static_cast<int64_t>(i));
    TensorType out = random_.chance(50) ? of(in) : type(of(in).dtype, {});
    return add("mean", {in},
               {{"axes", list(axes)}, {"keep_dims", random_.chance(50) ? "true" : "false"}}, {out});
  }

  bool pack() {
    TensorId first = any();
    auto axis = random_.pick(0, static_cast<int64_t>(of(first).shape.size()));
    std::vector<TensorId> operands = {first};
    for (int64_t i = random_.pick(0, 2); i > 0; --i)
      operands.push_back(random_.chance(60) ? first : constant(of(first)));
    return add("pack", operands, {{"axis", std::to_string(axis)}}, {of(first)});
  }

  bool unpack() {
    TensorId in = any();
    if (of(in).shape.empty()) return false;
    auto axis = static_cast<size_t>(random_.pick(0, static_cast<int64_t>(of(in).shape.size()) - 1));
    if (of(in).shape[axis] > 6) return false;
    return add("unpack", {in}, {{"axis", std::to_string(axis)}},
               std::vector<TensorType>(static_cast<size_t>(of(in).shape[axis]), of(in)));
  }

  bool resize() {
    TensorId in = any_with_rank(4);
    bool corners = random_.chance(30), centers = !corners && random_.chance(30);
    return add("resize_nearest_neighbor", {in},
               {{"height", std::to_string(random_.pick(1, 9))},
                {"width", std::to_string(random_.pick(1, 9))},
                {"align_corners", corners ? "true" : "false"},
                {"half_pixel_centers", centers ? "true" : "false"}},
               {of(in)});
  }

  bool arg_max() {
    TensorId in = any();
    if (of(in).shape.empty()) return false;
    TensorType out;
    out.dtype = random_.chance(70) ? DType::kI32 : DType::kI64;
    return add(
        "arg_max", {in},
        {{"axis", std::to_string(random_.pick(0, static_cast<int64_t>(of(in).shape.size()) - 1))}},
        {out});
  }

  bool cast() {
    static constexpr DType kTo[] = {DType::kI32,  DType::kF32, DType::kI8,
                                    DType::kBool, DType::kU8,  DType::kI64};
    TensorId in = any();
    DType to = kTo[random_.pick(0, 5)];
    // Out of range of the integer is undefined in C: only what surely fits.
    if (of(in).dtype == DType::kF32 && to != DType::kI32 && to != DType::kBool && to != DType::kI64)
      return false;
    return add("cast", {in}, {}, {type(to, {})});
  }

  bool requantize() {
    TensorId in = any();
    static constexpr DType kTo[] = {DType::kI8, DType::kI8, DType::kI8, DType::kU8, DType::kI16};
    DType from = of(in).dtype;
    if (from != DType::kF32 && random_.chance(60))
      return add("dequantize", {in}, {}, {type(DType::kF32, {})});
    return add("quantize", {in}, {}, {type(kTo[random_.pick(0, 4)], {})});
  }

  // ---------------------------------------------------------------- outputs

  // What nobody reads, some that others read too, sometimes one twice, an input or a constant.
  void choose_outputs() {
    graph::UseDef uses = graph::compute_use_def(graph_);
    std::vector<TensorId> chosen;
    for (TensorId id : pool_) {
      auto i = static_cast<size_t>(id.value);
      bool computed = uses.definer[i] >= 0;
      if (computed && (uses.users[i].empty() ? random_.chance(85) : random_.chance(12)))
        chosen.push_back(id);
    }
    if (chosen.empty()) chosen.push_back(pool_.back());
    if (random_.chance(8)) chosen.push_back(chosen[0]);
    if (random_.chance(5)) chosen.push_back(pool_[0]);
    for (TensorId id : chosen)
      graph_.outputs.push_back({id, fmt::format("out{}", graph_.outputs.size())});
  }

  Random random_;
  Graph graph_;
  DType main_;
  std::vector<TensorId> pool_;
};

}  // namespace

Graph random_graph(uint64_t seed) { return Generator(seed).run(); }

std::vector<std::vector<uint8_t>> random_inputs(const Graph& graph, uint64_t seed) {
  Random random(seed ^ 0xA5A5A5A5u);
  std::vector<std::vector<uint8_t>> out;
  for (const graph::Port& port : graph.inputs)
    out.push_back(random_bytes(random, graph[port.tensor].type));
  return out;
}

}  // namespace aotc::tests
