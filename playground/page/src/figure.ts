// Figures of lines and of bars, drawn as those of the live page; and tables, which have the numbers.
import { Bars, chartIn, figureIn, shared, short } from "../../../controller/p4sched/live/static/figure.js";
import { colour as colourOf } from "../../../controller/p4sched/live/static/theme.js";
import { make } from "./page.js";

/** A line of a figure. */
export interface Line {
  name: string;
  /** CSS variable of its colour. */
  colour: string;
  /** Heights at 0, 1, 2, ... */
  heights: readonly number[];
  /** The edited program, in front of all others. */
  mine?: boolean;
}

/** Texts of a figure. */
export interface Texts {
  title: string;
  x: string;
  y: string;
}

/** A figure of lines. */
export function lines(texts: Texts, all: readonly Line[]): HTMLElement {
  const { title, x, y } = texts;
  const drawn = [...all].sort((a, b) => Number(a.mine ?? false) - Number(b.mine ?? false));
  const places = Array.from({ length: Math.max(1, ...drawn.map(({ heights }) => heights.length)) }, (_, place) => place);
  const figure = figureIn(make("div"), title, `${y}, by ${x}`);
  const options = {
    ...shared(figure, (_: unknown, ticks: number[]) => ticks.map(short)),
    scales: { x: { time: false }, y: { range: (_: unknown, __: number, high: number) => [0, high > 0 ? high * 1.05 : 1] } },
    series: [{ label: x }, ...drawn.map(({ name, colour, mine }) => ({
      label: name, stroke: () => colourOf(colour), width: mine ? 3 : 1.5, dash: mine ? [7, 3] : undefined, points: { show: false }, value: (_: unknown, value: number | null) => short(value),
    }))],
    cursor: { drag: { x: false, y: false } },
  };
  chartIn(figure, options, [places, ...drawn.map(({ heights }) => places.map((place) => heights[place] ?? null))]);
  // a canvas keeps the colours that it was drawn with
  figure.addEventListener("theme", () => figure.replaceWith(lines(texts, all)));
  return figure;
}

/** A bar of a figure; `text` stands behind it. */
export interface Bar {
  name: string;
  value: number;
  /** CSS variable of its colour. */
  colour: string;
  text: string;
  mine?: boolean;
}

/** Horizontal bars. */
export function bars(title: string, unit: string, all: readonly Bar[]): HTMLElement {
  const most = Math.max(1e-9, ...all.map(({ value }) => value));
  const figure = figureIn(make("div"), title, unit);
  const rows = new Bars(figure, all.map(({ name, colour, mine }) => ({ name, variable: colour, mine: mine ?? false })));
  for (const [place, { value, text }] of all.entries()) rows.set(place, value / most, text);
  return figure;
}

/** A table with a head. The first cell of a row names it. */
export function table(head: readonly string[], rows: readonly { cells: readonly string[]; mine?: boolean }[]): HTMLElement {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map(({ cells, mine }) => make("tr", { class: mine ? "mine" : "" },
      ...cells.map((text, place) => (place ? make("td", {}, text) : make("th", { scope: "row" }, text))))))));
}
