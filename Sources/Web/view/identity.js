// Who one is on this device, and the links that one was given: each has a token, which is a secret. They stay on the
// device, and are only sent in the hello.

/** @typedef {{ token: string, lists: string[] }} Link */

const KEY = "hand identity";

export class Identity {
  person = "";
  /** @type {Link[]} */
  links = [];
  /** Whether the device keeps it. */
  isKept = true;

  constructor() {
    try {
      const { person, links } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      if (typeof person === "string") this.person = person;
      if (Array.isArray(links)) this.links = links.filter(isLink);
    } catch {
      // Private windows may have no storage, and what is in it may be anything.
      this.isKept = false;
    }
  }

  /** @param {string} person */
  setPerson(person) {
    this.person = person;
    this.#write();
  }

  /**
   * A link that was opened: from now on, its token is used for the list.
   * @param {string} token @param {string} list
   */
  addLink(token, list) {
    for (const link of this.links) link.lists = link.lists.filter(name => name !== list);
    const known = this.links.find(link => link.token === token);
    if (known) known.lists.push(list);
    else this.links.push({ token, lists: [list] });
    this.#write();
  }

  /**
   * A token that is not valid any more.
   * @param {string} token
   */
  removeLink(token) {
    this.links = this.links.filter(link => link.token !== token);
    this.#write();
  }

  /**
   * The token for a list; the newest one for everything else.
   * @param {string | undefined} list
   */
  tokenFor(list) {
    const link = this.links.find(({ lists }) => list !== undefined && lists.includes(list))
      ?? this.links[this.links.length - 1];
    return link?.token ?? "";
  }

  #write() {
    try {
      localStorage.setItem(KEY, JSON.stringify({ person: this.person, links: this.links }));
      this.isKept = true;
    } catch {
      this.isKept = false;
    }
  }
}

/** @param {unknown} value @returns {value is Link} */
function isLink(value) {
  const { token, lists } = /** @type {any} */ (value ?? {});
  return typeof token === "string" && Array.isArray(lists) && lists.every(name => typeof name === "string");
}
