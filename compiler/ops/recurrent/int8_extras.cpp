// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/int8_extras.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/fixed_functions.h"
#include "ops/recurrent/fixed_point.h"

namespace aotc::ops {

using namespace lstm;
using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int kMeanBits = 10;             // fraction bits of a mean and of what is normalised
constexpr int64_t kMostNormal = 1 << 21;  // of 32 bits, less those fraction bits
constexpr ClampI32 kInt16 = {-32768, 32767};
constexpr ClampI32 kBeyondInt16 = {-(1 << 16), (1 << 16) - 1};

// What LstmScaling leaves out. Channels are its gates.
struct ExtraScaling {
  ExtraScaling(const OpView& op, const LstmScaling& scaling);

  Requantization peepholes, norms, projection;  // without channels where the layer has none
  std::vector<int32_t> guards;                  // a variance below 1 becomes this
  std::vector<int32_t> projection_bias;
  int32_t projection_clip = 0;  // 0: none

 private:
  void add_projection(const OpView& op);
};

ExtraScaling::ExtraScaling(const OpView& op, const LstmScaling& scaling) {
  const LstmSizes s = lstm_sizes(op);
  const auto& attrs = op.attrs<LstmAttrs>();
  peepholes.clamp = kBeyondInt16;
  norms.clamp = kInt16;
  for (size_t gate : scaling.gates) {
    if (s.peepholes && gate != at(kCellGate)) {
      const double gate_scale = s.normalised ? static_cast<double>(attrs.gate_scales[gate]) : std::ldexp(1.0, -12);
      const double weight = static_cast<double>(op.operand(ports().peephole_of(gate)).scale());
      const double scale = std::ldexp(1.0, scaling.cell_exponent) * weight / gate_scale;
      peepholes.scales.push_back(static_cast<double>(static_cast<float>(scale)));
      peepholes.ranges.push_back({-(int64_t{1} << 30), int64_t{1} << 30});
    }
    if (s.normalised) {
      const float scale = op.operand(kNorm + gate).scale();
      norms.scales.push_back(static_cast<double>(scale) * 4096.0);
      norms.ranges.push_back({-kMostNormal, kMostNormal});
      guards.push_back(std::max(1, static_cast<int32_t>(std::min(10000.0f * scale, 2e9f))));
    }
  }
  if (s.projected) add_projection(op);
}

void ExtraScaling::add_projection(const OpView& op) {
  const LstmSizes s = lstm_sizes(op);
  const auto& attrs = op.attrs<LstmAttrs>();
  auto w = op.constant(kProjection)->to_vector<int8_t>();
  const bool biased = op.has_operand(kProjectionBias);
  AccRange range;
  for (int64_t o = 0; o < s.outputs; ++o) {
    int64_t sum = 0, reach = 0;
    for (int64_t c = 0; c < s.cells; ++c) {
      sum += w[at(o * s.cells + c)];
      reach += std::abs(static_cast<int>(w[at(o * s.cells + c)])) * 128;
    }
    const int64_t start = (biased ? op.constant(kProjectionBias)->get<int32_t>(o) : 0) + attrs.hidden_zero_point * sum;
    range = {std::min(range.low, start - reach), std::max(range.high, start + reach)};
    projection_bias.push_back(static_cast<int32_t>(start));
  }
  const float output_scale = op.operand(kOutputState).scale();
  const float scale = op.operand(kProjection).scale() * attrs.hidden_scale / output_scale;
  projection.scales = {static_cast<double>(scale)};
  projection.ranges = {range};
  projection.zero_point = static_cast<int32_t>(op.operand(kOutputState).zero_point());
  projection.clamp = {-128, 127};
  if (attrs.projection_clip > 0)
    projection_clip = static_cast<int32_t>(std::min(attrs.projection_clip / output_scale, 127.0f));
  // The reference bounds stored values, whatever the zero point is.
  if (projection_clip > 0) projection.clamp = {-projection_clip, projection_clip};
}

// Scratch is what the gates hold, [gate][cell], the sigmoids' first. Where there is a projection, the fresh cell's gate
// then has what is projected.
class ExtrasLowering {
 public:
  explicit ExtrasLowering(const OpView& op)
      : op_(op),
        f_(op, "lstm_gates"),
        s_(lstm_sizes(op)),
        in_(f_.operand(kInput)),
        scaling_(op),
        extras_(op, scaling_) {}

