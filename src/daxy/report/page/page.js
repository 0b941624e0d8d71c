"use strict";

/* Elements: children that are strings become text, so that no token is ever read as markup. */

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null));
  return node;
}

const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const data = JSON.parse(byId("data").textContent);
const colors = new Map();
data.groups.forEach((group) => {
  const before = [...colors.keys()].filter((other) => other.task === group.task).length;
  colors.set(group, `c${before % 8}`);
});
const colorOf = (number) => colors.get(data.groups[number]);
const labelOf = (number) => data.groups[number].label;
const counted = (count) => count.toLocaleString("en");
const rounded = (value) => (Math.abs(value) >= 1000 || value === 0 ? counted(value) : String(+value.toPrecision(3)));

/* Colors of the page: the system's, until the switch is used. */

function startTheme() {
  const button = byId("theme"), root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light colors" : "Dark colors"; };
  // A page from a file may have no storage.
  try { const kept = localStorage.getItem("daxy-theme"); if (kept) root.dataset.theme = kept; } catch {}
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("daxy-theme", root.dataset.theme); } catch {}
    show();
  });
  system.addEventListener("change", show);
  button.hidden = false;
  show();
}

/* Charts: drawn for the width that they have, again when it changes. */

function chart(title, draw, rows) {
  const box = h("div"), reading = h("p", { class: "reading", "aria-hidden": "true" });
  const table = h("details", {}, h("summary", {}, "Table"));
  table.addEventListener("toggle", () => {
    if (table.open && table.children.length === 1) table.append(tableOf(title, rows()));
  });
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width === last || width === 0) return;
    last = width;
    box.replaceChildren(draw(width, (text) => { reading.textContent = text; }));
  }).observe(box);
  return h("figure", {}, h("figcaption", {}, title), box, reading, table);
}

function tableOf(title, [head, ...rows]) {
  const cells = (name, row) => row.map((cell, place) =>
    place === 0 && name === "td" ? h("th", { scope: "row" }, cell)
      : h(name, { class: place ? "number" : null, scope: name === "th" ? "col" : null }, cell));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
    h("table", {}, h("caption", { class: "hidden" }, title), h("thead", {}, h("tr", {}, cells("th", head))),
      h("tbody", {}, rows.map((row) => h("tr", {}, cells("td", row))))));
}

function ticksOf(low, high, count, least = 0) {
  const step = Math.max((high - low) / count || 1, least), power = 10 ** Math.floor(Math.log10(step));
  const nice = power * [1, 2, 5, 10].find((times) => times * power >= step);
  const ticks = [];
  for (let at = Math.ceil(low / nice) * nice; at <= high + nice / 1e6; at += nice) ticks.push(+at.toPrecision(12));
  return ticks;
}

function powersOf(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    for (const times of [1, 3]) if (times * 10 ** power >= low && times * 10 ** power <= high) ticks.push(times * 10 ** power);
  }
  return ticks.length > 2 ? ticks : ticksOf(low, high, 4);
}

