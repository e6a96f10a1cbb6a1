// SPDX-License-Identifier: Apache-2.0
// svdf: a fully connected layer over time, of low rank. Its state (what every filter remembers) is an operand
// and a result, so that the graph says where it is kept.
#include "ops/svdf/svdf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/hybrid.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/signature.h"

namespace aotc::ops {

SvdfShape::SvdfShape(const OpView& op) {
  batches = op.operand(svdf::kInput).shape[0];
  inputs = op.operand(svdf::kInput).shape[1];
  filters = op.operand(svdf::kFeatures).shape[0];
  memory = op.operand(svdf::kTime).shape[1];
  rank = op.attrs<SvdfAttrs>().rank;
  units = filters / rank;
  const DType type = op.operand(svdf::kState).dtype;
  lanes = type == DType::kI16 && memory % 2 == 0 ? 2 : type == DType::kI8 && memory % 4 == 0 ? 4 : 1;
}

bool svdf_is_hybrid(const OpView& op) {
  return op.operand(svdf::kInput).dtype == DType::kF32 && op.operand(svdf::kFeatures).dtype == DType::kI8;
}

std::vector<int16_t> svdf_time_weights(const OpView& op) {
  if (op.operand(svdf::kTime).dtype == DType::kI16) return op.constant(svdf::kTime)->to_vector<int16_t>();
  std::vector<int8_t> bytes = op.constant(svdf::kTime)->to_vector<int8_t>();
  return {bytes.begin(), bytes.end()};
}

namespace {

size_t svdf_at(int64_t i) { return static_cast<size_t>(i); }

// The state's least and largest values.
ClampI32 svdf_state_range(const OpView& op) {
  return op.operand(svdf::kState).dtype == DType::kI16 ? ClampI32{-32768, 32767} : ClampI32{-128, 127};
}

double svdf_real(float a, float b, float to) {
  float product = a * b;
  return static_cast<double>(product / to);
}

}  // namespace

SvdfScaling::SvdfScaling(const OpView& op) {
  SvdfShape shape(op);
  features.rounding = output.rounding = Rounding::kDouble;
  features.clamp = svdf_state_range(op);
  features.scales = {svdf_real(op.operand(svdf::kInput).scale(), op.operand(svdf::kFeatures).scale(),
                               op.operand(svdf::kState).scale())};
  const std::vector<int8_t> w = op.constant(svdf::kFeatures)->to_vector<int8_t>();
  AccRange range;
  for (int64_t f = 0; f < shape.filters; ++f) {
    int64_t sum = 0, reach = 0;
    for (int64_t k = 0; k < shape.inputs; ++k) {
      sum += w[svdf_at(f * shape.inputs + k)];
      reach += std::abs(static_cast<int>(w[svdf_at(f * shape.inputs + k)])) * 128;
    }
    const int64_t offset = -op.operand(svdf::kInput).zero_point() * sum;
    range = {std::min(range.low, offset - reach), std::max(range.high, offset + reach)};
    feature_bias.push_back(static_cast<int32_t>(offset));
  }
  features.ranges = {range};
  bias.assign(svdf_at(shape.units), 0);
  if (op.has_operand(svdf::kBias)) bias = op.constant(svdf::kBias)->to_vector<int32_t>();
  const std::vector<int16_t> time = svdf_time_weights(op);
  state_zero = static_cast<int32_t>(op.operand(svdf::kState).zero_point());
  int64_t most = 0;
  for (int64_t u = 0; u < shape.units; ++u) {
    int64_t reach = 0, sum = 0;
    for (int64_t i = u * shape.rank * shape.memory; i < (u + 1) * shape.rank * shape.memory; ++i) {
      sum += time[svdf_at(i)];
      reach += std::abs(int64_t{time[svdf_at(i)]}) * -features.clamp.min;
    }
    const int64_t start = bias[svdf_at(u)] - state_zero * sum;
    bias[svdf_at(u)] = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(start)));
    most = std::max(most, reach + std::abs(start));
  }
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  output.ranges = {{std::max(-most, kLeast), std::min(most, kMost)}};
  output.scales = {
      svdf_real(op.operand(svdf::kState).scale(), op.operand(svdf::kTime).scale(), op.result(svdf::kOutput).scale())};
  output.zero_point = static_cast<int32_t>(op.result(svdf::kOutput).zero_point());
  output.clamp = {-128, 127};
}

namespace {

// One run; State is what a filter remembers.
template <typename State>
class SvdfRun {
 public:
  SvdfRun(const OpView& op, const EvalData& data) : op_(op), data_(data), s_(op) {}

