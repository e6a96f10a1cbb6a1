// SPDX-License-Identifier: Apache-2.0
// project-server: TVM's Project API for projects that serve operators (docs/project-api.md).
#include <filesystem>

#include <fmt/format.h>

#include "driver/device.h"
#include "project/embedded.h"
#include "project/generate.h"
#include "project/operators.h"
#include "project/template.h"
#include "rpc/json_rpc.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"

namespace aotc::driver {

namespace {

namespace fs = std::filesystem;
using rpc::Json;
using Error = std::optional<rpc::JsonRpcError>;
using rpc::Milliseconds;

constexpr const char* kServerScript = "microtvm_api_server.py";
constexpr int64_t kMostBytesRead = int64_t{1} << 26;
// A read or write without a time limit of its own still ends.
constexpr Milliseconds kLongestWait{24 * 3600 * 1000};

void report(const Diagnostics& diags, Error& error) {
  error = {rpc::kServerError, diags.all().empty() ? "failed" : diags.all().back().message, diags.str()};
}

Json option(const char* name, const char* type, Json fallback, std::vector<std::string> required,
            std::vector<std::string> optional, const char* help, Json choices = nullptr) {
  auto list = [](const std::vector<std::string>& names) -> Json { return names.empty() ? Json(nullptr) : Json(names); };
  return {{"name", name}, {"choices", std::move(choices)}, {"default", std::move(fallback)},
          {"type", type}, {"required", list(required)},    {"optional", list(optional)},
          {"help", help}};
}

// Kinds of projects that are made of archives of operators.
std::vector<std::string> served_kinds() {
  std::vector<std::string> out;
  Diagnostics ours_are_right;
  for (const std::string& kind : project::template_kinds()) {
    auto description = project::read_description({kind, ""}, ours_are_right);
    if (description && description->takes == "operators") out.push_back(kind);
  }
  return out;
}

Json project_options() {
  Json out = Json::array();
  out.push_back(
      option("project_type", "str", "host_driven", {"generate_project"}, {}, "Kind of project.", served_kinds()));
  out.push_back(
      option("board", "str", nullptr, {"generate_project"}, {}, "Name of the board to build for.", served_boards()));
  out.push_back(option("verbose", "bool", false, {}, {"generate_project", "build"},
                       "Has no effect: a build always prints its errors."));
  for (const char* name : {"pool", "packet", "workspace", "stack_size"})
    out.push_back(option(name, "int", nullptr, {}, {"generate_project"},
                         "Size in bytes; the same as the --project-option of this name in 'aotc create'."));
  out.push_back(option("workspace_size_bytes", "int", nullptr, {}, {"generate_project"}, "The same as workspace."));
  out.push_back(
      option("semihosting", "bool", true, {}, {"generate_project"}, "Set to false for a board without a debugger."));
  out.push_back(option("port", "str", nullptr, {}, {"open_transport"},
                       "Serial device, unix:PATH or tcp:HOST:PORT; default: the emulator."));
  out.push_back(option("baud", "int", 115200, {}, {"open_transport"}, "Rate of a serial device."));
  return out;
}

class ProjectServer {
 public:
  explicit ProjectServer(std::string directory) : directory_(std::move(directory)) {}

  rpc::JsonRpcServer methods() {
    using rpc::ParameterType;
    const std::pair<std::string, ParameterType> options{"options", ParameterType::kObject};
    const std::pair<std::string, ParameterType> timeout{"timeout_sec", ParameterType::kNumberOrNull};
    rpc::JsonRpcServer server;
    auto add = [&](const char* name, std::vector<std::pair<std::string, ParameterType>> parameters,
                   Json (ProjectServer::*method)(const Json&, Error&)) {
      server.add(name, {std::move(parameters),
                        [this, method](const Json& params, Error& error) { return (this->*method)(params, error); }});
    };
    add("server_info_query", {{"tvm_version", ParameterType::kString}}, &ProjectServer::info);
    add("generate_project",
        {{"model_library_format_path", ParameterType::kString},
         {"standalone_crt_dir", ParameterType::kString},
         {"project_dir", ParameterType::kString},
         options},
        &ProjectServer::generate);
    add("build", {options}, &ProjectServer::build);
    add("flash", {options}, &ProjectServer::flash);
    add("open_transport", {options}, &ProjectServer::open_transport);
    add("close_transport", {}, &ProjectServer::close_transport);
    add("read_transport", {{"n", ParameterType::kInteger}, timeout}, &ProjectServer::read_transport);
    add("write_transport", {{"data", ParameterType::kString}, timeout}, &ProjectServer::write_transport);
    return server;
  }

