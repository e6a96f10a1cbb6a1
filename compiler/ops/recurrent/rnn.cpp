// SPDX-License-Identifier: Apache-2.0
// rnn, unidirectional_sequence_rnn and bidirectional_sequence_rnn: fully connected layers of the input and of
// what they gave a step before.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/gemm.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/recurrent/attributes.h"
#include "ops/recurrent/float_products.h"
#include "ops/recurrent/recurrent.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

enum class RnnKind : uint8_t { kStep, kSequence, kBoth };

// Operands and results of one direction.
struct RnnPorts {
  size_t input, weights, recurrent, bias, state;
  std::optional<size_t> aux, aux_weights;
  size_t output, next;
  bool backward = false;
};

std::vector<RnnPorts> rnn_ports(const OpView& op, RnnKind kind) {
  if (kind != RnnKind::kBoth) return {{0, 1, 2, 3, 4, {}, {}, 0, 1}};
  constexpr size_t kAux = 9;
  const auto& attrs = op.attrs<RnnAttrs>();
  const size_t outputs = attrs.merge_outputs ? 1 : 2;
  std::optional<size_t> aux, there, back;
  if (op.has_operand(10)) aux = kAux, there = 10, back = 11;
  // Without weights of its own the auxiliary input is that of the way back, where time comes first; else the
  // reference reads the input.
  const bool second = !aux && op.has_operand(kAux) && attrs.time_major;
  return {{0, 1, 2, 3, 4, aux, there, 0, outputs},
          {second ? kAux : 0, 5, 6, 7, 8, aux, back, outputs - 1, outputs + 1, true}};
}

struct RnnSizes {
  RnnSizes(const OpView& op, const RnnPorts& ports) {
    const graph::Shape& in = op.operand(ports.input).shape;
    const bool step = in.size() == 2;
    const bool time_major = op.attrs<RnnAttrs>().time_major;
    rows = {in[step ? 0 : time_major ? 1 : 0], step ? 1 : in[time_major ? 0 : 1], time_major};
    inputs = in.back();
    aux_inputs = ports.aux ? op.operand(*ports.aux).shape.back() : 0;
    units = op.operand(ports.weights).shape[0];
  }

  int64_t macs() const { return rows.batches * rows.times * units * (inputs + aux_inputs + units); }

  SequenceRows rows;
  int64_t inputs, aux_inputs, units;
};

std::vector<size_t> rnn_matrices(const std::vector<RnnPorts>& directions) {
  std::vector<size_t> out;
  for (const RnnPorts& p : directions) {
    out.insert(out.end(), {p.weights, p.recurrent});
    if (p.aux_weights) out.push_back(*p.aux_weights);
  }
  return out;
}

class RnnEmitter {
 public:
  RnnEmitter(LoweringBuilder& f, FloatProducts& products, const RnnPorts& ports, const RnnSizes& sizes,
             Nonlinearity nonlinearity, int64_t output_at, int64_t output_depth)
      : f_(f),
        products_(products),
        p_(ports),
        s_(sizes),
        nonlinearity_(nonlinearity),
        output_at_(output_at),
        output_depth_(output_depth) {}

  void run() {
    const BufferPtr& next = products_.result(p_.next);
    f_.copy(next, 0, products_.operand(p_.state), 0, s_.rows.batches * s_.units);
    f_.loop("t", 0, s_.rows.times, [&](const Ex& t) {
      f_.loop("b", 0, s_.rows.batches, [&](const Ex& b) {
        Ex row = f_.let("row", s_.rows.row(b, p_.backward ? Ex(s_.rows.times - 1) - t : t));
        step(row, f_.let("h", b * s_.units));
      });
    });
  }

