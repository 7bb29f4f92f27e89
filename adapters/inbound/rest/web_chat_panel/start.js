// The frame around the conversation, what brings it to life, and the script element that asks for it.

const HIDDEN_FOR = 10000; // a tab that nobody looks at for so long gives its connection back
const SHORT = 1500; // a connection that is back within this time is not worth a word

/** A button that opens a dialog; or, in an element of the page, a region that is always open. */
class Frame {
  constructor(key, target, parts, on) {
    this.visible = new Memory(key, "sessionStorage");
    this.on = on; // opened(), files(list)
    this.inline = this.expanded = Boolean(target);
    this.host = element("div", { class: "switchboard-chat" });
    this.title = element("h2", { id: "title", dir: "auto" }, WORDS.title);
    this.status = element("p", { class: "status", role: "status" });
    this.head = element("header", null, this.title);
    const role = this.inline ? "region" : "dialog";
    const labels = { role, class: "frame", "aria-labelledby": "title", hidden: !this.inline };
    this.frame = element("section", labels, this.head, this.status, ...parts);
    this.root = element("div", { class: this.inline ? "root inline" : "root", lang: "en" }, this.frame);
    if (!this.inline) this.#float();
    this.frame.addEventListener("dragover", (event) => event.preventDefault());
    this.frame.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
    this.frame.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    const shadow = this.host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    shadow.adoptedStyleSheets = [sheet];
    shadow.append(this.root);
    (target ?? document.body).append(this.host);
  }

  #float() {
    this.launcher = button("launcher", WORDS.open, () => this.open(true), icon("chat"));
    this.launcher.setAttribute("aria-haspopup", "dialog");
    this.badge = element("span", { class: "badge", hidden: true });
    this.launcher.append(this.badge);
    this.head.append(button("icon", WORDS.close, () => this.close(), icon("close")));
    this.frame.addEventListener("keydown", (event) => this.#key(event));
    this.root.append(this.launcher);
  }

  /** Whether it was open on the page before, in this tab. */
  get left() {
    return this.visible.value.open;
  }

  open(focus) {
    if (!this.inline) this.#expand(true);
    this.on.opened(focus);
  }

  close() {
    if (this.inline || !this.expanded) return;
    this.#expand(false);
    this.launcher.focus();
  }

  #expand(expanded) {
    this.expanded = expanded;
    this.frame.hidden = !expanded;
    this.launcher.hidden = expanded;
    this.visible.update({ open: expanded });
  }

  #key(event) {
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Tab" && matchMedia("(max-width: 480px)").matches) this.#stay(event);
  }

  /** Where the panel covers the page, the focus stays in it. */
  #stay(event) {
    const stops = [...this.frame.querySelectorAll("button, a[href], textarea, [tabindex='0']")];
    const seen = stops.filter((stop) => !stop.disabled && stop.getClientRects().length);
    const [first, last] = event.shiftKey ? [seen.at(-1), seen[0]] : [seen[0], seen.at(-1)];
    if (this.host.shadowRoot.activeElement !== last) return;
    event.preventDefault();
    first.focus();
  }

  #take(event, { files }) {
    if (!files.length) return;
    event.preventDefault();
    this.on.files([...files]);
  }

  look(title, colour) {
    this.title.textContent = title;
    if (CSS.supports("color", colour)) this.host.style.setProperty("--instance-colour", colour);
    this.host.style.setProperty("--on-colour", readableOn(getComputedStyle(this.head).backgroundColor));
  }

  tell(words) {
    if (this.status.textContent !== words) this.status.textContent = words;
  }

  get told() {
    return this.status.textContent !== "";
  }

  /** The number of messages that came while it was closed. */
  count(number) {
    if (this.inline) return;
    this.badge.hidden = !number;
    this.badge.textContent = number > 9 ? "9+" : number;
    const label = number ? `${WORDS.open}, ${WORDS.unread(number)}` : WORDS.open;
    this.launcher.setAttribute("aria-label", label);
    this.launcher.title = label;
  }
}

/** The conversation of the visitor of this page: the client's news go to what is shown, the visitor's words back. */
class Chat {
  constructor({ base, instance, target, opened }) {
    const name = `switchboard-chat:${instance}`;
    this.base = base;
    this.client = new Client(`${base}api/agent/web-chat/${encodeURIComponent(instance)}`, name, this);
    this.transcript = new Transcript(base, {
      choose: ({ label, value }) => this.#queue({ id: newId(), text: label, choice: value, files: [] }),
      resend: (message) => this.#queue(message),
    });
    this.composer = new Composer((text, files) => this.#queue({ id: newId(), text, choice: "", files }));
    const parts = [this.transcript.log, this.transcript.newer, this.composer.form];
    const on = { opened: (focus) => this.#opened(focus), files: (files) => this.composer.add(files) };
    this.frame = new Frame(name, target, parts, on);
    this.opened = opened || this.frame.left;
    addEventListener("pagehide", () => this.client.halt());
    addEventListener("pageshow", () => this.#listen());
    document.addEventListener("visibilitychange", () => this.#attend());
  }

  /** Begins as the person of an identity token of the website, "" for an unknown visitor. */
  identify(identity) {
    this.client.identify(identity);
    this.known = false;
    this.latest = 0;
    this.unread = new Set();
    this.state("connected");
    this.composer.enable(true);
    this.cleared();
    if (this.opened) this.frame.open(false);
    this.opened = false;
    this.#listen();
  }

  /** Listens while the panel is open, or where somebody has written before and may have got an answer. */
  #listen() {
    const { client } = this;
    if (client.listening || document.hidden) return;
    if (this.frame.expanded || client.memory.value.seen || client.unsent.length) client.listen();
    else client.open().catch(() => {}); // gives no more than its look; opening the panel tries again, and tells
  }

  #attend() {
    clearTimeout(this.leaving);
    if (document.hidden) this.leaving = setTimeout(() => this.client.halt(), HIDDEN_FOR);
    else this.#listen();
  }

  #opened(focus) {
    this.unread.clear();
    this.frame.count(0);
    this.#see();
    this.#listen();
    this.transcript.toEnd();
    if (focus) this.composer.text.focus();
  }

  #queue(message) {
    this.transcript.pending(message, WORDS.sending);
    this.client.send(message);
    this.#listen();
  }

