// Times in the reader's zone, the keys that lead to the search, and forms that are sent once.
"use strict";

const shown = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
});
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

function showTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = shown.format(at);
    if (time.textContent !== text) time.textContent = text;
    time.title = `${exact.format(at)}\n${time.dateTime}`;
  }
}

function onKey(event) {
  const isControlK = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
  if (!isControlK) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key !== "/") return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  }
  const field = document.querySelector("[data-find]");
  if (field === null) return;
  event.preventDefault();
  field.focus();
  field.select();
}

function onSubmit(event) {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-busy", "true");
}

// A page from the browser's memory has forms that were sent; they may be sent again, and act once.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("button")) button.removeAttribute("aria-busy");
  }
});

showTimes(document);
document.addEventListener("keydown", onKey);
document.addEventListener("submit", onSubmit);
new MutationObserver(() => showTimes(document)).observe(document.body, {
  childList: true,
  subtree: true,
});
