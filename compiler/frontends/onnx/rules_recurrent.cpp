// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM, step after step: what the inputs give is one product for all steps, what the
// state gives one for each. Steps of equal shapes share their functions in C.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/quantized.h"

namespace aotc::frontends::onnx {

namespace recurrent {

namespace {

constexpr int64_t kMostSteps = 1024;

enum class Kind { kRnn, kGru, kLstm };

struct Function {
  std::string name;  // in small letters
  float alpha, beta;
};

// com.microsoft's DynamicQuantizeLSTM: weights of bytes, transposed, of what is quantised by its values.
bool is_dynamic(const Call& c) { return c.op() == "DynamicQuantizeLSTM"; }

struct Sizes {
  int64_t steps, batch, inputs, hidden;
};

Id apply(Call& c, const Function& f, Id x) {
  Builder& b = c.b;
  if (f.name == "tanh") return b.add("tanh", {x});
  if (f.name == "sigmoid") return b.add("logistic", {x});
  if (f.name == "relu") return b.add("relu", {x});
  if (f.name == "affine") return b.binary("add", b.binary("mul", x, f.alpha), f.beta);
  if (f.name == "leakyrelu") return b.add("leaky_relu", {x}, {{"alpha", f.alpha}});
  if (f.name == "scaledtanh") return b.binary("mul", b.add("tanh", {b.binary("mul", x, f.beta)}), f.alpha);
  if (f.name == "hardsigmoid") return clamp(b, b.binary("add", b.binary("mul", x, f.alpha), f.beta), 0.0, 1.0);
  if (f.name == "elu" && f.alpha == 1.0f) return b.add("elu", {x});
  if (f.name == "softsign") return b.binary("div", x, b.binary("add", b.add("abs", {x}), 1.0));
  c.refuse(fmt::format("activation '{}' is not supported", escape_for_display(f.name)));
}

// What the specification says of functions whose numbers are not given.
Function with_defaults(std::string name) {
  if (name == "leakyrelu") return {name, 0.01f, 0};
  if (name == "hardsigmoid") return {name, 0.2f, 0.5f};
  return {name, 1.0f, name == "scaledtanh" ? 1.0f : 0.0f};
}

// So many for each direction.
std::vector<Function> functions_of(Call& c, size_t directions, const std::vector<std::string>& usual) {
  std::vector<std::string> names;
  if (const Attribute* a = c.find("activations"))
    for (std::string_view s : a->strings) names.emplace_back(s);
  if (names.empty())
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.end());
  if (names.size() != directions * usual.size())
    c.refuse(
        fmt::format("the operator has {} activations, but its gates need {}", names.size(), directions * usual.size()));
  const Attribute *alpha = c.find("activation_alpha"), *beta = c.find("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Function> out;
  for (std::string& name : names) {
    for (char& letter : name) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    Function f = with_defaults(name);
    bool takes_beta = name == "affine" || name == "scaledtanh" || name == "hardsigmoid";
    bool takes_alpha = takes_beta || name == "leakyrelu" || name == "elu" || name == "thresholdedrelu";
    if (takes_alpha && alpha != nullptr && next_alpha < alpha->floats.size()) f.alpha = alpha->floats[next_alpha++];
    if (takes_beta && beta != nullptr && next_beta < beta->floats.size()) f.beta = beta->floats[next_beta++];
    out.push_back(f);
  }
  return out;
}

// One direction: what does not change from step to step.
class Layer {
 public:
  Layer(Call& call, Kind kind, const Sizes& sizes, int64_t direction, std::vector<Function> functions)
      : c_(call),
        b_(call.b),
        kind_(kind),
        s_(sizes),
        functions_(std::move(functions)),
        gates_(kind == Kind::kRnn   ? 1
               : kind == Kind::kGru ? 3
                                    : 4) {
    int64_t rows = gates_ * s_.hidden;
    if (is_dynamic(c_)) {
      weights_ = part(1, direction, {s_.inputs, rows});
      recurrent_ = part(2, direction, {s_.hidden, rows});
      for (size_t i = 8; i < 12; ++i) column(i, direction, rows);
    } else {
      weights_ = part(1, direction, {rows, s_.inputs});
      recurrent_ = part(2, direction, {rows, s_.hidden});
    }
    if (c_.has(3)) {
      Id both = part(3, direction, {2 * rows});
      input_bias_ = b_.slice(both, {0}, {rows});
      state_bias_ = b_.slice(both, {rows}, {rows});
    }
    if (kind_ == Kind::kLstm && c_.has(7)) peephole_ = part(7, direction, {3 * s_.hidden});
    clip_ = c_.f("clip", 0);
    separate_ = kind_ == Kind::kGru && c_.i("linear_before_reset", 0) != 0;
    coupled_ = c_.i("input_forget", 0) != 0;
  }

