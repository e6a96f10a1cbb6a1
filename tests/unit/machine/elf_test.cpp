// SPDX-License-Identifier: Apache-2.0
// Programs that are damaged: each is refused with a place, or read; nothing is read outside of it. And the stack that
// texts of instructions need, counted by hand.
#include "machine/elf.h"

#include <random>

#include <gtest/gtest.h>

#include "machine/objdump.h"
#include "machine/size.h"
#include "machine/stack.h"

namespace aotc::machine {

namespace {

void put(std::vector<uint8_t>& to, size_t at, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[at + static_cast<size_t>(i)] = static_cast<uint8_t>(value >> (8 * i));
}

// A program for Thumb of one function, "f", whose two instructions are at 0x8000, and a word of data.
std::vector<uint8_t> small_program() {
  const std::string names = std::string("\0.text\0.data\0.symtab\0.names\0f\0$t\0", 34);
  constexpr uint32_t kText = 52, kData = 56, kSymbols = 60, kNames = 108, kSections = 144;
  std::vector<uint8_t> b(kSections + 5 * 40);
  const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 1, 1, 1};
  std::copy(std::begin(magic), std::end(magic), b.begin());
  put(b, 16, 2, 2);
  put(b, 18, 40, 2);
  put(b, 24, 0x8001, 4);
  put(b, 32, kSections, 4);
  put(b, 46, 40, 2);
  put(b, 48, 5, 2);
  put(b, 50, 4, 2);
  put(b, kText, 0xbd00b500, 4);  // push {lr}; pop {pc}
  put(b, kData, 0x8001, 4);
  auto symbol = [&](uint32_t n, uint32_t name, uint32_t value, uint32_t size, uint8_t info) {
    const size_t at = kSymbols + n * 16;
    put(b, at, name, 4);
    put(b, at + 4, value, 4);
    put(b, at + 8, size, 4);
    b[at + 12] = info;
    put(b, at + 14, 1, 2);
  };
  symbol(1, 28, 0x8001, 4, 0x12);
  symbol(2, 30, 0x8000, 0, 0);
  std::copy(names.begin(), names.end(), b.begin() + kNames);
  auto section = [&](uint32_t n, uint32_t name, uint32_t type, uint32_t flags, uint32_t address, uint32_t offset,
                     uint32_t size, uint32_t link) {
    const size_t at = kSections + n * 40;
    const uint32_t fields[] = {name, type, flags, address, offset, size, link};
    for (size_t i = 0; i < 7; ++i) put(b, at + 4 * i, fields[i], 4);
  };
  section(1, 1, 1, 6, 0x8000, kText, 4, 0);
  section(2, 7, 1, 3, 0x20000000, kData, 4, 0);
  section(3, 13, 2, 0, 0, kSymbols, 48, 4);
  section(4, 21, 3, 0, 0, kNames, 34, 0);
  return b;
}

Result<Elf> read(std::vector<uint8_t> bytes, Diagnostics& diags) { return Elf::read(std::move(bytes), "a.elf", diags); }

// All that the commands do with a program, with instructions that its code does not have as well.
void look_at(const Elf& elf) {
  Listing listing;
  listing.add(parse_instruction(elf.isa(), 0x8000, 2, "push", "{lr}"));
  listing.add(parse_instruction(elf.isa(), 0x8002, 2, "pop", "{pc}"));
  listing.finish();
  StackAnalysis analysis(elf, listing, {});
  (void)analysis.bound(elf.entry());
  (void)elf.place(0xffffffffu);
  (void)elf.constant(0xffffffffu, 4);
  SizeReport size = size_of(elf, {}, {});
  int64_t rows = 0, sections = 0;
  for (const SizeRow& r : size.rows) rows += r.bytes;
  for (const Section& s : elf.sections())
    if (s.allocated()) sections += s.size;
  EXPECT_EQ(rows, sections);
}

// A text of instructions of 4 bytes each, from 0x8000 on, and the stack that it needs.
struct Text {
  uint32_t machine;  // of the ELF header
  std::vector<std::pair<const char*, const char*>> lines;
  int64_t bytes;
  BoundState state;
  VectorLength vectors = {};
};

constexpr uint32_t kArm = 40, kRiscvMachine = 243, kAvrMachine = 83;

StackBound bound_of(const Text& text) {
  std::vector<uint8_t> bytes = small_program();
  put(bytes, 18, text.machine, 2);
  if (text.machine != kArm) put(bytes, 24, 0x8000, 4), put(bytes, 80, 0x8000, 4);
  Diagnostics diags;
  auto elf = read(bytes, diags);
  EXPECT_TRUE(elf) << diags.str();
  Listing listing;
  uint32_t at = 0x8000;
  for (const auto& [name, operands] : text.lines) {
    listing.add(parse_instruction(elf->isa(), at, 4, name, operands));
    at += 4;
  }
  listing.finish();
  return StackAnalysis(*elf, listing, {}, text.vectors).bound(0x8000);
}

TEST(Stack, TextsOfThreeInstructionSets) {
  constexpr auto kProven = BoundState::kProven, kAssumed = BoundState::kAssumed, kNone = BoundState::kUnbounded;
  const std::vector<Text> texts = {
      {kArm, {{"push", "{r4, lr}"}, {"sub", "sp, #16"}, {"add", "sp, #16"}, {"pop", "{r4, pc}"}}, 24, kProven},
      {kArm, {{"stmdb", "sp!, {r4, r5, lr}"}, {"ldmia.w", "sp!, {r4, r5, pc}"}}, 12, kProven},
      // A frame pointer, and a branch that both numbers decide.
      {kArm,
       {{"push", "{r7, lr}"},
        {"sub.w", "sp, sp, #256"},
        {"add", "r7, sp, #0"},
        {"movs", "r0, #3"},
        {"cmp", "r0, #3"},
        {"beq.n", "8020 <f+0x20>"},
        {"sub.w", "sp, sp, #512"},
        {"nop", ""},
        {"adds", "r7, #255"},
        {"adds", "r7, #1"},
        {"mov", "sp, r7"},
        {"pop", "{r7, pc}"}},
       264,
       kProven},
      // A loop that uses no stack, a store, and a call of itself at the end.
      {kArm,
       {{"push", "{lr}"},
        {"movs", "r2, #8"},
        {"str", "r1, [r0, #4]"},
        {"ldrb", "r1, [r0, r2]"},
        {"subs", "r2, #1"},
        {"bne.n", "8008 <f+0x8>"},
        {"ldr.w", "pc, [sp], #4"}},
       4,
       kProven},
      {kArm, {{"push", "{r0}"}, {"b.n", "8000 <f>"}}, 0, kNone},
      {kArm, {{"mov", "sp, r3"}, {"bx", "lr"}}, 0, kNone},
      {kArm, {{"push", "{r0}"}, {"bx", "lr"}}, 4, kNone},
      {kArm, {{"svc", "0"}, {"bx", "lr"}}, 0, kAssumed},
      {kArm, {{"udf", "#0"}}, 0, kProven},
      {kRiscvMachine,
       {{"addi", "sp,sp,-32"}, {"sw", "ra,28(sp)"}, {"lw", "ra,28(sp)"}, {"addi", "sp,sp,32"}, {"ret", ""}},
       32,
       kProven},
      {kRiscvMachine,
       {{"addi", "sp,sp,-16"},
        {"csrr", "t0,vlenb"},
        {"li", "t1,3"},
        {"mul", "t0,t0,t1"},
        {"sub", "sp,sp,t0"},
        {"csrr", "t0,vlenb"},
        {"slli", "t1,t0,0x1"},
        {"add", "t0,t0,t1"},
        {"add", "sp,sp,t0"},
        {"addi", "sp,sp,16"},
        {"ret", ""}},
       64,
       kAssumed},
      {kRiscvMachine,
       {{"csrr", "t0,vlenb"}, {"sub", "sp,sp,t0"}, {"csrr", "t0,vlenb"}, {"add", "sp,sp,t0"}, {"ret", ""}},
       64,
       kProven,
       {512, true}},
      {kRiscvMachine, {{"csrr", "t0,mscratch"}, {"sub", "sp,sp,t0"}, {"ret", ""}}, 0, kNone},
      {kRiscvMachine, {{"mv", "t0,a0"}, {"jr", "t0"}}, 0, kNone},
      {kRiscvMachine, {{"ecall", ""}, {"ret", ""}}, 0, kAssumed},
      {kRiscvMachine,
       {{"lui", "t0,0x1"}, {"sub", "sp,sp,t0"}, {"lui", "t0,0x1"}, {"add", "sp,sp,t0"}, {"ret", ""}},
       4096,
       kProven},
      // One path of a branch has more stack than the other.
      {kRiscvMachine,
       {{"bltu", "a0,a1,8010"},
        {"addi", "sp,sp,-16"},
        {"addi", "sp,sp,16"},
        {"ret", ""},
        {"addi", "sp,sp,-48"},
        {"addi", "sp,sp,48"},
        {"ret", ""}},
       48,
       kProven},
      {kAvrMachine, {{"push", "r28"}, {"push", "r29"}, {"pop", "r29"}, {"pop", "r28"}, {"ret", ""}}, 2, kProven},
      {kAvrMachine,
       {{"push", "r28"},
        {"push", "r29"},
        {"in", "r28, 0x3d"},
        {"in", "r29, 0x3e"},
        {"sbiw", "r28, 0x08"},
        {"in", "r0, 0x3f"},
        {"cli", ""},
        {"out", "0x3e, r29"},
        {"out", "0x3f, r0"},
        {"out", "0x3d, r28"},
        {"adiw", "r28, 0x08"},
        {"out", "0x3e, r29"},
        {"out", "0x3d, r28"},
        {"pop", "r29"},
        {"pop", "r28"},
        {"ret", ""}},
       10,
       kProven},
  };
  for (size_t t = 0; t < texts.size(); ++t) {
    const StackBound found = bound_of(texts[t]);
    std::string why;
    for (const Problem& p : found.problems) why += p.text + "; ";
    EXPECT_EQ(found.state, texts[t].state) << "text " << t << ": " << why;
    // The return address of AVR is the caller's.
    const int64_t more = texts[t].machine == kAvrMachine ? 2 : 0;
    if (texts[t].state != kNone)
      EXPECT_TRUE(found.bytes == texts[t].bytes || found.bytes == texts[t].bytes + more)
          << "text " << t << ": " << found.bytes;
  }
}

TEST(Elf, SmallProgramIsRead) {
  Diagnostics diags;
  auto elf = read(small_program(), diags);
  ASSERT_TRUE(elf) << diags.str();
  EXPECT_EQ(elf->isa(), Isa::kThumb);
  EXPECT_EQ(elf->entry(), 0x8000u);
  ASSERT_NE(elf->function_at(0x8000), nullptr);
  EXPECT_EQ(elf->place(0x8002), "f+0x2 (0x8002)");
  EXPECT_EQ(elf->constant(0x8000, 2), 0xb500u);
  EXPECT_EQ(elf->constant(0x8002, 4), std::nullopt);
  EXPECT_EQ(elf->constant(0x20000000, 4), std::nullopt) << "the program can write it";
  EXPECT_FALSE(elf->is_data(0x8000));
  look_at(*elf);
}

TEST(Elf, EveryTruncationIsRefusedOrHarmless) {
  const auto whole = small_program();
  for (size_t length = 0; length < whole.size(); ++length) {
    Diagnostics diags;
    auto elf = read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, diags);
    EXPECT_FALSE(elf) << length;
    ASSERT_EQ(diags.error_count(), 1) << length;
    EXPECT_EQ(diags.all()[0].location.file, "a.elf");
  }
}

