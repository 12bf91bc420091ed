// The exports of React that pages import, from the scripts that Debian has.
export const {
  StrictMode, Suspense, createContext, createElement, memo, useContext, useEffect, useMemo, useState, useSyncExternalStore,
} = globalThis.React;
export const { createRoot, hydrateRoot } = globalThis.ReactDOM;
