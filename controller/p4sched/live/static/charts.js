// The charts of the chosen port. uPlot draws them; this file gives it columns of numbers and a range of time.
import { colour, colourOf, variableOf } from "./theme.js";
import { Bars, chartIn, figureIn, shared, short } from "./figure.js";
import { edgesOf, firstUsers, nameOf, panelsOf, queuesOf, sizeOf } from "./panels.js";
import { drawNames, PADDING, reach } from "./reference.js";

const NEAR_MARK_PX = 9;
const SHORTEST_S = 2;
const CHARACTER_PX = 7;

/** The columns of one chart; frames that came since the last time are added at the end. */
export class Columns {
  constructor(store, panel, name, port) {
    Object.assign(this, { store, panel, name, port });
    this.next = store.dropped;
    this.turns = store.turns.length;
    /** The frame of each row. */
    this.numbers = [];
    this.data = [[], ...panel.series.map(() => [])];
  }

  upToNow() {
    const { store, data, numbers } = this;
    const gone = numbers.findIndex((number) => number >= store.dropped);
    if (gone) for (const column of [numbers, ...data]) column.splice(0, gone < 0 ? column.length : gone);
    this.rewind();
    for (this.next = Math.max(this.next, store.dropped); this.next < store.dropped + store.frames.length; this.next++) {
      const frame = store.frames[this.next - store.dropped];
      const of = frame.s[this.name];
      if (!of) continue;
      numbers.push(this.next);
      data[0].push(frame.t);
      const values = this.panel.pick(of, store.parametersAt(this.name, this.port, frame.t));
      for (let i = 0; i < values.length; i++) data[i + 1].push(values[i]);
    }
    return data;
  }

  /** Takes rows back whose parameters are known only now. */
  rewind() {
    const { store, data, numbers } = this;
    const since = Math.min(...store.turns.slice(this.turns));
    this.turns = store.turns.length;
    while (numbers.length && data[0][data[0].length - 1] >= since) {
      this.next = numbers.pop();
      for (const column of data) column.pop();
    }
  }
}

/**
 * `view` chooses the `switch`, the `port` and the `users`, and the range of time: a zoomed `range`, else the `whole` run, else the
 * last `seconds`, up to now or to where it was `paused`. With `panels` only these panels are drawn.
 */
export class Charts {
  constructor(home, store, view, open = null) {
    Object.assign(this, { home, store, view, open });
    this.shown = [];
  }

  /** The unit of all times of a scene. */
  get unit() {
    return this.store.scene?.unit ?? "s";
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
    this.bars = null;
    if (port.note) this.addNote(port.note);
    if (port.lengths !== false && this.shows("now")) this.buildBars(values);
    for (const panel of panelsOf(each, port, values, this.view.users)) if (this.shows(panel.id)) this.add(panel);
    if (each.users.length) this.addUsers();
    if (this.ranked()) this.addArrivals();
    this.catchUp();
  }

  shows(panel) {
    return this.view.panels?.includes(panel) ?? true;
  }

  /** What the charts depend on besides the frames: when it changes, they are made anew. */
  shape() {
    const values = this.store.parametersAt(this.view.switch, this.view.port, this.store.last ?? 0);
    return `${this.store.generation} ${queuesOf(this.port, values)} ${values !== null} ${edgesOf(values).length} ${this.ranked()}`;
  }

  /** Why there are no queues, or only means of them. */
  addNote(text) {
    const said = this.home.appendChild(document.createElement("p"));
    said.className = "wide faint";
    said.id = "note";
    said.textContent = text;
  }

