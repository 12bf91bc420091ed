// The installed package with the tools that users have: TypeScript in each way of finding modules, and a bundler.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const run = (command, ...options) => {
  const { status, stdout, stderr } = spawnSync(command, options, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
};

// FRESHET_TSC names a newer compiler than Debian's.
const compilers = ["tsc", ...(process.env.FRESHET_TSC ? [process.env.FRESHET_TSC] : [])];
for (const tsc of compilers) {
  const version = Number.parseFloat(run(tsc, "--version").match(/[\d.]+/)[0]);
  for (const [moduleResolution, module] of [["node16", "node16"], ["bundler", "es2022"], ["node", "es2022"]]) {
    const skip = moduleResolution === "bundler" && version < 5 ? "TypeScript 5 has it; FRESHET_TSC names one"
      : moduleResolution === "node" && version >= 6 && "TypeScript 6 has it no more";
    test(`TypeScript ${version}, strict, moduleResolution ${moduleResolution}`, { skip }, () => {
      const folder = join("typed", `${version}-${moduleResolution}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "app.tsx"), readFileSync("package/app.tsx"));
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
        compilerOptions: {
          strict: true, noEmit: true, target: "es2022", module, moduleResolution, jsx: "react-jsx", lib: ["es2022", "dom", "dom.iterable"],
          // Debian's types of React import other types that Debian lacks.
          skipLibCheck: true, types: [],
        },
        files: ["app.tsx"],
      }));
      run(tsc, "-p", folder);
    });
  }
}

test("a bundler finds every module, and leaves out what is not used", () => {
  mkdirSync("bundled", { recursive: true });
  writeFileSync("bundled/all.js", 'import "freshet/element"; import { useLiveQuery } from "freshet/react"; console.log(useLiveQuery);');
  writeFileSync("bundled/some.js", 'import { changeSet } from "freshet/adapters"; console.log(changeSet);');
  const bundle = (name) => run("esbuild", `bundled/${name}.js`, "--bundle", "--format=esm", "--external:react");
  assert.match(bundle("all"), /customElements\.define\("live-list"/);
  assert.doesNotMatch(bundle("some"), /class Client/);
});
