/** How the process of a daemon was started: what `agent daemon restart` repeats. */
import { readFileSync } from 'node:fs'
import { variables } from '../../src/foundation/config/config.ts'
import type { Running } from '../../src/foundation/running.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Describes the start of this process.
 *
 * @param isBackground whether the log is the file in the data folder
 */
export function originOf(
  env: Environment,
  flags: readonly string[],
  isBackground: boolean,
): Pick<Running, 'flags' | 'environment' | 'isBackground' | 'service'> {
  const environment = Object.keys(env).filter((name) => env[name] && isSetting(name))
  return { flags: [...flags], environment, isBackground, service: findService(env) }
}

/** A variable of the table, or the file of one. */
function isSetting(name: string): boolean {
  return Object.hasOwn(variables, name) || Object.hasOwn(variables, name.replace(/_FILE$/, ''))
}

/**
 * The service that this process, or its launcher, is the main process of. SYSTEMD_EXEC_PID (systemd 248 and
 * newer) and XPC_SERVICE_NAME are inherited by all processes of a service, so a process of another one must
 * not match.
 */
function findService(env: Environment): Running['service'] {
  const { SYSTEMD_EXEC_PID: main, MANAGERPID, XPC_SERVICE_NAME: label } = env
  if (main === String(process.pid) || main === String(process.ppid)) {
    const [, name = 'unknown'] = /^\d+:[^:]*:.*?([^/\n]+)\.service$/m.exec(readCgroup()) ?? []
    // Only the manager of a user sets MANAGERPID.
    return { manager: 'systemd', name, isSystem: MANAGERPID === undefined }
  }
  if (process.platform === 'darwin' && process.ppid === 1 && label?.startsWith('org.identity-agent.'))
    return {
      manager: 'launchd',
      name: label.slice('org.identity-agent.'.length),
      isSystem: process.getuid!() === 0,
    }
  return undefined
}

function readCgroup(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8')
  } catch {
    return ''
  }
}
