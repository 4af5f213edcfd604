// The matrix page: filters, and dialogs for a requirement and for the cases of a cell. What is
// shown stands in the address behind '#', so that it can be sent on and reached with "back".
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const SHOWN_AT_ONCE = 300;
const find = document.getElementById("find");
const dialog = document.getElementById("dialog");
const body = document.getElementById("body");

const make = (name, properties = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("data-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const words = (verdict) => verdict.replaceAll("_", " ");
const pill = (verdict) =>
  make("span", { className: "pill", "data-verdict": verdict }, `${data.glyphs[verdict]} ${words(verdict)}`);

const state = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const go = (changes) => {
  const next = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...state(), ...changes })) if (value) next.set(key, value);
  const text = next.toString();
  if (text !== location.hash.slice(1)) location.hash = text;
};

const filter = ({ Area = "", Level = "", Verdict = "", find: text = "" }) => {
  for (const chip of document.querySelectorAll(".chip[data-filter]")) {
    const chosen = { Area, Level, Verdict }[chip.dataset.filter];
    chip.setAttribute("aria-pressed", String(chip.dataset.value === chosen));
  }
  if (find.value !== text) find.value = text;
  const wanted = text.toLowerCase();
  let shown = 0;
  for (const area of document.querySelectorAll("tbody[data-area]")) {
    let rows = 0;
    for (const row of area.querySelectorAll(".requirement")) {
      let holds = false;
      for (const cell of row.querySelectorAll(".cell")) {
        const has = !Verdict || cell.dataset.holds.split(" ").includes(Verdict);
        cell.classList.toggle("dim", !has);
        holds ||= has;
      }
      row.hidden = !(
        (!Area || area.dataset.area === Area) && (!Level || row.dataset.level === Level) &&
        holds && row.querySelector(".rule").textContent.toLowerCase().includes(wanted)
      );
      rows += !row.hidden;
    }
    area.hidden = rows === 0;
    shown += rows;
  }
  document.getElementById("empty").hidden = shown > 0;
};

const told = (pairs) =>
  make("dl", { className: "told" }, ...pairs.filter(([, value]) => value)
    .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));

const again = (text) => {
  const copy = make("button", { className: "plain", type: "button" }, "Copy");
  copy.onclick = () => navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; });
  return make("div", { className: "again" }, make("code", {}, text), navigator.clipboard ? copy : null);
};

