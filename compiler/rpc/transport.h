// SPDX-License-Identifier: Apache-2.0
// A stream of bytes to and from a device. The one thing to know: every wait has a deadline, also
// the one for a device that does not take what is written.
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
  // All of the bytes, or false: the other side is gone or took too long.
  virtual bool write(std::span<const uint8_t> bytes, Milliseconds timeout) = 0;
  // Appends what has come, waiting for the first byte.
  virtual ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) = 0;
  // A clock that goes on while `read` and `write` wait.
  virtual Milliseconds now() = 0;
  // How messages name it: "/dev/ttyACM0".
  virtual std::string name() const = 0;
  // Milliseconds that `bytes` are on the line at least; 0 where that does not matter.
  virtual Milliseconds duration_of(size_t bytes) const { return Milliseconds(bytes * 0); }
  // Why the other side went away, if it is known: what an emulator said.
  virtual std::string last_words() { return ""; }
};

struct PortOptions {
  int baud = 115200;  // of serial devices
  Milliseconds connect_timeout{5000};
};

// "unix:PATH", "tcp:HOST:PORT" or the path of a serial device or pseudo terminal. Reports
// [rpc-port].
Result<std::unique_ptr<Transport>> open_port(const std::string& port, const PortOptions& options,
                                             Diagnostics& diags);

// Starts a program whose standard input and output are the device's line, in a directory if one is
// given; it is killed with the transport. Reports [tool-missing].
Result<std::unique_ptr<Transport>> start_program(const std::vector<std::string>& argv,
                                                 const std::string& directory, Diagnostics& diags);

}  // namespace aotc::rpc
