// SPDX-License-Identifier: Apache-2.0
#include "unrolled_maker.h"

#include <optional>

#include <fmt/format.h>

namespace aotc::tests {

using graph::TensorId;
using graph::TensorType;

namespace {

class UnrolledMaker {
 public:
  UnrolledMaker(Random& random, DType main_type, const std::string& name)
      : random_(random), maker_(graph_maker(random, main_type, name)), type_(main_type) {}

  graph::Graph run() {
    // From eight units on the kernels are used.
    width_ = random_.chance(50) ? random_.pick(1, 6) : random_.pick(7, 17);
    const int64_t turns = random_.pick(3, 9), reads = random_.chance(70) ? random_.pick(1, 4) : 0;
    for (int64_t i = random_.pick(2, 7); i > 0; --i) body_.push_back(draw());
    TensorId value = maker_->add_input(maker_->type(type_, {1, width_}));
    std::vector<TensorId> read(static_cast<size_t>(turns));
    if (reads > 0) {
      const TensorId weights = weights_of(reads);
      std::optional<TensorType> fixed;
      if (random_.chance(50)) fixed = maker_->type(type_, {1, width_});
      for (TensorId& id : read) {
        id = maker_->add_input(maker_->type(type_, {1, reads}));
        // All first, as the converter does.
        if (maker_->add("fully_connected", {id, weights}, {}, {fixed ? *fixed : maker_->type(type_, {})}))
          id = maker_->last();
      }
    }
    for (int64_t turn = 0; turn < turns; ++turn) value = body(value, read[static_cast<size_t>(turn)]);
    give(value);
    if (random_.chance(30))
      give(maker_->known[static_cast<size_t>(random_.pick(0, static_cast<int64_t>(maker_->known.size()) - 1))]);
    return std::move(maker_->made);
  }

 private:
  struct Part {
    const char* name;
    TensorId shared;                  // weights, or the other operand of all turns
    bool own = false;                 // each turn has an operand of its own
    std::optional<TensorType> fixed;  // of all turns' results
  };

  TensorId weights_of(int64_t depth) {
    TensorType t;
    t.dtype = type_ == DType::kF32 ? DType::kF32 : DType::kI8;
    t.shape = {width_, depth};
    if (t.dtype == DType::kI8)
      for (int64_t c = random_.chance(60) ? width_ : 1; c > 0; --c) {
        t.quantization.scale.push_back(random_.real(0.001f, 0.03f));
        t.quantization.zero_point.push_back(0);
      }
    return maker_->constant(t);
  }

  Part draw() {
    static const char* kNames[] = {
        "fully_connected", "fully_connected", "add", "add", "mul", "sub", "maximum", "tanh", "logistic", "relu"};
    Part part;
    part.name = kNames[random_.pick(0, 9)];
    part.own = random_.chance(40);
    if (part.name == kNames[0]) part.shared = weights_of(width_);
    else if (!part.own) part.shared = maker_->constant(maker_->type(type_, {1, width_}));
    if (random_.chance(50)) part.fixed = maker_->type(type_, {1, width_});
    return part;
  }

  TensorType result_of(const Part& part) {
    TensorType t = part.fixed ? *part.fixed : maker_->type(type_, {1, width_});
    const std::string_view name = part.name;
    if (type_ == DType::kI8 && name == "tanh") t.quantization = {{1.0f / 128}, {0}, 0};
    if (type_ == DType::kI8 && name == "logistic") t.quantization = {{1.0f / 256}, {-128}, 0};
    if (type_ == DType::kI16 && (name == "tanh" || name == "logistic")) t.quantization = {{1.0f / 32768}, {0}, 0};
    return t;
  }

  TensorId body(TensorId value, TensorId read) {
    bool reads = read.valid() && maker_->of(read).shape[1] == width_;
    for (const Part& part : body_) {
      const std::string_view name = part.name;
      std::vector<TensorId> operands = {value};
      TensorType type = result_of(part);
      const bool unary = name == "tanh" || name == "logistic" || name == "relu";
      if (name == "maximum") type = maker_->of(value);
      if (!unary) {
        TensorId other = part.shared.valid()
                             ? part.shared
                             : maker_->constant(name == "maximum" ? type : maker_->type(type_, {1, width_}));
        if (reads && name == "add") {
          other = read;
          reads = false;
        }
        operands.push_back(other);
      }
      // What an operator refuses is left out of this turn.
      if (maker_->add(part.name, operands, {}, {type})) value = maker_->last();
    }
    return value;
  }

  void give(TensorId id) { maker_->made.outputs.push_back({id, fmt::format("out{}", maker_->made.outputs.size())}); }

  Random& random_;
  std::unique_ptr<GraphMaker> maker_;
  DType type_;
  int64_t width_ = 1;
  std::vector<Part> body_;
};

}  // namespace

graph::Graph unrolled_graph(Random& random, DType main_type, const std::string& name) {
  return UnrolledMaker(random, main_type, name).run();
}

}  // namespace aotc::tests
