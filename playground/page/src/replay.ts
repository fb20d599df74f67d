// The live page's charts, and its player, for runs that are complete.
import { Charts } from "../../../controller/p4sched/live/static/charts.js";
import { Player } from "../../../controller/p4sched/live/static/player.js";
import { Store } from "../../../controller/p4sched/live/static/store.js";
import { make } from "./page.js";
import { PORT, type Recorded, SWITCH } from "./recording.js";

/** Charts of the port of a recording. */
export class Panels {
  readonly home = make("div", { class: "figures" });
  readonly store = new Store();
  private readonly view: Record<string, unknown>;
  private readonly charts: Charts;

  /** `panels`: names of the charts; none: all that the recording has. */
  constructor(panels?: string[]) {
    this.view = { switch: SWITCH, port: PORT, users: null, range: null, whole: null, seconds: 0, panels };
    this.charts = new Charts(this.home, this.store, this.view);
    window.addEventListener("theme", () => this.charts.build());
  }

  /** The axis of time shows all of these runs. */
  cover(runs: readonly Recorded[]): void {
    const times = runs.flatMap(({ messages }) => (messages as { t?: number }[]).map(({ t }) => t ?? 0));
    this.view["whole"] = [0, Math.max(1e-9, ...times)];
  }

  /** Takes messages behind those before. */
  take(messages: readonly object[]): void {
    for (const message of messages) this.store.take(message);
  }

  /** Draws what is known. `anew`: with other charts. */
  draw(anew: boolean): void {
    if (anew) this.charts.build();
    else this.charts.draw();
  }
}

/** Runs that play, one at a time. */
export class Replay {
  readonly home: HTMLElement;
  private readonly panels = new Panels(["now", "queues", "drops", "link", "rates"]);
  private readonly player: Player;

  /** `name`: of this place on the page. */
  constructor(name: string) {
    const bar = make("div", { class: "row" });
    this.player = new Player(bar, this.panels.store, (due: object[]) => {
      this.panels.take(due);
      if (this.player.playing) this.panels.draw(false);
    }, () => this.panels.draw(true), `${name}-`);
    this.home = make("section", { class: "figures", hidden: true }, make("h2", {}, "Watch a run"), bar, this.panels.home);
  }

  /** Shows these runs up to a time in s, each at its end. */
  show(runs: readonly Recorded[], untilS: number): void {
    const early = (messages: Recorded["messages"]): object[] => (messages as { t?: number }[]).filter(({ t }) => (t ?? 0) <= untilS);
    const recorded = runs.map(({ title, messages }) => ({ title, messages: early(messages) })).filter(({ messages }) => messages.length);
    this.home.hidden = !recorded.length;
    if (!recorded.length) return;
    this.panels.cover(recorded);
    this.player.start(recorded, false);
  }
}
