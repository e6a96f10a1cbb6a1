// SPDX-License-Identifier: Apache-2.0
// Rewrites one C++ source so that many small changes of it are in one program: see mutant.h.
//
//   mutate_sources SOURCE --out FILE --list FILE --first N --every N -- COMPILER_FLAGS...
//
// FILE of --list gets one line for each change: number, key and line, with tabs between. A key
// names file, function, the code before and after, and which of equal ones it is: it survives
// changes elsewhere. Of all changes those are taken whose key's hash is a multiple of --every, so
// that what is taken does not depend on other code either. The last line of standard output is the
// next number.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Lexer.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Tooling.h>

namespace {

using namespace clang;

struct Options {
  std::string source, out, list;
  int first = 1;
  unsigned every = 1;
};

// Text put before or behind a node, or in place of characters. At one offset, what closes comes
// before what opens; of two nodes that begin together the larger opens first, and closes last.
struct Edit {
  unsigned at, removed;
  bool closes;
  unsigned extent;  // of the node
  unsigned order;
  std::string text;
};

std::string squeezed(llvm::StringRef text) {
  std::string out;
  for (char c : text) {
    bool space = c == ' ' || c == '\n' || c == '\t';
    if (space && (out.empty() || out.back() == ' ')) continue;
    out += space ? ' ' : c;
  }
  return out;
}

unsigned hash_of(const std::string& text) {
  unsigned hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 15);
}

struct Operator {
  const char* name;  // in mutant.h
  const char* text;
};

std::optional<Operator> operator_of(BinaryOperatorKind kind) {
  switch (kind) {
    case BO_Add:
    case BO_AddAssign: return Operator{"kAdd", "+"};
    case BO_Sub:
    case BO_SubAssign: return Operator{"kSub", "-"};
    case BO_Mul:
    case BO_MulAssign: return Operator{"kMul", "*"};
    case BO_Div:
    case BO_DivAssign: return Operator{"kDiv", "/"};
    case BO_Rem: return Operator{"kMod", "%"};
    case BO_Shl: return Operator{"kShl", "<<"};
    case BO_Shr: return Operator{"kShr", ">>"};
    case BO_And: return Operator{"kAnd", "&"};
    case BO_Or: return Operator{"kOr", "|"};
    case BO_LT: return Operator{"kLt", "<"};
    case BO_LE: return Operator{"kLe", "<="};
    case BO_GT: return Operator{"kGt", ">"};
    case BO_GE: return Operator{"kGe", ">="};
    case BO_EQ: return Operator{"kEq", "=="};
    case BO_NE: return Operator{"kNe", "!="};
    default: return std::nullopt;
  }
}

// What an operator is changed to: one neighbour and one opposite where there are two.
std::vector<Operator> changed(const Operator& was) {
  static const std::map<std::string, std::vector<Operator>> changes = {
      {"+", {{"kSub", "-"}}},
      {"-", {{"kAdd", "+"}}},
      {"*", {{"kAdd", "+"}}},
      {"/", {{"kMul", "*"}}},
      {"%", {{"kDiv", "/"}}},
      {"<<", {{"kShr", ">>"}}},
      {">>", {{"kShl", "<<"}}},
      {"&", {{"kOr", "|"}}},
      {"|", {{"kAnd", "&"}}},
      {"<", {{"kLe", "<="}, {"kGe", ">="}}},
      {"<=", {{"kLt", "<"}, {"kGt", ">"}}},
      {">", {{"kGe", ">="}, {"kLe", "<="}}},
      {">=", {{"kGt", ">"}, {"kLt", "<"}}},
      {"==", {{"kNe", "!="}}},
      {"!=", {{"kEq", "=="}}},
  };
  return changes.at(was.text);
}

class Visitor : public RecursiveASTVisitor<Visitor> {
  using Base = RecursiveASTVisitor<Visitor>;

 public:
  Visitor(ASTContext& context, const Options& options)
      : context_(context), sources_(context.getSourceManager()), options_(options), next_(options.first) {
    llvm::StringRef path = options.source;
    size_t compiler = path.rfind("compiler/");
    file_ = (compiler == llvm::StringRef::npos ? path : path.substr(compiler + 9)).str();
  }

