// SPDX-License-Identifier: Apache-2.0
#include "support/tvm_params.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_set>

namespace aotc::tvm {

namespace {

constexpr uint64_t kListMagic = 0xF7E58D4F05049CB7;
constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13F;
constexpr int32_t kCpu = 1;  // kDLCPU: what TVM writes, and all it reads

struct Spelling {
  std::string_view text;
  uint8_t code;
};
constexpr Spelling kSpellings[] = {
    {"int", DataType::kInt},       {"uint", DataType::kUInt},     {"float", DataType::kFloat},
    {"handle", DataType::kHandle}, {"bfloat", DataType::kBfloat}, {"bool", DataType::kBool},
};

class ParamsReader {
 public:
  ParamsReader(std::span<const uint8_t> bytes, const std::string& file, Diagnostics& diags)
      : bytes_(bytes), diags_(diags) {
    where_.file = file;
  }

  Result<std::vector<Param>> read() {
    std::vector<Param> params;
    if (!read_names(params)) return kFailure;
    size_t at = at_;
    uint64_t arrays = 0;
    if (!number(arrays, "the number of arrays")) return kFailure;
    if (arrays != params.size())
      return fail(at, fmt::format("there are {} names, but {} arrays", params.size(), arrays));
    for (Param& param : params) {
      where_.tensor = param.name;
      if (!read_array(param)) return kFailure;
    }
    where_.tensor.clear();
    if (at_ != bytes_.size()) return fail(at_, fmt::format("{} bytes follow the last array", bytes_.size() - at_));
    return params;
  }

 private:
  Failure fail(size_t at, const std::string& what) {
    diags_.error(where_, "graph-params", fmt::format("byte {}: {}", at, what))
        .help("save the parameters again with TVM's save_param_dict");
    return kFailure;
  }

  uint64_t left() const { return bytes_.size() - at_; }

  template <typename T>
  bool number(T& value, const char* what) {
    if (left() < sizeof(T)) {
      (void)fail(at_, fmt::format("the file ends within {}", what));
      return false;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(T); ++i) bits |= uint64_t{bytes_[at_ + i]} << (8 * i);
    value = static_cast<T>(bits);
    at_ += sizeof(T);
    return true;
  }

  bool magic(uint64_t expected, const char* what) {
    size_t at = at_;
    uint64_t value = 0, reserved = 0;
    if (!number(value, what)) return false;
    if (value != expected) {
      (void)fail(at, fmt::format("{} must begin with {:#018x}", what, expected));
      return false;
    }
    at = at_;
    if (!number(reserved, what)) return false;
    if (reserved != 0) (void)fail(at, fmt::format("the reserved word of {} is not 0", what));
    return reserved == 0;
  }

  bool read_names(std::vector<Param>& params) {
    if (!magic(kListMagic, "the parameters file")) return false;
    size_t at = at_;
    uint64_t count = 0;
    if (!number(count, "the number of names")) return false;
    if (count > left() / 8) {  // each name takes at least its length
      (void)fail(at, fmt::format("{} names do not fit into the {} bytes that follow", count, left()));
      return false;
    }
    std::unordered_set<std::string> seen;
    for (uint64_t i = 0; i < count; ++i) {
      at = at_;
      uint64_t length = 0;
      if (!number(length, "the length of a name")) return false;
      if (length > left()) {
        (void)fail(at, fmt::format("a name of {} bytes does not fit into the {} bytes that follow", length, left()));
        return false;
      }
      Param& param = params.emplace_back();
      auto text = bytes_.subspan(at_, length);
      param.name.assign(text.begin(), text.end());
      if (!seen.insert(param.name).second) {
        where_.tensor = param.name;
        (void)fail(at, "the name occurs twice");
        return false;
      }
      at_ += length;
    }
    return true;
  }

  bool read_array(Param& param) {
    if (!magic(kArrayMagic, "an array")) return false;
    size_t at = at_;
    int32_t device_type = 0, device_id = 0, rank = 0;
    if (!number(device_type, "an array's device") || !number(device_id, "an array's device")) return false;
    if (device_type != kCpu || device_id != 0) {
      (void)fail(at, fmt::format("an array has device {}:{}, but must have device 1:0 (CPU)", device_type, device_id));
      return false;
    }
    at = at_;
    if (!number(rank, "an array's number of dimensions")) return false;
    if (!number(param.type.code, "an array's element type") || !number(param.type.bits, "an array's element type") ||
        !number(param.type.lanes, "an array's element type"))
      return false;
    if (rank < 0 || static_cast<uint64_t>(rank) > left() / 8) {
      (void)fail(at, fmt::format("an array of {} dimensions does not fit into the {} bytes that follow", rank, left()));
      return false;
    }
    return read_data(param, static_cast<size_t>(rank));
  }

