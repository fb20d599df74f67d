// The tabs with networks in virtual time: three flows of TCP, users behind FDPA, incast.
import type { Scheme } from "./catalogue.js";
import { Bench, type Context, type Panel, whyNotRun } from "./bench.js";
import { type Bar, bars, table } from "./figure.js";
import { make } from "./page.js";
import { ofNetwork, type Recorded, type Summary, type Watched } from "./recording.js";
import { Replay } from "./replay.js";

const RATE_BPS = 100_000_000;
const MTU = 1514;
const NEVER = 1_000_000_000;
/** Samples of a run. */
const SAMPLES = 600;

type Flow = Record<string, string>;

/** A run of one scheme. */
interface Measured {
  name: string;
  colour: string;
  mine: boolean;
  flows: Flow[];
  recorded: Recorded;
}

/** An experiment: its scenario, and what it shows. */
interface Scene {
  key: string;
  title: string;
  about: string;
  schemes: readonly string[];
  /** The host behind the shared link. */
  end: string;
  scenario: { end_ns: number; [further: string]: unknown };
  ports(scheme: string): object;
  /** What the port of a scheme has. */
  watched(scheme: Scheme | undefined): Watched;
  draw(runs: readonly Measured[]): HTMLElement[];
}

/** The three tabs. */
export function networks(context: Context): Panel[] {
  return [threeFlows, users, incast].map((scene) => {
    const replay = new Replay(scene.key);
    const bench = new Bench(context, () => measure(context, scene, bench.results, replay));
    const home = make("div", {}, make("p", { class: "faint" }, scene.about), bench.bar, bench.results, replay.home);
    return { key: scene.key, title: scene.title, home, refresh: () => void bench.run() };
  });
}

async function measure({ project, laboratory, schemes }: Context, scene: Scene, home: HTMLElement, replay: Replay): Promise<void> {
  const { scheme } = project.subject;
  const elsewhere = whyNotRun(project.subject);
  const runs: Measured[] = [];
  const measured = async (name: string, mine: boolean): Promise<void> => {
    const sampleNs = scene.scenario.end_ns / SAMPLES;
    const scenario = { ...scene.scenario, sample_ns: sampleNs, sample_ports: true, ports: scene.ports(name) };
    const { flows, summary } = await laboratory.simulate(scenario, mine, mine ? project.overlay() : {});
    const found = schemes.get(name);
    const title = mine ? "your program" : (found?.title ?? name) + (name === scheme ? ", model" : "");
    const recorded = ofNetwork(title, summary as Summary, scene.end, sampleNs, scene.watched(found));
    runs.push({ name: title, colour: mine ? "bad" : (found?.colour ?? ""), mine, flows: rows(flows), recorded });
    home.replaceChildren(...scene.draw(runs));
  };
  if (!elsewhere && scene.schemes.includes(scheme)) await measured(scheme, true);
  else home.replaceChildren(make("p", {}, `${elsewhere || "This experiment does not fit the chosen program."} Here are the schemes' models.`));
  for (const name of scene.schemes) await measured(name, false);
  const ends = runs.flatMap(({ flows }) => flows.map((flow) => number(flow, "received_ns") ?? scene.scenario.end_ns));
  replay.show(runs.map(({ recorded }) => recorded), (1.05 * Math.max(...ends)) / 1e9);
}

