// The panel: what the visitor sees of the conversation. Markup of messages is built element by element.

const WORDS = {
  open: "Open chat",
  close: "Close chat",
  title: "Chat",
  messages: "Messages",
  write: "Write a message",
  attach: "Attach files",
  send: "Send",
  remove: "Remove",
  again: "Try again",
  you: "You",
  person: "Team member",
  answers: "Answers",
  typing: "Writing an answer",
  newer: "New messages",
  sending: "Sending",
  waiting: "Not sent yet",
  notSent: "Not sent.",
  offline: "You are offline. What you write is sent when you are back online.",
  lost: "The connection was lost. Trying again…",
  unreachable: "The chat cannot be reached. Trying again…",
  stranger: "This website may not use this chat.",
  identity: "Your sign-in was not accepted. Please sign in to this website again.",
  gone: "This chat is not available any more.",
  refused: "The chat refused this.",
  empty: (name) => `${name} is empty.`,
  large: (name, size, most) => `${name} has ${size}. Files can have up to ${most} together.`,
  long: (length, most) => `The message has ${length} characters. It can have up to ${most}.`,
  unread: (count) => (count === 1 ? "1 new message" : `${count} new messages`),
  slower: (seconds) => `That was a lot at once. Going on in ${seconds} seconds…`,
};
const ICONS = {
  chat: "M4 4h16v12H9l-5 4z",
  close: "M6 6l12 12M18 6L6 18",
  attach: "M8 12V7a4 4 0 0 1 8 0v9a2.5 2.5 0 0 1-5 0V8",
  send: "M4 12h15M13 6l6 6-6 6",
};
const TAGS = new Set(
  "p br strong em s code pre blockquote ul ol li a h1 h2 h3 h4 h5 h6 hr table tr th td".split(" "),
);
const DEEPEST = 50;
const LINKS = ["http:", "https:", "mailto:", "tel:"];

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

function button(kind, words, click, ...children) {
  const label = children.length ? { "aria-label": words, title: words } : {};
  return element("button", { type: "button", class: kind, click, ...label }, ...(children.length ? children : [words]));
}

/** A node of a message: a text, or [tag, attributes, ...nodes]. An unknown tag shows what it holds. */
function render(node, depth = 0) {
  if (!Array.isArray(node)) return document.createTextNode(node ?? "");
  const [tag, attributes, ...children] = node;
  const made = document.createElement(!TAGS.has(tag) ? "span" : tag.replace(/^h[1-6]$/, "h3"));
  const { href, start, align } = attributes ?? {};
  if (tag === "a") linkTo(made, href, LINKS);
  if (tag === "table") made.tabIndex = 0; // it scrolls
  if (tag === "ol" && Number.isInteger(start)) made.start = start;
  if (["left", "center", "right"].includes(align)) made.style.textAlign = align;
  if (depth < DEEPEST) made.append(...children.map((child) => render(child, depth + 1)));
  return made;
}

/** Has a link lead out of the page, unless the address is of another kind than those allowed. */
function linkTo(link, href, protocols, base) {
  const url = href && URL.canParse(href, base) && new URL(href, base);
  if (!url || !protocols.includes(url.protocol)) return;
  Object.assign(link, { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow" });
}

function sizeOf(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1000)), 3);
  const style = { style: "unit", unit: units[power], unitDisplay: power ? "short" : "long" };
  return new Intl.NumberFormat("en", { ...style, maximumFractionDigits: 1 }).format(bytes / 1000 ** power);
}

/** The messages of the conversation: those of the service in its order, and below what is not sent yet. */
class Transcript {
  constructor(base, act) {
    this.base = base;
    this.act = act; // choose(choice), resend(message), discard(message)
    this.shown = new Map();
    this.greeting = element("div");
    this.messages = element("div");
    this.unsent = element("div");
    this.dots = element("div", { class: "typing", hidden: true, role: "img", "aria-label": WORDS.typing });
    this.dots.append(element("i"), element("i"), element("i"));
    const live = { role: "log", "aria-live": "polite", "aria-label": WORDS.messages, tabindex: 0 };
    this.log = element("div", { class: "log", ...live }, this.greeting, this.messages, this.unsent, this.dots);
    this.log.addEventListener("scroll", () => this.newer.toggleAttribute("hidden", this.atEnd));
    this.newer = button("newer", WORDS.newer, () => this.toEnd());
    this.newer.hidden = true;
    new ResizeObserver(() => this.following && this.toEnd()).observe(this.log);
  }

