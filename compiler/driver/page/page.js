// SPDX-License-Identifier: 0BSD
// Draws the report that the page holds. All text of the model is set as text, never as HTML. Every figure that is a
// field of the data as it is says so by data-path.
"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
// The C stands beside it as it is, but for a tab in place of so many blanks at the beginning of a line.
if (DATA.source) {
  const holds = document.getElementById("source"), blanks = " ".repeat(holds.dataset.blanks);
  DATA.source.text = holds.textContent.replace(/<\\([/!\\])/g, "<$1").replace(/^\t+/gm, (tabs) => (blanks || "\t").repeat(tabs.length));
}
const LAYERS = DATA.layers, MEMORY = DATA.memory || [];
const MEASURED = LAYERS.length && DATA.unit && LAYERS.some((l) => l[DATA.unit] !== undefined) ? DATA.unit : "";
const byId = (id) => document.getElementById(id);
const commas = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const bytes = (n) => commas(n) + (n === 1 ? " byte" : " bytes");
const plural = (n, word) => commas(n) + " " + word + (n === 1 ? "" : "s");
const percent = (part, all) => (all ? (100 * part / all).toFixed(1) : "0.0") + " %";
const shorten = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") node.style.cssText = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined) node.append(child);
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
// A figure of the data, at its path: "layers.3.macs".
const figure = (path, value) => el("span", {"data-path": path}, commas(value));

// --- What layers are -----------------------------------------------------------------------------

const KINDS = [["conv", "convolution"], ["dw", "depthwise convolution"], ["fc", "fully connected, matrix product, recurrent"],
  ["pool", "pool, reduction, softmax"], ["add", "element by element"], ["move", "other"], ["input", "input"], ["scratch", "scratch of one call"]];
function kindOf(layer) {
  const type = (layer.op || layer.op_type || "").toLowerCase();
  if (/depthwise/.test(type)) return "dw";
  if (/conv/.test(type)) return "conv";
  if (/fully|matmul|lstm|gru|rnn|svdf|gemm/.test(type)) return "fc";
  if (/pool|softmax|reduce|mean|sum|arg_|norm/.test(type)) return "pool";
  if (/add|mul|sub|div|relu|logistic|tanh|quantize|swish|abs|exp|elementwise|prelu|clip|min|max/.test(type)) return "add";
  return "move";
}
const resultOf = (layer) => (layer.results || [])[0] || {};
const shapeOf = (t) => (t.shape ? t.shape.join("\u00d7") || "scalar" : "");
const titleOf = (layer) => layer.op_type || "copy";
function sourceText(from) {
  if (from.input !== undefined) return "input " + (DATA.inputs[from.input] || {}).name;
  if (from.state !== undefined) return "state " + from.state;
  return "call " + from.call;
}
function placeText(place) {
  const first = place.first_call, what = place.tensor === undefined ? "scratch of call " + first
    : first < 0 ? "input" : "result of call " + first + " " + titleOf(LAYERS[first] || {});
  const until = Math.min(place.last_call, LAYERS.length - 1);
  const when = first < 0 ? "before the first call to call " + until : first === until ? "during call " + first
    : "call " + first + " to call " + until;
  return `${what}: ${bytes(place.bytes)} at ${commas(place.offset)} to ${commas(place.offset + place.bytes)}, ${when}` +
    (place.last_call >= LAYERS.length ? " and after the run" : "") + (place.pool ? `, in ${place.pool}` : "") +
    (place.tensor ? ` \u2013 ${shorten(place.tensor, 120)}` : "");
}

// --- Selection -----------------------------------------------------------------------------------

