// Buttons that copy a command. Without script they are not shown.
"use strict";

(() => {
  const show = () => {
    for (const button of document.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button === null) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl-C";
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
    }
  });
  show();
  new MutationObserver(show).observe(document.getElementById("content"), { childList: true, subtree: true });
})();
