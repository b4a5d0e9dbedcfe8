// Keeps the files of one build of the page together, and shows them without a network. The server writes the build and
// its files in front of this.

const { build, files } = self;
const NAME = `page ${build}`;

self.addEventListener("install", event => {
  event.waitUntil(keep());
});

self.addEventListener("activate", event => {
  event.waitUntil(forgetOthers());
});

self.addEventListener("message", event => {
  if (event.data === "take over") self.skipWaiting();
});

self.addEventListener("fetch", event => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (mode === "navigate" && pathname === "/") event.respondWith(kept("/"));
  else if (pathname.startsWith(`/${build}/`)) event.respondWith(kept(pathname));
});

/** All files, or none. A network that answers everything with its own page has other files. */
async function keep() {
  const cache = await caches.open(NAME);
  const answers = await Promise.all(["/", ...files].map(async path => {
    const answer = await fetch(path, { cache: "no-cache", redirect: "error" });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    if (path === "/" && !(await answer.clone().text()).includes(build)) throw new Error("another page answers");
    return { path, answer };
  }));
  for (const { path, answer } of answers) await cache.put(path, answer);
}

async function forgetOthers() {
  for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
  await self.clients.claim();
}

async function kept(path) {
  const cache = await caches.open(NAME);
  return (await cache.match(path)) ?? fetch(path);
}
