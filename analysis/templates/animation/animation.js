const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const raw = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const ints = text => new Int32Array(raw(text)), reals = text => new Float32Array(raw(text));
const wholes = s => s && { t: ints(s.t), v: ints(s.v) }, numbers = s => s && { t: ints(s.t), v: reals(s.v) };
const nodes = data.nodes.map((n, id) => ({ ...n, id, t: ints(n.t), x: ints(n.x), y: ints(n.y),
  z: n.z && ints(n.z), i: 0, pz: 0,
  at: wholes(n.at), up: wholes(n.up), state: numbers(n.state), size: numbers(n.size),
  trace: n.trace && { x: ints(n.trace.x), y: ints(n.trace.y), z: n.trace.z && ints(n.trace.z) } }));
const events = Object.fromEntries(Object.entries(data.events).map(([name, e]) =>
  [name, { every: e.every, t: ints(e.t), node: ints(e.node), value: ints(e.value) }]));
const recorded = data.series.map(s => ({ name: s.name,
  of: new Map(s.of.map(o => [o.node, numbers(o)])) }));
const charts = data.charts.map(c => ({ title: c.title, ...numbers(c) }));
const BEGIN = data.begin_ms, END = Math.max(BEGIN + 1, data.end_ms);
const { place: PLACE, thing: THING } = data.names;
// Without stations, nodes have no cells; without radios, their positions are to no scale.
const CELLS = nodes.some(n => n.station), RADIO = nodes.some(n => n.reach_mm);
const isAbsent = n => n.comes && !last(n.up, at, 1);  // it comes and goes, and has not come or has gone
const stateOf = n => data.states.find(s => s.value === last(n.state, at, NaN));

// How many of the ascending times are not after t.
function upTo(times, t) {
  let low = 0, high = times.length;
  while (low < high) { const mid = (low + high) >> 1; if (times[mid] <= t) low = mid + 1; else high = mid; }
  return low;
}
const last = (series, t, otherwise) => {
  const i = series ? upTo(series.t, t) : 0;
  return i ? series.v[i - 1] : otherwise;
};

// Where a node is at t: it remembers where it looked last, as time mostly goes on.
function place(n, t) {
  const times = n.t, most = times.length - 1;
  let i = n.i;
  if (i > most || times[i] > t || (i < most && times[Math.min(most, i + 8)] <= t)) i = Math.max(0, upTo(times, t) - 1);
  while (i < most && times[i + 1] <= t) i++;
  n.i = i;
  let f = i === most || times[i] > t ? 0 : (t - times[i]) / (times[i + 1] - times[i]);
  const changes = n.comes && n.up ? upTo(n.up.t, t) : 0;
  if (f && changes && n.up.t[changes - 1] > times[i]) f = 1;  // it has come since, from somewhere else
  const on = way => f ? way[i] + (way[i + 1] - way[i]) * f : way[i];
  n.px = on(n.x); n.py = on(n.y);
  if (n.z) n.pz = on(n.z);
}

const COLOURS = ['--s0', '--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7'];
let skin = {};
function dress() {
  const style = getComputedStyle(document.documentElement);
  for (const name of [...COLOURS, '--soft', '--line', '--paper', '--ink', '--off'])
    skin[name] = style.getPropertyValue(name).trim();
}
const stationColour = at => at < 0 ? skin['--soft'] : skin[COLOURS[at % 8]];
let at = BEGIN, playing = false, stamp = 0, selected = -1, view = null;

function bounds() {
  let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
  const grow = (x, y, r) => { x0 = Math.min(x0, x - r); x1 = Math.max(x1, x + r);
    y0 = Math.min(y0, y - r); y1 = Math.max(y1, y + r); };
  for (const n of nodes) for (let i = 0; i < n.t.length; i++) grow(n.x[i], n.y[i], n.station ? n.reach_mm : 0);
  for (const one of data.trouble) if (one.jammer) grow(...one.jammer.map(v => v * 1000));
  const room = Math.max(1000, (x1 - x0) * .03, (y1 - y0) * .03);
  return { x0: x0 - room, y0: y0 - room, x1: x1 + room, y1: y1 + room };
}
const world = bounds();
// The lowest and the highest of all heights and the ground; null in a flat network.
const heights = nodes.some(n => n.z) ? nodes.reduce(([low, high], n) => (n.z || []).reduce(
  ([a, b], z) => [Math.min(a, z), Math.max(b, z)], [low, high]), [0, 1]) : null;

