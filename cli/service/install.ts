/** Installs and removes the file of a service. Nothing is left half done. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newApiKey } from '../../src/foundation/api-key.ts'
import { makeFolder, writeNewFile } from '../../src/foundation/private-files.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { findDaemon } from '../daemon/find.ts'
import { CommandError } from '../errors/errors.ts'
import { commandsFor } from './commands.ts'
import { installedBeside, type Manager } from './manager.ts'
import { type SecretFile, type ServicePlan, variablesOf } from './plan.ts'
import { unitDataDir } from './systemd.ts'

/** The files of the secrets of a system service, which `createSecrets` creates. */
export function defaultSecrets(name: string, given: readonly SecretFile[]): SecretFile[] {
  const folder = `/etc/${name}`
  const own = [
    { variable: 'AGENT_MASTER_KEY_FILE', path: join(folder, 'master-key') },
    { variable: 'ADMIN_TOKEN_FILE', path: join(folder, 'admin-token') },
  ]
  // The key of a folder that exists stays where it is.
  const isOld = existsSync(`/var/lib/${name}/data/master.key`)
  return own.filter(
    ({ variable }) =>
      !given.some((each) => each.variable === variable) && !(isOld && variable === 'AGENT_MASTER_KEY_FILE'),
  )
}

/** Creates the missing files of secrets, for root only. An existing secret is never replaced. */
export async function createSecrets(secrets: readonly SecretFile[]): Promise<void> {
  for (const { variable, path } of secrets) {
    if (existsSync(path)) continue
    makeFolder(dirname(path))
    const secret = variable === 'ADMIN_TOKEN_FILE' ? newApiKey() : randomBytes(32).toString('base64url')
    await writeNewFile(path, `${secret}\n`)
  }
}

/**
 * Checks that nothing else has the name or the data folder of a service, and that a service keeps its
 * variables.
 *
 * @throws {CommandError} 5 with the file or the process that has it
 */
export async function requireFree(manager: Manager, plan: ServicePlan): Promise<void> {
  const file = manager.fileOf(plan)
  const dataDir = unitDataDir(plan)
  const installed = existsSync(file) ? manager.readOwn(readFileSync(file, 'utf8')) : undefined
  if (existsSync(file) && !installed)
    throw new CommandError(
      `${file} exists, and is not of agent daemon install. Move it away, or name another profile (--profile).`,
      5,
    )
  const lost = installed?.variables.filter((name) => !variablesOf(plan).includes(name)) ?? []
  if (lost.length > 0)
    throw new CommandError(
      `The service has variables that are not set here: ${lost.join(', ')}. Set them, or uninstall the service first.`,
      5,
      `agent daemon uninstall${plan.isSystem ? ' --system' : ''}`,
    )
  const other = installedBeside(manager, file).find((each) => each.path !== file && each.dataDir === dataDir)
  if (other)
    throw new CommandError(
      `The profile ${other.profile} has a service for the data folder ${dataDir} already: ${other.path}.`,
      5,
      `agent daemon uninstall --profile ${other.profile}${plan.isSystem ? ' --system' : ''}`,
    )
  const running = await findDaemon(dataDir)
  if (running && running.service?.name !== plan.name)
    throw new CommandError(
      `A daemon serves ${dataDir} already, process ${running.pid}. Stop it first, then install the service.`,
      5,
      `agent daemon stop --data-dir ${dataDir}`,
    )
}

/** Writes the file and starts the service. A service that does not start is removed, or is again what it was. */
export async function installService(manager: Manager, plan: ServicePlan): Promise<void> {
  const file = manager.fileOf(plan)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  try {
    makeFolder(dirname(file))
    writeFileSync(file, manager.render(plan), { mode: 0o644 })
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${systemReason(error)}.`, 1)
  }
  try {
    await manager.activate(plan)
  } catch (error) {
    if (before === undefined) {
      await manager.deactivate(plan)
      rmSync(file, { force: true })
      await manager.reload(plan)
    } else {
      writeFileSync(file, before)
      await manager.activate(plan).catch(() => undefined)
    }
    throw withHint(
      error as CommandError,
      before === undefined,
      commandsFor({ manager: manager.kind, ...plan }).log.replace(' --follow', ''),
    )
  }
}

function withHint(error: CommandError, isRemoved: boolean, hint: string): CommandError {
  const now = isRemoved ? 'It is removed again.' : 'Its file is again what it was.'
  return new CommandError(`${error.message} ${now}`, error.exitCode, hint)
}

/**
 * Stops the service and removes its file; false if there is none.
 *
 * @throws {CommandError} 5 for a file of others
 */
export async function uninstallService(
  manager: Manager,
  plan: Pick<ServicePlan, 'name' | 'isSystem'>,
): Promise<{ dataDir: string } | undefined> {
  const file = manager.fileOf(plan)
  if (!existsSync(file)) return undefined
  const own = manager.readOwn(readFileSync(file, 'utf8'))
  if (!own)
    throw new CommandError(
      `${file} is not of agent daemon install. It stays as it is.`,
      5,
      commandsFor({ manager: manager.kind, ...plan }).state,
    )
  await manager.deactivate(plan)
  rmSync(file)
  await manager.reload(plan)
  return { dataDir: own.dataDir }
}
