/**
 * Read by the schema library when it is loaded: it is not even to try whether it may make code from text, for the page's
 * policy forbids that and every try is noted as an attack.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