  void integers() {
    const SvdfScaling scaling(op_);
    const ChannelReference feature = scaling.features.reference(0), output = scaling.output.reference(0);
    const std::vector<int16_t> time = s_.as_state(svdf_time_weights(op_));
    auto x = data_.in<int8_t>(svdf::kInput), w = data_.in<int8_t>(svdf::kFeatures);
    for (int64_t b = 0; b < s_.batches; ++b)
      for (int64_t u = 0; u < s_.units; ++u) {
        auto sum = static_cast<uint32_t>(scaling.bias[svdf_at(u)]);
        for (int64_t f = u * s_.rank; f < (u + 1) * s_.rank; ++f) {
          int32_t acc = scaling.feature_bias[svdf_at(f)];
          for (int64_t k = 0; k < s_.inputs; ++k) acc += w[svdf_at(f * s_.inputs + k)] * x[svdf_at(b * s_.inputs + k)];
          std::span<State> kept = remember(b, f, static_cast<State>(feature(acc) + scaling.state_zero));
          for (int64_t m = 0; m < s_.memory; ++m)
            sum += static_cast<uint32_t>(kept[svdf_at(m)] * time[svdf_at(f * s_.memory + m)]);
        }
        data_.out<int8_t>(svdf::kOutput)[svdf_at(b * s_.units + u)] =
            static_cast<int8_t>(output(static_cast<int32_t>(sum)));
      }
  }

  void floats() {
    const ClampF32 range = float_clamp(op_.attrs<SvdfAttrs>().activation);
    auto x = data_.in<float>(svdf::kInput), w = data_.in<float>(svdf::kFeatures), time = data_.in<float>(svdf::kTime);
    for (int64_t b = 0; b < s_.batches; ++b)
      for (int64_t u = 0; u < s_.units; ++u) {
        float sum = 0;
        for (int64_t f = u * s_.rank; f < (u + 1) * s_.rank; ++f) {
          float feature = 0, of_filter = 0;
          for (int64_t k = 0; k < s_.inputs; ++k)
            feature += w[svdf_at(f * s_.inputs + k)] * x[svdf_at(b * s_.inputs + k)];
          std::span<State> kept = remember(b, f, static_cast<State>(feature));
          for (int64_t m = 0; m < s_.memory; ++m) of_filter += kept[svdf_at(m)] * time[svdf_at(f * s_.memory + m)];
          sum += of_filter;
        }
        if (op_.has_operand(svdf::kBias)) sum += data_.in<float>(svdf::kBias)[svdf_at(u)];
        sum = sum < range.min ? range.min : sum;
        data_.out<float>(svdf::kOutput)[svdf_at(b * s_.units + u)] = range.max < sum ? range.max : sum;
      }
  }

 private:
  // A filter's next state, with its new value.
  std::span<State> remember(int64_t b, int64_t f, State value) {
    const size_t first = svdf_at((b * s_.filters + f) * s_.memory);
    auto old = data_.in<State>(svdf::kState).subspan(first, svdf_at(s_.memory));
    auto next = data_.out<State>(svdf::kNextState).subspan(first, svdf_at(s_.memory));
    for (int64_t m = 0; m + 1 < s_.memory; ++m) next[svdf_at(s_.place(m))] = old[svdf_at(s_.place(m + 1))];
    next[svdf_at(s_.memory - 1)] = value;
    return next;
  }

