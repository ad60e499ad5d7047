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

  document.addEventListener("input", event => {
    const changed = event.target;
    const other = changed.dataset.moves && document.getElementById(changed.dataset.moves);
    if (other) other.value = changed.dataset.exponent ? nice(10 ** (changed.value / 100)) : changed.value;
    const by = changed.form && changed.form.querySelector("input[name=by]");
    if (by && (changed.name === "epsilon" || changed.name === "within")) by.value = changed.name;
    if (changed.form && changed.form.dataset.quotes !== undefined) {
      // A price that is on its way is of what was asked before: it must not overwrite what is being typed.
      changed.form.dispatchEvent(new Event("htmx:abort"));
      for (const pay of document.querySelectorAll("[data-pays]")) pay.disabled = true;
    }
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

  // What was typed before this file was there, or was kept by the browser, is not yet in the price.
  addEventListener("load", () => setTimeout(() => {
    for (const field of document.querySelectorAll("form[hx-get] input:not([type=hidden]), form[hx-get] textarea")) {
      if (field.name && field.type !== "checkbox" && field.value !== field.defaultValue) {
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }
  }));

  function nice(number) {
    return String(Number(number.toPrecision(2)));
  }
})();
