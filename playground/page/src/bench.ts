// Runs experiments, one at a time, and ends those that last too long.
import { type Laboratory, Stopped } from "../worker/client.js";
import type { Scheme } from "./catalogue.js";
import { button, make, sentence } from "./page.js";
import type { Project, Subject } from "./project.js";

const LONGEST_S = 60;

/** What all panels need. */
export interface Context {
  project: Project;
  schemes: Map<string, Scheme>;
  laboratory: Laboratory;
  /** Opens a file at a line (from 1) and marks the line. */
  showLine(file: string, line: number): void;
}

/** A tab with an experiment. */
export interface Panel {
  key: string;
  title: string;
  home: HTMLElement;
  /** The program changed and compiles: measure it again, if the panel is open. */
  refresh(): void;
}

/** Why the experiments do not run what is edited; empty if they do. */
export function whyNotRun({ target }: Subject): string {
  if (target === "v1model") return "";
  return `This ${target === "tna" ? "program is for a Tofino" : "is a controller in Python"}. Its check is on the tab Lab.`;
}

/** The line with Run, Stop and the state of a run, and the place of its results. */
export class Bench {
  readonly bar: HTMLElement;
  readonly results = make("div", { class: "figures" });
  private readonly state = make("span", { role: "status", class: "faint" });
  private readonly stopButton: HTMLButtonElement;
  private readonly runButton: HTMLButtonElement;
  private running = false;
  private again = false;

  constructor(
    private readonly context: Context,
    private readonly measure: () => Promise<void>,
    name = "Run",
  ) {
    this.runButton = button(name, () => void this.run(), { class: "main" });
    this.stopButton = button("Stop", () => this.context.laboratory.stop(), { disabled: true });
    this.bar = make("div", { class: "row" }, this.runButton, this.stopButton, this.state);
  }

  /** Measures now, or once more after the run that lasts. */
  async run(): Promise<void> {
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    do {
      this.again = false;
      await this.once();
    } while (this.again);
    this.running = false;
  }

  private async once(): Promise<void> {
    this.stopButton.disabled = false;
    this.state.textContent = "running ...";
    const began = performance.now();
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      this.context.laboratory.stop();
    }, LONGEST_S * 1000);
    try {
      await this.measure();
      this.state.textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`;
    } catch (error) {
      // who presses Stop wants no further run; after an error or the limit, a program that changed meanwhile is measured
      if (error instanceof Stopped && !late) this.again = false;
      const stopped = late ? `Stopped after ${LONGEST_S} s. Take fewer packets or a shorter run.` : "Stopped.";
      this.state.textContent = error instanceof Stopped ? stopped : sentence(error);
    } finally {
      clearTimeout(limit);
      this.stopButton.disabled = true;
    }
  }
}