  const OpView& op_;
  const EvalData& data_;
  SvdfShape s_;
};

class Svdf final : public SpecifiedOperator {
 public:
  Svdf()
      : SpecifiedOperator(
            {.name = "svdf",
             .summary = "a fully connected layer of low rank over the last runs, its state kept from run to run",
             .operands = {{.name = "x",
                           .types = {{DType::kI8, "state and weights over time int16 or int8"},
                                     {DType::kF32, "weights float32 or int8"}},
                           .ranks = {2, 2}},
                          {.name = "features", .constant = true, .ranks = {2, 2}},
                          {.name = "time", .constant = true, .ranks = {2, 2}},
                          {.name = "bias", .optional = true, .constant = true},
                          {.name = "state", .ranks = {2, 2}}},
             .results = {{.name = "y"}, {.name = "next_state", .type_of = svdf::kState}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<SvdfAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (svdf_is_hybrid(op)) return evaluate_lowering(op, data);
    switch (op.operand(svdf::kState).dtype) {
      case DType::kI16: return SvdfRun<int16_t>(op, data).integers();
      case DType::kI8: return SvdfRun<int8_t>(op, data).integers();
      default: return SvdfRun<float>(op, data).floats();
    }
  }

  Lowered lower(const OpView& op, const TargetInfo& target) const override { return lower_svdf(op, target); }

  int64_t macs(const OpView& op) const override {
    SvdfShape s(op);
    return s.batches * s.filters * (s.inputs + s.memory);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const int64_t rank = op.attrs<SvdfAttrs>().rank, filters = op.operand(svdf::kFeatures).shape[0];
    if (rank < 1 || filters % rank != 0) {
      bad_attribute(op, diags, fmt::format("rank is {}, which does not divide the {} filters", rank, filters));
      return kFailure;
    }
    SvdfShape s(op);
    auto wants = [&](size_t operand, const graph::Shape& wanted) {
      if (!op.has_operand(operand) || op.operand(operand).shape == wanted) return true;
      return bad_shape(op, diags,
                       fmt::format("operand {} is {}, not {}", operand, graph::to_string(op.operand(operand).shape),
                                   graph::to_string(wanted)));
    };
    if (!wants(svdf::kFeatures, {s.filters, s.inputs}) || !wants(svdf::kTime, {s.filters, s.memory}) ||
        !wants(svdf::kBias, {s.units}) || !wants(svdf::kState, {s.batches, s.filters * s.memory}))
      return kFailure;
    return std::vector<graph::Shape>{{s.batches, s.units}, op.operand(svdf::kState).shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const bool integer = op.operand(svdf::kInput).dtype == DType::kI8;
    if (!(integer ? check_integers(op, diags) : check_floats(op, diags))) return false;
    SvdfShape s(op);
    if (s.batches < 1 || s.inputs < 1 || s.filters < 1 || s.memory < 1)
      return bad_shape(op, diags, "a layer without elements");
    return !integer || check_sums(op, diags);
  }

 private:
  static bool check_floats(const OpView& op, Diagnostics& diags) {
    if (!check_float_weights(op, {svdf::kFeatures, svdf::kTime}, diags)) return false;
    for (size_t i : {svdf::kBias, svdf::kState})
      if (op.has_operand(i) && !check_type(op, i, {DType::kF32}, diags)) return false;
    return true;
  }

  static bool check_integers(const OpView& op, Diagnostics& diags) {
    if (!check_type(op, svdf::kState, {DType::kI16, DType::kI8}, diags)) return false;
    const DType state = op.operand(svdf::kState).dtype;
    if (!check_type(op, svdf::kFeatures, {DType::kI8}, diags) || !check_type(op, svdf::kTime, {state}, diags) ||
        (op.has_operand(svdf::kBias) && !check_type(op, svdf::kBias, {DType::kI32}, diags)))
      return false;
    for (size_t i : {svdf::kInput, svdf::kFeatures, svdf::kTime, svdf::kState}) {
      if (!check_per_tensor(op, op.operand_tensor(i), diags)) return false;
      const bool may_be = i == svdf::kInput || (i == svdf::kState && state == DType::kI8);
      if (may_be || op.operand(i).zero_point() == 0) continue;
      diags.error(
          op.where(), "op-quantization",
          fmt::format("operand {} has zero point {}; weights and int16 states have 0", i, op.operand(i).zero_point()));
      return false;
    }
    const Activation activation = op.attrs<SvdfAttrs>().activation;
    if (activation != Activation::kNone && activation != Activation::kRelu)
      return bad_attribute(op, diags, "integers have no activation but relu, which their result's zero point makes");
    return check_per_tensor(op, op.graph[op.op.results[svdf::kOutput]], diags) &&
           check_same_quantization(op, svdf::kState, svdf::kNextState, diags);
  }

  // 32 bits hold every sum of features, and every shift to the left of one.
  static bool check_sums(const OpView& op, Diagnostics& diags) {
    constexpr int64_t kMostInputs = (int64_t{1} << 31) / (256 * 128) - 1;
    if (SvdfShape(op).inputs > kMostInputs)
      return bad_shape(op, diags,
                       fmt::format("{} inputs; a sum of so many can overflow 32 bits", SvdfShape(op).inputs));
    const SvdfScaling scaling(op);
    return check_multiplier(op, scaling.features.scales[0], scaling.features.ranges[0].magnitude(), diags) &&
           check_multiplier(op, scaling.output.scales[0],
                            std::min<int64_t>(scaling.output.ranges[0].magnitude(), INT32_MAX), diags);
  }
};

}  // namespace

void add_operators_svdf(OperatorSet& set) { set.add(std::make_unique<Svdf>()); }

}  // namespace aotc::ops
