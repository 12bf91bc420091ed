// @ts-check
/** The form that changes a well. */

const statuses = ["Producing", "Shut-in", "Plugged", "Completed", "Injecting", "Drilling", "Permitted"];

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("editor"));
const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));

/** @param {string} name @returns {HTMLInputElement | HTMLSelectElement} */
const field = (name) => /** @type {any} */ (form.elements.namedItem(name));

/**
 * Shows a well's values to be changed.
 *
 * @param {any[]} row in the order of the query's columns
 * @returns {Promise<Record<string, any> | null>} parameters of an UPDATE; null when nothing is to be written
 */
export function openEditor(row) {
  const [id, name, , status, depth] = row;
  field("status").replaceChildren(...[...new Set([...statuses, status])].map((value) => new Option(value)));
  field("name").value = name;
  field("status").value = status;
  field("depth").value = String(depth);
  // Closed by Escape, it would keep the value of the time before.
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      if (dialog.returnValue !== "save") return resolve(null);
      resolve({ id, name: field("name").value, status: field("status").value, depth: Number(field("depth").value) });
    }, { once: true });
  });
}
