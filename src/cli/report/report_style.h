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
.counts { font-size: 1.1rem; margin: .75rem 0; } b { font-variant-numeric: tabular-nums; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin: .75rem 0; } .line { padding: .6rem .9rem; }
.places a { color: var(--bar); margin-right: .75rem; }
[hidden] { display: none !important; }
#search { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0; }
#find { flex: 1 1 12rem; min-width: 0; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .7rem; }
#found { color: var(--soft); }
summary { cursor: pointer; padding: .6rem .9rem; overflow-wrap: anywhere; } summary h2 { display: inline; margin: 0; }
.id { unicode-bidi: isolate; overflow-wrap: anywhere; } .where { display: block; font-size: .92rem; } .title { font-weight: 600; unicode-bidi: isolate; } .keep { color: var(--keep); font-weight: 600; }
.copies { list-style: none; margin: 0; padding: 0 0 .3rem; } .copies li { padding: .4rem .9rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.snippet { font-size: .92rem; } ins { background: var(--mark); color: inherit; text-decoration: none; border-bottom: 2px solid var(--mark-line); } del { color: var(--ctl); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: .75rem; } .charts .card { margin: 0; padding: .6rem .9rem; min-width: 0; }
.charts h3 { font-size: 1rem; margin: 0 0 .4rem; }
.chart svg { display: block; width: 100%; height: auto; font: 13px system-ui, sans-serif; }
.bar { fill: var(--bar); } .grid { stroke: var(--line); } .axis { stroke: var(--soft); } .tick { fill: var(--soft); } .count { fill: var(--ink); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .9rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--soft); width: 12rem; }
.pair { display: grid; grid-template-columns: 1fr 1fr; border-top: 1px solid var(--line); }
.pair > div { padding: .6rem .9rem; min-width: 0; } .pair > div + div { border-left: 1px solid var(--line); }
.pair h3 { font-size: .85rem; margin: 0 0 .4rem; color: var(--soft); overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font-size: .92rem; }
.note { padding: 0 .9rem .6rem; margin: 0; }
mark { background: var(--mark); color: inherit; border-bottom: 2px solid var(--mark-line); }
.skip { color: var(--soft); font-style: italic; } .ctl { color: var(--ctl); font: .75em ui-monospace, monospace; border: 1px solid; border-radius: .2em; padding: 0 .2em; unicode-bidi: isolate; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } .pair > div + div { border-left: 0; border-top: 1px solid var(--line); } th { width: 8rem; } th, td { padding: .4rem .6rem; } }
@media print { details { break-inside: avoid; } #search { display: none; } }
)";

}  // namespace neardup::cli
