// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/helium/helium.h"

#include <fmt/format.h>

namespace aotc::cores::arm {

std::string Helium::use(Vec v) {
  used_ |= 1u << v.number;
  return fmt::format("q{}", v.number);
}

std::string Helium::place(Reg n, int offset) {
  return offset == 0 ? fmt::format("[{}]", name(n)) : fmt::format("[{}, #{}]", name(n), offset);
}

std::string Helium::load_bytes(int bits) { return bits == 8 ? "vldrb.u8" : fmt::format("vldrb.s{}", bits); }

void Helium::vector(const std::string& op, std::initializer_list<std::string> operands) {
  size_t dot = op.find('.');
  std::string mnemonic = op.substr(0, dot) + suffix_;
  if (dot != std::string::npos) mnemonic += op.substr(dot);
  emit(mnemonic, operands);
}

void Helium::typed(const char* op, int bits, std::initializer_list<std::string> operands) {
  vector(fmt::format("{}{}", op, bits), operands);
}

void Helium::vmov_lanes(Vec d, int high, int low, Reg low_value, Reg high_value) {
  std::string q = use(d);
  emit("vmov", {fmt::format("{}[{}]", q, high), fmt::format("{}[{}]", q, low), name(low_value), name(high_value)});
}

void Helium::vmov_lane(Vec d, int lane, Reg t) { emit("vmov.32", {fmt::format("{}[{}]", use(d), lane), name(t)}); }

std::string Helium::use_some(Vec first, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i == 0 ? "{" : ", ") + use({first.number + i});
  return out + "}";
}

void Helium::vld4_bytes(Vec first, Reg n, int part) {
  vector(fmt::format("vld4{}.8", part), {use_some(first, 4), place(n, 0)});
}

void Helium::vst4_bytes(Vec first, Reg n, int part) {
  vector(fmt::format("vst4{}.8", part), {use_some(first, 4), place(n, 0) + (part == 3 ? "!" : "")});
}

void Helium::store_pair(int bits, Vec first, Reg n, int part) {
  vector(fmt::format("vst2{}.{}", part, bits), {use_some(first, 2), place(n, 0) + (part == 1 ? "!" : "")});
}

void Helium::vpst(int count) { emit("vps" + std::string(static_cast<size_t>(count), 't'), {}); }

void Helium::append(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    for (size_t at = line.find(' '); at != std::string::npos && at + 2 < line.size() + 1; ++at)
      if (line[at] == ' ' && line[at + 1] == 'q') used_ |= 1u << (line[at + 2] - '0');
  Thumb::append(lines);
}

Implementation Helium::finish(bool floats) {
  std::string core = "defined(__ARMEL__) && defined(__ARM_FEATURE_MVE)";
  if (floats) core += " && __ARM_FEATURE_MVE == 3";
  Implementation out = Thumb::finish(core);
  int saved = 0;
  for (int q = 0; q < 8; ++q) {
    if (!(used_ >> q & 1)) continue;
    out.clobbers.push_back(fmt::format("d{}", 2 * q));
    out.clobbers.push_back(fmt::format("d{}", 2 * q + 1));
    if (q >= 4) saved += 16;
  }
  out.stack_bytes += saved;
  return out;
}

}  // namespace aotc::cores::arm
