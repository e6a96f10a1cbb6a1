// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/depthwise_kernels.h"

#include <array>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

using Kind = MveDepthwise::Kind;
using FourWords = std::array<Ex, 4>;

constexpr int64_t kLanes = 4;

int64_t weight_words(Kind kind) { return kind == MveDepthwise::kColumn ? 4 : 3; }

Ex byte_of(const Ex& word, int64_t byte) { return byte == 3 ? word >> 24 : shl_wrapping(word, 24 - 8 * byte) >> 24; }

// The word as if one byte came in at its low end.
Ex with_low_byte(const Ex& word, const Ex& byte) { return shl_wrapping(word, 8) | byte; }

}  // namespace

int64_t mve_depthwise_record(Kind kind, const MveScaling& scaling) { return weight_words(kind) + scaling.vectors(); }

std::vector<int32_t> mve_depthwise_stream(Kind kind, const std::vector<int8_t>& weights, int64_t channels, int64_t rows,
                                          int64_t columns, const MveScaling& scaling) {
  std::vector<int32_t> out;
  for (int64_t c = 0; c < channels; ++c) {
    std::array<uint32_t, 4> words{};
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t x = 0; x < columns; ++x) {
        uint32_t w = static_cast<uint8_t>(weights[static_cast<size_t>((c * rows + r) * columns + x)]);
        int64_t at = kind == MveDepthwise::kColumn ? r : 4 * x + r;
        words[static_cast<size_t>(at / 4)] |= w << (8 * (at % 4));
      }
    for (int64_t i = 0; i < weight_words(kind); ++i) out.push_back(static_cast<int32_t>(words[static_cast<size_t>(i)]));
    // The multiplier comes first, whatever the form.
    auto at = static_cast<size_t>(c);
    if (scaling.form == MveScaling::Form::kLine) {
      for (int v : {0, 1}) out.push_back(scaling.words[v][at]);
    } else {
      for (int v : {1, 0}) out.push_back(scaling.words[v][at]);
      if (scaling.vectors() == 3) out.push_back(scaling.words[2][at]);
    }
  }
  return out;
}

bool fits_mve_depthwise(const MveScaling& scaling) {
  return scaling.adds_zero_point() || (scaling.left > 0 && scaling.shift > 0 && scaling.shift <= kMostMveShift);
}

KernelPtr mve_weave_kernel(int64_t first, int64_t rows, int64_t keep) {
  FunctionBuilder f("mve_weave");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr woven = f.output("woven", DType::kI32, 0);
  Ex bytes = f.scalar("bytes");
  Ex zero = f.scalar("zero");
  f.loop("i", 0, bytes, [&](Ex i) {
    Ex old = keep > 0 ? f.let("old", load(woven, i)) : Ex(0);
    Ex word;
    for (int64_t r = 0; r < kLanes; ++r) {
      bool there = r >= first && r < first + rows;
      Ex byte = (there ? load(x, i + bytes * (r - first)) : zero) & 0xFF;
      if (r < keep) byte = byte_of(old, kLanes - keep + r) & 0xFF;
      if (r > 0) byte = shl_wrapping(byte, 8 * r);
      word = word.ptr() ? word | byte : byte;
    }
    f.store(woven, i, word);
  });
  return f.finish_kernel("mve_weave", {{"first", first}, {"rows", rows}, {"keep", keep}});
}

namespace {

// The meaning of mve_quads.
class Quads {
 public:
  Quads(Kind kind, const MveScaling& scaling, bool tail)
      : kind_(kind == MveDepthwise::kSquares || kind == MveDepthwise::kSquaresOnce ? MveDepthwise::kSquare : kind),
        named_(kind),
        scaling_(scaling),
        tail_(tail),
        f_("mve_quads") {}

  KernelPtr run() {
    woven_ = f_.input("woven", DType::kI32, 0);
    stream_ = f_.constant("stream", DType::kI32, 0);
    out_ = f_.output("out", DType::kI8, 0);
    shape_ = f_.constant("shape", DType::kI32, 0);
    int64_t record = mve_depthwise_record(kind_, scaling_);
    for (int64_t i = 0; i < kLanes; ++i) {
      gather_.push_back(f_.let(fmt::format("from{}", i), word(MveDepthwise::kGather + i) >> 2));
      scatter_.push_back(f_.let(fmt::format("to{}", i), word(MveDepthwise::kScatter + i)));
    }
    step_ = f_.let("step", word(MveDepthwise::kStep) >> 2);
    out_step_ = f_.let("out_step", word(MveDepthwise::kOutStep));
    zero_ = f_.let("zero", word(MveDepthwise::kZero));
    least_ = scaling_.clamps() ? f_.let("least", byte_of(word(MveDepthwise::kLeast), 0)) : Ex(-128);
    most_ = scaling_.clamps() ? f_.let("most", byte_of(word(MveDepthwise::kMost), 0)) : Ex(127);
    Ex quads = f_.let("quads", word(MveDepthwise::kQuads));
    Ex count = f_.let("count", word(MveDepthwise::kTail));
    Ex channels = f_.let("channels", word(MveDepthwise::kStreamBytes) / (4 * record));
    f_.loop("channel", 0, channels, [&](Ex channel) {
      at_ = f_.let("at", channel * record);
      load_weights();
      f_.loop("quad", 0, quads, [&](Ex i) { quad(channel, i, nullptr); });
      if (tail_) quad(channel, quads, &count);
    });
    return f_.finish_kernel("mve_quads", {{"kind", named_},
                                          {"twice", scaling_.twice()},
                                          {"left", scaling_.left},
                                          {"shift", scaling_.shift},
                                          {"clamps", scaling_.clamps()},
                                          {"tail", tail_}});
  }

