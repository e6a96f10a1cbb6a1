// SPDX-License-Identifier: Apache-2.0
#include "rpc/packet.h"

#include "support/crc32.h"

namespace aotc::rpc {

namespace {

// More than any packet: what comes without a zero for so long is noise.
constexpr size_t kLongestFrame = 70000;

// Empty if the frame is none.
std::vector<uint8_t> cobs_decode(std::span<const uint8_t> frame) {
  std::vector<uint8_t> out;
  for (size_t at = 0; at < frame.size();) {
    size_t block = frame[at];
    if (at + block > frame.size()) return {};
    out.insert(out.end(), frame.begin() + static_cast<ptrdiff_t>(at) + 1,
               frame.begin() + static_cast<ptrdiff_t>(at + block));
    at += block;
    if (block != 0xFF && at < frame.size()) out.push_back(0);
  }
  return out;
}

std::optional<Packet> parse(std::span<const uint8_t> bytes) {
  if (bytes.size() < AOTC_RPC_OVERHEAD_BYTES) return std::nullopt;
  const size_t checked = bytes.size() - AOTC_RPC_CHECK_BYTES;
  Reader check(bytes.subspan(checked));
  if (crc32(bytes.first(checked)) != check.number(4)) return std::nullopt;
  Reader header(bytes);
  Packet out;
  out.version = static_cast<uint8_t>(header.number(1));
  out.type = static_cast<uint8_t>(header.number(1));
  out.sequence = static_cast<uint16_t>(header.number(2));
  out.session = static_cast<uint32_t>(header.number(4));
  if (header.number(2) != checked - AOTC_RPC_HEADER_BYTES) return std::nullopt;
  out.payload.assign(bytes.begin() + AOTC_RPC_HEADER_BYTES, bytes.begin() + static_cast<ptrdiff_t>(checked));
  return out;
}

}  // namespace

std::vector<uint8_t> encode(const Packet& packet) {
  Writer writer;
  writer.number(packet.version, 1).number(packet.type, 1).number(packet.sequence, 2);
  writer.number(packet.session, 4).number(packet.payload.size(), 2).bytes(packet.payload);
  std::vector<uint8_t> raw = writer.take();
  const uint32_t crc = crc32(raw);
  for (int i = 0; i < 4; ++i) raw.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  // `length_at` is the byte that will say how far it is to the next zero.
  std::vector<uint8_t> out = {0, 1};
  size_t length_at = 1;
  auto begin_block = [&] {
    length_at = out.size();
    out.push_back(1);
  };
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == 0) {
      begin_block();
      continue;
    }
    out.push_back(raw[i]);
    if (++out[length_at] == 0xFF && i + 1 < raw.size()) begin_block();
  }
  out.push_back(0);
  return out;
}

void Decoder::finish_frame() {
  if (frame_.empty()) return;  // zeros next to each other
  std::vector<uint8_t> bytes;
  if (frame_.size() < kLongestFrame) bytes = cobs_decode(frame_);
  frame_.clear();
  if (auto packet = parse(bytes)) found_.push_back(std::move(*packet));
  else ++damaged_;
}

void Decoder::feed(std::span<const uint8_t> bytes) {
  for (uint8_t b : bytes) {
    if (b == 0) finish_frame();
    else if (frame_.size() < kLongestFrame) frame_.push_back(b);
  }
}

std::optional<Packet> Decoder::next() {
  if (taken_ == found_.size()) {
    found_.clear();
    taken_ = 0;
    return std::nullopt;
  }
  return std::move(found_[taken_++]);
}

Writer& Writer::number(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) data_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  return *this;
}

Writer& Writer::text(const std::string& value) {
  data_.insert(data_.end(), value.begin(), value.end());
  data_.push_back(0);
  return *this;
}

Writer& Writer::bytes(std::span<const uint8_t> value) {
  data_.insert(data_.end(), value.begin(), value.end());
  return *this;
}

uint64_t Reader::number(int bytes) {
  if (data_.size() < static_cast<size_t>(bytes)) {
    failed_ = true;
    data_ = {};
    return 0;
  }
  uint64_t value = 0;
  for (int i = bytes; i > 0; --i) value = value << 8 | data_[static_cast<size_t>(i) - 1];
  data_ = data_.subspan(static_cast<size_t>(bytes));
  return value;
}

std::string Reader::text() {
  std::string out;
  while (!data_.empty()) {
    char c = static_cast<char>(data_[0]);
    data_ = data_.subspan(1);
    if (c == '\0') return out;
    out += c;
  }
  failed_ = true;
  return "";
}

std::string Reader::rest_text() {
  std::string out(data_.begin(), data_.end());
  data_ = {};
  return out;
}

}  // namespace aotc::rpc
