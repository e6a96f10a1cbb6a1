// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample. Linear interpolation of images is an operator of our own. Otherwise, along one dimension after
// the other, each result is a weighted sum of elements whose places are known: so many sums of whole slices, with the
// weights as constants.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace resizing {

namespace {

struct Form {
  std::string mode = "nearest", nearest = "round_prefer_floor", coordinates = "half_pixel";
  bool antialias = false, exclude_outside = false;
  double cubic = -0.75;
  float extrapolation = 0.0f;
};

struct Dimension {
  int64_t from, to;
  double scale, begin = 0, end = 1;  // of the region that is cut out
};

// Where element i of the result lies among those of the operand.
double place_of(const Form& form, const Dimension& d, int64_t i) {
  auto x = static_cast<double>(i), width = static_cast<double>(d.from);
  double wanted = d.scale * width;
  if (form.coordinates == "align_corners") return wanted == 1 ? 0 : x * (width - 1) / (wanted - 1);
  // In float32, as onnxruntime has it: places that are whole by the numbers of the file are whole then.
  const auto step = static_cast<float>(d.scale), at = static_cast<float>(i);
  if (form.coordinates == "asymmetric") return static_cast<double>(at / step);
  if (form.coordinates == "tf_crop_and_resize") {
    double region = (d.end - d.begin) * (width - 1);
    return d.begin * (width - 1) + (wanted == 1 ? region / 2 : x * region / (wanted - 1));
  }
  if (form.coordinates == "pytorch_half_pixel" && wanted == 1) return -0.5;
  const double centre = static_cast<double>((at + 0.5f) / step - 0.5f);
  if (form.coordinates == "half_pixel_symmetric") return centre + width / 2 * (1 - static_cast<double>(d.to) / wanted);
  return centre;
}

double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Which of the two neighbours: 0 or 1.
int nearer(const std::string& rule, double ratio) {
  if (ratio == 1 || rule == "ceil") return 1;
  if (rule == "floor") return 0;
  return rule == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
}

// Weights of the elements first, first + 1 ... behind the neighbour to the left.
struct Weights {
  int64_t first;
  std::vector<double> of;
};

// The ratio is above 0 and up to 1: an element in whose place the result lies is the neighbour to
// the right.
Weights weights_of(const Form& form, double ratio, double scale) {
  if (form.mode == "nearest") return {nearer(form.nearest, ratio), {1}};
  double shrink = form.antialias ? std::min(scale, 1.0) : 1.0;
  double reach = form.mode == "cubic" ? 2 : 1;
  auto first = static_cast<int64_t>(std::floor(-reach / shrink)) + 1;
  Weights out{first, {}};
  for (int64_t i = first; i <= 1 - first; ++i) {
    double x = (static_cast<double>(i) - ratio) * shrink;
    out.of.push_back(form.mode == "cubic" ? cubic_weight(x, form.cubic) : std::max(0.0, 1 - std::abs(x)));
  }
  if (!form.antialias) return out;
  double sum = std::accumulate(out.of.begin(), out.of.end(), 0.0);
  for (double& w : out.of) w /= sum;
  return out;
}

// By the tap: of every result along the dimension, the element and its weight.
struct Taps {
  std::vector<Ints> places;
  std::vector<std::vector<float>> weights;
  std::vector<uint8_t> outside;  // by result: it has the extrapolation value
};

Taps taps_of(const Form& form, const Dimension& d) {
  Taps out;
  for (int64_t i = 0; i < d.to; ++i) {
    double x = place_of(form, d, i);
    double left = std::ceil(x) - 1;
    Weights w = weights_of(form, x - left, d.scale);
    double sum = 0;
    for (size_t k = 0; k < w.of.size(); ++k) {
      double place = left + static_cast<double>(w.first + static_cast<int64_t>(k));
      bool beyond = place < 0 || place >= static_cast<double>(d.from);
      if (form.exclude_outside && beyond) w.of[k] = 0;
      sum += w.of[k];
      if (out.places.size() <= k) {
        out.places.emplace_back(static_cast<size_t>(d.to), 0);
        out.weights.emplace_back(static_cast<size_t>(d.to), 0.0f);
      }
      out.places[k][static_cast<size_t>(i)] =
          static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(d.from - 1)));
    }
    for (size_t k = 0; k < w.of.size(); ++k)
      out.weights[k][static_cast<size_t>(i)] =
          static_cast<float>(form.exclude_outside && sum != 0 ? w.of[k] / sum : w.of[k]);
    out.outside.push_back(form.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(d.from - 1)));
  }
  return out;
}

// A list along one dimension, to be broadcast along the others.
graph::Shape along(size_t rank, size_t axis, int64_t n) {
  graph::Shape out(rank - axis, 1);
  out[0] = n;
  return out;
}

