/** What every command has that talks to a daemon: where it is, what lets us in, and how results are printed. */
import type { Interfaces } from '@oclif/core'
import * as Flags from '@oclif/core/flags'
import { createClient, type Client } from '../daemon/client/client.ts'
import { createFileClient, type FileClient } from '../daemon/client/file-client.ts'
import { openEventStream, type StreamOptions } from '../daemon/client/event-client.ts'
import { findId, isWhole } from './client/find-id.ts'
import { readEvents, type Event, type Reading } from './client/events.ts'
import { currentUrl, findAccess, fromProcess, type Access } from './client/settings.ts'
import { kindOf } from './completion/kinds.ts'
import { colour } from './format/colour.ts'
import { fields, table, type Column } from './format/table.ts'
import { PlainCommand } from './plain.ts'
import { canAsk } from './prompts/ask.ts'
import { askForMissing, typed, withoutRules, type Questions } from './prompts/missing.ts'
import { asTyped, prepareWait, spellOut, type Records, type Topic, type Waiting } from './wait.ts'

type Shown = { contents: readonly unknown[]; next?: string | undefined; hasMore?: boolean }

export abstract class AgentCommand extends PlainCommand {
  static override baseFlags = {
    url: Flags.string({ description: 'base URL of the daemon’s HTTP API (AGENT_URL)', helpGroup: 'DAEMON' }),
    profile: Flags.string({
      char: 'p',
      description: 'profile of the daemon (AGENT_PROFILE); the one in use when left out',
      helpGroup: 'DAEMON',
    }),
    'api-key-file': Flags.string({
      description: 'file of the tenant’s key, - for standard input (AGENT_API_KEY: the key)',
      helpGroup: 'DAEMON',
    }),
    'admin-key-file': Flags.string({
      description: 'file of the administrator’s key (AGENT_ADMIN_KEY: the key)',
      helpGroup: 'DAEMON',
    }),
    quiet: Flags.boolean({ char: 'q', description: 'print ids only', helpGroup: 'GLOBAL' }),
    ...PlainCommand.baseFlags,
  }

  /** What is asked for at a terminal when it is missing. */
  protected readonly questions: Questions = {}

  /** How long a call may take; the client's own limit when nothing is said. */
  protected readonly timeoutMs: number | undefined

  #access: Access | undefined
  /** The ids that were found already, by kind and text. */
  readonly #found: Record<string, string> = {}
  #hasFailed = false
  /** Made for the first stream: an end costs as much as a request. */
  #ending: AbortController | undefined

