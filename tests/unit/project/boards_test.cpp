// SPDX-License-Identifier: Apache-2.0
// Every board's data is whole and fits together: what board.json refers to exists, and what the
// compiler is asked to do for the board it can do.
#include "project/board.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "project/cpus.h"
#include "support/text.h"

namespace aotc::project {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Not;

Board board_of(const std::string& name) {
  Diagnostics diags;
  auto board = find_board(name, diags);
  EXPECT_TRUE(board.ok()) << name;
  return board.ok() ? *board : Board();
}

class EveryBoard : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryBoard, IsNamedAndTitled) {
  Board b = board_of(GetParam());
  EXPECT_FALSE(b.title.empty());
  EXPECT_EQ(b.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
  EXPECT_THAT(b.platform, AnyOf("cortex_m", "riscv", "host", "avr", "none"));
}

TEST_P(EveryBoard, HasACpuThatTheCompilerKnows) {
  Board b = board_of(GetParam());
  EXPECT_TRUE(cores::knows_cpu(b.cpu)) << b.cpu;
  // Nothing is known of this machine's core, and of AVR's.
  const bool is_timed = b.platform != "host" && b.platform != "avr" && b.cpu != "generic";
  EXPECT_EQ(cores::timing_of(b.cpu) != nullptr, is_timed) << b.cpu;
  for (const std::string& feature : b.features)
    EXPECT_THAT((std::vector<std::string>{"mul", "unaligned", "hwdiv", "dsp", "fpu", "fpu64", "mve", "mve_float",
                                          "zve32x", "harvard"}),
                Contains(feature));
}

TEST_P(EveryBoard, NamesTheCpuOfEachRelative) {
  const std::vector<std::string> boards = board_names();
  for (const auto& [begin, cpu] : board_of(GetParam()).relatives()) {
    EXPECT_EQ(begin.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << begin;
    EXPECT_THAT(boards, Not(Contains(begin)));
    Diagnostics diags;
    EXPECT_TRUE(find_cpu(cpu, diags).ok()) << begin << ": " << cpu;
  }
}

TEST(Boards, NoTwoHaveTheSameRelativeOrAlias) {
  std::map<std::string, std::string> owners;
  for (const std::string& name : board_names()) {
    const Board b = board_of(name);
    std::set<std::string> words(b.aliases.begin(), b.aliases.end());
    for (const auto& [begin, cpu] : b.relatives()) words.insert(begin);
    for (const std::string& word : words) {
      const auto [known, is_new] = owners.try_emplace(word, name);
      EXPECT_TRUE(is_new) << word << ": " << known->second << " and " << name;
    }
  }
}

TEST_P(EveryBoard, HasMemoriesThatDoNotOverlap) {
  Board b = board_of(GetParam());
  std::set<std::string> names;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Memory& m : b.memories) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " twice";
    EXPECT_GT(m.size, 0) << m.name;
    size_t end = 0;
    int64_t origin = std::stoll(m.origin, &end, 16);
    EXPECT_TRUE(m.origin.starts_with("0x") && end == m.origin.size()) << m.origin;
    if (!b.has("harvard")) ranges.emplace_back(origin, origin + m.size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_LE(ranges[i - 1].second, ranges[i].first) << std::hex << ranges[i].first;
}

TEST_P(EveryBoard, PlacesThingsInMemoriesItHas) {
  Board b = board_of(GetParam());
  if (b.memories.empty()) return;
  for (const char* use : {"code", "constants", "data", "arena"}) {
    const Memory* m = b.memory(b.field(std::string("placement.") + use));
    ASSERT_NE(m, nullptr) << use;
    EXPECT_EQ(m->setup, "") << use << " is placed in memory that does not work after reset";
    bool ram = std::string(use) == "data" || std::string(use) == "arena";
    if (ram) {
      EXPECT_FALSE(m->flash) << use;
    }
  }
  EXPECT_GT(b.stack_bytes, 0);
}

TEST_P(EveryBoard, SaysHowToCompileForIt) {
  Board b = board_of(GetParam());
  EXPECT_FALSE(b.compiler.empty());
  EXPECT_TRUE(b.compiler.starts_with(b.toolchain_prefix) || !b.field("toolchain.link_flags").empty());
  bool float_flags =
      std::any_of(b.cflags.begin(), b.cflags.end(), [](const std::string& flag) { return flag == "-mfloat-abi=hard"; });
  if (b.isa.starts_with("armv")) {
    EXPECT_EQ(float_flags, b.has("fpu"));
  }
}

TEST_P(EveryBoard, OfBareMetalHasASectionForEachMemory) {
  Board b = board_of(GetParam());
  bool bare = b.platform == "cortex_m" || b.platform == "riscv";
  for (const Memory& m : b.memories) {
    if (!bare) {
      EXPECT_EQ(m.sections.count("bare_metal"), 0u) << m.name;
      continue;
    }
    std::string lower = m.name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    ASSERT_EQ(m.sections.count("bare_metal"), 1u) << m.name;
    EXPECT_EQ(m.sections.at("bare_metal"), "." + lower);
    if (m.flash) {
      EXPECT_THAT(m.arena_sections, IsEmpty());
    } else {
      EXPECT_EQ(m.arena_sections.at("bare_metal"), ".bss.." + lower);
    }
  }
}

TEST_P(EveryBoard, SaysWhatFrameworksCallIt) {
  Board b = board_of(GetParam());
  const std::vector<std::pair<std::string, std::vector<std::string>>> fields = {
      {"zephyr", {"board", "board_v2"}},
      {"arduino", {"fqbn", "architecture"}},
      {"platformio", {"platform", "board", "framework"}},
      {"esp_idf", {"target"}},
      {"cmsis", {"device", "pack"}},
  };
  for (const std::string& framework : b.frameworks()) {
    auto known = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == framework; });
    ASSERT_NE(known, fields.end()) << framework;
    for (const std::string& field : known->second)
      EXPECT_NE(b.field("frameworks." + framework + "." + field), "") << framework << "." << field;
  }
  // Nothing can be made for a board that has neither.
  if (b.platform == "none" && b.name != "generic") {
    EXPECT_THAT(b.frameworks(), Not(IsEmpty()));
  }
}