let selected = 0;
const followers = [];
// Of a model with more calls than that, so many are drawn at a time: those around the selected one.
const MOST = 200;
let first = 0;
const last = () => Math.min(first + MOST, LAYERS.length) - 1;
const inWindow = [];
function select(call) {
  selected = Math.max(0, Math.min(LAYERS.length - 1, call));
  turnTo(selected);
  for (const follow of followers) follow(selected);
}
// Draws the calls around one, if others are drawn now.
function turnTo(call) {
  const begin = Math.floor(call / MOST) * MOST;
  if (begin === first) return;
  first = begin;
  for (const redraw of inWindow) redraw();
}
// What goes to earlier and later calls; nothing where all are drawn.
function turner(what) {
  if (LAYERS.length <= MOST) return null;
  const says = el("span", {"aria-live": "polite"});
  const before = el("button", {type: "button", onclick: () => select(first - MOST)}, `Earlier ${MOST}`);
  const after = el("button", {type: "button", onclick: () => select(first + MOST)}, `Later ${MOST}`);
  const redraw = () => {
    says.textContent = `Calls ${commas(first)} to ${commas(last())} of ${commas(LAYERS.length)}`;
    before.disabled = first === 0;
    after.disabled = last() === LAYERS.length - 1;
  };
  inWindow.push(redraw);
  redraw();
  return el("div", {class: "turner", role: "group", "aria-label": `Which calls ${what} shows`}, before, says, after);
}

const main = byId("main"), nav = byId("nav");
function section(id, title, lead, ...children) {
  nav.append(el("li", {}, el("a", {href: "#" + id}, title)));
  const node = el("section", {id, "aria-labelledby": id + "-title"}, el("h2", {id: id + "-title"}, title),
    lead ? el("p", {}, lead) : null, ...children);
  main.append(node);
  return node;
}
const legend = (rows) => el("ul", {class: "legend"}, rows.map(([style, text, name]) =>
  el("li", {}, el("i", {style, class: name}), text)));
const cell = (value, path) => el("td", {class: "num"}, value === undefined ? "\u2013" : figure(path, value));
const head = (names) => el("thead", {}, el("tr", {}, names.map(([text, name]) => (text ? el("th", {scope: "col", class: name}, text)
  : el("td", {class: name})))));

// --- Head ----------------------------------------------------------------------------------------

function tile(title, path, value, unit, ...notes) {
  byId("tiles").append(el("div", {}, el("dt", {}, title), el("dd", {class: "value"}, figure(path, value),
    el("span", {class: "unit"}, unit)), notes.filter(Boolean).map((n) => el("dd", {class: "note"}, n))));
}
const PER = DATA.per_iteration ? " per iteration" : "";
const limit = (use) => (DATA.limits && DATA.limits[use] ? `of ${commas(DATA.limits[use])} on ${DATA.board}` : "");

function drawHead() {
  byId("name").textContent = DATA.prefix;
  const options = [DATA.model, DATA.board || DATA.cpu || "any CPU", "-O " + DATA.level,
    DATA.prefer === "ram" ? "--prefer ram" : "", DATA.stream !== "off" ? "--stream " + DATA.stream : ""];
  byId("about").textContent = options.filter(Boolean).join("  \u00b7  ");
  if (DATA.memory) {
    tile("Arena", "arena_bytes", DATA.arena_bytes, "bytes of RAM",
      DATA.arena_optimal ? "optimal: no placement needs less" : "lower bound " + commas(DATA.arena_lower_bound), limit("arena"));
  } else {
    tile("Workspace", "workspace_bytes", DATA.workspace_bytes, "bytes of RAM");
  }
  if (DATA.state_bytes) tile("State", "state_bytes", DATA.state_bytes, "bytes of RAM", "kept from run to run");
  tile("Constants", "constants_bytes", DATA.constants_bytes, "bytes of flash",
    commas(DATA.raw_constants_bytes) + " in the model", limit("constants"));
  if (DATA.code_bytes !== undefined) tile("Code", "code_bytes", DATA.code_bytes, "bytes of flash", "for the functions of the model");
  tile("Work", "macs", DATA.macs, "MACs" + PER, plural(LAYERS.length, "call"));
  const run = (DATA.run && DATA.run.values) || {};
  const cycles = DATA.estimated_cycles ? el("span", {}, figure("estimated_cycles", DATA.estimated_cycles), ` cycles${PER}, estimated, no wait states`) : "";
  const counted = DATA.counted ? el("span", {}, figure("counted.cycles", DATA.counted.cycles), " cycles, counted in the emulator") : "";
  if (DATA.unit && run[DATA.unit] !== undefined) {
    tile("Time", "run.values." + DATA.unit, run[DATA.unit], DATA.unit, DATA.stand_in ? "emulated on a different board with the same core; times are not comparable" : "measured, one run", cycles, counted);
  } else if (DATA.estimated_instructions) {
    tile("Time", "estimated_instructions", DATA.estimated_instructions, "instructions" + PER, "estimated, for " + DATA.cost_model, cycles, counted);
  }
  if (DATA.stack) tile("Stack", "stack.bytes", DATA.stack.bytes, "bytes of RAM", DATA.stack.state);
  const ports = (list) => list.map((t) => [el("b", {}, shorten(t.name, 60)), ` ${t.dtype} ${shapeOf(t)}` +
    (t.scale ? `, scale ${t.scale.toPrecision(6)} zero ${t.zero_point}` : "") + "  "]);
  byId("ports").append("in: ", ...ports(DATA.inputs).flat(), "\u00a0 out: ", ...ports(DATA.outputs).flat());
  const theme = byId("theme"), dark = () => document.documentElement.dataset.theme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => (theme.textContent = dark() ? "Light" : "Dark");
  theme.setAttribute("aria-label", "Switch between dark and light");
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; name(); });
  name();
}

