import { type Route, type RouteName, routes } from "@corral/protocol/routes";

export function routeOf(name: RouteName): Route {
  return routes[name];
}

export function methodOf({ route }: Route): string {
  return route.slice(0, route.indexOf(" "));
}

/** The parameters of a route's path, as in `/api/sessions/:id`. */
export const parameters = /:\w+/g;

/** Where a route is, with the parameters of its path in their order. */
export function addressOf({ route }: Route, params: readonly string[], query: object = {}): string {
  const left = [...params];
  const path = route.slice(route.indexOf(" ") + 1).replaceAll(parameters, () => encodeURIComponent(left.shift() ?? ""));
  const search = searchOf(query);
  return search === "" ? path : `${path}?${search}`;
}

type Value = string | number | boolean | readonly string[] | undefined;

/** What is undefined is left out. A yes is 1, a no 0, and a list has commas. */
function searchOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Readonly<Record<string, Value>>))
    if (value !== undefined) search.set(name, String(typeof value === "boolean" ? Number(value) : value));
  return search.toString();
}
