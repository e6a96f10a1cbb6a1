// SPDX-License-Identifier: Apache-2.0
// Operators on a device, as rpc and bench reach them: the project that serves them, or a port.
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
  std::string port;    // with a project: not its emulator, but what is at this port
  int baud = 115200;
  int timeout = 60;  // seconds that a function may run
};

struct OpenDevice {
  std::unique_ptr<rpc::Session> session;
  std::optional<ProjectDir> project;
  std::vector<mlf::OperatorInfo> operators;  // what is known of their parameters

  // nullptr if the project does not know it.
  const mlf::OperatorInfo* find(const std::string& name) const;
  // "instructions", or the ticks of the device's clock.
  std::string unit() const;
};

// Boards whose operators can be called here: those with an emulator that is no stand-in.
std::vector<std::string> served_boards();

// The project's firmware in its emulator. Reports [not-built], [no-emulator], [tool-missing].
Result<std::unique_ptr<rpc::Transport>> start_board(const ProjectDir& project, Diagnostics& diags);

// Starts the emulator or opens the port, and greets the device. Reports [not-built],
// [project-invalid], [no-emulator], and what rpc/ reports.
Result<OpenDevice> open_device(const DeviceChoice& choice, Diagnostics& diags);

// "int8", "float32", "uint8x4". Reports [operators-type].
Result<rpc::TensorType> tensor_type(const std::string& dtype, const std::vector<int64_t>& shape,
                                    Diagnostics& diags);

// Values for a parameter: any integers, floats in [-1, 1). The same for a seed.
std::vector<uint8_t> random_values(const rpc::TensorType& type, uint64_t seed);
// The first values as text: "1 -2 3 ...".
std::string values_text(const rpc::TensorType& type, const std::vector<uint8_t>& bytes,
                        size_t most);
nlohmann::ordered_json values_json(const rpc::TensorType& type, const std::vector<uint8_t>& bytes);

// Makes a tensor in each slot for the operator's parameters, with these values where given (else
// zeros); the arguments for a call.
Result<std::vector<rpc::Argument>> place_parameters(rpc::Session& session,
                                                    const std::vector<rpc::TensorType>& types,
                                                    const std::vector<std::vector<uint8_t>>& values,
                                                    Diagnostics& diags);

}  // namespace aotc::driver
