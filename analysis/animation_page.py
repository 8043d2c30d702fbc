"""The page of an animation: markup, style and script. `@TITLE@`, `@TOLD@`, `@LEGEND@` and `@DATA@` are filled in."""

from causeway.analysis.report.style import STYLE

OWN_STYLE = """
.scene { display:grid; grid-template-columns:minmax(0,3fr) minmax(0,2fr); gap:1rem; align-items:start }
@media (max-width:52rem) { .scene { grid-template-columns:1fr } }
canvas { width:100%; display:block; background:var(--card); border-radius:8px }
#charts { display:grid; gap:.5rem } #charts p { margin:0; font-size:.85rem } #charts canvas { height:74px }
.controls { display:flex; flex-wrap:wrap; gap:.6rem 1rem; align-items:center; margin:.8rem 0 }
.controls input[type=range] { flex:1 1 16rem; accent-color:var(--s0) }
button, select { font:inherit; padding:.25rem .8rem; border:1px solid var(--line); border-radius:6px;
  background:var(--card); color:var(--ink) } output { font-variant-numeric:tabular-nums; min-width:5.5rem }
"""

MARKUP = """
<h1>@TITLE@</h1>
<p class="soft">@TOLD@</p>
<div class="controls">
  <button id="play" type="button">Play</button>
  <label>Speed <select id="speed"><option value="1">1×</option><option value="4" selected>4×</option>
    <option value="16">16×</option></select></label>
  <input id="when" type="range" min="0" step="0.05" aria-label="Time">
  <output id="now"></output>
</div>
<div class="scene">
  <div><canvas id="map" role="img" aria-label="A map of the run"></canvas>
  <p class="soft">@LEGEND@</p>
  <p id="told" aria-live="off"></p></div>
  <div id="charts"></div>
</div>
"""

