// What page and worker send each other.

/** Files by their path from the root of the lab: `p4/aifo.p4`. */
export type Files = Record<string, string>;

/** A run of one program. */
export interface Request {
  id: number;
  /** The program and its command line. */
  words: string[];
  /** Changed files. */
  files: Files;
  /** Standard input. */
  input: string;
}

/** The end of a run. */
export interface Run {
  /** The exit code; 134 after a crash. */
  code: number;
  /** Standard output. */
  output: string;
  /** Standard error. */
  errors: string;
  /** Files that the run wrote. */
  files: Files;
  /** Wall-clock time. */
  milliseconds: number;
}

/** From the worker: it is ready, a run ended, or a sentence says why not. */
export type Answer = { files: Files } | { id: number; run: Run } | { id?: number; failed: string };

export interface Position {
  /** From 0. */
  line: number;
  /** From 0, in UTF-16 units. */
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

/** A message of the compiler. */
export interface Message {
  /** Path from the root of the lab. */
  file: string;
  range: Range;
  /** 1: error, 2: warning. */
  severity: 1 | 2;
  /** The class of a warning. */
  code?: string;
  message: string;
}

export interface Compiled {
  ok: boolean;
  /** BMv2 JSON, if `ok`. */
  json?: string;
  /** P4Info as text, if `ok`. */
  p4info?: string;
  messages: Message[];
}

/** Settings of `p4sched run inversions --stepped`. */
export interface Settings {
  with: "p4" | "model";
  schemes: string[];
  ranks?: string;
  packets?: number;
  seed?: number;
  window?: number;
  queues?: number;
  queueSize?: number;
}

/** Counts of a scheme, by rank. */
export interface Outcome {
  inversions: number;
  inversions_by_rank: number[];
  drops_by_rank: number[];
  departures_by_rank: number[];
  [further: string]: unknown;
}

/** A trace of packets, and the program that decides on it. */
export interface StepsRequest {
  program: string;
  scheme: string;
  parameters: number[];
  rate_bps: number;
  /** Time in ns, rank, user (0: none), Ethernet bytes. */
  packets: [number, number, number, number][];
  target?: "v1model" | "tna" | "t2na";
  scales?: number[];
  model?: boolean;
}

export type Decision = number | "refused" | "full" | "pushed out" | null;

/** What a packet passed in the program. */
export interface Event {
  kind: string;
  text: string;
  file?: string;
  /** From 1. */
  line?: number;
}

export interface Step {
  decision: Decision;
  /** Lengths of the eight queues before the packet, by priority. */
  lengths: number[];
  /** Cells that are not zero, by register and index, before the packet. */
  registers: Record<string, Record<number, number>>;
  way: Event[];
}

export interface Steps {
  program: Decision[];
  model: Decision[] | null;
  lengths: number[][];
  /** Number of each packet that left, and its time at the far end in ns. */
  departures: [number, number][];
  packets: Step[];
}
