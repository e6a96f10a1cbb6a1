// SPDX-License-Identifier: Apache-2.0
// Lowerings of float32 layers onto the vector kernel of floats. Pixels of 1 x 1 windows, rows of fully connected layers
// and windows without padding are read in place. For other windows the image's rows that a row of outputs needs are
// copied into a band with a border of zeros. To save RAM, and for dilated windows, the windows of a tile of pixels are
// gathered instead.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cores/arm/helium/floats.h"
#include "cores/arm/helium/gemm.h"
#include "ops/common/conv_order.h"
#include "ops/common/conv_taps.h"
#include "ops/common/integer_weights.h"
#include "ops/conv_2d/gather.h"
#include "ops/conv_2d/shape.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kFloat = 4;  // bytes

bool is_vector_floats(const OpView& op, const TargetInfo& target) {
  return op.operand(0).dtype == DType::kF32 && op.operand(1).dtype == DType::kF32 && op.constant(1) != nullptr &&
         target.allows("vectors");
}

bool has_computed_bias(const OpView& op) { return op.has_operand(2) && !op.constant(2); }

// The constants of a layer. A computed bias is 0 here.
struct FloatLayer {
  std::vector<float> weights, bias;
  ClampF32 clamp;

  FloatLayer(const OpView& op, int64_t channels, Activation activation)
      : weights(op.constant(1)->to_vector<float>()), clamp(float_clamp(activation)) {
    for (int64_t c = 0; c < channels; ++c) bias.push_back(float_bias_at(op, c));
  }
  bool bounded() const { return std::isfinite(clamp.min) || std::isfinite(clamp.max); }
  // Each tile with a subnormal weight or bias would be computed twice.
  bool has_subnormals() const {
    auto subnormal = [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; };
    return std::any_of(weights.begin(), weights.end(), subnormal) || std::any_of(bias.begin(), bias.end(), subnormal);
  }
};

std::string tile_text(const FloatTile& tile) {
  return fmt::format("{} pixels x {} channels", tile.pixels, tile.channels());
}

// Products of rows of pixels that are read where they are.
Lowered lower_float_pixels(const OpView& op, const TargetInfo& target, const char* name, FloatShape whole,
                           const FloatLayer& layer) {
  LoweringBuilder f(op, name);
  const int64_t depth = whole.row_elements, channels = whole.channels;
  const FloatTile tile = FloatTile::of(whole, layer.clamp);
  // From the last pixel to the first if results are larger, so that they can be written over the input.
  const bool backwards = channels > depth;
  whole.x_step = (backwards ? -depth : depth) * kFloat;
  whole.out_step = (backwards ? -channels : channels) * kFloat;
  const BufferPtr in = f.operand(0);
  const BufferPtr stream = f.constant("stream", DType::kF32, tile.stream(layer.weights, layer.bias, layer.clamp));
  const double each = static_cast<double>(tile.cost(whole)) / static_cast<double>(whole.pixels);
  const Turns turns = turns_of(whole.pixels, each, target, tile.pixels);
  const TurnTables shapes(f, turns, "shape", [&](int64_t pixels) {
    FloatShape shape = whole;
    shape.pixels = pixels;
    return tile.words(shape);
  });
  const BufferPtr out = f.result(0);
  const tir::KernelPtr kernel = tile.kernel();
  f.take_turns(turns, [&](const Ex& first, int64_t pixels) {
    const Ex at = backwards ? Ex(whole.pixels - 1) - first : first;
    f.run(kernel,
          {address(stream, 0), address(in, at * depth), address(out, at * channels), address(shapes.of(pixels), 0)});
  });
  if (has_computed_bias(op)) {
    const BufferPtr bias = f.operand(2);
    f.loop("p", 0, whole.pixels, [&](const Ex& p) {
      f.loop("c", 0, channels, [&](const Ex& c) {
        const Ex at = f.let("at", p * channels + c);
        f.store(out, at, tir::load(out, at) + tir::load(bias, c));
      });
    });
  }
  if (whole.pixels > tile.pixels)
    if (auto order = pointwise_order(whole.pixels, tile.pixels, {depth * kFloat, channels * kFloat}, backwards, true))
      f.publish(std::move(*order));
  f.algorithm("vectors");
  return f.finish(tile_text(tile) + ", in place");
}

