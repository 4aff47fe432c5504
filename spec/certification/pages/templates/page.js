"use strict";
// Without this script all is there but the buttons.
for (const code of document.querySelectorAll("pre.script")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch (error) { // a page that is opened from a file may be denied the clipboard
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  code.parentElement.insertBefore(button, code);
}
// What a link leads to is unfolded, and so is everything on paper.
function unfold() {
  const id = decodeURIComponent(location.hash.slice(1));
  let place = id && document.getElementById(id);
  if (!place) return;
  for (let x = place; x; x = x.parentElement) if (x.tagName === "DETAILS") x.open = true;
  place.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
const folded = [];
addEventListener("beforeprint", () => {
  for (const x of document.querySelectorAll("details:not([open])")) { folded.push(x); x.open = true; }
});
addEventListener("afterprint", () => { while (folded.length) folded.pop().open = false; });
// Filters of the matrix: a row is left that has the library, the dtype and the kind asked for.
const form = document.querySelector("form.filters:not([role=search])");
if (form) {
  const rows = [...document.querySelectorAll("[data-l]")];
  const signs = [...document.querySelectorAll("a[data-d]")];
  const causes = [...document.querySelectorAll(".told")];
  const has = (list, mark, wanted) => !wanted || list.split(mark).includes(wanted);
  function filter() {
    const [l, d, k] = ["l", "d", "k"].map((x) => form.querySelector(`[data-filter=${x}]`).value);
    for (const row of rows) {
      const { l: library, d: dtypes, k: kinds } = row.dataset;
      row.hidden = !((!l || library === l) && has(dtypes, " ", d) && has(kinds, "|", k));
    }
    for (const sign of signs) sign.hidden = !has(sign.dataset.d, " ", d);
    for (const cause of causes) cause.hidden = Boolean(k) && cause.dataset.k !== k;
    const left = rows.filter((row) => row.tagName === "ARTICLE" && !row.hidden).length;
    form.querySelector("output").textContent = `${left} shown`;
  }
  form.hidden = false;
  form.addEventListener("change", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
// The filter of clauses: an entry is left whose text has all words, a section that has an entry.
const search = document.querySelector("form[role=search]");
if (search) {
  const entries = [...document.querySelectorAll(".entry")];
  const texts = entries.map((x) => {
    const heading = x.closest("section").querySelector("h3");
    return `${heading.textContent} ${x.textContent}`.toLowerCase();
  });
  const find = () => {
    const words = search.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    entries.forEach((x, i) => { x.hidden = !words.every((w) => texts[i].includes(w)); });
    for (const x of document.querySelectorAll("section")) {
      x.hidden = !x.querySelector(".entry:not([hidden])");
    }
    const left = entries.filter((x) => !x.hidden).length;
    search.querySelector("output").textContent = `${left} of ${entries.length} clauses`;
  };
  search.hidden = false;
  search.addEventListener("input", find);
  search.addEventListener("reset", () => setTimeout(find));
  search.addEventListener("submit", (event) => event.preventDefault());
  find();
}
