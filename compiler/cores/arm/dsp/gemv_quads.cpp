// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/gemv_quads.h"
#include "cores/arm/dsp/assembly.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

// Of elements `step` of channels a and a + 1.
int32_t byte_word(const std::vector<int8_t>& weights, int64_t k, const std::array<int, 2>& step, int64_t a) {
  uint32_t out = 0;
  for (int half = 0; half < 2; ++half)
    for (int c = 0; c < 2; ++c) {
      const auto at = static_cast<size_t>((a + c) * k + step[static_cast<size_t>(half)]);
      out |= uint32_t{static_cast<uint8_t>(weights[at])} << (16 * half + 8 * c);
    }
  return static_cast<int32_t>(out);
}

}  // namespace

std::optional<QuadsLines> fit_quads(const std::vector<int8_t>& weights, const std::vector<int64_t>& first, int64_t k,
                                    const Requantization& scaling, std::vector<int32_t>& bias, bool fpu) {
  std::vector<int32_t> moved = bias;
  if (auto pairs = fit_pair_lines(scaling, moved, PairGemm::kLeft, fpu);
      pairs && pairs_fit(weights, first, GemvQuads::kChannels, k, *pairs)) {
    bias = std::move(moved);
    return QuadsLines{QuadsForm{}, std::move(*pairs)};
  }
  int64_t most = 0;
  for (const AccRange& range : scaling.ranges) most = std::max(most, range.magnitude());
  int left = PairGemm::kLeft;
  while (left > 0 && most << left >= int64_t{1} << 31) --left;
  auto lines = fit_pair_lines(scaling, bias, left, fpu);
  if (!lines) return std::nullopt;
  return QuadsLines{QuadsForm{true, left}, std::move(*lines)};
}

std::vector<int32_t> quads_stream(const std::vector<int8_t>& weights, int64_t k, const std::vector<int64_t>& first,
                                  const std::vector<int32_t>& bias, const QuadsLines& lines) {
  const bool bytes = lines.form.bytes;
  std::vector<int32_t> out;
  for (int64_t a : first) {
    const int64_t end = a + GemvQuads::kChannels;
    const std::vector<int> factors =
        bytes ? std::vector<int>(GemvQuads::kChannels, 1) : group_factors(weights, k, a, GemvQuads::kChannels);
    auto factor = [&](int64_t c) { return factors[static_cast<size_t>(c - a)]; };
    for (int64_t c = a; c < end && bytes; ++c) out.push_back(bias[static_cast<size_t>(c)]);
    for (int64_t c = a; c < end && !bytes; c += 2) put_biases(out, bias, c, factor(c + 1));
    for (const auto& step : row_order(0, k))
      for (int64_t c = a; c < end; c += 2)
        out.push_back(bytes ? byte_word(weights, k, step, c) : stream_word(weights, k, step, c, factor(c + 1)));
    for (int64_t c = a; c < end; ++c) put_line(out, lines.lines, c, factor(c));
  }
  return out;
}

std::vector<int32_t> quads_shape(int64_t words, int64_t groups, bool sign, const QuadsForm& form) {
  const int64_t entry = loop_entry(words, GemvQuads::kUnroll, form.instructions());
  return as_words(
      {words, groups, 0, entry, words * 4, groups * GemvQuads::kChannels * (1 + words + line_words(sign)) * 4});
}

KernelPtr gemv_quads_kernel(int shift, bool sign, const QuadsForm& form) {
  constexpr int64_t kChannels = GemvQuads::kChannels;
  FunctionBuilder f("gemv_quads");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex words = f.let("words", load(shape, PairGemm::kShapeSteps));
  Ex groups = f.let("groups", load(shape, PairGemm::kShapePairs));
  const int64_t line = line_words(sign);
  f.loop("group", 0, groups, [&](Ex group) {
    Ex at = f.let("at", group * kChannels * (words + (1 + line)));
    std::vector<Ex> acc;
    for (int64_t c = 0; c < kChannels; ++c) acc.push_back(f.var(fmt::format("acc{}", c), load(stream, at + c)));
    f.loop("i", 0, words, [&](Ex i) {
      for (int64_t half = 0; half < 2; ++half) {
        Ex pair = f.let(fmt::format("x{}", half), pair_word(load(x, i * 4 + half), load(x, i * 4 + (half + 2))));
        for (int64_t c = 0; c < kChannels; c += 2) {
          Ex w =
              f.let(fmt::format("w{}{}", half, c), load(stream, at + i * kChannels + (kChannels + 2 * half + c / 2)));
          Ex& a = acc[static_cast<size_t>(c)];
          Ex& b = acc[static_cast<size_t>(c + 1)];
          f.assign(a, dot_low_bytes(a, pair, w));
          f.assign(b, form.bytes ? dot_low_bytes(b, pair, w >> 8) : dot_words(b, pair, w));
        }
      }
    });
    Ex lines = f.let("lines", at + kChannels + words * kChannels);
    for (int64_t c = 0; c < kChannels; ++c) {
      const Ex& own = acc[static_cast<size_t>(c)];
      const bool summed = c % 2 == 1 && !form.bytes;
      Ex scaled =
          f.let("a", summed ? sub_wrapping(own, acc[static_cast<size_t>(c - 1)]) : shl_wrapping(own, form.left));
      f.store(out, group * kChannels + c, line_output(f, scaled, stream, lines + c * line, shift, sign));
    }
  });
  return f.finish_kernel("gemv_quads", {{"shift", shift}, {"sign", sign}, {"bytes", form.bytes}, {"left", form.left}});
}

