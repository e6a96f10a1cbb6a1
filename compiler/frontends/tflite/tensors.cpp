// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "frontends/tflite/sparse.h"
#include "support/numerics.h"

namespace aotc::frontends {

namespace {

using graph::Shape;
namespace schema = tflite_schema;

std::optional<DType> dtype_of(schema::TensorType type) {
  switch (type) {
    case schema::TensorType_FLOAT32: return DType::kF32;
    case schema::TensorType_INT8: return DType::kI8;
    case schema::TensorType_UINT8: return DType::kU8;
    case schema::TensorType_INT16: return DType::kI16;
    case schema::TensorType_INT32: return DType::kI32;
    case schema::TensorType_UINT32: return DType::kU32;
    case schema::TensorType_INT64: return DType::kI64;
    case schema::TensorType_BOOL: return DType::kBool;
    case schema::TensorType_INT4: return DType::kI4;
    default: return std::nullopt;
  }
}

std::string type_name(schema::TensorType type) {
  const char* name = schema::EnumNameTensorType(type);
  return *name != '\0' ? name : fmt::format("{}", static_cast<int>(type));
}

// "1x?x3": unknown dimensions as question marks.
std::string signature_text(const schema::Tensor& raw) {
  std::string out;
  for (uint32_t i = 0; i < raw.shape_signature()->size(); ++i) {
    int32_t d = raw.shape_signature()->Get(i);
    out += (i > 0 ? "x" : "") + (d < 0 ? "?" : std::to_string(d));
  }
  return out;
}

bool has_signature(const schema::Tensor& raw) {
  return raw.shape_signature() != nullptr && length(raw.shape_signature()) == length(raw.shape());
}

// What to do about an element type that aotc does not compute with.
std::vector<const char*> helps_for(schema::TensorType type) {
  switch (type) {
    case schema::TensorType_FLOAT16:
      return {
          "float16 is supported only for weights that a DEQUANTIZE converts to float32: "
          "convert the model without float16 inputs, outputs and activations"};
    case schema::TensorType_UINT4:
    case schema::TensorType_INT2: return {"convert the model with weights of 8 bits (full integer quantisation)"};
    case schema::TensorType_UINT64:
      return {"uint64 is supported only between SignalFilterBank and SignalFilterBankSquareRoot"};
    case schema::TensorType_STRING:
      return {
          "strings are not supported: convert text to numbers in your own code, and export only the part of the model "
          "that follows this step"};
    case schema::TensorType_RESOURCE:
    case schema::TensorType_VARIANT:
      return {"export the model without TensorFlow's variables and tables, or with its state as inputs and outputs"};
    default: return {"convert the model to int8 (full integer quantisation) or to float32"};
  }
}

class TensorReader {
 public:
  TensorReader(Source& source, graph::Graph& graph) : source_(source), graph_(graph) {}

  // The id of the tensor, invalid after an error.
  graph::TensorId read(int index, Role role);
  bool failed() const { return failed_; }
  // One error for each unsupported element type, whatever the number of tensors.
  void report_types();
  // One warning for all tensors whose quantised dimension was put right.
  void report_axes();
  // One for all constants that were float16.
  void report_halves();

 private:
  bool check_supported(const schema::Tensor& raw, Role role, const Location& at);
  bool read_shape(int index, Role role, const Location& at, Shape& shape);
  void refuse_open(const schema::Tensor& raw, uint32_t dim, const Location& at);
  bool read_quantization(const schema::Tensor& raw, Role role, const Location& at, graph::TensorType& type);
  bool check_scales(const Location& at, const graph::TensorType& type);
  bool is_weight_of_halves(const schema::Tensor& raw, Role role) const;
  bool widen(const Location& at, Role role, graph::Tensor& tensor);
  bool unpack(const schema::Tensor& raw, const Location& at, graph::Tensor& tensor);
  bool read_constant(const schema::Tensor& raw, Role role, const Location& at, graph::Tensor& tensor);
  Diagnostic& error(const Location& at, const char* slug, std::string message) {
    failed_ = true;
    return source_.diags->error(at, slug, std::move(message));
  }
  bool take(Budget& budget, uint64_t bytes, const Location& at) {
    if (budget.take(bytes)) return true;
    failed_ = true;
    report_aliasing(*source_.diags, at);
    return false;
  }

