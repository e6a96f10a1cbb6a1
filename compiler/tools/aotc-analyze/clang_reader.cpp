// SPDX-License-Identifier: Apache-2.0
#include "clang_reader.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/Type.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>

#include "clang_files.h"
#include "signature.h"

namespace aotc::analyze {

namespace fs = std::filesystem;

namespace {

std::string text_of(llvm::StringRef s) { return s.str(); }

// The bits of "int16_t" and its like; 0 for other names.
unsigned fixed_width(std::string_view name) {
  if (name.starts_with("u")) name.remove_prefix(1);
  return name == "int8_t" ? 8 : name == "int16_t" ? 16 : name == "int32_t" ? 32 : name == "int64_t" ? 64 : 0;
}

// What a tensor of `type` holds, "" if it cannot be one. long and plain char are none, unless a
// typedef of a fixed width says what is meant: their size or sign differs between targets.
std::string element_of(clang::QualType type, const clang::ASTContext& context) {
  clang::QualType t = type;
  while (const auto* alias = t->getAs<clang::TypedefType>()) {
    std::string name = text_of(alias->getDecl()->getName());
    unsigned bits = fixed_width(name);
    if (bits != 0 && t->isIntegerType() && context.getTypeSize(t) == bits) return name;
    t = alias->desugar();
  }
  const auto* builtin = type.getCanonicalType()->getAs<clang::BuiltinType>();
  if (builtin == nullptr) return "";
  switch (builtin->getKind()) {
    case clang::BuiltinType::Void: return "void";
    case clang::BuiltinType::Bool: return "bool";
    case clang::BuiltinType::SChar: return "int8_t";
    case clang::BuiltinType::UChar: return "uint8_t";
    case clang::BuiltinType::Short: return "int16_t";
    case clang::BuiltinType::UShort: return "uint16_t";
    case clang::BuiltinType::Int: return "int32_t";
    case clang::BuiltinType::UInt: return "uint32_t";
    case clang::BuiltinType::LongLong: return "int64_t";
    case clang::BuiltinType::ULongLong: return "uint64_t";
    case clang::BuiltinType::Float: return "float";
    case clang::BuiltinType::Double: return "double";
    default: return "";
  }
}

bool is_int(clang::QualType type) { return type.getCanonicalType()->isSpecificBuiltinType(clang::BuiltinType::Int); }

// Turns the functions of one translation unit into ours.
class Collector : public clang::ASTConsumer {
 public:
  Collector(std::string unit, std::vector<Function>& out) : unit_(std::move(unit)), out_(out) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    sources_ = &context.getSourceManager();
    visit(context.getTranslationUnitDecl(), context);
    std::stable_sort(out_.begin(), out_.end(), [this](const Function& a, const Function& b) {
      return std::pair(a.file != unit_, a.line) < std::pair(b.file != unit_, b.line);
    });
  }

