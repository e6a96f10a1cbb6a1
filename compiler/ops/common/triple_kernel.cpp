// SPDX-License-Identifier: Apache-2.0
#include "ops/common/triple_kernel.h"

#include <algorithm>
#include <string>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kBytes = 4;  // of a word

// Weight `lane` of a word.
Ex weight_of(const Ex& word, int64_t lane, bool flipped) {
  if (flipped) return ((word >> (8 * lane)) & 0xFF) - 128;
  return shl_wrapping(word, 8 * (kBytes - 1 - lane)) >> 24;
}

// The steps of a segment, whose weights begin at stream[from] and whose panel at panel[at].
TripleSums kernel_sums(FunctionBuilder& f, const TripleKernel& kernel, const BufferPtr& stream, const Ex& from,
                       const BufferPtr& panel, const Ex& at, const Ex& steps) {
  TripleSums sums;
  for (int64_t c = 0; c < kernel.channels; ++c) sums.push_back({f.var("a", 0), f.var("b", 0)});
  // Of whole words: some steps of few channels, or one step of many.
  const int64_t whole = std::max<int64_t>(kBytes / kernel.channels, 1), bytes = whole * kernel.channels;
  f.loop("i", 0, whole == 1 ? steps : steps / whole, [&](const Ex& i) {
    Ex word;
    for (int64_t byte = 0; byte < bytes; ++byte) {
      if (byte % kBytes == 0) word = f.let("word", load(stream, from + i * (bytes / kBytes) + byte / kBytes));
      std::array<Ex, 2>& sum = sums[static_cast<size_t>(byte % kernel.channels)];
      Ex weight = f.let("weight", weight_of(word, byte % kBytes, kernel.flipped));
      for (size_t half = 0; half < 2; ++half) {
        const int64_t step = byte / kernel.channels * TripleGemm::kWords + static_cast<int64_t>(half);
        Ex x = load(panel, at + i * (whole * TripleGemm::kWords) + step);
        f.assign(sum[half], add_wrapping(sum[half], mul_wrapping(x, weight)));
      }
    }
  });
  return sums;
}

Ex kernel_output(FunctionBuilder& f, const Ex& total, const BufferPtr& stream, const Ex& line,
                 const TripleKernel& kernel) {
  Ex acc = f.let("acc", add_wrapping(shl_wrapping(total, TripleKernel::kLeft), load(stream, line)));
  return clamp(f.let("q", line_sum(acc, stream, line + 1, kernel.sign)) >> kernel.shift, -128, 127);
}

}  // namespace

tir::KernelPtr TripleKernel::kernel() const {
  FunctionBuilder f("triples");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr panel = f.input("panel", DType::kI32, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex groups = f.let("groups", load(shape, kGroups));
  Ex stride = f.let("stride", load(shape, kStride));
  Ex steps = f.let("steps", load(shape, kSteps));
  Ex segments = f.let("segments", load(shape, kSegments));
  Ex weight_words = f.let("weights", steps * channels / kBytes);
  Ex group_words = f.let("words", weight_words * segments + channels * line_words());
  f.loop("group", 0, groups, [&](const Ex& group) {
    Ex at = f.let("at", group * group_words);
    std::vector<std::array<Ex, 3>> total;
    for (int64_t c = 0; c < channels; ++c) total.push_back({f.var("t", 0), f.var("t", 0), f.var("t", 0)});
    f.loop("segment", 0, segments, [&](const Ex& segment) {
      TripleSums sums = kernel_sums(f, *this, stream, at + segment * weight_words, panel,
                                    segment * steps * TripleGemm::kWords, steps);
      for (size_t c = 0; c < sums.size(); ++c) {
        std::array<Ex, 3> s = emit_split(f, sums[c]);
        for (size_t p = 0; p < 3; ++p) f.assign(total[c][p], total[c][p] + s[p]);
      }
    });
    Ex line = f.let("line", at + weight_words * segments);
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < TripleGemm::kPixels; ++p)
        f.store(out, p * stride + group * channels + c,
                kernel_output(f, total[static_cast<size_t>(c)][static_cast<size_t>(p)], stream, line + c * line_words(),
                              *this));
  });
  return f.finish_kernel(
      std::string(family),
      {{"channels", channels}, {"unroll", unroll}, {"many", many}, {"shift", shift}, {"sign", sign}});
}

