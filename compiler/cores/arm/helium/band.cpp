// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/band.h"

#include <algorithm>

namespace aotc::cores::arm {

using ops::WindowAxis;
using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kVectorWidth = 16;
constexpr int64_t kMostBytes = 128;  // of an input row: its vectors are written out
constexpr int64_t kMostPitch = 127;  // what a load steps by
constexpr int64_t kMostLive = 0x7FFF;
constexpr int64_t kMostVectors = 24;     // of a row by columns: they are written out
constexpr int64_t kMostColumnRows = 14;  // whose offsets are bytes

}  // namespace

std::optional<MveBand> MveBand::of(const ops::Window& window, int64_t channels) {
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  if (window.batch != 1 || y.dilation != 1 || x.dilation != 1 || y.kernel > kMostLive || y.in > kMostLive)
    return std::nullopt;
  // Each window has a row in the image.
  if (y.start(y.out - 1) >= y.in || y.start(0) + y.kernel <= 0) return std::nullopt;
  MveBand b;
  b.channels = channels;
  b.bytes = x.in * channels;
  b.rows = y.kernel;
  b.row = x.kernel * channels;
  b.ways = 4 * b.row <= kVectorWidth && b.rows > 2 ? 4 : 2;
  if (b.ways * b.row > kVectorWidth) return b.by_columns(window) ? std::optional(b) : std::nullopt;
  b.planes = (b.rows + b.ways - 1) / b.ways;
  // Two rows are woven in halves of words.
  if (b.rows < 2 || b.bytes > kMostBytes || b.ways * b.bytes % 4 != 0) return std::nullopt;
  b.pixel = b.ways * x.stride * channels;
  const int64_t before = x.pad_before * channels;
  const int64_t lead = rounded_up(before, 4 / b.ways);
  b.lead = b.ways * lead;
  b.first = b.ways * (lead - before);
  const int64_t windows = b.first + (x.out - 1) * b.pixel + b.ways * b.row;
  b.pitch = rounded_up(std::max(b.lead + b.ways * std::max(b.bytes, kVectorWidth), windows), 4);
  if (b.planes > 1 && b.pitch > kMostPitch) return std::nullopt;
  if (x.out % 2 != 0 && y.out < 2) return std::nullopt;
  b.bands = x.out % 2 == 0 ? 1 : 2;
  return b;
}

bool MveBand::by_columns(const ops::Window& window) {
  const WindowAxis& x = window.x;
  if (rows > kMostColumnRows || channels > kVectorWidth / 2 || bytes < kVectorWidth || vectors() > kMostVectors ||
      x.out % 2 != 0)
    return false;
  columns = true;
  ways = rows;
  planes = 1;
  pixel = x.stride * column();
  lead = x.pad_before * column();
  pitch = std::max(x.pad_before + x.in, (x.out - 1) * x.stride + x.kernel) * column();
  return blocks().fit_gemm();
}

MveBlocks MveBand::blocks() const {
  return columns ? MveBlocks(1, rows * row, false) : MveBlocks::spaced(planes, pitch);
}

std::vector<uint8_t> MveBand::offsets() const {
  std::vector<uint8_t> out;
  for (int64_t from : {int64_t{0}, (bytes - kVectorWidth) % channels})
    for (int64_t i = from; i < from + kVectorWidth; ++i)
      out.push_back(static_cast<uint8_t>(i / channels * column() + i % channels));
  return out;
}

int64_t MveBand::padding() const { return rounded_up(std::max(bytes, kVectorWidth), 4); }

// A window's last block may reach behind the last plane, where it is multiplied by 0.
int64_t MveBand::panel_bytes() const {
  return padding() + bands * band_bytes() + (columns ? 0 : kVectorWidth - ways * row);
}

std::vector<int8_t> MveBand::arranged(const std::vector<int8_t>& weights, int64_t of) const {
  std::vector<int8_t> out;
  for (int64_t c = 0; columns && c < of; ++c)
    for (int64_t x = 0; x < row; x += channels)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = x; i < x + channels; ++i)
          out.push_back(weights[static_cast<size_t>((c * rows + r) * row + i)]);
  for (int64_t c = 0; !columns && c < of; ++c)
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t j = 0; j < kVectorWidth; ++j) {
        const int64_t r = plane * ways + j % ways, at = j / ways;
        const bool there = r < rows && at < row;
        out.push_back(there ? weights[static_cast<size_t>((c * rows + r) * row + at)] : int8_t{0});
      }
  return out;
}

int64_t MveBand::cost() const {
  if (columns) return 40 + rows * (10 + 3 * vectors());
  return 40 + planes * (4 * ways + 2 * ways * ((bytes + kVectorWidth - 1) / kVectorWidth) + 3);
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
      Ex there = row >= before && row < end;
      f.loop("i", 0, std::max(band.bytes, kVectorWidth), [&](Ex i) {
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

tir::KernelPtr mve_columns_kernel(const MveBand& band) {
  FunctionBuilder f("mve_columns");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI8, 0);
  BufferPtr offsets = f.constant("offsets", DType::kU8, 0);
  Ex live = f.scalar("live");
  Ex before = f.let("before", live >> 16);
  Ex end = f.let("end", before + (live & 0xFFFF));
  const int64_t first = band.padding() + band.lead, last = band.bytes - kVectorWidth;
  f.loop("row", 0, band.rows, [&](Ex row) {
    Ex there = row >= before && row < end;
    Ex from = f.let("from", (row - before) * band.bytes);
    Ex at = f.let("at", row * band.channels + first);
    auto store = [&](const Ex& byte, const Ex& to, int64_t table) {
      f.loop("i", 0, kVectorWidth, [&](Ex i) {
        Ex where = f.let("where", to + load(offsets, i + table));
        f.if_(
            there, [&] { f.store(panel, where, load(x, from + byte + i)); },
            [&] { f.store(panel, where, load(panel, byte + i)); });
      });
    };
    f.loop("vector", 0, band.vectors(),
           [&](Ex v) { store(v * band.step(), at + v * (band.step() / band.channels * band.column()), 0); });
    store(Ex(last), at + last / band.channels * band.column(), kVectorWidth);
  });
  return f.finish_kernel("mve_columns",
                         {{"rows", band.rows}, {"bytes", band.bytes}, {"channels", band.channels}, {"first", first}});
}

}  // namespace aotc::cores::arm
