/**
 * The settings of a command: flag, then environment variable, then profile, then default.
 *
 * This file reads the environment variables of the command line, except those of the terminal.
 */
import { resolve } from 'node:path'
import * as z from 'zod'
import { acceptOnly } from '../../daemon/client/send-request.ts'
import { dataDirOf, locationVariables } from '../../src/foundation/config/settings.ts'
import {
  type Profile,
  readLocalProfile,
  readProfile,
  readProfileInUse,
} from '../../src/foundation/config/profile.ts'
import { Secret } from '../../src/foundation/secret.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import type { Identity } from '../format/next.ts'
import { readInput } from '../input/files.ts'
import { type Login, readLogin } from '../login/store.ts'

// Each schema is used once, so compiling a parser costs more than it saves.
z.config({ jitless: true })

const secret = z
  .string()
  .transform((value) => new Secret(value))
  .optional()

/** The environment variables of the command line. Without AGENT_PROFILE, the selected profile is used. */
const Variables = z.object({
  AGENT_CONFIG_DIR: locationVariables.AGENT_CONFIG_DIR,
  AGENT_PROFILE: locationVariables.AGENT_PROFILE.unwrap().optional(),
  AGENT_CONFIG_FILE: locationVariables.AGENT_CONFIG_FILE,
  AGENT_DATA_DIR: z.string().optional(),
  AGENT_URL: z.string().optional(),
  AGENT_API_KEY: secret,
  AGENT_API_KEY_FILE: z.string().optional(),
  AGENT_ADMIN_KEY: secret,
  AGENT_ADMIN_KEY_FILE: z.string().optional(),
})
type Given = z.output<typeof Variables>
export type Surroundings = Given & { AGENT_PROFILE: string; profileFrom: ProfileFrom }

type Environment = Readonly<Record<string, string | undefined>>

/** The source of the profile’s name, other than a flag. */
type ProfileFrom = 'environment' | 'use' | 'default'

/**
 * Reads the settings of this process. An empty variable counts as missing.
 *
 * @throws {UsageError} naming the variable that is not valid. @throws {StartError} when the selected profile
 * cannot be read.
 */
export function fromProcess(env: Environment = process.env): Surroundings {
  const given = fromVariables(env)
  return { ...given, ...chooseProfile(given) }
}

/** As `fromProcess`, without the selected profile. */
export function fromVariables(env: Environment = process.env): Given {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name in Variables.shape && value !== ''),
  )
  const result = Variables.safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new UsageError(`The environment variable ${issue!.path.join('.')} is not valid: ${issue!.message}.`)
}

export const defaultProfile = locationVariables.AGENT_PROFILE.parse(undefined)

function chooseProfile(given: Given): Pick<Surroundings, 'AGENT_PROFILE' | 'profileFrom'> {
  if (given.AGENT_PROFILE !== undefined)
    return { AGENT_PROFILE: given.AGENT_PROFILE, profileFrom: 'environment' }
  const inUse = readProfileInUse(given.AGENT_CONFIG_DIR)
  return inUse === undefined
    ? { AGENT_PROFILE: defaultProfile, profileFrom: 'default' }
    : { AGENT_PROFILE: inUse, profileFrom: 'use' }
}

/** Keys of the user, which a daemon does not need. */
const personal = ['AGENT_API_KEY', 'AGENT_API_KEY_FILE', 'AGENT_ADMIN_KEY', 'AGENT_ADMIN_KEY_FILE']

/**
 * The environment of a child process: this one’s without the keys of the user and the variables of `without`,
 * with `own`.
 */
export function childEnv(
  own: Readonly<Record<string, string>>,
  without: readonly string[] = [],
): NodeJS.ProcessEnv {
  const left = [...personal, ...without]
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !left.includes(name))),
    ...own,
  }
}

export type FolderFlags = { 'data-dir'?: string | undefined; profile?: string | undefined }

/**
 * The data folder of an existing daemon: from the flags (the folder or its profile), then the environment,
 * the profile, and the default.
 */
export function findDataDir(flags: FolderFlags, around: Surroundings): string {
  const named =
    flags['data-dir'] ??
    (flags.profile === undefined
      ? undefined
      : readLocalProfile(around.AGENT_CONFIG_DIR, flags.profile)?.dataDir)
  return named === undefined ? chooseDataDir(flags, around) : resolve(named)
}

/** The data folder of a daemon to start: from the flag, the environment, the profile, or the default. */
export function chooseDataDir(flags: FolderFlags, around: Surroundings): string {
  const given = flags['data-dir'] ?? around.AGENT_DATA_DIR
  return resolve(given ?? dataDirOf(around.AGENT_CONFIG_DIR, flags.profile ?? around.AGENT_PROFILE))
}

/** The address of a daemon, and the keys. */
export type Access = {
  url: string
  apiKey: Secret | undefined
  adminKey: Secret | undefined
  profileName: string
  profile: Profile | undefined
  configDir: string
  /** The tokens of `agent login` for this address. */
  login: Login | undefined
  /** The keys that a flag or a variable names. */
  given: { apiKey: Secret | undefined }
}

