// Records for the tests: events, layout shifts, frames, and violations of the Content-Security-Policy.
const seen = { activate: [], error: [], status: [], range: [], shifts: 0, violations: [] };
globalThis.seen = seen;

document.addEventListener("securitypolicyviolation", (event) => seen.violations.push(event.violatedDirective));
new PerformanceObserver((entries) => {
  // Shifts right after an input count too, because nothing may jump here.
  for (const entry of entries.getEntries()) seen.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });

const list = document.getElementById("list");
// Tests can reach the list even while it is not in a document.
globalThis.list = list;
for (const type of ["activate", "error", "status", "range"]) {
  list.addEventListener(type, (event) => {
    seen[type].push(type === "error" ? event.message : event.detail);
  });
}

/** Rows in view from top to bottom: offset, name (null while it is awaited), top relative to the list's. */
globalThis.rowsInView = (element = list) => {
  const view = element.querySelector(".live-scroller").getBoundingClientRect();
  return [...element.querySelectorAll(".live-row:not(.live-leaving)")].filter((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > view.top && top < view.bottom;
  }).map((row) => [
    element.rowAt(row)?.offset ?? null,
    row.dataset.state === "shown" ? row.firstElementChild.textContent : null,
    row.getBoundingClientRect().top - view.top,
  ]).sort(([, , left], [, , right]) => left - right);
};

/** Scrolls to and fro for a while like a wheel; resolves with the frames a second, and the longest frame. */
globalThis.scrolling = (seconds) => new Promise((resolve) => {
  const scroller = list.querySelector(".live-scroller");
  const start = performance.now();
  const times = [];
  const frame = (now) => {
    times.push(now);
    scroller.scrollTop += 23 * (Math.floor((now - start) / 1500) % 2 ? -1 : 1);
    if (now - start < seconds * 1000) return requestAnimationFrame(frame);
    const gaps = times.slice(1).map((time, index) => time - times[index]).sort((left, right) => left - right);
    return resolve({
      perSecond: gaps.length / ((times[times.length - 1] - times[0]) / 1000),
      late: gaps[Math.floor(gaps.length * 0.99)], longest: gaps[gaps.length - 1],
    });
  };
  requestAnimationFrame(frame);
});

await import("./live-list.js");
