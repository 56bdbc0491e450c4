/**
 * The settings of a profile: a file of values for the environment variables of docs/configuration.md. A daemon of the profile uses them
 * where neither a flag nor the environment says otherwise, and keeps there what it must find again at its next start.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { z } from 'zod'
import { tryParseJson } from './json.ts'
import './plain-issues.ts'
import { writePrivateFile } from './private-files.ts'
import { ProfileName, readLocalProfile } from './profile.ts'
import { systemReason } from './reason.ts'
import { StartError } from './start-error.ts'

/** By the names of environment variables, each as an environment has it. */
export type Settings = Readonly<Record<string, string>>

/** What a daemon keeps: where its data is, and by which address and ledger others find it. */
export const remembered = [
  'AGENT_DATA_DIR',
  'AGENT_HOST',
  'AGENT_HTTP_PORT',
  'AGENT_DIDCOMM_PORT',
  'REST_SERVICE_URL',
  'DIDCOMM_SERVICE_URL',
  'POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL',
  'VDR_URL',
  'AGENT_MEDIATOR',
] as const

const ports: readonly string[] = ['AGENT_HTTP_PORT', 'AGENT_DIDCOMM_PORT']

const Value = z
  .union([z.string(), z.number(), z.boolean()], 'is neither a text, a number, true nor false')
  .transform(String)
const SettingsFile = z.record(z.string(), Value, 'is not a JSON object of settings')

/** The settings file of a profile. */
export function settingsPath(configDir: string, profile: string): string {
  return join(configDir, 'settings', `${profile}.json`)
}

/** Reads the settings of a profile; none when it has no file. @throws {StartError} naming the fields that are wrong, but no value. */
export function readSettings(configDir: string, profile: string): Settings {
  if (!ProfileName.safeParse(profile).success) return {}
  const path = settingsPath(configDir, profile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new StartError(`The settings file ${path} cannot be read: ${systemReason(error)}.`, 2, {
      cause: error,
    })
  }
  const result = SettingsFile.safeParse(tryParseJson(text))
  if (result.success) return withoutEmpty(result.data)
  throw wrongSettings(
    path,
    result.error.issues.map((issue) => [issue.path.join('.') || 'the whole', issue.message]),
  )
}

/** The error for a settings file, of the fields that are wrong and why. */
export function wrongSettings(
  path: string,
  wrong: readonly (readonly [field: string, reason: string])[],
): StartError {
  const reasons = wrong.map(([field, reason]) => `${field}: ${reason}`).join('. ')
  return new StartError(
    `The settings file ${path} is not valid. ${reasons}. Correct the file, or remove it.`,
    2,
  )
}

/** Keeps settings for the next start, readable by nobody else. @throws {StartError} */
export function writeSettings(configDir: string, profile: string, settings: Settings): void {
  const path = settingsPath(configDir, profile)
  const values = Object.entries(settings).map(([name, value]) => [
    name,
    ports.includes(name) ? Number(value) : value,
  ])
  try {
    writePrivateFile(path, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`)
  } catch (error) {
    throw new StartError(`The settings file ${path} cannot be written: ${systemReason(error)}.`, 5, {
      cause: error,
    })
  }
}

/** Forgets the settings of a profile. @throws as `node:fs` does. */
export function removeSettings(configDir: string, profile: string): void {
  rmSync(settingsPath(configDir, profile), { force: true })
}

/** A value as it is kept: paths hold from every folder. */
export function toKept(name: string, value: string): string {
  if (name === 'AGENT_DATA_DIR') return resolve(value)
  return name === 'VDR_URL'
    ? value.replace(/^sqlite:(.+)$/s, (_, path: string) => `sqlite:${resolve(path)}`)
    : value
}

/** The data folder of a profile that neither a flag nor the environment names: of its settings, of its last daemon, or one of its own. */
export function dataDirOf(
  configDir: string,
  profile: string,
  settings: Settings = readSettings(configDir, profile),
): string {
  return (
    settings['AGENT_DATA_DIR'] ?? readLocalProfile(configDir, profile)?.dataDir ?? defaultDataDir(profile)
  )
}

/** An empty value is as good as none. */
export function withoutEmpty(values: Readonly<Record<string, string | undefined>>): Settings {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1])),
  )
}

const port = z.coerce.number().int().min(0).max(65_535)

const usualDataDir = () => envPaths('identity-agent', { suffix: '' }).data

/** The data folder of a profile that names none: the profile `local` has the folder itself, each other one a folder in it. */
export function defaultDataDir(profile: string): string {
  return profile === 'local' ? usualDataDir() : join(usualDataDir(), 'profiles', profile)
}

// prettier-ignore
export const locationVariables = {
  AGENT_DATA_DIR:                       z.string().min(1).default(usualDataDir)
                                                               .describe('Folder of `agent.db`, `audit.db`, `wallets/`, `vdr.db` and `master.key`.'),
  AGENT_CONFIG_DIR:                     z.string().min(1).default(() => envPaths('identity-agent', { suffix: '' }).config)
                                                               .describe('Folder of the profiles of the command line.'),
  AGENT_PROFILE:                        z.string().regex(/^[a-z0-9-]+$/i, 'is not made of letters, digits and hyphens').default('local')
                                                               .describe('Profile that the daemon writes and the command line reads.'),
  AGENT_HOST:                           z.string().min(1).default('127.0.0.1')
                                                               .describe('Address that both servers bind.'),
  AGENT_HTTP_PORT:                      port.default(8085)     .describe('Port of the HTTP API. 0 selects a free port at the first start and keeps it.'),
  AGENT_DIDCOMM_PORT:                   port.default(8090)     .describe('Port of the DIDComm endpoint. 0 selects a free port at the first start and keeps it.'),
}
