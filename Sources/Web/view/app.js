// The page as a whole: which screen is shown, who one is, and what the connection is like.

import { Client } from "../client/client.js";
import { TooLarge } from "../client/replica.js";
import { commitsOf } from "../client/requests.js";
import { DoesNotFit } from "../client/splices.js";
import { amount, nameOf } from "./content.js";
import { onFocusLost } from "./dialogs.js";
import { button, fill, h, setAttribute, setText } from "./dom.js";
import { HistoryScreen } from "./historyscreen.js";
import { NO_LETTERS } from "./keys.js";
import { ListScreen } from "./listscreen.js";
import { ListsScreen } from "./listsscreen.js";
import { showConnection, showPeople } from "./pagedialogs.js";
import { seenLists, setSeen } from "./news.js";
import { fragmentOf, routeOf } from "./route.js";
import { agoText, errorText } from "./sentences.js";

/** @typedef {import('./identity.js').Identity} Identity */
/** @typedef {import('./route.js').Route} Route */
/** @typedef {import('./speech.js').Speech} Speech */
/** @typedef {import('../client/client.js').OpenList} OpenList */
/** @typedef {import('../client/messages.js').Down} Down */
/** @typedef {Extract<Down, { type: "granted" }>} Granted */
/** @typedef {ListScreen | ListsScreen | HistoryScreen} Screen */

const ROLES = ["none", "read", "append", "write", "admin"];
/** How long a short message stays, in ms; one with a button stays longer. */
const TOAST = 4000;
const TOAST_WITH_BUTTON = 10_000;
/** How long another list is waited for, in ms. */
const WAITING = 8000;
/** The rules of a new list: those of `hand create`. */
const NEW_RULES = { maximumCount: 0x7fffffff, maximumSize: 16_384, maximumLevel: 15, deck: false };

export class App {
  #identity;
  #url;
  /**
   * The clients, by their tokens.
   * @type {Map<string, Client>}
   */
  #clients = new Map();
  /** @type {Set<string>} the tokens of clients that are being started */
  #starting = new Set();
  /** @type {Map<Client, Granted>} */
  #granted = new Map();
  /**
   * The names of authors.
   * @type {Map<number, string>}
   */
  #names = new Map();
  /** @type {Client} */
  client;
  /** @type {Screen | undefined} */
  #screen;
  #toastTimer = 0;
  #isAway = false;
  #frame = 0;
  speech;
  /** @type {string | undefined} why the page cannot be kept for offline use */
  offlineProblem;

  // Elements

  #header = h("header", { class: "page" });
  #home = h("a", { href: "#", class: "home" }, "hand");
  #badge = h("button", { type: "button", class: "badge", onclick: () => showConnection(this) });
  #people = h("button", { type: "button", class: "quiet people" });
  #body = h("div", { id: "screen" });
  #toast = h("div", { class: "toast", hidden: true });

