// SPDX-License-Identifier: Apache-2.0
// Command lines that are declared as data: what a parse fills, refuses and calls, and what pages
// say.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "options/options.h"

namespace aotc::options {
namespace {

enum class Level { kLow, kHigh };

struct Line {
  bool json = false, ran = false;
  int count = 3;
  int64_t unset = -1;
  uint64_t seed = 7;
  std::string model, board = "host", shown;
  std::vector<std::string> list, single, words, rest;
  Level level = Level::kLow;

  Command program() {
    Command run = {
        .name = "run",
        .summary = "Runs it",
        .options = {{.names = "MODEL", .target = &model, .help = "A model", .required = true},
                    {.names = "-j,--json", .target = &json, .help = "JSON"},
                    {.names = "--count", .value = "N", .target = &count, .help = "How many", .range = Range{1, 9}},
                    {.names = "--unset", .value = "N", .target = &unset, .help = "A number"},
                    {.names = "--seed", .value = "N", .target = &seed, .help = "A seed", .excludes = {"--count"}},
                    {.names = "--board", .value = "NAME", .target = &board, .help = "A board"},
                    {.names = "--list", .value = "FILE", .target = &list, .help = "Files"},
                    {.names = "-D", .value = "NAME", .target = &single, .help = "Names"},
                    {.names = "--word",
                     .value = "WORD",
                     .target = Setter([this](const std::string& w) { words.push_back(w); }),
                     .help = "Words"},
                    {.names = "--level",
                     .target = one_of(&level, {{"low", Level::kLow}, {"high", Level::kHigh}}),
                     .help = "A level"},
                    {.names = "--off", .target = Action{[this] { json = false; }}, .help = "No JSON"},
                    {.names = "--show",
                     .value = "WHAT",
                     .target = Instead{[this](const std::string& what) {
                       shown = what + " of " + board;
                       return 5;
                     }},
                     .help = "Shows it"}},
        .run = [this] {
          ran = true;
          return 4;
        }};
    return {.name = "prog",
            .summary = "A program",
            .commands = {run, {.name = "pass", .summary = "Passes it on", .run = [] { return 6; }, .rest = &rest}},
            .version = "prog 1",
            .exit_codes = {{0, "done"}, {2, "usage"}}};
  }

  int parse(const std::vector<std::string>& args) { return run(program(), args); }
};

TEST(Options, FillsVariablesOfEveryKind) {
  Line l;
  EXPECT_EQ(l.parse({"run", "--count", "9", "m.tflite", "--list", "a", "--list=c", "-D", "x", "-Dy", "--level", "high",
                     "-j", "--word", "p", "--word", "q"}),
            4);
  EXPECT_TRUE(l.ran && l.json);
  EXPECT_EQ(l.model, "m.tflite");
  EXPECT_EQ(l.count, 9);
  EXPECT_EQ(l.unset, -1);
  EXPECT_EQ(l.list, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(l.single, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(l.words, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(l.level, Level::kHigh);
}

// An option that collects values must not take the model for one.
TEST(Options, TakesOneValueEachTime) {
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"--list", "a"}, {"-D", "a"}, {"--word", "a"}, {"--list=a"}, {"--level", "high"}}) {
    Line l;
    std::vector<std::string> args = {"run"};
    args.insert(args.end(), option.begin(), option.end());
    args.push_back("m.tflite");
    EXPECT_EQ(l.parse(args), 4) << option[0];
    EXPECT_EQ(l.model, "m.tflite") << option[0];
  }
}

TEST(Options, SaysHowSeveralValuesAreWritten) {
  Line l;
  testing::internal::CaptureStderr();
  EXPECT_EQ(l.parse({"run", "m", "--list", "a", "b"}), kUsage);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("  help: '--list' takes one value each time: --list a --list b\n"), std::string::npos) << said;
  testing::internal::CaptureStderr();
  EXPECT_EQ(l.parse({"run", "--list", "a", "m", "--lost"}), kUsage);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("each time"), std::string::npos);
}

TEST(Options, RefusesWhatIsNotDeclared) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"run"},
                                               {"run", "m", "--count", "10"},
                                               {"run", "m", "--count", "x"},
                                               {"run", "m", "--level", "middle"},
                                               {"run", "m", "--nothing"},
                                               {"run", "m", "n"},
                                               {"run", "m", "-D", "x", "y"},
                                               {"run", "m", "--count", "1", "--seed", "2"},
                                               {"run", "m", "--board"},
                                               {"run", "m", "--board", "a", "--board", "b"},
                                               {},
                                               {"nothing"},
                                               {"--nothing"}}) {
    Line l;
    testing::internal::CaptureStderr();
    EXPECT_EQ(l.parse(args), kUsage) << testing::PrintToString(args);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(" [usage]\n  help: "), std::string::npos);
    EXPECT_FALSE(l.ran);
  }
}

TEST(Options, TakesThePlaceOfTheCommand) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"run", "--show", "it", "--board", "other"},
                                               {"run", "--board", "other", "--show", "it"}}) {
    Line l;
    EXPECT_EQ(l.parse(args), 5);
    EXPECT_EQ(l.shown, "it of other");
    EXPECT_FALSE(l.ran);
  }
}

TEST(Options, PassesTheRestOn) {
  Line l;
  EXPECT_EQ(l.parse({"pass", "on", "--help", "-x"}), 6);
  EXPECT_EQ(l.rest, (std::vector<std::string>{"on", "--help", "-x"}));
}

