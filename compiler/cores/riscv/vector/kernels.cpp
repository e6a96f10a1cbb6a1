// SPDX-License-Identifier: Apache-2.0
// Tables and meanings of the vector kernels.
#include <algorithm>

#include "cores/riscv/vector/vector.h"
#include "support/numerics.h"

namespace aotc::cores::riscv {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::i64;
using tir::KernelPtr;

namespace {

std::optional<VectorScaling> fit_twice(const ops::Requantization& what, const std::vector<int32_t>& bias) {
  if (what.rounding != ops::Rounding::kDouble) return std::nullopt;
  VectorScaling out;
  out.rows = {bias, {}, {}};
  for (const double scale : what.scales) {
    const QuantizedMultiplier m = quantize_multiplier(scale);
    // The sign is added before the second rounding, so there must be one.
    if (m.shift > -1 || m.shift < -31) return std::nullopt;
    out.rows[1].push_back(m.multiplier);
    out.rows[2].push_back(-m.shift);
  }
  out.zero_point = what.zero_point;
  return out;
}

std::optional<VectorScaling> fit_line(const ops::Requantization& what, std::vector<int32_t> bias) {
  if (what.open) return std::nullopt;
  const auto fit = ops::fit_common_line(what, VectorScaling::kLeft, bias);
  if (!fit) return std::nullopt;
  VectorScaling out;
  out.form = VectorScaling::Form::kLine;
  out.shift = fit->shift;
  out.rows = {std::move(bias), {}, {}};
  if (fit->with_sign) out.rows.emplace_back();
  for (size_t c = 0; c < what.scales.size(); ++c) {
    const ops::LineFit::Channel& channel = fit->channels[fit->channels.size() > 1 ? c : 0];
    out.rows[1].push_back(channel.multiplier);
    out.rows[2].push_back(channel.offset);
    if (fit->with_sign) out.rows[3].push_back(channel.sign);
  }
  return out;
}

}  // namespace

std::optional<VectorScaling> fit_vector_scaling(const ops::Requantization& what, std::vector<int32_t> bias) {
  if (what.rounding == ops::Rounding::kSum) {
    VectorScaling sums;
    sums.form = VectorScaling::Form::kSums;
    sums.rows = {std::move(bias)};
    return sums;
  }
  if (what.clamp.min < -128 || what.clamp.max > 127) return std::nullopt;
  auto out = fit_twice(what, bias);
  if (!out) out = fit_line(what, std::move(bias));
  if (out) out->clamp = what.clamp;
  return out;
}

std::vector<int32_t> VectorShape::words(const VectorScaling& scaling) const {
  std::vector<int32_t> out(kWords);
  auto set = [&](Word at, int64_t value) { out[at] = static_cast<int32_t>(value); };
  set(kPixels, pixels);
  set(kXStep, x_step);
  set(kOutStep, out_step);
  set(kRows, rows);
  set(kRowBytes, row_bytes);
  set(kRowStep, row_step);
  set(kChannels, channels);
  set(kZero, scaling.zero_point);
  set(kLeast, scaling.clamp.min);
  set(kMost, scaling.clamp.max);
  return out;
}

std::vector<int32_t> vector_stream(const VectorScaling& scaling, const std::vector<int8_t>& weights) {
  std::vector<int32_t> out;
  for (const std::vector<int32_t>& row : scaling.rows) out.insert(out.end(), row.begin(), row.end());
  for (size_t i = 0; i < weights.size(); i += 4) {
    uint32_t word = 0;
    for (size_t b = 0; b < std::min<size_t>(4, weights.size() - i); ++b)
      word |= uint32_t{static_cast<uint8_t>(weights[i + b])} << (8 * b);
    out.push_back(static_cast<int32_t>(word));
  }
  return out;
}

std::vector<int32_t> VectorBand::words() const {
  std::vector<int32_t> out(kWords);
  auto set = [&](Word at, int64_t value) { out[at] = static_cast<int32_t>(value); };
  set(kRows, rows);
  set(kStep, step);
  set(kHeight, height);
  set(kXRow, x_row);
  set(kBytes, bytes);
  set(kRow, row);
  set(kLead, lead);
  set(kZero, zero_point);
  return out;
}

namespace {

// VectorMeaning builds the common part of the meanings of both products.
class VectorMeaning {
 public:
  VectorMeaning(const char* family, const VectorScaling& scaling) : family_(family), f_(family), scaling_(scaling) {
    stream_ = f_.constant("stream", DType::kI32, 0);
    x_ = f_.input("x", DType::kI8, 0);
    out_ = f_.output("out", sums() ? DType::kI32 : DType::kI8, 0);
    shape_ = f_.constant("shape", DType::kI32, 0);
  }

  KernelPtr gemm(const VectorTile& tile) {
    return run({{"registers", tile.registers}, {"pixels", tile.pixels}, {"unroll", tile.unroll}},
               [&](const Ex& acc, const Ex& from, const Ex& channel) {
                 const Ex row_bytes = f_.let("row_bytes", word(VectorShape::kRowBytes));
                 f_.loop("row", 0, word(VectorShape::kRows), [&](const Ex& row) {
                   const Ex begin = f_.let("begin", from + row * word(VectorShape::kRowStep));
                   f_.loop("i", 0, row_bytes, [&](const Ex& i) {
                     f_.assign(acc, acc + load(x_, begin + i) * weight(row * row_bytes + i, channel));
                   });
                 });
               });
  }

