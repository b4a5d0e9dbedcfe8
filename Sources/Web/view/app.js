// The page as a whole: its head, which screen is shown, when it is drawn, and what it says.

import { TooLarge } from "../client/replica.js";
import { commitsOf } from "../client/requests.js";
import { DoesNotFit } from "../client/splices.js";
import { amount } from "./content.js";
import { closeDialogs, onFocusLost } from "./dialogs.js";
import { button, fill, h, setAttribute, setText } from "./dom.js";
import { HistoryScreen } from "./historyscreen.js";
import { NO_LETTERS } from "./keys.js";
import { ListScreen, rememberPlace } from "./listscreen.js";
import { ListsScreen } from "./listsscreen.js";
import { seenRevision, setSeen } from "./news.js";
import { addNotice, noticeOf } from "./noticebar.js";
import { showConnection, showPeople } from "./pagedialogs.js";
import { fragmentOf, routeOf } from "./route.js";
import { errorText } from "./sentences.js";

/** @typedef {import('./clients.js').Clients} Clients */
/** @typedef {import('./route.js').Route} Route */
/** @typedef {import('./speech.js').Speech} Speech */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/replica.js').Told} Told */

/** How long a short message stays, in ms; one with a button stays longer. */
const TOAST = 4000;
const TOAST_WITH_BUTTON = 10_000;
/** A composer this near to the end of the window, in pixels, would be covered by a short message. */
const NEAR = 180;
/** How long another list is waited for, in ms. */
const WAITING = 8000;
/** How often a list that has ended is asked for, in ms. */
const AGAIN = 5000;
/** How long keys are still for a field that was taken away, and each further key if one types on, in ms. */
const TYPING = 1500;
const TYPING_ON = 600;
/** Who has pressed a key within this time is typing, and sees what others do so often, in ms. */
const PRESSING = 250;
const REST = 120;
/** Edits of another tab that wait longer than this, in ms, may wait for good: their list may be gone. */
const OLD = 10_000;
/** The rules of a new list: those of `hand create`. */
const NEW_RULES = { maximumCount: 0x7fffffff, maximumSize: 16_384, maximumLevel: 15, deck: false };

/** A finger leaves nothing behind it, whatever a browser says of what was tapped last. */
const hovers = matchMedia("(hover: hover)");

