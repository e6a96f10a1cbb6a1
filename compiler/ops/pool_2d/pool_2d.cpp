// SPDX-License-Identifier: Apache-2.0
#include "ops/pool_2d/pool_2d.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ops/common/activation_checks.h"
#include "ops/common/channel_ranges.h"
#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/signature.h"

namespace aotc::ops {

std::span<const std::string_view> enum_names(MaxBegin) {
  static constexpr std::string_view kNames[] = {"least", "first", "first_of_whole"};
  return kNames;
}

Inside inside(const WindowAxis& axis, int64_t o) {
  int64_t start = axis.start(o);
  return {std::max<int64_t>(start, 0), std::min(start + axis.kernel, axis.in)};
}

Counts counts_of(const WindowAxis& axis) {
  Counts out{axis.kernel, 0};
  for (int64_t o = 0; o < axis.out; ++o) {
    int64_t count = inside(axis, o).count();
    out.least = std::min(out.least, count);
    out.most = std::max(out.most, count);
  }
  return out;
}

Requantization average_scaling(const OpView& op, Counts y, Counts x) {
  Requantization out;
  IntRange values = int_range(op.operand(0).dtype);
  out.rounding = Rounding::kDivide;
  out.clamp = quantized_clamp(op.attrs<Pool2DAttrs>().activation, op.result());
  const int64_t shift = average_shift(op);
  if (op.attrs<Pool2DAttrs>().rounding == RoundingRule::kOnnxruntime) {
    const int64_t count = y.most * x.most;
    out.rounding = Rounding::kEven;
    out.zero_point = op.result().zero_point();
    float divisor = op.result().scale() * static_cast<float>(count);
    out.scales = {static_cast<double>(op.operand(0).scale() / divisor)};
    out.ranges = {{(values.min + shift) * count, (values.max + shift) * count}};
    return out;
  }
  out.zero_point = static_cast<int32_t>(-shift);
  for (int64_t rows = y.least; rows <= y.most; ++rows)
    for (int64_t columns = x.least; columns <= x.most; ++columns) {
      out.scales.push_back(1.0 / static_cast<double>(rows * columns));
      out.ranges.push_back({(values.min + shift) * rows * columns, (values.max + shift) * rows * columns});
    }
  return out;
}

namespace {

bool averages_words(const OpView& op) {
  return op.operand(0).dtype == DType::kI16 && op.attrs<Pool2DAttrs>().rounding == RoundingRule::kOnnxruntime;
}

// Steps of the result for one step of a sum.
double real_scale(const OpView& op) {
  const auto& attrs = op.attrs<Pool2DAttrs>();
  const double count = static_cast<double>(attrs.filter_h) * attrs.filter_w;
  return static_cast<double>(op.operand(0).scale()) / (static_cast<double>(op.result().scale()) * count);
}

}  // namespace

std::optional<WordAverage> word_average(const OpView& op) {
  if (!averages_words(op)) return std::nullopt;
  const auto& attrs = op.attrs<Pool2DAttrs>();
  return WordAverage(real_scale(op), int64_t{attrs.filter_h} * attrs.filter_w, op.operand(0).zero_point(),
                     op.result().zero_point());
}

namespace {

// More would make tables larger than any image pool needs.
constexpr int64_t kMostCounts = 4096;

// begin(columns), element(in_index), then end(out_index, pixel count) for every result element, window
// positions in row, column order.
template <typename Begin, typename Element, typename End>
void for_each_output(const OpView& op, Begin begin, Element element, End end) {
  Window w = pool_window(op);
  int64_t channels = op.operand(0).shape[3];
  int64_t at = 0;
  for (int64_t n = 0; n < w.batch; ++n)
    for (int64_t oy = 0; oy < w.y.out; ++oy)
      for (int64_t ox = 0; ox < w.x.out; ++ox)
        for (int64_t c = 0; c < channels; ++c, ++at) {
          Inside ys = inside(w.y, oy), xs = inside(w.x, ox);
          begin(xs.count());
          for (int64_t y = ys.begin; y < ys.end; ++y)
            for (int64_t x = xs.begin; x < xs.end; ++x)
              element(static_cast<size_t>(((n * w.y.in + y) * w.x.in + x) * channels + c));
          end(static_cast<size_t>(at), ys.count() * xs.count());
        }
}

std::optional<RowFlow> rows_without_border(const OpView& op) {
  const RowFlow flow = rows_of_window(pool_window(op).y, {});
  return flow.before == 0 && flow.after == 0 ? std::optional(flow) : std::nullopt;
}

std::vector<TypeEntry> pooled_types() {
  return {{DType::kI8, "result quantised as the operand"},
          {DType::kU8, "result quantised as the operand"},
          {DType::kI16, "result quantised as the operand, zero point 0"},
          DType::kF32};
}

class Pool2D : public SpecifiedOperator, public Streamable, public Prunable {
 public:
  Pool2D(std::string_view name, std::string_view summary, std::vector<TypeEntry> types)
      : SpecifiedOperator({.name = name,
                           .summary = summary,
                           .operands = {{.name = "x", .types = std::move(types), .ranks = {4, 4}}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .empty = false,
                           .uint8 = Uint8::kShifted,
                           .attributes = make_attributes<Pool2DAttrs>}) {}

  ChannelFlow channel_flow(const OpView& op) const override {
    return op.operand(0).dtype == DType::kI8 ? ChannelFlow::kEach : ChannelFlow::kOpaque;
  }

  SharedAttributes attributes_for_rows(const OpView& op) const override { return without_row_padding<Pool2DAttrs>(op); }

  bool sums_pieces(const OpView& op, int64_t pieces) const override { return pool_sums_pieces(op, pieces); }

  // A rounded average of values in a range, as their maximum, is in it, and reaches its ends.
  ChannelRanges channel_ranges(const OpView& op, const std::vector<ChannelRanges>& operands) const override {
    if (averages_words(op)) {
      const ClampI32 clamp = quantized_clamp(op.attrs<Pool2DAttrs>().activation, op.result());
      return ChannelRanges(operands[0].size(), {clamp.min, clamp.max});
    }
    if (op.attrs<Pool2DAttrs>().rounding == RoundingRule::kOnnxruntime) return rescaled_ranges(op, operands[0]);
    return clamped_ranges(operands[0], quantized_clamp(op.attrs<Pool2DAttrs>().activation, op.result()));
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<Pool2DAttrs>();
    Window window;
    if (!infer_window(op, attrs, attrs.filter_h, attrs.filter_w, window, diags)) return kFailure;
    return std::vector<graph::Shape>{{window.batch, window.y.out, window.x.out, op.operand(0).shape[3]}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<Pool2DAttrs>();
    if (attrs.dilation_h != 1 || attrs.dilation_w != 1) {
      bad_attribute(op, diags, "pools have no dilation");
      return false;
    }
    Window w = pool_window(op);
    for (const WindowAxis* axis : {&w.y, &w.x}) {
      if (axis->pad_before < axis->kernel && axis->start(axis->out - 1) < axis->in) continue;
      bad_attribute(op, diags, "a window lies in the padding altogether; use less padding");
      return false;
    }
    if (attrs.begin != MaxBegin::kLeast && (op.operand(0).dtype != DType::kF32 || op.op.name() != "max_pool_2d")) {
      bad_attribute(op, diags, "only a maximum of floats begins with an element");
      return false;
    }
    if (attrs.ties_up && op.operand(0).dtype != DType::kI8) {
      bad_attribute(op, diags, "ties go up of int8 only");
      return false;
    }
    if (!check_rounding_rule(op, attrs.rounding, diags, averages_words(op))) return false;
    if (op.operand(0).dtype == DType::kF32) return true;
    const bool rescaled = attrs.rounding == RoundingRule::kOnnxruntime;
    if (!check_quantized_io(op, diags) || !(rescaled || check_same_quantization(op, 0, 0, diags)) ||
        !check_activation_bounds(op, op.attrs<Pool2DAttrs>().activation, diags))
      return false;
    Counts y = counts_of(w.y), x = counts_of(w.x);
    if (rescaled && (attrs.ties_up || y.kinds() * x.kinds() != 1 || op.op.name() != "average_pool_2d")) {
      bad_attribute(op, diags, "rounding = onnxruntime is for averages without padding");
      return false;
    }
    if (averages_words(op)) {
      return averages_by_word(real_scale(op), int64_t{attrs.filter_h} * attrs.filter_w) ||
             bad_attribute(op, diags, "the scales or the window are too large for averages of int16");
    }
    if (rescaled && !check_even_scales(op, average_scaling(op, y, x).scales, diags)) return false;
    int bits = op.operand(0).dtype == DType::kI8 ? 24 : 16;
    if (y.most * x.most >= int64_t{1} << bits || y.kinds() * x.kinds() > kMostCounts) {
      bad_attribute(op, diags, "the window is too large to sum up in 32 bits");
      return false;
    }
    return true;
  }

 private:
  // Windows are whole, and sums go up with their values, as does what becomes of them.
  static ChannelRanges rescaled_ranges(const OpView& op, const ChannelRanges& operand) {
    const Window window = pool_window(op);
    const Counts y = counts_of(window.y), x = counts_of(window.x);
    const ChannelReference average = average_scaling(op, y, x).reference(0);
    const auto count = static_cast<int32_t>(y.most * x.most);
    auto of = [&](int32_t value) { return average(count * (value + average_shift(op))); };
    ChannelRanges out;
    for (const ValueRange& range : operand) out.push_back({of(range.low), of(range.high)});
    return out;
  }
};

class AveragePool2D final : public Pool2D {
 public:
  AveragePool2D() : Pool2D("average_pool_2d", "average of windows, NHWC", pooled_types()) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kF32) {
      auto in = data.in<float>(0);
      auto out = data.out<float>();
      ClampF32 range = float_clamp(op.attrs<Pool2DAttrs>().activation);
      float sum = 0;
      for_each_output(
          op, [&](int64_t) { sum = 0; }, [&](size_t i) { sum += in[i]; },
          [&](size_t at, int64_t count) {
            float mean = sum / static_cast<float>(count);
            out[at] = std::min(std::max(mean, range.min), range.max);
          });
      return;
    }
    if (op.operand(0).dtype == DType::kI8) {
      average<int8_t>(op, data);
    } else {
      average<int16_t>(op, data);
    }
  }

