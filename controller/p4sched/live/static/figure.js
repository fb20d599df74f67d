// Figures: a caption and a chart of uPlot, or bars. The live page and the playground draw with them.
import { colour } from "./theme.js";

const HEIGHT = { wide: 240, usual: 190 };
const LEAST_PX = 200;
const EDGE_PX = 20;

/** A figure below the last one of `home`. `hint`: what one can do with it. */
export function figureIn(home, title, unit, { wide = false, hint = "" } = {}) {
  const figure = home.appendChild(document.createElement("figure"));
  figure.className = wide ? "wide" : "";
  const caption = figure.appendChild(document.createElement("figcaption"));
  caption.appendChild(document.createElement("h2")).textContent = title;
  const said = caption.appendChild(document.createElement("span"));
  said.className = "unit";
  said.textContent = unit;
  if (hint) caption.appendChild(document.createElement("span")).textContent = hint;
  return figure;
}

/** What all charts share. `ticks` writes the numbers of the horizontal axis. */
export function shared(figure, ticks) {
  const soft = () => colour("soft");
  const grid = () => colour("grid");
  const axis = { stroke: soft, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui" };
  return {
    ...sizeOf(figure),
    axes: [{ ...axis, values: ticks, space: 60 }, { ...axis, size: 52, values: (_, found) => found.map(short) }],
  };
}

/** A chart in a figure; it gets the width of the figure whenever that changes. */
export function chartIn(figure, options, data) {
  const plot = new uPlot(options, data, figure);
  const fit = () => figure.clientWidth && plot.setSize(sizeOf(figure));
  // in the next frame, for the height of the legend may change with the width
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(figure);
  return plot;
}

function sizeOf(figure) {
  const height = figure.classList.contains("wide") ? HEIGHT.wide : HEIGHT.usual;
  return { width: Math.max(LEAST_PX, figure.clientWidth - EDGE_PX), height };
}

/** Bars in a figure: a row for each name, with the variable of its colour. `set` gives the row a share and a text. */
export class Bars {
  constructor(figure, rows) {
    const table = figure.appendChild(document.createElement("table"));
    table.className = "bars";
    const body = table.createTBody();
    this.rows = rows.map(({ name, variable, mine }) => {
      const row = body.insertRow();
      if (mine) row.className = "mine";
      const head = row.appendChild(document.createElement("th"));
      head.scope = "row";
      head.textContent = name;
      const bar = row.insertCell().appendChild(document.createElement("div"));
      bar.className = "bar";
      const fill = bar.appendChild(document.createElement("div"));
      fill.style.background = `var(--${variable})`;
      return { fill, text: row.insertCell() };
    });
  }

  set(place, share, text) {
    const row = this.rows[place];
    row.fill.style.width = `${100 * Math.min(1, share)}%`;
    row.text.textContent = text;
  }
}

/** A number in few characters. */
export function short(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3));
}
