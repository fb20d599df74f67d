// Bundles the page into build/playground/, or into the folder of the first word.
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../../build/playground"));

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { worker: "worker/worker.ts" },
  bundle: true,
  format: "esm",
  minify: true,
  outdir: out,
  target: "es2022",
  legalComments: "linked",
});
