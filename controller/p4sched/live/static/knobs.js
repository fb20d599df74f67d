// Sliders for the parameters that may be turned. While one is held, the controller leaves that parameter as it is.
const LABELS = {
  rate: "Rate of the link", buffer: "Room of the port's queue", room: "Room of the port's queues", RTT: "RTT that queues are sized for", size: "Size of the queue (program)", k: "Headroom k", C: "Target length C", B: "Buffer B",
  S: "Sampling S", T: "Tracking range T", "|W|": "Window |W|", "first band": "First band", "further bands": "Further bands",
  width: "Width of further bands",
};

export class Knobs {
  constructor(side, store, view, tell) {
    Object.assign(this, { store, view, tell });
    this.section = side.appendChild(document.createElement("section"));
    this.section.hidden = true;
  }

  build() {
    const found = this.store.knobs[this.view.switch];
    const knobs = (found?.knobs ?? []).filter((knob) => knob.port === null || knob.port === this.view.port);
    this.section.hidden = !knobs.length;
    if (this.section.contains(document.activeElement) && document.activeElement.type === "range" && this.turning) return;
    const title = document.createElement("h2");
    title.textContent = "Parameters";
    this.section.replaceChildren(title, ...knobs.map((knob) => this.knob(knob)));
  }

  knob(knob) {
    const made = document.createElement("div");
    made.className = `knob${knob.held ? " held" : ""}`;
    made.dataset.knob = knob.name;
    const label = made.appendChild(document.createElement("label"));
    label.textContent = LABELS[knob.name] ?? knob.name;
    label.htmlFor = `knob-${knob.port ?? ""}-${knob.name}`;
    const side = made.appendChild(document.createElement("span"));
    const output = side.appendChild(document.createElement("output"));
    const show = (value) => (output.textContent = `${+Number(value).toPrecision(4)} ${knob.unit}`);
    show(knob.value);
    const slider = made.appendChild(document.createElement("input"));
    Object.assign(slider, { type: "range", id: `knob-${knob.port ?? ""}-${knob.name}`, min: knob.low, max: knob.high, step: knob.step, value: knob.value });
    slider.oninput = () => {
      this.turning = true;
      show(slider.value);
    };
    slider.onchange = () => {
      this.turning = false;
      this.tell({ do: "hold", switch: this.view.switch, port: knob.port, name: knob.name, value: Number(slider.value) });
    };
    if (knob.held) {
      const release = side.appendChild(document.createElement("button"));
      release.textContent = "Release";
      release.onclick = () => this.tell({ do: "release", switch: this.view.switch, port: knob.port, name: knob.name });
    }
    return made;
  }
}
