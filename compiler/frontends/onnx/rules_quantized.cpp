// SPDX-License-Identifier: Apache-2.0
// Quantised operators of ai.onnx and com.microsoft, as onnxruntime computes them. Groups of
// DequantizeLinear, operator and QuantizeLinear come as these too (qdq.h).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/qdq.h"
#include "frontends/onnx/quantized.h"
#include "frontends/onnx/window_attributes.h"
#include "ops/reduce/dequantized_mean.h"

namespace aotc::frontends::onnx {

namespace qlinear {

namespace {

// The result of a rule: the tensor of int8 or int16, and the file's for whoever reads that.
void finish(Call& c, Id int8, DType stored) {
  Builder& b = c.b;
  const char* form = stored == DType::kU16 ? " (int16)" : " (int8)";
  if (b.is_new(int8) && stored != DType::kI16) b.name(int8, b.where().tensor + form);
  c.out(0, stored_of(b, int8, stored));
}

// ---------------------------------------------------------------- weights

// As our operators take them: int8 or int4 without zero points, else bytes with one for all.
struct Weights {
  DType type = DType::kI8;
  std::vector<uint8_t> bytes;
  graph::Quantization quantization;
};

// Constant integers. `channel` is the axis of scales, if there are several. nullopt if several zero points leave more
// than int8.
std::optional<Weights> weights_of(Builder& b, Id x, const Affine& given, int channel) {
  const graph::Shape& shape = b.shape(x);
  int64_t inner = 1, channels = static_cast<int64_t>(given.scale.size());
  for (size_t d = static_cast<size_t>(channel) + 1; d < shape.size(); ++d) inner *= shape[d];
  Ints values = *b.ints(x);
  Weights out{DType::kI8, {}, {given.scale, {}, channel}};
  bool fits = true;
  const int32_t element = b.element(x);
  bool nibbles = element == kInt4 || element == kUint4;
  for (size_t at = 0; at < values.size(); ++at) {
    int64_t v = values[at] - given.zero[static_cast<size_t>(static_cast<int64_t>(at) / inner % channels)];
    fits = fits && v >= -128 && v <= 127;
    nibbles = nibbles && v >= -8 && v <= 7;
    out.bytes.push_back(static_cast<uint8_t>(v));
  }
  out.quantization.zero_point.assign(given.scale.size(), 0);
  if (nibbles) out.type = DType::kI4;
  if (fits) return out;
  if (channels > 1) return std::nullopt;
  int64_t shift = given.stored == DType::kI8 ? 128 : 0;
  out.type = DType::kU8;
  out.bytes.clear();
  for (int64_t v : values) out.bytes.push_back(static_cast<uint8_t>(v + shift));
  out.quantization.zero_point = {given.zero[0] + shift};
  return out;
}

// Input i with its scale and zero point, the inputs i + 1 and i + 2.
Weights weights_of(Call& c, size_t i, int channel) {
  auto given = affine_of(c, i + 1, i + 2, c.b.dtype(c.in(i)));
  Id x = c.in(i);
  if (!given || !c.b.is_constant(x) || c.b.dtype(x) != given->stored)
    c.refuse("the weights must be int8 or uint8; weights, scales and zero points must be known at compile time");
  const auto channels = static_cast<int64_t>(given->scale.size());
  const int64_t length = c.b.shape(x)[static_cast<size_t>(channel)];
  if (channels > 1 && length != channels)
    c.refuse(fmt::format("there are {} scales for {} channels", channels, length));
  if (auto out = weights_of(c.b, x, *given, channel)) return std::move(*out);
  c.refuse("weights with several zero points must fit int8 after the subtraction of the zero point",
           "use symmetric weights");
}

// In another order of dimensions, which has the channels at `channel`.
Id weights_constant(Builder& b, const Weights& w, const graph::Shape& shape, const Ints& order, int channel) {
  const DType moved = w.type == DType::kI4 ? DType::kI8 : w.type;  // of as many bytes
  Id id = b.transpose(b.constant(moved, shape, w.bytes), order);
  if (!b.is_constant(id)) b.stop("onnx-limit", "the weights are too large", "export a smaller model");
  graph::Tensor tensor = b.graph()[id];
  Id out = b.constant(w.type, tensor.type.shape, {tensor.constant->bytes.begin(), tensor.constant->bytes.end()});
  b.graph()[out].type.quantization = w.quantization;
  b.graph()[out].type.quantization.axis = w.quantization.scale.size() > 1 ? channel : 0;
  return out;
}

// int32, or int64 for int16 activations, with the scale of the sums.
Id bias_constant(Call& c, size_t i, const Affine& x, const Weights& w, int64_t channels) {
  Builder& b = c.b;
  Id id = c.in(i);
  if (!b.is_constant(id) || b.dtype(id) != DType::kI32 || b.type(id).elements() != channels)
    c.refuse(fmt::format("the bias must be an int32 constant with {} elements", channels));
  const Ints values = *b.ints(id);
  Id out = b.int_list(values, x.wide() ? DType::kI64 : DType::kI32);
  graph::Quantization q{w.quantization.scale, std::vector<int64_t>(w.quantization.scale.size(), 0), 0};
  for (float& s : q.scale) s *= x.scale[0];
  b.graph()[out].type.quantization = q;
  return out;
}

// ---------------------------------------------------------------- convolutions and pools

void check_filters(Call& c, const graph::Shape& in, const graph::Shape& weights, int64_t groups) {
  if (in.size() < 3 || in.size() > 4 || weights.size() != in.size())
    c.refuse(
        "a quantised convolution must have one or two spatial dimensions, and filters of the same rank as the image");
  if (groups < 1 || in[1] != weights[1] * groups || weights[0] % groups != 0)
    c.refuse(fmt::format("filters of shape {} in {} groups do not match an image of shape {}",
                         graph::to_string(weights), groups, graph::to_string(in)));
}

void conv(Call& c) {
  Builder& b = c.b;
  const Affine x = operand_affine(c, 0), y = known_affine(c, 6, 7);
  const graph::Shape in = c.shape(0), weights = c.shape(3);
  const int64_t groups = c.i("group", 1);
  check_filters(c, in, weights, groups);
  const WindowAttributes window = window_of(c, Ints(weights.begin() + 2, weights.end()));
  Weights w = weights_of(c, 3, 0);
  const bool depthwise = groups > 1 && weights[1] == 1;
  if (depthwise && x.wide()) w.type = DType::kI8;  // which weights of 4 bits are too
  std::vector<Id> operands = {
      nchw_to_nhwc(b, as_image(b, int8_of(b, c.in(0), x))),
      weights_constant(b, w, image_shape(weights), depthwise ? Ints{1, 2, 3, 0} : Ints{0, 2, 3, 1}, depthwise ? 3 : 0)};
  if (c.has(8)) operands.push_back(bias_constant(c, 8, x, w, weights[0]));
  std::vector<Setting> settings = image_settings(window);
  settings.push_back(onnxruntime_rounding());
  Id out = b.add_typed(depthwise ? "depthwise_conv_2d" : "conv_2d", operands, settings, y.type(), y.int8());
  b.name(out, b.where().tensor + (y.wide() ? " (NHWC)" : " (int8, NHWC)"));
  finish(c, as_planes(b, nhwc_to_nchw(b, out), window), y.stored);
}

void global_average_pool(Call& c) {
  Builder& b = c.b;
  const Affine x = operand_affine(c, 0), y = known_affine(c, 3, 4);
  const graph::Shape shape = c.shape(0);
  const bool last = c.i("channels_last", 0) != 0;
  if (shape.size() < 3 || shape.size() > 4) c.refuse("a quantised pool must have one or two spatial dimensions");
  const int64_t kept = shape[0] * (last ? shape.back() : shape[1]);
  const int64_t pixels = graph::element_count(shape) / std::max<int64_t>(kept, 1);
  if ((x.wide() || y.wide()) && !averages_in_integers(x, y, pixels, 0)) {
    Ints axes(shape.size() - 2);
    std::iota(axes.begin(), axes.end(), last ? 1 : 2);
    return finish(c, quantized(b, reduce(b, "mean", dequantized(b, c.in(0), x), axes, true), y), y.stored);
  }
  Id image = int8_of(b, c.in(0), x);
  if (shape.size() == 3) image = last ? b.reshape(image, {shape[0], 1, shape[1], shape[2]}) : as_image(b, image);
  if (!last) image = nchw_to_nhwc(b, image);
  Id out = b.add_typed("average_pool_2d", {image},
                       {{"filter_h", b.shape(image)[1]}, {"filter_w", b.shape(image)[2]}, onnxruntime_rounding()},
                       y.type(), y.int8());
  if (!last) out = nhwc_to_nchw(b, out);
  graph::Shape to = shape;
  for (size_t d = last ? 1 : 2; d < (last ? shape.size() - 1 : shape.size()); ++d) to[d] = 1;
  finish(c, b.reshape(out, to), y.stored);
}

// A window that is the whole image: its integer sum decides, but beside ties. Invalid if this is another window, or
// scales or sizes are out of range.
Id average_of_image(Call& c, const WindowAttributes& w, const Affine& x, const Affine& y, int64_t up) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  const graph::Quantization from = x.int8(), to = y.int8();
  if (x.wide() || y.wide() || !x.per_tensor() || !w.is_plain() || !w.is_unpadded() ||
      w.kernel != Ints(shape.begin() + 2, shape.end()))
    return {};
  const int64_t count = graph::element_count(w.kernel), added = to.zero_point[0] + up;
  const ops::MeanScales scales{from.scale[0],
                               to.scale[0],
                               static_cast<int32_t>(from.zero_point[0]),
                               static_cast<int32_t>(to.zero_point[0]),
                               count,
                               ops::SumOrder::kInOrder,
                               static_cast<int32_t>(added)};
  if (count < 1 || !ops::integer_mean(scales)) return {};
  c.pass_over({"count_include_pad"});
  Ints axes(shape.size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const std::string_view order = ops::enum_names(scales.order)[static_cast<size_t>(scales.order)];
  return b.add_typed("dequantized_mean", {int8_of(b, c.in(0), x)},
                     {{"axes", axes}, {"keep_dims", true}, {"order", order}, {"added", added}}, DType::kI8, to);
}

// onnxruntime averages in float, and unlike elsewhere adds the zero point before it rounds, so that it says to which
// side ties go. Groups of int8 are uint8 there. The average in integers is the same of most windows.
template <bool group>
void average_pool(Call& c) {
  Builder& b = c.b;
  if (c.i("channels_last", 0) != 0) c.refuse("channels_last is not supported");
  const Affine x = operand_affine(c, 0), y = known_affine(c, 3, 4);
  const bool flipped = group || y.stored == DType::kU8;
  const graph::Quantization q = y.int8();
  const int64_t up = flipped ? 128 : 0;
  const WindowAttributes w = window_of(c, c.ints("kernel_shape").value_or(Ints{}));
  if (w.is_plain() && w.is_unpadded() && averages_in_integers(x, y, graph::element_count(w.kernel), up)) {
    c.pass_over({"count_include_pad"});
    std::vector<Setting> settings = pool_settings(w);
    settings.push_back(onnxruntime_rounding());
    Id image = nchw_to_nhwc(b, as_image(b, int8_of(b, c.in(0), x)));
    Id out = b.add_typed("average_pool_2d", {image}, settings, y.type(), q);
    return finish(c, as_planes(b, nhwc_to_nchw(b, out), w), y.stored);
  }
  if (Id mean = average_of_image(c, w, x, y, up); mean.valid()) return finish(c, mean, y.stored);
  Id real = average_of_windows(c, dequantized(b, c.in(0), operand_affine(c, 0)));
  if (y.wide()) return finish(c, quantized(b, real, y), y.stored);
  Id place = b.binary("add", b.binary("div", real, static_cast<double>(y.scale[0])),
                      static_cast<double>(q.zero_point[0] + up));
  Id out = b.add_typed("quantize", {place}, {onnxruntime_rounding()}, DType::kI8, {{1.0f}, {-up}, 0});
  finish(c, b.add_typed("as_stored", {out}, {}, DType::kI8, q), y.stored);
}

// ---------------------------------------------------------------- products

// x times constant weights [depth, units], or [units, depth] if turned.
Id layer(Call& c, Id x, const Affine& ax, size_t weights, bool turned, std::optional<size_t> bias, const Affine& y) {
  Builder& b = c.b;
  const int channel = turned ? 0 : 1;
  const Weights w = weights_of(c, weights, channel);
  const graph::Shape shape = c.shape(weights);
  std::vector<Id> operands = {int8_of(b, x, ax), weights_constant(b, w, shape, turned ? Ints{0, 1} : Ints{1, 0}, 0)};
  if (bias) operands.push_back(bias_constant(c, *bias, ax, w, shape[static_cast<size_t>(channel)]));
  return b.add_typed("fully_connected", operands, {{"keep_num_dims", true}, onnxruntime_rounding()}, y.type(),
                     y.int8());
}

void mat_mul(Call& c) {
  Builder& b = c.b;
  const Affine x = operand_affine(c, 0), y = known_affine(c, 6, 7);
  if (c.shape(0).size() < 2 || c.shape(3).size() < 2)
    c.refuse("the operands of a quantised product must have at least two dimensions");
  if (b.is_constant(c.in(3)) && c.shape(3).size() == 2)
    return finish(c, layer(c, c.in(0), x, 3, false, std::nullopt, y), y.stored);
  const Affine w = operand_affine(c, 3);
  Id out = b.add_typed("batch_matmul", {int8_of(b, c.in(0), x), int8_of(b, c.in(3), w)}, {onnxruntime_rounding()},
                       DType::kI8, y.int8());
  finish(c, out, y.stored);
}

void gemm(Call& c) {
  Builder& b = c.b;
  if (c.shape(0).size() != 2 || c.shape(3).size() != 2) c.refuse("the operands must be matrices");
  if (!c.has(7)) c.refuse("a quantised Gemm must have a quantised result", "quantise the result too");
  if (c.f("alpha", 1.0f) != 1.0f || c.f("beta", 1.0f) != 1.0f || !b.is_constant(c.in(3)))
    c.refuse("alpha and beta must be 1, and the weights must be constant");
  const Affine x = operand_affine(c, 0), y = known_affine(c, 7, 8);
  Id in = c.i("transA", 0) != 0 ? b.transpose(c.in(0), {1, 0}) : c.in(0);
  std::optional<size_t> bias;
  if (c.has(6)) bias = 6;
  finish(c, layer(c, in, x, 3, c.i("transB", 0) != 0, bias, y), y.stored);
}

// ---------------------------------------------------------------- scales from the data

// Constant weights [depth, units] as rows of units, with more dimensions of one element between if `image`.
Id rows_constant(Builder& b, const Weights& w, const graph::Shape& shape, bool image) {
  Id rows = weights_constant(b, w, shape, {1, 0}, 0);
  if (!image) return rows;
  const graph::TensorType type = b.type(rows);
  b.graph()[rows].type.quantization = {};  // whose axis a view would not have
  Id out = b.reshape(rows, {type.shape[0], 1, 1, type.shape[1]});
  b.graph()[out].type.quantization = type.quantization;
  return out;
}

// Rows of floats times integers. All rows have one scale: they are the pixels of an image.
void dynamic_mat_mul(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0), weights = c.shape(1);
  const int64_t rows = shape.empty() ? 0 : b.type(c.in(0)).elements() / std::max<int64_t>(shape.back(), 1);
  if (shape.empty() || shape.back() != weights[0])
    c.refuse(fmt::format("operands of shapes {} and {} cannot be multiplied as matrices", graph::to_string(shape),
                         graph::to_string(weights)));
  const Weights w = weights_of(c, 1, 1);
  const bool image = rows > 1;
  Id x = b.reshape(c.in(0), image ? graph::Shape{1, 1, rows, shape.back()} : graph::Shape{1, shape.back()});
  std::vector<Id> operands = {x, rows_constant(b, w, weights, image)};
  if (c.has(4)) operands.push_back(b.reshape(c.in(4), {weights[1]}));
  std::vector<Setting> settings = {onnxruntime_rounding(), {"activation", "none"}};
  Id out = b.add(image ? "conv_2d" : "fully_connected", operands, settings);
  graph::Shape to = shape;
  to.back() = weights[1];
  c.out(0, b.reshape(out, to));
}

void dynamic_conv(Call& c) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0), weights = c.shape(1);
  const int64_t groups = c.i("group", 1);
  check_filters(c, in, weights, groups);
  // The range belongs to the whole tensor, but kernels quantise image by image.
  if (in[0] != 1) return dynamic_convolution(c);
  const WindowAttributes window = window_of(c, Ints(weights.begin() + 2, weights.end()));
  const bool depthwise = groups > 1 && weights[1] == 1;
  Weights w = weights_of(c, 1, 0);
  // Groups of our operators have a scale for each channel.
  if (groups > 1) {
    w.quantization.scale.resize(static_cast<size_t>(weights[0]), w.quantization.scale[0]);
    w.quantization.zero_point.resize(static_cast<size_t>(weights[0]), 0);
  }
  std::vector<Id> operands = {
      nchw_to_nhwc(b, as_image(b, c.in(0))),
      weights_constant(b, w, image_shape(weights), depthwise ? Ints{1, 2, 3, 0} : Ints{0, 2, 3, 1}, depthwise ? 3 : 0)};
  if (c.has(4)) operands.push_back(b.reshape(c.in(4), {weights[0]}));
  std::vector<Setting> settings = image_settings(window);
  settings.push_back(onnxruntime_rounding());
  Id out = b.add(depthwise ? "depthwise_conv_2d" : "conv_2d", operands, settings);
  c.out(0, as_planes(b, nhwc_to_nchw(b, out), window));
}

