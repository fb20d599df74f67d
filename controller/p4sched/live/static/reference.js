// Lines that rates are compared with: fair share and edges of bands. The rates choose the axis; a line far above them is named at the
// border. Names stand beside the lines, where nothing strikes them through.
import { colour } from "./theme.js";

const NEAR = 2;
const HEADROOM = 1.08;
const KEPT = 1.4;
const LEAST = 0.001;
const LINE_PX = 12;
const FONT_PX = 11;
/** Room of a chart for the names: top, right, bottom, left. */
export const PADDING = [18, 66, 0, 0];

/** The end of an axis: the largest rate, and lines near it. While nobody sends, all lines. `before`: the end so far, which stays
 * unless it is too low or much too high. */
export function reach(largest, lines, before) {
  const heights = lines.map((line) => line.height);
  const near = largest > 0 ? heights.filter((height) => height <= NEAR * largest) : heights;
  const wanted = Math.max(LEAST, largest, ...near) * HEADROOM;
  return before >= wanted && before <= KEPT * wanted ? before : wanted;
}

/** Names of the lines at the right of the chart, and above it those of lines beyond. */
export function drawNames(plot, lines) {
  const { ctx, bbox } = plot;
  const top = plot.scales.y.max;
  const shown = lines.filter((line) => line.height <= top);
  const beyond = lines.filter((line) => line.height > top);
  ctx.save();
  ctx.font = `${FONT_PX * devicePixelRatio}px system-ui`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const { line, y } of apart(plot, shown)) {
    ctx.fillStyle = line.stroke;
    ctx.fillText(line.label, bbox.left + bbox.width + 5 * devicePixelRatio, y);
  }
  if (beyond.length) {
    ctx.fillStyle = colour("soft");
    ctx.textAlign = "right";
    ctx.fillText(above(beyond), bbox.left + bbox.width, bbox.top - (PADDING[0] / 2) * devicePixelRatio);
  }
  ctx.restore();
}

/** Heights of the names: those of their lines, but far enough from each other to be read. */
function apart(plot, lines) {
  const least = LINE_PX * devicePixelRatio;
  const { top, height } = plot.bbox;
  const names = lines.map((line) => ({ line, y: plot.valToPos(line.height, "y", true) })).sort((a, b) => a.y - b.y);
  let low = top + least / 2;
  for (const name of names) {
    name.y = Math.max(name.y, low);
    low = name.y + least;
  }
  let high = top + height - least / 2;
  for (const name of [...names].reverse()) {
    name.y = Math.min(name.y, high);
    high = name.y - least;
  }
  return names;
}

function above(lines) {
  return `↑ ${lines.map((line) => `${line.label} ${+line.height.toPrecision(3)}`).join(", ")}`;
}
