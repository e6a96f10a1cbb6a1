// SPDX-License-Identifier: Apache-2.0
// What the changed sources are tried on beside the unit tests, in the same process: operator cases
// with LiteRT's results, random graphs, and the C of whole models.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

// The main functions of the programs of these names.
int run_cases_main(int argc, char** argv);
int random_graphs_main(int argc, char** argv);
int aotc_main(int argc, char** argv);

namespace {

namespace fs = std::filesystem;

int call(int (*program)(int, char**), std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  return program(static_cast<int>(arguments.size()), argv.data());
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "aotc_mutant_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (fs::path(path_) / name).string(); }

 private:
  std::string path_;
};

std::vector<std::string> operators() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(AOTC_SOURCE_DIR "/tests/ops"))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

class OperatorCases : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(OperatorCases, AreThoseOfLiteRT) {
  static const std::vector<std::string> targets = {"plain", "dsp", "dsp_speed", "mve"};
  auto [name, target] = GetParam();
  const std::vector<std::string> arguments = {"run_cases", MUTANTS_CASES, "--op",
                                              name,        "--targets",   targets[static_cast<size_t>(target)]};
  EXPECT_EQ(call(run_cases_main, arguments), 0);
}

INSTANTIATE_TEST_SUITE_P(Battery, OperatorCases, testing::Combine(testing::ValuesIn(operators()), testing::Range(0, 4)),
                         [](const auto& of) {
                           return std::get<0>(of.param) + "_" + std::to_string(std::get<1>(of.param));
                         });

// Seeds; `control`: graphs with states, branches and loops.
class RandomGraph : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(RandomGraph, IsWhatItsReferenceSays) {
  Folder work;
  auto [control, seed] = GetParam();
  std::vector<std::string> arguments = {"random_graphs", "--first",       std::to_string(seed), "--count", "1",
                                        "--work",        work / "graphs", "--interpret"};
  if (control) arguments.push_back("--control");
  EXPECT_EQ(call(random_graphs_main, arguments), 0);
}

INSTANTIATE_TEST_SUITE_P(Battery, RandomGraph, testing::Combine(testing::Bool(), testing::Range(1, 71)));

// A line of whole_models.txt: a name, a model of tests/models, options.
struct WholeModel {
  std::string name, model;
  std::vector<std::string> options;
};

std::vector<WholeModel> whole_models() {
  std::vector<WholeModel> models;
  std::ifstream in(AOTC_SOURCE_DIR "/tests/mutants/whole_models.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::stringstream words(line);
    WholeModel& model = models.emplace_back();
    words >> model.name >> model.model;
    for (std::string option; words >> option;) model.options.push_back(option);
  }
  return models;
}

class EmittedC : public testing::TestWithParam<WholeModel> {};

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// scripts/mutants wrote the C without any change; here it must be the same.
TEST_P(EmittedC, IsWrittenToTheLetter) {
  Folder work;
  const WholeModel& model = GetParam();
  std::vector<std::string> arguments = {"aotc",
                                        "compile",
                                        AOTC_SOURCE_DIR "/tests/models/" + model.model,
                                        "--prefix",
                                        model.name,
                                        "-o",
                                        work / model.name,
                                        "--quiet"};
  arguments.insert(arguments.end(), model.options.begin(), model.options.end());
  ASSERT_EQ(call(aotc_main, arguments), 0);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(MUTANTS_EMITTED) / model.name)) {
    std::string file = entry.path().filename();
    if (file == "aotc.json") continue;
    EXPECT_TRUE(contents(work / (model.name + ("/" + file))) == contents(entry.path())) << file;
    ++files;
  }
  EXPECT_GT(files, 2u);
}

INSTANTIATE_TEST_SUITE_P(Battery, EmittedC, testing::ValuesIn(whole_models()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
