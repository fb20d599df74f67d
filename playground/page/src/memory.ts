// What a program remembers, in the words of the papers, from its registers.
import type { Step } from "../worker/messages.js";

/** The port of the experiments. */
const PORT = 1;
const WORD = 2 ** 32;

type Registers = Step["registers"];

/** What the live page's panel of ranks shows of a port. */
export function ranksOf(registers: Registers): object | null {
  const window = windowOf(registers).sort((a, b) => a - b);
  if (window.length) return { window: [0, 1, 2, 3, 4].map((quarter) => window[Math.floor(((window.length - 1) * quarter) / 4)]) };
  const bounds = boundsOf(registers);
  if (bounds.length) return { bounds: Object.fromEntries(bounds) };
  const range = rangeOf(registers);
  return range.arrivals ? { lowest: range.min, highest: range.max } : null;
}

/** Lines (what, value) for the memory that this page knows. */
export function inPapersWords(registers: Registers): [string, string][] {
  const window = windowOf(registers);
  const bounds = boundsOf(registers).map(([queue, bound]) => `b_${queue} = ${bound}`);
  const { min, max, arrivals } = rangeOf(registers);
  return [
    ...(window.length ? [["window", window.join(" ")] as [string, string]] : []),
    ...(bounds.length ? [["bounds", `${bounds.join(", ")}; the others are 0`] as [string, string]] : []),
    ...(arrivals ? [["range", `Min = ${min}, Max = ${max}, after ${arrivals} packets`] as [string, string]] : []),
    ...ratesOf(registers),
  ];
}

/** Cells of a register whose name ends so, of the experiments' port. */
function found(registers: Registers, end: RegExp): [RegExpExecArray, number][] {
  return Object.entries(registers).flatMap(([name, cells]) => {
    const match = end.exec(name);
    const value = cells[PORT];
    return match && value !== undefined ? [[match, value] as [RegExpExecArray, number]] : [];
  });
}

/** p4/include/window.p4: a cell holds the complement of a rank. */
function windowOf(registers: Registers): number[] {
  const ranks = found(registers, /window\.cell_(\d+)\.entry$/).map(([[, cell], value]) => [Number(cell), WORD - 1 - value] as const);
  return ranks.sort((a, b) => a[0] - b[0]).map(([, rank]) => rank);
}

/** p4/include/sp_pifo_mapping.p4: bit 32 is set once a bound is raised; a push-down lowers all bounds. */
function boundsOf(registers: Registers): [number, number][] {
  const lowered = found(registers, /mapping\.lowered_by$/)[0]?.[1] ?? 0;
  const bounds = found(registers, /mapping\.queue_(\d)\.raised_bound$/).map(([[, queue], value]): [number, number] => [Number(queue), value >= WORD ? value - WORD - lowered : 0]);
  return bounds.sort((a, b) => a[0] - b[0]);
}

/** p4/include/rank_range.p4. */
function rangeOf(registers: Registers): { min: number; max: number; arrivals: number } {
  const of = (name: string): number => found(registers, new RegExp(`rank_range\\.${name}$`))[0]?.[1] ?? 0;
  return { min: of("min_rank"), max: of("max_rank"), arrivals: of("arrivals") };
}

/** p4/include/rate_estimator.p4: cells are users. */
function ratesOf(registers: Registers): [string, string][] {
  const rates = Object.entries(registers).find(([name]) => /last_rate$/.test(name))?.[1] ?? {};
  const listed = Object.entries(rates).map(([user, bytes]) => `user ${user}: ${bytes} bytes`);
  return listed.length ? [["rates", `${listed.join(", ")} in the last interval`]] : [];
}
