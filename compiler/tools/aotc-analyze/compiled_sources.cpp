// SPDX-License-Identifier: Apache-2.0
#include "compiled_sources.h"

#include <algorithm>
#include <memory>

#include <clang/CodeGen/CodeGenAction.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

namespace aotc::analyze {

namespace {

constexpr std::string_view kFunctionSection = ".text.";

// Whether its text pushes, pops or moves the stack pointer.
bool moves_stack(llvm::StringRef text) {
  for (const char* sign : {"push", "sp!", "sub sp", "sub\tsp", "subw sp", "add sp", "[sp, #-", "addi sp", "addi\tsp"})
    if (text.contains_insensitive(sign)) return true;
  return false;
}

void mark_assembly(llvm::Module& module, std::map<std::string, CompiledFunction>& functions) {
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
      if (call == nullptr || !call->isInlineAsm()) continue;
      const auto* text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand());
      auto at = functions.find(f.getName().str());
      if (at != functions.end() && moves_stack(text->getAsmString())) at->second.assembly = true;
    }
}

// Every function is in a section of its own, which has its name.
class Object {
 public:
  Object(const llvm::object::ObjectFile& object, const std::string& file, CompiledSources& out)
      : file_(file), out_(out) {
    for (const llvm::object::SectionRef& s : object.sections()) add_section(s);
    for (const llvm::object::SectionRef& s : object.sections()) add_calls(s);
  }

  std::map<std::string, CompiledFunction>& functions() { return functions_; }

 private:
  static std::string name_of(const llvm::object::SectionRef& s) {
    auto name = s.getName();
    if (name) return name->str();
    llvm::consumeError(name.takeError());
    return "";
  }

  void add_section(const llvm::object::SectionRef& s) {
    const std::string name = name_of(s);
    const uint64_t flags = llvm::object::ELFSectionRef(s).getFlags();
    if ((flags & llvm::ELF::SHF_ALLOC) == 0 || s.getSize() == 0 || name.starts_with(".ARM.exidx")) return;
    const auto bytes = static_cast<int64_t>(s.getSize());
    if (s.isText()) {
      out_.code += bytes;
      if (name.starts_with(kFunctionSection)) {
        CompiledFunction f;
        f.name = name.substr(kFunctionSection.size());
        f.file = file_;
        f.bytes = bytes;
        functions_.emplace(f.name, std::move(f));
      }
    } else if (s.isBSS()) {
      out_.zero += bytes;
    } else {
      ((flags & llvm::ELF::SHF_WRITE) != 0 ? out_.data : out_.constants) += bytes;
    }
  }

  // "conv", or the section of "conv".
  static std::string callee_of(const llvm::object::SymbolRef& symbol) {
    auto name = symbol.getName();
    std::string out;
    if (name) out = name->str();
    else llvm::consumeError(name.takeError());
    auto type = symbol.getType();
    if (!type) {
      llvm::consumeError(type.takeError());
      return "";
    }
    if (*type == llvm::object::SymbolRef::ST_Function) return out;
    auto section = symbol.getSection();
    if (!section) {
      llvm::consumeError(section.takeError());
      return "";
    }
    if (*section == symbol.getObject()->section_end())
      return *type == llvm::object::SymbolRef::ST_Unknown ? out : "";  // of another file
    const std::string around = name_of(**section);
    return around.starts_with(kFunctionSection) ? around.substr(kFunctionSection.size()) : "";
  }

  void add_calls(const llvm::object::SectionRef& s) {
    auto relocated = s.getRelocatedSection();
    if (!relocated) return llvm::consumeError(relocated.takeError());
    if (*relocated == s.getObject()->section_end()) return;
    const std::string name = name_of(**relocated);
    auto caller =
        name.starts_with(kFunctionSection) ? functions_.find(name.substr(kFunctionSection.size())) : functions_.end();
    if (caller == functions_.end()) return;
    for (const llvm::object::RelocationRef& r : s.relocations()) {
      llvm::SmallString<32> type;
      r.getTypeName(type);
      // Addresses of data are none; jumps within a function go to itself.
      const llvm::StringRef kind = type;
      const bool calls =
          kind.contains("CALL") || kind.contains("JUMP24") || kind.contains("PLT32") || kind.contains("JAL");
      if (!calls || r.getSymbol() == s.getObject()->symbol_end()) continue;
      const std::string callee = callee_of(*r.getSymbol());
      if (!callee.empty() && callee != caller->first) caller->second.calls.insert(callee);
      if (callee == caller->first && kind.contains("CALL")) caller->second.calls.insert(callee);
    }
  }