TEST(Options, HelpEndsTheProgramWithSuccess) {
  Line l;
  testing::internal::CaptureStdout();
  EXPECT_EQ(l.parse({"run", "--help"}), 0);
  EXPECT_EQ(l.parse({"-V"}), 0);
  EXPECT_FALSE(l.ran);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(said.ends_with("prog 1\n")) << said;
}

TEST(Options, HelpOfManyOptionsShowsTheCommonOnes) {
  bool on = false;
  Command many{.name = "many", .summary = "Has many"};
  for (size_t i = 0; i < kMostShown + 2; ++i)
    many.options.push_back({.names = "--option-" + std::to_string(i), .target = &on, .help = "One", .common = i < 3});
  const Command program{.name = "prog", .summary = "Program", .commands = {many}};
  const std::string first = help_text({&program, &program.commands[0]});
  EXPECT_NE(first.find("--option-2"), std::string::npos) << first;
  EXPECT_EQ(first.find("--option-3"), std::string::npos) << first;
  EXPECT_NE(first.find("'prog many --help-all' shows 11 more options.\n"), std::string::npos) << first;
  const std::string all = help_text({&program, &program.commands[0]}, true);
  EXPECT_NE(all.find("--option-13"), std::string::npos) << all;
  EXPECT_EQ(all.find(" more options"), std::string::npos) << all;
}

TEST(Options, PagesSayWhatIsDeclared) {
  Line l;
  const Command program = l.program();
  const std::string help = help_text({&program, program.find("run")});
  for (const char* line :
       {"Usage: prog run [OPTIONS] MODEL\n", "  MODEL                     A model\n",
        "  --count N                 How many (default: 3)\n", "  --unset N                 A number\n",
        "  --list FILE               Files (may be repeated)\n",
        "  -D NAME                   Names (may be repeated)\n", "  --level low|high          A level (default: low)\n",
        "  -j, --json                JSON\n"})
    EXPECT_NE(help.find(line), std::string::npos) << line << help;
  EXPECT_NE(help_text({&program}).find("Exit codes: 0 done, 2 usage.\n"), std::string::npos);
  EXPECT_NE(markdown(program).find("| `--level low\\|high` | A level (default: `low`) |\n"), std::string::npos);
  EXPECT_NE(man_page({&program, program.find("run")}).find(".TP\n.B \\-\\-count N\nHow many (default: 3)\n"),
            std::string::npos);
  for (const std::string& shell : kShells)
    EXPECT_NE(completion_script(program, shell).find("low high"), std::string::npos) << shell;
}

struct Stored {
  bool flag = false, is_on = true;
  int percent = 3;
  std::string name = {};
  std::vector<std::string> list = {};
  Level level = Level::kLow;

  Group group() {
    return {"",
            {{.names = "--flag", .target = &flag, .key = "flag"},
             {.names = "--switch", .target = one_of(&is_on, {{"on", true}, {"off", false}}), .key = "switch"},
             {.names = "--percent", .target = &percent, .range = Range{0, 100}, .key = "percent"},
             {.names = "--name", .target = &name, .key = "name"},
             {.names = "--list", .target = &list, .key = "list"},
             {.names = "-l,--level",
              .target = one_of(&level, {{"low", Level::kLow}, {"high", Level::kHigh}}),
              .key = "level"},
             {.names = "--not-stored", .target = &name}}};
  }
};

TEST(Stored, ValuesReadBack) {
  Stored written{.flag = true, .is_on = false, .percent = 7, .name = "kws", .list = {"a", "b"}, .level = Level::kHigh};
  const nlohmann::ordered_json values = stored_values({written.group()});
  EXPECT_EQ(values.dump(), R"({"flag":true,"switch":false,"percent":7,"name":"kws","list":["a","b"],"level":"high"})");
  Stored read;
  EXPECT_TRUE(restore_values({read.group()}, values));
  EXPECT_EQ(stored_values({read.group()}), values);
  // Members without an option are ignored, options without a member keep their value.
  EXPECT_TRUE(restore_values({read.group()}, {{"later", 1}, {"percent", 9}}));
  EXPECT_EQ(read.percent, 9);
  EXPECT_EQ(read.name, "kws");
}

TEST(Stored, OtherValuesAreRefused) {
  for (const char* text : {R"({"flag": 1})", R"({"switch": "off"})", R"({"percent": 101})", R"({"percent": "7"})",
                           R"({"percent": 1.5})", R"({"name": 1})", R"({"list": "a"})", R"({"list": ["a", 1]})",
                           R"({"level": "middle"})", R"({"level": true})"}) {
    Stored read;
    EXPECT_FALSE(restore_values({read.group()}, nlohmann::json::parse(text))) << text;
    EXPECT_EQ(stored_values({read.group()}), stored_values({Stored().group()})) << text;
  }
}

TEST(Stored, DifferencesAreTextOfACommandLine) {
  Stored from, to;
  to.is_on = false;
  to.percent = 5;
  to.level = Level::kHigh;
  EXPECT_EQ(differences(from.group(), to.group()),
            (std::vector<std::string>{"--switch off", "--percent 5", "-l high"}));
  EXPECT_TRUE(differences(from.group(), from.group()).empty());
}

}  // namespace
}  // namespace aotc::options
