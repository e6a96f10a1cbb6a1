// SPDX-License-Identifier: 0BSD
// --- Constants by layer --------------------------------------------------------------------------

const TABLES = [["weights", "weights, packed"], ["bias", "bias"], ["scales", "scales and shifts"], ["numbers", "sizes of merged functions"],
  ["tables", "other tables"]];
function tableKind(name) {
  if (/stream|weights|pack|words|panel|patch/.test(name)) return "weights";
  if (/bias/.test(name)) return "bias";
  if (/scale|shift|multiplier/.test(name)) return "scales";
  if (/shape|last/.test(name)) return "numbers";
  return "tables";
}
function drawConstants() {
  const of = LAYERS.map(() => []);
  for (const c of DATA.constants) if (c.calls.length) of[c.calls[0]].push(c);
  const sums = of.map((list) => list.reduce((sum, c) => sum + c.bytes, 0)), most = Math.max(1, ...sums);
  const kinds = TABLES.filter(([k]) => DATA.constants.some((c) => tableKind(c.kind) === k));
  const rowOf = (l, i) => (!of[i].length ? null : el("tr", {}, el("td", {}, `${i}\u00a0\u00a0${titleOf(l)}`),
    el("td", {}, el("div", {class: "stack-bar", style: `width:${100 * sums[i] / most}%`, role: "img",
      "aria-label": of[i].map((c) => `${c.kind} ${bytes(c.bytes)}`).join(", ")}, [...of[i]].sort((a, b) => b.bytes - a.bytes).map((c) =>
      el("span", {class: "c-" + tableKind(c.kind), style: `flex:${c.bytes} 0 0`, title: `${c.name}: ${bytes(c.bytes)}`})))),
    el("td", {class: "num"}, commas(sums[i])), el("td", {class: "num soft"}, percent(sums[i], DATA.constants_bytes)),
    el("td", {class: "soft small what"}, shared(of[i]))));
  const body = el("tbody", {});
  function shared(list) {
    const others = [...new Set(list.flatMap((c) => c.calls.slice(1)))].sort((a, b) => a - b);
    return others.length ? "shared with " + shorten(others.join(", "), 40) : "";
  }
  const rest = DATA.constants_bytes - sums.reduce((a, b) => a + b, 0);
  section("constants", "Constants by layer", "Tables in flash, at the first call that reads them. A table that several calls read is stored once.",
    legend(kinds.map(([k, text]) => ["", text, "c-" + k])),
    turner("the table of constants"), el("table", {}, head([["Call", ""], ["", ""], ["Bytes", "num"], ["Share", "num"], ["", "what"]]), body));
  function paint() {
    fill(body, {}, [LAYERS.slice(first, last() + 1).map((l, i) => rowOf(l, first + i)),
      rest > 0 ? el("tr", {}, el("td", {}, "tables of loops"), el("td", {}), el("td", {class: "num"}, commas(rest)),
        el("td", {class: "num soft"}, percent(rest, DATA.constants_bytes)), el("td", {class: "what"})) : null]);
  }
  paint();
  inWindow.push(() => { body.replaceChildren(); paint(); });
}

// --- Levels --------------------------------------------------------------------------------------

