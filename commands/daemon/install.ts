import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { fromProcess, type Surroundings } from '../../cli/client/settings.ts'
import { configFlag, readConfigured } from '../../cli/daemon/configuration.ts'
import { findDaemon } from '../../cli/daemon/find.ts'
import { httpsFlag, lanFlag, lanSettings } from '../../cli/daemon/lan.ts'
import { defineLocalCommand, type FlagValues } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { commandsFor, systemFlag } from '../../cli/service/commands.ts'
import { createSecrets, defaultSecrets, installService, requireFree } from '../../cli/service/install.ts'
import { managerOf } from '../../cli/service/manager.ts'
import { findCommand, oneLine, type ServicePlan, serviceName, takeOver } from '../../cli/service/plan.ts'
import { unitDataDir } from '../../cli/service/systemd.ts'
import { withoutEmpty } from '../../src/foundation/config/settings.ts'

const portFlag = (description: string) => Flags.integer({ description, min: 0, max: 65_535 })

const flags = {
  system: systemFlag,
  'run-as': Flags.string({
    description: 'existing user that the service of the machine runs as; default: one that systemd makes',
    dependsOn: ['system'],
  }),
  'dry-run': Flags.boolean({ description: 'print the file of the service, and install nothing' }),
  config: configFlag,
  'data-dir': Flags.string({ description: 'data folder of the agent (AGENT_DATA_DIR)' }),
  host: Flags.string({ description: 'address that both servers listen on (AGENT_HOST)' }),
  lan: lanFlag,
  https: httpsFlag,
  port: portFlag('port of the HTTP API, 0 for a free one (AGENT_HTTP_PORT)'),
  'didcomm-port': portFlag('port of the DIDComm endpoint, 0 for a free one (AGENT_DIDCOMM_PORT)'),
  profile: Flags.string({
    char: 'p',
    description: 'profile that the daemon writes and other commands read (AGENT_PROFILE)',
  }),
}
type ServiceFlags = FlagValues<typeof flags>

export default defineLocalCommand({
  summary: 'Install the daemon as a service, and start it',
  description:
    'The service is a unit of systemd (Linux) or a job of launchd (macOS), for your user or for the machine (--system). It starts at login or boot, and again after a crash. It gets the flags, and the variables of the daemon that are set now; secrets only as files (ADMIN_TOKEN_FILE). Install again to change it (docs/operate/service.md).',
  examples: [
    'agent daemon install',
    'agent daemon install --dry-run',
    'sudo agent daemon install --system',
    'AGENT_LOG_LEVEL=warn agent daemon install --profile acme --port 9085 --didcomm-port 9090',
  ],
  flags,
  async run({ flags, isJson, say, suggest, printFields }) {
    const manager = managerOf(process.platform)
    const plan = await planOf(flags, fromProcess(), manager.kind)
    const file = manager.fileOf(plan)
    const about = {
      service: plan.name,
      manager: manager.kind,
      file,
      profile: plan.profile,
      dataDir: unitDataDir(plan),
    }
    if (flags['dry-run']) {
      const content = manager.render(plan)
      if (!isJson) process.stdout.write(content)
      return { ...about, content, installed: false }
    }
    await manager.requireRunning(plan.isSystem)
    if (plan.isSystem && process.getuid?.() !== 0)
      throw new CommandError(
        'Only root may install a service of the machine.',
        4,
        'sudo agent daemon install --system',
      )
    await requireFree(manager, plan)
    if (plan.isSystem) await createSecrets(plan.secrets)
    await installService(manager, plan)
    const running = await findDaemon(about.dataDir)
    printFields([
      ['service', plan.name],
      ['file', file],
      ['api', running?.url],
      ['didcomm', running?.didcommUrl],
      ['data', about.dataDir],
      ...plan.secrets.map(({ variable, path }): [string, string] => [variable, path]),
    ])
    if (manager.kind === 'systemd' && !plan.isSystem)
      say('The service ends when you log out, unless you run: loginctl enable-linger')
    const { state, log } = commandsFor({ manager: manager.kind, ...plan })
    suggest(state, log, 'agent doctor', `agent daemon uninstall${plan.isSystem ? ' --system' : ''}`)
    return { ...about, installed: true }
  },
})

/** @throws {UsageError} for flags and variables that no service can have */
async function planOf(
  flags: ServiceFlags,
  around: Surroundings,
  kind: 'systemd' | 'launchd',
): Promise<ServicePlan> {
  const { system: isSystem, 'run-as': runAs } = flags
  const profile = flags.profile ?? around.AGENT_PROFILE
  const name = serviceName(profile)
  requireOwner(flags, kind)
  const requested = withoutEmpty({
    AGENT_CONFIG_FILE: flags.config && oneLine('--config', resolve(flags.config)),
    AGENT_HOST: flags.host && oneLine('--host', flags.host),
    ...lanSettings(flags),
    AGENT_HTTP_PORT: flags.port?.toString(),
    AGENT_DIDCOMM_PORT: flags['didcomm-port']?.toString(),
  })
  const { environment, secrets } = await takeOver(process.env)
  const configured = await readConfigured({ ...flags, profile }, around, requested)
  const dataDir = isSystem && flags['data-dir'] === undefined ? undefined : configured.dataDir
  return {
    profile: withName(profile),
    name,
    isSystem,
    runAs,
    dataDir: dataDir && oneLine('--data-dir', dataDir),
    command: findCommand(isSystem),
    settings: withoutEmpty({
      AGENT_DATA_DIR: dataDir,
      AGENT_CONFIG_DIR: isSystem ? undefined : oneLine('AGENT_CONFIG_DIR', resolve(around.AGENT_CONFIG_DIR)),
      ...requested,
    }),
    environment,
    secrets: isSystem && kind === 'systemd' ? [...secrets, ...defaultSecrets(name, secrets)] : secrets,
  }
}

function withName(profile: string): string {
  if (/^[a-z0-9-]+$/i.test(profile)) return profile
  throw new UsageError(
    `The profile name ${JSON.stringify(profile)} is not made of letters, digits and hyphens.`,
  )
}

/** @throws {UsageError} when a service of the machine would have no user, or one that cannot use its folder */
function requireOwner(flags: ServiceFlags, kind: 'systemd' | 'launchd'): void {
  const { system, 'run-as': runAs, 'data-dir': dataDir } = flags
  if (runAs !== undefined && !/^[a-z_][a-z0-9_-]*$/i.test(runAs))
    throw new UsageError(`--run-as ${JSON.stringify(runAs)} is not the name of a user.`)
  if (system && dataDir !== undefined && runAs === undefined)
    throw new UsageError('--data-dir of a system service needs --run-as: the user who owns the folder.')
  if (system && kind === 'launchd' && (runAs === undefined || dataDir === undefined))
    throw new UsageError(
      'On macOS, a system service needs --run-as and --data-dir: a user, and a folder that this user owns.',
    )
}
