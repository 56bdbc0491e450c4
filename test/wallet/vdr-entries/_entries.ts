/** Calls of `/vdr/entries`, whose bodies are bytes, and DIDs with VDR keys. */
import type { Tenant } from '../../support/api.ts'
import { until } from '../../support/tenants.ts'

type Answer = { status: number; body: any; bytes: Uint8Array; type: string | null }

const octets = 'application/octet-stream'

/** Sends a request about an entry. The body of a reply in JSON is parsed. */
export async function askEntry(
  { url }: { url: string },
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
  agent: { url: string },
  apiKey: string,
  content: Uint8Array,
  query: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await askEntry(agent, 'POST', query, { apiKey, content })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.url
}

/** Creates a did:prism with VDR keys. */
export async function createVdrDid({ call }: Pick<Tenant, 'call'>, ...ids: string[]): Promise<string> {
  const internalKeys = ids.map((id) => ({ id, purpose: 'vdr' as const }))
  const { longFormDid } = await call('POST /did-registrar/dids', {
    body: { documentTemplate: { internalKeys } },
  })
  return longFormDid.split(':').slice(0, 3).join(':')
}

export async function publish({ call }: Pick<Tenant, 'call'>, did: string): Promise<string> {
  await call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
  await settled({ call }, did)
  return did
}

/** Waits until a DID has no pending operation. */
export async function settled({ call }: Pick<Tenant, 'call'>, did: string): Promise<void> {
  await until(
    'confirmation',
    () => call('GET /did-registrar/dids/{didRef}', { path: { didRef: did } }),
    ({ status, pendingOperation }) => status === 'PUBLISHED' && pendingOperation === undefined,
  )
}