// ---------------------------------------------------------------- sums

// 32 bits hold sums of so many products, in whichever order zero points are subtracted.
constexpr int64_t kMostTerms = 16384;

// The zero points of integers, with scales of 1; nullopt if the model computes them.
std::optional<Affine> unscaled(Builder& b, Id values, Id zero) {
  Affine out;
  out.stored = b.dtype(values);
  if (size_of(out.stored) != 1) return std::nullopt;
  auto zeros = zero.valid() ? b.ints(zero) : Ints{0};
  if (!zeros || zeros->empty()) return std::nullopt;
  out.zero = std::move(*zeros);
  out.scale.assign(out.zero.size(), 1.0f);
  return out;
}

// Constant weights less their zero points, which belong to the tensor or to the indices of axis `channel`.
std::optional<Weights> unscaled_weights(Builder& b, const IntegerOperands& of, int channel) {
  const auto zeros = unscaled(b, of.weights, of.weights_zero);
  const graph::Shape& shape = b.shape(of.weights);
  const int64_t channels = shape[static_cast<size_t>(channel)];
  if (!zeros || !b.is_constant(of.weights) || channels < 1 || graph::element_count(shape) / channels > kMostTerms ||
      (!zeros->per_tensor() && static_cast<int64_t>(zeros->zero.size()) != channels))
    return std::nullopt;
  return weights_of(b, of.weights, *zeros, channel);
}