  KernelPtr depthwise(const VectorTaps& taps) {
    return run(
        {{"rows", taps.rows}, {"columns", taps.columns}, {"pairs", taps.pairs ? 1 : 0}, {"registers", taps.registers}},
        [&](const Ex& acc, const Ex& from, const Ex& channel) {
          f_.loop("row", 0, taps.rows, [&](const Ex& row) {
            const Ex begin = f_.let("begin", from + channel + row * word(VectorShape::kRowStep));
            f_.loop("column", 0, taps.columns, [&](const Ex& column) {
              const Ex element = load(x_, begin + column * word(VectorShape::kRowBytes));
              f_.assign(acc, acc + element * weight(row * taps.columns + column, channel));
            });
          });
        });
  }

 private:
  bool sums() const { return scaling_.form == VectorScaling::Form::kSums; }
  Ex word(int at) const { return load(shape_, at); }

  template <typename Sum>
  KernelPtr run(std::vector<std::pair<std::string, int64_t>> parameters, Sum sum) {
    channels_ = f_.let("channels", word(VectorShape::kChannels));
    f_.loop("pixel", 0, word(VectorShape::kPixels), [&](const Ex& pixel) {
      const Ex from = f_.let("from", pixel * word(VectorShape::kXStep));
      const Ex to = f_.let("to", pixel * word(VectorShape::kOutStep));
      f_.loop("channel", 0, channels_, [&](const Ex& channel) {
        const Ex acc = f_.var("acc", row(0, channel));
        sum(acc, from, channel);
        f_.store(out_, to + channel, sums() ? acc : requantized(acc, channel));
      });
    });
    const bool line = scaling_.form == VectorScaling::Form::kLine;
    parameters.insert(parameters.end(), {{"line", line ? 1 : 0},
                                         {"shift", scaling_.shift},
                                         {"sign", scaling_.rows.size() > 3 ? 1 : 0},
                                         {"clamp", scaling_.clamps() ? 1 : 0}});
    if (sums()) parameters.emplace_back("sums", 1);
    return f_.finish_kernel(family_, std::move(parameters));
  }

  Ex row(int number, const Ex& channel) const { return load(stream_, channels_ * number + channel); }

  Ex weight(const Ex& step, const Ex& channel) {
    const Ex at = f_.let("at", step * channels_ + channel);
    const Ex found = load(stream_, channels_ * static_cast<int64_t>(scaling_.rows.size()) + (at >> 2));
    return f_.let("weight", shl_wrapping(found, Ex(24) - (at & 3) * 8) >> 24);
  }

  Ex requantized(const Ex& sum, const Ex& channel) {
    Ex v = f_.let("v", scaling_.form == VectorScaling::Form::kLine ? on_line(sum, channel) : twice(sum, channel));
    if (!scaling_.clamps()) return clamp(v, -128, 127);
    return clamp(v, word(VectorShape::kLeast), word(VectorShape::kMost));
  }

  Ex on_line(const Ex& sum, const Ex& channel) {
    const Ex scaled = f_.let("scaled", shl_wrapping(sum, VectorScaling::kLeft));
    const Ex product = cast(DType::kI64, scaled) * cast(DType::kI64, row(1, channel));
    Ex line = cast(DType::kI32, product >> i64(32)) + row(2, channel);
    if (scaling_.rows.size() > 3) line = line - ((sum >> 31) & row(3, channel));
    return line >> scaling_.shift;
  }

  Ex twice(const Ex& sum, const Ex& channel) {
    const Ex product = cast(DType::kI64, sum) * cast(DType::kI64, row(1, channel));
    const Ex high = f_.let("high", cast(DType::kI32, (product + i64(int64_t{1} << 30)) >> i64(31)));
    const Ex right = f_.let("right", row(2, channel));
    const Ex half = cast(DType::kI64, shl_wrapping(1, right - 1));
    const Ex wide = cast(DType::kI64, high) + cast(DType::kI64, high >> 31) + half;
    const Ex shifted = f_.let("shifted", cast(DType::kI32, wide >> cast(DType::kI64, right)));
    return clamp(shifted, -32768, 32767) + word(VectorShape::kZero);
  }

  const char* family_;
  FunctionBuilder f_;
  const VectorScaling& scaling_;
  BufferPtr stream_, x_, out_, shape_;
  Ex channels_;
};

}  // namespace

KernelPtr rvv_gemm_kernel(const VectorTile& tile, const VectorScaling& scaling) {
  return VectorMeaning("rvv_gemm", scaling).gemm(tile);
}

KernelPtr rvv_depthwise_kernel(const VectorTaps& taps, const VectorScaling& scaling) {
  return VectorMeaning("rvv_depthwise", scaling).depthwise(taps);
}

KernelPtr rvv_band_kernel() {
  FunctionBuilder f("rvv_band");
  const BufferPtr x = f.input("x", DType::kI8, 0), band = f.output("band", DType::kI8, 0);
  const BufferPtr shape = f.constant("shape", DType::kI32, 0);
  const Ex top = f.scalar("top");
  auto word = [&](int at) { return load(shape, at); };
  f.loop("row", 0, word(VectorBand::kRows), [&](const Ex& row) {
    const Ex y = f.let("y", top + row * word(VectorBand::kStep));
    const Ex to = f.let("to", row * word(VectorBand::kRow));
    f.if_(
        y >= 0 && y < word(VectorBand::kHeight),
        [&] {
          const Ex from = f.let("from", y * word(VectorBand::kXRow)),
                   first = f.let("first", to + word(VectorBand::kLead));
          f.loop("i", 0, word(VectorBand::kBytes), [&](const Ex& i) { f.store(band, first + i, load(x, from + i)); });
        },
        [&] {
          f.loop("i", 0, word(VectorBand::kRow), [&](const Ex& i) { f.store(band, to + i, word(VectorBand::kZero)); });
        });
  });
  return f.finish_kernel("rvv_band", {});
}

}  // namespace aotc::cores::riscv
