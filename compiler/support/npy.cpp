// SPDX-License-Identifier: Apache-2.0
#include "support/npy.h"

#include <cstring>

#include <fmt/format.h>

#include "support/files.h"
#include "support/text.h"

namespace aotc {

namespace {

constexpr char kMagic[] = "\x93NUMPY";

struct Code {
  const char* text;
  DType dtype;
};
constexpr Code kCodes[] = {{"|b1", DType::kBool}, {"|i1", DType::kI8},  {"|u1", DType::kU8},  {"<i2", DType::kI16},
                           {"<u2", DType::kU16},  {"<i4", DType::kI32}, {"<u4", DType::kU32}, {"<i8", DType::kI64},
                           {"<f4", DType::kF32},  {"<f8", DType::kF64}};

// Text behind "'key':" in the header's dictionary.
std::string value_of(const std::string& header, const std::string& key) {
  size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) return "";
  at = header.find(':', at);
  if (at == std::string::npos) return "";
  size_t begin = header.find_first_not_of(' ', at + 1);
  if (begin == std::string::npos) return "";
  char close = header[begin] == '(' ? ')' : header[begin] == '\'' ? '\'' : ',';
  size_t end = header.find(close, begin + 1);
  if (end == std::string::npos) return "";
  return header.substr(begin, end - begin + (close == ',' ? 0 : 1));
}

}  // namespace

Result<NpyArray> read_npy(const std::string& path, Diagnostics& diags) {
  auto bytes = read_file(path, diags);
  if (!bytes) return kFailure;
  Location where;
  where.file = path;
  auto fail = [&](const std::string& why) {
    diags.error(where, "npy-invalid", why).help("write the file with numpy.save(path, array)");
    return kFailure;
  };
  if (bytes->size() < 10 || std::memcmp(bytes->data(), kMagic, 6) != 0) return fail("the file is not a .npy file");
  bool wide = (*bytes)[6] >= 2;
  size_t start = wide ? 12 : 10;
  if (bytes->size() < start) return fail("the header is cut off");
  size_t length = (*bytes)[8] | static_cast<size_t>((*bytes)[9]) << 8;
  if (wide) length |= static_cast<size_t>((*bytes)[10]) << 16 | static_cast<size_t>((*bytes)[11]) << 24;
  if (bytes->size() - start < length) return fail("the header is cut off");
  std::string header(bytes->begin() + static_cast<long>(start), bytes->begin() + static_cast<long>(start + length));
  NpyArray out;
  std::string descr = value_of(header, "descr");
  bool known = false;
  for (const Code& c : kCodes) {
    if (descr != fmt::format("'{}'", c.text)) continue;
    out.dtype = c.dtype;
    known = true;
  }
  if (!known) return fail(fmt::format("arrays of type {} are not supported", escape_for_display(descr, 20)));
  if (value_of(header, "fortran_order") != "False")
    return fail("the array is in Fortran order; convert the array with numpy.ascontiguousarray");
  std::string shape = value_of(header, "shape");
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size();) {
    if (shape[i] < '0' || shape[i] > '9') {
      ++i;
      continue;
    }
    int64_t d = 0;
    for (; i < shape.size() && shape[i] >= '0' && shape[i] <= '9'; ++i) {
      d = d * 10 + (shape[i] - '0');
      if (d > (int64_t{1} << 31)) return fail("a dimension is too large");
    }
    out.shape.push_back(d);
    if (d != 0 && elements > (int64_t{1} << 32) / d) return fail("the array is too large");
    elements *= d;
  }
  size_t data = start + length;
  if (static_cast<int64_t>(bytes->size() - data) != elements * size_of(out.dtype))
    return fail(fmt::format("the file has {} bytes of data, but the shape needs {}",
                            with_commas(static_cast<int64_t>(bytes->size() - data)),
                            with_commas(elements * size_of(out.dtype))));
  out.bytes.assign(bytes->begin() + static_cast<long>(data), bytes->end());
  return out;
}

std::string write_npy(const NpyArray& array) {
  std::string descr = "|i1";
  for (const Code& c : kCodes)
    if (c.dtype == array.dtype) descr = c.text;
  std::string shape;
  for (int64_t d : array.shape) shape += fmt::format("{}, ", d);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out(kMagic, 6);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return out;
}

}  // namespace aotc
