// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/floats.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kFloatBytes = 4;

int64_t quotient_up(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

}  // namespace

int64_t FloatTile::cost(const FloatShape& shape) const {
  const int64_t sums = pixels * vectors;
  const int64_t turn = unroll * (vectors + 2 * sums) + pixels * quotient_up(unroll, 2) + 1;
  const int64_t row = 1 + shape.row_elements / unroll * turn + (rows ? pixels + 2 : 0);
  const int64_t group = 10 + vectors + 2 * sums + (rows ? 2 : 0) + shape.rows * row + (clamps ? 2 + 4 * sums : 0) +
                        pixels * (3 + vectors) + (back > 0 ? 4 : 0);
  const int64_t tile = 17 + (pixels - 1) * (part ? 6 : 4);
  return 40 + quotient_up(shape.pixels, pixels) * (tile + groups(shape.channels) * group);
}

FloatTile FloatTile::of(const FloatShape& shape, ops::ClampF32 clamp) {
  FloatTile best;
  std::optional<int64_t> least;
  for (int64_t vectors = 1; vectors <= kMostSums; ++vectors)
    for (int64_t pixels = 1; pixels <= std::min(kMostSums / vectors, kMostPixels); ++pixels)
      for (int64_t unroll = kMostUnroll; unroll > 0; --unroll) {
        if (shape.row_elements % unroll != 0 || pixels > shape.pixels) continue;
        if (vectors > 1 && kLanes * vectors > shape.channels) continue;
        FloatTile tile{pixels, vectors, unroll, shape.rows > 1, shape.pixels % pixels != 0};
        tile.lanes = std::min(kLanes, shape.channels);
        if (shape.channels > tile.channels())
          tile.back = tile.groups(shape.channels) * tile.channels() - shape.channels;
        tile.clamps = std::isfinite(clamp.min) || std::isfinite(clamp.max);
        const int64_t cost = tile.cost(shape);
        if (least && cost >= *least) continue;
        least = cost;
        best = tile;
      }
  return best;
}

