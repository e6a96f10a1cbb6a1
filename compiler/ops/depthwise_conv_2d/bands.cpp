// SPDX-License-Identifier: Apache-2.0
#include "ops/depthwise_conv_2d/bands.h"

#include <algorithm>

namespace aotc::ops {

namespace {

constexpr int64_t kMostBands = 1 << 10;
// A plane may always take this much.
constexpr int64_t kSmall = 1024;

int64_t largest_tensor(const graph::Graph& graph) {
  int64_t most = 0;
  for (const graph::Tensor& t : graph.tensors)
    if (!t.constant) most = std::max(most, t.type.bytes());
  return most;
}

}  // namespace

int64_t plane_budget(const OpView& op, const TargetInfo& target) {
  const int64_t peak = largest_tensor(op.graph);
  const int64_t spare = peak + peak / 32 - std::max(op.operand(0).bytes(), op.result().bytes());
  return target.spends_ram() ? std::max(kSmall, spare) : 0;
}

Bands::Bands(const OpView& op, const Window& window, const PlaneLayout& layout, const TargetInfo& target)
    : window_(window), layout_(layout) {
  const graph::TensorType& in = op.operand(0);
  const graph::TensorType& out = op.result();
  in_row_ = window.x.in * in.shape[3] * size_of(in.dtype);
  out_row_ = window.x.out * out.shape[3] * size_of(out.dtype);
  one_to_one_ = in.shape[3] == out.shape[3] && size_of(in.dtype) == size_of(out.dtype);
  choose(plane_budget(op, target));
  int64_t asked = target.wish("rows", height_, 1, window.y.out);
  if (asked != height_) height_ = asked, first_ = asked;
}

void Bands::choose(int64_t budget) {
  int64_t least = INT64_MAX, most_bands = std::min(window_.y.out, kMostBands);
  for (int64_t bands = 1; bands <= most_bands && least > budget; ++bands) {
    int64_t height = (window_.y.out + bands - 1) / bands;
    // A first band of a single row reaches less far below the input.
    for (int64_t first : {height, int64_t{1}}) {
      int64_t extra = extra_bytes(first, height);
      if (extra < least && least > budget) least = extra, height_ = height, first_ = first;
      if (bands == 1) break;
    }
  }
}

std::vector<Bands::Range> Bands::ranges(int64_t first, int64_t height) const {
  std::vector<Range> out;
  for (int64_t b = first - height; b < window_.y.out; b += height)
    out.push_back({std::max<int64_t>(b, 0), std::min(b + height, window_.y.out)});
  return out;
}

int64_t Bands::least_height() const {
  int64_t least = height_;
  for (Range r : ranges(first_, height_)) least = std::min(least, r.end - r.begin);
  return least;
}

WriteOrder::Step Bands::step(int64_t n, Range band) const {
  const WindowAxis& y = window_.y;
  int64_t top = std::clamp<int64_t>(y.start(band.begin), 0, y.in);
  int64_t bottom = std::clamp<int64_t>(y.start(band.end - 1) + y.effective_kernel(), top, y.in);
  return {(n * y.in + top) * in_row_, (n * y.in + bottom) * in_row_, (n * y.out + band.begin) * out_row_,
          (n * y.out + band.end) * out_row_};
}

// A channel's results lie among bytes of the same channel. Those of this band have been copied; it
// is later bands and images that must not lose theirs.
bool Bands::in_place(const std::vector<Range>& bands) const {
  if (!one_to_one_) return false;
  for (int64_t n = 0; n < window_.batch; ++n)
    for (size_t b = 0; b < bands.size(); ++b) {
      bool last = b + 1 == bands.size();
      if (last && n + 1 == window_.batch) break;
      WriteOrder::Step next = last ? step(n + 1, bands[0]) : step(n, bands[b + 1]);
      if (step(n, bands[b]).write_end > next.read_begin) return false;
    }
  return true;
}

// How far below the input the result has to begin.
int64_t Bands::below(const std::vector<Range>& bands) const {
  int64_t most = 0;
  for (Range band : bands) {
    WriteOrder::Step s = step(0, band);
    most = std::max(most, s.write_end - s.read_begin);
  }
  return std::min(most, window_.y.out * out_row_);
}

int64_t Bands::extra_bytes(int64_t first, int64_t height) const {
  std::vector<Range> bands = ranges(first, height);
  bool smaller = window_.y.out * out_row_ <= window_.y.in * in_row_;
  return plane_bytes(height) + (smaller && in_place(bands) ? 0 : below(bands));
}

WriteOrder Bands::write_order() const {
  std::vector<Range> bands = ranges(first_, height_);
  WriteOrder order;
  order.in_place = in_place(bands);
  if (window_.batch * static_cast<int64_t>(bands.size()) > WriteOrder::kMostSteps) return order;
  for (int64_t n = 0; n < window_.batch; ++n)
    for (Range band : bands) order.steps.push_back(step(n, band));
  return order;
}

}  // namespace aotc::ops
