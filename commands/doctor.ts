/** `agent doctor` */
import * as Flags from '@oclif/core/flags'
import { StartError } from '../src/base/start-error.ts'
import { AgentCommand } from '../cli/base-command.ts'
import { childEnv, findDataDir, fromProcess, type Access } from '../cli/client/settings.ts'
import {
  examineAtRest,
  render,
  type Check,
  checkNode,
  checkProfile,
  checkDaemon,
  checkTenantKey,
  deepPatienceMs,
  examine,
} from '../cli/doctor.ts'

export default class Doctor extends AgentCommand {
  static override summary =
    'Examine this program, the daemon and its ledger, and say what mends what is wrong'
  static override description =
    'Exits with 0 when nothing has failed (warnings may be there), 7 when no daemon answers, 4 when a key is not accepted, 1 otherwise. With the administrator’s key the daemon examines itself as well; while none answers, its data folder on this machine is looked at.'
  static override flags = {
    deep: Flags.boolean({ description: 'check every database file, which takes up to ten minutes' }),
  }
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --deep',
    '<%= config.bin %> doctor --json | jq ".checks[] | select(.status != \\"ok\\")"',
  ]

  protected override timeoutMs: number | undefined = undefined
  #isDeep = false

  async run() {
    const { flags } = await this.parse(Doctor)
    this.#isDeep = flags.deep
    if (flags.deep) this.timeoutMs = deepPatienceMs
    const { AGENT_CONFIG_DIR, AGENT_PROFILE } = fromProcess()
    const here = [
      checkNode(process.version, String(this.config.pjson.engines?.['node'])),
      checkProfile(AGENT_CONFIG_DIR, flags.profile ?? AGENT_PROFILE),
    ]
    const access = this.#findAccess()
    const found = access ? [...here, ...(await this.#ask(access))] : here
    const checks = found.map(({ hint, ...check }) =>
      hint === undefined ? check : { ...check, hint: this.#forThis(hint) },
    )
    const bad = checks.filter(({ status }) => status !== 'ok')
    if (!this.isQuiet) this.log(render(checks, this.paint))
    else if (bad.length > 0) this.log(bad.map(({ name }) => name).join('\n'))
    process.exitCode = exitCodeOf(checks)
    return { checks }
  }

  /** Where the daemon is; nothing when the profile, which is a check of its own, does not say. */
  #findAccess(): Access | undefined {
    try {
      return this.access
    } catch (error) {
      if (error instanceof StartError) return undefined
      throw error
    }
  }

  async #ask({ url, adminKey, apiKey }: Access): Promise<Check[]> {
    const daemon = await checkDaemon(this.call, url, this.config.version)
    if (daemon.status === 'failed') return [daemon, ...(await this.#lookAtFolder())]
    return [
      daemon,
      await checkTenantKey(this.call, apiKey !== undefined),
      ...(await examine(this.call, adminKey !== undefined, this.#isDeep)),
    ]
  }

  /** Whose folder it would be is not known of an address that somebody gave, nor of another machine's. */
  async #lookAtFolder(): Promise<Check[]> {
    const around = fromProcess()
    const { profile } = this.access
    const isGiven =
      this.common.url !== undefined || (this.common.profile === undefined && around.AGENT_URL !== undefined)
    if (isGiven || profile?.kind === 'remote') return []
    return examineAtRest(
      childEnv({
        AGENT_DATA_DIR: findDataDir(this.common, around),
        AGENT_PROFILE: this.common.profile ?? around.AGENT_PROFILE,
      }),
      this.#isDeep,
    )
  }

  /** A command that mends something, for the daemon that was asked about. */
  #forThis(hint: string): string {
    const { profile } = this.common
    const isOfDaemons = /\bagent daemon (?:start|stop)\b/.test(hint)
    return profile !== undefined && isOfDaemons
      ? hint.replaceAll(/\bagent daemon (?:start|stop)\b/g, `$& --profile ${profile}`)
      : this.forSameDaemon(hint)
  }
}

function exitCodeOf(checks: readonly Check[]): number {
  const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name)
  if (failed.includes('daemon')) return 7
  if (failed.includes('tenant-key') || failed.includes('admin-key')) return 4
  return failed.length > 0 ? 1 : 0
}
