// SPDX-License-Identifier: Apache-2.0
// Elf: a linked program (ELF file) for a 32-bit little-endian microcontroller, with its sections, symbols and constant
// bytes. `read` checks every offset in the file; accesses outside of the file return nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::machine {

enum class Isa { kThumb, kRiscv, kAvr };

struct Section {
  std::string name;
  uint32_t type = 0, flags = 0, address = 0, size = 0, offset = 0;

  bool allocated() const { return (flags & 2u) != 0; }
  bool executable() const { return (flags & 4u) != 0; }
  bool writable() const { return (flags & 1u) != 0; }
  // False for .bss and similar sections, which have no bytes in the file.
  bool has_bytes() const;
  bool contains(uint32_t at) const { return at - address < size; }
};

enum class SymbolKind { kOther, kFunction, kObject, kFile };

struct Symbol {
  std::string name;
  uint32_t address = 0;  // without the bit that marks Thumb code
  uint32_t size = 0;
  SymbolKind kind = SymbolKind::kOther;
  bool global = false;
  int section = -1;  // index into sections(); -1: an absolute or undefined symbol
};

class Elf {
 public:
  // Reports [elf-invalid] for a file that is not such an ELF file, and [elf-machine] for another machine.
  static Result<Elf> read(std::vector<uint8_t> bytes, const std::string& file, Diagnostics& diags);

  Isa isa() const { return isa_; }
  uint32_t flags() const { return flags_; }
  uint32_t entry() const { return entry_; }
  const std::string& file() const { return file_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  const std::vector<Section>& sections() const { return sections_; }
  // Sorted by address, without mapping symbols ($t, $d), which mark where code and data begin.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::span<const uint8_t> content(const Section& section) const;

  const Section* section_at(uint32_t address) const;
  // The function that begins at, or contains, an address; null if none. If several functions share the address, a
  // global one.
  const Symbol* function_at(uint32_t address) const;
  const Symbol* function_around(uint32_t address) const;
  // All functions with this name; several static functions may share it.
  std::vector<const Symbol*> functions_named(const std::string& name) const;
  // The name of the function at an address, for messages; the address if it has no name.
  std::string function_name(uint32_t address) const;
  // An address for messages: "conv+0x1c (0x80f4)".
  std::string place(uint32_t address) const;
  // Reads a little-endian value of `width` (1, 2 or 4) bytes from a read-only section; nullopt outside of such
  // sections.
  std::optional<uint32_t> constant(uint32_t address, int width) const;
  // True if there are mapping symbols; a stripped program has none.
  bool is_mapped() const { return !mapping_.empty(); }
  // True if a mapping symbol marks data at this address.
  bool is_data(uint32_t address) const;
  // Bytes that the call instruction pushes; three on AVR devices with more than 128 KB of flash.
  uint32_t return_bytes() const;

 private:
  Status read_sections(Diagnostics& diags);
  Status read_symbols(Diagnostics& diags);
  void add_symbol(Symbol symbol, uint8_t kind);
  Status fail(Diagnostics& diags, const std::string& what) const;
  uint32_t word(size_t at) const;
  uint32_t half(size_t at) const;
  bool holds(uint64_t at, uint64_t size) const { return at + size <= bytes_.size(); }
  std::string text(const Section& strings, uint32_t at) const;

  std::string file_;
  std::vector<uint8_t> bytes_;
  Isa isa_ = Isa::kThumb;
  uint32_t flags_ = 0, entry_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<size_t> functions_;  // indices in symbols_, one for each address
  std::map<uint32_t, char> mapping_;
};

}  // namespace aotc::machine
