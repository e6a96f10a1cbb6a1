// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "ops/constants.h"

namespace aotc::frontends::onnx {

namespace {

// The integers of a constant, or nothing for other types.
std::optional<Ints> integers_of(const graph::Tensor& tensor) {
  const graph::ConstantView& view = *tensor.constant;
  auto all = [&]<typename T>(T) {
    std::vector<T> values = view.to_vector<T>();
    return Ints(values.begin(), values.end());
  };
  switch (tensor.type.dtype) {
    case DType::kI64: return all(int64_t{});
    case DType::kI32: return all(int32_t{});
    case DType::kU32: return all(uint32_t{});
    case DType::kI16: return all(int16_t{});
    case DType::kU16: return all(uint16_t{});
    case DType::kI8: return all(int8_t{});
    case DType::kU8:
    case DType::kBool: return all(uint8_t{});
    default: return std::nullopt;
  }
}

bool is_small_int(DType t) {
  return t == DType::kBool || t == DType::kI8 || t == DType::kU8 || t == DType::kI16 || t == DType::kU16;
}

}  // namespace

Setting::Setting(std::string n, int64_t value) : name(std::move(n)), text(std::to_string(value)) {}
Setting::Setting(std::string n, bool value) : name(std::move(n)), text(value ? "true" : "false") {}
Setting::Setting(std::string n, float value) : name(std::move(n)), text(graph::attribute_text::print(value)) {}
Setting::Setting(std::string n, const Ints& value) : name(std::move(n)), text(graph::attribute_text::print(value)) {}

void Builder::stop(std::string_view slug, std::string message, std::string help) {
  told_->error(at_, std::string(slug), std::move(message)).help(std::move(help));
  throw Stop{};
}

void Builder::note_slices(std::string_view what) {
  for (const Diagnostic& d : told_->all())
    if (d.slug == "onnx-slices") return;
  Diagnostic& d = told_->warning(at_, "onnx-slices", fmt::format("aotc computes this operator from {}", what));
  d.severity = Severity::kNote;
  d.help("such steps take more memory and time than one operator");
}

void Builder::check_size(const graph::TensorType& type) {
  int64_t bytes = bounded_bytes(type.shape, type.dtype);
  if (bytes >= 0 && type.shape.size() <= limits::kMaxRank && bytes <= limits::kMaxActivationBytes - activation_bytes_) {
    activation_bytes_ += bytes;
    return;
  }
  stop("onnx-limit",
       fmt::format("a tensor of shape {} exceeds the limit for bytes or for dimensions", graph::to_string(type.shape)),
       fmt::format("the limits are {} bytes for all tensors together and {} dimensions for each tensor",
                   limits::kMaxActivationBytes, limits::kMaxRank));
}

Id Builder::add(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings,
                std::optional<DType> type) {
  DType result = type ? *type : dtype(operands[0]);
  return add_several(op, std::move(operands), settings, {result})[0];
}

Id Builder::add_typed(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings, DType type,
                      graph::Quantization quantization) {
  quantization_ = std::move(quantization);
  Id id = add_several(op, std::move(operands), settings, {type})[0];
  return id;
}

const graph::Op* Builder::producer(Id id) const {
  auto at = static_cast<size_t>(id.value);
  if (!id.valid() || at >= producers_.size() || producers_[at] < 0) return nullptr;
  return &graph_.ops[static_cast<size_t>(producers_[at])];
}

std::optional<std::vector<Id>> Builder::sources(Id id) const {
  if (region_) return std::nullopt;
  std::vector<Id> found, left = {id};
  std::vector<bool> seen(graph_.tensors.size(), false);
  while (!left.empty()) {
    const Id at = left.back();
    left.pop_back();
    if (!at.valid() || seen[static_cast<size_t>(at.value)]) continue;
    seen[static_cast<size_t>(at.value)] = true;
    if (graph_.is_input(at)) found.push_back(at);
    if (const graph::Op* op = producer(at)) left.insert(left.end(), op->operands.begin(), op->operands.end());
  }
  return found;
}

std::string Builder::how_to_know(Id id) const {
  constexpr int64_t kMostGiven = 64;  // elements that somebody types
  const auto from = sources(id);
  if (!from || from->empty()) return "export the model with this value as a constant";
  std::string list, names;
  bool few = true;
  for (Id input : *from) {
    const graph::Tensor& t = graph_[input];
    const std::string name = escape_for_display(t.name);
    few = few && t.type.elements() <= kMostGiven;
    list += fmt::format(" --value {}={}", name, t.type.shape.empty() ? "..." : "[...]");
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
  }
  if (few) return fmt::format("give the value of input {}:{}", names, list);
  return fmt::format("the model computes this value from input {}: export the model with a constant instead", names);
}

std::vector<Id> Builder::add_several(std::string_view name, std::vector<Id> operands,
                                     const std::vector<Setting>& settings, const std::vector<DType>& types) {
  // Taken at once: what follows may stop.
  graph::Quantization quantization = std::exchange(quantization_, {});
  const bool moves = name == "reshape" || name == "transpose" || name == "slice";
  if (moves && !quantization.present()) quantization = type(operands[0]).quantization;
  const ops::Operator* definition = set_.find(name);
  if (definition == nullptr)
    stop("internal", fmt::format("aotc has no operator {}", name),
         "this is a bug in aotc; please report it with the model");
  graph::Op op;
  op.definition = definition;
  op.location = at_;
  op.operands = std::move(operands);
  auto attributes = definition->default_attributes();
  // Infinities are results like others.
  constexpr std::string_view kBounding[] = {"add", "sub", "mul", "div"};
  const bool product = name == "fully_connected" && type(op.operands[0]).dtype == DType::kF32;
  if (product || std::find(std::begin(kBounding), std::end(kBounding), name) != std::end(kBounding))
    attributes->parse("activation", "unbounded");
  for (const Setting& s : settings)
    if (!attributes->parse(s.name, s.text))
      stop("onnx-attribute", fmt::format("attribute {} = {} is not valid for {}", s.name, s.text, name),
           "the value may be too large");
  op.attributes = attributes;
  for (DType t : types) {
    graph::Tensor tensor;
    tensor.name = fmt::format("{}/{}", at_.tensor, name);
    tensor.type.dtype = t;
    tensor.type.quantization = quantization;
    op.results.push_back(graph_.add_tensor(std::move(tensor)));
  }
  ops::OpView view{graph_, op};
  auto shapes = definition->infer(view, *told_);
  if (!shapes) throw Stop{};
  for (size_t i = 0; i < op.results.size() && i < shapes->size(); ++i) {
    graph_[op.results[i]].type.shape = (*shapes)[i];
    check_size(graph_[op.results[i]].type);
  }
  if (!ops::verify_op(view, *told_)) throw Stop{};
  pending_.resize(graph_.tensors.size(), -1);
  if (fold(op)) return op.results;
  bool all_empty = true;
  for (Id id : op.results) all_empty = all_empty && type(id).elements() == 0;
  if (all_empty) {  // whatever the operands hold
    for (Id id : op.results) graph_[id].constant = graph::own_bytes({});
    return op.results;
  }
  std::vector<Id> touched = op.results;
  touched.insert(touched.end(), op.operands.begin(), op.operands.end());
  for (Id id : touched)
    if (id.valid() && type(id).elements() == 0)
      stop("onnx-empty", fmt::format("a tensor of shape {} has no elements", graph::to_string(shape(id))),
           "export the model with fixed shapes whose dimensions are at least 1");
  auto computed_operand = [&](const graph::Op& of) {
    for (Id operand : of.operands)
      if (operand.valid() && !graph_.is_constant(operand)) return operand;
    return Id{};
  };
  if (!definition->has_lowering(view))
    stop("onnx-constant", fmt::format("the operands of {} must be constants", name), how_to_know(computed_operand(op)));
  // Its operands are constants, or can be made constants themselves.
  const bool possible = ops::may_evaluate(view) && std::all_of(op.operands.begin(), op.operands.end(), [&](Id id) {
                          return !id.valid() || graph_.is_constant(id) || pending_[static_cast<size_t>(id.value)] >= 0;
                        });
  for (Id id : op.results)
    pending_[static_cast<size_t>(id.value)] = possible ? static_cast<int>(graph_.ops.size()) : -1;
  std::vector<Id> results = op.results;
  producers_.resize(graph_.tensors.size(), -1);
  for (Id id : results) producers_[static_cast<size_t>(id.value)] = static_cast<int>(graph_.ops.size());
  graph_.ops.push_back(std::move(op));
  folded_.push_back(false);
  return results;
}

std::vector<Id> Builder::add_control(std::string_view name, std::vector<Id> operands,
                                     std::vector<graph::Graph> regions) {
  graph::Op op;
  op.definition = set_.find(name);
  if (op.definition == nullptr)
    stop("internal", fmt::format("aotc has no operator {}", name),
         "this is a bug in aotc; please report it with the model");
  op.location = at_;
  op.attributes = op.definition->default_attributes();
  op.operands = std::move(operands);
  for (const graph::Port& port : regions.back().outputs) {
    graph::Tensor tensor;
    tensor.type = regions.back()[port.tensor].type;
    check_size(tensor.type);
    op.results.push_back(graph_.add_tensor(std::move(tensor)));
  }
  op.regions = std::move(regions);
  if (!ops::verify_op({graph_, op}, *told_)) throw Stop{};
  pending_.resize(graph_.tensors.size(), -1);
  producers_.resize(graph_.tensors.size(), -1);
  graph_.ops.push_back(std::move(op));
  folded_.push_back(false);
  return graph_.ops.back().results;
}

int64_t Builder::steps(const graph::Op& op) const {
  // Only products read operands over and over among what constants go through.
  int64_t steps = ops::definition_of(op).macs({graph_, op});
  for (Id id : op.operands)
    if (id.valid()) steps += type(id).bytes();
  for (Id id : op.results) steps += type(id).bytes();
  return steps;
}

void Builder::evaluate(const graph::Op& op) {
  steps_left_ -= steps(op);
  ops::evaluate_to_constants(graph_, op);
}

bool Builder::fold(const graph::Op& op) {
  ops::OpView view{graph_, op};
  if (copying_ || !ops::can_evaluate(view) || steps(op) > steps_left_) return false;
  bool empty = std::any_of(op.results.begin(), op.results.end(), [&](Id id) { return type(id).elements() == 0; });
  bool may_fail = ops::definition_of(op).traits().may_fail;
  if (may_fail && empty) return false;
  if (!empty && ops::definition_of(op).has_lowering(view) && ops::growth_of(view) > ops::kMostGrowth) return false;
  evaluate(op);
  return true;
}

bool Builder::is_constant(Id id) {
  if (graph_.is_constant(id)) return true;
  pending_.resize(graph_.tensors.size(), -1);
  int index = id.valid() ? pending_[static_cast<size_t>(id.value)] : -1;
  if (index < 0) return false;
  // Operators that it is computed by, and what all of them cost.
  std::set<int> needed;
  std::vector<int> left = {index};
  int64_t cost = 0;
  while (!left.empty()) {
    const int at = left.back();
    left.pop_back();
    if (!needed.insert(at).second) continue;
    const graph::Op& op = graph_.ops[static_cast<size_t>(at)];
    cost += steps(op);
    if (cost > steps_left_) return false;
    for (Id operand : op.operands) {
      if (!operand.valid() || graph_.is_constant(operand)) continue;
      const int before = pending_[static_cast<size_t>(operand.value)];
      if (before < 0) return false;
      left.push_back(before);
    }
  }
  // In the order of the graph; evaluating moves operators.
  for (int at : needed) {
    const graph::Op op = graph_.ops[static_cast<size_t>(at)];
    // Operands that became known may be indices outside of a tensor.
    if (!ops::verify_op({graph_, op}, *told_)) throw Stop{};
    evaluate(op);
    folded_[static_cast<size_t>(at)] = true;
  }
  return true;
}

void Builder::finish() {
  graph::remove_ops(graph_, folded_);
  folded_.assign(graph_.ops.size(), false);
  producers_.clear();
  pending_.assign(graph_.tensors.size(), -1);
}

int64_t Builder::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  stop("onnx-invalid", fmt::format("axis {} is outside a tensor of rank {}", axis, rank),
       "the file is damaged; export the model again");
}