// --- What to try ---------------------------------------------------------------------------------

const absentText = () => DATA.absent.map((a) => el("p", {class: "absent"}, `Not in this report: ${a.part}. `, el("code", {}, a.command),
  " adds it."));
function drawNext() {
  section("next", "What to try", "Each line was compiled; changes of less than one percent are not listed.",
    DATA.next.length ? el("ul", {class: "steps"}, DATA.next.map((n) => {
      const [better, worse] = n.text.split("; but ");
      return el("li", {}, el("code", {}, n.option), el("span", {}, el("span", {class: "better"}, better),
        worse ? ["; but ", el("span", {class: "worse"}, worse)] : null));
    })) : DATA.variants.length > 1 ? el("p", {}, "No other level, --prefer or --stream makes anything smaller or faster.") : null, absentText());
}

// --- Layers: the graph beside what each costs -----------------------------------------------------

const ROW = 38, LANE = 11, LEFT = 12;
function edges() {
  const inputs = DATA.inputs.length, row = (from) => (from.call !== undefined ? inputs + from.call : from.input);
  const out = [];
  LAYERS.forEach((l, i) => (l.operands || []).forEach((from) => {
    if (from.state === undefined) out.push({from: row(from), to: inputs + i});
  }));
  DATA.outputs.forEach((o, i) => {
    if (o.from && o.from.state === undefined) out.push({from: row(o.from), to: inputs + LAYERS.length + i});
  });
  const ends = [];  // by lane: the row in which it is free again
  for (const e of out.sort((a, b) => a.from - b.from || a.to - b.to)) {
    if (e.to <= e.from + 1) { e.lane = 0; continue; }
    let lane = ends.findIndex((end) => end <= e.from);
    if (lane < 0) lane = ends.length;
    ends[lane] = e.to;
    e.lane = Math.min(lane, 6) + 1;
  }
  return out;
}
const railWidth = (all) => LEFT * 2 + Math.max(0, ...all.map((e) => e.lane)) * LANE;
function rail(all, row, kind, width) {
  const mid = ROW / 2, x = (lane) => LEFT + lane * LANE, lines = new Set();  // many calls may read one result
  const line = (d) => lines.add(d);
  for (const e of all) {
    if (e.lane === 0 && e.from === row) line(`M${x(0)} ${mid}V${ROW}`);
    else if (e.lane === 0 && e.to === row) line(`M${x(0)} 0V${mid}`);
    else if (e.lane && e.from === row) line(`M${x(0)} ${mid}C${x(e.lane)} ${mid} ${x(e.lane)} ${mid} ${x(e.lane)} ${ROW}`);
    else if (e.lane && e.to === row) line(`M${x(e.lane)} 0C${x(e.lane)} ${mid} ${x(e.lane)} ${mid} ${x(0)} ${mid}`);
    else if (e.from < row && row < e.to) line(`M${x(e.lane)} 0V${ROW}`);
  }
  return draw("svg", {width, height: ROW, "aria-hidden": true},
    lines.size ? draw("path", {d: [...lines].join(""), fill: "none", stroke: "var(--soft)", "stroke-width": 1.5}) : null, draw("circle", {cx: x(0), cy: mid, r: 6,
    fill: `var(--k-${kind})`, stroke: "var(--ink)", "stroke-width": 1}));
}
const METRICS = [["macs", "MACs", (l) => l.macs, "macs"],
  MEASURED ? ["instructions", MEASURED[0].toUpperCase() + MEASURED.slice(1), (l) => l[MEASURED], MEASURED]
    : ["instructions", "Instructions, est.", (l) => l.estimated_instructions, "estimated_instructions"],
  ["cycles", "Cycles, est.", (l) => l.estimated_cycles, "estimated_cycles"],
  ["counted", "Cycles, counted", (l) => l.counted_cycles, "counted_cycles"],
  ["constants", "Constants", (l) => l.constants_bytes, "constants_bytes"],
  ["arena", "Arena in use", (l) => l.arena_used_bytes, "arena_used_bytes"]].filter(([id, , get]) => (id !== "arena" || DATA.peak) &&
  (!["cycles", "counted"].includes(id) || LAYERS.some(get)));
