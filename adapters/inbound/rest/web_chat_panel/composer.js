// Where the visitor writes.

/** Where the visitor writes and chooses files. */
class Composer {
  constructor(send) {
    this.send = send;
    this.files = [];
    this.most = Infinity; // until the service has said
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
