// SPDX-License-Identifier: Apache-2.0
#include "machine/instruction.h"

#include <algorithm>
#include <iterator>

namespace aotc::machine {

namespace {

std::string trimmed(const std::string& text) {
  size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// What binutils adds behind a number: "8010 <memcpy>", and comments.
std::string without_comment(Isa isa, std::string text) {
  for (const char* mark : {"\t@", " @", ";", " <", "//"}) text = text.substr(0, text.find(mark));
  if (isa == Isa::kRiscv) text = text.substr(0, text.find('#'));
  return text;
}

std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> out;
  std::string item;
  int depth = 0;
  for (char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(trimmed(item));
      item.clear();
    } else {
      item += c;
    }
  }
  item = trimmed(item);
  if (!item.empty()) out.push_back(item);
  return out;
}

bool is_before(const Instruction& a, const Instruction& b) { return a.address < b.address; }

}  // namespace

Instruction parse_instruction(Isa isa, uint32_t address, uint32_t size, std::string mnemonic,
                              const std::string& operands) {
  Instruction out;
  out.address = address;
  out.size = size;
  for (char& c : mnemonic) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (isa == Isa::kThumb && (mnemonic.ends_with(".w") || mnemonic.ends_with(".n")))
    mnemonic.resize(mnemonic.size() - 2);
  out.mnemonic = std::move(mnemonic);
  out.operands = split_operands(without_comment(isa, operands));
  return out;
}

void Listing::finish(Isa isa) {
  std::stable_sort(all_.begin(), all_.end(), is_before);
  if (isa != Isa::kThumb) return;
  size_t block = 0;
  for (Instruction& i : all_) {
    if (block > 0) {
      --block;
      i.conditional = true;
      // "popeq": the condition is in the name. vpt blocks have none of their own that matter here.
      size_t dot = i.mnemonic.find('.');
      size_t end = dot == std::string::npos ? i.mnemonic.size() : dot;
      if (end > 2) i.mnemonic.erase(end - 2, 2);
      if (i.mnemonic.ends_with(".w") || i.mnemonic.ends_with(".n")) i.mnemonic.resize(i.mnemonic.size() - 2);
    }
    const std::string& m = i.mnemonic;
    if (!i.conditional && m.size() >= 2 && m.size() <= 5 && m[0] == 'i' &&
        std::all_of(m.begin() + 1, m.end(), [](char c) { return c == 't' || c == 'e'; }))
      block = m.size() - 1;
  }
}

const Instruction* Listing::from(uint32_t address) const {
  Instruction key;
  key.address = address;
  auto found = std::lower_bound(all_.begin(), all_.end(), key, is_before);
  return found == all_.end() ? nullptr : &*found;
}

const Instruction* Listing::before(uint32_t address) const {
  Instruction key;
  key.address = address;
  auto found = std::lower_bound(all_.begin(), all_.end(), key, is_before);
  return found == all_.begin() || std::prev(found)->next() != address ? nullptr : &*std::prev(found);
}

const Instruction* Listing::at(uint32_t address) const {
  const Instruction* found = from(address);
  return found != nullptr && found->address == address ? found : nullptr;
}

}  // namespace aotc::machine