function drawLayers() {
  const whole = edges(), inputs = DATA.inputs.length, width = railWidth(whole);
  const most = METRICS.map(([, , get]) => Math.max(1, ...LAYERS.map((l) => get(l) || 0)));
  const port = (all, row, kind, name, t) => el("tr", {class: "port"}, el("td", {class: "rail"}, rail(all, row, kind, width)),
    el("td", {}, name), el("td", {class: "shape"}, `${t.dtype} ${shapeOf(t)}`), METRICS.map(([id]) => el("td", {class: "m m-" + id})));
  const rowOf = (all, l, i) => el("tr", {"data-call": i}, el("td", {class: "rail"}, rail(all, inputs + i, kindOf(l), width)),
    el("td", {}, el("button", {type: "button", class: "op", title: resultOf(l).tensor, onclick: () => select(i)},
      `${i}\u00a0\u00a0${titleOf(l)}`, el("span", {class: "soft"}, shorten(resultOf(l).tensor || "", 80)))),
    el("td", {class: "shape"}, shapeOf(resultOf(l))),
    METRICS.map(([id, , get, key], m) => el("td", {class: "m m-" + id}, get(l) === undefined ? el("div", {class: "num soft"}, "\u2013")
      : el("div", {class: "cost", style: `--digits:${commas(most[m]).length}ch`}, el("div", {class: "track"}, get(l) ? el("span", {style: `width:${100 * get(l) / most[m]}%`}) : null),
        el("div", {class: "num"}, figure(`layers.${i}.${key}`, get(l)))))));
  const body = el("tbody", {});
  const switches = METRICS.map(([id, name]) => el("button", {type: "button", "aria-pressed": String(id === "macs"), onclick: () => show(id)}, name));
  const node = section("layers", "Layers", "Each row is a call of the run function. The line on the left shows what it reads: results of the " +
    "row above, or of an earlier row by a line aside. Choose a call to see it in the arena and in the C.",
    legend(KINDS.filter(([k]) => k !== "scratch").map(([k, text]) => [`background:var(--k-${k})`, text])),
    turner("the table of layers"), el("div", {class: "switch", role: "group", "aria-label": "Which cost is shown"}, switches),
    el("table", {}, el("colgroup", {}, el("col", {style: `width:${width}px`})), head([["", ""], ["Call", "call"], ["Result", "shape"],
      ...METRICS.map(([id, name]) => [name, `num m m-${id}`])]), body));
  function paint() {
    const all = whole.filter((e) => e.to >= inputs + first && e.from <= inputs + last());
    const ends = last() === LAYERS.length - 1;
    body.replaceChildren(...(first === 0 ? DATA.inputs.map((t, i) => port(whole, i, "input", "input", t)) : []),
      ...LAYERS.slice(first, last() + 1).map((l, i) => rowOf(all, l, first + i)),
      ...(ends ? DATA.outputs.map((t, i) => port(whole, inputs + LAYERS.length + i, "move", "output", t)) : []));
  }
  paint();
  inWindow.push(paint);
  function show(id) {
    node.dataset.metric = id;
    switches.forEach((b, i) => b.setAttribute("aria-pressed", String(METRICS[i][0] === id)));
  }
  show("macs");
  followers.push((call) => {
    body.querySelectorAll("tr.chosen").forEach((r) => r.classList.remove("chosen"));
    body.querySelector(`[data-call="${call}"]`).classList.add("chosen");
  });
}