  Lowered run();

 private:
  static constexpr int64_t kSteepest = 3;  // integer bits of a gate

  int64_t count() const { return static_cast<int64_t>(scaling_.gates.size()); }
  int64_t forget_gate() const { return s_.coupled ? 0 : 1; }
  int64_t output_gate() const { return forget_gate() + 1; }
  int64_t fresh_gate() const { return forget_gate() + 2; }

  void pack();
  void pack_peepholes();
  void pack_norms();
  void pack_projection();
  void step(const Ex& t, const Ex& b);
  Ex dot(const Ex& start, const BufferPtr& weights, const Ex& row, const BufferPtr& values, const Ex& first,
         int64_t depth);
  void products(const Ex& x, const Ex& h);
  void gates(int64_t first, int64_t last, const Ex& b);
  void peeped(const Ex& g, const Ex& b);
  void normalised(const Ex& g);
  void update_cells(const Ex& first);
  void show(const Ex& first, const BufferPtr& to, const Ex& at_to);
  void project(const Ex& to);

  static Ex clamp16(const Ex& v) { return clamp(v, Ex(-32768), Ex(32767)); }
  Ex gate_of(int64_t g, const Ex& c) { return load(gates_, c + g * s_.cells); }
  auto letting() {
    return [this](const char* name, const Ex& v) { return f_.let(name, v); };
  }

