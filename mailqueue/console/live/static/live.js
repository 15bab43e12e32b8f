// Keeps the parts of a page up to date: by server-sent events, or by asking where no event arrives.
"use strict";

(() => {
  const SILENCE_MS = 5000; // A proxy that keeps events back lets none through for so long.
  const POLL_MS = 5000;
  const RETRY_MS = 10000; // No browser waits longer before it asks for a stream again.
  const place = document.querySelector("[data-live]");
  if (place === null) return;
  const path = place.dataset.live;
  const says = place.querySelector("[data-live-says]");
  const reload = place.querySelector("[data-live-reload]");
  const button = document.createElement("button");
  let source = null;
  let timer = 0;
  let asks = typeof EventSource === "undefined";
  let isPaused = false;
  let isPressed = false;
  let kept = {}; // Parts that arrived while the mouse was pressed: a click needs its link until it ends.

  const tell = (text) => {
    if (says.textContent !== text) says.textContent = text;
  };

  // The element with the focus, if it is in the part, as it is found again in the new one.
  function focused(part) {
    const here = document.activeElement;
    if (here === null || !part.contains(here)) return null;
    const alike = [...part.querySelectorAll(here.tagName)];
    return { tag: here.tagName, at: alike.indexOf(here) };
  }

  function show(parts) {
    kept = { ...kept, ...parts };
    if (isPressed) return;
    const changed = [];
    for (const [name, html] of Object.entries(kept)) {
      const part = document.getElementById(name);
      if (part === null || !("part" in part.dataset)) continue;
      const focus = focused(part);
      const open = [...part.querySelectorAll("details")].map((each) => each.open);
      part.innerHTML = html;
      part.querySelectorAll("details").forEach((each, at) => { each.open = open[at] ?? each.open; });
      if (focus) part.querySelectorAll(focus.tag)[focus.at]?.focus({ preventScroll: true });
      changed.push(name);
    }
    kept = {};
    if (changed.length) document.dispatchEvent(new CustomEvent("live:shown", { detail: changed }));
  }

  async function ask() {
    try {
      const response = await fetch(path, { headers: { "HX-Request": "true" }, redirect: "manual" });
      const isOurs = response.headers.get("content-type")?.startsWith("application/json");
      if (response.status < 500 && !isOurs) {
        location.reload(); // The session has ended, or the page may not be seen any more.
        return;
      }
      if (!response.ok) throw new Error(response.status);
      show(await response.json());
      tell("Updated every 5 seconds.");
    } catch {
      tell("The server does not answer; trying again.");
    }
    if (asks && !isPaused && !document.hidden) timer = setTimeout(ask, POLL_MS);
  }

  function fallBack() {
    asks = true;
    stop();
    start();
  }

  function listen() {
    source = new EventSource(path);
    timer = setTimeout(fallBack, SILENCE_MS);
    source.addEventListener("ready", () => {
      clearTimeout(timer);
      tell("Updated as it changes.");
    });
    source.addEventListener("parts", (event) => show(JSON.parse(event.data)));
    source.addEventListener("over", () => location.reload());
    source.addEventListener("error", () => {
      clearTimeout(timer);
      if (source.readyState === EventSource.CLOSED) {
        fallBack();
        return;
      }
      tell("The server does not answer; trying again.");
      timer = setTimeout(fallBack, SILENCE_MS + RETRY_MS); // The next stream may be kept back too.
    });
  }

  function start() {
    if (isPaused || document.hidden) return;
    if (asks) ask();
    else listen();
  }

  function stop() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  button.type = "button";
  button.className = "plain";
  button.textContent = "Pause updates";
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? "Go on" : "Pause updates";
    stop();
    if (isPaused) tell("Not updated.");
    else start();
  });
  reload.replaceWith(button);
  addEventListener("pointerdown", () => { isPressed = true; }, true);
  for (const end of ["pointerup", "pointercancel", "blur"]) {
    addEventListener(end, () => {
      setTimeout(() => { // The click comes first.
        isPressed = false;
        show({});
      });
    }, true);
  }
  // A page that is not looked at takes no connection of the few that a browser has for a server.
  document.addEventListener("visibilitychange", () => {
    stop();
    start();
  });
  window.addEventListener("pagehide", stop);
  start();
})();
