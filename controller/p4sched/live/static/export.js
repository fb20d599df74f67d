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

export function savePng(store, charts) {
  const style = getComputedStyle(document.documentElement);
  const ratio = devicePixelRatio;
  const head = 22 * ratio;
  const canvases = charts.shown.map(({ figure, plot }) => [figure.querySelector("h2").textContent, plot.ctx.canvas]);
  const sheet = document.createElement("canvas");
  sheet.width = Math.max(...canvases.map(([, canvas]) => canvas.width), 1);
  sheet.height = canvases.reduce((sum, [, canvas]) => sum + canvas.height + head, head);
  const ctx = sheet.getContext("2d");
  ctx.fillStyle = style.getPropertyValue("--ground");
  ctx.fillRect(0, 0, sheet.width, sheet.height);
  ctx.fillStyle = style.getPropertyValue("--ink");
  ctx.font = `${13 * ratio}px system-ui`;
  ctx.fillText(`${store.scene?.title ?? ""}, port ${charts.view.port} of ${charts.view.switch}`, 8 * ratio, 15 * ratio);
  let y = head;
  for (const [title, canvas] of canvases) {
    ctx.fillText(title, 8 * ratio, y + 15 * ratio);
    ctx.drawImage(canvas, 0, y + head);
    y += head + canvas.height;
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
