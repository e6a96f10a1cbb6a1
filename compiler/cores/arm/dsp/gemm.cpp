// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/common/gemm.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

GemmParameters gemm_parameters(FunctionBuilder& f, DType result, const char* groups) {
  GemmParameters p;
  p.stream = f.constant("stream", DType::kI32, 0);
  p.panel = f.input("panel", DType::kI32, 0);
  p.out = f.output("out", result, 0);
  p.shape = f.constant("shape", DType::kI32, 0);
  p.steps = f.let("steps", load(p.shape, PairGemm::kShapeSteps));
  p.groups = f.let(groups, load(p.shape, PairGemm::kShapePairs));
  return p;
}

Ex low_half(const Ex& word) { return shl_wrapping(word, 16) >> 16; }
Ex high_half(const Ex& word) { return word >> 16; }

namespace {

// Sign-extended bytes of a word.
Ex byte_0(const Ex& w) { return shl_wrapping(w, 24) >> 24; }
Ex byte_1(const Ex& w) { return shl_wrapping(w, 16) >> 24; }
Ex byte_2(const Ex& w) { return shl_wrapping(w, 8) >> 24; }

// acc + x.low * w.low + x.high * w.high; sums of channel b may pass 32 bits and come back.
Ex dot(const Ex& acc, const Ex& x_low, const Ex& w_low, const Ex& x_high, const Ex& w_high) {
  return add_wrapping(add_wrapping(acc, mul_wrapping(x_low, w_low)), mul_wrapping(x_high, w_high));
}

}  // namespace

Ex dot_words(const Ex& acc, const Ex& x, const Ex& w) {
  return dot(acc, low_half(x), low_half(w), high_half(x), high_half(w));
}

Ex dot_low_bytes(const Ex& acc, const Ex& x, const Ex& w) {
  return dot(acc, low_half(x), byte_0(w), high_half(x), byte_2(w));
}

Ex mla_low_high(const Ex& acc, const Ex& low, const Ex& high) {
  return add_wrapping(acc, mul_wrapping(low_half(low), high_half(high)));
}

namespace {

LineValues load_line(const BufferPtr& stream, const Ex& at, bool sign) {
  return {load(stream, at), load(stream, at + 1), sign ? std::optional(load(stream, at + 2)) : std::nullopt};
}

}  // namespace

Ex line_output(FunctionBuilder& f, const Ex& acc, const BufferPtr& stream, const Ex& at, int shift, bool sign) {
  return line_output(f, acc, load_line(stream, at, sign), shift);
}

Ex line_output(FunctionBuilder& f, const Ex& acc, const LineValues& line, int shift) {
  if (shift == 0) {
    Ex real = cast(DType::kF32, acc) * call(tir::Intrinsic::kFloatFromBits, DType::kF32, {line.multiplier});
    // Far beyond what bytes and zero points can tell apart.
    real = clamp(f.let("v", real), tir::f32(-1024.0f), tir::f32(1024.0f));
    return clamp(cast(DType::kI32, f.let("v", ops::emit_nearest_even(real))) + line.offset, -128, 127);
  }
  Ex product = cast(DType::kI64, acc) * cast(DType::kI64, line.multiplier);
  Ex sum = cast(DType::kI32, product >> tir::i64(32)) + line.offset;
  if (line.sign) sum = sum - ((acc >> 31) & *line.sign);
  return clamp(f.let("v", sum) >> shift, -128, 127);
}

LineValues let_line(FunctionBuilder& f, const BufferPtr& stream, const Ex& at, bool sign) {
  LineValues line = load_line(stream, at, sign);
  line.multiplier = f.let("multiplier", line.multiplier);
  line.offset = f.let("offset", line.offset);
  if (line.sign) line.sign = f.let("sign", *line.sign);
  return line;
}

int pair_factor(const std::vector<int8_t>& weights, int64_t k, int64_t a) {
  auto fits = [&](int factor) {
    for (int64_t i = 0; i < k; ++i) {
      const int32_t low = weights[static_cast<size_t>(a * k + i)];
      const int32_t word = 256 * factor * weights[static_cast<size_t>((a + 1) * k + i)] + low;
      if (word < INT16_MIN || word > INT16_MAX) return false;
    }
    return true;
  };
  return fits(1) ? 1 : fits(-1) ? -1 : 0;
}