 private:
  void visit(const clang::DeclContext* scope, const clang::ASTContext& context) {
    for (const clang::Decl* decl : scope->decls()) {
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl)) {
        add(function, context);
      } else if (llvm::isa<clang::LinkageSpecDecl, clang::NamespaceDecl, clang::ExportDecl>(decl)) {
        visit(llvm::cast<clang::DeclContext>(decl), context);
      }
    }
  }

  bool in_main_file(const clang::FunctionDecl* decl) const {
    return sources_->isInMainFile(sources_->getExpansionLoc(decl->getLocation()));
  }

  // The declaration that speaks for a function; null if the function is none of ours.
  const clang::FunctionDecl* representative(const clang::FunctionDecl* function,
                                            const clang::ASTContext& context) const {
    const clang::FunctionDecl* here = nullptr;
    for (const clang::FunctionDecl* decl : function->redecls())
      if (!decl->isImplicit() && in_main_file(decl)) here = decl;
    const clang::FunctionDecl* body = function->getDefinition();
    if (here != nullptr) return body != nullptr ? body : here;
    if (body == nullptr || body->isInlined() || !body->isExternallyVisible()) return nullptr;
    clang::SourceLocation where = sources_->getExpansionLoc(body->getLocation());
    bool ours = where.isValid() && !context.getSourceManager().isInSystemHeader(where);
    return ours ? body : nullptr;
  }

  void add(const clang::FunctionDecl* function, const clang::ASTContext& context) {
    if (llvm::isa<clang::CXXMethodDecl>(function) || llvm::isa<clang::CXXDeductionGuideDecl>(function)) return;
    if (!seen_.insert(function->getCanonicalDecl()).second) return;
    const clang::FunctionDecl* decl = representative(function, context);
    if (decl == nullptr || decl->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate) return;
    out_.push_back(describe(decl, context));
  }

  Function describe(const clang::FunctionDecl* decl, const clang::ASTContext& context) const {
    Function f;
    f.unit = unit_;
    f.name = decl->isExternC() ? decl->getNameAsString() : decl->getQualifiedNameAsString();
    if (const auto* label = decl->getAttr<clang::AsmLabelAttr>()) {
      f.name = text_of(label->getLabel());
      if (f.name.starts_with("\x01")) f.name.erase(0, 1);
    }
    clang::PresumedLoc where = sources_->getPresumedLoc(sources_->getExpansionLoc(decl->getLocation()));
    f.file = where.isValid() ? where.getFilename() : unit_;
    f.line = where.isValid() ? static_cast<int>(where.getLine()) : 0;
    f.column = where.isValid() ? static_cast<int>(where.getColumn()) : 0;
    f.linkage = !decl->isExternallyVisible() ? Linkage::kStatic
                : decl->isExternC() || !context.getLangOpts().CPlusPlus || decl->hasAttr<clang::AsmLabelAttr>() ||
                        decl->isMain()
                    ? Linkage::kExternal
                    : Linkage::kMangled;
    f.definition = decl->isThisDeclarationADefinition() && emits(decl, context);
    f.weak = decl->hasAttr<clang::WeakAttr>() || (f.definition && context.getLangOpts().CPlusPlus && decl->isInlined());
    f.variadic = decl->isVariadic();
    f.prototype = decl->getType()->getAs<clang::FunctionProtoType>() != nullptr;
    clang::PrintingPolicy policy(context.getLangOpts());
    clang::QualType returns = decl->getReturnType();
    f.returns = returns.getAsString(policy);
    f.returns_canonical = returns.getCanonicalType().getAsString(policy);
    f.returns_int = is_int(returns);
    for (const clang::ParmVarDecl* p : decl->parameters()) f.parameters.push_back(describe(p, context, policy));
    classify(f);
    return f;
  }

  // In C an inline definition alone gives no symbol.
  static bool emits(const clang::FunctionDecl* decl, const clang::ASTContext& context) {
    return context.getLangOpts().CPlusPlus || !decl->isInlined() || !decl->isExternallyVisible() ||
           decl->isInlineDefinitionExternallyVisible();
  }

  static Parameter describe(const clang::ParmVarDecl* decl, const clang::ASTContext& context,
                            const clang::PrintingPolicy& policy) {
    Parameter p;
    clang::QualType type = decl->getType().getUnqualifiedType();
    p.name = decl->getNameAsString();
    p.type = decl->getType().getAsString(policy);
    p.declarator = p.name;
    decl->getType().getAsStringInternal(p.declarator, policy);
    p.canonical = type.getCanonicalType().getUnqualifiedType().getAsString(policy);
    p.pointer = type->isPointerType();
    p.is_int = is_int(type);
    if (!p.pointer) return p;
    clang::QualType pointee = type->getPointeeType();
    p.is_const = pointee.isConstQualified();
    p.is_volatile = pointee.isVolatileQualified();
    p.pointee = pointee.getUnqualifiedType().getAsString(policy);
    p.element = element_of(pointee, context);
    std::string record = pointee.getCanonicalType().getUnqualifiedType().getAsString(policy);
    p.is_value = record == "TVMValue" || record == "union TVMValue";
    return p;
  }

  std::string unit_;
  std::vector<Function>& out_;
  const clang::SourceManager* sources_ = nullptr;
  std::set<const clang::FunctionDecl*> seen_;
};

class CollectAction : public clang::ASTFrontendAction {
 public:
  CollectAction(std::string unit, std::vector<Function>& out) : unit_(std::move(unit)), out_(out) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Collector>(unit_, out_);
  }

 private:
  std::string unit_;
  std::vector<Function>& out_;
};

