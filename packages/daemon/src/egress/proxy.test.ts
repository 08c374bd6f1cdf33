import { once } from "node:events";
import { get } from "node:http";
import { connect as connectTls } from "node:tls";
import { describe, expect, test } from "vitest";
import { everything, loopback, openStage } from "./testing/stage.ts";

describe("plain HTTP", () => {
  test("a listed host is reached, and what is between neighbours only stays there", async () => {
    await using stage = await openStage();
    const port = await stage.serve((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        response.setHeader("x-got", JSON.stringify([request.method, request.url, request.rawHeaders, body]));
        response.end("hello");
      });
    });
    stage.list = [`example.org${port}`];
    const answer = await stage.say(
      `POST http://Example.org.${port}/a?b=c HTTP/1.1\r\nHost: example.org${port}\r\nProxy-Authorization: Basic c2VjcmV0\r\n` +
        `X-Mine: 1\r\nX-Hop: 2\r\nConnection: close, x-hop\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    );
    const headers = [
      "Host",
      `example.org${port}`,
      "X-Mine",
      "1",
      "Transfer-Encoding",
      "chunked",
      "Connection",
      "close",
    ];
    expect(answer).toContain(`x-got: ${JSON.stringify(["POST", "/a?b=c", headers, "abc"])}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*hello/);
  });

  test("an unlisted host is refused in words that say what to do, and nobody is asked where it is", async () => {
    await using stage = await openStage();
    expect(await stage.say("GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 403 corral: host example\.org is not on the list: corral network allow example\.org\r\n[^]*\r\n\r\ncorral: host example\.org is not on the list: corral network allow example\.org\n$/,
    );
    expect(stage.asked).toEqual([]);
    expect(await stage.recorded()).toEqual([
      {
        host: "example.org",
        port: 80,
        verdict: "refused",
        reason: "unlisted",
        connections: 1,
        bytesIn: 0,
        bytesOut: 0,
      },
    ]);
  });

  test("each request of a connection, and each hop of a redirect, is judged by itself", async () => {
    await using stage = await openStage();
    const port = await stage.serve((_request, response) =>
      response.writeHead(302, { location: `http://other.test${port}/` }).end(),
    );
    stage.list = [`example.org${port}`];
    const ask = (host: string) => `GET http://${host}${port}/ HTTP/1.1\r\nHost: ${host}${port}\r\n\r\n`;
    const answers = await stage.say(ask("example.org") + ask("other.test"));
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 302", "HTTP/1.1 403"]);
  });

  test("a change of the list counts for the next request", async () => {
    await using stage = await openStage({ pauseMs: 60_000 });
    const port = await stage.serve((_request, response) => response.end("hello"));
    const ask = () =>
      stage.say(`GET http://example.org${port}/ HTTP/1.1\r\nHost: example.org${port}\r\nConnection: close\r\n\r\n`);
    expect(await ask()).toContain(" 403 ");
    await stage.allow(`example.org${port}`);
    expect(await ask()).toContain(" 200 ");
  });

  test("a host that answers nothing is told of", async () => {
    await using stage = await openStage();
    const port = await stage.serveTcp((socket) => socket.destroy());
    stage.list = [`example.org${port}`];
    expect(
      await stage.say(
        `GET http://example.org${port}/ HTTP/1.1\r\nHost: example.org${port}\r\nConnection: close\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 502 corral: host example\.org could not be reached: ECONNRESET\r\n/);
  });

  test("headers of an answer may be larger than those of a request, and not endless", async () => {
    await using stage = await openStage();
    const port = await stage.serve((request, response) => {
      response.setHeader("x-long", "x".repeat(request.url === "/long" ? 40_000 : 80_000)).end("hello");
    });
    stage.list = [`example.org${port}`];
    const ask = (path: string) =>
      stage.say(
        `GET http://example.org${port}${path} HTTP/1.1\r\nHost: example.org${port}\r\nConnection: close\r\n\r\n`,
      );
    expect(await ask("/long")).toContain("HTTP/1.1 200 OK");
    expect(await ask("/endless")).toContain("HTTP/1.1 502 ");
  });
});

