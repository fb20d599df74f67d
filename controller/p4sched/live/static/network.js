// The network as a drawing: switches in layers, hosts below them, links as thick as they are loaded. A port is a button.

const SVG = "http://www.w3.org/2000/svg";
const LAYER_PX = 88;
const MARGIN_PX = 30;
const NODE_HALF_HEIGHT = 13;
const PORT_RADIUS = 9;
/** Share of its rate from which on a link is drawn as full. */
const FULL = 0.98;

function make(name, attributes = {}, home = null, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  home?.appendChild(element);
  return element;
}

export class Network {
  constructor(home, store, view, choose) {
    Object.assign(this, { home, store, view, choose });
  }

  build() {
    const { scene } = this.store;
    this.ports = [];
    this.home.replaceChildren();
    // of a log without a topology there is nothing to draw
    this.home.hidden = !scene || Object.values(scene.switches).every((each) => each.ports.length < 2);
    if (this.home.hidden) return;
    const nodes = this.nodes(scene);
    const layers = [...new Set(nodes.map((node) => node.layer))].sort((a, b) => b - a);
    const width = Math.max(320, this.home.clientWidth);
    const height = LAYER_PX * (layers.length - 1) + 2 * MARGIN_PX;
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": "Switches, hosts and links" }, this.home);
    const places = {};
    layers.forEach((layer, row) => {
      const inLayer = nodes.filter((node) => node.layer === layer);
      inLayer.forEach((node, place) => {
        places[node.name] = { x: (width * (place + 0.5)) / inLayer.length, y: MARGIN_PX + row * LAYER_PX, node };
      });
    });
    const links = this.links(scene, nodes);
    const below = make("g", {}, svg);
    const above = make("g", {}, svg);
    for (const link of links) this.drawLink(below, above, link, places);
    for (const { x, y, node } of Object.values(places)) this.drawNode(svg, node, x, y);
    svg.appendChild(above);
    this.addLegend();
    this.mark();
  }

  addLegend() {
    const said = this.home.appendChild(document.createElement("p"));
    said.className = "legend";
    for (const [kind, text] of [["load", "load of a link: the thicker, the more"], ["load full", `more than ${FULL * 100} % of its rate`]]) {
      const sample = make("svg", { viewBox: "0 0 24 10", width: 24, height: 10, "aria-hidden": true }, said);
      make("line", { class: kind, x1: 3, y1: 5, x2: 21, y2: 5, "stroke-width": 6 }, sample);
      said.append(` ${text} `);
    }
    said.append("· Click a port to see its queues.");
  }

  /** Switches and hosts; a switch about which nothing is known has ports only. */
  nodes(scene) {
    const known = scene.topology?.nodes ?? [];
    const names = new Set(known.map((node) => node.name));
    const others = Object.keys(scene.switches).filter((name) => !names.has(name));
    return [...known, ...others.map((name) => ({ name, kind: "switch", layer: 1 })), ...this.strays(scene)];
  }

  /** Ends of ports of which it is not known where they lead. */
  strays(scene) {
    const linked = new Set((scene.topology?.links ?? []).flatMap((link) => link.map((end) => `${end.node}/${end.port}`)));
    return Object.entries(scene.switches).flatMap(([name, each]) => each.ports
      .filter((port) => !linked.has(`${name}/${port.port}`) && port.port < 509)
      .map((port) => ({ name: `${name}/${port.port}`, kind: "end", layer: 0 })));
  }

  links(scene, nodes) {
    const strays = nodes.filter((node) => node.kind === "end").map((node) => {
      const [name, port] = node.name.split("/");
      return [{ node: name, port: Number(port) }, { node: node.name, port: null }];
    });
    return [...(scene.topology?.links ?? []), ...strays];
  }

  drawLink(below, above, ends, places) {
    const [a, b] = ends.map((end) => places[end.node]);
    if (!a || !b) return;
    make("line", { class: "link", x1: a.x, y1: a.y, x2: b.x, y2: b.y }, below);
    [[ends[0], a, b], [ends[1], b, a]].forEach(([end, from, to]) => {
      if (end.port === null || !this.store.scene.switches[end.node]) return;
      const { x, y } = this.edgeOf(from, to);
      const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
      const load = make("line", { class: "load", x1: x, y1: y, x2: middle.x, y2: middle.y, "stroke-width": 0 }, below);
      this.ports.push({ name: end.node, port: end.port, load, button: this.drawPort(above, end, x, y) });
    });
  }

  /** Where the line between two nodes leaves the first one: ports lie around it. */
  edgeOf(from, to) {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const part = Math.min(
      (this.halfWidth(from.node) + PORT_RADIUS) / Math.max(1, Math.abs(dx)),
      (NODE_HALF_HEIGHT + PORT_RADIUS) / Math.max(1, Math.abs(dy)),
      0.45,
    );
    return { x: from.x + dx * part, y: from.y + dy * part };
  }

  label(node) {
    const each = this.store.scene.switches[node.name];
    return each ? `${node.name} · ${each.label}` : node.name;
  }

  halfWidth(node) {
    return node.kind === "host" ? 22 : Math.max(40, this.label(node).length * 3.6 + 8);
  }

  drawPort(home, end, x, y) {
    const port = this.store.scene.switches[end.node].ports.find((found) => found.port === end.port);
    const button = make("g", { class: `port${port?.busy ? " busy" : ""}`, role: "button", tabindex: 0, "aria-label": `port ${end.port} of ${end.node}` }, home);
    make("circle", { cx: x, cy: y, r: PORT_RADIUS }, button);
    make("text", { x, y }, button, String(end.port));
    make("title", {}, button, `port ${end.port} of ${end.node}`);
    button.addEventListener("click", () => this.choose(end.node, end.port));
    button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.choose(end.node, end.port);
      }
    });
    return button;
  }

  drawNode(home, node, x, y) {
    if (node.kind === "end") return;
    const group = make("g", { class: "node" }, home);
    const half = this.halfWidth(node);
    const label = this.label(node);
    make("rect", { x: x - half, y: y - NODE_HALF_HEIGHT, width: 2 * half, height: 2 * NODE_HALF_HEIGHT, rx: node.kind === "host" ? 13 : 4 }, group);
    make("text", { x, y, "text-anchor": "middle", "dominant-baseline": "central" }, group, label);
  }

  mark() {
    for (const { name, port, button } of this.ports) {
      const chosen = name === this.view.switch && port === this.view.port;
      button.classList.toggle("chosen", chosen);
      button.setAttribute("aria-pressed", String(chosen));
    }
  }

  draw() {
    const { frames, scene } = this.store;
    if (!frames.length || !this.ports) return;
    const newest = frames[frames.length - 1].s;
    const fastest = Math.max(...Object.values(scene.switches).flatMap((each) => each.ports.map((port) => port.rate)), 1);
    for (const { name, port, load } of this.ports) {
      const rate = scene.switches[name].ports.find((found) => found.port === port)?.rate || fastest;
      const share = Math.min(1, ((newest[name]?.tx[port] ?? 0) * 1e3) / rate);
      load.setAttribute("stroke-width", String(share * 8));
      load.classList.toggle("full", share > FULL);
    }
    this.mark();
  }
}
