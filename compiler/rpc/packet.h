// SPDX-License-Identifier: Apache-2.0
// Packets of the protocol as the host makes and reads them (docs/rpc.md): the counterpart of the
// device's rpc_frame.h, written apart from it so that one checks the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <aotc_crt/rpc_protocol.h>

namespace aotc::rpc {

struct Packet {
  uint8_t version = AOTC_RPC_VERSION;
  uint8_t type = 0;
  uint16_t sequence = 0;
  uint32_t session = 0;
  std::vector<uint8_t> payload;
};

// The frame on the line, zero bytes before and behind included.
std::vector<uint8_t> encode(const Packet& packet);

// Finds packets in a stream, whatever else is in it.
class Decoder {
 public:
  // Packets that are whole and right come out of `next` in order.
  void feed(std::span<const uint8_t> bytes);
  std::optional<Packet> next();
  // Frames that were no packet, since the start.
  int damaged() const { return damaged_; }

 private:
  void finish_frame();

  std::vector<uint8_t> frame_;  // still encoded
  std::vector<Packet> found_;
  size_t taken_ = 0;
  int damaged_ = 0;
};

// Appends little-endian numbers.
class Writer {
 public:
  Writer& number(uint64_t value, int bytes);
  Writer& text(const std::string& value);  // with a zero behind
  Writer& bytes(std::span<const uint8_t> value);
  std::vector<uint8_t> take() { return std::move(data_); }

 private:
  std::vector<uint8_t> data_;
};

// Reads them back; once the bytes ran out, zeros and `failed`.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : data_(data) {}
  uint64_t number(int bytes);
  std::string text();       // up to a zero
  std::string rest_text();  // all that is left
  bool failed() const { return failed_; }
  size_t left() const { return data_.size(); }

 private:
  std::span<const uint8_t> data_;
  bool failed_ = false;
};

}  // namespace aotc::rpc