const caseElement = (rule, column, name, verdict, detail, open) => {
  const short = name.replace(/^[^[]*\[(.*)\]$/s, "$1");
  const element = make("details", { className: "case" }, make("summary", {}, pill(verdict), make("code", {}, short)));
  element.ontoggle = () => {
    if (!element.open || element.querySelector(".inner")) return;
    const seen = typeof detail === "number" ? { reason: data.reasons[detail] } : detail ?? {};
    element.append(make("div", { className: "inner" }, told([
      ["case", seen.asked],
      ["expected", seen.expected && make("code", {}, seen.expected)],
      ["observed", seen.observed && make("code", {}, seen.observed)],
      ["reason", seen.reason && (seen.deviation ? `${seen.deviation}: ${seen.reason}` : seen.reason)],
      ["source", data.rules[rule].sources.map((each) => each.name).join("; ")],
      ["again", again(data.columns[column].again.replace("{}", name))],
    ])));
  };
  element.open = open;
  return element;
};

const showCases = ({ open, on, only = "" }) => {
  const column = Number(on);
  const all = data.cases[open].map(([name, verdicts, details]) =>
    [name, data.verdicts[verdicts[column]], details?.[column]]).filter(([, verdict]) => verdict);
  const counts = {};
  for (const [, verdict] of all) counts[verdict] = (counts[verdict] ?? 0) + 1;
  const cases = all.filter(([, verdict]) => !only || verdict === only)
    .sort((a, b) => data.order.indexOf(a[1]) - data.order.indexOf(b[1]));
  document.getElementById("heading").textContent = `${open} on ${data.columns[column].title}`;
  document.getElementById("under").textContent = data.rules[open].title;
  const chips = data.order.filter((verdict) => counts[verdict]).map((verdict) => {
    const chip = make("button", { className: "chip", type: "button", onclick: () => go({ only: only === verdict ? "" : verdict }) },
      `${words(verdict)} `, make("small", {}, String(counts[verdict])));
    chip.setAttribute("aria-pressed", String(only === verdict));
    return chip;
  });
  const rule = make("button", { className: "plain", type: "button", onclick: () => go({ on: "", only: "" }) }, "The rule");
  body.replaceChildren(make("div", { className: "filter" }, ...chips, rule));
  let group = "";
  let at = 0;
  const more = make("button", { className: "plain", type: "button" });
  const grow = () => {
    for (const [name, verdict, detail] of cases.slice(at, at + SHOWN_AT_ONCE)) {
      const test = name.replace(/\[.*$/s, "");
      if (test !== group) more.before(make("p", { className: "group" }, test));
      group = test;
      more.before(caseElement(open, column, name, verdict, detail, cases.length === 1));
    }
    at += SHOWN_AT_ONCE;
    more.hidden = at >= cases.length;
    more.textContent = `Show more (${cases.length - at} left)`;
  };
  more.onclick = grow;
  body.append(more);
  grow();
};

const link = (url) => (url ? make("a", { href: url, rel: "noreferrer" }, url) : null);

const showRule = ({ open }) => {
  const rule = data.rules[open];
  document.getElementById("heading").textContent = open;
  document.getElementById("under").textContent = `${rule.level}: ${rule.title}`;
  body.replaceChildren(
    ...rule.parts.flatMap(([heading, text]) => [make("h3", {}, heading), make("p", {}, text)]),
    make("h3", {}, "Sources"),
    ...rule.sources.map((each) => make("div", { className: "source" }, make("b", {}, each.name), make("p", {}, each.says ?? ""),
      each.evidence ? make("p", {}, `seen in: ${each.evidence}`) : null, link(each.url))),
    make("h3", {}, "Known deviations"),
    ...(rule.deviations.length ? rule.deviations : [null]).map((each) => each
      ? make("div", { className: "source" }, make("b", {}, `${each.id}: ${each.versions}`), make("p", {}, each.reason),
        make("p", {}, `cause: ${each.cause}`), make("p", {}, `found ${each.found}, to be reviewed by ${each.review}`), link(each.url))
      : make("p", {}, "none")),
  );
};

const show = () => {
  const now = state();
  filter(now);
  if (!data.rules[now.open]) {
    if (dialog.open) dialog.close();
    return;
  }
  if (now.on && data.columns[now.on]) showCases(now);
  else showRule(now);
  if (!dialog.open) dialog.showModal();
  body.scrollTop = 0;
};

document.addEventListener("click", ({ target }) => {
  const chip = target.closest("[data-filter]");
  const cell = target.closest(".cell");
  const rule = target.closest(".rule");
  if (chip) go({ [chip.dataset.filter]: chip.dataset.value });
  else if (cell) {
    const chosen = state().Verdict;
    go({ open: cell.dataset.open, on: cell.dataset.column, only: chosen && cell.dataset.holds.split(" ").includes(chosen) ? chosen : "" });
  } else if (rule) go({ open: rule.dataset.rule, on: "", only: "" });
  else if (target === dialog) dialog.close();
});
find.addEventListener("input", () => go({ find: find.value }));
document.getElementById("reset").onclick = () => { location.hash = ""; };
document.getElementById("close").onclick = () => dialog.close();
dialog.addEventListener("close", () => go({ open: "", on: "", only: "" }));
window.addEventListener("hashchange", show);

const remembered = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
if (remembered) document.documentElement.dataset.theme = remembered;
document.getElementById("theme").onclick = () => {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* a page from the disk may have no storage */ }
};
show();
