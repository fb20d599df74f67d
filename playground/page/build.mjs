// Bundles the page into build/playground/, or into the folder of the first word.
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../../build/playground"));
// Python for the labs. The page loads it at the first check.
const PYODIDE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { main: "src/main.ts", worker: "worker/worker.ts", lab_worker: "src/lab_worker.ts", page: "src/page.css" },
  bundle: true,
  format: "esm",
  minify: true,
  outdir: out,
  target: "es2022",
  legalComments: "linked",
});
await cp(join(here, "index.html"), join(out, "index.html"));
for (const file of PYODIDE) await cp(join(here, "node_modules/pyodide", file), join(out, "pyodide", file));
const { version } = JSON.parse(await readFile(join(here, "node_modules/pyodide/package.json"), "utf8"));
const NOTICE = `Pyodide ${version}: Mozilla Public License 2.0, https://www.mozilla.org/MPL/2.0/; its source: https://github.com/pyodide/pyodide
It holds Python: Python Software Foundation License 2, https://docs.python.org/3/license.html
`;
await writeFile(join(out, "pyodide", "NOTICE.txt"), NOTICE);