// x with the padding of `w`, which has none any more, as elements `value`.
Id framed(Builder& b, Id x, Id value, WindowAttributes& w) {
  const Id one = b.reshape(value, graph::Shape(b.shape(x).size(), 1));
  for (size_t d = 0; d < w.dims(); ++d) {
    const size_t axis = d + 2;
    graph::Shape frame = b.shape(x);
    auto part = [&](int64_t size) {
      frame[axis] = size;
      return b.broadcast(one, frame);
    };
    std::vector<Id> parts = {x};
    if (w.before[d] > 0) parts.insert(parts.begin(), part(w.before[d]));
    if (w.after[d] > 0) parts.push_back(part(w.after[d]));
    if (parts.size() > 1) x = b.add("concatenation", parts, {{"axis", static_cast<int64_t>(axis)}});
    w.in[d] += w.before[d] + w.after[d];
    w.before[d] = w.after[d] = w.asked_after[d] = 0;
  }
  return x;
}

// `sums` of the integers x less their zero point. It is linear and gives sums of int8 tensors. A zero point that the
// model computes is multiplied by the sums of ones, in a tensor of shape `ones`, and subtracted afterwards.
template <typename Sums>
Id centred_sums(Builder& b, const IntegerOperands& of, const graph::Shape& ones, Sums sums) {
  if (const auto known = unscaled(b, of.x, of.zero)) return sums(int8_of(b, of.x, *known));
  Affine raw;
  raw.stored = b.dtype(of.x);
  raw.scale = {1.0f};
  raw.zero = {raw.stored == DType::kU8 ? 128 : 0};
  const Id one = b.constant(DType::kI8, ones, std::vector<uint8_t>(static_cast<size_t>(graph::element_count(ones)), 1));
  b.graph()[one].type.quantization = raw.int8();
  const Id zero = b.binary("sub", b.reshape(b.cast(of.zero, DType::kI32), {}), static_cast<double>(raw.zero[0]));
  return b.add("sub", {sums(int8_of(b, of.x, raw)), b.add("mul", {sums(one), zero})});
}

