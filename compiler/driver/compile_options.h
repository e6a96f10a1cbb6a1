// SPDX-License-Identifier: Apache-2.0
// The options of every command that compiles a model, declared once.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/compilation.h"
#include "options/options.h"

namespace aotc::driver {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
};

options::Option json_option(CommonOptions& common);
options::Option quiet_option(CommonOptions& common);

options::Option model_argument(CompileOptions& compile);
// MODEL..., --together and --name, for commands that take several models.
struct ModelsChoice;
std::vector<options::Option> model_arguments(ModelsChoice& models);
options::Option board_option(std::string& name, const char* help);
options::Option cpu_option(CompileOptions& compile);
options::Option level_option(CompileOptions& compile);
options::Option kernels_option(CompileOptions& compile);
options::Option schedules_option(CompileOptions& compile);

// `contract_of_input`: include --input overwrite|preserve|rows. A command whose --input also takes files passes false,
// and parses these words with `read_input_contract`, which returns false for any other text.
std::vector<options::Group> compile_groups(CompileOptions& compile, bool contract_of_input = true);
bool read_input_contract(const std::string& word, CompileOptions& compile);
// --constants-file, --constants-address, --constants-open: only for commands that write C.
std::vector<options::Option> constants_options(CompileOptions& compile);
// The options of VariantOptions, in a group of their own.
options::Group variant_group(CompileOptions& compile);
// The values of the variant options, by key.
nlohmann::ordered_json variant_json(const VariantOptions& variant);
// The groups that contain all options that aotc.json stores (stored_values).
std::vector<options::Group> stored_groups(CompileOptions& compile);

// --port, --baud.
struct PortChoice;
std::vector<options::Option> port_options(PortChoice& choice);
// --port, --baud and --timeout.
struct DeviceChoice;
std::vector<options::Option> device_options(DeviceChoice& device);

}  // namespace aotc::driver
