// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/window_attributes.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotc::frontends::onnx {

namespace {

constexpr int64_t kMostSize = int64_t{1} << 20;

Ints list_of(Call& c, std::string_view name, size_t size, int64_t otherwise, int64_t least) {
  Ints list = c.ints(name).value_or(Ints(size, otherwise));
  if (list.empty()) list.assign(size, otherwise);
  bool good = list.size() == size;
  for (int64_t v : list) good = good && v >= least && v <= kMostSize;
  if (!good) c.refuse(fmt::format("{} must have {} elements, each from {} to {}", name, size, least, kMostSize));
  return list;
}

void check_kernel_shape(Call& c, const Ints& kernel) {
  if (const auto said = c.ints("kernel_shape"); said && !said->empty() && *said != kernel)
    c.refuse("kernel_shape differs from the shape of the weights");
}

std::string auto_pad_of(Call& c) {
  std::string mode = c.s("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "SAME_UPPER" && mode != "SAME_LOWER" && mode != "VALID")
    c.refuse(fmt::format("auto_pad '{}' is not supported", escape_for_display(mode)));
  return mode;
}

// Sets padding so that there are ceil(in / stride) windows.
void pad_as_same(WindowAttributes& w, size_t i, bool more_in_front) {
  int64_t out = (w.in[i] + w.strides[i] - 1) / w.strides[i];
  int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
  int64_t total = std::max<int64_t>((out - 1) * w.strides[i] + reach - w.in[i], 0);
  w.before[i] = more_in_front ? (total + 1) / 2 : total / 2;
  w.after[i] = total - w.before[i];
}

}  // namespace

bool WindowAttributes::is_unpadded() const {
  for (size_t i = 0; i < dims(); ++i)
    if (before[i] != 0 || after[i] != 0) return false;
  return true;
}

bool WindowAttributes::is_inside() const {
  for (size_t i = 0; i < dims(); ++i)
    if (before[i] >= kernel[i] || (out[i] - 1) * strides[i] - before[i] >= in[i]) return false;
  return true;
}

WindowAttributes window_of(Call& c, const Ints& kernel) {
  const graph::Shape& image = c.shape(0);
  if (image.size() < 3 || image.size() > 5 || kernel.size() != image.size() - 2)
    c.refuse(fmt::format("a window of {} dimensions does not match an operand of shape {} (1 to 3 spatial dimensions)",
                         kernel.size(), graph::to_string(image)));
  check_kernel_shape(c, kernel);
  WindowAttributes w;
  size_t n = kernel.size();
  w.in = Ints(image.begin() + 2, image.end());
  w.kernel = kernel;
  for (int64_t k : kernel)
    if (k < 1 || k > kMostSize)
      c.refuse(fmt::format("a dimension of the window is {}, expected 1 to {}", k, kMostSize));
  w.strides = list_of(c, "strides", n, 1, 1);
  w.dilations = list_of(c, "dilations", n, 1, 1);
  Ints pads = list_of(c, "pads", 2 * n, 0, 0);
  w.before = Ints(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  w.after = Ints(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  std::string mode = auto_pad_of(c);
  bool up = c.i("ceil_mode", 0) != 0;
  for (size_t i = 0; i < n; ++i) {
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") pad_as_same(w, i, mode == "SAME_LOWER");
    if (mode == "VALID") w.before[i] = w.after[i] = 0;
    w.asked_after.push_back(w.after[i]);
    int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    int64_t span = w.in[i] + w.before[i] + w.after[i] - reach;
    if (span < 0)
      c.refuse(fmt::format("a window of {} elements exceeds the padded input of {} elements", reach,
                           w.in[i] + w.before[i] + w.after[i]));
    int64_t out = span / w.strides[i] + 1;
    if (up && span % w.strides[i] != 0) {
      // A window that would begin behind the image is left out.
      if (out * w.strides[i] < w.in[i] + w.before[i]) {
        w.after[i] += w.strides[i] - span % w.strides[i];
        ++out;
      }
    }
    w.out.push_back(out);
  }
  return w;
}

graph::Shape image_shape(graph::Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return shape;
}

Id as_image(Builder& b, Id x) { return b.reshape(x, image_shape(b.shape(x))); }

Id as_planes(Builder& b, Id image, const WindowAttributes& w) {
  graph::Shape shape = b.shape(image);
  if (w.dims() != 1) return image;
  shape.erase(shape.begin() + 2);
  return b.reshape(image, shape);
}

graph::Shape volume_shape(graph::Shape shape) {
  while (shape.size() < 5) shape.insert(shape.begin() + 2, 1);
  return shape;
}

Id volume_of(Builder& b, Id x) { return b.transpose(b.reshape(x, volume_shape(b.shape(x))), {0, 2, 3, 4, 1}); }

Id planes_of(Builder& b, Id volume, size_t dims) {
  Id planes = b.transpose(volume, {0, 4, 1, 2, 3});
  graph::Shape shape = b.shape(planes);
  shape.erase(shape.begin() + 2, shape.end() - static_cast<std::ptrdiff_t>(dims));
  return b.reshape(planes, shape);
}

Ints along_volume(Ints list, int64_t otherwise) {
  list.insert(list.begin(), 3 - list.size(), otherwise);
  return list;
}

HeightWidth height_width(const Ints& sizes, int64_t otherwise) {
  return {sizes.size() == 2 ? sizes[0] : otherwise, sizes.back()};
}

std::vector<Setting> image_settings(const WindowAttributes& w) {
  const HeightWidth strides = height_width(w.strides), dilations = height_width(w.dilations),
                    before = height_width(w.before, 0), after = height_width(w.after, 0);
  return {{"stride_h", strides.height},    {"stride_w", strides.width}, {"dilation_h", dilations.height},
          {"dilation_w", dilations.width}, {"pad_top", before.height},  {"pad_bottom", after.height},
          {"pad_left", before.width},      {"pad_right", after.width}};
}

std::vector<Setting> pool_settings(const WindowAttributes& w) {
  const HeightWidth kernel = height_width(w.kernel);
  std::vector<Setting> out = image_settings(w);
  out.insert(out.end(), {{"filter_h", kernel.height}, {"filter_w", kernel.width}});
  return out;
}

std::vector<Setting> volume_settings(const WindowAttributes& w, int64_t groups) {
  return {{"strides", along_volume(w.strides, 1)},
          {"dilations", along_volume(w.dilations, 1)},
          {"pads_before", along_volume(w.before, 0)},
          {"pads_after", along_volume(w.after, 0)},
          {"groups", groups}};
}

namespace {

// The window of the convolution from the result to the operand.
WindowAttributes transposed_of(Call& c) {
  const graph::Shape& image = c.shape(0);
  const graph::Shape& weights = c.shape(1);
  if (image.size() < 3 || image.size() > 5 || weights.size() != image.size())
    c.refuse("the operands must be an image of three to five dimensions, and filters with as many dimensions");
  WindowAttributes w;
  size_t n = image.size() - 2;
  w.in = Ints(image.begin() + 2, image.end());
  w.kernel = Ints(weights.begin() + 2, weights.end());
  check_kernel_shape(c, w.kernel);
  for (int64_t k : w.kernel)
    if (k < 1 || k > kMostSize)
      c.refuse(fmt::format("a dimension of the window is {}, expected 1 to {}", k, kMostSize));
  w.strides = list_of(c, "strides", n, 1, 1);
  w.dilations = list_of(c, "dilations", n, 1, 1);
  Ints pads = list_of(c, "pads", 2 * n, 0, 0), more = list_of(c, "output_padding", n, 0, 0);
  Ints wanted = c.ints("output_shape").value_or(Ints{});
  std::string mode = auto_pad_of(c);
  if (wanted.size() == n + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  for (size_t i = 0; i < n; ++i) {
    int64_t full = (w.in[i] - 1) * w.strides[i] + more[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
    int64_t before = mode == "VALID" ? 0 : pads[i], after = mode == "VALID" ? 0 : pads[n + i];
    int64_t out = full - before - after;
    bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (same || wanted.size() == n) {
      out = wanted.size() == n ? wanted[i] : w.in[i] * w.strides[i];
      int64_t total = std::max<int64_t>(full - out, 0);
      before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    if (out < 1 || out > kMostSize)
      c.refuse(fmt::format("a dimension of the result is {}, expected 1 to {}", out, kMostSize));
    w.before.push_back(before);
    w.out.push_back(out);
  }
  return w;
}

// Elements of a dimension apart by the stride, the first at `first` of `out` places; what is
// outside is cut off.
Id spread(Builder& b, Id x, size_t axis, int64_t stride, int64_t first, int64_t out) {
  graph::Shape shape = b.shape(x);
  size_t rank = shape.size();
  Id zero = b.filled(DType::kF32, 0.0);
  if (stride > 1) {
    graph::Shape apart = shape;
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
    Ints after(rank + 1, 0);
    after[axis + 1] = stride - 1;
    x = b.add("pad", {b.reshape(x, apart), zero}, {{"before", Ints(rank + 1, 0)}, {"after", after}});
    shape[axis] *= stride;
    x = b.reshape(x, shape);
  }
  int64_t skip = std::max<int64_t>(-first, 0), end = std::min<int64_t>(shape[axis], out - first);
  // All of it outside: one element in its place, as zero.
  bool outside = end <= skip;
  Ints begin(rank, 0), counts = shape, front(rank, 0), behind(rank, 0);
  begin[axis] = outside ? 0 : skip;
  counts[axis] = outside ? 1 : end - skip;
  x = b.slice(x, begin, counts);
  if (outside) x = b.binary("mul", x, 0.0);
  front[axis] = outside ? 0 : std::max<int64_t>(first, 0);
  behind[axis] = out - front[axis] - counts[axis];
  if (front[axis] == 0 && behind[axis] == 0) return x;
  return b.add("pad", {x, zero}, {{"before", front}, {"after", behind}});
}

// Groups, dilation, volumes, and weights that are known only at run time.
Id conv_transpose_3d(Call& c, const WindowAttributes& w, int64_t groups) {
  Builder& b = c.b;
  std::vector<Id> operands = {volume_of(b, c.in(0)),
                              b.transpose(b.reshape(c.in(1), volume_shape(c.shape(1))), {2, 3, 4, 1, 0})};
  if (c.has(2)) operands.push_back(c.in(2));
  Id out = b.add("conv_3d_transpose", operands,
                 {{"strides", along_volume(w.strides, 1)},
                  {"dilations", along_volume(w.dilations, 1)},
                  {"pads_before", along_volume(w.before, 0)},
                  {"shape", along_volume(w.out, 1)},
                  {"groups", groups}});
  return planes_of(b, out, w.dims());
}

}  // namespace

// Columns are what each place of a window holds, [batch, channel and place, window]; what meets in a pixel is added.
void col2im(Call& c) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0);
  const Ints image = c.known_ints(1, "the image's size"), block = c.known_ints(2, "the window's size");
  const size_t n = block.size();
  if (in.size() != 3 || n < 1 || n > 6 || image.size() != n || b.dtype(c.in(0)) != DType::kF32)
    c.refuse(
        "the columns must be float32 with three dimensions; image and window must have the same number of "
        "dimensions, 1 to 6");
  const Ints strides = list_of(c, "strides", n, 1, 1), dilations = list_of(c, "dilations", n, 1, 1),
             pads = list_of(c, "pads", 2 * n, 0, 0);
  graph::Shape windows;
  int64_t taps = 1;
  for (size_t i = 0; i < n; ++i) {
    if (block[i] < 1 || block[i] > kMostSize || image[i] < 1 || image[i] > kMostSize)
      c.refuse(fmt::format("each dimension of the image and the window must be from 1 to {}", kMostSize));
    const int64_t room = image[i] + pads[i] + pads[n + i] - dilations[i] * (block[i] - 1) - 1;
    windows.push_back(room < 0 ? 0 : room / strides[i] + 1);
    taps *= block[i];
    if (taps > 256) c.refuse("the window must have at most 256 elements");
  }
  b.note_slices(fmt::format("{} slices", taps));
  if (in[1] % taps != 0 || graph::element_count(windows) != in[2] || in[2] == 0)
    c.refuse(fmt::format("columns of shape {} do not match {} elements of the window at {} positions",
                         graph::to_string(in), taps, graph::element_count(windows)));
  const int64_t channels = in[1] / taps;
  graph::Shape part_shape = {in[0], channels};
  part_shape.insert(part_shape.end(), windows.begin(), windows.end());
  Id columns = b.reshape(c.in(0), {in[0], channels, taps, in[2]}), sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Id part = b.reshape(b.slice(columns, {0, 0, tap, 0}, {in[0], channels, 1, in[2]}), part_shape);
    int64_t rest = tap;
    for (size_t i = n; i-- > 0; rest /= block[i])
      part = spread(b, part, i + 2, strides[i], rest % block[i] * dilations[i] - pads[i], image[i]);
    sum = sum.valid() ? b.binary("add", sum, part) : part;
  }
  c.out(0, sum);
}

void conv_transpose(Call& c) {
  Builder& b = c.b;
  const WindowAttributes w = transposed_of(c);
  int64_t groups = c.i("group", 1), outputs = c.shape(1)[1] * groups;
  if (groups < 1 || c.shape(0)[1] % groups != 0 || c.shape(1)[0] != c.shape(0)[1])
    c.refuse(fmt::format("filters of shape {} in {} groups do not match an image of shape {}",
                         graph::to_string(c.shape(1)), groups, graph::to_string(c.shape(0))));
  bool native = w.dims() <= 2 && groups == 1 && b.is_constant(c.in(1)) && w.dilations == Ints(w.dims(), 1);
  for (size_t i = 0; i < w.dims(); ++i) native = native && w.before[i] < w.kernel[i];
  if (!native) return c.out(0, conv_transpose_3d(c, w, groups));
  std::vector<Id> operands = {nchw_to_nhwc(b, as_image(b, c.in(0))), b.transpose(as_image(b, c.in(1)), {1, 2, 3, 0})};
  const bool bias = c.has(2) && b.is_constant(c.in(2));
  if (bias) operands.push_back(c.in(2));
  const HeightWidth size = height_width(w.out), strides = height_width(w.strides), before = height_width(w.before, 0);
  Id out = b.add("transpose_conv", std::move(operands),
                 {{"height", size.height},
                  {"width", size.width},
                  {"stride_h", strides.height},
                  {"stride_w", strides.width},
                  {"pad_top", before.height},
                  {"pad_left", before.width}});
  out = as_planes(b, nhwc_to_nchw(b, out), w);
  if (c.has(2) && !bias) {
    graph::Shape column(w.dims() + 1, 1);
    column[0] = outputs;
    out = b.binary("add", out, b.reshape(c.in(2), column));
  }
  c.out(0, out);
}

}  // namespace aotc::frontends::onnx
