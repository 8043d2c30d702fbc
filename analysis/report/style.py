"""How the page looks: one style for screen, phone, dark and print."""

STYLE = """
:root { color-scheme: light dark; --ink:#1c2126; --soft:#5b6570; --line:#d9dee3; --paper:#fff; --card:#f6f7f9;
  --s0:#1f6fb4; --s1:#c8501e; --s2:#2c8a4b; --s3:#8a4fb0; --s4:#b3870c; --s5:#0f8b8d; --s6:#c23b68; --s7:#5f6b2d;
  --good:#1d7a3f; --near:#94690a; --off:#b3321f; }
@media (prefers-color-scheme: dark) { :root { --ink:#e6e9ec; --soft:#9aa5b0; --line:#363d45; --paper:#14181c;
  --card:#1c2227; --s0:#6db3f2; --s1:#f0905f; --s2:#6ecb8b; --s3:#c79be8; --s4:#e5c04e; --s5:#5fd0d2; --s6:#f08aac;
  --s7:#b6c46c; --good:#6ecb8b; --near:#e5c04e; --off:#f58a76; } }
* { box-sizing:border-box }
body { font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif; color:var(--ink); background:var(--paper);
  margin:0 auto; padding:1.2rem clamp(.8rem,3vw,2rem) 4rem; max-width:76rem }
h1 { font-size:1.7rem; line-height:1.2; margin:.4rem 0 .2rem } h2 { font-size:1.25rem; margin:2.4rem 0 .6rem;
  padding-top:.8rem; border-top:1px solid var(--line) } h3 { font-size:1rem; margin:1.4rem 0 .4rem }
p, li { max-width:46rem } .soft, .soft td { color:var(--soft) } a { color:var(--s0) }
nav { display:flex; flex-wrap:wrap; gap:0 1rem }
.wide { overflow-x:auto; margin:.4rem 0 } table { border-collapse:collapse; font-size:.875rem; min-width:100% }
th, td { text-align:left; padding:.3rem .7rem .3rem 0; border-bottom:1px solid var(--line); vertical-align:top }
th { font-weight:600; color:var(--soft); white-space:nowrap } td.n, th.n { text-align:right; white-space:nowrap;
  font-variant-numeric:tabular-nums } td small { color:var(--soft) }
.good { color:var(--good) } .near { color:var(--near) } .off { color:var(--off) } .mark { white-space:nowrap }
.figures { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr)); gap:1rem }
figure { margin:0; padding:.8rem; background:var(--card); border-radius:8px; break-inside:avoid }
figcaption { font-weight:600 } figcaption small { font-weight:400; color:var(--soft); display:block }
figure > svg { width:100%; height:auto; display:block; margin-top:.4rem }
svg text { font-size:12.5px; fill:var(--soft) } svg .name { fill:var(--ink); font-size:13px }
svg path { fill:none } .grid { stroke:var(--line) } .axis, .tick { stroke:var(--soft) }
.line { stroke:currentColor; stroke-width:2 } svg .band { fill:currentColor; opacity:.16 } circle { fill:currentColor }
.whisker { stroke:currentColor; stroke-width:1.3 } rect { fill:currentColor }
svg .published { fill:var(--card); stroke:currentColor; stroke-width:2 }
.s0 { color:var(--s0) } .s1 { color:var(--s1) } .s2 { color:var(--s2) } .s3 { color:var(--s3) } .s4 { color:var(--s4) }
.s5 { color:var(--s5) } .s6 { color:var(--s6) } .s7 { color:var(--s7) }
.legend { list-style:none; display:flex; flex-wrap:wrap; gap:.1rem 1rem; padding:0; margin:.4rem 0 0;
  font-size:.85rem } .key { width:22px; height:10px; margin-right:.4rem; overflow:visible }
.key path { stroke:currentColor; stroke-width:2.4 } .key.plain { color:var(--ink) }
.story { width:100%; max-height:44rem; border:1px solid var(--line); background:#fff; padding:.4rem }
details { margin-top:.5rem; font-size:.9rem } summary { cursor:pointer; color:var(--soft) }
code { font-size:.875em; overflow-wrap:anywhere }
@media (max-width:40rem) { .stack thead { display:none } .stack tr { display:block; padding:.5rem 0;
  border-bottom:1px solid var(--line) } .stack td, .stack td.n { display:flex; gap:.6rem; border:0; padding:.1rem 0;
  text-align:left; white-space:normal }
  .stack td::before { content:attr(data-of); color:var(--soft); flex:0 0 6.5rem } }
@media print { :root { color-scheme:light } body { max-width:none; padding:0; font-size:10.5pt } nav { display:none }
  table { font-size:8pt } th, td, td.n { white-space:normal; padding-right:.4rem } tr { break-inside:avoid }
  .wide { overflow:visible } h2, h3 { break-after:avoid } figure { background:none; border:1px solid var(--line) }
  .figures { grid-template-columns:1fr 1fr } }
"""
