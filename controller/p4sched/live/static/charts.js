// The charts of the chosen port. uPlot draws them; this file gives it columns of numbers and a range of time.
import { colour, colourOf } from "./theme.js";
import { edgesOf, firstUsers, nameOf, panelsOf, queuesOf, sizeOf } from "./panels.js";

const NEAR_MARK_PX = 9;
const SHORTEST_S = 2;
const BUCKET_NAME_PX = 52;
const HEIGHT = { wide: 240, usual: 190 };

/** The columns of one chart; frames that came since the last time are added at the end. */
class Columns {
  constructor(store, panel, name, port) {
    Object.assign(this, { store, panel, name, port });
    this.from = store.dropped;
    this.next = store.dropped;
    this.data = [[], ...panel.series.map(() => [])];
  }

  upToNow() {
    const { store, data } = this;
    if (store.dropped > this.from) {
      const more = Math.min(store.dropped - this.from, data[0].length);
      for (const column of data) column.splice(0, more);
      this.from = store.dropped;
      this.next = Math.max(this.next, store.dropped);
    }
    for (; this.next < store.dropped + store.frames.length; this.next++) {
      const frame = store.frames[this.next - store.dropped];
      const of = frame.s[this.name];
      if (!of) {
        this.next++;
        this.from++;
        continue;
      }
      data[0].push(frame.t);
      const values = this.panel.pick(of, store.parametersAt(this.name, this.port, frame.t));
      for (let i = 0; i < values.length; i++) data[i + 1].push(values[i]);
    }
    return data;
  }
}

export class Charts {
  constructor(home, store, view, open, redraw) {
    Object.assign(this, { home, store, view, open, redraw });
    this.shown = [];
  }

  /** Makes the charts of the chosen port anew. */
  build() {
    for (const { plot } of this.shown) plot.destroy();
    this.shown = [];
    this.home.replaceChildren();
    const each = this.store.scene?.switches[this.view.switch];
    const port = each?.ports.find((found) => found.port === this.view.port);
    if (!port) return;
    this.each = each;
    this.port = port;
    this.key = this.shape();
    const values = this.store.parametersAt(this.view.switch, port.port, this.store.last ?? 0);
    this.bars = [];
    if (port.lengths !== false) this.buildBars(values);
    for (const panel of panelsOf(each, port, values, this.view.users)) this.add(panel);
    if (each.users.length) this.addUsers();
    if (this.ranked()) this.addArrivals();
    // only now is known how many charts share a row
    this.resize();
    this.catchUp();
  }

  /** What the charts depend on besides the frames: when it changes, they are made anew. */
  shape() {
    const values = this.store.parametersAt(this.view.switch, this.view.port, this.store.last ?? 0);
    return `${this.store.generation} ${queuesOf(this.port, values)} ${values !== null} ${edgesOf(values).length} ${this.ranked()}`;
  }

  figure(title, unit, wide) {
    const figure = document.createElement("figure");
    figure.className = wide ? "wide" : "";
    const caption = figure.appendChild(document.createElement("figcaption"));
    caption.appendChild(document.createElement("h2")).textContent = title;
    const said = caption.appendChild(document.createElement("span"));
    said.className = "unit";
    said.textContent = unit;
    this.home.appendChild(figure);
    return figure;
  }

