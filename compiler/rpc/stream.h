// SPDX-License-Identifier: Apache-2.0
// The transport over file descriptors, as the ports and programs of transport.h make it.
#pragma once

#include <sys/types.h>

#include "rpc/transport.h"

namespace aotc::rpc {

class Stream : public Transport {
 public:
  // Takes the descriptor, which is made non-blocking. `baud`: 0 if there is none.
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

  // The program at the other end, to be killed with the transport, and what takes its messages.
  void own_program(pid_t pid, int messages_fd);

 private:
  // Moves what has come to `pending_`; false if the other side is gone.
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
