// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools: our operators between two transpositions. Pools with dilation or with indices of their maxima
// are composed of slices, one for each place in the window.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontends/onnx/quantized.h"
#include "frontends/onnx/window_attributes.h"

namespace aotc::frontends::onnx {

namespace windows {

namespace {

// A pool of images in planes: our operator `op` between two transpositions.
Id pool_of(Builder& b, std::string_view op, Id x, const WindowAttributes& w, const std::vector<Setting>& more = {}) {
  std::vector<Setting> settings = pool_settings(w);
  settings.insert(settings.end(), more.begin(), more.end());
  return as_planes(b, nhwc_to_nchw(b, b.add(op, {nchw_to_nhwc(b, as_image(b, x))}, settings)), w);
}

// A pool of volumes in planes: over height and width of each depth, then over depth.
Id pool_of_volume(Builder& b, std::string_view op, Id x, const WindowAttributes& w,
                  const std::vector<Setting>& more = {}) {
  auto pool = [&](Id image, size_t first, size_t count) {
    auto part = [&](const Ints& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      return Ints(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    WindowAttributes some;
    some.kernel = part(w.kernel), some.strides = part(w.strides), some.dilations = part(w.dilations);
    some.before = part(w.before), some.after = part(w.after);
    // Depth is the height of an image.
    if (count == 1)
      for (auto [list, one] : {std::pair(&some.kernel, 1), std::pair(&some.strides, 1), std::pair(&some.dilations, 1),
                               std::pair(&some.before, 0), std::pair(&some.after, 0)})
        list->push_back(one);
    std::vector<Setting> settings = pool_settings(some);
    settings.insert(settings.end(), more.begin(), more.end());
    return b.add_typed(op, {image}, settings, b.dtype(image), graph::Quantization(b.type(image).quantization));
  };
  Id volume = volume_of(b, x);
  const graph::Shape s = b.shape(volume);
  Id rows = pool(b.reshape(volume, {s[0] * s[1], s[2], s[3], s[4]}), 1, 2);
  Id out = pool(b.reshape(rows, {s[0], s[1], w.out[1] * w.out[2], s[4]}), 0, 1);
  return planes_of(b, b.reshape(out, {s[0], w.out[0], w.out[1], w.out[2], s[4]}), 3);
}

// The pool of planes over one to three dimensions.
Id pool_of_planes(Builder& b, std::string_view op, Id x, const WindowAttributes& w,
                  const std::vector<Setting>& more = {}) {
  return w.dims() == 3 ? pool_of_volume(b, op, x, w, more) : pool_of(b, op, x, w, more);
}

// Has the pool windows without dilation, each with an element of the operand?
bool is_pool(const WindowAttributes& w) { return w.is_inside() && w.dilations == Ints(w.dims(), 1); }

Id pad_spatial(Builder& b, Id x, const WindowAttributes& w, double value) {
  Ints before = {0, 0}, after = {0, 0};
  bool any = false;
  for (size_t i = 0; i < w.dims(); ++i) {
    before.push_back(w.before[i]);
    after.push_back(w.after[i]);
    any = any || w.before[i] != 0 || w.after[i] != 0;
  }
  if (!any) return x;
  return b.add("pad", {x, b.filled(b.dtype(x), value)}, {{"before", before}, {"after", after}});
}

// Places of a window that is put together from slices.
constexpr int64_t kMostTaps = 256;

// Calls each(slice) with what every place of the window sees, in row, column order.
template <typename Each>
void for_each_tap(Call& c, Id padded, const WindowAttributes& w, Each each) {
  Builder& b = c.b;
  int64_t taps = graph::element_count(w.kernel);
  if (taps > kMostTaps)
    c.refuse(fmt::format("the window must have at most {} elements", kMostTaps), "use a smaller window");
  b.note_slices(fmt::format("{} slices", taps));
  for (int64_t tap = 0; tap < taps; ++tap) {
    Ints begin = {0, 0}, counts = {b.shape(padded)[0], b.shape(padded)[1]}, steps = {1, 1};
    int64_t rest = tap;
    Ints at(w.dims());
    for (size_t i = w.dims(); i-- > 0; rest /= w.kernel[i]) at[i] = rest % w.kernel[i];
    for (size_t i = 0; i < w.dims(); ++i) {
      begin.push_back(at[i] * w.dilations[i]);
      counts.push_back(w.out[i]);
      steps.push_back(w.out[i] == 1 ? 1 : w.strides[i]);
    }
    each(b.slice(padded, begin, counts, steps));
  }
}

// ---------------------------------------------------------------- convolutions

Id conv_2d(Call& c, const WindowAttributes& w, int64_t groups, bool& biased) {
  Builder& b = c.b;
  const Id image = nchw_to_nhwc(b, as_image(b, c.in(0))), filters = as_image(b, c.in(1));
  const bool known = b.is_constant(filters);
  const bool depthwise = known && groups > 1 && b.shape(filters)[1] == 1 && b.shape(image)[3] == groups;
  std::vector<Id> operands = {image, b.transpose(filters, depthwise ? Ints{1, 2, 3, 0} : Ints{0, 2, 3, 1})};
  biased = c.has(2) && b.is_constant(c.in(2));
  if (biased) operands.push_back(c.in(2));
  const char* op = depthwise ? "depthwise_conv_2d" : known ? "conv_2d" : "conv_2d_computed";
  const Id out = b.add(op, operands, image_settings(w));
  return as_planes(b, nhwc_to_nchw(b, out), w);
}

void conv(Call& c) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0), weights = c.shape(1);
  int64_t groups = c.i("group", 1);
  if (in.size() < 3 || weights.size() != in.size())
    c.refuse("the operands must be an image of at least three dimensions, and filters with as many dimensions");
  WindowAttributes w = window_of(c, Ints(weights.begin() + 2, weights.end()));
  bool fits = groups >= 1 && in[1] == weights[1] * groups && weights[0] % groups == 0;
  if (!fits)
    c.refuse(fmt::format("filters of shape {} in {} groups do not match an image of shape {}",
                         graph::to_string(weights), groups, graph::to_string(in)));
  bool biased = false;
  if (w.dims() > 2) return c.out(0, volume_convolution(b, c.in(0), c.in(1), c.has(2) ? c.in(2) : Id{}, w, groups));
  Id out = conv_2d(c, w, groups, biased);
  if (c.has(2) && !biased) {
    graph::Shape column(w.dims() + 1, 1);
    column[0] = weights[0];
    out = b.binary("add", out, b.reshape(c.in(2), column));
  }
  c.out(0, out);
}

// ---------------------------------------------------------------- pools

// onnxruntime's kernels without dilation begin with the least finite number, which stands where all is less; those
// with dilation, and those of float64, with the first element of the window.
bool begins_with_first(Call& c, const WindowAttributes& w) {
  return c.b.element(c.in(0)) == kDouble || w.dilations != Ints(w.dims(), 1);
}

// Of two dimensions there is one with vectors, which sets nothing in front of elements unless it is padding.
bool is_in_vectors(const WindowAttributes& w) {
  const int64_t width = w.in.back() + w.before.back() + w.asked_after.back();
  const bool whole = w.in == w.kernel && w.strides == Ints(w.dims(), 1) && w.is_unpadded();
  return w.dims() == 2 && !whole && w.strides.back() <= 2 && std::max(w.kernel[0], w.kernel[1]) <= 32 && width <= 2045;
}

// The first element in each window; of one that lies in the padding altogether the least finite number.
Id first_of_windows(Call& c, const WindowAttributes& w) {
  Builder& b = c.b;
  Id x = c.in(0);
  for (size_t i = 0; i < w.dims(); ++i) {
    Ints at;
    for (int64_t o = 0; o < w.out[i]; ++o) {
      const int64_t start = o * w.strides[i] - w.before[i];
      int64_t tap = 0;
      while (tap < w.kernel[i] && start + tap * w.dilations[i] < 0) ++tap;
      const int64_t from = start + tap * w.dilations[i];
      at.push_back(tap < w.kernel[i] && from < w.in[i] ? from : w.in[i]);
    }
    if (std::find(at.begin(), at.end(), w.in[i]) != at.end()) {
      Ints none(w.dims() + 2, 0), behind = none;
      behind[i + 2] = 1;
      Id least = b.filled(DType::kF32, std::numeric_limits<float>::lowest());
      x = b.add("pad", {x, least}, {{"before", none}, {"after", behind}});
    }
    x = b.add("gather", {x, b.int_list(at)}, {{"axis", static_cast<int64_t>(i) + 2}});
  }
  return x;
}

Id max_of_slices(Call& c, const WindowAttributes& w) {
  Builder& b = c.b;
  DType type = b.dtype(c.in(0));
  double lowest =
      type == DType::kF32 ? -std::numeric_limits<float>::infinity() : static_cast<double>(int_range(type).min);
  Id out;
  if (type == DType::kF32 && !begins_with_first(c, w)) {
    out = b.filled(type, std::numeric_limits<float>::lowest());
  } else if (type == DType::kF32 && !w.is_unpadded()) {
    out = first_of_windows(c, w);
  }
  for_each_tap(c, pad_spatial(b, c.in(0), w, lowest), w,
               [&](Id slice) { out = out.valid() ? b.widened("maximum", {slice, out}) : slice; });
  return out;
}

// Stored values of some quantisation: what follows says which.
Id max_of_stored(Call& c, const WindowAttributes& w) {
  Builder& b = c.b;
  const DType type = b.dtype(c.in(0));
  const graph::Quantization any{{1.0f}, {0}, 0};
  Id x = int8_of(b, c.in(0), any);
  if (w.dims() == 3) return stored_of(b, pool_of_volume(b, "max_pool_2d", x, w), type);
  Id image = nchw_to_nhwc(b, as_image(b, x));
  Id out = b.add_typed("max_pool_2d", {image}, pool_settings(w), b.dtype(image), any);
  return stored_of(b, as_planes(b, nhwc_to_nchw(b, out), w), type);
}

// The first of the largest, and its place in the whole operand; by columns where storage_order says so.
void max_and_places(Call& c, const WindowAttributes& w) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0);
  const bool columns = c.i("storage_order", 0) != 0;
  if (graph::element_count(in) > int64_t{1} << 22)
    c.refuse("indices of maxima are supported for at most 4,194,304 elements", "use a smaller image");
  if (!w.is_inside()) c.refuse("indices of maxima are not supported if a window is entirely in the padding");
  Ints places(static_cast<size_t>(graph::element_count(in)));
  std::iota(places.begin(), places.end(), int64_t{0});
  if (columns && w.dims() == 2) {
    const int64_t height = in[2], width = in[3];
    for (int64_t& p : places) {
      const int64_t at = p % (height * width);
      p = p - at + at % width * height + at / width;
    }
  } else if (columns && w.dims() > 2) {
    c.refuse("storage_order = 1 is supported for at most two spatial dimensions");
  }
  const DType type = b.dtype(c.in(0));
  const double lowest =
      type == DType::kF32 ? -std::numeric_limits<float>::infinity() : static_cast<double>(int_range(type).min);
  std::vector<Id> values, indices;
  for_each_tap(c, pad_spatial(b, c.in(0), w, lowest), w, [&](Id slice) { values.push_back(slice); });
  Id numbers = b.reshape(b.int_list(places), in);
  // Padding is never the first of the largest unless all is as small as it: then it must not be taken either.
  for_each_tap(c, pad_spatial(b, numbers, w, -1.0), w, [&](Id slice) { indices.push_back(slice); });
  Id best = values[0], place = indices[0];
  for (size_t i = 1; i < values.size(); ++i) {
    Id outside = b.add("less", {place, b.filled_int(DType::kI64, 0)}, {}, DType::kBool);
    Id inside = b.add("greater_equal", {indices[i], b.filled_int(DType::kI64, 0)}, {}, DType::kBool);
    Id takes = b.add("logical_or", {b.widened("greater", {values[i], best}, true), outside});
    takes = b.add("logical_and", {takes, inside});
    best = select(b, takes, values[i], best);
    place = select(b, takes, indices[i], place);
  }
  c.out(0, best);
  c.out(1, place);
}

void max_pool(Call& c) {
  Builder& b = c.b;
  WindowAttributes w = window_of(c, c.ints("kernel_shape").value_or(Ints{}));
  if (c.wants(1)) return max_and_places(c, w);
  c.pass_over({"storage_order"});
  const DType type = b.dtype(c.in(0));
  const bool stored = type == DType::kI8 || type == DType::kU8 || type == DType::kI16 || type == DType::kU16;
  if (is_pool(w) && stored) return c.out(0, max_of_stored(c, w));
  const bool first = begins_with_first(c, w);
  // The first element of a volume's window is not that of each of its depths.
  if (!is_pool(w) || type != DType::kF32 || (first && w.dims() == 3)) return c.out(0, max_of_slices(c, w));
  const char* begin = first ? "first" : is_in_vectors(w) ? "first_of_whole" : "least";
  c.out(0, pool_of_planes(b, "max_pool_2d", c.in(0), w, {{"activation", "unbounded"}, {"begin", begin}}));
}

// How many elements of the image each window holds.
Id counts_of(Call& c, const WindowAttributes& w, bool with_padding) {
  graph::Shape shape = {1, 1};
  shape.insert(shape.end(), w.out.begin(), w.out.end());
  std::vector<float> counts(static_cast<size_t>(graph::element_count(w.out)), 1.0f);
  int64_t inner = static_cast<int64_t>(counts.size());
  for (size_t i = 0; i < w.dims(); ++i) {
    inner /= w.out[i];
    for (size_t at = 0; at < counts.size(); ++at) {
      int64_t o = static_cast<int64_t>(at) / inner % w.out[i], inside = 0;
      for (int64_t k = 0; k < w.kernel[i]; ++k) {
        int64_t x = o * w.strides[i] + k * w.dilations[i] - w.before[i];
        // What rounding up added behind the padding never counts.
        inside += with_padding ? (x < w.in[i] + w.asked_after[i] ? 1 : 0) : (x >= 0 && x < w.in[i] ? 1 : 0);
      }
      counts[at] *= static_cast<float>(inside);
    }
  }
  std::vector<uint8_t> bytes(counts.size() * 4);
  std::copy_n(reinterpret_cast<const uint8_t*>(counts.data()), bytes.size(), bytes.begin());
  return c.b.constant(DType::kF32, shape, std::move(bytes));
}

Id sum_of_slices(Call& c, Id x, const WindowAttributes& w) {
  Builder& b = c.b;
  Id out;
  for_each_tap(c, pad_spatial(b, x, w, 0.0), w,
               [&](Id slice) { out = out.valid() ? b.binary("add", out, slice) : slice; });
  return out;
}

}  // namespace

}  // namespace windows