std::optional<Ints> Builder::ints(Id id) {
  if (!is_constant(id)) return std::nullopt;
  return integers_of(graph_[id]);
}

std::optional<std::vector<float>> Builder::floats(Id id) {
  if (dtype(id) != DType::kF32 || !is_constant(id)) return std::nullopt;
  return graph_[id].constant->to_vector<float>();
}

Id Builder::floats_of(const std::vector<float>& values, graph::Shape shape) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return constant(DType::kF32, std::move(shape), std::move(bytes));
}

std::optional<double> Builder::number(Id id) {
  if (!is_constant(id) || type(id).elements() != 1) return std::nullopt;
  if (dtype(id) == DType::kF32) return double{graph_[id].constant->get<float>(0)};
  auto list = integers_of(graph_[id]);
  if (!list) return std::nullopt;
  return static_cast<double>((*list)[0]);
}

Id Builder::constant(DType dtype, graph::Shape shape, std::vector<uint8_t> bytes) {
  graph::TensorType type;
  type.dtype = dtype;
  type.shape = std::move(shape);
  check_size(type);  // rules make tables of numbers in the file
  Id id = graph_.add_constant(fmt::format("{}/constant", at_.tensor), std::move(type), std::move(bytes));
  pending_.resize(graph_.tensors.size(), -1);
  return id;
}

