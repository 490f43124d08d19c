// What the page does beyond links and forms, all of which work without it: live arrivals, search while typing, keys.
// It asks this page alone, and puts in nothing but what the server has rendered and escaped.
"use strict";
(() => {
  const one = (what, within = document) => within.querySelector(what);
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const said = one("#said");
  const say = (text) => { said.textContent = text; };

  // A part of a view as the server renders it; null where it gives none.
  const part = async (address, signal) => {
    const answer = await fetch(address, { signal, headers: { accept: "text/html" } });
    if (!answer.ok) return null;
    const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
    return [...parsed.body.childNodes];
  };

  // Live arrivals: only while the newest page is looked at.
  const turns = one("#turns[data-arrivals]");
  // Pieces that are put in at a time; of what is more, the page tells.
  const PIECES = 10;
  let source = null;

  const putIn = (sections) => {
    let fresh = 0;
    for (const section of sections.reverse()) {
      const day = section.dataset.day;
      let there = one(`section[data-day="${CSS.escape(day)}"]`, turns);
      if (!there) {
        there = section.cloneNode(true);
        one("ol", there).replaceChildren();
        turns.prepend(there);
      }
      for (const row of all("li", section).reverse()) {
        if (document.getElementById(row.id)) continue;
        row.classList.add("fresh");
        one("ol", there).prepend(row);
        fresh += 1;
      }
    }
    return fresh;
  };

  // What an address gives that asks for more; null where it can't be had.
  const askFor = async (address, more) => {
    const query = new URLSearchParams(more).toString();
    const mark = address.includes("?") ? "&" : "?";
    try { return await part(query ? address + mark + query : address); } catch { return null; }
  };
  // A piece of what arrived after a place, or of the newest where none is known.
  const arrived = (known) => askFor(turns.dataset.arrivals, known ? { after: known } : {});

  const fetchArrivals = async (newest) => {
    const known = turns.dataset.newest;
    if (!newest || newest === known) return;
    // The earliest piece first, so that each that follows belongs on top of it. Whatever is left out or fails is told.
    let fresh = 0;
    let more = "newer";
    for (let piece = 0; piece < PIECES && more === "newer"; piece += 1) {
      const nodes = await arrived(turns.dataset.newest);
      if (!nodes) break;
      fresh += putIn(nodes.filter((node) => node.matches?.("section")));
      const end = nodes.find((node) => node.matches?.("[data-until]"));
      more = end?.dataset.more;
      turns.dataset.newest = more === "newer" ? end.dataset.until : newest;
    }
    one("#more").hidden = !more;
    if (fresh === 0) return;
    one(".nothing")?.remove();
    const first = one("li .asked", turns)?.textContent ?? "";
    say(fresh === 1 ? `A new turn: ${first}` : `${fresh} new turns`);
  };

  // What was stored since and belongs further back than the newest: its place may be on another page, so that it is told of. It is said
  // once; how many there are by now stands in the page.
  let late = 0;
  const fetchLate = async (stored) => {
    const { late: address, stored: known, newest } = turns.dataset;
    if (!stored || stored === known || !newest) return;
    const nodes = await askFor(address, { from: known, to: stored, newest });
    const told = nodes?.find((node) => node.matches?.("[data-late]"));
    if (!told) return;
    turns.dataset.stored = stored;
    const fresh = told.dataset.late.split(" ").filter((id) => id && !document.getElementById(`turn-${id}`));
    if (fresh.length === 0) return;
    late += fresh.length;
    const more = told.dataset.more ? "More than " : "";
    const line = one("#late");
    one("span", line).textContent = late === 1 ? "1 older turn was added." : `${more}${late} older turns were added.`;
    if (line.hidden) say(one("span", line).textContent);
    line.hidden = false;
  };

  let arriving = Promise.resolve();
  const listen = () => {
    if (!turns || source || document.hidden) return;
    source = new EventSource("live");
    source.addEventListener("open", () => { one("#live").hidden = false; });
    source.addEventListener("newest", (event) => {
      arriving = arriving.then(() => fetchArrivals(event.data)).then(() => fetchLate(event.lastEventId)).catch(() => {});
    });
    source.addEventListener("error", () => { one("#live").hidden = true; });
  };
  const stopListening = () => {
    source?.close();
    source = null;
  };
  // A browser has six connections to a host: a tab that is not looked at gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? stopListening() : listen()));
  addEventListener("pagehide", stopListening);
  addEventListener("pageshow", listen);
  listen();

  // Search while typing.
  const form = one("form[data-live]");
  if (form) {
    const found = one("#found");
    let asked = null;
    let waiting = 0;
    const search = async () => {
      asked?.abort();
      asked = new AbortController();
      const fields = [...new FormData(form)].filter(([, value]) => value !== "");
      const query = new URLSearchParams(fields).toString();
      found.setAttribute("aria-busy", "true");
      try {
        const nodes = await part(`${form.dataset.live}?${query}`, asked.signal);
        if (!nodes) return;
        found.replaceChildren(...nodes);
        history.replaceState(null, "", `${form.getAttribute("action")}?${query}`);
        say(one(".count", found)?.textContent ?? one(".lead", found)?.textContent ?? "");
      } catch (error) {
        if (error.name !== "AbortError") say("The search failed; press Enter to search again.");
      } finally {
        found.setAttribute("aria-busy", "false");
      }
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(search, 160);
    });
    const words = one("[data-find]", form);
    if (!words.value) words.focus();
  }

  // Keys.
  const dialog = one("#keys");
  const on = one("#keys-on");
  const KEYS_OFF = "remembrancer-keys-off";
  const remembered = (() => { try { return localStorage.getItem(KEYS_OFF); } catch { return null; } })();
  on.checked = remembered !== "yes";
  on.addEventListener("change", () => {
    try {
      if (on.checked) localStorage.removeItem(KEYS_OFF); else localStorage.setItem(KEYS_OFF, "yes");
    } catch { /* It holds for this page. */ }
  });

  const step = (by) => {
    const items = all("[data-item]");
    if (items.length === 0) return;
    const at = items.indexOf(document.activeElement);
    // Whoever was sent to a turn begins there.
    const begin = Math.max(items.indexOf(one(":target [data-item]")), 0);
    const next = at < 0 ? begin : Math.min(Math.max(at + by, 0), items.length - 1);
    items[next].focus();
    items[next].closest("li, article")?.scrollIntoView({ block: "nearest" });
  };

  let going = false;
  let goingEnds = 0;
  const go = (key) => {
    going = false;
    clearTimeout(goingEnds);
    const link = one(`[data-go="${CSS.escape(key)}"]`);
    link?.click();
    return Boolean(link);
  };
  const press = (key) => {
    if (going) return go(key);
    switch (key) {
      case "/": {
        const field = one("[data-find]");
        field?.focus();
        field?.select();
        return Boolean(field);
      }
      case "j": step(1); return true;
      case "k": step(-1); return true;
      case "g":
        going = true;
        goingEnds = setTimeout(() => { going = false; }, 1500);
        return true;
      case "?": dialog.showModal(); return true;
      default: {
        const does = one(`main [data-key="${CSS.escape(key)}"]`);
        does?.click();
        return Boolean(does);
      }
    }
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const inField = event.target.matches?.("input:not([type=radio], [type=checkbox]), textarea, select");
    if (inField) {
      // From the words to what they found.
      if (event.key === "ArrowDown" && event.target.matches("[data-find]") && one("[data-item]")) {
        event.preventDefault();
        all("[data-item]")[0].focus();
      } else if (event.key === "Escape") {
        event.target.blur();
      }
      return;
    }
    if (!on.checked && event.key !== "?") return;
    if (event.key.length === 1 && press(event.key)) event.preventDefault();
  });
})();
