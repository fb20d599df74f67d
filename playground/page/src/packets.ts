// The tab Packets: a trace of one's own, packet by packet, with the queues, the program's memory and the lines it took.
import type { Event, Step, Steps } from "../worker/messages.js";
import { Bench, type Context, type Panel } from "./bench.js";
import { inPapersWords } from "./memory.js";
import { button, make, shape } from "./page.js";
import { Player } from "./player.js";
import { ofSteps } from "./recording.js";
import { Panels } from "./replay.js";
import { decidingEvent, firstTrace, inOrder, inWords, type Packet, RANKS, RATE_BPS, requestOf, SLOT_NS, SLOTS, smallParameters, textOf, traceOf, waiting } from "./trace.js";

const CELL = 12;
const MARGIN = 30;
const ONE_QUEUE = ["fifo", "aifo", "rifo"];

/** The tab. */
export function packets(context: Context): Panel {
  const tab = new Packets(context);
  return { key: "packets", title: "Packet by packet", home: tab.home, refresh: () => tab.refresh() };
}

class Packets {
  readonly home: HTMLElement;
  private trace: Packet[] = [];
  private steps: Steps | null = null;
  private scheme = "";
  private parameters = new Map<string, number>();
  /** True while somebody steps: the editor follows. A new measurement does not move it. */
  private follows = false;
  private readonly bench: Bench;
  private readonly player = new Player((place) => this.show(place));
  private readonly grid = shape("svg", { viewBox: `0 0 ${MARGIN + SLOTS * CELL} ${(RANKS + 2.8) * CELL}`, class: "grid-of-packets", role: "img", "aria-label": "No packets yet" });
  private readonly text = make("textarea", { rows: "4", "aria-label": "Packets: time in µs and rank, one a line" });
  private readonly who = make("p", { hidden: true }, "This lab is a controller in Python. Here the lab's P4 program decides.");
  private readonly knobs = make("div", { class: "row" });
  private readonly said = make("p", { role: "status", class: "verdict" });
  private readonly wrong = make("p", { role: "alert", class: "wrong" });
  private readonly queues = make("div", { class: "queues" });
  private readonly memory = make("div");
  private readonly panels = new Panels(["queues", "ranks"]);
  private readonly way = make("ol", { class: "list way", "aria-label": "Lines of the rule that the packet took" });
  private readonly whole = make("ol", { class: "list way", "aria-label": "The whole way of the packet", tabindex: "0" });

  constructor(private readonly context: Context) {
    this.bench = new Bench(context, () => this.measure(), "Run again");
    this.grid.addEventListener("click", (event) => this.click(event as MouseEvent));
    this.text.addEventListener("change", () => this.take());
    this.bench.results.append(this.player.bar, this.said, this.queues, this.memory,
      make("details", { open: true }, make("summary", {}, "Lines of the rule that the packet took"), this.way),
      make("details", {}, make("summary", {}, "Its whole way through the program"), this.whole), this.panels.home);
    const about = "Click to add a packet; click a packet to open it. A cross is a dropped packet. Red: the model decides otherwise. A frame has 1000 bytes, and the link sends one in 1 µs.";
    this.home = make("div", {}, make("p", { class: "faint" }, about), this.who, this.grid, this.wrong,
      make("details", {}, make("summary", {}, "The packets as text, and the program's parameters"), this.text, this.knobs,
        make("div", { class: "row" }, button("Remove this packet", () => this.remove()), button("Remove all", () => this.set([])), button("First packets", () => this.set(firstTrace(this.users))))),
      this.bench.bar, this.bench.results);
  }

  private get users(): boolean {
    return this.scheme === "fdpa";
  }

  refresh(): void {
    const { scheme, target } = this.context.project.subject;
    if (scheme !== this.scheme) this.begin(scheme);
    this.who.hidden = target !== "python";
    void this.bench.run();
  }

  private begin(name: string): void {
    const scheme = this.context.schemes.get(name);
    this.scheme = name;
    this.trace = firstTrace(this.users);
    this.parameters = scheme ? smallParameters(scheme) : new Map();
    this.knobs.replaceChildren(...(scheme?.parameters ?? []).map(({ name: key, title, unit }) => {
      const field = make("input", { type: "number", min: "0", value: String(this.parameters.get(key)), title: `${title}${unit ? `, ${unit}` : ""}` });
      field.addEventListener("change", () => {
        this.parameters.set(key, Math.max(0, Math.round(+field.value || 0)));
        void this.bench.run();
      });
      return make("label", {}, `${key} `, field);
    }));
  }

