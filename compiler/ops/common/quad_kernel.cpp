// SPDX-License-Identifier: Apache-2.0
#include "ops/common/quad_kernel.h"

#include <algorithm>
#include <string>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kOfWord = QuadGemv::kUnits;

// What a group's sums add to the totals of the four units of word `q`.
void add_group(FunctionBuilder& f, const Ex& even, const Ex& odd, const std::vector<Ex>& total, int64_t q) {
  auto at = [&](int64_t c) { return total[static_cast<size_t>(q * kOfWord + c)]; };
  Ex sum2 = f.let("sum2", even >> 16);
  Ex odds = f.let("odds", sub_wrapping(odd, shl_wrapping(sum2, 8)));
  f.assign(at(0), add_wrapping(at(0), even));
  f.assign(at(1), add_wrapping(at(1), odds));
  f.assign(at(2), add_wrapping(at(2), sum2));
  f.assign(at(3), add_wrapping(at(3), odds >> 16));
}

// The product of a weight that was cut.
void add_rest(FunctionBuilder& f, const Ex& rest, const BufferPtr& x, const std::vector<Ex>& total) {
  Ex product = f.let("product", load(x, rest >> 16) * (shl_wrapping(rest, 24) >> 24));
  Ex unit = f.let("unit", (rest >> 10) & 0x3F);
  for (size_t u = 0; u < total.size(); ++u)
    f.assign(total[u], add_wrapping(total[u], select(unit == static_cast<int64_t>(u), product, 0)));
}

}  // namespace

tir::KernelPtr QuadKernel::kernel() const {
  FunctionBuilder f("quads");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr starts = f.input("starts", DType::kI32, 0);
  Ex tiles = f.let("tiles", load(stream, kTiles));
  Ex depth = f.let("depth", load(stream, kDepth));
  Ex groups = f.let("groups", depth / group);
  Ex shift = f.let("shift", load(stream, kShift));
  Ex next = f.var("next", kHeader);
  f.loop("tile", 0, tiles, [&](const Ex& tile) {
    Ex at = f.let("at", next);
    std::vector<Ex> total;
    for (int64_t u = 0; u < units(); ++u) total.push_back(f.var("t", 0));
    f.loop("g", 0, groups, [&](const Ex& g) {
      std::vector<Ex> even, odd;
      for (int64_t q = 0; q < words; ++q) {
        even.push_back(f.var("even", load(starts, g * 2)));
        odd.push_back(f.var("odd", load(starts, g * 2 + 1)));
      }
      f.loop("k", 0, group, [&](const Ex& k) {
        Ex step = f.let("step", g * group + k);
        Ex v = f.let("x", load(x, step));
        for (int64_t q = 0; q < words; ++q) {
          Ex w = f.let("w", load(stream, at + step * words + q));
          const auto i = static_cast<size_t>(q);
          f.assign(even[i], add_wrapping(even[i], mul_wrapping(v, w & 0x00FF00FF)));
          f.assign(odd[i], add_wrapping(odd[i], mul_wrapping(v, w >> 8)));
        }
      });
      for (int64_t q = 0; q < words; ++q)
        add_group(f, even[static_cast<size_t>(q)], odd[static_cast<size_t>(q)], total, q);
    });
    for (int64_t u = 0; u < units(); ++u)
      if (const Ex& t = total[static_cast<size_t>(u)]; u % kOfWord < 2)
        f.assign(t, sub_wrapping(t, shl_wrapping(total[static_cast<size_t>(u + 2)], 16)));
    Ex rests = f.let("rests", at + depth * words);
    Ex count = f.let("count", load(stream, rests) >> 2);
    f.loop("i", 0, count, [&](const Ex& i) { add_rest(f, f.let("rest", load(stream, rests + 1 + i)), x, total); });
    Ex lines = f.let("lines", rests + count + 1);
    f.assign(next, lines + units() * line_words());
    for (int64_t u = 0; u < units(); ++u) {
      Ex line = f.let("line", lines + u * line_words());
      Ex own = same ? Ex(kMultiplier) : line + 1;
      Ex acc = f.let("acc", add_wrapping(shl_wrapping(total[static_cast<size_t>(u)], kLeft), load(stream, line)));
      f.store(out, tile * units() + u, clamp(f.let("q", line_sum(acc, stream, own, sign)) >> shift, -128, 127));
    }
  });
  return f.finish_kernel(std::string(family), {{"words", words}, {"group", group}, {"same", same}, {"sign", sign}});
}