  // [steps, batch, gates * hidden], with both biases but that of the state's product where it is
  // separate.
  Id of_inputs(Id x) {
    Id flat = b_.reshape(x, {s_.steps * s_.batch, s_.inputs});
    Id out = is_dynamic(c_) ? product_of_bytes(flat, weights_, 0) : matmul(b_, flat, b_.transpose(weights_, {1, 0}));
    if (input_bias_.valid()) {
      Id bias = state_bias_;
      if (separate_) {
        Id none = b_.filled(DType::kF32, 0.0, {s_.hidden});
        bias = b_.add("concatenation", {b_.slice(bias, {0}, {2 * s_.hidden}), none}, {{"axis", 0}});
      }
      out = b_.binary("add", out, b_.binary("add", input_bias_, bias));
    }
    return b_.reshape(out, {s_.steps, s_.batch, gates_ * s_.hidden});
  }

  // One step; the cell's state is of LSTMs alone.
  void step(Id x, Id& h, Id& cell) {
    if (kind_ == Kind::kRnn) h = of(0, with_product(x, h, 0, 1));
    if (kind_ == Kind::kGru) gru(x, h);
    if (kind_ == Kind::kLstm) lstm(x, h, cell);
  }

 private:
  // Of [directions, ...] one.
  Id part(size_t input, int64_t direction, graph::Shape shape) {
    graph::Shape all = c_.shape(input), want = shape;
    Ints begin(all.size(), 0);
    want.insert(want.begin(), 1);
    if (all.size() != want.size() || direction >= all[0] || !std::equal(all.begin() + 1, all.end(), want.begin() + 1))
      c_.refuse(fmt::format("input {} has shape {}, expected {} for each direction", input, graph::to_string(all),
                            graph::to_string(shape)));
    begin[0] = direction;
    return b_.reshape(b_.slice(c_.in(input), begin, want), shape);
  }

  // Of a direction's weights the scale or zero point, one or one for each of their columns.
  void column(size_t input, int64_t direction, int64_t columns) {
    const int64_t elements = b_.type(c_.in(input)).elements(), directions = c_.shape(1)[0];
    const int64_t each = elements / std::max<int64_t>(directions, 1);
    if ((each != 1 && each != columns) || each * directions != elements)
      c_.refuse(fmt::format("input {} has {} elements, expected 1 or {} for each of {} directions", input, elements,
                            columns, directions));
    Id flat = b_.reshape(c_.in(input), {elements});
    bytes_[input - 8] = b_.slice(flat, {direction * each}, {each});
  }

  // Quantised by their values, as a sum of integers; `which`: the first of the weights' scale and zero point.
  Id product_of_bytes(Id x, Id weights, size_t which) {
    const ByData q = by_data(b_, x);
    Id left = b_.cast(b_.binary("sub", q.whole, q.zero), DType::kI32);
    Id right = b_.add("sub", {b_.cast(weights, DType::kI32), b_.cast(bytes_[which + 1], DType::kI32)});
    Id sums = b_.cast(exact_product(b_, left, right), DType::kF32);
    return b_.binary("mul", sums, b_.binary("mul", bytes_[which], q.scale));
  }

  Id of(size_t function, Id x) {
    if (clip_ > 0) x = clamp(b_, x, -clip_, clip_);
    return apply(c_, functions_[function], x);
  }

  // The state through the weights of so many gates.
  Id product(Id h, int64_t first, int64_t count) {
    if (is_dynamic(c_)) return product_of_bytes(h, recurrent_, 2);
    Id rows = b_.slice(recurrent_, {first * s_.hidden, 0}, {count * s_.hidden, s_.hidden});
    return matmul(b_, h, b_.transpose(rows, {1, 0}));
  }

  // x + product(h, first, count). For one sequence x is the bias of the product.
  Id with_product(Id x, Id h, int64_t first, int64_t count) {
    if (is_dynamic(c_) || s_.batch != 1) return b_.binary("add", x, product(h, first, count));
    const int64_t rows = count * s_.hidden;
    Id weights = b_.slice(recurrent_, {first * s_.hidden, 0}, {rows, s_.hidden});
    return b_.add("fully_connected", {h, weights, b_.reshape(x, {rows})}, {{"keep_num_dims", true}});
  }

  Id gate(Id all, int64_t which, int64_t count = 1) {
    return b_.slice(all, {0, which * s_.hidden}, {s_.batch, count * s_.hidden});
  }

