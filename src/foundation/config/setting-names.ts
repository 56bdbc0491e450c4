/** The names of settings: variables, files of secrets, and names that were probably meant. */
import * as z from 'zod'
import { variables, type Config } from './config.ts'
import { masterKey, metricsToken, secret, seedHex } from './values.ts'
import { databaseUrl } from './nodes.ts'
import { closest, editDistance } from '../nearest.ts'

export type Name = keyof Config

/** Variables that locate the other settings. A file of settings cannot have them. */
export const locating: readonly string[] = ['AGENT_CONFIG_DIR', 'AGENT_CONFIG_FILE', 'AGENT_PROFILE']

/** Variables of the command line, which are not settings of a daemon. */
export const ofCommands: readonly string[] = [
  'AGENT_URL',
  'AGENT_API_KEY',
  'AGENT_API_KEY_FILE',
  'AGENT_ADMIN_KEY',
  'AGENT_ADMIN_KEY_FILE',
]

/** The type of a setting, without its default. */
export function typeOf(name: Name): z.ZodType {
  const type: z.ZodType = variables[name]
  return type instanceof z.ZodOptional || type instanceof z.ZodDefault
    ? (type.def.innerType as z.ZodType)
    : type
}

export function isSettingName(name: string): name is Name {
  return Object.hasOwn(variables, name)
}

/** Settings of earlier releases, with why they are ignored and what to do. */
const removed: ReadonlyMap<string, string> = new Map([
  [
    'AGENT_WORKERS',
    'an agent over SQLite files is one process. To use more cores, run several nodes over PostgreSQL (docs/operate/postgresql.md). Then remove the setting',
  ],
])

export function whyRemoved(name: string): string | undefined {
  return removed.get(name)
}

const secretTypes: readonly z.ZodType[] = [databaseUrl, secret, masterKey, metricsToken, seedHex]

export function isSecret(name: Name): boolean {
  return secretTypes.includes(typeOf(name))
}

/**
 * Each secret by the variable that names its file. `AGENT_MASTER_KEY_FILE` is not one: that file may also be
 * created.
 */
export const secretFiles: ReadonlyMap<string, Name> = new Map(
  (Object.keys(variables) as Name[])
    .filter((name) => isSecret(name) && !isSettingName(`${name}_FILE`))
    .map((name) => [`${name}_FILE`, name]),
)

/** All environment variables of this program, except those of the terminal. */
export function variableNames(): string[] {
  return [...Object.keys(variables), ...secretFiles.keys(), ...ofCommands]
}

/** All names that a configuration file can have. */
export function settingNames(): string[] {
  return [...Object.keys(variables).filter((name) => !locating.includes(name)), ...secretFiles.keys()]
}

/** The name that was probably meant: one that differs in few letters, apart from a common `AGENT_`. */
export function nearestSetting(given: string, known: readonly string[] = settingNames()): string | undefined {
  const name = given.toUpperCase()
  const most = Math.max(1, Math.floor(name.replace(/^AGENT_/, '').length / 4))
  return closest(known, (word) => {
    if (Math.abs(word.length - name.length) > most) return Infinity
    const distance = editDistance(name, word)
    return distance <= most ? distance : Infinity
  })
}

/** Beginnings of names that programs other than this one hardly use. */
const own = /^(?:AGENT|OIDC|VDR|MEDIATOR|DIDCOMM|DEFAULT_WALLET|GLOBAL_WEBHOOK)_/

/** A variable that is probably meant for this program, which does not know it. */
export type UnknownVariable = { name: string; near: string | undefined }

/** The variables that begin as those of this program do, or differ from one of them in few letters. */
export function findUnknownVariables(env: Readonly<Record<string, unknown>>): UnknownVariable[] {
  const all = new Set(variableNames())
  // Those of OpenTelemetry are of other programs too, and there are more of them.
  const known = [...all].filter((name) => !name.startsWith('OTEL_'))
  const beginnings = [...new Set(known.map((name) => name.split('_')[0]!))]
  return Object.keys(env)
    .filter((name) => !all.has(name) && /^\w{1,100}$/.test(name))
    .flatMap((name) => {
      const [beginning = ''] = name.toUpperCase().split('_')
      const isLike = beginnings.some((each) => isOneOff(beginning, each))
      const near = isLike ? nearestSetting(name, known) : undefined
      return near !== undefined || own.test(name) ? [{ name, near }] : []
    })
}

function isOneOff(given: string, word: string): boolean {
  return given === word || (Math.abs(given.length - word.length) <= 1 && editDistance(given, word) <= 1)
}
