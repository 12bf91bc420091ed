// The hook in StrictMode of ReactDOM, which mounts every component twice (the test renderer does not).
import { connect } from "freshet";
import { FreshetProvider, useLiveQuery } from "freshet/react";
import { StrictMode, Suspense, createElement, useState } from "react";
import { createRoot } from "react-dom/client";

function Banks({ id, suspense, limit }) {
  const { rows, isPending } = useLiveQuery({ from: "bank", orderBy: ["name"], limit }, { suspense });
  return createElement("ol", { id, "aria-busy": isPending }, rows.map((row) => createElement("li", { key: row.id }, row.name)));
}

function Page() {
  const [limit, setLimit] = useState(3);
  const [isShown, setShown] = useState(true);
  return [
    createElement("button", { key: "more", id: "more", onClick: () => setLimit(5) }),
    createElement("button", { key: "leave", id: "leave", onClick: () => setShown(false) }),
    isShown && createElement(Banks, { key: "plain", id: "plain", limit }),
    isShown && createElement(Suspense, { key: "waiting", fallback: "waiting" }, createElement(Banks, { id: "suspended", suspense: true, limit })),
  ];
}

const client = connect();
createRoot(document.getElementById("root")).render(
  createElement(StrictMode, null, createElement(FreshetProvider, { client }, createElement(Page))));
