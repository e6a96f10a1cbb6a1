// SPDX-License-Identifier: Apache-2.0
#include "ops/external/given.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace aotc::ops {

namespace {

constexpr int64_t kMostGivenDimension = int64_t{1} << 31;

// The bytes of one number as `dtype`; nothing if it does not fit.
std::optional<std::vector<uint8_t>> number_bytes(const GivenNumber& number, DType dtype) {
  std::vector<uint8_t> out(static_cast<size_t>(size_of(dtype)));
  auto put = [&](auto value) { std::memcpy(out.data(), &value, sizeof value); };
  if (is_float(dtype)) {
    const double value = std::holds_alternative<double>(number) ? std::get<double>(number)
                                                                : static_cast<double>(std::get<int64_t>(number));
    if (dtype == DType::kF64) put(value);
    else put(static_cast<float>(value));
    return out;
  }
  const auto* whole = std::get_if<int64_t>(&number);
  if (whole == nullptr) return std::nullopt;
  const IntRange range = int_range(dtype);
  if (*whole < range.min || *whole > range.max) return std::nullopt;
  // Little endian, as constants are.
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(static_cast<uint64_t>(*whole) >> (8 * i));
  return out;
}

template <typename To, typename From>
std::vector<uint8_t> bytes_as(const std::vector<From>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(To));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<To>(values[i]);
    std::memcpy(&out[i * sizeof(To)], &value, sizeof(To));
  }
  return out;
}

class GivenImport : public ShapeNames {
 public:
  GivenImport(const GivenOperator& given, const GivenOptions& options, graph::Graph& graph, graph::Op& op,
              Diagnostics& diags)
      : given_(given), options_(options), graph_(graph), op_(op), diags_(diags) {}

  bool run(const std::shared_ptr<ExternalReference>& reference) {
    if (!check_tensors() || !read_attributes()) return false;
    auto attributes = std::make_shared<ExternalAttrs>();
    attributes->symbol = given_.symbol;
    attributes->convention = CallingConvention::kPlain;
    attributes->reference = reference;
    for (size_t i = 0; i < given_.results.size(); ++i)
      if (!result_shape(given_.results[i], attributes->shapes)) return false;
    std::vector<graph::TensorId> operands;
    for (const GivenParameter& parameter : given_.parameters)
      if (!pass(parameter, attributes->shapes, operands)) return false;
    op_.operands = std::move(operands);
    op_.attributes = std::move(attributes);
    return true;
  }

  std::optional<int64_t> attribute(std::string_view name) const override {
    for (size_t i = 0; i < given_.attributes.size(); ++i)
      if (given_.attributes[i].name == name)
        if (const auto* whole = std::get_if<int64_t>(&values_[i])) return *whole;
    return std::nullopt;
  }
  const graph::Shape* operand(std::string_view name) const override {
    for (size_t i = 0; i < given_.operands.size(); ++i)
      if (given_.operands[i].name == name) return &graph_[op_.operands[i]].type.shape;
    return nullptr;
  }

 private:
  Diagnostic& error(const char* slug, const std::string& message, const Location& described) {
    return diags_.error(op_.location, slug, message).note(fmt::format("{}: described here", described.str()));
  }

  bool check_tensors() {
    auto check = [&](const char* what, const std::vector<graph::TensorId>& have, const std::vector<GivenTensor>& want) {
      if (have.size() != want.size()) {
        error("op-operands",
              fmt::format("the operator has {} {}{}, its description {}", have.size(), what,
                          have.size() == 1 ? "" : "s", want.size()),
              given_.where)
            .help("describe all of them, in the order of the model");
        return false;
      }
      for (size_t i = 0; i < have.size(); ++i)
        if (!check_tensor(what, i, have[i], want[i])) return false;
      return true;
    };
    return check("operand", op_.operands, given_.operands) && check("result", op_.results, given_.results);
  }

  bool check_tensor(const char* what, size_t i, graph::TensorId id, const GivenTensor& want) {
    if (!id.valid()) {
      error("op-operands", fmt::format("{} {} ('{}') is left out in the model", what, i, want.name), want.where)
          .help("a function in C takes all of its operands: give the model a constant in its place");
      return false;
    }
    const graph::Tensor& tensor = graph_[id];
    if (tensor.type.dtype == want.dtype) return true;
    error("op-type",
          fmt::format("{} {} '{}' is {} in the model, its description says {}", what, i,
                      escape_for_display(tensor.name), c_type_of(tensor.type.dtype), c_type_of(want.dtype)),
          want.where)
        .help("describe it as the model has it, and let the function take that");
    return false;
  }

