// Checked by tsc, never run: compares public/react.d.ts with react.js, and tests the types of the hook's rows.
import { memo } from "react";
import * as declared from "../../public/react.js";
import * as context from "../../public/react/context.js";
import { useLiveQuery } from "../../public/react/use-live-query.js";
import type { Client } from "../../public/freshet.js";

type Declared = typeof declared;
/** The implementation has the declared parameters and result, for any rows. */
export const hook: (...options: Parameters<Declared["useLiveQuery"]>) => Omit<declared.LiveQuery, "error"> = useLiveQuery;
export const result: keyof declared.LiveQuery extends keyof ReturnType<typeof useLiveQuery> ? true : false = true;
export const nothingElse: keyof ReturnType<typeof useLiveQuery> extends keyof declared.LiveQuery ? true : false = true;
export const provider: Declared["FreshetProvider"] = context.FreshetProvider;
export const freshet: Declared["useFreshet"] = context.useFreshet;
export const exported: Exclude<keyof Declared, "FreshetProvider" | "useFreshet" | "useLiveQuery"> extends never ? true : false = true;

interface Order { id: number; customer: string }

const Line = memo(({ order }: { order: Readonly<Order> }) => <li>{order.customer}</li>);

export function Orders({ client }: { client: Client }) {
  const { rows, state, list, isPending } = declared.useLiveQuery<Order, number>({ from: "order" }, { window: { offset: 0, limit: 9 } });
  const { rows: any } = declared.useLiveQuery({ from: "order" }, { client, suspense: true, throwErrors: true });
  void list?.locate(7);
  // @ts-expect-error the key is a number
  void list?.locate("7");
  // @ts-expect-error no such column
  rows[0].costumer;
  // @ts-expect-error no such option
  declared.useLiveQuery({ from: "order" }, { suspended: true });
  // @ts-expect-error rows do not change
  rows[0] = rows[1];
  return (
    <declared.FreshetProvider client={client}>
      <ul aria-busy={isPending}>{rows.map((order) => <Line key={state.keyOf(order)} order={order} />)}</ul>
      {any[0].whatever}
      <live-list src="v1/live" label="Orders" query='{"from": "order"}' className="orders" ref={(element) => element?.scrollToOffset(3)} />
      <live-chart label="Orders by state" x="state" y="orders" missing="zero" query='{"from": "order"}' ref={(element) => element?.focus()} />
      {/* @ts-expect-error no number */}
      <live-list src={7} />
    </declared.FreshetProvider>
  );
}

export function found(): Promise<boolean> | undefined {
  // @ts-expect-error the element may not be there
  document.querySelector("live-list").focus();
  return document.querySelector("live-list")?.scrollToKey(7);
}