function fit(canvas) {
  const box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
  const w = Math.round(box.width * scale), h = Math.round(box.height * scale);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const c = canvas.getContext('2d');
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, box.width, box.height);
  return { c, width: box.width, height: box.height };
}
function wholeView() {
  const box = $('map').getBoundingClientRect();
  const k = Math.min(box.width / (world.x1 - world.x0), box.height / (world.y1 - world.y0));
  view = { k, x: (world.x0 + world.x1) / 2, y: (world.y0 + world.y1) / 2 };
}
// A place has a bar as long as its size is large, beside the largest of all.
let largest = 1;
for (const n of nodes) if (n.station && n.size) for (const v of n.size.v) if (v > largest) largest = v;
function line(c, x1, y1, x2, y2) { c.beginPath(); c.moveTo(x1, y1); c.lineTo(x2, y2); c.stroke(); }

const active = () => data.trouble.filter(one => one.from <= at && at < one.until);

function drawMap() {
  const { c, width, height } = fit($('map'));
  if (!view) wholeView();
  const X = x => (x - view.x) * view.k + width / 2, Y = y => (y - view.y) * view.k + height / 2;
  for (const n of nodes) place(n, at);
  const trouble = active();
  if ($('cells').checked) drawCells(c, X, Y);
  if ($('traces').checked) drawTraces(c, X, Y);
  drawTrouble(c, X, Y, trouble);
  drawWires(c, X, Y, trouble);
  if (data.just_ms) drawLinks(c, X, Y);
  const painted = recorded.find(s => s.name === $('paint').value);
  if ($('rings').checked) { drawSent(c, X, Y, painted); drawRings(c, X, Y); }
  const size = Math.max(3, Math.min(9, 220 * view.k * 20));
  if (heights) drawElevation(size, painted, trouble);
  for (const n of nodes) {
    const x = X(n.px), y = Y(n.py);
    if (isAbsent(n)) continue;
    if (x > -30 && y > -30 && x < width + 30 && y < height + 30) drawNode(c, n, x, y, size, painted, trouble);
  }
  if ($('marks').checked) drawLosses(c, X, Y);
  if (RADIO) drawScale(c, width, height);
  if (painted) drawColours(c, height, painted);
}
// The length of the bar is 1, 2 or 5 times a power of ten, at most a fifth of the width.
function drawScale(c, width, height) {
  const most = width / 5 / view.k, ten = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].find(n => n * ten <= most) * ten, right = width - 12, y = height - 12;
  c.strokeStyle = c.fillStyle = skin['--soft']; c.lineWidth = 2; c.font = '12px system-ui'; c.textAlign = 'right';
  line(c, right - length * view.k, y, right, y);
  c.fillText(length < 1e6 ? length / 1000 + ' m' : length / 1e6 + ' km', right, y - 5);
}
function drawColours(c, height, painted) {
  const x = 12, y = height - 16, [low, high] = [painted.low, painted.high].map(v => +v.toPrecision(4));
  for (let i = 0; i < 100; i++) { c.fillStyle = hue(low < high ? i / 99 : 0); c.fillRect(x + i, y, 1, 8); }
  c.fillStyle = skin['--ink']; c.font = '12px system-ui'; c.textAlign = 'left';
  c.fillText(`${painted.name}: ${low}` + (low < high ? ` to ${high}` : ''), x, y - 5);
}

