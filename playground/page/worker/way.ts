// The events of a packet in words, each with the line of the program that caused it.

import type { Event } from "./messages.js";

/** An event of `p4sched-decisions`: what it holds depends on its kind. */
export interface RawEvent {
  event: string;
  source?: { file: string; line: number; text: string };
  [further: string]: any;
}

const WORDS: Record<string, (event: RawEvent) => string> = {
  table: ({ table, hit }) => `table ${table}: ${hit ? "an entry matches" : "the default action"}`,
  action: ({ action, arguments: values }) => `${action}(${values.map(named).join(", ")})`,
  condition: ({ holds, source }) => `${source?.text ?? "condition"} is ${holds}`,
  statement: ({ source }) => source?.text ?? "",
  changed: ({ field, before, after }) => `${field}: ${decimal(before)} becomes ${decimal(after)}`,
  register_read: ({ register, index, value }) => `${register}[${index}] is ${decimal(value)}`,
  register_written: ({ register, index, value }) => `${register}[${index}] becomes ${decimal(value)}`,
  counted: ({ counter, index }) => `${counter}[${index}] counts the packet`,
  enqueued: ({ queue, length }) => `waits in queue ${queue}, which now holds ${length}`,
  dropped: ({ reason }) => `is dropped: ${String(reason).replaceAll("_", " ")}`,
};

/** Events keep the line of the last statement or condition before them. */
export function wayOf(events: RawEvent[]): Event[] {
  let at: Pick<Event, "file" | "line"> = {};
  return events.map((event) => {
    if (event.source) at = { file: plain(event.source.file), line: event.source.line };
    return { kind: event.event, text: WORDS[event.event]?.(event) ?? event.event, ...at };
  });
}

/** A path without `..`. */
function plain(file: string): string {
  return file.replace(/[^/]+\/\.\.\//g, "");
}

function named({ name, value }: { name: string; value: string }): string {
  return `${name} = ${decimal(value)}`;
}

/** Numbers of up to 48 bits are easier to read in decimal. */
function decimal(value: string | null): string {
  if (value === null) return "outside the register";
  return value.length <= 14 ? String(Number(value)) : value;
}
