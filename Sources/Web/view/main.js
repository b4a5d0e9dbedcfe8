// Where the page begins.

import { Client } from "../client/client.js";
import { App } from "./app.js";
import { h } from "./dom.js";
import { Identity } from "./identity.js";
import { fragmentOf, routeOf } from "./route.js";
import { Speech } from "./speech.js";
import { keepPage } from "./update.js";

const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;
const root = document.body;
const identity = new Identity();

/** The token goes out of the address before anything else can see it. */
const { list, view, token } = routeOf(location.hash);
if (token && list) {
  identity.addLink(token, list);
  history.replaceState(null, "", fragmentOf({ list, view }));
}

if (identity.person === "" && identity.links.length === 0) welcome();
else start();

/** Who comes without a link says a name first. */
function welcome() {
  const name = h("input", { id: "name", autocomplete: "nickname", maxLength: 60, dir: "auto" });
  const link = h("input", { id: "link", autocomplete: "off", placeholder: "https://…", dir: "ltr" });
  const form = h(
    "form",
    {
      class: "welcome",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const route = routeOf(link.value.slice(Math.max(0, link.value.indexOf("#"))));
        if (route.list && route.token) identity.addLink(route.token, route.list);
        if (route.list) history.replaceState(null, "", fragmentOf(route));
        if (name.value.trim() === "" && identity.links.length === 0) return name.focus();
        identity.setPerson(name.value.trim());
        form.remove();
        start();
      },
    },
    h("h1", {}, "hand"),
    h("p", {}, "Lists that everybody edits at the same time."),
    h("label", { htmlFor: "link" }, "Were you given a link? Paste it here, or scan its code with the camera."),
    link,
    h("label", { htmlFor: "name" }, "If not: your name, as others will see it"),
    name,
    h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Go on")),
  );
  root.prepend(h("main", {}, form));
  name.focus();
}

async function start() {
  document.querySelector("main")?.remove();
  const route = routeOf(location.hash);
  const own = identity.tokenFor(route.list);
  const client = await Client.start({
    url, person: identity.person || "guest", token: own || undefined, program: "browser",
  });
  const [polite, urgent] = ["polite", "urgent"].map(id => /** @type {Element} */ (document.getElementById(id)));
  const app = new App(root, identity, new Speech(polite, urgent), url, client);
  keepPage(app);
}
