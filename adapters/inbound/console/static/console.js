// The console's own script: the menu, times, copying, the CSRF header of htmx, and live updates.
"use strict";

(() => {
  document.documentElement.classList.add("scripted");
  const body = document.body;
  const csrf = document.querySelector('meta[name="csrf"]').content;

  // Times in the zone and language of the browser.
  function showTimes(root) {
    for (const element of root.querySelectorAll("time[datetime]:not([data-shown])")) {
      const moment = new Date(element.dateTime);
      const day = moment.toDateString() === new Date().toDateString() ? {} : { dateStyle: "medium" };
      element.title = moment.toLocaleString([], { dateStyle: "full", timeStyle: "long" });
      element.textContent = moment.toLocaleString([], { ...day, timeStyle: "short" });
      element.dataset.shown = "";
    }
  }
  showTimes(document);
  body.addEventListener("htmx:load", (event) => showTimes(event.detail.elt));

  // How long something still holds.
  function showTimeLeft() {
    for (const element of document.querySelectorAll("[data-until]")) {
      const minutes = Math.max(0, Math.ceil((new Date(element.dataset.until) - Date.now()) / 60000));
      if (!minutes && !("over" in element.dataset)) fire("reset", {});
      if (!minutes) element.dataset.over = "";
      element.textContent = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
    }
  }
  showTimeLeft();
  setInterval(showTimeLeft, 10000);
  body.addEventListener("htmx:load", showTimeLeft);

  // What is unfolded stays so when the part around it is fetched anew, and what has the focus keeps it.
  let unfolded = [];
  let focused = null;
  body.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    unfolded = [...target.querySelectorAll("details[id][open]")].map((each) => each.id);
    const active = document.activeElement;
    focused = target !== active && target.contains(active) ? [active, namesakes(target, active).indexOf(active)] : null;
  });
  body.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
    for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
    if (focused && !focused[0].isConnected && document.activeElement === body) {
      namesakes(target, focused[0])[focused[1]]?.focus({ preventScroll: true });
    }
  });

  function namesakes(part, element) {
    const name = (each) => each.getAttribute("aria-label") ?? `${each.name ?? ""} ${each.textContent}`;
    return [...part.querySelectorAll(element.localName)].filter((each) => name(each) === name(element));
  }

  // The end of a chat stays in sight while it was.
  const log = document.querySelector("[role=log]");
  if (log) {
    const ending = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
    let atEnd = true;
    log.scrollIntoView({ block: "end" });
    body.addEventListener("htmx:beforeSwap", () => { atEnd = ending(); });
    body.addEventListener("htmx:afterSwap", (event) => {
      if (atEnd && log.contains(event.detail.elt)) scrollTo(0, document.documentElement.scrollHeight);
    });
  }

  // The menu of narrow windows.
  const menu = document.querySelector(".menu");
  menu?.addEventListener("click", () => {
    const open = document.getElementById("navigation").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });

  // Copying.
  body.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const before = button.lastChild.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.lastChild.textContent = " Copied";
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      button.lastChild.textContent = " Press Ctrl+C";
    }
    setTimeout(() => { button.lastChild.textContent = before; }, 2000);
  });

  // One box that ticks all.
  body.addEventListener("change", (event) => {
    const name = event.target.dataset?.checkAll;
    if (!name) return;
    for (const box of event.target.form.querySelectorAll(`input[name="${name}"]`)) box.checked = event.target.checked;
  });

  // What was typed, ticked, chosen or unfolded before the scripts ran counts as done now.
  document.addEventListener("DOMContentLoaded", () => {
    for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
      if (!isChanged(field)) continue;
      for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
    }
    for (const each of document.querySelectorAll("details[hx-get][open]")) each.dispatchEvent(new Event("toggle"));
  });

  function isChanged(field) {
    if (field.options) return [...field.options].some((each) => each.defaultSelected && !each.selected);
    const ticked = ["checkbox", "radio"].includes(field.type);
    return ticked ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  }

  // Trying a resource anew, without what was said before.
  body.addEventListener("click", (event) => {
    if (event.target.closest("[data-new-conversation]")) window.SwitchboardChat?.restart();
  });

  // One question is open at a time; Escape closes it.
  const questions = () => document.querySelectorAll("details.confirm[open]");
  body.addEventListener("toggle", (event) => {
    if (event.target.matches("details.confirm[open]")) {
      for (const other of questions()) if (other !== event.target) other.open = false;
    } else if (heldBack && !questions().length) {
      heldBack = false;
      fire("reset", {});
    }
  }, true);

  // A part with `data-merge` that is fetched again and again: only what changed in it is replaced, so that a click, the
  // focus and an open question are not lost.
  body.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr } = event.detail;
    if (xhr.status !== 200 || !target.matches("[data-merge]")) return;
    const fresh = new DOMParser().parseFromString(xhr.responseText, "text/html").getElementById(target.id);
    if (!fresh || !alike(target, fresh)) return;
    event.detail.shouldSwap = false;
    merge(target, fresh);
    htmx.process(target);
    showTimes(target);
  });

  function merge(old, fresh) {
    if (old.isEqualNode(fresh) || (old.dateTime && old.dateTime === fresh.dateTime)) return;
    if (!alike(old, fresh) || !old.childNodes.length) old.replaceWith(fresh);
    else {
      const children = [...fresh.childNodes];
      [...old.childNodes].forEach((child, place) => merge(child, children[place]));
    }
  }

  function alike(old, fresh) {
    const own = (node) => [...(node.attributes ?? [])].filter((each) => each.name !== "open");
    const value = (each) => each.value.replace(/htmx-\w+/g, "").trim();
    const said = (node) => [node.nodeName, ...own(node).map((each) => `${each.name}=${value(each)}`)].join("\n");
    return old.childNodes.length === fresh.childNodes.length && said(old) === said(fresh);
  }

  // A part with an open question is not replaced: the question would close.
  let heldBack = false;
  for (const moment of ["htmx:beforeRequest", "htmx:beforeSwap"]) {
    body.addEventListener(moment, (event) => {
      const { elt, requestConfig } = event.detail;
      if (requestConfig.verb !== "get" || !elt.querySelector("details.confirm[open]")) return;
      heldBack = true;
      event.preventDefault();
    });
  }
  body.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const question of questions()) {
      question.open = false;
      question.querySelector("summary").focus();
    }
  });

  // A form is sent once, however often its button is pressed; another time after its answer.
  addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("[data-sent]")) delete form.dataset.sent;
  });

  // What is shown once, a new key, is not made again when the page is loaded again.
  if (document.querySelector("[data-shown-once]")) history.replaceState(null, "");

  // htmx: the token of forms, and errors, which the server answers with a notice.
  body.addEventListener("htmx:configRequest", (event) => { event.detail.headers["x-csrf-token"] = csrf; });
  body.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    if (xhr.status < 400) return;
    const html = (xhr.getResponseHeader("content-type") || "").startsWith("text/html");
    event.detail.shouldSwap = html;
    event.detail.isError = false;
    if (!html) tell(`The server answered with status ${xhr.status}. Try again in a moment.`);
  });
  body.addEventListener("htmx:sendError", () => tell("The server does not answer. Try again in a moment."));

  function tell(text) {
    const notice = document.createElement("p");
    notice.className = "notice bad";
    notice.textContent = text;
    document.getElementById("notices").replaceChildren(notice);
  }

  // After the session has ended, in this tab or elsewhere, the page stays as it is and asks for nothing more.
  const signedOut = document.getElementById("signed-out");
  function showSignedOut() {
    if (!signedOut) return;
    close();
    offline.hidden = true;
    signedOut.hidden = false;
    const page = encodeURIComponent(location.pathname + location.search);
    signedOut.querySelector("a").href = `/console/sign-in?next=${page}`;
  }
  body.addEventListener("signed-out", showSignedOut);
  body.addEventListener("htmx:beforeRequest", (event) => { if (signedOut?.hidden === false) event.preventDefault(); });

  // The form to sign in is shown to nobody who has signed in: they are led on.
  async function isSignedOut() {
    try {
      return (await fetch("/console/sign-in", { redirect: "manual" })).ok;
    } catch {
      return false; // the server does not answer
    }
  }

  // Live updates: one stream for the page, closed while the page is not seen.
  const kinds = body.dataset.live?.split(" ") ?? [];
  const offline = document.getElementById("offline");
  const session = decodeURIComponent(body.dataset.liveSession ?? ""); // of a page about one conversation
  const last = {};
  let stream = null;
  let after = body.dataset.liveAfter; // where events stood before the page was made

  function fire(kind, detail) {
    htmx.trigger(body, `live:${kind}`, detail);
  }

  function open(missed) {
    if (stream || !kinds.length || document.hidden || signedOut?.hidden === false) return;
    const only = body.dataset.liveInstance ? `&instanceId=${body.dataset.liveInstance}` : "";
    const since = after ? `&after=${after}` : "";
    after = "";
    stream = new EventSource(`/console/live?kinds=${kinds.join(",")}${only}${since}`);
    stream.onopen = () => {
      offline.hidden = true;
      if (missed) fire("reset", {});
      missed = false;
    };
    stream.onerror = async () => {
      const refused = stream.readyState === EventSource.CLOSED;
      if (refused) close();
      if (refused && (await isSignedOut())) return showSignedOut();
      offline.hidden = false;
      if (refused) setTimeout(() => open(true), 5000);
    };
    for (const kind of [...kinds, "reset"]) {
      stream.addEventListener(kind, (event) => {
        const detail = JSON.parse(event.data);
        if (session && kind !== "reset" && detail.sessionId !== session) return;
        fire(kind, detail);
        // Parts with a throttle ignore events within it: they hear of the last one once more.
        clearTimeout(last[kind]);
        last[kind] = setTimeout(() => fire(kind, detail), 5500);
      });
    }
  }

  function close() {
    stream?.close();
    stream = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open(true)));
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) open(true); });
  open(!after);
})();
