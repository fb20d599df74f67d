// Runs as messages of the live page (docs/WATCH.md), so its charts and its player show them.
import type { Step } from "../worker/messages.js";
import type { Scheme } from "./catalogue.js";
import { ranksOf } from "./memory.js";

/** The switch and the port of all recordings. */
export const SWITCH = "s1";
export const PORT = 1;
const MTU = 1514;
const SEGMENT = 1448;
const ACTIVE_BYTES = 1000;

/** A run for the live page's player. */
export interface Recorded {
  title: string;
  messages: object[];
}

/** What `sample_ports` adds to a port of a summary (switch/simulator/SCENARIOS.md). */
interface Samples {
  queue_packets: number[][];
  sent_bytes: number[];
  dropped_full: number[];
  dropped_refused: number[];
  pushed_out: number[];
}

/** The parts of a summary that a recording needs. */
export interface Summary {
  received_bytes: number[][];
  ports: { port: number | null; to: string; samples?: Samples }[];
}

/** The port of a recording, and its users. */
export interface Watched {
  scheme: Scheme | undefined;
  rateBps: number;
  /** Parameters of the program's action. */
  values: Record<string, number>;
  /** Packets of each queue, by priority. */
  sizes: Record<number, number>;
  /** Numbers of users; none: nobody looks at users. */
  users: number[];
  /** Number of the user of a flow. */
  userOf(flow: number): number;
}

/** A run of the simulator. `end`: the host behind the port. */
export function ofNetwork(title: string, summary: Summary, end: string, sampleNs: number, watched: Watched): Recorded {
  const { samples } = summary.ports.find(({ port, to }) => port !== null && to === end) ?? {};
  if (!samples) return { title, messages: [] };
  const seconds = sampleNs / 1e9;
  const rate = (counts: number[], place: number): number => ((counts[place] ?? 0) - (counts[place - 1] ?? 0)) / seconds;
  const frames = samples.queue_packets.map((lengths, place) => ({
    kind: "frame",
    t: (place + 1) * seconds,
    s: { [SWITCH]: {
      q: { [PORT]: lengths },
      tx: { [PORT]: (rate(samples.sent_bytes, place) * 8) / 1e3 },
      drop: { [PORT]: [rate(samples.dropped_refused, place), rate(samples.dropped_full, place), rate(samples.pushed_out, place)] },
      ...ofUsers(summary.received_bytes, place, seconds, watched),
    } },
  }));
  return { title, messages: [sceneOf(title, "s", watched), inForce(watched), ...frames] };
}

/** Rates of users in kbit/s of frames, and the fair share of those that send. */
function ofUsers(received: number[][], place: number, seconds: number, { users, userOf, rateBps }: Watched): object {
  if (!users.length) return {};
  const bytes = users.map(() => 0);
  for (const [flow, now] of (received[place] ?? []).entries()) {
    const at = users.indexOf(userOf(flow));
    bytes[at] = (bytes[at] ?? 0) + ((now - (received[place - 1]?.[flow] ?? 0)) * MTU) / SEGMENT;
  }
  const active = bytes.filter((sent) => sent >= ACTIVE_BYTES).length;
  return { u: bytes.map((sent) => (sent * 8) / seconds / 1e3), ...(active ? { fair: rateBps / active / 1e3 } : {}) };
}

/** Packets one by one: what each finds, at its time in µs. */
export function ofSteps(title: string, steps: readonly Step[], timesUs: readonly number[], watched: Watched): Recorded {
  const frames = steps.map(({ lengths, registers }, place) => {
    const ranks = ranksOf(registers);
    return { kind: "frame", t: timesUs[place] ?? 0, s: { [SWITCH]: { q: { [PORT]: lengths }, tx: {}, ...(ranks ? { r: { [PORT]: ranks } } : {}) } } };
  });
  return { title, messages: [sceneOf(title, "µs", watched), inForce(watched), ...frames] };
}

function sceneOf(title: string, unit: string, { scheme, rateBps, sizes, users }: Watched): object {
  const port = { port: PORT, rate: rateBps, discipline: scheme?.discipline ?? "fifo", busy: true, sizes, label: "the switch" };
  return {
    kind: "scene", title, unit, topology: {},
    switches: { [SWITCH]: {
      scheme: scheme?.name ?? null, label: scheme?.title ?? title, target: "v1model", rtt_s: 0, users, weights: users.map(() => 1), ports: [port],
      queue: scheme?.queueWord, limits: scheme?.limits ?? [], ranks: scheme?.ranks ?? null,
    } },
  };
}

function inForce({ values }: Watched): object {
  return { kind: "parameters", t: 0, switch: SWITCH, port: PORT, values };
}
