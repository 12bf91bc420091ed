// @ts-check
/** The list's styles, in a cascade layer of their own, so that rules of the page take precedence. */

import { adopted } from "./adopted-style.js";

const css = `@layer live-list {
  live-list { display: block; position: relative; height: 24rem; overflow: hidden; }
  live-list[fill] { height: 100dvh; }
  live-list[hidden] { display: none; }

  .live-scroller {
    position: absolute; inset: 0; overflow: hidden auto; overflow-anchor: none; overscroll-behavior: contain;
  }
  .live-scroller:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; }
  .live-canvas { position: relative; overflow: clip; contain: strict; }
  .live-section { position: absolute; inset-inline: 0; }
  .live-row, .live-header { box-sizing: border-box; background: var(--surface, Canvas); color: inherit; }
  .live-head { position: sticky; top: 0; z-index: 3; }
  .live-header {
    position: sticky; top: var(--live-head, 0px); z-index: 2; height: var(--header-height, 32px);
    border-bottom: 1px solid var(--line, rgb(128 128 128 / 0.25));
  }
  .live-header[hidden] { display: none; }
  .live-title {
    display: flex; align-items: center; gap: 0.7em; height: 100%; padding-inline: 1em; font-weight: 600;
  }
  .live-count { font-weight: 400; opacity: 0.7; }
  .live-row {
    position: absolute; inset-inline: 0; height: var(--row-height, 36px); overflow: hidden; contain: strict;
    display: grid; grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); align-items: center;
    column-gap: 1em; padding-inline: 1em; cursor: default;
    border-bottom: 1px solid var(--line, rgb(128 128 128 / 0.25));
  }
  .live-cell { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .live-row[aria-selected] { background: color-mix(in srgb, Highlight 14%, var(--surface, Canvas)); }
  .live-row:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; }
  /* Deleted rows fade below the rows that close the gap. */
  .live-leaving { z-index: -1; pointer-events: none; }
  .live-row[data-state="awaited"]::before {
    content: ""; width: 45%; height: 0.7em; border-radius: 0.35em; background: var(--line, rgb(128 128 128 / 0.25));
  }
  .live-row[pending] { font-style: italic; }
  live-list[data-indexed] :is(.live-row, .live-title) { padding-inline-end: 2.2em; }

  .live-probe { position: absolute; visibility: hidden; pointer-events: none; width: 1px; }
  .live-probe-row { height: var(--row-height, 36px); }
  .live-probe-header { height: var(--header-height, 32px); }

  .live-index {
    position: absolute; inset-block: calc(var(--live-head, 0px) + 4px) 4px; inset-inline-end: calc(var(--live-bar, 0px) + 2px); z-index: 3;
    width: 1.7em; display: flex; flex-direction: column; justify-content: center;
    font-size: 11px; font-weight: 600; line-height: 1; text-align: center;
    color: var(--accent, LinkText); cursor: default; user-select: none; -webkit-user-select: none; touch-action: none;
  }
  .live-index[hidden] { display: none; }
  .live-index:focus-visible { outline: 2px solid Highlight; border-radius: 6px; }
  .live-index-title {
    flex: 0 1 22px; min-height: 0; display: flex; align-items: center; justify-content: center;
    overflow: hidden; border-radius: 5px; white-space: nowrap;
  }
  .live-index:hover .live-index-title, .live-current { background: var(--accent-soft, rgb(128 128 128 / 0.15)); }
  .live-index[data-dragged]::after {
    content: attr(data-dragged); position: absolute; top: var(--at, 50%); inset-inline-end: 3.2em;
    transform: translateY(-50%); min-width: 1.9em; padding: 0.35em 0.4em; box-sizing: border-box;
    border-radius: 0.4em; font-size: 26px; background: var(--accent, LinkText); color: var(--surface, Canvas);
  }

  .live-message { position: absolute; inset: var(--live-head, 0px) 0 0; z-index: 1; display: grid; place-content: center; padding: 1em;
    text-align: center; pointer-events: none; }
  .live-message > * { pointer-events: auto; }
  .live-message[hidden] { display: none; }
  /* Rows that may be out of date are dimmed but readable. The delay keeps short reconnections from dimming them. */
  live-list[data-stale] .live-canvas { opacity: 0.55; transition: opacity 0.2s 0.25s; }
  live-list[data-stale="signedOut"][data-status="live"] .live-canvas { opacity: 1; }
  /* Rows of the former query are dimmed. The delay keeps quick answers from dimming them. */
  live-list[data-outdated] .live-canvas { opacity: 0.4; transition: opacity 0.1s 0.1s; }
  .live-totals {
    position: absolute; inset: auto 0 0; box-sizing: border-box; height: var(--totals-height, 32px); display: flex; align-items: center;
    gap: 1.2em; padding-inline: 1em; overflow: hidden; white-space: nowrap; background: var(--surface, Canvas);
    border-top: 1px solid var(--line, rgb(128 128 128 / 0.25));
  }
  .live-totals[hidden] { display: none; }
  live-list[data-totaled] :is(.live-scroller, .live-message, .live-stale) { bottom: var(--totals-height, 32px); }
  live-list[data-totaled] .live-index { bottom: calc(var(--totals-height, 32px) + 4px); }
  .live-stale {
    position: absolute; inset: auto 0 0; z-index: 4; padding: 0.5em 1em; text-align: center; pointer-events: none;
    color: CanvasText; background: color-mix(in srgb, var(--warn, rgb(200 120 0)) 22%, var(--surface, Canvas));
    border-top: 1px solid var(--line, rgb(128 128 128 / 0.25));
  }
  .live-stale[hidden] { display: none; }
  .live-status { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    white-space: nowrap; }
}`;

/** Adds the styles to the document or shadow tree that a list is in. */
export const adoptStyle = adopted(css);