const scroller = (name, table) => el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": name}, table);
// The Pareto-optimal variants.
const SPEED = DATA.variants.some((v) => v.estimated_cycles !== undefined) ? ["estimated_cycles", "Cycles, est."] : ["estimated_instructions", "Instructions, est."];
function drawPareto() {
  const columns = [["arena_bytes", "Arena"], SPEED];
  return el("div", {}, el("p", {class: "soft"}, "Best trade-offs between RAM and speed:"),
    scroller("Table of arenas and speeds", el("table", {}, head([["Options", ""], ...columns.map(([, name]) => [name, "num"])]), el("tbody", {}, DATA.pareto.map((p, i) =>
      el("tr", {class: p.chosen ? "chosen" : ""}, el("td", {}, el("code", {}, p.options), " ", p.chosen ? el("span", {class: "tag"}, "this report") : null,
        p.instead ? el("span", {class: "soft"}, " better: ", el("code", {}, p.instead)) : null),
      columns.map(([key]) => cell(p[key], `pareto.${i}.${key}`))))))));
}
// Figures that are neither better nor worse: fewer instructions may take more cycles.
const isNeutral = (key) => key === "functions" || (key === "estimated_instructions" && SPEED[0] !== key);
function drawLevels() {
  if (DATA.variants.length < 2) return;  // --no-alternatives
  const chosen = DATA.variants.find((v) => v.chosen) || {};
  const measured = [["arena_bytes", "Arena"], ["constants_bytes", "Constants"], ["code_bytes", "Code"],
    ["estimated_cycles", "Cycles, est."], ["estimated_instructions", "Instructions, est."], ["functions", "Functions"]].filter(([key]) => DATA.variants.some((v) => v[key] !== undefined));
  const delta = (v, key) => {
    const d = v[key] - chosen[key];
    if (v.chosen || !chosen[key] || Math.abs(d / chosen[key]) < .0005) return null;
    const text = `${d > 0 ? "+" : "\u2212"}${Math.abs(100 * d / chosen[key]).toFixed(1)} %`;
    return el("span", {class: "delta " + (isNeutral(key) ? "soft" : d < 0 ? "better" : "worse")}, text);
  };
  section("levels", "Levels side by side", "The model compiled with other options, beside the options of this report.",
    scroller("Table of levels", el("table", {}, head([["Options", ""], ...measured.map(([, name]) => [name, "num"])]), el("tbody", {}, DATA.variants.map((v, i) =>
      el("tr", {class: v.chosen ? "chosen" : ""}, el("td", {}, el("code", {}, v.options), " ", v.chosen ? el("span", {class: "tag"}, "this report") : null),
        measured.map(([key]) => { const c = cell(v[key], `variants.${i}.${key}`); const d = delta(v, key); if (d) c.append(d); return c; })))))),
    DATA.pareto.length > 1 ? drawPareto() : null);
}

function drawBoards() {
  if (!(DATA.boards || []).length) return;
  const columns = [["arena_bytes", "Arena"], ["constants_bytes", "Constants"], ["ram_needed", "RAM needed"], ["flash_needed", "Flash needed"],
    ["estimated_instructions", "Instructions, est."], ["estimated_cycles", "Cycles, est."]].filter(([key]) => DATA.boards.some((b) => b[key] !== undefined));
  section("boards", "Boards side by side", "The model with these options on every board that aotc knows. RAM and flash needed include the rest of the firmware, " +
    "in the memories of the board. Cycles are of memory without wait states; the time is at the board\u2019s full clock, or more.",
  scroller("Table of boards", el("table", {}, head([["Board", ""], ["Core", ""], ["Fits", ""], ...columns.map(([, name]) => [name, "num"]), ["ms", "num"]]),
    el("tbody", {}, DATA.boards.map((b, i) => el("tr", {class: b.chosen ? "chosen" : ""}, el("td", {}, b.board, " ", b.chosen ? el("span", {class: "tag"}, "this report") : null),
      el("td", {class: "soft"}, b.cpu), el("td", {class: b.fits ? "better" : "worse"}, b.fits ? "yes" : "no"),
      columns.map(([key]) => cell(b[key], `boards.${i}.${key}`)), el("td", {class: "num"}, b.milliseconds === undefined ? "\u2013" : b.milliseconds.toFixed(2))))))));
}

// --- Layer and C ---------------------------------------------------------------------------------