TEST(Elf, EveryFieldWithExtremeValues) {
  const auto whole = small_program();
  for (size_t at = 0; at + 4 <= whole.size(); at += 2)
    for (uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffff0u, 0xffffffffu}) {
      auto bytes = whole;
      put(bytes, at, value, 4);
      Diagnostics diags;
      auto elf = read(bytes, diags);
      EXPECT_NE(elf.ok(), diags.has_errors()) << at;
      if (elf) look_at(*elf);
    }
}

TEST(Elf, RandomDamage) {
  const auto whole = small_program();
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    auto bytes = whole;
    for (auto n = 1 + random() % 6; n > 0; --n) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    Diagnostics diags;
    auto elf = read(bytes, diags);
    EXPECT_NE(elf.ok(), diags.has_errors());
    if (elf) look_at(*elf);
  }
}

TEST(Elf, OtherMachinesAreNamed) {
  auto bytes = small_program();
  put(bytes, 18, 62, 2);
  Diagnostics diags;
  EXPECT_FALSE(read(bytes, diags));
  EXPECT_EQ(diags.all()[0].slug, "elf-machine");
}

TEST(Objdump, LinesThatAreNoInstructions) {
  Listing listing = parse_objdump(Isa::kThumb,
                                  "00008000 <f>:\n"
                                  "    8000:\tb510      \tpush\t{r4, lr}\n"
                                  "    8002:\t0001      \t.short\t0x0001\n"
                                  "    8004:\tf3af 8000 \tnop.w\n"
                                  "ffffffffffff:\tb510\tpush\t{r4}\n"
                                  "    zz:\tb510\tpush\t{r4}\n"
                                  "    8008:\tb510\n"
                                  "    8010:\tbd10      \tpop\t{r4, pc}");
  ASSERT_NE(listing.at(0x8000), nullptr);
  EXPECT_EQ(listing.at(0x8000)->reads, (std::vector<Operand>{{4}, {14}}));
  EXPECT_EQ(listing.at(0x8002), nullptr);
  ASSERT_NE(listing.at(0x8004), nullptr);
  EXPECT_EQ(listing.at(0x8004)->op, Op::kNop);
  EXPECT_EQ(listing.at(0x8004)->size, 4u);
  EXPECT_EQ(listing.at(0x8008), nullptr);
  EXPECT_NE(listing.at(0x8010), nullptr);
}

