// Checked by tsc, never run: compares public/freshet.d.ts with the modules that it declares.
import * as adapters from "../../public/client/adapters/index.js";
import { ChangeEvent } from "../../public/client/change-event.js";
import { Client } from "../../public/client/client.js";
import { FreshetError, FreshetErrorEvent } from "../../public/client/errors.js";
import { ListState } from "../../public/client/list-state.js";
import { LiveList } from "../../public/client/live-list.js";
import { RollbackEvent } from "../../public/client/optimistic-writes.js";
import { sql, SQLFragment } from "../../public/client/sql.js";
import * as declaredChart from "../../public/chart.js";
import * as declaredElement from "../../public/element.js";
import * as declared from "../../public/freshet.js";
import { LiveChartElement } from "../../public/live-chart.js";
import { LiveListElement } from "../../public/live-list.js";

/** Members that are compared separately, or through the values that they return. */
type Apart = "addEventListener" | "removeEventListener" | "subscribe";
/** Methods that browsers call. */
type Reactions = "connectedCallback" | "disconnectedCallback" | "connectedMoveCallback" | "attributeChangedCallback";
/** Type-checks if `Implementation` has all declared members as declared; true if it has no others. */
type Holds<Implementation extends Omit<Declaration, Apart>, Declaration, Rest = Exclude<keyof Implementation, keyof Declaration>> =
  [Rest] extends [never] ? true : Rest;

export const members: [
  Holds<Client, declared.Client>, Holds<LiveList, declared.LiveList>, Holds<ListState, declared.ListState>,
  Holds<ChangeEvent, declared.ChangeEvent>, Holds<FreshetError, declared.FreshetError>,
  Holds<FreshetErrorEvent, declared.FreshetErrorEvent>, Holds<RollbackEvent, declared.RollbackEvent>, Holds<SQLFragment, declared.SQLFragment>,
  Holds<typeof sql, typeof declared.sql>, Holds<typeof adapters, Pick<typeof declared, keyof typeof adapters>>,
  Holds<Omit<LiveListElement, Reactions>, declaredElement.LiveListElement>, Holds<typeof LiveListElement.texts, declaredElement.LiveListTexts>,
  Holds<Omit<LiveChartElement, Reactions>, declaredChart.LiveChartElement>, Holds<typeof LiveChartElement.texts, declaredChart.LiveChartTexts>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true];
export const subscribing: Parameters<Client["subscribe"]> = {} as Parameters<declared.Client["subscribe"]>;

// The declarations, used as in an application.
export async function use() {
  const client = declared.connect("http://localhost/", { token: async () => "t" });
  const list = client.subscribe({ from: "bank", where: declared.sql`state = ${"GA"}` }, { window: { offset: 0, limit: 9 } });
  list.addEventListener("change", ({ before, after, changes }) => [before.total, after.total, changes.inserted]);
  list.addEventListener("error", ({ error }) => error.code);
  for await (const { sections } of list) return sections[0].count;
  list.addEventListener("rollback", ({ error, change }) => [error.code, change.update]);
  await list.optimistically({ update: { id: 1, name: "x" } }, declared.sql`UPDATE bank SET name = ${"x"} WHERE id = ${1}`);
  await client.transact({ name: "cancelOrder", params: { id: 1 } });
  const { changes } = await client.transact([declared.sql`DELETE FROM bank WHERE id = ${1}`, "DELETE FROM bank"]);
  return changes;
}
