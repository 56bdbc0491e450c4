/** Collects values from answers other than ids: one-time links, tokens, and reachable DIDs. */
import type { Found } from './_found.ts'
import type { Operation, Tenant } from './_place.ts'

type Body = Record<string, any>

// prettier-ignore
const lessons: Readonly<Record<string, (add: (name: string, value: string) => void, body: Body, target: string) => void>> = {
  'POST /connections': (add, { invitation }) => add('an invitation', `${invitation.id} ${invitation.from}`),
  'POST /issue-credentials/credential-offers/invitation': (add, { invitation }) => add('offer _oob', oobOf(invitation.invitationUrl)),
  'POST /present-proof/presentations/invitation': (add, { invitation }) => add('request _oob', oobOf(invitation.invitationUrl)),
  'POST /did-authentication/challenges': (add, { challenge }) => add('open challenge', JSON.stringify(challenge)),
  'POST /iam/entities/{id}/api-keys': (add, { id, apiKey }, target) => {
    add('entity and key', `${target.split('/')[3]} ${id}`)
    add('entity and secret', `${target.split('/')[3]} ${apiKey}`)
  },
  'POST /verification/policies': (add, { id, nonce }) => add('policy and nonce', `${id} ${nonce}`),
  'PUT /verification/policies/{id}': (add, { id, nonce }) => add('policy and nonce', `${id} ${nonce}`),
  'POST /schema-registry/schemas/did-url': (add, { resource }) => {
    const { id, guid } = JSON.parse(Buffer.from(resource, 'base64url').toString()) as Record<string, string>
    add('id of /schema-registry/schemas/did-url', id!)
    add('guid of /schema-registry/schemas/did-url', guid!)
  },
  'GET /issue-credentials/records/{recordId}': (add, { credential }) => credential && add('jwt', Buffer.from(credential, 'base64url').toString()),
}

/** Collects values from a JSON answer to a tenant. */
export function learnAnswer(
  found: Found,
  { name: owner }: Tenant,
  { key, path }: Operation,
  target: string,
  text: string,
): void {
  const body = parse(text)
  if (typeof body !== 'object' || body === null) return
  found.learn(owner, path.replace(/\/\{\w+\}$/, ''), body)
  try {
    lessons[key]?.((name, value) => found.add(owner, name, value), body, target)
  } catch {
    // Other tests check the form of answers.
  }
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const oobOf = (url: string) => new URL(url).searchParams.get('_oob')!
