// Fields that the chosen provider does not have are hidden and not sent. Without script all are shown.
"use strict";

(() => {
  const show = () => {
    const choice = document.querySelector("select[data-kinds]");
    if (choice === null) return;
    const kind = choice.selectedOptions[0].dataset.kind;
    for (const part of document.querySelectorAll("[data-of]")) {
      const isShown = part.dataset.of.split(" ").includes(kind);
      part.hidden = !isShown;
      for (const field of part.querySelectorAll("input, select")) field.disabled = !isShown;
    }
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("select[data-kinds]")) show();
  });
  show();
})();
