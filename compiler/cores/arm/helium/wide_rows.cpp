// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/wide_rows.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

MveWideRows::MveWideRows(LoweringBuilder& f, const WideScaling& what, std::vector<int8_t> weights, int64_t units,
                         const TargetInfo& target, bool scratch_is_taken)
    : f_(f),
      what_(what),
      weights_(std::move(weights)),
      units_(units),
      depth_(static_cast<int64_t>(weights_.size()) / units),
      padded_(std::max<int64_t>(units, MveGemm::kGroup)),
      at_once_(scratch_is_taken ? MveGemm::kGroup : padded_),
      requantizer_(f, what) {
  cut();
  make(target);
  if (what_.wide()) bias_ = wide_bias(f_, what_);
  const int64_t sums = at_once_ * static_cast<int64_t>(chunks_.size());
  if (!scratch_is_taken) sums_ = f_.scratch("sums", DType::kI32, sums, 4);
  else sums_ = f_.local("sums", DType::kI32, sums);
}

// The sums of a chunk have 32 bits, whatever the row is.
bool MveWideRows::fits(int64_t begin, int64_t end) const {
  for (int64_t u = 0; u < units_; ++u) {
    int64_t reach = 0;
    for (int64_t k = begin; k < end; ++k) reach += std::abs(int64_t{weights_[static_cast<size_t>(u * depth_ + k)]});
    if (reach * 32768 > INT32_MAX) return false;
  }
  return true;
}

void MveWideRows::cut() {
  // 511 weights of -128 fit.
  constexpr int64_t kAlways = 504, kElements = MveGemm::kBlock / 2;
  constexpr int64_t kMost = MveGemm::kMostGemvElements / 2 / kElements * kElements;
  for (int64_t begin = 0; begin < depth_;) {
    int64_t end = std::min(depth_, begin + kMost);
    // Half of it, in whole blocks.
    while (end - begin > kAlways && !fits(begin, end))
      end = begin + (end - begin + 2 * kElements - 1) / (2 * kElements) * kElements;
    chunks_.push_back({begin, end, nullptr, {}, nullptr});
    begin = end;
  }
}

void MveWideRows::make(const TargetInfo& target) {
  // Loads and products of eight units.
  const double unit =
      17.0 / MveGemm::kGroup * static_cast<double>((depth_ * 2 + MveGemm::kBlock - 1) / MveGemm::kBlock);
  turns_ = at_once_ % MveGemm::kGroup == 0 ? turns_of(at_once_, unit, target, MveGemm::kGroup) : Turns{at_once_, 1, 0};
  for (size_t i = 0; i < chunks_.size(); ++i) {
    Chunk& chunk = chunks_[i];
    MveWeights part;
    for (int64_t u = 0; u < units_; ++u) {
      auto row = weights_.begin() + u * depth_;
      part.values.insert(part.values.end(), row + chunk.begin, row + chunk.end);
    }
    part.values.resize(static_cast<size_t>(padded_ * (chunk.end - chunk.begin)));
    MveScaling sums;
    sums.form = MveScaling::Form::kUnscaled;
    if (i == 0 && !what_.wide()) sums.words[0].assign(what_.bias.begin(), what_.bias.end());
    const MveBlocks blocks(1, chunk.end - chunk.begin, false, 2);
    const std::string number = i == 0 ? "" : fmt::format("_{}", i);
    chunk.stream = f_.constant("stream" + number, DType::kI32, mve_gemv_stream(part, padded_, blocks, sums));
    chunk.kernel = mve_gemv_kernel(blocks, at_once_, sums);
    chunk.shapes =
        TurnTables(f_, turns_, "shape" + number, [&](int64_t count) { return mve_shape({}, blocks, count, sums); });
    blocks_ += blocks.count();
  }
}

void MveWideRows::run(const BufferPtr& x, const Ex& at, const BufferPtr& out, const Ex& to) {
  if (at_once_ == padded_) {
    f_.take_turns(turns_, [&](const Ex& first, int64_t units) {
      Ex group = units == padded_ ? Ex(0) : first / MveGemm::kGroup;
      multiply(x, at, group, first, units);
    });
    return scale(out, to, Ex(0), units_);
  }
  // The last group overlaps the one before it.
  f_.loop("group", 0, (units_ + MveGemm::kGroup - 1) / MveGemm::kGroup, [&](Ex group) {
    multiply(x, at, group, Ex(0), at_once_);
    Ex first = group * MveGemm::kGroup;
    if (units_ % MveGemm::kGroup != 0) first = min(first, Ex(units_ - MveGemm::kGroup));
    scale(out, to, f_.let("first", first), MveGemm::kGroup);
  });
}

void MveWideRows::multiply(const BufferPtr& x, const Ex& at, const Ex& group, const Ex& to, int64_t units) {
  const int64_t groups = (padded_ + MveGemm::kGroup - 1) / MveGemm::kGroup;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    const int64_t words = static_cast<int64_t>(chunk.stream->elements) / groups;
    f_.run(chunk.kernel, {address(chunk.stream, group * words), address(x, at + chunk.begin),
                          address(sums_, to + static_cast<int64_t>(i) * at_once_), address(chunk.shapes.of(units), 0)});
  }
}

void MveWideRows::scale(const BufferPtr& out, const Ex& to, const Ex& first, int64_t units) {
  f_.loop("u", 0, units, [&](Ex u) {
    const auto channel = requantizer_.prepare(f_, first + u);
    f_.store(out, to + first + u, requantizer_.emit(f_, f_.let("sum", sum_of(first, u)), channel));
  });
}

Ex MveWideRows::sum_of(const Ex& first, const Ex& i) {
  Ex sum = what_.wide() ? load(bias_, first + i) : load(sums_, i);
  for (int64_t chunk = what_.wide() ? 0 : 1; chunk < static_cast<int64_t>(chunks_.size()); ++chunk) {
    const Ex more = load(sums_, i + chunk * at_once_);
    sum = what_.wide() ? sum + cast(DType::kI64, more) : add_wrapping(sum, more);
  }
  return sum;
}

std::string MveWideRows::how() const {
  const std::string chunks = chunks_.size() > 1 ? fmt::format(" in {} chunks", chunks_.size()) : "";
  return fmt::format("1x8, {} blocks{}, {}", blocks_, chunks, requantizer_.form());
}

}  // namespace aotc::cores::arm
