/** The plan of a service: a daemon with its arguments, its environment, and the files of its secrets. */
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toKept } from '../../src/foundation/config/settings.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { CommandError, UsageError } from '../errors/errors.ts'

type Values = Readonly<Record<string, string>>

/** A file with a secret, and the variable that names it, such as `ADMIN_TOKEN_FILE`. */
export type SecretFile = { variable: string; path: string }

export type ServicePlan = {
  profile: string
  /** `identity-agent`, or `identity-agent-<profile>` for other profiles than `local`. */
  name: string
  /** A service of the machine, not of a user. */
  isSystem: boolean
  /** The user of a system service. Without one, the service manager makes one. */
  runAs: string | undefined
  /** Without one, a system service uses the state folder that the service manager makes. */
  dataDir: string | undefined
  /** The program and its first argument. */
  command: readonly [node: string, daemon: string]
  /** Settings of the daemon, in the form of environment variables. */
  settings: Values
  environment: Values
  secrets: readonly SecretFile[]
}

/** What the file of an installed service says. */
export type Installed = {
  profile: string
  dataDir: string
  /** The names of the variables that the service got when it was installed. */
  variables: readonly string[]
}

/** The names of the variables that a service gets. */
export function variablesOf({ environment, secrets }: ServicePlan): string[] {
  return [...Object.keys(environment), ...secrets.map(({ variable }) => variable)].toSorted()
}

const daemonProgram = fileURLToPath(new URL('../bin/daemon.cjs', import.meta.url))

/** Variables that flags set, or that locate the settings. */
const located = ['AGENT_DATA_DIR', 'AGENT_CONFIG_DIR', 'AGENT_PROFILE']

export function serviceName(profile: string): string {
  return profile === 'local' ? 'identity-agent' : `identity-agent-${profile}`
}

/**
 * Divides the variables of the environment that a daemon reads: settings for the service’s file, and files of
 * secrets.
 *
 * @throws {UsageError} for a secret, because others can read the service’s file, and for values with line
 * breaks
 */
export async function takeOver(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ environment: Values; secrets: SecretFile[] }> {
  const { isSecret, isSettingName } = await import('../../src/foundation/config/report.ts')
  const environment: Record<string, string> = {}
  const secrets: SecretFile[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!value || located.includes(name)) continue
    const secret = /^(.+)_FILE$/.exec(name)?.[1]
    if (secret !== undefined && isSettingName(secret) && isSecret(secret))
      secrets.push({ variable: name, path: readableFile(name, resolve(value)) })
    else if (isSettingName(name) && isSecret(name))
      throw new UsageError(
        `The variable ${name} is a secret, and others may read the file of a service. Store it in a file that only you can read, unset ${name}, and set ${name}_FILE to the path of the file.`,
      )
    else if (name === 'AGENT_CONFIG_FILE') environment[name] = readableFile(name, resolve(value))
    else if (isSettingName(name)) environment[name] = oneLine(name, toKept(name, value))
  }
  return { environment, secrets }
}

function readableFile(name: string, path: string): string {
  try {
    accessSync(oneLine(name, path), constants.R_OK)
    return path
  } catch (error) {
    throw new UsageError(`${name}: ${path} cannot be read: ${systemReason(error)}.`)
  }
}

/**
 * @throws {UsageError} for a value with line breaks or other control characters, which no service file can
 * hold
 */
export function oneLine(name: string, value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (!/[\u0000-\u001f\u007f]/.test(value)) return value
  throw new UsageError(`${name} contains a line break or another control character. Choose another value.`)
}

/**
 * The program that the service runs: this one.
 *
 * @throws {CommandError} 1 for a system service in a home folder, which its user cannot read
 */
export function findCommand(isSystem: boolean): ServicePlan['command'] {
  const command = [process.execPath, daemonProgram] as const
  const hidden = command.find((path) => /^\/(?:home|root|Users)\//.test(path))
  if (isSystem && hidden !== undefined)
    throw new CommandError(
      `A system service cannot read ${hidden}, which is in a home folder. Install Node.js and identity-agent for all users, such as in /usr/local or /opt.`,
      1,
    )
  return command
}