  private set(trace: Packet[]): void {
    this.wrong.textContent = "";
    this.trace = trace;
    void this.bench.run();
  }

  private take(): void {
    const found = traceOf(this.text.value, this.users);
    if (typeof found === "string") this.wrong.textContent = found;
    else this.set(found);
  }

  private remove(): void {
    const order = inOrder(this.trace);
    order.splice(this.player.place, 1);
    this.set(order);
  }

  private click({ clientX, clientY }: MouseEvent): void {
    const box = this.grid.getBoundingClientRect();
    const unit = box.width / (MARGIN + SLOTS * CELL);
    const slot = Math.round(((clientX - box.left) / unit - MARGIN) / CELL - 0.5);
    const value = RANKS - Math.round((clientY - box.top) / unit / CELL - 0.5) - 1;
    if (slot < 0 || slot >= SLOTS || value < (this.users ? 1 : 0) || value >= RANKS) return;
    const there = inOrder(this.trace).findIndex((packet) => packet.slot === slot && packet.value === value);
    if (there >= 0) return this.player.go(there);
    const added = { slot, value };
    this.trace.push(added);
    this.player.place = inOrder(this.trace).indexOf(added);
    void this.bench.run();
  }

  private async measure(): Promise<void> {
    const { project, laboratory } = this.context;
    const { main, target } = project.subject;
    const order = inOrder(this.trace);
    this.text.value = textOf(order);
    this.steps = order.length ? await laboratory.steps(requestOf(order, main, this.scheme, this.parameters, target === "tna" ? target : "v1model"), project.overlay()) : null;
    this.trace = order;
    this.drawCharts(order);
    this.follows = false;
    this.player.setCount(order.length);
    this.follows = true;
  }

  /** Draws the whole trace over time. */
  private drawCharts(order: readonly Packet[]): void {
    const { title } = this.context.project.subject;
    const watched = { scheme: this.context.schemes.get(this.scheme), rateBps: RATE_BPS, values: Object.fromEntries(this.parameters), sizes: {}, users: [], userOf: () => 0 };
    const recorded = ofSteps(title, this.steps?.packets ?? [], order.map(({ slot }) => (slot * SLOT_NS) / 1000), watched);
    this.panels.cover([recorded]);
    this.panels.take(recorded.messages);
    this.panels.draw(true);
  }

  private show(place: number): void {
    this.draw(place);
    const { steps } = this;
    const packet = this.trace[place];
    const step = steps?.packets[place];
    if (!packet || !steps || !step) {
      this.said.textContent = "There are no packets. Click into the field above.";
      for (const home of [this.queues, this.memory, this.way, this.whole]) home.replaceChildren();
      return;
    }
    this.said.textContent = this.sentence(packet, steps, place);
    this.drawQueues(steps, place);
    this.memory.replaceChildren(...memoryOf(step));
    const rule = this.context.project.place(this.context.project.subject.rule);
    const ofRule = step.way.filter(({ file }) => file === rule);
    this.way.replaceChildren(...ofRule.map((event) => this.event(event)));
    this.whole.replaceChildren(...step.way.map((event) => this.event(event)));
    const took = decidingEvent(step, ofRule);
    if (took?.file && took.line && this.follows) this.context.showLine(took.file, took.line);
  }

  /** One thing that happened to the packet; a button goes to its line. */
  private event({ file, line, text }: Event): HTMLElement {
    if (!file || !line) return make("li", {}, text);
    return make("li", {}, button(`${short(this.context.project.ownName(file))}:${line}  ${text}`, () => this.context.showLine(file, line)));
  }

  private sentence(packet: Packet, steps: Steps, place: number): string {
    const one = ONE_QUEUE.includes(this.scheme);
    const [own, model] = [steps.program[place], steps.model?.[place]];
    const of = this.users ? "user" : "rank";
    const start = `Packet ${place + 1} of ${this.trace.length} (${of} ${packet.value}, at ${(packet.slot * SLOT_NS) / 1000} µs) ${inWords(own, one)}.`;
    if (!steps.model) return start;
    return own === model ? `${start} The model decides the same.` : `${start} In the model it ${inWords(model, one)}.`;
  }