  const std::string& file_;
  CompiledSources& out_;
  std::map<std::string, CompiledFunction> functions_;
};

void compile_one(const std::string& file, ClangJob job, CompiledSources& out) {
  job.file = file;
  job.flags.insert(job.flags.end(), {"-ffunction-sections", "-fdata-sections", "-fno-unwind-tables",
                                     "-fno-asynchronous-unwind-tables", "-Rpass-analysis=prologepilog"});
  llvm::SmallVector<char, 0> bytes;
  clang::EmitObjAction action;
  JobMessages said;
  const bool good = run_clang(job, {"-c"}, action, std::make_unique<llvm::raw_svector_ostream>(bytes), said);
  bool error = false;
  for (SourceMessage& m : said.messages) {
    error |= m.severity == Severity::kError;
    out.messages.push_back(std::move(m));
  }
  auto refuse = [&](const std::string& why) {
    out.failed = true;
    if (!error) out.messages.push_back({file, 0, 0, Severity::kError, "operator-source", why});
  };
  if (!good) return refuse("Clang cannot compile the source with these flags");
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), file);
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!object) return refuse(llvm::toString(object.takeError()));
  out.triple = (*object)->makeTriple().str();
  const std::unique_ptr<llvm::Module> module = action.takeModule();
  if (module) out.triple = module->getTargetTriple();
  Object found(**object, file, out);
  for (auto& [name, frame] : said.frames)
    if (auto at = found.functions().find(name); at != found.functions().end()) at->second.frame = frame;
  if (module) mark_assembly(*module, found.functions());
  for (auto& [name, f] : found.functions()) {
    // LLVM counts no pushes and no return addresses there.
    if (out.triple.starts_with("avr")) f.frame = -1;
    out.functions.push_back(std::move(f));
  }
}

class Chains {
 public:
  Chains(const CompiledSources& sources, FrameChain& out) : out_(out) {
    for (const CompiledFunction& f : sources.functions) by_name_.emplace(f.name, &f);
  }

  // The deepest below `name`, itself included.
  const std::pair<int64_t, std::vector<std::string>>& below(const std::string& name) {
    auto known = done_.find(name);
    if (known != done_.end()) {
      if (open_.contains(name)) out_.recursion = true;
      return known->second;
    }
    auto& here = done_[name];
    auto at = by_name_.find(name);
    if (at == by_name_.end()) {
      out_.elsewhere.insert(name);
      return here;
    }
    const CompiledFunction& f = *at->second;
    if (f.assembly) out_.assembly.insert(name);
    open_.insert(name);
    std::pair<int64_t, std::vector<std::string>> deepest;
    for (const std::string& callee : f.calls)
      if (const auto& below_it = below(callee); below_it.first > deepest.first) deepest = below_it;
    open_.erase(name);
    deepest.first += std::max<int64_t>(0, f.frame);
    deepest.second.insert(deepest.second.begin(), name);
    return done_[name] = std::move(deepest);
  }

 private:
  FrameChain& out_;
  std::map<std::string, const CompiledFunction*> by_name_;
  std::map<std::string, std::pair<int64_t, std::vector<std::string>>> done_;
  std::set<std::string> open_;
};

}  // namespace

CompiledSources compile_sources(const std::vector<std::string>& files, const ClangJob& how,
                                const std::function<void(const std::string&)>& on_file) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
  CompiledSources out;
  for (const std::string& file : files) {
    on_file(file);
    compile_one(file, how, out);
  }
  std::stable_sort(out.functions.begin(), out.functions.end(),
                   [](const CompiledFunction& a, const CompiledFunction& b) { return a.bytes > b.bytes; });
  return out;
}

FrameChain deepest_chain(const CompiledSources& sources, const std::string& root) {
  FrameChain out;
  const auto deepest = Chains(sources, out).below(root);
  out.bytes = deepest.first;
  out.functions = deepest.second;
  return out;
}

}  // namespace aotc::analyze
