export * from "./freshet.js";
