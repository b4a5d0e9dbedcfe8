// What keys, clicks and drags in the rows of a list mean.

import { isDialogOpen } from "./dialogs.js";
import { actionOf } from "./keys.js";

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {import('./listscreen.js').ListScreen} ListScreen */
/** @typedef {(target: string, isBelow: boolean) => void} Drop the row goes above or below another one */

/** How near the edge of the window the page scrolls, and how far at once, in CSS pixels. */
const EDGE = 72;
const STEP = 14;

/** @param {App} app @param {Grid} grid @param {ListScreen} screen */
export function hearGestures(app, grid, screen) {
  grid.element.addEventListener("mousedown", event => {
    const isSelecting = event.shiftKey || event.ctrlKey || event.metaKey;
    const isField = event.target instanceof Element && event.target.closest(".field") !== null;
    // The focus would go to the row: a range begins where it was, and letters are for what has it.
    if (!isField && (misses(event) || isSelecting)) event.preventDefault();
  });
  grid.element.addEventListener("click", click);
  grid.element.addEventListener("dblclick", ({ target }) => {
    if (!grid.isPicking && target instanceof Element && target.closest(".text")) screen.perform("edit");
  });
  screen.element.addEventListener("keydown", key);

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (isDialogOpen() || event.defaultPrevented) return;
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    const isInGrid = grid.hasFocus;
    // A key of the grid is no key where one writes, and buttons have keys of their own.
    if (!isInGrid && !target?.matches("h1")) return;
    if (app.ignores(event)) return;
    const isButton = target?.matches("button, a") === true;
    if (isButton && (event.key === "Enter" || event.key === " ")) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") return sideways(event);
    const action = actionOf(event);
    if (!action) return;
    // From elsewhere, the browser scrolls, and the first step is into the grid: one acts on what one sees.
    if (!isInGrid && /^( |Page|Home|End)/.test(event.key)) return;
    event.preventDefault();
    if (!isInGrid && grid.rows.count > 0 && screen.actions.isOnItem(action)) return grid.focus();
    if (action === "tick" && grid.isPicking) return grid.togglePick(grid.current);
    screen.perform(action);
  }

  /**
   * Left and right go through what a row has.
   * @param {KeyboardEvent} event
   */
  function sideways(event) {
    const row = grid.view(grid.current ?? "")?.element;
    if (grid.isHand && !event.altKey) {
      event.preventDefault();
      return screen.perform(event.key === "ArrowRight" ? "down" : "up");
    }
    if (!row || event.altKey) {
      const action = actionOf(event);
      if (action) event.preventDefault();
      return action && screen.perform(action);
    }
    const inside = /** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll("button, input, a"));
    const parts = [row, ...inside].filter(part => !part.hidden);
    const at = parts.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    event.preventDefault();
    parts[Math.min(Math.max(at + (event.key === "ArrowRight" ? 1 : -1), 0), parts.length - 1)]?.focus();
  }

  /**
   * Whether others have moved another row to where the person presses. Keys click, too, and point at nothing; and so
   * does the end of a drag.
   * @param {MouseEvent} event
   */
  function misses(event) {
    const isDrag = event.target instanceof Element && event.target.closest(".grip") !== null && !grid.isPicking;
    const id = idOf(event);
    return id !== undefined && event.detail > 0 && !isDrag && grid.hasJustCome(id, event);
  }

  /** @param {MouseEvent} event */
  function click(event) {
    const target = event.target instanceof Element ? event.target : undefined;
    const id = idOf(event);
    if (!target || id === undefined || target.closest(".field, .keys")) return;
    if (misses(event)) {
      event.preventDefault();
      return app.toast("The rows have just moved, so nothing was done. Press again.");
    }
    if (grid.isPicking || ((event.ctrlKey || event.metaKey) && !target.closest("a"))) {
      event.preventDefault();
      grid.pick();
      grid.setCurrent(id);
      return grid.togglePick(id);
    }
    if (event.shiftKey) {
      if (!grid.isSelecting) grid.toggleRange();
    } else grid.deselect();
    grid.setCurrent(id);
    if (target.matches("input")) {
      event.preventDefault();
      // The box shows what the list says, not what the browser would. Another row may be the current one by then.
      const perform = screen.actions.later();
      setTimeout(() => perform("tick"));
    } else if (target.closest(".fold")) screen.perform("fold");
    else if (target.closest(".more")) screen.perform("open");
    else if (target.closest("a")) return;
    else if (target.closest(".row:not(.card) .text") && !event.shiftKey && isTouched()) screen.perform("edit");
    else grid.focus();
  }
}

