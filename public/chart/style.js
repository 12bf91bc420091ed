// @ts-check
/** The chart's styles, in a cascade layer of their own: rules of the page take precedence. */

import { adopted } from "../element/adopted-style.js";

const css = `@layer live-chart {
  live-chart {
    --chart-1: #0b7a94; --chart-2: #c2410c; --chart-3: #6d28d9; --chart-4: #15803d;
    --chart-5: #be185d; --chart-6: #1d4ed8; --chart-7: #a16207; --chart-8: #475569;
    display: flex; flex-direction: column; position: relative; height: 20rem; overflow: hidden; font-size: 12px;
  }
  live-chart[hidden] { display: none; }
  @media (prefers-color-scheme: dark) {
    live-chart {
      --chart-1: #4fc3dc; --chart-2: #fb923c; --chart-3: #a78bfa; --chart-4: #4ade80;
      --chart-5: #f472b6; --chart-6: #60a5fa; --chart-7: #facc15; --chart-8: #94a3b8;
    }
  }
  .chart-plot { position: relative; flex: 1; min-height: 0; overflow: hidden auto; overscroll-behavior: contain; cursor: default; }
  .chart-plot:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; }
  .chart-svg { display: block; overflow: visible; }
  .chart-svg text { fill: currentColor; dominant-baseline: central; font: inherit; }
  .chart-name, .chart-tick, .chart-svg .chart-negative { text-anchor: end; }
  .chart-date { text-anchor: middle; }
  .chart-tick, .chart-date { opacity: 0.75; }
  .chart-grid { stroke: var(--line, rgb(128 128 128 / 0.25)); }
  .chart-axis { stroke: currentColor; opacity: 0.45; fill: none; }
  .chart-line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
  .chart-hatching { fill: none; stroke: var(--surface, Canvas); stroke-width: 1.6; }
  .chart-legend { display: flex; flex-wrap: wrap; gap: 0.3em 1.2em; flex: none; margin: 0; padding: 0.5em 1em; list-style: none; }
  .chart-legend[hidden] { display: none; }
  .chart-legend li { display: flex; align-items: center; gap: 0.5em; }
  .chart-note { flex: none; margin: 0; padding: 0.3em 1em; opacity: 0.75; }
  .chart-note[hidden] { display: none; }
  .chart-tip {
    position: absolute; inset: 0 auto auto 0; z-index: 2; width: max-content; max-width: 16rem; padding: 0.35em 0.7em; border-radius: 0.5em; pointer-events: none;
    background: CanvasText; color: Canvas; overflow-wrap: anywhere;
  }
  .chart-tip > :first-child { font-weight: 600; }
  .chart-cursor {
    position: absolute; inset: -6px auto auto -6px; z-index: 1; width: 12px; height: 12px; box-sizing: border-box; border: 2px solid CanvasText;
    border-radius: 50%; background: var(--surface, Canvas); pointer-events: none;
  }
  .chart-tip[hidden], .chart-cursor[hidden] { display: none; }
  .chart-message { position: absolute; inset: 0; z-index: 1; display: grid; place-content: center; padding: 1em; text-align: center; pointer-events: none;
    background: var(--surface, Canvas); }
  .chart-message[hidden] { display: none; }
  live-chart[data-stale] .chart-svg, live-chart[data-outdated] .chart-svg { opacity: 0.5; transition: opacity 0.2s 0.25s; }
  .chart-stale { position: absolute; inset: auto 0 0; z-index: 3; padding: 0.5em 1em; text-align: center; color: CanvasText;
    background: color-mix(in srgb, var(--warn, rgb(200 120 0)) 22%, var(--surface, Canvas)); }
  .chart-stale[hidden] { display: none; }
  .chart-table, .chart-status { position: absolute; inset: 0 auto auto 0; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
}`;

/** Adds the styles to the document or shadow tree that a chart is in. */
export const adoptStyle = adopted(css);