  // Averages at the border are of fewer pixels.
  std::optional<RowFlow> row_flow(const OpView& op) const override { return rows_without_border(op); }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return lower_pool_2d(op, PoolKind::kAverage); }
  RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo&) const override {
    return lower_pool_pieces(op, PoolKind::kAverage, pieces);
  }

 private:
  template <typename T>
  static void average(const OpView& op, const EvalData& data) {
    auto in = data.in<T>(0);
    auto out = data.out<T>();
    if (const auto word = word_average(op)) {
      const ClampI32 clamp = quantized_clamp(op.attrs<Pool2DAttrs>().activation, op.result());
      int32_t total = 0;
      return for_each_output(
          op, [&](int64_t) { total = 0; }, [&](size_t i) { total += in[i]; },
          [&](size_t at, int64_t) { out[at] = static_cast<T>(std::clamp(word->of(total), clamp.min, clamp.max)); });
    }
    const bool rescaled = op.attrs<Pool2DAttrs>().rounding == RoundingRule::kOnnxruntime;
    const Window window = pool_window(op);
    Requantization scaling =
        rescaled ? average_scaling(op, counts_of(window.y), counts_of(window.x)) : average_scaling(op, {1, 0}, {1, 0});
    scaling.scales.resize(1);
    const int32_t shift = average_shift(op);
    int32_t sum = 0;
    for_each_output(
        op, [&](int64_t) { sum = 0; }, [&](size_t i) { sum += in[i] + shift; },
        [&](size_t at, int64_t count) {
          if (!rescaled) scaling.scales[0] = 1.0 / static_cast<double>(count);
          out[at] = static_cast<T>(scaling.apply(sum, 0));
        });
  }
};

