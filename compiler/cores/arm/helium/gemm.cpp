// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/gemm.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "cores/arm/helium/taps.h"
#include "ops/common/gemm.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::i64;
using tir::KernelPtr;

namespace {

constexpr int64_t kChannels = MveGemm::kGroup;
constexpr int64_t kBlock = MveGemm::kBlock;
constexpr int64_t kVectorWords = 4;

}  // namespace

MveBlocks::MveBlocks(int64_t row_count, int64_t row_elements, bool whole, int64_t element_bytes)
    : rows(row_count),
      elements(row_elements * element_bytes),
      bytes(element_bytes),
      per_row((elements + kBlock - 1) / kBlock),
      first(whole ? kBlock : elements - kBlock * (per_row - 1)) {}

MveBlocks MveBlocks::spaced(int64_t blocks, int64_t step) {
  MveBlocks out(1, kBlock * blocks, true);
  if (blocks > 1) out.first = step;
  return out;
}

void MveBlocks::share(int64_t pixel) {
  const int64_t blocks = pixel / kBlock;
  if (rows < 2 || elements % kBlock != 0 || pixel % kBlock != 0 || blocks < 1 || blocks >= per_row ||
      blocks > MveGemm::kMostApart || per_row > MveGemm::kMostShared)
    return;
  apart = blocks;
}

int64_t MveBlocks::element(int64_t block, int64_t j) const {
  if (first > kBlock) return block * kBlock + j;
  int64_t row = block / per_row, in_row = block % per_row;
  int64_t at = in_row == 0 ? j : first + kBlock * (in_row - 1) + j;
  // What the second block repeats of the first is not counted twice.
  if (at >= elements || (in_row == 1 && at < kBlock)) return -1;
  return row * elements + at;
}

bool MveBlocks::fit_gemm() const {
  if (count() <= MveGemm::kGemmUnroll) return true;
  return rows > 1 ? per_row <= MveGemm::kMostPerRow : first >= kBlock;
}

// ---------------------------------------------------------------- requantisation

int64_t mve_rounding(int shift) {
  auto half = [](int by) { return by > 0 ? int64_t{1} << (by - 1) : 0; };
  return half(std::min(shift, 16)) + (shift > 16 ? half(shift) : 0);
}

namespace {

// What the sums without bias step at.
std::optional<std::vector<Steps>> sum_steps(const Requantization& what, const std::vector<int32_t>& bias) {
  if (what.open) return std::nullopt;
  std::vector<StepTarget> targets;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    AccRange range = what.ranges[c];
    if (what.rounding == Rounding::kDouble) {
      int left = std::max(quantize_multiplier(what.scales[c]).shift, 0);
      if (left > 30 || (range.magnitude() << left) >= int64_t{1} << 31) return std::nullopt;
    }
    int32_t b = bias[c];
    auto reference = [of_channel = what.reference(c), b](int32_t sum) -> int64_t { return of_channel(sum + b); };
    targets.push_back({reference, what.scales[c], {range.low - b, range.high - b}, -int64_t{b}});
  }
  return find_steps(targets, what.zero_point, what.clamp);
}

std::optional<MveScaling> fit_line(const Requantization& what, const std::vector<int32_t>& bias) {
  auto steps = sum_steps(what, bias);
  if (!steps) return std::nullopt;
  // The finer the steps of the sum before it is shifted, the more fits. The first choices are those
  // that most layers can agree on, to share their code.
  for (int left : {12, 10, 8, 13, 11, 9, 7, 14})
    for (int shift : {17, 16, 18, 15, 14, 13, 12, 11, 10, 19, 20})
      if (auto fit = fit_line_at(*steps, what.clamp, left, shift)) {
        MveScaling out;
        out.left = left;
        out.shift = shift;
        for (const LineFit::Channel& c : fit->channels) {
          out.words[0].push_back(c.multiplier);
          out.words[1].push_back(static_cast<int32_t>(c.offset - mve_rounding(shift)));
        }
        return out;
      }
  return std::nullopt;
}

