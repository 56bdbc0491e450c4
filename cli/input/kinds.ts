/** Maps flags and arguments to the kind of resource that they name. */
import type { ResourceName } from '../client/resources.ts'
import type { Place } from '../completion/words.ts'

/** The kinds of which completion lists the ids. */
export type Kind = ResourceName | 'profile' | 'record'

const flags: Readonly<Record<string, Kind | 'file'>> = {
  'admin-key-file': 'file',
  'api-key-file': 'file',
  after: 'event',
  author: 'did',
  certificate: 'issuerCertificate',
  'client-key': 'issuerCertificate',
  'client-secret-file': 'file',
  connection: 'connection',
  credential: 'credential',
  'data-dir': 'file',
  definition: 'creddef',
  did: 'did',
  event: 'event',
  'issuing-did': 'did',
  'key-file': 'file',
  'mnemonic-file': 'file',
  oid4vci: 'issuer',
  output: 'file',
  'passphrase-file': 'file',
  policy: 'policy',
  profile: 'profile',
  'qr-file': 'file',
  record: 'file',
  replaces: 'apiKey',
  schema: 'schema',
  'seed-file': 'file',
  'signing-did': 'did',
  subject: 'did',
  tenant: 'tenant',
  transcript: 'file',
  to: 'webhook',
  'trust-issuer': 'did',
  wallet: 'wallet',
}

const args: Readonly<Record<string, Kind | 'file'>> = {
  anchor: 'file',
  challenge: 'file',
  credential: 'file',
  did: 'did',
  envelope: 'file',
  file: 'file',
  guid: 'schema',
  key: 'apiKey',
  request: 'file',
  schema: 'schema',
  wallet: 'wallet',
  whom: 'connection',
}

/** The kind of the arguments `id`, `guid` and `name`, by topic. */
const topics: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  id: {
    connection: 'connection',
    credential: 'credential',
    event: 'event',
    issuer: 'issuer',
    'issuer-cert': 'issuerCertificate',
    oid4vc: 'credential',
    onboard: 'didRequest',
    policy: 'policy',
    'presentation-definition': 'definition',
    proof: 'proof',
    signin: 'challenge',
    tenant: 'tenant',
    trace: 'record',
    trust: 'trustAnchor',
    wallet: 'wallet',
    webhook: 'webhook',
  },
  // A token may stand for the record.
  from: { dcql: 'credential' },
  guid: { creddef: 'creddef' },
  name: { profile: 'profile' },
}

/** Returns the kind of the value at a position. Undefined if it has none, such as the name of a new tenant. */
export function kindOf({
  command: { id },
  kind,
  name,
}: {
  command: { id: string }
  kind: Place['kind']
  name: string
}): Kind | 'file' | undefined {
  const [topic = ''] = id.split(':')
  if (kind === 'arg') return id === 'profile:add' ? undefined : (topics[name]?.[topic] ?? args[name])
  // Here `schema` is a JSON document or a URL.
  if (name === 'schema' && topic === 'schema') return 'file'
  if (name === 'schema' && topic === 'connection') return undefined
  // A filter, with % as a wildcard.
  if (name === 'author' && id.endsWith(':list')) return undefined
  // Elsewhere it is the id of a request.
  if (name === 'request' && id === 'decode') return 'file'
  // Elsewhere it is a webhook.
  if (name === 'to' && id === 'wallet:move') return 'profile'
  return flags[name]
}
