// SPDX-License-Identifier: Apache-2.0
// Compares the output of a firmware's verify mode with the reference evaluation, layer by layer. Layers are compared
// bit for bit. Exceptions are float layers that depend on the C library's exp or tanh: they have a tolerance or are not
// compared (RunTolerances).
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "driver/commands.h"
#include "driver/run_sequence.h"

namespace aotc::driver {

struct DeviceRecord {
  uint32_t sample, op, result;
  std::span<const uint8_t> data;

  bool is_output() const { return op == 0xFFFFFFFE; }  // true: `result` is the output's index
};

struct DeviceSummary {
  int32_t status = 0;
  uint32_t stack_bytes = 0, guard_ok = 0;
  uint64_t length = 0;
};

// The content of a results file, in the format that templates/bare_metal/src/main.c writes.
struct DeviceResults {
  std::vector<DeviceRecord> records;  // of layers and outputs; their data points into the file
  std::vector<int64_t> op_ticks;
  DeviceSummary summary;
  bool well_formed = false, ended = false;
  bool times_possible = true;  // false if a time is negative or implausibly long
};
DeviceResults read_results(std::span<const uint8_t> file);

// Compares the results of one place (host or board) with the reference.
class Comparison {
 public:
  Comparison(const Compiled& compiled, std::string place, const RunSequence& sequence, Diagnostics& diags);

  // True if everything agrees. Reports [verify-differs], [verify-device], [verify-guard], [verify-loop].
  bool compare(const DeviceResults& results);

  int layers() const { return static_cast<int>(layers_.size()); }
  int64_t worst_ulp() const;
  // exact_layers: number of layers that agree bit for bit. layers_not_compared: number of layers with a result that
  // cannot be compared.
  int exact_layers() const;
  int layers_not_compared() const;

 private:
  struct Layer {
    int64_t worst_ulp = 0;
    bool not_compared = false;
  };
  // A tensor whose rows arrive one by one.
  struct Rows {
    graph::TensorId id;
    size_t layer = 0;
    std::vector<size_t> bytes;  // by sample: number of bytes received
  };

  void expect_calls();
  bool bad_file();
  bool all_came();
  bool layer(const DeviceRecord& r);
  bool row(const DeviceRecord& r, const plan::ProgramCall& call, Rows& rows);
  bool output(const DeviceRecord& r);
  bool same_types_as_original(graph::TensorId id, graph::TensorId before) const;
  std::vector<uint8_t> value_of(const graph::Graph& g, graph::TensorId id, uint32_t sample,
                                const std::vector<RunValues>& values) const;
  bool equal(const DeviceRecord& r, const std::vector<uint8_t>& want, const graph::Tensor& tensor,
             const ops::Tolerance& allowed, const std::string& title, int64_t* worst);

  const Compiled& compiled_;
  Location where_;
  Diagnostics& diags_;
  std::vector<Layer> layers_;            // by call, then the tensors that arrive row by row
  std::vector<std::vector<Rows>> rows_;  // by call
  std::vector<Sample> inputs_;
  std::vector<RunTolerances> tolerances_;  // tolerances of each run
  std::vector<RunValues> reference_, original_;
  // By sample and call: the results that are still expected. Results of devices that run in parallel to the host arrive
  // late.
  std::vector<std::vector<std::deque<const CallResult*>>> expected_;
};

}  // namespace aotc::driver