int32_t stream_word(const std::vector<int8_t>& w, int64_t k, const std::array<int, 2>& step, int64_t a, int factor) {
  uint32_t out = 0;
  for (size_t half = 0; half < 2; ++half) {
    if (step[half] < 0) continue;
    int32_t low = w[static_cast<size_t>(a * k + step[half])];
    int32_t high = w[static_cast<size_t>((a + 1) * k + step[half])];
    out |= (static_cast<uint32_t>(256 * factor * high + low) & 0xFFFF) << (16 * half);
  }
  return static_cast<int32_t>(out);
}

void put_biases(std::vector<int32_t>& out, const std::vector<int32_t>& bias, int64_t a, int factor) {
  auto low = static_cast<uint32_t>(bias[static_cast<size_t>(a)]);
  auto high = static_cast<uint32_t>(bias[static_cast<size_t>(a + 1)]) * static_cast<uint32_t>(factor);
  out.push_back(static_cast<int32_t>(low));
  out.push_back(static_cast<int32_t>((high << 8) + low));
}

std::optional<LineFit::Channel> negated_line(const PairLines& lines, int64_t channel) {
  LineFit::Channel line = lines.channel(channel);
  if (lines.even() || (lines.mixed() && lines.floats[static_cast<size_t>(channel)])) {
    line.multiplier ^= INT32_MIN;  // the sign of a float32
    return line;
  }
  auto of_zero = [&](int32_t offset) { return std::clamp(offset >> lines.fit.shift, -128, 127); };
  if (lines.sign() && of_zero(line.offset) != of_zero(line.offset - line.sign)) return std::nullopt;
  line.multiplier = -line.multiplier;
  if (lines.sign()) line.offset -= line.sign, line.sign = -line.sign;
  return line;
}

void put_line(std::vector<int32_t>& out, const PairLines& lines, int64_t channel, int factor) {
  const LineFit::Channel line = factor < 0 ? negated_line(lines, channel).value() : lines.channel(channel);
  out.push_back(line.multiplier);
  out.push_back(line.offset);
  if (lines.sign()) out.push_back(line.sign);
}

namespace {

// Accumulators shifted left are as exact in float32 as without, if the scale makes up for it.
std::optional<LineFit> even_lines(const Requantization& what, int left) {
  LineFit fit;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    const auto largest = static_cast<double>(what.ranges[c].magnitude());
    // No sum of the result and the zero point leaves 32 bits, no scale is subnormal.
    constexpr double kMost = 1 << 30, kLeast = 0x1p-100;
    if (std::ldexp(largest, left) >= 2 * kMost || largest * what.scales[c] >= kMost || what.scales[c] < kLeast)
      return std::nullopt;
    auto scale = static_cast<float>(std::ldexp(what.scales[c], -left));
    fit.channels.push_back({std::bit_cast<int32_t>(scale), what.zero_point, left, 0, 0});
  }
  return fit;
}

}  // namespace

std::string form_text(const PairLines& lines) {
  if (lines.even()) return "float, ties to even";
  if (lines.mixed())
    return fmt::format("shift {}, {} of {} channels in float, ties to even", lines.fit.shift, lines.float_channels(),
                       lines.floats.size());
  return fmt::format("shift {}{}", lines.fit.shift, lines.sign() ? ", sign" : "");
}

std::optional<PairLines> fit_pair_lines(const Requantization& what, std::vector<int32_t>& bias, int left, bool fpu) {
  if (what.clamp.min < -128 || what.clamp.max > 127) return std::nullopt;
  auto fit = fit_common_line(what, left, bias);
  if (!fit && fpu && what.rounding == Rounding::kEven) fit = even_lines(what, left);
  if (!fit) return std::nullopt;
  return PairLines{std::move(*fit), what.clamp};
}

