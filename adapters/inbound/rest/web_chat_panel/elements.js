// What the panel is made of: its words, its icons, and elements, which are never built from markup.

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
  busy: "The chat is busy. Trying again…",
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
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"]; // shown if they come from the service
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
