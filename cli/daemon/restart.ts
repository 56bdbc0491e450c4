/** The state of the running daemon that a restart needs. */
import { readFileSync } from 'node:fs'
import type { Running } from '../../src/foundation/running.ts'
import { settingsPath } from '../../src/foundation/config/settings.ts'
import { CommandError } from '../errors/errors.ts'
import { commandsFor } from '../service/commands.ts'

/**
 * Checks that the daemon runs in the background by itself.
 *
 * @throws {CommandError} 5 for a service, and for a daemon in the foreground of a terminal
 */
export function requireBackground({ service, isBackground, pid }: Running): void {
  if (service)
    throw new CommandError(
      `The daemon is the service ${service.name} of ${service.manager}, which restarts it.`,
      5,
      commandsFor(service).restart,
    )
  if (isBackground === false)
    throw new CommandError(
      `The daemon (process ${pid}) runs in the foreground of another program. Stop it there, and start it again.`,
      5,
    )
}

/**
 * The variables that the daemon was started with and that are not set here: from its process (Linux).
 *
 * @throws {CommandError} 5 when they cannot be read, because the daemon would start with other settings
 */
export function variablesOf(
  { pid, environment = [], profile = 'local' }: Running,
  env: Readonly<Record<string, string | undefined>>,
  configDir: string,
): Record<string, string> {
  const missing = environment.filter((name) => !env[name])
  if (missing.length === 0) return {}
  const before = readEnvironment(pid)
  const unknown = missing.filter((name) => before[name] === undefined)
  if (unknown.length > 0)
    throw new CommandError(
      `The daemon was started with variables that are not set here: ${unknown.join(', ')}. Set them, or store them in ${settingsPath(configDir, profile)}; or stop the daemon and start it without them.`,
      5,
    )
  return Object.fromEntries(missing.map((name) => [name, before[name]!]))
}

/** The environment that a process was started with; empty where the system does not show it. */
function readEnvironment(pid: number): Readonly<Record<string, string>> {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s, 2) as [string, string]))
  } catch {
    return {}
  }
}
