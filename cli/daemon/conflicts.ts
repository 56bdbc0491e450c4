/** Checks whether another daemon prevents a start. */
import { readProfile } from '../../src/foundation/config/profile.ts'
import type { Running } from '../../src/foundation/running.ts'
import { readSettings, remembered, type Settings, toKept } from '../../src/foundation/config/settings.ts'
import { CommandError } from '../errors/errors.ts'
import { findDaemon } from './find.ts'

/** The flags of `agent daemon start`, by the variables that they set. */
const flagNames: Readonly<Record<string, string>> = {
  AGENT_CONFIG_FILE: '--config',
  AGENT_HOST: '--host',
  AGENT_LAN: '--lan',
  AGENT_HTTPS: '--https',
  AGENT_HTTP_PORT: '--port',
  AGENT_DIDCOMM_PORT: '--didcomm-port',
}

/** The settings that `agent daemon restart` has flags for. */
const restartTakes = ['AGENT_LAN', 'AGENT_HTTPS']

/** A flag as it was typed, such as `--port 9000` or `--no-https`. */
function flagOf(name: string, value: string): string {
  const flag = flagNames[name]!
  if (name === 'AGENT_HTTPS') return value === 'true' ? flag : flag.replace('--', '--no-')
  return name === 'AGENT_LAN' && value === 'auto' ? flag : `${flag} ${value}`
}

type Asked = {
  configDir: string
  profile: string
  dataDir: string
  flags: Settings
  env: Settings
  file: Settings
}

/**
 * Checks that the daemon which already serves the data folder has the requested profile and settings.
 *
 * @throws {CommandError} 5 when they differ.
 */
export function requireSameDaemon(
  running: Running,
  { configDir, profile, dataDir, flags, env, file }: Asked,
): void {
  if (running.profile !== undefined && running.profile !== profile) {
    throw new CommandError(
      `The daemon of the profile ${running.profile} already serves the data folder ${dataDir} at ${running.url}.`,
      5,
      `agent daemon start --profile ${profile} --data-dir <another folder>`,
    )
  }
  const requested = { ...env, ...flags }
  const [other] = findOthers(running, requested, [readSettings(configDir, profile), file])
  if (other === undefined) return
  const value = requested[other]!
  const flag = flags[other] === undefined ? undefined : flagOf(other, value)
  throw new CommandError(
    `The daemon of the profile ${profile} already runs at ${running.url} and ${running.didcommUrl}, without the ${flag ?? `variable ${other}=${value}`} that you ask for.`,
    5,
    flag !== undefined && restartTakes.includes(other)
      ? `agent daemon restart ${flag}`
      : `agent daemon stop --profile ${profile}   # then start it again`,
  )
}

/**
 * Checks that no daemon of the same profile serves another folder: its profile would be lost. @throws
 * {CommandError} 5
 */
export async function requireFreeProfile({ configDir, profile, dataDir }: Asked): Promise<void> {
  const known = readProfile(configDir, profile)
  if (known?.kind !== 'local' || known.dataDir === dataDir) return
  const running = await findDaemon(known.dataDir)
  if (running?.pid !== known.pid) return
  throw new CommandError(
    `The daemon of the profile ${profile} already runs with the data folder ${known.dataDir}. Stop it, or name another profile.`,
    5,
    `agent daemon start --profile <name> --data-dir ${dataDir}`,
  )
}

/**
 * The names of requested settings with another value than those of the running daemon. `served` are the
 * settings that it has read.
 */
export function findOthers(running: Running, requested: Settings, served: readonly Settings[]): string[] {
  return remembered.filter(
    (name) =>
      name !== 'AGENT_DATA_DIR' &&
      requested[name] !== undefined &&
      !(
        /^(?:off|false|0)$/.test(requested[name]) && served.every((settings) => settings[name] === undefined)
      ) &&
      !served.some((settings) => isServed(name, requested[name]!, running, settings)),
  )
}

/**
 * True when the running daemon has the requested value: addresses come from the daemon, other values from its
 * settings.
 */
function isServed(name: string, value: string, { url, didcommUrl }: Running, settings: Settings): boolean {
  if (name === 'AGENT_HTTP_PORT' || name === 'AGENT_DIDCOMM_PORT')
    return (
      Number(value) === 0 ||
      Number(new URL(name === 'AGENT_HTTP_PORT' ? url : didcommUrl).port) === Number(value)
    )
  if (name === 'AGENT_HOST' && settings[name] === undefined) return new URL(url).hostname === value
  return settings[name] === toKept(name, value)
}