/**
 * Reordering with a pointer: mouse, pen or finger, on a handle. The row is only moved when the pointer is let go; until
 * then a line shows where it will be. If the system takes the pointer away, nothing has happened.
 * @param {HTMLElement} grid @param {(id: string) => Drop} begin
 */
export function makeDraggable(grid, begin) {
  /**
   * @type {{
   *   drop: Drop, pointer: number, row: HTMLElement, target: HTMLElement | undefined, isBelow: boolean, y: number
   * } | undefined}
   */
  let drag;
  let frame = 0;
  let hearing = new AbortController();
  const rowOf = (/** @type {EventTarget | null} */ target) =>
    /** @type {HTMLElement | null} */ (target instanceof Element ? target.closest(".row") : null);

  const isDragging = (/** @type {PointerEvent} */ { pointerId }) => drag?.pointer === pointerId;

  const show = () => {
    for (const row of grid.querySelectorAll(".drop-above, .drop-below")) {
      row.classList.remove("drop-above", "drop-below");
    }
    drag?.target?.classList.add(drag.isBelow ? "drop-below" : "drop-above");
  };

  const look = (/** @type {number} */ x, /** @type {number} */ y) => {
    if (!drag) return;
    drag.y = y;
    const box = grid.getBoundingClientRect();
    // Above the rows is above the first one, and below them below the last one.
    const [within, level] = [Math.min(Math.max(x, box.left + 8), box.right - 8), Math.min(y, box.bottom - 8)];
    const at = document.elementsFromPoint(within, Math.max(level, box.top + 8));
    const row = at.map(rowOf).find(row => row !== null && grid.contains(row));
    if (!row) return;
    const { top, left, width, height } = row.getBoundingClientRect();
    drag.target = row === drag.row ? undefined : row;
    drag.isBelow = grid.classList.contains("hand") ? x > left + width / 2 : y > top + height / 2;
    show();
  };

  const scroll = () => {
    if (!drag) return;
    const way = drag.y < EDGE ? -STEP : drag.y > innerHeight - EDGE ? STEP : 0;
    if (way !== 0) {
      scrollBy(0, way);
      look(innerWidth / 2, drag.y);
    }
    frame = requestAnimationFrame(scroll);
  };

  const end = () => {
    cancelAnimationFrame(frame);
    hearing.abort();
    drag?.row.classList.remove("dragged");
    drag = undefined;
    show();
  };

  grid.addEventListener("pointerdown", event => {
    const row = rowOf(event.target);
    if (!row || event.button !== 0 || !(event.target instanceof Element) || !event.target.closest(".grip")) return;
    // A second finger does nothing.
    if (drag || grid.classList.contains("picking")) return;
    event.preventDefault();
    event.target.setPointerCapture(event.pointerId);
    const drop = begin(row.dataset.id ?? "");
    drag = { drop, pointer: event.pointerId, row, target: undefined, isBelow: false, y: event.clientY };
    row.classList.add("dragged");
    frame = requestAnimationFrame(scroll);
    // The row may be taken away, and then the pointer is let go anywhere.
    hearing = new AbortController();
    const { signal } = hearing;
    addEventListener("pointermove", event => isDragging(event) && look(event.clientX, event.clientY), { signal });
    addEventListener("pointercancel", event => isDragging(event) && end(), { signal });
    addEventListener("pointerup", event => isDragging(event) && finish(), { signal });
    // Before the grid hears it, which would go back.
    addEventListener("keydown", event => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      end();
    }, { signal, capture: true });
  });

  const finish = () => {
    const last = drag;
    end();
    // The place is named by a neighbour, since others may have moved everything meanwhile.
    if (last?.target) last.drop(last.target.dataset.id ?? "", last.isBelow);
  };
}

/**
 * The item of the row in which something happens.
 * @param {Event} event
 */
function idOf({ target }) {
  const row = target instanceof Element ? target.closest(".row") : null;
  return row instanceof HTMLElement ? row.dataset.id : undefined;
}

/** Whether the person points with a finger. */
function isTouched() {
  return matchMedia("(pointer: coarse)").matches;
}