/* A line for each series of points [x, y, lowest, highest]; the last two are a band. */
function lines(spec, width, read) {
  const height = 230, left = 46, right = 12, top = 10, bottom = 40;
  const points = spec.series.flatMap((series) => series.points.concat(series.published ?? []));
  const across = points.map((point) => point[0]), up = points.map((point) => point[1]);
  const log = spec.logarithmic && Math.min(...up) > 0;
  const [x0, x1] = [Math.min(...across), Math.max(...across)];
  const y0 = log ? Math.min(...up) : 0, y1 = spec.top ?? Math.max(...up, log ? 0 : 1e-9);
  const level = log ? Math.log : (value) => value;
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((level(value) - level(y0)) / (level(y1) - level(y0) || 1)) * (height - top - bottom);
  const path = (line) => line.map((point, place) => `${place ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`).join("");
  const marks = spec.series.map(({ group, points: own, published = [], thin }) => s("g", { class: colorOf(group) },
    own[0]?.length > 2 ? s("path", { class: "band", d: `${path(own.map((it) => [it[0], it[3]]))}${path(own.map((it) => [it[0], it[2]]).reverse()).replace("M", "L")}Z` }) : null,
    s("path", { class: thin ? "line thin" : "line", d: path(own) }),
    own.length < 40 ? own.map((point) => s("circle", { class: "dot", cx: x(point[0]), cy: y(point[1]), r: thin ? 2 : 3 })) : null,
    published.map((point) => s("path", { class: "published", d: `M${x(point[0])} ${y(point[1]) - 5}l4 5l-4 5l-4-5z` }))));
  const guide = s("line", { class: "guide", y1: top, y2: height - bottom, visibility: "hidden" });
  const ticks = (log ? powersOf(y0, y1) : ticksOf(y0, y1, 5)).map((value) => [
    s("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
    s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, rounded(value))]);
  const below = ticksOf(x0, x1, Math.max(2, Math.floor(width / 90)), 1).map((value) =>
    s("text", { x: x(value), y: height - bottom + 18, "text-anchor": "middle" }, counted(value)));
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": spoken(spec) },
    ticks, below, s("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, spec.across), marks, guide);
  picture.addEventListener("pointermove", (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    const near = across.reduce((best, value) => (Math.abs(x(value) - at) < Math.abs(x(best) - at) ? value : best));
    fill(guide, { x1: x(near), x2: x(near), visibility: "visible" }, []);
    const values = spec.series.map(({ name, points: own }) => [name, own.find((point) => point[0] === near)])
      .filter(([, point]) => point).map(([name, point]) => `${name} ${rounded(point[1])}`);
    read(`${counted(near)} ${spec.across}: ${values.slice(0, 6).join(", ")}${values.length > 6 ? ", …" : ""}`);
  });
  picture.addEventListener("pointerleave", () => { guide.setAttribute("visibility", "hidden"); read(""); });
  return picture;
}

/* A bar for each name and series, with a span from the lowest to the highest run. */
function bars(spec, width) {
  const few = spec.series.length < 3, thick = few ? 13 : 9, gap = 12, each = thick * spec.series.length + gap;
  const room = Math.floor(width * 0.42 / 6.8), longest = Math.max(...spec.names.map((name) => name.length));
  const left = Math.min(longest, room) * 6.8 + 12, right = 44, height = each * spec.names.length + 26;
  const x = (value) => left + (value / spec.top) * (width - left - right);
  const grid = ticksOf(0, spec.top, Math.max(2, Math.floor((width - left) / 80))).map((value) => [
    s("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: height - 22 }),
    s("text", { x: x(value), y: height - 6, "text-anchor": "middle" }, rounded(value))]);
  const rows = spec.names.map((name, place) => {
    const above = place * each + gap / 2;
    const short = name.length > room ? `${name.slice(0, room - 1)}…` : name;
    const own = spec.series.map((series, number) => {
      const value = series.values[place];
      if (!value) return null;
      const [mean, low, high] = value, y = above + number * thick, printed = series.published[place];
      const said = `${name}, ${series.name}: ${rounded(mean)}` + (high > low ? ` (${rounded(low)} to ${rounded(high)})` : "");
      return s("g", { class: colorOf(series.group) }, s("title", {}, said),
        s("rect", { class: "bar", x: left, y: y + 1, width: Math.max(x(mean) - left, 1), height: thick - 2, rx: 2 }),
        high > low ? s("line", { class: "span", x1: x(low), x2: x(high), y1: y + thick / 2, y2: y + thick / 2 }) : null,
        few ? s("text", { x: x(Math.max(mean, high)) + 6, y: y + thick / 2 + 4 }, mean.toFixed(1)) : null,
        printed === null ? null : s("path", { class: "published", d: `M${x(printed)} ${y + thick / 2 - 5}l4 5l-4 5l-4-5z` }));
    });
    return [s("text", { x: left - 8, y: above + (each - gap) / 2 + 4, "text-anchor": "end" }, short, s("title", {}, name)), own];
  });
  return s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": spoken(spec) }, grid, rows);
}

/* What a screen reader says of a chart; its table has the rest. */
function spoken(spec) {
  const ends = ({ name, points, values }) => {
    const known = points ? points.map((point) => point[1]) : values.filter(Boolean).map((value) => value[0]);
    const [low, high] = [Math.min(...known), Math.max(...known)].map(rounded);
    return points ? `${name} from ${rounded(known[0])} to ${rounded(known.at(-1))}` : `${name} between ${low} and ${high}`;
  };
  const said = spec.series.slice(0, 8).map(ends).join("; ");
  return `${spec.title}, ${spec.label}. ${said}. The table below has every value.`;
}

function curveChart(spec) {
  const series = spec.series.map((each) => ({ ...each, thin: true, name: `${labelOf(each.group)}, seed ${each.seed}` }));
  const whole = { ...spec, series, across: "steps", top: spec.logarithmic ? undefined : 100 };
  const rows = () => {
    const steps = [...new Set(series.flatMap((each) => each.points.map((point) => point[0])))].sort((a, b) => a - b);
    const values = series.map((each) => new Map(each.points));
    return [["Steps", ...series.map((each) => each.name)],
      ...steps.map((step) => [counted(step), ...values.map((own) => (own.has(step) ? rounded(own.get(step)) : ""))])];
  };
  return chart(spec.title, (width, read) => lines(whole, width, read), rows);
}

function breakdownChart(spec) {
  const series = spec.series.map((each) => ({ ...each, name: labelOf(each.group) }));
  const at = (each, values) => values.map((value, place) => [Number(spec.names[place]), value]).filter(([, value]) => value !== null);
  const rows = () => [[spec.across, "examples", ...series.map((each) => each.name)],
    ...spec.names.map((name, place) => [name, spec.examples[place] === null ? "" : counted(spec.examples[place]),
      ...series.map(({ values }) => (values[place] ? values[place][0].toFixed(1) : ""))])];
  const course = { ...spec, series: series.map((each) => ({ ...each,
    points: at(each, each.values).map(([x, value]) => [x, ...value]), published: at(each, each.published) })) };
  const draw = spec.kind === "lines" ? (width, read) => lines(course, width, read) : (width) => bars({ ...spec, series }, width);
  const figure = chart(`${spec.title}, ${spec.label}`, draw, rows);
  figure.append(...spec.notes.map((note) => h("p", { class: "note" }, note)));
  return figure;
}

function showCharts(id, charts, draw, none) {
  const section = byId(id);
  if (charts.length === 0) section.append(h("p", { class: "note" }, none));
  for (const task of new Set(charts.map((spec) => spec.task))) {
    const own = charts.filter((spec) => spec.task === task);
    const groups = [...new Set(own.flatMap((spec) => spec.series.map((series) => series.group)))];
    section.append(h("h3", {}, h("code", {}, task)),
      h("ul", { class: "legend", "aria-label": `Learners on ${task}` }, groups.map((number) =>
        h("li", {}, h("span", { class: `key ${colorOf(number)}`, "aria-hidden": "true" }), h("span", {}, labelOf(number))))),
      h("div", { class: "charts" }, own.map(draw)));
  }
}

/* Test examples: columns that are unpacked when a run is chosen. */

const unpacked = new Map();

function unpack(block) {
  if (!unpacked.has(block)) unpacked.set(block, inflate(byId(`block${block}`).textContent));
  return unpacked.get(block);
}

async function inflate(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/* Takes arrays from a buffer, one after another. */
function taker(buffer) {
  let at = 0;
  return (Kind, count = (buffer.byteLength - at) / Kind.BYTES_PER_ELEMENT) => {
    const start = at;
    at += count * Kind.BYTES_PER_ELEMENT;
    return new Kind(buffer.slice(start, at));
  };
}

const codesOf = (symbols) => (symbols.length <= 256 ? Uint8Array : symbols.length <= 65536 ? Uint16Array : Uint32Array);

function sequences(symbols, lengths, codes) {
  const offsets = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, place) => { offsets[place + 1] = offsets[place] + length; });
  return { lengths, at: (place) => Array.from(codes.subarray(offsets[place], offsets[place + 1]), (code) => symbols[code]) };
}

async function testOf(test) {
  const take = taker(await unpack(test.block));
  const sides = [take(Uint32Array, test.count), take(Uint32Array, test.count)];
  const total = (lengths) => lengths.reduce((sum, length) => sum + length, 0);
  const sources = take(codesOf(test.sources), total(sides[0]));
  return { sources: sequences(test.sources, sides[0], sources),
    targets: sequences(test.targets, sides[1], take(codesOf(test.targets))) };
}

async function answersOf(test, run, { targets }) {
  const take = taker(await unpack(run.block)), flags = take(Uint8Array, test.count);
  const places = new Uint32Array(test.count);
  let others = 0;
  flags.forEach((flag, place) => { places[place] = others; others += flag >> 1; });
  const said = sequences(test.targets, take(Uint32Array, others), take(codesOf(test.targets)));
  return { isRight: (place) => Boolean(flags[place] & 1), isTarget: (place) => !(flags[place] & 2),
    at: (place) => (flags[place] & 2 ? said.at(places[place]) : targets.at(place)) };
}

/* Marks the tokens that a shortest edit of one side into the other replaces, drops or adds. */
function difference(one, other) {
  if (one.length * other.length > 250000) return [one.map((token, at) => token !== other[at]), other.map((token, at) => token !== one[at])];
  const wide = other.length + 1, cost = new Uint16Array((one.length + 1) * wide);
  const at = (i, j) => cost[i * wide + j];
  for (let i = one.length; i >= 0; i -= 1) for (let j = other.length; j >= 0; j -= 1) {
    const replace = at(i + 1, j + 1) + (one[i] !== other[j]), drop = at(i + 1, j) + 1, add = at(i, j + 1) + 1;
    const ends = i === one.length ? other.length - j : one.length - i;
    cost[i * wide + j] = i === one.length || j === other.length ? ends : Math.min(replace, drop, add);
  }
  const left = one.map(() => true), right = other.map(() => true);
  for (let i = 0, j = 0; i < one.length && j < other.length;) {
    if (at(i, j) === at(i + 1, j + 1) + (one[i] !== other[j])) { left[i] = right[j] = one[i] !== other[j]; i += 1; j += 1; }
    else if (at(i, j) === at(i + 1, j) + 1) i += 1;
    else j += 1;
  }
  return [left, right];
}

/* Tokens as text; neighbours that are marked share one mark. */
function tokens(list, separator, marks = [], kind = "") {
  const parts = [];
  for (let from = 0, to; from < list.length; from = to) {
    for (to = from; to < list.length && Boolean(marks[to]) === Boolean(marks[from]);) to += 1;
    const text = list.slice(from, to).join(separator);
    if (from) parts.push(separator);
    parts.push(marks[from] ? h("mark", { class: kind }, text) : text);
  }
  return h("span", { class: "tokens" }, list.length ? parts : "(empty)");
}

function pair(target, said, separator) {
  const [missing, extra] = difference(target, said);
  return h("dl", { class: "answers" },
    h("dt", {}, "Target"), h("dd", {}, tokens(target, separator, missing, "missing")),
    h("dt", {}, "Prediction"), h("dd", {}, tokens(said, separator, extra, "extra")));
}

const verdict = (isRight) => h("span", { class: `verdict ${isRight ? "right" : "wrong"}` }, isRight ? "✓ right" : "✗ wrong");

function startBrowser() {
  const SIZE = 20;
  const runs = data.tests.flatMap((test) => test.runs.map((run) => ({ test, run })));
  const name = ({ test, run }) => `${test.task}, ${labelOf(run.group)}, seed ${run.seed}`;
  const option = (text, value) => h("option", { value }, text);
  const label = (text, control, wide) => {
    control.id = `filter-${text.toLowerCase()}`;
    return h("div", { class: wide ? "field wide" : "field" }, h("label", { for: control.id }, text), control);
  };
  const length = (text) => h("input", { type: "number", min: 0, inputmode: "numeric", "aria-label": `${text} target length` });
  const form = byId("filters"), list = byId("examples"), found = byId("found");
  const controls = {
    run: h("select", {}, runs.map((each, place) =>
      option(`${name(each)} (${rounded(100 * each.run.right / Math.max(each.test.count, 1))}% right)`, place))),
    result: h("select", {}, option("All", ""), option("Wrong", "wrong"), option("Right", "right")),
    test: h("select", {}),
    order: h("select", {}, option("As in the test set", ""), option("Short targets first", "short"), option("Long targets first", "long")),
    search: h("input", { type: "search", placeholder: "Part of a source, target or prediction" }),
    least: length("Shortest"), most: length("Longest"),
  };
  const tests = label("Test", controls.test);
  form.append(label("Run", controls.run, true), label("Search", controls.search, true), label("Result", controls.result), tests,
    label("Order", controls.order),
    h("fieldset", {}, h("legend", {}, "Target length"), h("div", {}, controls.least, "to", controls.most)));
  let rows = [], page = 0, turn = 0, current = null;

  const input = h("input", { type: "number", min: 1, "aria-label": "Page", style: "width:5.5rem" });
  const total = h("span");
  const step = (text, by) => h("button", { type: "button", click: () => go(page + by, true) }, text);
  const [back, next] = [step("Previous", -1), step("Next", 1)];
  byId("pages").append(back, h("label", {}, "Page ", input, " of ", total), next);
  input.addEventListener("change", () => go(Number(input.value) - 1, true));

  const lastPage = () => Math.max(Math.ceil(rows.length / SIZE) - 1, 0);
  function go(to, scroll) {
    page = Math.min(Math.max(Math.trunc(to) || 0, 0), lastPage());
    input.value = page + 1;
    input.max = lastPage() + 1;
    total.textContent = counted(lastPage() + 1);
    back.disabled = page === 0;
    next.disabled = page === lastPage();
    list.start = page * SIZE + 1;
    list.replaceChildren(...Array.from(rows.slice(page * SIZE, (page + 1) * SIZE), example));
    if (scroll) found.scrollIntoView({ block: "start" });
  }

  function example(row) {
    const { test, sources, targets, answers } = current, isRight = answers.isRight(row);
    const target = targets.at(row), said = answers.at(row), part = partOf(test, row);
    const item = h("li", {}, h("h3", {}, tokens(sources.at(row), " ")),
      h("p", { class: "about" }, verdict(isRight), h("span", {}, `example ${counted(row + 1)}`),
        part ? h("span", {}, `test ${part}`) : null, h("span", {}, `${counted(target.length)} target tokens`)),
      pair(target, said, test.separator));
    if (test.runs.length > 1) {
      const more = h("details", {}, h("summary", {}, `Predictions of all ${test.runs.length} runs`));
      more.addEventListener("toggle", () => { if (more.open && more.children.length === 1) compare(more, row); });
      item.append(more);
    }
    return item;
  }

  async function compare(more, row) {
    const { test, targets } = current;
    const every = await Promise.all(test.runs.map((run) => answersOf(test, run, current)));
    const [, ...lines] = ["", ...every.map((answers, place) => {
      const run = test.runs[place], said = answers.at(row), [, extra] = difference(targets.at(row), said);
      return [h("dt", {}, verdict(answers.isRight(row)), ` ${labelOf(run.group)}, seed ${run.seed}`),
        h("dd", {}, tokens(said, test.separator, extra, "extra"))];
    })];
    more.append(h("dl", { class: "answers" }, lines.flat()));
  }

  function partOf(test, row) {
    let end = 0;
    return Object.entries(test.tests).find(([, count]) => (end += count) > row)?.[0] ?? "";
  }

  function rangeOf(test) {
    let start = 0;
    for (const [part, count] of Object.entries(test.tests)) {
      if (part === controls.test.value) return [start, start + count];
      start += count;
    }
    return [0, test.count];
  }

  function filtered() {
    const { test, sources, targets, answers } = current, [start, end] = rangeOf(test);
    const wanted = controls.result.value, text = controls.search.value.trim().toLowerCase();
    const least = Number(controls.least.value || 0), most = Number(controls.most.value || Infinity);
    const has = (list, separator) => list.join(separator).toLowerCase().includes(text);
    const chosen = [];
    for (let row = start; row < end; row += 1) {
      const count = targets.lengths[row];
      if (count < least || count > most) continue;
      if (wanted && answers.isRight(row) !== (wanted === "right")) continue;
      const matches = !text || has(sources.at(row), " ") || has(targets.at(row), test.separator)
        || (!answers.isTarget(row) && has(answers.at(row), test.separator));
      if (!matches) continue;
      chosen.push(row);
    }
    const sign = { short: 1, long: -1 }[controls.order.value];
    return sign ? chosen.sort((a, b) => sign * (targets.lengths[a] - targets.lengths[b]) || a - b) : chosen;
  }

  async function update() {
    const mine = (turn += 1), { test, run } = runs[Number(controls.run.value)];
    const columns = await testOf(test), answers = await answersOf(test, run, columns);
    // A later change has overtaken this one.
    if (mine !== turn) return;
    if (current?.test !== test) {
      const named = Object.entries(test.tests).filter(([, count]) => count);
      controls.test.replaceChildren(option("All", ""), ...named.map(([part]) => option(part, part)));
      tests.hidden = named.length === 0;
    }
    current = { test, run, ...columns, answers };
    rows = filtered();
    const right = rows.reduce((sum, row) => sum + answers.isRight(row), 0);
    found.textContent = `${counted(rows.length)} of ${counted(test.count)} examples, ${counted(right)} of them right (${test.metric}). `
      + "Marked: target tokens that the prediction lacks, and predicted tokens that the target lacks.";
    go(0, false);
  }

  let waiting = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 120); });
  if (typeof DecompressionStream === "undefined") {
    found.textContent = "This browser cannot unpack the test examples: it lacks DecompressionStream. Browsers since 2023 have it.";
    form.hidden = true;
    return;
  }
  update();
}

