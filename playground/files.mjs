// Writes files.json: the files of the lab that the page shows and the program reads, by path. `node files.mjs OUTPUT`.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const FOLDERS = { p4: [".p4"], "tofino-port": [".p4"], labs: [".p4", ".py", ".md", ".toml"], schedulers: [".toml", ".p4"] };

const files = {};
for (const [folder, endings] of Object.entries(FOLDERS)) {
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && endings.some((ending) => entry.name.endsWith(ending))) {
      files[relative(root, path)] = readFileSync(path, "utf8");
    }
  }
}
const sorted = Object.keys(files).sort();
writeFileSync(process.argv[2], JSON.stringify(Object.fromEntries(sorted.map((path) => [path, files[path]]))));
