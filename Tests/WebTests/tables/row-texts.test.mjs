import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { rowTexts } from "../../../public/browser/row-texts.js";
import { isAnyRow } from "../../../public/browser/statements.js";
import { plainQuery } from "../../../public/client/sql.js";

const columns = ["id", "a,b"];
const rows = [{ id: 1, "a,b": 'x "y"' }, { id: 9007199254740993n, "a,b": null }, { id: new Uint8Array([0, 255]), "a,b": "1\t2\n3" }];

test("rows are texts that other programs read", () => {
  assert.equal(rowTexts.csv(columns, rows), 'id,"a,b"\r\n1,"x ""y"""\r\n9007199254740993,\r\nx\'00ff\',"1\t2\n3"');
  assert.equal(rowTexts.tsv(columns, rows), '1\tx "y"\n9007199254740993\t\nx\'00ff\'\t"1\t2\n3"');
  assert.deepEqual(JSON.parse(rowTexts.json(columns, rows)), [{ id: 1, "a,b": 'x "y"' }, { id: { $int: "9007199254740993" }, "a,b": null }, { id: { $blob: "AP8=" }, "a,b": "1\t2\n3" }]);
  assert.equal(rowTexts.markdown(["a|b"], [{ "a|b": "c\\|d\r\ne" }]), "| a\\|b |\n| --- |\n| c\\\\\\|d<br>e |");
});

test("a thousand rows are no deeper than SQLite allows", () => {
  const { where, params } = plainQuery({ where: isAnyRow(Array.from({ length: 1000 }, (_, id) => ({ id: 2 * id, b: "x" }))) });
  const literal = where.replace(/:v\d+/g, (name) => (typeof params[name.slice(1)] === "number" ? params[name.slice(1)] : `'${params[name.slice(1)]}'`));
  const counted = "WITH RECURSIVE t(id, b) AS (SELECT 0, 'x' UNION ALL SELECT id + 1, 'x' FROM t WHERE id < 1999) SELECT count(*) FROM t WHERE ";
  assert.equal(execFileSync("sqlite3", [":memory:", counted + literal], { encoding: "utf8" }).trim(), "1000");
});
