// `neardup report`: the style of the page.
#pragma once

namespace neardup::cli {

inline constexpr const char* kReportStyle = R"(
:root { color-scheme: light dark; --back: #fbfbfa; --card: #fff; --ink: #1c1e21; --soft: #5d646d; --line: #dcdfe3;
  --bar: #3b6fb6; --mark: #ffe08a; --mark-line: #b07d00; --ctl: #b3261e; --keep: #1d7a46; }
@media (prefers-color-scheme: dark) { :root { --back: #15171a; --card: #1d2024; --ink: #e4e6e9; --soft: #9aa2ac;
  --line: #353a41; --bar: #7aa7e6; --mark: #5c4a12; --mark-line: #e0b13c; --ctl: #ff9a90; --keep: #6fd19b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); font-size: .92rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1.25rem 0; padding: 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .9rem; }
.facts dt { color: var(--soft); font-size: .85rem; } .facts dd { margin: 0; font-size: 1.45rem; font-variant-numeric: tabular-nums; }
.scroll, .chart { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.chart svg { display: block; width: 100%; min-width: 30rem; max-width: 52rem; height: auto; font: 12px system-ui, sans-serif; }
.bar { fill: var(--bar); } .grid { stroke: var(--line); } .axis { stroke: var(--soft); } .tick { fill: var(--soft); } .count { fill: var(--ink); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-top: 1px solid var(--line); }
tbody:first-child tr:first-child > * { border-top: 0; }
thead th { border-top: 0; color: var(--soft); font-weight: 600; white-space: nowrap; } tbody th { font-weight: 600; color: var(--soft); width: 12rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.id { unicode-bidi: isolate; overflow-wrap: anywhere; } .members { min-width: 16rem; }
.keep { color: var(--keep); font-weight: 600; }
details { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin: .75rem 0; }
summary { cursor: pointer; padding: .6rem .9rem; overflow-wrap: anywhere; } summary b { font-variant-numeric: tabular-nums; }
.pair { display: grid; grid-template-columns: 1fr 1fr; border-top: 1px solid var(--line); }
.pair > div { padding: .6rem .9rem; min-width: 0; } .pair > div + div { border-left: 1px solid var(--line); }
.pair h3 { font-size: .85rem; margin: 0 0 .4rem; color: var(--soft); overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font-size: .92rem; }
.note { padding: 0 .9rem .6rem; margin: 0; }
mark { background: var(--mark); color: inherit; border-bottom: 2px solid var(--mark-line); }
.skip { color: var(--soft); font-style: italic; } .ctl { color: var(--ctl); font: .75em ui-monospace, monospace; border: 1px solid; border-radius: .2em; padding: 0 .2em; unicode-bidi: isolate; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } .pair > div + div { border-left: 0; border-top: 1px solid var(--line); } tbody th { width: 8rem; } th, td { padding: .4rem .5rem; } }
@media print { details { break-inside: avoid; } }
)";

}  // namespace neardup::cli
