/** Removes records of any protocol (extension): the record, its jobs, and the peer DID that only it uses. */
import { cancelJobs, JobBody } from '../../wallet/outbox/job.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteChange } from '../../foundation/storage/tx-context.ts'
import { deletePeerDidsOf } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord, noteRemoved } from './find.ts'
import type { Machine } from '../../definitions/machine.ts'
import { queueOf } from './record.ts'
import type { Protocol, Rec } from './protocol.ts'

/**
 * Removes a record in any state, after `prepare` in the same transaction. The other side is not notified.
 *
 * @throws {Problem} 404; whatever `prepare` throws
 */
export function removeRecord<M extends Machine, Data extends object>(
  wallet: Wallet,
  protocol: Protocol<M, Data>,
  id: string,
  prepare?: (tx: Tx, record: Rec<M, Data>) => Promise<unknown>,
): Promise<void> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, protocol, id)
    noteChange(tx, `record ${id}`)
    await prepare?.(tx, record)
    await tx.deleteFrom('record').where('id', '=', id).execute()
    noteRemoved(tx, protocol, record)
    const deleted = await deletePeerDidsOf(tx, [id])
    await cancelJobsOf(tx, id, (name) => deleted > 0 || name === protocol.name)
  })
}

/**
 * Cancels the jobs of a record. If its messages had no DID of their own, notifications about it are still
 * sent: they need no record, and the connection's DIDs stay.
 */
async function cancelJobsOf(tx: Tx, id: string, isOver: (protocol: string) => boolean): Promise<void> {
  const queues = [queueOf(id), `notices:${id}`]
  const jobs = await tx.selectFrom('job').select(['id', 'body']).where('queue', 'in', queues).execute()
  const cancelled = jobs.filter(({ body }) => isOver(JobBody.parse(JSON.parse(body)).protocol))
  await cancelJobs(
    tx,
    cancelled.map((job) => job.id),
  )
}
