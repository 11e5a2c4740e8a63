/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches the page again every few seconds and swaps its content; everything works without it. */
"use strict";
(() => {
  const period = 5000;
  const place = document.getElementById("refresh");
  const button = document.createElement("button");
  let paused = false;

  const isBusy = () => {
    const main = document.querySelector("main");
    const focus = document.activeElement;
    return document.hidden || String(getSelection()) !== "" ||
      (main.contains(focus) && /^(INPUT|SELECT|BUTTON)$/.test(focus.tagName));
  };

  const swap = (page) => {
    for (const part of ["main", "footer p"]) {
      const before = document.querySelector(part);
      const after = page.querySelector(part);
      if (!before || !after) continue;
      const open = [...before.querySelectorAll("details")].map((one) => one.open);
      const scrolled = [...before.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
      before.replaceWith(document.adoptNode(after));
      after.querySelectorAll("details").forEach((one, i) => { one.open = Boolean(open[i]); });
      after.querySelectorAll(".scroll").forEach((one, i) => { one.scrollLeft = scrolled[i] || 0; });
    }
    document.getElementById("refresh").append(button);
  };

  const say = () => { button.textContent = paused ? "Refresh again" : "Pause refreshing"; };

  const look = async () => {
    if (paused || isBusy()) return;
    try {
      const answer = await fetch(location.href);
      if (!answer.ok) throw new Error(String(answer.status));
      swap(new DOMParser().parseFromString(await answer.text(), "text/html"));
      document.body.classList.remove("stale");
    } catch (error) {
      document.body.classList.add("stale");
    }
  };

  button.type = "button";
  button.addEventListener("click", () => { paused = !paused; say(); });
  say();
  if (place) place.append(button);
  setInterval(look, period);
})();
