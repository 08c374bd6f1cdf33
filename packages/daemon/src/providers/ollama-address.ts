/** Where Ollama listens, from OLLAMA_HOST as its own programs take it: with or without scheme, host and port. */
export function ollamaAddress(host: string | undefined): string {
  const told = host?.trim() ?? "";
  const whole = /^https?:\/\//.test(told)
    ? told
    : `http://${told.startsWith(":") || told === "" ? usual.host : ""}${told}`;
  const url = URL.parse(whole);
  if (url === null) return `http://${usual.host}:${usual.port}`;
  // A server listens there at every address; a client has to choose one.
  const name = url.hostname === "0.0.0.0" || url.hostname === "[::]" ? usual.host : url.hostname;
  const hasPort = url.port !== "" || /:(80|443)(\/|$)/.test(told);
  const port = hasPort ? url.port : /^https?:/.test(told) ? "" : String(usual.port);
  return `${url.protocol}//${name}${port === "" ? "" : `:${port}`}${url.pathname.replace(/\/+$/, "")}`;
}

const usual = { host: "127.0.0.1", port: 11_434 };
