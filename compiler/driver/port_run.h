// SPDX-License-Identifier: Apache-2.0
// Runs firmware on a real board through a port, for run and verify with --port. For emulators, see run_firmware in
// project_dir.h.
#pragma once

#include <string>

#include "driver/project_dir.h"

namespace aotc::driver {

struct PortChoice {
  std::string port;  // a serial device, unix:PATH or tcp:HOST:PORT; empty: none
  int baud = 115200;
};

enum class PortMode { kDemo, kVerify, kOutputs };

// `in` and `out` are files of the verify mode; `most_out`: maximal size of `out` in bytes. Reports [device-timeout],
// [device-flood], [firmware-other], and the errors of rpc/.
Result<FirmwareRun> run_on_port(const ProjectDir& project, const PortChoice& choice, PortMode mode,
                                const std::string& in, const std::string& out, uint64_t most_out, int timeout_seconds,
                                Diagnostics& diags);

}  // namespace aotc::driver