// Keeps errors and their notes. Warnings are off: the sources are not ours to criticise.
class Messages : public clang::DiagnosticConsumer {
 public:
  Messages(std::string unit, std::vector<SourceMessage>& out) : unit_(std::move(unit)), out_(out) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    using Level = clang::DiagnosticsEngine::Level;
    if (level >= Level::Error) {
      open_ = true;
    } else if (level != Level::Note || !open_) {
      open_ = open_ && level == Level::Note;
      return;
    }
    llvm::SmallString<200> text;
    info.FormatDiagnostic(text);
    SourceMessage m;
    m.file = unit_;
    m.severity = level == Level::Note ? Severity::kNote : Severity::kError;
    m.slug = level == Level::Note ? "" : "operator-source";
    m.message = text_of(text);
    clang::PresumedLoc from;
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::SourceManager& sources = info.getSourceManager();
      place(sources.getPresumedLoc(sources.getExpansionLoc(info.getLocation())), m);
      from = sources.getPresumedLoc(sources.getExpansionLoc(info.getLocation()));
      if (from.isValid() && from.getIncludeLoc().isValid()) from = sources.getPresumedLoc(from.getIncludeLoc());
      else from = {};
    }
    out_.push_back(m);
    if (m.severity != Severity::kError || !from.isValid()) return;
    SourceMessage include;
    include.severity = Severity::kNote;
    include.message = "included here";
    place(from, include);
    out_.push_back(include);
  }

 private:
  static void place(const clang::PresumedLoc& where, SourceMessage& m) {
    if (!where.isValid()) return;
    m.file = where.getFilename();
    m.line = static_cast<int>(where.getLine());
    m.column = static_cast<int>(where.getColumn());
  }

  std::string unit_;
  std::vector<SourceMessage>& out_;
  bool open_ = false;  // the last message was kept, so its notes are
};

std::vector<std::string> arguments(const std::string& file, Language language, const ReadOptions& options,
                                   const std::string& headers) {
  bool c = language == Language::kC;
  std::vector<std::string> args = {"clang", "-fsyntax-only", "-w", "-fno-caret-diagnostics", "-x", c ? "c" : "c++"};
  args.push_back(c ? "-std=gnu11" : "-std=gnu++17");
  args.insert(args.end(), {"-resource-dir", headers});
  for (const std::string& dir : options.include_dirs) args.push_back("-I" + dir);
  for (const std::string& define : options.defines) args.push_back("-D" + define);
  // A name that begins like an option would be one to Clang, whatever stands before it.
  std::string path = file.starts_with("-") ? "./" + file : file;
  args.insert(args.end(), {"-isystem", kRuntimeDir, path});
  return args;
}

void read_one(const std::string& file, const ReadOptions& options, const std::string& headers, Findings& out) {
  auto fail = [&](const char* slug, std::string message) {
    out.messages.push_back({file, 0, 0, Severity::kError, slug, std::move(message)});
  };
  std::string why = unreadable(file);
  if (!why.empty()) return fail("file-read", why);
  Language language = language_of(file);
  if (language == Language::kNone)
    return fail("operator-source", "the file is neither a C source (.c) nor a C++ source (.cpp, .cc, .cxx)");
  Findings found;
  auto files = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions(), files_with_runtime());
  Messages messages(file, found.messages);
  clang::tooling::ToolInvocation tool(arguments(file, language, options, headers),
                                      std::make_unique<CollectAction>(file, found.functions), files.get());
  tool.setDiagnosticConsumer(&messages);
  bool good = tool.run();
  if (!good && !found.has_errors()) fail("operator-source", "Clang rejects this source");
  // What Clang made of a source with errors is a guess.
  if (good)
    for (Function& f : found.functions) out.functions.push_back(std::move(f));
  for (SourceMessage& m : found.messages) out.messages.push_back(std::move(m));
}

}  // namespace

Findings read_sources(const std::vector<std::string>& files, const ReadOptions& options, const std::string& headers,
                      const std::function<void(const std::string&)>& on_file) {
  Findings out;
  std::set<std::string> seen;
  for (const std::string& file : files) {
    on_file(file);
    std::error_code ec;
    std::string whole = fs::weakly_canonical(file, ec).string();
    if (!seen.insert(ec ? file : whole).second) continue;
    read_one(file, options, headers, out);
  }
  return out;
}

}  // namespace aotc::analyze