function drawElevation(size, painted, trouble) {
  const { c, width, height } = fit($('elevation')), [low, high] = heights, m = 20;
  const X = x => (x - view.x) * view.k + width / 2, Z = z => height - m - (height - 2 * m) * (z - low) / (high - low);
  c.strokeStyle = skin['--line']; c.lineWidth = 1; line(c, 0, Z(0), width, Z(0));
  c.fillStyle = skin['--soft']; c.font = '12px system-ui'; c.textAlign = 'left';
  for (const z of new Set([low, 0, high])) c.fillText(+(z / 1000).toPrecision(3) + ' m', 4, Z(z) - 3);
  if ($('traces').checked) drawTraces(c, X, Z, 'z');
  for (const n of nodes) if (!isAbsent(n)) drawNode(c, n, X(n.px), Z(n.pz), size, painted, trouble);
}
function drawCells(c, X, Y) {
  for (const n of nodes) if (n.station) {
    c.fillStyle = c.strokeStyle = stationColour(n.id);
    c.beginPath(); c.arc(X(n.px), Y(n.py), n.reach_mm * view.k, 0, 7);
    c.globalAlpha = .07; c.fill(); c.globalAlpha = .45; c.setLineDash([4, 4]); c.lineWidth = 1; c.stroke();
  }
  c.setLineDash([]); c.globalAlpha = 1;
}
function drawTraces(c, X, Y, axis = 'y') {
  c.strokeStyle = skin['--soft']; c.lineWidth = 1;
  for (const n of nodes) {
    const way = n.trace || (n.t.length > 1 && n);
    if (!way) continue;
    c.globalAlpha = n.id === selected ? 1 : .25; c.beginPath();
    for (let i = 0; i < way.x.length; i++) c.lineTo(X(way.x[i]), Y(way[axis]?.[i] ?? 0));
    c.stroke();
  }
  c.globalAlpha = 1;
}
function drawTrouble(c, X, Y, trouble) {
  c.fillStyle = c.strokeStyle = skin['--off'];
  for (const one of trouble) if (one.jammer) {
    const [x, y, r] = one.jammer;
    c.beginPath(); c.arc(X(x * 1000), Y(y * 1000), r * 1000 * view.k, 0, 7);
    c.globalAlpha = .18; c.fill(); c.globalAlpha = .9; c.lineWidth = 1.5; c.stroke();
  }
  c.globalAlpha = 1;
}
const side = (one, id) => one.one && one.one.includes(id) ? 1 : one.other && one.other.includes(id) ? 2 : 0;
function isCut(trouble, a, b) {
  return trouble.some(one => one.cut ? one.cut.includes(a) && one.cut.includes(b)
    : side(one, a) && side(one, b) && side(one, a) !== side(one, b));
}
function drawWires(c, X, Y, trouble) {
  for (const n of nodes) for (const o of n.wired_to || []) {
    const cut = isCut(trouble, n.id, o);
    c.strokeStyle = skin[cut ? '--off' : '--line']; c.lineWidth = cut ? 2 : 3; c.setLineDash(cut ? [6, 6] : []);
    line(c, X(n.px), Y(n.py), X(nodes[o].px), Y(nodes[o].py));
  }
  c.setLineDash([]);
}
// Things are joined to their places; boldly where they have just come.
function drawLinks(c, X, Y) {
  for (const n of nodes) {
    const now = last(n.at, at, -1), to = nodes[now];
    if (n.station || !to || stateOf(n)?.mark === 'cross') continue;
    const changed = last(n.at, at - data.just_ms, now) !== now;
    c.globalAlpha = changed ? 1 : .22; c.lineWidth = changed ? 2.5 : 1; c.strokeStyle = stationColour(now);
    line(c, X(n.px), Y(n.py), X(to.px), Y(to.py));
  }
  c.globalAlpha = 1;
}
// What is said stays in sight for so long, in simulated ms: the quicker time goes, the longer.
const sight = () => Math.max(60, 350 * Math.min(4, +$('speed').value));
function drawRings(c, X, Y) {
  const { t, node } = events.told, span = sight();
  c.lineWidth = 1.5;
  for (let i = upTo(t, at - span); i < t.length && t[i] <= at; i++) {
    const n = nodes[node[i]], f = (at - t[i]) / span;
    if (!n) continue;
    c.globalAlpha = .7 * (1 - f); c.strokeStyle = stationColour(n.station ? n.id : last(n.at, at, -1));
    const reach = n.reach_mm * view.k || 16;
    c.beginPath(); c.arc(X(n.px), Y(n.py), Math.max(2, reach * Math.sqrt(f)), 0, 7); c.stroke();
  }
  c.globalAlpha = 1;
}
// The more lines there are, the fainter they are.
function drawSent(c, X, Y, painted) {
  const { t, node, value } = events.sent, span = sight();
  const first = upTo(t, at - span), most = .6 * Math.min(1, 300 / Math.max(1, upTo(t, at) - first));
  c.lineWidth = 1;
  for (let i = first; i < t.length && t[i] <= at; i++) {
    const n = nodes[node[i]], to = nodes[value[i]];
    if (!n || !to) continue;
    c.globalAlpha = Math.max(.02, most * (1 - (at - t[i]) / span)); c.strokeStyle = colourOf(n, painted);
    line(c, X(n.px), Y(n.py), X(to.px), Y(to.py));
  }
  c.globalAlpha = 1;
}
function drawLosses(c, X, Y) {
  const { t, node } = events.lost, span = sight();
  c.strokeStyle = skin['--off']; c.lineWidth = 2;
  for (let i = upTo(t, at - span); i < t.length && t[i] <= at; i++) {
    const n = nodes[node[i]];
    if (!n) continue;
    const x = X(n.px), y = Y(n.py) - 9;
    c.globalAlpha = 1 - (at - t[i]) / span;
    line(c, x - 4, y - 4, x + 4, y + 4); line(c, x - 4, y + 4, x + 4, y - 4);
  }
  c.globalAlpha = 1;
}
function colourOf(n, painted) {
  if (!painted) return stationColour(n.station ? n.id : last(n.at, at, -1));
  const value = last(painted.of.get(n.id), at, NaN);
  if (isNaN(value)) return skin['--line'];
  const f = (value - painted.low) / Math.max(1e-9, painted.high - painted.low);
  return hue(f);
}
const hue = share => `hsl(${240 - 240 * share} 80% 50%)`;
function drawNode(c, n, x, y, size, painted, trouble) {
  c.fillStyle = c.strokeStyle = colourOf(n, painted); c.lineWidth = 2;
  const mark = stateOf(n)?.mark, hollow = last(n.up, at, 1) === 0 || mark === 'ring';
  if (mark === 'cross') {
    c.strokeStyle = skin['--off']; c.lineWidth = 2.5;
    line(c, x - 6, y - 6, x + 6, y + 6); line(c, x - 6, y + 6, x + 6, y - 6);
  } else if (n.station) {
    const s = size + 3;
    c.fillStyle = skin['--paper']; c.fillRect(x - s, y - s, 2 * s, 2 * s); c.strokeRect(x - s, y - s, 2 * s, 2 * s);
    c.fillStyle = c.strokeStyle;
    if (!hollow) c.fillRect(x - s + 3, y - s + 3, 2 * s - 6, 2 * s - 6);
    if (n.size) drawBar(c, last(n.size, at, 0), x + s + 4, y + s);
  } else {
    c.beginPath(); c.arc(x, y, size + Math.min(7, .35 * last(n.size, at, 0)), 0, 7);
    if (hollow) c.stroke(); else c.fill();
  }
  c.fillStyle = c.strokeStyle = skin['--off'];
  for (const one of trouble) {
    const which = side(one, n.id);
    if (which === 1) { c.beginPath(); c.moveTo(x, y - size - 9); c.lineTo(x - 4, y - size - 3);
      c.lineTo(x + 4, y - size - 3); c.fill(); }
    if (which === 2) line(c, x - 5, y - size - 5, x + 5, y - size - 5);
  }
  c.fillStyle = c.strokeStyle = skin['--ink'];
  if (n.id === selected) { c.beginPath(); c.arc(x, y, size + 6, 0, 7); c.stroke(); }
  if ($('numbers').checked || n.id === selected || (n.station && n.name)) {
    c.font = '12px system-ui'; c.textAlign = n.station ? 'center' : 'left';
    c.fillText(n.name ?? n.id, n.station ? x : x + size + 4, y - size - (n.station ? 9 : 4));
  }
}
function drawBar(c, size, x, bottom) {
  const high = 46 * size / largest;
  c.globalAlpha = .75; c.fillRect(x, bottom - high, 9, high); c.globalAlpha = 1;
  c.fillStyle = skin['--ink']; c.font = '12px system-ui'; c.textAlign = 'left';
  c.fillText(Math.round(size), x, bottom + 13);
}