  Id peep(Id x, Id cell, int64_t which) {
    if (!peephole_.valid()) return x;
    return b_.binary("add", x, b_.binary("mul", cell, b_.slice(peephole_, {which * s_.hidden}, {s_.hidden})));
  }

  void gru(Id x, Id& h) {
    Id both = of(0, with_product(gate(x, 0, 2), h, 0, 2));
    Id update = gate(both, 0), reset = gate(both, 1), candidate;
    if (separate_) {
      Id state = product(h, 2, 1);
      if (state_bias_.valid()) state = b_.binary("add", state, b_.slice(state_bias_, {2 * s_.hidden}, {s_.hidden}));
      candidate = b_.binary("add", gate(x, 2), b_.binary("mul", reset, state));
    } else {
      candidate = with_product(gate(x, 2), b_.binary("mul", reset, h), 2, 1);
    }
    candidate = of(1, candidate);
    h = b_.binary("add", b_.binary("mul", b_.binary("sub", 1.0, update), candidate), b_.binary("mul", update, h));
  }

  // Gates come as input, output, forget, cell.
  void lstm(Id x, Id& h, Id& cell) {
    Id all = with_product(x, h, 0, 4);
    Id in = of(0, peep(gate(all, 0), cell, 0));
    Id forget = coupled_ ? b_.binary("sub", 1.0, in) : of(0, peep(gate(all, 2), cell, 2));
    Id candidate = of(1, gate(all, 3));
    cell = b_.binary("add", b_.binary("mul", forget, cell), b_.binary("mul", in, candidate));
    Id out = of(0, peep(gate(all, 1), cell, 1));
    h = b_.binary("mul", out, apply(c_, functions_[2], cell));
  }

  Call& c_;
  Builder& b_;
  Kind kind_;
  Sizes s_;
  std::vector<Function> functions_;
  int64_t gates_;
  Id weights_, recurrent_, input_bias_, state_bias_, peephole_;
  Id bytes_[4];  // scale and zero point of both weights
  float clip_ = 0;
  bool separate_ = false, coupled_ = false;
};

// Does a step belong to each sequence of the batch? Nothing if to all.
Id mask_of(Builder& b, const std::optional<Ints>& lengths, int64_t step) {
  if (!lengths || std::all_of(lengths->begin(), lengths->end(), [&](int64_t n) { return step < n; })) return {};
  std::vector<uint8_t> bytes;
  for (int64_t n : *lengths) bytes.push_back(step < n ? 1 : 0);
  auto batch = static_cast<int64_t>(bytes.size());
  return b.constant(DType::kBool, {batch, 1}, std::move(bytes));
}

struct Results {
  Id all, h, cell;  // [steps, 1, batch, hidden], [1, batch, hidden] twice
};

class Network {
 public:
  Network(Call& call, Kind kind) : c_(call), b_(call.b), kind_(kind), batch_first_(call.i("layout", 0) != 0) {
    const graph::Shape x = c_.shape(0), r = c_.shape(2);
    if (x.size() != 3 || r.size() != 3 || b_.dtype(c_.in(0)) != DType::kF32)
      c_.refuse("X and R must have three dimensions, and X must be float32");
    s_ = {x[batch_first_ ? 1 : 0], x[batch_first_ ? 0 : 1], x[2], is_dynamic(c_) ? r[1] : r[2]};
    if (c_.i("hidden_size", s_.hidden) != s_.hidden)
      c_.refuse(fmt::format("hidden_size is {}, but the weights have a hidden size of {}",
                            c_.i("hidden_size", s_.hidden), s_.hidden));
    if (s_.steps > kMostSteps)
      b_.stop("onnx-limit", fmt::format("the sequence has {} steps", s_.steps),
              fmt::format("the limit is {}: run the model step by step and keep its state between runs (--state)",
                          kMostSteps));
    std::string way = c_.s("direction", "forward");
    if (way != "forward" && way != "reverse" && way != "bidirectional")
      c_.refuse(fmt::format("direction '{}' is not supported", escape_for_display(way)));
    directions_ = way == "bidirectional" ? 2 : 1;
    first_backwards_ = way == "reverse";
    lengths_ = c_.optional_ints(4, "sequence_lens");
    if (lengths_ && static_cast<int64_t>(lengths_->size()) != s_.batch)
      c_.refuse(fmt::format("sequence_lens has {} elements, expected {}", lengths_->size(), s_.batch));
  }

