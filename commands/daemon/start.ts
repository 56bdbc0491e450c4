import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { exit } from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'
import { childEnv, fromProcess } from '../../cli/client/settings.ts'
import { configFlag, readConfigured, toArguments } from '../../cli/daemon/configuration.ts'
import { requireFreeProfile, requireSameDaemon } from '../../cli/daemon/conflicts.ts'
import { findDaemon } from '../../cli/daemon/find.ts'
import { httpsFlag, lanFlag, lanSettings, sayLan } from '../../cli/daemon/lan.ts'
import { takeFreePorts } from '../../cli/daemon/ports.ts'
import { launchInBackground, launchInForeground, detach } from '../../cli/daemon/launch.ts'
import { defineLocalCommand, type LocalContext } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { forProfile } from '../../cli/format/next.ts'
import { fields } from '../../cli/format/table.ts'
import { readSettings, settingsPath, withoutEmpty } from '../../src/foundation/config/settings.ts'
import { logPath } from '../../src/foundation/log-file.ts'

export default defineLocalCommand({
  summary: 'Start the daemon, and wait until it is ready',
  description:
    'Flags set the environment variables of the same name. All other settings are environment variables, or are in a configuration file (--config). The profile keeps the file, ports, addresses and the ledger for the next start (docs/operate/configuration.md). docs/how-to/phones.md is about --lan. `agent config show` prints the settings of the next start.',
  examples: [
    'agent daemon start',
    'agent daemon start --profile bob --data-dir ./bob --port 0 --didcomm-port 0',
    'agent daemon start --lan',
    'agent daemon start --config /etc/identity-agent.yaml',
  ],
  flags: {
    foreground: Flags.boolean({ description: 'run in this terminal and write the log to it' }),
    config: configFlag,
    'data-dir': Flags.string({ description: 'data folder of the agent (AGENT_DATA_DIR)' }),
    host: Flags.string({ description: 'address that both servers listen on (AGENT_HOST)' }),
    lan: lanFlag,
    https: httpsFlag,
    port: Flags.integer({
      description: 'port of the HTTP API, 0 for a free one (AGENT_HTTP_PORT)',
      min: 0,
      max: 65_535,
    }),
    'didcomm-port': Flags.integer({
      description: 'port of the DIDComm endpoint, 0 for a free one (AGENT_DIDCOMM_PORT)',
      min: 0,
      max: 65_535,
    }),
    profile: Flags.string({
      char: 'p',
      description: 'profile that the daemon writes and other commands read (AGENT_PROFILE)',
    }),
  },
  async run(context) {
    const { flags, say, suggest, print } = context
    const around = fromProcess()
    const profile = flags.profile ?? around.AGENT_PROFILE
    const configDir = around.AGENT_CONFIG_DIR
    const requested: Record<string, string> = withoutEmpty({
      AGENT_CONFIG_FILE: flags.config && resolve(flags.config),
      AGENT_HOST: flags.host,
      ...lanSettings(flags),
      AGENT_HTTP_PORT: flags.port?.toString(),
      AGENT_DIDCOMM_PORT: flags['didcomm-port']?.toString(),
    })
    const { dataDir, configFile, file } = await readConfigured(flags, around, requested)
    const asked = { configDir, profile, dataDir, flags: requested, env: withoutEmpty(process.env), file }
    const running = await findDaemon(dataDir)
    if (running) requireSameDaemon(running, asked)
    else {
      await requireFreeProfile(asked)
      const layers = [requested, asked.env, file, readSettings(configDir, profile)]
      Object.assign(requested, await takeFreePorts(profile, layers, say))
      // The standard error of a daemon in the foreground is its log.
      if (!flags.foreground || process.stderr.isTTY) await sayLan(context, layers)
    }
    const args = toArguments({ AGENT_DATA_DIR: dataDir, AGENT_PROFILE: profile, ...requested })
    if (flags.foreground) return startInForeground(context, args)

    if (running) say('The daemon already runs.')
    const { url, didcommUrl, certificate, authority, pid, calls, warnings } = running
      ? { ...running, authority: undefined, warnings: [] }
      : await startInBackground(dataDir, args)
    const settings = settingsPath(configDir, profile)
    const log = logPath(dataDir)
    print(url, [
      ['api', url],
      ['didcomm', didcommUrl],
      ['certificate', certificate],
      ['authority', authority],
      ['pid', pid],
      ['data', dataDir],
      ['log', log],
      ['config', configFile],
      ['settings', existsSync(settings) ? settings : undefined],
    ])
    if (calls !== undefined) say(calls)
    warn(context, warnings)
    suggest(
      'agent connection invite',
      'agent tenant create <name>',
      'agent daemon stop',
      flags.profile === undefined || flags.profile === around.AGENT_PROFILE
        ? undefined
        : `agent profile use ${flags.profile}`,
    )
    const secured = { certificate, authority }
    return { url, didcommUrl, ...secured, pid, dataDir, log, calls, started: running === undefined }
  },
})

function warn({ flags, say }: LocalContext, warnings: readonly string[]): void {
  for (const warning of warnings) say(`\nWarning: ${forProfile(warning, flags.profile)}`)
}

async function startInBackground(dataDir: string, args: readonly string[]) {
  const { child, ready } = launchInBackground(dataDir, childEnv({}), true, args)
  const message = await ready
  detach(child)
  return message
}

async function startInForeground(context: LocalContext, args: readonly string[]): Promise<undefined> {
  const { say } = context
  const { child, ready } = launchInForeground(childEnv({}), args)
  const ended = once(child, 'exit')
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGHUP', () => child.kill('SIGTERM'))
  // A terminal sends Ctrl-C to the daemon as well, and a second signal would stop it at once.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  const message = await ready.catch((error: CommandError) => {
    // The daemon has printed the reason in this terminal.
    if (child.exitCode !== null) return exit(error.exitCode)
    throw error
  })
  // In a file or a pipe the output is the log only: one JSON object per line.
  if (process.stderr.isTTY) {
    const { url, didcommUrl, calls, warnings } = message
    const lines = fields([
      ['api', url],
      ['didcomm', didcommUrl],
    ])
    say(`${lines}\n${calls}`)
    warn(context, warnings)
  }
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  if (signal !== null) throw new CommandError(`The daemon was killed by ${signal}.`, 1, 'agent daemon start')
  if (code !== 0) exit(code ?? 1)
}
