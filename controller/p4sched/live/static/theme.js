// Light and dark: as the system has it, until somebody chooses.
const KEY = "p4sched-theme";

export function chosenTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  try {
    return localStorage.getItem(KEY) ?? system;
  } catch {
    // a browser that keeps nothing may refuse the question
    return system;
  }
}

export function setTheme(name, remember) {
  document.documentElement.dataset.theme = name;
  if (!remember) return;
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // for this visit only
  }
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const COLOURS = 12;

/** The CSS variable with the colour of the n-th queue or user. Colour-blind readers tell them apart. */
export function variableOf(number) {
  return `c${number % COLOURS}`;
}

export function colourOf(number) {
  return colour(variableOf(number));
}
