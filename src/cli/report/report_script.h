// `neardup report`: the script of the page, which only filters what is shown. Without it the page lacks the box alone.
#pragma once

namespace neardup::cli {

// The page's policy allows this script alone, by the SHA-256 of its bytes: who changes the one changes the other
// (openssl dgst -sha256 -binary | base64; the test report_of_a_job names the right one).
inline constexpr const char* kReportScriptHash = "sha256-GYyXQUCNRC0hfGNZ++9wBBi+GPsHXUo2vn5Fk1WsXSU=";
inline constexpr const char* kReportScript = R"(
"use strict";
const box = document.getElementById("find"), found = document.getElementById("found");
const items = [...document.querySelectorAll(".item")];
let texts = null;
function filter() {
  texts ??= items.map(item => item.textContent.toLowerCase());
  const words = box.value.toLowerCase().split(/\s+/).filter(word => word !== "");
  let shown = 0;
  items.forEach((item, i) => {
    item.hidden = !words.every(word => texts[i].includes(word));
    if (!item.hidden) ++shown;
  });
  found.textContent = words.length === 0 ? "" : shown + " of " + items.length;
}
if (items.length > 0) {
  box.addEventListener("input", filter);
  document.getElementById("search").hidden = false;
  if (box.value !== "") filter();
}
)";

}  // namespace neardup::cli
