// SPDX-License-Identifier: Apache-2.0
// templates: what kinds of projects there are, and their files for whoever wants others.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "project/embedded.h"
#include "project/generate.h"
#include "project/template.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct TemplatesOptions {
  std::string templates_dir, directory = "templates", kind;
  bool force = false;
  CommonOptions common;
};

nlohmann::ordered_json json_of(const project::TemplateDescription& t) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const project::TemplateOption& o : t.options)
    options.push_back(
        {{"name", o.name}, {"type", o.type}, {"values", o.values}, {"default", o.preset}, {"help", o.help}});
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const project::TemplateFile& f : t.files) files.push_back(f.path);
  return {{"kind", dashed(t.kind)},
          {"title", t.title},
          {"takes", t.takes},
          {"framework", t.framework},
          {"board", t.board_optional ? "optional" : "required"},
          {"tool", t.tool},
          {"proof", t.proof},
          {"files", files},
          {"options", options}};
}

int list(const TemplatesOptions& options) {
  Diagnostics diags;
  std::vector<std::vector<std::string>> rows = {{"kind", "board", "what it is"}};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& kind : project::template_kinds(options.templates_dir)) {
    auto t = project::read_description({kind, options.templates_dir}, diags);
    if (!t) return fail(diags);
    all.push_back(json_of(*t));
    rows.push_back({dashed(kind), t->board_optional ? "optional" : "required", t->title});
  }
  if (options.common.json) print_out("{}\n", json_text(all, 1));
  else print_out("{}'aotc create --help-project KIND' shows the options of a kind\n", format_table(rows));
  return kExitDone;
}

// Everything or one kind, with what it shares of others: a folder for --templates.
int export_templates(const TemplatesOptions& options) {
  Diagnostics diags;
  OutputDirectory out(options.directory, project::kManifest, options.force);
  nlohmann::ordered_json manifest = {{"aotc", 1}, {"kind", "templates"}};
  out.add(project::kManifest, json_text(manifest, 1) + "\n");
  auto add = [&](const std::string& path) {
    if (const project::EmbeddedFile* f = project::find_embedded("templates/" + path))
      out.add(path, std::string(f->content));
  };
  if (options.kind.empty()) {
    for (const project::EmbeddedFile* f : project::embedded_below("templates/")) add(std::string(f->path.substr(10)));
  } else {
    auto t = project::read_description({options.kind, ""}, diags);
    if (!t) return fail(diags);
    add("README.md");
    add(t->kind + "/template.json");
    for (const project::TemplateFile& f : t->files) add(f.kind + "/" + f.from);
  }
  if (!out.commit(diags)) return fail(diags);
  print_diagnostics(diags);
  print_out("wrote {}/ ({} files)\nnext: edit the files, then aotc MODEL --templates {} --project KIND ...\n",
            out.path(), out.names().size(), shell_quoted(out.path()));
  return kExitDone;
}

}  // namespace

options::Command templates_declaration() {
  auto o = std::make_shared<TemplatesOptions>();
  return {.name = "templates",
          .summary = "List the kinds of projects, and export their templates",
          .commands = {
              {.name = "list",
               .summary = "List the kinds of projects",
               .options = {{.names = "--templates",
                            .value = "DIRECTORY",
                            .target = &o->templates_dir,
                            .help = "List the kinds of project whose templates are in this directory",
                            .takes = options::Takes::kDirectory},
                           {.names = "--json",
                            .target = &o->common.json,
                            .help = "Print JSON, which includes the files and options of each kind"}},
               .run = [o] { return list(*o); }},
              {.name = "export",
               .summary = "Write the files of the templates, so that you can change them and use them with --templates",
               .options =
                   {{.names = "KIND",
                     .target = &o->kind,
                     .help = "The kind to export, with the files that it shares with other kinds (default: all kinds)"},
                    {.names = "-o,--directory",
                     .value = "DIRECTORY",
                     .target = &o->directory,
                     .help = "Write this directory",
                     .takes = options::Takes::kDirectory},
                    {.names = "--force",
                     .target = &o->force,
                     .help = "Replace files that changed since aotc wrote them; keep files that aotc did not write"}},
               .run = [o] { return export_templates(*o); }}}};
}

}  // namespace aotc::driver
