// The tab Inversions: packets with random ranks at 1.1 times the link's rate, through the program, its model and others.
import type { Outcome } from "../worker/messages.js";
import { Bench, type Context, type Panel, whyNotRun } from "./bench.js";
import { type Line, lines, table } from "./figure.js";
import { choice, make } from "./page.js";

const DISTRIBUTIONS = ["uniform", "poisson", "exponential", "inverse-exponential", "convex"] as const;
const PACKETS = ["5000", "20000", "100000", "300000"] as const;
const OTHERS = ["fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo"];
const WINDOW = 32;

type Ranks = (typeof DISTRIBUTIONS)[number];

/** The tab. */
export function inversions(context: Context): Panel {
  const settings = { ranks: "uniform" as Ranks, packets: 20_000 };
  const bench = new Bench(context, () => measure(context, settings, bench.results));
  const about = "A frame of 1100 bytes arrives every microsecond, and the link needs 1.1 µs for it. So the queue fills, and the program decides who waits and who is dropped. An inversion is a packet that leaves while a more urgent one waits.";
  const home = make("div", {}, make("p", { class: "faint" }, about),
    make("div", { class: "row" },
      choice("Ranks", DISTRIBUTIONS.map((name) => [name, name] as const), settings.ranks, (value) => {
        settings.ranks = value as Ranks;
        void bench.run();
      }),
      choice("Packets", PACKETS.map((count) => [count, (+count).toLocaleString("en")] as const), String(settings.packets), (value) => {
        settings.packets = +value;
        void bench.run();
      })),
    bench.bar, bench.results);
  return { key: "inversions", title: "Inversions", home, refresh: () => void bench.run() };
}

async function measure(context: Context, settings: { ranks: Ranks; packets: number }, home: HTMLElement): Promise<void> {
  const { project, laboratory, schemes } = context;
  const { scheme } = project.subject;
  const ranked = OTHERS.includes(scheme);
  const elsewhere = whyNotRun(project.subject);
  const shared = { ...settings, seed: 1, window: WINDOW, queues: 8, queueSize: 10 };
  const models = await laboratory.inversions({ ...shared, with: "model", schemes: OTHERS }, {});
  const mine = ranked && !elsewhere ? (await laboratory.inversions({ ...shared, with: "p4", schemes: [scheme] }, project.overlay()))[scheme] : undefined;
  const title = (name: string): string => schemes.get(name)?.title ?? name;
  const all = OTHERS.map((name) => ({ name: name === scheme ? `${title(name)}, model` : title(name), colour: schemes.get(name)?.colour ?? "", outcome: models[name] }));
  if (mine) all.unshift({ name: "your program", colour: "bad", outcome: mine });
  const least = models["packs"] ? sum(models["packs"].inversions_by_rank) : 0;
  home.replaceChildren(
    make("p", { class: "verdict" }, elsewhere ? `${elsewhere} Here are the schemes' models.` : verdict(title(scheme), mine, models[scheme])),
    lines({ title: "Inversions", x: "rank", y: "packets that left too early" }, all.map((each) => line(each, "inversions_by_rank"))),
    lines({ title: "Drops", x: "rank", y: "packets dropped" }, all.map((each) => line(each, "drops_by_rank"))),
    table(["scheme", "inversions", "times PACKS'", "drops", "lowest rank dropped"], all.map(({ name, outcome }) => ({ mine: outcome === mine, cells: [name, ...cells(outcome, least)] }))));
}

function line({ name, colour, outcome }: { name: string; colour: string; outcome: Outcome | undefined }, key: "inversions_by_rank" | "drops_by_rank"): Line {
  return { name, colour, heights: outcome?.[key] ?? [], mine: name === "your program" };
}

function cells(outcome: Outcome | undefined, least: number): string[] {
  if (!outcome) return ["-", "-", "-", "-"];
  const [inverted, lost] = [sum(outcome.inversions_by_rank), sum(outcome.drops_by_rank)];
  const lowest = outcome.drops_by_rank.findIndex((count) => count > 0);
  return [inverted.toLocaleString("en"), least ? (inverted / least).toFixed(2) : "-", lost.toLocaleString("en"), lowest < 0 ? "none" : String(lowest)];
}

function verdict(title: string, mine: Outcome | undefined, model: Outcome | undefined): string {
  if (!mine || !model) return `${title} looks at users, not at ranks. Its experiment is on the tab Users. Here are the schemes that look at ranks.`;
  const equal = (["inversions_by_rank", "drops_by_rank", "departures_by_rank"] as const).every((key) => mine[key].join() === model[key].join());
  if (equal) return `Your program decides as the model of ${title}: the same inversions, drops and departures of every rank.`;
  return `Your program differs from the model of ${title}: ${compared(mine, model, "inversions_by_rank")} inversions, ${compared(mine, model, "drops_by_rank")} drops.`;
}

function compared(mine: Outcome, model: Outcome, key: "inversions_by_rank" | "drops_by_rank"): string {
  return `${sum(mine[key]).toLocaleString("en")} instead of ${sum(model[key]).toLocaleString("en")}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
