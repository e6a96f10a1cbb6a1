// SPDX-License-Identifier: Apache-2.0
#include "driver/project_dir.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "driver/terminal.h"
#include "rpc/session.h"
#include "support/files.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using rpc::Milliseconds;

// Firmware on a framework prints its demo when it starts: how long nothing may come.
constexpr Milliseconds kLongestSilence{10000};

constexpr const char* kSilentHelp =
    "check that this project is on the board ('aotc flash'), that it was built without semihosting, and that it uses "
    "this baud rate; reset the board if the firmware has crashed";

Location at(const PortChoice& choice) {
  Location where;
  where.file = choice.port;
  return where;
}

// The conversation of docs/rpc.md, "Firmware around a model".
class Conversation {
 public:
  Conversation(rpc::Session& session, const PortChoice& choice, Milliseconds limit, Diagnostics& diags)
      : session_(session), choice_(choice), limit_(limit), diags_(diags) {}

  // Whether the board has the firmware of this project.
  bool is_of(const ProjectDir& project) {
    const rpc::DeviceInfo& d = session_.device();
    const std::string prefix = project.manifest.value("prefix", "");
    if (d.runs_model && d.board == project.board.name && d.model == prefix &&
        d.firmware_id == project.manifest.value("firmware_id", uint32_t{0}))
      return true;
    diags_
        .error(at(choice_), "firmware-other",
               !d.runs_model
                   ? fmt::format("the board ({}) serves operators and has no model to run", escape_for_display(d.board))
                   : fmt::format("the board runs other firmware: '{}' for {}{}", escape_for_display(d.model),
                                 escape_for_display(d.board),
                                 d.model == prefix && d.board == project.board.name ? ", with different code" : ""))
        .help("write the firmware of this project to the board: aotc build, then aotc flash " +
              shell_quoted(project.path));
    return false;
  }

  bool run(uint8_t mode, const std::vector<uint8_t>& in, uint64_t most_out) {
    const Milliseconds deadline = session_.transport().now() + limit_;
    std::vector<uint8_t> payload = {mode};
    uint8_t type = AOTC_RPC_RUN;
    while (true) {
      auto event = session_.event(type, payload, diags_);
      if (!event) return false;
      type = AOTC_RPC_CONTINUE;
      payload.clear();
      rpc::Reader reader(*event);
      const uint64_t kind = reader.number(1);
      if (kind == AOTC_RPC_EVENT_DONE && reader.left() == 4) {
        exit_code = static_cast<int>(reader.number(4));
        return true;
      }
      if (kind == AOTC_RPC_EVENT_TEXT) {
        text += reader.rest_text();
        if (text.size() > kMostProcessOutput) return flooded("printed", kMostProcessOutput);
      } else if (kind == AOTC_RPC_EVENT_READ && reader.left() == 6) {
        const size_t offset = std::min<size_t>(reader.number(4), in.size());
        const size_t count = std::min<size_t>(reader.number(2), in.size() - offset);
        payload.assign(in.begin() + static_cast<ptrdiff_t>(offset),
                       in.begin() + static_cast<ptrdiff_t>(offset + count));
      } else if (kind == AOTC_RPC_EVENT_WRITE && reader.left() >= 4) {
        if (reader.number(4) != out.size()) return nonsense();
        out.insert(out.end(), event->begin() + 5, event->end());
        if (out.size() > most_out) return flooded("wrote", most_out);
      } else {
        return nonsense();
      }
      if (session_.transport().now() > deadline) return late();
    }
  }

  int exit_code = -1;
  std::string text;
  std::vector<uint8_t> out;

 private:
  bool flooded(const char* what, uint64_t most) {
    diags_
        .error(at(choice_), "device-flood",
               fmt::format("the firmware {} more than {}", what, exact_bytes(static_cast<int64_t>(most))))
        .help("look for a fault in the firmware, such as a loop that prints without end");
    return false;
  }
  bool nonsense() {
    diags_.error(at(choice_), "rpc-refused", "running the firmware: the device sent a malformed answer")
        .help("create the firmware again with this aotc");
    return false;
  }
  bool late() {
    diags_
        .error(at(choice_), "device-timeout",
               fmt::format("the firmware did not end within {} seconds", limit_.count() / 1000))
        .help("increase --timeout SECONDS, or reduce --samples");
    return false;
  }

  rpc::Session& session_;
  const PortChoice& choice_;
  Milliseconds limit_;
  Diagnostics& diags_;
};