const LINES = DATA.source ? DATA.source.text.split("\n") : [];
const WORDS = /(\/\*.*?(?:\*\/|$)|\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(if|else|for|while|do|switch|case|default|break|return|const|static|inline|void|int|char|float|double|struct|sizeof|u?int(?:8|16|32|64)_t|size_t|goto|restrict|volatile|__asm__)\b|(^\s*#.*$)/g;
function codeLine(number, text, inside) {
  const item = el("li", {value: number});
  if (inside) { item.append(el("span", {class: "c"}, text)); return item; }
  let at = 0;
  for (const m of text.matchAll(WORDS)) {
    item.append(text.slice(at, m.index), el("span", {class: m[1] ? "c" : m[2] ? "s" : "k"}, m[0]));
    at = m.index + m[0].length;
  }
  item.append(text.slice(at) || (at ? "" : "\u200b"));
  return item;
}
function listing(first, last, name) {
  const items = [];
  let inside = false;
  for (let n = first; n <= last; ++n) {
    const text = LINES[n - 1], opens = text.lastIndexOf("/*"), closes = text.lastIndexOf("*/");
    items.push(codeLine(n, text, inside && closes < 0));
    inside = opens > closes ? true : closes >= 0 ? false : inside;
  }
  return el("pre", {class: "code", tabindex: 0, "aria-label": name}, el("ol", {}, items));
}
// The comment above a function belongs to it.
function beginOf(line) {
  let n = line - 2;
  while (n > 0 && LINES[n - 1] !== "" && LINES[n - 1] !== "}") --n;
  return n + 1;
}
function instructionsOf(first, last) {
  const count = new Map();
  for (let n = first; n <= last; ++n)
    for (const m of LINES[n - 1].matchAll(/"\s*(?:\d+:|[\w.%=]+:)?\s*([a-z][a-z0-9]*)(?:\.[a-z0-9]+)*[ \\]/g))
      count.set(m[1], (count.get(m[1]) || 0) + 1);
  return [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
// Functions with assembly that the lines call: [name, first line, last line].
function kernelsOf(first, last) {
  const text = LINES.slice(first - 1, last).join("\n"), out = [];
  for (const name of new Set([...text.matchAll(/\b([a-z]\w+)\(/g)].map((m) => m[1]).filter((n) => n.startsWith(DATA.prefix + "_")))) {
    const begin = LINES.findIndex((l) => l.includes(" " + name + "(") && !/^[\s/*#]/.test(l) && !l.endsWith(";"));
    const end = begin < 0 ? -1 : LINES.indexOf("}", begin);
    if (end < 0 || (begin + 1 >= first && begin < last)) continue;
    if (LINES.slice(begin, end).some((l) => l.includes("__asm__ volatile"))) out.push([name, begin + 1, end + 1]);
  }
  return out;
}
function explained(first, last) {
  const used = instructionsOf(first, last).filter(([word]) => INSTRUCTIONS[word]).slice(0, 14);
  return !used.length ? [] : [el("h3", {}, "What its instructions do"), el("table", {}, head([["Instruction", ""], ["In the text", "num"], ["", ""]]),
    el("tbody", {}, used.map(([word, n]) => el("tr", {}, el("td", {}, el("code", {}, word)), el("td", {class: "num"}, commas(n)),
      el("td", {class: "soft"}, INSTRUCTIONS[word])))))];
}
function factsOf(call) {
  const l = LAYERS[call], facts = [];
  const add = (name, ...value) => facts.push(el("dt", {}, name), el("dd", {}, ...value));
  add("operator", titleOf(l), l.op_index !== undefined ? ` (operator ${l.op_index} of the model)` : "");
  (l.results || []).forEach((t) => add("result", `${t.dtype} ${shapeOf(t)}, ${bytes(t.bytes)}`, el("div", {class: "soft small"}, shorten(t.tensor, 160))));
  if (l.operands && l.operands.length) add("reads", l.operands.map(sourceText).join(", "));
  if (l.per_iteration) add("runs", "in a loop of unknown length: figures are per iteration");
  if (l.times !== undefined) add("runs", plural(l.times, "time") + ", which the figures count together");
  if (l.macs !== undefined) add("MACs", commas(l.macs), el("span", {class: "soft"}, " \u2013 " + percent(l.macs, DATA.macs)));
  if (l.estimated_instructions !== undefined) add("instructions, estimated", commas(l.estimated_instructions), el("span", {class: "soft"},
    (l.macs ? ` \u2013 ${(l.estimated_instructions / l.macs).toFixed(2)} per MAC` : "")));
  if (l.estimated_cycles !== undefined) add("cycles, estimated", commas(l.estimated_cycles), el("span", {class: "soft"},
    (l.macs ? ` \u2013 ${(l.estimated_cycles / l.macs).toFixed(2)} per MAC` : "")));
  if (l.counted_cycles !== undefined) add("cycles, counted", commas(l.counted_cycles), el("span", {class: "soft"},
    ` \u2013 in ${plural(l.counted_instructions, "instruction")}` + (l.macs ? `, ${(l.counted_cycles / l.macs).toFixed(2)} per MAC` : "")));
  if (MEASURED && l[MEASURED] !== undefined) add(MEASURED + ", measured", commas(l[MEASURED]), el("span", {class: "soft"},
    l.macs ? ` \u2013 ${(l[MEASURED] / l.macs).toFixed(2)} per MAC` : ""));
  if (l.arena_used_bytes !== undefined) add("arena in use", bytes(l.arena_used_bytes));
  if (l.scratch_bytes) add("scratch", bytes(l.scratch_bytes));
  add("constants", bytes(l.constants_bytes));
  if (l.schedule) add("schedule", l.schedule);
  add("function", el("code", {}, l.function));
  return el("dl", {class: "facts"}, facts);
}
function drawCode() {
  if (!LAYERS.length) return;
  const choice = el("select", {"aria-label": "Call", onchange: () => select(Number(choice.value))},
    LAYERS.map((l, i) => el("option", {value: i}, `${i}  ${titleOf(l)}  ${shapeOf(resultOf(l))}`)));
  const before = el("button", {type: "button", onclick: () => select(selected - 1)}, "Previous");
  const after = el("button", {type: "button", onclick: () => select(selected + 1)}, "Next");
  const facts = el("div", {}), code = el("div", {});
  section("code", "Layer and C", DATA.source ? `A call, and the function of ${DATA.source.file} that it calls.` : "A call and its figures.",
    el("div", {class: "picker"}, choice, before, after), el("div", {class: "pair"}, facts, code));
  followers.push((call) => {
    choice.value = call;
    before.disabled = call === 0;
    after.disabled = call === LAYERS.length - 1;
    facts.replaceChildren(factsOf(call));
    const source = DATA.source && DATA.source.functions.find((f) => f.calls.includes(call));
    if (!source) return code.replaceChildren(el("p", {class: "soft"}, "aotc printed no function for this call."));
    const line = (DATA.source.calls.find((c) => c.call === call) || {}).line, others = source.calls.filter((c) => c !== call);
    const kernels = kernelsOf(source.line_begin, source.line_end);
    code.replaceChildren(el("p", {class: "soft small"}, `Lines ${source.line_begin} to ${source.line_end}` +
      (line ? `, called in line ${line}` : "") + (others.length ? `, and for calls ${shorten(others.join(", "), 60)}` : "") + "."),
    listing(beginOf(source.line_begin), source.line_end, "C of " + source.name), ...explained(source.line_begin, source.line_end),
    ...kernels.flatMap(([name, first, last]) => [el("h3", {}, "The kernel ", el("code", {}, name)),
      listing(beginOf(first), last, "C of " + name), ...explained(first, last)]));
  });
}

// --- Stack and differences -----------------------------------------------------------------------

function drawStack() {
  if (!DATA.stack) return;
  section("stack", "Stack", "The deepest chain of calls below the run function, from the instructions of the linked program. " +
    `The bound is ${bytes(DATA.stack.bytes)}, ${DATA.stack.state}` + (DATA.stack.state === "assumed" ? ": it holds if the lines below are true." : "."), el("table", {}, head([["Function", ""], ["Place", ""], ["Bytes", "num"]]), el("tbody", {},
    DATA.stack.chain.map((link, i) => el("tr", {}, el("td", {}, el("code", {}, link.function)), el("td", {class: "soft small"}, link.place || ""),
      cell(link.bytes, `stack.chain.${i}.bytes`))))),
  (DATA.stack.problems || []).map((p) => el("p", {class: "absent"}, `${p.place}: ${p.text}`)));
}
const WORD_OF = {macs: "MACs"};
const nameOf = (key) => WORD_OF[key] || key.replace(/_bytes$/, "").replace(/_/g, " ");
function drawDifference() {
  const d = DATA.difference;
  if (!d) return;
  const cycles = d.totals.some((f) => f.figure === "estimated_cycles");
  const change = (f) => (f.new === f.old ? el("span", {class: "soft"}, "\u2013") : el("span", {class: cycles && f.figure === "estimated_instructions" ? "soft" : f.new < f.old ? "better" : "worse"},
    `${f.new > f.old ? "+" : "\u2212"}${commas(Math.abs(f.new - f.old))}` + (f.old ? ` (${f.new > f.old ? "+" : "\u2212"}${
      Math.abs(100 * (f.new - f.old) / f.old).toFixed(1)} %)` : "")));
  section("difference", "Difference", `To ${d.old.model} for ${d.old.target}, ${d.old.options}. ${plural(d.same_layers, "layer")} ` +
    `${d.same_layers === 1 ? "is" : "are"} the same.`,
  scroller("Table of figures", el("table", {}, head([["", ""], ["Old", "num"], ["New", "num"], ["Change", "num"]]), el("tbody", {}, d.totals.map((f, i) => el("tr", {},
    el("td", {}, nameOf(f.figure)), cell(f.old, `difference.totals.${i}.old`), cell(f.new, `difference.totals.${i}.new`),
    el("td", {class: "num"}, change(f))))))),
  d.layers.length ? [el("h3", {}, "Layers that differ"), scroller("Table of layers", el("table", {}, head([["Call", ""], ["", ""], ["What changed", ""]]), el("tbody", {},
    d.layers.slice(0, MOST).map((l) => el("tr", {}, el("td", {}, `${l.new_call !== undefined ? l.new_call : l.old_call}\u00a0\u00a0${l.op_type}`), el("td", {}, l.change),
      el("td", {class: "soft"}, [...(l.what || []), ...(l.figures || []).map((f) => `${nameOf(f.figure)} ${commas(f.old)} \u2192 ${commas(f.new)}`)]
        .join(", "))))))), d.layers.length > MOST ? el("p", {class: "absent"}, `And ${commas(d.layers.length - MOST)} more: aotc report --json has all.`) : null] : null);
}

drawHead();
drawNext();
drawLayers();
drawArena();
drawConstants();
drawLevels();
drawBoards();
drawCode();
drawStack();
drawDifference();
byId("footer").append(`Written by aotc ${DATA.aotc}. Sizes are in bytes. The figures are those of `, el("code", {}, "aotc report --json"),
  ", which this file holds.");
if (LAYERS.length) select(DATA.peak ? DATA.peak.call : 0);
const links = [...nav.querySelectorAll("a")];
// The first section that is in the upper part of the window.
const inSight = new Set();
const seen = new IntersectionObserver((entries) => {
  entries.forEach((e) => (e.isIntersecting ? inSight.add(e.target.id) : inSight.delete(e.target.id)));
  const first = links.find((a) => inSight.has(a.hash.slice(1)));
  if (first) links.forEach((a) => (a === first ? a.setAttribute("aria-current", "true") : a.removeAttribute("aria-current")));
}, {rootMargin: "-80px 0px -70% 0px"});
main.querySelectorAll("section").forEach((s) => seen.observe(s));