  struct BadType {
    std::string first;
    int count = 0;
  };
  Source& source_;
  graph::Graph& graph_;
  std::map<schema::TensorType, BadType> bad_types_;
  int odd_axes_ = 0;
  int64_t halves_ = 0, half_bytes_ = 0;
  Location first_odd_axis_;
  bool failed_ = false;
};

graph::TensorId TensorReader::read(int index, Role role) {
  const schema::Tensor& raw = *source_.subgraph->tensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
  graph::Tensor tensor;
  tensor.name = tensor_name(*source_.subgraph, index);
  Location at = source_.where_tensor(tensor.name);
  if (!take(source_.copies, tensor.name.size(), at)) return {};

  std::optional<DType> dtype = dtype_of(raw.type());
  const bool half = is_weight_of_halves(raw, role);
  if (half) dtype = DType::kF32;
  const bool elsewhere = role.input || role.output || role.operand || role.result;
  if (raw.type() == schema::TensorType_UINT64 && role.word && !elsewhere) dtype = DType::kI64;
  if (!dtype) {
    BadType& bad = bad_types_[raw.type()];
    if (bad.count++ == 0) bad.first = tensor.name;
    failed_ = true;
    return {};
  }
  tensor.type.dtype = *dtype;
  if (!check_supported(raw, role, at) || !read_shape(index, role, at, tensor.type.shape)) return {};
  if (bounded_bytes(tensor.type.shape, *dtype) < 0) {
    error(at, "tflite-limit",
          fmt::format("a {} tensor of shape {} is larger than {} bytes", type_name(raw.type()),
                      graph::to_string(tensor.type.shape), limits::kMaxTensorBytes))
        .help("the file may be damaged; no microcontroller has room for a tensor of this size");
    return {};
  }
  if (!read_quantization(raw, role, at, tensor.type) || !check_scales(at, tensor.type) ||
      !read_constant(raw, role, at, tensor) || (half && !widen(at, role, tensor)) ||
      (*dtype == DType::kI4 && !unpack(raw, at, tensor))) {
    return {};
  }
  if (role.state && (tensor.constant || role.input || role.result)) {
    error(at, "tflite-invalid", "a variable tensor must not have data, and must not be an input or a result")
        .help(kDamaged);
    return {};
  }
  // A result's shape may be settled by its operator yet.
  if (!tensor.constant && tensor.type.bytes() == 0 && !role.result) {
    failed_ = true;
    report_empty(*source_.diags, at, tensor.type.shape);
    return {};
  }
  return graph_.add_tensor(std::move(tensor));
}

void TensorReader::report_types() {
  for (const auto& [type, bad] : bad_types_) {
    Diagnostic& d = source_.diags->error(source_.where_tensor(bad.first), "tflite-dtype",
                                         fmt::format("element type {} is not supported", type_name(type)));
    if (bad.count > 1) {
      d.note(fmt::format("{} more tensor{} of this type", bad.count - 1, bad.count > 2 ? "s" : ""));
    }
    for (const char* help : helps_for(type)) d.help(help);
  }
}

void TensorReader::report_axes() {
  if (odd_axes_ == 0) return;
  Diagnostic& d = source_.diags->warning(
      first_odd_axis_, "quantized-dimension",
      "the tensor has one dimension but is quantised along another; aotc reads it as quantised along dimension 0");
  if (odd_axes_ > 1) d.note(fmt::format("{} more tensor{}", odd_axes_ - 1, odd_axes_ > 2 ? "s" : ""));
}

void TensorReader::report_halves() {
  if (halves_ == 0) return;
  source_.diags
      ->warning(source_.where(), "float16-weights",
                fmt::format("the model's weights are float16 ({} tensor{}, {} bytes) and become float32", halves_,
                            halves_ > 1 ? "s" : "", half_bytes_))
      .help("for smaller weights, quantise the model to int8: int8 weights take a quarter of the bytes");
}

bool TensorReader::check_supported(const schema::Tensor& raw, Role role, const Location& at) {
  if (raw.is_variable() && !role.state && !role.kept) {
    error(at, "tflite-variable",
          "the tensor is a variable (state between runs), but aotc supports no state for its operator")
        .help("export the model with its state as inputs and outputs");
  } else if (raw.external_buffer() != 0) {
    error(at, "tflite-external", "the tensor's data is in another file")
        .help("export the model with its weights inside the .tflite file");
  } else {
    return true;
  }
  return false;
}

// An input whose dimension `dim` the file leaves open: the user has to say.
void TensorReader::refuse_open(const schema::Tensor& raw, uint32_t dim, const Location& at) {
  std::string example;
  for (uint32_t i = 0; i < raw.shape_signature()->size(); ++i) {
    int32_t d = raw.shape_signature()->Get(i);
    example += (i > 0 ? "," : "") + (d >= 0 ? std::to_string(d) : i == 0 ? "1" : "N");
  }
  error(at, "dynamic-shape", fmt::format("dimension {} of the input is not fixed (shape {})", dim, signature_text(raw)))
      .help(fmt::format("give a size for each N: --shape '{}={}'", escape_for_display(at.tensor), example))
      .help("or export the model with a fixed input shape; only the batch may stay open");
}

bool TensorReader::read_shape(int index, Role role, const Location& at, Shape& shape) {
  const schema::Tensor& raw = *source_.subgraph->tensors()->Get(static_cast<uint32_t>(index));
  if (auto given = source_.shapes.find(index); given != source_.shapes.end()) {
    shape = given->second;
    return true;
  }
  size_t rank = length(raw.shape());
  if (rank > limits::kMaxRank) {
    error(at, "tflite-shape", fmt::format("the tensor has {} dimensions, but the limit is {}", rank, limits::kMaxRank))
        .help("merge dimensions of size 1 with a reshape before the export");
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t dim = raw.shape()->Get(i);
    bool unknown = has_signature(raw) && raw.shape_signature()->Get(i) < 0;
    if (i > 0 && unknown && role.input) {
      refuse_open(raw, i, at);
      return false;
    }
    // Open dimensions of results are settled by their operators.
    if ((i == 0 || role.result) && (dim == -1 || (unknown && dim < 1))) dim = 1;
    if (dim < 0) {
      error(at, "tflite-shape", fmt::format("dimension {} is {}", i, dim))
          .help("export the model with a fixed input shape");
      return false;
    }
    shape.push_back(dim);
  }
  return true;
}

bool TensorReader::read_quantization(const schema::Tensor& raw, Role role, const Location& at,
                                     graph::TensorType& type) {
  const auto* from = raw.quantization();
  // Scales of blocks are operands of what reads them.
  if (from == nullptr || (role.blocks && block_scales(raw))) return true;
  auto bad = [&](std::string message) {
    error(at, "tflite-quantization", std::move(message))
        .help("convert the model again; LiteRT refuses this quantisation as well");
    return false;
  };
  if (from->details_type() != schema::QuantizationDetails_NONE) {
    error(at, "tflite-quantization",
          "only affine quantisation, per tensor or per channel, is "
          "supported")
        .help(
            "quantise the model to int8 without custom schemes; only int4 weights of a FULLY_CONNECTED may have "
            "float16 scales for blocks of their rows");
    return false;
  }
  size_t count = length(from->scale());
  // Float tensors keep what calibration noted; it means nothing to their operators.
  if (count == 0 || !is_int(type.dtype)) return true;
  const size_t zeros = length(from->zero_point());
  if (zeros != count && zeros != 1) {
    return bad(fmt::format("the tensor has {} scales, but {} zero points", count, zeros));
  }
  if (count > 1) {
    int axis = from->quantized_dimension();
    // Some converters give a bias the dimension of its weights; with as many scales as elements it
    // can only mean its own.
    if (axis > 0 && type.shape.size() == 1 && type.shape[0] == static_cast<int64_t>(count)) {
      if (odd_axes_++ == 0) first_odd_axis_ = at;
      axis = 0;
    }
    if (axis < 0 || static_cast<size_t>(axis) >= type.shape.size()) {
      return bad(fmt::format("the tensor is quantised along dimension {}, but has rank {}", axis, type.shape.size()));
    }
    if (type.shape[static_cast<size_t>(axis)] != static_cast<int64_t>(count)) {
      return bad(fmt::format("the tensor has {} scales for {} channels (dimension {} of shape {})", count,
                             type.shape[static_cast<size_t>(axis)], axis, graph::to_string(type.shape)));
    }
    type.quantization.axis = axis;
  }
  if (!take(source_.copies, count * 12, at)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    type.quantization.scale.push_back(from->scale()->Get(i));
    // One zero point is that of all channels.
    type.quantization.zero_point.push_back(unaligned_element(*from->zero_point(), zeros == 1 ? 0 : i));
  }
  return true;
}

// Scale 0 is what calibration gives a tensor that was always zero; the operators say whether they take it.
bool TensorReader::check_scales(const Location& at, const graph::TensorType& type) {
  const graph::Quantization& q = type.quantization;
  for (size_t i = 0; i < q.scale.size(); ++i) {
    IntRange range = int_range(type.dtype);
    if (!std::isfinite(q.scale[i]) || q.scale[i] < 0) {
      error(at, "tflite-quantization", fmt::format("scale {} is {}, but must be at least 0 and finite", i, q.scale[i]))
          .help("convert the model again with representative calibration data");
      return false;
    }
    if (q.zero_point[i] < range.min || q.zero_point[i] > range.max) {
      error(at, "tflite-quantization",
            fmt::format("zero point {} is {}, but must be from {} to {}", i, q.zero_point[i], range.min, range.max))
          .help("the file may be damaged; convert the model again");
      return false;
    }
  }
  return true;
}

// Float16 with data that nothing but a DEQUANTIZE reads.
bool TensorReader::is_weight_of_halves(const schema::Tensor& raw, Role role) const {
  const auto* buffers = source_.model->buffers();
  return raw.type() == schema::TensorType_FLOAT16 && (role.widened || role.scales) && !role.operand && !role.input &&
         !role.output && !role.result && raw.buffer() < length(buffers) &&
         length(buffers->Get(raw.buffer())->data()) > 0;
}

// Float32 of the float16 constant.
bool TensorReader::widen(const Location& at, Role role, graph::Tensor& tensor) {
  if (!take(source_.copies, static_cast<uint64_t>(tensor.type.bytes()), at)) return false;
  std::vector<uint8_t> wide(static_cast<size_t>(tensor.type.bytes()));
  for (size_t i = 0; i < wide.size() / sizeof(float); ++i) {
    float value = half_to_float(tensor.constant->get<uint16_t>(static_cast<int64_t>(i)));
    std::memcpy(wide.data() + i * sizeof(float), &value, sizeof(float));
  }
  if (role.widened) {
    ++halves_;
    half_bytes_ += static_cast<int64_t>(wide.size()) / 2;
  }
  tensor.constant = graph::own_bytes(std::move(wide));
  return true;
}

// A byte for each element of the int4 constant, of which the file has two in a byte, low half first.
bool TensorReader::unpack(const schema::Tensor& raw, const Location& at, graph::Tensor& tensor) {
  if (!tensor.constant) {
    error(at, "tflite-dtype", fmt::format("a tensor of type {} has no constant data", type_name(raw.type())))
        .help("int4 is supported only for weights: convert the model with int8 activations");
    return false;
  }
  if (!take(source_.copies, static_cast<uint64_t>(tensor.type.bytes()), at)) return false;
  std::vector<uint8_t> wide(static_cast<size_t>(tensor.type.bytes()));
  for (size_t i = 0; i < wide.size(); ++i) {
    int nibble = tensor.constant->bytes[i / 2] >> (i % 2 * 4) & 15;
    wide[i] = static_cast<uint8_t>((nibble ^ 8) - 8);
  }
  tensor.constant = graph::own_bytes(std::move(wide));
  return true;
}

bool TensorReader::read_constant(const schema::Tensor& raw, Role role, const Location& at, graph::Tensor& tensor) {
  const auto* buffers = source_.model->buffers();
  if (raw.buffer() >= std::max<size_t>(length(buffers), 1)) {
    error(at, "tflite-invalid",
          fmt::format("the tensor's data is buffer {}, but the file has {} buffers, numbered from 0", raw.buffer(),
                      length(buffers)))
        .help(kDamaged);
    return false;
  }
  const schema::Buffer* buffer = raw.buffer() < length(buffers) ? buffers->Get(raw.buffer()) : nullptr;
  if (buffer != nullptr && (buffer->offset() > 1 || buffer->size() > 1)) {
    error(at, "tflite-external", "the tensor's data is outside of the FlatBuffer")
        .help("export the model with its weights inside the FlatBuffer (files under 2 GB)");
    return false;
  }
  size_t size = buffer == nullptr ? 0 : length(buffer->data());
  bool computed = role.input || role.result;
  if (raw.sparsity() != nullptr && (size == 0 || computed || tensor.type.dtype == DType::kI4)) {
    error(at, "tflite-sparse", "only constants of whole bytes may be sparse")
        .help("export the model with dense weights");
    return false;
  }
  if (size == 0 && (computed || tensor.type.bytes() > 0)) return true;
  if (computed) {
    error(
        at, "tflite-invalid",
        role.input ? "an input of the model has constant data" : "a tensor that an operator computes has constant data")
        .help("the file may be damaged; export the model again");
    return false;
  }
  const bool half = raw.type() == schema::TensorType_FLOAT16;
  const int64_t all = tensor.type.bytes();
  const int64_t wanted = half ? all / 2 : tensor.type.dtype == DType::kI4 ? (all + 1) / 2 : all;
  if (raw.sparsity() != nullptr) {
    // A quarter, so that one element in 32 may be there.
    if (!take(source_.copies, static_cast<uint64_t>(wanted) / 4, at)) return false;
    auto dense = densified(*raw.sparsity(), tensor.type.shape, half ? 2 : size_of(tensor.type.dtype),
                           {buffer->data()->data(), size});
    if (!dense) {
      error(at, "tflite-sparse", "the sparse encoding does not match the tensor's shape and data").help(kDamaged);
      return false;
    }
    tensor.constant = graph::own_bytes(std::move(*dense));
    return true;
  }
  if (static_cast<int64_t>(size) != wanted) {
    error(at, "tflite-invalid",
          fmt::format("there are {} bytes of data for shape {} of {}, expected {}", size,
                      graph::to_string(tensor.type.shape), type_name(raw.type()), wanted))
        .help(kDamaged);
    return false;
  }
  tensor.constant = graph::ConstantView{source_.bytes.owner(), {}};
  if (size > 0) tensor.constant->bytes = {buffer->data()->data(), size};
  return true;
}

}  // namespace

std::optional<BlockScales> block_scales(const schema::Tensor& raw) {
  const auto* from = raw.quantization();
  const auto* blocks = from == nullptr ? nullptr : from->details_as_BlockwiseQuantization();
  if (blocks == nullptr || raw.type() != schema::TensorType_INT4 || length(raw.shape()) != 2 ||
      length(blocks->block_shape()) != 0 || blocks->block_size() < 2)
    return std::nullopt;
  return BlockScales{blocks->scales(), blocks->zero_points(), blocks->block_size()};
}

int64_t bounded_bytes(const Shape& shape, DType dtype) {
  // Zero dimensions count as one here, so that no order of multiplication overflows anywhere else.
  int64_t largest = size_of(dtype);
  int64_t bytes = size_of(dtype);
  for (int64_t dim : shape) {
    if (dim < 0 || dim > limits::kMaxTensorBytes) return -1;
    largest *= std::max<int64_t>(dim, 1);
    if (largest > limits::kMaxTensorBytes) return -1;
    bytes *= dim;
  }
  return bytes;
}

bool shape_may_become(const schema::Tensor& raw, const Shape& stored, const Shape& inferred) {
  // Nothing is known of the shape, or it is a scalar's: older converters write both the same.
  if (stored.empty() && !raw.has_rank()) return true;
  if (stored.size() != inferred.size()) return false;
  for (uint32_t i = 0; i < stored.size(); ++i) {
    // A shape that the caller gave may have more dimensions than the file's.
    bool unknown = i < length(raw.shape()) &&
                   (raw.shape()->Get(i) < 0 || (has_signature(raw) && raw.shape_signature()->Get(i) < 0));
    if (stored[i] != inferred[i] && !unknown) return false;
  }
  return true;
}

Status read_tensors(Source& source, const std::vector<Role>& roles, graph::Graph& graph,
                    std::vector<graph::TensorId>& ids) {
  TensorReader reader(source, graph);
  ids.assign(roles.size(), {});
  for (size_t i = 0; i < roles.size() && !source.out_of_patience(); ++i) {
    if (roles[i].any()) ids[i] = reader.read(static_cast<int>(i), roles[i]);
  }
  reader.report_types();
  reader.report_axes();
  reader.report_halves();
  return reader.failed() || source.out_of_patience() ? Status(kFailure) : success();
}

}  // namespace aotc::frontends
