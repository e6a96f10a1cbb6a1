// SPDX-License-Identifier: Apache-2.0
#include "cores/family.h"

#include <utility>

namespace aotc::cores {

void add_all_families(std::vector<Family>& to);  // generated from the folders of cores/

namespace {

std::vector<Family>& all_families() {
  static std::vector<Family> all = [] {
    std::vector<Family> made;
    add_all_families(made);
    return made;
  }();
  return all;
}

std::vector<const KernelText*> kernel_texts() {
  std::vector<const KernelText*> out;
  for (const Family& family : families()) {
    for (const KernelText& text : family.kernels) out.push_back(&text);
    for (const Extension& extension : family.extensions)
      for (const KernelText& text : extension.kernels) out.push_back(&text);
  }
  return out;
}

}  // namespace

const std::vector<Family>& families() { return all_families(); }

void add_family(Family family) { all_families().push_back(std::move(family)); }

std::optional<Implementation> implementation_of(const tir::Kernel& kernel, KernelForm form) {
  if (form == KernelForm::kC) return std::nullopt;
  for (const KernelText* text : kernel_texts()) {
    if (kernel.family != text->family) continue;
    if (form == KernelForm::kAssembly || text->intrinsics) return text->make(kernel);
    return text->translate != nullptr ? text->translate(kernel, text->make(kernel)) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string> kernel_families() {
  std::vector<std::string> out;
  for (const KernelText* text : kernel_texts())
    if (!text->intrinsics) out.emplace_back(text->family);
  return out;
}

}  // namespace aotc::cores
