/** A claims source with scripted answers, which records the requests to it. */
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { publishSchema } from '../../support/tenants.ts'
import type { Setup } from './_wallet.ts'

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

const employee = {
  properties: {
    employeeId: { type: 'string' },
    department: { type: 'string' },
    level: { type: 'integer' },
  },
  required: ['employeeId', 'department'],
  additionalProperties: false,
}

/** Adds a configuration of employees whose department comes from a source, and the secret of the issuer. */
export async function addSource(
  { tenant, issuerId, issuingDID }: Pick<Setup, 'tenant' | 'issuerId' | 'issuingDID'>,
  url: string,
  { format = 'jwt_vc_json', ...settings }: SourceSettings = {},
): Promise<{ secret: string; configurationId: string }> {
  const path = { issuerId }
  const { secret } = await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path })
  const configurationId = `Employee-${randomUUID()}`
  const schemaId = await publishSchema(tenant, issuingDID, { name: configurationId, ...employee })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path,
    body: { configurationId, format, schemaId, claimsSource: { url, ...settings } },
  })
  return { secret, configurationId }
}

export type SourceSettings = {
  format?: 'jwt_vc_json' | 'dc+sd-jwt'
  onFailure?: 'defer' | 'fail'
  keepClaims?: boolean
}
