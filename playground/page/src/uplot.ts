// The chart library, where the live page's charts look for it.
import uPlot from "uplot";

Object.assign(globalThis, { uPlot });
