/**
 * What a command takes from its surroundings: flag, then environment, then profile, then default (users.md D5).
 *
 * This is the only file of the command line that reads `process.env`.
 */
import { resolve } from 'node:path'
import { z } from 'zod'
import { variables } from '../../src/base/config.ts'
import { readProfile, type Profile } from '../../src/base/profile.ts'
import { Secret } from '../../src/base/secret.ts'
import { UsageError } from '../_errors/usage.ts'
import { readInput } from '../_input/file.ts'

const secret = z
  .string()
  .transform((value) => new Secret(value))
  .optional()

/** The environment variables that the command line reads. */
export const Surroundings = z.object({
  AGENT_CONFIG_DIR: variables.AGENT_CONFIG_DIR,
  AGENT_PROFILE: variables.AGENT_PROFILE,
  AGENT_DATA_DIR: z.string().optional(),
  AGENT_URL: z.string().optional(),
  AGENT_API_KEY: secret,
  AGENT_ADMIN_KEY: secret,
})
export type Surroundings = z.output<typeof Surroundings>

/** The surroundings of this process; an empty variable is as good as none. @throws {UsageError} naming the variable that is wrong. */
export function fromProcess(env: Readonly<Record<string, string | undefined>> = process.env): Surroundings {
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in Surroundings.shape && value !== ''))
  const result = Surroundings.safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new UsageError(`The environment variable ${issue!.path.join('.')} is not valid: ${issue!.message}.`)
}

/** The environment of a child process: this one's without the variables of `without`, and `own`. */
export function childEnv(own: Readonly<Record<string, string>>, without: readonly string[] = []): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !without.includes(name))), ...own }
}

type FolderFlags = { 'data-dir'?: string | undefined; profile?: string | undefined }

/**
 * The data folder of a daemon that is there already: what the flags name, be it the folder or its profile, then
 * environment, profile, default.
 */
export function findDataDir(flags: FolderFlags, around: Surroundings): string {
  const named =
    flags['data-dir'] ?? (flags.profile === undefined ? undefined : readProfile(around.AGENT_CONFIG_DIR, flags.profile)?.dataDir)
  return named === undefined ? chooseDataDir(flags, around) : resolve(named)
}

/** The data folder of a daemon that is to be started: flag, environment, profile, default. */
export function chooseDataDir(flags: FolderFlags, around: Surroundings): string {
  const given = flags['data-dir'] ?? around.AGENT_DATA_DIR
  const profile = given === undefined ? readProfile(around.AGENT_CONFIG_DIR, flags.profile ?? around.AGENT_PROFILE) : undefined
  return resolve(given ?? profile?.dataDir ?? variables.AGENT_DATA_DIR.parse(undefined))
}

/** Where a daemon is and what lets us in. */
export type Access = {
  url: string
  apiKey: Secret | undefined
  adminKey: Secret | undefined
  profileName: string
  profile: Profile | undefined
}

export type AccessFlags = {
  url?: string | undefined
  profile?: string | undefined
  'api-key-file'?: string | undefined
  'admin-key-file'?: string | undefined
}

const defaultUrl = `http://127.0.0.1:${variables.AGENT_HTTP_PORT.parse(undefined)}`

/**
 * Finds the daemon and the keys. The keys of a profile go to the address of that profile and to no other.
 *
 * @throws {UsageError} when a key file cannot be read or the URL is none.
 * @throws {StartError} when the profile is not valid.
 */
export function findAccess(flags: AccessFlags, around: Surroundings): Access {
  const profileName = flags.profile ?? around.AGENT_PROFILE
  const profile = readProfile(around.AGENT_CONFIG_DIR, profileName)
  if (flags.profile !== undefined && !profile) {
    throw new UsageError(`There is no profile ${profileName}.`, `agent daemon start --profile ${profileName}`)
  }
  // A profile that a flag names says which daemon is meant, as --url does.
  const url = toBase(flags.url ?? (flags.profile === undefined ? around.AGENT_URL : undefined) ?? profile?.url ?? defaultUrl)
  const trusted = profile && toBase(profile.url) === url ? profile : undefined
  return {
    url,
    apiKey:
      readKey('api-key-file', flags) ?? around.AGENT_API_KEY ?? (trusted?.apiKey === undefined ? undefined : new Secret(trusted.apiKey)),
    adminKey: readKey('admin-key-file', flags) ?? around.AGENT_ADMIN_KEY ?? (trusted && new Secret(trusted.adminToken)),
    profileName,
    profile,
  }
}

/** Where the daemon is by now: one that was started again may have another port, which its profile tells. */
export function currentUrl({ url, profileName, profile }: Access, around: Surroundings): string {
  if (!profile || toBase(profile.url) !== url) return url
  const now = readProfile(around.AGENT_CONFIG_DIR, profileName)
  // Whoever has taken the profile in the meantime is not given the keys.
  return now?.adminToken === profile.adminToken && now.dataDir === profile.dataDir ? toBase(now.url) : url
}

function toBase(text: string): string {
  const result = z.url({ protocol: /^https?$/ }).safeParse(text)
  if (!result.success) throw new UsageError(`${JSON.stringify(text)} is not the http(s) URL of a daemon.`)
  return text.replace(/\/+$/, '')
}

function readKey(flag: 'api-key-file' | 'admin-key-file', flags: AccessFlags): Secret | undefined {
  const path = flags[flag]
  if (path === undefined) return undefined
  let key: string
  try {
    key = readInput(path).trim()
  } catch (error) {
    throw new UsageError(`--${flag}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (!key) throw new UsageError(`--${flag}: ${path} is empty.`)
  return new Secret(key)
}
