// What the client stands on: event streams, and what a browser keeps.

/** Reads `text/event-stream`, which may be cut anywhere. */
class EventReader {
  #rest = "";

  *read(text) {
    const frames = (this.#rest + text.replaceAll("\r\n", "\n")).split("\n\n");
    this.#rest = frames.pop();
    for (const frame of frames) {
      const fields = { event: "message", data: [] };
      for (const line of frame.split("\n")) this.#field(fields, line);
      yield { ...fields, data: fields.data.join("\n") };
    }
  }

  #field(fields, line) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === "data") fields.data.push(value);
    else if (name) fields[name] = value;
  }
}

/** What outlives the page, if the browser keeps anything for it. */
class Memory {
  constructor(key, storage = "localStorage") {
    this.key = key;
    this.storage = storage;
    this.kept = {};
  }

  get value() {
    try {
      return JSON.parse(window[this.storage].getItem(this.key)) ?? this.kept;
    } catch {
      return this.kept; // the browser keeps nothing for this page
    }
  }

  update(change) {
    this.kept = { ...this.value, ...change };
    try {
      window[this.storage].setItem(this.key, JSON.stringify(this.kept));
    } catch {
      // Full, or not allowed: it is kept until the page is left.
    }
  }
}
