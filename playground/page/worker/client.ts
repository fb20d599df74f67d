// What the page calls. Every call is one run of the program, in the worker.

import type { Answer, Compiled, Files, Message, Outcome, Request, Run, Settings, Step, Steps, StepsRequest } from "./messages.js";
import { type RawEvent, wayOf } from "./way.js";

/** The reason of promises that `stop` ended. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
  }
}

interface Waiting {
  resolve(run: Run): void;
  reject(error: Error): void;
}

export class Laboratory {
  /** All files of the lab, when `ready`. */
  files: Files = {};
  /** Rejected with a sentence if the program cannot run here. */
  ready: Promise<void>;
  private worker!: Worker;
  private waiting = new Map<number, Waiting>();
  private next = 0;
  /** Rejects `ready`. */
  private giveUp: (error: Error) => void = () => {};

  constructor(private readonly script: string) {
    this.ready = this.start();
  }

  /** Ends what runs. A new worker starts. */
  stop(): void {
    this.worker.terminate();
    this.giveUp(new Stopped());
    const stopped = [...this.waiting.values()];
    this.waiting.clear();
    this.ready = this.start();
    for (const each of stopped) each.reject(new Stopped());
  }

  /** Runs a program with the words of its command line. */
  async run(words: string[], files: Files = {}, input = ""): Promise<Run> {
    await this.ready;
    const request: Request = { id: this.next++, words, files, input };
    return new Promise((resolve, reject) => {
      this.waiting.set(request.id, { resolve, reject });
      this.worker.postMessage(request);
    });
  }

  /** The messages of the compiler on a file. */
  async check(file: string, files: Files = {}): Promise<Message[]> {
    return (await this.checked(file, files)).messages;
  }

  /** BMv2 JSON and P4Info, or the messages that say why not. */
  async compile(file: string, files: Files = {}): Promise<Compiled> {
    const { arch, messages } = await this.checked(file, files);
    const words = ["p4c", file, "--arch", arch, "-o", "out.json", "--p4runtime-files", "out.txtpb"];
    const run = await this.run(words, files);
    return { ok: run.code === 0, json: run.files["out.json"], p4info: run.files["out.txtpb"], messages };
  }

  private checked(file: string, files: Files): Promise<{ arch: string; messages: Message[] }> {
    return this.json(["check"], { file }, files);
  }

  /** One request of the Language Server Protocol. */
  async ask(method: string, params: unknown, files: Files = {}): Promise<unknown> {
    return (await this.json<{ result: unknown }>(["ask"], { method, params }, files)).result;
  }

  /** The experiment of `p4sched run inversions --stepped`: counts by scheme. */
  async inversions(settings: Settings, files: Files = {}): Promise<Record<string, Outcome>> {
    const words = ["stepped", "--with", settings.with, "--schemes", settings.schemes.join(",")];
    const further = {
      ranks: settings.ranks,
      packets: settings.packets,
      seed: settings.seed,
      window: settings.window,
      queues: settings.queues,
      "queue-size": settings.queueSize,
    };
    for (const [name, value] of Object.entries(further)) {
      if (value !== undefined) words.push(`--${name}`, String(value));
    }
    return JSON.parse((await this.succeed(words, files)).output).schemes;
  }

  /** A network in virtual time. `programs`: the P4 programs decide; otherwise the models. */
  async simulate(scenario: unknown, programs: boolean, files: Files = {}): Promise<{ summary: any; flows: string }> {
    const words = ["simulate", "scenario.json", "--output", "out", "--with", programs ? "p4" : "model"];
    const run = await this.succeed(words, { ...files, "scenario.json": JSON.stringify(scenario) });
    return { summary: JSON.parse(run.files["out/summary.json"] ?? ""), flows: run.files["out/flows.csv"] ?? "" };
  }

  /** Packets one by one through a program. */
  async steps(request: StepsRequest, files: Files = {}): Promise<Steps> {
    const line = `${JSON.stringify({ ...request, steps: true })}\n`;
    const answer = JSON.parse((await this.succeed(["decisions"], files, line)).output);
    if (answer.error) throw new Error(answer.error);
    const { steps, ...rest } = answer;
    const packets = steps.map(({ registers, way }: { registers: Step["registers"]; way: RawEvent[] }, number: number) => ({
      decision: rest.program[number],
      lengths: rest.lengths[number],
      registers,
      way: wayOf(way),
    }));
    return { ...rest, packets };
  }

  private async json<T>(words: string[], input: unknown, files: Files): Promise<T> {
    return JSON.parse((await this.succeed(words, files, JSON.stringify(input))).output);
  }

  private async succeed(words: string[], files: Files, input = ""): Promise<Run> {
    const run = await this.run(words, files, input);
    if (run.code !== 0) throw new Error(run.errors.trim() || `${words[0]} ended with code ${run.code}`);
    return run;
  }

  private start(): Promise<void> {
    const worker = new Worker(this.script, { type: "module" });
    this.worker = worker;
    const ready = new Promise<void>((resolve, reject) => {
      this.giveUp = reject;
      worker.onerror = (event) => reject(new Error(event.message || `${this.script} does not load`));
      worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        if ("files" in data) {
          this.files = data.files;
          resolve();
        } else if ("run" in data) this.take(data.id)?.resolve(data.run);
        else if (data.id !== undefined) this.take(data.id)?.reject(new Error(data.failed));
        else reject(new Error(data.failed));
      };
    });
    // A page that does not wait for `ready` gets the same error from each call.
    ready.catch(() => {});
    return ready;
  }

  private take(id: number): Waiting | undefined {
    const found = this.waiting.get(id);
    this.waiting.delete(id);
    return found;
  }
}
