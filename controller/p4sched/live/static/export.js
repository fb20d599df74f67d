// What the charts show as files: one PNG of all of them, one CSV of all their numbers.
function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function named(store, charts, end) {
  const word = `${store.scene?.title ?? "p4sched"}-${charts.view.switch}-${charts.view.port}`.replace(/[^A-Za-z0-9_.-]+/g, "_");
  return `${word}.${end}`;
}

const LINE_PX = 18;
const GAP_PX = 16;
const SWATCH_PX = 22;
const MARK = "decision of the controller";

/** What is in a chart, as below it on the page: each series with its line, and the triangle of decisions. */
function legendOf(panel) {
  if (!panel) return [];
  return [...panel.series.map(({ label, stroke, width, dash }) => ({ label, stroke, width, dash })), ...(panel.marks ? [{ label: MARK }] : [])];
}

/** The legend in lines that are no wider than the chart. */
function linesOf(ctx, legend, width) {
  const lines = [[]];
  let x = 0;
  for (const entry of legend) {
    const wide = SWATCH_PX + ctx.measureText(entry.label).width + GAP_PX;
    if (x && x + wide > width) {
      lines.push([]);
      x = 0;
    }
    lines[lines.length - 1].push({ ...entry, x });
    x += wide;
  }
  return legend.length ? lines : [];
}

function drawEntry(ctx, style, { label, stroke, width, dash, x }, left, y) {
  ctx.save();
  if (label === MARK) {
    ctx.fillStyle = style("--accent");
    ctx.beginPath();
    ctx.moveTo(left + x + 5, y - 4);
    ctx.lineTo(left + x + 15, y - 4);
    ctx.lineTo(left + x + 10, y + 4);
    ctx.fill();
  } else {
    Object.assign(ctx, { strokeStyle: stroke, lineWidth: width ?? 1 });
    ctx.setLineDash(dash ?? []);
    ctx.beginPath();
    ctx.moveTo(left + x, y);
    ctx.lineTo(left + x + SWATCH_PX - 6, y);
    ctx.stroke();
  }
  ctx.restore();
  ctx.fillStyle = style("--ink");
  ctx.fillText(label, left + x + SWATCH_PX, y);
}

/** The charts as they stand on the page, in rows. */
function rowsOf(ctx, charts) {
  const rows = [];
  for (const { figure, plot, panel } of charts.shown) {
    const { width, height } = plot.ctx.canvas;
    const chart = {
      title: figure.querySelector("h2").textContent,
      unit: figure.querySelector(".unit").textContent,
      canvas: plot.ctx.canvas,
      width: width / devicePixelRatio,
      height: height / devicePixelRatio,
    };
    chart.legend = linesOf(ctx, legendOf(panel), chart.width);
    chart.whole = chart.height + LINE_PX * (1 + chart.legend.length) + GAP_PX;
    const last = rows[rows.length - 1];
    if (last && last.top === figure.offsetTop) last.charts.push(chart);
    else rows.push({ top: figure.offsetTop, charts: [chart] });
  }
  return rows;
}

function drawChart(ctx, style, { title, unit, canvas, width, height, legend }, left, top) {
  ctx.fillStyle = style("--ink");
  ctx.font = "600 13px system-ui";
  ctx.fillText(title, left, top + LINE_PX / 2);
  ctx.font = "12px system-ui";
  ctx.fillStyle = style("--soft");
  ctx.textAlign = "right";
  ctx.fillText(unit, left + width, top + LINE_PX / 2);
  ctx.textAlign = "left";
  ctx.drawImage(canvas, left, top + LINE_PX, width, height);
  legend.forEach((line, number) => {
    for (const entry of line) drawEntry(ctx, style, entry, left, top + LINE_PX * (number + 1.5) + height);
  });
}

export function savePng(store, charts) {
  const found = getComputedStyle(document.documentElement);
  const style = (name) => found.getPropertyValue(name).trim();
  const sheet = document.createElement("canvas");
  const ctx = sheet.getContext("2d");
  ctx.font = "12px system-ui";
  const rows = rowsOf(ctx, charts);
  const widthOf = (row) => row.charts.reduce((sum, chart) => sum + chart.width + GAP_PX, GAP_PX);
  const heightOf = (row) => Math.max(...row.charts.map((chart) => chart.whole));
  const width = Math.max(...rows.map(widthOf), 320);
  const height = rows.reduce((sum, row) => sum + heightOf(row), LINE_PX + GAP_PX);
  Object.assign(sheet, { width: width * devicePixelRatio, height: height * devicePixelRatio });
  ctx.scale(devicePixelRatio, devicePixelRatio);
  Object.assign(ctx, { textBaseline: "middle", fillStyle: style("--ground") });
  ctx.fillRect(0, 0, width, height);
  ctx.fillStyle = style("--ink");
  ctx.font = "600 14px system-ui";
  ctx.fillText(`${store.scene?.title ?? ""}, port ${charts.view.port} of ${charts.view.switch}`, GAP_PX, LINE_PX);
  let top = LINE_PX + GAP_PX;
  for (const row of rows) {
    let left = GAP_PX;
    for (const chart of row.charts) {
      drawChart(ctx, style, chart, left, top);
      left += chart.width + GAP_PX;
    }
    top += heightOf(row);
  }
  sheet.toBlob((blob) => save(named(store, charts, "png"), blob));
}

export function saveCsv(store, charts) {
  const [from, to] = charts.range();
  const shown = charts.shown.filter(({ panel }) => panel).map(({ panel, data }) => ({ panel, data: data() }));
  const lines = [["time_s", ...shown.flatMap(({ panel }) => panel.series.map((series) => `${panel.id}: ${series.label} (${panel.unit})`))]];
  const times = shown[0]?.data[0] ?? [];
  times.forEach((time, place) => {
    if (time >= from && time <= to) lines.push([time, ...shown.flatMap(({ data }) => data.slice(1).map((column) => column[place] ?? ""))]);
  });
  const quoted = (value) => (/[",]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : value);
  save(named(store, charts, "csv"), new Blob([lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n"], { type: "text/csv" }));
}
