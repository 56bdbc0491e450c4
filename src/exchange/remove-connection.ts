/** Removes connections (extension: the Cloud Agent removes unanswered invitations only). */
import { Problem } from '../foundation/problem.ts'
import { cancelJobs, JobBody } from '../wallet/outbox/job.ts'
import type { Tx } from '../foundation/storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { removeRecord } from './engine/remove.ts'
import { outcomes } from './all-protocols.ts'
import { connection, type ConnectionRecord } from './protocols/connection/model.ts'

/**
 * Removes a connection or an invitation with its peer DID, so that messages of the other side are refused as
 * those of strangers. The other side is not notified. Records and messages that were exchanged over the
 * connection stay; messages that were not delivered yet are dropped.
 *
 * @throws {Problem} 404; 403 while a flow over the connection waits
 */
export function removeConnection(wallet: Wallet, id: string): Promise<void> {
  return removeRecord(wallet, connection, id, async (tx, record) => {
    await requireIdle(tx, record)
    await cancelMessages(tx, record)
  })
}

/** A flow that waits could neither go on nor be ended without its connection. */
async function requireIdle(tx: Tx, { id }: ConnectionRecord): Promise<void> {
  const waiting = await tx
    .selectFrom('record')
    .select(['id', 'protocol', 'state', 'data'])
    .where('waits_since', 'is not', null)
    .where('data', 'like', `%${id}%`)
    .execute()
  const flow = waiting.find(
    ({ data }) => (JSON.parse(data) as { connectionId?: unknown }).connectionId === id,
  )
  if (!flow) return
  throw new Problem(
    'Not Allowed',
    `The ${flow.protocol} record ${flow.id} over the connection ${id} is in state ${flow.state}. Finish or remove it first.`,
  )
}

async function cancelMessages(tx: Tx, { myDid, theirDid }: ConnectionRecord): Promise<void> {
  if (myDid === undefined || theirDid === undefined) return
  const candidates = await tx
    .selectFrom('job')
    .select(['id', 'body'])
    .where('kind', '=', 'message')
    .where('body', 'like', `%${myDid}%`)
    .execute()
  const jobs = candidates
    .map(({ id, body }) => ({ id, body: JobBody.parse(JSON.parse(body)) }))
    .filter(({ body }) => body.kind === 'message' && body.from === myDid && body.to === theirDid)
  for (const { body } of jobs)
    await outcomes[body.protocol]?.(tx, body.recordId, 'The connection was removed.')
  await cancelJobs(
    tx,
    jobs.map(({ id }) => id),
  )
}