Id Builder::int_list(const Ints& values, DType type) {
  std::vector<uint8_t> bytes;
  for (int64_t v : values)
    for (int i = 0; i < size_of(type); ++i) bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(v) >> (8 * i)));
  return constant(type, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

Id Builder::filled_int(DType type, int64_t value, const graph::Shape& shape) {
  graph::TensorType whole;
  whole.dtype = type;
  whole.shape = shape;
  check_size(whole);
  std::vector<uint8_t> one;
  if (type == DType::kF32) {
    auto real = static_cast<float>(value);
    one.resize(4);
    std::memcpy(one.data(), &real, 4);
  } else {
    for (int i = 0; i < size_of(type); ++i)
      one.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  }
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < graph::element_count(shape); ++i) bytes.insert(bytes.end(), one.begin(), one.end());
  return constant(type, shape, std::move(bytes));
}

Id Builder::filled(DType type, double value, const graph::Shape& shape) {
  if (type != DType::kF32) return filled_int(type, static_cast<int64_t>(value), shape);
  auto real = static_cast<float>(value);
  std::vector<uint8_t> bytes(static_cast<size_t>(graph::element_count(shape)) * 4);
  for (size_t at = 0; at < bytes.size(); at += 4) std::memcpy(&bytes[at], &real, 4);
  return constant(type, shape, std::move(bytes));
}