 private:
  void step(const Ex& row, const Ex& h) {
    vectors_.clear();
    add_vector(p_.weights, products_.operand(p_.input), row * s_.inputs, s_.inputs, 0);
    if (p_.aux) add_vector(*p_.aux_weights, products_.operand(*p_.aux), row * s_.aux_inputs, s_.aux_inputs, s_.inputs);
    add_vector(p_.recurrent, products_.result(p_.next), h, s_.units, s_.inputs + s_.aux_inputs);
    Ex to = f_.let("to", row * output_depth_ + output_at_);
    const BufferPtr& out = products_.result(p_.output);
    const int64_t block = unroll_for(s_.units, 4);
    f_.loop(
        "u", 0, s_.units,
        [&](const Ex& u) {
          std::vector<Ex> sums;
          for (int64_t i = 0; i < block; ++i) sums.push_back(f_.var("sum", load(products_.operand(p_.bias), u + i)));
          for (const auto& [matrix, vector] : vectors_) {
            std::vector<FloatProducts::Row> rows;
            for (int64_t i = 0; i < block; ++i) rows.push_back({matrix, u + i});
            products_.add(sums, rows, vector);
          }
          for (int64_t i = 0; i < block; ++i)
            f_.store(out, to + (u + i), emit_nonlinearity(nonlinearity_, sums[static_cast<size_t>(i)]));
        },
        block);
    f_.copy(products_.result(p_.next), h, out, to, s_.units);
  }

  void add_vector(size_t matrix, const BufferPtr& x, const Ex& at, int64_t count, int64_t to) {
    vectors_.emplace_back(matrix, products_.vector(x, f_.let("x", at), count, {matrix}, to));
  }

  LoweringBuilder& f_;
  FloatProducts& products_;
  const RnnPorts& p_;
  RnnSizes s_;
  Nonlinearity nonlinearity_;
  int64_t output_at_, output_depth_;
  std::vector<std::pair<size_t, FloatProducts::Vector>> vectors_;  // by matrix
};

Signature rnn_signature(RnnKind kind, std::string_view name, std::string_view summary) {
  const bool both = kind == RnnKind::kBoth;
  const Ranks ranks = kind == RnnKind::kStep ? Ranks{2, 2} : Ranks{3, 3};
  std::vector<OperandSpec> operands = {
      {.name = "x", .types = {{DType::kF32, "weights float32 or int8"}}, .ranks = ranks}};
  for (int direction = 0; direction < (both ? 2 : 1); ++direction)
    operands.insert(operands.end(), {{.name = "weights", .ranks = {2, 2}},
                                     {.name = "recurrent_weights"},
                                     {.name = "bias", .types = {DType::kF32}},
                                     {.name = "state", .types = {DType::kF32}}});
  if (both)
    operands.insert(operands.end(),
                    {{.name = "auxiliary_input", .types = {DType::kF32}, .optional = true, .ranks = ranks},
                     {.name = "auxiliary_weights", .optional = true},
                     {.name = "auxiliary_weights", .optional = true}});
  return {.name = name,
          .summary = summary,
          .operands = std::move(operands),
          .results = both ? both_result_specs({"next_forward", "next_backward"})
                          : std::vector<ResultSpec>{{.name = "y"}, {.name = "next_state"}},
          .all_listed = true,
          .shapes = Shapes::kOwn,
          .traits = {.uses_libm = true},
          .attributes = make_attributes<RnnAttrs>};
}