std::optional<PairLines> fit_mixed_lines(const Requantization& what, std::vector<int32_t>& bias, bool pairs) {
  constexpr int kLeft = PairGemm::kLeft;
  if (what.clamp.min < -128 || what.clamp.max > 127 || what.rounding != Rounding::kEven) return std::nullopt;
  const auto count = static_cast<int64_t>(what.scales.size());
  std::vector<int32_t> moved = bias;
  std::vector<bool> floats;
  auto fit = fit_most_lines(what, kLeft, moved, floats);
  const auto even = fit ? even_lines(what, kLeft) : std::nullopt;
  if (!even) return std::nullopt;
  // Both of a pair. Where their number is odd the last two pairs have a channel in common: what one tells the other may
  // come back, so there are two turns.
  for (int turn = 0; pairs && turn < 2; ++turn)
    for (int64_t first : tile_starts(count, 2)) {
      const auto a = static_cast<size_t>(first);
      floats[a] = floats[a + 1] = floats[a] || floats[a + 1];
    }
  PairLines out{std::move(*fit), what.clamp, floats};
  if (out.float_channels() == 0 || out.float_channels() == count) return std::nullopt;
  for (size_t c = 0; c < floats.size(); ++c) {
    if (floats[c]) out.fit.channels[c] = even->channels[c];
    else bias[c] = moved[c];
  }
  return out;
}

bool mixes(const PairLines& plain, const TargetInfo& target) {
  return (plain.sign() || plain.even()) && target.fpu && target.level != Level::kSize && target.slice == 0;
}

bool mixing_pays(const PairLines& plain, const PairLines& mixed) {
  return plain.even() || 3 * mixed.float_channels() <= static_cast<int64_t>(mixed.fit.channels.size());
}

bool pairs_fit(const std::vector<int8_t>& weights, int64_t channels, int64_t k) {
  return channels >= 2 && pairs_fit(weights, tile_starts(channels, 2), 2, k);
}

namespace {

// Does `fits` hold of the first channels of all pairs?
template <typename Fits>
bool all_pairs(const std::vector<int64_t>& first, int64_t size, Fits fits) {
  return std::all_of(first.begin(), first.end(), [&](int64_t group) {
    for (int64_t a = group; a < group + size; a += 2)
      if (!fits(a)) return false;
    return true;
  });
}

}  // namespace

bool pairs_fit(const std::vector<int8_t>& weights, const std::vector<int64_t>& first, int64_t size, int64_t k) {
  return all_pairs(first, size, [&](int64_t a) { return pair_factor(weights, k, a) == 1; });
}

bool pairs_fit(const std::vector<int8_t>& weights, const std::vector<int64_t>& first, int64_t size, int64_t k,
               const PairLines& lines) {
  return all_pairs(first, size, [&](int64_t a) {
    const int factor = pair_factor(weights, k, a);
    return factor == 1 || (factor == -1 && negated_line(lines, a + 1));
  });
}

PairOrder row_order(int64_t begin, int64_t end) {
  PairOrder order;
  for (int i = static_cast<int>(begin); i < end; i += 4) {
    order.push_back({i, i + 2});
    order.push_back({i + 1, i + 3});
  }
  return order;
}

std::vector<int> group_factors(const std::vector<int8_t>& weights, int64_t k, int64_t a, int64_t group) {
  std::vector<int> out;
  for (int64_t c = a; c < a + group; c += 2) out.insert(out.end(), {1, pair_factor(weights, k, c)});
  return out;
}

std::vector<int32_t> gemm_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                 const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                 const PairLines& lines, int64_t group) {
  std::vector<int32_t> out;
  for (int64_t a : first) {
    const std::vector<int> factors = group_factors(weights, k, a, group);
    auto factor = [&](int64_t c) { return factors[static_cast<size_t>(c - a)]; };
    for (int64_t c = a; c < a + group; c += 2) put_biases(out, bias, c, factor(c + 1));
    for (const auto& step : order)
      for (int64_t c = a; c < a + group; c += 2) out.push_back(stream_word(weights, k, step, c, factor(c + 1)));
    if (lines.mixed()) out.push_back(lines.floats[static_cast<size_t>(a)] ? 1 : 0);
    for (int64_t c = a; c < a + group; ++c) put_line(out, lines, c, factor(c));
  }
  return out;
}

std::vector<int32_t> gemm_sums_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                      const std::vector<int64_t>& first, SumsForm form,
                                      const std::vector<int32_t>& bias) {
  std::vector<int32_t> out;
  for (int64_t a : first) {
    if (form.words > 0) {
      for (int64_t c : {a, a + 1}) out.push_back(shifted_bias(bias, c, PairGemm::kLeft));
      for (const auto& step : order)
        for (int64_t c : {a, a + 1}) out.push_back(scaled_word(weights, k, step, c));
      continue;
    }
    if (form.biased) put_biases(out, bias, a);
    for (const auto& step : order) out.push_back(stream_word(weights, k, step, a));
  }
  return out;
}

