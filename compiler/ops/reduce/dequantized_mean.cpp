// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/dequantized_mean.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/requantize.h"
#include "ops/reduce/reduce.h"

namespace aotc::ops {

namespace {

constexpr int kFraction = 16;
constexpr int64_t kMostProven = int64_t{1} << 22;  // sums for which may_tie is decided
constexpr int64_t kPacket = 4;                     // floats

// Additions between an element and the sum.
int64_t depth_of(SumOrder order, int64_t count) {
  if (order == SumOrder::kLanes) return count / (2 * kPacket) + 4 + 2 * (kPacket - 1);
  return order == SumOrder::kFours ? count / 4 + 5 : count;
}

// True if a place beside a tie gives different results on both sides of it.
bool any_beside(const IntegerMean& mean, int64_t count) {
  if (count > kMostProven / 256) return true;
  for (int64_t sum = -128 * count; sum <= 127 * count; ++sum) {
    const int32_t place = mean.place(sum);
    const int32_t above = place >> kFraction;
    if ((place & ((1 << kFraction) - 1)) < mean.beside && above > -128 && above <= 127) return true;
  }
  return false;
}

}  // namespace

std::optional<IntegerMean> integer_mean(const MeanScales& s) {
  constexpr double kUnit = 0x1p-24;  // relative rounding error of float32
  const double real = static_cast<double>(s.in) / (static_cast<double>(s.out) * static_cast<double>(s.count));
  const double most = 256.0 * static_cast<double>(s.in) / static_cast<double>(s.out);
  const double tiny = 0x1p-90;
  if (s.count < 1 || s.count >= int64_t{1} << 20 || !(real >= 0x1p-18) || !(most < 0x1p14) ||
      std::min(s.in, s.out) < tiny || std::max(s.in, s.out) > 1 / tiny)
    return std::nullopt;
  IntegerMean out;
  const int bits = 28 - static_cast<int>(std::floor(std::log2(real)));  // products then fit in 62 bits
  out.multiplier = std::llround(std::ldexp(real, bits));
  out.shift = bits - kFraction;
  // Errors of each element, of the sum, of the mean and of the quotient; then of the multiplier.
  const double roundings = static_cast<double>(depth_of(s.order, s.count) + 3) * kUnit;
  const double of_added = s.added == 0 ? 0 : (most + std::abs(s.added)) * 2 * kUnit;
  const double error = most * (roundings / (1 - roundings) + 0x1p-28) + of_added;
  if (!(error < 0.25)) return std::nullopt;
  const auto margin = static_cast<int32_t>(error * (1 << kFraction)) + 1;
  out.beside = 2 * margin;
  out.start = (int64_t{s.zero_out} << bits) + (int64_t{1} << (bits - 1)) + (int64_t{margin} << out.shift) -
              s.count * s.zero_in * out.multiplier;
  out.may_tie = any_beside(out, s.count);
  return out;
}

namespace reduce {

using tir::BufferPtr;
using tir::Ex;

namespace {

struct DequantizedMeanAttrs : graph::Attributes<DequantizedMeanAttrs>, ReduceFields {
  SumOrder order = SumOrder::kInOrder;
  int32_t added = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    visit_reduction(self, field);
    field("order", self.order);
    field("added", self.added);
  }
};

struct Mean : MeanScales {
  explicit Mean(const OpView& op) : dims(dims_of(op.operand(0).shape, op.attrs<DequantizedMeanAttrs>())) {
    in = op.operand(0).scale();
    out = op.result().scale();
    zero_in = op.operand(0).zero_point();
    zero_out = op.result().zero_point();
    count = count_of(dims);
    results = op.result().elements();
    order = op.attrs<DequantizedMeanAttrs>().order;
    added = op.attrs<DequantizedMeanAttrs>().added;
  }
  int32_t rest() const { return zero_out - added; }  // of the zero point, behind the rounding
  bool is_run() const {  // the reduced dimensions are neighbours
    return std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return d.reduced; }) <= 1;
  }
  // The element of a row at which its first packet begins: rows follow each other in the tensor.
  int64_t first_packet(int64_t row) const { return -row * count & (kPacket - 1); }

  std::vector<Dim> dims;
  int64_t results = 0;
};

// ---------------------------------------------------------------- evaluation

