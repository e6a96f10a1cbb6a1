// SPDX-License-Identifier: Apache-2.0
// The transport over file descriptors, and what it can connect to: sockets, serial devices, programs.
#include "rpc/transport.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#ifdef AOTC_STATIC
#include <nss.h>
#endif
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "support/process.h"

namespace aotc::rpc {

namespace {

// The transport over file descriptors.
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

// Of what a program said, this many bytes are kept.
constexpr size_t kLastWords = 400;
// Of what has come and nobody has read; more than any answer, however often it is repeated.
constexpr size_t kMostPending = size_t{256} << 10;

int poll_timeout(Milliseconds left) { return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30)); }

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

constexpr off_t kMostMessages = off_t{1} << 20;  // bytes that a program may say

Failure refuse(const std::string& port, const std::string& why, const std::string& help, Diagnostics& diags) {
  Location where;
  where.file = port;
  auto& d = diags.error(where, "rpc-port", why);
  if (!help.empty()) d.help(help);
  return kFailure;
}

// -1 with errno, also when there is no connection in time.
int connect_socket(int family, const sockaddr* address, socklen_t size, Milliseconds timeout) {
  int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  int error = connect(fd, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EAGAIN) {
    pollfd p{fd, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (poll(&p, 1, static_cast<int>(timeout.count())) <= 0) error = ETIMEDOUT;
    else getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error == 0) return fd;
  close(fd);
  errno = error;
  return -1;
}

int connect_unix(const std::string& path, Milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return connect_socket(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address, timeout);
}

int connect_tcp(const std::string& host, const std::string& port, Milliseconds timeout) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
#ifdef AOTC_STATIC
  // What the machine's configuration names beyond these would be loaded from its own C library.
  __nss_configure_lookup("hosts", "files dns");
#endif
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  int fd = -1;
  for (addrinfo* a = found; a != nullptr && fd < 0; a = a->ai_next)
    fd = connect_socket(a->ai_family, a->ai_addr, a->ai_addrlen, timeout);
  int error = errno;
  freeaddrinfo(found);
  int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  errno = error;
  return fd;
}

const std::map<int, speed_t>& speeds() {
  static const std::map<int, speed_t> known = {{9600, B9600},     {19200, B19200},   {38400, B38400},
                                               {57600, B57600},   {115200, B115200}, {230400, B230400},
                                               {460800, B460800}, {921600, B921600}};
  return known;
}

Result<std::unique_ptr<Transport>> open_serial(const std::string& path, int baud, Diagnostics& diags) {
  auto speed = speeds().find(baud);
  if (speed == speeds().end())
    return refuse(path, fmt::format("{} baud is not a rate that serial ports support", baud),
                  "usual rates: 9600, 115200, 921600", diags);
  int fd = open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return refuse(path, fmt::format("cannot open the port: {}", std::strerror(errno)),
                  "a port is a serial device, unix:PATH or tcp:HOST:PORT", diags);
  termios settings{};
  if (tcgetattr(fd, &settings) != 0) {
    close(fd);
    return refuse(path, "the file is not a serial device", "a port is a serial device, unix:PATH or tcp:HOST:PORT",
                  diags);
  }
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS | CSTOPB);
  cfsetispeed(&settings, speed->second);
  cfsetospeed(&settings, speed->second);
  if (tcsetattr(fd, TCSANOW, &settings) != 0) {
    std::string why = std::strerror(errno);
    close(fd);
    return refuse(path, "cannot set up the port: " + why, "", diags);
  }
  tcflush(fd, TCIOFLUSH);
  return std::unique_ptr<Transport>(new Stream(fd, path, baud));
}

}  // namespace

Result<std::unique_ptr<Transport>> open_port(const std::string& port, const PortOptions& options, Diagnostics& diags) {
  int fd = -1;
  if (port.starts_with("unix:")) {
    fd = connect_unix(port.substr(5), options.connect_timeout);
  } else if (port.starts_with("tcp:")) {
    size_t colon = port.rfind(':');
    if (colon < 4) return refuse(port, "the port is not tcp:HOST:PORT", "", diags);
    fd = connect_tcp(port.substr(4, colon - 4), port.substr(colon + 1), options.connect_timeout);
  } else {
    return open_serial(port, options.baud, diags);
  }
  if (fd < 0)
    return refuse(port, fmt::format("cannot connect: {}", std::strerror(errno)),
                  "check that the emulator is running, with its serial line at this address", diags);
  return std::unique_ptr<Transport>(new Stream(fd, port));
}

Result<std::unique_ptr<Transport>> start_program(const std::vector<std::string>& argv, const std::string& directory,
                                                 Diagnostics& diags) {
  Location where;
  where.file = argv[0];
  std::string program = find_program(argv[0]);
  int line[2];
  if (program.empty() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0) {
    diags.error(where, "tool-missing", fmt::format("the program '{}' cannot be started", argv[0]));
    return kFailure;
  }
  // Messages go to memory, so that a program that talks is never held up by nobody listening.
  // It does not grow: what a program says behind that is lost to it.
  int messages = memfd_create("messages", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (ftruncate(messages, kMostMessages) == 0) fcntl(messages, F_ADD_SEALS, F_SEAL_GROW);
  pid_t pid = fork();
  if (pid == 0) become_program(argv, program, directory, line[1], line[1], messages);
  close(line[1]);
  auto stream = std::make_unique<Stream>(line[0], argv[0]);
  if (pid < 0) {
    diags.error(where, "tool-missing", fmt::format("the program '{}' cannot be started", argv[0]));
    close(messages);
    return kFailure;
  }
  setpgid(pid, pid);  // whoever comes first: it must be done before anybody kills the group
  stream->own_program(pid, messages);
  return std::unique_ptr<Transport>(std::move(stream));
}

}  // namespace aotc::rpc
