// Where the page begins, and how it is kept on the device.

import { App } from "./app.js";
import { Clients } from "./clients.js";
import { h, setText } from "./dom.js";
import { Identity, nameProblem } from "./identity.js";
import { fragmentOf, linkOf } from "./route.js";
import { Speech } from "./speech.js";

const CHECK = 60 * 60_000;

const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;
const root = document.body;
const identity = new Identity();

// The token goes out of the address before anything else can see it.
identity.takeRoute();

if (identity.person === "" && identity.links.length === 0) welcome();
else start();

/** Who comes without a link says a name first. */
function welcome() {
  const name = h("input", {
    id: "name", autocomplete: "nickname", dir: "auto", oninput: () => name.setCustomValidity(nameProblem(name.value)),
  });
  const link = h("input", { id: "link", autocomplete: "off", placeholder: "https://…", dir: "ltr" });
  const problem = h("p", { class: "note", role: "alert" });
  const form = h(
    "form",
    {
      class: "welcome",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const route = link.value.trim() === "" ? {} : linkOf(link.value.trim(), location.host);
        if (typeof route === "string") return setText(problem, route);
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
    problem,
    h("label", { htmlFor: "name" }, "If not: your name, as others will see it"),
    name,
    h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Go on")),
  );
  root.prepend(h("main", {}, form));
  name.focus();
}

async function start() {
  document.querySelector("main")?.remove();
  const clients = new Clients(identity, url);
  await clients.follow();
  const [polite, urgent] = ["polite", "urgent"].map(id => /** @type {Element} */ (document.getElementById(id)));
  keepPage(new App(root, clients, new Speech(polite, urgent)));
}

/**
 * The page opens without a network. A newer one is loaded when the person wants it, and never while something is being
 * typed.
 * @param {App} app
 */
async function keepPage(app) {
  if (!("serviceWorker" in navigator)) {
    app.offlineProblem = "This browser does not keep the page for offline use: the server has no TLS.";
    return;
  }
  try {
    const address = policy().createScriptURL("/worker.js");
    const registration = await navigator.serviceWorker.register(/** @type {any} */ (address), {
      updateViaCache: "none",
    });
    const offer = () => {
      const { waiting } = registration;
      if (waiting && navigator.serviceWorker.controller) offerUpdate(app, waiting);
    };
    offer();
    registration.addEventListener("updatefound", () => {
      registration.installing?.addEventListener("statechange", offer);
    });
    setInterval(() => void registration.update().catch(() => {}), CHECK);
  } catch {
    app.offlineProblem =
      "This browser does not keep the page for offline use: it does not trust the server's certificate.";
  }
}

/** @param {App} app @param {ServiceWorker} worker */
function offerUpdate(app, worker) {
  if (app.isTyping) return void setTimeout(() => offerUpdate(app, worker), 5000);
  app.toast("There is a newer version of this page.", {
    text: "Reload",
    act: () => {
      navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
      worker.postMessage("take over");
    },
  });
}

/** Scripts have addresses of this server only. */
function policy() {
  const createScriptURL = (/** @type {string} */ path) => path;
  return /** @type {any} */ (window).trustedTypes?.createPolicy("worker", { createScriptURL }) ?? { createScriptURL };
}