// ---------------------------------------------------------------- elementwise

// Is the first operand repeated along the innermost dimension and the second is not?
bool repeats_first(const graph::Shape& a, const graph::Shape& b) {
  for (size_t back = 1; back <= std::max(a.size(), b.size()); ++back) {
    const int64_t da = back <= a.size() ? a[a.size() - back] : 1, db = back <= b.size() ? b[b.size() - back] : 1;
    if (da != 1 || db != 1) return da == 1;
  }
  return true;  // of one element each, too
}

// onnxruntime makes groups of int8 those of uint8. Its loops take the operand that they repeat as the second one, which
// float32 sums tell.
template <const char* op, bool group = false>
void binary(Call& c) {
  Builder& b = c.b;
  const Affine p = operand_affine(c, 0), q = operand_affine(c, 3), y = known_affine(c, 6, 7);
  const char* rounding = !y.wide() && (group || y.stored == DType::kU8) ? "onnxruntime_uint8" : "onnxruntime";
  std::vector<Id> operands = {int8_of(b, c.in(0), p), int8_of(b, c.in(3), q)};
  if (repeats_first(b.shape(operands[0]), b.shape(operands[1]))) std::swap(operands[0], operands[1]);
  Id out = b.add_typed(op, operands, {{"activation", "none"}, {"rounding", rounding}}, y.type(), y.int8());
  finish(c, out, y.stored);
}
constexpr char kAdd[] = "add", kMul[] = "mul";

