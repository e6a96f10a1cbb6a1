// SPDX-License-Identifier: Apache-2.0
// A conversation with the operators of a device. The one thing to know: whatever the line does, a
// method ends with a right answer or with a reported error, in bounded time, and a function that
// was called is never executed twice for one call.
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
  // Of a request that is not answered: how long to wait, and how often to send it in all. The wait
  // grows by half from one attempt to the next, up to the longest.
  Milliseconds wait{200}, longest_wait{2000};
  int attempts = 12;
  // How long a function may run.
  Milliseconds call_timeout{60000};
  // What a silent device may lack, for people; empty: that it is one of a host-driven project.
  std::string silent_help;
  // 0: a random number.
  uint32_t nonce = 0;
};

struct DeviceInfo {
  uint32_t max_payload = 0, function_count = 0, slots = 0, max_dims = 0, max_args = 0;
  uint32_t pool_bytes = 0;
  bool ticks_are_instructions = false, big_endian = false, can_reboot = false;
  uint64_t ticks_per_second = 0;
  std::string board;
  // Of firmware around a model: its prefix, and the number of this code.
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
  uint64_t total = 0, least = 0, most = 0;  // ticks, of the repeats
  uint64_t empty = 0;                       // what was taken off each
};

// What the line did, for tests and reports.
struct LineStatistics {
  int64_t requests = 0, attempts = 0, damaged = 0;
};

class Session {
 public:
  // Sends HELLO. All methods report [rpc-silent], [rpc-corrupted], [rpc-closed], [rpc-rebooted],
  // [rpc-version], [rpc-refused], and what they name themselves.
  static Result<std::unique_ptr<Session>> open(std::unique_ptr<Transport> transport,
                                               const SessionOptions& options, Diagnostics& diags);

  const DeviceInfo& device() const { return device_; }
  Transport& transport() { return *transport_; }
  const LineStatistics& statistics() const { return statistics_; }

  // Names in the order of their indices. [rpc-too-large] if one does not fit a packet.
  Result<std::vector<std::string>> functions(Diagnostics& diags);

  // Makes a tensor of zeros in a slot; what was in it goes. [rpc-memory].
  Status allocate(uint8_t slot, const TensorType& type, Diagnostics& diags);
  Status upload(uint8_t slot, std::span<const uint8_t> bytes, Diagnostics& diags);
  Result<std::vector<uint8_t>> download(uint8_t slot, size_t bytes, Diagnostics& diags);
  // Also [rpc-function], [rpc-failed] if its status is not 0, [rpc-timeout].
  Result<CallResult> call(const std::string& name, const std::vector<Argument>& arguments,
                          Diagnostics& diags);
  // All runs together have the time of a call. Also [rpc-times] for figures that cannot be.
  Result<Timing> time(const std::string& name, const std::vector<Argument>& arguments,
                      uint32_t repeats, uint32_t warm_up, Diagnostics& diags);
  Status free_slot(uint8_t slot, Diagnostics& diags);  // 0xFF: all
  // Of firmware around a model: RUN or CONTINUE, and the event that it answers with. Also [rpc-timeout].
  Result<std::vector<uint8_t>> event(uint8_t type, const std::vector<uint8_t>& payload, Diagnostics& diags);
  // Forgets all tensors; with `reboot` the device restarts and the session is over.
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
    bool executes = false;  // CALL and TIME: the device may work before it answers
  };

  Session(std::unique_ptr<Transport> transport, const SessionOptions& options);
  Status greet(Diagnostics& diags);
  // Sends a request under a new number until it is answered.
  Exchange exchange(uint8_t type, const std::vector<uint8_t>& payload, Limits limits);
  // One wait for the answer to what was sent; kSilent if none came.
  Exchange await_answer(uint8_t type, uint16_t sequence, Milliseconds until, bool& working,
                        Milliseconds& deadline, int64_t& heard);
  // As `exchange`, and says what went wrong.
  Result<std::vector<uint8_t>> request(uint8_t type, const std::vector<uint8_t>& payload,
                                       const std::string& what, Diagnostics& diags);
  Failure report(const Exchange& failed, uint8_t type, const std::string& what,
                 Diagnostics& diags) const;
  // What the firmware said in plain text when it crashed; empty if it did not.
  std::string crash_text() const;
  Failure impossible(const Timing& timing, const std::string& what, Diagnostics& diags) const;
  Failure malformed(const std::string& what, Diagnostics& diags) const;
  // Moves `total` bytes in pieces as large as the line takes.
  template <typename MakeRequest, typename TakeAnswer>
  Status transfer(uint8_t type, size_t total, const std::string& what, MakeRequest make,
                  TakeAnswer take, Diagnostics& diags);
  Status check_status(Reader& answer, size_t fixed, const std::string& name,
                      Diagnostics& diags) const;

  std::unique_ptr<Transport> transport_;
  SessionOptions options_;
  DeviceInfo device_;
  Decoder decoder_;
  LineStatistics statistics_;
  std::string heard_;  // the last bytes that came, whatever they were
  uint32_t nonce_ = 0;
  uint16_t sequence_ = 0;
  size_t piece_ = 0;     // bytes of tensors in a packet
  int good_pieces_ = 0;  // since it was changed
};

}  // namespace aotc::rpc
