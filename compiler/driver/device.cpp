// SPDX-License-Identifier: Apache-2.0
#include "driver/device.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/inputs.h"
#include "project/description.h"
#include "project/operators.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::driver {

namespace {

namespace fs = std::filesystem;

bool is_port(const std::string& target) {
  std::error_code ec;
  return target.starts_with("unix:") || target.starts_with("tcp:") || fs::is_character_file(target, ec);
}

size_t scalar_bytes(const rpc::TensorType& type) { return (type.bits + 7u) / 8u; }

double real_at(const rpc::TensorType& type, const uint8_t* at) {
  if (type.bits == 64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

bool is_real(const rpc::TensorType& type) { return type.code == 2 && (type.bits == 32 || type.bits == 64); }

int64_t integer_at(const rpc::TensorType& type, const uint8_t* at) {
  uint64_t raw = 0;
  std::memcpy(&raw, at, scalar_bytes(type));
  const unsigned unused = 64 - 8 * static_cast<unsigned>(scalar_bytes(type));
  if (type.code == 0) return static_cast<int64_t>(raw << unused) >> unused;
  return static_cast<int64_t>(raw);
}

}  // namespace

const mlf::OperatorInfo* OpenDevice::find(const std::string& name) const {
  for (const mlf::OperatorInfo& op : operators)
    if (op.name == name) return &op;
  return nullptr;
}

std::string OpenDevice::unit() const {
  const rpc::DeviceInfo& d = session->device();
  if (d.ticks_are_instructions) return "instructions";
  return d.ticks_per_second == 1000000000 ? "nanoseconds" : "ticks";
}

std::vector<std::string> served_boards() {
  std::vector<std::string> out;
  Diagnostics ours_are_right;
  auto firmware = project::read_description(project::OperatorProject().source, ours_are_right);
  for (const std::string& name : project::board_names()) {
    auto board = project::find_board(name, ours_are_right);
    if (!board || board->emulator_argv.empty() || board->stand_in) continue;
    const bool supported = firmware && std::any_of(firmware->platforms.begin(), firmware->platforms.end(),
                                                   [&](const auto& p) { return p.name == board->platform; });
    if (supported) out.push_back(name);
  }
  return out;
}

Result<std::unique_ptr<rpc::Transport>> start_board(const ProjectDir& project, Diagnostics& diags) {
  Location where;
  where.file = project.path;
  if (!require_image(project, diags)) return kFailure;
  const std::string image = fs::absolute(project.image()).string();
  auto argv = project::emulator_command(project.board, image, {});
  if (argv.empty()) {
    diags.error(where, "no-emulator", fmt::format("board '{}' has no emulator", project.board.name))
        .help("flash the image with the vendor's tools for the board, and name the board's port with --port");
    return kFailure;
  }
  return rpc::start_program(argv, "", diags);
}

Result<OpenDevice> open_device(const DeviceChoice& choice, Diagnostics& diags) {
  OpenDevice out;
  std::string port = choice.port;
  if (is_port(choice.target)) {
    port = choice.target;
  } else {
    auto project = open_project(choice.target, diags);
    if (!project) return kFailure;
    out.operators = project::operators_of_manifest(project->manifest);
    if (out.operators.empty()) {
      Location where;
      where.file = choice.target;
      diags.error(where, "project-invalid", "the directory is not a host-driven project, which serves operators")
          .help("create such a project: aotc create ARCHIVE.tar --project host-driven --board BOARD");
      return kFailure;
    }
    out.project = std::move(*project);
  }
  rpc::PortOptions options;
  options.baud = choice.baud;
  auto transport = port.empty() ? start_board(*out.project, diags) : rpc::open_port(port, options, diags);
  if (!transport) return kFailure;
  rpc::SessionOptions session;
  session.call_timeout = std::chrono::seconds(choice.timeout);
  auto opened = rpc::Session::open(std::move(*transport), session, diags);
  if (!opened) return kFailure;
  out.session = std::move(*opened);
  return out;
}

Result<rpc::TensorType> tensor_type(const std::string& dtype, const std::vector<int64_t>& shape, Diagnostics& diags) {
  rpc::TensorType type;
  using tvm::DataType;
  auto named = tvm::data_type_from_name(dtype);
  bool good = named && named->code <= DataType::kFloat && named->bits <= 64 && named->lanes <= 999;
  if (good) {
    type.code = named->code;
    type.bits = named->bits;
    type.lanes = named->lanes;
  }
  for (int64_t d : shape) {
    good = good && d >= 0 && d <= UINT32_MAX;
    type.shape.push_back(static_cast<uint32_t>(d));
  }
  if (good) return type;
  diags
      .error({}, "operators-type",
             fmt::format("'{}' is not an element type that devices support", escape_for_display(dtype)))
      .help("examples of types: int8, uint16, float32, bool, int8x4");
  return kFailure;
}

std::vector<uint8_t> random_values(const rpc::TensorType& type, uint64_t seed) {
  uint64_t state = seed * 0x2545F4914F6CDD1Dull + 1;
  std::vector<uint8_t> bytes(type.bytes());
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (is_real(type) && i % scalar_bytes(type) == 0) {
      const double unit = static_cast<double>(next_random(state) >> 11) / 4503599627370496.0 - 1.0;
      const auto single = static_cast<float>(unit);
      if (type.bits == 64) std::memcpy(&bytes[i], &unit, 8);
      else std::memcpy(&bytes[i], &single, 4);
    } else if (!is_real(type)) {
      bytes[i] = static_cast<uint8_t>(next_random(state) >> 56);
      if (type.bits == 1) bytes[i] &= 1;
    }
  }
  return bytes;
}

std::string values_text(const rpc::TensorType& type, const std::vector<uint8_t>& bytes, size_t most) {
  std::string out;
  const size_t step = scalar_bytes(type);
  size_t i = 0;
  for (; (i + 1) * step <= bytes.size() && i < most; ++i) {
    if (i > 0) out += ' ';
    out += is_real(type) ? fmt::format("{:.6g}", real_at(type, &bytes[i * step]))
                         : std::to_string(integer_at(type, &bytes[i * step]));
  }
  return (i + 1) * step <= bytes.size() ? out + " ..." : out;
}

nlohmann::ordered_json values_json(const rpc::TensorType& type, const std::vector<uint8_t>& bytes) {
  auto out = nlohmann::ordered_json::array();
  const size_t step = scalar_bytes(type);
  for (size_t i = 0; (i + 1) * step <= bytes.size(); ++i) {
    if (is_real(type)) out.push_back(real_at(type, &bytes[i * step]));
    else out.push_back(integer_at(type, &bytes[i * step]));
  }
  return out;
}

Result<std::vector<rpc::Argument>> place_parameters(rpc::Session& session, const std::vector<rpc::TensorType>& types,
                                                    const std::vector<std::vector<uint8_t>>& values,
                                                    Diagnostics& diags) {
  if (!session.free_slot(0xFF, diags)) return kFailure;
  std::vector<rpc::Argument> arguments;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto slot = static_cast<uint8_t>(std::min<size_t>(i, 0xFE));
    if (!session.allocate(slot, types[i], diags)) return kFailure;
    if (i < values.size() && !values[i].empty() && !session.upload(slot, values[i], diags)) return kFailure;
    arguments.push_back(rpc::Argument::tensor(slot));
  }
  return arguments;
}

}  // namespace aotc::driver
