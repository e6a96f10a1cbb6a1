// SPDX-License-Identifier: Apache-2.0
// bidirectional_sequence_lstm: two LSTMs over a sequence, one of which begins at its end.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/recurrent/attributes.h"
#include "ops/recurrent/float_lstm.h"
#include "ops/recurrent/recurrent.h"

namespace aotc::ops {

namespace {

constexpr size_t kBothAux = 39, kForwardAuxWeights = 40;

// Operands.
constexpr std::array<LstmPorts, 2> kBothPorts = {{{.weights = 1,
                                                   .recurrent = 5,
                                                   .peephole = 9,
                                                   .bias = 12,
                                                   .projection = 16,
                                                   .projection_bias = 17,
                                                   .output_state = 35,
                                                   .cell_state = 36,
                                                   .aux = kBothAux,
                                                   .aux_weights = kForwardAuxWeights},
                                                  {.weights = 18,
                                                   .recurrent = 22,
                                                   .peephole = 26,
                                                   .bias = 29,
                                                   .projection = 33,
                                                   .projection_bias = 34,
                                                   .output_state = 37,
                                                   .cell_state = 38,
                                                   .aux = kBothAux,
                                                   .aux_weights = 44}}};

struct BothLstms {
  explicit BothLstms(const OpView& op) : forward(kBothPorts[0]), backward(kBothPorts[1]) {
    const size_t outputs = op.attrs<BidirectionalLstmAttrs>().merge_outputs ? 1 : 2;
    forward.next_output = outputs;
    forward.next_cell = outputs + 1;
    // An auxiliary input without weights of its own is the input of the way back.
    if (!op.has_operand(kForwardAuxWeights + 1) && op.has_operand(kBothAux)) backward.input = kBothAux;
    backward.output = outputs - 1;
    backward.next_output = outputs + 2;
    backward.next_cell = outputs + 3;
  }

  std::vector<size_t> matrices() const { return joined(lstm_matrices(forward), lstm_matrices(backward)); }
  std::vector<size_t> vectors() const { return joined(lstm_vectors(forward), lstm_vectors(backward)); }

  LstmPorts forward, backward;
};

Signature bidirectional_lstm_signature() {
  std::vector<OperandSpec> operands = lstm_operand_specs(kBothOperands, kBothPorts);
  operands[0] = {.name = "x", .types = {{DType::kF32, "weights float32 or int8"}}, .ranks = {3, 3}};
  return {.name = "bidirectional_sequence_lstm",
          .summary = "LSTMs over a sequence from its begin and from its end",
          .operands = std::move(operands),
          .results = both_result_specs(
              {"next_forward_output", "next_forward_cell", "next_backward_output", "next_backward_cell"}),
          .all_listed = true,
          .shapes = Shapes::kOwn,
          .traits = {.uses_libm = true},
          .attributes = make_attributes<BidirectionalLstmAttrs>,
          .ranges = {finite<&BidirectionalLstmAttrs::cell_clip>("cell_clip", 0),
                     finite<&BidirectionalLstmAttrs::projection_clip>("projection_clip", 0)}};
}

class BidirectionalLstm final : public SpecifiedOperator {
 public:
  BidirectionalLstm() : SpecifiedOperator(bidirectional_lstm_signature()) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& attrs = op.attrs<BidirectionalLstmAttrs>();
    const BothLstms both(op);
    const LstmSizes there(op, both.forward, attrs.time_major), back(op, both.backward, attrs.time_major);
    LoweringBuilder f(op, "bidirectional_lstm");
    FloatProducts products(op, f, attrs.asymmetric_rows, both.matrices(), both.vectors(),
                           std::max(lstm_floats(there), lstm_floats(back)),
                           std::max(lstm_quantised(there), lstm_quantised(back)));
    const bool merged = attrs.merge_outputs;
    const int64_t all = there.outputs + back.outputs;
    FloatLstmOptions options{attrs.nonlinearity,          attrs.cell_clip, attrs.projection_clip, false, 0,
                             merged ? all : there.outputs};
    emit_float_lstm(f, products, both.forward, there, options);
    options.backward = true;
    options.output_at = merged ? there.outputs : 0;
    options.output_depth = merged ? all : back.outputs;
    emit_float_lstm(f, products, both.backward, back, options);
    return f.finish(has_integer_weights(op, both.matrices()) ? "rows quantised" : "float");
  }

  int64_t macs(const OpView& op) const override {
    const BothLstms both(op);
    const bool time_major = op.attrs<BidirectionalLstmAttrs>().time_major;
    return LstmSizes(op, both.forward, time_major).macs() + LstmSizes(op, both.backward, time_major).macs();
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<BidirectionalLstmAttrs>();
    const BothLstms both(op);
    std::vector<graph::Shape> states;
    std::vector<int64_t> outputs;
    for (const LstmPorts* ports : {&both.forward, &both.backward}) {
      if (!check_lstm_operands(op, *ports, diags)) return kFailure;
      const LstmSizes s(op, *ports, attrs.time_major);
      if (!check_lstm_shapes(op, *ports, s, diags)) return kFailure;
      states.insert(states.end(), {{s.rows.batches, s.outputs}, {s.rows.batches, s.cells}});
      outputs.push_back(s.outputs);
    }
    if (states[0] != states[2] || states[1] != states[3]) {
      bad_shape(op, diags, "both directions have as many cells and outputs");
      return kFailure;
    }
    if (!check_second_input(op, both.backward.input, diags)) return kFailure;
    return both_results(op, outputs, attrs.merge_outputs, states);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<BidirectionalLstmAttrs>();
    if (attrs.nonlinearity == Nonlinearity::kNone) return bad_attribute(op, diags, "an LSTM has a nonlinearity");
    if (attrs.merge_outputs && !attrs.time_major && op.operand(0).shape[0] > 1) {
      diags.error(op.where(), "op-attribute", "merged outputs of several batches, batch first")
          .help("the reference writes behind its states; outputs that are not merged, or time first, are defined");
      return false;
    }
    const BothLstms both(op);
    return check_float_lstms(op, std::array{both.forward, both.backward}, diags);
  }
};

}  // namespace

void add_bidirectional_lstm(OperatorSet& set) { set.add(std::make_unique<BidirectionalLstm>()); }

}  // namespace aotc::ops