  session({ title, greeting, colour, maxFileBytes, maxTextLength }) {
    this.known = true;
    this.frame.look(title || WORDS.title, colour);
    this.transcript.greet(greeting, title || WORDS.title);
    this.composer.limit(maxFileBytes, maxTextLength);
  }

  message(message) {
    this.transcript.show(message);
    const at = Date.parse(message.at) || 0;
    this.latest = Math.max(this.latest, at);
    if (message.from === "visitor" || this.frame.expanded) this.#see();
    else if (!message.draft && at > (this.client.memory.value.seen ?? 0)) {
      this.frame.count(this.unread.add(message.id).size);
    }
  }

  removed({ id }) {
    this.transcript.remove(id);
    if (this.unread.delete(id)) this.frame.count(this.unread.size);
  }

  cleared() {
    this.transcript.clear();
    for (const message of this.client.unsent) this.transcript.pending(message, WORDS.waiting);
    this.unread.clear();
    this.frame.count(0);
  }

  typing({ seconds }) {
    this.transcript.typing(seconds);
  }

  sent(id, newId) {
    this.state("connected");
    this.transcript.sent(id, newId);
  }

  failed(message, failure) {
    this.transcript.failed(message, failure.message || WORDS.refused);
  }

  /** Tells how the connection is: "connected", "lost", "waiting" to send, or "fatal". */
  state(state, failure) {
    if (state === "connected") return this.#connected();
    if (state === FATAL) this.composer.enable(false);
    if (state === "lost" && !this.known && failure.status === 0) this.#explain();
    this.trouble = this.#words(state, failure);
    const tell = () => this.frame.tell(this.trouble);
    if (state === FATAL || failure.seconds || !navigator.onLine || this.frame.told) tell();
    else this.telling ??= setTimeout(tell, SHORT);
  }

  #connected() {
    clearTimeout(this.telling);
    this.telling = null;
    this.frame.tell("");
  }

  #words(state, { status, message, seconds }) {
    if (status === 404) return WORDS.gone;
    if (state === FATAL) return this.client.identity && !this.known ? WORDS.identity : message || WORDS.refused;
    if (status === 429 && seconds) return WORDS.slower(Math.ceil(seconds));
    if (!navigator.onLine) return WORDS.offline;
    return this.known ? WORDS.lost : this.stranger ? WORDS.stranger : WORDS.unreachable;
  }

  /** A browser does not say why it may not read an answer: if the service is there, it is the website's address. */
  async #explain() {
    if (this.stranger || !navigator.onLine) return;
    try {
      await fetch(`${this.base}web-chat.js`, { mode: "no-cors", cache: "no-store" });
    } catch {
      return;
    }
    this.stranger = true;
    console.warn(`Switchboard: ${location.origin} is not among the allowed origins of this web chat.`);
  }

  /** Keeps until when messages were seen, a moment after the latest of them. */
  #see() {
    this.seeing ??= setTimeout(() => {
      this.seeing = null;
      const { memory } = this.client;
      if (this.latest > (memory.value.seen ?? 0)) memory.update({ seen: this.latest });
    }, 200);
  }
}

/** Black or white, whichever is easier to read on a colour that is computed as rgb(). */
function readableOn(colour) {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? [0, 0, 0]).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

const SCRIPT = document.currentScript;
const CHATS = [];

function start() {
  const { instance, target, identity = "" } = SCRIPT.dataset;
  const place = target ? document.querySelector(target) : null;
  if (!instance) return console.error("Switchboard: the script element has no data-instance.");
  if (target && !place) return console.error(`Switchboard: there is no element ${target} for the chat.`);
  const base = new URL(".", SCRIPT.src).href;
  const chat = new Chat({ base, instance, target: place, opened: "open" in SCRIPT.dataset });
  CHATS.push(chat);
  chat.identify(identity);
}

window.SwitchboardChat ??= {
  /** Says who the visitor is, by a token that the website's backend signed; "": the person has signed out. */
  identify: (token) => CHATS.forEach((chat) => chat.identify(token ?? "")),
  open: () => CHATS.forEach((chat) => chat.frame.open(true)),
  close: () => CHATS.forEach((chat) => chat.frame.close()),
};
if (document.body) start();
else addEventListener("DOMContentLoaded", start);
