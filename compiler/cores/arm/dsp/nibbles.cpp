// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/nibbles.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

constexpr int64_t kQuad = 4;

int32_t nibble_word(const std::vector<int8_t>& w, int64_t k, const std::array<int, 2>& step, int64_t a) {
  uint32_t out = 0;
  for (size_t half = 0; half < 2; ++half) {
    auto weight = [&](int64_t c) {
      return step[half] < 0 ? 0 : int32_t{w[static_cast<size_t>((a + c) * k + step[half])]};
    };
    int32_t lane = 4096 * weight(3) + 256 * (weight(2) + 8) + 16 * (weight(1) + 8) + weight(0) + 8;
    out |= (static_cast<uint32_t>(lane) & 0xFFFF) << (16 * half);
  }
  return static_cast<int32_t>(out);
}

// What the four products of a quad begin with.
void put_quad_biases(std::vector<int32_t>& out, const std::vector<int32_t>& bias, int64_t a) {
  auto b = [&](int64_t c) { return static_cast<uint32_t>(bias[static_cast<size_t>(a + c)]); };
  const uint32_t second = b(0) + 16 * b(1), third = 256 * b(2);
  for (uint32_t word : {b(0), second, third, second + third + 4096 * b(3)}) out.push_back(static_cast<int32_t>(word));
}

// Lines of the sums without their biases.
std::optional<LineFit> fit_without_bias(const Requantization& what, const std::vector<int32_t>& bias) {
  std::vector<StepTarget> targets;
  for (size_t c = 0; c < bias.size(); ++c) {
    ChannelReference reference = what.reference(c);
    const AccRange& r = what.ranges[c];
    AccRange own{r.low - bias[c], r.high - bias[c]};
    if (own.magnitude() >= NibbleGemm::kMostSum) return std::nullopt;
    // A left shift that wraps makes no steps.
    int left = std::max(quantize_multiplier(what.scales[c]).shift, 0);
    if (what.rounding == Rounding::kDouble && (left > 30 || (r.magnitude() << left) >= int64_t{1} << 31))
      return std::nullopt;
    targets.push_back(
        {[reference, b = bias[c]](int32_t acc) { return reference(acc + b); }, what.scales[c], own, -int64_t{bias[c]}});
  }
  auto steps = find_steps(targets, what.zero_point, what.clamp);
  if (!steps) return std::nullopt;
  auto fit = fit_lines(*steps, what.clamp, NibbleGemm::kLeft);
  return fit && !fit->with_sign ? std::move(fit) : std::nullopt;
}

}  // namespace

std::optional<NibbleLines> fit_nibble_lines(const Requantization& what, std::vector<int32_t> bias) {
  if (what.clamp.min < -128 || what.clamp.max > 127) return std::nullopt;
  if (auto fit = fit_without_bias(what, bias)) return NibbleLines{{std::move(*fit), what.clamp}, {}};
  std::vector<int32_t> before = bias;
  auto lines = fit_pair_lines(what, bias, NibbleGemm::kLeft);
  if (!lines) return std::nullopt;
  for (size_t c = 0; c < bias.size(); ++c) {
    int64_t moved = int64_t{bias[c]} - before[c];
    if (AccRange{what.ranges[c].low + moved, what.ranges[c].high + moved}.magnitude() >= NibbleGemm::kMostSum)
      return std::nullopt;
  }
  return NibbleLines{std::move(*lines), std::move(bias)};
}

std::vector<int32_t> nibble_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                   const std::vector<int64_t>& first, int64_t channels, const NibbleLines& lines) {
  std::vector<int32_t> out;
  for (int64_t a : first) {
    for (int64_t c = a; c < a + channels && !lines.bias.empty(); c += kQuad) put_quad_biases(out, lines.bias, c);
    for (const auto& step : order)
      for (int64_t c = a; c < a + channels; c += kQuad) out.push_back(nibble_word(weights, k, step, c));
    for (int64_t c = a; c < a + channels; ++c) put_line(out, lines.lines, c);
  }
  return out;
}

namespace {

int64_t words_of_group(const NibbleTile& tile, int64_t steps, bool sign) {
  return tile.channels * ((tile.bias ? 1 : 0) + line_words(sign)) + steps * (tile.channels / kQuad);
}

}  // namespace

