// Whether all can use the page: what axe finds, how large targets are, where the focus goes, what a screen reader says.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { axeSource, focused, go, look, openList } from "./accessstage.mjs";
import { Browser, KEYS, pause, until } from "./browser.mjs";
import { Other, ada, begin, browser, skip, stage } from "./stage.mjs";

const axe = axeSource();
const ALL = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
/** What a theme may change. */
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const today = new Date().toISOString().slice(0, 10);
/** How long others' changes are gathered at least, in ms. */
const PAUSE = 2000;

begin(() => Browser.chromium({ width: 1280, height: 800 }));

describe("access", { skip, timeout: 300_000 }, () => {
  const run = (...args) => stage.run(args);

  before(async () => {
    run("create", "mixed");
    const due = ["taxes due:2026-01-20", `plumber due:${today} @bob`];
    run("add", "-l", "mixed", "bread", "milk @alice", ...due, "vegetables");
    run("add", "-l", "mixed", "--level", "1", "carrots", "שלום עולם");
    run("add", "-l", "mixed", "--note", "a note ".repeat(20), "wordwithoutend".repeat(8));
    run("add", "-l", "mixed", "--heading", "# Market");
    run("add", "-l", "mixed", "--link", "https://example.org/soup", "Soup");
    run("done", "-l", "mixed", "1");
    run("create", "poker", "--deck", "--max-items", "5", "--kinds", "card");
    for (let i = 0; i < 5; i++) run("deal", "-l", "poker");
    run("create", "nothing");
    run("create", "full", "--max-items", "1");
    run("add", "-l", "full", "one");
    await ada.open(stage.page(), "Alice");
  });

  const open = (list, rows) => openList(browser, list, rows);
  const key = (...keys) => browser.press(keys);
  const has = css => until(() => browser.run(css => document.querySelector(css) !== null, css), css);
  const hasFocus = (...names) => until(async () => names.includes(await focused(browser)), `the focus is on ${names}`)
    .catch(async error => { throw new Error(`${error.message}, but it is on ${await focused(browser)}`); });
  const closeDialogs = () => browser.run(() => document.querySelectorAll("dialog").forEach(dialog => dialog.close()));
  const focusRow = n => browser.run(n => document.querySelectorAll(".row")[n].focus(), n);
  const rows = () =>
    browser.run(() => [...document.querySelectorAll(".row")].map(row => row.querySelector(".text")?.textContent));

  /** Each view: the way to it, which may give the way back. */
  const views = {
    lists: () => go(browser, "#", () => document.querySelectorAll("ul.lists li").length >= 4),
    "the menu of a list among the lists": async () => {
      await views.lists();
      await browser.click("ul.lists button");
      await has("dialog");
    },
    list: () => open("mixed", 11),
    "what is selected": async () => {
      await open("mixed", 11);
      await focusRow(0);
      await key("V", "j", " ");
      await has(".selection:not([hidden])");
    },
    field: async () => {
      await open("mixed", 11);
      await focusRow(1);
      await key("e");
      await has("textarea.field");
    },
    cards: () => open("poker", 5),
    "empty list": async () => {
      await go(browser, "#list=nothing", () => /is empty/.test(document.querySelector(".empty")?.textContent ?? ""));
    },
    item: async () => {
      await open("mixed", 11);
      await focusRow(1);
      await key(KEYS.enter);
      await until(() => browser.run(() => document.querySelector("dialog time") !== null), "the item's history");
    },
    "menu of the list": async () => {
      await open("mixed", 11);
      await browser.click(".bar [aria-label='More for this list']");
    },
    history: () => go(browser, "#list=mixed&history", () => document.querySelectorAll("ol.history li").length > 3),
    people: async () => {
      await open("mixed", 11);
      await focusRow(0);
      await key("w");
      await has("dialog li");
    },
    connection: async () => {
      await open("mixed", 11);
      await browser.click(".badge");
      await has("dialog");
    },
    help: async () => {
      await open("mixed", 11);
      await focusRow(0);
      await key("?");
      await has("dialog dl");
    },
    question: async () => {
      await open("mixed", 11);
      await focusRow(0);
      await key(":");
      await has("dialog input");
    },
    notice: async () => {
      await open("full", 1);
      await focusRow(0);
      await key("y", "p");
      await has(".notice:not([hidden])");
    },
    toast: async () => {
      await open("mixed", 11);
      await focusRow(10);
      await key("d");
      await has(".toast:not([hidden]) button");
      // It stays while the pointer is over it.
      const [x, y] = await ada.place(".toast:not([hidden])");
      await browser.pointer([["move", x, y]]);
      return async () => {
        await browser.click(".toast button");
        await until(async () => (await rows()).length === 11, "the item is back");
      };
    },
  };

  const inject = async () => {
    await browser.cdp("Page.setBypassCSP", { enabled: true });
    await browser.run(`() => { ${axe}\n}`);
  };
  const violations = (runOnly = ALL) => browser.wait(async runOnly => {
    const { violations } = await window.axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations.flatMap(
      ({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    );
  }, runOnly);

  const sizes = () => browser.run(() => {
    const wrong = [];
    if (document.documentElement.scrollWidth > innerWidth) {
      wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
    }
    for (const element of document.querySelectorAll("a[href], button, input, textarea, select, [tabindex]:not(h1)")) {
      const { width, height } = element.getBoundingClientRect();
      if (width === 0 || element.matches(":disabled")) continue;
      if (width < 24 || height < 24) wrong.push(`${element.outerHTML.slice(0, 100)} is ${width} x ${height}`);
    }
    for (const [css, least] of [[".grid:not(.hand) .text, .field", 6], ["dialog h2, .toast span, .selected", 4]]) {
      for (const text of document.querySelectorAll(css)) {
        const letters = text.getBoundingClientRect().width / parseFloat(getComputedStyle(text).fontSize);
        const isNarrow = letters > 0 && letters < least;
        if (isNarrow) wrong.push(`${text.textContent || text.value} has room for ${letters} letters`);
      }
    }
    return wrong;
  });

  /** As large as a person may want letters to be. */
  const enlarge = factor =>
    browser.cdp("Page.setFontSizes", { fontSizes: { standard: 16 * factor, fixed: 13 * factor } });

  /** What is wrong with one view: sizes by its width, and what axe finds in each theme. */
  async function faults(width) {
    const found = { sizes: await sizes(), axe: [] };
    await enlarge(2);
    found.sizes.push(...(await sizes()).map(fault => `large: ${fault}`));
    await enlarge(1);
    if (!axe) return found;
    const colours = [{ theme: "dark" }, ...(width === 1280 ? [{ forced: true }] : [])];
    found.axe.push(...(await violations()));
    for (const one of colours) {
      await look(browser, { width, ...one });
      found.axe.push(...(await violations(COLOURS)).map(fault => `${JSON.stringify(one)}: ${fault}`));
    }
    return found;
  }

  /** What is wrong in all views; they are gone through once. */
  let wrong;
  async function lookAround() {
    if (axe) await inject();
    const wrong = { sizes: [], axe: [] };
    for (const width of [320, 1280]) {
      for (const [name, visit] of Object.entries(views)) {
        await look(browser, { width });
        const leave = await visit();
        const found = await faults(width);
        for (const kind of ["sizes", "axe"]) {
          wrong[kind].push(...found[kind].map(fault => `${name}, ${width}: ${fault}`));
        }
        await leave?.();
        await closeDialogs();
        await go(browser, "#", () => document.querySelector("ul.lists") !== null);
      }
    }
    await look(browser);
    return wrong;
  }

  test("what can be pressed has at least 24 pixels, and nothing is wider than the window", async () => {
    assert.deepEqual((await (wrong ??= lookAround())).sizes, []);
  });

  test("axe finds nothing in any view", {
    skip: !axe && "axe is not installed (Python's package axe-playwright-python)",
  }, async () => {
    assert.deepEqual((await (wrong ??= lookAround())).axe, []);
  });

  test("a welcome has no faults either", async () => {
    await browser.run(() => localStorage.clear());
    await browser.reload();
    await has("#name");
    if (axe) {
      await inject();
      for (const one of [{ width: 320 }, { theme: "dark" }, { forced: true }]) {
        await look(browser, one);
        assert.deepEqual(await violations(), []);
      }
    }
    await look(browser);
    await hasFocus("If not: your name, as others will see it");
    await key(..."Alice", KEYS.enter);
    await has("ul.lists li");
  });

  test("the tab key goes through the page, and into the rows once", async () => {
    await open("mixed", 11);
    await ada.hears(/^saved$/);
    await browser.run(() => (document.querySelector(".home").focus(), 0));
    const seen = [];
    for (let i = 0; i < 10; i++) {
      seen.push(await focused(browser));
      await key(KEYS.tab);
    }
    const wanted = [
      "‹ All lists", "saved", "Show only items that contain", "More for this list", "row", "New item", "Add",
    ];
    // What was done to the list before decides which row it is, and whether there is something to undo, or to redo.
    const others = seen.filter(name => !["Undo", "Redo", "nothing"].includes(name))
      .map(name => name.replace(/^row .*/, "row"));
    assert.deepEqual(others.slice(0, wanted.length), wanted);
  });

  test("rows say which ones they are, and left and right go through their parts", async () => {
    await open("mixed", 11);
    const grid = await browser.run(() => {
      const grid = document.querySelector(".grid");
      const rows = [...grid.querySelectorAll("[role=row]")];
      return {
        role: grid.getAttribute("role"), count: grid.getAttribute("aria-rowcount"),
        stops: grid.querySelectorAll("[tabindex='0']").length,
        labels: rows.map(row => row.getAttribute("aria-label")).slice(0, 4),
        indexes: rows.map(row => Number(row.getAttribute("aria-rowindex"))), level: rows[5].getAttribute("aria-level"),
      };
    });
    assert.deepEqual(grid.labels, [
      "bread, ticked", "milk @alice, not ticked", "taxes due:2026-01-20 overdue, not ticked",
      `plumber due:${today} today @bob, not ticked`,
    ]);
    delete grid.labels;
    assert.deepEqual(grid, {
      role: "treegrid", count: "11", stops: 1, indexes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], level: "2",
    });
    await focusRow(4);
    const seen = [];
    for (let i = 0; i < 4; i++) {
      seen.push(await focused(browser));
      await key(KEYS.right);
    }
    assert.deepEqual(seen, ["row vegetables", "Fold", "Done: vegetables", "Actions for vegetables"]);
    await key(KEYS.left, KEYS.left, KEYS.left, KEYS.down);
    await hasFocus("row carrots");
  });

  test("in a hand of cards, left and right go from card to card", async () => {
    await open("poker", 5);
    const boxes = await browser.run(
      () => [...document.querySelectorAll(".row")].map(row => row.getBoundingClientRect().top),
    );
    assert.equal(new Set(boxes).size, 1, "the cards are side by side");
    await focusRow(0);
    await key(KEYS.right, KEYS.right);
    assert.equal(await browser.run(() => document.activeElement.getAttribute("aria-rowindex")), "3");
    await look(browser, { width: 320 });
    assert.equal(
      new Set(
        await browser.run(() => [...document.querySelectorAll(".row")].map(row => row.getBoundingClientRect().top)),
      ).size,
      1,
    );
    await look(browser);
  });

  test("cards are dragged sideways", async () => {
    await open("poker", 5);
    const names = () =>
      browser.run(() => [...document.querySelectorAll(".face")].map(face => face.getAttribute("aria-label")));
    const [first, ...others] = await names();
    const middle = css => browser.run(
      css => {
        const { left, top, width, height } = document.querySelector(css).getBoundingClientRect();
        return [left + width / 2, top + height / 2];
      },
      css,
    );
    const [x, y] = await middle(".row:nth-child(3) .face");
    await browser.drag([await middle(".row .grip"), [x - 30, y], [x + 20, y]]);
    await until(
      async () => (await names()).join() === [others[0], others[1], first, others[2], others[3]].join(),
      "the first card is the third",
    );
  });

  test("what has the focus is not behind what stays at an edge", async () => {
    run("create", "long");
    run("add", "-l", "long", ...Array.from({ length: 60 }, (_, i) => `item ${i} ${"word ".repeat(i % 20)}`));
    await look(browser, { width: 320 });
    await open("long", 60);
    const covered = () => browser.run(() => {
      const { left, right, top, bottom } = document.activeElement.getBoundingClientRect();
      const isSeen = y => document.activeElement.contains(document.elementFromPoint((left + right) / 2, y));
      return document.activeElement.matches(".row") && isSeen(top + 3) && isSeen(bottom - 3)
        ? ""
        : document.activeElement.textContent;
    });
    await focusRow(0);
    for (const one of ["j", "k"]) {
      for (let i = 0; i < 40; i++) {
        await key(one);
        assert.equal(await covered(), "");
      }
    }
    await key("V");
    for (let i = 0; i < 30; i++) {
      await key("j");
      assert.equal(await covered(), "", "while items are selected");
    }
    await key(KEYS.escape);
    await look(browser);
  });

  test("each level is further in than the one above it, and leaves the text its place", async () => {
    run("create", "deep");
    const lines = Array.from({ length: 16 }, (_, level) => `${"  ".repeat(level)}- [ ] level ${level}\n`);
    stage.run(["import", "-l", "deep", "-"], { input: lines.join("") });
    for (const width of [320, 1280]) {
      await look(browser, { width });
      await open("deep", 16);
      const starts = await browser.run(
        () => [...document.querySelectorAll(".row .start")].map(start => start.getBoundingClientRect().left),
      );
      for (let level = 1; level < 16; level++) assert.ok(starts[level] >= starts[level - 1] + 4, `${width}: ${starts}`);
      const room = await browser.run(() => [...document.querySelectorAll(".row .text")].at(-1).offsetWidth);
      assert.ok(room >= 80, `${width}: the last one has room for ${room} pixels`);
    }
    await look(browser);
  });

  test("one hears how much is found, and what happens behind a dialog", async () => {
    await open("mixed", 11);
    const urgent = text => until(
      () => browser.run(text => document.getElementById("urgent").textContent.trim() === text, text),
      `“${text}” is said`,
    );
    await focusRow(0);
    await key("/", ..."car");
    await urgent("1 of 11 items");
    await key(KEYS.escape);
    await open("mixed", 11);
    await browser.click(".badge");
    await until(
      () => browser.run(() => document.querySelectorAll("dialog .heard").length === 2),
      "the live regions are in it",
    );
    await key(KEYS.escape);
    await until(() => browser.run(() => document.querySelectorAll("body > .heard").length === 2), "they are back");
  });

  test("after a deletion the next row has the focus, or the previous one, or the title", async () => {
    run("create", "short");
    run("add", "-l", "short", "a", "b", "c", "d", "e", "f");
    await open("short", 6);
    await focusRow(1);
    await key("d");
    await hasFocus("row c");
    await stage.has("short", ["a", "c", "d", "e", "f"]);
    // Somebody else deletes what has the focus, and what is above it.
    run("rm", "-l", "short", "1-2");
    await hasFocus("row d");
    await key(KEYS.enter);
    await has("dialog");
    await browser.run(
      () => [
        ...document.querySelectorAll("dialog button"),
      ].find(button => button.textContent.startsWith("Delete")).click(),
    );
    await hasFocus("row e");
    await key("j", "d");
    await hasFocus("row e");
    await stage.has("short", ["e"]);
    // A dialog is open while the row goes.
    await key(KEYS.enter);
    await has("dialog");
    run("rm", "-l", "short", "1");
    await until(async () => (await rows()).length === 0, "the list is empty");
    await key(KEYS.escape);
    await hasFocus("short");
    await until(() => browser.run(() => document.querySelector(".grid").hidden), "there is no grid");
  });

  test("several rows are selected and changed without a keyboard", async () => {
    run("create", "several");
    run("add", "-l", "several", "a", "b", "c", "d", "e");
    await open("several", 5);
    const press = (css, text) => browser.run(
      (css, text) =>
        void [...document.querySelectorAll(css)].find(element => element.textContent.startsWith(text)).click(),
      css,
      text,
    );
    await browser.click(".bar [aria-label='More for this list']");
    await press("dialog button", "Select several");
    await has(".picking");
    await press(".row .text", "a");
    await press(".row .text", "c");
    await press(".row .text", "e");
    const counts = text =>
      until(() => browser.run(text => document.querySelector(".selected").textContent === text, text), text);
    await counts("3 items selected");
    await press(".selection button", "Tick");
    const ticked = () =>
      browser.run(() => [...document.querySelectorAll(".row.done .text")].map(text => text.textContent).join(""));
    await until(async () => (await ticked()) === "ace", "three are ticked");
    await press(".row .text", "e");
    await counts("2 items selected");
    await press(".selection button", "Move");
    await press("dialog button", "To the end");
    await until(async () => (await rows()).join("") === "bdeac", "they are moved");
    await press(".selection button", "Delete");
    await until(async () => (await rows()).join("") === "bde", "they are deleted");
    await until(() => browser.run(() => document.querySelector(".selection").hidden), "nothing is selected");
    await until(() => browser.run(() => document.activeElement.matches(".row")), "a row has the focus");
  });

  test("a screen reader is told of others at most each two seconds, and not while one types", async t => {
    run("create", "busy");
    run("add", "-l", "busy", "milk", "bread");
    const bob = new Other(stage, "busy", "Bob");
    t.after(() => bob.close());
    await bob.quiet();
    await ada.open(stage.page("busy"));
    await ada.sees("milk", "bread");
    await browser.run(() => {
      window.told = [];
      const polite = document.getElementById("polite");
      polite.textContent = "";
      window.watcher = new MutationObserver(() => polite.textContent && window.told.push([
        performance.now(), polite.textContent,
      ]));
      window.watcher.observe(polite, { childList: true, characterData: true, subtree: true });
    });
    const told = () => browser.run(() => window.told);
    /** Some ms on the page's own clock, which waits for a page that is slow. */
    const passes = ms => browser.wait(ms => new Promise(resolve => setTimeout(resolve, ms)), ms);
    await Promise.all([bob.tick(1), bob.add("eggs")]);
    await until(async () => (await told()).length > 0, "the first batch");
    assert.equal((await told())[0][1], "Bob ticked bread, added eggs");
    const before = await tree();
    for (let i = 0; i < 24; i++) {
      await bob.add(`item ${i}`);
      await pause(100);
    }
    await until(async () => (await rows()).length === 27, "all are there");
    await passes(PAUSE + 500);
    const all = await told();
    for (let i = 1; i < all.length; i++) {
      assert.ok(all[i][0] - all[i - 1][0] > PAUSE * 0.95, `${all[i][0] - all[i - 1][0]} ms after the one before`);
    }
    assert.ok(all.slice(1).every(([, text]) => /^Bob (changed|added)/.test(text)), JSON.stringify(all));
    const now = await tree();
    assert.deepEqual([before.rows, now.rows], [3, 27]);
    assert.ok(now.live.includes(all.at(-1)[1]), `the live regions say ${now.live}`);
    // Nobody talks into what one writes.
    await browser.type("#composer", "half a word");
    await bob.add("quiet");
    await until(async () => (await rows()).length === 28, "it is shown");
    await passes(2 * PAUSE + 500);
    assert.equal((await told()).length, all.length);
    await browser.run(() => { document.querySelector("#composer").value = ""; });
    await until(async () => (await told()).length === all.length + 1, "it is told afterwards");
    assert.match((await told()).at(-1)[1], /^Bob added quiet/);
  });

  /** The tree of accessibility: how many rows it has, and what its live regions say. */
  async function tree() {
    const { nodes } = await browser.cdp("Accessibility.getFullAXTree");
    const byId = new Map(nodes.map(node => [node.nodeId, node]));
    const textOf = node => (node.role?.value === "StaticText" ? node.name?.value ?? "" : (node.childIds ?? []).map(
      id => (byId.has(id) ? textOf(byId.get(id)) : ""),
    ).join(""));
    const isRegion = ({ role }) => role?.value === "status" || role?.value === "alert";
    const named = nodes.filter(node => !node.ignored);
    return { rows: named.filter(({ role }) => role?.value === "row").length, live: named.filter(isRegion).map(textOf) };
  }

  test("one's own moves and refusals are said at once", async () => {
    await open("mixed", 11);
    const urgent = () => browser.run(() => document.getElementById("urgent").textContent.trim());
    await focusRow(1);
    await key("J");
    await until(async () => (await urgent()) === "Moved to 3 of 11.", "the move is said");
    await hasFocus("row milk @alice");
    await key("K");
    await until(async () => (await urgent()) === "Moved to 2 of 11.", "the move back is said");
    await open("full", 1);
    await focusRow(0);
    await key("y", "p");
    await until(async () => (await urgent()).startsWith("Your edit was not taken"), "the refusal is said");
  });

  test("everything works by keyboard alone", async () => {
    await views.lists();
    await browser.run(() => (document.querySelector("h1").focus(), 0));
    await key("n");
    await has("dialog input");
    await key(..."trip", KEYS.enter);
    await until(() => browser.run(() => document.querySelector("h1")?.textContent === "trip"), "the list is open");
    await hasFocus("New item");
    await key(..."tent", KEYS.enter, ..."stove", KEYS.enter, ..."map", KEYS.enter, KEYS.escape);
    await until(async () => (await rows()).join() === "tent,stove,map", "three items");
    await until(() => browser.run(() => document.activeElement.matches(".row")), "a row has the focus");
    await key("g", " ");
    await until(
      () => browser.run(() => document.querySelector(".row.done .text")?.textContent === "tent"),
      "it is ticked",
    );
    await key("e", KEYS.end, ..." for two", KEYS.enter);
    await until(async () => (await rows())[0] === "tent for two", "it is edited");
    await hasFocus("row tent for two");
    await key(":");
    await has("dialog input");
    await key("3", KEYS.enter);
    await until(async () => (await rows()).join() === "stove,map,tent for two", "it is moved");
    await hasFocus("row tent for two");
    await browser.press([KEYS.up], KEYS.alt);
    await until(async () => (await rows()).join() === "stove,tent for two,map", "it is moved up");
    await key(">");
    await until(() => browser.run(() => document.activeElement.getAttribute("aria-level") === "2"), "it is a sub-item");
    await key("d");
    await hasFocus("row map");
    await key("u");
    await until(async () => (await rows()).length === 3, "it is back");
    await hasFocus("row tent for two");
    // Into a menu, and out of it by escape.
    await key(KEYS.enter);
    await has("dialog");
    await key(KEYS.escape);
    await hasFocus("row tent for two");
    await key("H");
    await has("ol.history li");
    await hasFocus("History of trip");
    await key(KEYS.escape);
    await until(() => browser.run(() => document.querySelectorAll(".row").length === 3), "the list is back");
    await key("j");
    await until(() => browser.run(() => document.activeElement.matches(".row")), "a row has the focus");
    await key("w");
    await has("dialog li");
    assert.match(await browser.run(() => document.querySelector("dialog li").textContent), /^Alice \(you\), /);
    await key(KEYS.escape, KEYS.escape);
    await until(
      () => browser.run(() => document.activeElement.matches("[data-name=trip] a")),
      "the focus is on the list that one left",
    );
  });

  test("letters can be switched off as keys", async () => {
    await open("mixed", 11);
    await focusRow(2);
    await key("?");
    await has("dialog .choice");
    await browser.click("dialog .choice");
    await key(KEYS.escape);
    await hasFocus("row taxes due:2026-01-20");
    await key("d", "j", KEYS.down);
    await hasFocus(`row plumber due:${today} @bob`);
    assert.equal((await rows()).length, 11);
    await browser.press([KEYS.down], KEYS.alt);
    await key("?");
    assert.equal(await browser.run(() => document.querySelector("dialog")), null);
    await key("\uE031");
    await has("dialog .choice");
    await browser.click("dialog .choice");
    await key(KEYS.escape);
  });

  test("names and days are marked by more than a colour", async () => {
    await open("mixed", 11);
    const looks = await browser.run(() => [...document.querySelectorAll(".named, .due")].map(element => [
      element.textContent, Number(getComputedStyle(element).fontWeight) >= 700,
      getComputedStyle(element, "::after").content,
    ]));
    const of = text => looks.find(([word]) => word === text).slice(1);
    assert.deepEqual(of("@alice"), [true, "none"]);
    assert.deepEqual(of("@bob"), [false, "none"]);
    assert.deepEqual(of("due:2026-01-20"), [true, '" overdue"']);
    assert.deepEqual(of(`due:${today}`), [true, '" today"']);
  });

  test("one hears that the connection is lost, and that it is back", async () => {
    await open("mixed", 11);
    await stage.kill();
    const urgent = text => until(
      () => browser.run(text => document.getElementById("urgent").textContent.startsWith(text), text),
      `“${text}” is said`,
    );
    await urgent("offline");
    if (axe) assert.deepEqual((await inject(), await violations()), []);
    await stage.restart();
    await urgent("Online again.");
  });
});
