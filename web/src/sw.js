// All files of this version of the page, kept so that it works offline. Nothing else is fetched or kept.
const FILES = __FILES__;
const CACHE = "espbench-__VERSION__";

self.addEventListener("install", (event) => {
    event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
    // A tab that still has the version before has its files in memory, but for those that it loads late.
    const old = (name) => name.startsWith("espbench-") && name !== CACHE;
    const clean = caches.keys().then((names) => Promise.all(names.filter(old).map((it) => caches.delete(it))));
    event.waitUntil(clean.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (event.request.method !== "GET" || url.origin !== self.location.origin) return;
    // The page itself comes from the network where there is one, so that a new version is seen at once.
    const kept = () => caches.match(event.request, { ignoreSearch: true, cacheName: CACHE });
    if (event.request.mode === "navigate") {
        event.respondWith(
            fetch(event.request).catch(() => caches.match("./", { cacheName: CACHE }).then((it) => it ?? Response.error())),
        );
        return;
    }
    event.respondWith(kept().then((it) => it ?? fetch(event.request)));
});