  /** The field of packets: each in the colour of its queue, a cross if it was lost. */
  private draw(place: number): void {
    const text = (x: number, y: number, value: string): SVGElement => shape("text", { x, y, "text-anchor": "middle" }, value);
    const at = (slot: number): number => MARGIN + (slot + 0.5) * CELL;
    const top = (value: number): number => (RANKS - value - 0.5) * CELL;
    const marks: SVGElement[] = [];
    for (let slot = 0; slot <= SLOTS; slot += 8) marks.push(shape("path", { d: `M${at(slot) - CELL / 2} 0V${RANKS * CELL}`, class: "grid" }), text(at(slot) - CELL / 2, (RANKS + 1.2) * CELL, String((slot * SLOT_NS) / 1000)));
    for (let value = 0; value < RANKS; value += 5) marks.push(shape("path", { d: `M${MARGIN} ${top(value) + CELL / 2}H${MARGIN + SLOTS * CELL}`, class: "grid" }), text(MARGIN / 2, top(value) + 4, String(value)));
    marks.push(text(MARGIN + (SLOTS * CELL) / 2, (RANKS + 2.4) * CELL, `time in µs; upwards: ${this.users ? "user" : "rank, 0 is the most urgent"}`));
    for (const [number, { slot, value }] of this.trace.entries()) marks.push(this.dot(number, at(slot), top(Math.min(value, RANKS - 1)), number === place));
    this.grid.setAttribute("aria-label", `${this.trace.length} packets by time and ${this.users ? "user" : "rank"}; the text below has them, too`);
    this.grid.replaceChildren(...marks);
  }

  private dot(number: number, x: number, y: number, chosen: boolean): SVGElement {
    const decision = this.steps?.program[number];
    const differs = this.steps?.model != null && this.steps.model[number] !== decision;
    const lost = typeof decision !== "number";
    const colour = differs ? "var(--bad)" : lost ? "var(--soft)" : `var(--c${this.colour(decision)})`;
    const made = lost && decision !== undefined
      ? shape("path", { d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, style: `stroke:${colour}`, "stroke-width": 2.5 })
      : shape("circle", { cx: x, cy: y, r: 5, style: `fill:${colour}` });
    return shape("g", { class: "packet" }, made, ...(chosen ? [shape("circle", { cx: x, cy: y, r: 8, class: "ring" })] : []));
  }

  /** Number of the colour of a queue. */
  private colour(priority: number): number {
    return ONE_QUEUE.includes(this.scheme) ? 0 : 7 - priority;
  }

  private drawQueues(steps: Steps, place: number): void {
    const queues = waiting(this.trace, steps, place);
    const used = steps.program.filter((decision) => typeof decision === "number");
    const rows = queues.map((numbers, priority) => ({ numbers, priority })).filter(({ priority }) => used.includes(priority)).reverse();
    this.queues.replaceChildren(...rows.map(({ numbers, priority }) => make("div", { class: "row" },
      make("span", { class: "faint" }, `${ONE_QUEUE.includes(this.scheme) ? "queue" : `queue ${8 - priority}`}, the first leaves next:`),
      ...numbers.map((number) => make("span", { class: "box", style: `border-color:var(--c${this.colour(priority)})` }, String(this.trace[number]?.value))),
      ...(numbers.length ? [] : [make("span", { class: "faint" }, "empty")]))));
  }
}

/** What the program remembers: in words, and each register. */
function memoryOf({ registers }: Step): HTMLElement[] {
  const raw = Object.entries(registers).map(([name, cells]): [string, string] => [name, Object.entries(cells).map(([index, value]) => `[${index}] ${value}`).join("  ")]);
  return [rows(inPapersWords(registers)), make("details", {}, make("summary", {}, "All registers before the packet; other cells hold 0"), rows(raw))];
}

function rows(all: readonly [string, string][]): HTMLElement {
  if (!all.length) return make("p", { class: "faint" }, "The program remembers nothing yet.");
  return make("table", { class: "memory" }, make("tbody", {}, ...all.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)))));
}

function short(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1);
}
