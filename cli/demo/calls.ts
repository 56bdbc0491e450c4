/** API calls of the demo as `curl` lines and as `agent` commands. */
import { splitKey } from '../client/api.ts'

export type Input = { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown }

/** The shell variables of the base URL and the key, without `$`, and the header of the key. */
export type Caller = { base: string; header: 'apikey' | 'x-admin-api-key'; key: string }

/**
 * Returns the `curl` line of a call. `names` maps values to shell variables, such as DIDs, which are too long
 * to read. `$JSON` is the Content-Type header.
 */
export function curlLine(
  key: string,
  input: Input,
  { base, header, key: secret }: Caller,
  names: ReadonlyMap<string, string>,
): string {
  const [method, path] = splitKey(key)
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    replaceNamed(String(input.path?.[name]), names, (variable) => `$${variable}`),
  )
  const query = new URLSearchParams(
    Object.entries(input.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const words = [
    'curl',
    ...(method === 'GET' || (method === 'POST' && input.body !== undefined) ? [] : ['-X', method]),
    query === '' ? `$${base}${target}` : `"$${base}${target}?${query}"`,
    '-H',
    `"${header}: $${secret}"`,
  ]
  if (input.body !== undefined)
    words.push(
      '-H',
      '"$JSON"',
      '-d',
      replaceNamed(quote(JSON.stringify(input.body)), names, (variable, value) =>
        /\s/.test(value) ? `'"$${variable}"'` : `'$${variable}'`,
      ),
    )
  return words.join(' ')
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Replaces the longest values first, because one may contain another. */
function replaceNamed(
  text: string,
  names: ReadonlyMap<string, string>,
  written: (variable: string, value: string) => string,
): string {
  const byLength = [...names].toSorted(([one], [other]) => other.length - one.length)
  return byLength.reduce(
    (result, [value, name]) => result.replaceAll(value, () => written(name, value)),
    text,
  )
}

type Body = Record<string, any>
type Words = readonly (string | undefined)[]

const flags = (values: Readonly<Record<string, string | number | undefined>>): Words =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]))

const claimFlag = ([name, value]: [string, unknown]): Words => [
  '--claim',
  typeof value === 'string' ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`,
]

/** The words after `agent`, by endpoint. */
const commands: Readonly<Record<string, (body: Body, id: string) => Words | undefined>> = {
  // One command makes these three calls.
  'POST /wallets': ({ name }) => ['tenant', 'create', name],
  'POST /did-registrar/dids': ({ documentTemplate: { publicKeys } }) => {
    const hasAssertionKey = publicKeys.some(({ purpose }: Body) => purpose === 'assertionMethod')
    return ['did', 'create', ...flags({ 'assertion-curve': hasAssertionKey ? undefined : 'none' })]
  },
  'POST /did-registrar/dids/{didRef}/publications': (_, did) => ['did', 'publish', did, '--wait'],
  'POST /schema-registry/schemas': ({ name, version, author, schema }) => {
    const named = flags({ name, version, author, schema: JSON.stringify(schema) })
    return ['schema', 'publish', ...named]
  },
  'POST /connections': ({ label, goal }) => ['connection', 'invite', ...flags({ label, goal })],
  'POST /connection-invitations': ({ invitation }) => ['connection', 'accept', invitation],
  'POST /issue-credentials/credential-offers': ({ connectionId, issuingDID, claims, ...body }) => [
    'credential',
    'offer',
    ...flags({ connection: connectionId, 'issuing-did': issuingDID }),
    ...Object.entries(claims).flatMap(claimFlag),
    ...flags({ schema: body.schemaId, validity: body.validityPeriod }),
  ],
  'POST /issue-credentials/records/{recordId}/accept-offer': ({ subjectId }, id) => {
    return ['credential', 'accept', id, '--subject', subjectId]
  },
  'POST /issue-credentials/records/{recordId}/issue-credential': (_, id) => ['credential', 'issue', id],
  'PATCH /credential-status/revoke-credential/{id}': (_, id) => ['credential', 'revoke', id, '--yes'],
  'POST /present-proof/presentations': ({ connectionId, proofs: [proof] }) => [
    'proof',
    'request',
    ...flags({ connection: connectionId, schema: proof?.schemaId }),
    ...(proof?.trustIssuers ?? []).flatMap((issuer: string) => ['--trust-issuer', issuer]),
  ],
  'PATCH /present-proof/presentations/{presentationId}': ({ action, proofId }, id) =>
    action === 'request-accept'
      ? ['proof', 'present', id, ...proofId.flatMap((each: string) => ['--credential', each])]
      : ['proof', 'accept', id],
  'POST /onboard/did-requests': ({ from }) => ['onboard', 'create', ...flags({ from })],
  'POST /onboard/answers': ({ didRequest, did }) => {
    const which = did === undefined ? ['--new'] : ['--did', did]
    return ['onboard', 'submit', JSON.stringify(didRequest), ...which]
  },
  'GET /onboard/did-requests/{didRequestId}': (_, id) => ['onboard', 'show', id, '--wait'],
  'POST /did-authentication/challenges': ({ from }) => ['signin', 'create', ...flags({ from })],
  'POST /did-authentication/answers': ({ challenge, did }) => {
    return ['signin', 'respond', JSON.stringify(challenge), '--did', did]
  },
  'GET /did-authentication/challenges/{challengeId}': (_, id) => ['signin', 'show', id, '--wait'],
  'POST /did-authentication/challenges/{challengeId}/token': (_, id) => ['signin', 'token', id],
}

/**
 * Returns the command for a call. Undefined for a part of a command. `names` maps values to shell variables.
 * Without a profile it has no `--profile`.
 */
export function cliLine(
  key: string,
  input: Input,
  profile: string | undefined,
  names: ReadonlyMap<string, string>,
): string | undefined {
  const [id = ''] = Object.values(input.path ?? {}).map(String)
  const words = commands[key]?.(input.body ?? {}, id)
  if (!words) return undefined
  const word = (text: string) => {
    const name = names.get(text)
    if (name !== undefined) return /^[\w:./=-]+$/.test(text) ? `$${name}` : `"$${name}"`
    return /^[\w%+=:,./@-]+$/.test(text) ? text : quote(text)
  }
  return ['agent', ...[...words, ...flags({ profile })].map((text) => word(text!))].join(' ')
}