SCRIPT = """
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id), { times, places, things, states, names, charts } = data;
const JUST = 2;
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const placeColour = i => i < 0 ? colour('--soft') : colour('--s' + (i % 8));
const placeOf = at => at >= 0 && at < places.length ? at : -1;
const stateOf = value => states.find(s => s.value === value) || { mark: 'dot', meaning: '' };
const most = Math.max(1, ...places.flatMap(s => s.size));
let at = times[0], playing = false, last = 0;

// Where in `times` the moment is: the sample before it, and how far to the next.
function place(t) {
  let i = 0;
  while (i + 1 < times.length && times[i + 1] <= t) i++;
  const j = Math.min(i + 1, times.length - 1);
  return { i, j, f: j > i ? Math.min(1, Math.max(0, (t - times[i]) / (times[j] - times[i]))) : 0 };
}
const between = (values, p) => values[p.i] + (values[p.j] - values[p.i]) * p.f;

function fit(canvas, ratio) {
  const box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
  const width = box.width, height = ratio ? width * ratio : box.height;
  if (ratio) canvas.style.height = height + 'px';
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  const c = canvas.getContext('2d');
  c.setTransform(scale, 0, 0, scale, 0, 0);
  return { c, width, height };
}

const reach = Math.max(...places.map(s => s.reach_m));
const xs = places.map(s => s.x_m), ys = places.map(s => s.y_m);
const left = Math.min(...xs) - reach - 8, top_ = Math.min(...ys) - reach - 8;
const wide = Math.max(...xs) + reach + 8 - left, high = Math.max(...ys) + reach + 8 - top_;

function drawMap(p) {
  const { c, width } = fit($('map'), high / wide), k = width / wide;
  const X = x => (x - left) * k, Y = y => (y - top_) * k;
  c.lineWidth = 1;
  places.forEach((s, i) => {
    c.beginPath(); c.arc(X(s.x_m), Y(s.y_m), s.reach_m * k, 0, 7);
    c.globalAlpha = .08; c.fillStyle = placeColour(i); c.fill();
    c.globalAlpha = .5; c.setLineDash([4, 4]); c.strokeStyle = placeColour(i); c.stroke(); c.setLineDash([]);
    c.globalAlpha = 1;
  });
  c.strokeStyle = colour('--line'); c.lineWidth = 3;
  places.forEach(s => s.wired_to.forEach(o => line(c, X(s.x_m), Y(s.y_m), X(places[o].x_m), Y(places[o].y_m))));
  things.forEach(h => drawThing(c, h, p, X(between(h.x, p)), Y(between(h.y, p)), X, Y));
  places.forEach((s, i) => drawPlace(c, i, between(s.size, p), X(s.x_m), Y(s.y_m)));
}
function line(c, x1, y1, x2, y2) { c.beginPath(); c.moveTo(x1, y1); c.lineTo(x2, y2); c.stroke(); }

function drawThing(c, h, p, x, y, X, Y) {
  const place = placeOf(h.at[p.i]), before = placeOf(h.at[Math.max(0, p.i - JUST)]), mark = stateOf(h.state[p.i]).mark;
  c.strokeStyle = c.fillStyle = placeColour(place);
  if (mark === 'cross') {
    c.strokeStyle = colour('--off'); c.lineWidth = 2.5;
    line(c, x - 6, y - 6, x + 6, y + 6); line(c, x - 6, y + 6, x + 6, y - 6);
    return;
  }
  if (place >= 0) {
    const changed = before !== place && p.i >= JUST;
    c.globalAlpha = changed ? 1 : .22; c.lineWidth = changed ? 2.5 : 1;
    line(c, x, y, X(places[place].x_m), Y(places[place].y_m));
    c.globalAlpha = 1;
  }
  c.beginPath(); c.arc(x, y, 3.5 + Math.min(7, h.size[p.i] * .35), 0, 7);
  if (mark === 'ring') { c.lineWidth = 2; c.stroke(); } else c.fill();
}

function drawPlace(c, i, size, x, y) {
  const bar = 46 * size / most;
  c.fillStyle = colour('--paper'); c.fillRect(x - 9, y - 9, 18, 18);
  c.strokeStyle = c.fillStyle = placeColour(i); c.lineWidth = 2; c.strokeRect(x - 9, y - 9, 18, 18);
  c.globalAlpha = .75; c.fillRect(x + 13, y + 9 - bar, 9, bar); c.globalAlpha = 1;
  c.fillStyle = colour('--ink'); c.font = '12px system-ui'; c.textAlign = 'center'; c.textBaseline = 'middle';
  c.fillText(names.place[0] + i, x, y); c.textAlign = 'left'; c.fillText(Math.round(size), x + 13, y + 18);
}

function drawChart(canvas, values, p) {
  const { c, width, height } = fit(canvas), m = { l: 48, b: 14, t: 6, r: 6 };
  const top = Math.max(...values.filter(v => v !== null), 1e-9), begin = times[0], end = times[times.length - 1];
  const X = t => m.l + (width - m.l - m.r) * (t - begin) / Math.max(1e-9, end - begin);
  const Y = v => height - m.b - (height - m.b - m.t) * v / top;
  c.strokeStyle = colour('--line'); line(c, m.l, Y(0), width - m.r, Y(0)); line(c, m.l, Y(top), width - m.r, Y(top));
  c.fillStyle = colour('--soft'); c.font = '11px system-ui'; c.textAlign = 'right'; c.textBaseline = 'middle';
  c.fillText(+top.toPrecision(3), m.l - 5, Y(top) + 4); c.fillText('0', m.l - 5, Y(0));
  c.textAlign = 'left'; c.fillText(begin + ' s', m.l, height - 5);
  c.textAlign = 'right'; c.fillText(end + ' s', width - m.r, height - 5);
  c.strokeStyle = colour('--s0'); c.lineWidth = 1.6; c.beginPath();
  let pen = false;
  values.forEach((v, i) => {
    if (v === null) { pen = false; return; }
    pen ? c.lineTo(X(times[i]), Y(v)) : c.moveTo(X(times[i]), Y(v)); pen = true;
  });
  c.stroke();
  c.strokeStyle = colour('--off'); c.lineWidth = 1; line(c, X(at), m.t, X(at), height - m.b);
}

function draw() {
  const p = place(at);
  drawMap(p);
  charts.forEach((chart, n) => {
    drawChart(chart.canvas, chart.values, p);
    const value = chart.values[p.i];
    chart.label.textContent = chart.title + (value === null ? '' : ': ' + value);
  });
  const counts = states.map(s => things.filter(h => h.state[p.i] === s.value).length + ' ' + s.meaning);
  $('told').textContent = things.length + ' ' + names.thing + 's: ' + counts.join(', ');
  $('when').value = at; $('now').textContent = 't = ' + at.toFixed(1) + ' s';
}

function step(stamp) {
  if (!playing) return;
  at += (last ? (stamp - last) / 1000 : 0) * +$('speed').value; last = stamp;
  if (at >= times[times.length - 1]) { at = times[times.length - 1]; stop(); }
  draw(); requestAnimationFrame(step);
}
function stop() { playing = false; $('play').textContent = 'Play'; }
$('play').onclick = () => {
  if (playing) { stop(); return; }
  if (at >= times[times.length - 1]) at = times[0];
  playing = true; last = 0; $('play').textContent = 'Pause'; requestAnimationFrame(step);
};
$('when').min = times[0]; $('when').max = times[times.length - 1];
$('when').oninput = e => { at = +e.target.value; draw(); };
charts.forEach(chart => {
  chart.label = document.createElement('p'); chart.canvas = document.createElement('canvas');
  chart.canvas.setAttribute('role', 'img'); chart.canvas.setAttribute('aria-label', chart.title);
  $('charts').append(chart.label, chart.canvas);
});
const asked = parseFloat(location.hash.slice(1));
if (!isNaN(asked)) at = Math.min(Math.max(asked, times[0]), times[times.length - 1]);
addEventListener('resize', draw); matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
draw();
"""

PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title><style>{STYLE}{OWN_STYLE}</style></head><body>{MARKUP}
<script type="application/json" id="data">@DATA@</script>
<script>{SCRIPT}</script></body></html>
"""