  // Where a constant is needed, nothing can be chosen when the program runs.
  bool TraverseConstantExpr(ConstantExpr*) { return true; }
  bool TraverseTypeLoc(TypeLoc) { return true; }
  bool TraverseTemplateArgumentLoc(const TemplateArgumentLoc&) { return true; }
  bool TraverseStaticAssertDecl(StaticAssertDecl*) { return true; }
  bool TraverseCaseStmt(CaseStmt* s, DataRecursionQueue* = nullptr) { return TraverseStmt(s->getSubStmt()); }
  bool TraverseVarDecl(VarDecl* d) {
    return d->isConstexpr() || d->isStaticLocal() || !d->isLocalVarDeclOrParm() ? true : Base::TraverseVarDecl(d);
  }
  bool TraverseFunctionDecl(FunctionDecl* d) { return function(d, &Base::TraverseFunctionDecl); }
  bool TraverseCXXMethodDecl(CXXMethodDecl* d) { return function(d, &Base::TraverseCXXMethodDecl); }
  bool TraverseCXXConstructorDecl(CXXConstructorDecl* d) { return function(d, &Base::TraverseCXXConstructorDecl); }
  bool TraverseDecl(Decl* d) {
    if (d != nullptr && !isa<TranslationUnitDecl>(d) && !isa<NamespaceDecl>(d) &&
        !sources_.isInMainFile(sources_.getExpansionLoc(d->getLocation())))
      return true;
    return Base::TraverseDecl(d);
  }
  bool TraverseInitListExpr(InitListExpr* list, DataRecursionQueue* = nullptr) {
    // The form as written; a constant that is narrowed in it must stay one.
    InitListExpr* form = list->isSyntacticForm() ? list : list->getSyntacticForm();
    if (form == nullptr) form = list;
    for (Expr* e : form->inits()) {
      const Expr* bare = e->IgnoreImpCasts();
      if (isa<IntegerLiteral>(bare) || isa<FloatingLiteral>(bare) || isa<UnaryOperator>(bare)) continue;
      if (!TraverseStmt(e)) return false;
    }
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* e) {
    if (!inside(e)) return true;
    Expr *left = e->getLHS(), *right = e->getRHS();
    if (e->isLogicalOp()) {
      bool is_and = e->getOpcode() == BO_LAnd;
      for (const Expr* dropped : {left, right}) {
        const Expr* kept = dropped == left ? right : left;
        int id = take(e, text_of(e), text_of(kept));
        if (id == 0) continue;
        std::string on = "mutants::on(" + std::to_string(id) + ")";
        surround(dropped, is_and ? "(" + on + " || (" : "(!" + on + " && (", "))");
      }
      return true;
    }
    if (e->isAssignmentOp() || !plain(left) || !plain(right)) return true;
    auto was = operator_of(e->getOpcode());
    if (!was || (!e->isValueDependent() && e->isCXX11ConstantExpr(context_))) return true;
    replace_operator(e, left, right, e->getOperatorLoc(), *was);
    return true;
  }

  bool VisitCompoundAssignOperator(CompoundAssignOperator* e) {
    auto was = operator_of(e->getOpcode());
    if (!inside(e) || !was || !plain(e->getLHS()) || !plain(e->getRHS())) return true;
    if (e->getLHS()->getType()->isBooleanType()) return true;
    for (const Operator& to : changed(*was)) {
      int id = take(e, text_of(e), text_of(e->getLHS()) + " " + to.text + "= " + text_of(e->getRHS()));
      if (id == 0) continue;
      surround(e,
               std::string("mutants::assign<mutants::") + was->name + ", mutants::" + to.name + ", " +
                   std::to_string(id) + ">(",
               ")");
      replace(e->getOperatorLoc(), ",");
      break;
    }
    return true;
  }