Id Builder::reshape(Id x, const graph::Shape& to) {
  if (shape(x) == to) return x;
  if (type(x).elements() == 0 && graph::element_count(to) == 0) return constant(dtype(x), to, {});
  return add("reshape", {x}, {{"shape", to}});
}

Id Builder::transpose(Id x, const Ints& order) {
  bool same = true, ones = true;
  int64_t last = -1;
  for (size_t i = 0; i < order.size(); ++i) {
    same = same && order[i] == static_cast<int64_t>(i);
    if (shape(x)[static_cast<size_t>(order[i])] == 1) continue;
    ones = ones && order[i] > last;
    last = order[i];
  }
  if (same) return x;
  if (ones) {  // only dimensions of one element move
    graph::Shape to;
    for (int64_t from : order) to.push_back(shape(x)[static_cast<size_t>(from)]);
    return reshape(x, to);
  }
  return add("transpose", {x}, {{"order", order}});
}

Id Builder::cast(Id x, DType to) { return dtype(x) == to ? x : add("cast", {x}, {}, to); }

Id Builder::slice(Id x, const Ints& begin, const Ints& counts, const Ints& strides) {
  Ints steps = strides.empty() ? Ints(begin.size(), 1) : strides;
  bool whole = counts == shape(x) && std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
  if (whole) return x;
  return add("slice", {x}, {{"begin", begin}, {"strides", steps}, {"counts", counts}, {"shape", counts}});
}

Id Builder::broadcast(Id x, const graph::Shape& to) {
  if (shape(x) == to) return x;
  return add("broadcast_to", {x}, {{"shape", to}});
}

Id Builder::copy(Id x) {
  copying_ = true;
  Id id = add("reshape", {x}, {{"shape", shape(x)}});
  copying_ = false;
  return set_element(id, element(x));
}

Id Builder::widened(std::string_view op, std::vector<Id> operands, bool truth, const std::vector<Setting>& settings) {
  const ops::Operator* definition = set_.find(op);
  DType from = dtype(operands[0]);
  auto has = [&](DType t) {
    for (const ops::TypeSupport& s : definition->types())
      if (s.dtype == t) return true;
    return false;
  };
  DType wide = from;
  bool as_is = from == DType::kF32 || (from == DType::kBool && has(from));
  if (!as_is && is_small_int(from)) wide = DType::kI32;
  if (!as_is && from == DType::kU32) wide = DType::kI64;
  if (wide == DType::kI32 && !has(wide) && has(DType::kI64)) wide = DType::kI64;
  for (Id& id : operands) id = cast(id, wide);
  Id result = add(op, operands, settings, truth ? DType::kBool : wide);
  return truth ? result : cast(result, from);
}

}  // namespace aotc::frontends::onnx
