// A user's program, checked against the installed package and never run.
import { connect, sql, type ListState } from "freshet";
import { documentChanges } from "freshet/adapters";
import { LiveChartElement } from "freshet/chart";
import { LiveListElement } from "freshet/element";
import { FreshetProvider, useFreshet, useLiveQuery } from "freshet/react";

interface Order { id: number; customer: string }

const client = connect("http://127.0.0.1:8080/");
const list = client.subscribe<Order, number>({ from: "order", where: sql`total > ${9}`, orderBy: ["customer"] });
list.addEventListener("change", (event) => {
  const row = documentChanges(event)?.[0].row;
  const customer: string | undefined = row?.customer;
  const state: ListState<Order, number> = event.after;
  // @ts-expect-error no such column
  row?.costumer;
  console.log(customer, state.path(7));
});

export function Orders() {
  const { rows, state } = useLiveQuery<Order, number>({ from: "order" }, { window: { offset: 0, limit: 50 } });
  const write = () => useFreshet()?.transact("DELETE FROM \"order\"");
  // @ts-expect-error no such option
  useLiveQuery({ from: "order" }, { windows: 1 });
  return <ul onClick={write}>{rows.map((order) => <li key={state.keyOf(order)}>{order.customer}</li>)}</ul>;
}

export const page = (
  <FreshetProvider client={client}>
    <Orders />
    <live-list query='{"from": "order"}' label="Orders" />
    {/* @ts-expect-error no such attribute */}
    <live-list sauce="v1/live" />
  </FreshetProvider>
);

const element: LiveListElement | null = document.querySelector("live-list");
const chart: LiveChartElement | null = document.querySelector("live-chart");
chart?.addEventListener("activate", ({ detail }) => console.log(detail.row));
element?.addEventListener("activate", ({ detail }) => console.log(detail.row, detail.offset));
document.createElement("live-list").scrollToOffset(7);
