export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { Break, Followed, FollowOptions } from "./follow.ts";
export type { Answer, Endpoint, Fetch } from "./transport.ts";
