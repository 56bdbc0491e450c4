/**
 * The settings of a profile: a file with values of the variables in docs/operate/configuration.md. Flags and
 * the environment have precedence. A daemon stores in it what the next start must repeat.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import envPaths from 'env-paths'
import * as z from 'zod'
import { tryParseJson, withoutMark } from '../json.ts'
import '../plain-issues.ts'
import { writePrivateFile } from '../private-files.ts'
import { ConfigError } from './fault.ts'
import { ProfileName, readLocalProfile } from './profile.ts'
import { systemReason } from '../system-reason.ts'
import { StartError } from '../start-error.ts'

/** Values by variable, in the form of the environment. */
export type Settings = Readonly<Record<string, string>>

/**
 * The settings that a daemon stores: its configuration file, data folder, addresses, ledger and whether it is
 * a mediator.
 */
export const remembered = [
  'AGENT_CONFIG_FILE',
  'AGENT_DATA_DIR',
  'AGENT_HOST',
  'AGENT_LAN',
  'AGENT_HTTPS',
  'AGENT_TLS_CERT_FILE',
  'AGENT_TLS_KEY_FILE',
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

export function settingsPath(configDir: string, profile: string): string {
  return join(configDir, 'settings', `${profile}.json`)
}

/** The settings of a profile, if any. @throws {ConfigError} with the names of invalid fields */
export function readSettings(configDir: string, profile: string): Settings {
  if (!ProfileName.safeParse(profile).success) return {}
  const path = settingsPath(configDir, profile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new ConfigError([{ source: 'profile', path, reason: `cannot be read: ${systemReason(error)}` }])
  }
  const { data, error } = SettingsFile.safeParse(tryParseJson(withoutMark(text)))
  if (data) return withoutEmpty(data)
  const faults = error.issues.map(({ path: [name], message }) => ({ name: name as string, reason: message }))
  throw new ConfigError(faults.map((fault) => ({ ...fault, source: 'profile' as const, path })))
}

/** Stores settings for the next start, with mode 0600. @throws {StartError} */
export function writeSettings(configDir: string, profile: string, settings: Settings): void {
  const path = settingsPath(configDir, profile)
  const values = Object.entries(settings).map(([name, value]) => [name, toStored(name, value)])
  try {
    writePrivateFile(path, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`)
  } catch (error) {
    throw new StartError(`The settings file ${path} cannot be written: ${systemReason(error)}.`, 5, {
      cause: error,
    })
  }
}

/** The stored form of a setting, which a configuration file can have too. */
function toStored(name: string, value: string): string | number | boolean {
  if (ports.includes(name)) return Number(value)
  return name === 'AGENT_MEDIATOR' || name === 'AGENT_HTTPS' ? /^(?:true|1)$/i.test(value) : value
}

/** Removes the settings of a profile. @throws as `node:fs` does */
export function removeSettings(configDir: string, profile: string): void {
  rmSync(settingsPath(configDir, profile), { force: true })
}

/** A value for the next start: paths become absolute. */
export function toKept(name: string, value: string): string {
  if (name === 'AGENT_DATA_DIR' || name.endsWith('_FILE')) return resolve(value)
  return name === 'VDR_URL'
    ? value.replace(/^sqlite:(.+)$/s, (_, path: string) => `sqlite:${resolve(path)}`)
    : value
}

/** The data folder without flag and variable: that of the settings, of the last daemon, or the default. */
export function dataDirOf(
  configDir: string,
  profile: string,
  settings: Settings = readSettings(configDir, profile),
): string {
  return (
    settings['AGENT_DATA_DIR'] ?? readLocalProfile(configDir, profile)?.dataDir ?? defaultDataDir(profile)
  )
}

/** Removes empty values, which count as unset. */
export function withoutEmpty(values: Readonly<Record<string, string | undefined>>): Settings {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1])),
  )
}

const port = z.coerce.number().int().min(0).max(65_535)

const usualDataDir = () => envPaths('identity-agent', { suffix: '' }).data

/** The user’s data folder for the profile `local`, a folder in it for any other profile. */
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
  AGENT_CONFIG_FILE:                    z.string().min(1).optional()
                                                               .describe('Configuration file, JSON or YAML, which the agent only reads. The next start of the profile reads it too. Default: none.'),
  AGENT_HOST:                           z.string().min(1).default('127.0.0.1')
                                                               .describe('Address that both servers bind.'),
  AGENT_HTTP_PORT:                      port.default(8085)     .describe('Port of the HTTP API. 0 selects a free port at the first start and keeps it.'),
  AGENT_DIDCOMM_PORT:                   port.default(8090)     .describe('Port of the DIDComm endpoint. 0 selects a free port at the first start and keeps it.'),
}
