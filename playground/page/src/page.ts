// Elements of the page.

/** An element that index.html has. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no ${id}`);
  return found as T;
}

type Attributes = Record<string, string | boolean>;

/** A new element. True stands for an attribute without a value. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...children);
  return made;
}

/** A new element of SVG. */
export function shape(name: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** A button that calls `press`. */
export function button(text: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", press);
  return made;
}

/** A list of choices with a label; `changed` gets the chosen value. */
export function choice(label: string, values: readonly (readonly [string, string])[], value: string, changed: (value: string) => void): HTMLLabelElement {
  const select = make("select", {}, ...values.map(([key, title]) => make("option", { value: key, selected: key === value }, title)));
  select.addEventListener("change", () => changed(select.value));
  return make("label", {}, `${label} `, select);
}

/** Shows a sentence at the top of the page. */
export function notice(text: string): void {
  element("notice").textContent = text;
}

/** The sentence of an error. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Opens the dialog. */
export function show(title: string, ...body: (Node | string)[]): void {
  element("dialog-title").textContent = title;
  element("dialog-body").replaceChildren(...body);
  element<HTMLDialogElement>("dialog").showModal();
}