  /**
   * @param {HTMLElement} root @param {Identity} identity @param {Speech} speech @param {string} url of the server's
   *   WebSocket @param {Client} client
   */
  constructor(root, identity, speech, url, client) {
    this.#identity = identity;
    this.speech = speech;
    this.#url = url;
    this.client = client;
    speech.isTyping = () => this.#screen?.isTyping === true;
    fill(this.#header, this.#home, this.#people, this.#badge);
    root.prepend(this.#header, this.#body, this.#toast);
    this.#take(client, identity.tokenFor(routeOf(location.hash).list));
    addEventListener("hashchange", () => this.#navigate());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.#screen instanceof ListScreen) this.#screen.hide();
      this.#show();
    });
    this.#people.addEventListener("click", () => this.#screen?.open && showPeople(this, this.#screen.open));
    setInterval(() => this.#drawHeader(), 1000);
    onFocusLost(() => this.#screen?.refocus());
    this.#navigate();
  }

  /** One's own name, as others see it. */
  get me() {
    return this.#granted.get(this.client)?.person ?? this.#identity.person;
  }

  /** Whether one's name is one's own choice, and not that of a link. */
  get hasName() {
    return this.#identity.links.length === 0;
  }

  /** The server's name, with its port. */
  get host() {
    return new URL(this.#url).host;
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
    const { connection, storage, waiting } = this.client;
    const where = storage.state === "kept" ? "kept on this device" : "only in this tab";
    const edits = waiting.count > 0 ? `, ${amount(waiting.count, "edit")} ${where}` : "";
    if (connection.state === "stopped") return `${errorText(connection.reason)}${edits}`;
    if (connection.state === "paused") return `paused${edits}`;
    if (connection.state === "connecting") return `connecting…${edits}`;
    if (connection.state === "offline") return `offline${edits}`;
    const { count, reason } = this.elsewhere;
    if (waiting.count === 0 && reason) return `saved, but not ${amount(count, "edit")} with another link`;
    if (waiting.count === 0) return count > 0 ? "saving…" : "saved";
    return connection.isSlow ? `not saved yet${edits}` : "saving…";
  }

  // Where one is

  /** @param {Route} route */
  go(route) {
    location.hash = fragmentOf(route);
  }

  /** @param {Route} route */
  hrefOf(route) {
    return fragmentOf(route);
  }

  /** The person has seen what is shown. */
  seenNow() {
    const title = this.#screen?.open ? `${this.#screen.open.name} – hand` : "Lists – hand";
    if (document.title !== title) document.title = title;
  }

  // What one may do

  /**
   * Why one may not do something, or nothing if one may, as far as it is known.
   * @param {string} list @param {number} role that it needs
   */
  refusal(list, role) {
    const mine = this.#roleOn(list);
    if (mine === undefined || mine >= role) return undefined;
    const place = list === "" ? "on this server" : `on “${list}”`;
    return `Your role ${place} is ${ROLES[mine]}; this needs ${ROLES[role]}.`;
  }

  /** @param {string} list */
  roleWords(list) {
    const role = this.#roleOn(list);
    return role === 1 ? "read only" : role === 2 ? "you may only add" : "";
  }

  /** @param {string} list */
  #roleOn(list) {
    const granted = this.#granted.get(this.client);
    if (!granted) return undefined;
    return Math.max(granted.role, ...granted.lists.filter(({ name }) => name === list).map(({ role }) => role));
  }

  // Lists

  /** All lists that one's tokens may read, by name. */
  async allLists() {
    /** @type {Map<string, { name: string, count: number, revision: number }>} */
    const all = new Map();
    for (const client of this.#clients.values()) {
      for (let after = "", hasMore = client.connection.state === "online"; hasMore; ) {
        const answer = await client.request({ type: "lists", after });
        if (!("type" in answer) || answer.type !== "lists") break;
        for (const { name, count, revision } of answer.entries) all.set(name, { name, count, revision });
        hasMore = answer.hasMore && answer.entries.length > 0;
        after = answer.entries[answer.entries.length - 1]?.name ?? "";
      }
    }
    this.client.settings.set("lists", [...all.keys()]);
    return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * The lists that were there when one was online last, and those that were looked at.
   * @returns {{ name: string, count?: number, revision: number }[]}
   */
  knownLists() {
    const names = this.client.settings.get("lists");
    const linked = this.#identity.links.flatMap(({ lists }) => lists);
    const all = new Set([...(Array.isArray(names) ? names : []), ...linked, ...seenLists(this.client)]);
    return [...all].sort().map(name => ({ name, revision: 0 }));
  }

  /** @returns {Promise<string[]>} */
  async listNames() {
    const entries = await this.allLists().catch(() => this.knownLists());
    return entries.map(({ name }) => name);
  }

  /** @param {string} name */
  async makeList(name) {
    try {
      await this.client.request({ type: "create", name: name.normalize("NFC"), rules: NEW_RULES });
      this.go({ list: name });
    } catch (error) {
      this.toast(errorText(error instanceof Error ? error.name : ""));
    }
  }

  /**
   * The person edits a list. False if it cannot be, and then the person is told.
   * @param {OpenList} list @param {(replica: import('../client/replica.js').Replica) => void} action
   */
  act(list, action) {
    try {
      this.client.act(list, action);
      return true;
    } catch (error) {
      if (!(error instanceof DoesNotFit)) throw error;
      this.toast(error instanceof TooLarge ? error.message : "The list has changed meanwhile. Try again.");
      return false;
    }
  }

  /**
   * Another list as the server has it, or nothing if it cannot be opened.
   * @param {string} name
   * @returns {Promise<OpenList | undefined>}
   */
  async liveList(name) {
    if (this.client.connection.state !== "online") return undefined;
    const list = this.client.open(name);
    const { subscription } = list;
    await this.#until(() => subscription.isLive || subscription.hasEnded);
    return subscription.isLive ? list : undefined;
  }

  /**
   * Whether the server has taken items into a list, once it has answered.
   * @param {OpenList} list @param {readonly import('../client/item.js').Item[]} items
   */
  async hasTaken(list, items) {
    await this.#until(() => list.replica.pending.length === 0);
    return items.every(({ id }) => list.replica.confirmed.indexOf(id) >= 0);
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

  /** @param {OpenList} open @param {string} reason */
  ended(open, reason) {
    this.toast(`“${open.name}”: ${errorText(reason)}`);
    if (reason === "listDeleted") setSeen(this.client, open.name, undefined);
    if (open.replica.pending.length === 0) this.client.forget(open);
  }

  /**
   * Tells others where one is.
   * @param {OpenList} open
   */
  place(open) {
    const screen = this.#screen;
    if (!(screen instanceof ListScreen)) return;
    this.client.place(open, screen.focus);
  }

  /**
   * Whether the person does not want this key to do anything: speech and shaking hands press letters by accident.
   * @param {KeyboardEvent} event
   */
  ignores({ key, altKey, ctrlKey, metaKey }) {
    return key.length === 1 && key !== " " && !altKey && !ctrlKey && !metaKey
      && this.client.settings.get(NO_LETTERS) === true;
  }

  // Messages

  /** @param {string} text @param {{ text: string, act: () => void }} [action] */
  toast(text, action) {
    const done = () => {
      const hadFocus = this.#toast.contains(document.activeElement);
      this.#toast.hidden = true;
      if (hadFocus) this.#screen?.refocus();
    };
    // It does not go while somebody is about to press its button.
    const pass = () =>
      (this.#toast.matches(":hover, :focus-within") ? void (this.#toastTimer = setTimeout(pass, TOAST)) : done());
    fill(
      this.#toast,
      h("span", { dir: "auto" }, text),
      action ? button(action.text, () => (done(), action.act())) : undefined,
    );
    this.#toast.hidden = false;
    this.speech.say(text);
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(pass, action ? TOAST_WITH_BUTTON : TOAST);
  }

  /** What waits with all links, as a text. */
  exportWaiting() {
    return [...this.#clients.values()].map(client => client.exportWaiting()).join("\n");
  }

  /** @param {string} name by which others know the person from now on */
  rename(name) {
    this.#identity.setPerson(name);
    this.client.setPerson(name, undefined);
  }

  /** @param {string} id of an item of the list that is shown */
  goToItem(id) {
    if (this.#screen instanceof ListScreen) this.#screen.goToItem(id);
  }

  /** How many edits wait that were made with other links, and why if there is no hope. */
  get elsewhere() {
    const clients = [...this.#clients.values()].filter(client => client !== this.client && client.waiting.count > 0);
    const reason = clients.find(({ connection }) => connection.state === "stopped")?.connection.reason;
    return { count: clients.reduce((sum, { waiting }) => sum + waiting.count, 0), reason };
  }

  // Private

  /**
   * Waits until something is so, for a while.
   * @param {() => boolean} isSo
   */
  async #until(isSo) {
    const end = Date.now() + WAITING;
    while (!isSo() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 50));
  }

  /** @param {Client} client @param {string} token */
  #take(client, token) {
    this.#clients.set(token, client);
    client.onchange = () => {
      if (client === this.client) this.#show();
      else this.#drawHeader();
      for (const { person, token } of client.foreign) void this.#send(person, token);
    };
    client.ontold = (open, told) => {
      if (this.#screen?.open === open && this.#screen instanceof ListScreen) this.#screen.tell(told);
    };
    client.onmessage = message => {
      if (message.type !== "granted") return;
      this.#granted.set(client, message);
      this.#show();
    };
  }

  /**
   * Edits that were made with another link, or without one, are sent with it: the page need not show its lists.
   * @param {string} person @param {string} token
   */
  async #send(person, token) {
    if (this.#clients.has(token) || this.#starting.has(token)) return;
    this.#starting.add(token);
    this.#take(await this.#start(person, token), token);
    this.#starting.delete(token);
  }

  /** @param {string} person @param {string} token */
  #start(person, token) {
    return Client.start({ url: this.#url, person: person || "guest", token: token || undefined, program: "browser" });
  }

  async #navigate() {
    const { list, view, token } = routeOf(location.hash);
    if (token && list) {
      // The token goes out of the address, and out of the history of the browser.
      this.#identity.addLink(token, list);
      history.replaceState(null, "", fragmentOf({ list, view }));
    }
    const wanted = this.#identity.tokenFor(list);
    let client = this.#clients.get(wanted);
    if (!client) {
      client = await this.#start(this.#identity.person, wanted);
      this.#take(client, wanted);
    }
    this.client = client;
    this.#open(list, view);
  }

  /** @param {string | undefined} list @param {Route["view"]} view */
  #open(list, view) {
    const before = this.#screen;
    before?.close();
    if (list === undefined) this.#screen = new ListsScreen(this);
    else {
      const open = this.client.open(list);
      this.#screen = view === "history" ? new HistoryScreen(this, open) : new ListScreen(this, open);
    }
    const old = before?.open;
    if (old && old !== this.#screen.open && old.replica.pending.length === 0) this.client.forget(old);
    if (list === undefined) fill(this.#home, "hand");
    else fill(this.#home, h("span", { "aria-hidden": "true" }, "‹ "), "All lists");
    fill(this.#body, this.#screen.element);
    scrollTo(0, 0);
    this.seenNow();
    this.#show();
    // A page that has just been loaded is read from its beginning anyway.
    if (before) this.#screen.begin(before.open?.name);
  }

  /** Something has changed; it is drawn with the next frame. */
  #show() {
    this.#screen?.update();
    // Hidden pages have no frames.
    if (document.hidden) return this.#drawHeader();
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#drawHeader();
    });
  }

  #drawHeader() {
    const { state, isSlow } = this.client.connection;
    setText(this.#badge, this.badgeText);
    setAttribute(this.#badge, "data-state", isSlow ? "slow" : state);
    this.#sayConnection();
    const open = this.#screen?.open;
    const count = open ? open.subscription.people.here.size : 0;
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