class MaxPool2D final : public Pool2D {
 public:
  MaxPool2D() : Pool2D("max_pool_2d", "largest element of windows, NHWC", pooled_types()) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    Activation activation = op.attrs<Pool2DAttrs>().activation;
    if (op.operand(0).dtype == DType::kF32) {
      ClampF32 range = float_clamp(activation);
      run<float>(op, data, std::numeric_limits<float>::lowest(), range.min, range.max, op.attrs<Pool2DAttrs>().begin);
    } else if (op.operand(0).dtype == DType::kI16) {
      ClampI32 range = quantized_clamp(activation, op.result());
      run<int16_t>(op, data, -32768, static_cast<int16_t>(range.min), static_cast<int16_t>(range.max));
    } else {
      ClampI32 range = quantized_clamp(activation, op.result());
      run<int8_t>(op, data, -128, static_cast<int8_t>(range.min), static_cast<int8_t>(range.max));
    }
  }

  // What is the least there is never is the maximum.
  std::optional<RowFlow> row_flow(const OpView& op) const override {
    if (op.operand(0).dtype != DType::kI8 && op.operand(0).dtype != DType::kI16) return rows_without_border(op);
    const bool wide = op.operand(0).dtype == DType::kI16;
    return rows_of_window(pool_window(op).y, wide ? std::vector<uint8_t>{0x00, 0x80} : std::vector<uint8_t>{0x80});
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return lower_pool_2d(op, PoolKind::kMax); }
  RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo&) const override {
    return lower_pool_pieces(op, PoolKind::kMax, pieces);
  }

 private:
  template <typename T>
  static void run(const OpView& op, const EvalData& data, T lowest, T low, T high, MaxBegin begin = MaxBegin::kLeast) {
    auto in = data.in<T>(0);
    auto out = data.out<T>();
    const int64_t width = pool_window(op).x.kernel;
    T best = lowest;
    bool begins = false;
    for_each_output(
        op,
        [&](int64_t columns) {
          best = lowest;
          begins = begin == MaxBegin::kFirst || (begin == MaxBegin::kFirstOfWhole && columns == width);
        },
        [&](size_t i) {
          best = begins || best < in[i] ? in[i] : best;
          begins = false;
        },
        [&](size_t at, int64_t) { out[at] = std::min(std::max(best, low), high); });
  }
};

class L2Pool2D final : public Pool2D {
 public:
  L2Pool2D() : Pool2D("l2_pool_2d", "root of the average square of windows, NHWC", {DType::kF32}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return lower_pool_2d(op, PoolKind::kRoot); }
  RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo&) const override {
    return lower_pool_pieces(op, PoolKind::kRoot, pieces);
  }
};

}  // namespace

void add_operators_pool_2d(OperatorSet& set) {
  set.add(std::make_unique<AveragePool2D>());
  set.add(std::make_unique<MaxPool2D>());
  set.add(std::make_unique<L2Pool2D>());
}

}  // namespace aotc::ops
