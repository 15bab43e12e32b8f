// New mail appears by itself; the keyboard is enough. Mail is only ever set as text.
"use strict";

const page = document.body.dataset;
const EVERY_MS = 1000;
const KEPT_ROWS = 500;
const PER_ANSWER = 50;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "medium" });

function showTimes(root) {
  const today = new Date().toDateString();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    const isToday = at.toDateString() === today;
    time.textContent = ("long" in time.dataset ? full : isToday ? clock : day).format(at);
    time.title = full.format(at);
  }
}

function rowOf(message) {
  const row = document.getElementById("row").content.cloneNode(true);
  row.querySelector("a").href = "/trap/messages/" + message.id;
  row.querySelector(".who").textContent = message.from || "nobody";
  row.querySelector("b").textContent = message.subject || "(no subject)";
  row.querySelector(".preview").textContent = message.preview;
  row.querySelector(".whom").textContent = message.to;
  row.querySelector("time").dateTime = message.received_at;
  showTimes(row);
  return row;
}

function showNews(news) {
  const list = document.querySelector("[data-messages]");
  if (news.total < list.children.length || news.messages.length === PER_ANSWER) {
    location.reload(); // somebody cleared the trap, or more came than one answer holds
    return;
  }
  document.querySelector("[data-total]").textContent = news.total;
  document.querySelector("[data-noun]").textContent = news.total === 1 ? "message" : "messages";
  document.querySelector(".clear button").disabled = news.total === 0;
  if (news.messages.length === 0) return;
  page.newest = news.messages[0].id;
  list.prepend(...news.messages.map(rowOf));
  while (list.children.length > KEPT_ROWS) list.lastElementChild.remove();
  list.hidden = false;
  document.querySelector("[data-empty]").hidden = true;
}

async function lookForNews() {
  const asked = new URLSearchParams(location.search);
  const query = new URLSearchParams({ q: asked.get("q") || "", after: page.newest });
  const answer = await fetch("/trap/messages.json?" + query);
  if (answer.ok) showNews(await answer.json());
}

async function keepLooking() {
  if (!document.hidden) {
    try {
      await lookForNews();
    } catch {
      // the server is away; it may come back
    }
  }
  setTimeout(keepLooking, EVERY_MS);
}

function move(step) {
  const links = [...document.querySelectorAll("[data-messages] a")];
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? links[0] : links[Math.min(links.length - 1, Math.max(0, at + step))];
  next?.focus();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector(".search input");
  if (event.target === field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (event.key === "/" && field) {
    event.preventDefault();
    field.select();
  } else if (page.page === "list" && (event.key === "j" || event.key === "ArrowDown")) {
    event.preventDefault();
    move(1);
  } else if (page.page === "list" && (event.key === "k" || event.key === "ArrowUp")) {
    event.preventDefault();
    move(-1);
  } else {
    const key = event.key === "Escape" ? "u" : event.key;
    for (const link of document.querySelectorAll("[data-key]")) {
      if (link.dataset.key === key) link.click();
    }
  }
}

showTimes(document);
document.addEventListener("keydown", onKey);
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
}
if (page.page === "list" && page.live === "yes") setTimeout(keepLooking, EVERY_MS);
