// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/int16.h"

#include <algorithm>
#include <cmath>

#include "ops/common/scaler.h"
#include "ops/softmax/softmax.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int kSteps = 512;

// `function` at 513 places of [low, high] in Q15, each moved by half of what the line to the next would
// be off in the middle.
template <typename F>
std::vector<int16_t> table_of(double low, double high, F function) {
  constexpr double kOutScale = 2.0 / 65535;
  const double inverse = 65536.0 / (kOutScale * 32767 - kOutScale * -32768);
  const double step = (high - low) / kSteps, half = step / 2;
  auto stored = [](double v) { return static_cast<int16_t>(std::clamp(v, -32768.0, 32767.0)); };
  std::vector<int16_t> out;
  for (int i = 0; i < kSteps; ++i) {
    double sample = std::round(function(low + i * step) * inverse);
    double next = function(low + (i + 1) * step) * inverse;
    double middle = std::round(function(low + i * step + half) * inverse);
    double error = std::round((next + sample) / 2) - middle;
    out.push_back(stored(sample - std::round(error / 2)));
  }
  out.push_back(stored(std::round(function(high) * inverse)));
  return out;
}

int32_t look_up(const std::vector<int16_t>& table, int32_t x) {
  auto index = static_cast<size_t>(256 + (x >> 7));
  int32_t low = table[index], slope = table[index + 1] - low;
  return low + ((slope * (x & 127) + 64) >> 7);
}

}  // namespace

const SoftmaxTables& softmax_tables() {
  // The ends as the reference works them out, from the ends of int16.
  static const SoftmaxTables tables = {
      table_of(10.0 / 65535 * -65535, 10.0 / 65535 * 0, [](double x) { return std::exp(x); }),
      table_of(1.0 / 65535 * 0, 1.0 / 65535 * 65535, [](double x) { return 1.0 / (1.0 + x); })};
  return tables;
}

double softmax_distance_scale(const OpView& op) {
  float scale = op.operand(0).scale() * op.attrs<SoftmaxAttrs>().beta;
  return static_cast<double>(scale) / (10.0 / 65535.0);
}

void softmax_row(std::span<const int16_t> in, std::span<int16_t> out, QuantizedMultiplier distance) {
  const SoftmaxTables& tables = softmax_tables();
  int32_t largest = *std::max_element(in.begin(), in.end());
  int32_t sum = 0;
  std::vector<int32_t> e;
  for (int16_t v : in) {
    int32_t scaled = multiply_by_quantized_multiplier(v - largest, distance);
    e.push_back(look_up(tables.exponential, std::clamp(scaled + 32767, -32768, 32767)));
    sum += e.back();
  }
  int right = 0;  // of the products
  for (; sum < 1 << 30; sum *= 2) ++right;
  right = 30 - right;
  int32_t place = (((sum >> 13) + 1) >> 1) - (1 << 15) - (1 << 16);
  int32_t inverse = look_up(tables.inverse, std::min(place, 32767));
  for (size_t i = 0; i < in.size(); ++i) {
    int32_t q = (e[i] * inverse + (1 << (right - 1))) >> right;
    out[i] = static_cast<int16_t>(std::clamp(q, 0, 32767));
  }
}

FineSoftmax::FineSoftmax(const OpView& op) {
  const auto scale = static_cast<double>(op.operand(0).scale());
  auto stored = [&](int distance) {
    return static_cast<int32_t>(std::llround(std::ldexp(std::exp(-distance * scale), 30)));
  };
  for (int i = 0; i < 256; ++i) high.push_back(stored(i << 8)), low.push_back(stored(i));
  const double steps = 1.0 / static_cast<double>(op.result().scale());
  const int up = 30 - static_cast<int>(std::floor(std::log2(steps)));
  units = std::llround(std::ldexp(steps, up)) << 31;
  shift = 31 + up;
}

void softmax_row(std::span<const int16_t> in, std::span<int16_t> out, const FineSoftmax& how, int32_t zero_point) {
  const int32_t largest = *std::max_element(in.begin(), in.end());
  std::vector<int64_t> e;
  int64_t sum = 0;
  for (int16_t v : in) {
    const auto distance = static_cast<size_t>(largest - v);
    e.push_back((int64_t{how.high[distance >> 8]} * how.low[distance & 255] + (1 << 29)) >> 30);
    sum += e.back();
  }
  const int64_t inverse = (how.units + (sum >> 1)) / sum, half = int64_t{1} << (how.shift - 1);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto q = static_cast<int32_t>((e[i] * inverse + half) >> how.shift);
    out[i] = static_cast<int16_t>(std::clamp(q + zero_point, -32768, 32767));
  }
}

