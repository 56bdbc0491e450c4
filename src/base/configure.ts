/**
 * The configuration of a daemon: flags, then the environment, then the settings of the profile, then
 * defaults.
 */
import * as z from 'zod'
import { readConfig, variables, type Config } from './config.ts'
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
  wrongSettings,
} from './settings.ts'

type Name = keyof Config
export type Source = 'flag' | 'environment' | 'settings' | 'default'

export type Configured = {
  config: Config
  settings: Settings
  sourceOf: (name: Name) => Source
  /** Stores the given values for the next start, with the bound ports. @throws {StartError} */
  remember(ports: { rest: number; didcomm: number }): void
}

const Where = z.object({
  AGENT_CONFIG_DIR: locationVariables.AGENT_CONFIG_DIR,
  AGENT_PROFILE: locationVariables.AGENT_PROFILE,
})

/**
 * Reads a configuration. `flags` have the form `AGENT_HTTP_PORT=9000`.
 *
 * @throws {StartError} with the name of each invalid variable and setting and the reason, but without values
 */
export function configure(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[] = [],
): Configured {
  const byFlag = withoutEmpty(
    Object.fromEntries(flags.map((flag) => flag.split(/=(.*)/s, 2) as [string, string])),
  )
  const byEnv = withoutEmpty(env)
  const explicit = { ...byEnv, ...byFlag }
  const where = Where.safeParse(explicit)
  // An invalid profile or folder is reported with all other errors.
  if (!where.success)
    return {
      config: readConfig(explicit),
      settings: {},
      sourceOf: () => 'default',
      remember: () => undefined,
    }
  const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: profile } = where.data
  const settings = readSettings(configDir, profile)
  check(settings, settingsPath(configDir, profile))
  const dataDir = explicit['AGENT_DATA_DIR'] ?? dataDirOf(configDir, profile, settings)
  const config = readConfig({ ...settings, ...explicit, AGENT_DATA_DIR: dataDir })
  const sourceOf = (name: Name): Source =>
    name in byFlag ? 'flag' : name in byEnv ? 'environment' : name in settings ? 'settings' : 'default'
  return {
    config,
    settings,
    sourceOf,
    remember({ rest, didcomm }) {
      const given: Record<string, number> = { AGENT_HTTP_PORT: rest, AGENT_DIDCOMM_PORT: didcomm }
      const kept = remembered
        .filter((name) => name in explicit)
        .map((name) => [name, name in given ? String(given[name]) : toKept(name, explicit[name]!)])
      const next: Settings = { ...settings, ...Object.fromEntries(kept) }
      const isNew = Object.entries(next).some(([name, value]) => settings[name] !== value)
      if (isNew) writeSettings(configDir, profile, next)
    },
  }
}

/** Settings are variables, except those that locate the settings. @throws {StartError} */
function check(settings: Settings, path: string): void {
  const wrong = Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    if (name in Where.shape) return [[name, 'locates the settings, and cannot be one of them']]
    const schema: z.ZodType | undefined = Object.hasOwn(variables, name) ? variables[name as Name] : undefined
    if (!schema) return [[name, 'is not the name of a setting']]
    return (schema.safeParse(value).error?.issues ?? []).map(({ message }) => [name, message])
  })
  if (wrong.length > 0) throw wrongSettings(path, wrong)
}