// Operands that no disassembler prints must not end the program.
TEST(Semantics, SenselessOperands) {
  Diagnostics diags;
  auto elf = read(small_program(), diags);
  ASSERT_TRUE(elf);
  const char* mnemonics[] = {"push", "pop",   "ldr",   "str",  "strd",    "add", "sub", "tbb",  "bl",   "blx",
                             "bx",   "stmdb", "ldmia", "cmp",  "bhi",     "it",  "itt", "jalr", "jal",  "jr",
                             "addi", "lw",    "sw",    "bltu", "cm.push", "lui", "in",  "out",  "sbiw", "lpm",
                             "movw", "icall", "rcall", "rjmp", "subi",    "cpc", "le",  "wls",  "v",    "vpush"};
  const char* operands[] = {"",
                            ",",
                            "[",
                            "]",
                            "{",
                            "}",
                            "{}",
                            "{r4",
                            "[sp",
                            "[sp]!",
                            "[sp, #]",
                            "sp",
                            "sp, sp",
                            "sp, #99999999999",
                            "{r9-r2}",
                            "{d-}",
                            "r0, [sp, r1, lsl]",
                            "r0, [pc, #4]",
                            "(sp)",
                            "a0, (",
                            "a0, 99999999999(sp)",
                            "-",
                            "r31, Z+",
                            "r31, r30",
                            "0x3d, r28",
                            "r1, [r0, r1, asr #x]",
                            "pc",
                            "{d8-d999999999}",
                            "[pc, ]",
                            "[pc, r0"};
  for (const char* m : mnemonics)
    for (const char* o : operands) {
      for (Isa isa : {Isa::kThumb, Isa::kRiscv, Isa::kAvr}) {
        const Instruction i = parse_instruction(isa, 0x8000, 2, m, o);
        for (auto& semantics : {thumb_semantics(*elf), riscv_semantics(*elf), avr_semantics(*elf)}) {
          State state = semantics->at_entry();
          (void)semantics->step(i, state);
          semantics->after_call(state);
        }
      }
    }
}

TEST(LinkerMap, WhatGnuLdWrites) {
  LinkerMap map = parse_linker_map(
      "Discarded\n .text 0x0 0x10 a.o\nLinker script and memory map\n\n"
      ".text           0x00008000       0x20\n *(.text .text.*)\n"
      " .text.f        0x00008000       0x10 dir with space/a.o\n"
      " .text.a_very_long_name\n                0x00008010        0xc lib.a(b.o)\n"
      "                0x00008010                name\n"
      " *fill*         0x0000801c        0x4 \n .text 0x1 bad\n");
  ASSERT_EQ(map.size(), 2u);
  EXPECT_EQ(map[0x8000].object, "dir with space/a.o");
  EXPECT_EQ(map[0x8010].name, ".text.a_very_long_name");
  EXPECT_EQ(map[0x8010].size, 12u);
}

}  // namespace

}  // namespace aotc::machine
