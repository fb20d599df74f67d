// A trace that somebody clicks: packets with a time and a rank (or a user), and the program's parameters.
import type { Decision, Event, Step, Steps, StepsRequest } from "../worker/messages.js";
import type { Scheme } from "./catalogue.js";

export const SLOT_NS = 500;
export const SLOTS = 48;
export const RANKS = 21;
export const RATE_BPS = 8_000_000_000;
export const FRAME_BYTES = 1000;
export const FRAME_NS = 1000;
export const MOST_PACKETS = 500;

/** A packet of the trace. `value` is its rank; for FDPA, its user. */
export interface Packet {
  slot: number;
  value: number;
}

/** Small sizes, with which a few packets fill the queues. */
const SMALL: Record<string, number> = {
  target_packets: 6, capacity_packets: 6, depth: 6, window_ranks: 8, sampling: 1, headroom_256: 26, tracking_packets: 8,
  size_1: 3, size_2: 3, size_3: 3, size_4: 3, size_5: 0, size_6: 0, size_7: 0, size_8: 0,
  interval_us: 4, edge_1: 1500, edge_2: 3000, depth_1: 3, depth_2: 3, depth_3: 3,
};

/** First parameters of a program's action. */
export function smallParameters(scheme: Scheme): Map<string, number> {
  return new Map(scheme.parameters.map(({ name, value }) => [name, SMALL[name] ?? value]));
}

/** The trace at the beginning: a burst of less and less urgent packets, then urgent ones. */
export function firstTrace(users: boolean): Packet[] {
  if (users) return Array.from({ length: 30 }, (_, slot) => ({ slot, value: slot % 3 === 2 ? 2 : 1 }));
  const ranks = [9, 12, 5, 14, 7, 3, 16, 8, 11, 2, 6, 13, 4, 10, 15, 1, 9, 5, 17, 3, 7, 12, 2, 8];
  return ranks.map((value, place) => ({ slot: place, value }));
}

/** Packets in the order of their arrival. */
export function inOrder(packets: readonly Packet[]): Packet[] {
  return [...packets].sort((a, b) => a.slot - b.slot);
}

/** The text of a trace: a time in slots and a value on each line. */
export function textOf(packets: readonly Packet[]): string {
  return inOrder(packets).map(({ slot, value }) => `${(slot * SLOT_NS) / 1000} ${value}`).join("\n");
}

/** The trace of a text; a string says what is wrong. */
export function traceOf(text: string, users: boolean): Packet[] | string {
  const found: Packet[] = [];
  for (const [place, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    const [time, value, ...more] = line.trim().split(/[\s,]+/).map(Number);
    const slot = Math.round(((time ?? NaN) * 1000) / SLOT_NS);
    const [least, most] = users ? [1, 250] : [0, 65535];
    if (more.length || !(slot >= 0 && slot < 1e6) || value === undefined || !Number.isInteger(value) || value < least || value > most) {
      return `Line ${place + 1}: write a time in µs and a ${users ? "user" : "rank"} (${least} to ${most}), for example "2.5 7".`;
    }
    found.push({ slot, value });
  }
  return found.length > MOST_PACKETS ? `A trace has at most ${MOST_PACKETS} packets.` : found;
}

/** The request for `steps`. */
export function requestOf(packets: readonly Packet[], main: string, scheme: string, parameters: Map<string, number>, target: "v1model" | "tna"): StepsRequest {
  const users = scheme === "fdpa";
  const sent = inOrder(packets).map(({ slot, value }): StepsRequest["packets"][number] => [slot * SLOT_NS, users ? 0 : value, users ? value : 0, FRAME_BYTES]);
  const scales = users ? Array.from({ length: Math.max(1, ...packets.map(({ value }) => value)) }, () => 256) : [];
  return { program: main, target, scheme, parameters: [...parameters.values()], rate_bps: RATE_BPS, packets: sent, scales };
}

/** Numbers of the packets that wait in each queue just before a packet, by priority; the first leaves next. */
export function waiting(packets: readonly Packet[], steps: Steps, place: number): number[][] {
  const queues: number[][] = Array.from({ length: 8 }, () => []);
  const now = (packets[place]?.slot ?? 0) * SLOT_NS;
  const left = new Map(steps.departures);
  for (let number = 0; number < place; number++) {
    const decision = steps.program[number];
    const gone = (left.get(number) ?? Infinity) - FRAME_NS;
    if (typeof decision === "number" && gone > now) queues[decision]?.push(number);
  }
  return queues;
}

/** A decision in words. */
export function inWords(decision: Decision | undefined, oneQueue: boolean): string {
  if (typeof decision === "number") return oneQueue ? "enters the queue" : `enters queue ${8 - decision} (priority ${decision})`;
  if (decision === "refused") return "is refused";
  if (decision === "full") return "is dropped: its queue is full";
  if (decision === "pushed out") return "is pushed out";
  return "is neither in a queue nor counted as dropped";
}

/** The event that decided: where the verdict was set, or the comparison that failed. `ofRule`: the events in the rule's file. */
export function decidingEvent({ decision, way }: Step, ofRule: readonly Event[]): Event | undefined {
  if (decision === "full") return way.findLast(({ text }) => /\bFULL\b/.test(text));
  const decides = typeof decision === "number"
    ? ({ kind, text }: Event) => kind === "statement" && /\b(verdict|priority)\b/.test(text)
    : ({ kind, text }: Event) => kind === "condition" && /[<>].* is false$/.test(text);
  return ofRule.findLast(decides) ?? ofRule.at(-1);
}
