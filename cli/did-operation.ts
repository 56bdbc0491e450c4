/**
 * Operations of DIDs on the ledger: their flags, the wait until the ledger has processed one, and what is
 * printed.
 */
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import { factsOf } from '../src/definitions/did-names.ts'
import type { Answer } from './client/api.ts'
import type { Context } from './define-command.ts'
import { CommandError } from './errors/errors.ts'
import { nextForDid, shownDid, type Did } from './format/records.ts'
import { readTimeout, timeoutFlag } from './input/time.ts'
import { poll } from './poll.ts'

/** The flags of waiting; `dependsOn` names the flag without which there is no operation. */
export function ledgerWaitFlags(dependsOn: string[] = []) {
  return {
    wait: Flags.boolean({ dependsOn, description: 'wait until the ledger has processed the operation' }),
    timeout: timeoutFlag,
  }
}

type ScheduledOperation = Answer<'POST /did-registrar/dids/{didRef}/updates'>
type WaitFlags = { wait?: boolean; timeout?: string | undefined }

/**
 * The result of an operation in a word, and whether the ledger has accepted it. A new operation clears the
 * failure of the last one.
 */
const operations = {
  publication: { done: 'published', isAccepted: ({ status }: Did) => status === 'PUBLISHED' },
  update: { done: 'changed', isAccepted: ({ metaLastFailure }: Did) => metaLastFailure?.status !== 422 },
  deactivation: {
    done: 'deactivated',
    isAccepted: ({ metaLastFailure }: Did) => metaLastFailure?.status !== 422,
  },
}
type OperationName = keyof typeof operations

export type OperationContext = Pick<Context<object, WaitFlags>, 'call' | 'flags' | 'print' | 'suggest'>

/**
 * Schedules an operation and prints it. With `--wait`, polls until the ledger has processed it, and returns
 * the DID too.
 *
 * @throws {UsageError} for a timeout that is not a duration, before anything is scheduled.
 * @throws {CommandError} 6 when the time is over, 1 when the ledger has rejected the operation.
 */
export async function runOperation<Scheduled extends ScheduledOperation>(
  { call, flags, print, suggest }: OperationContext,
  operation: OperationName,
  schedule: () => Promise<Scheduled>,
): Promise<Scheduled & Partial<Did>> {
  const timeoutMs = flags.wait ? readTimeout(flags) : undefined
  const scheduled = await schedule()
  const { id, didRef } = scheduled.scheduledOperation
  const did =
    timeoutMs === undefined ? undefined : await waitForLedger(call, id, didRef, operation, timeoutMs)
  const isImmediate = factsOf(didRef)?.kind !== 'ledger'
  print(didRef, [
    ['did', didRef],
    ['operation', id],
    ['state', did ? shownDid(did) : isImmediate ? operations[operation].done : 'on its way to the ledger'],
  ])
  suggest(did ? nextForDid(did) : `agent did show ${didRef}`)
  return { ...scheduled, ...did }
}

async function waitForLedger(
  call: Client,
  operationId: string,
  didRef: string,
  operation: OperationName,
  timeoutMs: number,
): Promise<Did> {
  const { done, isAccepted } = operations[operation]
  const hint = `agent did show ${didRef}`
  const did = await poll(
    () => call('GET /did-registrar/dids/{didRef}', { path: { didRef } }),
    ({ pendingOperation }) => pendingOperation !== operationId,
    timeoutMs,
  )
  const { pendingOperation, metaLastFailure } = did
  if (pendingOperation === operationId) {
    const delay = metaLastFailure ? ` ${metaLastFailure.detail}` : ''
    const text = `Timed out: the ledger has not yet processed the operation ${operationId}. The daemon continues.${delay}`
    throw new CommandError(text, 6, hint)
  }
  if (isAccepted(did)) return did
  throw new CommandError(`The DID is not ${done}. ${metaLastFailure?.detail ?? ''}`.trim(), 1, hint)
}
