// SPDX-License-Identifier: Apache-2.0
// OpenDevice: a connection to a device that runs operators, for the commands rpc and bench. It uses the emulator of a
// project, or a port.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/commands.h"
#include "driver/project_dir.h"
#include "mlf/metadata.h"
#include "rpc/session.h"

namespace aotc::driver {

struct DeviceChoice {
  std::string target;  // a project directory, or a port
  std::string port;    // with a project: use this port instead of its emulator
  int baud = 115200;
  int timeout = 60;  // seconds that a function may run
};

struct OpenDevice {
  std::unique_ptr<rpc::Session> session;
  std::optional<ProjectDir> project;
  std::vector<mlf::OperatorInfo> operators;  // the device's operators and their parameters; only with a project

  // nullptr if `operators` does not contain the name.
  const mlf::OperatorInfo* find(const std::string& name) const;
  // The unit of the device's times: "instructions", "nanoseconds" or "ticks".
  std::string unit() const;
};

// Boards that support host-driven firmware and for which an emulator exists. The list excludes boards that aotc
// emulates on a different board with the same core (a stand-in).
std::vector<std::string> served_boards();

// Starts the project's firmware in its emulator. Reports [not-built], [no-emulator], [tool-missing].
Result<std::unique_ptr<rpc::Transport>> start_board(const ProjectDir& project, Diagnostics& diags);

// Starts the emulator or opens the port, and opens a session. Reports [not-built], [project-invalid], [no-emulator],
// and the errors of rpc/.
Result<OpenDevice> open_device(const DeviceChoice& choice, Diagnostics& diags);

// Parses "int8", "float32", "uint8x4". Reports [operators-type].
Result<rpc::TensorType> tensor_type(const std::string& dtype, const std::vector<int64_t>& shape, Diagnostics& diags);

// Random values for a parameter: integers over their full range, floats in [-1, 1). Deterministic for a seed.
std::vector<uint8_t> random_values(const rpc::TensorType& type, uint64_t seed);
// The first `most` values as text: "1 -2 3 ...".
std::string values_text(const rpc::TensorType& type, const std::vector<uint8_t>& bytes, size_t most);
nlohmann::ordered_json values_json(const rpc::TensorType& type, const std::vector<uint8_t>& bytes);

// Creates a tensor on the device for each parameter, in slots 0, 1, ..., and returns the arguments of a call. `values`:
// by parameter; empty or missing: zeros.
Result<std::vector<rpc::Argument>> place_parameters(rpc::Session& session, const std::vector<rpc::TensorType>& types,
                                                    const std::vector<std::vector<uint8_t>>& values,
                                                    Diagnostics& diags);

}  // namespace aotc::driver
