// SPDX-License-Identifier: Apache-2.0
#include "machine/elf.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::machine {

namespace {

constexpr uint32_t kHeaderBytes = 52, kSectionBytes = 40, kSymbolBytes = 16;
constexpr uint32_t kSymbolTable = 2, kStringTable = 3, kNoBits = 8;
constexpr uint32_t kArm = 40, kAvrMachine = 83, kRiscvMachine = 243;
constexpr uint32_t kUndefined = 0, kReservedSections = 0xff00;
constexpr uint8_t kObjectType = 1, kFunctionType = 2, kSectionType = 3, kFileType = 4;

Location in_file(const std::string& file) {
  Location where;
  where.file = file;
  return where;
}

SymbolKind kind_of(uint8_t type) {
  switch (type) {
    case kObjectType: return SymbolKind::kObject;
    case kFunctionType: return SymbolKind::kFunction;
    case kFileType: return SymbolKind::kFile;
    default: return SymbolKind::kOther;
  }
}

}  // namespace

bool Section::has_bytes() const { return type != kNoBits; }

uint32_t Elf::half(size_t at) const { return bytes_[at] | uint32_t{bytes_[at + 1]} << 8; }

uint32_t Elf::word(size_t at) const { return half(at) | half(at + 2) << 16; }

Status Elf::fail(Diagnostics& diags, const std::string& what) const {
  diags.error(in_file(file_), "elf-invalid", what).help("give the linked program (.elf), not an archive or an image");
  return kFailure;
}

std::string Elf::text(const Section& strings, uint32_t at) const {
  if (at >= strings.size) return "";
  auto begin = bytes_.begin() + strings.offset + at, end = bytes_.begin() + strings.offset + strings.size;
  return {begin, std::find(begin, end, uint8_t{0})};
}

Result<Elf> Elf::read(std::vector<uint8_t> bytes, const std::string& file, Diagnostics& diags) {
  Elf elf;
  elf.file_ = file;
  elf.bytes_ = std::move(bytes);
  const auto& b = elf.bytes_;
  if (b.size() < kHeaderBytes || b[0] != 0x7f || b[1] != 'E' || b[2] != 'L' || b[3] != 'F') {
    (void)elf.fail(diags, "the file is not an ELF file");
    return kFailure;
  }
  const uint32_t machine = elf.half(18);
  const bool known = machine == kArm || machine == kAvrMachine || machine == kRiscvMachine;
  if (b[4] != 1 || b[5] != 1 || !known) {
    diags
        .error(in_file(file), "elf-machine",
               fmt::format("the program is for machine {} with {} bits, {}-endian", machine, b[4] == 2 ? 64 : 32,
                           b[5] == 1 ? "little" : "big"))
        .help("aotc reads programs for Arm Cortex-M, 32-bit RISC-V and AVR");
    return kFailure;
  }
  elf.isa_ = machine == kArm ? Isa::kThumb : machine == kAvrMachine ? Isa::kAvr : Isa::kRiscv;
  elf.entry_ = elf.word(24) & (elf.isa_ == Isa::kThumb ? ~1u : ~0u);
  elf.flags_ = elf.word(36);
  if (!elf.read_sections(diags) || !elf.read_symbols(diags)) return kFailure;
  return elf;
}

Status Elf::read_sections(Diagnostics& diags) {
  const uint32_t table = word(32), each = half(46), count = half(48), names = half(50);
  if (count == 0) return fail(diags, "the file has no sections: they were stripped");
  if (each != kSectionBytes || !holds(table, uint64_t{each} * count))
    return fail(diags, fmt::format("the header states {} sections of {} bytes at offset {}, but the file has {} bytes",
                                   count, each, table, bytes_.size()));
  std::vector<uint32_t> name_offsets;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = table + size_t{i} * kSectionBytes;
    Section s;
    name_offsets.push_back(word(at));
    s.type = word(at + 4);
    s.flags = word(at + 8);
    s.address = word(at + 12);
    s.offset = word(at + 16);
    s.size = word(at + 20);
    if (s.type != 0 && s.has_bytes() && !holds(s.offset, s.size))
      return fail(diags, fmt::format("section {} states {} bytes at offset {}, but the file has {} bytes", i, s.size,
                                     s.offset, bytes_.size()));
    if (s.type == 0) s.size = 0;
    if (s.allocated() && uint64_t{s.address} + s.size > UINT32_MAX)
      return fail(diags, fmt::format("section {} at {:#x} with {} bytes exceeds the range of 32-bit addresses", i,
                                     s.address, s.size));
    sections_.push_back(std::move(s));
  }
  if (names >= count || sections_[names].type != kStringTable)
    return fail(diags, fmt::format("section {} must be the string table with the names of the sections", names));
  for (uint32_t i = 0; i < count; ++i) sections_[i].name = text(sections_[names], name_offsets[i]);
  return success();
}

void Elf::add_symbol(Symbol symbol, uint8_t type) {
  const std::string& name = symbol.name;
  const bool marks = name.size() >= 2 && name[0] == '$' && (name.size() == 2 || name[2] == '.' || name[1] == 'x');
  if (isa_ != Isa::kAvr && marks && std::string("tadx").find(name[1]) != std::string::npos) {
    // Sections of debuggers have some, too, at addresses that are code's.
    if (symbol.section >= 0 && sections_[static_cast<size_t>(symbol.section)].allocated())
      mapping_[symbol.address] = name[1];
    return;
  }
  if (type == kSectionType || name.empty()) return;
  symbol.kind = kind_of(type);
  if (isa_ == Isa::kThumb && symbol.kind == SymbolKind::kFunction) symbol.address &= ~1u;
  symbols_.push_back(std::move(symbol));
}