// Rows of an image that a row of outputs needs, for windows that reach beyond the image.
class FloatBand {
 public:
  FloatBand(const Window& window, int64_t channels) : window_(window), channels_(channels) {
    const WindowAxis& x = window.x;
    width_ = x.start(x.out - 1) + x.effective_kernel() + x.pad_before;
    copied_ = std::min(x.in, width_ - x.pad_before) * channels;
  }

  // The copies take a row's bytes in 16 bits, and the number of rows in 15.
  bool possible() const { return copied_ > 0 && copied_ * kFloat <= UINT16_MAX && window_.y.kernel <= INT16_MAX; }
  int64_t row() const { return width_ * channels_; }

  void begin(LoweringBuilder& f) {
    const int64_t image_row = window_.x.in * channels_;
    const std::vector<int32_t> steps = {static_cast<int32_t>(window_.y.dilation * image_row * kFloat),
                                        static_cast<int32_t>(row() * kFloat)};
    steps_ = f.constant("band_steps", DType::kI32, steps);
    band_ = f.scratch("band", DType::kF32, window_.y.kernel * row(), 4);
  }
  const BufferPtr& buffer() const { return band_; }

  void clear(LoweringBuilder& f) const { fill(f, 0, Ex(window_.y.kernel * row() * kFloat)); }

  // The rows of image n that the output row oy needs.
  void copy(LoweringBuilder& f, const BufferPtr& in, const Ex& n, const Ex& oy) const {
    const WindowAxis& y = window_.y;
    const int64_t image_row = window_.x.in * channels_, lead = window_.x.pad_before * channels_;
    const Ex top = f.let("top", oy * y.stride - y.pad_before);
    Ex begin(0), end(y.kernel);
    if (y.reaches_beyond()) {
      auto from = [&](const Ex& rows) { return clamp((rows + (y.dilation - 1)) / y.dilation, 0, y.kernel); };
      begin = f.let("begin", from(max(-top, 0)));
      end = f.let("end", max(from(max(Ex(y.in) - top, 0)), begin));
      f.if_(begin > 0, [&] { fill(f, 0, begin * (row() * kFloat)); });
      f.if_(end < y.kernel, [&] { fill(f, end * row(), (Ex(y.kernel) - end) * (row() * kFloat)); });
    }
    auto rows = [&] {
      const Ex image = n * (y.in * image_row) + (top + begin * y.dilation) * image_row;
      f.run(mve_rows_kernel(kFloat), {address(in, image), address(band_, begin * row() + lead), address(steps_, 0),
                                      (end - begin) * (1 << 16) + copied_ * kFloat});
    };
    y.reaches_beyond() ? f.if_(begin < end, rows) : rows();
  }

 private:
  void fill(LoweringBuilder& f, const Ex& at, const Ex& bytes) const {
    f.run(mve_fill_kernel(kFloat), {address(band_, at), Ex(0), bytes});
  }

  Window window_;
  int64_t channels_, width_ = 0, copied_ = 0;
  BufferPtr steps_, band_;
};

// Rows of outputs whose windows lie inside of the image and are read between its results.
std::optional<WriteOrder> mixed_rows_order(const Window& window, PixelBytes bytes) {
  const WindowAxis& y = window.y;
  const int64_t in = window.x.in * bytes.in, out = window.x.out * bytes.out;
  if (y.out > WriteOrder::kMostSteps) return std::nullopt;
  WriteOrder order;
  for (int64_t oy = 0; oy < y.out; ++oy)
    order.steps.push_back({y.start(oy) * in, (y.start(oy) + y.effective_kernel()) * in, oy * out, (oy + 1) * out});
  return order;
}

// The windows of `tile` pixels of a row are read before their results are written.
std::optional<WriteOrder> panel_order(const Window& window, int64_t tile, PixelBytes bytes) {
  const int64_t rows = window.batch * window.y.out, row = window.x.out;
  if (rows * row > WriteOrder::kMostSteps) return std::nullopt;
  WriteOrder order;
  for (int64_t oy = 0; oy < rows; ++oy)
    for (const int64_t ox : tile_starts(row, tile)) {
      const int64_t first = oy * row + ox;
      for (int64_t p = first; p < first + tile; ++p)
        if (const ByteRange read = window_bytes(window, p, bytes.in); read.begin < read.end)
          order.steps.push_back({read.begin, read.end, 0, 0});
      order.steps.push_back({0, 0, first * bytes.out, (first + tile) * bytes.out});
    }
  return order;
}

