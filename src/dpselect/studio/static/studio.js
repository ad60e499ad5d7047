// The little that a page does by itself: copying, a slider beside a number, and no payment of a price that
// is about to change. Without this file every page works, with a button more.
"use strict";
(() => {
  document.documentElement.classList.add("scripted");

  document.addEventListener("click", event => {
    const button = event.target.closest("[data-copies]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copies).textContent.trim();
    navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }, () => {});
  });

  addEventListener("input", event => {
    const changed = event.target;
    const other = changed.dataset.moves && document.getElementById(changed.dataset.moves);
    if (other) other.value = changed.dataset.exponent ? nice(10 ** (changed.value / 100)) : changed.value;
    const by = changed.form && changed.form.querySelector("input[name=by]");
    if (by && (changed.name === "epsilon" || changed.name === "within")) by.value = changed.name;
    // What renews the whole form asks for its price too: the form need not ask for it a second time.
    if (changed.matches("select[hx-get]")) event.stopPropagation();
    if (changed.form && changed.form.dataset.quotes !== undefined) {
      // A price that is on its way is of what was asked before: it must not overwrite what is being typed.
      changed.form.dispatchEvent(new Event("htmx:abort"));
      for (const pay of document.querySelectorAll("[data-pays]")) pay.disabled = true;
    }
  }, true);

  // What was opened stays open where it is replaced by its like.
  const opened = new Set();
  document.addEventListener("toggle", event => {
    if (event.target.id) opened[event.target.open ? "add" : "delete"](event.target.id);
  }, true);
  document.addEventListener("htmx:after:swap", () => {
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  });

  // A page that the browser kept, with its button as it was left.
  addEventListener("pageshow", event => {
    if (!event.persisted) return;
    for (const pay of document.querySelectorAll("[data-pays]")) pay.disabled = false;
  });

  document.addEventListener("submit", event => {
    const pay = event.target.querySelector("[data-pays]");
    if (pay) setTimeout(() => { pay.disabled = true; });
  });

  // What was typed before the page was ready, or was kept by the browser, is not yet in the price.
  addEventListener("load", () => setTimeout(() => {
    for (const field of document.querySelectorAll("form[hx-get] input:not([type=hidden]), form[hx-get] textarea")) {
      if (field.name && field.type !== "checkbox" && field.value !== field.defaultValue) tell(field, "input");
    }
    for (const field of document.querySelectorAll("form[hx-get] select")) {
      const first = field.querySelector("option[selected]") ?? field.options[0];
      if (first && field.value !== first.value) tell(field, field.hasAttribute("hx-get") ? "change" : "input");
    }
  }));

  function tell(field, what) {
    field.dispatchEvent(new Event(what, { bubbles: true }));
  }

  function nice(number) {
    return String(Number(number.toPrecision(2)));
  }
})();
