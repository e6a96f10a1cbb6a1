# SPDX-License-Identifier: Apache-2.0
"""What MkDocs does with the pages beyond Markdown (mkdocs.yml, hooks).

Links to files of the repository outside of docs/ become code: the site has no such pages. HTML comments, which say which
command printed a block, are left out. llms.txt lists every page with its first paragraph.
"""
import pathlib
import re

COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
FENCE = re.compile(r"^(```.*?^```)$", re.M | re.S)
OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./[^)\s]+\)")


def without_repository_links(text):
    return OUTSIDE.sub(lambda link: link[1] if "`" in link[1] else f"`{link[1]}`", text)


def on_page_markdown(markdown, **_):
    # Blocks of code show text as it is.
    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else without_repository_links(COMMENT.sub("", part)) for part in parts)


def first_paragraph(path):
    """The first paragraph behind the title, in one line, without links."""
    text = COMMENT.sub("", path.read_text())
    for block in text.split("\n\n")[1:]:
        if block and block[0] not in "!#|`<:":
            return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
    return ""


def entries(items, section=""):
    for item in items:
        if item.children:
            yield from entries(item.children, item.title)
        else:
            yield section, item


def on_nav(nav, **_):
    on_nav.pages = list(entries(nav.items))
    return nav


def on_post_build(config, **_):
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    before = None
    for section, page in on_nav.pages:
        if section != before:
            lines += ["", f"## {section}", ""]
            before = section
        path = pathlib.Path(page.file.abs_src_path)
        lines.append(f"- [{page.title}]({page.file.url}): {first_paragraph(path)}")
    # It names its files from the root of a host, which works only there.
    pathlib.Path(config.site_dir, "404.html").unlink(missing_ok=True)
    pathlib.Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n")
