/** What commands print of profiles. Keys are said to be there, and never shown. */
import { profileNames, profilePath, readProfile, type Profile } from '../../src/base/profile.ts'
import type { Column } from './table.ts'

const hidden = '***'

/** A profile as `--json` has it; one that cannot be read says why instead. */
export type ShownProfile = {
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
  error?: string
}

/** A profile without its keys. `inUse` is the name of the profile in use. */
export function showProfile(configDir: string, name: string, profile: Profile, inUse: string): ShownProfile {
  const { kind, url, apiKey, adminToken } = profile
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
    file: profilePath(configDir, name),
  }
}

/** All profiles, in the order of their names. @throws {StartError} when the folder cannot be read. */
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

const places = { local: 'on this machine', remote: 'elsewhere' } as const

/** The columns of a list. */
export const profileColumns: Column<ShownProfile>[] = [
  { head: 'profile', of: ({ name }) => name },
  { head: 'in use', of: ({ inUse }) => (inUse ? 'yes' : '') },
  { head: 'daemon', of: ({ kind }) => (kind === undefined ? 'not valid' : places[kind]) },
  { head: 'url', of: ({ url, error }) => url ?? error, cut: 'end' },
  { head: 'keys', of: keysOf, optional: true },
]

/** A profile as names and values. */
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
    ['file', shown.file],
  ]
}

function keysOf({ apiKey, adminKey }: ShownProfile): string {
  return [apiKey && 'tenant’s', adminKey && 'administrator’s'].filter(Boolean).join(', ') || 'none'
}