// A kernel for a row of outputs, with its weights and its shape.
struct FloatRow {
  tir::KernelPtr kernel;
  std::vector<float> stream;
  std::vector<int32_t> shape;
};

// A call for each row of outputs. `band`: null if windows are read in place. `channels`: of a pixel of the image and of
// the result.
Lowered lower_float_rows(const OpView& op, const Window& window, FloatBand* band, const FloatRow& row,
                         std::pair<int64_t, int64_t> channels, const std::string& how) {
  const WindowAxis& y = window.y;
  const auto [in, out] = channels;
  const int64_t image_row = window.x.in * in;
  LoweringBuilder f(op, std::string(op.op.name()));
  const BufferPtr image = f.operand(0);
  const BufferPtr stream = f.constant("stream", DType::kF32, row.stream);
  const BufferPtr shape = f.constant("shape", DType::kI32, row.shape);
  if (band) band->begin(f);
  const BufferPtr result = f.result(0);
  if (band) band->clear(f);
  f.loop("n", 0, window.batch, [&](const Ex& n) {
    f.loop("oy", 0, y.out, [&](const Ex& oy) {
      const Ex pixel = f.let("pixel", (n * y.out + oy) * window.x.out);
      if (band) band->copy(f, image, n, oy);
      const Ex from = band ? Ex(0) : n * (y.in * image_row) + oy * (y.stride * image_row);
      f.run(row.kernel, {address(stream, 0), address(band ? band->buffer() : image, from), address(result, pixel * out),
                         address(shape, 0)});
    });
  });
  if (window.batch == 1) {
    const PixelBytes bytes{in * kFloat, out * kFloat};
    if (auto order = band ? rows_order(window, 1, bytes) : mixed_rows_order(window, bytes))
      f.publish(std::move(*order));
  }
  f.algorithm("vectors");
  return f.finish(how + (band ? ", band" : ", in place"));
}

// The windows of a tile of pixels at a time, one after the other in a panel.
Lowered lower_float_panel(const OpView& op, const ConvShape& conv, const FloatLayer& layer) {
  const int64_t pixels = conv.window.x.out, channels = conv.out_channels;
  FloatShape shape{pixels, conv.k * kFloat, channels * kFloat, 1, conv.k, conv.k, channels};
  FloatTile tile = FloatTile::of(shape, layer.clamp);
  // The last tile of a row overlaps the one before.
  tile.part = false;
  shape.pixels = tile.pixels;
  LoweringBuilder f(op, "conv_2d");
  const BufferPtr in = f.operand(0);
  const BufferPtr stream = f.constant("stream", DType::kF32, tile.stream(layer.weights, layer.bias, layer.clamp));
  const BufferPtr table = f.constant("shape", DType::kI32, tile.words(shape));
  const BufferPtr panel = f.scratch("panel", DType::kF32, tile.pixels * conv.k, 4);
  const BufferPtr out = f.result(0);
  const tir::KernelPtr kernel = tile.kernel();
  const Windows windows{conv, in, panel,
                        [&](const Ex& to, int64_t elements) { fill_elements(f, panel, to, 0, elements); }};
  f.loop("n", 0, conv.window.batch, [&](const Ex& n) {
    f.loop("oy", 0, conv.window.y.out, [&](const Ex& oy) {
      f.loop(
          "ox", 0, pixels,
          [&](const Ex& ox) {
            const Ex first = f.let("column", pixels % tile.pixels == 0 ? ox : min(ox, Ex(pixels - tile.pixels)));
            f.loop("i", 0, tile.pixels,
                   [&](const Ex& i) { gather_window(f, windows, {n, oy, first + i, Ex(0)}, i * conv.k); });
            const Ex pixel = (n * conv.window.y.out + oy) * pixels + first;
            f.run(kernel, {address(stream, 0), address(panel, 0), address(out, pixel * channels), address(table, 0)});
          },
          tile.pixels);
    });
  });
  if (auto order = panel_order(conv.window, tile.pixels, {conv.in_channels * kFloat, channels * kFloat}))
    f.publish(std::move(*order));
  f.algorithm("vectors");
  return f.finish(tile_text(tile) + ", gathered panel");
}

}  // namespace

