// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/float_lstm.h"

#include <algorithm>

#include "ops/common/gemm.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

int64_t lstm_floats(const LstmSizes& s) {
  if (s.normalised) return s.cells * static_cast<int64_t>(LstmPorts::kGates);
  return s.projected ? s.cells : 0;
}

int64_t lstm_quantised(const LstmSizes& s) {
  return std::max(s.inputs + s.aux_inputs + s.outputs, s.projected ? s.cells : 0);
}

namespace {

class FloatLstmEmitter {
 public:
  FloatLstmEmitter(LoweringBuilder& f, FloatProducts& products, const LstmPorts& ports, const LstmSizes& sizes,
                   const FloatLstmOptions& options)
      : f_(f), products_(products), p_(ports), s_(sizes), o_(options) {}

  void run() {
    out_ = products_.result(p_.output);
    next_output_ = products_.result(p_.next_output);
    next_cell_ = products_.result(p_.next_cell);
    f_.copy(next_output_, 0, products_.operand(p_.output_state), 0, s_.rows.batches * s_.outputs);
    f_.copy(next_cell_, 0, products_.operand(p_.cell_state), 0, s_.rows.batches * s_.cells);
    f_.loop("t", 0, s_.rows.times, [&](const Ex& t) {
      f_.loop("b", 0, s_.rows.batches,
              [&](const Ex& b) { step(b, o_.backward ? f_.let("time", Ex(s_.rows.times - 1) - t) : t); });
    });
  }

 private:
  static constexpr size_t kForget = 1, kCell = 2, kOut = 3;

  void step(const Ex& b, const Ex& t) {
    Ex row = f_.let("row", s_.rows.row(b, t));
    state_at_ = f_.let("h", b * s_.outputs);
    cells_at_ = f_.let("cells", b * s_.cells);
    to_ = f_.let("to", row * o_.output_depth + o_.output_at);
    vectors_.clear();
    add_vector(p_.input, p_.weights, row * s_.inputs, s_.inputs, 0);
    if (s_.aux_inputs > 0) add_vector(p_.aux, p_.aux_weights, row * s_.aux_inputs, s_.aux_inputs, s_.inputs);
    vectors_.emplace_back(p_.recurrent, products_.vector(next_output_, state_at_, s_.outputs, gates(p_.recurrent),
                                                         s_.inputs + s_.aux_inputs));
    s_.normalised ? normalised_cells() : plain_cells();
    if (s_.projected) project();
    f_.copy(next_output_, state_at_, out_, to_, s_.outputs);
  }

  static std::vector<size_t> gates(size_t first) { return {first, first + 1, first + 2, first + 3}; }

  void add_vector(size_t operand, size_t weights, const Ex& at, int64_t count, int64_t to) {
    vectors_.emplace_back(weights,
                          products_.vector(products_.operand(operand), f_.let("x", at), count, gates(weights), to));
  }

  // The products of all gates of a cell, added to what they begin with.
  std::vector<Ex> sums_of(const Ex& c, const std::function<Ex(size_t gate)>& start) {
    std::vector<Ex> sums;
    for (size_t g : s_.gates) sums.push_back(f_.var("sum", start(g)));
    for (const auto& [weights, vector] : vectors_) {
      std::vector<FloatProducts::Row> rows;
      for (size_t g : s_.gates) rows.push_back({weights + g, c});
      products_.add(sums, rows, vector);
    }
    return sums;
  }

  Ex peeped(size_t gate, const Ex& sum, const Ex& c, const Ex& cell) {
    return s_.peepholes ? sum + products_.weight(p_.peephole_of(gate), c) * cell : sum;
  }

