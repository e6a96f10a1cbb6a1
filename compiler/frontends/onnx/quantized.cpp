// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/quantized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace aotc::frontends::onnx {

namespace {

constexpr int64_t kFlip = 128;

bool is_quantised(DType type) {
  return type == DType::kI8 || type == DType::kU8 || type == DType::kI16 || type == DType::kU16;
}

// The type of the tensor that represents a tensor of the file.
DType form_type(DType stored) { return size_of(stored) == 2 ? DType::kI16 : DType::kI8; }

// What unsigned elements are less in the tensor that represents them.
int64_t flip_of(DType stored) { return stored == DType::kU8 ? kFlip : stored == DType::kU16 ? kFlip << 8 : 0; }

graph::Quantization shifted(graph::Quantization q, int64_t by) {
  if (q.zero_point.empty()) q.zero_point = {0};
  for (int64_t& z : q.zero_point) z += by;
  return q;
}

// Results hold elements of the operands and nothing else, whatever these mean.
bool only_moves(const graph::Op& op) {
  constexpr std::array<std::string_view, 9> kMoves = {"reshape", "transpose", "slice",        "concatenation", "pad",
                                                      "split",   "gather",    "broadcast_to", "max_pool_2d"};
  return op.results.size() == 1 && std::find(kMoves.begin(), kMoves.end(), op.name()) != kMoves.end();
}

std::vector<Setting> settings_of(const graph::Op& op) {
  std::vector<Setting> out;
  for (const auto& [name, text] : op.attributes->print()) {
    Setting s(name, 0);
    s.text = text;
    out.push_back(s);
  }
  return out;
}

Id flipped_constant(Builder& b, Id x, const graph::Quantization& q) {
  const graph::Tensor from = b.graph()[x];  // adding one moves them
  std::vector<uint8_t> bytes(from.constant->bytes.begin(), from.constant->bytes.end());
  const auto size = static_cast<size_t>(size_of(from.type.dtype));
  if (flip_of(from.type.dtype) != 0)
    for (size_t top = size - 1; top < bytes.size(); top += size) bytes[top] ^= 0x80;
  Id out = b.constant(form_type(from.type.dtype), from.type.shape, std::move(bytes));
  b.graph()[out].type.quantization = q;
  b.name(out, from.name + (size == 2 ? " (int16)" : " (int8)"));
  return out;
}

}  // namespace

graph::Quantization Affine::int8(int axis) const {
  graph::Quantization q{scale, zero, axis};
  return flip_of(stored) != 0 ? shifted(q, -flip_of(stored)) : q;
}

std::optional<Affine> affine_of(Call& c, size_t scale, size_t zero, DType otherwise) {
  Builder& b = c.b;
  Affine out;
  out.stored = otherwise;
  Id s = c.in(scale);
  if (!b.is_constant(s) || b.dtype(s) != DType::kF32) return std::nullopt;
  out.scale = b.graph()[s].constant->to_vector<float>();
  out.zero.assign(out.scale.size(), 0);
  for (float v : out.scale)
    if (!(v > 0) || !std::isfinite(v)) return std::nullopt;
  if (c.has(zero)) {
    out.stored = b.dtype(c.in(zero));
    auto values = b.ints(c.in(zero));
    if (!values || values->size() != out.scale.size()) return std::nullopt;
    out.zero = *values;
  }
  if (!is_quantised(out.stored) || out.scale.empty()) return std::nullopt;
  return out;
}

Affine operand_affine(Call& c, size_t i) {
  const DType type = c.b.dtype(c.in(i));
  Affine out = known_affine(c, i + 1, i + 2, type);
  if (out.stored != type) c.refuse("an operand and its zero point must have the same type");
  return out;
}

Affine known_affine(Call& c, size_t scale, size_t zero, DType otherwise) {
  auto out = affine_of(c, scale, zero, otherwise);
  if (out && out->per_tensor()) return *out;
  c.b.stop("onnx-constant",
           "each tensor must have 8 or 16 bits, with one scale and one zero point that are known at compile time",
           "quantise the model with onnxruntime's quantize_static");
}

