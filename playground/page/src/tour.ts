// A tour of two minutes. It ends with a rule that the visitor has changed, and a figure that has changed with it.
import type { Context } from "./bench.js";
import { button, element, make, notice } from "./page.js";

/** What the tour may do on the page. */
export interface Guide {
  context: Context;
  showTab(key: string): void;
  focusEditor(line: number): void;
}

interface Stop {
  text: string;
  begin(guide: Guide): void;
}

const KEY = "p4sched-playground-tour";
const RULE = "p4/include/aifo_admission.p4";
const LINE = 17;
const BEFORE = "if (needed <= free) {";
const AFTER = "if (true) {";

const STOPS: readonly Stop[] = [
  {
    text: "A switch has one queue, and more packets come than its link can send. Each packet has a rank: the smaller, the more urgent. Which packets may enter? This program is one answer, AIFO: it refuses a packet if many of the recent packets were more urgent. The longer the queue, the stricter it is.",
    begin: ({ context, showTab }) => {
      context.project.choose("aifo");
      if (context.project.isChanged()) notice("The tour begins with AIFO's first text. Undo (Ctrl+Z) in the editor brings yours back.");
      context.project.reset();
      showTab("inversions");
    },
  },
  {
    text: "The figures on the right show what the program does, beside its model and other schedulers. In the lower one, AIFO drops the large ranks (right), FIFO drops all ranks alike. The dashed line is this program.",
    begin: () => element("results").scrollIntoView({ block: "nearest" }),
  },
  {
    text: "Packet by packet: press Step. You see the queue, what the program remembers, and the line of the program that decided.",
    begin: ({ showTab }) => showTab("packets"),
  },
  {
    text: `Now change the rule. Line ${LINE} compares how urgent the packet is with the room that is left. Replace "needed <= free" by "true", or let the button do it: the program then admits every packet while there is room. Look at the dashed line.`,
    begin: ({ showTab, focusEditor, context }) => {
      showTab("inversions");
      context.project.open(RULE);
      focusEditor(LINE);
    },
  },
  {
    text: "The figure changed with your rule: without the comparison, AIFO is FIFO. Reset takes the change back. Go on with another program, or with a lab: it lets you write the rule yourself and checks it. Copy link gives you a link that holds your change.",
    begin: () => {},
  },
];

/** Starts the tour at its first stop. */
export function tour(guide: Guide): void {
  goTo(guide, 0);
}

/** Ends the tour: the visitor goes on with something else. */
export function endTour(): void {
  element("guide").hidden = true;
}

/** True at the first visit. */
export function isFirstVisit(): boolean {
  try {
    const first = localStorage.getItem(KEY) === null;
    localStorage.setItem(KEY, "seen");
    return first;
  } catch {
    return false;
  }
}

function goTo(guide: Guide, place: number): void {
  const home = element("guide");
  const stop = STOPS[place];
  home.hidden = !stop;
  if (!stop) return element("tour").focus();
  stop.begin(guide);
  const isChange = place === STOPS.length - 2;
  const next = button(place === STOPS.length - 1 ? "Finish" : "Next", () => goTo(guide, place + 1), { class: "main" });
  home.replaceChildren(
    make("p", {}, make("strong", {}, `${place + 1} of ${STOPS.length}. `), stop.text),
    make("div", { class: "row" },
      ...(place > 0 ? [button("Back", () => goTo(guide, place - 1))] : []),
      ...(isChange ? [button("Change it for me", () => change(guide))] : []),
      next, button("End the tour", () => goTo(guide, STOPS.length))));
  next.focus();
}

function change({ context: { project } }: Guide): void {
  project.write(RULE, project.text(RULE).replace(BEFORE, AFTER));
}
