// Tabs that the keyboard moves through (WAI-ARIA Authoring Practices, tabs).
import type { Panel } from "./bench.js";
import { make } from "./page.js";

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** Makes the tabs; returns the function that shows one. */
export function tabs(list: HTMLElement, home: HTMLElement, panels: readonly Panel[], opened: (panel: Panel) => void): (key: string) => void {
  const heads = panels.map(({ key, title, home: panel }) => {
    const head = make("button", { role: "tab", id: `tab-${key}`, "aria-controls": `panel-${key}`, type: "button" }, title);
    panel.id = `panel-${key}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", head.id);
    panel.hidden = true;
    head.addEventListener("click", () => choose(key));
    return head;
  });
  const choose = (key: string): void => {
    panels.forEach((panel, place) => {
      const head = heads[place];
      const chosen = panel.key === key;
      head?.setAttribute("aria-selected", String(chosen));
      if (head) head.tabIndex = chosen ? 0 : -1;
      const wasHidden = panel.home.hidden;
      panel.home.hidden = !chosen;
      if (chosen && wasHidden) opened(panel);
    });
  };
  list.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const at = heads.findIndex((head) => head === document.activeElement);
    if (step === undefined || at < 0) return;
    const next = (at + step + panels.length) % panels.length;
    heads[next]?.focus();
    choose(panels[next]?.key ?? "");
  });
  list.replaceChildren(...heads);
  home.replaceChildren(...panels.map((panel) => panel.home));
  return choose;
}