  /** As oclif's; `--wait` may stand alone, and what is missing is asked for where there is somebody to ask. */
  protected override async parse<
    F extends Interfaces.OutputFlags<any>,
    B extends Interfaces.OutputFlags<any>,
    A extends Interfaces.OutputArgs<any>,
  >(options?: Interfaces.Input<F, B, A>, argv = this.argv): Promise<Interfaces.ParserOutput<F, B, A>> {
    const { wait } = (options?.flags ?? {}) as { wait?: { type: string } }
    const words = wait?.type === 'option' ? spellOut(argv) : argv
    const parsed = await super.parse(options, options ? await this.#complete(options, words) : words)
    await this.#findIds(parsed)
    return parsed
  }

  /** Puts the id in the place of what names a thing otherwise, in every argument and flag that is of a thing. @throws as `findId`. */
  async #findIds({
    args,
    flags,
  }: {
    args: Record<string, unknown>
    flags: Record<string, unknown>
  }): Promise<void> {
    for (const [kind, values] of [
      ['arg', args],
      ['flag', flags],
    ] as const) {
      for (const [name, value] of Object.entries(values)) {
        const of = kindOf({ command: { id: this.id ?? '' }, kind, name })
        if (of === undefined || of === 'file' || of === 'profile' || of === 'record') continue
        const find = async (text: unknown) => {
          if (typeof text !== 'string' || text === '-' || isWhole(of, text)) return text
          this.#found[`${of} ${text}`] ??= await findId(of, text, this.call, { ...flags, ...args })
          return this.#found[`${of} ${text}`]
        }
        values[name] = Array.isArray(value) ? await Promise.all(value.map(find)) : await find(value)
      }
    }
  }

  /** The command line with what was missing in it. What else may be wrong with it is for the parser to say. */
  async #complete(options: Interfaces.Input<any, any, any>, argv: readonly string[]): Promise<string[]> {
    if (Object.keys(this.questions).length === 0 || !canAsk({ json: this.jsonEnabled() })) return [...argv]
    const given = await super.parse(withoutRules(options), [...argv]).catch(() => undefined)
    if (!given || this.isQuiet) return [...argv]
    await this.#findIds(given)
    const complete = await askForMissing(this.questions, argv, {
      call: this.call,
      given: { ...given.args, ...given.flags },
    })
    if (complete.length > argv.length)
      this.say(
        colour(process.stderr)(
          'faint',
          `$ ${typed(['agent', ...(this.id ?? '').split(':'), ...asTyped(complete)])}`,
        ),
      )
    return complete
  }

  /** However the command ends: an open stream would keep the process. */
  protected override async finally(error: Error | undefined): Promise<void> {
    this.#ending?.abort()
    await super.finally(error)
  }

  /** True when ids only are wanted. */
  protected get isQuiet(): boolean {
    return this.common.quiet ?? false
  }

  /** The daemon that this command goes to. */
  protected get access(): Access {
    this.#access ??= findAccess(this.common, fromProcess())
    return this.#access
  }

  /**
   * Calls an endpoint of the daemon, typed by its contract. `/wallets`, `/iam`, `/audit`, the doctor, the master key and backups go out with the administrator's
   * key, as do questions about the events of a wallet that is named, everything else with the tenant's; a tenant without the
   * administrator's key may see its own wallet.
   *
   * @throws {ProblemError} the daemon's answer when it is a problem.
   * @throws {DaemonUnreachable}
   */
  protected readonly call = ((key: string, input: { query?: { walletId?: string } } = {}) => {
    const { url, adminKey } = this.access
    const mayBeAdmins = key.includes(' /wallets') || input.query?.walletId !== undefined
    const isAdmins =
      / \/(?:iam|audit|_system\/(?:doctor|master-key|backups))/.test(key) ||
      (mayBeAdmins && adminKey !== undefined)
    const call = createClient(url, this.#credentials(isAdmins), {
      ...(this.timeoutMs !== undefined && { timeoutMs: this.timeoutMs }),
    }) as (key: string, input: object) => unknown
    return call(key, input)
  }) as Client

  /** Calls of the administrator's that take or give a file. */
  protected get files(): FileClient {
    return createFileClient(this.access.url, this.#credentials(true))
  }

  /**
   * The tenant's events from now on, or after one, across restarts of the daemon. Once this returns, nothing is missed.
   *
   * @throws {ProblemError} @throws {DaemonUnreachable}
   */
  protected openEvents(
    { after, ...query }: { after?: string | undefined } & NonNullable<StreamOptions['query']>,
    reading: Reading,
  ): Promise<AsyncIterable<Event>> {
    const headers = this.#credentials(query.walletId !== undefined && this.access.adminKey !== undefined)
    this.#ending ??= new AbortController()
    const signal = AbortSignal.any([reading.signal, this.#ending.signal])
    const open = (lastEventId: string | undefined) =>
      openEventStream(currentUrl(this.access, fromProcess()), headers, { query, lastEventId, signal })
    return readEvents(open, after, { ...reading, signal })
  }

  #credentials(isAdmins: boolean): Record<string, string> {
    const { adminKey, apiKey } = this.access
    const [header, secret] = isAdmins
      ? (['x-admin-api-key', adminKey] as const)
      : (['apikey', apiKey] as const)
    return secret ? { [header]: secret.reveal() } : {}
  }

  /**
   * Gets ready for `--wait`, before the call that makes or moves a record: what it returns is given the record, shows it once the wait is
   * over, and returns it as it is then. `usual` is the state that is waited for when none is named.
   *
   * @throws {UsageError} for a state that there is not. What it returns throws as `prepareWait` says, after it has shown the record.
   */
  protected async waiting<T extends Topic>(topic: T, flags: Waiting, usual: string) {
    const open = (type: Event['type'], signal: AbortSignal) => this.openEvents({ type }, { signal })
    const wait = await prepareWait(topic, flags, usual, this.call, open, (line) => this.sayAtTerminal(line))
    return async (made: Records[T], show: (record: Records[T]) => void): Promise<Records[T]> => {
      const { record, failure } = await wait(made)
      // The error names the command that comes next.
      this.#hasFailed = failure !== undefined
      show(record)
      if (!failure) return record
      if (this.jsonEnabled()) this.logJson(record)
      throw failure
    }
  }

  /** Says what a person at a terminal waits for; in a script, the result says it. */
  protected sayAtTerminal(line: string): void {
    if (process.stderr.isTTY && !this.isQuiet) this.say(line)
  }

  protected override suggest(...commands: (string | undefined)[]): void {
    if (!this.#hasFailed) super.suggest(...commands)
  }

  /** Prints one result: its id with `--quiet`, its fields otherwise; nothing with `--json`. */
  protected print(id: string, pairs: readonly (readonly [name: string, value: unknown])[]): void {
    this.log(this.isQuiet ? id : fields(pairs, this.width, this.paint))
  }

  /** Says that a list goes on after the page that was printed, and how to see the rest. */
  protected sayMore(
    { contents, next, hasMore = next !== undefined }: Shown,
    { offset }: { offset: number },
  ): void {
    // With --quiet and --limit, exactly so many ids are wanted.
    if (!hasMore || (this.isQuiet && this.argv.some((word) => word.startsWith('--limit')))) return
    const end = offset + contents.length
    this.say(`\nShown: ${offset + 1} to ${end}, the newest first. There are more.`)
    const rest = this.argv.filter(
      (word, index, all) => !/^--offset(?:=|$)/.test(word) && all[index - 1] !== '--offset',
    )
    this.suggest(typed(['agent', ...(this.id ?? '').split(':'), ...rest, '--offset', String(end)]))
  }

  /** Prints a list: ids with `--quiet`, a table otherwise. Of an empty one it says so on standard error. */
  protected printList<Row>(
    rows: readonly Row[],
    id: (row: Row) => string,
    columns: readonly Column<Row>[],
    whenEmpty: string,
  ): void {
    if (rows.length === 0) return this.say(whenEmpty)
    this.log(this.isQuiet ? rows.map(id).join('\n') : table(rows, columns, this.width, this.paint))
  }
}