  const OpView& op_;
  LoweringBuilder f_;
  LstmSizes s_;
  BufferPtr in_;
  LstmScaling scaling_;
  ExtraScaling extras_;
  BufferPtr out_, next_output_, next_cell_, weights_, recurrent_, bias_, gates_;
  BufferPtr peepholes_, norms_, norm_bias_, guards_, projection_, projection_bias_;
  std::optional<Requantizer> sums_, hidden_, of_peepholes_, of_norms_, of_projection_;
};

Lowered ExtrasLowering::run() {
  pack();
  BufferPtr output_state = f_.operand(kOutputState), cell_state = f_.operand(kCellState);
  out_ = f_.result(kOutput);
  next_output_ = f_.result(kNextOutput);
  next_cell_ = f_.result(kNextCell);
  gates_ = f_.scratch("gates", DType::kI16, count() * s_.cells);
  for (auto* scale : {&sums_, &hidden_, &of_peepholes_, &of_norms_, &of_projection_})
    if (*scale) (*scale)->begin(f_);
  f_.copy(next_output_, 0, output_state, 0, s_.rows.batches * s_.outputs);
  f_.copy(next_cell_, 0, cell_state, 0, s_.rows.batches * s_.cells);
  f_.loop("t", 0, s_.rows.times,
          [&](const Ex& t) { f_.loop("b", 0, s_.rows.batches, [&](const Ex& b) { step(t, b); }); });
  return f_.finish("gate by gate");
}

// Weights [gate][cell][input], recurrent ones alike; biases [gate][input or output state][cell].
void ExtrasLowering::pack() {
  std::vector<int8_t> weights, recurrent;
  std::vector<int32_t> bias;
  auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (size_t g = 0; g < scaling_.gates.size(); ++g) {
    append(weights, op_.constant(kWeights + scaling_.gates[g])->to_vector<int8_t>());
    append(recurrent, op_.constant(kRecurrent + scaling_.gates[g])->to_vector<int8_t>());
    append(bias, scaling_.bias[2 * g]);
    append(bias, scaling_.bias[2 * g + 1]);
  }
  weights_ = f_.constant("weights", DType::kI8, weights);
  recurrent_ = f_.constant("recurrent_weights", DType::kI8, recurrent);
  bias_ = f_.constant("bias", DType::kI32, bias);
  sums_.emplace(f_, scaling_.sums);
  hidden_.emplace(f_, scaling_.hidden);
  if (s_.peepholes) pack_peepholes();
  if (s_.normalised) pack_norms();
  if (s_.projected) pack_projection();
}

// [gate][cell], or [gate][batch][cell] where the reference takes all batches for one vector with one weight for each
// output: cells that lie behind it have no peephole.
void ExtrasLowering::pack_peepholes() {
  const int64_t rows = s_.rows.time_major && s_.outputs < s_.cells ? s_.rows.batches : 1;
  std::vector<int16_t> table;
  for (size_t gate : scaling_.gates) {
    if (gate == at(kCellGate)) continue;
    auto w = op_.constant(ports().peephole_of(gate))->to_vector<int16_t>();
    for (int64_t i = 0; i < rows * s_.cells; ++i)
      table.push_back(i < rows * s_.outputs ? w[at(i % s_.outputs)] : int16_t{0});
  }
  peepholes_ = f_.constant("peepholes", DType::kI16, table);
  of_peepholes_.emplace(f_, extras_.peepholes);
}

void ExtrasLowering::pack_norms() {
  std::vector<int16_t> weights;
  std::vector<int32_t> bias;
  for (size_t gate : scaling_.gates) {
    auto w = op_.constant(kNorm + gate)->to_vector<int16_t>();
    auto b = op_.constant(kBias + gate)->to_vector<int32_t>();
    weights.insert(weights.end(), w.begin(), w.end());
    bias.insert(bias.end(), b.begin(), b.end());
  }
  norms_ = f_.constant("norms", DType::kI16, weights);
  norm_bias_ = f_.constant("norm_bias", DType::kI32, bias);
  guards_ = f_.constant("least_variances", DType::kI32, extras_.guards);
  of_norms_.emplace(f_, extras_.norms);
}

void ExtrasLowering::pack_projection() {
  projection_ = f_.constant("projection", DType::kI8, op_.constant(kProjection)->to_vector<int8_t>());
  projection_bias_ = f_.constant("projection_bias", DType::kI32, extras_.projection_bias);
  of_projection_.emplace(f_, extras_.projection);
}

void ExtrasLowering::step(const Ex& t, const Ex& b) {
  Ex row = f_.let("row", s_.rows.row(b, t));
  Ex h = f_.let("h", b * s_.outputs), first = f_.let("cells", b * s_.cells);
  Ex to = f_.let("to", row * s_.outputs);
  products(f_.let("x", row * s_.inputs), h);
  // The output gate's peephole sees the new cells.
  const int64_t before = s_.peepholes ? output_gate() : count();
  gates(0, before, b);
  if (s_.peepholes) gates(fresh_gate(), count(), b);
  update_cells(first);
  if (s_.peepholes) gates(output_gate(), fresh_gate(), b);
  if (s_.projected) {
    show(first, gates_, Ex(fresh_gate() * s_.cells));
    project(to);
  } else {
    show(first, out_, to);
  }
  f_.copy(next_output_, h, out_, to, s_.outputs);
}

Ex ExtrasLowering::dot(const Ex& start, const BufferPtr& weights, const Ex& row, const BufferPtr& values,
                       const Ex& first, int64_t depth) {
  Ex sum = f_.var("sum", start);
  f_.loop("k", 0, depth, [&](const Ex& k) { f_.assign(sum, sum + load(weights, row + k) * load(values, first + k)); });
  return sum;
}

void ExtrasLowering::products(const Ex& x, const Ex& h) {
  f_.loop("g", 0, count(), [&](const Ex& g) {
    Ex gate = f_.let("gate", g * s_.cells);
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      Ex cell = f_.let("cell", gate + c), bias = f_.let("bias_of_cell", gate * 2 + c);
      Ex of_input = dot(load(bias_, bias), weights_, f_.let("row_w", cell * s_.inputs), in_, x, s_.inputs);
      Ex first = f_.let("first", clamp16(sums_->emit(f_, of_input, f_.let("channel", g * 2))));
      Ex of_state = dot(load(bias_, bias + s_.cells), recurrent_, f_.let("row_r", cell * s_.outputs), next_output_, h,
                        s_.outputs);
      f_.store(gates_, cell, clamp16(first + sums_->emit(f_, of_state, f_.let("channel", g * 2 + 1))));
    });
  });
}

