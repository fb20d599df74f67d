// The page: puts the editor, the experiments and the links together.
import "./uplot.js";
import { setTheme, chosenTheme } from "../../../controller/p4sched/live/static/theme.js";
import { Laboratory } from "../worker/client.js";
import type { Message, Position } from "../worker/messages.js";
import type { Context, Panel } from "./bench.js";
import { schemesOf, subjectsOf } from "./catalogue.js";
import { Editor, type Questions } from "./editor.js";
import { inversions } from "./inversions.js";
import { networks } from "./networks.js";
import { labs } from "./labs.js";
import { packets } from "./packets.js";
import { button, element, make, notice, sentence, show } from "./page.js";
import { aside, keep, kept, onOtherTab, Project, putAside, takeAside } from "./project.js";
import { fragmentOf, projectOf } from "./share.js";
import { tabs } from "./tabs.js";
import { endTour, isFirstVisit, tour } from "./tour.js";

const PAUSE_MS = 250;
const MOST_CHARACTERS = 1_000_000;

class Page {
  private readonly editor: Editor;
  private readonly open: Panel[];
  private readonly context: Context;
  /** What each panel has measured. */
  private readonly measured = new Map<string, string>();
  private readonly showTab: (key: string) => void;
  private timer = 0;
  private round = 0;
  private messages: readonly Message[] = [];

  constructor(
    private readonly typing: Laboratory,
    running: Laboratory,
    private readonly project: Project,
    schemes: Context["schemes"],
  ) {
    this.editor = new Editor(element("editor"), this.questions(), {
      changed: (file, text) => this.write(file, text),
      jump: (file, position) => this.jump(file, position),
    });
    const context: Context = { project, schemes, laboratory: running, showLine: (file, line) => this.jump(file, { line: line - 1, character: 0 }, true) };
    this.open = [inversions(context), packets(context), ...networks(context), labs(context)];
    this.context = context;
    this.showTab = tabs(element("tabs"), element("panels"), this.open, (panel) => this.refresh(panel));
    project.onChange(() => this.changed());
  }

  /** Shows the chosen program, and what is known of it. */
  start(): void {
    this.lists();
    this.showTab(this.firstTab());
    this.changed();
  }

  /** Starts the tour. */
  tour(): void {
    tour({ context: this.context, showTab: this.showTab, focusEditor: (line) => this.editor.go({ line: line - 1, character: 0 }, true) });
  }

  /** The tab after another program is chosen: the same one, unless it does not suit the program. */
  private nextTab(): string {
    const open = this.open.find(({ home }) => !home.hidden)?.key ?? "";
    const { lab, scheme } = this.project.subject;
    return lab || open === "lab" || (scheme === "fdpa" && open === "inversions") ? this.firstTab() : open;
  }

  private firstTab(): string {
    const { lab, scheme } = this.project.subject;
    return lab ? "lab" : scheme === "fdpa" ? "users" : "inversions";
  }

  private lists(): void {
    const { project } = this;
    const programs = element<HTMLSelectElement>("program");
    const group = (label: string, ofLabs: boolean): HTMLElement =>
      make("optgroup", { label }, ...project.subjects.filter(({ lab }) => Boolean(lab) === ofLabs).map(({ key, title }) => make("option", { value: key }, title)));
    programs.replaceChildren(group("Programs", false), group("Labs", true));
    programs.addEventListener("change", () => {
      notice("");
      endTour();
      project.choose(programs.value);
      this.showTab(this.nextTab());
    });
    element("tour").addEventListener("click", () => this.tour());
    const files = element<HTMLSelectElement>("file");
    files.addEventListener("change", () => project.open(files.value));
    element("reset").addEventListener("click", () => this.reset());
    element("share").addEventListener("click", () => void this.share());
  }