  void import() {
    std::vector<std::string> usual = kind_ == Kind::kRnn   ? std::vector<std::string>{"Tanh"}
                                     : kind_ == Kind::kGru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                           : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    std::vector<Function> functions = functions_of(c_, static_cast<size_t>(directions_), usual);
    Id x = batch_first_ ? b_.transpose(c_.in(0), {1, 0, 2}) : c_.in(0);
    std::vector<Id> all, h, cell;
    for (int64_t d = 0; d < directions_; ++d) {
      auto from = functions.begin() + d * static_cast<int64_t>(usual.size());
      Layer layer(c_, kind_, s_, d, {from, from + static_cast<int64_t>(usual.size())});
      Results r = run(layer, x, d);
      all.push_back(r.all);
      h.push_back(r.h);
      cell.push_back(r.cell);
    }
    auto joined = [&](const std::vector<Id>& parts, int64_t axis) {
      return parts.size() == 1 ? parts[0] : b_.add("concatenation", parts, {{"axis", axis}});
    };
    auto state = [&](const std::vector<Id>& parts) {
      Id out = joined(parts, 0);
      return batch_first_ ? b_.transpose(out, {1, 0, 2}) : out;
    };
    if (c_.wants(0)) {
      Id out = joined(all, 1);
      c_.out(0, batch_first_ ? b_.transpose(out, {2, 0, 1, 3}) : out);
    }
    if (c_.wants(1)) c_.out(1, state(h));
    if (c_.wants(2) && kind_ == Kind::kLstm) c_.out(2, state(cell));
  }

 private:
  Id initial(size_t input, int64_t direction) {
    if (!c_.has(input)) return b_.filled(DType::kF32, 0.0, {s_.batch, s_.hidden});
    graph::Shape shape = c_.shape(input);
    Id x = batch_first_ && shape.size() == 3 ? b_.transpose(c_.in(input), {1, 0, 2}) : c_.in(input);
    if (b_.shape(x) != graph::Shape{directions_, s_.batch, s_.hidden})
      c_.refuse(fmt::format("input {} has shape {}, but the model has {} directions, batch {} and hidden size {}",
                            input, graph::to_string(shape), directions_, s_.batch, s_.hidden));
    return b_.reshape(b_.slice(x, {direction, 0, 0}, {1, s_.batch, s_.hidden}), {s_.batch, s_.hidden});
  }

  Results run(Layer& layer, Id x, int64_t direction) {
    bool backwards = first_backwards_ || direction == 1;
    Id h = initial(5, direction), cell = kind_ == Kind::kLstm ? initial(6, direction) : Id{};
    Id inputs = layer.of_inputs(x);
    std::vector<Id> all(static_cast<size_t>(s_.steps));
    for (int64_t i = 0; i < s_.steps; ++i) {
      int64_t at = backwards ? s_.steps - 1 - i : i;
      const graph::Shape shape = b_.shape(inputs);
      Id now = b_.reshape(b_.slice(inputs, {at, 0, 0}, {1, shape[1], shape[2]}), {shape[1], shape[2]});
      Id next = h, next_cell = cell, seen;
      layer.step(now, next, next_cell);
      Id mask = mask_of(b_, lengths_, at);
      seen = mask.valid() ? select(b_, mask, next, b_.filled(DType::kF32, 0.0)) : next;
      h = mask.valid() ? select(b_, mask, next, h) : next;
      if (cell.valid()) cell = mask.valid() ? select(b_, mask, next_cell, cell) : next_cell;
      all[static_cast<size_t>(at)] = b_.reshape(seen, {1, 1, s_.batch, s_.hidden});
    }
    Results out;
    if (c_.wants(0)) out.all = all.size() == 1 ? all[0] : b_.add("concatenation", all, {{"axis", 0}});
    out.h = b_.reshape(h, {1, s_.batch, s_.hidden});
    if (cell.valid()) out.cell = b_.reshape(cell, {1, s_.batch, s_.hidden});
    return out;
  }

  Call& c_;
  Builder& b_;
  Kind kind_;
  bool batch_first_;
  Sizes s_{};
  int64_t directions_ = 1;
  bool first_backwards_ = false;
  std::optional<Ints> lengths_;
};

template <Kind kind>
void network(Call& c) {
  Network(c, kind).import();
}

constexpr Rule kRules[] = {
    {"RNN", 7, network<Kind::kRnn>},
    {"GRU", 7, network<Kind::kGru>},
    {"LSTM", 7, network<Kind::kLstm>},
    {"DynamicQuantizeLSTM", 1, network<Kind::kLstm>, "com.microsoft"},
};

}  // namespace

}  // namespace recurrent

std::span<const Rule> recurrent_rules() { return recurrent::kRules; }

}  // namespace aotc::frontends::onnx
