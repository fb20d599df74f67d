// Plays the recording of a finished run, at any speed.
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 50];

export class Player {
  constructor(home, store, take, jumped) {
    Object.assign(this, { home, store, take, jumped });
    this.time = 0;
    this.speed = 1;
    this.playing = true;
    this.next = 0;
  }

  start(runs) {
    this.runs = runs;
    this.build();
    this.choose(0);
    let before = performance.now();
    const tick = (now) => {
      if (this.playing) this.to(Math.min(this.end, this.time + ((now - before) / 1000) * this.speed));
      before = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  build() {
    this.home.hidden = false;
    const add = (name, more) => Object.assign(this.home.appendChild(document.createElement(name)), more);
    if (this.runs.length > 1) {
      const which = add("select", { id: "run", ariaLabel: "Run", onchange: () => this.choose(Number(which.value)) });
      this.runs.forEach((run, place) => which.add(new Option(run.title, place)));
    }
    this.button = add("button", { id: "play", onclick: () => this.play(!this.playing) });
    this.slider = add("input", { id: "time", type: "range", step: 0.05, ariaLabel: "Time", oninput: () => this.jump(Number(this.slider.value)) });
    const speed = add("select", { id: "speed", ariaLabel: "Speed", onchange: () => (this.speed = Number(speed.value)) });
    for (const factor of SPEEDS) speed.add(new Option(`${factor} x`, factor, false, factor === 1));
    this.play(true);
  }

  play(on) {
    if (on && this.time >= this.end) this.jump(this.begin);
    this.playing = on;
    this.button.textContent = on ? "Stop" : "Play";
  }

  choose(number) {
    this.messages = this.runs[number].messages;
    const times = this.messages.filter((message) => message.kind === "frame").map((message) => message.t);
    [this.begin, this.end] = [times[0] ?? 0, times[times.length - 1] ?? 0];
    Object.assign(this.slider, { min: this.begin, max: this.end });
    this.jump(this.begin);
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
