// What is asked of the server.
export const base = document.body.dataset.base ?? "";
export const project = document.body.dataset.project ?? "";

// The one place where text becomes HTML: an answer of this server's, whose templates escape what they did not write.
interface Policy {
  createHTML(text: string): string;
}
interface Policies {
  createPolicy(name: string, rules: { createHTML: (text: string) => string }): Policy;
}
const policies = (window as unknown as { trustedTypes?: Policies }).trustedTypes;
const policy: Policy = policies
  ? policies.createPolicy("answer", { createHTML: (text) => text })
  : { createHTML: (text) => text };

// part asks for one part of a document and gives its nodes; an error is the server's words.
export async function part(path: string, name: string, signal: AbortSignal): Promise<DocumentFragment> {
  return nodes(await fetch(path, { headers: { "Rewind-Part": name }, signal }));
}

// send does something, and gives the answer's nodes.
export async function send(path: string, body: unknown, signal: AbortSignal | null): Promise<DocumentFragment> {
  const headers = { "Content-Type": "application/json" };
  return nodes(await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

// text asks for a text that is no document.
export async function text(path: string): Promise<string> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

async function nodes(answer: Response): Promise<DocumentFragment> {
  const holder = document.createElement("template");
  holder.innerHTML = policy.createHTML(await answer.text());
  if (!answer.ok && answer.status !== 409) throw new Refusal(holder.content);
  return holder.content;
}

// Refusal is an error with the server's words for it.
export class Refusal extends Error {
  constructor(readonly words: DocumentFragment) {
    super(words.textContent ?? "");
  }
}
