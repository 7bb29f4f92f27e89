// What brings the conversation to life, and the script element that asks for it.

const HIDDEN_FOR = 10000; // a tab that nobody looks at for so long gives its connection back
const SHORT = 1500; // a connection that is back within this time is not worth a word

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

  /** Leaves the conversation for a new one. That of a person whom the website knows stays theirs. */
  restart() {
    if (this.client.identity) return;
    this.client.memory.update({ visitor: "", unsent: [], seen: 0 });
    this.identify("");
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
    if (seconds) return state === "waiting" ? WORDS.slower(Math.ceil(seconds)) : WORDS.busy;
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

function newId() {
  if (crypto.randomUUID) return crypto.randomUUID(); // only where the page is secure
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  digits[6] = `4${digits[6][1]}`;
  digits[8] = `a${digits[8][1]}`;
  return digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
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
  restart: () => CHATS.forEach((chat) => chat.restart()),
  open: () => CHATS.forEach((chat) => chat.frame.open(true)),
  close: () => CHATS.forEach((chat) => chat.frame.close()),
};
if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
