# SPDX-License-Identifier: Apache-2.0
"""Opens the page of `aotc report --html` in Chromium, wide and narrow, light and dark, and looks at what is there.

No request but for the page itself, nothing on the console, figures as in --json, contrast of all text at least 4.5 to
1, every action reached by Tab, no part wider than the window, and a print without what is there to be pressed. The rules of axe-core,
which tests/requirements-files.txt brings, find nothing serious. A model of 1,500 operators is drawn in parts, with no more elements and
calls of functions than a page of a small model has, several times.
"""
import importlib.util
import json
import pathlib

import browser as chromium
import common
import large_graphs
import pytest

DIGITS = common.ROOT / "tests/models/digits/digits_int8.tflite"
BOARD = ["--board", "qemu_mps2_an386"]
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


def at(data, path):
    for step in path.split("."):
        data = data[int(step)] if isinstance(data, list) else data[step]
    return data


class View:
    """A page in a browser; each check is a subtest."""

    def __init__(self, page, data, browser, subtests):
        self.page, self.data, self.browser, self.subtests = page, data, browser, subtests

    def check(self, name, good, says=""):
        with self.subtests.test(name):
            assert good, says

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
        cut = browser.ask("Math.max(...[...document.querySelectorAll('#tiles, #tiles > div')].map((t) => t.scrollWidth - t.clientWidth))")
        self.check(f"{name}, no tile is cut off", cut <= 0, cut)
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


@pytest.fixture(scope="module")
def axe():
    """The text of axe-core."""
    found = importlib.util.find_spec("axe_playwright_python")
    if not found:
        common.missing("there is no axe-core: scripts/setup installs it")
    return (pathlib.Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser():
    program = chromium.find()
    if program is None:
        common.missing("there is no chromium: scripts/setup installs it")
    with chromium.Browser(program) as one:
        yield one


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


def page_of(work, name, *arguments):
    """(page, what --json says)"""
    page = work / f"{name}.html"
    return page, json.loads(common.aotc("report", *arguments, "--html", page, "--json"))


@pytest.fixture(scope="module")
def compared(work):
    old = work / "old.json"
    old.write_text(common.aotc("report", DIGITS, *BOARD, "-O", "speed", "--json"))
    return page_of(work, "compared", DIGITS, *BOARD, "--compare", old)


@pytest.fixture(scope="module")
def built(work):
    """Of a project that ran, and whose cycles were counted."""
    project = work / "project"
    for words in (["create", DIGITS, *BOARD, "-o", project, "-q"], ["build", project, "-q"], ["run", project, "-q"],
                  ["analyze", "cycles", project]):
        common.aotc(*words)
    return page_of(work, "built", project)


@pytest.fixture(scope="module")
def large(work):
    """Of a model of 1,500 small operators."""
    model = work / "large.tflite"
    model.write_bytes(large_graphs.window(1500, "int8"))
    return page_of(work, "large", model, *BOARD)


@pytest.fixture
def view(request, browser, subtests):
    return View(*request.getfixturevalue(request.param), browser, subtests)


def of(*pages):
    return pytest.mark.parametrize("view", pages, indirect=True)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view, width", [("built", 1280), ("built", 768), ("built", 390), ("compared", 1280), ("compared", 390), ("compared", 320)],
                         indirect=["view"])
def test_look(view, width, dark):
    view.look(width, dark)


@pytest.mark.parametrize("view, width, dark", [("built", 1280, False), ("built", 390, True), ("compared", 1280, False),
                                               ("compared", 1280, True), ("compared", 390, False), ("compared", 390, True)],
                         indirect=["view"])
def test_accessible(view, width, dark, axe):
    view.accessible(axe, width, dark)


@of("built")
def test_counted_cycles(view):
    view.browser.open(view.page)
    assert any(path.endswith("counted_cycles") for path, _ in view.browser.ask(FIGURES))


@of("compared")
def test_keys(view):
    view.keys()


@of("compared")
def test_printed(view):
    view.printed()


@of("large")
def test_large(view):
    view.large()