  // Operators of expressions of TIR.
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr* e) {
    if (!inside(e) || e->getNumArgs() != 2 || e->isAssignmentOp()) return true;
    if (e->getType().getAsString().find("Ex") == std::string::npos) return true;
    static const std::map<OverloadedOperatorKind, BinaryOperatorKind> kinds = {
        {OO_Plus, BO_Add},           {OO_Minus, BO_Sub}, {OO_Star, BO_Mul}, {OO_LessLess, BO_Shl},
        {OO_GreaterGreater, BO_Shr}, {OO_Amp, BO_And},   {OO_Less, BO_LT},  {OO_Greater, BO_GT}};
    auto kind = kinds.find(e->getOperator());
    if (kind == kinds.end()) return true;
    replace_operator(e, e->getArg(0), e->getArg(1), e->getOperatorLoc(), *operator_of(kind->second));
    return true;
  }

  bool VisitIfStmt(IfStmt* s) {
    if (!s->isConstexpr() && s->getCond() != nullptr) condition(s->getCond());
    return true;
  }
  bool VisitConditionalOperator(ConditionalOperator* e) { return condition(e->getCond()), true; }
  bool VisitReturnStmt(ReturnStmt* s) {
    if (s->getRetValue() != nullptr && isa<CXXBoolLiteralExpr>(s->getRetValue()->IgnoreImpCasts()))
      condition(s->getRetValue());
    return true;
  }

  bool VisitIntegerLiteral(IntegerLiteral* e) {
    if (!inside(e) || e->getValue().getActiveBits() > 31) return true;
    return literal(e, std::to_string(e->getValue().getZExtValue() + 1));
  }
  bool VisitFloatingLiteral(FloatingLiteral* e) { return inside(e) ? literal(e, "1 + " + text_of(e)) : true; }

  bool VisitCallExpr(CallExpr* e) {
    const FunctionDecl* callee = e->getDirectCallee();
    if (!inside(e) || callee == nullptr || !callee->isInStdNamespace() || e->getNumArgs() != 2) return true;
    std::string text = text_of(e->getCallee());
    for (auto [name, ours, other] :
         {std::tuple{"std::min", "mutants::least", "std::max"}, std::tuple{"std::max", "mutants::most", "std::min"}}) {
      std::string head = name;
      if (text != head && text.rfind(head + "<", 0) != 0) continue;
      int id = take(e, text_of(e), other + text_of(e).substr(head.size()));
      if (id == 0) continue;
      std::string rest = text.substr(head.size());
      std::string number = std::to_string(id);
      unsigned begin = offset(e->getCallee()->getBeginLoc());
      edits_.push_back({begin, static_cast<unsigned>(text.size()), false, 0, order_++,
                        ours + (rest.empty() ? "<" + number + ">" : "<" + number + ", " + rest.substr(1))});
    }
    return true;
  }

  bool VisitCompoundStmt(CompoundStmt* s) {
    for (Stmt* child : s->body()) {
      auto* e = dyn_cast<Expr>(child);
      if (e == nullptr || !inside(e)) continue;
      const Expr* bare = e->IgnoreImplicit();
      if (!isa<CallExpr>(bare) && !isa<BinaryOperator>(bare)) continue;
      int id = take(e, text_of(e) + ";", "");
      if (id != 0) put(offset(e->getBeginLoc()), false, UINT_MAX, "if (!mutants::on(" + std::to_string(id) + ")) ");
    }
    return true;
  }

  int finish() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      if (a.at != b.at) return a.at < b.at;
      if (a.closes != b.closes) return a.closes;
      if (a.closes) return a.extent != b.extent ? a.extent < b.extent : a.order > b.order;
      if ((a.removed > 0) != (b.removed > 0)) return a.removed == 0;
      return a.extent != b.extent ? a.extent > b.extent : a.order < b.order;
    });
    llvm::StringRef text = sources_.getBufferData(sources_.getMainFileID());
    std::string out = "#include \"mutants/mutant.h\"\n#line 1 \"" + options_.source + "\"\n";
    unsigned at = 0;
    for (const Edit& e : edits_) {
      if (e.at > at) out += text.substr(at, e.at - at).str();
      out += e.text;
      at = std::max(at, e.at + e.removed);
    }
    out += text.substr(at).str();
    std::ofstream(options_.out) << out;
    std::ofstream list(options_.list);
    for (const std::string& line : lines_) list << line << "\n";
    return next_;
  }

 private:
  template <class D>
  bool function(D* d, bool (Base::*traverse)(D*)) {
    if (d->isConstexpr() || !d->isThisDeclarationADefinition() || d->isDefaulted()) return true;
    std::string outer = std::exchange(function_, d->getNameAsString());
    bool go_on = (this->*traverse)(d);
    function_ = outer;
    return go_on;
  }

  bool inside(const Expr* e) const {
    return !function_.empty() && e->getBeginLoc().isFileID() && e->getEndLoc().isFileID() &&
           sources_.isInMainFile(e->getBeginLoc());
  }
  static bool plain(const Expr* e) {
    QualType type = e->getType();
    return type->isDependentType() || type->isArithmeticType() || type->isEnumeralType();
  }

  unsigned offset(SourceLocation at) const { return sources_.getFileOffset(at); }
  unsigned end_of(const Expr* e) const {
    return offset(Lexer::getLocForEndOfToken(e->getEndLoc(), 0, sources_, context_.getLangOpts()));
  }
  std::string text_of(const Expr* e) const {
    unsigned begin = offset(e->getBeginLoc());
    return squeezed(sources_.getBufferData(sources_.getMainFileID()).substr(begin, end_of(e) - begin));
  }

  void put(unsigned at, bool closes, unsigned extent, std::string text) {
    edits_.push_back({at, 0, closes, extent, order_++, std::move(text)});
  }
  void surround(const Expr* e, const std::string& before, const std::string& behind) {
    unsigned begin = offset(e->getBeginLoc()), end = end_of(e);
    put(begin, false, end - begin, before);
    put(end, true, end - begin, behind);
  }
  void replace(SourceLocation at, const std::string& text) {
    unsigned length = Lexer::MeasureTokenLength(at, sources_, context_.getLangOpts());
    edits_.push_back({offset(at), length, false, 0, order_++, text});
  }

  void replace_operator(const Expr* e, const Expr* left, const Expr* right, SourceLocation at, const Operator& was) {
    std::string head;
    for (const Operator& to : changed(was)) {
      int id = take(e, text_of(e), text_of(left) + " " + to.text + " " + text_of(right));
      if (id != 0) head += std::string(", mutants::") + to.name + ", " + std::to_string(id);
    }
    if (head.empty()) return;
    surround(e, std::string("mutants::binary<mutants::") + was.name + head + ">(", ")");
    replace(at, ",");
  }

  bool condition(const Expr* e) {
    const Expr* bare = e->IgnoreParenImpCasts();
    if (!inside(e)) return true;
    if (const auto* binary = dyn_cast<BinaryOperator>(bare))
      if (binary->isComparisonOp() || binary->isLogicalOp()) return true;
    int id = take(e, text_of(e), "!(" + text_of(e) + ")");
    if (id != 0) surround(e, "mutants::flip<" + std::to_string(id) + ">(", ")");
    return true;
  }

  bool literal(const Expr* e, const std::string& other) {
    int id = take(e, text_of(e), other, true);
    if (id != 0) surround(e, "(mutants::on(" + std::to_string(id) + ") ? " + other + " : ", ")");
    return true;
  }

  // The number of a change, or 0 if it is not among those that are taken. `in_line`: the code says
  // too little without its line.
  int take(const Expr* e, const std::string& before, const std::string& after, bool in_line = false) {
    unsigned line = sources_.getSpellingLineNumber(e->getBeginLoc());
    std::string what = before + " => " + after;
    if (in_line) what += " in " + line_text(e);
    std::string key = file_ + ":" + function_ + ": " + what;
    int same = ++seen_[key];
    if (same > 1) key += " #" + std::to_string(same);
    if (hash_of(key) % options_.every != 0) return 0;
    lines_.push_back(std::to_string(next_) + "\t" + key + "\t" + std::to_string(line));
    return next_++;
  }
  std::string line_text(const Expr* e) const {
    llvm::StringRef text = sources_.getBufferData(sources_.getMainFileID());
    unsigned at = offset(e->getBeginLoc());
    size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
    return squeezed(text.slice(begin, end).trim());
  }

  ASTContext& context_;
  SourceManager& sources_;
  const Options& options_;
  std::string file_, function_;
  std::map<std::string, int> seen_;
  std::vector<std::string> lines_;
  std::vector<Edit> edits_;
  unsigned order_ = 0;
  int next_;
};