  /** After each change: shows it, keeps it, and checks it when the typing pauses. */
  private changed(): void {
    const { project } = this;
    element<HTMLSelectElement>("program").value = project.subject.key;
    element("about").textContent = project.subject.about;
    const files = element<HTMLSelectElement>("file");
    files.replaceChildren(...project.files().map((file) => make("option", { value: file, selected: file === project.file }, file + (file in project.edits ? " (changed)" : ""))));
    this.editor.open(project.file, project.text(project.file));
    element<HTMLButtonElement>("reset").disabled = !project.isChanged();
    this.open.find(({ key }) => key === "lab")?.refresh();
    this.mark();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), PAUSE_MS);
    if (!keep(project.saved())) notice("This browser keeps nothing here: copy a link before you close the page.");
  }

  private async check(): Promise<void> {
    const { project } = this;
    const round = ++this.round;
    if (project.subject.target === "python") {
      this.say("Python: Check my work, on the tab Lab, runs it.", []);
      return this.refreshOpen();
    }
    const overlay = project.overlay();
    const size = Object.values(overlay).reduce((most, text) => Math.max(most, text.length), 0);
    if (size > MOST_CHARACTERS) return this.say(`A file of this program has ${(size / 1e6).toFixed(1)} MB. This page takes at most 1 MB.`, []);
    try {
      const messages = await this.typing.check(project.subject.main, overlay);
      if (round !== this.round) return;
      const errors = messages.filter(({ severity }) => severity === 1).length;
      this.say(errors ? `${errors} ${errors === 1 ? "error" : "errors"}` : "The program compiles.", messages);
      if (!errors) this.refreshOpen();
    } catch (error) {
      if (round === this.round) this.say(sentence(error), []);
    }
  }

  /** Takes a text from the editor. The link in the address no longer tells what is here. */
  private write(file: string, text: string): void {
    if (text === this.project.text(file)) return;
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    notice("");
    this.project.write(file, text);
  }

  private refreshOpen(): void {
    for (const panel of this.open) if (!panel.home.hidden) this.refresh(panel);
  }

  /** Measures a panel again, if its program is another one. */
  private refresh(panel: Panel): void {
    const key = JSON.stringify([this.project.subject.key, this.project.overlay()]);
    if (this.measured.get(panel.key) === key) return;
    this.measured.set(panel.key, key);
    panel.refresh();
  }

  private say(text: string, messages: readonly Message[]): void {
    this.messages = messages;
    const state = element("state");
    state.textContent = text;
    state.classList.toggle("wrong", messages.some(({ severity }) => severity === 1));
    element("messages").replaceChildren(...messages.map(({ file, range, message }) => {
      const own = this.project.ownName(file);
      return make("li", {}, button(`${own}:${range.start.line + 1}: ${message}`, () => this.jump(own, range.start)));
    }));
    this.mark();
  }

  private mark(): void {
    const place = this.project.place(this.project.file);
    this.editor.mark(this.messages.filter(({ file }) => file === place));
  }

  private jump(file: string, position: Position, asTaken = false): void {
    const own = this.project.ownName(file);
    if (own !== this.project.file) this.project.open(own);
    this.editor.go(position, asTaken);
  }

  private reset(): void {
    this.project.reset();
    notice("The first text is back. Undo (Ctrl+Z) in the editor brings yours back.");
  }

  private async share(): Promise<void> {
    try {
      const fragment = await fragmentOf(this.project.saved());
      history.replaceState(null, "", fragment);
      const { href } = location;
      const copied = await navigator.clipboard?.writeText(href).then(() => true, () => false);
      if (copied) notice("The link is copied. It holds your program; no server sees it.");
      else show("Link", make("p", {}, "This link holds your program. Copy it:"), make("textarea", { rows: "6", readonly: true, "aria-label": "Link" }, href));
    } catch (error) {
      notice(sentence(error));
    }
  }

  private questions(): Questions {
    const ask = async (method: string, file: string, position: Position): Promise<unknown> =>
      this.typing.ask(`textDocument/${method}`, { textDocument: { uri: `file:///${this.project.place(file)}` }, position }, this.project.overlay());
    return {
      hover: async (file, position) => ((await ask("hover", file, position)) as { contents: { value: string } } | null)?.contents.value ?? null,
      definition: async (file, position) => {
        const found = (await ask("definition", file, position)) as { uri: string; range: { start: Position } } | null;
        return found && { file: this.project.ownName(found.uri.replace("file:///", "")), position: found.range.start };
      },
      complete: async (file, position) => ((await ask("completion", file, position)) as { label: string; detail?: string }[] | null) ?? [],
    };
  }
}

/** The project of the link, or the one that this browser keeps. Somebody's own work stays when a link is opened. */
async function restore(project: Project): Promise<void> {
  const own = kept();
  if (own) project.restore(own);
  const named = new URLSearchParams(location.search).get("program");
  if (named) project.choose(named);
  try {
    const linked = await projectOf(location.hash);
    if (!linked) return;
    if (own && Object.keys(own.edits).length && JSON.stringify(own) !== JSON.stringify(linked)) putAside(own);
    project.restore(linked);
  } catch (error) {
    notice(sentence(error));
  }
}

/** Offers the work that a link has put aside. */
function offerOwn(project: Project): void {
  if (!aside()) return;
  notice("This is the program of a link. Your own program is kept. ");
  element("notice").append(button("Back to my own", () => {
    history.replaceState(null, "", location.pathname + location.search);
    const own = takeAside();
    if (own) project.restore(own);
    notice("");
  }));
}

function theme(): void {
  const press = element<HTMLButtonElement>("theme");
  const set = (name: string, remember: boolean): void => {
    setTheme(name, remember);
    window.dispatchEvent(new Event("theme"));
    for (const figure of document.querySelectorAll("figure")) figure.dispatchEvent(new Event("theme"));
    press.textContent = name === "dark" ? "Light" : "Dark";
  };
  set(chosenTheme(), false);
  press.addEventListener("click", () => set(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark", true));
}

async function main(): Promise<void> {
  theme();
  if (typeof WebAssembly === "undefined") throw new Error("This browser has no WebAssembly, so the page cannot run programs. What you typed before is kept.");
  const typing = new Laboratory("worker.js");
  const running = new Laboratory("worker.js");
  await typing.ready;
  const schemes = schemesOf(typing.files);
  const project = new Project(typing.files, subjectsOf(typing.files, schemes));
  await restore(project);
  const page = new Page(typing, running, project, schemes);
  page.start();
  offerOwn(project);
  window.addEventListener("hashchange", () => location.reload());
  onOtherTab(() => notice("This page is open in another tab, too. The browser keeps the program that was changed last: copy a link to keep this one."));
  if (isFirstVisit() && !location.hash && !location.search) page.tour();
}

main().catch((error: unknown) => {
  element("state").textContent = "";
  notice(sentence(error));
});
