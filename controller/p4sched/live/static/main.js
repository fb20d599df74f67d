// The page: who tells whom. Messages come from a server or a recording, go into the store, and charts show what it holds.
import { connect } from "./connection.js";
import { Charts } from "./charts.js";
import { Decisions } from "./decisions.js";
import { Knobs } from "./knobs.js";
import { Network } from "./network.js";
import { Player } from "./player.js";
import { Store } from "./store.js";
import { saveCsv, savePng } from "./export.js";
import { chosenTheme, setTheme } from "./theme.js";

const element = (id) => document.getElementById(id);
const store = new Store();
const view = {
  paused: false,
  seconds: 30,
  // a zoomed range of seconds; null: the page follows the newest frame
  range: null,
  switch: null,
  port: null,
  users: null,
};
const charts = new Charts(element("charts"), store, view, openDecision);
const network = new Network(element("network"), store, view, choose);
const decisions = new Decisions(element("side"), store, view, element("dialog"));
let tell = () => {};
const knobs = new Knobs(element("side"), store, view, (command) => tell(command));
let stale = true;

function choose(name, port) {
  view.switch = name;
  view.port = port;
  view.users = null;
  charts.build();
  knobs.build();
  decisions.refresh();
  stale = true;
}

function openDecision(mark) {
  decisions.open(mark);
}

/** The port whose queues are shown at first: the slowest shaped one, where packets wait. */
function firstPort() {
  for (const [name, each] of Object.entries(store.scene.switches)) {
    const busy = each.ports.filter((port) => port.busy);
    if (busy.length) {
      const shaped = busy.filter((port) => port.rate);
      const found = shaped.reduce((slowest, port) => (port.rate < slowest.rate ? port : slowest), shaped[0] ?? busy[0]);
      return [name, found.port];
    }
  }
  return [Object.keys(store.scene.switches)[0] ?? null, null];
}

function take(messages) {
  let scene = false;
  let marks = false;
  let values = false;
  for (const message of messages) {
    store.take(message);
    scene ||= message.kind === "scene";
    marks ||= ["decision", "change", "note"].includes(message.kind);
    values ||= ["parameters", "knobs"].includes(message.kind);
  }
  if (scene) {
    element("title").textContent = store.scene.title;
    document.title = `${store.scene.title} · p4sched`;
    network.build();
    const known = store.scene.switches[view.switch]?.ports.some((port) => port.port === view.port);
    if (known) choose(view.switch, view.port);
    else choose(...firstPort());
  }
  if (marks) decisions.refresh();
  if (values) {
    knobs.build();
    decisions.refresh();
  }
  stale = true;
}

function status(text) {
  element("status").textContent = text;
}

function showPace() {
  element("pace-label").hidden = store.pace === null;
  const select = element("pace");
  if (store.pace !== null && document.activeElement !== select) select.value = String(store.pace);
}

function showHealth() {
  const verdict = element("verdict");
  const health = store.health;
  verdict.hidden = !health;
  if (health) {
    verdict.textContent = health.text;
    verdict.className = health.valid ? "valid" : "invalid";
    verdict.title = (health.doubts ?? []).join("\n");
  }
}

function draw() {
  if (stale && !document.hidden) {
    stale = false;
    if (!view.paused) {
      charts.draw();
      network.draw();
    }
    const time = store.last === null ? "" : `${store.last.toFixed(1)} s`;
    status([store.ended ? "ended" : store.connection, time, view.paused ? "paused" : ""].filter(Boolean).join(" · "));
    showHealth();
    showPace();
  }
  requestAnimationFrame(draw);
}

function pause(paused) {
  view.paused = paused;
  element("pause").setAttribute("aria-pressed", String(paused));
  element("pause").textContent = paused ? "Continue" : "Pause";
  if (!paused) charts.catchUp();
  stale = true;
}

function follow() {
  view.range = null;
  pause(false);
}

function stretch(factor) {
  const options = [...element("window").options].map((option) => Number(option.value));
  const place = options.indexOf(view.seconds) + (factor > 1 ? 1 : -1);
  if (place >= 0 && place < options.length) {
    view.seconds = options[place];
    element("window").value = String(view.seconds);
    view.range = null;
    stale = true;
  }
}

function shift(part) {
  const [from, to] = charts.range();
  const by = Math.max(-from, (to - from) * part);
  view.range = [from + by, to + by];
  charts.draw();
}

function nextPort() {
  const all = Object.entries(store.scene?.switches ?? {}).flatMap(([name, each]) => each.ports.map((port) => [name, port.port]));
  const place = all.findIndex(([name, port]) => name === view.switch && port === view.port);
  if (all.length) choose(...all[(place + 1) % all.length]);
}

function dark(on, remember = true) {
  setTheme(on ? "dark" : "light", remember);
  element("theme").textContent = on ? "Light" : "Dark";
  charts.build();
  stale = true;
}

const KEYS = {
  " ": ["pause or go on", () => pause(!view.paused)],
  Home: ["follow the newest", follow],
  "+": ["shorter window", () => stretch(0.5)],
  "-": ["longer window", () => stretch(2)],
  ArrowLeft: ["back in time", () => shift(-0.25)],
  ArrowRight: ["forward in time", () => shift(0.25)],
  n: ["next port", nextPort],
  p: ["save the charts as PNG", () => savePng(store, charts)],
  c: ["save the numbers as CSV", () => saveCsv(store, charts)],
  d: ["dark or light", () => dark(document.documentElement.dataset.theme !== "dark")],
  "?": ["these keys", showKeys],
};

function showKeys() {
  const rows = Object.entries(KEYS).map(([key, [what]]) => `<tr><th>${key === " " ? "Space" : key}</th><td>${what}</td></tr>`);
  const more = "<p>Drag over a chart to zoom in; a double click follows the newest again. A triangle on a chart is a decision of the "
    + "controller: click it to see the counters behind it.</p>";
  decisions.show("Keys", `<table>${rows.join("")}</table>${more}`);
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, dialog");
  const pressing = event.key === " " && event.target.closest("button, [role=button]");
  if (typing || pressing || event.ctrlKey || event.altKey || event.metaKey) return;
  const key = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (key) {
    event.preventDefault();
    key[1]();
  }
});
element("pause").onclick = () => pause(!view.paused);
element("live").onclick = follow;
element("window").onchange = (event) => {
  view.seconds = Number(event.target.value);
  view.range = null;
  stale = true;
};
element("pace").onchange = (event) => tell({ do: "pace", value: Number(event.target.value) });
element("png").onclick = () => savePng(store, charts);
element("csv").onclick = () => saveCsv(store, charts);
element("theme").onclick = () => dark(document.documentElement.dataset.theme !== "dark");
element("help").onclick = showKeys;
window.addEventListener("resize", () => {
  network.build();
  stale = true;
});

dark(chosenTheme() === "dark", false);
const read = async (name) => (await fetch(name)).json();
// a folder of files holds the recording itself (p4sched.live.site)
const recording = globalThis.recording ?? ((await read("config.json")).mode === "replay" ? await read("replay.json") : null);
if (recording !== null) {
  const player = new Player(element("player"), store, take, () => charts.build());
  player.start(recording.runs);
} else {
  tell = connect(take, (text) => {
    store.connection = text;
    stale = true;
  });
}
requestAnimationFrame(draw);