Id resize_axis(Call& c, Id x, size_t axis, const Form& form, const Dimension& d) {
  Builder& b = c.b;
  Taps taps = taps_of(form, d);
  graph::Shape line = along(b.shape(x).size(), axis, d.to);
  Id sum;
  for (size_t k = 0; k < taps.places.size(); ++k) {
    const std::vector<float>& w = taps.weights[k];
    if (std::all_of(w.begin(), w.end(), [](float v) { return v == 0; })) continue;
    Id part = b.add("gather", {x, b.int_list(taps.places[k])}, {{"axis", static_cast<int64_t>(axis)}});
    if (!std::all_of(w.begin(), w.end(), [](float v) { return v == 1; }))
      part = b.add("mul", {part, b.floats_of(w, line)});
    sum = sum.valid() ? b.add("add", {sum, part}) : part;
  }
  if (!sum.valid()) c.refuse("the interpolation weights are all zero");
  if (std::find(taps.outside.begin(), taps.outside.end(), 1) == taps.outside.end()) return sum;
  Id outside = b.constant(DType::kBool, line, std::move(taps.outside));
  return select(b, outside, b.filled(b.dtype(x), form.extrapolation), sum);
}

// Dimensions in the order of `axes`.
std::vector<Dimension> sizes_of(Call& c, const Ints& axes, const std::optional<Ints>& sizes,
                                const std::vector<double>& scales) {
  std::vector<Dimension> out;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t from = c.shape(0)[static_cast<size_t>(axes[i])];
    double scale = sizes ? static_cast<double>((*sizes)[i]) / static_cast<double>(from) : scales[i];
    double to = sizes ? static_cast<double>((*sizes)[i]) : std::floor(scale * static_cast<double>(from));
    if (!(scale > 0) || !(to >= 1) || to > 1e7)
      c.refuse(fmt::format("the scale or size gives axis {} a size of {}, expected 1 to 10,000,000", axes[i], to));
    out.push_back({from, static_cast<int64_t>(to), scale});
  }
  std::string policy = c.s("keep_aspect_ratio_policy", "stretch");
  if (!sizes || policy == "stretch") return out;
  if (policy != "not_larger" && policy != "not_smaller")
    c.refuse(fmt::format("keep_aspect_ratio_policy '{}' is not supported", escape_for_display(policy)));
  double scale = out[0].scale;
  for (const Dimension& d : out) scale = policy == "not_larger" ? std::min(scale, d.scale) : std::max(scale, d.scale);
  for (Dimension& d : out) d = {d.from, static_cast<int64_t>(scale * static_cast<double>(d.from) + 0.5), scale};
  return out;
}

// Images and signals in planes, interpolated along their last dimensions; invalid if our operator does not have the
// form.
Id resized_image(Call& c, const Form& form, const Ints& axes, const std::vector<Dimension>& dimensions) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  const bool centres = form.coordinates == "half_pixel" || form.coordinates == "pytorch_half_pixel";
  const bool corners = form.coordinates == "align_corners";
  bool fits = form.mode == "linear" && !form.antialias && !form.exclude_outside && b.element(c.in(0)) == kFloat &&
              (shape.size() == 3 || shape.size() == 4) && (centres || corners || form.coordinates == "asymmetric");
  graph::Shape to = shape;
  for (size_t i = 0; fits && i < axes.size(); ++i) {
    const Dimension& d = dimensions[i];
    const double wanted = d.scale * static_cast<double>(d.from), exact = static_cast<double>(d.to);
    fits = (axes[i] >= 2 ? d.to > 1 || d.from == 1 : d.to == d.from) && std::abs(wanted - exact) <= 1e-9 * exact;
    to[static_cast<size_t>(axes[i])] = d.to;
  }
  if (!fits) return {};
  Id image = shape.size() == 3 ? b.reshape(c.in(0), {shape[0], shape[1], 1, shape[2]}) : c.in(0);
  Id out = b.add("resize_bilinear", {nchw_to_nhwc(b, image)},
                 {{"height", shape.size() == 3 ? 1 : to[2]},
                  {"width", to.back()},
                  {"align_corners", corners},
                  {"half_pixel_centers", centres}});
  return b.reshape(nhwc_to_nchw(b, out), to);
}