// The tensor with the quantisation of the result. 16 bits: the sum with zero, which rounds as the file states.
Id rescaled(Call& c, Id x, const Affine& from, const Affine& to) {
  Builder& b = c.b;
  if (!to.wide()) return quantized(b, dequantized(b, x, from), to);
  const Id zero = b.filled_int(DType::kI16, 0);
  b.graph()[zero].type.quantization = {{1.0f}, {0}, 0};
  return b.add_typed("add", {int8_of(b, x, from), zero}, {{"activation", "none"}, onnxruntime_rounding()}, to.type(),
                     to.int8());
}

void relu(Call& c) {
  const Affine x = operand_affine(c, 0), y = known_affine(c, 3, 4);
  finish(c, c.b.add_typed("relu", {int8_of(c.b, c.in(0), x)}, {}, y.type(), y.int8()), y.stored);
}

void sigmoid(Call& c) {
  const Affine y = known_affine(c, 3, 4);
  Id real = c.b.add("logistic", {dequantized(c.b, c.in(0), operand_affine(c, 0))});
  finish(c, quantized(c.b, real, y), y.stored);
}

void leaky_relu(Call& c) {
  const Affine y = known_affine(c, 3, 4);
  Id real = dequantized(c.b, c.in(0), operand_affine(c, 0));
  finish(c, quantized(c.b, c.b.add("leaky_relu", {real}, {{"alpha", c.f("alpha", 0.01f)}}), y), y.stored);
}

