"use strict";

for (const block of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}

const filter = document.querySelector("#filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  for (const section of document.querySelectorAll("nav section")) {
    let shown = 0;
    for (const item of section.querySelectorAll("li")) {
      const link = item.querySelector("a");
      const path = document.querySelector(`${link.getAttribute("href")} .path`).textContent;
      const isThere = `${link.textContent} ${path}`.toLowerCase().includes(wanted);
      item.hidden = !isThere;
      shown += isThere;
    }
    section.hidden = shown === 0;
  }
});

const links = new Map();
for (const link of document.querySelectorAll("nav section a")) links.set(link.hash.slice(1), link);
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "0px 0px -75% 0px" });
for (const article of document.querySelectorAll("article")) watcher.observe(article);
