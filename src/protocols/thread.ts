/** Which thread a message is about: mostly its own; what is said about another thread belongs there. */
import { reportProblem } from './report-problem/model.ts'
import { RevokeBody, revocationNotification } from './revocation-notification/model.ts'

type Message = {
  id: string
  type: string
  thid?: string | undefined
  pthid?: string | undefined
  body: unknown
}

/** Thread ids are no longer than this (`didcomm/message.ts`), wherever they stand. */
const longestThid = 1_024

/** A report names the thread with the problem (Report Problem 2.0), a revocation that of the credential. */
export function threadOf({ id, type, thid = id, pthid, body }: Message): string {
  if (type === reportProblem.messages['problem-report']) return pthid ?? thid
  if (type !== revocationNotification.messages.revoke) return thid
  const about = RevokeBody.safeParse(body).data?.issueCredentialProtocolThreadId ?? thid
  return about.length <= longestThid ? about : thid
}
