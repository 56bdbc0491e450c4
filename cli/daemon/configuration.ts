/**
 * The configuration of a daemon that `agent daemon start` would start. Its readers are a bundle that is
 * loaded when it is needed.
 */
import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import type { Inspected } from '../../src/foundation/config/configure.ts'
import { readSettings, type Settings } from '../../src/foundation/config/settings.ts'
import { chooseDataDir, type FolderFlags, type Surroundings } from '../client/settings.ts'

export const configFlag = Flags.string({
  description: 'configuration file, JSON or YAML (AGENT_CONFIG_FILE)',
})

/**
 * Returns the data folder of a daemon to start, and the settings of its configuration file. Without such a
 * file, the daemon itself checks its configuration.
 *
 * @throws {StartError} 2 with all faults when there is a configuration file and a setting is not valid.
 */
export async function readConfigured(
  flags: FolderFlags,
  around: Surroundings,
  requested: Settings,
): Promise<{ dataDir: string; configFile?: string; file: Settings }> {
  const profile = flags.profile ?? around.AGENT_PROFILE
  const named =
    requested['AGENT_CONFIG_FILE'] ??
    around.AGENT_CONFIG_FILE ??
    readSettings(around.AGENT_CONFIG_DIR, profile)['AGENT_CONFIG_FILE']
  if (named === undefined) return { dataDir: chooseDataDir(flags, around), file: {} }
  const { configure } = await import('../../src/foundation/config/report.ts')
  const given = { ...requested, AGENT_PROFILE: profile }
  const { config, file } = await configure(process.env, toArguments(given))
  const dataDir = resolve(flags['data-dir'] ?? config.AGENT_DATA_DIR)
  return { dataDir, configFile: resolve(named), file }
}

/**
 * Inspects the configuration of the next start with these flags.
 *
 * @throws {StartError} when the profile cannot be read
 */
export async function inspectNextStart(
  around: Surroundings,
  profile: string | undefined,
  configFile: string | undefined,
): Promise<Inspected> {
  const { inspect } = await import('../../src/foundation/config/report.ts')
  // The selected profile is that of `agent daemon start` too.
  const name = profile ?? (around.profileFrom === 'use' ? around.AGENT_PROFILE : undefined)
  return inspect(process.env, [
    ...(name === undefined ? [] : [`AGENT_PROFILE=${name}`]),
    ...(configFile === undefined ? [] : [`AGENT_CONFIG_FILE=${resolve(configFile)}`]),
  ])
}

/** Settings as arguments of the daemon’s process. */
export function toArguments(settings: Settings): string[] {
  return Object.entries(settings).map(([name, value]) => `${name}=${value}`)
}
