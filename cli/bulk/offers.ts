/** Offers a credential to each row of a CSV file, once, also if the command is interrupted and repeated. */
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { DaemonUnreachable, ProblemError } from '../../daemon/client/client.ts'
import type { Answer, Input } from '../client/api.ts'
import type { Context } from '../define-command.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import type { Json } from '../input/files.ts'
import { longLink } from '../invitation.ts'
import { type Csv, readCsv, type Row } from './csv.ts'
import { type Journal, openJournal, type Result } from './journal.ts'
import { showProgress } from './progress.ts'

/** Requests at a time. */
const atOnce = 16

/** The pause after an answer that asks to try again later, and the number of attempts. */
const [pauseMs, maxAttempts] = [1_000, 120]

type Offered = Omit<Input<'POST /issue-credentials/credential-offers'>['body'], 'connectionId' | 'claims'>

export type Bulk = {
  csv: string
  report: string | undefined
  offered: Offered
  /** Claims of all rows. A row may replace them. */
  claims: Record<string, Json>
  goal?: string | undefined
  goalCode?: string | undefined
  /** Seconds in which an invitation can be answered; default: `defaultExpiresIn`. */
  expiresIn?: number | undefined
}

/** Invitations of a bulk run can be answered for seven days: they are mailed. */
const defaultExpiresIn = 7 * 86_400

type Counts = { rows: number; offered: number; failed: number; before: number }
export type Summary = Counts & { report: string }

/**
 * Offers a credential to each row: over the connection that the row names, or else by an invitation.
 *
 * @throws {UsageError} for a mistake in the file, before anything is offered
 * @throws {CommandError} 1 if rows were refused, 7 if the daemon is gone, 130 after Ctrl-C; the run can be
 * resumed
 */
export async function offerAll(context: Context, bulk: Bulk): Promise<Summary> {
  const csv = readCsv(bulk.csv)
  const connections = csv.hasConnections ? await findConnections(context, csv.rows) : undefined
  const report = bulk.report ?? `${bulk.csv}.report.jsonl`
  const { offered, claims, goal, goalCode, expiresIn } = bulk
  const terms = JSON.stringify({ offered, claims, goal, goalCode, expiresIn })
  const journal = openJournal(report, [csv.bytes, terms], expiresIn ?? defaultExpiresIn)
  try {
    const counts = await run(context, bulk, csv, journal, connections)
    const summary = { ...counts, report }
    if (counts.failed === 0) return summary
    if (context.isJson) context.logJson(summary)
    throw new CommandError(
      `${counts.failed} of ${counts.rows} rows were refused. ${report} has the reasons. Correct the rows in a file of their own, or repeat the command to try them again.`,
      1,
    )
  } finally {
    journal.close()
  }
}

async function run(
  context: Context,
  bulk: Bulk,
  { rows }: Csv,
  journal: Journal,
  connections: ReadonlyMap<string, string> | undefined,
): Promise<Counts> {
  const isDone = ({ line }: Row) => journal.known.get(line)?.recordId !== undefined
  const open = rows.filter((row) => !isDone(row))
  const counts: Counts = { rows: rows.length, offered: 0, failed: 0, before: rows.length - open.length }
  if (counts.before > 0)
    context.say(`${counts.before} of ${rows.length} rows have their offer already; continuing with the rest.`)
  const queue = new PQueue({ concurrency: atOnce })
  let failure: Error | undefined
  const stop = (error: Error) => {
    failure ??= error
    queue.clear()
  }
  const interrupt = () => stop(new CommandError(`Interrupted. ${resumeHint(bulk)}`, 130))
  process.once('SIGINT', interrupt)
  const progress = showProgress(context, rows.length, counts.before)
  const offer = async (row: Row) => {
    try {
      const result = await offerTo(context, bulk, row, journal, connections)
      journal.append(result)
      if (result.error) counts.failed++
      else counts.offered++
      progress.step()
    } catch (error) {
      stop(toEnd(error as Error, bulk))
    }
  }
  try {
    for (const row of open) void queue.add(() => offer(row))
    await queue.onIdle()
  } finally {
    progress.end()
    process.off('SIGINT', interrupt)
  }
  if (failure) throw failure
  return counts
}

const resumeHint = ({ csv }: Bulk) =>
  `Repeat the command to continue with the rows of ${csv} that have no offer yet: none is offered twice.`

function toEnd(error: Error, bulk: Bulk): Error {
  if (!(error instanceof DaemonUnreachable)) return error
  return new CommandError(`${error.message} ${resumeHint(bulk)}`, 7, 'agent daemon status')
}

/**
 * Makes the offer of a row.
 *
 * @throws {ProblemError} for an error that the next row would have too; {DaemonUnreachable}
 */
async function offerTo(
  { call, getAccess }: Context,
  { offered, claims, goal, goalCode }: Bulk,
  row: Row,
  { run, expiresIn }: Journal,
  connections: ReadonlyMap<string, string> | undefined,
): Promise<Result> {
  const headers = { 'idempotency-key': `${run}:${row.line}` }
  const terms = { ...offered, claims: { ...claims, ...row.claims } }
  const connectionId = row.connection === undefined ? undefined : connections!.get(row.connection)!
  const send = (): Promise<Answer<'GET /issue-credentials/records/{recordId}'>> =>
    connectionId === undefined
      ? call('POST /issue-credentials/credential-offers/invitation', {
          headers,
          body: { ...terms, goal, goalCode, expiresIn },
        })
      : call('POST /issue-credentials/credential-offers', { headers, body: { ...terms, connectionId } })
  for (let attempt = 1; ; attempt++) {
    try {
      const { recordId, thid, invitation } = await send()
      return {
        line: row.line,
        recordId,
        thid,
        ...(invitation && {
          shortUrl: invitation.shortUrl,
          invitationUrl: longLink(invitation, getAccess().url),
        }),
      }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const { status, type: code, title, detail = title } = error.problem
      if ([429, 503].includes(status) && attempt < maxAttempts) await sleep(pauseMs)
      else if (status >= 500 || [401, 403, 429].includes(status)) throw error
      else return { line: row.line, error: { code, detail } }
    }
  }
}

/**
 * The ids of the connections that the rows name by id or by label.
 *
 * @throws {UsageError} for a name that is not found, or not unique
 */
async function findConnections({ call }: Context, rows: readonly Row[]): Promise<Map<string, string>> {
  const found = new Map<string, string[]>()
  const limit = 1_000
  for (let offset = 0; ; offset += limit) {
    const { contents } = await call('GET /connections', { query: { limit, offset } })
    for (const { connectionId, label } of contents)
      for (const name of [connectionId, label])
        if (name !== undefined) found.set(name, [...(found.get(name) ?? []), connectionId])
    if (contents.length < limit) break
  }
  for (const { line, connection } of rows) {
    const ids = found.get(connection!) ?? []
    if (ids.length === 1) continue
    const reason =
      ids.length === 0
        ? 'there is no connection'
        : `${ids.length} connections have the label, write the id of one:`
    throw new UsageError(
      `--csv: line ${line}: ${reason} ${JSON.stringify(connection)}.`,
      'agent connection list',
    )
  }
  return new Map([...found].map(([name, ids]) => [name, ids[0]!]))
}
