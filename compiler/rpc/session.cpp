// SPDX-License-Identifier: Apache-2.0
#include "rpc/session.h"

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "support/text.h"

namespace aotc::rpc {

namespace {

// A line that spoils one byte in a hundred still takes packets of this size.
constexpr size_t kSmallestPiece = 32;
// Attempts for a piece that could be smaller, and good pieces after which it may be larger.
constexpr int kPieceAttempts = 3;
constexpr int kGoodPieces = 16;
// In front of the data of WRITE: slot and offset.
constexpr size_t kWriteHeader = 5;
// Of what came, to look for the last words of firmware that crashed.
constexpr size_t kHeardBytes = 256;
// Of what came in place of an answer: a device that says more says nothing else.
constexpr int64_t kMostNoise = int64_t{256} << 10;
// TVMArgTypeCodes.
constexpr uint8_t kInt = 0, kFloat = 2, kNull = 4, kTensor = 7;

uint32_t random_nonce() {
  std::random_device source;
  uint32_t value = 0;
  while (value == 0) value = source();
  return value;
}

void put_call(Writer& writer, const std::string& name, const std::vector<Argument>& arguments) {
  writer.number(AOTC_RPC_BY_NAME, 2).text(name).number(arguments.size(), 1);
  for (const Argument& a : arguments) {
    switch (a.kind) {
      case Argument::Kind::kTensor: writer.number(kTensor, 1).number(a.slot, 1); break;
      case Argument::Kind::kInt: writer.number(kInt, 1).number(static_cast<uint64_t>(a.integer), 8); break;
      case Argument::Kind::kFloat: writer.number(kFloat, 1).number(std::bit_cast<uint64_t>(a.real), 8); break;
      case Argument::Kind::kNull: writer.number(kNull, 1); break;
    }
  }
}

}  // namespace

uint64_t TensorType::bytes() const {
  uint64_t total = (uint64_t{bits} * lanes + 7) / 8;
  for (uint32_t d : shape) total = std::min<uint64_t>(total * d, uint64_t{1} << 32);
  return total;
}

Argument Argument::tensor(uint8_t slot) {
  Argument a;
  a.slot = slot;
  return a;
}

Argument Argument::of_int(int64_t value) {
  Argument a;
  a.kind = Kind::kInt;
  a.integer = value;
  return a;
}

Argument Argument::of_float(double value) {
  Argument a;
  a.kind = Kind::kFloat;
  a.real = value;
  return a;
}

Session::Session(std::unique_ptr<Transport> transport, const SessionOptions& options)
    : transport_(std::move(transport)),
      options_(options),
      nonce_(options.nonce != 0 ? options.nonce : random_nonce()) {}

Result<std::unique_ptr<Session>> Session::open(std::unique_ptr<Transport> transport, const SessionOptions& options,
                                               Diagnostics& diags) {
  std::unique_ptr<Session> session(new Session(std::move(transport), options));
  if (!session->greet(diags)) return kFailure;
  return session;
}

Status Session::greet(Diagnostics& diags) {
  auto answer = request(AOTC_RPC_HELLO, {}, "greeting", diags);
  if (!answer) return kFailure;
  Reader reader(*answer);
  device_.max_payload = static_cast<uint32_t>(reader.number(2));
  device_.function_count = static_cast<uint32_t>(reader.number(2));
  device_.slots = static_cast<uint32_t>(reader.number(1));
  device_.max_dims = static_cast<uint32_t>(reader.number(1));
  device_.max_args = static_cast<uint32_t>(reader.number(1));
  const uint64_t flags = reader.number(1);
  device_.ticks_are_instructions = (flags & AOTC_RPC_FLAG_INSTRUCTIONS) != 0;
  device_.big_endian = (flags & AOTC_RPC_FLAG_BIG_ENDIAN) != 0;
  device_.can_reboot = (flags & AOTC_RPC_FLAG_REBOOT) != 0;
  device_.pool_bytes = static_cast<uint32_t>(reader.number(4));
  device_.ticks_per_second = reader.number(8);
  device_.board = reader.text();
  device_.runs_model = (flags & AOTC_RPC_FLAG_MODEL) != 0;
  if (device_.runs_model) {
    device_.model = reader.text();
    device_.firmware_id = static_cast<uint32_t>(reader.number(4));
  }
  if (reader.failed() || device_.max_payload < 2 * kSmallestPiece) return malformed("greeting", diags);
  piece_ = device_.max_payload - kWriteHeader;
  return success();
}

Session::Exchange Session::await_answer(uint8_t type, uint16_t sequence, Milliseconds until, bool& working,
                                        Milliseconds& deadline, int64_t& heard) {
  std::vector<uint8_t> bytes;
  while (true) {
    while (auto packet = decoder_.next()) {
      statistics_.damaged = decoder_.damaged();
      if (packet->sequence != sequence) continue;  // the answer to an attempt before this request
      if (packet->version != AOTC_RPC_VERSION) return {Outcome::kError, {}, AOTC_RPC_ERROR_VERSION, packet->version};
      if (packet->type == AOTC_RPC_ERROR) {
        Reader reader(packet->payload);
        auto error = static_cast<uint16_t>(reader.number(2));
        return {Outcome::kError, {}, error, static_cast<uint32_t>(reader.number(4))};
      }
      if (packet->session != nonce_) continue;
      // The first one says when the function began; others, of TIME, do not buy more time.
      if (packet->type == AOTC_RPC_WORKING && !std::exchange(working, true))
        deadline = transport_->now() + options_.call_timeout;
      if (packet->type == (type | AOTC_RPC_ANSWER)) return {Outcome::kAnswered, std::move(packet->payload), 0, 0};
    }
    const Milliseconds left = until - transport_->now();
    if (left.count() <= 0) return ended(Outcome::kSilent);
    bytes.clear();
    ReadState state = transport_->read(bytes, left);
    if (state == ReadState::kClosed) return ended(Outcome::kClosed);
    heard += static_cast<int64_t>(bytes.size());
    heard_.append(bytes.begin(), bytes.end());
    if (heard_.size() > 2 * kHeardBytes) heard_.erase(0, heard_.size() - kHeardBytes);
    decoder_.feed(bytes);
  }
}

Session::Exchange Session::exchange(uint8_t type, const std::vector<uint8_t>& payload, Limits limits) {
  const uint16_t sequence = ++sequence_;
  const std::vector<uint8_t> frame = encode({AOTC_RPC_VERSION, type, sequence, nonce_, payload});
  Milliseconds wait = options_.wait;
  Milliseconds deadline = transport_->now() + options_.call_timeout;
  bool working = false;
  int64_t heard = 0;
  ++statistics_.requests;
  for (int attempt = 0;; ++attempt) {
    if (attempt >= limits.attempts) {
      // A device that executes says nothing; one that never said anything is not there.
      const bool may_work = limits.executes && (working || heard > 0);
      if (!may_work) return ended(heard > 0 ? Outcome::kCorrupted : Outcome::kSilent);
      if (transport_->now() >= deadline) return ended(working ? Outcome::kTimeout : Outcome::kCorrupted);
    }
    ++statistics_.attempts;
    // What was not taken shows as no answer; what is closed, as the end of what can be read.
    (void)transport_->write(frame, options_.longest_wait + transport_->duration_of(frame.size()));
    const Milliseconds line = transport_->duration_of(frame.size() + std::max<size_t>(device_.max_payload, 256));
    Exchange result = await_answer(type, sequence, transport_->now() + wait + line, working, deadline, heard);
    if (result.outcome != Outcome::kSilent) return result;
    if (heard > kMostNoise) return ended(Outcome::kCorrupted);
    wait = std::min(wait + wait / 2, options_.longest_wait);
  }
}

std::string Session::crash_text() const {
  size_t at = heard_.rfind("fault at address");
  if (at == std::string::npos) return "";
  return heard_.substr(at, heard_.find_first_of("\r\n", at) - at);
}

Failure Session::report(const Exchange& failed, uint8_t type, const std::string& what, Diagnostics& diags) const {
  Location where;
  where.file = transport_->name();
  auto say = [&](const char* slug, const std::string& message) -> Diagnostic& {
    Diagnostic& d = diags.error(where, slug, fmt::format("{}: {}", what, message));
    if (std::string crash = crash_text(); !crash.empty()) d.note("the device printed: " + escape_for_display(crash));
    return d;
  };
  switch (failed.outcome) {
    case Outcome::kSilent:
      say("rpc-silent", fmt::format("the device does not answer ({} attempts)", options_.attempts))
          .help(options_.silent_help.empty()
                    ? "check that the firmware of a host-driven project is running, at this baud rate"
                    : options_.silent_help);
      return kFailure;
    case Outcome::kCorrupted:
      say("rpc-corrupted", "the data of every attempt arrived damaged")
          .help("check the cable and the baud rate; another program may be writing to the line");
      return kFailure;
    case Outcome::kTimeout:
      say("rpc-timeout", fmt::format("the function returned no result within {} ms", options_.call_timeout.count()))
          .help("increase --timeout SECONDS");
      return kFailure;
    case Outcome::kClosed: {
      auto& d = say("rpc-closed", "the line was closed");
      std::string words = transport_->last_words();
      if (!words.empty()) d.note("last message: " + escape_for_display(words, 400));
      d.help("check whether the emulator ended or the port was unplugged");
      return kFailure;
    }
    default: break;
  }
  switch (failed.error) {
    case AOTC_RPC_ERROR_VERSION:
      say("rpc-version", fmt::format("the device uses version {} of the protocol, but aotc uses version {}",
                                     failed.detail, AOTC_RPC_VERSION))
          .help("create the firmware again with this aotc");
      break;
    case AOTC_RPC_ERROR_SESSION:
      say("rpc-rebooted", "the device has restarted, or serves another program: the tensors on the device are lost")
          .help("start the command again; a crash of the function restarts some boards");
      break;
    case AOTC_RPC_ERROR_FUNCTION:
      say("rpc-function", "the device has no function with this name")
          .help(fmt::format("the device has {} functions; 'aotc rpc list' shows them", failed.detail));
      break;
    case AOTC_RPC_ERROR_MEMORY:
      say("rpc-memory",
          fmt::format("a tensor of {} bytes does not fit into the free part of the device's pool of {} bytes",
                      with_commas(failed.detail), with_commas(device_.pool_bytes)))
          .help("free other tensors, or create the project with --project-option pool=BYTES");
      break;
    case AOTC_RPC_ERROR_TOO_LARGE:
      say("rpc-too-large", fmt::format("the result does not fit into a packet of {} bytes", with_commas(failed.detail)))
          .help("create the project with --project-option packet=BYTES");
      break;
    default:
      say("rpc-refused",
          fmt::format("the device refused request {:#04x}: error {} ({})", type, failed.error, failed.detail))
          .help("docs/rpc.md lists the errors of the protocol");
  }
  return kFailure;
}

Failure Session::malformed(const std::string& what, Diagnostics& diags) const {
  Location where;
  where.file = transport_->name();
  diags.error(where, "rpc-refused", what + ": the device sent a malformed answer")
      .help("create the firmware again with this aotc");
  return kFailure;
}

Result<std::vector<uint8_t>> Session::request(uint8_t type, const std::vector<uint8_t>& payload,
                                              const std::string& what, Diagnostics& diags) {
  const bool executes =
      type == AOTC_RPC_CALL || type == AOTC_RPC_TIME || type == AOTC_RPC_RUN || type == AOTC_RPC_CONTINUE;
  Exchange done = exchange(type, payload, {options_.attempts, executes});
  if (done.outcome == Outcome::kAnswered) return std::move(done.payload);
  return report(done, type, what, diags);
}

Result<std::vector<std::string>> Session::functions(Diagnostics& diags) {
  std::vector<std::string> names;
  size_t limit = device_.max_payload;
  while (names.size() < device_.function_count) {
    Writer writer;
    writer.number(names.size(), 2).number(limit, 2);
    const bool can_shrink = limit > 4 * kSmallestPiece;
    Exchange page = exchange(AOTC_RPC_LIST, writer.take(), {can_shrink ? kPieceAttempts : options_.attempts, false});
    const bool lost = page.outcome == Outcome::kSilent || page.outcome == Outcome::kCorrupted;
    if (lost && can_shrink) {
      limit /= 2;
      continue;
    }
    if (page.outcome == Outcome::kError && page.error == AOTC_RPC_ERROR_TOO_LARGE && limit < device_.max_payload) {
      limit = std::min<size_t>(device_.max_payload, 2 * limit);  // one long name
      continue;
    }
    if (page.outcome != Outcome::kAnswered) return report(page, AOTC_RPC_LIST, "listing the functions", diags);
    Reader reader(page.payload);
    reader.number(2);
    const uint64_t count = reader.number(2);
    for (uint64_t i = 0; i < count; ++i) names.push_back(reader.text());
    if (reader.failed() || count == 0) return malformed("listing the functions", diags);
  }
  return names;
}

Status Session::allocate(uint8_t slot, const TensorType& type, Diagnostics& diags) {
  Writer writer;
  writer.number(slot, 1).number(type.code, 1).number(type.bits, 1).number(type.lanes, 2);
  writer.number(type.shape.size(), 1);
  for (uint32_t d : type.shape) writer.number(d, 4);
  auto answer = request(
      AOTC_RPC_ALLOCATE, writer.take(),
      fmt::format("creating tensor {} of {} bytes", slot, with_commas(static_cast<int64_t>(type.bytes()))), diags);
  if (!answer) return kFailure;
  Reader reader(*answer);
  if (reader.number(4) != type.bytes() || reader.failed()) return malformed("creating a tensor", diags);
  return success();
}

template <typename MakeRequest, typename TakeAnswer>
Status Session::transfer(uint8_t type, size_t total, const std::string& what, MakeRequest make, TakeAnswer take,
                         Diagnostics& diags) {
  for (size_t at = 0; at < total;) {
    const size_t count = std::min(piece_, total - at);
    const bool can_shrink = count > kSmallestPiece;
    const int64_t attempts_before = statistics_.attempts;
    Exchange done = exchange(type, make(at, count), {can_shrink ? kPieceAttempts : options_.attempts, false});
    const bool lost = done.outcome == Outcome::kSilent || done.outcome == Outcome::kCorrupted;
    if (lost && can_shrink) {
      piece_ = std::max(kSmallestPiece, std::min(piece_, count) / 4);
      good_pieces_ = 0;
      continue;
    }
    if (done.outcome != Outcome::kAnswered) return report(done, type, what, diags);
    if (!take(done.payload, at, count)) return malformed(what, diags);
    at += count;
    if (statistics_.attempts - attempts_before > 1) {
      good_pieces_ = 0;
    } else if (++good_pieces_ >= kGoodPieces) {
      piece_ = std::min<size_t>(device_.max_payload - kWriteHeader, 2 * piece_);
      good_pieces_ = 0;
    }
  }
  return success();
}

Status Session::upload(uint8_t slot, std::span<const uint8_t> bytes, Diagnostics& diags) {
  auto make = [&](size_t at, size_t count) {
    Writer writer;
    writer.number(slot, 1).number(at, 4).bytes(bytes.subspan(at, count));
    return writer.take();
  };
  auto take = [](const std::vector<uint8_t>& answer, size_t, size_t) { return answer.empty(); };
  return transfer(AOTC_RPC_WRITE, bytes.size(), fmt::format("writing tensor {}", slot), make, take, diags);
}

Result<std::vector<uint8_t>> Session::download(uint8_t slot, size_t bytes, Diagnostics& diags) {
  std::vector<uint8_t> out(bytes);
  auto make = [&](size_t at, size_t count) {
    Writer writer;
    writer.number(slot, 1).number(at, 4).number(count, 2);
    return writer.take();
  };
  auto take = [&](const std::vector<uint8_t>& answer, size_t at, size_t count) {
    if (answer.size() != count) return false;
    std::copy(answer.begin(), answer.end(), out.begin() + static_cast<ptrdiff_t>(at));
    return true;
  };
  if (!transfer(AOTC_RPC_READ, bytes, fmt::format("reading tensor {}", slot), make, take, diags)) return kFailure;
  return out;
}

Status Session::check_status(Reader& answer, size_t fixed, const std::string& name, Diagnostics& diags) const {
  const auto status = static_cast<int32_t>(answer.number(4));
  if (status == 0) return success();
  for (size_t i = 0; i < fixed; ++i) answer.number(1);
  Location where;
  where.file = transport_->name();
  auto& d = diags.error(where, "rpc-failed",
                        fmt::format("function '{}' returned status {}", escape_for_display(name), status));
  std::string text = answer.rest_text();
  if (!text.empty()) d.note("the device reports: " + escape_for_display(text));
  return kFailure;
}

Result<CallResult> Session::call(const std::string& name, const std::vector<Argument>& arguments, Diagnostics& diags) {
  Writer writer;
  put_call(writer, name, arguments);
  const std::string what = fmt::format("calling '{}'", escape_for_display(name));
  auto answer = request(AOTC_RPC_CALL, writer.take(), what, diags);
  if (!answer) return kFailure;
  Reader reader(*answer);
  if (!check_status(reader, 9, name, diags)) return kFailure;
  CallResult out;
  out.code = static_cast<uint8_t>(reader.number(1));
  out.value = reader.number(8);
  if (reader.failed()) return malformed(what, diags);
  return out;
}

namespace {

// Whether the figures fit together, and fit the time that the host waited: a clock may be wrong, but not a
// thousand times.
bool is_possible(const Timing& t, uint32_t repeats, const DeviceInfo& device, Milliseconds took) {
  constexpr double kRoom = 1000;
  constexpr uint64_t kMost = uint64_t{1} << 62;
  const auto runs = static_cast<double>(repeats), total = static_cast<double>(t.total);
  if (t.total > kMost || t.most > t.total || t.least > t.most) return false;
  if (static_cast<double>(t.least) * runs > total * 1.0001 + 1 ||
      static_cast<double>(t.most) * runs < total * 0.9999 - 1)
    return false;
  const double seconds = static_cast<double>(took.count()) / 1000 + 1;
  return device.ticks_per_second == 0 || total <= kRoom * seconds * static_cast<double>(device.ticks_per_second);
}

}  // namespace

Failure Session::impossible(const Timing& t, const std::string& what, Diagnostics& diags) const {
  Location where;
  where.file = transport_->name();
  diags
      .error(where, "rpc-times",
             fmt::format("{}: the device reports impossible times: {} ticks in total, minimum {}, maximum {}", what,
                         t.total, t.least, t.most))
      .help("the clock of the firmware is wrong: create it again with this aotc, or correct clock.hz in board.json");
  return kFailure;
}

Result<Timing> Session::time(const std::string& name, const std::vector<Argument>& arguments, uint32_t repeats,
                             uint32_t warm_up, Diagnostics& diags) {
  Writer writer;
  writer.number(repeats, 4).number(warm_up, 4);
  put_call(writer, name, arguments);
  writer.number(static_cast<uint64_t>(std::min<int64_t>(options_.call_timeout.count(), UINT32_MAX)), 4);
  const std::string what = fmt::format("timing '{}'", escape_for_display(name));
  const Milliseconds begin = transport_->now();
  auto answer = request(AOTC_RPC_TIME, writer.take(), what, diags);
  if (!answer) return kFailure;
  if (Reader status(*answer); static_cast<int32_t>(status.number(4)) == AOTC_RPC_TIME_OVER && !status.failed())
    return report(ended(Outcome::kTimeout), AOTC_RPC_TIME, what, diags);
  Reader reader(*answer);
  if (!check_status(reader, 28, name, diags)) return kFailure;
  Timing out;
  out.total = reader.number(8);
  out.least = reader.number(8);
  out.most = reader.number(8);
  out.empty = reader.number(4);
  if (reader.failed()) return malformed(what, diags);
  if (const Milliseconds took = transport_->now() - begin; !is_possible(out, repeats, device_, took))
    return impossible(out, what, diags);
  return out;
}

Result<std::vector<uint8_t>> Session::event(uint8_t type, const std::vector<uint8_t>& payload, Diagnostics& diags) {
  return request(type, payload, "running the firmware", diags);
}

Status Session::free_slot(uint8_t slot, Diagnostics& diags) {
  Writer writer;
  writer.number(slot, 1);
  return request(AOTC_RPC_FREE, writer.take(), "freeing a tensor", diags) ? success() : Status(kFailure);
}

Status Session::reset(bool reboot, Diagnostics& diags) {
  Writer writer;
  writer.number(reboot ? AOTC_RPC_RESET_REBOOT : AOTC_RPC_RESET_STATE, 1);
  Exchange done = exchange(AOTC_RPC_RESET, writer.take(), {options_.attempts, false});
  // The answer was lost, and the device that is asked again has restarted.
  const bool restarted = reboot && done.outcome == Outcome::kError && done.error == AOTC_RPC_ERROR_SESSION;
  if (done.outcome == Outcome::kAnswered || restarted) return success();
  return report(done, AOTC_RPC_RESET, "resetting", diags);
}

}  // namespace aotc::rpc
