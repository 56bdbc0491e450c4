/** `agent config set` and `unset`: which file has the setting, and what the change means for the daemon. */
import type { Inspected } from '../../src/foundation/config/configure.ts'
import { ConfigError } from '../../src/foundation/config/fault.ts'
import { settingsPath } from '../../src/foundation/config/settings.ts'
import type { Surroundings } from '../client/settings.ts'
import { UsageError } from '../errors/errors.ts'
import type { Output } from '../output.ts'
import { inspectNextStart } from './configuration.ts'
import { findDaemon } from './find.ts'

type Where = { around: Surroundings; profile: string | undefined; config: string | undefined }

/** The name of a setting as a person types it: `agent_http_port`. @throws {UsageError} with a similar one */
export async function readName(text: string): Promise<string> {
  const { findFault, nearestSetting } = await import('../../src/foundation/config/report.ts')
  const name = text.toUpperCase().replaceAll('-', '_')
  const fault = findFault(name, undefined)
  if (fault === undefined) return name
  const near = nearestSetting(name)
  throw new UsageError(
    `${text} ${fault}.${near === undefined || near === name ? '' : ` Did you mean ${near}?`}`,
    'agent config show --all',
  )
}

/**
 * The files of the next start, the one with the highest precedence first.
 *
 * @throws {ConfigError} if one of them cannot be read as settings
 */
export async function settingFiles(name: string, where: Where): Promise<string[]> {
  const { around, profile = around.AGENT_PROFILE, config } = where
  const inspected = await inspectNextStart(around, where.profile, config)
  const unreadable = inspected.faults.filter(
    (fault) => fault.name === undefined && !(name === 'AGENT_CONFIG_FILE' && fault.source === 'file'),
  )
  if (unreadable.length > 0) throw new ConfigError(unreadable)
  const ofProfile = settingsPath(around.AGENT_CONFIG_DIR, profile)
  // The name of the configuration file cannot be in it.
  return name === 'AGENT_CONFIG_FILE' || inspected.configFile === undefined
    ? [ofProfile]
    : [inspected.configFile, ofProfile]
}

/** Says what else decides about the setting, and how the daemon gets it. */
export async function sayConsequences(
  name: string,
  where: Where,
  { say, suggest }: Pick<Output, 'say' | 'suggest'>,
): Promise<void> {
  const inspected = await inspectNextStart(where.around, where.profile, where.config)
  const byVariable = inspected.layers.find(({ source }) => source === 'environment')!
  if (name in byVariable.values) say(`Warning: The environment variable ${name} has precedence. Unset it.`)
  for (const fault of inspected.faults)
    say(`Warning: The next start would refuse: ${new ConfigError([fault]).message}`)
  const running = await findRunning(inspected)
  if (!running) return
  const isOfStart =
    running.flags?.some((flag) => flag.startsWith(`${name}=`)) || running.environment?.includes(name)
  say(`The daemon at ${running.url} runs with its earlier settings.`)
  suggest(...(isOfStart ? ['agent daemon stop', 'agent daemon start'] : ['agent daemon restart']))
}

async function findRunning({ config, values }: Inspected) {
  const dataDir = config?.AGENT_DATA_DIR ?? values['AGENT_DATA_DIR']
  return dataDir === undefined ? undefined : findDaemon(dataDir)
}

/** @throws {UsageError} with the reason of the settings table, but without the value, which may be a secret */
export async function requireValid(name: string, value: string): Promise<void> {
  const { findFault } = await import('../../src/foundation/config/report.ts')
  const fault = findFault(name, value)
  if (fault !== undefined) throw new UsageError(`${name} ${fault}.`, `agent config show ${name}`)
}
