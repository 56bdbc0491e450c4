/** `agent daemon start` */
import { once } from 'node:events'
import * as Flags from '@oclif/core/flags'
import { childEnv, chooseDataDir, fromProcess } from '../_client/settings.ts'
import { findDaemon } from '../_daemon/find.ts'
import { launchInBackground, launchInForeground, letGo, logPath } from '../_daemon/launch.ts'
import { CommandError } from '../_errors/usage.ts'
import { fields } from '../_format/table.ts'
import { PlainCommand } from '../_plain.ts'

export default class DaemonStart extends PlainCommand {
  static override summary = 'Start the daemon, and wait until it is ready'
  static override description =
    'Everything else that the daemon can be told is in environment variables; the flags set those of the same name.'
  static override examples = [
    '<%= config.bin %> daemon start',
    '<%= config.bin %> daemon start --profile bob --data-dir ./bob --port 0 --didcomm-port 0',
  ]
  static override flags = {
    foreground: Flags.boolean({ description: 'stay in this terminal, and write the log to it' }),
    'data-dir': Flags.string({ description: 'folder of everything the agent keeps (AGENT_DATA_DIR)' }),
    host: Flags.string({ description: 'address that both servers bind (AGENT_HOST)' }),
    port: Flags.integer({ description: 'port of the HTTP API, 0 for a free one (AGENT_HTTP_PORT)', min: 0, max: 65_535 }),
    'didcomm-port': Flags.integer({
      description: 'port of the DIDComm endpoint, 0 for a free one (AGENT_DIDCOMM_PORT)',
      min: 0,
      max: 65_535,
    }),
    profile: Flags.string({ char: 'p', description: 'profile that the daemon writes and other commands read (AGENT_PROFILE)' }),
  }

  async run() {
    const { flags } = await this.parse(DaemonStart)
    const around = fromProcess()
    const dataDir = chooseDataDir(flags, around)
    const variables = {
      AGENT_DATA_DIR: dataDir,
      AGENT_PROFILE: flags.profile ?? around.AGENT_PROFILE,
      ...(flags.host !== undefined && { AGENT_HOST: flags.host }),
      ...(flags.port !== undefined && { AGENT_HTTP_PORT: String(flags.port) }),
      ...(flags['didcomm-port'] !== undefined && { AGENT_DIDCOMM_PORT: String(flags['didcomm-port']) }),
    }
    if (flags.foreground) return this.stay(childEnv(variables))

    const running = await findDaemon(dataDir)
    if (running) this.say('The daemon is running already.')
    const { url, didcommUrl, pid, calls } = running ?? (await this.leave(dataDir, childEnv(variables)))
    const log = logPath(dataDir)
    this.log(
      fields(
        [
          ['api', url],
          ['didcomm', didcommUrl],
          ['pid', pid],
          ['data', dataDir],
          ['log', log],
        ],
        this.width,
      ),
    )
    if (calls !== undefined) this.say(calls)
    this.suggest(
      'agent connection invite',
      'agent tenant create <name>',
      'agent daemon stop',
      flags.profile === undefined || flags.profile === around.AGENT_PROFILE ? undefined : `agent profile use ${flags.profile}`,
    )
    return { url, didcommUrl, pid, dataDir, log, calls, started: running === undefined }
  }

  private async leave(dataDir: string, env: NodeJS.ProcessEnv) {
    const { child, ready } = launchInBackground(dataDir, env, true)
    const message = await ready
    letGo(child)
    return message
  }

  private async stay(env: NodeJS.ProcessEnv): Promise<undefined> {
    const { child, ready } = launchInForeground(env)
    const ended = once(child, 'exit')
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    process.on('SIGHUP', () => child.kill('SIGTERM'))
    // A terminal sends Ctrl-C to the daemon as well, and a second signal would stop it at once.
    process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
    const message = await ready.catch((error: CommandError) => {
      // The daemon has said why, in this terminal.
      if (child.exitCode !== null) return this.exit(error.exitCode)
      throw error
    })
    this.say(
      fields([
        ['api', message.url],
        ['didcomm', message.didcommUrl],
      ]),
    )
    this.say(message.calls)
    const [code] = (await ended) as [number | null]
    if (code !== 0) this.exit(code ?? 1)
  }
}
