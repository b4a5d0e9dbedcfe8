// The page is kept on the device, so that it opens without a network. A newer one is loaded when the person wants it,
// and never while something is being typed.

/** @typedef {import('./app.js').App} App */

const CHECK = 60 * 60_000;

/** @param {App} app */
export async function keepPage(app) {
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
