// SPDX-License-Identifier: Apache-2.0
// Transport: a stream of bytes to and from a device. Every wait has a deadline, even a write that the device does not
// accept.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc::rpc {

using Milliseconds = std::chrono::milliseconds;

enum class ReadState { kData, kTimeout, kClosed };

class Transport {
 public:
  virtual ~Transport() = default;
  // Writes all bytes; false if the other side closed the connection or the time is over.
  virtual bool write(std::span<const uint8_t> bytes, Milliseconds timeout) = 0;
  // Appends received bytes, waiting for the first one.
  virtual ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) = 0;
  // A clock that continues while `read` and `write` wait.
  virtual Milliseconds now() = 0;
  // The name in messages: "/dev/ttyACM0".
  virtual std::string name() const = 0;
  // Minimal milliseconds that `bytes` take on the line; 0 if the line is fast.
  virtual Milliseconds duration_of(size_t bytes) const { return Milliseconds(bytes * 0); }
  // The reason why the other side closed the connection, such as the last messages of an emulator; empty if unknown.
  virtual std::string last_words() { return ""; }
};

struct PortOptions {
  int baud = 115200;  // only for serial devices
  Milliseconds connect_timeout{5000};
};

// `port`: "unix:PATH", "tcp:HOST:PORT" or the path of a serial device or pseudo terminal. Reports [rpc-port].
Result<std::unique_ptr<Transport>> open_port(const std::string& port, const PortOptions& options, Diagnostics& diags);

// Starts a program whose standard input and output are the device's line; `directory`: its working directory, or empty.
// The program is killed with the transport. Reports [tool-missing].
Result<std::unique_ptr<Transport>> start_program(const std::vector<std::string>& argv, const std::string& directory,
                                                 Diagnostics& diags);

}  // namespace aotc::rpc