 private:
  Ex word(int64_t i) { return load(shape_, i); }
  int64_t patches() const { return kind_ == MveDepthwise::kRow ? 4 : 1; }

  // The weights of each output of a quad, as they lie in its patch.
  void load_weights() {
    FourWords first;
    for (int64_t i = 0; i < kLanes; ++i) {
      bool there = i < weight_words(kind_);
      first[static_cast<size_t>(i)] = there ? f_.let(fmt::format("w{}", i), load(stream_, at_ + i)) : Ex(0);
    }
    weights_.assign(4, first);
    if (kind_ == MveDepthwise::kSquare) {
      weights_[1] = lower_row(first);
      weights_[2] = {Ex(0), first[0], first[1], first[2]};
      weights_[3] = lower_row(weights_[2]);
    } else if (kind_ == MveDepthwise::kColumn) {
      for (size_t j = 1; j < 4; ++j) weights_[j] = next_byte(weights_[j - 1]);
    }
  }

  FourWords lower_row(const FourWords& from) {
    FourWords out;
    for (size_t i = 0; i < 4; ++i) {
      int64_t v = 0;
      out[i] = from[i].is_imm(&v) ? from[i] : f_.let("w", shl_wrapping(from[i], 8));
    }
    return out;
  }

  FourWords next_byte(const FourWords& from) {
    FourWords out;
    for (size_t i = 0; i < 4; ++i)
      out[i] = f_.let("w", with_low_byte(from[i], i == 0 ? Ex(0) : (from[i - 1] >> 24) & 0xFF));
    return out;
  }

  void quad(const Ex& channel, const Ex& i, const Ex* count) {
    Ex base = f_.let("base", channel + i * (step_ * patches()));
    Ex to = f_.let("to", channel + i * out_step_);
    FourWords patch;
    for (int64_t j = 0; j < kLanes; ++j) {
      if (j == 0 || patches() > 1)
        for (size_t lane = 0; lane < 4; ++lane)
          patch[lane] = f_.let("x", load(woven_, base + step_ * j + gather_[lane]));
      auto make = [&] {
        Ex value = requantized(sum(patch, weights_[static_cast<size_t>(j)]));
        f_.store(out_, to + scatter_[static_cast<size_t>(j)], value);
      };
      count ? f_.if_(*count > j, make) : make();
    }
  }

  Ex sum(const FourWords& patch, const FourWords& weights) {
    Ex acc = f_.var("acc", 0);
    for (size_t lane = 0; lane < 4; ++lane) {
      int64_t v = 0;
      if (weights[lane].is_imm(&v)) continue;
      for (int64_t b = 0; b < 4; ++b) f_.assign(acc, acc + byte_of(patch[lane], b) * byte_of(weights[lane], b));
    }
    return acc;
  }

  Ex high(const Ex& product, int64_t by) { return cast(DType::kI32, product >> tir::i64(by)); }

  Ex requantized(const Ex& sum) {
    Ex at = at_ + weight_words(kind_);
    Ex m = cast(DType::kI64, load(stream_, at));
    if (scaling_.form == MveScaling::Form::kLine) {
      Ex scaled = cast(DType::kI64, shl_wrapping(sum, scaling_.left));
      Ex v = high(scaled * m, 32) + load(stream_, at + 1) + mve_rounding(scaling_.shift);
      return f_.let("v", clamp(f_.let("t", v) >> scaling_.shift, least_, most_));
    }
    Ex acc = f_.let("sum", sum + load(stream_, at + 1));
    if (scaling_.form == MveScaling::Form::kEven)
      return f_.let("v", clamp(mve_even(f_, acc, load(stream_, at)) + zero_, least_, most_));
    Ex doubled = cast(DType::kI64, acc) * m + tir::i64(int64_t{1} << 30);
    if (scaling_.products) {
      Ex t = f_.let("t", high(doubled, 31));
      Ex again = cast(DType::kI64, t) * cast(DType::kI64, load(stream_, at + 2)) + tir::i64(int64_t{1} << 30);
      return f_.let("v", clamp(f_.let("shifted", high(again, 31) + zero_), least_, most_));
    }
    Ex t = f_.let("t", high(doubled, 31) + (acc >> 31));
    Ex by = f_.let("by", -load(stream_, at + 2));
    Ex rounded = cast(DType::kI64, t) + (tir::i64(1) << cast(DType::kI64, by - 1));
    Ex shifted = cast(DType::kI32, rounded >> cast(DType::kI64, by));
    return f_.let("v", clamp(shifted + zero_, least_, most_));
  }

  Kind kind_, named_;
  const MveScaling& scaling_;
  bool tail_;
  FunctionBuilder f_;
  BufferPtr woven_, stream_, out_, shape_;
  std::vector<Ex> gather_, scatter_;
  std::vector<FourWords> weights_;
  Ex step_, out_step_, zero_, least_, most_, at_;
};

}  // namespace

KernelPtr mve_quads_kernel(Kind kind, const MveScaling& scaling, bool tail) { return Quads(kind, scaling, tail).run(); }

}  // namespace aotc::cores::arm
