/** A claims source with scripted answers, which records the requests to it. */
import { Webhook } from 'standardwebhooks'
import { openReceiver, type Receiver } from '../../support/receiver.ts'

/** `silent`: no answer. `cut`: the connection breaks. A text is the body as it is. */
export type Scripted = 'silent' | 'cut' | { status: number; body?: unknown; headers?: Record<string, string> }

export type TestSource = Receiver & {
  /** The requests as JSON. */
  asked: () => any[]
  /** The `webhook-id` of each request. */
  ids: () => unknown[]
  /** Replaces the answers. The last one is repeated. */
  answers: (...scripted: Scripted[]) => void
  /** Verifies the signature of a request as a tenant does. @throws without a valid one */
  verify: (secret: string, nth?: number) => unknown
}

export const filled = (claims: object, rest: object = {}): Scripted => ({
  status: 200,
  body: { claims, ...rest },
})

export async function openSource(...first: Scripted[]): Promise<TestSource> {
  let left = first
  const receiver = await openReceiver((response) => {
    const next = left.length > 1 ? left.shift()! : left[0]!
    if (next === 'silent') return
    if (next === 'cut') return void response.destroy()
    const { status, body, headers } = next
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  })
  return {
    ...receiver,
    asked: () => receiver.bodies.map((body) => JSON.parse(body)),
    ids: () => receiver.requests.map(({ headers }) => headers['webhook-id']),
    answers: (...scripted) => (left = scripted),
    verify: (secret, nth = 0) =>
      new Webhook(secret).verify(
        receiver.bodies[nth]!,
        receiver.requests[nth]!.headers as Record<string, string>,
      ),
  }
}