  add(panel) {
    const figure = figureIn(this.home, panel.title, panel.unit, { wide: panel.wide, hint: panel.marks && this.open ? "▼ a decision: click it" : "" });
    const highest = (plot, high) => (panel.rates === undefined ? (high > 0 ? high * 1.08 : 1) : this.reachOfRates(plot, panel));
    const options = {
      ...shared(figure, (_, ticks) => ticks.map((tick) => `${+tick.toFixed(2)} ${this.unit}`)),
      ...(panel.rates === undefined ? {} : { padding: PADDING }),
      scales: { x: { time: false, range: () => this.range() }, y: { range: (plot, _, high) => [0, highest(plot, high)] } },
      series: [
        { label: "time", value: (_, value) => (value === null ? "" : `${value.toFixed(2)} ${this.unit}`) },
        ...panel.series.map(({ steps, ...series }) => ({ ...series, ...(steps ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}), points: { show: false }, value: (_, value) => (value === null || value === undefined ? "" : short(value)) })),
      ],
      bands: panel.bands,
      cursor: {
        drag: { x: true, y: false, setScale: false },
        sync: { key: "p4sched" },
        bind: { dblclick: () => () => this.zoom(null) },
      },
      hooks: {
        setSelect: [(plot) => this.selected(plot)],
        draw: [
          ...(panel.marks ? [(plot) => this.drawMarks(plot)] : []),
          ...(panel.rates === undefined ? [] : [(plot) => drawNames(plot, this.linesIn(plot, panel))]),
        ],
      },
    };
    const columns = new Columns(this.store, panel, this.view.switch, this.port.port);
    const plot = chartIn(figure, options, columns.upToNow());
    if (panel.marks) plot.over.addEventListener("click", (event) => this.clicked(plot, event));
    this.shown.push({ id: panel.id, panel, figure, plot, data: () => columns.upToNow() });
  }

  /** The end of the axis of rates: the rates in view choose it. */
  reachOfRates(plot, panel) {
    const [first, end] = this.rowsInView(plot);
    let largest = 0;
    for (const column of plot.data.slice(1, 1 + panel.rates)) {
      for (let row = first; row < end; row++) largest = Math.max(largest, column[row] ?? 0);
    }
    return reach(largest, this.linesIn(plot, panel), plot.scales.y.max);
  }

  /** The lines that rates are compared with, as high as they are at the end of the view. */
  linesIn(plot, panel) {
    const [first, end] = this.rowsInView(plot);
    const found = [];
    panel.series.slice(panel.rates).forEach(({ label, stroke }, place) => {
      const column = plot.data[1 + panel.rates + place];
      let row = end - 1;
      while (row >= first && typeof column[row] !== "number") row--;
      if (row >= first) found.push({ height: column[row], stroke, label });
    });
    return found;
  }

  /** The first row of the view, and the one behind its last. */
  rowsInView(plot) {
    const [from, to] = this.range();
    const times = plot.data[0];
    let end = times.length;
    while (end && times[end - 1] > to) end--;
    let first = end;
    while (first && times[first - 1] >= from) first--;
    return [first, end];
  }

  /** All users at this moment, however many there are. */
  addUsers() {
    const { each } = this;
    const figure = figureIn(this.home, "Every user now", "Mbit/s", { hint: "click a user to draw its line" });
    const numbers = each.users.map((_, place) => place);
    const options = {
      ...shared(figure, (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) && each.users[tick] !== undefined ? each.users[tick] : ""))),
      padding: PADDING,
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [-0.5, Math.max(0.5, numbers.length - 0.5)] },
        y: { range: (plot, _, high) => [0, reach(high ?? 0, this.linesNow(), plot.scales.y.max)] },
      },
      series: [{}, { label: "rate", stroke: colourOf(0), fill: colourOf(0), paths: () => null, points: { show: true, size: 5, fill: colourOf(0) } }],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      hooks: { drawClear: [(plot) => this.drawLines(plot)], draw: [(plot) => drawNames(plot, this.linesNow())] },
    };
    const data = () => {
      const of = this.newest();
      return [numbers, numbers.map((place) => (of?.u ? of.u[place] / each.weights[place] / 1e3 : null))];
    };
    const plot = chartIn(figure, options, data());
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
    const figure = figureIn(this.home, "Arrivals by rank now", "Mbit/s");
    let [low, high] = [32, 0];
    // as many names as there is room for
    const names = (plot, ticks) => {
      const widest = Math.max(...ticks.map((tick) => bucketName(tick).length)) + 2;
      const room = plot.bbox.width / devicePixelRatio || plot.width / 2;
      const every = Math.ceil((ticks.length * widest * CHARACTER_PX) / room);
      return ticks.map((tick, place) => (place % every ? "" : bucketName(tick)));
    };
    const options = {
      ...shared(figure, names),
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [Math.min(low, high) - 0.6, high + 0.6] },
        y: { range: (_, least, most) => [0, Math.max(most, 0.001) * 1.08] },
      },
      series: [{}, { label: "arrivals", stroke: colourOf(0), fill: colour("select"), paths: uPlot.paths.bars({ size: [0.8, 60] }), points: { show: false } }],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
    };
    Object.assign(options.axes[0], { splits: () => range(low, high), space: 24 });
    const data = () => {
      const arrivals = this.newest()?.a?.[this.port.port] ?? {};
      const seen = Object.keys(arrivals).map(Number);
      [low, high] = [Math.min(low, ...seen), Math.max(high, ...seen)];
      const buckets = range(low, high);
      return [buckets, buckets.map((bucket) => (arrivals[bucket] ?? 0) / 1e3)];
    };
    const plot = chartIn(figure, options, data());
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

  /** Fair share and edges of bands now. */
  linesNow() {
    const values = this.store.parametersAt(this.view.switch, this.port.port, this.store.last ?? 0);
    const fair = this.newest()?.fair;
    return [
      ...(fair === undefined ? [] : [{ height: fair / 1e3, stroke: colourOf(7), label: "fair share" }]),
      ...edgesOf(values).map((edge, q) => ({ height: edge, stroke: colour("soft"), label: `edge ${q + 1}` })),
    ];
  }

  /** The same behind the dots of the users. */
  drawLines(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const { height, stroke } of this.linesNow().filter((line) => line.height <= plot.scales.y.max)) {
      const y = plot.valToPos(height, "y", true);
      ctx.strokeStyle = stroke;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
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
    if (nearest) this.open?.(nearest.mark);
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
    const fixed = this.view.range ?? this.view.whole;
    if (fixed) return fixed;
    const last = this.view.paused ? (this.held ?? this.store.last ?? 0) : (this.store.last ?? 0);
    const first = this.store.frames[0]?.t ?? 0;
    const from = Math.max(0, last - this.view.seconds, Math.min(first, last - SHORTEST_S));
    return [from, Math.max(last, from + SHORTEST_S)];
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
    const figure = figureIn(this.home, "Queues now", "packets waiting, and how many the queue can hold", { wide: true });
    this.queues = queuesOf(port, values);
    this.bars = new Bars(figure, this.queues.map((queue, place) => ({ name: nameOf(each, port, queue), variable: variableOf(place) })));
  }

  drawBars() {
    const newest = this.newest();
    if (!newest || !this.bars) return;
    const lengths = newest.q[this.port.port] ?? [];
    const values = this.store.parametersAt(this.view.switch, this.port.port, this.store.last ?? 0);
    this.queues.forEach((queue, place) => {
      const size = sizeOf(this.port, values, queue);
      const length = lengths[queue] ?? 0;
      this.bars.set(place, size ? length / size : 0, `${length} of ${size}`);
    });
  }
}

function range(low, high) {
  return Array.from({ length: Math.max(0, high - low + 1) }, (_, place) => low + place);
}

/** Ranks of a bucket: 0, 1, 2-3, 4-7, ... */
function bucketName(bucket) {
  return bucket < 2 ? String(bucket) : `${short(2 ** (bucket - 1))}-${short(2 ** bucket - 1)}`;
}
