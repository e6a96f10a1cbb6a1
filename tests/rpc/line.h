// SPDX-License-Identifier: Apache-2.0
// A device in this process, and a line to it that does to bytes what a test asks for. Time passes
// only while somebody waits, so a test of a thousand timeouts takes no time.
#pragma once

#include <deque>
#include <functional>
#include <random>

#include <aotc_crt/rpc_server.h>

#include "functions.h"
#include "rpc/transport.h"

namespace aotc::rpc {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

class Device {
 public:
  explicit Device(uint32_t pool_bytes = 4096) : pool_(pool_bytes / 16) {
    platform_.context = this;
    platform_.write = [](void* context, const uint8_t* bytes, uint32_t count) {
      auto* self = static_cast<Device*>(context);
      self->sent_.insert(self->sent_.end(), bytes, bytes + count);
    };
    platform_.clock_start = [](void* context) {
      static_cast<Device*>(context)->started_ = functions_clock;
      functions_clock += 3;  // what looking at it costs
    };
    platform_.clock_stop = [](void* context) {
      functions_clock += 4;
      return functions_clock - static_cast<Device*>(context)->started_;
    };
    platform_.ticks_per_second = 1000;
    platform_.board = "a board in this process";
    platform_.reboot = [](void* context) { static_cast<Device*>(context)->start(); };
    start();
  }

  // As after power on: nothing is left but the line.
  void start() {
    AotcRpcServerInit(&server_, &platform_, TVMSystemLibEntryPoint()->registry, pool_.data(),
                      static_cast<uint32_t>(pool_.size() * 16));
  }
  void receive(uint8_t byte) { AotcRpcServerReceive(&server_, byte); }
  // What it has sent since it was asked last.
  std::vector<uint8_t> sent() { return std::exchange(sent_, {}); }
  const AotcRpcServer& server() const { return server_; }
  AotcRpcPlatform& platform() { return platform_; }

 private:
  struct alignas(16) Block {
    uint8_t bytes[16];
  };
  AotcRpcPlatform platform_{};
  AotcRpcServer server_;
  std::vector<Block> pool_;  // exactly as large as the server thinks, for the sanitizer
  std::vector<uint8_t> sent_;
  uint64_t started_ = 0;
};

// What happens to a byte: it is appended as it is, changed, twice or not at all.
using Noise = std::function<void(uint8_t byte, std::vector<uint8_t>& out)>;

inline Noise no_noise() {
  return [](uint8_t byte, std::vector<uint8_t>& out) { out.push_back(byte); };
}

// Changes one byte in a hundred, on average.
inline Noise changes(uint32_t seed, double rate = 0.01) {
  return [random = Random(seed), rate](uint8_t byte, std::vector<uint8_t>& out) mutable {
    const bool hit = random() < rate * 4294967296.0;
    out.push_back(hit ? static_cast<uint8_t>(byte ^ (1 + random() % 255)) : byte);
  };
}

// Of one byte in a hundred, a third each is changed, lost and doubled.
inline Noise slips(uint32_t seed) {
  return [random = Random(seed)](uint8_t byte, std::vector<uint8_t>& out) mutable {
    const uint32_t r = random() % 300;
    if (r == 0) return;
    out.push_back(r == 1 ? static_cast<uint8_t>(byte ^ (1 + random() % 255)) : byte);
    if (r == 2) out.push_back(byte);
  };
}

class Line : public Transport {
 public:
  Line(Device& device, Noise to_device, Noise to_host)
      : device_(device), to_device_(std::move(to_device)), to_host_(std::move(to_host)) {}

  // Called before each byte that arrives at the device; false: it does not arrive.
  std::function<bool()> before_byte;
  bool closed = false;
  bool noisy = true;

  bool write(std::span<const uint8_t> bytes, Milliseconds) override {
    std::vector<uint8_t> arriving;
    for (uint8_t b : bytes) noisy ? to_device_(b, arriving) : arriving.push_back(b);
    for (uint8_t b : arriving)
      if (!before_byte || before_byte()) device_.receive(b);
    return !closed;
  }
  ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) override {
    if (closed) return ReadState::kClosed;
    const std::vector<uint8_t> sent = device_.sent();
    const size_t before = to.size();
    for (uint8_t b : sent) noisy ? to_host_(b, to) : to.push_back(b);
    if (to.size() != before) return ReadState::kData;
    clock_ += timeout;
    return ReadState::kTimeout;
  }
  Milliseconds now() override { return clock_; }
  std::string name() const override { return "line"; }

 private:
  Device& device_;
  Noise to_device_, to_host_;
  Milliseconds clock_{0};
};

}  // namespace aotc::rpc
