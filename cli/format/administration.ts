/** Formats tenants, API keys, policies, audit entries and profiles. */
import type { Answer } from '../client/api.ts'
import { partOf } from '../input/credential.ts'
import { type Login, readLogin } from '../login/store.ts'
import { inStyle, type Styled } from './colour.ts'
import { safeLine } from './text.ts'
import { briefTime, whenAhead } from './time.ts'
import type { Column } from './table.ts'
import { profileNames, profilePath, readProfile, type Profile } from '../../src/foundation/config/profile.ts'

export function tenantFields({ id, name, walletId, createdAt, updatedAt }: Answer<'GET /iam/entities/{id}'>) {
  return [
    ['tenant', id],
    ['name', name],
    ['wallet', walletId],
    ['created', createdAt],
    ['updated', updatedAt],
  ] as const
}

type ApiKey = Answer<'GET /iam/entities/{id}/api-keys'>['contents'][number]

export function keyState({ state }: ApiKey) {
  return inStyle(state === 'active' ? 'good' : 'bad', state)
}

export function keyScopes({ scopes }: ApiKey): string {
  return scopes?.join(' ') ?? 'everything'
}

/** Returns the fields of a key, without its secret. */
export function keyFields(key: ApiKey) {
  return [
    ['key', key.id],
    ['name', key.name],
    ['tenant', key.entityId],
    ['state', keyState(key)],
    ['for', keyScopes(key)],
    ['created', key.createdAt],
    ['last used', key.lastUsedAt],
    ['expires', key.expiresAt && whenAhead(key.expiresAt, Date.now())],
    ['revoked', key.revokedAt],
  ] as const
}

export type Policy = Answer<'GET /verification/policies/{id}'>

export function policyFields({
  id,
  name,
  description,
  nonce,
  constraints,
  updatedAt,
}: Policy): [name: string, value: unknown][] {
  return [
    ['policy', id],
    ['name', name],
    ['description', description || undefined],
    ['accepts', constraints.length === 0 ? 'any credential' : undefined],
    ...constraints.map((constraint): [string, unknown] => ['accepts', acceptedBy(constraint)]),
    ['version', nonce],
    ['updated', updatedAt],
  ]
}

export function acceptedBy({ schemaId, trustedIssuers = [] }: Policy['constraints'][number]): string {
  return `${schemaId} of ${trustedIssuers?.length ? trustedIssuers.join(', ') : 'any issuer'}`
}

export type AuditEntry = Answer<'GET /audit'>['contents'][number]

const styles = { succeeded: 'good', failed: 'waiting', refused: 'bad', unknown: 'waiting' } as const

/** Returns the outcome of an entry, such as `refused 401 ×20`. */
export function outcomeOf({ outcome, status, count }: AuditEntry): Styled {
  return inStyle(styles[outcome], [outcome, status, count && `×${count}`].filter(Boolean).join(' '))
}

/** Returns the actor with its entity or the subject of its token, or the address of an unauthenticated caller. */
function doerOf({ actor, entityId, login, address }: AuditEntry): string {
  if (actor === 'anonymous') return address ?? 'many addresses'
  const name = entityId ?? login
  return name === undefined ? actor : `${actor} ${name}`
}

/** Returns the ids of the subject, such as `id=… keyId=…`. */
function aboutOf({ subject = {} }: AuditEntry): string {
  return Object.entries(subject)
    .map(([name, id]) => `${name}=${id}`)
    .join(' ')
}

export const auditColumns: Column<AuditEntry>[] = [
  { head: 'no.', of: ({ sequence }) => String(sequence) },
  { head: 'time', of: ({ at }) => at, brief: briefTime },
  { head: 'who', of: doerOf, isId: true, cut: 'end' },
  { head: 'what', of: ({ action }) => safeLine(action), cut: 'end' },
  { head: 'outcome', of: outcomeOf },
  { head: 'about', of: aboutOf, isId: true, cut: 'end', optional: true },
]

type ListedNode = Answer<'GET /_system/nodes'>['contents'][number]

export const nodeColumns: Column<ListedNode>[] = [
  { head: 'node', of: ({ name, answers }) => `${safeLine(name)}${answers ? ' (this)' : ''}` },
  { head: 'state', of: ({ state }) => state },
  { head: 'shards', of: ({ shards }) => String(shards) },
  { head: 'release', of: ({ release }) => safeLine(release) },
  { head: 'started', of: ({ startedAt }) => startedAt },
  { head: 'address', of: ({ address }) => safeLine(address), optional: true },
]

