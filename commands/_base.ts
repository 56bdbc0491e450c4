/** What every command has that talks to a daemon: where it is, what lets us in, and how results are printed. */
import * as Flags from '@oclif/core/flags'
import type { Interfaces } from '@oclif/core'
import { createClient, type Client } from '../daemon/client.ts'
import { findAccess, fromProcess, type Access, type AccessFlags } from './_client/settings.ts'
import { fields, table, type Column } from './_format/table.ts'
import { PlainCommand } from './_plain.ts'

type BaseFlags = AccessFlags & { quiet?: boolean }

export abstract class AgentCommand extends PlainCommand {
  static override baseFlags = {
    url: Flags.string({ description: 'base URL of the daemon’s HTTP API (AGENT_URL)', helpGroup: 'DAEMON' }),
    profile: Flags.string({ description: 'profile of a daemon on this machine (AGENT_PROFILE)', helpGroup: 'DAEMON' }),
    'api-key-file': Flags.string({ description: 'file of the tenant’s key, - for standard input (AGENT_API_KEY: the key)', helpGroup: 'DAEMON' }),
    'admin-key-file': Flags.string({ description: 'file of the administrator’s key (AGENT_ADMIN_KEY: the key)', helpGroup: 'DAEMON' }),
    quiet: Flags.boolean({ char: 'q', description: 'print ids only', helpGroup: 'GLOBAL' }),
  }

  #flags: BaseFlags = {}
  #access: Access | undefined

  /** As oclif's; remembers the flags that `call` and `print` go by. */
  protected override async parse<F extends Interfaces.OutputFlags<any>, B extends Interfaces.OutputFlags<any>, A extends Interfaces.OutputArgs<any>>(
    options?: Interfaces.Input<F, B, A>,
    argv?: string[],
  ): Promise<Interfaces.ParserOutput<F, B, A>> {
    const parsed = await super.parse(options, argv)
    this.#flags = parsed.flags as BaseFlags
    return parsed
  }

  /** True when ids only are wanted. */
  protected get isQuiet(): boolean {
    return this.#flags.quiet ?? false
  }

  /** The daemon that this command goes to. */
  protected get access(): Access {
    this.#access ??= findAccess(this.#flags, fromProcess())
    this.url = this.#access.url
    return this.#access
  }

  /**
   * Calls an endpoint of the daemon, typed by its contract. `/wallets` and `/iam` go out with the administrator's key,
   * everything else with the tenant's.
   *
   * @throws {ProblemError} the daemon's answer when it is a problem.
   * @throws {DaemonUnreachable}
   */
  protected readonly call = ((key: string, input: object) => {
    const { url, adminKey, apiKey } = this.access
    const isAdmins = /^\w+ \/(wallets|iam)\b/.test(key)
    const [header, secret] = isAdmins ? ['x-admin-api-key', adminKey] : ['apikey', apiKey]
    const call = createClient(url, secret ? { [header as string]: secret.reveal() } : {}) as (key: string, input: object) => unknown
    return call(key, input)
  }) as Client

  /** Prints one result: its id with `--quiet`, its fields otherwise; nothing with `--json`. */
  protected print(id: string, pairs: readonly (readonly [name: string, value: unknown])[]): void {
    this.log(this.isQuiet ? id : fields(pairs, this.width))
  }

  /** Prints a list: ids with `--quiet`, a table otherwise. Of an empty one it says so on standard error. */
  protected printList<Row>(rows: readonly Row[], id: (row: Row) => string, columns: readonly Column<Row>[], whenEmpty: string): void {
    if (rows.length === 0) return this.say(whenEmpty)
    this.log(this.isQuiet ? rows.map(id).join('\n') : table(rows, columns, this.width))
  }

  protected override suggest(...commands: (string | undefined)[]): void {
    if (!this.isQuiet) super.suggest(...commands)
  }
}