std::vector<int32_t> nibble_shape(int64_t steps, int64_t groups, int64_t stride, const NibbleTile& tile, bool sign) {
  int64_t instructions = NibbleGemm::step_instructions(tile.pixels, tile.channels / kQuad);
  std::vector<int32_t> out(NibbleGemm::kStreamBytes + 1);
  auto put = [&](int at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
  put(NibbleGemm::kSteps, steps);
  put(NibbleGemm::kGroups, groups);
  put(NibbleGemm::kStride, stride);
  put(NibbleGemm::kEntry, loop_entry(steps, NibbleGemm::kUnroll, instructions));
  put(NibbleGemm::kPanelBytes, steps * tile.pixels * 4);
  put(NibbleGemm::kStreamBytes, groups * words_of_group(tile, steps, sign) * 4);
  return out;
}

namespace {

class NibbleMeaning {
 public:
  NibbleMeaning(const NibbleTile& tile, int shift, bool sign)
      : tile_(tile), shift_(shift), sign_(sign), f_("gemm_nibbles") {}

  KernelPtr run() {
    stream_ = f_.constant("stream", DType::kI32, 0);
    panel_ = f_.input("panel", DType::kI32, 0);
    BufferPtr out = f_.output("out", DType::kI8, 0);
    BufferPtr shape = f_.constant("shape", DType::kI32, 0);
    steps_ = f_.let("steps", load(shape, NibbleGemm::kSteps));
    Ex groups = f_.let("groups", load(shape, NibbleGemm::kGroups));
    Ex stride = f_.let("stride", load(shape, NibbleGemm::kStride));
    add_panel();
    const int64_t lines = line_words(sign_);
    f_.loop("group", 0, groups, [&](Ex group) {
      Ex size = steps_ * quads() + tile_.channels * ((tile_.bias ? 1 : 0) + lines);
      begin(f_.let("at", group * size));
      multiply();
      Ex line = f_.let("line", weights_at_ + steps_ * quads());
      for (int64_t p = 0; p < tile_.pixels; ++p)
        for (int64_t c = 0; c < tile_.channels; ++c)
          f_.store(out, p * stride + group * tile_.channels + c,
                   line_output(f_, f_.let("v", scaled(p, c)), stream_, line + c * lines, shift_, sign_));
    });
    return f_.finish_kernel("gemm_nibbles", {{"pixels", tile_.pixels},
                                             {"channels", tile_.channels},
                                             {"bias", tile_.bias},
                                             {"shift", shift_},
                                             {"sign", sign_}});
  }

 private:
  int64_t quads() const { return tile_.channels / kQuad; }
  const Ex& acc(int64_t p, int64_t c) const { return acc_[static_cast<size_t>(p * tile_.channels + c)]; }

  // -8 times the sum of each pixel, in a loop for each: gcc 12.2 vectorises a loop of two sums together, and what
  // multiplies them behind it then takes sums of the first half of the steps (-O3, x86-64).
  void add_panel() {
    for (int64_t p = 0; p < tile_.pixels; ++p) {
      Ex sum = f_.var("eights", 0);
      f_.loop("i", 0, steps_,
              [&](Ex i) { f_.assign(sum, dot_words(sum, load(panel_, i * tile_.pixels + p), Ex(-0x70008))); });
      eights_.push_back(sum);
    }
  }

  void begin(const Ex& at) {
    constexpr std::array<int64_t, kQuad> kParts = {1, 17, 256, 273};
    acc_.clear();
    for (int64_t p = 0; p < tile_.pixels; ++p)
      for (int64_t c = 0; c < tile_.channels; ++c) {
        Ex part = mul_wrapping(eights_[static_cast<size_t>(p)], kParts[static_cast<size_t>(c % kQuad)]);
        acc_.push_back(
            f_.var(fmt::format("acc{}{}", p, c), tile_.bias ? add_wrapping(load(stream_, at + c), part) : part));
      }
    weights_at_ = tile_.bias ? at + tile_.channels : at;
  }

  void multiply() {
    constexpr std::array<int64_t, kQuad> kMasks = {0x000F000F, 0x00FF00FF, 0x0F000F00, -1};
    f_.loop("i", 0, steps_, [&](Ex i) {
      std::vector<Ex> x;
      for (int64_t p = 0; p < tile_.pixels; ++p)
        x.push_back(f_.let(fmt::format("x{}", p), load(panel_, i * tile_.pixels + p)));
      for (int64_t q = 0; q < quads(); ++q) {
        Ex w = f_.let("w", load(stream_, weights_at_ + i * quads() + q));
        for (int64_t c = 0; c < kQuad; ++c) {
          Ex part = c + 1 < kQuad ? f_.let("part", w & kMasks[static_cast<size_t>(c)]) : w;
          for (int64_t p = 0; p < tile_.pixels; ++p)
            f_.assign(acc(p, q * kQuad + c), dot_words(acc(p, q * kQuad + c), x[static_cast<size_t>(p)], part));
        }
      }
    });
  }

  // 4096 times the sum of channel c.
  Ex scaled(int64_t p, int64_t c) const {
    int64_t a = c / kQuad * kQuad;
    switch (c % kQuad) {
      case 0: return shl_wrapping(acc(p, a), 12);
      case 1: return shl_wrapping(sub_wrapping(acc(p, c), acc(p, a)), 8);
      case 2: return shl_wrapping(acc(p, c), 4);
      default: return sub_wrapping(sub_wrapping(acc(p, c), acc(p, c - 1)), acc(p, c - 2));
    }
  }

  NibbleTile tile_;
  int shift_;
  bool sign_;
  FunctionBuilder f_;
  BufferPtr stream_, panel_;
  Ex steps_, weights_at_;
  std::vector<Ex> eights_, acc_;
};

}  // namespace

KernelPtr gemm_nibbles_kernel(const NibbleTile& tile, int shift, bool sign) {
  return NibbleMeaning(tile, shift, sign).run();
}

Work nibble_work(const NibbleTile& tile, int64_t steps, int64_t groups, bool sign) {
  auto p = static_cast<double>(tile.pixels), c = static_cast<double>(tile.channels);
  auto n = static_cast<double>(steps), quads = static_cast<double>(tile.channels / kQuad);
  Work step{.load = 2, .alu = 3 * quads, .dual = 4 * p * quads};
  Work pass{.load = 1, .alu = 1, .branch = 1};
  Work group{
      .load = 6 + c, .store = p * c + 1, .alu = 4 + 2.5 * p * c + (sign ? 2 * p * c : 0), .high = p * c, .branch = 2};
  group += step * n + pass * (n / NibbleGemm::kUnroll + 1);
  Work sums{.load = 1, .alu = 1, .dual = p, .branch = 1};
  return Work{.load = 14, .store = 14, .alu = 16, .branch = 4} + sums * n + group * static_cast<double>(groups);
}

}  // namespace aotc::cores::arm
