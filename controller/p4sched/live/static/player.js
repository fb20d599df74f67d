// Plays the recording of a finished run, at any speed.
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 50];

/** `take` gets messages that are due, `jumped` is called after a jump. `prefix`: of the names of its elements. */
export class Player {
  constructor(home, store, take, jumped, prefix = "") {
    Object.assign(this, { home, store, take, jumped, prefix });
    this.time = 0;
    this.speed = 1;
    this.playing = false;
    this.next = 0;
  }

  /** Plays runs, the first one first. Without `playing` it shows the end of each, until somebody presses Play. */
  start(runs, playing = true) {
    this.runs = runs;
    this.atOnce = playing;
    this.build();
    this.choose(0);
  }

  build() {
    this.home.hidden = false;
    this.home.replaceChildren();
    const add = (name, more) => Object.assign(this.home.appendChild(document.createElement(name)), more);
    if (this.runs.length > 1) {
      const which = add("select", { id: `${this.prefix}run`, ariaLabel: "Run", onchange: () => this.choose(Number(which.value)) });
      this.runs.forEach((run, place) => which.add(new Option(run.title, place)));
    }
    this.button = add("button", { id: `${this.prefix}play`, onclick: () => this.play(!this.playing) });
    this.slider = add("input", { id: `${this.prefix}time`, type: "range", step: 0.05, ariaLabel: "Time", oninput: () => this.jump(Number(this.slider.value)) });
    const speed = add("select", { id: `${this.prefix}speed`, ariaLabel: "Speed", onchange: () => (this.speed = Number(speed.value)) });
    for (const factor of SPEEDS) speed.add(new Option(`${factor} x`, factor, false, factor === this.speed));
    this.play(this.atOnce);
  }

  play(on) {
    if (on && this.time >= this.end) this.jump(this.begin);
    this.playing = on;
    this.button.textContent = on ? "Stop" : "Play";
    cancelAnimationFrame(this.step);
    if (on) this.go(performance.now());
  }

  /** Plays on from the time of the last step, `before`. */
  go(before) {
    this.step = requestAnimationFrame((now) => {
      this.to(Math.min(this.end, this.time + ((now - before) / 1000) * this.speed));
      if (this.playing) this.go(now);
    });
  }

  choose(number) {
    this.messages = this.runs[number].messages;
    const times = this.messages.filter((message) => message.kind === "frame").map((message) => message.t);
    [this.begin, this.end] = [times[0] ?? 0, times[times.length - 1] ?? 0];
    Object.assign(this.slider, { min: this.begin, max: this.end });
    this.jump(this.atOnce ? this.begin : this.end);
  }

  /** Goes on to a later time. */
  to(time) {
    this.time = time;
    const due = [];
    while (this.next < this.messages.length && (this.messages[this.next].t ?? 0) <= time) due.push(this.messages[this.next++]);
    if (due.length) this.take(due);
    this.slider.value = time;
    if (time >= this.end) this.play(false);
  }

  /** Goes to any time: all up to then is taken again. */
  jump(time) {
    this.next = 0;
    this.store.clear();
    this.to(time);
    this.jumped();
  }
}
