// The schedulers and the programs that somebody can choose, from the descriptions of the laboratory.
import { parse } from "smol-toml";
import type { Subject } from "./project.js";

/** Names of the colours in scheduler.toml, in the order of the live page's variables. */
const COLOURS = ["blue", "orange", "green", "pink", "yellow", "sky", "grey", "black", "wine", "indigo", "olive", "teal"];

/** A parameter of a program's action. */
export interface Parameter {
  name: string;
  title: string;
  unit: string;
  value: number;
}

/** A scheduler, as its scheduler.toml describes it. */
export interface Scheme {
  name: string;
  title: string;
  summary: string;
  /** CSS variable. */
  colour: string;
  parameters: Parameter[];
  /** Of its port: `fifo`, `strict` or `pifo`. */
  discipline: string;
  /** What it calls a queue. */
  queueWord: string;
  /** What it remembers of ranks: `window`, `bounds` or `range`. */
  ranks: string | null;
  /** Lines in the chart of its queues. */
  limits: { label: string; parameter: string; share?: string }[];
}

interface Described {
  name: string;
  title: string;
  summary: string;
  colour: string;
  queue_word?: string;
  ranks?: string;
  port: { discipline: string };
  chart?: Scheme["limits"];
  parameters?: Record<string, { title: string; unit?: string; default: number }>;
}

/** All schedulers by name. */
export function schemesOf(files: Record<string, string>): Map<string, Scheme> {
  const found = new Map<string, Scheme>();
  for (const [path, text] of Object.entries(files)) {
    if (!/^schedulers\/\w+\/scheduler\.toml$/.test(path)) continue;
    const { name, title, summary, colour, parameters, port, queue_word, ranks, chart } = parse(text) as unknown as Described;
    const listed = Object.entries(parameters ?? {}).map(([key, each]) => ({ name: key, title: each.title, unit: each.unit ?? "", value: each.default }));
    found.set(name, {
      name, title, summary, colour: `c${COLOURS.indexOf(colour)}`, parameters: listed,
      discipline: port.discipline, queueWord: queue_word ?? "queue", ranks: ranks ?? null, limits: chart ?? [],
    });
  }
  return found;
}

const RULES: Record<string, string> = {
  fifo: "p4/fifo.p4",
  sp_pifo: "p4/include/sp_pifo_mapping.p4",
  aifo: "p4/include/aifo_admission.p4",
  rifo: "p4/include/rifo_admission.p4",
  packs: "p4/include/packs_mapping.p4",
  fdpa: "p4/include/fdpa_bands.p4",
};
const LABS: Record<string, { scheme: string; target: Subject["target"] }> = {
  "03": { scheme: "sp_pifo", target: "v1model" },
  "04": { scheme: "aifo", target: "v1model" },
  "05": { scheme: "rifo", target: "v1model" },
  "06": { scheme: "packs", target: "v1model" },
  "07": { scheme: "fdpa", target: "v1model" },
  "08": { scheme: "fdpa", target: "python" },
  "09": { scheme: "aifo", target: "python" },
  "11": { scheme: "sp_pifo", target: "tna" },
};

/** The programs, then the labs. */
export function subjectsOf(files: Record<string, string>, schemes: Map<string, Scheme>): Subject[] {
  return [...programs(schemes), ...labs(files)];
}

function programs(schemes: Map<string, Scheme>): Subject[] {
  return Object.entries(RULES).map(([name, rule]) => {
    const scheme = schemes.get(name);
    return { key: name, title: scheme?.title ?? name, about: scheme?.summary ?? "", main: `p4/${name}.p4`, rule, scheme: name, target: "v1model", places: {} };
  });
}

function labs(files: Record<string, string>): Subject[] {
  const starts = Object.keys(files).filter((path) => /^labs\/\d\d-\w+\/start\/\w+\.(p4|py)$/.test(path)).sort();
  return starts.flatMap((start) => {
    const [, lab = "", , file = ""] = start.split("/");
    const number = lab.slice(0, 2);
    const known = LABS[number];
    if (!known) return [];
    const root = known.target === "tna" ? "tofino-port" : "p4";
    const heading = /^# (.+)$/m.exec(files[`labs/${lab}/README.md`] ?? "")?.[1] ?? lab;
    return [{
      key: `lab${number}`, title: heading, about: "A lab: its text, hints and check are on the tab Lab.", main: `${root}/${known.scheme}.p4`,
      rule: start, scheme: known.scheme, target: known.target, places: { [start]: known.target === "python" ? start : `${root}/include/${file}` }, lab,
    }];
  });
}
