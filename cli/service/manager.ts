/** The service managers: systemd on Linux, launchd on macOS. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import envPaths from 'env-paths'
import { CommandError } from '../errors/errors.ts'
import { domainOf, labelOf } from './commands.ts'
import { readOwnPlist, renderPlist } from './launchd.ts'
import type { Installed, ServicePlan } from './plan.ts'
import { readOwnUnit, renderUnit, unitDataDir } from './systemd.ts'

const run = promisify(execFile)

export type Manager = {
  kind: 'systemd' | 'launchd'
  fileOf: (plan: Named) => string
  render: (plan: ServicePlan) => string
  /** Parses a file of this program; undefined for those of others. */
  readOwn: (text: string) => Installed | undefined
  /** @throws {CommandError} 1 when no such service manager runs here, or the user has none */
  requireRunning: (isSystem: boolean) => Promise<void>
  /**
   * Starts the service now and at each boot or login, again if it runs.
   *
   * @throws {CommandError} when it does not start
   */
  activate: (plan: Named) => Promise<void>
  /** Stops the service for good. */
  deactivate: (plan: Named) => Promise<void>
  /** Has the manager read its files again. */
  reload: (plan: Named) => Promise<void>
}

type Named = Pick<ServicePlan, 'name' | 'isSystem'>

const wayOut = 'Print the file and install it elsewhere (--dry-run), or run `agent daemon start`.'

/** The service manager of a platform. @throws {CommandError} 1 for other platforms */
export function managerOf(platform: NodeJS.Platform): Manager {
  if (platform === 'linux') return systemd
  if (platform === 'darwin') return launchd
  throw new CommandError(
    `On ${platform}, agent daemon install knows no service manager: it knows systemd and launchd. Run \`agent daemon start --foreground\` in a service of your own.`,
    1,
  )
}

const scope = (isSystem: boolean) => (isSystem ? [] : ['--user'])
const systemctl = (isSystem: boolean, ...args: string[]) => run('systemctl', [...scope(isSystem), ...args])

const systemd: Manager = {
  kind: 'systemd',
  fileOf({ name, isSystem }) {
    const home = dirname(envPaths('identity-agent', { suffix: '' }).config)
    return join(isSystem ? '/etc/systemd/system' : join(home, 'systemd', 'user'), `${name}.service`)
  },
  render: (plan) =>
    renderUnit(plan, existsSync('/usr/bin/systemd-notify') || existsSync('/bin/systemd-notify')),
  readOwn: readOwnUnit,
  async requireRunning(isSystem) {
    if (!existsSync('/run/systemd/system'))
      throw new CommandError(`systemd does not run on this machine. ${wayOut}`, 1)
    if (isSystem) return
    const failed = await systemctl(false, 'show-environment').catch((error: unknown) => error)
    if (failed instanceof Error)
      throw new CommandError(
        `The service manager of your user cannot be reached (${firstLine(failed)}). Log in as this user without su or sudo, or install a system service (--system).`,
        1,
      )
  },
  async activate({ name, isSystem }) {
    await systemctl(isSystem, 'daemon-reload')
    await systemctl(isSystem, 'enable', '--quiet', `${name}.service`)
    await systemctl(isSystem, 'reset-failed', `${name}.service`).catch(() => undefined)
    // Type=notify: it returns when the daemon is ready.
    await systemctl(isSystem, 'restart', `${name}.service`).catch(failed('systemctl'))
  },
  async deactivate({ name, isSystem }) {
    await systemctl(isSystem, 'disable', '--now', '--quiet', `${name}.service`).catch(() => undefined)
  },
  reload: async ({ isSystem }) => void (await systemctl(isSystem, 'daemon-reload')),
}

const launchd: Manager = {
  kind: 'launchd',
  fileOf: ({ name, isSystem }) =>
    join(
      isSystem ? '/Library/LaunchDaemons' : join(homedir(), 'Library', 'LaunchAgents'),
      `${labelOf(name)}.plist`,
    ),
  render: (plan) => renderPlist(plan, unitDataDir(plan)),
  readOwn: readOwnPlist,
  requireRunning: async (isSystem) => {
    const failed = await run('launchctl', ['print', domainOf(isSystem)]).catch((error: unknown) => error)
    if (failed instanceof Error)
      throw new CommandError(`launchd cannot be reached (${firstLine(failed)}). ${wayOut}`, 1)
  },
  async activate(plan) {
    await launchd.deactivate(plan)
    await run('launchctl', ['bootstrap', domainOf(plan.isSystem), launchd.fileOf(plan)]).catch(
      failed('launchctl'),
    )
  },
  async deactivate(plan) {
    await run('launchctl', ['bootout', `${domainOf(plan.isSystem)}/${labelOf(plan.name)}`]).catch(
      () => undefined,
    )
  },
  reload: () => Promise.resolve(),
}

function failed(program: string) {
  return (error: unknown): never => {
    throw new CommandError(`The service does not start: ${program} says: ${firstLine(error as Error)}.`, 1)
  }
}

/** The first line of a program on standard error, or the reason why it did not run. */
function firstLine(error: Error & { stderr?: string }): string {
  const line = (error.stderr ?? '').trim().split('\n')[0] || error.message
  return line.replace(/\.$/, '')
}

/** The services that this program has installed beside a file, by their paths. */
export function installedBeside(manager: Manager, file: string): (Installed & { path: string })[] {
  if (!existsSync(dirname(file))) return []
  return readdirSync(dirname(file))
    .filter((each) => /identity-agent.*\.(?:service|plist)$/.test(each))
    .map((each) => join(dirname(file), each))
    .flatMap((path) => {
      const own = manager.readOwn(readFileSync(path, 'utf8'))
      return own ? [{ ...own, path }] : []
    })
}
