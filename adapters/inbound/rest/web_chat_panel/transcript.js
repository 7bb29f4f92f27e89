// The messages that the visitor sees.

/** The messages of the conversation: those of the service in its order, and below what is not sent yet. */
class Transcript {
  constructor(base, act) {
    this.base = base;
    this.act = act; // choose(choice), resend(message)
    this.shown = new Map();
    this.greeting = element("div");
    this.messages = element("div");
    this.unsent = element("div");
    this.dots = element("div", { class: "typing", hidden: true, role: "img", "aria-label": WORDS.typing });
    this.dots.append(element("i"), element("i"), element("i"));
    const live = { role: "log", "aria-live": "polite", "aria-label": WORDS.messages, tabindex: 0 };
    const inside = element("div", null, this.greeting, this.messages, this.unsent, this.dots);
    this.log = element("div", { class: "log", ...live, scroll: () => this.#scrolled() }, inside);
    this.newer = button("newer", WORDS.newer, () => this.toEnd());
    this.newer.hidden = true;
    this.following = true; // the end is what is read
    this.top = 0;
    const observer = new ResizeObserver(() => this.following && this.toEnd());
    for (const part of [this.log, inside]) observer.observe(part);
  }

  /** Whoever scrolls up wants to read there; what grows meanwhile does not scroll. */
  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    if (scrollHeight - scrollTop - clientHeight < 40) this.following = true;
    else if (scrollTop < this.top) this.following = false;
    this.top = scrollTop;
    if (this.following) this.newer.hidden = true;
  }

  toEnd() {
    this.following = true;
    this.log.scrollTop = this.log.scrollHeight;
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
    if (before?.parentNode === this.messages) before.replaceWith(made);
    else {
      before?.remove();
      this.messages.append(made);
      this.newer.hidden = this.following;
    }
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
    this.unsent.append(made);
    this.toEnd();
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
    this.dots.hidden = false;
  }

  quiet() {
    clearTimeout(this.timer);
    this.dots.hidden = true;
  }

  #message(message, word) {
    const { from, content = [], files = [], choices = [], at } = message;
    const by = { visitor: WORDS.you, agent: this.name, person: WORDS.person }[from];
    const isQuestion = from === "system" && (choices.length || content.length > 1);
    const kind = isQuestion ? "question" : from;
    const made = element("div", { class: `message ${kind}`, "aria-busy": message.draft ? "true" : null });
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

  #file({ name, mimeType, size, url }) {
    const link = element("a", { download: name }, element("bdi", null, name));
    linkTo(link, url, LINKS.slice(0, 2), this.base);
    if (PICTURES.includes(mimeType) && link.origin === new URL(this.base).origin) link.prepend(this.#picture(link.href));
    return element("li", null, link, ...(size == null ? [] : [element("small", null, sizeOf(size))]));
  }

  /** The picture itself, where the website's policy lets it be shown. */
  #picture(src) {
    const gone = () => picture.remove();
    const picture = element("img", { src, alt: "", referrerpolicy: "no-referrer", error: gone });
    return picture;
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