std::vector<int32_t> gemv_sums_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                      const std::vector<int64_t>& first) {
  std::vector<int32_t> out;
  for (int64_t a : first)
    for (const auto& step : order)
      for (int64_t c = a; c < a + 8; c += 2) out.push_back(stream_word(weights, k, step, c));
  out.insert(out.end(), PairGemm::kGemvAhead, 0);
  return out;
}

int64_t loop_entry(int64_t steps, int64_t unroll, int64_t instructions) {
  int64_t skipped = steps == 0 ? unroll : (unroll - steps % unroll) % unroll;
  return skipped * instructions * 4 + 1;
}

std::vector<int32_t> as_words(std::initializer_list<int64_t> list) {
  std::vector<int32_t> out;
  for (int64_t v : list) out.push_back(static_cast<int32_t>(v));
  return out;
}

namespace {

int64_t pair_entry(int64_t steps, int64_t pixels) {
  return loop_entry(steps - 1, PairGemm::kUnroll, PairGemm::kStepInstructions[pixels]);
}

// Where a loop of several steps a turn is entered: behind the load of their weights, which is done before with as
// many words in front of the first as there are steps that are left out.
struct TurnEntry {
  int64_t entry = 0, back = 0;
};

// A turn is `each` steps of `instructions`, the first of which is the load, and stands `unroll` times in the loop; from
// where one step of it begins to the next are `step` bytes.
TurnEntry turn_entry(int64_t steps, int64_t each, int64_t unroll, int64_t instructions, int64_t step) {
  const int64_t turn = instructions * 4, all = each * unroll;
  if (steps == 0) return {unroll * turn + 1, each * 4};
  const int64_t skipped = (all - steps % all) % all, within = skipped % each;
  return {skipped / each * turn + 4 + within * step + 1, within * 4};
}

}  // namespace

std::vector<int32_t> gemm_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels, bool sign, bool mixed,
                                bool even) {
  // The first step is outside of the loop, or the first two.
  TurnEntry turn{pair_entry(steps, pixels), 0};
  if (pixels == 3)
    turn = turn_entry(steps - 1, 3, PairGemm::kTripleUnroll, PairGemm::kTripleInstructions, PairGemm::kTripleStep * 4);
  if (even)
    turn = turn_entry(steps - 2, 4, PairGemm::kEvenUnroll, PairGemm::kEvenInstructions, PairGemm::kEvenTwoSteps * 2);
  std::vector<int32_t> out = as_words({steps, pairs, stride, turn.entry, steps * pixels * 4,
                                       pairs * (2 + steps + (mixed ? 1 : 0) + 2 * line_words(sign)) * 4});
  if (pixels == 3 || even) out.push_back(static_cast<int32_t>(turn.back));
  return out;
}

std::vector<int32_t> gemv_shape(int64_t steps, int64_t groups, bool sign) {
  int64_t entry = loop_entry(steps / 2, PairGemm::kGemvUnroll, PairGemm::kGemvInstructions);
  return as_words({steps, groups, 0, entry, steps * 4, groups * (8 + 4 * steps + 8 * line_words(sign)) * 4});
}

std::vector<int32_t> gemv_sums_shape(int64_t steps, int64_t groups) {
  std::vector<int32_t> out = gemv_shape(steps, groups, false);
  out[PairGemm::kShapeStreamBytes] = static_cast<int32_t>((groups * 4 * steps + PairGemm::kGemvAhead) * 4);
  return out;
}

std::vector<int32_t> gemm_sums_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels, SumsForm form) {
  const bool words = form.words > 0;
  const int64_t stream = words ? 2 + 2 * steps : steps + (form.biased ? 2 : 0);
  const int64_t entry =
      words ? loop_entry(steps - 1, form.words, PairGemm::kWordsStepInstructions[pixels]) : pair_entry(steps, pixels);
  return as_words({steps, pairs, stride, entry, steps * pixels * 4, pairs * stream * 4});
}

std::vector<int32_t> gemm_words_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels, bool sign,
                                      int unroll, bool mixed) {
  int64_t entry = loop_entry(steps - 1, unroll, PairGemm::kWordsStepInstructions[pixels]);
  return as_words({steps, pairs, stride, entry, steps * pixels * 4,
                   pairs * (2 + 2 * steps + (mixed ? 1 : 0) + 2 * line_words(sign)) * 4});
}

