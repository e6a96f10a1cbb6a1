# SPDX-License-Identifier: Apache-2.0
"""The documentation site: it builds without a warning, and every page works from the file system in a browser."""
import json
import pathlib
import shutil
import subprocess
import sys

import common
import pytest

sys.path.insert(0, str(common.ROOT / "tests" / "report"))
import browser  # noqa: E402

SITE = common.ROOT / "build" / "site"
VENV = common.ROOT / "build" / "docs-venv"
WIDTHS = (1400, 400)
# Text whose contrast with its background is below WCAG's AA: [what it is, ratio, text].
CONTRAST = """(() => {
  const parse = text => { const v = text.match(/[\\d.]+/g).map(Number); return [v[0], v[1], v[2], v.length > 3 ? v[3] : 1]; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                       return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const background = node => {
    const stack = [];
    for (let e = node; e; e = e.parentElement) stack.push(parse(getComputedStyle(e).backgroundColor));
    return stack.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const bad = [];
  const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    // Links to a heading show when the pointer is over it.
    if (!node.data.trim() || e.closest(".headerlink, svg, script, style") || !e.getClientRects().length) continue;
    const behind = background(e), front = over(parse(style.color), behind), a = light(front), b = light(behind);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    if (ratio < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5))
      bad.push([e.tagName + "." + e.className, ratio.toFixed(2), node.data.trim().slice(0, 40)]);
  }
  return bad.slice(0, 5);
})()"""
FOUND = """new Promise((done, fail) => {
  const field = document.querySelector(".md-search__input");
  field.focus(); field.value = WORD; field.dispatchEvent(new Event("input", {bubbles: true}));
  field.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
  const end = Date.now() + 20000;
  const look = () => {
    const found = [...document.querySelectorAll(".md-search-result__link")].map(a => a.getAttribute("href"));
    if (found.length || Date.now() > end) done(found); else setTimeout(look, 100);
  };
  look();
})"""


@pytest.fixture(scope="module")
def pages():
    # Warnings are errors: links and anchors that lead nowhere, pages that are in no menu.
    done = subprocess.run([common.ROOT / "scripts/docs"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = sorted(SITE.glob("*.html"))
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def chromium(pages):
    program = browser.find()
    if program is None:
        common.missing("chromium is not installed")
    with browser.Browser(program) as opened:
        yield opened


def test_pages_open_without_errors_or_requests(pages, chromium, record_property):
    wrong = []
    for page in pages:
        for dark in (False, True):
            scheme = "slate" if dark else "default"
            chromium.requests.clear()
            chromium.messages.clear()
            chromium.look(WIDTHS[0], dark=dark)
            chromium.open(page)  # the theme asks once, when a page opens
            if (found := chromium.ask("document.body.dataset.mdColorScheme")) != scheme:
                wrong.append(f"{page.name}: scheme {found}, not {scheme}")
            wrong += [f"{page.name}, {scheme}: contrast {row}" for row in chromium.ask(CONTRAST)]
            for width in WIDTHS:
                chromium.look(width, dark=dark)
                wide = chromium.ask("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    wrong.append(f"{page.name}: {wide} px too wide at {width} px")
            wrong += [f"{page.name}: request of {url}" for url in chromium.requests if not url.startswith(("file:", "data:", "blob:"))]
            wrong += [f"{page.name}: console: {text}" for text in chromium.messages]
    assert not wrong, "\n".join(wrong[:40])
    record_property("cases", len(pages) * len(WIDTHS) * 2)


@pytest.mark.parametrize("word, page", [("arena", "emitted-c.html"), ("nucleo", "boards.html"), ("softmax", "operators.html")])
def test_search_finds(chromium, word, page):
    chromium.look(1400)
    chromium.open(SITE / "index.html")
    found = chromium.ask(FOUND.replace("WORD", json.dumps(word)))
    assert any(pathlib.PurePosixPath(link.split("#")[0].split("?")[0]).name == page for link in found), found


def test_links_that_lead_nowhere_fail_the_build(pages, tmp_path):
    shutil.copytree(common.ROOT / "docs", tmp_path / "docs")
    shutil.copytree(common.ROOT / "scripts", tmp_path / "scripts")
    for name in ("mkdocs.yml", "python"):
        (tmp_path / name).symlink_to(common.ROOT / name)
    with open(tmp_path / "docs" / "install.md", "a") as file:
        file.write("\n[a page](nothere.md) [an anchor](cli.md#nothere)\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "docs-venv").symlink_to(VENV)
    done = subprocess.run([tmp_path / "scripts" / "docs"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "nothere.md" in done.stderr and "#nothere" in done.stderr, done.stderr


def test_llms_txt_lists_every_page(pages):
    text = (SITE / "llms.txt").read_text()
    assert [p.name for p in pages if f"({p.name})" not in text] == []


def test_spelling(pages):
    words = common.ROOT / "docs" / "assets" / "words.txt"
    done = subprocess.run([VENV / "bin" / "codespell", "--ignore-words", words, *sorted((common.ROOT / "docs").glob("*.md")),
                           *(common.ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