void concat(Call& c) {
  Builder& b = c.b;
  const Affine y = known_affine(c, 0, 1);
  if (c.inputs() < 5 || (c.inputs() - 2) % 3 != 0)
    c.refuse("the operands after Y_scale and Y_zero_point must be triples: tensor, scale, zero point");
  std::vector<Id> operands;
  for (size_t i = 2; i < c.inputs(); i += 3) {
    const Affine x = operand_affine(c, i);
    bool same = x.int8() == y.int8();
    operands.push_back(same ? int8_of(b, c.in(i), x) : rescaled(c, c.in(i), x, y));
  }
  int64_t axis = b.axis(c.i("axis", 0), b.rank(operands[0]));
  finish(c, b.add_typed("concatenation", operands, {{"axis", axis}}, y.type(), y.int8()), y.stored);
}

// ---------------------------------------------------------------- softmax

void softmax(Call& c) {
  Builder& b = c.b;
  const Affine x = operand_affine(c, 0), y = known_affine(c, 3, 4);
  const graph::Shape shape = c.shape(0);
  const int64_t rank = b.rank(c.in(0));
  if (rank < 1) c.refuse("the operand must not be a scalar");
  const bool flat = c.i("opset", 13) < 13;
  const int64_t axis = b.axis(c.i("axis", flat ? 1 : -1), rank);
  Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  Id rows = int8_of(b, c.in(0), x);
  if (flat) {
    int64_t outer = std::accumulate(shape.begin(), shape.begin() + axis, int64_t{1}, std::multiplies<>());
    rows = b.reshape(rows, {outer, graph::element_count(shape) / std::max<int64_t>(outer, 1)});
  } else {
    std::swap(order[static_cast<size_t>(axis)], order.back());
    rows = b.transpose(rows, order);
  }
  Id out = b.add_typed("softmax", {rows}, {onnxruntime_rounding()}, y.type(), y.int8());
  finish(c, flat ? b.reshape(out, shape) : b.transpose(out, order), y.stored);
}

