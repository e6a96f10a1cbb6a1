#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the page of `aotc report --html` in Chromium, wide and narrow, light and dark, and looks at what is there.

Usage: run_browser.py --aotc PROGRAM --work DIRECTORY

No request but for the page itself, nothing on the console, figures as in --json, contrast of all text at least 4.5 to
1, every action reached by Tab, no part wider than the window, and a print without what is there to be pressed. The rules of axe-core,
which tests/requirements-files.txt brings, find nothing serious. A model of 1,500 operators is drawn in parts, with no more elements and
calls of functions than a page of a small model has, several times. Exits with 77 where there is no Chromium or axe-core; with CI=true that is a failure.
Ends with a line "N passed, N failed".
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import browser as chromium  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import large_graphs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests/models/digits/digits_int8.tflite"
SKIPPED = 77
LEAST_CONTRAST = 4.5
# Of the page of a large model: how many calls it draws at a time, and what that may take.
DRAWN, MOST_ELEMENTS, MOST_WORK, MOST_BYTES = 200, 14_000, 250_000, 1_000

FIGURES = """[...document.querySelectorAll('[data-path]')].map((e) => [e.dataset.path, e.textContent])"""
CONTRASTS = """(() => {
  const channels = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(') ? m.map((v, i) => i < 3 ? v * 255 : v) : m; };
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const clear = (c) => c === 'transparent' || c === 'none' || (channels(c).length === 4 && channels(c)[3] === 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!clear(c)) return c; } return 'rgb(255,255,255)'; };
  const out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.textContent.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(e.tagName) || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), svg = e.closest('svg');
    const ink = svg ? style.fill : style.color;
    const grounds = [];
    if (svg) {
      const box = e.getBoundingClientRect();
      for (const r of svg.querySelectorAll('rect')) {
        const f = getComputedStyle(r).fill, b = r.getBoundingClientRect();
        if (f.startsWith('url') || clear(f) || b.right < box.left || b.left > box.right || b.bottom < box.top || b.top > box.bottom) continue;
        if (e.parentElement.contains(r) || !r.closest('.place')) grounds.push(f);
      }
    }
    if (!grounds.length) grounds.push(ground(svg ? svg.parentElement : e));
    for (const g of grounds) {
      const [a, b] = [light(channels(ink).slice(0, 3)), light(channels(g).slice(0, 3))].sort((x, y) => y - x);
      out.push([(a + .05) / (b + .05), n.textContent.slice(0, 40), ink, g]);
    }
  }
  return out;
})()"""
ACTIONS = """(() => { window.actions = [...document.querySelectorAll('a[href], button:not(:disabled), select, [tabindex="0"]')]
  .filter((e) => e.getClientRects().length); return window.actions.length; })()"""
FOCUSED = "window.actions.indexOf(document.activeElement)"


