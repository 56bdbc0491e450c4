/** Problem reports that answer a presentation (wire.md 6, api.md 5.3). */
import { z } from 'zod'
import { findPeers } from '../connection/peers.ts'
import { findByThread } from '../find.ts'
import type { Handler } from '../receive.ts'
import { advanceByReply } from '../record.ts'
import { presentProof } from './model.ts'

const ReportBody = z.looseObject({ code: z.string(), comment: z.string().nullish() })

/** The verifier says that the proof does not hold: the prover's record says so too. A report about anything else is taken and changes nothing. */
export const onProblemReport: Handler = async (wallet, { from, to, thid, pthid, body }) => {
  const nothing = () => Promise.resolve()
  const record = await findByThread(wallet.db, presentProof, 'Prover', pthid ?? thid)
  const peers = await findPeers(wallet.db, from, to)
  const report = ReportBody.safeParse(body).data
  if (!record || !report || record.connectionId !== peers?.connectionId) return nothing
  if (record.state !== 'PresentationSent' && record.state !== 'PresentationGenerated') return nothing
  const metaLastFailure = { status: 400, type: report.code, title: 'Problem report', detail: report.comment ?? undefined }
  return (tx) => advanceByReply(tx, presentProof, record.id, 'received problem-report', { metaLastFailure })
}
