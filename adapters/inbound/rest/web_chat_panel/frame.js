// The frame around the conversation.

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

/** Black or white, whichever is easier to read on a colour that is computed as rgb(). */
function readableOn(colour) {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? [0, 0, 0]).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}