  get atEnd() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
  }

  toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** Changes what is shown, and stays at the end if the end is what is read. */
  change(work, follow = false) {
    const following = follow || this.atEnd;
    work();
    if (following) this.toEnd();
    else this.newer.hidden = false;
    this.following = following;
  }

  clear() {
    this.messages.replaceChildren();
    this.unsent.replaceChildren();
    this.shown.clear();
    this.quiet();
  }

  greet(text, name) {
    this.name = name;
    const content = text && [["p", {}, text]];
    this.greeting.replaceChildren(...(text ? [this.#message({ from: "agent", content })] : []));
  }

  /** Shows a message of the service, in place of the one with its id. */
  show(message) {
    if (message.from !== "visitor") this.quiet();
    const made = this.#message(message);
    const before = this.shown.get(message.id);
    const focused = before?.contains(this.log.getRootNode().activeElement);
    this.change(() => {
      if (before?.parentNode === this.messages) before.replaceWith(made);
      else {
        before?.remove();
        this.messages.append(made);
      }
    });
    this.shown.set(message.id, made);
    if (focused) this.log.focus();
  }

  remove(id) {
    this.shown.get(id)?.remove();
    this.shown.delete(id);
  }

  /** Shows a message that is on its way to the service, with the word for how far it is. */
  pending(message, word) {
    this.remove(message.id);
    const content = message.text.split("\n").flatMap((line, at) => (at ? [["br", {}], line] : [line]));
    const made = this.#message({ ...message, from: "visitor", content: [["p", {}, ...content]] }, word);
    this.shown.set(message.id, made);
    this.change(() => this.unsent.append(made), true);
    return made;
  }

  sent(id, newId) {
    const made = this.shown.get(id);
    if (!made || made.parentNode !== this.unsent) return;
    this.shown.delete(id);
    if (this.shown.has(newId)) return made.remove();
    this.shown.set(newId, made);
    made.querySelector(".word")?.remove();
  }

  failed(message, why) {
    const made = this.pending(message, `${WORDS.notSent} ${why}`);
    made.classList.add("failed");
    const again = button("plain", WORDS.again, () => this.act.resend(message));
    made.append(element("p", { class: "meta" }, again, button("plain", WORDS.remove, () => this.remove(message.id))));
  }

  typing(seconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.quiet(), seconds * 1000);
    this.change(() => (this.dots.hidden = false));
  }

  quiet() {
    clearTimeout(this.timer);
    this.dots.hidden = true;
  }

  #message(message, word) {
    const { from, content = [], files = [], choices = [], at } = message;
    const by = { visitor: WORDS.you, agent: this.name, person: WORDS.person }[from];
    const made = element("div", { class: `message ${from}`, "aria-busy": message.draft ? "true" : null });
    if (by) made.append(element("span", { class: "by" }, by, element("span", { class: "unseen" }, ": ")));
    const nodes = (Array.isArray(content) ? content : [content]).map((node) => render(node));
    if (nodes.some((node) => node.textContent)) {
      made.append(element("div", { class: "bubble" }, element("div", { dir: "auto" }, ...nodes)));
    }
    if (files.length) made.append(element("ul", { class: "files" }, ...files.map((file) => this.#file(file))));
    if (choices.length) made.append(this.#choices(choices));
    if (word) made.append(element("p", { class: "meta word" }, word));
    else if (at && from !== "system" && !message.draft) made.append(timeOf(at));
    return made;
  }

  #file({ name, size, url }) {
    const link = element("a", { download: name }, element("bdi", null, name));
    linkTo(link, url, LINKS.slice(0, 2), this.base);
    return element("li", null, link, ...(size == null ? [] : [element("small", null, sizeOf(size))]));
  }

  #choices(choices) {
    const group = element("div", { class: "choices", role: "group", "aria-label": WORDS.answers });
    for (const choice of choices) {
      const press = () => {
        for (const other of group.children) other.disabled = true;
        this.act.choose(choice);
      };
      group.append(element("button", { type: "button", class: "choice", dir: "auto", click: press }, choice.label));
    }
    return group;
  }
}

function timeOf(at) {
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return "";
  const day = when.toDateString() === new Date().toDateString() ? {} : { dateStyle: "medium" };
  const words = new Intl.DateTimeFormat(undefined, { ...day, timeStyle: "short" }).format(when);
  return element("p", { class: "meta" }, element("time", { datetime: when.toISOString() }, words));
}

/** Where the visitor writes and chooses files. */
class Composer {
  constructor(send) {
    this.send = send;
    this.files = [];
    this.most = 0;
    this.longest = Infinity;
    this.text = element("textarea", { rows: 1, dir: "auto", "aria-label": WORDS.write, placeholder: `${WORDS.write}…` });
    this.text.addEventListener("input", () => this.#grow());
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    this.chosen = element("ul", { class: "chosen" });
    this.fault = element("p", { class: "fault", role: "alert" });
    this.picker = element("input", { type: "file", multiple: true, hidden: true, tabindex: -1, "aria-hidden": "true" });
    this.picker.addEventListener("change", () => {
      this.add([...this.picker.files]);
      this.picker.value = "";
    });
    this.attach = button("icon", WORDS.attach, () => this.picker.click(), icon("attach"));
    const submit = element("button", { class: "icon send", "aria-label": WORDS.send, title: WORDS.send }, icon("send"));
    const row = element("div", { class: "row" }, this.attach, this.text, submit);
    this.form = element("form", { novalidate: true }, this.fault, this.chosen, row, this.picker);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  /** The most bytes of all files together, 0: none can be sent; and the most characters. */
  limit(bytes, characters) {
    this.most = bytes;
    this.longest = characters || Infinity;
    this.attach.hidden = !bytes;
    this.attach.title = `${WORDS.attach} (${sizeOf(bytes)})`;
  }

  enable(enabled) {
    for (const field of this.form.querySelectorAll("button, textarea")) field.disabled = !enabled;
  }

  add(files) {
    this.fault.textContent = "";
    for (const file of this.most ? files : []) {
      const total = this.files.reduce((sum, { size }) => sum + size, file.size);
      if (!file.size) this.fault.textContent = WORDS.empty(file.name);
      else if (total > this.most) this.fault.textContent = WORDS.large(file.name, sizeOf(file.size), sizeOf(this.most));
      else this.files.push(file);
    }
    this.#list();
    this.text.focus();
  }

  #list() {
    const drop = (file) => () => {
      this.files = this.files.filter((other) => other !== file);
      this.#list();
      this.text.focus();
    };
    const item = (file) => {
      const remove = button("icon small", `${WORDS.remove} ${file.name}`, drop(file), icon("close"));
      return element("li", null, element("bdi", null, file.name), " ", element("small", null, sizeOf(file.size)), remove);
    };
    this.chosen.replaceChildren(...this.files.map(item));
  }

  #grow() {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight + 2}px`;
  }

  async #submit() {
    const text = this.text.value.trim();
    const files = this.files;
    if (!text && !files.length) return;
    if (text.length > this.longest) {
      this.fault.textContent = WORDS.long(text.length, this.longest);
      return;
    }
    this.text.value = "";
    this.files = [];
    this.fault.textContent = "";
    this.#list();
    this.#grow();
    this.send(text, await Promise.all(files.map(read)));
  }
}

/** A file as the service takes it. */
function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const dataBase64 = reader.result.slice(reader.result.indexOf(",") + 1);
      resolve({ name: file.name, mimeType: file.type || "application/octet-stream", dataBase64 });
    };
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

function newId() {
  if (crypto.randomUUID) return crypto.randomUUID(); // only where the page is secure
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  digits[6] = `4${digits[6][1]}`;
  digits[8] = `a${digits[8][1]}`;
  return digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
