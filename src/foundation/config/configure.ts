/**
 * The configuration of a daemon: flags, then the environment, then the configuration file, then the settings
 * of the profile, then defaults.
 */
import { resolve } from 'node:path'
import * as z from 'zod'
import { parseConfig, variables, type Config } from './config.ts'
import { ConfigError, type Fault, type Source } from './fault.ts'
import { readSecretFiles, type Layer } from './secret-files.ts'
import {
  findUnknownVariables,
  isSecret,
  isSettingName,
  secretFiles,
  type Name,
  whyRemoved,
} from './setting-names.ts'
import {
  dataDirOf,
  locationVariables,
  readSettings,
  remembered,
  type Settings,
  settingsPath,
  toKept,
  withoutEmpty,
  writeSettings,
} from './settings.ts'
import { isOpenToOthers } from '../small-file.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the sources of a configuration say. */
export type Inspected = {
  /** The configuration; undefined if there are faults. */
  config: Config | undefined
  faults: readonly Fault[]
  /** Sentences about what is probably a mistake. */
  warnings: readonly string[]
  /** Flags, environment, configuration file, and settings of the profile. */
  layers: readonly Layer[]
  /** All settings that are set, in the form of environment variables, with the data folder. */
  values: Settings
  /** The highest source that has the variable, or the file of the secret. */
  layerOf: (name: Name) => Layer | undefined
  configFile: string | undefined
}

export type Configured = {
  config: Config
  /** The settings of the configuration file, and of the profile. */
  file: Settings
  settings: Settings
  warnings: readonly string[]
  sourceOf: (name: Name) => Source
  /** Stores the given values for the next start, with the bound ports. @throws {StartError} */
  remember(ports: { rest: number; didcomm: number }): void
}

const Where = z.object({
  AGENT_CONFIG_DIR: locationVariables.AGENT_CONFIG_DIR,
  AGENT_PROFILE: locationVariables.AGENT_PROFILE,
})
type Where = z.output<typeof Where>

/**
 * Reads all sources of a configuration. `flags` have the form `AGENT_HTTP_PORT=9000`.
 *
 * @throws {StartError} when the profile cannot be read, or is of a daemon elsewhere
 */
export async function inspect(env: Environment, flags: readonly string[] = []): Promise<Inspected> {
  const byFlag = withoutEmpty(
    Object.fromEntries(flags.map((flag) => flag.split(/=(.*)/s, 2) as [string, string])),
  )
  const byEnv = withoutEmpty(env)
  const explicit = { ...byEnv, ...byFlag }
  // An invalid profile or folder is one of the faults that `parseConfig` finds.
  const where = Where.safeParse(explicit).data
  const profile = where ? readProfileSettings(where) : none
  const named = explicit['AGENT_CONFIG_FILE'] ?? profile.values['AGENT_CONFIG_FILE']
  const file = await readFile(named === undefined ? undefined : resolve(named))
  // A person who has named no file is told where the name is from.
  const remedy = `${profile.path} names it: name another by --config, or remove AGENT_CONFIG_FILE there.`
  const fileFaults =
    explicit['AGENT_CONFIG_FILE'] === undefined
      ? file.faults.map((fault) => (fault.name === undefined ? { ...fault, remedy } : fault))
      : file.faults
  const layers: Layer[] = [
    { source: 'flag', values: byFlag },
    { source: 'environment', values: byEnv },
    file,
    profile,
  ]
  const { secrets, faults } = readSecretFiles(layers)
  const values: Settings = { ...profile.values, ...file.values, ...explicit, ...secrets }
  const dataDir =
    explicit['AGENT_DATA_DIR'] ??
    file.values['AGENT_DATA_DIR'] ??
    (where && dataDirOf(where.AGENT_CONFIG_DIR, where.AGENT_PROFILE, profile.values))
  const layerOf = (name: Name) => layers.find(({ values }) => name in values || `${name}_FILE` in values)
  const { config, wrong } = parseConfig(
    dataDir === undefined ? values : { ...values, AGENT_DATA_DIR: dataDir },
  )
  const known = [...faults, ...fileFaults, ...profile.faults]
  const found = wrong.map((each) => locate(each, layerOf, secrets))
  const all = [...found.filter((each) => !known.some((other) => isSame(each, other))), ...known]
  return {
    config: all.length === 0 ? config : undefined,
    faults: all,
    warnings: [
      ...layers.flatMap(warnOfRemoved),
      ...warnOfVariables(byEnv),
      ...[file, profile].flatMap(warnOfSecrets),
    ],
    layers,
    values: dataDir === undefined ? values : { ...values, AGENT_DATA_DIR: dataDir },
    layerOf,
    configFile: file.path,
  }
}