// Whether a product by one more than 2 ^ (31 - right) rounds as the shift does, wherever the result is not at an
// end. The first product is t; the factor's one adds t / 2 ^ 31 to t / 2 ^ right, which is a multiple of 2 ^ -right:
// less than that carries halves away from zero and nothing else.
bool shifts_by_product(const Requantization& what, size_t c, const QuantizedMultiplier& m) {
  const int right = -m.shift;
  auto high = [&](int64_t acc, int32_t end) {
    const int64_t most = std::abs(int64_t{end} - what.zero_point) << right;
    return std::min(most, ((std::abs(acc) * m.multiplier) >> 31) + 1);
  };
  const AccRange range = what.ranges[c];
  return std::max(high(range.low, what.clamp.min), high(range.high, what.clamp.max)) < int64_t{1} << (31 - right);
}

std::optional<MveScaling> fit_twice(const Requantization& what, const std::vector<int32_t>& bias) {
  if (what.rounding != Rounding::kDouble) return std::nullopt;
  MveScaling out;
  out.form = MveScaling::Form::kTwice;
  out.products = !what.open;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    QuantizedMultiplier m = quantize_multiplier(what.scales[c]);
    // The sign is corrected before the second rounding, so there has to be one.
    if (m.shift > -1 || m.shift < -31) return std::nullopt;
    out.words[0].push_back(bias[c]);
    out.words[1].push_back(m.multiplier);
    out.words[2].push_back(m.shift);
    out.products = out.products && shifts_by_product(what, c, m);
  }
  for (int32_t& word : out.words[2])
    if (out.products) word = static_cast<int32_t>((int64_t{1} << (31 + word)) + 1);
  return out;
}

std::optional<MveScaling> fit_even(const Requantization& what, const std::vector<int32_t>& bias) {
  if (what.rounding != Rounding::kEven) return std::nullopt;
  MveScaling out;
  out.form = MveScaling::Form::kEven;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    out.words[0].push_back(bias[c]);
    out.words[1].push_back(std::bit_cast<int32_t>(static_cast<float>(what.scales[c])));
  }
  return out;
}

}  // namespace

std::string MveScaling::text() const {
  if (form == Form::kLine) return "shift " + std::to_string(shift);
  if (form == Form::kUnscaledBytes) return "sums";
  if (form == Form::kEven) return "float, ties to even";
  return form == Form::kTwice ? "two roundings" : "high word";
}

std::optional<MveScaling> fit_mve_scaling(const Requantization& what, const std::vector<int32_t>& bias,
                                          const TargetInfo& target) {
  if (what.clamp.min < -128 || what.clamp.max > 127) return std::nullopt;
  // Where values below the zero point are results, two roundings are hardly ever one line.
  bool halves_below = what.rounding == Rounding::kDouble && what.clamp.min < what.zero_point;
  auto out = halves_below ? fit_twice(what, bias) : fit_line(what, bias);
  if (!out) out = halves_below ? fit_line(what, bias) : fit_twice(what, bias);
  if (!out && target.vector_floats) out = fit_even(what, bias);
  if (!out) return out;
  out->zero_point = what.zero_point;
  out->clamp = what.clamp;
  return out;
}

MveScaling mve_sums(const std::vector<int32_t>& bias) {
  MveScaling out;
  out.form = MveScaling::Form::kUnscaledBytes;
  out.words[0] = bias;
  return out;
}

std::optional<MveScaling> fit_mve_halves(const WideScaling& what) {
  auto multipliers = high_multipliers(what);
  if (!multipliers) return std::nullopt;
  MveScaling out;
  out.form = MveScaling::Form::kHalves;
  out.shift = what.shift;
  out.words[0].assign(what.bias.begin(), what.bias.end());
  out.words[1] = std::move(*multipliers);
  out.clamp = what.clamp;
  return out;
}

// ---------------------------------------------------------------- tables

void put_mve_weights(std::vector<int32_t>& out, const std::vector<int8_t>& w, const MveBlocks& blocks, int64_t block,
                     int64_t channel) {
  int64_t k = blocks.rows * blocks.elements / blocks.bytes;
  for (int64_t word = 0; word < kVectorWords / blocks.bytes; ++word) {
    uint32_t bytes = 0;
    for (int64_t b = 0; b < 4; ++b) {
      int64_t at = blocks.element(block, (4 * word + b) * blocks.bytes);
      if (at < 0) continue;
      bytes |= uint32_t{static_cast<uint8_t>(w[static_cast<size_t>(channel * k + at / blocks.bytes)])} << (8 * b);
    }
    out.push_back(static_cast<int32_t>(bytes));
  }
}