namespace {

Lowered lower_fine(const OpView& op) {
  const FineSoftmax how(op);
  LoweringBuilder f(op, "softmax");
  const int64_t depth = op.operand(0).shape.back(), rows = op.operand(0).elements() / depth;
  const BufferPtr in = f.operand(0);
  const BufferPtr high = f.constant("high", DType::kI32, how.high), low = f.constant("low", DType::kI32, how.low);
  const BufferPtr out = f.result(0);
  // An element is read for the last time just before its result is written.
  f.publish_in_place(0);
  f.loop("r", 0, rows, [&](Ex r) {
    const Ex row = f.let("row", r * depth);
    const Ex largest = f.var("largest", load(in, row));
    f.loop("i", 1, depth, [&](Ex i) { f.assign(largest, max(largest, load(in, row + i))); });
    auto exponential = [&](const Ex& i) {
      const Ex distance = f.let("distance", largest - load(in, row + i));
      const Ex product = cast(DType::kI64, load(high, distance >> 8)) * cast(DType::kI64, load(low, distance & 255));
      return f.let("e", (product + tir::i64(1 << 29)) >> tir::i64(30));
    };
    const Ex sum = f.var("sum", tir::i64(0));
    f.loop("i", 0, depth, [&](Ex i) { f.assign(sum, sum + exponential(i)); });
    const Ex inverse = f.let("inverse", (tir::i64(how.units) + (sum >> tir::i64(1))) / sum);
    f.loop("i", 0, depth, [&](Ex i) {
      const Ex place = exponential(i) * inverse + tir::i64(int64_t{1} << (how.shift - 1));
      const Ex q = f.let("q", cast(DType::kI32, place >> tir::i64(how.shift)));
      f.store(out, row + i, clamp(q + op.result().zero_point(), -32768, 32767));
    });
  });
  return f.finish("two tables of 256");
}

class SoftmaxInt16Lowering {
 public:
  explicit SoftmaxInt16Lowering(const OpView& op)
      : f_(op, "softmax"),
        scaler_(p_, "distance", quantize_multiplier(softmax_distance_scale(op))),
        depth_(op.operand(0).shape.back()),
        rows_(op.operand(0).elements() / depth_) {}

  Lowered run() {
    in_ = f_.operand(0);
    exponential_ = f_.constant("exponentials", DType::kI16, softmax_tables().exponential);
    inverse_ = f_.constant("inverses", DType::kI16, softmax_tables().inverse);
    p_.load(f_);
    out_ = f_.result(0);
    // An element is read for the last time just before its exponential is written over it.
    f_.publish_in_place(0);
    f_.loop("r", 0, rows_, [&](Ex r) { emit_row(f_.let("row", r * depth_)); });
    return f_.finish("two tables of 513");
  }

 private:
  Ex look_up(const BufferPtr& table, const Ex& x) {
    Ex index = f_.let("index", (x >> 7) + 256);
    Ex low = f_.let("low", load(table, index));
    Ex slope = load(table, index + 1) - low;
    return low + ((slope * (x & 127) + 64) >> 7);
  }

  void emit_row(const Ex& row) {
    Ex largest = f_.var("largest", load(in_, row));
    f_.loop("i", 1, depth_, [&](Ex i) { f_.assign(largest, max(largest, load(in_, row + i))); });
    Ex sum = f_.var("sum", Ex(0));
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex scaled = scaler_.emit(f_, f_.let("distance", load(in_, row + i) - largest));
      Ex place = f_.let("place", max(scaled + 32767, -32768));
      Ex e = f_.let("e", look_up(exponential_, place));
      f_.store(out_, row + i, e);
      f_.assign(sum, sum + e);
    });
    // Shift the sum to [2^30, 2^31). It is 2^14 at least, the largest element's share.
    Ex right = f_.var("right", Ex(30));
    for (int step : {8, 4, 2, 1, 1})
      f_.if_(sum < (int64_t{1} << (31 - step)), [&] {
        f_.assign(sum, sum * (int64_t{1} << step));
        f_.assign(right, right - step);
      });
    Ex place = f_.let("place", min((((sum >> 13) + 1) >> 1) - ((1 << 15) + (1 << 16)), 32767));
    Ex inverse = f_.let("inverse", look_up(inverse_, place));
    Ex half = f_.let("half", Ex(1) << (right - 1));
    f_.loop("i", 0, depth_, [&](Ex i) {
      Ex q = f_.let("q", (load(out_, row + i) * inverse + half) >> right);
      f_.store(out_, row + i, clamp(q, 0, 32767));
    });
  }

  LoweringBuilder f_;
  Parameters p_;
  Scaler scaler_;
  int64_t depth_, rows_;
  BufferPtr in_, out_, exponential_, inverse_;
};

}  // namespace

Lowered lower_softmax_int16(const OpView& op) {
  if (op.attrs<SoftmaxAttrs>().rounding == RoundingRule::kOnnxruntime) return lower_fine(op);
  return SoftmaxInt16Lowering(op).run();
}

}  // namespace aotc::ops