function drawChart(canvas, series) {
  const { c, width, height } = fit(canvas), m = { l: 44, b: 14, t: 6, r: 6 }, { t, v } = series;
  let top = 0, low = 0;
  for (const value of v) { if (value > top) top = value; if (value < low) low = value; }
  if (top === low) top = 1;
  const X = ms => m.l + (width - m.l - m.r) * (ms - BEGIN) / (END - BEGIN);
  const Y = value => height - m.b - (height - m.b - m.t) * (value - low) / (top - low);
  c.strokeStyle = skin['--line']; line(c, m.l, Y(low), width - m.r, Y(low));
  c.fillStyle = skin['--soft']; c.font = '11px system-ui'; c.textAlign = 'right';
  c.fillText(+top.toPrecision(3), m.l - 5, Y(top) + 8); c.fillText(+low.toPrecision(3), m.l - 5, Y(low));
  c.fillText(+(END / 1000).toPrecision(4) + ' s', width - m.r, height - 3);
  c.textAlign = 'left'; c.fillText(BEGIN / 1000 + ' s', m.l, height - 3);
  c.strokeStyle = skin['--s0']; c.lineWidth = 1.4; c.beginPath();
  const step = Math.max(1, Math.floor(t.length / 2000));
  for (let i = 0; i < t.length; i += step) c.lineTo(X(t[i]), Y(v[i]));
  c.stroke(); c.strokeStyle = skin['--off']; c.lineWidth = 1; line(c, X(at), m.t, X(at), height - m.b);
}