float lanes_sum(std::span<const float> x, size_t first) {
  const size_t begin = std::min(first, x.size()), packets = (x.size() - begin) / kPacket, pairs = packets / 2;
  std::array<float, 2 * kPacket> lanes{};
  for (size_t i = 0; i < pairs * lanes.size(); ++i) lanes[i % lanes.size()] += x[begin + i];
  for (size_t i = 0; i < kPacket; ++i) lanes[i] += lanes[i + kPacket];
  if (packets % 2 != 0)
    for (size_t i = 0; i < kPacket; ++i) lanes[i] += x[begin + pairs * lanes.size() + i];
  float sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (size_t i = 0; i < begin; ++i) sum += x[i];
  for (size_t i = begin + packets * kPacket; i < x.size(); ++i) sum += x[i];
  return sum;
}

float fours_sum(std::span<const float> x) {
  float sum = 0;
  for (size_t i = 0, next = 0; i < x.size(); i = next) {
    next = i + (x.size() - i >= 4 ? 4 : x.size() - i >= 2 ? 2 : 1);
    float part = x[i];
    for (size_t k = i + 1; k < next; ++k) part += x[k];
    sum += part;
  }
  return sum;
}

void evaluate_mean(const OpView& op, const EvalData& data) {
  const Mean mean(op);
  std::vector<std::vector<float>> rows(static_cast<size_t>(op.result().elements()));
  auto in = data.in<int8_t>(0);
  auto out = data.out<int8_t>();
  for_each_element(mean.dims, static_cast<int64_t>(in.size()), [&](size_t from, size_t to) {
    rows[to].push_back(static_cast<float>(in[from] - mean.zero_in) * mean.in);
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<float>& row = rows[i];
    float sum = 0;
    if (mean.order == SumOrder::kLanes)
      sum = lanes_sum(row, static_cast<size_t>(mean.first_packet(static_cast<int64_t>(i))));
    else if (mean.order == SumOrder::kFours) sum = fours_sum(row);
    else
      for (float x : row) sum += x;
    const float place = sum / static_cast<float>(mean.count) / mean.out + static_cast<float>(mean.added);
    const auto rest = static_cast<float>(mean.rest());
    out[i] = static_cast<int8_t>(std::clamp(std::nearbyint(place) + rest, -128.0f, 127.0f));
  }
}

// ---------------------------------------------------------------- lowering

class MeanLowering {
 public:
  explicit MeanLowering(const OpView& op, const std::string& part = "")
      : mean_(op), integers_(*integer_mean(mean_)), f_(op, "dequantized_mean" + part), dims_(mean_.dims) {}

  // What is kept between pieces.
  DType kept_type() const { return type_of_sums(128 * mean_.count); }

  Lowered run() {
    in_ = f_.operand(0);
    out_ = f_.result();
    kept(0, 0, 0, [&](const Ex& from, const Ex& to) {
      const Ex sum = f_.var("sum", 0);
      add_elements(sum, from);
      emit_mean(sum, from, to);
    });
    return f_.finish(integers_.may_tie ? "integer sums, float sums beside ties" : "integer sums");
  }

  // The same in pieces if no sum is beside a tie.
  Lowered begin() {
    const BufferPtr sums = make_kept();
    f_.loop("i", 0, sums->elements, [&](const Ex& i) { f_.store(sums, i, 0); });
    return f_.finish();
  }
  Lowered add(int64_t pieces) {
    dims_[0].extent /= pieces;
    in_ = f_.piece(0, pieces);
    const BufferPtr sums = make_kept();
    kept(0, 0, 0, [&](const Ex& from, const Ex& to) {
      const Ex sum = f_.var("sum", load(sums, to));
      add_elements(sum, from);
      f_.store(sums, to, sum);
    });
    return f_.finish();
  }
  Lowered end() {
    const BufferPtr sums = make_kept();
    out_ = f_.result();
    f_.loop("i", 0, sums->elements, [&](const Ex& i) { emit_mean(load(sums, i), 0, i); });
    return f_.finish();
  }

 private:
  BufferPtr make_kept() {
    return f_.scratch("kept", kept_type(), mean_.results, static_cast<int>(size_of(kept_type())));
  }

  void kept(size_t d, const Ex& from, const Ex& to, const std::function<void(const Ex&, const Ex&)>& body) {
    while (d < dims_.size() && dims_[d].reduced) ++d;
    if (d == dims_.size()) return body(from, to);
    f_.loop(fmt::format("i{}", d), 0, dims_[d].extent, [&](const Ex& i) {
      const Ex inner = f_.let("from", from + i * dims_[d].in_stride);
      kept(d + 1, inner, f_.let("to", to + i * dims_[d].out_stride), body);
    });
  }

  void add_elements(const Ex& sum, const Ex& from) {
    elements(0, from, true, [&](const Ex& at) { f_.assign(sum, sum + load(in_, at)); });
  }

  void emit_mean(const Ex& sum, const Ex& from, const Ex& to) {
    const Ex product = cast(DType::kI64, sum) * tir::i64(integers_.multiplier) + tir::i64(integers_.start);
    const Ex place = f_.let("place", cast(DType::kI32, product >> tir::i64(integers_.shift)));
    auto decided = [&] { f_.store(out_, to, clamp(place >> kFraction, -128, 127)); };
    if (!integers_.may_tie) return decided();
    f_.if_((place & ((1 << kFraction) - 1)) < integers_.beside, [&] { emit_float(from, to); }, decided);
  }

  // Calls `body` for the elements of a result in memory order; `unrolls`: some of them in one iteration.
  void elements(size_t d, const Ex& from, bool unrolls, const std::function<void(const Ex&)>& body) {
    d = next_reduced(d);
    if (d == dims_.size()) return body(from);
    const bool innermost = unrolls && next_reduced(d + 1) == dims_.size();
    int64_t unroll = 1;
    for (int64_t u : {2, 3, 5, 7, 4})
      if (innermost && dims_[d].extent % u == 0) unroll = u;
    f_.loop(
        fmt::format("r{}", d), 0, dims_[d].extent,
        [&](const Ex& i) {
          for (int64_t u = 0; u < unroll; ++u)
            elements(d + 1, from + i * dims_[d].in_stride + u * dims_[d].in_stride, unrolls, body);
        },
        unroll);
  }
  size_t next_reduced(size_t d) const {
    while (d < dims_.size() && !dims_[d].reduced) ++d;
    return d;
  }

  Ex real(const Ex& at) const { return cast(DType::kF32, load(in_, at) - mean_.zero_in) * tir::f32(mean_.in); }

  void emit_float(const Ex& from, const Ex& to) {
    const Ex sum = f_.var("real", tir::f32(0.0f));
    auto add = [&](const Ex& at) { f_.assign(sum, sum + real(at)); };
    if (mean_.order == SumOrder::kLanes) emit_lanes(sum, from, to);
    else if (mean_.order == SumOrder::kFours) emit_fours(sum, from);
    else elements(0, from, false, add);
    Ex scaled = sum / tir::f32(static_cast<float>(mean_.count)) / tir::f32(mean_.out);
    if (mean_.added != 0) scaled = scaled + tir::f32(static_cast<float>(mean_.added));
    scaled = f_.let("scaled", scaled);
    const auto least = static_cast<float>(-128 - mean_.rest()), most = static_cast<float>(127 - mean_.rest());
    const Ex whole = f_.let("whole", emit_nearest_even(clamp(scaled, tir::f32(least), tir::f32(most))));
    f_.store(out_, to, cast(DType::kI32, whole) + mean_.rest());
  }

  int64_t stride() const {
    const size_t d = next_reduced(0);
    return d == dims_.size() ? 0 : dims_[d].in_stride;
  }

  void emit_lanes(const Ex& sum, const Ex& from, const Ex& row) {
    const int64_t count = mean_.count, rest = count & (kPacket - 1);
    const Ex first = f_.let("first", rest == 0 ? Ex(0) : min(row * (kPacket - rest) & Ex(kPacket - 1), Ex(count)));
    const Ex packets = f_.let("packets", (Ex(count) - first) >> 2);
    const Ex paired = f_.let("paired", (packets >> 1) << 3);
    const BufferPtr lanes = f_.local("lanes", DType::kF32, 2 * kPacket);
    auto element = [&](const Ex& i) { return real(from + i * stride()); };
    f_.loop("i", 0, lanes->elements, [&](const Ex& i) { f_.store(lanes, i, tir::f32(0.0f)); });
    f_.loop("i", 0, paired, [&](const Ex& i) {
      const Ex lane = f_.let("lane", i & (2 * kPacket - 1));
      f_.store(lanes, lane, load(lanes, lane) + element(first + i));
    });
    f_.loop("i", 0, kPacket, [&](const Ex& i) { f_.store(lanes, i, load(lanes, i) + load(lanes, i + kPacket)); });
    f_.if_((packets & 1) != Ex(0), [&] {
      f_.loop("i", 0, kPacket, [&](const Ex& i) { f_.store(lanes, i, load(lanes, i) + element(first + paired + i)); });
    });
    f_.assign(sum, (load(lanes, 0) + load(lanes, 2)) + (load(lanes, 1) + load(lanes, 3)));
    f_.loop("i", 0, first, [&](const Ex& i) { f_.assign(sum, sum + element(i)); });
    f_.loop("i", first + (packets << 2), count, [&](const Ex& i) { f_.assign(sum, sum + element(i)); });
  }

  void emit_fours(const Ex& sum, const Ex& from) {
    int64_t begin = 0;
    for (int64_t size : {4, 2, 1}) {
      const int64_t end = begin + (mean_.count - begin) / size * size;
      f_.loop(
          "i", begin, end,
          [&](const Ex& i) {
            Ex part = real(from + i * stride());
            for (int64_t k = 1; k < size; ++k) part = part + real(from + (i + k) * stride());
            f_.assign(sum, sum + part);
          },
          size);
      begin = end;
    }
  }

  Mean mean_;
  IntegerMean integers_;
  LoweringBuilder f_;
  std::vector<Dim> dims_;
  BufferPtr in_, out_;
};

class DequantizedMean final : public SpecifiedOperator, public Transposable, public Streamable {
 public:
  DequantizedMean()
      : SpecifiedOperator({.name = "dequantized_mean",
                           .summary = "mean over axes of dequantised values, quantised again, by onnxruntime's rule",
                           .operands = {{.name = "x", .types = {DType::kI8}}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .quantized = Quantized::kPerTensor,
                           .empty = false,
                           .attributes = make_attributes<DequantizedMeanAttrs>}) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return flow_of(op.operand(0).shape, op.attrs<DequantizedMeanAttrs>());
  }
  // The elements of a result keep their order, and packets of lanes their place in the tensor.
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    const auto& attrs = op.attrs<DequantizedMeanAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    const Mean mean(op);
    Order reduced, kept;
    graph::Shape shape;
    for (int axis : axes) {
      const auto d = static_cast<size_t>(axis);
      shape.push_back(in[d]);
      if (in[d] != 1) (attrs.reduces(d) ? reduced : kept).push_back(axis);
    }
    auto out = reordered(attrs, axes);
    const bool ordered = std::is_sorted(reduced.begin(), reduced.end());
    const std::vector<Dim> dims = dims_of(shape, *out);
    const bool run = std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return d.reduced; }) <= 1;
    const bool places = attrs.order != SumOrder::kLanes || mean.count % kPacket == 0 ||
                        std::is_sorted(kept.begin(), kept.end());
    return ordered && places && (run || attrs.order == SumOrder::kInOrder) ? out : nullptr;
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_mean(op, data); }
  Lowered lower(const OpView& op, const TargetInfo&) const override { return MeanLowering(op).run(); }

  // Beside ties all elements are read again.
  bool sums_pieces(const OpView& op, int64_t pieces) const override {
    const Mean mean(op);
    const bool first = !mean.dims.empty() && mean.dims[0].reduced && mean.dims[0].extent % pieces == 0;
    return first && !integer_mean(mean)->may_tie;
  }
  RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo&) const override {
    MeanLowering begin(op, "_begin"), add(op, "_add"), end(op, "_end");
    return {begin.begin(), add.add(pieces), end.end(), begin.kept_type(), op.result().elements()};
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return infer_reduction(op, op.attrs<DequantizedMeanAttrs>(), diags);
  }
  bool check(const OpView& op, Diagnostics& diags) const override {
    if (!check_quantized_io(op, diags)) return false;
    const Mean mean(op);
    if (mean.order != SumOrder::kInOrder && !mean.is_run())
      return bad_attribute(op, diags, "this order of sums needs axes that follow each other");
    return integer_mean(mean) ||
           bad_attribute(op, diags, "the scales or the number of elements are too large or too small for integer sums");
  }
};

}  // namespace

std::unique_ptr<Operator> make_dequantized_mean() { return std::make_unique<DequantizedMean>(); }

}  // namespace reduce

}  // namespace aotc::ops
