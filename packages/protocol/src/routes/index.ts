export type { Reach, Route, SchemaName } from "./route.ts";
export { type Noun, nouns, type RouteName, type Routes, routes } from "./table.ts";
export type { AnswerOf, BodyOf, ParamsOf, QueryOf, RoutesOf, Taken } from "./types.ts";