void resize_with(Call& c, const Form& form, const Ints& axes, const std::vector<Dimension>& dimensions) {
  Builder& b = c.b;
  Id x = c.in(0);
  if (b.dtype(x) != DType::kF32 && form.mode != "nearest")
    c.refuse(fmt::format("{} interpolation of {} is not supported", escape_for_display(form.mode), name_of(b.dtype(x))),
             "use float32");
  auto same = [&](const Dimension& d) {
    return d.from == d.to && d.scale == 1 && form.coordinates != "tf_crop_and_resize";
  };
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dimension& d = dimensions[i];
    if (d.to < 1)
      c.refuse(fmt::format("the scale or size gives axis {} a size of {}, expected 1 or more", axes[i], d.to));
    constexpr int64_t kMost = 65536;  // for each of which there are places to be worked out
    if (d.to > kMost && !same(d))
      b.stop("onnx-limit", fmt::format("the result has a dimension of {}, but the limit is {}", d.to, kMost),
             "resize to a smaller dimension");
  }
  if (std::all_of(dimensions.begin(), dimensions.end(), same)) return c.out(0, x);
  if (Id image = resized_image(c, form, axes, dimensions); image.valid()) return c.out(0, image);
  for (size_t i = 0; i < axes.size(); ++i)
    if (!same(dimensions[i])) x = resize_axis(c, x, static_cast<size_t>(axes[i]), form, dimensions[i]);
  c.out(0, x);
}

Form form_of(Call& c) {
  Form form;
  form.mode = c.s("mode", "nearest");
  if (form.mode == "bilinear" || form.mode == "trilinear") form.mode = "linear";
  form.antialias = c.i("antialias", 0) != 0 && form.mode != "nearest";
  form.exclude_outside = c.i("exclude_outside", 0) != 0;
  form.cubic = c.f("cubic_coeff_a", -0.75f);
  form.extrapolation = c.f("extrapolation_value", 0.0f);
  form.nearest = c.s("nearest_mode", "round_prefer_floor");
  form.coordinates = c.s("coordinate_transformation_mode", "half_pixel");
  auto one_of = [&](const std::string& word, std::initializer_list<std::string_view> known) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      c.refuse(fmt::format("mode '{}' is not supported", escape_for_display(word)));
  };
  one_of(form.mode, {"nearest", "linear", "cubic"});
  one_of(form.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  one_of(form.coordinates, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_crop_and_resize"});
  return form;
}

std::vector<double> doubles(Call& c, size_t i, std::string_view what) {
  std::vector<float> values = c.known_floats(i, what);
  return {values.begin(), values.end()};
}

void resize(Call& c) {
  Builder& b = c.b;
  Form form = form_of(c);
  size_t rank = c.shape(0).size();
  Ints axes = c.ints("axes").value_or(Ints{});
  for (int64_t& a : axes) a = b.axis(a, static_cast<int64_t>(rank));
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  c.pass_over_input(1);  // the region is that of one mode
  bool has_sizes = c.has(3) && b.type(c.in(3)).elements() > 0;
  if (has_sizes && c.has(2) && b.type(c.in(2)).elements() > 0) c.refuse("the operator has both scales and sizes");
  std::optional<Ints> sizes;
  std::vector<double> scales;
  if (has_sizes) sizes = c.known_ints(3, "the sizes");
  else scales = doubles(c, 2, "the scales");
  if ((has_sizes ? sizes->size() : scales.size()) != axes.size())
    c.refuse(fmt::format("the operator has {} {} for {} axes", has_sizes ? sizes->size() : scales.size(),
                         has_sizes ? "sizes" : "scales", axes.size()));
  std::vector<Dimension> dimensions = sizes_of(c, axes, sizes, scales);
  if (form.coordinates == "tf_crop_and_resize") {
    std::vector<double> roi = doubles(c, 1, "roi");
    if (roi.size() != 2 * axes.size())
      c.refuse(fmt::format("roi has {} elements, expected {}", roi.size(), 2 * axes.size()));
    for (size_t i = 0; i < axes.size(); ++i) {
      dimensions[i].begin = roi[i];
      dimensions[i].end = roi[i + axes.size()];
    }
  }
  resize_with(c, form, axes, dimensions);
}

// Before coordinates had a choice: every element is repeated, or x / scale.
void resize_10(Call& c) {
  Form form;
  form.mode = c.s("mode", "nearest");
  if (form.mode == "bilinear") form.mode = "linear";
  if (form.mode != "nearest" && form.mode != "linear")
    c.refuse(fmt::format("mode '{}' is not supported", escape_for_display(form.mode)));
  form.nearest = "floor";
  form.coordinates = "asymmetric";
  std::vector<double> scales;
  if (const Attribute* a = c.version() < 9 ? c.find("scales") : nullptr)
    scales.assign(a->floats.begin(), a->floats.end());
  else scales = doubles(c, 1, "the scales");
  Ints axes(c.shape(0).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (scales.size() != axes.size())
    c.refuse(fmt::format("the operator has {} scales for {} dimensions", scales.size(), axes.size()));
  resize_with(c, form, axes, sizes_of(c, axes, std::nullopt, scales));
}

constexpr Rule kRules[] = {
    {"Resize", 11, resize},
    {"Resize", 10, resize_10},
    {"Upsample", 7, resize_10},
};

}  // namespace

}  // namespace resizing

std::span<const Rule> resize_rules() { return resizing::kRules; }

}  // namespace aotc::frontends::onnx
