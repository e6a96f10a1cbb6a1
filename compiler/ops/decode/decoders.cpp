// SPDX-License-Identifier: Apache-2.0
#include "ops/decode/decoders.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace aotc::ops {

namespace {

using Problem = std::optional<std::string>;

constexpr size_t kHead = 16;
constexpr int kLookup = 0, kHuffman = 1, kPruned = 2, kUsers = 127;

// Reads bits, the highest of each byte first. Behind the end there are zeros.
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t take(size_t count) {
    uint32_t out = 0;
    for (size_t i = 0; i < count; ++i, ++at_) {
      const bool set = at_ / 8 < bytes_.size() && (bytes_[at_ / 8] >> (7 - at_ % 8) & 1) != 0;
      out = out << 1 | (set ? 1u : 0u);
    }
    return out;
  }
  void put_back(size_t count) { at_ -= std::min(count, at_); }
  size_t at() const { return at_; }
  bool outside() const { return at_ > bytes_.size() * 8; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// To which slice of its quantisation an element of the result belongs.
class Channels {
 public:
  explicit Channels(const graph::TensorType& type) {
    const graph::Quantization& q = type.quantization;
    count_ = std::max<size_t>(q.scale.size(), 1);
    if (count_ == 1) return;
    last_ = static_cast<size_t>(q.axis) + 1 == type.shape.size();
    known_ = last_ || q.axis == 0;
    each_ = std::max<size_t>(static_cast<size_t>(type.elements()) / count_, 1);
  }
  size_t count() const { return count_; }
  bool known() const { return known_; }
  size_t of(size_t element) const {
    if (count_ == 1) return 0;
    return last_ ? element % count_ : std::min(element / each_, count_ - 1);
  }

 private:
  size_t count_ = 1, each_ = 1;
  bool last_ = false, known_ = true;
};

Problem unpack_lookup(const Packed& p, std::span<uint8_t> out) {
  const size_t width = p.how[5] & 7, stride = p.how[6];
  const size_t bytes = static_cast<size_t>(size_of(p.type->dtype)), count = out.size() / bytes;
  const std::span<const uint8_t> table = p.how.subspan(kHead);
  const Channels channels(*p.type);
  if (width == 0) return "indices of 0 bits";
  if (!channels.known()) return "its quantisation is neither along the first dimension nor along the last";
  if (p.data.size() * 8 / width < count)
    return fmt::format("{} bytes hold fewer than {} indices of {} bits", p.data.size(), count, width);
  BitReader bits(p.data);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (channels.of(i) * stride + bits.take(width)) * bytes;
    if (at + bytes > table.size()) return fmt::format("element {} is outside of the table of values", i);
    std::memcpy(out.data() + i * bytes, table.data() + at, bytes);
  }
  return {};
}

Problem unpack_pruned(const Packed& p, std::span<uint8_t> out) {
  const size_t bytes = static_cast<size_t>(size_of(p.type->dtype)), count = out.size() / bytes;
  const std::span<const uint8_t> values = p.how.subspan(kHead);
  const std::vector<int64_t>& zeros = p.type->quantization.zero_point;
  const Channels channels(*p.type);
  if (!channels.known()) return "its quantisation is neither along the first dimension nor along the last";
  const bool shifted = std::any_of(zeros.begin(), zeros.end(), [](int64_t z) { return z != 0; });
  if (shifted && p.type->dtype != DType::kI8) return "zero points other than 0 of a type that is not int8";
  if (p.data.size() * 8 < count) return fmt::format("{} bytes are no mask of {} elements", p.data.size(), count);
  BitReader mask(p.data);
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (mask.take(1) == 0) {
      const size_t channel = zeros.size() > 1 ? channels.of(i) : 0;
      const int64_t zero = channel < zeros.size() ? zeros[channel] : 0;
      std::memset(out.data() + i * bytes, static_cast<int>(static_cast<uint8_t>(zero)), bytes);
      continue;
    }
    if (at + bytes > values.size()) return fmt::format("there is no value for element {}", i);
    std::memcpy(out.data() + i * bytes, values.data() + at, bytes);
    at += bytes;
  }
  return {};
}

// An entry: found, 4 bits of count, value. Where it is found, the value is the symbol and the count the
// bits of those taken last that belong to it; else the value is how far the next table is.
struct HuffmanTable {
  std::span<const uint8_t> bytes;
  bool wide = false;

  std::optional<uint32_t> entry(size_t i) const {
    const size_t width = wide ? 4 : 2;
    if (i >= bytes.size() / width) return std::nullopt;
    uint32_t out = 0;
    for (size_t b = 0; b < width; ++b) out |= uint32_t{bytes[i * width + b]} << (8 * b);
    return out;
  }
  bool found(uint32_t entry) const { return (entry >> (wide ? 31 : 15) & 1) != 0; }
  size_t count(uint32_t entry) const { return entry >> (wide ? 27 : 11) & 15; }
  size_t value(uint32_t entry) const { return entry & (wide ? 0x07FFFFFFu : 0x07FFu); }
};

// One symbol; nothing where the tables lead outside or the bits end.
std::optional<uint32_t> huffman_symbol(const HuffmanTable& table, size_t first_bits, BitReader& bits) {
  const size_t begin = bits.at();
  size_t last = first_bits, place = bits.take(first_bits);
  std::optional<uint32_t> entry = table.entry(place);
  while (entry && !table.found(*entry)) {
    if (bits.outside()) return std::nullopt;
    last = table.count(*entry) + 1;
    place += table.value(*entry) + bits.take(last);
    entry = table.entry(place);
  }
  if (!entry) return std::nullopt;
  const size_t used = table.count(*entry);
  if (last > used) bits.put_back(last - used);
  if (bits.outside() || bits.at() <= begin) return std::nullopt;
  return entry;
}

Problem unpack_huffman(const Packed& p, std::span<uint8_t> out) {
  const HuffmanTable table{p.how.subspan(kHead), (p.how[5] & 1) != 0};
  const DType type = p.type->dtype;
  if (type != DType::kI8 && !(type == DType::kI16 && table.wide))
    return "Huffman codes are of int8, or with tables of 32 bits of int16";
  const size_t bytes = type == DType::kI8 ? 1 : 2;
  BitReader bits(p.data);
  for (size_t at = 0; at < out.size(); at += bytes) {
    auto symbol = huffman_symbol(table, (p.how[5] >> 4) + size_t{1}, bits);
    if (!symbol) return fmt::format("the code of element {} leads outside", at / bytes);
    for (size_t b = 0; b < bytes; ++b) out[at + b] = static_cast<uint8_t>(*symbol >> (8 * b));
  }
  return {};
}

}  // namespace

std::optional<std::string> decode_packed(const Packed& p, std::span<uint8_t> out) {
  if (p.how.size() < kHead) return fmt::format("{} bytes say how, it takes {}", p.how.size(), kHead);
  const int kind = p.how[0];
  if (p.how[1] != 1) return fmt::format("version {} of the format is not known", p.how[1]);
  if (kind == kUsers) return "it is packed in a way of its own (127), which only its maker knows";
  if (kind != kLookup && kind != kHuffman && kind != kPruned)
    return fmt::format("way {} of packing is not known", kind);
  if (p.how[4] != 1) return fmt::format("version {} of way {} is not known", p.how[4], kind);
  if (kind == kLookup) return unpack_lookup(p, out);
  return kind == kPruned ? unpack_pruned(p, out) : unpack_huffman(p, out);
}

}  // namespace aotc::ops
