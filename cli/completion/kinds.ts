/** Which things a flag or an argument names. */
import type { ResourceName } from '../client/resources.ts'
import { definitions } from '../../src/protocols/definitions.ts'
import type { State } from '../../src/protocols/engine/machine.ts'
import type { Place } from './words.ts'

/** What there are lists of. */
export type Kind = ResourceName | 'profile' | 'record'

const flags: Readonly<Record<string, Kind | 'file'>> = {
  'admin-key-file': 'file',
  'api-key-file': 'file',
  author: 'did',
  connection: 'connection',
  credential: 'credential',
  'data-dir': 'file',
  definition: 'creddef',
  did: 'did',
  'issuing-did': 'did',
  'key-file': 'file',
  'mnemonic-file': 'file',
  output: 'file',
  'passphrase-file': 'file',
  policy: 'policy',
  profile: 'profile',
  'qr-file': 'file',
  record: 'file',
  replaces: 'apiKey',
  schema: 'schema',
  'seed-file': 'file',
  subject: 'did',
  tenant: 'tenant',
  to: 'webhook',
  wallet: 'wallet',
}

const args: Readonly<Record<string, Kind | 'file'>> = {
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

/** What `id`, `guid` and `name` are of, by topic. */
const topics: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  id: {
    auth: 'challenge',
    connection: 'connection',
    credential: 'credential',
    onboard: 'didRequest',
    policy: 'policy',
    'presentation-definition': 'definition',
    proof: 'proof',
    tenant: 'tenant',
    trace: 'record',
    wallet: 'wallet',
    webhook: 'webhook',
  },
  guid: { creddef: 'creddef' },
  name: { profile: 'profile' },
}

/** What belongs in a place, if anybody knows; names that are made up here belong to nothing yet. */
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
  // The schema itself, and schemas that others name by URLs.
  if (name === 'schema' && topic === 'schema') return 'file'
  if (name === 'schema' && topic === 'connection') return undefined
  // A filter, which may have %.
  if (name === 'author' && id.endsWith(':list')) return undefined
  return flags[name]
}

/** The states in which a command expects its record; none if it accepts all. */
export function expectedStates(commandId: string): string[] {
  const command = commandId.replace(':', ' ')
  const states = definitions.flatMap((each) => Object.entries<State>(each.states))
  return states.flatMap(([state, { commands }]) => (commands?.includes(command) ? [state] : []))
}
