// SPDX-License-Identifier: Apache-2.0
// Lowerings of int8 layers onto the vector kernels. 1 x 1 windows, windows without padding and rows of fully connected
// layers are read where they are. For other windows, the image's rows that a row of outputs needs are copied into a
// band, whose borders are zero points.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cores/riscv/vector/vector.h"
#include "ops/common/conv_order.h"
#include "ops/common/nibbles.h"
#include "ops/conv_2d/shape.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::cores::riscv {

using ops::Lowered;
using ops::LoweringBuilder;
using ops::OpView;
using ops::TargetInfo;
using ops::Window;
using ops::WindowAxis;
using tir::BufferPtr;
using tir::Ex;

namespace {

bool is_vector(const OpView& op, const TargetInfo& target) {
  return op.operand(0).dtype == DType::kI8 && !ops::packs_nibbles(op, target) && !ops::has_uint8_weights(op) &&
         op.operand(1).zero_point() == 0 && target.allows("vectors");
}

// Weights [channel][step] as [step][channel].
std::vector<int8_t> by_step(const std::vector<int8_t>& weights, int64_t channels) {
  const int64_t steps = static_cast<int64_t>(weights.size()) / channels;
  std::vector<int8_t> out(weights.size());
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t s = 0; s < steps; ++s)
      out[static_cast<size_t>(s * channels + c)] = weights[static_cast<size_t>(c * steps + s)];
  return out;
}

const char* form_of(const VectorScaling& scaling) {
  if (scaling.form == VectorScaling::Form::kSums) return "sums";
  return scaling.form == VectorScaling::Form::kLine ? "one multiply" : "two roundings";
}

// The band of a window over pixels of `channels` bytes.
VectorBand band_of(const Window& window, int64_t channels, int32_t zero_point) {
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  const int64_t width = x.start(x.out - 1) + x.effective_kernel() + x.pad_before;
  VectorBand out;
  out.rows = y.kernel;
  out.step = y.dilation;
  out.height = y.in;
  out.x_row = x.in * channels;
  out.bytes = std::min(x.in, width - x.pad_before) * channels;
  out.row = width * channels;
  out.lead = x.pad_before * channels;
  out.zero_point = zero_point;
  return out;
}

// Emits `row(buffer, from, pixel)` for each row of outputs: the row's first window begins at element `from` of
// `buffer`. A pixel of the result has `out_pixel` bytes.
class VectorRows {
 public:
  VectorRows(LoweringBuilder& f, const OpView& op, const Window& window, int64_t channels)
      : f_(f), window_(window), channels_(channels), band_(band_of(window, channels, op.operand(0).zero_point())) {}

  bool possible() const { return band_.bytes > 0; }
  bool copies() const { return window_.y.reaches_beyond() || window_.x.reaches_beyond(); }
  int64_t row_step() const { return copies() ? band_.row : window_.y.dilation * band_.x_row; }

  void begin() {
    if (!copies()) return;
    shape_ = f_.constant("band_shape", DType::kI32, band_.words());
    panel_ = f_.scratch("band", DType::kI8, band_.rows * band_.row, 4);
  }

  template <typename Row>
  void emit(const BufferPtr& in, int64_t out_pixel, Row row) {
    const WindowAxis& y = window_.y;
    const int64_t image = y.in * band_.x_row;
    const tir::KernelPtr kernel = rvv_band_kernel();
    auto copy = [&](const Ex& n, const Ex& top) {
      f_.run(kernel, {address(in, n * image), address(panel_, 0), address(shape_, 0), top});
    };
    // Rows below the image are filled with zero points.
    if (copies()) copy(0, y.in);
    f_.loop("n", 0, window_.batch, [&](const Ex& n) {
      f_.loop("oy", 0, y.out, [&](const Ex& oy) {
        const Ex pixel = f_.let("pixel", (n * y.out + oy) * window_.x.out);
        const Ex top = f_.let("top", oy * y.stride - y.pad_before);
        if (!copies()) return row(in, n * image + top * band_.x_row, pixel);
        copy(n, top);
        row(panel_, Ex(0), pixel);
      });
    });
    if (copies() && window_.batch == 1)
      if (auto order = ops::rows_order(window_, 1, {channels_, out_pixel})) f_.publish(std::move(*order));
  }