// --- Arena over time -----------------------------------------------------------------------------

function ticks(size) {
  let step = 16;
  while (size / step > 7) step *= 2;
  return Array.from({length: Math.ceil(size / step)}, (_, i) => i * step).filter((t) => size - t >= step / 2).concat(size);
}
function arenaOf(pool, says) {
  const whole = MEMORY.map((p, i) => ({...p, index: i})).filter((p) => (p.pool || "") === pool);
  const size = Math.max(1, ...whole.map((p) => p.offset + p.bytes)), height = 340, left = 64, top = 26, bottom = 26;
  const holder = el("div", {class: "scroll"});
  let current = 0, places = whole;
  // Columns in which nothing that is drawn later covers the upper bytes of a place, where its label stands.
  function room(place, band) {
    const end = place.offset + place.bytes, covers = places.filter((q) => q.index > place.index && q.first_call <= place.last_call &&
      q.offset < end && q.offset + q.bytes > end - band);
    return Math.min(place.last_call + 1, last() + 1, ...covers.map((q) => q.first_call)) - Math.max(place.first_call, first - 1);
  }
  function paint(call) {
    const begin = first === 0 ? -1 : first, end = last();
    places = whole.filter((p) => p.last_call >= begin && p.first_call <= end);
    current = Math.min(current, places.length - 1);
    const space = (byId("main").clientWidth || 1100) - 100 - left, columns = end - begin + 1;
    const column = Math.max(16, Math.min(72, Math.floor(space / columns))), width = left + column * columns + 12;
    const y = (at) => top + height - height * at / size, x = (c) => left + column * (c - begin);
    const svg = draw("svg", {width, height: top + height + bottom, role: "group",
      "aria-label": `The arena${pool ? " " + pool : ""} over the calls; arrow keys go from place to place, Enter chooses the call`});
    svg.append(draw("defs", {}, draw("pattern", {id: "hatch" + pool, width: 5, height: 5, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)"}, draw("line", {x1: 0, y1: 0, x2: 0, y2: 5, stroke: "var(--ink)", "stroke-width": 1.2}))));
    svg.append(draw("rect", {x: x(call), y: top - 4, width: column, height: height + 8, fill: "var(--chosen)"}));
    for (const t of ticks(size)) svg.append(draw("line", {class: "grid", x1: left, x2: width - 12, y1: y(t), y2: y(t)}),
      draw("text", {class: "soft", x: left - 8, y: y(t) + 4, "text-anchor": "end"}, commas(t)));
    const nodes = places.map((p, i) => {
      const scratch = p.tensor === undefined, made = p.first_call, from = Math.max(made, begin), to = Math.min(p.last_call, end);
      const kind = scratch ? "scratch" : made < 0 ? "input" : kindOf(LAYERS[made] || {});
      const w = column * (to - from + 1) - 2, h = Math.max(2, y(p.offset) - y(p.offset + p.bytes));
      const text = commas(p.bytes);
      return draw("g", {class: "place", role: "button", tabindex: i === current ? 0 : -1, "aria-label": placeText(p), "data-place": p.index,
        onfocus: () => { current = i; says.textContent = placeText(p); }, onmouseenter: () => { says.textContent = placeText(p); },
        onclick: () => { current = i; select(Math.max(0, from)); }, onkeydown: (e) => walk(e, i)},
      draw("rect", {x: x(from) + 1, y: y(p.offset + p.bytes), width: w, height: h, rx: 2, fill: `var(--k-${kind})`}),
      h >= 16 && room(p, 15 * size / height) * column - 2 >= 7 * text.length + 8 ? draw("text", {x: x(from) + 6, y: y(p.offset + p.bytes) + 14}, text) : null);
    });
    svg.append(...nodes);
    for (const o of (DATA.overlaps || []).filter((o) => o.call >= begin && o.call <= end)) {
      const a = MEMORY[o.under], b = MEMORY[o.over];
      if ((a.pool || "") !== pool) continue;
      const low = Math.max(a.offset, b.offset);
      svg.append(draw("rect", {x: x(o.call) + 1, y: y(low + o.bytes), width: column - 2, height: Math.max(1, y(low) - y(low + o.bytes)),
        fill: `url(#hatch${pool})`, opacity: .35, "pointer-events": "none"}));
    }
    if (DATA.peak && LAYERS.length > 1 && DATA.peak.call >= first && DATA.peak.call <= end) {
      const px = x(DATA.peak.call), near = px > width - 120;
      svg.append(draw("rect", {x: px + .5, y: top - 4, width: column - 1, height: height + 8, fill: "none", stroke: "var(--worse)",
        "stroke-width": 1.5, "stroke-dasharray": "4 3", "pointer-events": "none"}),
      draw("text", {x: near ? px + column : px, y: 14, "text-anchor": near ? "end" : "start"}, `peak: call ${DATA.peak.call}`));
    }
    svg.append(draw("line", {class: "axis", x1: left, x2: width - 12, y1: y(0), y2: y(0)}));
    const every = Math.ceil(22 / column);
    for (let c = first; c <= end; c += every)
      svg.append(draw("text", {class: "soft", x: x(c) + column / 2, y: top + height + 18, "text-anchor": "middle"}, String(c)));
    svg.append(draw("text", {class: "soft", x: left + 4, y: top + height + 18}, column >= 40 && begin < 0 ? "before" : ""),
      draw("text", {class: "soft", x: left - 8, y: top + height + 18, "text-anchor": "end"}, "call"),
      draw("text", {class: "soft", x: left - 8, y: 14, "text-anchor": "end"}, "byte"));
    holder.replaceChildren(svg);
    function walk(event, i) {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -nodes.length, End: nodes.length}[event.key];
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        select(Math.max(first, places[i].first_call));
        holder.querySelectorAll(".place")[i].focus();
      } else if (step) {
        event.preventDefault();
        nodes[i].setAttribute("tabindex", -1);
        const next = nodes[Math.max(0, Math.min(nodes.length - 1, i + step))];
        next.setAttribute("tabindex", 0);
        next.focus();
      }
    }
  }
  followers.push(paint);
  window.addEventListener("resize", () => paint(selected));
  return holder;
}
function drawArena() {
  if (!DATA.peak) return;  // a workspace, or branches and loops: calls are not one behind the other
  const says = el("p", {class: "says", "aria-live": "polite"});
  const pools = [...new Set(MEMORY.map((p) => p.pool || ""))];
  const used = KINDS.filter(([k]) => MEMORY.some((p) => (p.tensor === undefined ? "scratch" : p.first_call < 0 ? "input"
    : kindOf(LAYERS[p.first_call] || {})) === k));
  section("arena", "Arena over time", "A rectangle is a tensor, or scratch memory of one call: its bytes from bottom to top, the calls during " +
    "which it is alive from left to right.", DATA.peak ? el("p", {}, "The peak is ", DATA.peak.text, ". Without shared bytes the arena would take ",
    figure("arena_without_overlap", DATA.arena_without_overlap), " bytes.") : null,
  legend([...used.map(([k, text]) => [`background:var(--k-${k})`, k === "input" || k === "scratch" ? text : "result: " + text]),
    ["", "shared: the result reuses the bytes of an operand that is read for the last time", "hatch"]]),
  turner("the arena"), pools.map((pool) => [pool ? el("h3", {}, pool) : null, arenaOf(pool, says)]), says);
  followers.push((call) => {
    const alive = MEMORY.filter((p) => p.first_call <= call && p.last_call >= call);
    says.textContent = `Call ${call} ${titleOf(LAYERS[call])}: ${bytes(LAYERS[call].arena_used_bytes)} in use by ` +
      plural(alive.length, "place") + ".";
  });
}