std::optional<Lowered> lower_conv_2d_floats(const OpView& op, const TargetInfo& target) {
  const ConvShape conv(op);
  const WindowAxis& y = conv.window.y;
  const WindowAxis& x = conv.window.x;
  if (conv.grouped() || needs_taps(op, conv.window)) return std::nullopt;
  const FloatLayer layer(op, conv.out_channels, op.attrs<Conv2DAttrs>().activation);
  if (layer.has_subnormals()) return std::nullopt;
  if (stored_as_integers(op, layer.weights, conv.out_channels, conv.pixels() / 2, target)) return std::nullopt;
  const int64_t channels = conv.out_channels, depth = conv.in_channels;
  if (conv.pointwise || (y.covers_image() && x.covers_image()))
    return lower_float_pixels(op, target, "conv_2d", {conv.pixels(), 0, 0, 1, conv.k, conv.k, channels}, layer);

  FloatBand band(conv.window, depth);
  const bool copies = y.reaches_beyond() || x.reaches_beyond();
  const bool dilated = x.dilation != 1 && x.kernel > 1;
  if (dilated || (copies && (!band.possible() || !target.spends_memory()))) return lower_float_panel(op, conv, layer);
  const int64_t image_row = x.in * depth;
  // Rows of a window that covers the image's width are one.
  FloatShape shape{x.out,    x.stride * depth * kFloat, channels * kFloat,
                   y.kernel, x.kernel * depth,          copies ? band.row() : y.dilation * image_row,
                   channels};
  if (shape.rows > 1 && shape.row_step == shape.row_elements) {
    shape.row_elements *= shape.rows;
    shape.rows = 1;
  }
  const FloatTile tile = FloatTile::of(shape, layer.clamp);
  const FloatRow row{tile.kernel(), tile.stream(layer.weights, layer.bias, layer.clamp), tile.words(shape)};
  return lower_float_rows(op, conv.window, copies ? &band : nullptr, row, {depth, channels}, tile_text(tile));
}

std::optional<Lowered> lower_depthwise_conv_2d_floats(const OpView& op, const TargetInfo& target) {
  const graph::Shape& weights = op.operand(1).shape;
  const int64_t channels = weights[3];
  const Window window = window_of(op, op.attrs<DepthwiseConv2DAttrs>(), weights[1], weights[2]);
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  if (op.operand(0).shape[3] != channels || channels < FloatTile::kLanes || x.kernel > FloatTaps::kMostColumns ||
      needs_taps(op, window))
    return std::nullopt;
  const FloatLayer layer(op, channels, op.attrs<DepthwiseConv2DAttrs>().activation);
  if (layer.has_subnormals()) return std::nullopt;
  FloatBand band(window, channels);
  const bool copies = y.reaches_beyond() || x.reaches_beyond();
  if (copies && (!band.possible() || !target.spends_memory())) return std::nullopt;
  const int64_t image_row = x.in * channels;
  const FloatTapsShape shape{x.out,
                             x.stride * channels * kFloat,
                             channels * kFloat,
                             copies ? band.row() : y.dilation * image_row,
                             x.dilation * channels,
                             channels};
  const FloatTaps taps = FloatTaps::of(shape, y.kernel, x.kernel, layer.clamp);
  const FloatRow row{taps.kernel(), taps.stream(layer.weights, layer.bias, layer.clamp), taps.words(shape)};
  return lower_float_rows(op, window, copies ? &band : nullptr, row, {channels, channels},
                          fmt::format("{} pixels x 4 channels", taps.pixels));
}

std::optional<Lowered> lower_fully_connected_floats(const OpView& op, const TargetInfo& target) {
  const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  const int64_t rows = op.operand(0).elements() / depth;
  const FloatLayer layer(op, units, op.attrs<FullyConnectedAttrs>().activation);
  if (layer.has_subnormals() || (has_computed_bias(op) && layer.bounded())) return std::nullopt;
  if (stored_as_integers(op, layer.weights, units, (rows + 1) / 2, target)) return std::nullopt;
  return lower_float_pixels(op, target, "fully_connected", {rows, 0, 0, 1, depth, depth, units}, layer);
}

Extension helium_float_extension() {
  constexpr int kPriority = 20;
  Extension out;
  out.feature = "mve_float";
  out.lowerings = {{"conv_2d", kPriority, is_vector_floats, lower_conv_2d_floats},
                   {"depthwise_conv_2d", kPriority, is_vector_floats, lower_depthwise_conv_2d_floats},
                   {"fully_connected", kPriority, is_vector_floats, lower_fully_connected_floats}};
  out.kernels = {{"mve_floats", mve_floats}, {"mve_float_taps", mve_float_taps}};
  return out;
}

}  // namespace aotc::cores::arm