// Firmware on a framework speaks plain text, when it starts: what it says up to the end of its demo.
Result<FirmwareRun> listen(rpc::Transport& line, const PortChoice& choice, int timeout_seconds, Diagnostics& diags) {
  FirmwareRun run;
  std::string& text = run.process.output;
  const Milliseconds deadline = line.now() + std::chrono::seconds(timeout_seconds);
  while (true) {
    if (const size_t end = text.rfind("@aotc done status=");
        end != std::string::npos && text.find('\n', end) != std::string::npos)
      break;
    std::vector<uint8_t> bytes;
    const rpc::ReadState state = line.read(bytes, std::clamp(deadline - line.now(), Milliseconds(0), kLongestSilence));
    text.append(bytes.begin(), bytes.end());
    if (state == rpc::ReadState::kClosed) {
      diags.error(at(choice), "rpc-closed", "listening: the line was closed").help("the port was unplugged");
      return kFailure;
    }
    if (text.size() > kMostProcessOutput) {
      diags
          .error(at(choice), "device-flood",
                 fmt::format("received more than {}, but not the end of the demo's output",
                             exact_bytes(static_cast<int64_t>(kMostProcessOutput))))
          .help("check the baud rate; the firmware may be faulty");
      return kFailure;
    }
    const bool silent = state == rpc::ReadState::kTimeout && text.empty();
    if (silent || line.now() >= deadline) {
      diags
          .error(at(choice), silent ? "rpc-silent" : "device-timeout",
                 silent
                     ? "received nothing"
                     : fmt::format("did not receive the end of the demo's output within {} seconds", timeout_seconds))
          .help(
              "firmware of this kind prints only when it starts: press the board's reset button while aotc listens; "
              "check the baud rate");
      return kFailure;
    }
  }
  std::erase(text, '\r');
  read_figures(run);
  run.process.exit_code = exit_code_said(run);
  return run;
}

// Whoever has a debugger needs no port.
bool needs_debugger(const ProjectDir& project, Diagnostics& diags) {
  if (!project.manifest.value("semihosting", false)) return false;
  Location where;
  where.file = project.path;
  diags
      .error(where, "project-not-run",
             "this firmware prints by semihosting, to a debugger or emulator: it sends nothing to a port")
      .help("create the project again with --project-option semihosting=false");
  return true;
}

// Kinds whose firmware waits for a program of its own.
bool has_own_program(const ProjectDir& project, Diagnostics& diags) {
  const std::string kind = project.manifest.value("project", "");
  const bool serves = kind == "host_driven";
  if (!serves && !kind.starts_with("mlperf_tiny")) return false;
  Location where;
  where.file = project.path;
  diags.error(where, "project-not-run", "firmware of this kind waits for requests and runs nothing by itself")
      .help(serves ? "use 'aotc rpc' or 'aotc bench --ops', which send requests"
                   : "use the benchmark's runner, which sends requests; see docs/mlperf-tiny.md");
  return true;
}

}  // namespace

Result<FirmwareRun> run_on_port(const ProjectDir& project, const PortChoice& choice, PortMode mode,
                                const std::string& in, const std::string& out, uint64_t most_out, int timeout_seconds,
                                Diagnostics& diags) {
  if (has_own_program(project, diags) || needs_debugger(project, diags)) return kFailure;
  std::vector<uint8_t> input;
  if (mode != PortMode::kDemo) {
    auto bytes = read_file(in, diags);
    if (!bytes) return kFailure;
    input = std::move(*bytes);
  }
  rpc::PortOptions settings;
  settings.baud = choice.baud;
  auto line = rpc::open_port(choice.port, settings, diags);
  if (!line) return kFailure;
  if (!project.can_verify()) return listen(**line, choice, timeout_seconds, diags);
  rpc::SessionOptions options;
  options.call_timeout = std::chrono::seconds(timeout_seconds);
  options.silent_help = kSilentHelp;
  auto session = rpc::Session::open(std::move(*line), options, diags);
  if (!session) return kFailure;
  Conversation conversation(**session, choice, options.call_timeout, diags);
  if (!conversation.is_of(project)) return kFailure;
  const uint8_t wanted = mode == PortMode::kDemo     ? AOTC_RPC_RUN_DEMO
                         : mode == PortMode::kVerify ? AOTC_RPC_RUN_VERIFY
                                                     : AOTC_RPC_RUN_OUTPUTS;
  if (!conversation.run(static_cast<uint8_t>(wanted), input, most_out)) return kFailure;
  if (mode != PortMode::kDemo &&
      !write_scratch_file(out, std::string(conversation.out.begin(), conversation.out.end()), diags))
    return kFailure;
  FirmwareRun run;
  run.process.started = true;
  run.process.exit_code = conversation.exit_code;
  run.process.output = std::move(conversation.text);
  std::erase(run.process.output, '\r');
  read_figures(run);
  return run;
}

}  // namespace aotc::driver
