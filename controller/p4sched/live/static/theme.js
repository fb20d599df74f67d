// Light and dark: as the system has it, until somebody chooses.
const KEY = "p4sched-theme";

export function chosenTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return localStorage.getItem(KEY) ?? system;
}

export function setTheme(name, remember) {
  if (remember) localStorage.setItem(KEY, name);
  document.documentElement.dataset.theme = name;
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Of the n-th queue or user: eight colours, told apart by colour-blind readers. */
export function colourOf(number) {
  return colour(`c${number % 8}`);
}