Id volume_convolution(Builder& b, Id x, Id filters, Id bias, const WindowAttributes& w, int64_t groups) {
  std::vector<Id> operands = {volume_of(b, x),
                              b.transpose(b.reshape(filters, volume_shape(b.shape(filters))), {2, 3, 4, 1, 0})};
  if (bias.valid()) operands.push_back(bias);
  const char* op = b.dtype(x) == DType::kI32 ? "conv_3d_sums" : "conv_3d";
  return planes_of(b, b.add(op, operands, volume_settings(w, groups)), w.dims());
}

Id average_of_windows(Call& c, Id x) {
  using namespace windows;
  Builder& b = c.b;
  WindowAttributes w = window_of(c, c.ints("kernel_shape").value_or(Ints{}));
  bool with_padding = c.i("count_include_pad", 0) != 0 && !w.is_unpadded();
  if (!is_pool(w)) return b.binary("div", sum_of_slices(c, x, w), counts_of(c, w, with_padding));
  Id average = pool_of_planes(b, "average_pool_2d", x, w);
  if (!with_padding) return average;
  // The pool divides by the elements that are there.
  Id part = b.binary("div", counts_of(c, w, false), counts_of(c, w, true));
  (void)b.is_constant(part);
  return b.binary("mul", average, part);
}

