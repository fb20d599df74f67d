// What a program remembers, in the words of the papers, from its registers.
import type { Step } from "../worker/messages.js";

/** The port of the experiments. */
const PORT = 1;
const WORD = 2 ** 32;

type Registers = Step["registers"];

/** Lines (what, value) for the memory that this page knows. */
export function inPapersWords(registers: Registers): [string, string][] {
  return [...windowOf(registers), ...boundsOf(registers), ...rangeOf(registers), ...ratesOf(registers)];
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
function windowOf(registers: Registers): [string, string][] {
  const ranks = found(registers, /window\.cell_(\d+)\.entry$/).map(([[, cell], value]) => [Number(cell), WORD - 1 - value] as const);
  if (!ranks.length) return [];
  return [["window", ranks.sort((a, b) => a[0] - b[0]).map(([, rank]) => rank).join(" ")]];
}

/** p4/include/sp_pifo_mapping.p4: bit 32 is set once a bound is raised; a push-down lowers all bounds. */
function boundsOf(registers: Registers): [string, string][] {
  const lowered = found(registers, /mapping\.lowered_by$/)[0]?.[1] ?? 0;
  const bounds = found(registers, /mapping\.queue_(\d)\.raised_bound$/).map(([[, queue], value]) => `b_${queue} = ${value >= WORD ? value - WORD - lowered : 0}`);
  return bounds.length ? [["bounds", `${bounds.sort().join(", ")}; the others are 0`]] : [];
}

/** p4/include/rank_range.p4. */
function rangeOf(registers: Registers): [string, string][] {
  const of = (name: string): number => found(registers, new RegExp(`rank_range\\.${name}$`))[0]?.[1] ?? 0;
  const arrivals = of("arrivals");
  return arrivals ? [["range", `Min = ${of("min_rank")}, Max = ${of("max_rank")}, after ${arrivals} packets`]] : [];
}

/** p4/include/rate_estimator.p4: cells are users. */
function ratesOf(registers: Registers): [string, string][] {
  const rates = Object.entries(registers).find(([name]) => /last_rate$/.test(name))?.[1] ?? {};
  const listed = Object.entries(rates).map(([user, bytes]) => `user ${user}: ${bytes} bytes`);
  return listed.length ? [["rates", `${listed.join(", ")} in the last interval`]] : [];
}
