// SPDX-License-Identifier: Apache-2.0
// Session: a reliable connection to the operators of a device. Even if the line is disturbed, every method ends in
// bounded time with a correct answer or a reported error. A function is never executed twice for one call.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rpc/packet.h"
#include "rpc/transport.h"
#include "support/diagnostics.h"
#include "support/dtype.h"

namespace aotc::rpc {

struct SessionOptions {
  // `wait`: time after which an unanswered request is sent again. It grows by half with each attempt, up to
  // `longest_wait`.
  Milliseconds wait{200}, longest_wait{2000};
  int attempts = 12;
  // Time limit of a function.
  Milliseconds call_timeout{60000};
  // Help text of the error if the device does not answer; empty: the help for host-driven projects.
  std::string silent_help;
  // The number of the session; 0: a random number.
  uint32_t nonce = 0;
};

struct DeviceInfo {
  uint32_t max_payload = 0, function_count = 0, slots = 0, max_dims = 0, max_args = 0;
  uint32_t pool_bytes = 0;
  bool ticks_are_instructions = false, big_endian = false, can_reboot = false;
  uint64_t ticks_per_second = 0;
  std::string board;
  // Only for firmware that contains a model: the model's prefix, and a number that identifies the firmware.
  bool runs_model = false;
  std::string model;
  uint32_t firmware_id = 0;
};

struct TensorType {
  uint8_t code = 0;  // DLDataTypeCode: 0 int, 1 uint, 2 float
  uint8_t bits = 8;
  uint16_t lanes = 1;
  std::vector<uint32_t> shape;

  uint64_t bytes() const;
};

struct Argument {
  enum class Kind { kTensor, kInt, kFloat, kNull };
  Kind kind = Kind::kTensor;
  uint8_t slot = 0;
  int64_t integer = 0;
  double real = 0;

  static Argument tensor(uint8_t slot);
  static Argument of_int(int64_t value);
  static Argument of_float(double value);
};

struct CallResult {
  uint8_t code = 0;  // TVMArgTypeCode of the value returned; 4: none
  uint64_t value = 0;
};

struct Timing {
  uint64_t total = 0, least = 0, most = 0;  // ticks: of all repeats, of the shortest, of the longest
  uint64_t empty = 0;                       // ticks of an empty measurement; already subtracted from each repeat
};

// Errors on the line, for tests and reports.
struct LineStatistics {
  int64_t requests = 0, attempts = 0, damaged = 0;
};

class Session {
 public:
  // Opens a session by the request HELLO. Every method reports [rpc-silent], [rpc-corrupted], [rpc-closed],
  // [rpc-rebooted], [rpc-version], [rpc-refused], and the errors that its own comment names.
  static Result<std::unique_ptr<Session>> open(std::unique_ptr<Transport> transport, const SessionOptions& options,
                                               Diagnostics& diags);

  const DeviceInfo& device() const { return device_; }
  Transport& transport() { return *transport_; }
  const LineStatistics& statistics() const { return statistics_; }

  // The names of the device's functions, in the order of their indices. Reports [rpc-too-large] if a name does not fit
  // a packet.
  Result<std::vector<std::string>> functions(Diagnostics& diags);

  // Creates a tensor of zeros in a slot, and frees the tensor that was in the slot. Reports [rpc-memory].
  Status allocate(uint8_t slot, const TensorType& type, Diagnostics& diags);
  Status upload(uint8_t slot, std::span<const uint8_t> bytes, Diagnostics& diags);
  Result<std::vector<uint8_t>> download(uint8_t slot, size_t bytes, Diagnostics& diags);
  // Calls a function. Also reports [rpc-function], [rpc-timeout], and [rpc-failed] if the function's status is not 0.
  Result<CallResult> call(const std::string& name, const std::vector<Argument>& arguments, Diagnostics& diags);
  // Measures a function. The time limit of a call applies to all runs together. Also reports the errors of `call`, and
  // [rpc-times] for impossible times.
  Result<Timing> time(const std::string& name, const std::vector<Argument>& arguments, uint32_t repeats,
                      uint32_t warm_up, Diagnostics& diags);
  Status free_slot(uint8_t slot, Diagnostics& diags);  // 0xFF: all
  // Only for firmware that contains a model: sends RUN or CONTINUE and returns the event with which the device answers.
  // Also reports [rpc-timeout].
  Result<std::vector<uint8_t>> event(uint8_t type, const std::vector<uint8_t>& payload, Diagnostics& diags);
  // Frees all tensors; with `reboot` the device restarts and the session ends.
  Status reset(bool reboot, Diagnostics& diags);

 private:
  enum class Outcome { kAnswered, kError, kSilent, kCorrupted, kClosed, kTimeout };
  struct Exchange {
    Outcome outcome = Outcome::kSilent;
    std::vector<uint8_t> payload;
    uint16_t error = 0;
    uint32_t detail = 0;
  };
  static Exchange ended(Outcome outcome) { return {outcome, {}, 0, 0}; }
  struct Limits {
    int attempts = 0;
    bool executes = false;  // CALL and TIME: the device may run a function before it answers
  };

  Session(std::unique_ptr<Transport> transport, const SessionOptions& options);
  Status greet(Diagnostics& diags);
  // Sends a request with a new sequence number, again and again until the device answers or a limit is reached.
  Exchange exchange(uint8_t type, const std::vector<uint8_t>& payload, Limits limits);
  // Waits once for the answer to the last request; kSilent if none arrived.
  Exchange await_answer(uint8_t type, uint16_t sequence, Milliseconds until, bool& working, Milliseconds& deadline,
                        int64_t& heard);
  // Like `exchange`, but reports errors.
  Result<std::vector<uint8_t>> request(uint8_t type, const std::vector<uint8_t>& payload, const std::string& what,
                                       Diagnostics& diags);
  Failure report(const Exchange& failed, uint8_t type, const std::string& what, Diagnostics& diags) const;
  // The text that crashed firmware printed; empty if it did not crash.
  std::string crash_text() const;
  Failure impossible(const Timing& timing, const std::string& what, Diagnostics& diags) const;
  Failure malformed(const std::string& what, Diagnostics& diags) const;
  // Transfers `total` bytes in the largest pieces that the line permits.
  template <typename MakeRequest, typename TakeAnswer>
  Status transfer(uint8_t type, size_t total, const std::string& what, MakeRequest make, TakeAnswer take,
                  Diagnostics& diags);
  Status check_status(Reader& answer, size_t fixed, const std::string& name, Diagnostics& diags) const;

  std::unique_ptr<Transport> transport_;
  SessionOptions options_;
  DeviceInfo device_;
  Decoder decoder_;
  LineStatistics statistics_;
  std::string heard_;  // the last bytes received, valid or not
  uint32_t nonce_ = 0;
  uint16_t sequence_ = 0;
  size_t piece_ = 0;     // present number of tensor bytes in a packet
  int good_pieces_ = 0;  // pieces sent without errors since piece_ changed
};

}  // namespace aotc::rpc