std::vector<int32_t> gemv_words_shape(int64_t steps, int64_t groups, bool sign) {
  int64_t entry =
      loop_entry(steps / PairGemm::kWordsGemvSteps, PairGemm::kWordsGemvUnroll, PairGemm::kWordsGemvInstructions);
  return as_words({steps, groups, 0, entry, steps * 4, groups * 4 * (1 + steps + line_words(sign)) * 4});
}

namespace {

// Steps that C writes out. Compilers keep no more of them in registers, and gain little by more.
constexpr int64_t kWrittenSteps = 8;

// Elements of a panel that as many steps take as are written out; the other steps come last.
struct PanelSteps {
  Ex written, all;
  PanelSteps(FunctionBuilder& f, const Ex& steps, int64_t pixels)
      : written(f.let("written", (steps - steps % kWrittenSteps) * pixels)), all(f.let("elements", steps * pixels)) {}
};

// Two accumulators for each pixel take the steps of a pair whose weights begin at stream[at]; moves `at` behind them.
void gemm_steps(FunctionBuilder& f, const std::vector<Ex>& acc, const BufferPtr& stream, const Ex& at,
                const BufferPtr& panel, const PanelSteps& steps) {
  const auto pixels = static_cast<int64_t>(acc.size() / 2);
  auto take = [&](const Ex& begin, const Ex& end, int64_t count) {
    f.loop(
        "k", begin, end,
        [&](Ex k) {
          for (int64_t i = 0; i < count; ++i) {
            Ex w = f.let("w", load(stream, at + i));
            for (int64_t p = 0; p < pixels; ++p) {
              Ex x = f.let(fmt::format("x{}", p), load(panel, k + (i * pixels + p)));
              const Ex& a = acc[static_cast<size_t>(2 * p)];
              const Ex& b = acc[static_cast<size_t>(2 * p + 1)];
              f.assign(a, dot_low_bytes(a, x, w));
              f.assign(b, dot_words(b, x, w));
            }
          }
          f.assign(at, at + count);
        },
        count * pixels);
  };
  take(0, steps.written, kWrittenSteps);
  f.if_(steps.written < steps.all, [&] { take(steps.written, steps.all, 1); });
}

}  // namespace

KernelPtr gemm_pairs_kernel(int64_t pixels, int shift, bool sign, bool mixed, bool even, const OwnGemm& own) {
  FunctionBuilder f("gemm_pairs");
  const auto [stream, panel, out, shape, steps, pairs] = gemm_parameters(f, DType::kI8, "pairs");
  Ex stride = f.let("stride", load(shape, PairGemm::kShapeStride));
  const int64_t words = line_words(sign), flag = mixed ? 1 : 0;
  const PanelSteps of_panel(f, steps, pixels);
  Ex at = f.var("at", 0);
  f.loop("pair", 0, pairs, [&](Ex pair) {
    std::vector<Ex> acc;
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < 2; ++c) acc.push_back(f.var(fmt::format("acc{}{}", p, c), load(stream, at + c)));
    f.assign(at, at + 2);
    gemm_steps(f, acc, stream, at, panel, of_panel);
    // Loaded once: compilers must assume that the stores of bytes change the stream.
    const LineValues first = let_line(f, stream, at + flag, sign);
    const LineValues second = let_line(f, stream, at + (flag + words), sign);
    auto finish = [&](int by) {
      for (int64_t p = 0; p < pixels; ++p) {
        const Ex& a = acc[static_cast<size_t>(2 * p)];
        Ex b = f.let("b", sub_wrapping(acc[static_cast<size_t>(2 * p + 1)], a));
        Ex scaled = f.let("a", shl_wrapping(a, PairGemm::kLeft));
        Ex to = f.let("to", p * stride + pair * 2);
        f.store(out, to, line_output(f, scaled, first, by));
        f.store(out, to + 1, line_output(f, b, second, by));
      }
    };
    if (mixed) f.if_(load(stream, at) != 0, [&] { finish(0); }, [&] { finish(shift); });
    else finish(shift);
    f.assign(at, at + (flag + 2 * words));
  });
  std::vector<std::pair<std::string, int64_t>> parameters = {{"pixels", pixels}, {"shift", shift}, {"sign", sign}};
  if (mixed) parameters.push_back({"mixed", 1});
  if (even) parameters.push_back({"even", 2});  // kernels are named by these numbers
  if (own.steps > 0)
    parameters.insert(parameters.end(), {{"steps", own.steps}, {"stride", own.stride}, {"unroll", own.unroll}});
  return f.finish_kernel("gemm_pairs", std::move(parameters));
}

