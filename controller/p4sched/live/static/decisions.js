// Decisions of the controller, changes by hand and notes: a list, and a dialog with what was behind a decision.
const SHOWN = 60;
const OPEN = 0xffffffff;
const OPEN_NAMES = /^(edge|rate)_\d$/;

function cells(row, kind, ...texts) {
  for (const text of texts) row.appendChild(document.createElement(kind)).textContent = text;
}

/** The edge of an open band is the largest number there is. */
function parameter(name, value) {
  return value === OPEN && OPEN_NAMES.test(name) ? "open" : value;
}

function table(rows, head) {
  const made = document.createElement("table");
  if (head) cells(made.createTHead().insertRow(), "th", ...head);
  const body = made.createTBody();
  for (const [name, ...values] of rows) {
    const row = body.insertRow();
    cells(row, "th", name);
    values.forEach((value, place) => {
      const cell = row.insertCell();
      cell.textContent = text(value);
      if (head?.[place + 1] === "after" && text(value) !== text(values[0])) cell.className = "changed";
    });
  }
  return made;
}

function text(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(5));
  return typeof value === "string" ? value : JSON.stringify(value);
}

export class Decisions {
  constructor(side, store, view, dialog) {
    Object.assign(this, { store, view, dialog });
    const section = side.appendChild(document.createElement("section"));
    section.appendChild(document.createElement("h2")).textContent = "What happened";
    this.list = section.appendChild(document.createElement("ul"));
    this.list.className = "list";
    this.list.id = "decisions";
    this.section = section;
    this.items = new WeakMap();
  }

  refresh() {
    const of = (mark) => mark.kind !== "decision" || (mark.switch === this.view.switch && (mark.port === null || mark.port === this.view.port));
    const marks = this.store.marks.filter(of).slice(-SHOWN).reverse();
    this.section.hidden = !marks.length;
    const items = marks.map((mark) => this.itemOf(mark));
    // entries that stay are not moved: a reader may be about to click one
    for (const child of [...this.list.children]) if (!items.includes(child)) child.remove();
    items.forEach((item, place) => {
      if (this.list.children[place] !== item) this.list.insertBefore(item, this.list.children[place] ?? null);
    });
  }

  itemOf(mark) {
    if (!this.items.has(mark)) this.items.set(mark, this.item(mark));
    return this.items.get(mark);
  }

  item(mark) {
    const item = document.createElement("li");
    const label = `${mark.t.toFixed(1)} s  ${mark.text}`;
    if (mark.kind === "decision") {
      const button = item.appendChild(document.createElement("button"));
      button.textContent = label;
      button.addEventListener("click", () => this.open(mark));
    } else {
      item.textContent = label;
      item.className = "faint";
    }
    return item;
  }

  /** The counters behind a decision, what the law made of them, and the parameters before and after. */
  open(mark) {
    const body = document.createDocumentFragment();
    const add = (heading, content) => {
      body.appendChild(document.createElement("h3")).textContent = heading;
      body.appendChild(content);
    };
    const said = body.appendChild(document.createElement("p"));
    said.textContent = mark.text;
    add("Parameters", table(Object.entries(mark.after).map(([name, value]) => [name, parameter(name, mark.before?.[name]), parameter(name, value)]), ["", "before", "after"]));
    const found = Object.entries(mark.outcome).filter(([, value]) => value === null || typeof value !== "object" || Array.isArray(value));
    const nested = Object.entries(mark.outcome).filter(([, value]) => value && typeof value === "object" && !Array.isArray(value));
    add("What the law made of the counters", table([...found, ...nested.flatMap(([, value]) => Object.entries(value))]));
    add("Counters", this.counters(mark.counters));
    this.fill(`${mark.switch}, ${mark.t.toFixed(2)} s`, body);
  }

  counters(counters) {
    if (counters.users) {
      const rows = Object.entries(counters.users).map(([user, [bytes, scale]]) => [`user ${user}`, bytes, 256 / scale]);
      return table(rows, ["", "bytes so far", "weight"]);
    }
    const rows = [];
    for (const [name, value] of Object.entries(counters)) {
      if (name === "ranks" || name === "depths") {
        value.forEach((count, bucket) => {
          const span = bucket < 2 ? String(bucket) : `${2 ** (bucket - 1)} to ${2 ** bucket - 1}`;
          if (count) rows.push([name === "ranks" ? `packets of rank ${span}` : `packets that found ${span} waiting`, count]);
        });
      } else if (Array.isArray(value)) rows.push([`${name}, packets`, value[0]], [`${name}, bytes`, value[1]]);
      else rows.push([name, value]);
    }
    return table(rows);
  }

  show(title, html) {
    const body = document.createElement("div");
    body.innerHTML = html;
    this.fill(title, body);
  }

  fill(title, body) {
    document.getElementById("dialog-title").textContent = title;
    document.getElementById("dialog-body").replaceChildren(body);
    if (!this.dialog.open) this.dialog.showModal();
  }
}