export type AccessFlags = Identity

/** The address of the daemon when no profile, flag or variable names one. */
export const defaultUrl = `http://127.0.0.1:${locationVariables.AGENT_HTTP_PORT.parse(undefined)}`

/**
 * Finds the address and the keys. The keys of a profile are sent to the address of that profile only.
 *
 * @throws {CommandError} 3 when the profile does not exist.
 * @throws {UsageError} when a key file cannot be read, or the URL is not valid.
 * @throws {StartError} when the profile is not valid.
 */
export function findAccess(flags: AccessFlags, around: Surroundings): Access {
  const profileName = flags.profile ?? around.AGENT_PROFILE
  const profile = readProfile(around.AGENT_CONFIG_DIR, profileName)
  // A profile named by a flag chooses the daemon, as --url does.
  const named = flags.url ?? (flags.profile === undefined ? around.AGENT_URL : undefined)
  if (!profile && (flags.profile !== undefined || (named === undefined && profileName !== defaultProfile)))
    throw new CommandError(
      ...missingProfile(profileName, flags.profile === undefined ? around.profileFrom : 'flag'),
    )
  const url = toBase(named ?? profile?.url ?? defaultUrl)
  const trusted = profile && toBase(profile.url) === url ? profile : undefined
  if (trusted?.certificate !== undefined) acceptOnly(url, trusted.certificate)
  const apiKey = givenKey('api-key-file', flags, around)
  const login = readLogin(around.AGENT_CONFIG_DIR, profileName)
  return {
    url,
    configDir: around.AGENT_CONFIG_DIR,
    login: login && toBase(login.url) === url ? login : undefined,
    given: { apiKey },
    apiKey: apiKey ?? toSecret(trusted?.apiKey),
    adminKey: givenKey('admin-key-file', flags, around) ?? toSecret(trusted?.adminToken),
    profileName,
    profile,
  }
}

/** The current address of the daemon: after a restart, its profile may have another port. */
export function currentUrl({ url, profileName, profile }: Access, around: Surroundings): string {
  if (!profile || toBase(profile.url) !== url) return url
  const now = readProfile(around.AGENT_CONFIG_DIR, profileName)
  // Another daemon that has taken over the profile must not get the keys.
  if (now?.kind !== 'local' || profile.kind !== 'local') return url
  if (now.adminToken !== profile.adminToken || now.dataDir !== profile.dataDir) return url
  if (now.certificate !== undefined) acceptOnly(now.url, now.certificate)
  return toBase(now.url)
}

const namedBy = {
  flag: '',
  environment: ', which AGENT_PROFILE names',
  use: ', which is in use',
  default: '',
} as const

function missingProfile(
  name: string,
  from: ProfileFrom | 'flag',
): [message: string, exitCode: number, hint: string] {
  return [
    `There is no profile ${name}${namedBy[from]}.`,
    3,
    from === 'use' ? `agent profile use ${defaultProfile}` : 'agent profile list',
  ]
}

function toSecret(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text)
}

/** Validates the base URL of a daemon and removes its trailing slash. @throws {UsageError} */
export function toBase(text: string): string {
  const result = z.url({ protocol: /^https?$/ }).safeParse(text)
  if (!result.success) throw new UsageError(`${JSON.stringify(text)} is not the http(s) URL of a daemon.`)
  return text.replace(/\/+$/, '')
}

type KeyFlag = 'api-key-file' | 'admin-key-file'

const keyVariables = { 'api-key-file': 'AGENT_API_KEY', 'admin-key-file': 'AGENT_ADMIN_KEY' } as const
type KeyVariable = (typeof keyVariables)[KeyFlag]

/**
 * The key from the file of the flag, then the variable, then the file of the variable; undefined without
 * them.
 *
 * @throws {UsageError} when the file cannot be read or is empty, or both variables are set.
 */
export function givenKey(
  flag: KeyFlag,
  flags: AccessFlags,
  around: Pick<Given, KeyVariable | `${KeyVariable}_FILE`>,
): Secret | undefined {
  if (flags[flag] !== undefined) return readKey(`--${flag}`, flags[flag])
  const name = keyVariables[flag]
  const file = around[`${name}_FILE`]
  if (file === undefined) return around[name]
  if (around[name]) throw new UsageError(`${name} and ${name}_FILE are both set. Unset one of them.`)
  return readKey(`${name}_FILE`, file)
}

/**
 * Reads a key from a file, or from standard input for `-`.
 *
 * @throws {UsageError} when it cannot be read, or is empty.
 */
function readKey(named: string, path: string): Secret {
  let key: string
  try {
    key = readInput(path).trim()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${named}: ${path} cannot be read: ${systemReason(error)}.`)
  }
  if (!key) throw new UsageError(`${named}: ${path} is empty.`)
  return new Secret(key)
}
