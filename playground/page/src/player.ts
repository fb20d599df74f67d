// Buttons that step through packets: play, pause, speed, and a slider.
import { button, choice, make } from "./page.js";

const SPEEDS = [["2000", "slow"], ["900", "medium"], ["300", "fast"]] as const;

/** Steps through places 0 .. count - 1. */
export class Player {
  readonly bar: HTMLElement;
  place = 0;
  private count = 0;
  private pause = 900;
  private timer = 0;
  private readonly slider = make("input", { type: "range", min: "0", "aria-label": "Packet" });
  private readonly playButton = button("Play", () => this.toggle(), { "aria-pressed": "false" });

  constructor(private readonly shown: (place: number) => void) {
    this.slider.addEventListener("input", () => this.go(+this.slider.value));
    this.bar = make("div", { class: "row" },
      button("Back", () => this.go(this.place - 1)), this.playButton, button("Step", () => this.go(this.place + 1)), this.slider,
      choice("Speed", SPEEDS, "900", (value) => this.setPause(+value)));
  }

  /** There are so many packets now. */
  setCount(count: number): void {
    this.count = count;
    this.slider.max = String(Math.max(0, count - 1));
    this.go(this.place);
  }

  go(place: number): void {
    this.place = Math.max(0, Math.min(place, this.count - 1));
    this.slider.value = String(this.place);
    if (this.place >= this.count - 1) this.end();
    this.shown(this.place);
  }

  private toggle(): void {
    if (this.timer) return this.end();
    if (this.place === this.count - 1) this.go(0);
    this.playButton.textContent = "Pause";
    this.playButton.setAttribute("aria-pressed", "true");
    this.timer = window.setInterval(() => this.go(this.place + 1), this.pause);
  }

  private end(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.playButton.textContent = "Play";
    this.playButton.setAttribute("aria-pressed", "false");
  }

  private setPause(pause: number): void {
    this.pause = pause;
    if (!this.timer) return;
    this.end();
    this.toggle();
  }
}