 private:
  LoweringBuilder& f_;
  Window window_;
  int64_t channels_;
  VectorBand band_;
  BufferPtr shape_, panel_;
};

// Products of rows of pixels that are read where they are.
Lowered lower_pixels(const OpView& op, const TargetInfo& target, const char* name, const VectorShape& whole,
                     const VectorScaling& scaling, const std::vector<int8_t>& weights) {
  LoweringBuilder f(op, name);
  const int64_t in_bytes = whole.x_step, channels = whole.channels;
  const VectorTile tile = VectorTile::of(whole, scaling);
  const BufferPtr in = f.operand(0);
  const BufferPtr stream = f.constant("stream", DType::kI32, vector_stream(scaling, by_step(weights, channels)));
  const tir::KernelPtr kernel = rvv_gemm_kernel(tile, scaling);
  // From the last pixel to the first where results are larger, so that they can be written over the input.
  const ops::PixelBytes bytes{in_bytes, channels * scaling.result_bytes()};
  const bool backwards = bytes.out > bytes.in;
  const double each = static_cast<double>(tile.cost(whole, scaling)) / static_cast<double>(whole.pixels);
  const ops::Turns turns = ops::turns_of(whole.pixels, each, target, tile.pixels);
  auto shape_of = [&](int64_t pixels) {
    VectorShape shape = whole;
    shape.pixels = pixels;
    shape.x_step = backwards ? -in_bytes : in_bytes;
    shape.out_step = backwards ? -channels : channels;
    return shape.words(scaling);
  };
  const BufferPtr shape = f.constant("shape", DType::kI32, shape_of(turns.size));
  const BufferPtr rest = turns.rest > 0 ? f.constant("rest_shape", DType::kI32, shape_of(turns.rest)) : nullptr;
  const BufferPtr out = f.result(0);
  f.take_turns(turns, [&](const Ex& first, int64_t pixels) {
    const Ex at = backwards ? Ex(whole.pixels - 1) - first : first;
    f.run(kernel, {address(stream, 0), address(in, at * in_bytes), address(out, at * channels),
                   address(pixels == turns.size ? shape : rest, 0)});
  });
  if (auto order = ops::pointwise_order(whole.pixels, tile.pixels, bytes, backwards, true))
    f.publish(std::move(*order));
  f.algorithm("vectors");
  return f.finish(fmt::format("{} pixels x {} registers in place, {}", tile.pixels, tile.registers, form_of(scaling)));
}

}  // namespace

std::optional<Lowered> lower_conv_2d_vector(const OpView& op, const TargetInfo& target) {
  const ops::ConvShape conv(op);
  const WindowAxis& y = conv.window.y;
  const WindowAxis& x = conv.window.x;
  if (conv.grouped() || (x.dilation != 1 && x.kernel > 1)) return std::nullopt;
  const auto [folded, what] = ops::ConvScaling(op, conv);
  const auto scaling = fit_vector_scaling(what, folded.bias);
  if (!scaling) return std::nullopt;
  const std::vector<int8_t> weights = op.constant(1)->to_vector<int8_t>();
  const int64_t channels = conv.out_channels;
  if (conv.pointwise || (y.covers_image() && x.covers_image())) {
    VectorShape shape{conv.pixels(), conv.k, channels, 1, conv.k, conv.k, channels};
    return lower_pixels(op, target, "conv_2d", shape, *scaling, weights);
  }

  LoweringBuilder f(op, "conv_2d");
  VectorRows rows(f, op, conv.window, conv.in_channels);
  if (!rows.possible()) return std::nullopt;
  const VectorShape shape{
      x.out, x.stride * conv.in_channels, channels, y.kernel, x.kernel * conv.in_channels, rows.row_step(), channels};
  const VectorTile tile = VectorTile::of(shape, *scaling);
  const BufferPtr in = f.operand(0);
  const BufferPtr stream = f.constant("stream", DType::kI32, vector_stream(*scaling, by_step(weights, channels)));
  const BufferPtr table = f.constant("shape", DType::kI32, shape.words(*scaling));
  rows.begin();
  const BufferPtr out = f.result(0);
  const tir::KernelPtr kernel = rvv_gemm_kernel(tile, *scaling);
  rows.emit(in, channels * scaling->result_bytes(), [&](const BufferPtr& image, const Ex& from, const Ex& pixel) {
    f.run(kernel, {address(stream, 0), address(image, from), address(out, pixel * channels), address(table, 0)});
  });
  f.algorithm("vectors");
  return f.finish(fmt::format("{} pixels x {} registers, {}, {}", tile.pixels, tile.registers,
                              rows.copies() ? "band" : "in place", form_of(*scaling)));
}