namespace {

// Eight accumulators take the steps of a group whose weights begin at stream[at].
void gemv_steps(FunctionBuilder& f, const std::vector<Ex>& acc, const BufferPtr& stream, const Ex& at,
                const BufferPtr& panel, const Ex& steps) {
  f.loop("i", 0, steps, [&](Ex i) {
    Ex x = f.let("x", load(panel, i));
    for (int64_t pair = 0; pair < 4; ++pair) {
      Ex w = f.let(fmt::format("w{}", pair), load(stream, at + i * 4 + pair));
      const Ex& a = acc[static_cast<size_t>(2 * pair)];
      const Ex& b = acc[static_cast<size_t>(2 * pair + 1)];
      f.assign(a, dot(a, low_half(x), byte_0(w), high_half(x), byte_2(w)));
      f.assign(b, dot(b, low_half(x), low_half(w), high_half(x), high_half(w)));
    }
  });
}

}  // namespace

KernelPtr gemv_pairs_kernel(int shift, bool sign) {
  FunctionBuilder f("gemv_pairs");
  const auto [stream, panel, out, shape, steps, groups] = gemm_parameters(f, DType::kI8, "groups");
  int64_t words = line_words(sign);
  f.loop("group", 0, groups, [&](Ex group) {
    Ex at = f.let("at", group * (steps * 4 + (8 + 8 * words)));
    std::vector<Ex> acc;
    for (int64_t c = 0; c < 8; ++c) acc.push_back(f.var(fmt::format("acc{}", c), load(stream, at + c)));
    gemv_steps(f, acc, stream, at + 8, panel, steps);
    Ex line = f.let("line", at + 8 + steps * 4);
    for (int64_t c = 0; c < 8; ++c) {
      const Ex& own = acc[static_cast<size_t>(c)];
      Ex scaled = f.let(
          "a", c % 2 == 0 ? shl_wrapping(own, PairGemm::kLeft) : sub_wrapping(own, acc[static_cast<size_t>(c - 1)]));
      f.store(out, group * 8 + c, line_output(f, scaled, stream, line + c * words, shift, sign));
    }
  });
  return f.finish_kernel("gemv_pairs", {{"shift", shift}, {"sign", sign}});
}

KernelPtr gemm_sums_kernel(int64_t pixels, SumsForm form) {
  if (form.words > 0) return gemm_words_sums_kernel(pixels, form.words);
  FunctionBuilder f("gemm_sums");
  const auto [stream, panel, out, shape, steps, pairs] = gemm_parameters(f, DType::kI32, "pairs");
  Ex stride = f.let("stride", load(shape, PairGemm::kShapeStride) >> 2);
  const PanelSteps of_panel(f, steps, pixels);
  Ex at = f.var("at", 0);
  f.loop("pair", 0, pairs, [&](Ex pair) {
    std::vector<Ex> acc;
    for (int64_t i = 0; i < 2 * pixels; ++i)
      acc.push_back(f.var(fmt::format("acc{}{}", i / 2, i % 2), form.biased ? load(stream, at + i % 2) : Ex(0)));
    if (form.biased) f.assign(at, at + 2);
    gemm_steps(f, acc, stream, at, panel, of_panel);
    for (int64_t p = 0; p < pixels; ++p) {
      const Ex& a = acc[static_cast<size_t>(2 * p)];
      Ex to = f.let("to", pair * 2 + p * stride);
      f.store(out, to, a);
      f.store(out, to + 1, sub_wrapping(acc[static_cast<size_t>(2 * p + 1)], a) >> 8);
    }
  });
  std::vector<std::pair<std::string, int64_t>> parameters = {{"pixels", pixels}};
  if (form.biased) parameters.push_back({"biased", 1});
  return f.finish_kernel("gemm_sums", std::move(parameters));
}