  options(figure, wide) {
    const axis = { stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1 }, font: "11px system-ui" };
    return {
      width: Math.max(200, figure.clientWidth - 20),
      height: wide ? HEIGHT.wide : HEIGHT.usual,
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => `${+tick.toFixed(2)} s`), space: 60 },
        { ...axis, size: 52, values: (_, ticks) => ticks.map(short) },
      ],
    };
  }

  add(panel) {
    const figure = this.figure(panel.title, panel.unit, panel.wide);
    const options = {
      ...this.options(figure, panel.wide),
      scales: { x: { time: false, range: () => this.range() }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
      series: [
        { label: "time", value: (_, value) => (value === null ? "" : `${value.toFixed(2)} s`) },
        ...panel.series.map((series) => ({ ...series, points: { show: false }, value: (_, value) => (value === null || value === undefined ? "" : short(value)) })),
      ],
      bands: panel.bands,
      cursor: {
        drag: { x: true, y: false, setScale: false },
        sync: { key: "p4sched" },
        bind: { dblclick: () => () => this.zoom(null) },
      },
      hooks: {
        setSelect: [(plot) => this.selected(plot)],
        draw: panel.marks ? [(plot) => this.drawMarks(plot)] : [],
      },
    };
    const columns = new Columns(this.store, panel, this.view.switch, this.port.port);
    const plot = new uPlot(options, columns.upToNow(), figure);
    if (panel.marks) plot.over.addEventListener("click", (event) => this.clicked(plot, event));
    this.shown.push({ id: panel.id, panel, figure, plot, wide: panel.wide, data: () => columns.upToNow() });
  }

  /** All users at this moment, however many there are. */
  addUsers() {
    const { each } = this;
    const figure = this.figure("Every user now", "Mbit/s; click a user to draw its line", false);
    const numbers = each.users.map((_, place) => place);
    const options = {
      ...this.options(figure, false),
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [-0.5, Math.max(0.5, numbers.length - 0.5)] },
        y: { range: (_, low, high) => [0, Math.max(high, this.top ?? 0, 0.001) * 1.08] },
      },
      series: [{}, { label: "rate", stroke: colourOf(0), fill: colourOf(0), paths: () => null, points: { show: true, size: 5, fill: colourOf(0) } }],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      hooks: { drawClear: [(plot) => this.drawShares(plot)] },
    };
    options.axes[0].values = (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) && each.users[tick] !== undefined ? each.users[tick] : ""));
    const data = () => {
      const of = this.newest();
      return [numbers, numbers.map((place) => (of?.u ? of.u[place] / each.weights[place] / 1e3 : null))];
    };
    const plot = new uPlot(options, data(), figure);
    plot.over.addEventListener("click", (event) => {
      const place = Math.round(plot.posToVal(event.offsetX, "x"));
      if (each.users[place] !== undefined) this.toggle(each.users[place]);
    });
    this.shown.push({ id: "users", figure, plot, data, now: true });
  }

  /** Whether arrivals have ranks: without any, all have rank 0. */
  ranked() {
    return Object.keys(this.newest()?.a?.[this.port.port] ?? {}).some((bucket) => Number(bucket) > 0);
  }

  /** What arrives for the port, by rank: buckets as wide as powers of two. */
  addArrivals() {
    const figure = this.figure("Arrivals by rank now", "Mbit/s", false);
    let [low, high] = [32, 0];
    const options = {
      ...this.options(figure, false),
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [Math.min(low, high) - 0.6, high + 0.6] },
        y: { range: (_, least, most) => [0, Math.max(most, 0.001) * 1.08] },
      },
      series: [{}, { label: "arrivals", stroke: colourOf(0), fill: colour("select"), paths: uPlot.paths.bars({ size: [0.8, 60] }), points: { show: false } }],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
    };
    // as many names as there is room for
    const names = (plot, ticks) => {
      const every = Math.ceil((ticks.length * BUCKET_NAME_PX) / plot.width);
      return ticks.map((tick, place) => (place % every ? "" : bucketName(tick)));
    };
    Object.assign(options.axes[0], { splits: () => range(low, high), values: names, space: 24 });
    const data = () => {
      const arrivals = this.newest()?.a?.[this.port.port] ?? {};
      const seen = Object.keys(arrivals).map(Number);
      [low, high] = [Math.min(low, ...seen), Math.max(high, ...seen)];
      const buckets = range(low, high);
      return [buckets, buckets.map((bucket) => (arrivals[bucket] ?? 0) / 1e3)];
    };
    const plot = new uPlot(options, data(), figure);
    this.shown.push({ id: "arrivals", figure, plot, data, now: true });
  }

  toggle(user) {
    const chosen = this.view.users ?? firstUsers(this.each);
    this.view.users = chosen.includes(user) ? chosen.filter((other) => other !== user) : [...chosen, user].slice(-7);
    this.build();
  }

  newest() {
    const frames = this.store.frames;
    return frames.length ? frames[frames.length - 1].s[this.view.switch] : undefined;
  }

  /** Fair share and band edges behind the dots of the users. */
  drawShares(plot) {
    const { ctx } = plot;
    const values = this.store.parametersAt(this.view.switch, this.port.port, this.store.last ?? 0);
    const fair = this.newest()?.fair;
    const lines = edgesOf(values).map((edge, q) => [edge, colour("soft"), `edge ${q + 1}`]);
    if (fair !== undefined) lines.push([fair / 1e3, colourOf(7), "fair share"]);
    this.top = lines.length ? lines[0][0] * 2 : 0;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui`;
    for (const [height, stroke, label] of lines) {
      const y = plot.valToPos(height, "y", true);
      if (y < plot.bbox.top) continue;
      ctx.strokeStyle = stroke;
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(plot.bbox.left, y);
      ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
      ctx.stroke();
      ctx.fillStyle = stroke;
      ctx.textAlign = label === "fair share" ? "right" : "left";
      ctx.fillText(label, label === "fair share" ? plot.bbox.left + plot.bbox.width : plot.bbox.left + 4, y - 3);
    }
    ctx.restore();
  }

  drawMarks(plot) {
    const { ctx } = plot;
    const [from, to] = this.range();
    ctx.save();
    for (const mark of this.store.decisionsOf(this.view.switch, this.port.port)) {
      if (mark.t < from || mark.t > to) continue;
      const x = plot.valToPos(mark.t, "x", true);
      const size = 5 * devicePixelRatio;
      ctx.fillStyle = colour("accent");
      ctx.beginPath();
      ctx.moveTo(x - size, plot.bbox.top);
      ctx.lineTo(x + size, plot.bbox.top);
      ctx.lineTo(x, plot.bbox.top + 1.6 * size);
      ctx.fill();
      ctx.globalAlpha = 0.25;
      ctx.fillRect(x - devicePixelRatio / 2, plot.bbox.top, devicePixelRatio, plot.bbox.height);
      ctx.globalAlpha = 1;
    }
    ctx.restore();
  }

  clicked(plot, event) {
    let nearest = null;
    for (const mark of this.store.decisionsOf(this.view.switch, this.port.port)) {
      const away = Math.abs(plot.valToPos(mark.t, "x") - event.offsetX);
      if (away <= NEAR_MARK_PX && (nearest === null || away < nearest.away)) nearest = { mark, away };
    }
    if (nearest) this.open(nearest.mark);
  }

  selected(plot) {
    if (plot.select.width > 4) {
      const { left, width } = plot.select;
      this.zoom([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
    }
    if (plot.select.width) plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  zoom(range) {
    this.view.range = range;
    this.catchUp();
  }

  /** The range of time that all charts show. */
  range() {
    if (this.view.range) return this.view.range;
    const last = this.view.paused ? (this.held ?? this.store.last ?? 0) : (this.store.last ?? 0);
    const first = this.store.frames[0]?.t ?? 0;
    return [Math.max(last - this.view.seconds, Math.min(first, last - SHORTEST_S)), last];
  }

  draw() {
    if (this.shown.length && this.key !== this.shape()) {
      this.build();
      return;
    }
    this.held = this.store.last;
    this.catchUp();
  }

  /** Draws what is there, also while paused. */
  catchUp() {
    for (const { plot, data, now } of this.shown) {
      plot.setData(data(), now ? undefined : false);
      if (!now) {
        const [min, max] = this.range();
        plot.setScale("x", { min, max });
      }
    }
    this.drawBars();
  }

  buildBars(values) {
    const { each, port } = this;
    const figure = this.figure("Queues now", "packets waiting, and how many the queue can hold", true);
    const table = figure.appendChild(document.createElement("table"));
    table.className = "bars";
    this.bars = queuesOf(port, values).map((queue, place) => {
      const row = table.insertRow();
      const head = row.appendChild(document.createElement("th"));
      head.scope = "row";
      head.textContent = nameOf(each.scheme, port, queue);
      const cell = row.insertCell();
      const bar = cell.appendChild(document.createElement("div"));
      bar.className = "bar";
      const fill = bar.appendChild(document.createElement("div"));
      fill.style.background = `var(--c${place % 8})`;
      return { queue, fill, text: row.insertCell() };
    });
  }

  drawBars() {
    const newest = this.newest();
    if (!newest || !this.port) return;
    const lengths = newest.q[this.port.port] ?? [];
    const values = this.store.parametersAt(this.view.switch, this.port.port, this.store.last ?? 0);
    for (const { queue, fill, text } of this.bars) {
      const size = sizeOf(this.port, values, queue);
      fill.style.width = `${size ? Math.min(100, (100 * (lengths[queue] ?? 0)) / size) : 0}%`;
      text.textContent = `${lengths[queue] ?? 0} of ${size}`;
    }
  }

  resize() {
    for (const { plot, figure, wide } of this.shown) {
      plot.setSize({ width: Math.max(200, figure.clientWidth - 20), height: wide ? HEIGHT.wide : HEIGHT.usual });
    }
  }
}

function range(low, high) {
  return Array.from({ length: Math.max(0, high - low + 1) }, (_, place) => low + place);
}

/** Ranks of a bucket: 0, 1, 2-3, 4-7, ... */
function bucketName(bucket) {
  return bucket < 2 ? String(bucket) : `${short(2 ** (bucket - 1))}-${short(2 ** bucket - 1)}`;
}

/** A number in few characters. */
export function short(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3));
}
