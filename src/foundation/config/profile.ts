/**
 * Profiles: how the command line finds a daemon, and its keys.
 *
 * A daemon writes its profile when it starts, and keeps its secrets there for the next start. `agent profile
 * add` writes the profile of a daemon on another machine. A profile holds secrets: its file is 0600 in a
 * folder that is 0700.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { FolderError, writePrivateFile } from '../private-files.ts'
import { StartError } from '../start-error.ts'
import { tryParseJson } from '../json.ts'
import { systemReason } from '../system-reason.ts'

const secret = z.string().min(1)

/** A SHA-256 fingerprint, as Node.js and OpenSSL print it. */
export const fingerprint = z.string().regex(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/)

export const LocalProfile = z.object({
  kind: z.literal('local'),
  url: z.url(),
  didcommUrl: z.url(),
  /** The `x-admin-api-key`. */
  adminToken: secret,
  /** The `apikey` of the default wallet; undefined when there is no default wallet or its key is unknown. */
  apiKey: secret.optional(),
  dataDir: z.string().min(1),
  /** The SHA-256 fingerprint of the server’s certificate, with HTTPS: the only one that commands accept. */
  certificate: fingerprint.optional(),
  /** The public DIDComm address; `didcommUrl` is the bound one. */
  publicDidcommUrl: z.url().optional(),
  /** The address of the PostgreSQL database, without role and password; undefined with SQLite files. */
  database: z.string().optional(),
  pid: z.int().positive(),
  startedAt: z.iso.datetime(),
})
export type LocalProfile = z.infer<typeof LocalProfile>

export const RemoteProfile = z.object({
  kind: z.literal('remote'),
  url: z.url({ protocol: /^https?$/ }),
  certificate: fingerprint.optional(),
  adminToken: secret.optional(),
  apiKey: secret.optional(),
})
export type RemoteProfile = z.infer<typeof RemoteProfile>

export const Profile = z.discriminatedUnion('kind', [LocalProfile, RemoteProfile])
export type Profile = z.infer<typeof Profile>

export const ProfileName = z.string().regex(/^[a-z0-9-]+$/i)

/** @throws {StartError} for a name with other characters than letters, digits and hyphens */
export function profilePath(configDir: string, name: string): string {
  if (!ProfileName.safeParse(name).success)
    throw new StartError(
      `The profile name ${JSON.stringify(name)} is not made of letters, digits and hyphens.`,
      2,
    )
  return join(configDir, 'profiles', `${name}.json`)
}

/** The profile, if any. @throws {StartError} with the names of invalid fields, but without values */
export function readProfile(configDir: string, name: string): Profile | undefined {
  const path = profilePath(configDir, name)
  const text = readIfThere(path, (reason) => `The profile ${path} cannot be read: ${reason}.`)
  if (text === undefined) return undefined
  const result = Profile.safeParse(tryParseJson(text))
  if (result.success) return result.data
  const fields = [...new Set(result.error.issues.map((issue) => issue.path.join('.') || 'the whole'))]
  throw new StartError(
    `The profile ${path} is not valid (${fields.join(', ')}). Remove it: a daemon writes its own when it starts, and \`agent profile add\` writes that of another machine’s.`,
    2,
  )
}

/** As `readProfile`, for a daemon on this machine. @throws {StartError} also for one on another machine */
export function readLocalProfile(configDir: string, name: string): LocalProfile | undefined {
  const profile = readProfile(configDir, name)
  if (profile?.kind !== 'remote') return profile
  throw new StartError(
    `The profile ${name} is of a daemon elsewhere, ${profile.url}. Name another for one on this machine: --profile.`,
    2,
  )
}

/**
 * Refuses to start an agent over files, which would be another and empty one, where the last daemon of the
 * profile and data folder used a database. @throws {StartError} 2
 */
export function assertSameStore(
  { AGENT_CONFIG_DIR, AGENT_PROFILE, AGENT_DATA_DIR, AGENT_DATABASE_URL }: StoreSettings,
  profile = readLocalProfile(AGENT_CONFIG_DIR, AGENT_PROFILE),
): void {
  if (profile?.database === undefined || profile.dataDir !== AGENT_DATA_DIR || AGENT_DATABASE_URL) return
  throw new StartError(
    `AGENT_DATABASE_URL is not set, and the profile ${AGENT_PROFILE} used PostgreSQL at ${profile.database}. Set the variable, or its file AGENT_DATABASE_URL_FILE. For another agent with files, name another profile and data folder.`,
    2,
  )
}

type StoreSettings = {
  AGENT_CONFIG_DIR: string
  AGENT_PROFILE: string
  AGENT_DATA_DIR: string
  AGENT_DATABASE_URL?: unknown
}

/** The names of all profiles, sorted. @throws {StartError} when the folder cannot be read */
export function profileNames(configDir: string): string[] {
  try {
    return readdirSync(join(configDir, 'profiles'))
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .filter((name) => ProfileName.safeParse(name).success)
      .toSorted()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new StartError(`The profiles in ${configDir} cannot be read: ${systemReason(error)}.`, 2, {
      cause: error,
    })
  }
}

/** Replaces a profile atomically, with mode 0600. @throws {StartError} if it cannot be written */
export function writeProfile(configDir: string, name: string, profile: Profile): void {
  const path = profilePath(configDir, name)
  const text = `${JSON.stringify(Profile.parse(profile), null, 2)}\n`
  changing(`The profile ${path} cannot be written`, () => writePrivateFile(path, text))
}

/** Removes a profile, if it exists. @throws {StartError} when it cannot be removed */
export function removeProfile(configDir: string, name: string): void {
  const path = profilePath(configDir, name)
  changing(`The profile ${path} cannot be removed`, () => rmSync(path, { force: true }))
}

/**
 * The name of the active profile (`agent profile use`); undefined when there is none.
 *
 * @throws {StartError} when the file cannot be read or holds no name
 */
export function readProfileInUse(configDir: string): string | undefined {
  const path = join(configDir, 'current')
  const text = readIfThere(
    path,
    (reason) => `Which profile is in use cannot be read from ${path}: ${reason}.`,
  )
  if (text === undefined) return undefined
  const name = ProfileName.safeParse(text.trim())
  if (name.success) return name.data
  throw new StartError(
    `${path} does not hold the name of the active profile. Remove it, or select a profile: agent profile use.`,
    2,
  )
}

/** Sets or unsets the active profile. @throws {StartError} when the file cannot be written */
export function writeProfileInUse(configDir: string, name: string | undefined): void {
  const path = join(configDir, 'current')
  changing(`${path} cannot be written`, () =>
    name === undefined ? rmSync(path, { force: true }) : writePrivateFile(path, `${name}\n`),
  )
}

function changing(what: string, change: () => void): void {
  try {
    change()
  } catch (error) {
    const reason = error instanceof FolderError ? `: ${error.message}` : `: ${systemReason(error)}`
    throw new StartError(`${what}${reason}.`, 5, { cause: error })
  }
}

/** The text of a file; undefined when it does not exist. @throws {StartError} that begins with `complaint` */
function readIfThere(path: string, complaint: (reason: string) => string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new StartError(complaint(systemReason(error)), 2, { cause: error })
  }
}