namespace {

Id made_int8(Builder& b, Id x, const graph::Quantization& q, int depth);

// Signed elements keep their bits and get another quantisation. The top bit of unsigned elements is flipped as well.
Id int8_form(Builder& b, Id x, const graph::Quantization& q, int depth) {
  if (flip_of(b.dtype(x)) == 0 && b.type(x).quantization == q) return x;
  for (Id known : b.int8_forms(x))
    if (b.type(known).quantization == q) return known;
  Id made = made_int8(b, x, q, depth);
  b.int8_forms(x).push_back(made);
  return made;
}

Id made_int8(Builder& b, Id x, const graph::Quantization& q, int depth) {
  constexpr int kDeepest = 64;
  const DType type = b.dtype(x);
  if (b.is_constant(x)) return flipped_constant(b, x, q);
  // stored_of of 16 bits, backwards
  if (type == DType::kU16 && !b.int8_forms(x).empty()) return int8_form(b, b.int8_forms(x)[0], q, depth + 1);
  const graph::Op* found = depth < kDeepest ? b.producer(x) : nullptr;
  if (found != nullptr) {
    const graph::Op op = *found;  // adding operators moves them
    // stored_of, backwards
    const bool flips = op.name() == "quantize" && type == DType::kU8 && b.dtype(op.operands[0]) == DType::kI8;
    if (op.name() == "as_stored" || flips) return int8_form(b, op.operands[0], q, depth + 1);
    // Pools of int16 know no zero points.
    if (only_moves(op) && (form_type(type) != DType::kI16 || op.name() != "max_pool_2d")) {
      std::vector<Id> operands = op.operands;
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i].valid() && b.dtype(operands[i]) == type && (op.name() != "gather" || i == 0))
          operands[i] = int8_form(b, operands[i], q, depth + 1);
      return b.add_typed(op.name(), operands, settings_of(op), form_type(type), q);
    }
  }
  if (type == DType::kU16) {
    Id whole = b.binary("add", b.cast(x, DType::kI32), static_cast<double>(-flip_of(type)));
    return b.add_typed("as_stored", {b.cast(whole, DType::kI16)}, {}, DType::kI16, q);
  }
  if (type != DType::kU8) return b.add_typed("as_stored", {x}, {}, type, q);
  Id real = b.add_typed("as_stored", {x}, {}, type, shifted(q, kFlip));
  return b.add_typed("quantize", {real}, {}, DType::kI8, q);
}

}  // namespace

Id int8_of(Builder& b, Id x, const graph::Quantization& q) { return int8_form(b, x, q, 0); }

Id stored_of(Builder& b, Id x, DType stored) {
  const graph::Quantization q = b.type(x).quantization;
  if (stored == DType::kU8) x = b.add_typed("quantize", {x}, {}, DType::kU8, shifted(q, kFlip));
  const Id integers = b.add("as_stored", {x});
  if (stored != DType::kU16) return integers;
  const Id whole = b.binary("add", b.cast(integers, DType::kI32), static_cast<double>(flip_of(stored)));
  const Id out = b.cast(whole, DType::kU16);
  if (!b.is_constant(out)) b.int8_forms(out).push_back(x);
  return out;
}

Id dequantized(Builder& b, Id stored, const Affine& a) {
  return b.add("dequantize", {int8_of(b, stored, a)}, {}, DType::kF32);
}

namespace {

// The one quantised tensor that floats follow from element by element, with what leads from it to
// them. `moves` put elements in other places, the last of them first; a step is at the level of
// the moves between it and the floats.
struct Chain {
  struct Step {
    graph::Op op;
    size_t level;
  };
  Id from;
  size_t level = 0;  // of `from`
  std::vector<Step> steps;
  std::vector<graph::Op> moves;
};

bool is_elementwise(const graph::Op& op) {
  constexpr std::array<std::string_view, 7> kBinary = {"add", "sub", "mul", "div", "maximum", "minimum", "pow"};
  return op.results.size() == 1 && (ops::definition_of(op).traits().elementwise ||
                                    std::find(kBinary.begin(), kBinary.end(), op.name()) != kBinary.end());
}

// A frame of zeros: of a quantised operand, its zero point.
bool pads_zeros(Builder& b, const graph::Op& op) {
  if (op.name() != "pad" || b.is_constant(op.operands[0])) return false;
  if (op.operands.size() < 2 || !op.operands[1].valid()) return true;
  const graph::Tensor& fill = b.graph()[op.operands[1]];
  return fill.constant &&
         std::all_of(fill.constant->bytes.begin(), fill.constant->bytes.end(), [](uint8_t byte) { return byte == 0; });
}

// Elements of operand 0 and nothing else, whatever the values, or zeros around them.
bool moves_first(Builder& b, const graph::Op& op) {
  if (pads_zeros(b, op)) return true;
  constexpr std::array<std::string_view, 5> kMoves = {"reshape", "transpose", "slice", "gather", "broadcast_to"};
  if (op.results.size() != 1 || std::find(kMoves.begin(), kMoves.end(), op.name()) == kMoves.end()) return false;
  for (size_t i = 1; i < op.operands.size(); ++i)
    if (op.operands[i].valid() && !b.is_constant(op.operands[i])) return false;
  return !b.is_constant(op.operands[0]);
}

class Collector {
 public:
  Collector(Builder& b, Id real) : b_(b), real_(real) {}

  std::optional<Chain> run() {
    if (b_.is_constant(real_) || !collect(real_, 0, 0) || !out_.from.valid() || out_.level != out_.moves.size())
      return std::nullopt;
    return std::move(out_);
  }

 private:
  static constexpr size_t kMost = 32;

  const graph::Shape& shape_at(size_t level) const {
    return b_.shape(level == 0 ? real_ : out_.moves[level - 1].operands[0]);
  }