// Everything between products and curves, of gates [first, last).
void ExtrasLowering::gates(int64_t first, int64_t last, const Ex& b) {
  const bool peepholes = s_.peepholes && first != fresh_gate();
  if (!peepholes && !s_.normalised) return;
  f_.loop("g", first, last, [&](const Ex& g) {
    if (peepholes) peeped(g, b);
    if (s_.normalised) normalised(g);
  });
}

void ExtrasLowering::peeped(const Ex& g, const Ex& b) {
  const bool by_batch = peepholes_->elements > (count() - 1) * s_.cells;
  Ex row = f_.let("row_p", by_batch ? (g * s_.rows.batches + b) * s_.cells : g * s_.cells);
  Ex first = f_.let("first", b * s_.cells), gate = f_.let("gate", g * s_.cells);
  Requantizer::Channel channel = of_peepholes_->prepare(f_, g);
  f_.loop("c", 0, s_.cells, [&](const Ex& c) {
    Ex product = f_.let("product", load(peepholes_, row + c) * load(next_cell_, first + c));
    f_.store(gates_, gate + c, clamp16(load(gates_, gate + c) + of_peepholes_->emit(f_, product, channel)));
  });
}

void ExtrasLowering::normalised(const Ex& g) {
  Ex gate = f_.let("gate", g * s_.cells);
  Ex sum = f_.var("sum", tir::i64(0)), squares = f_.var("squares", tir::i64(0));
  f_.loop("c", 0, s_.cells, [&](const Ex& c) {
    Ex v = f_.let("v", load(gates_, gate + c));
    f_.assign(sum, sum + cast(DType::kI64, v));
    f_.assign(squares, squares + cast(DType::kI64, v * v));
  });
  // The reference's mean square is short of the real one by up to a millionth: it may be below the mean's square.
  Ex mean = f_.let("mean", cast(DType::kI32, sum * tir::i64(1 << kMeanBits) / tir::i64(s_.cells)));
  Ex wide = f_.let("wide", cast(DType::kI64, mean));
  constexpr int64_t kUnit = 1 << (2 * kMeanBits);
  Ex spread = f_.let("spread", squares * tir::i64(kUnit / s_.cells) - wide * wide);
  Ex variance = f_.var("variance", cast(DType::kI32, spread / tir::i64(kUnit)));
  f_.if_(variance < 1, [&] { f_.assign(variance, load(guards_, g)); });
  auto [inverse, shift] = emit_inverse_root(f_, variance);
  Ex half = f_.let("half", select(shift > 0, Ex(1) << max(shift - 1, 0), Ex(0)));
  Requantizer::Channel channel = of_norms_->prepare(f_, g);
  f_.loop("c", 0, s_.cells, [&](const Ex& c) {
    Ex away = f_.let("away", load(gates_, gate + c) * (1 << kMeanBits) - mean);
    Ex product = f_.let("product", emit_high_mul(away, inverse));
    Ex normal = f_.let("normal", (product + select(product < 0, max(half - 1, 0), half)) >> shift);
    Ex weighted =
        f_.let("weighted", add_wrapping(mul_wrapping(normal, load(norms_, gate + c)), load(norm_bias_, gate + c)));
    Ex whole = f_.let("whole", emit_rounding_shift(weighted, kMeanBits));
    f_.store(gates_, gate + c, of_norms_->emit(f_, whole, channel));
  });
}

