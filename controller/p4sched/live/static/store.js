// What is known: the scene, the newest frames, parameters in force, decisions.
const MOST_FRAMES = 6000;
const MOST_MARKS = 2000;

export class Store {
  constructor() {
    this.connection = "";
    this.clear();
    this.scene = null;
  }

  clear() {
    this.frames = [];
    /** How many of the oldest frames were left out: a frame keeps its number. */
    this.dropped = 0;
    /** Of each port the parameters that came into force, in the order of time. */
    this.history = {};
    /** Times at which parameters came into force, in the order in which that was told: a decision is told after the fact. */
    this.turns = [];
    this.knobs = {};
    this.marks = [];
    this.health = null;
    this.pace = null;
    this.ended = false;
    this.last = null;
    this.generation = (this.generation ?? 0) + 1;
  }

  take(message) {
    switch (message.kind) {
      case "scene":
        if (!message.same) this.clear();
        this.scene = message;
        break;
      case "frame":
        // after a gap in the connection, the server sends again what is known here
        if (this.last !== null && message.t <= this.last) break;
        this.frames.push(message);
        this.last = message.t;
        if (this.frames.length > MOST_FRAMES * 1.2) {
          const more = this.frames.length - MOST_FRAMES;
          this.frames.splice(0, more);
          this.dropped += more;
          this.forget(this.frames[0].t);
        }
        break;
      case "parameters":
        this.comeIntoForce(message, message.values);
        break;
      case "knobs":
        this.knobs[message.switch] = message;
        break;
      case "pace":
        this.pace = message.value;
        break;
      case "end":
        this.ended = true;
        break;
      case "health":
        this.health = message;
        break;
      case "decision":
      case "change":
      case "note":
        if (!this.marks.some((mark) => mark.kind === message.kind && mark.t === message.t && mark.text === message.text
            && mark.switch === message.switch && mark.port === message.port)) {
          this.marks.push(message);
          if (this.marks.length > MOST_MARKS) this.marks.splice(0, this.marks.length - MOST_MARKS);
          if (message.kind === "decision") this.comeIntoForce(message, message.after, message.before);
        }
        break;
    }
  }

  /** `before`: what held until then, where that is told. */
  comeIntoForce({ switch: name, port, t }, values, before = null) {
    const steps = (this.history[`${name}/${port ?? ""}`] ??= []);
    let place = steps.length;
    while (place && steps[place - 1].t > t) place--;
    steps.splice(place, 0, { t, values });
    if (!place && before) steps.unshift({ t: -Infinity, values: before });
    this.turns.push(t);
  }

  /** Leaves out parameters that no frame needs any more. */
  forget(first) {
    for (const steps of Object.values(this.history)) {
      while (steps.length > 1 && steps[1].t <= first) steps.shift();
    }
  }

  /** The parameters of a port at a time: its own, or those of all ports. */
  parametersAt(name, port, time) {
    const steps = this.history[`${name}/${port}`] ?? this.history[`${name}/`] ?? [];
    let found = steps[0]?.values ?? null;
    for (const step of steps) {
      if (step.t > time) break;
      found = step.values;
    }
    return found;
  }

  decisionsOf(name, port) {
    return this.marks.filter((mark) => mark.kind === "decision" && mark.switch === name && (mark.port === null || mark.port === port));
  }
}
