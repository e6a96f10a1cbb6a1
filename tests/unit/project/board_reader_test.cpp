// SPDX-License-Identifier: Apache-2.0
// Descriptions of boards that are wrong end with a message that has a place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "project/board.h"
#include "project/cpus.h"
#include "support/text.h"

namespace aotc::project {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

json description_of(const std::string& name) {
  Diagnostics diags;
  auto board = find_board(name, diags);
  EXPECT_TRUE(board.ok()) << diags.str();
  return board.ok() ? *board->description : json();
}

// What is said of a board.
std::string said_of(const json& board) {
  Diagnostics diags;
  auto read = read_board(board.dump(1), "b.json", "b", diags);
  EXPECT_EQ(read.ok(), diags.error_count() == 0);
  return diags.str();
}

// Of a board, with another core.
std::string said_of_core(const std::string& name, const std::string& cpu, const std::string& isa,
                         const std::vector<std::string>& features) {
  json board = description_of(name);
  board["cpu"] = cpu;
  board["isa"] = isa;
  board["features"] = features;
  return said_of(board);
}

TEST(BoardReader, ExtensionsOfOtherFamiliesAreRefusedWithTheirPlace) {
  const std::string said = said_of_core("qemu_riscv32", "rv32imac", "rv32imac", {"mul", "hwdiv", "dsp"});
  EXPECT_THAT(said, StartsWith("b.json:"));
  EXPECT_THAT(said, HasSubstr("error: feature 'dsp' belongs to other instruction sets than rv32imac [board-core]"));
  EXPECT_THAT(said, HasSubstr("help: leave the feature out: only armv7e-m, armv8-m.main, armv8.1-m.main have it"));
  // The place is the word's.
  json board = description_of("qemu_riscv32");
  board["features"] = {"dsp"};
  const std::string text = board.dump(1);
  const TextPlace place = place_of(text, text.find("\"dsp\""));
  Diagnostics diags;
  EXPECT_FALSE(read_board(text, "b.json", "b", diags).ok());
  EXPECT_EQ(diags.all()[0].location.line, place.line);
  EXPECT_EQ(diags.all()[0].location.column, place.column);
}

TEST(BoardReader, SoAreThoseThatTheInstructionSetHasNot) {
  EXPECT_THAT(said_of_core("qemu_microbit", "cortex-m0", "armv6-m", {"mul", "dsp"}), HasSubstr("[board-core]"));
  EXPECT_THAT(said_of_core("qemu_microbit", "cortex-m0", "armv6-m", {"mul", "unaligned"}), HasSubstr("[board-core]"));
  EXPECT_THAT(said_of_core("nrf52840dk", "cortex-m4", "armv7e-m", {"dsp", "mve"}),
              HasSubstr("only armv8.1-m.main have it"));
  EXPECT_THAT(said_of_core("nrf52840dk", "cortex-m4", "armv7e-m", {"harvard"}), HasSubstr("[board-core]"));
  EXPECT_THAT(said_of_core("esp32", "xtensa-lx6", "xtensa", {"mul", "dsp"}), HasSubstr("[board-core]"));
  EXPECT_THAT(said_of_core("nrf52840dk", "cortex-m4", "armv7e-m", {"dps"}),
              HasSubstr("help: known features are: dsp, fpu"));
  EXPECT_THAT(said_of_core("nrf52840dk", "cortex-m4", "rv32imac", {}), HasSubstr("help: use armv7e-m"));
  EXPECT_THAT(said_of_core("nrf52840dk", "cortex-m4", "armv7e-m", {"dsp", "fpu"}), IsEmpty());
}

TEST(BoardReader, UnknownCoresAreRefusedWithTheNearest) {
  const auto nearest = [](const std::string& cpu) { return said_of_core("nrf52840dk", cpu, "armv7e-m", {}); };
  EXPECT_THAT(nearest("cortex-m35p"), HasSubstr("b.json:"));
  EXPECT_THAT(nearest("cortex-m35p"), HasSubstr("CPU 'cortex-m35p' is not known [board-core]"));
  EXPECT_THAT(nearest("cortex-m35p"), HasSubstr("use 'cortex-m33', the nearest known CPU"));
  EXPECT_THAT(nearest("cortex-m23"), HasSubstr("use 'cortex-m0plus', the nearest known CPU"));
  EXPECT_THAT(nearest("Cortex-M4F"), HasSubstr("use 'cortex-m4', the nearest known CPU"));
  EXPECT_THAT(nearest("sifive-e31"), HasSubstr("use 'rv32imac', the nearest known CPU"));
  EXPECT_THAT(nearest("cortex-a53"), ::testing::Not(HasSubstr("nearest")));
}

TEST(BoardReader, UnknownNamesOfCpusAreRefusedWithTheNearest) {
  for (auto [name, nearest] : {std::pair{"star-mc1", "'cortex-m33f'"},
                               {"cortex-m23", "'cortex-m0plus'"},
                               {"cortex-m35p", "'cortex-m33f'"},
                               {"cortex-m0+", "'cortex-m0plus'"},
                               {"rv32gc", "'rv32imafc'"},
                               {"rv32gcv", "'rv32imac_zve32x'"},
                               {"rv32imafc_zve32f", "'rv32imac_zve32x'"}}) {
    Diagnostics diags;
    EXPECT_FALSE(find_cpu(name, diags).ok()) << name;
    EXPECT_THAT(diags.str(), HasSubstr(nearest));
  }
}

TEST(BoardReader, CoresWithoutMultiplicationHaveNoNearestWithVectors) {
  for (const char* name : {"rv32i_zve32x", "rv32ecv"}) {
    Diagnostics diags;
    EXPECT_FALSE(find_cpu(name, diags).ok()) << name;
    EXPECT_THAT(diags.str(), ::testing::Not(HasSubstr("rv32imac_zve32x', the nearest"))) << name;
  }
}

TEST(BoardReader, CpusOfNoBoardAreLikeOnesOfBoards) {
  Diagnostics diags;
  auto m55 = find_cpu("cortex-m55f", diags), m85 = find_cpu("cortex-m85f", diags), m33 = find_cpu("cortex-m33", diags),
       plain = find_cpu("cortex-m33+nodsp", diags);
  ASSERT_TRUE(m55.ok() && m85.ok() && m33.ok() && plain.ok()) << diags.str();
  EXPECT_EQ(m85->name, "cortex-m85f");
  EXPECT_EQ(m85->features, m55->features);
  EXPECT_EQ(m85->cflags, m55->cflags);
  EXPECT_EQ(m85->field("cpu"), "cortex-m85");
  EXPECT_EQ(m33->name, "cortex-m33f");
  EXPECT_FALSE(plain->has("dsp"));
  EXPECT_EQ(plain->field("toolchain.cflags"), "-mcpu=cortex-m33+nodsp -mfloat-abi=soft -mthumb --specs=nano.specs");
  EXPECT_EQ(cores::older_cpu("cortex-m85"), "cortex-m55");
  EXPECT_EQ(cores::older_cpu("cortex-m33+nodsp"), "");
}

TEST(BoardReader, ACoreTakesNoLoweringsOfAnotherFamily) {
  const auto lowerings = [](const char* isa, bool feature) {
    const auto has = [&](std::string_view name) { return feature && (name == "dsp" || name == "mve"); };
    const ops::TargetInfo target = cores::target_info({isa, isa, has});
    return target.lowerings ? target.lowerings->size() : 0;
  };
  EXPECT_GT(lowerings("rv32imac", false), 0u);
  EXPECT_EQ(lowerings("rv32imac", true), lowerings("rv32imac", false));
  EXPECT_EQ(lowerings("xtensa", true), 0u);
  EXPECT_GT(lowerings("armv7e-m", true), 0u);
}

// Calls `change` with every member of an object or list, however deep.
template <typename F>
void each_member(const json& in, const json::json_pointer& at, const F& change) {
  for (const auto& [key, value] : in.items()) {
    const auto here = in.is_array() ? at / static_cast<size_t>(std::stoul(key)) : at / key;
    change(here);
    if (value.is_structured()) each_member(value, here, change);
  }
}

TEST(BoardReader, MembersOfAnotherTypeAreRefusedOrRead) {
  const json wrong[] = {nullptr,
                        true,
                        -1,
                        1.5,
                        1e300,
                        "",
                        "x",
                        json::array(),
                        json::array({1}),
                        json::object(),
                        {{"a", 1}},
                        uint64_t{18446744073709551615u}};
  int refused = 0, tried = 0;
  for (const char* name : {"qemu_mps2_an386", "stm32f746g_disco", "arduino_uno"}) {
    const json board = description_of(name);
    each_member(board, json::json_pointer(), [&](const json::json_pointer& at) {
      for (const json& value : wrong) {
        json changed = board;
        changed[at] = value;
        ++tried;
        refused += said_of(changed).empty() ? 0 : 1;  // nothing throws
      }
      json without = board;
      without[at.parent_pointer()].is_object() ? without[at.parent_pointer()].erase(at.back()) : 0;
      said_of(without);
    });
  }
  EXPECT_GT(tried, 3000);
  EXPECT_GT(refused, tried / 3);
}

TEST(BoardReader, UnknownMembersAreRefused) {
  json board = description_of("nrf52840dk");
  board["feature"] = json::array({"dsp"});
  EXPECT_THAT(said_of(board), HasSubstr("help: did you mean 'features'?"));
  Diagnostics diags;
  EXPECT_FALSE(read_board("{\n  \"cpu\": }", "b.json", "b", diags).ok());
  EXPECT_THAT(diags.str(), StartsWith("b.json:2:"));
}

TEST(BoardReader, ABoardMayBeLikeAnotherOne) {
  Diagnostics diags;
  auto board = read_board(R"({"like": "nucleo_f446re", "title": "mine", "stack_bytes": 1024, "emulator": null})",
                          "b.json", "mine", diags);
  ASSERT_TRUE(board.ok()) << diags.str();
  EXPECT_EQ(board->name, "mine");
  EXPECT_EQ(board->title, "mine");
  EXPECT_EQ(board->stack_bytes, 1024);
  EXPECT_EQ(board->cpu, "cortex-m4");
  EXPECT_THAT(board->emulator_program, IsEmpty());
  EXPECT_FALSE(board->description->contains("like"));
  Diagnostics more;
  EXPECT_FALSE(read_board(R"({"like": "nucleo_f446rt"})", "b.json", "mine", more).ok());
  EXPECT_THAT(more.str(), HasSubstr("did you mean 'nucleo_f446re'?"));
}

}  // namespace
}  // namespace aotc::project