std::vector<int32_t> FloatTile::words(const FloatShape& shape) const {
  std::vector<int32_t> out(FloatShape::kWords);
  auto set = [&](FloatShape::Word at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
  set(FloatShape::kPixels, shape.pixels);
  set(FloatShape::kTurns, shape.row_elements / unroll);
  set(FloatShape::kXStep, shape.x_step);
  set(FloatShape::kOutStep, shape.out_step);
  set(FloatShape::kGroups, groups(shape.channels));
  set(FloatShape::kGroupBytes, (shape.rows * shape.row_elements + 1) * channels() * kFloatBytes);
  set(FloatShape::kRows, shape.rows);
  set(FloatShape::kRowSkip, (shape.row_step - shape.row_elements) * kFloatBytes);
  return out;
}

std::vector<float> FloatTile::stream(const std::vector<float>& weights, const std::vector<float>& bias,
                                     ops::ClampF32 clamp) const {
  const auto all = static_cast<int64_t>(bias.size());
  const size_t depth = weights.size() / bias.size();
  std::vector<float> out = {clamp.min, clamp.max, 0, 0};
  for (int64_t g = 0; g < groups(all); ++g) {
    const int64_t first = std::max<int64_t>(std::min(g * channels(), all - channels()), 0);
    for (size_t k = 0; k <= depth; ++k)
      for (int64_t c = first; c < first + channels(); ++c) {
        const auto channel = static_cast<size_t>(c);
        out.push_back(c >= all ? 0.0f : k < depth ? weights[channel * depth + k] : bias[channel]);
      }
  }
  return out;
}

tir::KernelPtr FloatTile::kernel() const {
  FunctionBuilder f("mve_floats");
  BufferPtr stream = f.constant("stream", DType::kF32, 0);
  BufferPtr x = f.input("x", DType::kF32, 0);
  BufferPtr out = f.output("out", DType::kF32, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  auto word = [&](const char* name, FloatShape::Word at) { return f.let(name, load(shape, at)); };
  auto elements = [&](const char* name, FloatShape::Word at) { return f.let(name, load(shape, at) >> 2); };
  Ex low = f.let("low", load(stream, 0)), high = f.let("high", load(stream, 1));
  Ex x_step = elements("x_step", FloatShape::kXStep), out_step = elements("out_step", FloatShape::kOutStep);
  Ex count = f.let("count", load(shape, FloatShape::kTurns) * unroll);
  Ex groups = word("groups", FloatShape::kGroups), group_words = elements("group_words", FloatShape::kGroupBytes);
  Ex row_count = rows ? word("rows", FloatShape::kRows) : Ex(1);
  Ex row_step = rows ? f.let("row_step", count + (load(shape, FloatShape::kRowSkip) >> 2)) : Ex(0);
  const int64_t stored = std::min(channels(), lanes + channels() - kLanes);
  f.loop("pixel", 0, word("pixels", FloatShape::kPixels), [&](Ex pixel) {
    f.loop("group", 0, groups, [&](Ex group) {
      Ex first = group * channels();
      if (back > 0) first = min(first, groups * channels() - (channels() + back));
      Ex channel = f.let("channel", first);
      Ex at = f.var("at", group * group_words + kHead);
      std::vector<Ex> sums;
      for (int64_t c = 0; c < stored; ++c) sums.push_back(f.var(fmt::format("sum{}", c), tir::f32(0)));
      f.loop("row", 0, row_count, [&](Ex row) {
        Ex from = f.let("from", pixel * x_step + row * row_step);
        f.loop("i", 0, count, [&](Ex i) {
          Ex value = f.let("value", load(x, from + i));
          for (int64_t c = 0; c < stored; ++c) {
            const Ex& sum = sums[static_cast<size_t>(c)];
            f.assign(sum, sum + value * load(stream, at + c));
          }
          f.assign(at, at + channels());
        });
      });
      Ex to = f.let("to", pixel * out_step + channel);
      for (int64_t c = 0; c < stored; ++c) {
        Ex v = f.let("v", sums[static_cast<size_t>(c)] + load(stream, at + c));
        if (clamps) {
          v = f.let("v", select(v < low, low, v));
          v = select(high < v, high, v);
        }
        f.store(out, to + c, v);
      }
    });
  });
  return f.finish_kernel("mve_floats", {{"pixels", pixels},
                                        {"vectors", vectors},
                                        {"unroll", unroll},
                                        {"rows", rows},
                                        {"part", part},
                                        {"back", back},
                                        {"lanes", lanes},
                                        {"clamp", clamps}});
}

// ---------------------------------------------------------------- depthwise

int64_t FloatTaps::cost(const FloatTapsShape& shape) const {
  const int64_t row = columns * (1 + (step > 0 ? 3 : 4) * pixels) + (rows > 1 ? pixels + 1 : 0);
  const int64_t tile =
      12 + (part ? 6 : 0) + 4 * pixels + (rows > 1 ? 2 : 0) + rows * row + (clamps ? 2 + 4 * pixels : 0);
  const int64_t groups = quotient_up(shape.channels, FloatTile::kLanes);
  return 45 + groups * (14 + quotient_up(shape.pixels, pixels) * tile);
}

FloatTaps FloatTaps::of(const FloatTapsShape& shape, int64_t rows, int64_t columns, ops::ClampF32 clamp) {
  FloatTaps best;
  std::optional<int64_t> least;
  for (int64_t pixels = std::min(kMostPixels, shape.pixels); pixels > 0; --pixels) {
    FloatTaps taps{pixels, rows, columns};
    if (shape.column_step * kFloatBytes <= kMostStep) taps.step = shape.column_step * kFloatBytes;
    taps.part = shape.pixels % pixels != 0;
    taps.back = quotient_up(shape.channels, FloatTile::kLanes) * FloatTile::kLanes - shape.channels;
    taps.clamps = std::isfinite(clamp.min) || std::isfinite(clamp.max);
    const int64_t cost = taps.cost(shape);
    if (least && cost >= *least) continue;
    least = cost;
    best = taps;
  }
  return best;
}

std::vector<int32_t> FloatTaps::words(const FloatTapsShape& shape) const {
  std::vector<int32_t> out(FloatTapsShape::kWords);
  auto set = [&](FloatTapsShape::Word at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
  const int64_t tiles = quotient_up(shape.pixels, pixels), over = tiles * pixels - shape.pixels;
  set(FloatTapsShape::kTiles, tiles);
  set(FloatTapsShape::kGroups, quotient_up(shape.channels, FloatTile::kLanes));
  set(FloatTapsShape::kXStep, shape.x_step);
  set(FloatTapsShape::kOutStep, shape.out_step);
  set(FloatTapsShape::kXTile, pixels * shape.x_step);
  set(FloatTapsShape::kColumnStep, shape.column_step * kFloatBytes);
  set(FloatTapsShape::kXBack, over * shape.x_step);
  set(FloatTapsShape::kOutBack, over * shape.out_step);
  set(FloatTapsShape::kRowSkip, (shape.row_step - columns * shape.column_step) * kFloatBytes);
  return out;
}

std::vector<float> FloatTaps::stream(const std::vector<float>& weights, const std::vector<float>& bias,
                                     ops::ClampF32 clamp) const {
  std::vector<float> out = {clamp.min, clamp.max, 0, 0};
  const size_t channels = bias.size(), lanes = FloatTile::kLanes;
  for (size_t group = 0; group < channels; group += lanes) {
    const auto first = static_cast<std::ptrdiff_t>(std::min(group, channels - lanes)), last = first + FloatTile::kLanes;
    out.insert(out.end(), bias.begin() + first, bias.begin() + last);
    for (auto tap = weights.begin(); tap != weights.end(); tap += static_cast<std::ptrdiff_t>(channels))
      out.insert(out.end(), tap + first, tap + last);
  }
  return out;
}

tir::KernelPtr FloatTaps::kernel() const {
  constexpr int64_t lanes = FloatTile::kLanes;
  FunctionBuilder f("mve_float_taps");
  BufferPtr stream = f.constant("stream", DType::kF32, 0);
  BufferPtr x = f.input("x", DType::kF32, 0);
  BufferPtr out = f.output("out", DType::kF32, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  auto elements = [&](const char* name, FloatTapsShape::Word at) { return f.let(name, load(shape, at) >> 2); };
  Ex low = f.let("low", load(stream, 0)), high = f.let("high", load(stream, 1));
  Ex x_step = elements("x_step", FloatTapsShape::kXStep), out_step = elements("out_step", FloatTapsShape::kOutStep);
  Ex column = elements("column", FloatTapsShape::kColumnStep);
  Ex row_step = f.let("row_step", column * columns + (load(shape, FloatTapsShape::kRowSkip) >> 2));
  Ex tiles = f.let("tiles", load(shape, FloatTapsShape::kTiles));
  Ex groups = f.let("groups", load(shape, FloatTapsShape::kGroups));
  Ex last_x, last_out;
  if (part) {
    last_x = f.let("last_x", tiles * pixels * x_step - x_step * pixels - (load(shape, FloatTapsShape::kXBack) >> 2));
    last_out =
        f.let("last_out", tiles * pixels * out_step - out_step * pixels - (load(shape, FloatTapsShape::kOutBack) >> 2));
  }
  f.loop("group", 0, groups, [&](Ex group) {
    Ex first = group * lanes;
    if (back > 0) first = min(first, groups * lanes - (lanes + back));
    Ex channel = f.let("channel", first);
    Ex weights = f.let("weights", group * ((rows * columns + 1) * lanes) + (FloatTile::kHead + lanes));
    f.loop("tile", 0, tiles, [&](Ex tile) {
      Ex tile_x = tile * pixels * x_step, tile_out = tile * pixels * out_step;
      if (part) {
        tile_x = select(tile == tiles - 1, last_x, tile_x);
        tile_out = select(tile == tiles - 1, last_out, tile_out);
      }
      Ex from = f.let("from", tile_x + channel), to = f.let("to", tile_out + channel);
      f.loop("pixel", 0, pixels, [&](Ex pixel) {
        f.loop("lane", 0, lanes, [&](Ex lane) {
          Ex sum = f.var("sum", tir::f32(0));
          f.loop("row", 0, rows, [&](Ex row) {
            f.loop("tap", 0, columns, [&](Ex tap) {
              Ex value = load(x, from + pixel * x_step + row * row_step + tap * column + lane);
              f.assign(sum, sum + value * load(stream, weights + (row * columns + tap) * lanes + lane));
            });
          });
          Ex v = f.let("v", sum + load(stream, weights - lanes + lane));
          if (clamps) {
            v = f.let("v", select(v < low, low, v));
            v = select(high < v, high, v);
          }
          f.store(out, to + pixel * out_step + lane, v);
        });
      });
    });
  });
  return f.finish_kernel("mve_float_taps", {{"pixels", pixels},
                                            {"rows", rows},
                                            {"columns", columns},
                                            {"step", step},
                                            {"part", part},
                                            {"back", back},
                                            {"clamp", clamps}});
}

}  // namespace aotc::cores::arm