std::optional<Lowered> lower_fully_connected_vector(const OpView& op, const TargetInfo& target) {
  const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  const std::vector<int8_t> weights = op.constant(1)->to_vector<int8_t>();
  const auto [folded, what] = ops::folded_scaling(op, weights);
  const auto scaling = fit_vector_scaling(what, folded.bias);
  if (!scaling) return std::nullopt;
  const VectorShape shape{op.operand(0).elements() / depth, depth, units, 1, depth, depth, units};
  return lower_pixels(op, target, "fully_connected", shape, *scaling, weights);
}

std::optional<Lowered> lower_depthwise_conv_2d_vector(const OpView& op, const TargetInfo&) {
  const graph::Shape& kernel_shape = op.operand(1).shape;
  const int64_t channels = kernel_shape[3];
  const Window window = ops::window_of(op, op.attrs<ops::DepthwiseConv2DAttrs>(), kernel_shape[1], kernel_shape[2]);
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  const std::vector<int8_t> weights = op.constant(1)->to_vector<int8_t>();
  // Two products of -128 and -128 do not fit 16 bits. Open constants may have a -128 later.
  const bool pairs = !op.graph.open_constants && std::find(weights.begin(), weights.end(), -128) == weights.end();
  VectorTaps taps{y.kernel, x.kernel, pairs};
  if (op.operand(0).shape[3] != channels || taps.rows * taps.columns > VectorTaps::kMost) return std::nullopt;
  while (taps.registers > 2 && taps.channels() / 2 >= channels) taps.registers /= 2;
  const int64_t count = taps.rows * taps.columns;
  ops::FoldedBias folded = ops::fold_bias(op, channels, [&](int64_t c) {
    std::vector<int32_t> out;
    for (int64_t t = 0; t < count; ++t) out.push_back(weights[static_cast<size_t>(t * channels + c)]);
    return out;
  });
  ops::Requantization what = ops::depthwise_scaling(op, folded.ranges);
  what.tame_constant_channels(folded.bias);
  const auto scaling = fit_vector_scaling(what, folded.bias);
  if (!scaling) return std::nullopt;

  LoweringBuilder f(op, "depthwise_conv_2d");
  VectorRows rows(f, op, window, channels);
  if (!rows.possible()) return std::nullopt;
  const VectorShape shape{x.out,   x.stride * channels, channels, y.kernel, x.dilation * channels, rows.row_step(),
                          channels};
  const BufferPtr in = f.operand(0);
  const BufferPtr stream = f.constant("stream", DType::kI32, vector_stream(*scaling, weights));
  const BufferPtr table = f.constant("shape", DType::kI32, shape.words(*scaling));
  rows.begin();
  const BufferPtr out = f.result(0);
  const tir::KernelPtr kernel = rvv_depthwise_kernel(taps, *scaling);
  rows.emit(in, channels * scaling->result_bytes(), [&](const BufferPtr& image, const Ex& from, const Ex& pixel) {
    f.run(kernel, {address(stream, 0), address(image, from), address(out, pixel * channels), address(table, 0)});
  });
  f.algorithm("vectors");
  return f.finish(
      fmt::format("{} registers, {}, {}", taps.registers, rows.copies() ? "band" : "in place", form_of(*scaling)));
}

Extension vector_extension() {
  constexpr int kBeforeOthers = 20;  // Winograd's algorithm has 10
  Extension out;
  out.feature = "zve32x";
  out.intrinsics = true;
  out.lowerings = {
      {"conv_2d", kBeforeOthers, is_vector, lower_conv_2d_vector},
      {"depthwise_conv_2d", kBeforeOthers, is_vector, lower_depthwise_conv_2d_vector},
      {"fully_connected", kBeforeOthers, is_vector, lower_fully_connected_vector},
  };
  out.kernels = {{"rvv_band", rvv_band, true}, {"rvv_depthwise", rvv_depthwise, true}, {"rvv_gemm", rvv_gemm, true}};
  out.describe = [](ops::TargetInfo& target) { target.vector_bytes = true; };
  return out;
}

}  // namespace aotc::cores::riscv