  bool read_attributes() {
    for (const GivenAttribute& a : given_.attributes) {
      auto value = options_.number(a.name);
      if (!value) value = a.preset;
      if (!value) {
        error("op-attribute", fmt::format("the model gives no number '{}'", escape_for_display(a.name)), a.where)
            .help("call it as the model's custom options do, or give it a \"default\"");
        return false;
      }
      if (!number_bytes(*value, a.dtype)) {
        error("op-attribute",
              fmt::format("'{}' is {}, which is no {}", escape_for_display(a.name),
                          std::visit([](auto v) { return fmt::format("{}", v); }, *value), c_type_of(a.dtype)),
              a.where)
            .help("describe it by a type that holds it");
        return false;
      }
      values_.push_back(*value);
    }
    return true;
  }

  // Appends rank and dimensions.
  bool result_shape(const GivenTensor& result, std::vector<int64_t>& shapes) {
    graph::Shape shape;
    if (!result.like.empty()) shape = *operand(result.like);
    for (const auto& [expression, where] : result.shape) {
      std::string problem;
      auto value = dimension_of(expression, *this, problem);
      if (value && (*value < 1 || *value > kMostGivenDimension))
        problem = fmt::format("it is {}, and a dimension is at least 1", *value);
      if (!problem.empty()) {
        error("op-shape",
              fmt::format("dimension '{}' of '{}': {}", escape_for_display(expression), escape_for_display(result.name),
                          problem),
              where)
            .help("see \"shape\" in docs/custom-operators.md");
        return false;
      }
      shape.push_back(*value);
    }
    shapes.push_back(static_cast<int64_t>(shape.size()));
    shapes.insert(shapes.end(), shape.begin(), shape.end());
    return true;
  }

  graph::TensorId add(const std::string& name, DType dtype, std::vector<uint8_t> bytes) {
    graph::Tensor tensor;
    tensor.name = fmt::format("{} of {}", name, op_.location.tensor);
    tensor.type.dtype = dtype;
    tensor.type.shape = {static_cast<int64_t>(bytes.size()) / size_of(dtype)};
    tensor.constant = graph::own_bytes(std::move(bytes));
    return graph_.add_tensor(std::move(tensor));
  }

  bool pass(const GivenParameter& p, const std::vector<int64_t>& shapes, std::vector<graph::TensorId>& operands) {
    using What = GivenParameter::What;
    if (p.what == What::kAttribute) {
      const GivenAttribute& a = given_.attributes[p.index];
      operands.push_back(add(a.name, a.dtype, *number_bytes(values_[p.index], a.dtype)));
      return true;
    }
    if (p.what == What::kOptions) {
      const auto bytes = options_.bytes;
      std::vector<uint8_t> copy(std::max<size_t>(bytes.size(), 1));  // C has no empty tables
      std::copy(bytes.begin(), bytes.end(), copy.begin());
      operands.push_back(add("options", DType::kU8, std::move(copy)));
      return true;
    }
    const GivenTensor& described = (p.of_result ? given_.results : given_.operands)[p.index];
    const graph::TensorId id = (p.of_result ? op_.results : op_.operands)[p.index];
    if (p.what == What::kTensor) {
      operands.push_back(id);
      return true;
    }
    if (p.what == What::kShape) {
      graph::Shape shape = graph_[id].type.shape;
      if (p.of_result) shape = shape_of_result(p.index, shapes);
      if (shape.empty()) shape.push_back(1);  // a scalar
      operands.push_back(add(described.name + ".shape", DType::kI32, bytes_as<int32_t>(shape)));
      return true;
    }
    const graph::Quantization& q = graph_[id].type.quantization;
    if (!q.present()) {
      error("op-quantization", fmt::format("'{}' has no scale in the model", escape_for_display(described.name)),
            given_.where)
          .help("take .scale and .zero_point of it out of \"parameters\"");
      return false;
    }
    if (p.what == What::kScale)
      operands.push_back(add(described.name + ".scale", DType::kF32, bytes_as<float>(q.scale)));
    else operands.push_back(add(described.name + ".zero_point", DType::kI32, bytes_as<int32_t>(q.zero_point)));
    return true;
  }

  static graph::Shape shape_of_result(size_t index, const std::vector<int64_t>& shapes) {
    size_t at = 0;
    for (size_t i = 0; i < index; ++i) at += 1 + static_cast<size_t>(shapes[at]);
    const auto begin = shapes.begin() + static_cast<int64_t>(at) + 1;
    return {begin, begin + shapes[at]};
  }

  const GivenOperator& given_;
  const GivenOptions& options_;
  graph::Graph& graph_;
  graph::Op& op_;
  Diagnostics& diags_;
  std::vector<GivenNumber> values_;  // of the attributes
};

}  // namespace

const GivenOperator* GivenOperators::find(std::string_view name) const {
  auto found = std::find_if(list.begin(), list.end(), [&](const GivenOperator& o) { return o.name == name; });
  return found == list.end() ? nullptr : &*found;
}

Status import_given(const GivenOperator& given, const GivenOptions& options,
                    const std::shared_ptr<ExternalReference>& reference, graph::Graph& graph, graph::Op& op,
                    Diagnostics& diags) {
  return GivenImport(given, options, graph, op, diags).run(reference) ? success() : Status(kFailure);
}

}  // namespace aotc::ops