  bool read_data(Param& param, size_t rank) {
    uint64_t expected = (uint64_t{param.type.bits} * param.type.lanes + 7) / 8;
    for (size_t i = 0; i < rank; ++i) {
      size_t at = at_;
      int64_t dimension = 0;
      if (!number(dimension, "an array's shape")) return false;
      uint64_t size = static_cast<uint64_t>(dimension);
      if (dimension < 0 || (size != 0 && expected > INT64_MAX / size)) {
        (void)fail(at, fmt::format("dimension {} is {}", i, dimension));
        return false;
      }
      expected *= size;
      param.shape.push_back(dimension);
    }
    size_t at = at_;
    int64_t size = 0;
    if (!number(size, "an array's size")) return false;
    if (size < 0 || static_cast<uint64_t>(size) != expected) {
      (void)fail(at, fmt::format("an array has {} bytes, but its shape and type {} need {}", size, param.type.str(),
                                 expected));
      return false;
    }
    if (expected > left()) {
      (void)fail(at, fmt::format("the file ends within an array: {} of {} bytes", left(), expected));
      return false;
    }
    auto data = bytes_.subspan(at_, expected);
    param.bytes.assign(data.begin(), data.end());
    at_ += expected;
    return true;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  Location where_;
  Diagnostics& diags_;
};

template <typename T>
void append(std::vector<uint8_t>& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
}

}  // namespace

std::optional<DType> DataType::dtype() const {
  if (lanes != 1) return std::nullopt;
  if ((code == kUInt && bits == 1) || (code == kBool && bits == 8)) return DType::kBool;
  for (DType t : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kF32,
                  DType::kF64})
    if (of(t) == *this) return t;
  return std::nullopt;
}

DataType DataType::of(DType dtype) {
  if (dtype == DType::kBool) return {kUInt, 1, 1};
  uint8_t bits = static_cast<uint8_t>(8 * size_of(dtype));
  if (is_float(dtype)) return {kFloat, bits, 1};
  bool is_signed = int_range(dtype).min < 0;
  return {is_signed ? kInt : kUInt, bits, 1};
}

std::string DataType::str() const {
  if (*this == DataType{kUInt, 1, 1}) return "bool";
  std::string text = fmt::format("type{}_", code);
  for (const Spelling& s : kSpellings)
    if (s.code == code) text = s.text;
  text += std::to_string(bits);
  return lanes == 1 ? text : fmt::format("{}x{}", text, lanes);
}

std::optional<DataType> data_type_from_name(std::string_view name) {
  if (name == "bool") return DataType{DataType::kUInt, 1, 1};
  for (const Spelling& s : kSpellings) {
    if (!name.starts_with(s.text)) continue;
    const char* from = name.data() + s.text.size();
    const char* end = name.data() + name.size();
    DataType type{s.code, 0, 1};
    auto bits = std::from_chars(from, end, type.bits);
    if (bits.ec != std::errc() || type.bits == 0) continue;
    if (bits.ptr == end) return type;
    if (*bits.ptr != 'x') continue;
    auto lanes = std::from_chars(bits.ptr + 1, end, type.lanes);
    if (lanes.ec == std::errc() && lanes.ptr == end && type.lanes != 0) return type;
  }
  return std::nullopt;
}

Result<std::vector<Param>> read_params(std::span<const uint8_t> bytes, const std::string& file, Diagnostics& diags) {
  return ParamsReader(bytes, file, diags).read();
}

std::vector<uint8_t> write_params(std::span<const Param> params) {
  std::vector<uint8_t> out;
  append(out, kListMagic);
  append(out, uint64_t{0});
  append(out, static_cast<uint64_t>(params.size()));
  for (const Param& param : params) {
    append(out, static_cast<uint64_t>(param.name.size()));
    out.insert(out.end(), param.name.begin(), param.name.end());
  }
  append(out, static_cast<uint64_t>(params.size()));
  for (const Param& param : params) {
    append(out, kArrayMagic);
    append(out, uint64_t{0});
    append(out, kCpu);
    append(out, int32_t{0});
    append(out, static_cast<int32_t>(param.shape.size()));
    append(out, param.type.code);
    append(out, param.type.bits);
    append(out, param.type.lanes);
    for (int64_t dimension : param.shape) append(out, dimension);
    append(out, static_cast<int64_t>(param.bytes.size()));
    out.insert(out.end(), param.bytes.begin(), param.bytes.end());
  }
  return out;
}

}  // namespace aotc::tvm