 private:
  std::string model_path() const { return directory_ + "/" + project::kOperatorsFile; }

  Json info(const Json&, Error&) {
    std::error_code ec;
    const bool is_template = !fs::exists(model_path(), ec);
    return {{"platform_name", "aotc"},
            {"is_template", is_template},
            {"model_library_format_path", is_template ? "" : model_path()},
            {"project_options", project_options()},
            {"protocol_version", 1}};
  }

  // The project options of our template that the caller's options say.
  static std::map<std::string, std::string> template_options(const Json& options) {
    std::map<std::string, std::string> out;
    for (const auto& [name, value] : options.items()) {
      const bool ours =
          name == "pool" || name == "packet" || name == "workspace" || name == "stack_size" || name == "semihosting";
      const std::string key = name == "workspace_size_bytes" ? "workspace" : name;
      if ((!ours && key == name) || value.is_null()) continue;
      out[key] = value.is_string() ? value.get<std::string>() : json_text(value);
    }
    return out;
  }

  Json generate(const Json& params, Error& error) {
    const Json& options = params["options"];
    ProjectChoice choice;
    choice.kind = "host_driven";
    if (options.value("project_type", Json()).is_string()) choice.kind = options["project_type"].get<std::string>();
    if (!options.value("board", Json()).is_string()) {
      error = {rpc::kServerError, "option 'board' is required", ""};
      return nullptr;
    }
    choice.options = template_options(options);
    Diagnostics diags;
    OutputDirectory out(params["project_dir"].get<std::string>(), project::kManifest);
    if (!write_operator_project(params["model_library_format_path"].get<std::string>(),
                                options["board"].get<std::string>(), choice, out, diags))
      report(diags, error);
    return nullptr;
  }

  Json build(const Json&, Error& error) {
    Diagnostics diags;
    auto project = open_project(directory_, diags);
    if (!project || build_project(*project, true, diags) != kExitDone) report(diags, error);
    return nullptr;
  }

  // An emulator takes the image when it starts; for a board there is nothing here that flashes.
  Json flash(const Json&, Error& error) {
    Diagnostics diags;
    auto project = open_project(directory_, diags);
    std::error_code ec;
    if (!project) {
      report(diags, error);
    } else if (!fs::exists(project->image(), ec)) {
      error = {rpc::kServerError, "the firmware is not built", ""};
    } else if (project->board.emulator_argv.empty()) {
      error = {rpc::kServerError, fmt::format("flash {} with the vendor's tools for the board", project->image()), ""};
    }
    return nullptr;
  }

  Json open_transport(const Json& params, Error& error) {
    if (transport_) {
      error = {rpc::kServerError, "the transport is already open", ""};
      return nullptr;
    }
    const Json& options = params["options"];
    Diagnostics diags;
    pending_.clear();
    if (options.value("port", Json()).is_string()) {
      rpc::PortOptions settings;
      if (options.value("baud", Json()).is_number_integer()) settings.baud = options["baud"].get<int>();
      if (auto opened = rpc::open_port(options["port"].get<std::string>(), settings, diags))
        transport_ = std::move(*opened);
    } else {
      start_emulator(diags);
    }
    if (!transport_) {
      report(diags, error);
      return nullptr;
    }
    return {{"timeouts",
             {{"session_start_retry_timeout_sec", 2.0},
              {"session_start_timeout_sec", 20.0},
              {"session_established_timeout_sec", 60.0}}}};
  }

  void start_emulator(Diagnostics& diags) {
    auto project = open_project(directory_, diags);
    if (!project) return;
    if (auto started = start_board(*project, diags)) transport_ = std::move(*started);
  }

  Json close_transport(const Json&, Error& error) {
    if (!transport_) error = closed();
    transport_.reset();
    return nullptr;
  }

  static rpc::JsonRpcError closed() { return {rpc::kServerError, "TransportClosedError", ""}; }
  static rpc::JsonRpcError late() { return {rpc::kServerError, "IoTimeoutError", ""}; }