const called = n => n.name ?? `node ${n.id}`;
let panels = [];
function panel(title, series) {
  const label = document.createElement('p'), canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img'); canvas.setAttribute('aria-label', title);
  $('side').append(label, canvas);
  panels.push({ title, series, label, canvas });
}
function furnish() {
  $('side').replaceChildren(); panels = [];
  if (selected >= 0) {
    const facts = document.createElement('p');
    facts.id = 'facts'; $('side').append(facts);
    for (const s of recorded) if (s.of.has(selected)) panel(`${called(nodes[selected])}: ${s.name}`, s.of.get(selected));
  }
  for (const chart of charts.slice(0, 12)) panel(chart.title, chart);
}
function drawSide() {
  for (const p of panels) {
    drawChart(p.canvas, p.series);
    const value = last(p.series, at, null);
    p.label.textContent = p.title + (value === null ? '' : ': ' + +value.toPrecision(5));
  }
  if (selected < 0) return;
  const n = nodes[selected], said = last(n.at, at, -1);
  const count = e => { let k = 0; for (let i = 0; i < e.t.length && e.t[i] <= at; i++) k += e.node[i] === selected;
    return k * e.every; };
  const heard = events.told.t.length + events.sent.t.length + events.lost.t.length, state = stateOf(n);
  $('facts').textContent = called(n) + (CELLS ? ` (${n.station ? PLACE : THING}): ` : ': ') +
    `x ${(n.px / 1000).toFixed(3)} m, y ${(n.py / 1000).toFixed(3)} m` +
    (n.z ? `, z ${(n.pz / 1000).toFixed(3)} m` : '') +
    (n.station || !CELLS ? '' : said < 0 ? `, no ${PLACE} in reach` : `, at ${PLACE} ${said}`) +
    (last(n.up, at, 1) ? '' : isAbsent(n) ? ', absent' : ', down') + (state ? `, ${state.meaning}` : '') +
    (heard ? `; broadcasts ${count(events.told)}, packets to one node ${count(events.sent)}, ` +
      `lost ${count(events.lost)} so far` : '');
}
const within = (e, t) => (upTo(e.t, t) - upTo(e.t, t - 1000)) * e.every;
function draw() {
  drawMap(); drawSide();
  const trouble = active(), absent = nodes.filter(isAbsent).length;
  const down = nodes.filter(n => last(n.up, at, 1) === 0).length - absent;
  const things = nodes.filter(n => !n.station);
  const counts = data.states.map(s => `${things.filter(n => stateOf(n) === s).length} ${s.meaning}`);
  $('told').textContent = (counts.length ? `${things.length} ${THING}s: ${counts.join(', ')}`
    : `${nodes.length - absent} nodes` + (down ? `, ${down} down` : '') +
    `; in the last second, broadcasts: ${within(events.told, at)}, ` +
    (events.sent.t.length ? `packets to one node: ${within(events.sent, at)}, ` : '') +
    `losses: ${within(events.lost, at)}`) +
    (trouble.length ? '; faults: ' + trouble.map(one => one.jammer ? 'a jammer'
      : one.cut ? `link failure ${one.cut.join('-')}` : 'a partition').join(', ') : '');
  $('when').value = at; $('now').textContent = 't = ' + (at / 1000).toFixed(2) + ' s';
}
function frame(now) {
  if (!playing) return;
  at += (stamp ? now - stamp : 0) * +$('speed').value; stamp = now;
  if (at >= END) { at = END; stop(); }
  draw(); requestAnimationFrame(frame);
}
function stop() { playing = false; $('play').textContent = 'Play'; }
$('play').onclick = () => {
  if (playing) return stop();
  if (at >= END) at = BEGIN;
  playing = true; stamp = 0; $('play').textContent = 'Pause'; requestAnimationFrame(frame);
};
$('when').min = BEGIN; $('when').max = END; $('when').oninput = e => { at = +e.target.value; draw(); };
for (const id of ['traces', 'rings', 'marks', 'cells', 'numbers', 'paint']) $(id).onchange = draw;
function zoom(factor, x, y) {
  const box = $('map').getBoundingClientRect(), dx = (x ?? box.width / 2) - box.width / 2,
    dy = (y ?? box.height / 2) - box.height / 2, k = Math.min(1, Math.max(1e-7, view.k * factor));
  view = { k, x: view.x + dx / view.k - dx / k, y: view.y + dy / view.k - dy / k };
  draw();
}
$('in').onclick = () => zoom(1.5); $('out').onclick = () => zoom(1 / 1.5);
$('all').onclick = () => { view = null; draw(); };
$('map').onwheel = e => {
  if (self !== top && !e.ctrlKey) return;  // inside the report, the wheel scrolls the report
  e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
};
function select(id) {
  selected = id; furnish();
  if (id >= 0) { place(nodes[id], at); }
  draw();
}
function find(text) {
  const named = nodes.findIndex(n => n.name === text.trim()), id = named < 0 ? parseInt(text, 10) : named;
  if (!nodes[id]) { $('find').setCustomValidity(`there are nodes 0 to ${nodes.length - 1}`); return false; }
  $('find').setCustomValidity('');
  if (!view) wholeView();
  place(nodes[id], at);
  view = { k: Math.max(view.k, 1500 / (world.x1 - world.x0)), x: nodes[id].px, y: nodes[id].py };
  select(id); return true;
}
$('find').onchange = e => { if (e.target.value && !find(e.target.value)) $('find').reportValidity(); };
let drag = null;
$('map').onpointerdown = e => {
  drag = { x: e.offsetX, y: e.offsetY, moved: 0 };
  $('map').setPointerCapture(e.pointerId);
};
$('map').onpointermove = e => {
  if (!drag) return;
  const dx = e.offsetX - drag.x, dy = e.offsetY - drag.y;
  view = { ...view, x: view.x - dx / view.k, y: view.y - dy / view.k };
  drag = { x: e.offsetX, y: e.offsetY, moved: drag.moved + Math.abs(dx) + Math.abs(dy) };
  draw();
};
$('map').onpointerup = e => {
  const clicked = drag && drag.moved < 4; drag = null;
  if (!clicked) return;
  const box = $('map').getBoundingClientRect();
  const x = view.x + (e.offsetX - box.width / 2) / view.k, y = view.y + (e.offsetY - box.height / 2) / view.k;
  let best = -1, least = 15 / view.k;
  for (const n of nodes) { const d = Math.hypot(n.px - x, n.py - y); if (d < least) { least = d; best = n.id; } }
  select(best);
};
for (const s of recorded) {
  s.low = Infinity; s.high = -Infinity;
  for (const one of s.of.values()) for (const v of one.v) { s.low = Math.min(s.low, v); s.high = Math.max(s.high, v); }
  const option = document.createElement('option');
  option.value = option.textContent = s.name; $('paint').append(option);
}
if (END - BEGIN < 5000) $('speed').value = '0.1';
if (!CELLS && recorded.length) $('paint').value = recorded[0].name;
dress(); furnish();
// A link may name the moment (in s), the node and what to paint, and may start it: #12.5,node=40,paint=rbuffer,moving
for (const part of location.hash.slice(1).split(',')) {
  const [name, value] = part.split('=');
  if (!isNaN(parseFloat(part))) at = Math.min(END, Math.max(BEGIN, 1000 * parseFloat(part)));
  if (name === 'paint') $('paint').value = decodeURIComponent(value);
  if (name === 'traces') $('traces').checked = true;
  if (name === 'moving' && !matchMedia('(prefers-reduced-motion: reduce)').matches) $('play').click();
}
const named = location.hash.match(/node=(\d+)/);
if (!(named && find(named[1]))) draw();
addEventListener('resize', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { dress(); draw(); });