Work quads_work(int64_t words, int64_t groups, bool sign, const QuadsForm& form) {
  constexpr double kChannels = GemvQuads::kChannels;
  const Work word{.load = 2, .alu = form.bytes ? 10.0 : 6.0, .dual = 8};
  const Work pass{.alu = 1, .branch = 1};
  const Work finish{.load = sign ? kChannels : kChannels / 2,
                    .store = kChannels,
                    .alu = (sign ? 4.0 : 2.0) * kChannels,
                    .high = kChannels};
  Work group{.load = 6, .store = 1, .alu = 1, .branch = 2};
  group += word * static_cast<double>(words) +
           pass * static_cast<double>((words + GemvQuads::kUnroll - 1) / GemvQuads::kUnroll) + finish;
  return Work{.load = 12, .store = 12, .alu = 12, .branch = 3} + group * static_cast<double>(groups);
}

namespace {

// The accumulators are r2 to r5, channel 2 * pair + c.
class QuadsWriter {
 public:
  QuadsWriter(int shift, bool sign, const QuadsForm& form) : shift_(shift), sign_(sign), form_(form) {}

  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.note("On entry r0: weights, r1: x, r2: out, r3: shape.");
    a_.enter(GemvFrame::kBytes);
    a_.note("On the stack from sp: x, end of weights, out, where the unrolled body is entered, end of x.");
    begin_gemv(a_, body);
    a_.note("For every four channels. r0: weights, r1: x, r2 to r5: their sums, r12: end of x.");
    a_.bind(group);
    a_.ldm_after(r0, {r2, r3, r4, r5});
    a_.ldr(r12, sp, GemvFrame::kPixelEnd);
    a_.jump(sp, GemvFrame::kEntry);
    a_.bind(body);
    a_.note(form_.bytes ? "Four bytes of x by four channels. A word of weights has the bytes a, b, a, b."
                        : "Four bytes of x by four channels. A word of weights has 256 * b + a in each half.");
    a_.repeat(GemvQuads::kUnroll, [&] { word(); });
    a_.cmp(r1, r12);
    a_.b("ne", body);
    a_.note("Requantise: multiply, add the offset, shift, saturate; store.");
    finish_group();
    end_group(a_, group);
    return a_.finish();
  }

 private:
  static Reg acc(int channel) { return {2 + channel}; }

  // Every instruction is 4 bytes.
  void word() {
    a_.at_any_address();
    a_.ldr_after(r6, r1, 4);
    a_.sxtb16(r7, r6, 8);
    a_.sxtb16(r6, r6);
    a_.ldm_after(r0, {r8, r9, r10, r11});
    int weights = 8;
    for (Reg x : {r6, r7})
      for (int a : {0, 2}) {
        const Reg w = {weights++};
        if (form_.bytes) a_.sxtb16(lr, w, 8);
        a_.smlad(acc(a + 1), x, form_.bytes ? lr : w, acc(a + 1));
        a_.sxtb16(w, w);
        a_.smlad(acc(a), x, w, acc(a));
      }
  }

  void finish_group() {
    a_.ldr(r1, sp, GemvFrame::kOut);
    for (int c = 0; c < 4; c += 2) {
      if (!form_.bytes) a_.sub(acc(c + 1), acc(c + 1), acc(c));
      if (form_.left > 0) a_.lsl(acc(c), acc(c), form_.left);
      if (form_.bytes && form_.left > 0) a_.lsl(acc(c + 1), acc(c + 1), form_.left);
      if (!sign_) a_.ldm_after(r0, {r6, r7, r8, r9});
      for (int channel = c; channel < c + 2; ++channel) {
        const Reg line = sign_ || channel == c ? r6 : r8, sign = r8;
        if (sign_) a_.ldm_after(r0, {r6, r7, r8});
        requantize(a_, acc(channel), line, {line.number + 1}, shift_, sign_ ? &sign : nullptr, lr);
        a_.strb_after(acc(channel), r1, 1);
      }
    }
    a_.str(r1, sp, GemvFrame::kOut);
  }

  Thumb a_;
  int shift_;
  bool sign_;
  QuadsForm form_;
};

}  // namespace

Implementation gemv_quads(const tir::Kernel& kernel) {
  const QuadsForm form{parameter(kernel, "bytes") != 0, parameter(kernel, "left")};
  return QuadsWriter(parameter(kernel, "shift"), parameter(kernel, "sign") != 0, form).run();
}

}  // namespace aotc::cores::arm