class Action : public ASTFrontendAction {
 public:
  Action(const Options& options, int& next) : options_(options), next_(next) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance&, llvm::StringRef) override {
    struct Consumer : ASTConsumer {
      Consumer(const Options& options, int& next) : options(options), next(next) {}
      void HandleTranslationUnit(ASTContext& context) override {
        if (context.getDiagnostics().hasErrorOccurred()) return;
        Visitor visitor(context, options);
        visitor.TraverseDecl(context.getTranslationUnitDecl());
        next = visitor.finish();
      }
      const Options& options;
      int& next;
    };
    return std::make_unique<Consumer>(options_, next_);
  }

 private:
  const Options& options_;
  int& next_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> flags;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    if (a == "--") {
      flags.assign(argv + i + 1, argv + argc);
      break;
    }
    if (a.rfind("--", 0) != 0) {
      options.source = a;
      continue;
    }
    if (i + 1 == argc) return 2;
    std::string value = argv[++i];
    if (a == "--out") options.out = value;
    else if (a == "--list") options.list = value;
    else if (a == "--first") options.first = std::atoi(value.c_str());
    else if (a == "--every") options.every = static_cast<unsigned>(std::atoi(value.c_str()));
    else return 2;
  }
  if (options.source.empty() || options.out.empty() || options.list.empty()) return 2;
  flags.push_back("-w");
  flags.push_back("-resource-dir=" MUTANTS_CLANG_HEADERS);
  clang::tooling::FixedCompilationDatabase database(".", flags);
  clang::tooling::ClangTool tool(database, {options.source});
  int next = 0;
  struct Factory : clang::tooling::FrontendActionFactory {
    Factory(const Options& options, int& next) : options(options), next(next) {}
    std::unique_ptr<clang::FrontendAction> create() override { return std::make_unique<Action>(options, next); }
    const Options& options;
    int& next;
  } factory(options, next);
  if (tool.run(&factory) != 0 || next == 0) return 1;
  std::printf("%d\n", next);
  return 0;
}
