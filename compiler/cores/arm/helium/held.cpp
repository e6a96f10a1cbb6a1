// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/held.h"

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::i64;

namespace {

constexpr int64_t kLaneWords = 4;  // of a vector
constexpr int64_t kMostPlace = UINT16_MAX;
constexpr int64_t kMostPartBytes = 1024, kParts = 8;

}  // namespace

std::optional<MveHeld> MveHeld::of(const MveBlocks& blocks, int64_t step, int64_t pixels, int64_t channels,
                                   const MveScaling& scaling) {
  if (blocks.rows != 1 || blocks.count() > 2 || scaling.form != MveScaling::Form::kLine || scaling.clamps())
    return std::nullopt;
  const MveHeld held{blocks.count(), blocks.first, step, channels};
  // What a pointer moves by from a pixel's first block to its second, and from its last one to the next pixel.
  const int64_t last = held.blocks == 2 ? step - blocks.first : step;
  if (blocks.first > kMostStep || last < -kMostStep || last > kMostStep) return std::nullopt;
  if (pixels % held.tile() != 0 || channels % held.group() != 0 || (held.tile() - 1) * channels + 1 > kMostPlace)
    return std::nullopt;
  return held;
}

int64_t MveHeld::cost(int64_t pixels) const {
  const int64_t tile_cost = blocks == 1 ? 28 + (first < MveGemm::kBlock) : 42;
  return 28 + channels / group() * (13 + pixels / tile() * tile_cost);
}

int64_t MveHeld::other_cost(int64_t pixels) const {
  const int64_t groups = (channels + MveGemm::kGroup - 1) / MveGemm::kGroup;
  return 34 + pixels / 2 * (blocks == 1 ? 11 + 58 * groups : 8 + 90 * groups);
}

int64_t MveHeld::part(int64_t pixels) const {
  const int64_t tiles = pixels / tile();
  const int64_t most = std::min(kMostPartBytes, pixels * step / kParts) / (step * tile());
  for (int64_t part = std::min(most, tiles); part > 1; --part)
    if (tiles % part == 0) return part * tile();
  return tile();
}

// Pixels are gathered by half the tile into the lanes of two vectors, which are narrowed into even and odd half lanes.
int64_t MveHeld::place(int64_t pixel, int64_t channel) const {
  const int64_t lane = pixel % blocks * group() + channel;
  return 2 * lane + pixel / blocks;
}

std::vector<int32_t> MveHeld::stream(const std::vector<int8_t>& weights, const MveBlocks& cut,
                                     const MveScaling& scaling) const {
  std::vector<int32_t> out;
  for (int64_t from = 0; from < channels; from += group()) {
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t c = 0; c < group(); ++c) put_mve_weights(out, weights, cut, block, from + c);
    for (int v : {0, 1})
      for (int64_t lane = 0; lane < kLaneWords; ++lane)
        out.push_back(scaling.words[v][static_cast<size_t>(from + lane % group())]);
  }
  return out;
}

std::vector<int32_t> MveHeld::shape(int64_t pixels) const {
  std::vector<int32_t> out(kShapeWords);
  auto set = [&](int at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
  set(kTiles, pixels / tile());
  set(kOutStep, tile() * channels);
  set(kXBack, -pixels * step);
  set(kOutBack, group() - pixels * channels);
  set(kStreamBytes, channels / group() * (kVectors + 2) * MveGemm::kBlock);
  for (int64_t p = 0; p < tile(); ++p)
    for (int64_t c = 0; c < group(); ++c) {
      const int64_t at = place(p, c);
      auto word = static_cast<uint32_t>(out[static_cast<size_t>(kPlaces + at / 2)]);
      word |= static_cast<uint32_t>(p * channels + c) << (16 * (at % 2));
      set(static_cast<int>(kPlaces + at / 2), static_cast<int32_t>(word));
    }
  return out;
}

tir::KernelPtr MveHeld::kernel(const MveScaling& scaling) const {
  FunctionBuilder f("mve_held");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  constexpr int64_t kRecord = (kVectors + 2) * kLaneWords;
  Ex tiles = f.let("tiles", load(shape, kTiles)), out_step = f.let("out_step", load(shape, kOutStep));
  Ex groups = f.let("groups", load(shape, kStreamBytes) / (4 * kRecord));
  f.loop("group", 0, groups, [&](Ex number) {
    Ex at = f.let("at", number * kRecord);
    f.loop("tile", 0, tiles, [&](Ex t) {
      for (int64_t p = 0; p < tile(); ++p) {
        Ex from = f.let("from", t * (tile() * step) + p * step);
        std::vector<Ex> acc;
        for (int64_t c = 0; c < group(); ++c) acc.push_back(f.var(fmt::format("acc{}", c), 0));
        for (int64_t block = 0; block < blocks; ++block)
          f.loop("j", 0, blocks == 1 ? first : MveGemm::kBlock, [&](Ex j) {
            Ex value = f.let("value", load(x, from + block * first + j));
            Ex up = f.let("up", Ex(24) - (j & 3) * 8);
            for (int64_t c = 0; c < group(); ++c) {
              Ex word = load(stream, at + kLaneWords * (block * group() + c) + (j >> 2));
              const Ex& sum = acc[static_cast<size_t>(c)];
              f.assign(sum, sum + value * (shl_wrapping(word, up) >> 24));
            }
          });
        for (int64_t c = 0; c < group(); ++c) {
          Ex scaled = f.let("scaled", shl_wrapping(acc[static_cast<size_t>(c)], scaling.left));
          Ex product = cast(DType::kI64, scaled) * cast(DType::kI64, load(stream, at + kLaneWords * kVectors + c));
          Ex offset = load(stream, at + kLaneWords * (kVectors + 1) + c) + mve_rounding(scaling.shift);
          Ex v = f.let("v", (cast(DType::kI32, product >> i64(32)) + offset) >> scaling.shift);
          const int64_t half = place(p, c);
          Ex to = (load(shape, kPlaces + half / 2) >> (16 * (half % 2))) & 0xFFFF;
          f.store(out, number * group() + t * out_step + to, clamp(v, -128, 127));
        }
      }
    });
  });
  return f.finish_kernel(
      "mve_held",
      {{"blocks", blocks}, {"first", first}, {"step", step}, {"left", scaling.left}, {"shift", scaling.shift}});
}

}  // namespace aotc::cores::arm