KernelPtr gemv_sums_kernel() {
  FunctionBuilder f("gemv_sums");
  const auto [stream, panel, out, shape, steps, groups] = gemm_parameters(f, DType::kI32, "groups");
  f.loop("group", 0, groups, [&](Ex group) {
    std::vector<Ex> acc;
    for (int64_t c = 0; c < 8; ++c) acc.push_back(f.var(fmt::format("acc{}", c), 0));
    gemv_steps(f, acc, stream, f.let("at", group * (steps * 4)), panel, steps);
    for (int64_t c = 0; c < 8; ++c) {
      const Ex& own = acc[static_cast<size_t>(c)];
      Ex sum = c % 2 == 0 ? own : sub_wrapping(own, acc[static_cast<size_t>(c - 1)]) >> 8;
      f.store(out, group * 8 + c, sum);
    }
  });
  return f.finish_kernel("gemv_sums", {});
}

Ex pair_word(const Ex& low, const Ex& high) { return (low & 0xFFFF) | shl_wrapping(high, 16); }

namespace {

// Elements x[at .. at + 3] of one pixel into two steps of the panel.
void spread(FunctionBuilder& f, const BufferPtr& x, const Ex& at, const BufferPtr& panel, const Ex& to,
            int64_t pixels) {
  Ex first = f.let("at", at);
  auto byte = [&](int64_t i) { return load(x, first + i) & 255; };
  Ex bytes = f.let(
      "bytes", byte(0) | shl_wrapping(byte(1), 8) | shl_wrapping(byte(2), 16) | shl_wrapping(load(x, first + 3), 24));
  Ex even = f.let("even", pair_word(byte_0(bytes), byte_2(bytes)));
  Ex odd = f.let("odd", pair_word(byte_1(bytes), bytes >> 24));
  f.store(panel, to, even);
  f.store(panel, to + pixels, odd);
}

}  // namespace

namespace {

// The first `taken` of a panel's `pixels`.
KernelPtr pack_kernel(const char* name, int64_t taken, int64_t pixels, int64_t written = 0) {
  FunctionBuilder f(name);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex stride = f.let("stride", load(shape, PairGemm::kPackPixelStride));
  Ex words = f.let("words", load(shape, PairGemm::kPackWords));
  Ex rows = f.let("rows", load(shape, PairGemm::kPackRows));
  Ex skip = f.let("skip", load(shape, PairGemm::kPackRowSkip));
  f.loop("row", 0, rows, [&](Ex row) {
    f.loop("word", 0, words, [&](Ex word) {
      Ex from = f.let("from", row * (words * 4 + skip) + word * 4);
      Ex to = f.let("to", (row * words + word) * (2 * pixels));
      for (int64_t p = 0; p < taken; ++p) spread(f, x, from + p * stride, panel, to + p, pixels);
    });
  });
  std::vector<std::pair<std::string, int64_t>> parameters = {{"pixels", pixels}};
  if (written > 0) parameters.push_back({"written", written});
  return f.finish_kernel(name, std::move(parameters));
}

}  // namespace

KernelPtr pack_pixels_kernel(int64_t pixels, int64_t written) {
  return pack_kernel("pack_pixels", pixels, pixels, written);
}

KernelPtr pack_pixel_kernel(int64_t pixels) { return pack_kernel("pack_pixel", 1, pixels); }

KernelPtr pack_edge_kernel(const EdgeRows& edge) {
  FunctionBuilder f("pack_edge");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  Ex rows = f.scalar("rows");
  Ex missing = f.let("missing", f.scalar("shift") >> 3);
  f.loop("row", 0, rows, [&](Ex row) {
    std::vector<Ex> v;
    for (int64_t j = 0; j < 4; ++j) {
      Ex at = f.let("at", j - missing);
      v.push_back(f.let("v", select(at >= 0 && at < 4, load(x, row * edge.row + at), edge.zero)));
    }
    Ex to = f.let("to", row * (edge.steps * edge.pixels));
    f.store(panel, to, pair_word(v[0], v[2]));
    f.store(panel, to + edge.pixels, pair_word(v[1], v[3]));
  });
  return f.finish_kernel("pack_edge",
                         {{"pixels", edge.pixels}, {"row", edge.row}, {"steps", edge.steps}, {"zero", edge.zero}});
}

KernelPtr pack_run_kernel(int64_t pixels) {
  FunctionBuilder f("pack_run");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  Ex words = f.scalar("words");
  f.loop("word", 0, words, [&](Ex word) { spread(f, x, word * 4, panel, word * (2 * pixels), pixels); });
  return f.finish_kernel("pack_run", {{"pixels", pixels}});
}

}  // namespace aotc::cores::arm
