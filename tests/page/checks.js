// What is wrong with the page that is looked at, as a list of sentences: its width, what it asked for, and what it is to people who do
// not see it, see it badly, or have no mouse. The contrast is computed of the colours that the browser computed.
const wrong = [];
const visible = (element) => {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  return box.width > 1 && box.height > 1 && style.visibility !== "hidden" && style.display !== "none" && element.checkVisibility();
};
const named = (element) => `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""}${element.className && element.className.baseVal === undefined ? "." + element.className : ""} ${(element.textContent ?? "").trim().slice(0, 30)}`;

// Style: without it nothing below says anything.
if (!document.styleSheets[0]?.cssRules.length) {
  const [entry] = performance.getEntriesByName(`${location.origin}/style.css`);
  return { wrong: [`no style was loaded: ${JSON.stringify(entry)}`], least: 0 };
}

// Width.
const root = document.documentElement;
if (root.scrollWidth > innerWidth) wrong.push(`it is ${root.scrollWidth} wide, of ${innerWidth}`);
for (const element of document.querySelectorAll("body *")) {
  if (!visible(element) || element.closest(".scroll, pre, svg")) continue;
  const box = element.getBoundingClientRect();
  if (box.right > innerWidth + 1 || box.left < -1) wrong.push(`it reaches out: ${named(element)} to ${box.right}`);
}

// What was asked for.
for (const entry of performance.getEntriesByType("resource")) {
  if (!entry.name.startsWith(location.origin + "/")) wrong.push(`asked for ${entry.name}`);
}
for (const element of document.querySelectorAll("[src], [href], [action]")) {
  const to = element.getAttribute("src") ?? element.getAttribute("href") ?? element.getAttribute("action");
  if (new URL(to, location.href).origin !== location.origin) wrong.push(`leads out: ${to}`);
}

// Structure.
if (!document.documentElement.lang) wrong.push("no language");
if (!document.title) wrong.push("no title");
const headings = [...document.querySelectorAll("h1, h2, h3, h4")].filter((heading) => heading.checkVisibility());
if (headings.filter((heading) => heading.tagName === "H1").length !== 1) wrong.push("not one h1");
let before = 0;
for (const heading of headings) {
  const level = Number(heading.tagName[1]);
  if (level > before + 1) wrong.push(`a heading is left out before ${named(heading)}`);
  if (!heading.textContent.trim()) wrong.push("an empty heading");
  before = level;
}
for (const landmark of ["header", "main", "nav[aria-label]", "footer"]) {
  if (!document.querySelector(landmark)) wrong.push(`no ${landmark}`);
}
if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");
const labels = [...document.querySelectorAll("nav")].map((nav) => nav.getAttribute("aria-label"));
if (new Set(labels).size !== labels.length) wrong.push("two navs of one name");
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`an id stands twice: ${id}`);
for (const attribute of ["aria-labelledby", "for"]) {
  for (const element of document.querySelectorAll(`[${attribute}]`)) {
    if (!document.getElementById(element.getAttribute(attribute))) wrong.push(`${attribute} leads nowhere: ${named(element)}`);
  }
}
for (const field of document.querySelectorAll("input:not([type=hidden]), textarea, select")) {
  if (field.labels.length === 0 && !field.getAttribute("aria-label")) wrong.push(`no label: ${field.name}`);
}
for (const element of document.querySelectorAll("a, button, summary")) {
  if (!(element.textContent.trim() || element.getAttribute("aria-label"))) wrong.push(`no name: ${element.outerHTML.slice(0, 80)}`);
  if (element.tagName === "A" && !element.hasAttribute("href")) wrong.push(`no link: ${named(element)}`);
}
// Links that look alike and lead elsewhere must be told apart by who hears them; what the memory says itself may stand there twice.
const leading = new Map();
for (const link of document.querySelectorAll("a[href]:not([aria-label], .asked, .project, .around a, .exchange h2 a)")) {
  const name = link.textContent.trim();
  const known = leading.get(name) ?? link.href;
  if (known !== link.href) wrong.push(`two links of one name: ${name}`);
  leading.set(name, known);
}
for (const link of document.querySelectorAll("a[aria-label]")) {
  if (!link.getAttribute("aria-label").startsWith(link.textContent.trim())) wrong.push(`it is called otherwise than is seen: ${named(link)}`);
}
for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) wrong.push(`out of order: ${named(element)}`);
for (const picture of document.querySelectorAll("svg")) {
  if (picture.getAttribute("aria-hidden") !== "true" && !picture.querySelector("title")) wrong.push("a picture without words");
}
for (const table of document.querySelectorAll("table")) if (!table.querySelector("th[scope]")) wrong.push("a table without heads");
for (const list of document.querySelectorAll("ol, ul")) {
  if ([...list.children].some((child) => child.tagName !== "LI")) wrong.push(`a list holds what is no item: ${named(list)}`);
}
if (!document.querySelector("[aria-live=polite]")) wrong.push("arrivals are not said");

// Contrast.
const channels = (colour) => {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  return colour.startsWith("color(srgb") ? [...numbers.slice(0, 3).map((value) => value * 255), numbers[3] ?? 1] : [...numbers.slice(0, 3), numbers[3] ?? 1];
};
const over = (upper, lower) => upper.slice(0, 3).map((value, at) => value * upper[3] + lower[at] * (1 - upper[3]));
const light = (colour) => {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ground = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const colour = channels(getComputedStyle(at).backgroundColor);
    layers.push(colour);
    if (colour[3] === 1) break;
  }
  let colour = [255, 255, 255];
  for (const layer of layers.reverse()) colour = over(layer, colour);
  return colour;
};
const ratio = (one, other) => {
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
let least = 99;
// What WCAG asks for at AAA in light, and at AA in dark.
const enough = matchMedia("(prefers-color-scheme: dark)").matches ? 4.5 : 7;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const looked = new Set();
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || looked.has(element) || !element.checkVisibility()) continue;
  looked.add(element);
  const style = getComputedStyle(element);
  if (element.closest(".unseen, .skip")) continue;
  const behind = ground(element);
  const colour = over(channels(element.closest("svg") ? style.fill : style.color), behind);
  const found = ratio(colour, behind);
  least = Math.min(least, found);
  if (found < enough) wrong.push(`contrast ${found.toFixed(2)}: ${named(element)}`);
}
for (const field of document.querySelectorAll("input, textarea")) {
  if (!visible(field)) continue;
  const style = getComputedStyle(field);
  if (ratio(channels(style.borderTopColor).slice(0, 3), ground(field.parentElement)) < 3 && field.type !== "radio" && field.type !== "checkbox") {
    wrong.push(`a field's border can't be seen: ${field.name}`);
  }
}
return { wrong, least };
