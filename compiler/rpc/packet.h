// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes packets of aotc's RPC protocol on the host (docs/rpc.md). The device's rpc_frame.h is an
// independent implementation, so tests of both together find errors of either.
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

// The frame on the line, including the zero bytes before and behind it.
std::vector<uint8_t> encode(const Packet& packet);

// Finds packets in a stream that may contain other bytes.
class Decoder {
 public:
  // Adds bytes. Then `next` returns the complete and valid packets in order.
  void feed(std::span<const uint8_t> bytes);
  std::optional<Packet> next();
  // Number of frames so far that were not valid packets.
  int damaged() const { return damaged_; }

 private:
  void finish_frame();

  std::vector<uint8_t> frame_;  // the frame received so far, still encoded
  std::vector<Packet> found_;
  size_t taken_ = 0;
  int damaged_ = 0;
};

// Appends little-endian numbers.
class Writer {
 public:
  Writer& number(uint64_t value, int bytes);
  Writer& text(const std::string& value);  // zero-terminated
  Writer& bytes(std::span<const uint8_t> value);
  std::vector<uint8_t> take() { return std::move(data_); }

 private:
  std::vector<uint8_t> data_;
};

// Reads little-endian numbers. Reading beyond the end returns zeros and sets `failed`.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : data_(data) {}
  uint64_t number(int bytes);
  std::string text();       // up to a zero
  std::string rest_text();  // all remaining bytes
  bool failed() const { return failed_; }
  size_t left() const { return data_.size(); }

 private:
  std::span<const uint8_t> data_;
  bool failed_ = false;
};

}  // namespace aotc::rpc