export class App {
  /**
   * The names of authors.
   * @type {Map<number, string>}
   */
  #names = new Map();
  /** @type {ListScreen | ListsScreen | HistoryScreen | undefined} */
  #screen;
  /** @type {string | undefined} the list that the person has just made */
  #made;
  #toastTimer = 0;
  /** Takes the message away that is shown. */
  #done = () => {};
  /** What is drawn next, with a frame or without. */
  #frame = 0;
  #timer = 0;
  /** When what others have done is drawn while somebody types. */
  #soon = 0;
  #pressedAt = -Infinity;
  #drawnAt = -Infinity;
  #isAway = false;
  #typingUntil = 0;
  #navigated = Promise.resolve();
  /** @type {OpenList[]} lists of which something is still to be done */
  #held = [];
  clients;
  speech;
  /** @type {string | undefined} why the page cannot be kept for offline use */
  offlineProblem;
  #home = h("a", { href: "#", class: "home", onclick: () => this.#leaving() });
  #people = h("button", {
    type: "button", class: "quiet people", onclick: () => this.#screen?.open && showPeople(this, this.#screen.open),
  });
  #badge = h("button", { type: "button", class: "badge", onclick: () => showConnection(this) });
  #body = h("div", { id: "screen" });
  #toast = h("div", { class: "toast", hidden: true });

  /** @param {HTMLElement} root @param {Clients} clients @param {Speech} speech */
  constructor(root, clients, speech) {
    this.clients = clients;
    this.speech = speech;
    speech.isTyping = () => this.isTyping;
    const header = h("header", { class: "page" }, this.#home, this.#people, this.#badge);
    root.prepend(header, this.#body, this.#toast);
    clients.onchange = () => this.#drawSoon();
    clients.onother = isRefused => {
      if (isRefused) this.toast("That link is not valid any more. You go on without it.");
      this.#replaceScreen();
    };
    clients.ontold = (open, told) => void this.#told(open, told);
    addEventListener("hashchange", () => this.#navigateNext());
    // Browsers that report this also lead back to where one was with their own button.
    /** @type {any} */ (globalThis).navigation?.addEventListener("navigate", () => this.#leaving());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.#screen instanceof ListScreen) this.#screen.hide();
      this.draw();
    });
    for (const type of ["keydown", "beforeinput"]) {
      document.addEventListener(type, ({ timeStamp }) => (this.#pressedAt = timeStamp), true);
    }
    for (const type of ["copy", "cut", "paste"]) {
      document.addEventListener(type, event => this.#screen instanceof ListScreen && this.#screen.exchange(event));
    }
    setInterval(() => this.#drawHeader(), 1000);
    setInterval(() => this.#screen?.open?.subscription.hasEnded && this.client.revive(), AGAIN);
    onFocusLost(() => this.refocus());
    this.#navigateNext();
  }

  get client() {
    return this.clients.current;
  }

  /** Whether a new build of the page may be loaded now: nothing is being typed. */
  get isTyping() {
    return this.#screen?.isTyping === true;
  }

  /** What is said while something is awaited. */
  get waitingWords() {
    const { state, reason } = this.client.connection;
    if (state === "stopped") return errorText(reason);
    return state === "online" ? "Loading…"
      : state === "connecting" ? "Connecting…"
      : "The server cannot be reached. It is tried again.";
  }

  /** Whether the server has everything, and if not, who has it. */
  get badgeText() {
    const { connection, stuck, storage, waiting } = this.client;
    const where = storage.state === "kept" ? "kept on this device" : "only in this tab";
    const edits = waiting.count > 0 ? `, ${amount(waiting.count, "edit")} ${where}` : "";
    if (connection.state === "stopped") return `${errorText(connection.reason).replace(/\.$/, "")}${edits}`;
    if (connection.state === "connecting") return `connecting…${edits}`;
    if (connection.state !== "online") return `${connection.state}${edits}`;
    const { count, reason } = this.clients.elsewhere;
    if (waiting.count === 0 && this.#screen?.open?.subscription.hasEnded) return "connected";
    if (waiting.count === 0 && reason) return `saved, but not ${amount(count, "edit")} with another link`;
    if (waiting.count === 0) return count > 0 ? "saving…" : "saved";
    const left = stuck.reduce((sum, { count }) => sum + count, 0);
    const isOld = Date.now() > (waiting.since ?? Infinity) + OLD;
    if (left === 0 && waiting.others === waiting.count && isOld) {
      return `saved, but not ${amount(waiting.count, "edit")} of another tab`;
    }
    if (left === waiting.count) {
      const lists = stuck.length === 1 && stuck[0].name ? `“${stuck[0].name}”` : amount(stuck.length, "list");
      return `saved, but not ${amount(left, "edit")} of ${lists}`;
    }
    return connection.isSlow ? `not saved yet${edits}` : "saving…";
  }

  // Where one is

  /** @param {Route} route */
  go(route) {
    this.#leaving();
    location.hash = fragmentOf(route);
  }

  /**
   * What the device knows of a list is about its new name.
   * @param {string} former @param {string} name
   */
  listRenamed(former, name) {
    this.clients.renamed(former, name);
    const seen = seenRevision(this.client, former);
    if (seen === undefined) return;
    setSeen(this.client, former, undefined);
    setSeen(this.client, name, seen);
  }

  /** @param {string} id of an item @param {string} list that is shown, or whose history is */
  goToItem(id, list) {
    if (this.#screen instanceof ListScreen) return this.#screen.goToItem(id);
    rememberPlace(list, { id, top: innerHeight / 2, hasFocus: true });
    this.go({ list });
  }

  /** Something has changed; it is drawn with the next frame. */
  draw() {
    // Hidden pages have no frames.
    if (document.hidden) this.#timer ||= setTimeout(() => this.#drawNow());
    else this.#frame ||= requestAnimationFrame(() => this.#drawNow());
  }

  /**
   * Another list has the name of the one that was shown: what belongs to that one stays its own.
   * @param {OpenList} open
   */
  replaced(open) {
    this.toast(`“${open.name}” is another list now. The one before was renamed or deleted.`);
    this.#replaceScreen();
  }

  // Lists

  /**
   * Makes a list and opens it, unless the person has gone elsewhere meanwhile. Gives the reason if it cannot be.
   * @param {string} name
   */
  async makeList(name) {
    name = name.normalize("NFC");
    const screen = this.#screen;
    const end = this.toast(`Making “${name}”…`);
    try {
      await this.client.request({ type: "create", name, rules: NEW_RULES });
    } catch (error) {
      return errorText(error);
    } finally {
      end();
    }
    const open = () => {
      this.#made = name;
      this.go({ list: name });
    };
    if (screen === this.#screen) open();
    else this.toast(`“${name}” is made.`, { text: "Open the list", act: open });
    return undefined;
  }

  /**
   * Why the person may not do with a list what needs a role, if so.
   * @param {OpenList} list @param {number} role
   */
  refusal({ name, subscription: { ended } }, role) {
    return ended && role > 0 ? errorText(ended) : this.clients.refusal(name, role);
  }

  /**
   * The person edits a list, for which a role is needed. False if it cannot be, and then the person is told.
   * @param {OpenList} list @param {number} role
   * @param {(replica: import('../client/replica.js').Replica) => void} action
   */
  act(list, role, action) {
    const refusal = this.refusal(list, role);
    if (refusal) {
      this.toast(refusal);
      return false;
    }
    try {
      (this.clients.of(list) ?? this.client).act(list, action);
      this.draw();
      return true;
    } catch (error) {
      if (!(error instanceof DoesNotFit)) throw error;
      this.toast(error instanceof TooLarge ? error.message : "The list has changed meanwhile. Try again.");
      return false;
    }
  }

  /**
   * Lists are followed until this is called, whether they are shown or not.
   * @param {...OpenList} lists
   */
  hold(...lists) {
    this.#held.push(...lists);
    return () => {
      for (const list of lists) this.#held.splice(this.#held.indexOf(list), 1);
      for (const list of lists) this.#leave(list);
    };
  }

  /**
   * The server has answered for a list, or it takes too long.
   * @param {OpenList} list
   */
  isAnswered({ subscription }) {
    return until(() => subscription.isLive || subscription.hasEnded);
  }

  /**
   * Whether nothing of a list is waiting any more, after a while at most.
   * @param {OpenList} list
   */
  async isSent({ replica }) {
    await until(() => replica.pending.length === 0);
    return replica.pending.length === 0;
  }

  /**
   * The name of an author, who may not be here any more.
   * @param {OpenList} open @param {number} author @param {number} revision of one of the author's commits
   */
  async nameOf(open, author, revision) {
    const here = open.subscription.people.here.get(author)?.person ?? this.#names.get(author);
    if (here !== undefined || author === 0 || revision === 0) return here ?? "Somebody";
    try {
      const commits = await commitsOf(this.client, open.name, revision, revision);
      for (const { commit, who } of commits) this.#names.set(commit.author, who);
    } catch {
      // Without a connection, nobody knows the name.
    }
    return this.#names.get(author) ?? "Somebody";
  }

  // What the person says and hears

  /** A field was taken away while the person may be typing in it: the next letters were for the field. */
  fieldTaken() {
    this.#typingUntil = Date.now() + TYPING;
  }

  /**
   * Whether this key is to do nothing: it was for a field, or the person wants no letters as keys, since speech and
   * shaking hands press them by accident.
   * @param {KeyboardEvent} event
   */
  ignores({ key, altKey, ctrlKey, metaKey }) {
    if (Date.now() < this.#typingUntil && !/^(Arrow|Tab|Escape)/.test(key)) {
      this.#typingUntil = Math.max(this.#typingUntil, Date.now() + TYPING_ON);
      return true;
    }
    return key.length === 1 && key !== " " && !altKey && !ctrlKey && !metaKey
      && this.client.settings.get(NO_LETTERS) === true;
  }

  /**
   * A short message. Gives what takes it away.
   * @param {string} text @param {{ text: string, act: () => void }} [action]
   */
  toast(text, action) {
    const done = () => {
      if (this.#done !== done) return;
      const hadFocus = this.#toast.contains(document.activeElement);
      this.#toast.hidden = true;
      if (hadFocus) this.refocus();
    };
    // It does not go while somebody is about to press its button.
    const inUse = hovers.matches ? ":hover, :focus-within" : ":focus-within";
    const pass = () => (this.#toast.matches(inUse) ? void (this.#toastTimer = setTimeout(pass, TOAST)) : done());
    // The one before may have the focus.
    this.#done();
    fill(
      this.#toast,
      h("span", { dir: "auto" }, text),
      action && button(action.text, () => (done(), action.act())),
    );
    this.#toast.hidden = false;
    // Once what it is about is drawn.
    this.draw();
    this.#done = done;
    this.speech.say(text);
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(pass, action ? TOAST_WITH_BUTTON : TOAST);
    return done;
  }

  // Private

  /** Another place is gone to: for some of them, the browser scrolls to the top before it says so. */
  #leaving() {
    if (this.#screen instanceof ListScreen) this.#screen.leaving();
  }

  /** A short message covers neither where one types nor what can be done with what is selected. */
  #placeToast() {
    if (this.#toast.hidden) return;
    const boxOf = (/** @type {string} */ css) =>
      this.#screen?.element.querySelector(css)?.getBoundingClientRect() ?? new DOMRect();
    const { style } = this.#toast;
    const line = boxOf(":is(.composer, .selection):not([hidden])");
    const isNear = line.top < innerHeight && innerHeight - line.bottom < NEAR;
    style.bottom = isNear ? `${innerHeight - line.top + 8}px` : "";
    const [{ top, bottom, height }, row] = [this.#toast.getBoundingClientRect(), boxOf(".row:has(.field)")];
    const covers = row.top < bottom && row.bottom > top;
    if (covers) style.bottom = `${innerHeight - Math.max(row.top - 8, height)}px`;
  }

  /** One goes to one place after the other, to the last one in the end, however long a client takes to start. */
  #navigateNext() {
    const next = () => this.#navigate();
    this.#navigated = this.#navigated.then(next, next);
  }

  /**
   * What happened to a list, whether it is shown or not.
   * @param {OpenList} open @param {Told} told
   */
  async #told(open, told) {
    // What was never made is not undone, and nothing says any more that it was made.
    if (told.type === "rejected") {
      open.replica.skipSteps();
      if (this.#screen instanceof ListScreen && this.#screen.open === open) this.#screen.actions.edits.endSaid();
    }
    if (told.type === "ended") {
      this.toast(`“${open.name}”: ${errorText(told.reason)}`);
      if (told.reason === "listDeleted") setSeen(this.client, open.name, undefined);
    } else if (told.type === "renamed") this.#renamed(open, told);
    else {
      const notice = await noticeOf(this, open, told);
      if (!notice) return;
      addNotice(this.client, open, notice);
      this.draw();
      if (this.#screen instanceof ListScreen && this.#screen.open === open) return this.speech.say(notice.text);
      const show = { text: "Open the list", act: () => this.go({ list: open.name }) };
      this.toast(`“${open.name}”: ${notice.text}`, show);
    }
  }

  /**
   * Who has a list open stays on it, with what is being typed.
   * @param {OpenList} open @param {Extract<Told, { type: "renamed" }>} told
   */
  #renamed(open, { name, former }) {
    this.listRenamed(former, name);
    if (this.#screen?.open !== open) return;
    history.replaceState(null, "", fragmentOf({ ...routeOf(location.hash), list: name }));
    if (this.#screen instanceof ListScreen) this.#screen.renamed(former);
    this.toast(`“${former}” is called “${name}” now.`);
    this.draw();
  }

  /** The person did not ask for another screen, and the next letters are not for it. */
  #replaceScreen() {
    if (this.isTyping) this.fieldTaken();
    this.#navigateNext();
  }

  async #navigate() {
    // What is typed belongs to this client; the next list may be another's.
    const before = this.#screen;
    before?.close();
    this.#screen = undefined;
    const { list, view } = await this.clients.follow();
    closeDialogs();
    if (list === undefined) this.#screen = new ListsScreen(this);
    else {
      const open = this.client.open(list);
      this.#screen = view === "history" ? new HistoryScreen(this, open) : new ListScreen(this, open);
    }
    if (before?.open) this.#leave(before.open);
    const isList = list !== undefined;
    fill(this.#home, isList && h("span", { "aria-hidden": "true" }, "‹ "), isList ? "All lists" : "hand");
    fill(this.#body, this.#screen.element);
    scrollTo(0, 0);
    // The key that has led here is none that is typed here.
    this.#pressedAt = -Infinity;
    this.draw();
    // Whoever makes a list goes on with its items.
    if (this.#screen instanceof ListScreen && list === this.#made) this.#screen.composer.begin(undefined);
    else this.#screen.begin(before?.open?.name);
    this.#made = undefined;
  }

  /** What had the focus is gone. */
  refocus() {
    this.#screen?.refocus();
  }

  /** @param {import('../client/client.js').Stuck} stuck edits that are forgotten */
  discard({ list, discard }) {
    discard();
    if (list && list === this.#screen?.open) this.go({});
    this.draw();
  }

  /** @param {OpenList} list that is followed no more, unless it is shown or something is still to be done */
  #leave(list) {
    if (list !== this.#screen?.open && !this.#held.includes(list)) this.clients.of(list)?.leave(list);
  }

  /** Something has changed that the person did not do. Drawing it with each frame would delay the person's keys. */
  #drawSoon() {
    const now = performance.now();
    const rest = this.#drawnAt + REST - now;
    if (rest <= 0 || now > this.#pressedAt + PRESSING) this.draw();
    else this.#soon ||= setTimeout(() => this.draw(), rest);
  }

  #drawNow() {
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    cancelAnimationFrame(this.#frame);
    this.#timer = this.#soon = this.#frame = 0;
    this.#drawnAt = performance.now();
    const hadFocus = document.activeElement !== document.body;
    this.#screen?.draw();
    this.#drawHeader();
    this.#placeToast();
    if (hadFocus && document.activeElement?.matches("body, :disabled, [hidden], [hidden] *")) this.refocus();
  }

  #drawHeader() {
    const open = this.#screen?.open;
    const { state, isSlow } = this.client.connection;
    setText(this.#badge, this.badgeText);
    setAttribute(this.#badge, "data-state", isSlow ? "slow" : state);
    this.#sayConnection();
    const title = `${open?.name ?? "Lists"} – hand`;
    if (document.title !== title) document.title = title;
    const count = open?.subscription.people.here.size ?? 0;
    this.#people.hidden = count < 2;
    setText(this.#people, amount(count, "person", "people"));
  }

  /** One hears when the connection is lost, and when it is back; not each try in between. */
  #sayConnection() {
    const { state } = this.client.connection;
    const isAway = state === "offline" || state === "stopped";
    if (isAway === this.#isAway || (!isAway && state !== "online")) return;
    this.#isAway = isAway;
    this.speech.say(isAway ? `${this.badgeText}.` : "Online again.");
  }
}

/**
 * Waits until something is so, for a while.
 * @param {() => boolean} isSo
 */
async function until(isSo) {
  const end = Date.now() + WAITING;
  while (!isSo() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 50));
}