std::optional<MveWeights> mve_weights(const OpView& op, int64_t k) {
  StoredWeights stored(op);
  const int32_t sums = has_uint8_weights(op) ? stored.correction : -op.operand(1).zero_point();
  if (sums != static_cast<int8_t>(sums)) return std::nullopt;
  MveWeights out{std::move(stored.values), {}};
  if (sums != 0) out.sums.assign(static_cast<size_t>(k), static_cast<int8_t>(sums));
  return out;
}

namespace {

std::vector<int32_t> begin_stream(const MveWeights& weights, const MveBlocks& blocks) {
  std::vector<int32_t> out;
  for (int64_t i = 0; !weights.sums.empty() && i < blocks.count(); ++i)
    put_mve_weights(out, weights.sums, blocks, i, 0);
  return out;
}

void put_scaling(std::vector<int32_t>& out, const MveScaling& scaling, int64_t first) {
  for (int v = 0; v < scaling.vectors(); ++v)
    for (int64_t c = first; c < first + kChannels; c += 2) {
      const std::vector<int32_t>& words = scaling.words[v];
      out.push_back(static_cast<size_t>(c) < words.size() ? words[static_cast<size_t>(c)] : 0);
    }
}

}  // namespace

std::vector<int32_t> mve_gemm_stream(const MveWeights& weights, int64_t channels, const MveBlocks& blocks,
                                     const MveScaling& scaling) {
  std::vector<int32_t> out = begin_stream(weights, blocks);
  for (int64_t group : tile_starts(channels, kChannels))
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t i = 0; i < blocks.count(); ++i)
        for (int64_t c = 0; c < 4; ++c)
          put_mve_weights(out, weights.values, blocks, half == 0 ? i : blocks.count() - 1 - i, group + 2 * c + half);
      put_scaling(out, scaling, group + half);
    }
  return out;
}

std::vector<int32_t> mve_gemv_stream(const MveWeights& weights, int64_t channels, const MveBlocks& blocks,
                                     const MveScaling& scaling) {
  std::vector<int32_t> out = begin_stream(weights, blocks);
  int64_t width = std::min(channels, kChannels);
  for (int64_t group : tile_starts(channels, width)) {
    for (int64_t i = 0; i < blocks.count(); ++i)
      for (int64_t c = 0; c < width; ++c) put_mve_weights(out, weights.values, blocks, i, group + c);
    for (int64_t half = 0; half < 2; ++half) put_scaling(out, scaling, group + half);
  }
  return out;
}

