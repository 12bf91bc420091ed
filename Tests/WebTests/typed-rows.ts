// Checked by tsc, never run: the types that `subscribe<Order>` accepts and refuses.
import { changeSet, documentChanges, externalStore, fetchedResults } from "../../public/adapters.js";
import { ChangeEvent, Client, ListState, LiveList } from "../../public/freshet.js";

interface Order { id: number; customer: string; total: number | null }
interface Line { order: string; line: number; amount: number }

export function rowsAreOrders(client: Client) {
  const list = client.subscribe<Order, number>({ from: "order" }, { window: { offset: 0, limit: 50 } });
  const customer: string | undefined = list.at(0)?.customer;
  const total: number | null | undefined = list.state.row([0, 3])?.total;
  // @ts-expect-error no such column
  list.at(0)?.costumer;
  // @ts-expect-error the row may not be held
  list.at(0).customer;
  // @ts-expect-error rows do not change
  list.state.at(0)!.customer = "x";
  // @ts-expect-error a number is no string
  const wrong: string | undefined = list.at(0)?.id;
  for (const [offset, row] of list.state.entries()) [offset.toFixed(), row.customer.trim()];
  list.state.keyOf({ id: 1, customer: "x", total: null });
  // @ts-expect-error not a whole row
  list.state.keyOf({ id: 1 });
  return [customer, total, wrong];
}

export async function promisesAreOfOrders(list: LiveList<Order, number>) {
  (await list.fetch({ offset: 0, limit: 9 }))[0].customer.trim();
  (await list.setWindow({ offset: 0, limit: 9 })).at(0)?.customer.trim();
  (await list.requery({ from: "order" })).at(0)?.customer.trim();
  for await (const state of list) state.at(0)?.customer.trim();
}

export function keysHaveTheirType(orders: LiveList<Order, number>, lines: LiveList<Line, [string, number]>) {
  orders.path(7);
  void orders.locate(7);
  lines.path(["a", 7]);
  // @ts-expect-error the key is a number
  orders.path("7");
  // @ts-expect-error a key of two columns
  void lines.locate(7);
  // @ts-expect-error in the order of the columns
  lines.state.path([7, "a"]);
  const column: "order" | "line" | "amount" = lines.state.key[0];
  return column;
}

export function changesKnowTheColumns(list: LiveList<Order, number>) {
  list.addEventListener("change", ({ before, after, changes, patch }) => {
    before.at(0)?.total?.toFixed();
    after.at(0)?.customer.trim();
    const column: "id" | "customer" | "total" = changes.updated[0].columns[0];
    const changed = patch?.updated?.[0][2].total;
    patch?.moved?.[0][2]?.customer;
    // @ts-expect-error no such column
    patch?.updated?.[0][2].costumer;
    // @ts-expect-error no such member
    patch?.updates;
    return [column, changed];
  });
}

export function adaptersKeepTheRows(list: LiveList<Order, number>, event: ChangeEvent<Order, number>) {
  documentChanges(event)?.[0].row?.customer.trim();
  changeSet(event)?.insertions[0].toFixed();
  externalStore(list).getSnapshot().at(0)?.customer.trim();
  fetchedResults(list, { didChangeObject: (row) => row?.customer.trim(), didReload: ({ state }) => state.at(0)?.id.toFixed() });
  // @ts-expect-error no such column
  documentChanges(event)?.[0].row?.costumer;
}

/** A function for any list accepts a list of orders. */
export function typedListsAreLists(list: LiveList<Order, number>, state: ListState<Order, number>, event: ChangeEvent<Order, number>) {
  const [any, states, events]: [LiveList, ListState, ChangeEvent] = [list, state, event];
  return [any, states, events];
}

/** Without types, rows have any columns. */
export function untypedRowsAreAnything(client: Client) {
  const list = client.subscribe({ from: "order" });
  list.path("x");
  list.path([1, "x"]);
  const name: string = list.at(0)?.whatever;
  // @ts-expect-error a row is an object
  client.subscribe<string>({ from: "order" });
  // @ts-expect-error SQLite has no such values
  client.subscribe<Order, Date>({ from: "order" });
  return name;
}