/**
 * As `inspect`.
 *
 * @throws {ConfigError} with the name of each invalid setting and the reason, but without values.
 * @throws {StartError}
 */
export async function configure(env: Environment, flags: readonly string[] = []): Promise<Configured> {
  const { config, faults, warnings, layers, layerOf } = await inspect(env, flags)
  if (!config) throw new ConfigError(faults)
  const [byFlag, byEnv, file, profile] = layers.map(({ values }) => values) as [
    Settings,
    Settings,
    Settings,
    Settings,
  ]
  const explicit = { ...byEnv, ...byFlag }
  return {
    config,
    file,
    settings: profile,
    warnings,
    sourceOf: (name) => layerOf(name)?.source ?? 'default',
    remember({ rest, didcomm }) {
      const given: Record<string, number> = { AGENT_HTTP_PORT: rest, AGENT_DIDCOMM_PORT: didcomm }
      const kept = remembered
        .filter((name) => name in explicit || (name in given && Number(file[name]) === 0))
        .map((name) => [name, name in given ? String(given[name]) : toKept(name, explicit[name]!)])
      const known = Object.entries(profile).filter(([name]) => whyRemoved(name) === undefined)
      const next: Settings = { ...Object.fromEntries(known), ...Object.fromEntries(kept) }
      const names = new Set([...Object.keys(profile), ...Object.keys(next)])
      if ([...names].some((name) => profile[name] !== next[name]))
        writeSettings(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE, next)
    },
  }
}

type CheckedLayer = Layer & { faults: readonly Fault[] }

const none: CheckedLayer = { source: 'profile', values: {}, faults: [] }

/** The configuration file. Its reader is loaded only if there is one. */
async function readFile(path: string | undefined): Promise<CheckedLayer> {
  if (path === undefined) return { source: 'file', values: {}, faults: [] }
  const { readConfigFile } = await import('./file.ts')
  return { source: 'file', path, ...readConfigFile(path) }
}

function readProfileSettings({ AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: profile }: Where): CheckedLayer {
  const path = settingsPath(configDir, profile)
  try {
    const values = readSettings(configDir, profile)
    const faults = findWrong(values).map(
      ([name, reason]) => ({ name, source: 'profile', path, reason }) as const,
    )
    // Without a file there are no values.
    return Object.keys(values).length > 0 ? { source: 'profile', path, values, faults } : none
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { source: 'profile', path, values: {}, faults: error.faults }
  }
}

/** Settings of a profile are variables, except those that locate the profile. */
function findWrong(settings: Settings): [name: string, reason: string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    if (name === '$schema' || secretFiles.has(name) || whyRemoved(name) !== undefined) return []
    if (name in Where.shape) return [[name, 'locates the settings, and cannot be one of them']]
    if (!isSettingName(name)) return [[name, 'is not the name of a setting']]
    const { error } = variables[name].safeParse(value)
    return (error?.issues ?? []).map(({ message }) => [name, message])
  })
}

/** The fault of a wrong value, at the place of the value. */
function locate(
  { name, reason, remedy }: { name: string; reason: string; remedy?: string },
  layerOf: Inspected['layerOf'],
  secrets: Partial<Record<string, string>>,
): Fault {
  const { source = 'environment', path } = layerOf(name as Name) ?? {}
  return secrets[name] === undefined
    ? { name, source, path, reason, remedy }
    : { name: `${name}_FILE`, source, path, reason: `names a file whose content ${reason}`, remedy }
}

function isSame(one: Fault, other: Fault): boolean {
  return one.name === other.name && one.source === other.source
}

function warnOfRemoved({ source, path, values }: Layer): string[] {
  return Object.keys(values).flatMap((name) => {
    const reason = whyRemoved(name)
    const place = path ?? (source === 'flag' ? 'the flags' : 'the environment')
    return reason === undefined ? [] : [`${name} in ${place} is ignored: ${reason}.`]
  })
}

function warnOfVariables(env: Settings): string[] {
  return findUnknownVariables(env)
    .filter(({ near }) => near !== undefined)
    .map(({ name, near }) => `The environment variable ${name} is not known. Did you mean ${near}?`)
}

function warnOfSecrets({ path, values }: Layer): string[] {
  const secret = Object.keys(values).find((name) => isSettingName(name) && isSecret(name))
  return path !== undefined && secret !== undefined && isOpenToOthers(path)
    ? [`Others on this machine can read ${path}, which has ${secret}. Make it yours: chmod 600 ${path}`]
    : []
}
