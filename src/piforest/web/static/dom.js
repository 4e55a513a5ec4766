// Elements. Text of a file or of the user is always a text node.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text, action, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

// The elements of fixed markup; never of text that comes from data.
export function fixed(markup) {
  const made = document.createElement("template");
  made.innerHTML = markup;
  return made.content;
}

// Offers text or a blob as a file.
export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