std::vector<int32_t> mve_shape(const MvePixels& pixels, const MveBlocks& blocks, int64_t channels,
                               const MveScaling& scaling) {
  std::vector<int32_t> out(MveGemm::kShapeWords);
  auto set = [&](int at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
  int64_t groups = std::max<int64_t>(channels / kChannels, 1);
  const int64_t weights = std::min(channels, kChannels) * blocks.count() * kBlock / blocks.bytes;
  const int64_t group = weights + 2 * scaling.vectors() * kBlock, head = scaling.window_sums ? blocks.count() : 0;
  set(MveGemm::kPairs, pixels.pairs);
  set(MveGemm::kGroups, groups);
  set(MveGemm::kXPixel, pixels.x_pixel);
  set(MveGemm::kOutPixel, pixels.out_pixel);
  set(MveGemm::kXStep, pixels.x_step);
  set(MveGemm::kOutStep, pixels.out_step);
  set(MveGemm::kChannels, channels * scaling.bytes());
  set(MveGemm::kZero, scaling.zero_point);
  set(MveGemm::kLeast, scaling.clamp.min);
  set(MveGemm::kMost, scaling.clamp.max);
  set(MveGemm::kRowSkip, blocks.rows > 1 ? pixels.row_step - blocks.passed() : 0);
  set(MveGemm::kStreamBytes, groups * group + head * kBlock);
  return out;
}

// ---------------------------------------------------------------- meanings

Ex mve_even(FunctionBuilder& f, const Ex& acc, const Ex& scale) {
  Ex real = cast(DType::kF32, acc) * call(tir::Intrinsic::kFloatFromBits, DType::kF32, {scale});
  // Far beyond what bytes and zero points can tell apart.
  real = clamp(f.let("real", real), tir::f32(-1024.0f), tir::f32(1024.0f));
  return cast(DType::kI32, f.let("nearest", ops::emit_nearest_even(real)));
}

namespace {

// The products' meaning: what both kernels have in common.
class Product {
 public:
  Product(const char* family, const MveBlocks& blocks, int64_t channels, const MveScaling& scaling)
      : family_(family),
        f_(family),
        blocks_(blocks),
        width_(std::min(channels, kChannels)),
        back_((width_ - channels % width_) % width_),
        scaling_(scaling) {
    stream_ = f_.constant("stream", DType::kI32, 0);
    x_ = f_.input("x", blocks_.bytes == 2 ? DType::kI16 : DType::kI8, 0);
    out_ = f_.output("out", scaling_.bytes() == 1 ? DType::kI8 : scaling_.bytes() == 2 ? DType::kI16 : DType::kI32, 0);
    shape_ = f_.constant("shape", DType::kI32, 0);
  }

  KernelPtr gemm() {
    Ex x_pixel = shape("x_pixel", MveGemm::kXPixel, blocks_.bytes);
    Ex x_step = shape("x_step", MveGemm::kXStep, blocks_.bytes);
    Ex out_pixel = shape("out_pixel", MveGemm::kOutPixel, scaling_.bytes());
    Ex out_step = shape("out_step", MveGemm::kOutStep, scaling_.bytes());
    begin();
    int64_t half_words = 4 * weight_words() * blocks_.count() + kVectorWords * scaling_.vectors();
    f_.loop("pair", 0, shape("pairs", MveGemm::kPairs), [&](Ex pair) {
      Ex from = f_.let("from", pair * x_step), to = f_.let("to", pair * out_step);
      auto pixels = [&] { return std::vector<Ex>{from, f_.let("second", from + x_pixel)}; };
      if (scaling_.window_sums) of_window_ = sums(pixels(), 1, Ex(0), Ex(0));
      f_.loop("group", 0, groups(), [&](Ex group) {
        Ex channel = f_.let("channel", first_channel(group));
        f_.loop("half", 0, 2, [&](Ex half) {
          Ex at = f_.let("at", (group * 2 + half) * half_words + head_words());
          std::vector<Ex> acc = sums(pixels(), 4, at, half);
          Ex line = f_.let("line", at + 4 * weight_words() * blocks_.count());
          for (int64_t p = 0; p < 2; ++p)
            for (int64_t c = 0; c < 4; ++c)
              f_.store(out_, to + p * out_pixel + channel + half + 2 * c,
                       requantized(acc[static_cast<size_t>(4 * p + c)], p, line + c));
        });
      });
    });
    return finish();
  }

  KernelPtr gemv() {
    begin();
    if (scaling_.window_sums) of_window_ = sums({Ex(0)}, 1, Ex(0), Ex(0));
    int64_t weights = width_ * blocks_.count() * weight_words();
    int64_t words = weights + kVectorWords * 2 * scaling_.vectors();
    f_.loop("group", 0, groups(), [&](Ex group) {
      Ex channel = f_.let("channel", first_channel(group));
      Ex at = f_.let("at", group * words + head_words());
      std::vector<Ex> acc = sums({Ex(0)}, width_, at, Ex(0));
      for (int64_t c = 0; c < width_; ++c) {
        int64_t line = weights + kVectorWords * (c % 2 * scaling_.vectors()) + c / 2;
        f_.store(out_, channel + c, requantized(acc[static_cast<size_t>(c)], 0, at + line));
      }
    });
    return finish();
  }

 protected:
  static Ex elements(const Ex& v, int64_t bytes) { return bytes == 1 ? v : v >> (bytes == 2 ? 1 : 2); }
  // A number of the shape, bytes of elements of so many.
  Ex shape(const char* name, int at, int64_t bytes = 1) { return f_.let(name, elements(load(shape_, at), bytes)); }
  // Words of a block's weights of a channel.
  int64_t weight_words() const { return kVectorWords / blocks_.bytes; }

  void begin() {
    if (blocks_.rows > 1)
      row_step_ = f_.let("row_step", elements(load(shape_, MveGemm::kRowSkip) + blocks_.passed(), blocks_.bytes));
    if (back_ != 0) channels_ = shape("channels", MveGemm::kChannels, scaling_.bytes());
    if (scaling_.adds_zero_point()) zero_ = shape("zero", MveGemm::kZero);
    if (!scaling_.clamps()) return;
    least_ = shape("least", MveGemm::kLeast);
    most_ = shape("most", MveGemm::kMost);
  }

  Ex groups() {
    Ex whole = shape("groups", MveGemm::kGroups);
    return back_ == 0 ? whole : f_.let("groups", whole + 1);
  }
  Ex first_channel(const Ex& group) const {
    return back_ == 0 ? group * kChannels : min(group * kChannels, channels_ - kChannels);
  }

  Ex begin_of(const Ex& block) {
    if (blocks_.first > kBlock) return block * blocks_.first;
    if (blocks_.per_row == 1) return blocks_.rows > 1 ? block * row_step_ : Ex(0);
    Ex row = blocks_.rows > 1 ? f_.let("row", block / blocks_.per_row) : Ex(0);
    Ex in_row = blocks_.rows > 1 ? block - row * blocks_.per_row : block;
    Ex column = max(in_row * (kBlock / blocks_.bytes) + (blocks_.first - kBlock) / blocks_.bytes, 0);
    return blocks_.rows > 1 ? row * row_step_ + column : column;
  }

  // Words of the stream before the groups.
  int64_t head_words() const { return scaling_.window_sums ? kVectorWords * blocks_.count() : 0; }

  // Sums of pixels x channels; a block's weights are one vector per channel.
  std::vector<Ex> sums(const std::vector<Ex>& x_at, int64_t channels, const Ex& at, const Ex& half) {
    std::vector<Ex> acc;
    for (size_t p = 0; p < x_at.size(); ++p)
      for (int64_t c = 0; c < channels; ++c) acc.push_back(f_.var(fmt::format("acc{}{}", p, c), 0));
    f_.loop("i", 0, blocks_.count(), [&](Ex i) {
      Ex block = f_.let("block", select(half == 0, i, Ex(blocks_.count() - 1) - i));
      Ex begin = f_.let("begin", begin_of(block));
      Ex weights = f_.let("weights", at + i * (channels * weight_words()));
      f_.loop("j", 0, (blocks_.count() == 1 ? blocks_.first : kBlock) / blocks_.bytes, [&](Ex j) {
        std::vector<Ex> x;
        for (const Ex& pixel : x_at) x.push_back(f_.let("x", load(x_, pixel + begin + j)));
        Ex up = f_.let("up", Ex(24) - (j & 3) * 8);
        for (int64_t c = 0; c < channels; ++c) {
          Ex word = load(stream_, weights + c * weight_words() + (j >> 2));
          Ex w = f_.let(fmt::format("w{}", c), shl_wrapping(word, up) >> 24);
          for (size_t p = 0; p < x.size(); ++p) {
            const Ex& a = acc[p * static_cast<size_t>(channels) + static_cast<size_t>(c)];
            f_.assign(a, a + x[p] * w);
          }
        }
      });
    });
    return acc;
  }

  Ex requantized(const Ex& products, int64_t pixel, const Ex& line) {
    const Ex sum = scaling_.window_sums ? products + of_window_[static_cast<size_t>(pixel)] : products;
    if (scaling_.vectors() == 1) return add_wrapping(sum, load(stream_, line));
    if (scaling_.form == MveScaling::Form::kHalves) return half(sum, line);
    Ex v = scaling_.form == MveScaling::Form::kLine   ? on_line(sum, line)
           : scaling_.form == MveScaling::Form::kEven ? even(sum, line)
                                                      : twice(sum, line);
    v = clamp(v, -128, 127);
    return scaling_.clamps() ? clamp(f_.let("v", v), least_, most_) : v;
  }

  Ex half(const Ex& sum, const Ex& line) {
    Ex acc = f_.let("acc", add_wrapping(sum, load(stream_, line)));
    Ex product = cast(DType::kI64, acc) * cast(DType::kI64, load(stream_, line + kVectorWords));
    if (scaling_.shift == 0) product = product + i64(int64_t{1} << 31);
    Ex high = cast(DType::kI32, product >> i64(32));
    Ex v = clamp(f_.let("v", scaling_.shift > 0 ? high >> scaling_.shift : high), -32768, 32767);
    return scaling_.clamps() ? clamp(f_.let("v", v), least_, most_) : v;
  }

  Ex on_line(const Ex& sum, const Ex& line) {
    Ex scaled = f_.let("scaled", shl_wrapping(sum, scaling_.left));
    Ex product = cast(DType::kI64, scaled) * cast(DType::kI64, load(stream_, line));
    Ex high = cast(DType::kI32, product >> i64(32));
    Ex offset = load(stream_, line + kVectorWords) + mve_rounding(scaling_.shift);
    return f_.let("v", (high + offset) >> scaling_.shift);
  }

  Ex even(const Ex& sum, const Ex& line) {
    Ex acc = f_.let("acc", add_wrapping(sum, load(stream_, line)));
    return f_.let("v", mve_even(f_, acc, load(stream_, line + kVectorWords)) + zero_);
  }

  Ex twice(const Ex& sum, const Ex& line) {
    Ex acc = f_.let("acc", add_wrapping(sum, load(stream_, line)));
    Ex product = cast(DType::kI64, acc) * cast(DType::kI64, load(stream_, line + kVectorWords));
    Ex high = cast(DType::kI64, cast(DType::kI32, (product + i64(int64_t{1} << 30)) >> i64(31)));
    if (scaling_.products) {
      Ex again = high * cast(DType::kI64, load(stream_, line + 2 * kVectorWords)) + i64(int64_t{1} << 30);
      return f_.let("v", cast(DType::kI32, again >> i64(31)) + zero_);
    }
    Ex right = f_.let("right", Ex(0) - load(stream_, line + 2 * kVectorWords));
    Ex half = f_.let("half", cast(DType::kI64, Ex(1) << (right - 1)));
    Ex wide = high + cast(DType::kI64, acc >> 31) + half;
    Ex v = f_.let("shifted", cast(DType::kI32, wide >> cast(DType::kI64, right)));
    return f_.let("v", clamp(v, -32768, 32767) + zero_);
  }

  KernelPtr finish() {
    std::vector<std::pair<std::string, int64_t>> parameters = {
        {"rows", blocks_.rows},      {"blocks", blocks_.per_row}, {"first", blocks_.first},
        {"apart", blocks_.apart},    {"width", width_},           {"back", back_},
        {"twice", scaling_.twice()}, {"left", scaling_.left},     {"shift", scaling_.shift},
        {"clamp", scaling_.clamps()}};
    if (scaling_.window_sums) parameters.emplace_back("window", 1);
    if (scaling_.halves())
      parameters.emplace_back(
          "halves", scaling_.form == MveScaling::Form::kUnscaled ? MveScaling::kNotNarrowed : MveScaling::kNarrowed);
    if (scaling_.form == MveScaling::Form::kUnscaledBytes) parameters.emplace_back("sums", 1);
    return f_.finish_kernel(family_, std::move(parameters));
  }

  const char* family_;
  FunctionBuilder f_;
  MveBlocks blocks_;
  int64_t width_, back_;
  const MveScaling& scaling_;
  BufferPtr stream_, x_, out_, shape_;
  Ex row_step_, channels_, zero_, least_, most_;
  std::vector<Ex> of_window_;  // what is added to the sums of each pixel
};

// The meaning of mve_taps.
class Taps : Product {
 public:
  Taps(const MveTaps& taps, int64_t channels, const MveScaling& scaling)
      : Product("mve_taps", {1, kChannels, false, taps.bytes}, channels, scaling), taps_(taps) {}

  KernelPtr run() {
    begin();
    Ex pixels = shape("pixels", MveTaps::kPixels), pixel_step = shape("pixel_step", MveTaps::kPixelStep, taps_.bytes);
    Ex rows = shape("rows", MveTaps::kRows), column = shape("column", MveTaps::kColumnStep, taps_.bytes);
    Ex row_step = f_.let("row_step", column * taps_.columns + shape("skip", MveTaps::kRowSkip, taps_.bytes));
    Ex out_pixel = shape("out_pixel", MveTaps::kOutPixel, scaling_.bytes());
    Ex taps = f_.let("taps", rows * (taps_.columns * tap_words()));
    f_.loop("pixel", 0, pixels, [&](Ex pixel) {
      f_.loop("group", 0, groups(), [&](Ex group) {
        Ex channel = f_.let("channel", first_channel(group));
        Ex from = f_.let("from", pixel * pixel_step + channel), to = f_.let("to", pixel * out_pixel + channel);
        Ex at = f_.let("at", group * (taps + 2 * kVectorWords * scaling_.vectors()));
        for (int64_t c = 0; c < kChannels; ++c) {
          Ex acc = f_.var("acc", 0);
          f_.loop("row", 0, rows, [&](Ex row) {
            for (int64_t i = 0; i < taps_.columns; ++i) {
              Ex x = load(x_, from + row * row_step + column * i + c);
              f_.assign(acc, acc + x * weight(at + (row * taps_.columns + i) * tap_words(), c));
            }
          });
          Ex line = at + taps + (kVectorWords * (c % 2 * scaling_.vectors()) + c / 2);
          f_.store(out_, to + c, requantized(acc, 0, f_.let("line", line)));
        }
      });
    });
    std::vector<std::pair<std::string, int64_t>> parameters = {
        {"columns", taps_.columns},      {"step", taps_.step},      {"bytes", taps_.bytes},
        {"weights", taps_.weight_bytes}, {"back", back_},           {"twice", scaling_.twice()},
        {"left", scaling_.left},         {"shift", scaling_.shift}, {"clamp", scaling_.clamps()}};
    if (scaling_.halves()) parameters.emplace_back("halves", MveScaling::kNarrowed);
    return f_.finish_kernel(family_, std::move(parameters));
  }

 private:
  int64_t tap_words() const { return 2 * taps_.weight_bytes; }
  Ex weight(const Ex& at, int64_t c) {
    if (taps_.weight_bytes == 1) return shl_wrapping(load(stream_, at + c / 4), 24 - 8 * (c % 4)) >> 24;
    Ex word = load(stream_, at + c / 2);
    return c % 2 == 0 ? shl_wrapping(word, 16) >> 16 : word >> 16;
  }

  const MveTaps& taps_;
};

}  // namespace

KernelPtr mve_gemm_kernel(const MveBlocks& blocks, int64_t channels, const MveScaling& scaling) {
  return Product("mve_gemm", blocks, channels, scaling).gemm();
}

KernelPtr mve_taps_kernel(const MveTaps& taps, int64_t channels, const MveScaling& scaling) {
  return Taps(taps, channels, scaling).run();
}

std::vector<int32_t> mve_taps_stream(const MveTaps& taps, const std::vector<int16_t>& weights, int64_t channels,
                                     const MveScaling& scaling) {
  std::vector<int32_t> out;
  const int64_t in_word = 4 / taps.weight_bytes, bits = 8 * taps.weight_bytes;
  for (int64_t group : tile_starts(channels, kChannels)) {
    for (size_t tap = 0; tap < weights.size(); tap += static_cast<size_t>(channels))
      for (int64_t c = group; c < group + kChannels; c += in_word) {
        uint32_t word = 0;
        for (int64_t i = 0; i < in_word; ++i) {
          const auto w = static_cast<uint16_t>(weights[tap + static_cast<size_t>(c + i)]);
          word |= (w & ((1u << bits) - 1)) << (bits * i);
        }
        out.push_back(static_cast<int32_t>(word));
      }
    for (int64_t half = 0; half < 2; ++half) put_scaling(out, scaling, group + half);
  }
  return out;
}

std::vector<int32_t> mve_taps_shape(const MveTaps& taps, const MveTapSteps& steps, int64_t channels,
                                    const MveScaling& scaling) {
  std::vector<int32_t> out(MveGemm::kShapeWords);
  auto set = [&](int at, int64_t v) { out[static_cast<size_t>(at)] = static_cast<int32_t>(v); };
  set(MveTaps::kPixels, steps.pixels);
  set(MveTaps::kGroups, channels / kChannels);
  set(MveTaps::kRows, steps.rows);
  set(MveTaps::kColumnStep, steps.column * taps.bytes);
  set(MveTaps::kPixelStep, steps.pixel * taps.bytes);
  set(MveTaps::kRowSkip, (steps.row - taps.columns * steps.column) * taps.bytes);
  set(MveTaps::kGroupStep, (kChannels - steps.rows * steps.row) * taps.bytes);
  set(MveTaps::kOutPixel, channels * scaling.bytes());
  set(MveGemm::kZero, scaling.zero_point);
  set(MveGemm::kLeast, scaling.clamp.min);
  set(MveGemm::kMost, scaling.clamp.max);
  return out;
}

KernelPtr mve_gemv_kernel(const MveBlocks& blocks, int64_t channels, const MveScaling& scaling) {
  return Product("mve_gemv", blocks, channels, scaling).gemv();
}

namespace {

DType type_of_bytes(int64_t bytes) { return bytes == 4 ? DType::kF32 : bytes == 2 ? DType::kI16 : DType::kI8; }
Ex elements_of(const Ex& bytes, int64_t element_bytes) {
  return element_bytes == 1 ? bytes : bytes >> (element_bytes == 2 ? 1 : 2);
}

std::vector<std::pair<std::string, int64_t>> with_type(std::vector<std::pair<std::string, int64_t>> parameters,
                                                       int64_t element_bytes) {
  if (element_bytes == 2) parameters.emplace_back("halves", 1);
  if (element_bytes == 4) parameters.emplace_back("floats", 1);
  return parameters;
}

}  // namespace

KernelPtr mve_windows_kernel(int64_t rows, int64_t bytes, int64_t element_bytes) {
  FunctionBuilder f("mve_windows");
  BufferPtr x = f.input("x", type_of_bytes(element_bytes), 0);
  BufferPtr panel = f.output("panel", type_of_bytes(element_bytes), 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  const int64_t count = bytes / element_bytes;
  Ex row_step = f.let("row_step", elements_of(load(shape, MveGemm::kRowStep), element_bytes));
  Ex pixel_step = f.let("pixel_step", elements_of(load(shape, MveGemm::kPixelStep), element_bytes));
  Ex panel_pixel = f.let("panel_pixel", elements_of(load(shape, MveGemm::kPanelPixel), element_bytes));
  f.loop("pixel", 0, 2, [&](Ex pixel) {
    f.loop("row", 0, rows, [&](Ex row) {
      Ex from = f.let("from", pixel * pixel_step + row * row_step);
      Ex to = f.let("to", pixel * panel_pixel + row * count);
      f.loop("i", 0, count, [&](Ex i) { f.store(panel, to + i, load(x, from + i)); });
    });
  });
  return f.finish_kernel("mve_windows", with_type({{"rows", rows}, {"bytes", bytes}}, element_bytes));
}

KernelPtr mve_rows_kernel(int64_t element_bytes) {
  FunctionBuilder f("mve_rows");
  BufferPtr x = f.input("x", type_of_bytes(element_bytes), 0);
  BufferPtr panel = f.output("panel", type_of_bytes(element_bytes), 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex size = f.scalar("size");
  Ex x_step = f.let("x_step", elements_of(load(shape, 0), element_bytes));
  Ex panel_step = f.let("panel_step", elements_of(load(shape, 1), element_bytes));
  f.loop("row", 0, size >> 16, [&](Ex row) {
    f.loop("i", 0, elements_of(size & 0xFFFF, element_bytes),
           [&](Ex i) { f.store(panel, row * panel_step + i, load(x, row * x_step + i)); });
  });
  return f.finish_kernel("mve_rows", with_type({}, element_bytes));
}

KernelPtr mve_fill_kernel(int64_t element_bytes) {
  FunctionBuilder f("mve_fill");
  BufferPtr panel = f.output("panel", type_of_bytes(element_bytes), 0);
  Ex value = f.scalar("value"), bytes = f.scalar("bytes");
  // Of floats, the value is 0.
  Ex element = element_bytes == 4 ? cast(DType::kF32, value) : value;
  f.loop("i", 0, elements_of(bytes, element_bytes), [&](Ex i) { f.store(panel, i, element); });
  return f.finish_kernel("mve_fill", with_type({}, element_bytes));
}

}  // namespace aotc::cores::arm
