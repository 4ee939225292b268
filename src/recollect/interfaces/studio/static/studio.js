// What pages do without a reload. Everything works without it: each form has a button of its own.
"use strict";

// On a narrow screen the pages stand in one line: the present one is in sight.
const present = document.querySelector("nav.pages [aria-current]");
if (present) {
  const strip = present.closest("nav");
  strip.scrollLeft = present.offsetLeft - strip.offsetLeft - (strip.clientWidth - present.clientWidth) / 2;
}

// The slider of the page on time says where it stands, and shows that moment when it is let go.
for (const slider of document.querySelectorAll("input[type=range][data-for]")) {
  const field = document.getElementById(slider.dataset.for);
  const moment = () => {
    if (!slider.dataset.first) return slider.value;
    const day = new Date(slider.dataset.first + "T00:00:00Z");
    day.setUTCDate(day.getUTCDate() + Number(slider.value));
    return day.toISOString().slice(0, 10);
  };
  slider.addEventListener("input", () => { field.value = moment(); });
  slider.addEventListener("change", () => { field.value = moment(); slider.form.requestSubmit(); });
}

// Lists whose choice is the whole question ask it at once.
for (const list of document.querySelectorAll("select[data-submit]")) {
  list.addEventListener("change", () => {
    for (const name of (list.dataset.clears || "").split(" ")) {
      const other = name && list.form.elements[name];
      if (other) other.disabled = true;
    }
    list.form.requestSubmit();
  });
}

// j and k go through the cards of a queue, as in a mail program.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); }
  }
  if (event.key !== "j" && event.key !== "k") return;
  const cards = [...document.querySelectorAll("[data-card]")];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
});

// A verification under way: show how far it is, and the result once it is there.
const progress = document.querySelector("progress[data-watch]");
if (progress) {
  const look = async () => {
    const answer = await fetch(progress.dataset.watch, { credentials: "same-origin" });
    const figures = answer.ok ? await answer.json() : { running: false };
    if (!figures.running) { location.reload(); return; }
    progress.max = figures.total || 1;
    progress.value = figures.done;
    document.getElementById("progress-text").textContent =
      `${figures.done.toLocaleString("en")} of ${figures.total.toLocaleString("en")} entries`;
    setTimeout(look, 300);
  };
  setTimeout(look, 300);
}