  static Milliseconds wait_of(const Json& timeout) {
    if (timeout.is_null()) return kLongestWait;
    const double seconds = timeout.get<double>();
    const double most = static_cast<double>(kLongestWait.count());
    return Milliseconds(static_cast<int64_t>(seconds > 0 ? std::min(seconds * 1000, most) : 0.0));
  }

  // Exactly n bytes or an error; what came of them before the error is kept for the next read.
  Json read_transport(const Json& params, Error& error) {
    const auto count = params["n"].get<int64_t>();
    if (count < 0 || count > kMostBytesRead) {
      error = {rpc::kInvalidParams, "parameter 'n' is out of range", ""};
      return nullptr;
    }
    if (!transport_) {
      error = closed();
      return nullptr;
    }
    const auto wanted = static_cast<size_t>(count);
    const Milliseconds deadline = transport_->now() + wait_of(params["timeout_sec"]);
    while (pending_.size() < wanted) {
      const Milliseconds left = std::max(Milliseconds(0), deadline - transport_->now());
      const rpc::ReadState state = transport_->read(pending_, left);
      if (state == rpc::ReadState::kData) continue;
      error = state == rpc::ReadState::kClosed ? closed() : late();
      return nullptr;
    }
    Json out = {{"data", rpc::base85_encode({pending_.data(), wanted})}};
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(wanted));
    return out;
  }

  Json write_transport(const Json& params, Error& error) {
    auto bytes = rpc::base85_decode(params["data"].get_ref<const std::string&>());
    if (!bytes) {
      error = {rpc::kInvalidParams, "parameter 'data' is not in base 85", ""};
      return nullptr;
    }
    if (!transport_) {
      error = closed();
      return nullptr;
    }
    if (transport_->write(*bytes, wait_of(params["timeout_sec"]))) return nullptr;
    std::vector<uint8_t> rest;
    const bool gone = transport_->read(rest, Milliseconds(0)) == rpc::ReadState::kClosed;
    pending_.insert(pending_.end(), rest.begin(), rest.end());
    error = gone ? closed() : late();
    return nullptr;
  }

  std::string directory_;
  std::unique_ptr<rpc::Transport> transport_;
  std::vector<uint8_t> pending_;  // read from the device, but not yet asked for
};

// A folder that TVM's client takes for a template: the script that it launches, and nothing else.
int write_template(const std::string& path) {
  Diagnostics diags;
  OutputDirectory out(path, "");
  const project::EmbeddedFile* script = project::find_embedded(fmt::format("templates/host_driven/{}", kServerScript));
  if (script != nullptr) out.add(kServerScript, std::string(script->content), true);
  const bool written = out.commit(diags).ok();
  print_diagnostics(diags);
  return written ? kExitDone : kExitBadInput;
}

struct ServerOptions {
  int read_fd = -1, write_fd = -1;
  bool debug = false;
  std::string template_dir;
};

int serve(const ServerOptions& options) {
  if (!options.template_dir.empty()) return write_template(options.template_dir);
  if (options.read_fd < 0 || options.write_fd < 0) {
    print_err("aotc: project-server needs --read-fd and --write-fd, or --template\n");
    return kExitUsage;
  }
  std::error_code ec;
  ProjectServer server(fs::current_path(ec).string());
  return server.methods().serve(options.read_fd, options.write_fd) ? kExitDone : kExitBadInput;
}

}  // namespace

options::Command project_server_declaration() {
  auto o = std::make_shared<ServerOptions>();
  return {.name = "project-server",
          .summary = "Serve the project in this directory through TVM's Project API",
          .options = {{.names = "--read-fd",
                       .value = "FD",
                       .target = &o->read_fd,
                       .help = "Read requests from this file descriptor"},
                      {.names = "--write-fd",
                       .value = "FD",
                       .target = &o->write_fd,
                       .help = "Write answers to this file descriptor"},
                      {.names = "--debug", .target = &o->debug, .help = "Accepted without effect"},
                      {.names = "--template",
                       .value = "DIRECTORY",
                       .target = &o->template_dir,
                       .help = "Write a template directory for TVM's client, and exit",
                       .takes = options::Takes::kDirectory}},
          .run = [o] { return serve(*o); }};
}

}  // namespace aotc::driver