const hidden = '***'

/** A profile in `--json` output. An unreadable profile has an error instead. */
type ShownProfile = {
  name: string
  inUse: boolean
  file: string
  kind?: Profile['kind']
  url?: string
  didcommUrl?: string
  dataDir?: string
  startedAt?: string
  apiKey?: string
  adminKey?: string
  /** Of `agent login`. */
  login?: ShownLogin
  error?: string
}

/** The person that a token identifies. Undefined members: the token does not have them. */
type ShownLogin = {
  issuer: string
  subject?: string
  walletId?: string
  expiresAt?: string
  /** The provider gives new tokens. */
  isRenewed: boolean
}

/** Returns a login without its tokens. Only the daemon verifies the token. */
export function showLogin({ issuer, accessToken, refreshToken, expiresAt, walletId }: Login): ShownLogin {
  const { sub } = partOf(accessToken, 1)
  return {
    issuer,
    ...(typeof sub === 'string' && { subject: sub }),
    ...(walletId !== undefined && { walletId }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt * 1_000).toISOString() }),
    isRenewed: refreshToken !== undefined,
  }
}

/** Returns a profile without its keys. `inUse` is the name of the selected profile. */
export function showProfile(configDir: string, name: string, profile: Profile, inUse: string): ShownProfile {
  const { kind, url, apiKey, adminToken } = profile
  const login = readLogin(configDir, name)
  return {
    name,
    inUse: name === inUse,
    kind,
    url,
    ...(profile.kind === 'local' && {
      didcommUrl: profile.didcommUrl,
      dataDir: profile.dataDir,
      startedAt: profile.startedAt,
    }),
    ...(apiKey !== undefined && { apiKey: hidden }),
    ...(adminToken !== undefined && { adminKey: hidden }),
    // Tokens are sent to the daemon that they were obtained for.
    ...(login?.url === url && { login: showLogin(login) }),
    file: profilePath(configDir, name),
  }
}

/** Returns what is known without a profile: of `agent login` at a daemon of this machine. */
export function showLoginOnly(name: string, login: Login, file: string, inUse: string): ShownProfile {
  return { name, inUse: name === inUse, url: login.url, login: showLogin(login), file }
}

/** Returns all profiles, sorted by name. @throws {StartError} when the folder is not readable */
export function showProfiles(configDir: string, inUse: string): ShownProfile[] {
  return profileNames(configDir).map((name) => {
    try {
      return showProfile(configDir, name, readProfile(configDir, name)!, inUse)
    } catch (error) {
      return {
        name,
        inUse: name === inUse,
        file: profilePath(configDir, name),
        error: (error as Error).message,
      }
    }
  })
}

const places = { local: 'on this machine', remote: 'by its address' } as const

export const profileColumns: Column<ShownProfile>[] = [
  { head: 'profile', of: ({ name }) => name },
  { head: 'in use', of: ({ inUse }) => (inUse ? 'yes' : '') },
  { head: 'daemon', of: ({ kind }) => (kind === undefined ? 'not valid' : places[kind]) },
  { head: 'url', of: ({ url, error }) => url ?? error, cut: 'end' },
  { head: 'keys', of: keysOf, optional: true },
]

export function profileFields(shown: ShownProfile): [name: string, value: unknown][] {
  return [
    ['profile', shown.name],
    ['in use', shown.inUse ? 'yes' : 'no'],
    ['daemon', shown.kind && places[shown.kind]],
    ['url', shown.url],
    ['didcomm', shown.didcommUrl],
    ['data', shown.dataDir],
    ['started', shown.startedAt],
    ['keys', keysOf(shown)],
    ['signed in at', shown.login?.issuer],
    ['as', shown.login?.subject],
    ['wallet', shown.login?.walletId],
    ['until', shown.login && endOf(shown.login)],
    ['file', shown.file],
  ]
}

function keysOf({ apiKey, adminKey, login }: ShownProfile): string {
  const all = [apiKey && 'tenant’s', adminKey && 'administrator’s', login && 'token of agent login']
  return all.filter(Boolean).join(', ') || 'none'
}

/** When a login ends: with its token, unless that is renewed. */
function endOf({ expiresAt, isRenewed }: ShownLogin): string {
  if (isRenewed) return 'agent logout: the token is renewed automatically'
  return expiresAt === undefined ? 'the provider ends it' : whenAhead(expiresAt, Date.now())
}
