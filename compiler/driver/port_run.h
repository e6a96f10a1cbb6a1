// SPDX-License-Identifier: Apache-2.0
// Firmware on the board itself, at a port: run and verify with --port. The counterpart of run_firmware
// of project_dir.h, which runs it in an emulator.
#pragma once

#include <string>

#include "driver/project_dir.h"

namespace aotc::driver {

struct PortChoice {
  std::string port;  // a serial device, unix:PATH or tcp:HOST:PORT; empty: not given
  int baud = 115200;
};

enum class PortMode { kDemo, kVerify, kOutputs };

// `in` and `out` are files of the verify mode; `most_out` bytes are more than the results are. Reports
// [device-timeout], [device-flood], [firmware-other], and what rpc/ reports.
Result<FirmwareRun> run_on_port(const ProjectDir& project, const PortChoice& choice, PortMode mode, const std::string& in,
                                const std::string& out, uint64_t most_out, int timeout_seconds, Diagnostics& diags);

}  // namespace aotc::driver
