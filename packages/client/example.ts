import { CorralError, createClient, isKnown, newId } from "@corral/client";

const { CORRAL_URL: url = "", CORRAL_TOKEN: token } = process.env;
const client = createClient({ url, token });
try {
  const project = await client.projects.register({ path: process.cwd() });
  const session = await client.sessions.create({ projectId: project.id });
  await client.sessions.admit(session.id, { id: newId("input"), text: process.argv[2] ?? "look around" });

  for await (const news of client.follow({ session: session.id, after: session.seq - 1 })) {
    if (news.kind === "gap") console.log(`(events ${news.from} to ${news.to} are no longer kept)`);
    if (news.kind !== "event" || !isKnown(news.event)) continue;
    if (news.event.type === "turn.said") console.log(news.event.data.text);
    if (news.event.type === "activity.settled") break;
  }
} catch (error) {
  if (!(error instanceof CorralError)) throw error;
  console.error(`${error.code}: ${error.message}\n${error.hint ?? ""}`);
  process.exitCode = 1;
}