/* Attention and worlds. */

function heatmap({ title, down, across, weights }) {
  const cell = 18, letter = 6.7, longest = (names) => Math.max(...names.map((name) => name.length)) * letter + 10;
  const left = longest(down), top = longest(across), width = left + cell * across.length, height = top + cell * down.length;
  const most = down.map((token, row) => `${token}: ${across[weights[row].indexOf(Math.max(...weights[row]))]}`);
  const cells = weights.flatMap((row, y) => row.map((weight, x) => (weight < 1 ? null
    : s("rect", { x: left + x * cell, y: top + y * cell, width: cell - 1, height: cell - 1, "fill-opacity": weight / 100 },
      s("title", {}, `${down[y]} reads ${across[x]}: ${weight}%`)))));
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${title}. Most for ${most.join(", ")}.` },
    s("rect", { class: "frame", x: left, y: top, width: cell * across.length, height: cell * down.length }),
    across.map((name, x) => s("text", { transform: `translate(${left + x * cell + 13} ${top - 6}) rotate(-90)` }, name)),
    down.map((name, y) => s("text", { x: left - 6, y: top + y * cell + 13, "text-anchor": "end" }, name)), cells);
  return h("figure", {}, h("figcaption", {}, title),
    h("div", { class: "map", tabindex: 0, role: "region", "aria-label": title }, picture));
}

function showLooks() {
  const section = byId("looks");
  if (data.looks.length === 0) section.append(h("p", { class: "note" }, "No network here says what it attends to, and no task has worlds."));
  else section.append(h("p", { class: "note" }, "Wrong and right answers of the first run of each learner. Rows of a map are output tokens, columns what the network reads; a stronger color is more attention."));
  for (const number of new Set(data.looks.map((look) => look.group))) {
    const own = data.looks.filter((look) => look.group === number), { task, label } = data.groups[number];
    const separator = data.tests.find((test) => test.task === task).separator;
    section.append(h("h3", {}, h("code", {}, task), ` ${label}, seed ${own[0].seed}`),
      h("div", { class: "looks" }, own.map((look) => h("article", {},
        h("h4", {}, tokens(look.source, " ")),
        h("p", { class: "about" }, verdict(look.right), h("span", {}, `example ${counted(look.row + 1)}`), look.test ? h("span", {}, `test ${look.test}`) : null),
        pair(look.target, look.prediction, separator),
        (look.maps ?? []).map(heatmap),
        look.pictures ? h("div", { class: "pictures" }, look.pictures.map(({ title, text, image }) =>
          h("figure", {}, h("img", { src: image, alt: text, width: 256, height: 256 }), h("figcaption", {}, title)))) : null))));
  }
}

startTheme();
showCharts("curves", data.curves, curveChart, "The logs have no values.");
showCharts("breakdowns", data.breakdowns, breakdownChart, "No analysis applies to these runs.");
startBrowser();
showLooks();
