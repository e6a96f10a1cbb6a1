// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/wire.h"

namespace aotc::frontends::onnx {

bool WireReader::next_varint(uint64_t& value) {
  value = 0;
  if (damaged_ || at_ == bytes_.size()) return false;
  for (int shift = 0; shift < 70 && at_ < bytes_.size(); shift += 7) {
    uint8_t byte = bytes_[at_++];
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  damaged_ = true;
  return false;
}

bool WireReader::fixed(size_t count, Field& field) {
  if (bytes_.size() - at_ < count) {
    damaged_ = true;
    return false;
  }
  field.bytes = bytes_.subspan(at_, count);
  field.value = 0;
  for (size_t i = 0; i < count; ++i) field.value |= static_cast<uint64_t>(bytes_[at_ + i]) << (8 * i);
  at_ += count;
  return true;
}

bool WireReader::next(Field& field) {
  uint64_t key = 0;
  if (!next_varint(key)) return false;
  uint64_t number = key >> 3;
  field.wire = static_cast<Wire>(key & 7);
  field.value = 0;
  if (number == 0 || number > 0x1fffffff) {
    damaged_ = true;
    return false;
  }
  field.number = static_cast<uint32_t>(number);
  if (field.wire == Wire::kFixed64) return fixed(8, field);
  if (field.wire == Wire::kFixed32) return fixed(4, field);
  size_t begin = at_;
  uint64_t value = 0;
  bool known = field.wire == Wire::kVarint || field.wire == Wire::kBytes;
  if (!known || !next_varint(value)) {
    damaged_ = true;
    return false;
  }
  if (field.wire == Wire::kVarint) {
    field.value = value;
    field.bytes = bytes_.subspan(begin, at_ - begin);
    return true;
  }
  if (value > bytes_.size() - at_) {
    damaged_ = true;
    return false;
  }
  field.bytes = bytes_.subspan(at_, static_cast<size_t>(value));
  at_ += static_cast<size_t>(value);
  return true;
}

}  // namespace aotc::frontends::onnx