constexpr Rule kRules[] = {
    {"QLinearConv", 10, conv},
    {"QLinearMatMul", 10, mat_mul},
    {"QGemm", 1, gemm, "com.microsoft"},
    {"QLinearAdd", 1, binary<kAdd>, "com.microsoft"},
    {"QLinearMul", 1, binary<kMul>, "com.microsoft"},
    {"QLinearSigmoid", 1, sigmoid, "com.microsoft"},
    {"QLinearLeakyRelu", 1, leaky_relu, "com.microsoft"},
    {"QLinearConcat", 1, concat, "com.microsoft"},
    {"QLinearSoftmax", 1, softmax, "com.microsoft"},
    {"QLinearAveragePool", 1, average_pool<false>, "com.microsoft"},
    {"QLinearGlobalAveragePool", 1, global_average_pool, "com.microsoft"},
    {"QLinearConv", 1, conv, kGroups},
    {"Relu", 1, relu, kGroups},
    {"DynamicConv", 1, dynamic_conv, kGroups},
    {"DynamicMatMul", 1, dynamic_mat_mul, kGroups},
    {"QLinearMatMul", 1, mat_mul, kGroups},
    {"QGemm", 1, gemm, kGroups},
    {"QLinearAdd", 1, binary<kAdd, true>, kGroups},
    {"QLinearMul", 1, binary<kMul, true>, kGroups},
    {"QLinearConcat", 1, concat, kGroups},
    {"QLinearSoftmax", 1, softmax, kGroups},
    {"QLinearAveragePool", 1, average_pool<true>, kGroups},
    {"QLinearGlobalAveragePool", 1, global_average_pool, kGroups},
};

}  // namespace

}  // namespace qlinear

