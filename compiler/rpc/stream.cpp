// SPDX-License-Identifier: Apache-2.0
#include "rpc/stream.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace aotc::rpc {

namespace {

// Of what a program said, this many bytes are kept.
constexpr size_t kLastWords = 400;
// Of what has come and nobody has read; more than any answer, however often it is repeated.
constexpr size_t kMostPending = size_t{256} << 10;

int poll_timeout(Milliseconds left) { return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30)); }

}  // namespace

Stream::Stream(int fd, std::string name, int baud) : fd_(fd), name_(std::move(name)), baud_(baud) {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

Stream::~Stream() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (messages_fd_ >= 0) close(messages_fd_);
  close(fd_);
}

void Stream::own_program(pid_t pid, int messages_fd) {
  pid_ = pid;
  messages_fd_ = messages_fd;
}

Milliseconds Stream::now() {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

Milliseconds Stream::duration_of(size_t bytes) const {
  // Eight bits with a start and a stop bit.
  return Milliseconds(baud_ > 0 ? static_cast<int64_t>(bytes) * 10 * 1000 / baud_ : 0);
}

bool Stream::receive() {
  uint8_t chunk[4096];
  while (!closed_ && pending_.size() < kMostPending) {
    ssize_t n = ::read(fd_, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) {
      closed_ = true;  // the end, or EIO: a pseudo terminal whose other side is closed
      return false;
    }
    pending_.insert(pending_.end(), chunk, chunk + n);
    if (static_cast<size_t>(n) < sizeof chunk) return true;
  }
  return !closed_;
}

bool Stream::write(std::span<const uint8_t> bytes, Milliseconds timeout) {
  const Milliseconds deadline = now() + timeout;
  while (!bytes.empty()) {
    if (closed_) return false;
    // A device that is itself held up writing must get rid of that before it reads.
    // One that floods the line is not listened to any longer.
    const bool room = pending_.size() < kMostPending;
    pollfd p{fd_, static_cast<short>(room ? POLLIN | POLLOUT : POLLOUT), 0};
    int ready = poll(&p, 1, poll_timeout(deadline - now()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    if ((p.revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
    if ((p.revents & POLLOUT) == 0) continue;
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
      closed_ = true;
      return false;
    }
    if (n > 0) bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

ReadState Stream::read(std::vector<uint8_t>& to, Milliseconds timeout) {
  const Milliseconds deadline = now() + timeout;
  while (pending_.empty()) {
    if (closed_) return ReadState::kClosed;
    pollfd p{fd_, POLLIN, 0};
    int ready = poll(&p, 1, poll_timeout(deadline - now()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return ReadState::kTimeout;
    receive();
  }
  to.insert(to.end(), pending_.begin(), pending_.end());
  pending_.clear();
  return ReadState::kData;
}

std::string Stream::last_words() {
  if (messages_fd_ < 0) return "";
  std::string text(kLastWords, '\0');
  off_t size = lseek(messages_fd_, 0, SEEK_CUR);  // the program writes through the same position
  off_t from = std::max<off_t>(0, size - static_cast<off_t>(kLastWords));
  ssize_t n = pread(messages_fd_, text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace aotc::rpc