std::vector<int32_t> TripleKernel::stream(const TripleGemm& plan, const std::vector<int8_t>& weights,
                                          const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                          const LineFit& fit) const {
  std::vector<int32_t> out;
  for (int64_t begin : first) {
    std::vector<uint8_t> bytes;
    for (int64_t k = 0; k < plan.padded_k; ++k)
      for (int64_t c = begin; c < begin + channels; ++c) {
        const int8_t w = k < plan.k ? weights[static_cast<size_t>(c * plan.k + k)] : int8_t{0};
        bytes.push_back(static_cast<uint8_t>(static_cast<uint8_t>(w) ^ (flipped ? 0x80U : 0U)));
      }
    for (size_t i = 0; i < bytes.size(); i += 4)
      out.push_back(static_cast<int32_t>(bytes[i] | uint32_t{bytes[i + 1]} << 8 | uint32_t{bytes[i + 2]} << 16 |
                                         uint32_t{bytes[i + 3]} << 24));
    for (int64_t c = begin; c < begin + channels; ++c) {
      const LineFit::Channel& line = fit.channels[fit.channels.size() == 1 ? 0 : static_cast<size_t>(c)];
      out.push_back(static_cast<int32_t>(static_cast<uint32_t>(bias[static_cast<size_t>(c)]) << kLeft));
      out.push_back(line.multiplier);
      out.push_back(line.offset);
      if (sign) out.push_back(line.sign);
    }
  }
  return out;
}

std::vector<int32_t> TripleKernel::shape(const TripleGemm& plan, int64_t groups, int64_t stride) const {
  std::vector<int32_t> out(kStreamBytes + 1);
  out[kGroups] = static_cast<int32_t>(groups);
  out[kStride] = static_cast<int32_t>(stride);
  out[kSteps] = static_cast<int32_t>(plan.segment);
  out[kSegments] = static_cast<int32_t>(plan.segments());
  out[kPanelBytes] = static_cast<int32_t>(plan.segment * TripleGemm::kWords * kBytes);
  out[kStreamBytes] = static_cast<int32_t>(groups * words(plan.padded_k) * kBytes);
  return out;
}

int64_t TripleKernel::cost(const TripleGemm& plan, int64_t groups, const TargetInfo& target) const {
  constexpr int64_t kFrame = 20, kGroup = 10, kTurn = 3, kSegment = 12, kMultiply = 4;
  const int64_t high = std::max<int64_t>(kMultiply, static_cast<int64_t>(target.costs.high));
  const int64_t step = 1 + channels + TripleGemm::kWords * channels * target.multiply_add;
  const int64_t outputs = channels * (8 + TripleGemm::kPixels * (high + 5));
  const int64_t segment = 2 * channels + (many ? channels * kSegment : 0);
  const int64_t group =
      plan.padded_k * step + plan.padded_k / unroll * kTurn + plan.segments() * segment + outputs + kGroup;
  return kFrame + groups * group;
}

std::optional<TripleKernelFit> fit_triple_kernel(const std::vector<int8_t>& weights, int64_t channels, int64_t k,
                                                 const Requantization& requantization, std::vector<int32_t>& bias,
                                                 const TargetInfo& target) {
  const TripleText& text = target.triple_kernel;
  if (text.family.empty() || k < kBytes || requantization.open) return std::nullopt;
  if (requantization.clamp.min != -128 || requantization.clamp.max != 127) return std::nullopt;
  TargetInfo plain = target;
  plain.asked = nullptr;
  TripleKernelFit best;
  int64_t least = 0;
  // Half as many channels at a time where they are few.
  for (int64_t c = text.channels; c >= std::min(kBytes, text.channels); c /= 2)
    for (int64_t unroll = kBytes; c <= channels && unroll <= std::min(k, text.most_unroll); unroll += kBytes) {
      plain.triple_channels = static_cast<int>(c);
      plain.triple_unroll = static_cast<int>(unroll);
      auto plan = plan_triples(weights, channels, k, plain);
      if (!plan || (plan->segments() > 1 && !text.many)) continue;
      TripleKernel kernel{text.family, c, unroll, text.flipped, plan->segments() > 1};
      const int64_t cost = kernel.cost(*plan, (channels + c - 1) / c, target);
      if (least > 0 && cost >= least) continue;
      least = cost;
      best.kernel = kernel;
      best.plan = *plan;
    }
  if (least == 0) return std::nullopt;
  auto lines = fit_common_line(requantization, TripleKernel::kLeft, bias);
  if (!lines || lines->shift == 0) return std::nullopt;
  best.kernel.shift = lines->shift;
  best.kernel.sign = lines->with_sign;
  best.lines = std::move(*lines);
  return best;
}

}  // namespace aotc::ops