def axe_core():
    """The text of the script, or None."""
    found = importlib.util.find_spec("axe_playwright_python")
    return (pathlib.Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8") if found else None


def large_page(args):
    """Of a model of 1,500 small operators: (page, data)."""
    model, page = args.work / "large.tflite", args.work / "large.html"
    model.write_bytes(large_graphs.window(1500, "int8"))
    told = subprocess.run([args.aotc, "report", model, "--board", "qemu_mps2_an386", "--html", page, "--json"], check=True, capture_output=True)
    return page, json.loads(told.stdout)


def at(data, path):
    for step in path.split("."):
        data = data[int(step)] if isinstance(data, list) else data[step]
    return data


class Tests:
    def __init__(self, page, data, browser):
        self.page, self.data, self.browser = page, data, browser
        self.passed = self.failed = 0

    def check(self, name, good, says=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED {name}: {says}")

    def look(self, width, dark):
        name, browser = f"{width} {'dark' if dark else 'light'}", self.browser
        browser.requests.clear()
        browser.look(width, 900, dark)
        browser.open(self.page)
        browser.ask("document.getElementById('main').scrollIntoView()")
        self.check(f"{name}, requests", all(r.startswith(("file:", "data:")) for r in browser.requests)
                   and sum(r.startswith("file:") for r in browser.requests) == 1, browser.requests)
        figures = browser.ask(FIGURES)
        wrong = [(path, text) for path, text in figures if f"{at(self.data, path):,}" != text]
        self.check(f"{name}, figures", len(figures) > 5 * len(self.data["layers"]) and not wrong, wrong)
        low = [c for c in browser.ask(CONTRASTS) if c[0] < LEAST_CONTRAST]
        self.check(f"{name}, contrast", not low, low[:5])
        wide = browser.ask("document.documentElement.scrollWidth - innerWidth")
        self.check(f"{name}, nothing is wider than the window", wide <= 0, wide)
        self.check(f"{name}, console", not browser.messages, browser.messages)

    def accessible(self, axe, width, dark):
        """axe-core's rules, in both schemes."""
        browser = self.browser
        browser.look(width, 900, dark)
        browser.open(self.page)
        browser.ask(axe + "; 0")
        found = browser.ask("axe.run(document, {resultTypes: ['violations']}).then((r) => [r.passes.length, r.violations.map((v) => "
                            "[v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 120), v.help])])")
        serious = [v for v in found[1] if v[0] in ("serious", "critical")]
        name = f"axe, {width} {'dark' if dark else 'light'}"
        self.check(name + ", rules", found[0] > 20, f"only {found[0]} rules passed")
        self.check(name, not serious, serious)
        for other in found[1]:
            if other not in serious:
                print(f"{name}: {other}")

    def keys(self):
        browser = self.browser
        browser.look()
        browser.open(self.page)
        count, reached = browser.ask(ACTIONS), set()
        for _ in range(count + 5):
            browser.press("Tab")
            reached.add(browser.ask(FOCUSED))
        missing = [browser.ask(f"window.actions[{i}].outerHTML.slice(0, 80)") for i in set(range(count)) - reached]
        self.check("Tab reaches every action", count > len(self.data["layers"]) and not missing, missing)
        browser.ask("document.querySelector('.place[tabindex=\"0\"]').focus()")
        says = [browser.ask("document.querySelector('.says').textContent")]
        browser.press("ArrowRight")
        says.append(browser.ask("document.querySelector('.says').textContent"))
        self.check("arrows go from place to place", says[0] != says[1] and "bytes at" in says[1], says)
        browser.ask("document.querySelector('[data-call=\"3\"] .op').focus()")
        browser.press("Enter")
        shown = browser.ask("[document.querySelector('#code select').value, document.querySelector('#code .code').textContent, "
                            "document.querySelector('tr.chosen[data-call]').dataset.call]")
        function = self.data["layers"][3]["function"]
        self.check("Enter on a call shows its C", shown[0] == "3" and function + "(" in shown[1] and shown[2] == "3", shown[0])
        before = browser.ask("getComputedStyle(document.body).backgroundColor")
        browser.ask("document.getElementById('theme').focus()")
        browser.press("Enter")
        after = browser.ask("getComputedStyle(document.body).backgroundColor")
        self.check("the switch turns light to dark", before != after, (before, after))
        self.check("console, after keys", not browser.messages, browser.messages)

    def printed(self):
        self.browser.look(dark=True, medium="print")
        self.browser.open(self.page)
        hidden = self.browser.ask("['nav', '#theme', '.picker'].every((s) => !document.querySelector(s).getClientRects().length)")
        paper = self.browser.ask("[getComputedStyle(document.documentElement).colorScheme, !!document.querySelector('#layers tbody tr').getClientRects().length]")
        self.check("print", hidden and paper == ["light", True], (hidden, paper))


    def large(self):
        """Of 1,500 calls those around the chosen one are drawn; all are reached by the keys."""
        browser, calls = self.browser, len(self.data["layers"])
        browser.look()
        browser.call("Profiler.enable")
        browser.call("Profiler.startPreciseCoverage", callCount=True, detailed=False)
        browser.open(self.page)

        def work():
            scripts = browser.call("Profiler.takePreciseCoverage")["result"]
            return sum(f["ranges"][0]["count"] for s in scripts for f in s["functions"])

        def state():
            return browser.ask("[document.getElementsByTagName('*').length, ...[...document.querySelectorAll('[data-call]')].map((r) => Number(r.dataset.call))]")

        loaded, (elements, *rows) = work(), state()
        first = self.data["peak"]["call"] // DRAWN * DRAWN
        self.check("large, the calls around the peak", rows == list(range(first, min(first + DRAWN, calls))), rows)
        self.check("large, elements", elements < MOST_ELEMENTS, elements)
        self.check("large, calls of functions", loaded < MOST_WORK, loaded)
        browser.ask("select(0)")
        before = work()
        for begin in range(DRAWN, calls, DRAWN):
            browser.ask("[...document.querySelectorAll('#layers .turner button')].pop().focus()")
            browser.press("Enter")
            elements, *rows = state()
            self.check(f"large, later calls {begin}", rows == list(range(begin, min(begin + DRAWN, calls))) and elements < MOST_ELEMENTS, (elements, rows))
            wrong = [(path, text) for path, text in browser.ask(FIGURES) if f"{at(self.data, path):,}" != text]
            self.check(f"large, figures from {begin}", not wrong, wrong)
        turns = work() - before
        self.check("large, work to turn", turns < MOST_WORK * calls // DRAWN, turns)
        self.check("large, the end", browser.ask("[...document.querySelectorAll('.turner button')].filter((b) => b.disabled).length") == 3, "")
        browser.ask("select(0)")
        self.check("large, the beginning", state()[1] == 0 and browser.ask("document.querySelector('#code select').value") == "0", "")
        self.check("large, console", not browser.messages, browser.messages)
        size = self.page.stat().st_size
        self.check("large, bytes", size < MOST_BYTES * calls, size)
        print(f"{calls} calls: {elements:,} elements, {loaded:,} calls of functions to load, {turns // ((calls - 1) // DRAWN):,} to turn, {size:,} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args = parser.parse_args()
    program = chromium.find()
    axe = axe_core()
    if program is None or axe is None:
        print("SKIPPED: there is no " + ("chromium" if program is None else "axe-core") + ": scripts/setup installs it")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    args.work.mkdir(parents=True, exist_ok=True)
    command = [args.aotc, "report", DIGITS, "--board", "qemu_mps2_an386"]
    old = args.work / "old.json"
    old.write_bytes(subprocess.run([*command, "-O", "speed", "--json"], check=True, capture_output=True).stdout)
    page = args.work / "page.html"
    data = json.loads(subprocess.run([*command, "--compare", old, "--html", page, "--json"], check=True, capture_output=True).stdout)
    project, built = args.work / "project", args.work / "built.html"
    for words in (["create", DIGITS, "--board", "qemu_mps2_an386", "-o", project, "--force", "-q"], ["build", project, "-q"], ["run", project, "-q"],
                  ["analyze", "cycles", project]):
        subprocess.run([args.aotc, *words], check=True, stdout=subprocess.DEVNULL)
    of_built = json.loads(subprocess.run([args.aotc, "report", project, "--html", built, "--json"], check=True, capture_output=True).stdout)
    with chromium.Browser(program) as browser:
        tests = Tests(built, of_built, browser)
        for width in (1280, 390):
            tests.look(width, False)
            tests.look(width, True)
            tests.accessible(axe, width, width == 390)
        tests.check("counted cycles", any(path.endswith("counted_cycles") for path, _ in browser.ask(FIGURES)), "are not on the page")
        done = (tests.passed, tests.failed)
        tests = Tests(page, data, browser)
        tests.passed, tests.failed = done
        for width in (1280, 390, 320):
            for dark in (False, True):
                tests.look(width, dark)
        tests.keys()
        tests.printed()
        for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
            tests.accessible(axe, width, dark)
        tests.page, tests.data = large_page(args)
        tests.large()
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