class Rnn final : public SpecifiedOperator {
 public:
  Rnn(RnnKind kind, std::string_view name, std::string_view summary)
      : SpecifiedOperator(rnn_signature(kind, name, summary)), kind_(kind) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& attrs = op.attrs<RnnAttrs>();
    const std::vector<RnnPorts> directions = rnn_ports(op, kind_);
    int64_t quantised = 0, all = 0, at = 0;
    for (const RnnPorts& p : directions) {
      const RnnSizes s(op, p);
      quantised = std::max(quantised, s.inputs + s.aux_inputs + s.units);
      all += s.units;
    }
    LoweringBuilder f(op, std::string(name()));
    FloatProducts products(op, f, attrs.asymmetric_rows, rnn_matrices(directions), {}, 0, quantised);
    for (const RnnPorts& p : directions) {
      const RnnSizes s(op, p);
      const bool merged = attrs.merge_outputs;
      RnnEmitter(f, products, p, s, attrs.nonlinearity, merged ? at : 0, merged ? all : s.units).run();
      at += s.units;
    }
    return f.finish(has_integer_weights(op, rnn_matrices(directions)) ? "rows quantised" : "float");
  }

  int64_t macs(const OpView& op) const override {
    int64_t out = 0;
    for (const RnnPorts& p : rnn_ports(op, kind_)) out += RnnSizes(op, p).macs();
    return out;
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    if (!check_presence(op, diags)) return kFailure;
    std::vector<graph::Shape> states;
    std::vector<int64_t> units;
    for (const RnnPorts& p : rnn_ports(op, kind_)) {
      if (!check_shapes(op, p, diags)) return kFailure;
      const RnnSizes s(op, p);
      states.push_back({s.rows.batches, s.units});
      units.push_back(s.units);
    }
    if (kind_ == RnnKind::kBoth) return both_results(op, units, op.attrs<RnnAttrs>().merge_outputs, states);
    graph::Shape out = op.operand(0).shape;
    out.back() = units[0];
    return std::vector<graph::Shape>{out, states[0]};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const std::vector<size_t> matrices = rnn_matrices(rnn_ports(op, kind_));
    if (!check_float_weights(op, matrices, diags)) return false;
    if (kind_ == RnnKind::kBoth && has_integer_weights(op, matrices) && op.attrs<RnnAttrs>().time_major) {
      diags.error(op.where(), "op-attribute", "time first is not supported with int8 weights")
          .help("the reference goes over such a sequence as many times as it has steps; batch first is supported");
      return false;
    }
    return true;
  }

 private:
  static bool check_presence(const OpView& op, Diagnostics& diags) {
    auto wrong = [&](const char* message) {
      diags.error(op.where(), "op-operands", message);
      return false;
    };
    if (op.has_operand(10) != op.has_operand(11)) return wrong("both directions have an auxiliary input, or none");
    if (op.has_operand(10) && !op.has_operand(9)) return wrong("weights of an auxiliary input without the input");
    return true;
  }

  bool check_shapes(const OpView& op, const RnnPorts& p, Diagnostics& diags) const {
    const RnnSizes s(op, p);
    auto wants = [&](size_t operand, const graph::Shape& wanted) { return check_shape_of(op, operand, wanted, diags); };
    if (!wants(p.weights, {s.units, s.inputs}) || !wants(p.recurrent, {s.units, s.units}) ||
        !wants(p.bias, {s.units}) || !wants(p.state, {s.rows.batches, s.units}))
      return false;
    if (kind_ == RnnKind::kBoth && op.has_operand(9) && !check_aux(op, p, s, wants, diags)) return false;
    if (s.inputs < 1 || s.units < 1 || s.rows.batches < 1 || s.rows.times < 1)
      return bad_shape(op, diags, "a sequence without elements");
    return true;
  }

  template <typename Wants>
  static bool check_aux(const OpView& op, const RnnPorts& p, const RnnSizes& s, const Wants& wants,
                        Diagnostics& diags) {
    if (!p.aux) return check_second_input(op, 9, diags);
    graph::Shape wanted = op.operand(0).shape;
    wanted[2] = s.aux_inputs;
    if (!wants(*p.aux, wanted) || !wants(*p.aux_weights, {s.units, s.aux_inputs})) return false;
    if (s.aux_inputs == s.inputs) return true;
    return bad_shape(op, diags,
                     fmt::format("the auxiliary input has {} values a step, the input {}; the reference "
                                 "reads others where they differ",
                                 s.aux_inputs, s.inputs));
  }

  RnnKind kind_;
};

}  // namespace

void add_rnns(OperatorSet& set) {
  set.add(std::make_unique<Rnn>(RnnKind::kStep, "rnn", "one step of a recurrent layer, its state kept"));
  set.add(std::make_unique<Rnn>(RnnKind::kSequence, "unidirectional_sequence_rnn",
                                "recurrent layer over a sequence, its state kept from run to run"));
  set.add(std::make_unique<Rnn>(RnnKind::kBoth, "bidirectional_sequence_rnn",
                                "recurrent layers over a sequence from its begin and from its end"));
}

}  // namespace aotc::ops
