// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace aotc::frontends::onnx {

namespace {

namespace fs = std::filesystem;

bool is_invalid(Diagnostics& told, const Location& at, std::string message) {
  told.error(at, "onnx-invalid", std::move(message)).help("the file is damaged; export the model again");
  return false;
}

bool is_outside(Diagnostics& told, const Location& at, std::string message) {
  told.error(at, "onnx-external", std::move(message))
      .help("put the data file beside the model, where the export wrote it, or export the model as one file");
  return false;
}

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<DType> dtype_of(int32_t element_type) {
  auto form = form_of(element_type);
  bool own = form && element_of(form->carrier) == element_type;
  return own ? std::optional(form->carrier) : std::nullopt;
}

int64_t bounded_bytes(const graph::Shape& shape, DType dtype) {
  int64_t bytes = size_of(dtype);
  for (int64_t d : shape) {
    if (d < 0 || d > limits::kMaxTensorBytes) return -1;
    bytes *= std::max<int64_t>(d, 1);
    if (bytes > limits::kMaxTensorBytes) return -1;
  }
  return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : bytes;
}

bool TensorReader::external(const Tensor& from, const Location& at, graph::ConstantView& data, Diagnostics& told) {
  std::string_view location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  bool good = true;
  for (const auto& [key, value] : from.external_keys) {
    if (key == "location") location = value;
    if (key != "offset" && key != "length") continue;
    auto number = number_in(value);
    good = good && number.has_value();
    if (key == "offset") offset = number.value_or(0);
    if (key == "length") length = number.value_or(0);
  }
  if (location.empty() || !good)
    return is_invalid(told, at, "external data: location, offset or length is missing or malformed");
  std::string name(location);
  std::string shown = escape_for_display(name);
  fs::path path(name);
  bool relative = path.is_relative() && name.find('\0') == std::string::npos &&
                  std::find(path.begin(), path.end(), "..") == path.end();
  if (!relative)
    return is_outside(told, at, fmt::format("the external data file '{}' is outside of the model's directory", shown));
  auto [entry, is_new] = files_.try_emplace(name);
  if (is_new) {
    std::error_code error;
    fs::path folder = fs::path(file_).parent_path();
    fs::path root = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    fs::path real = error ? fs::path() : fs::canonical(root / path, error);
    if (error) return is_outside(told, at, fmt::format("the external data file '{}' does not exist", shown));
    if (!fs::relative(real, root, error).native().compare(0, 2, "..") || error)
      return is_outside(
          told, at,
          fmt::format("the external data file '{}' is a link to a file outside of the model's directory", shown));
    auto bytes = map_file(real.string(), told);
    if (!bytes) return false;
    entry->second = std::move(*bytes);
  }
  if (!entry->second) return is_outside(told, at, fmt::format("the external data file '{}' cannot be read", shown));
  uint64_t size = entry->second->size();
  if (offset > size || (length && *length > size - offset))
    return is_outside(told, at,
                      fmt::format("the external data extends beyond the end of '{}', which has {} bytes", shown, size));
  data.owner = entry->second->owner();
  data.bytes = entry->second->bytes().subspan(offset, length ? *length : size - offset);
  return true;
}

std::map<std::string, FileBytes> TensorReader::files() const {
  std::map<std::string, FileBytes> out;
  for (const auto& [name, bytes] : files_)
    if (bytes) out.emplace(fs::path(name).lexically_normal().generic_string(), *bytes);
  return out;
}

// Numbers of a typed field as so many bytes of the type; false if they are not as many.
bool TensorReader::typed(const Tensor& from, DType stored, size_t bytes, std::vector<uint8_t>& out) const {
  auto size = static_cast<size_t>(size_of(stored));
  if (is_float(stored)) {
    for (Bytes run : stored == DType::kF32 ? from.floats : from.doubles) {
      if (run.size() > bytes - out.size()) return false;
      out.insert(out.end(), run.begin(), run.end());
    }
    return out.size() == bytes;
  }
  const Runs& runs = from.type == kUint32 || from.type == kUint64 ? from.unsigned_longs
                     : stored == DType::kI64                      ? from.longs
                                                                  : from.ints;
  for (Bytes run : runs) {
    WireReader reader(run);
    uint64_t value = 0;
    while (reader.next_varint(value)) {
      if (out.size() == bytes) return false;
      for (size_t i = 0; i < size; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
    if (reader.damaged()) return false;
  }
  return out.size() == bytes;
}

bool TensorReader::read(const Tensor& from, const Location& at, graph::TensorType& type, graph::ConstantView& value,
                        Diagnostics& told) {
  auto form = form_of(from.type);
  if (!form) {
    told.error(at, "onnx-type", fmt::format("a constant of type {} is not supported", element_type_name(from.type)))
        .help("export the model with numeric constants");
    return false;
  }
  type.dtype = form->carrier;
  type.shape = from.dims;
  int64_t bytes = bounded_bytes(type.shape, form->stored);
  if (bytes < 0 || type.shape.size() > limits::kMaxRank) {
    told.error(at, "onnx-limit",
               fmt::format("a constant of shape {} exceeds the limit for bytes or for dimensions",
                           graph::to_string(type.shape)))
        .help(fmt::format("the limits are {} bytes and {} dimensions", limits::kMaxTensorBytes, limits::kMaxRank));
    return false;
  }
  if (form->packed) bytes = (bytes + 1) / 2;
  if (from.segmented) return is_invalid(told, at, "the data is in segments, which aotc does not read");
  if (from.external) {
    if (!external(from, at, value, told)) return false;
  } else if (from.has_raw) {
    value = {bytes_.owner(), from.raw};
  } else {
    std::vector<uint8_t> own;
    if (!typed(from, form->packed ? DType::kU8 : form->stored, static_cast<size_t>(bytes), own))
      return is_invalid(told, at,
                        fmt::format("the data does not have the {} elements of the constant's shape", type.elements()));
    value = graph::own_bytes(std::move(own));
  }
  if (static_cast<int64_t>(value.bytes.size()) != bytes)
    return is_invalid(
        told, at, fmt::format("the constant has {} bytes of data, but its shape needs {}", value.bytes.size(), bytes));
  if (form->format || form->packed) {
    value = graph::own_bytes(to_carrier(*form, value.bytes.data(), type.elements()));
    return true;
  }
  bool other = form->carrier == DType::kBool &&
               std::any_of(value.bytes.begin(), value.bytes.end(), [](uint8_t b) { return b > 1; });
  if (other) {
    std::vector<uint8_t> own(value.bytes.begin(), value.bytes.end());
    for (uint8_t& b : own) b = b != 0 ? 1 : 0;
    value = graph::own_bytes(std::move(own));
  }
  return true;
}

}  // namespace aotc::frontends::onnx