  bool collect(Id x, size_t level, size_t depth) {
    if (b_.is_constant(x)) return b_.dtype(x) == DType::kF32 && b_.type(x).elements() == 1;
    if (depth > kMost || b_.shape(x) != shape_at(level)) return false;
    const graph::Op* op = b_.producer(x);
    if (op == nullptr) return false;
    for (const Chain::Step& step : out_.steps)
      if (step.op.results == op->results) return step.level == level;
    const graph::Op copy = *op;
    if (copy.name() == "dequantize") return source(copy, level);
    if (b_.dtype(x) != DType::kF32) return false;
    if (is_elementwise(copy)) {
      for (Id operand : copy.operands)
        if (operand.valid() && !collect(operand, level, depth + 1)) return false;
    } else if (!moves_first(b_, copy) || !move(copy, level) || !collect(copy.operands[0], level + 1, depth + 1) ||
               (copy.name() == "pad" && !shows_bytes(copy.operands[0]))) {
      return false;
    }
    return add(copy, level);
  }

  // Are the elements those of a dequantised tensor? A zero is then its zero point.
  bool shows_bytes(Id x) const {
    for (const graph::Op* op = b_.producer(x); op != nullptr; op = b_.producer(op->operands[0])) {
      if (op->name() == "dequantize") return true;
      if (!moves_first(b_, *op)) return false;
    }
    return false;
  }

  bool source(const graph::Op& op, size_t level) {
    Id from = op.operands[0];
    bool fits = b_.dtype(from) == DType::kI8 && !b_.type(from).quantization.per_channel();
    if (!fits || (out_.from.valid() && (out_.from != from || out_.level != level))) return false;
    out_.from = from;
    out_.level = level;
    return add(op, level);
  }

  // Everything goes through the same moves.
  bool move(const graph::Op& op, size_t level) {
    if (out_.moves.size() > level) return out_.moves[level].results == op.results;
    out_.moves.push_back(op);
    return true;
  }

  bool add(const graph::Op& op, size_t level) {
    if (out_.steps.size() >= kMost) return false;
    out_.steps.push_back({op, level});
    return true;
  }

  Builder& b_;
  Id real_;
  Chain out_;
};

// The same operators on all bytes there are.
Id table_of(Builder& b, const Chain& function, Id result, const graph::Quantization& q) {
  std::vector<uint8_t> bytes;
  for (int v = -128; v < 128; ++v) bytes.push_back(static_cast<uint8_t>(v));
  Id all = b.constant(DType::kI8, {256}, std::move(bytes));
  b.graph()[all].type.quantization = b.type(function.from).quantization;
  std::map<int32_t, Id> made = {{function.from.value, all}};
  for (const auto& [op, level] : function.steps) {
    if (made.contains(op.operands[0].value) && moves_first(b, op)) {
      made[op.results[0].value] = made.at(op.operands[0].value);
      continue;
    }
    std::vector<Id> operands = op.operands;
    for (Id& id : operands) {
      auto found = made.find(id.value);
      if (found != made.end()) id = found->second;
      else if (id.valid()) id = b.reshape(id, {1});
    }
    made[op.results[0].value] = b.add(op.name(), operands, settings_of(op), DType::kF32);
  }
  return b.add_typed("quantize", {made.at(result.value)}, {onnxruntime_rounding()}, DType::kI8, q);
}

// The bytes in the places where the chain's moves put them.
Id moved(Builder& b, const Chain& function) {
  const graph::Quantization q = b.type(function.from).quantization;
  Id x = function.from;
  for (size_t i = function.moves.size(); i-- > 0;) {
    const graph::Op& op = function.moves[i];
    std::vector<Id>& known = b.int8_forms(op.results[0]);
    if (!known.empty() && b.type(known[0]).quantization == q) {
      x = known[0];
      continue;
    }
    std::vector<Id> operands = op.operands;
    operands[0] = x;
    if (op.name() == "pad") operands.resize(1);  // with the zero point
    x = b.add_typed(op.name(), operands, settings_of(op), DType::kI8, q);
    b.int8_forms(op.results[0]) = {x};
  }
  return x;
}

bool is_identity(Builder& b, Id table) {
  const Ints values = *b.ints(table);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<int64_t>(i) - kFlip) return false;
  return true;
}

}  // namespace

Id quantized(Builder& b, Id real, const Affine& a) {
  const graph::Quantization q = a.int8();
  if (auto function = a.wide() ? std::nullopt : Collector(b, real).run()) {
    Id table = table_of(b, *function, real, q);
    if (b.is_constant(table)) {
      Id from = moved(b, *function);
      if (!is_identity(b, table)) return b.add_typed("byte_table", {from, table}, {}, DType::kI8, q);
      return b.type(from).quantization == q ? from : b.add_typed("as_stored", {from}, {}, DType::kI8, q);
    }
  }
  return b.add_typed("quantize", {real}, {onnxruntime_rounding()}, a.type(), q);
}

}  // namespace aotc::frontends::onnx