describe("what contradicts itself is refused, and reaches nobody", () => {
  const chunked = "Transfer-Encoding: chunked\r\n";
  test.each([
    ["a Host that is another", "GET http://HOST/ HTTP/1.1\r\nHost: other.test\r\n\r\n"],
    ["a Host at another port", "GET http://HOST/ HTTP/1.1\r\nHost: example.org:81\r\n\r\n"],
    ["two Hosts", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nHost: other.test\r\n\r\n"],
    ["two Hosts that are the same", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n"],
    ["a Host that is an address", "GET http://HOST/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["a tunnel with a Host that is another", "CONNECT HOST HTTP/1.1\r\nHost: other.test:443\r\n\r\n"],
    ["no address at all", "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"],
    ["another scheme", "GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n"],
    ["a file", "GET file:///etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n"],
    ["a fragment", "GET http://HOST#@other.test/ HTTP/1.1\r\nHost: HOST\r\n\r\n"],
    ["a user name", "GET http://HOST@127.0.0.1/ HTTP/1.1\r\nHost: HOST\r\n\r\n"],
    ["two lengths", `POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\n${chunked}\r\n0\r\n\r\n`],
    [
      "lengths that differ",
      "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    ],
    ["a length that is none", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: +4\r\n\r\nabcd"],
    [
      "an encoding besides",
      `POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "chunks that are not last",
      `POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n`,
    ],
    ["two encodings", `POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\n${chunked}${chunked}\r\n0\r\n\r\n`],
    [
      "an encoding with a tab",
      "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\tx\tchunked\r\n\r\n0\r\n\r\n",
    ],
    [
      "a space before the colon",
      `POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["chunks in HTTP/1.0", `POST http://HOST/ HTTP/1.0\r\nHost: HOST\r\n${chunked}\r\n0\r\n\r\n`],
    ["lines that end oddly", "GET http://HOST/ HTTP/1.1\nHost: HOST\n\n"],
    ["a folded header", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX: 1\r\n\tY: 2\r\n\r\n"],
    ["a zero byte", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\n"],
    [
      "another protocol",
      "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
    ["headers that are too long", `GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX: ${"x".repeat(17_000)}\r\n\r\n`],
    ["the other version", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a greeting of TLS", "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003"],
    ["words", "hello\r\n\r\n"],
  ])("%s", async (_what, request) => {
    await using stage = await openStage();
    let reached = 0;
    const port = await stage.serveTcp((socket) => {
      reached += 1;
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    stage.list = [`example.org${port}`];
    const answer = await stage.say(request.replaceAll("HOST", `example.org${port}`));
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d corral: /);
    expect(reached).toBe(0);
    expect(new Set((await stage.recorded()).map(({ verdict }) => verdict))).toEqual(new Set(["refused"]));
  });

  test("what follows a refused request is not taken for another one", async () => {
    await using stage = await openStage();
    const port = await stage.serve((_request, response) => response.end("hello"));
    stage.list = [`example.org${port}`];
    const hidden = `GET http://example.org${port}/hidden HTTP/1.1\r\nHost: example.org${port}\r\n\r\n`;
    const answer = await stage.say(
      `POST http://other.test/ HTTP/1.1\r\nHost: other.test\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 403"]);
  });
});

describe("a tunnel", () => {
  test("carries bytes both ways, also those sent along with the request, and they are counted", async () => {
    await using stage = await openStage();
    const port = await stage.serveTcp((socket) => socket.pipe(socket));
    stage.list = [`example.org${port}`];
    const request = `CONNECT example.org${port} HTTP/1.1\r\nHost: example.org${port}\r\n\r\nping`;
    expect(await everything(stage.dial().end(request))).toBe("HTTP/1.1 200 Connection Established\r\n\r\nping");
    await expect
      .poll(async () => (await stage.recorded()).at(-1))
      .toEqual({
        host: "example.org",
        port: Number(port.slice(1)),
        verdict: "allowed",
        reason: "listed",
        connections: 1,
        bytesOut: 4,
        bytesIn: 4,
        address: loopback,
      });
  });

  test("to an unlisted host is refused in its first line, which programs show", async () => {
    await using stage = await openStage();
    expect(await stage.say("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 403 corral: host example\.org is not on the list: corral network allow example\.org\r\n/,
    );
  });

  test.each([
    "127.0.0.1:443",
    "localhost:443",
    "[::1]:443",
    "2130706433:443",
    "0x7f.1:443",
    "0177.0.0.1:443",
    "[::ffff:127.0.0.1]:443",
    "example.org@127.0.0.1:443",
    "metadata.google.internal:80",
  ])("to %s is refused whatever the list says", async (authority) => {
    await using stage = await openStage();
    stage.list = ["127.0.0.1", "localhost", "*.internal", "example.org"];
    expect(await stage.say(`CONNECT ${authority} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 40[03] corral: /);
    expect(stage.asked).toEqual([]);
  });

  test("goes to the address that was judged: a name that leads elsewhere when asked again changes nothing", async () => {
    const answers = [["93.184.215.14", "127.0.0.1"], ["127.0.0.1"]];
    await using stage = await openStage({
      exceptions: new Set(),
      resolve: () => Promise.resolve(answers.shift() ?? []),
    });
    stage.list = ["example.org"];
    const ask = () => stage.say("CONNECT example.org:443 HTTP/1.1\r\n\r\n");
    const refused = /^HTTP\/1\.1 403 corral: host example\.org leads to this machine or a private network/;
    expect(await ask()).toMatch(refused);
    expect(await ask()).toMatch(refused);
    expect(answers).toEqual([]);
  });

  test("is asked about once, and the answer is what is connected to", async () => {
    await using stage = await openStage();
    const port = await stage.serveTcp((socket) => socket.end("here"));
    stage.list = [`example.org${port}`];
    expect(await stage.say(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`)).toMatch(/here$/);
    expect(stage.asked).toEqual(["example.org"]);
  });

  test("with another name in its TLS is not refused, and the name is on record", async () => {
    await using stage = await openStage();
    const greeted = Promise.withResolvers<void>();
    const port = await stage.serveTcp((socket) => socket.once("data", () => greeted.resolve()));
    stage.list = [`example.org${port}`];
    const socket = stage.dial();
    socket.write(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`);
    await once(socket, "data");
    connectTls({ socket, servername: "Fronted.example.net" }).on("error", () => undefined);
    await greeted.promise;
    await expect.poll(async () => (await stage.recorded()).at(-1)?.serverNames).toEqual(["fronted.example.net"]);
    socket.destroy();
  });

  test("ends with the connection that it was asked for by", async () => {
    await using stage = await openStage();
    const ended = Promise.withResolvers<void>();
    const port = await stage.serveTcp((socket) => socket.resume().on("end", () => ended.resolve(void socket.end())));
    stage.list = [`example.org${port}`];
    const socket = stage.dial();
    socket.write(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`);
    await once(socket, "data");
    socket.destroy();
    await ended.promise;
  });
});

describe("who takes too long", () => {
  test("to say what is wanted is cut off", async () => {
    await using stage = await openStage({ deadlines: { headersMs: 20 } });
    const socket = stage.dial();
    socket.write("GET http://example.org/ HTTP/1.1\r\nHost: exam");
    expect(await everything(socket)).toMatch(/^(HTTP\/1\.1 4|$)/);
  });

  test("to connect is given up", async () => {
    await using stage = await openStage({ exceptions: new Set(["192.0.2.1"]), deadlines: { connectMs: 1 } });
    stage.list = ["example.org"];
    stage.addresses.set("example.org", ["192.0.2.1"]);
    expect(await stage.say("CONNECT example.org:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 502 corral: /);
  });

  test("without a byte is cut off, and so is who has gone half away", async () => {
    await using stage = await openStage({ deadlines: { idleMs: 50, halfOpenMs: 20 } });
    const ends: Promise<unknown>[] = [];
    const port = await stage.serveTcp((socket) => void ends.push(once(socket.resume(), "end")));
    stage.list = [`example.org${port}`];
    const idle = stage.dial();
    idle.write(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`);
    const half = stage.dial().end(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`);
    await Promise.all([everything(idle), everything(half)]);
    // A way that its asker was cut off from before it was open is opened, and closed at once.
    await expect.poll(() => ends.length).toBe(2);
    await Promise.all(ends);
  });

  test("many at once do not keep others out for ever", async () => {
    await using stage = await openStage({ deadlines: { headersMs: 50 } });
    const port = await stage.serve((_request, response) => response.end("hello"));
    stage.list = [`example.org${port}`];
    const many = Array.from({ length: 300 }, () => stage.dial());
    await Promise.all(many.map((socket) => once(socket.resume(), "close")));
    // Who asks has as little time as they had, which may pass while this process is kept from the processor.
    await expect
      .poll(() =>
        stage.say(`GET http://example.org${port}/ HTTP/1.1\r\nHost: example.org${port}\r\nConnection: close\r\n\r\n`),
      )
      .toContain("200");
  });
});

test("the gateway of this machine is never reached, by whatever name or address", async () => {
  await using stage = await openStage({ exceptions: new Set() });
  let reached = 0;
  const port = await stage.serve((_request, response) => response.end(String((reached += 1))));
  stage.list = [`example.org${port}`];
  const authorities = [`example.org${port}`, `127.0.0.1${port}`, `localhost${port}`, `[::1]${port}`, `0${port}`];
  for (const authority of authorities) {
    expect(await stage.say(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 40/,
    );
    expect(await stage.say(`CONNECT ${authority} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 40/);
  }
  expect(reached).toBe(0);
  // The counter-probe: it is there.
  await new Promise((resolve) => get(`http://${loopback}${port}/`, (response) => response.resume().on("end", resolve)));
  expect(reached).toBe(1);
});