  void plain_cells() {
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      std::vector<Ex> sums = sums_of(c, [&](size_t g) { return load(products_.operand(p_.bias + g), c); });
      Ex old = f_.let("old", load(next_cell_, cells_at_ + c));
      const size_t first = s_.coupled ? 0 : 1;
      Ex forget = f_.let("forget", emit_logistic(f_.let("sum", peeped(kForget, sums[first], c, old))));
      Ex input = s_.coupled ? tir::f32(1.0f) - forget : emit_logistic(f_.let("sum", peeped(0, sums[0], c, old)));
      Ex cell = next_cell(f_.let("input", input), forget, sums[first + 1], old);
      f_.store(next_cell_, cells_at_ + c, cell);
      Ex output = emit_logistic(f_.let("sum", peeped(kOut, sums[first + 2], c, cell)));
      give(c, output, cell);
    });
  }

  Ex next_cell(const Ex& input, const Ex& forget, const Ex& sum, const Ex& old) {
    Ex fresh = f_.let("fresh", emit_nonlinearity(o_.nonlinearity, sum));
    Ex cell = f_.let("cell", forget * old + fresh * input);
    if (o_.cell_clip > 0) cell = f_.let("cell", max(min(cell, tir::f32(o_.cell_clip)), tir::f32(-o_.cell_clip)));
    return cell;
  }

  void give(const Ex& c, const Ex& output, const Ex& cell) {
    Ex value = output * emit_nonlinearity(o_.nonlinearity, cell);
    if (s_.projected) products_.store_float(c, value);
    else f_.store(out_, to_ + c, value);
  }

  // The sums of a gate lie behind each other, from gate * cells on.
  void normalised_cells() {
    auto at = [&](size_t gate, const Ex& c) { return c + static_cast<int64_t>(gate) * s_.cells; };
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      std::vector<Ex> sums = sums_of(c, [](size_t) { return tir::f32(0.0f); });
      for (size_t i = 0; i < s_.gates.size(); ++i) {
        const size_t g = s_.gates[i];
        const bool sees_old = s_.peepholes && g < kCell;
        products_.store_float(at(g, c), sees_old ? peeped(g, sums[i], c, load(next_cell_, cells_at_ + c)) : sums[i]);
      }
    });
    for (size_t g : s_.gates)
      if (g != kOut) normalise(g);
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      Ex forget = f_.let("forget", emit_logistic(products_.load_float(at(kForget, c))));
      Ex input = s_.coupled ? tir::f32(1.0f) - forget : emit_logistic(products_.load_float(at(0, c)));
      Ex cell = next_cell(f_.let("input", input), forget, products_.load_float(at(kCell, c)),
                          f_.let("old", load(next_cell_, cells_at_ + c)));
      f_.store(next_cell_, cells_at_ + c, cell);
      if (s_.peepholes) products_.store_float(at(kOut, c), peeped(kOut, products_.load_float(at(kOut, c)), c, cell));
    });
    normalise(kOut);
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      give(c, emit_logistic(products_.load_float(at(kOut, c))), load(next_cell_, cells_at_ + c));
    });
  }

  // Mean 0 and variance 1, then the gate's coefficients and bias.
  void normalise(size_t gate) {
    const int64_t begin = static_cast<int64_t>(gate) * s_.cells;
    const Ex count = tir::f32(static_cast<float>(s_.cells));
    Ex sum = f_.var("total", tir::f32(0.0f));
    f_.loop("c", 0, s_.cells, [&](const Ex& c) { f_.assign(sum, sum + products_.load_float(c + begin)); });
    Ex mean = f_.let("mean", sum / count);
    Ex squares = f_.var("squares", tir::f32(0.0f));
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      Ex apart = f_.let("apart", products_.load_float(c + begin) - mean);
      f_.assign(squares, squares + apart * apart);
    });
    Ex root = call(tir::Intrinsic::kSqrt, DType::kF32, {squares / count + tir::f32(1e-8f)});
    Ex inverse = f_.let("inverse", tir::f32(1.0f) / root);
    f_.loop("c", 0, s_.cells, [&](const Ex& c) {
      Ex even = f_.let("even", (products_.load_float(c + begin) - mean) * inverse);
      products_.store_float(
          c + begin, even * load(products_.operand(p_.norm + gate), c) + load(products_.operand(p_.bias + gate), c));
    });
  }

  void project() {
    FloatProducts::Vector hidden = products_.vector_of_floats(0, s_.cells, {p_.projection}, 0);
    const int64_t block = unroll_for(s_.outputs, 4);
    f_.loop(
        "p", 0, s_.outputs,
        [&](const Ex& p) {
          std::vector<Ex> sums;
          std::vector<FloatProducts::Row> rows;
          for (int64_t i = 0; i < block; ++i) {
            sums.push_back(
                f_.var("sum", biased_ ? load(products_.operand(p_.projection_bias), p + i) : tir::f32(0.0f)));
            rows.push_back({p_.projection, p + i});
          }
          products_.add(sums, rows, hidden);
          for (int64_t i = 0; i < block; ++i) {
            Ex v = sums[static_cast<size_t>(i)];
            const float clip = o_.projection_clip;
            f_.store(out_, to_ + (p + i), clip > 0 ? max(min(v, tir::f32(clip)), tir::f32(-clip)) : v);
          }
        },
        block);
  }

  LoweringBuilder& f_;
  FloatProducts& products_;
  const LstmPorts& p_;
  const LstmSizes& s_;
  const FloatLstmOptions& o_;
  bool biased_ = products_.has_operand(p_.projection_bias);
  std::vector<std::pair<size_t, FloatProducts::Vector>> vectors_;  // by the input gate's weights
  Ex state_at_, cells_at_, to_;
  BufferPtr out_, next_output_, next_cell_;
};

}  // namespace

void emit_float_lstm(LoweringBuilder& f, FloatProducts& products, const LstmPorts& ports, const LstmSizes& sizes,
                     const FloatLstmOptions& options) {
  FloatLstmEmitter(f, products, ports, sizes, options).run();
}

}  // namespace aotc::ops