std::vector<int32_t> QuadKernel::stream(const QuadGemv& plan, const std::vector<int64_t>& first,
                                        const std::vector<int32_t>& bias, const LineFit& fit) const {
  auto line_of = [&](int64_t u) -> const LineFit::Channel& {
    return fit.channels[fit.channels.size() == 1 ? 0 : static_cast<size_t>(u)];
  };
  std::vector<int32_t> out(kHeader);
  out[kTiles] = static_cast<int32_t>(first.size());
  out[kDepth] = static_cast<int32_t>(plan.depth);
  out[kShift] = fit.shift;
  auto put_line = [&](int64_t u, size_t to) {
    out[to] = line_of(u).multiplier;
    out[to + 1] = line_of(u).offset;
    if (sign) out[to + 2] = line_of(u).sign;
  };
  if (same) put_line(0, kMultiplier);
  for (int64_t begin : first) {
    for (int64_t k = 0; k < plan.depth; ++k)
      for (int64_t u = begin; u < begin + units(); u += kOfWord) out.push_back(quad_word(plan, u, k));
    std::vector<int32_t> rests;
    for (const QuadGemv::Rest& r : plan.rests)
      if (r.unit >= begin && r.unit < begin + units())
        rests.push_back(static_cast<int32_t>(r.k << 16 | (r.unit - begin) << 10 | static_cast<uint8_t>(r.weight)));
    out.push_back(static_cast<int32_t>(4 * rests.size()));
    out.insert(out.end(), rests.begin(), rests.end());
    for (int64_t u = begin; u < begin + units(); ++u) {
      // What the groups' starts add to the first two sums of a word is taken off.
      const int64_t halves = (u - begin) % kOfWord < 2 ? plan.groups() * QuadGemv::kHalfWord : 0;
      const auto start = static_cast<uint32_t>(bias[static_cast<size_t>(u)]) - static_cast<uint32_t>(halves);
      out.push_back(static_cast<int32_t>(start << kLeft));
      if (same) continue;
      out.resize(out.size() + static_cast<size_t>(line_words() - 1));
      put_line(u, out.size() - static_cast<size_t>(line_words() - 1));
    }
  }
  return out;
}

int64_t QuadKernel::cost(const QuadGemv& plan, int64_t units_of_row, const TargetInfo& target) const {
  constexpr int64_t kFrame = 60, kFlush = 10, kGroup = 6, kOfTile = 16, kUnit = 10, kRest = 12, kStart = 3;
  const int64_t tiles = (units_of_row + units() - 1) / units();
  const int64_t step = 1 + words * (3 + 2 * target.multiply_add);
  const auto cut = static_cast<int64_t>(plan.rests.size());
  return kFrame + plan.depth * kStart + plan.groups() * kFlush + cut * kRest +
         tiles * (plan.depth * step + plan.groups() * (words * kFlush + kGroup) + units() * kUnit + kOfTile);
}

std::optional<QuadKernelFit> fit_quad_kernel(const QuadGemv& plan, int64_t units, const Requantization& requantization,
                                             std::vector<int32_t>& bias, const TargetInfo& target) {
  if (target.quad_kernel.empty() || requantization.open || target.slice > 0) return std::nullopt;
  if (requantization.clamp.min != -128 || requantization.clamp.max != 127) return std::nullopt;
  // Of fewer weights the kernel is longer than what it saves.
  constexpr int64_t kFewest = 1024;
  if (target.level != Level::kSpeed && !target.asked && plan.depth * units < kFewest) return std::nullopt;
  // Units that are left are made again with the ones before them, which is to cost few weights.
  constexpr int64_t kMany = 64, kTwo = 2 * QuadGemv::kUnits;
  QuadKernelFit out;
  out.kernel = {target.quad_kernel, units % kTwo == 0 || units >= kMany ? 2 : 1, plan.group};
  auto lines = fit_common_line(requantization, QuadKernel::kLeft, bias);
  if (!lines || lines->shift == 0) return std::nullopt;
  out.kernel.same = lines->channels.size() == 1;
  out.kernel.sign = lines->with_sign;
  out.lines = std::move(*lines);
  return out;
}

}  // namespace aotc::ops
