// Sends files and folders one by one, with progress, from a form with the id "upload".
"use strict";

(() => {
  const form = document.getElementById("upload");
  const list = document.getElementById("sending");
  if (!form) return;
  const AT_ONCE = 2;
  const largest = Number(form.dataset.largest);
  const csrf = form.elements.csrf.value;
  const waiting = [];
  let active = 0;

  for (const input of form.querySelectorAll('input[type="file"]')) {
    input.addEventListener("change", () => { add([...input.files]); input.value = ""; });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragenter", "dragover"]) {
    form.addEventListener(kind, (event) => { event.preventDefault(); form.classList.add("over"); });
  }
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) form.classList.remove("over");
  });
  form.addEventListener("drop", async (event) => {
    event.preventDefault();
    form.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    for (const entry of entries) await walk(entry).catch(() => rowOf(entry).end("This cannot be read."));
  });
  addEventListener("beforeunload", (event) => { if (active || waiting.length) event.preventDefault(); });

  // Adds what is in a dropped file or folder, hidden files left out. A folder is read in batches, until one is empty.
  async function walk(entry) {
    if (entry.isFile) return add([await new Promise((done, failed) => entry.file(done, failed))]);
    const reader = entry.createReader();
    for (;;) {
      const batch = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!batch.length) return undefined;
      for (const each of batch) await walk(each);
    }
  }

  function add(files) {
    for (const file of files) {
      if (file.name.startsWith(".")) continue;
      const row = rowOf(file);
      if (file.size > largest) row.end("Too large. See the limit above.");
      else waiting.push(row);
    }
    next();
  }

  function next() {
    while (active < AT_ONCE && waiting.length) {
      active += 1;
      waiting.shift().send();
    }
  }

  function rowOf(file) {
    const row = document.createElement("li");
    const name = document.createElement("b");
    const bar = document.createElement("progress");
    const text = document.createElement("span");
    const button = document.createElement("button");
    const request = new XMLHttpRequest();
    name.dir = "auto";
    name.textContent = file.name;
    bar.max = file.size || 1;
    bar.value = 0;
    bar.setAttribute("aria-label", `Sending ${file.name}`);
    text.textContent = "Waiting to be sent";
    button.type = "button";
    button.className = "small";
    button.textContent = "Cancel";
    button.setAttribute("aria-label", `Cancel sending ${file.name}`);
    row.append(name, bar, text, button);
    list.append(row);
    list.hidden = false;

    function end(words) {
      bar.remove();
      text.setAttribute("role", "status");
      text.textContent = words;
      text.className = "fault";
      button.textContent = "Dismiss";
      button.setAttribute("aria-label", `Dismiss ${file.name}`);
      button.onclick = remove;
    }

    function remove() {
      row.remove();
      list.hidden = !list.childElementCount;
    }

    function done() {
      active -= 1;
      next();
      htmx.trigger(document.body, "files:changed");
    }

    function answered() {
      if (request.getResponseHeader("HX-Trigger") === "signed-out") {
        htmx.trigger(document.body, "signed-out");
        return end("Not sent: you are signed out. Sign in, then add the file again.");
      }
      if (request.status >= 200 && request.status < 300) {
        if (!JSON.parse(request.responseText).known.length) return remove();
        end("This knowledge base has the same file already.");
        text.className = "quiet";
        return undefined;
      }
      const html = (request.getResponseHeader("content-type") || "").startsWith("text/html");
      const page = html ? new DOMParser().parseFromString(request.responseText, "text/html") : null;
      return end(page?.querySelector(".notice")?.textContent || `The server answered with status ${request.status}.`);
    }

    function send() {
      request.open("POST", form.action);
      request.setRequestHeader("x-csrf-token", csrf);
      request.setRequestHeader("hx-request", "true");
      request.upload.onprogress = (event) => {
        bar.value = Math.min(event.loaded, file.size);
        const share = Math.floor((100 * event.loaded) / event.total);
        text.textContent = share < 100 ? `Sending: ${share} %` : "Sent, being stored";
      };
      request.onload = () => { answered(); done(); };
      request.onerror = () => { end("The connection broke off. Add the file again."); done(); };
      request.onabort = () => { remove(); done(); };
      const body = new FormData();
      body.append("file", file, file.name);
      request.send(body);
    }

    button.onclick = () => {
      const place = waiting.findIndex((each) => each.row === row);
      if (place < 0) return request.abort();
      waiting.splice(place, 1);
      return remove();
    };
    return { row, send, end };
  }
})();