TEST_P(EveryBoard, HasAClockThatFitsItsPlatform) {
  Board b = board_of(GetParam());
  std::string kind = b.field("clock.kind"), unit = b.field("clock.unit");
  if (b.platform == "cortex_m") {
    EXPECT_EQ(kind, "systick");
    EXPECT_NE(b.field("clock.hz"), "0");
  }
  EXPECT_THAT(unit, AnyOf(Eq("instructions"), Eq("nanoseconds"), Eq("cycles"), Eq("microseconds")));
  // Only an emulator of the board itself counts its instructions.
  if (unit == "instructions") {
    EXPECT_FALSE(b.emulator_argv.empty());
    EXPECT_FALSE(b.stand_in);
  }
}

TEST_P(EveryBoard, SaysHowToGetWhatWritesToIt) {
  Board b = board_of(GetParam());
  const auto programmers = b.description->value("programmers", nlohmann::json::array());
  for (const auto& p : programmers) {
    ASSERT_TRUE(p.contains("argv") && !p["argv"].empty());
    EXPECT_NE(p["argv"].dump().find("{image}"), std::string::npos);
    EXPECT_NE(p.value("install", ""), "");
    for (const auto& [key, value] : p.items())
      EXPECT_THAT(key, AnyOf(Eq("argv"), Eq("install"), Eq("port"), Eq("attach")));
  }
  // Whoever builds without a framework needs one; of the rest the framework has its own.
  if (b.has_chip() && b.name != "nano33ble") {
    EXPECT_FALSE(programmers.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Boards, EveryBoard, ::testing::ValuesIn(board_names()),
                         [](const auto& param) { return param.param; });

TEST(Boards, ThoseOfTheListAreThere) {
  std::vector<std::string> names = board_names();
  for (const char* name : {"nucleo_f446re", "nucleo_g431kb", "nucleo_l4r5zi", "nucleo_h743zi", "stm32f746g_disco",
                           "nrf52840dk", "nrf5340dk", "nano33ble", "portenta_h7", "rp2040_pico", "teensy41", "esp32c3",
                           "esp32", "esp32s3", "sparkfun_edge", "generic", "host"})
    EXPECT_THAT(names, Contains(name));
}

}  // namespace
}  // namespace aotc::project