Status Elf::read_symbols(Diagnostics& diags) {
  for (uint32_t i = 0; i < sections_.size(); ++i) {
    const Section& s = sections_[i];
    if (s.type != kSymbolTable) continue;
    const uint32_t link = word(word(32) + size_t{i} * kSectionBytes + 24);
    if (link >= sections_.size() || sections_[link].type != kStringTable)
      return fail(diags, fmt::format("the symbol table in section {} has no string table", i));
    for (uint32_t n = 1; n < s.size / kSymbolBytes; ++n) {
      const size_t at = s.offset + size_t{n} * kSymbolBytes;
      const uint32_t place = half(at + 14);
      Symbol symbol;
      symbol.name = text(sections_[link], word(at));
      symbol.address = word(at + 4);
      symbol.size = word(at + 8);
      symbol.global = bytes_[at + 12] >> 4 != 0;
      if (place != kUndefined && place < kReservedSections && place < sections_.size())
        symbol.section = static_cast<int>(place);
      add_symbol(std::move(symbol), bytes_[at + 12] & 15u);
    }
  }
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return std::tuple(a.address, !a.global, a.size) < std::tuple(b.address, !b.global, b.size);
  });
  uint64_t end = 0;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& s = symbols_[i];
    if (s.section < 0 || !sections_[static_cast<size_t>(s.section)].executable()) continue;
    // Assembly may not say that something is a function.
    const bool label = s.kind == SymbolKind::kOther && s.global && s.address >= end;
    if (s.kind != SymbolKind::kFunction && !label) continue;
    end = std::max(end, uint64_t{s.address} + s.size);
    if (functions_.empty() || symbols_[functions_.back()].address != s.address) functions_.push_back(i);
    // Of several names of one place the first that has a size says where it ends.
    else if (symbols_[functions_.back()].size == 0) symbols_[functions_.back()].size = s.size;
  }
  return success();
}

std::span<const uint8_t> Elf::content(const Section& section) const {
  if (!section.has_bytes() || !holds(section.offset, section.size)) return {};
  return std::span(bytes_).subspan(section.offset, section.size);
}

const Section* Elf::section_at(uint32_t address) const {
  for (const Section& s : sections_)
    if (s.allocated() && s.contains(address)) return &s;
  return nullptr;
}

const Symbol* Elf::function_around(uint32_t address) const {
  auto behind = std::upper_bound(functions_.begin(), functions_.end(), address,
                                 [&](uint32_t at, size_t i) { return at < symbols_[i].address; });
  if (behind == functions_.begin()) return nullptr;
  const Symbol& s = symbols_[*std::prev(behind)];
  return address == s.address || address - s.address < s.size || s.size == 0 ? &s : nullptr;
}

const Symbol* Elf::function_at(uint32_t address) const {
  const Symbol* s = function_around(address);
  return s != nullptr && s->address == address ? s : nullptr;
}

std::vector<const Symbol*> Elf::functions_named(const std::string& name) const {
  std::vector<const Symbol*> out;
  for (const Symbol& s : symbols_) {
    if (s.name != name || s.section < 0 || s.kind == SymbolKind::kFile || s.kind == SymbolKind::kObject) continue;
    if (!sections_[static_cast<size_t>(s.section)].executable()) continue;
    if (out.empty() || out.back()->address != s.address) out.push_back(&s);
  }
  return out;
}

std::string Elf::function_name(uint32_t address) const {
  const Symbol* s = function_at(address);
  return s != nullptr ? escape_for_display(s->name) : fmt::format("{:#x}", address);
}

std::string Elf::place(uint32_t address) const {
  const Symbol* s = function_around(address);
  if (s == nullptr) return fmt::format("{:#x}", address);
  return fmt::format("{}+{:#x} ({:#x})", escape_for_display(s->name), address - s->address, address);
}

std::optional<uint32_t> Elf::constant(uint32_t address, int width) const {
  const Section* s = section_at(address);
  const auto bytes = static_cast<uint32_t>(width);
  if (s == nullptr || !s->has_bytes() || (s->writable() && !s->executable())) return std::nullopt;
  // Code in RAM: its own constants, and no variables beside it.
  const Symbol* function = s->writable() ? function_around(address) : nullptr;
  if (s->writable() && (function == nullptr || function->size == 0)) return std::nullopt;
  const uint32_t from = address - s->address;
  if (s->size < bytes || from > s->size - bytes || !holds(s->offset, s->size)) return std::nullopt;
  uint32_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) value |= uint32_t{bytes_[s->offset + from + i]} << (8 * i);
  return value;
}

bool Elf::is_data(uint32_t address) const {
  auto behind = mapping_.upper_bound(address);
  return behind != mapping_.begin() && std::prev(behind)->second == 'd';
}

uint32_t Elf::return_bytes() const {
  if (isa_ != Isa::kAvr) return 0;
  // The architectures avr6 and avrxmega6, avrxmega7 (flags 6, 106, 107).
  const uint32_t arch = flags_ & 0x7fu;
  return arch == 6 || arch == 106 || arch == 107 ? 3 : 2;
}

}  // namespace aotc::machine
