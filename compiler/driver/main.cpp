// SPDX-License-Identifier: Apache-2.0
// The program: all commands, and the one-shot form `aotc MODEL --board B -o DIRECTORY`.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "driver/commands.h"
#include "support/diagnostics.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

bool looks_like_model(const std::string& arg) {
  std::error_code ec;
  return arg.find('.') != std::string::npos || arg.find('/') != std::string::npos ||
         std::filesystem::is_regular_file(arg, ec);
}

int run(std::vector<std::string> args) {
  const options::Command program = command_line(args.empty() ? "" : args[0]);
  if (!args.empty() && !args[0].starts_with("-") && program.find(args[0]) == nullptr) {
    if (!looks_like_model(args[0])) {
      std::vector<std::string> names, helps;
      for (const options::Command& c : program.commands) names.push_back(c.name);
      for (const std::string& near : closest(args[0], names, 1))
        helps.push_back("did you mean the command '" + near + "'?");
      helps.push_back("'aotc help' lists the commands");
      return options::usage_error("aotc", "there is no command or file named '" + escape_for_display(args[0]) + "'",
                                  helps);
    }
    // `aotc model.tflite ...` is `aotc create model.tflite ...`.
    args.insert(args.begin(), "create");
  }
  return options::run(program, args);
}

}  // namespace

}  // namespace aotc::driver

namespace {

// Where an exception may not pass, such as in a destructor, memory that runs out ends here. What was
// being written is whole or left for the next run to clear, as when the program is killed.
[[noreturn]] void out_of_memory_or_abort() {
  if (std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      constexpr char kText[] = "aotc: error: there is not enough memory [out-of-memory]\n";
      [[maybe_unused]] const auto written = write(2, kText, sizeof kText - 1);
      _exit(aotc::driver::kExitBadInput);
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(out_of_memory_or_abort);
  aotc::prepare_streams();
  int code = aotc::driver::kExitInternal;
  try {
    code = aotc::driver::run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    aotc::write_err(
        "aotc: error: there is not enough memory [out-of-memory]\n"
        "  help: close other programs, or raise the limit (ulimit -v)\n");
    code = aotc::driver::kExitBadInput;
  } catch (const std::exception& e) {
    aotc::print_err("aotc: internal error: {} [internal]\n  help: please report this with the model\n",
                    aotc::json_reason(e.what()));
  }
  return aotc::finish_streams(code);
}