function rows(csv: string): Flow[] {
  const [head = "", ...lines] = csv.trim().split("\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, place) => [names[place] ?? "", cell])));
}

function number(flow: Flow | undefined, name: string): number | null {
  const text = flow?.[name];
  return text === undefined || text === "" ? null : Number(text);
}

const LINK = { rate_bps: RATE_BPS, delay_ns: 1_000_000 };
const ACCESS = { rate_bps: 1_000_000_000, delay_ns: 10_000 };
const SIZES = { queues: 8, queue_size: 10, window: 20, headroom_256: 26 };
/** The ports of ranked schemes hold as much together: eight queues of `size` packets, or one of eight times as many. */
const ranked = (size: number) => (scheme: Scheme | undefined): Watched => {
  const room = SIZES.queues * size;
  const all: Record<string, number> = { target_packets: room, capacity_packets: room, headroom_256: SIZES.headroom_256 };
  for (let queue = 1; queue <= SIZES.queues; queue++) all[`size_${queue}`] = size;
  const names = scheme?.parameters.map(({ name }) => name) ?? [];
  const values = Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
  return { scheme, rateBps: RATE_BPS, values, sizes: { 0: room }, users: [], userOf: () => 0 };
};
const RANKED = ["fifo", "sp_pifo", "aifo", "rifo", "packs", "pifo"];

const THREE = [["small", 500_000], ["medium", 2_500_000], ["large", 5_000_000]] as const;
const threeFlows: Scene = {
  key: "tcp",
  title: "TCP",
  about: "A small, a medium and a large TCP flow (Cubic) share a link of 100 Mbit/s. The rank of a packet is what remains of its flow, so the small flow is the most urgent.",
  schemes: RANKED,
  end: "server",
  watched: ranked(SIZES.queue_size),
  scenario: {
    end_ns: 6_000_000_000,
    topology: { dumbbell: { hosts: 3, access: ACCESS, bottleneck: LINK } },
    ranks: "remaining",
    transports: { tcp: { control: "cubic" } },
    flows: { list: THREE.map(([, bytes], place) => ({ source: `u${place + 1}`, destination: "server", bytes })) },
  },
  ports: (scheme) => ({ scheme, ...SIZES }),
  draw: (runs) => [
    ...THREE.map(([name], place) => bars(`The ${name} flow is complete after`, "ms", runs.map((run) => ended(run, place)))),
    table(["scheme", ...THREE.map(([name]) => `${name}, segments sent again`)], runs.map(({ name, flows, mine }) => ({ mine, cells: [name, ...flows.map((flow) => flow["retransmitted"] ?? "-")] }))),
  ],
};

function ended({ name, colour, mine, flows }: Measured, place: number): Bar {
  const at = number(flows[place], "received_ns");
  return { name, colour, mine, value: (at ?? 0) / 1e6, text: at === null ? "not complete" : `${(at / 1e6).toFixed(0)} ms` };
}

const USERS = 8;
const GREEDY = 2;
const CONNECTIONS = 6;
const SECONDS = 3;
const INTERVAL_US = 60_000;
const FAIR = ((RATE_BPS / USERS / 8) * INTERVAL_US) / 1e6;
const FIFO_PACKETS = 83;
const BANDS = { interval_us: INTERVAL_US, edge_1: Math.round(FAIR), edge_2: Math.round(2 * FAIR), depth_1: FIFO_PACKETS, depth_2: 21, depth_3: 20 };
const users: Scene = {
  key: "users",
  title: "Users",
  about: `${USERS} users share a link of 100 Mbit/s. Users 1 and 2 open ${CONNECTIONS} TCP connections each, the others one. With FDPA a user who is faster than the fair share gets a less urgent queue. Here the bands stand at 1 and 2 fair shares; on the command line a controller moves them.`,
  schemes: ["fifo", "fdpa"],
  end: "server",
  watched: (scheme) => ({
    scheme, rateBps: RATE_BPS, sizes: { 0: FIFO_PACKETS }, values: scheme?.name === "fdpa" ? BANDS : {},
    users: Array.from({ length: USERS }, (_, user) => user + 1), userOf: (flow) => userOf(flow) + 1,
  }),
  scenario: {
    end_ns: SECONDS * 1e9,
    topology: { dumbbell: { hosts: USERS, access: ACCESS, bottleneck: { ...LINK, delay_ns: 5_000_000 } } },
    transports: { tcp: { control: "cubic" } },
    flows: { list: Array.from({ length: USERS }, (_, user) => Array.from({ length: user < GREEDY ? CONNECTIONS : 1 }, () => ({ source: `u${user + 1}`, destination: "server", bytes: NEVER, user: user + 1 }))).flat() },
  },
  ports: (scheme) => scheme === "fdpa"
    ? { scheme, parameters: BANDS }
    : { scheme, queues: 1, queue_size: FIFO_PACKETS },
  draw: (runs) => runs.flatMap((run) => {
    const rates = ratesOf(run.flows);
    const index = rates.reduce((total, rate) => total + rate, 0) ** 2 / (rates.length * rates.reduce((total, rate) => total + rate * rate, 0) || 1);
    return [bars(`${run.name}: Jain's index ${index.toFixed(3)}`, "Mbit/s of each user", rates.map((rate, user) => ({ name: `user ${user + 1}`, value: rate, colour: run.colour, text: rate.toFixed(1), mine: run.mine })))];
  }),
};

/** The user of a flow, from 0. */
function userOf(flow: number): number {
  return flow < GREEDY * CONNECTIONS ? Math.floor(flow / CONNECTIONS) : flow - GREEDY * CONNECTIONS + GREEDY;
}

function ratesOf(flows: readonly Flow[]): number[] {
  const found = Array.from({ length: USERS }, () => 0);
  for (const [place, flow] of flows.entries()) {
    const user = userOf(place);
    found[user] = (found[user] ?? 0) + ((number(flow, "received_bytes") ?? 0) * 8) / SECONDS / 1e6;
  }
  return found;
}

const SENDERS = 16;
const BLOCK = 64_000;
const INCAST_QUEUE = 8;
const incast: Scene = {
  key: "incast",
  title: "Incast",
  about: `${SENDERS} senders send ${BLOCK / 1000} kB each at the same instant, over one link of 100 Mbit/s. Who loses the last segments of a block waits 200 ms for a timer, and the link idles. The link needs ${Math.ceil((SENDERS * BLOCK * 8 * (MTU / 1448)) / RATE_BPS * 1000)} ms for all blocks.`,
  schemes: RANKED,
  end: "receiver",
  watched: ranked(INCAST_QUEUE),
  scenario: {
    end_ns: 3_000_000_000,
    topology: { incast: { senders: SENDERS, access: ACCESS, bottleneck: { ...LINK, delay_ns: 2_500_000 } } },
    ranks: "remaining",
    transports: { tcp: { control: "cubic" } },
    flows: { list: Array.from({ length: SENDERS }, (_, place) => ({ source: `h${place + 1}`, destination: "receiver", bytes: BLOCK })) },
  },
  ports: (scheme) => ({ scheme, ...SIZES, queue_size: INCAST_QUEUE }),
  draw: (runs) => [
    bars("Half of the blocks are complete after", "ms", runs.map((run) => after(run, 0.5))),
    bars("The last block is complete after", "ms", runs.map((run) => after(run, 1))),
    table(["scheme", "timeouts", "segments sent again"], runs.map(({ name, flows, mine }) => ({ mine, cells: [name, total(flows, "timeouts"), total(flows, "retransmitted")] }))),
  ],
};

function after({ name, colour, mine, flows }: Measured, share: number): Bar {
  const times = flows.map((flow) => number(flow, "received_ns") ?? Infinity).sort((a, b) => a - b);
  const at = times[Math.ceil(share * times.length) - 1] ?? Infinity;
  return { name, colour, mine, value: Number.isFinite(at) ? at / 1e6 : 0, text: Number.isFinite(at) ? `${(at / 1e6).toFixed(0)} ms` : "not complete" };
}

function total(flows: readonly Flow[], name: string): string {
  return String(flows.reduce((sum, flow) => sum + (number(flow, name) ?? 0), 0));
}
