// The connection of one visitor with one instance: the session, the stream of messages, and what is still to be sent.

const LONGEST_WAIT = 30000; // milliseconds between two tries
const SILENCE = 60000; // after so long without a byte the stream counts as lost; the service writes more often
const SENDING = 120000;
const OPENING = 20000;
const WITHOUT_HINT = 10; // seconds to wait when a 429 does not say how long
const FATAL = "fatal";

/** An answer that is no success; `status` 0: there was none. */
class Failure extends Error {
  constructor(status, message, seconds) {
    super(message);
    this.status = status;
    this.seconds = seconds;
  }

  get temporary() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

async function request(url, { token, body, signal } = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const options = { method: body ? "POST" : "GET", headers, signal, credentials: "omit", cache: "no-store" };
  let answer;
  try {
    answer = await fetch(url, body ? { ...options, body: JSON.stringify(body) } : options);
  } catch {
    throw new Failure(0, "");
  }
  if (answer.ok) return answer;
  throw new Failure(answer.status, await reason(answer), retryAfter(answer));
}

async function reason(answer) {
  try {
    return String((await answer.json()).error ?? "");
  } catch {
    return "";
  }
}

function retryAfter(answer) {
  const value = answer.headers.get("Retry-After");
  const seconds = /^\d+$/.test(value ?? "") ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  if (seconds >= 0) return Math.min(Math.max(seconds, 1), 3600);
  return answer.status === 429 ? WITHOUT_HINT : undefined;
}

class Client {
  /** `view` has the methods session, message, removed, typing, cleared, sent, failed, state. */
  constructor(address, name, view) {
    this.address = address;
    this.name = name;
    this.view = view;
    this.sleepers = new Set();
    this.run = 0;
    addEventListener("online", () => this.wake());
    addEventListener("offline", () => this.connection?.abort());
  }

  /** Begins again as the person of `identity`, "" for nobody in particular. */
  identify(identity) {
    const person = identity && subject(identity);
    this.identity = identity;
    this.memory = new Memory(person ? `${this.name}:${person}` : this.name);
    this.session = this.opening = null;
    this.cursor = "0";
    this.unsent = this.memory.value.unsent ?? [];
    this.halt();
  }

  /** The session; it is opened if there is none. */
  async open() {
    if (this.session) return this.session;
    const { identity } = this;
    const opening = (this.opening ??= alone(this.name, () => this.#newSession(identity)));
    try {
      return await opening;
    } finally {
      if (this.opening === opening) this.opening = null;
    }
  }

  async #newSession(identity) {
    const visitor = this.memory.value.visitor ?? "";
    const options = { body: { visitor, identity }, signal: AbortSignal.timeout(OPENING) };
    const answer = await request(`${this.address}/session`, options);
    const session = await answer.json().catch(lost);
    if (identity !== this.identity) throw new Failure(0, "");
    if (!identity) this.memory.update({ visitor: session.visitor });
    this.session = session;
    this.view.session(session);
    return session;
  }

  /** Reads the stream until `halt`, and sends what is still to be sent. */
  async listen() {
    const run = ++this.run;
    this.drain();
    for (let tries = 0; run === this.run; tries += 1) {
      try {
        await this.#read(run, () => (tries = 0));
      } catch (failure) {
        if (run !== this.run) return;
        if (!this.#bearable(failure, tries)) return this.#end(failure);
        this.view.state("lost", failure);
        await this.rest(failure, tries);
      }
    }
  }

  get listening() {
    return Boolean(this.connection);
  }

  #end(failure) {
    this.connection = null;
    this.view.state(FATAL, failure);
  }

  halt() {
    this.run += 1;
    this.connection?.abort();
    this.connection = null;
    this.wake();
  }

  /** Whether another try may succeed. A session that ended is opened again, once. */
  #bearable(failure, tries) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401 && this.session) {
      this.session = null;
      return tries < 2;
    }
    return failure.temporary;
  }

  async #read(run, connected) {
    const connection = (this.connection = new AbortController());
    const { visitor } = await this.open();
    const watched = (promise) => {
      const watchdog = setTimeout(() => connection.abort(), SILENCE);
      return promise.finally(() => clearTimeout(watchdog));
    };
    const url = `${this.address}/stream?after=${encodeURIComponent(this.cursor)}`;
    const answer = await watched(request(url, { token: visitor, signal: connection.signal }));
    this.view.state("connected");
    connected();
    const text = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = new EventReader();
    for (;;) {
      const { value, done } = await watched(text.read().catch(lost));
      if (run !== this.run) return;
      if (done) throw new Failure(0, "");
      for (const event of events.read(value)) this.#take(event);
    }
  }

  #take({ event, id, data }) {
    if (data) {
      const value = JSON.parse(data);
      if (event === "message") this.#forget(value.id);
      if (["message", "removed", "typing", "cleared"].includes(event)) this.view[event](value);
    }
    if (id) this.cursor = id;
  }

  /** Sends a message as soon as that is possible; once, as its id tells the service. */
  send(message) {
    this.unsent.push(message);
    this.memory.update({ unsent: [...(this.memory.value.unsent ?? []), message] });
    this.drain();
  }

  /** Takes a message from what is still to be sent. */
  #forget(id) {
    const others = (messages) => messages.filter((message) => message.id !== id);
    if (!this.unsent.some((message) => message.id === id)) return;
    this.unsent = others(this.unsent);
    this.memory.update({ unsent: others(this.memory.value.unsent ?? []) });
  }

  async drain() {
    if (this.draining) return;
    this.draining = true;
    for (let tries = 0; this.unsent.length; tries += 1) {
      const message = this.unsent[0];
      try {
        await this.#post(message);
        tries = -1;
      } catch (failure) {
        if (this.#bearable(failure, tries)) {
          this.view.state("waiting", failure);
          await this.rest(failure, tries);
        } else if (this.session) {
          this.#forget(message.id);
          this.view.failed(message, failure);
        } else break; // no session can be had: the reader of the stream says why
      }
    }
    this.draining = false;
  }

  async #post(message) {
    const { visitor } = await this.open();
    const signal = AbortSignal.timeout(SENDING);
    const answer = await request(`${this.address}/messages`, { token: visitor, body: message, signal });
    this.#forget(message.id);
    this.view.sent(message.id, (await answer.json().catch(lost)).id);
  }

  /** Waits before the next try: as long as the service says, else longer each time, and not all visitors alike. */
  rest(failure, tries) {
    const longest = Math.min(1000 * 2 ** tries, LONGEST_WAIT);
    const wait = failure.seconds ? failure.seconds * 1000 : longest * (0.5 + Math.random() / 2);
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, wait);
      if (!failure.seconds) this.sleepers.add(wake);
    });
  }

  /** Ends all waiting, but for what the service asked for. */
  wake() {
    for (const wake of this.sleepers) wake();
  }
}

function lost() {
  throw new Failure(0, "");
}

/** Whom an identity token names. It is verified by the service; here it only keeps people apart. */
function subject(token) {
  try {
    return String(JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub);
  } catch {
    return "unknown";
  }
}

/** Two tabs that open at once get one visitor. Where a page may have no locks, nothing is kept for it either. */
async function alone(name, task) {
  try {
    return await navigator.locks.request(name, task);
  } catch (error) {
    if (error instanceof Failure) throw error;
    return task();
  }
}
