// Reordering with a pointer: mouse, pen or finger, on a handle. The row is only moved when the pointer is let go; until
// then a line shows where it will be. If the system takes the pointer away, nothing has happened.

/**
 * What a drag asks of its owner.
 * @typedef {object} Owner
 * @property {(id: string) => void} begin
 * @property {(id: string, target: string | undefined, isBelow: boolean) => void} drop the row goes above or below
 *   another one
 */

/** How near the edge of the window the page scrolls, and how far at once, in CSS pixels. */
const EDGE = 72;
const STEP = 14;

/**
 * Lets rows be dragged by their handles.
 * @param {HTMLElement} grid @param {Owner} owner
 */
export function makeDraggable(grid, owner) {
  /**
   * @type {{ id: string, row: HTMLElement, target: HTMLElement | undefined, isBelow: boolean, y: number } | undefined}
   */
  let drag;
  let frame = 0;
  const rowOf = (/** @type {EventTarget | null} */ target) =>
    /** @type {HTMLElement | null} */ (target instanceof Element ? target.closest(".row") : null);

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
    const at = document.elementsFromPoint(Math.min(Math.max(x, box.left + 8), box.right - 8), y);
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
    drag?.row.classList.remove("dragged");
    drag = undefined;
    show();
  };

  grid.addEventListener("pointerdown", event => {
    const row = rowOf(event.target);
    if (!row || event.button !== 0 || !(event.target instanceof Element) || !event.target.closest(".grip")) return;
    if (grid.classList.contains("picking")) return;
    event.preventDefault();
    event.target.setPointerCapture(event.pointerId);
    drag = { id: row.dataset.id ?? "", row, target: undefined, isBelow: false, y: event.clientY };
    row.classList.add("dragged");
    owner.begin(drag.id);
    frame = requestAnimationFrame(scroll);
  });
  grid.addEventListener("pointermove", event => look(event.clientX, event.clientY));
  grid.addEventListener("pointercancel", end);
  grid.addEventListener("pointerup", () => {
    const last = drag;
    end();
    // The place is named by a neighbour, since others may have moved everything meanwhile.
    if (last?.target) owner.drop(last.id, last.target.dataset.id, last.isBelow);
  });
  addEventListener("keydown", event => {
    if (event.key === "Escape") end();
  });
}
