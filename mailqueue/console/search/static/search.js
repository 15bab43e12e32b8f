// Moves between the search field and the matches below it by keys, and closes them.
"use strict";

(() => {
  const form = document.querySelector(".find");
  const field = document.querySelector("[data-find]");
  const panel = document.getElementById("found");
  if (form === null || field === null || panel === null) return;

  const links = () => [...panel.querySelectorAll("a[href]")];
  let isWanted = false; // from the first character typed until the matches are closed
  const close = () => {
    isWanted = false;
    panel.replaceChildren();
  };
  field.addEventListener("input", () => {
    isWanted = true;
  });

  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      field.focus();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const all = [field, ...links()];
    const next = all.indexOf(document.activeElement) + step;
    if (next < 0 || next >= all.length) return;
    event.preventDefault();
    all[next].focus();
  });
  form.addEventListener("focusout", (event) => {
    if (event.relatedTarget !== null && !form.contains(event.relatedTarget)) close();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!form.contains(event.target)) close();
  });
  // A late answer is not shown: after Escape, or in place of matches among which the reader moves.
  document.addEventListener("htmx:before:swap", (event) => {
    if (event.detail.ctx?.target !== panel) return;
    if (!isWanted || document.activeElement !== field) event.preventDefault();
  });
})();
