// SPDX-License-Identifier: Apache-2.0
#include "target/family.h"

#include <utility>

namespace aotc::target {

void add_all_families(std::vector<Family>& to);  // generated from the folders of target/

namespace {

std::vector<Family>& all_families() {
  static std::vector<Family> all = [] {
    std::vector<Family> made;
    add_all_families(made);
    return made;
  }();
  return all;
}

}  // namespace

const std::vector<Family>& families() { return all_families(); }

void add_family(Family family) { all_families().push_back(std::move(family)); }

std::optional<Implementation> implementation_of(const tir::Kernel& kernel) {
  for (const Family& family : families())
    for (const Extension& extension : family.extensions)
      for (const KernelText& text : extension.kernels)
        if (kernel.family == text.family) return text.make(kernel);
  return std::nullopt;
}

std::vector<std::string> kernel_families() {
  std::vector<std::string> out;
  for (const Family& family : families())
    for (const Extension& extension : family.extensions)
      for (const KernelText& text : extension.kernels) out.emplace_back(text.family);
  return out;
}

}  // namespace aotc::target