void ExtrasLowering::update_cells(const Ex& first) {
  auto let = letting();
  f_.loop("c", 0, s_.cells, [&](const Ex& c) {
    Ex forget = fixed_point::sigmoid(f_.let("forget", gate_of(forget_gate(), c)), kSteepest, let);
    Ex input = s_.coupled ? Ex(fixed_point::kOne) - forget
                          : fixed_point::sigmoid(f_.let("input", gate_of(0, c)), kSteepest, let);
    Ex fresh = fixed_point::tanh(f_.let("fresh", gate_of(fresh_gate(), c)), kSteepest, let);
    Ex kept = f_.let("kept", fixed_point::rounding_shift(f_.let("old", forget * load(next_cell_, first + c)), 15));
    Ex added = f_.let("added", fixed_point::rounding_shift(f_.let("new", input * fresh), 30 + scaling_.cell_exponent));
    Ex cell = f_.let("cell", clamp16(kept + added));
    if (scaling_.cell_clip > 0) cell = f_.let("cell", clamp(cell, Ex(-scaling_.cell_clip), Ex(scaling_.cell_clip)));
    f_.store(next_cell_, first + c, cell);
  });
}

void ExtrasLowering::show(const Ex& first, const BufferPtr& to, const Ex& at_to) {
  auto let = letting();
  f_.loop("c", 0, s_.cells, [&](const Ex& c) {
    Ex output = fixed_point::sigmoid(f_.let("output", gate_of(output_gate(), c)), kSteepest, let);
    Ex shown = fixed_point::tanh(f_.let("cell", load(next_cell_, first + c)), 15 + scaling_.cell_exponent, let);
    f_.store(to, at_to + c, hidden_->emit(f_, f_.let("product", output * shown), Ex(0)));
  });
}

void ExtrasLowering::project(const Ex& to) {
  f_.loop("o", 0, s_.outputs, [&](const Ex& o) {
    Ex sum = dot(load(projection_bias_, o), projection_, f_.let("row_p", o * s_.cells), gates_,
                 Ex(fresh_gate() * s_.cells), s_.cells);
    f_.store(out_, to + o, of_projection_->emit(f_, sum, Ex(0)));
  });
}

bool check_extra(const OpView& op, size_t i, DType type, Diagnostics& diags) {
  if (!op.has_operand(i)) return true;
  if (!check_type(op, i, {type}, diags)) return false;
  if (op.constant(i) != nullptr) return true;
  diags.error(op.where(), "op-operands", fmt::format("operand {} is not constant", i))
      .help("weights and biases are part of the model");
  return false;
}

}  // namespace

bool check_int8_extras(const OpView& op, Diagnostics& diags) {
  const LstmSizes s = lstm_sizes(op);
  for (size_t g = 0; g < kGates; ++g)
    if (!check_extra(op, kNorm + g, DType::kI16, diags) ||
        (g < 3 && !check_extra(op, kPeephole + g, DType::kI16, diags)))
      return false;
  if (!check_extra(op, kProjection, DType::kI8, diags) || !check_extra(op, kProjectionBias, DType::kI32, diags))
    return false;
  if (s.peepholes && s.outputs > s.cells) {
    diags
        .error(op.where(), "op-type",
               fmt::format("peepholes of {} cells and a projection to {} outputs", s.cells, s.outputs))
        .help("the reference reads behind the peepholes' weights there; project to no more outputs than cells");
    return false;
  }
  for (size_t g : s.gates) {
    const float scale = op.attrs<LstmAttrs>().gate_scales[g];
    if (!s.normalised || (scale > 0 && std::isfinite(scale))) continue;
    diags.error(op.where(), "op-quantization", fmt::format("gate {} has scale {} before it is normalised", g, scale));
    return false;
  }
  return true;
}

bool check_int8_extra_sums(const OpView& op, Diagnostics& diags) {
  if (!has_int8_extras(lstm_sizes(op))) return true;
  const ExtraScaling extras(op, LstmScaling(op));
  for (const Requantization* what : {&extras.peepholes, &extras.norms, &extras.projection})
    for (size_t c = 0; c < what->scales.size(); ++c)
      if (!check_multiplier(op, what->scales[c], what->ranges[c].magnitude(), diags)) return false;
  return true;
}

Lowered lower_int8_extras(const OpView& op) { return ExtrasLowering(op).run(); }

}  // namespace aotc::ops
