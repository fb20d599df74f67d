// Figures of lines and of bars. Each has a legend; the tables next to them have the numbers.
import { make, shape } from "./page.js";

/** A line of a figure. */
export interface Line {
  name: string;
  /** CSS colour. */
  colour: string;
  points: readonly (readonly [number, number])[];
  /** The edited program, in front of all others. */
  mine?: boolean;
}

/** Texts of a figure. */
export interface Texts {
  title: string;
  x: string;
  y: string;
}

const WIDTH = 560;
const HEIGHT = 230;
const EDGE = { left: 56, right: 10, top: 8, bottom: 34 };

/** A figure of lines. */
export function lines({ title, x, y }: Texts, all: readonly Line[]): HTMLElement {
  const points = all.flatMap((line) => line.points);
  const reach: [number, number] = [Math.max(1e-9, ...points.map((point) => point[0])), Math.max(1e-9, ...points.map((point) => point[1])) * 1.05];
  const svg = frame(`${title}. ${all.map(({ name }) => name).join(", ")}`, reach, x, y);
  const at = scale(reach);
  for (const { colour, points: own, mine } of [...all].sort((a, b) => Number(a.mine ?? false) - Number(b.mine ?? false))) {
    const path = own.map(([across, up], number) => {
      const [left, top] = at(across, up);
      return `${number === 0 ? "M" : "L"}${left} ${top}`;
    });
    svg.append(shape("path", { d: path.join(""), fill: "none", style: `stroke:${colour}`, "stroke-width": mine ? 3 : 1.5, "stroke-dasharray": mine ? "7 3" : "none" }));
  }
  return make("figure", {}, make("figcaption", {}, make("h2", {}, title), make("span", { class: "unit" }, y)), svg, legend(all));
}

/** A bar of a figure; `text` stands behind it. */
export interface Bar {
  name: string;
  value: number;
  colour: string;
  text: string;
  mine?: boolean;
}

/** Horizontal bars, as a table. */
export function bars(title: string, unit: string, all: readonly Bar[]): HTMLElement {
  const most = Math.max(1e-9, ...all.map(({ value }) => value));
  const rows = all.map(({ name, value, colour, text, mine }) =>
    make("tr", { class: mine ? "mine" : "" },
      make("th", { scope: "row" }, name),
      make("td", {}, make("div", { class: "bar" }, make("div", { style: `width:${(100 * value) / most}%;background:${colour}` }))),
      make("td", {}, text)));
  return make("figure", {}, make("figcaption", {}, make("h2", {}, title), make("span", { class: "unit" }, unit)), make("table", { class: "bars" }, make("tbody", {}, ...rows)));
}

/** A table with a head. The first cell of a row names it. */
export function table(head: readonly string[], rows: readonly { cells: readonly string[]; mine?: boolean }[]): HTMLElement {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map(({ cells, mine }) => make("tr", { class: mine ? "mine" : "" },
      ...cells.map((text, place) => (place ? make("td", {}, text) : make("th", { scope: "row" }, text))))))));
}

function legend(all: readonly Line[]): HTMLElement {
  return make("p", { class: "legend" }, ...all.map(({ name, colour, mine }) => {
    const sample = shape("svg", { width: 22, height: 8, "aria-hidden": "true" }, shape("path", { d: "M0 4H22", style: `stroke:${colour}`, "stroke-width": mine ? 3 : 2, "stroke-dasharray": mine ? "7 3" : "none" }));
    return make("span", {}, sample, ` ${name}`);
  }));
}

function scale([right, high]: [number, number]): (x: number, y: number) => [number, number] {
  const [wide, tall] = [WIDTH - EDGE.left - EDGE.right, HEIGHT - EDGE.top - EDGE.bottom];
  return (x, y) => [+(EDGE.left + (x / right) * wide).toFixed(1), +(EDGE.top + (1 - y / high) * tall).toFixed(1)];
}

function frame(label: string, reach: [number, number], x: string, y: string): SVGElement {
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${label}. ${y} over ${x}`, class: "lines" });
  const at = scale(reach);
  for (const value of ticks(reach[1])) {
    const [left, top] = at(0, value);
    svg.append(shape("path", { d: `M${left} ${top}H${WIDTH - EDGE.right}`, class: "grid" }), shape("text", { x: left - 6, y: top + 4, "text-anchor": "end" }, short(value)));
  }
  for (const value of ticks(reach[0])) {
    const [left, top] = at(value, 0);
    svg.append(shape("text", { x: left, y: top + 15, "text-anchor": "middle" }, short(value)));
  }
  svg.append(shape("text", { x: EDGE.left + (WIDTH - EDGE.left) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, x));
  return svg;
}

function ticks(end: number): number[] {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, number) => number * step);
}

/** A number with few digits: 12k, 1.5. */
function short(value: number): string {
  if (value >= 1e6) return `${+(value / 1e6).toFixed(2)}M`;
  if (value >= 1e4) return `${+(value / 1e3).toFixed(1)}k`;
  return String(+value.toPrecision(4));
}
