const svg = document.querySelector('svg'), box = svg.viewBox.baseVal, what = document.getElementById('what');
let from = null;
const scale = () => Math.max(box.width / svg.clientWidth, box.height / svg.clientHeight);
svg.onwheel = e => {
  e.preventDefault();
  const k = e.deltaY < 0 ? 0.85 : 1.18, r = svg.getBoundingClientRect();
  const px = (e.clientX - r.left) / r.width, py = (e.clientY - r.top) / r.height;
  box.x += box.width * (1 - k) * px; box.y += box.height * (1 - k) * py;
  box.width *= k; box.height *= k;
};
svg.onpointerdown = e => { from = [e.clientX, e.clientY]; };
svg.onpointerup = svg.onpointerleave = () => { from = null; };
svg.onpointermove = e => {
  if (!from) return;
  const k = scale();
  box.x -= (e.clientX - from[0]) * k; box.y -= (e.clientY - from[1]) * k;
  from = [e.clientX, e.clientY];
};
svg.addEventListener('click', e => {
  const t = e.target.closest('[data-t]');
  if (t) what.textContent = t.dataset.t;
});
