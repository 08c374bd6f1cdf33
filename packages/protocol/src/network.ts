import * as z from "zod";
import { sessionId, shellId } from "./id.ts";

/**
 * A host that may be reached: `example.org`, `*.example.org` (every name below it, not itself), with `:PORT` for another
 * port than those of HTTP and HTTPS. Names are written as they travel: in ASCII, small letters, no dot at the end.
 */
export const hostPattern = z
  .string()
  .max(300)
  .regex(
    /^(?:\*\.(?=[^:]*\.))?(?=[^:]*\.)(?![^:]*\.[0-9][^.:]*(?::|$))(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::[1-9][0-9]{0,4})?$/,
    "expected a host name like example.org or *.example.org, with :PORT if need be",
  );

export const networkVerdict = z.enum(["allowed", "refused"]);
export type NetworkVerdict = z.infer<typeof networkVerdict>;

/**
 * Why: `listed`, or `answered` (the operator let it); or `unlisted`, `port` (the host is listed, for other ports), `name` (no proper name of a host),
 * `rule` (it is listed, and a rule denies it, or asks and nobody allowed it), `address` (it leads to this machine or a private network), `unresolved` (there is no such host), `request` (what was
 * sent is not to be trusted).
 */
export const networkReason = z.enum([
  "listed",
  "answered",
  "unlisted",
  "port",
  "rule",
  "name",
  "address",
  "unresolved",
  "request",
]);
export type NetworkReason = z.infer<typeof networkReason>;

/** What a session, or a person's shell, had to do with one host, from its beginning up to now. */
export const networkContact = z.object({
  /** As asked for, in small letters; `*`: hosts beyond those that are told apart. */
  host: z.string(),
  port: z.int().nonnegative(),
  verdict: networkVerdict,
  reason: networkReason,
  connections: z.int().nonnegative(),
  /** To the host. */
  bytesOut: z.int().nonnegative(),
  bytesIn: z.int().nonnegative(),
  /** Where the name led to, the last time. */
  address: z.string().optional(),
  /** Other names that were used in TLS on a way asked for by this one. */
  serverNames: z.array(z.string()).optional(),
});
export type NetworkContact = z.infer<typeof networkContact>;

export const networkView = z.object({
  contacts: z.array(
    /** Of the one or of the other. */
    networkContact.extend({
      session: sessionId.optional(),
      shell: shellId.optional(),
      approximateLastTime: z.string(),
    }),
  ),
  seq: z.int().nonnegative(),
});
export type NetworkView = z.infer<typeof networkView>;

export const viewNetwork = z.object({ session: sessionId.optional() });
