// The tab Lab: the text of a lab, its hints, the check with its marks, and the file to hand in.
import { marked } from "marked";
import type { Context, Panel } from "./bench.js";
import type { LabAnswer, LabRequest, LabResult } from "./lab_worker.js";
import { button, make } from "./page.js";

const KEY = "p4sched-playground-labs";
const LINK = /\[([^\]]+)\]\((?!https?:)[^)]*\)/g;

/** What this browser keeps of a lab. */
interface Progress {
  hints: number;
  best: number;
}

/** The tab. */
export function labs(context: Context): Panel {
  const tab = new Labs(context);
  return { key: "lab", title: "Lab", home: tab.home, refresh: () => tab.show() };
}

class Labs {
  readonly home = make("div");
  private shown: string | undefined = "nothing yet";
  private worker: Worker | null = null;
  private readonly state = make("span", { role: "status", class: "faint" });
  private readonly result = make("div", { class: "figures" });
  private readonly hints = make("div");
  private readonly progress = make("p", { class: "faint" });
  private readonly checkButton = button("Check my work", () => this.check(), { class: "main" });
  private readonly stopButton = button("Stop", () => this.stop("Stopped."), { disabled: true });

  constructor(private readonly context: Context) {}

  /** Shows the lab of the chosen program, or the list of labs. */
  show(): void {
    const { lab } = this.context.project.subject;
    if (lab === this.shown) return;
    this.shown = lab;
    if (lab) this.build(lab);
    else this.list();
  }

  private list(): void {
    const { project } = this.context;
    const all = project.subjects.filter((subject) => subject.lab);
    this.home.replaceChildren(make("p", {}, "In a lab you write a part of a scheduler. The check names the first packet that your program decides differently. Choose one:"),
      make("ul", { class: "list tall" }, ...all.map(({ key, title, lab }) => make("li", {}, button(`${title}${points(lab ?? "")}`, () => project.choose(key))))));
  }

  private build(lab: string): void {
    this.stop("");
    const { originals } = this.context.project;
    this.result.replaceChildren();
    const text = rendered(originals[`labs/${lab}/README.md`] ?? "");
    const tcp = this.context.project.subject.target === "python" ? "The run with TCP needs the command line." : "The run with TCP is on the tab TCP.";
    const here = `You need no commands here: edit the file, and press Check my work. ${tcp}`;
    this.home.replaceChildren(
      make("div", { class: "row" }, this.checkButton, this.stopButton, button("Next hint", () => this.nextHint(lab)), button("Download to hand in", () => this.download()), this.state),
      this.progress, this.result, this.hints, make("p", {}, here), text);
    this.showHints(lab);
    this.showProgress(lab);
  }

  private nextHint(lab: string): void {
    const kept = progressOf(lab);
    keep(lab, { ...kept, hints: Math.min(kept.hints + 1, hintsOf(this.context, lab).length) });
    this.showHints(lab);
  }

  private showHints(lab: string): void {
    const { hints } = progressOf(lab);
    const all = hintsOf(this.context, lab);
    this.hints.replaceChildren(...all.slice(0, hints).map((hint) => {
      const [title = "", ...text] = hint.split("\n");
      return make("details", { open: true }, make("summary", {}, `Hint. ${title}`), rendered(text.join("\n")));
    }));
  }

  private showProgress(lab: string): void {
    const { best } = progressOf(lab);
    this.progress.textContent = best ? `The best check of this lab in this browser: ${best} marks.` : "";
  }

  private check(): void {
    const { project } = this.context;
    const { lab, places } = project.subject;
    if (!lab) return;
    this.worker ??= this.start();
    this.checkButton.disabled = true;
    this.stopButton.disabled = false;
    const files = Object.fromEntries(Object.keys(places).map((file) => [nameOf(file), project.text(file)]));
    const request: LabRequest = { lab, files };
    this.worker.onmessage = ({ data }: MessageEvent<LabAnswer>) => {
      if ("state" in data) this.state.textContent = data.state;
      else if ("failed" in data) this.stop(data.failed);
      else this.showResult(lab, data.result);
    };
    this.worker.postMessage(request);
  }

  private start(): Worker {
    this.state.textContent = "loading ...";
    const worker = new Worker("lab_worker.js", { type: "module" });
    worker.onerror = (event) => this.stop(event.message || "The check does not load.");
    return worker;
  }

  private stop(why: string): void {
    if (this.checkButton.disabled || why) {
      this.worker?.terminate();
      this.worker = null;
    }
    this.state.textContent = why;
    this.checkButton.disabled = false;
    this.stopButton.disabled = true;
  }

  private showResult(lab: string, { marks, score, maximum, remark }: LabResult): void {
    this.checkButton.disabled = false;
    this.stopButton.disabled = true;
    this.state.textContent = `${score} of ${maximum} marks`;
    keep(lab, { ...progressOf(lab), best: Math.max(progressOf(lab).best, score) });
    this.showProgress(lab);
    this.result.replaceChildren(...(remark ? [make("p", { class: "wrong" }, remark)] : []),
      ...marks.map(({ task, score: own, maximum: most, says }) => make("details", { open: own < most, class: own < most ? "" : "done" },
        make("summary", {}, `${task}: ${own} of ${most}`), ...(says.length ? [make("pre", { tabindex: "0" }, says.join("\n"))] : []))));
  }

  /** The student's file, which `p4sched lab grade` takes as it is. */
  private download(): void {
    const { project } = this.context;
    for (const file of Object.keys(project.subject.places)) {
      const url = URL.createObjectURL(new Blob([project.text(file)], { type: "text/plain" }));
      const link = make("a", { href: url, download: nameOf(file) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    }
    this.state.textContent = "Hand this file in: 'p4sched lab grade' takes it.";
  }
}

/** A text of the laboratory. Links to other files of it become words. */
function rendered(text: string): HTMLElement {
  const home = make("div", { class: "text" });
  home.innerHTML = marked.parse(text.replace(LINK, "$1").replace(/^# .*\n/, ""), { async: false }).replaceAll("<th></th>", "<td></td>");
  for (const block of home.querySelectorAll("pre")) block.tabIndex = 0;
  return home;
}

function hintsOf({ project }: Context, lab: string): string[] {
  return `\n${project.originals[`labs/${lab}/hints.md`] ?? ""}`.split("\n## ").slice(1);
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1);
}

function points(lab: string): string {
  const { best } = progressOf(lab);
  return best ? ` (${best} marks)` : "";
}

function progressOf(lab: string): Progress {
  try {
    const all = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, Progress>;
    const { hints, best } = all[lab] ?? { hints: 0, best: 0 };
    return { hints: Number(hints) || 0, best: Number(best) || 0 };
  } catch {
    return { hints: 0, best: 0 };
  }
}

function keep(lab: string, progress: Progress): void {
  try {
    const all = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, Progress>;
    localStorage.setItem(KEY, JSON.stringify({ ...all, [lab]: progress }));
  } catch {
    // a browser that keeps nothing still checks
  }
}
