// SPDX-License-Identifier: Apache-2.0
// Stream: the transport over file descriptors, for the ports and programs of transport.h.
#pragma once

#include <sys/types.h>

#include "rpc/transport.h"

namespace aotc::rpc {

class Stream : public Transport {
 public:
  // Takes ownership of `fd` and makes it non-blocking. `baud`: speed of the line; 0: no limit.
  Stream(int fd, std::string name, int baud = 0);
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool write(std::span<const uint8_t> bytes, Milliseconds timeout) override;
  ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) override;
  Milliseconds now() override;
  std::string name() const override { return name_; }
  Milliseconds duration_of(size_t bytes) const override;
  std::string last_words() override;

  // Takes ownership of the program at the other end, which the destructor kills, and of the descriptor of its messages.
  void own_program(pid_t pid, int messages_fd);

 private:
  // Moves received bytes to `pending_`; false if the other side closed the connection.
  bool receive();

  int fd_;
  std::string name_;
  int baud_;
  pid_t pid_ = -1;
  int messages_fd_ = -1;
  bool closed_ = false;
  std::vector<uint8_t> pending_;
};

}  // namespace aotc::rpc
