// Types that Debian's types of React import and Debian does not have, as far as they are used.
declare module "csstype" {
  type Properties<Length> = Record<string, string | Length>;
}
declare module "prop-types" {
  type Validator<T> = (properties: Record<string, T>) => Error | null;
  type Requireable<T> = Validator<T>;
  type ValidationMap<T> = { [P in keyof T]?: Validator<T[P]> };
  type InferProps<T> = { [P in keyof T]: any };
  const any: unknown, array: unknown, bool: unknown, func: unknown, number: unknown, object: unknown, string: unknown, node: unknown;
  const element: unknown, instanceOf: unknown, oneOf: unknown, oneOfType: unknown, arrayOf: unknown, objectOf: unknown, shape: unknown, exact: unknown;
}
declare module "scheduler/tracing" {
  type Interaction = unknown;
}
