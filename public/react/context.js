// @ts-check
/** The connection that components share. */

import { createContext, createElement, useContext } from "react";

/** @typedef {import("../freshet.js").Client} Client */

/** Undefined without a provider; null without a connection, as on a server that renders pages. */
export const FreshetContext = createContext(/** @type {Client | null | undefined} */ (undefined));

/** @param {{client: Client | null, children?: import("react").ReactNode}} properties */
export function FreshetProvider({ client, children }) {
  return createElement(FreshetContext.Provider, { value: client }, children);
}

/** @returns {Client | null} */
export function useFreshet() {
  const client = useContext(FreshetContext);
  if (client === undefined) throw new Error("There is no client: render inside <FreshetProvider client={connect(…)}>");
  return client;
}
