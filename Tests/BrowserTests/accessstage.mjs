// What the tests of accessibility share: ways through the page, how it looks, and what one asks of it.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./browser.mjs";

/** The text of axe-core, which a package of Python has, if it is installed. */
export function axeSource() {
  const where = "import axe_playwright_python as axe, os; print(os.path.dirname(axe.__file__))";
  const { stdout, status } = spawnSync("python3", ["-c", where], { encoding: "utf8" });
  const folders = [process.env.AXE, status === 0 ? stdout.trim() : undefined].filter(folder => folder);
  const path = folders.map(folder => join(folder, "axe.min.js")).find(path => existsSync(path));
  return path && readFileSync(path, "utf8");
}

/** Goes to a part of the page. */
export async function go(browser, fragment, isThere) {
  await browser.run(fragment => void (location.hash = fragment), fragment);
  await until(() => browser.run(isThere), String(isThere));
}

/** Goes to a list, and waits for its rows. */
export async function openList(browser, list, rows) {
  await browser.run(list => void (location.hash = `#list=${list}`), list);
  const isThere = () => browser.run(
    (list, rows) =>
      document.querySelector("h1")?.textContent === list && document.querySelectorAll(".row").length === rows,
    list,
    rows,
  );
  await until(isThere, `${list} has ${rows} rows`);
}

/** How wide the window is, which theme it has, and whether the system has its own colours. */
export async function look(browser, { width = 1280, theme = "light", forced = false } = {}) {
  await browser.cdp("Emulation.setDeviceMetricsOverride", {
    width, height: width < 600 ? 640 : 800, deviceScaleFactor: 1, mobile: false,
  });
  await browser.cdp("Emulation.setEmulatedMedia", {
    features: [
      { name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" },
      { name: "forced-colors", value: forced ? "active" : "none" },
    ],
  });
}

/** What has the focus, in a few words. */
export function focused(browser) {
  return browser.run(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return "nothing";
    if (element.matches(".row")) return `row ${element.querySelector(".text")?.textContent}`;
    return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
  });
}