namespace windows {

namespace {

void average_pool(Call& c) { c.out(0, average_of_windows(c, c.in(0))); }

// The p-th root of a sum of p-th powers.
Id norm(Builder& b, int64_t p, Id x, const std::function<Id(Id)>& sum) {
  Id magnitude = b.add("abs", {x});
  if (p == 1) return sum(magnitude);
  if (p == 2) return b.add("sqrt", {sum(b.binary("mul", x, x))});
  return b.binary("pow", sum(b.binary("pow", magnitude, static_cast<double>(p))), 1.0 / static_cast<double>(p));
}

void lp_pool(Call& c) {
  Builder& b = c.b;
  WindowAttributes w = window_of(c, c.ints("kernel_shape").value_or(Ints{}));
  const int64_t p = c.i("p", 2);
  if (p == 2 && is_pool(w)) {
    Id root = b.add("sqrt", {counts_of(c, w, false)});
    (void)b.is_constant(root);
    return c.out(0, b.binary("mul", pool_of_planes(b, "l2_pool_2d", c.in(0), w), root));
  }
  c.out(0, norm(b, p, c.in(0), [&](Id x) {
          if (!is_pool(w)) return sum_of_slices(c, x, w);
          return b.binary("mul", pool_of_planes(b, "average_pool_2d", x, w), counts_of(c, w, false));
        }));
}

Ints spatial_axes(Call& c) {
  if (c.shape(0).size() < 3) c.refuse("the operand must have at least three dimensions");
  Ints axes(c.shape(0).size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

template <const char* op>
void global_pool(Call& c) {
  c.out(0, reduce(c.b, op, c.in(0), spatial_axes(c), true));
}
constexpr char kMean[] = "mean", kMax[] = "reduce_max";

void global_lp_pool(Call& c) {
  Ints axes = spatial_axes(c);
  c.out(0, norm(c.b, c.i("p", 2), c.in(0), [&](Id x) { return reduce(c.b, "sum", x, axes, true); }));
}

// Values at the places that MaxPool told; the rest is 0. Another shape that is asked for has zeros behind.
void max_unpool(Call& c) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0);
  const auto kernel = c.ints("kernel_shape").value_or(Ints{});
  const size_t dims = in.size() < 3 ? 0 : in.size() - 2;
  const Ints strides = c.ints("strides").value_or(Ints(dims, 1)), pads = c.ints("pads").value_or(Ints(2 * dims, 0));
  if (dims == 0 || kernel.size() != dims || strides.size() != dims || pads.size() != 2 * dims || c.shape(1) != in)
    c.refuse(
        fmt::format("kernel_shape, strides or pads do not match {} spatial dimensions, or the indices do not have the "
                    "shape of the operand",
                    dims));
  graph::Shape out = {in[0], in[1]};
  for (size_t d = 0; d < dims; ++d) {
    // One place is told by several windows if they share elements.
    if (kernel[d] < 1) c.refuse("kernel_shape must be at least 1");
    if (strides[d] < kernel[d] || kernel[d] > INT32_MAX || strides[d] > INT32_MAX)
      c.refuse("the windows overlap", "use strides that are at least kernel_shape");
    out.push_back((in[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + dims]);
    if (out.back() < 1) c.refuse("the result has no elements");
  }
  if (bounded_bytes(out, DType::kI32) < 0)
    c.refuse(fmt::format("a result of shape {} is too large", graph::to_string(out)));
  const int64_t count = b.type(c.in(0)).elements();
  Id places = b.reshape(b.cast(c.in(1), DType::kI32), {count, 1});
  Id flat = b.add("scatter_nd", {places, b.reshape(c.in(0), {count})}, {{"shape", Ints{graph::element_count(out)}}},
                  b.dtype(c.in(0)));
  Id whole = b.reshape(flat, out);
  const Ints asked = c.optional_ints(2, "the shape").value_or(out);
  Ints behind(asked.size());
  bool fits = asked.size() == out.size();
  for (size_t d = 0; fits && d < out.size(); ++d) fits = (behind[d] = asked[d] - out[d]) >= 0;
  if (!fits)
    c.refuse(
        fmt::format("output_shape is {}, but must be at least {}", graph::to_string(asked), graph::to_string(out)));
  if (asked == out) return c.out(0, whole);
  Id zero = b.filled(b.dtype(whole), 0.0);
  c.out(0, b.add("pad", {whole, zero}, {{"before", Ints(out.size(), 0)}, {"after", behind}}));
}

constexpr Rule kRules[] = {
    {"Conv", 1, conv},
    {"ConvTranspose", 1, conv_transpose},
    {"MaxPool", 1, max_pool},
    {"MaxUnpool", 9, max_unpool},
    {"AveragePool", 7, average_pool},
    {"LpPool", 2, lp_pool},
    {"GlobalAveragePool", 1, global_pool<kMean>},
    {"GlobalMaxPool", 1, global_pool<kMax>},
    {"GlobalLpPool", 2, global_lp_pool},
};

}  // namespace

}  // namespace windows

std::span<const Rule> window_rules() { return windows::kRules; }

}  // namespace aotc::frontends::onnx
