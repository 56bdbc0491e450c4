/** Raw requests, for statuses, headers and bodies that the typed client does not send or show. */
import { request } from 'node:http'
import type { TestAgent } from './agent.ts'

export type Reply = { status: number; body: any; headers: Headers }

/**
 * Sends one request. Reads JSON, or a JWT as text. `body` is sent as JSON unless it is a string; `apiKey`
 * sets the `apikey` header.
 */
export async function ask(
  agent: Pick<TestAgent, 'url'>,
  key: string,
  {
    body,
    apiKey,
    headers,
    type = 'application/json',
  }: { body?: unknown; apiKey?: string | undefined; headers?: Record<string, string>; type?: string } = {},
): Promise<Reply> {
  const [method, target] = key.split(' ') as [string, string]
  const response = await fetch(URL.canParse(target) ? target : agent.url + target, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': type }),
      ...(apiKey !== undefined && { apikey: apiKey }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJwt = response.headers.get('content-type')?.includes('jwt') ?? false
  return {
    status: response.status,
    body: text === '' ? undefined : isJwt ? text : JSON.parse(text),
    headers: response.headers,
  }
}

/** Returns the status of a health request with headers that `fetch` sets by itself. */
export function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/_system/health`, { headers }, (response) =>
      resolve(response.resume().statusCode),
    )
    sent.on('error', reject).end()
  })
}
