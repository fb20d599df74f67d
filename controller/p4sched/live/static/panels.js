// What the charts of a port show: for each chart its series, and how their values come out of a frame.
import { colour, colourOf } from "./theme.js";

const UNUSED_EDGE = 0xffffffff;
const HEADROOM_UNIT = 256;
const FEW_USERS = 7;
const DASH = [6, 4];

/** Upper edges of FDPA's bands in Mbit/s for a user of weight 1. */
export function edgesOf(values) {
  if (!values?.interval_us) return [];
  const edges = [];
  for (let q = 1; q <= 7; q++) {
    const edge = values[`edge_${q}`];
    if (edge !== undefined && edge !== UNUSED_EDGE) edges.push((edge * 8) / values.interval_us);
  }
  return edges;
}

/** Numbers of the queues that packets can be in, the most urgent first. */
export function queuesOf(port, values) {
  if (port.discipline !== "strict") return [0];
  const sized = [];
  for (let i = 1; i <= 8; i++) {
    const size = values?.[`size_${i}`] ?? values?.[`depth_${i}`];
    if (size) sized.push(8 - i);
  }
  return sized.length ? sized : Object.keys(port.sizes).map(Number).filter((queue) => port.sizes[queue]).sort((a, b) => b - a);
}

/** Packets that a queue can hold: what the program allows, or what is behind it. */
export function sizeOf(port, values, queue) {
  return values?.[`size_${8 - queue}`] || values?.[`depth_${8 - queue}`] || values?.capacity_packets || port.sizes[queue] || 0;
}

export function nameOf(each, port, queue) {
  return port.discipline === "strict" ? `${each.queue ?? "queue"} ${8 - queue}` : "queue";
}

/** Users whose lines are drawn unless others were chosen. */
export function firstUsers(each) {
  return each.users.slice(0, FEW_USERS);
}

const line = (label, stroke, more = {}) => ({ label, stroke, width: 1.5, ...more });
// a parameter keeps its value until a decision changes it
const bound = (label, stroke) => line(label, stroke, { dash: DASH, width: 1, steps: true });

function queues(each, port, values) {
  const shown = queuesOf(port, values);
  const limits = limitsOf(each);
  return {
    id: "queues",
    title: "Queue lengths",
    unit: "packets",
    wide: true,
    marks: true,
    series: [
      ...shown.map((queue, place) => line(nameOf(each, port, queue), colourOf(place))),
      ...limits.map(([label], place) => bound(label, shown.length > 1 ? colour("soft") : colourOf(6 + place))),
    ],
    pick(frame, found) {
      const lengths = frame.q[port.port];
      return [...shown.map((queue) => (lengths ? lengths[queue] ?? null : 0)), ...limits.map(([, of]) => (found ? of(found) : null))];
    },
  };
}

/** Lines of a scheme's own in the chart of its queue, from the parameters in force. */
function limitsOf(each) {
  return (each.limits ?? []).map(({ label, parameter, share }) => [
    label,
    (values) => values[parameter] * (share ? values[share] / HEADROOM_UNIT : 1),
  ]);
}

function drops(port) {
  return {
    id: "drops",
    title: "Drops by reason",
    unit: "packets/s",
    series: [line("refused by rank", colourOf(1)), line("full (program)", colourOf(0)), line("full (queue)", colourOf(3))],
    pick: (frame) => frame.drop?.[port.port] ?? (frame.drop ? [0, 0, 0] : [null, null, null]),
  };
}

function link(port) {
  const series = [line("sent", colourOf(0))];
  if (port.rate) series.push(bound("rate of the link", colourOf(7)));
  return {
    id: "link",
    title: `Link of ${port.label ?? `port ${port.port}`}`,
    unit: "Mbit/s",
    series,
    pick: (frame) => [(frame.tx[port.port] ?? 0) / 1e3, port.rate / 1e6].slice(0, series.length),
  };
}

function rates(each, chosen, values) {
  const places = chosen.map((user) => each.users.indexOf(user));
  const weights = each.weights;
  const edges = edgesOf(values).length;
  return {
    id: "rates",
    // so many series are rates; the others are lines to compare them with
    rates: chosen.length,
    title: "Rates of users",
    unit: weights.every((weight) => weight === 1) ? "Mbit/s" : "Mbit/s for weight 1",
    marks: true,
    series: [
      ...chosen.map((user, place) => line(`user ${user}`, colourOf(place))),
      bound("fair share", colourOf(7)),
      ...Array.from({ length: edges }, (_, q) => line(`edge ${q + 1}`, colour("soft"), { dash: [2, 4], width: 1, steps: true })),
    ],
    pick(frame, found) {
      const lines = edgesOf(found);
      return [
        ...places.map((place) => (frame.u ? frame.u[place] / weights[place] / 1e3 : null)),
        frame.fair === undefined ? null : frame.fair / 1e3,
        ...Array.from({ length: edges }, (_, q) => lines[q] ?? null),
      ];
    },
  };
}

function ranks(each, port) {
  const read = (frame) => frame.r?.[port.port];
  if (each.ranks === "window") {
    const names = ["smallest", "25 %", "median", "75 %", "largest"];
    return {
      id: "ranks",
      title: "Ranks in the window",
      unit: "quantiles",
      series: names.map((name, place) => line(name, colourOf([5, 0, 7, 0, 5][place]), { dash: [2, 2, 0, 2, 2][place] ? [place + 2, 3] : undefined })),
      bands: [{ series: [5, 1], fill: colour("select") }, { series: [4, 2], fill: colour("select") }],
      pick: (frame) => (read(frame)?.window?.length ? read(frame).window : names.map(() => null)),
    };
  }
  if (each.ranks === "range") {
    return {
      id: "ranks",
      title: "Range of ranks",
      unit: "rank",
      series: [line("Max", colourOf(1)), line("Min", colourOf(0))],
      bands: [{ series: [1, 2], fill: colour("select") }],
      pick: (frame) => [read(frame)?.highest ?? null, read(frame)?.lowest ?? null],
    };
  }
  if (each.ranks === "bounds") {
    return {
      id: "ranks",
      title: "Bounds of the queues",
      unit: "rank",
      series: Array.from({ length: 8 }, (_, i) => line(`queue ${i + 1}`, colourOf(i))),
      pick: (frame) => Array.from({ length: 8 }, (_, i) => read(frame)?.bounds?.[i + 1] ?? null),
    };
  }
  return null;
}

/** The charts of a port, in their order. The log of a law of users tells of their rates only. */
export function panelsOf(each, port, values, users) {
  const counted = port.lengths !== false;
  const own = port.busy && counted ? ranks(each, port) : null;
  return [
    ...(counted ? [queues(each, port, values)] : []),
    ...(counted && port.busy ? [drops(port)] : []),
    ...(counted ? [link(port)] : []),
    ...(each.users.length ? [rates(each, users ?? firstUsers(each), values)] : []),
    ...(own ? [own] : []),
  ];
}
