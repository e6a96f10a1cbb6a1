// SPDX-License-Identifier: Apache-2.0
// The device's side by itself: frames against an implementation of their own, and anything that is
// no frame.
#include <gtest/gtest.h>

#include <algorithm>

#include "line.h"
#include "rpc/packet.h"
#include "support/crc32.h"

namespace aotc::rpc {
namespace {

std::vector<uint8_t> framed_by_device(const Packet& packet) {
  std::vector<uint8_t> buffer(packet.payload.size() + AOTC_RPC_OVERHEAD_BYTES), out;
  std::copy(packet.payload.begin(), packet.payload.end(), buffer.begin() + AOTC_RPC_HEADER_BYTES);
  AotcRpcSend(
      buffer.data(), packet.type, packet.sequence, packet.session, static_cast<uint32_t>(packet.payload.size()),
      [](void* to, const uint8_t* bytes, uint32_t count) {
        auto* out_bytes = static_cast<std::vector<uint8_t>*>(to);
        out_bytes->insert(out_bytes->end(), bytes, bytes + count);
      },
      &out);
  return out;
}

TEST(Frames, CheckIsThatOfZlib) {
  const std::string digits = "123456789";
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(digits.data()), digits.size());
  EXPECT_EQ(crc32(bytes), 0xCBF43926u);
  EXPECT_EQ(AotcRpcCrc32(bytes.data(), static_cast<uint32_t>(bytes.size())), 0xCBF43926u);
}

TEST(Frames, BothSidesAgree) {
  Random random(1);
  for (size_t size = 0; size < 1100; ++size) {
    for (int kind = 0; kind < 3; ++kind) {
      Packet packet;
      packet.type = static_cast<uint8_t>(random());
      packet.sequence = static_cast<uint16_t>(random());
      packet.session = random();
      for (size_t i = 0; i < size; ++i)
        packet.payload.push_back(kind == 0   ? uint8_t{0}
                                 : kind == 1 ? static_cast<uint8_t>(1 + random() % 255)
                                             : static_cast<uint8_t>(random() % 3));
      const std::vector<uint8_t> frame = encode(packet);
      ASSERT_EQ(frame, framed_by_device(packet)) << size;
      ASSERT_EQ(std::count(frame.begin(), frame.end(), 0), 2);
      // Read by the host
      Decoder host;
      host.feed(frame);
      auto read = host.next();
      ASSERT_TRUE(read) << size;
      ASSERT_EQ(read->payload, packet.payload);
      ASSERT_EQ(read->sequence, packet.sequence);
      // and by the device, into a buffer that is just large enough.
      std::vector<uint8_t> buffer(size + AOTC_RPC_OVERHEAD_BYTES);
      AotcRpcDecoder device{};
      uint32_t length = 0;
      for (uint8_t b : frame) {
        uint32_t n = AotcRpcDecode(&device, buffer.data(), static_cast<uint32_t>(buffer.size()), b);
        if (n != 0) length = n;
      }
      ASSERT_EQ(length, buffer.size());
      ASSERT_TRUE(AotcRpcPacketIsGood(buffer.data(), length));
    }
  }
}

TEST(Frames, AnyDamageIsFound) {
  Packet packet;
  for (int i = 0; i < 300; ++i) packet.payload.push_back(static_cast<uint8_t>(i * i));
  const std::vector<uint8_t> frame = encode(packet);
  for (size_t at = 1; at + 1 < frame.size(); ++at) {
    for (int flip = 1; flip < 256; flip *= 2) {
      std::vector<uint8_t> bad = frame;
      bad[at] = static_cast<uint8_t>(bad[at] ^ flip);
      Decoder decoder;
      decoder.feed(bad);
      ASSERT_FALSE(decoder.next()) << at;
      decoder.feed(frame);
      ASSERT_TRUE(decoder.next()) << at;
    }
  }
}

// --- Whatever comes in
// ----------------------------------------------------------------------------

std::vector<Packet> answers_to(Device& device, std::span<const uint8_t> bytes) {
  for (uint8_t b : bytes) device.receive(b);
  Decoder decoder;
  decoder.feed(device.sent());
  EXPECT_EQ(decoder.damaged(), 0) << "the device sent something that is no packet";
  std::vector<Packet> out;
  while (auto p = decoder.next()) out.push_back(std::move(*p));
  return out;
}

constexpr uint32_t kSession = 77;

void expect_hello(Device& device) {
  // A zero ends whatever the device thinks it is in the middle of.
  auto answers = answers_to(device, encode({AOTC_RPC_VERSION, AOTC_RPC_HELLO, 5, kSession, {}}));
  ASSERT_FALSE(answers.empty());
  const Packet& p = answers.back();
  ASSERT_EQ(p.type, AOTC_RPC_HELLO | AOTC_RPC_ANSWER);
  ASSERT_EQ(p.sequence, 5);
  ASSERT_EQ(p.session, kSession);
}

// A request that is nearly, or really, one.
Packet random_request(Random& random) {
  Packet p;
  p.type = static_cast<uint8_t>(random() % 16 == 0 ? random() : 1 + random() % 9);
  p.sequence = static_cast<uint16_t>(random() % 4);
  p.session = random() % 16 == 0 ? random() : kSession;
  if (random() % 64 == 0) p.version = static_cast<uint8_t>(random());
  const auto small = [&](uint32_t limit) { return random() % 32 == 0 ? random() : random() % limit; };
  Writer w;
  switch (p.type) {
    case AOTC_RPC_LIST: w.number(small(9), 2).number(small(300), 2); break;
    case AOTC_RPC_ALLOCATE: {
      w.number(small(4), 1).number(small(3), 1).number(8 << random() % 3, 1).number(small(3), 2);
      const uint32_t dims = random() % 8;
      w.number(dims, 1);
      for (uint32_t i = 0; i < dims; ++i) w.number(small(9), 4);
      break;
    }
    case AOTC_RPC_WRITE: {
      w.number(small(4), 1).number(small(60), 4);
      const uint32_t n = small(100) % 2048;
      for (uint32_t i = 0; i < n; ++i) w.number(random(), 1);
      break;
    }
    case AOTC_RPC_READ: w.number(small(4), 1).number(small(60), 4).number(small(60), 2); break;
    case AOTC_RPC_TIME:
    case AOTC_RPC_CALL: {
      if (p.type == AOTC_RPC_TIME) w.number(random() % 4, 4).number(random() % 4, 4);
      // `add` trusts its arguments, as operators do: count, fail, mixed with what it asks for.
      const char* names[] = {"count", "fail", "", "no", "mixed"};
      const uint32_t which = random() % 5;
      w.number(random() % 8 == 0 ? random() : 0xFFFF, 2).text(names[which]);
      if (which == 4) {
        w.number(3, 1).number(0, 1).number(random(), 8).number(2, 1).number(0, 8).number(4, 1);
      } else {
        w.number(0, 1);
      }
      break;
    }
    default: w.number(small(4), 1); break;
  }
  p.payload = w.take();
  // An index would reach functions that trust their arguments.
  if (p.type == AOTC_RPC_CALL && p.payload[0] != 0xFF) p.payload[0] = p.payload[1] = 0x40;
  if (p.type == AOTC_RPC_TIME && p.payload[8] != 0xFF) p.payload[8] = p.payload[9] = 0x40;
  if (random() % 8 == 0 && p.type != AOTC_RPC_CALL && p.type != AOTC_RPC_TIME)
    p.payload.resize(random() % (p.payload.size() + 4));
  if (random() % 8 == 0 && !p.payload.empty()) p.payload.pop_back();
  return p;
}

// Random bytes, damaged frames, frames cut short, requests with payloads of nonsense, frames longer
// than the buffer, zeros.
std::vector<uint8_t> random_frame(Random& random) {
  std::vector<uint8_t> out;
  switch (random() % 8) {
    case 0:
      for (uint32_t n = random() % 300; n > 0; --n) out.push_back(static_cast<uint8_t>(random()));
      return out;
    case 1: {
      out = encode(random_request(random));
      for (uint32_t n = 1 + random() % 4; n > 0; --n) out[random() % out.size()] = static_cast<uint8_t>(random());
      return out;
    }
    case 2:
      out = encode(random_request(random));
      out.resize(random() % out.size());
      return out;
    case 3: {
      Packet large;
      large.session = kSession;
      large.type = AOTC_RPC_WRITE;
      large.payload.resize(1900 + random() % 400, static_cast<uint8_t>(random()));
      return encode(large);
    }
    case 4:
      if (random() % 8 == 0) out.resize(1 + random() % 5000, static_cast<uint8_t>(random() % 2));
      return out;
    default: return encode(random_request(random));
  }
}

TEST(Server, TakesAnyBytes) {
  Random random(2);
  Device device(256);
  expect_hello(device);
  int answers = 0;
  for (int i = 0; i < 20000; ++i) {
    answers += static_cast<int>(answers_to(device, random_frame(random)).size());
    if (i % 100 == 99) {
      // Half a frame may be before it.
      expect_hello(device);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(answers, 5000);  // not everything was noise
}

TEST(Server, RefusesWhatCannotBe) {
  Device device;
  expect_hello(device);
  auto error_of = [&](uint8_t type, std::vector<uint8_t> payload) -> uint64_t {
    auto answers = answers_to(device, encode({AOTC_RPC_VERSION, type, 9, kSession, payload}));
    if (answers.size() != 1 || answers[0].type != AOTC_RPC_ERROR) return 0;
    EXPECT_EQ(answers[0].sequence, 9);
    Reader reader(answers[0].payload);
    return reader.number(2);
  };
  EXPECT_EQ(error_of(0x55, {}), AOTC_RPC_ERROR_REQUEST);
  EXPECT_EQ(error_of(AOTC_RPC_LIST, {}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_LIST, {99, 0, 0, 1}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_LIST, {0, 0, 5, 0}), AOTC_RPC_ERROR_TOO_LARGE);
  EXPECT_EQ(error_of(AOTC_RPC_ALLOCATE, {16, 0, 8, 1, 0, 0}), AOTC_RPC_ERROR_SLOT);
  EXPECT_EQ(error_of(AOTC_RPC_ALLOCATE, {0, 0, 8, 1, 0, 7}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_ALLOCATE, {0, 0, 0, 1, 0, 0}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_WRITE, {0, 0, 0, 0, 0, 1}), AOTC_RPC_ERROR_SLOT);
  EXPECT_EQ(error_of(AOTC_RPC_ALLOCATE, {0, 0, 8, 1, 0, 1, 4, 0, 0, 0}), 0u);
  EXPECT_EQ(error_of(AOTC_RPC_WRITE, {0, 0, 0, 0, 0, 1, 2, 3, 4}), 0u);
  EXPECT_EQ(error_of(AOTC_RPC_WRITE, {0, 1, 0, 0, 0, 1, 2, 3, 4}), AOTC_RPC_ERROR_RANGE);
  EXPECT_EQ(error_of(AOTC_RPC_READ, {0, 255, 255, 255, 255, 2, 0}), AOTC_RPC_ERROR_RANGE);
  EXPECT_EQ(error_of(AOTC_RPC_CALL, {7, 0, 0}), AOTC_RPC_ERROR_FUNCTION);
  EXPECT_EQ(error_of(AOTC_RPC_CALL, {255, 255, 'a', 'd', 'd'}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_CALL, {0, 0, 1, 7, 5}), AOTC_RPC_ERROR_SLOT);
  EXPECT_EQ(error_of(AOTC_RPC_CALL, {0, 0, 1, 12}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_CALL, {0, 0, 200}), AOTC_RPC_ERROR_MALFORMED);
  EXPECT_EQ(error_of(AOTC_RPC_RESET, {5}), AOTC_RPC_ERROR_MALFORMED);
  // A whole large tensor in one packet.
  EXPECT_EQ(error_of(AOTC_RPC_ALLOCATE, {0, 0, 8, 1, 0, 1, 0, 15, 0, 0}), 0u);
  EXPECT_EQ(error_of(AOTC_RPC_READ, {0, 0, 0, 0, 0, 0, 15}), AOTC_RPC_ERROR_TOO_LARGE);
}

TEST(Server, OtherVersionsAndSessions) {
  Device device;
  auto answers = answers_to(device, encode({AOTC_RPC_VERSION, AOTC_RPC_LIST, 1, kSession, {0, 0}}));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].type, AOTC_RPC_ERROR);
  EXPECT_EQ(answers[0].payload, (std::vector<uint8_t>{AOTC_RPC_ERROR_SESSION, 0, 0, 0, 0, 0}));
  answers = answers_to(device, encode({2, AOTC_RPC_HELLO, 3, kSession, {}}));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].version, AOTC_RPC_VERSION);
  EXPECT_EQ(answers[0].payload, (std::vector<uint8_t>{AOTC_RPC_ERROR_VERSION, 0, 1, 0, 0, 0}));
}

TEST(Server, CallsByIndex) {
  Device device;
  expect_hello(device);
  const uint32_t before = functions_counted;
  const auto request = encode({AOTC_RPC_VERSION, AOTC_RPC_CALL, 6, kSession, {1, 0, 0}});
  auto answers = answers_to(device, request);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].type, AOTC_RPC_WORKING);
  EXPECT_EQ(functions_counted, before + 1);
  // The same once more is a repeat: answered, not executed.
  auto again = answers_to(device, request);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].payload, answers[1].payload);
  EXPECT_EQ(functions_counted, before + 1);
}

TEST(Server, LongTimingsShowThatTheyGoOn) {
  Device device;
  expect_hello(device);
  Writer w;
  w.number(10, 4).number(0, 4).number(0xFFFF, 2).text("spin").number(1, 1).number(0, 1);
  w.number(250, 8);  // a quarter of a second
  auto answers = answers_to(device, encode({AOTC_RPC_VERSION, AOTC_RPC_TIME, 6, kSession, w.take()}));
  ASSERT_GE(answers.size(), 6u);
  EXPECT_EQ(answers.back().type, AOTC_RPC_TIME | AOTC_RPC_ANSWER);
}

}  // namespace
}  // namespace aotc::rpc
