/** Calls of `/vdr/entries`, whose bodies are bytes. */
import type { TestAgent } from '../_agent.ts'

type Answer = { status: number; body: any; bytes: Uint8Array; type: string | null }

const octets = 'application/octet-stream'

/** Sends a request about an entry. The body of a reply in JSON is parsed. */
export async function askEntry(
  { url }: Pick<TestAgent, 'url'>,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  query: Record<string, string>,
  { apiKey, content, type = octets }: { apiKey?: string; content?: Uint8Array; type?: string } = {},
): Promise<Answer> {
  const response = await fetch(`${url}/vdr/entries?${new URLSearchParams(query).toString()}`, {
    method,
    headers: {
      ...(apiKey !== undefined && { apikey: apiKey }),
      ...(content !== undefined && { 'content-type': type }),
    },
    ...(content !== undefined && { body: Buffer.from(content) }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const answered = response.headers.get('content-type')
  const body = answered === octets ? undefined : JSON.parse(Buffer.from(bytes).toString())
  return { status: response.status, body, bytes, type: answered }
}

/** Creates an entry and returns its URL. */
export async function createEntry(
  agent: Pick<TestAgent, 'url'>,
  apiKey: string,
  content: Uint8Array,
  query: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await askEntry(agent, 'POST', query, { apiKey, content })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.url
}
