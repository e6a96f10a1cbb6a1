// SPDX-License-Identifier: Apache-2.0
#include "target/arm/helium/band.h"

#include <algorithm>

namespace aotc::target::arm {

using ops::WindowAxis;
using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kVector = 16;
constexpr int64_t kMostBytes = 128;  // of an input row: its vectors are written out
constexpr int64_t kMostPitch = 127;  // what a load steps by
constexpr int64_t kMostLive = 0x7FFF;

}  // namespace

std::optional<MveBand> MveBand::of(const ops::Window& window, int64_t channels) {
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  if (window.batch != 1 || y.dilation != 1 || x.dilation != 1 || y.kernel > kMostLive || y.in > kMostLive)
    return std::nullopt;
  // Each window has a row in the image.
  if (y.start(y.out - 1) >= y.in || y.start(0) + y.kernel <= 0) return std::nullopt;
  MveBand b;
  b.bytes = x.in * channels;
  b.rows = y.kernel;
  b.row = x.kernel * channels;
  b.ways = 4 * b.row <= kVector && b.rows > 2 ? 4 : 2;
  b.planes = (b.rows + b.ways - 1) / b.ways;
  // Two rows are woven in halves of words.
  if (b.ways * b.row > kVector || b.rows < 2 || b.bytes > kMostBytes || b.ways * b.bytes % 4 != 0) return std::nullopt;
  b.pixel = b.ways * x.stride * channels;
  const int64_t before = x.pad_before * channels;
  const int64_t lead = rounded_up(before, 4 / b.ways);
  b.lead = b.ways * lead;
  b.first = b.ways * (lead - before);
  const int64_t windows = b.first + (x.out - 1) * b.pixel + b.ways * b.row;
  b.pitch = rounded_up(std::max(b.lead + b.ways * std::max(b.bytes, kVector), windows), 4);
  if (b.planes > 1 && b.pitch > kMostPitch) return std::nullopt;
  if (x.out % 2 != 0 && y.out < 2) return std::nullopt;
  b.bands = x.out % 2 == 0 ? 1 : 2;
  return b;
}

int64_t MveBand::padding() const { return rounded_up(std::max(bytes, kVector), 4); }

// A window's last block may reach behind the last plane, where it is multiplied by 0.
int64_t MveBand::panel_bytes() const { return padding() + bands * band_bytes() + kVector - ways * row; }

std::vector<int8_t> MveBand::arranged(const std::vector<int8_t>& weights, int64_t channels) const {
  std::vector<int8_t> out;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t j = 0; j < kVector; ++j) {
        const int64_t r = plane * ways + j % ways, at = j / ways;
        const bool there = r < rows && at < row;
        out.push_back(there ? weights[static_cast<size_t>((c * rows + r) * row + at)] : int8_t{0});
      }
  return out;
}

int64_t MveBand::cost() const {
  const int64_t vectors = (bytes + kVector - 1) / kVector;
  return 40 + planes * (4 * ways + 2 * ways * vectors + 3);
}

tir::KernelPtr mve_planes_kernel(const MveBand& band) {
  FunctionBuilder f("mve_planes");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI8, 0);
  Ex to = f.scalar("to"), live = f.scalar("live");
  Ex before = f.let("before", live >> 16);
  Ex end = f.let("end", before + (live & 0xFFFF));
  f.loop("plane", 0, band.planes, [&](Ex plane) {
    f.loop("j", 0, band.ways, [&](Ex j) {
      Ex row = f.let("row", plane * band.ways + j);
      Ex at = f.let("at", to + plane * band.pitch + j);
      Ex there = f.let("there", row >= before && row < end);
      f.loop("i", 0, std::max(band.bytes, kVector), [&](Ex i) {
        f.if_(
            there && i < band.bytes,
            [&] { f.store(panel, at + i * band.ways, load(x, (row - before) * band.bytes + i)); },
            [&] { f.store(panel, at + i * band.ways, load(panel, i)); });
      });
    });
  });
  return f.finish_kernel("mve_planes",
                         {{"planes", band.planes}, {"ways", band.ways}, {"bytes", band.bytes}, {"pitch", band.pitch}});
}

}  // namespace aotc::target::arm