std::optional<Id> sums_of_convolution(Builder& b, const IntegerOperands& given, const WindowAttributes& window,
                                      int64_t groups) {
  using namespace qlinear;
  const auto weights = unscaled_weights(b, given, 0);
  if (!weights || window.dims() > 3) return std::nullopt;
  IntegerOperands of = given;
  WindowAttributes w = window;
  // Operators pad with numbers that are known.
  if (!unscaled(b, of.x, of.zero)) of.x = framed(b, of.x, of.zero, w);
  const graph::Shape shape = b.shape(of.weights);
  const bool volume = w.dims() > 2, depthwise = !volume && groups > 1 && shape[1] == 1;
  graph::Shape ones = {1, b.shape(of.x)[1]};
  for (size_t d = 0; d < w.dims(); ++d) ones.push_back((w.kernel[d] - 1) * w.dilations[d] + 1);
  const Id filters = volume      ? weights_constant(b, *weights, shape, {2, 3, 4, 1, 0}, 4)
                     : depthwise ? weights_constant(b, *weights, image_shape(shape), {1, 2, 3, 0}, 3)
                                 : weights_constant(b, *weights, image_shape(shape), {0, 2, 3, 1}, 0);
  return centred_sums(b, of, ones, [&](Id x) {
    if (volume)
      return planes_of(b, b.add("conv_3d_sums", {volume_of(b, x), filters}, volume_settings(w, groups), DType::kI32),
                       w.dims());
    const Id image = nchw_to_nhwc(b, as_image(b, x));
    const Id out = b.add(depthwise ? "depthwise_conv_2d" : "conv_2d", {image, filters}, image_settings(w), DType::kI32);
    return as_planes(b, nhwc_to_nchw(b, out), w);
  });
}

std::optional<Id> sums_of_product(Builder& b, const IntegerOperands& of) {
  using namespace qlinear;
  const graph::Shape p = b.shape(of.x), q = b.shape(of.weights);
  if (p.empty() || q.size() < 2 || p.back() != q[q.size() - 2] || p.back() > kMostTerms) return std::nullopt;
  const auto weights = q.size() == 2 ? unscaled_weights(b, of, 1) : std::nullopt;
  if (!weights) {
    const auto x = unscaled(b, of.x, of.zero), y = unscaled(b, of.weights, of.weights_zero);
    if (!x || !y || !y->per_tensor() || p.size() < 2 || p.size() > 5 || q.size() > 5) return std::nullopt;
    return b.add("batch_matmul", {int8_of(b, of.x, *x), int8_of(b, of.weights, *y)}, {}, DType::kI32);
  }
  // Rows are the pixels of an image.
  const Id rows = rows_constant(b, *weights, q, true);
  graph::Shape to = p;
  to.back() = q[1];
  const Id out = centred_sums(b, of, {1, 1, 1, p.back()}, [&](Id x) {
    const int64_t count = b.type(x).elements() / std::max<int64_t>(p.back(), 1);
    return b.add("conv_2d", {b.reshape(x, {1, 1, count, p.back()}), rows}, {{"activation", "none"}}, DType::kI32);
  });
  return b.reshape(out, to);
}

std::span<const Rule> qlinear_rules() { return qlinear::kRules; }

}  // namespace aotc::frontends::onnx
