/** Discover Features 2.0 (wire.md 7): the other side of a connection asks what we can do. */
import { z } from 'zod'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { mustKnow, putAnswer } from '../notice.ts'
import type { Handler } from '../receive.ts'
import { disclose } from './features.ts'

export const discoverFeatures = {
  name: 'discover-features',
  messages: {
    queries: 'https://didcomm.org/discover-features/2.0/queries',
    disclose: 'https://didcomm.org/discover-features/2.0/disclose',
  },
} as const

const QueriesBody = z.looseObject({ queries: z.array(z.looseObject({ 'feature-type': z.string(), match: z.string() })).max(100) })

/** Discloses what is asked for, an empty list when that is nothing. */
export const onQueries: Handler = async (wallet, message) => {
  await mustKnow(wallet.db, message)
  const parsed = QueriesBody.safeParse(message.body)
  if (!parsed.success) {
    throw new Problem('error:DIDCommControllerError:UnpackingFailed', `The queries cannot be read: ${reasonOf(parsed.error)}.`)
  }
  const body = { disclosures: disclose(parsed.data.queries) }
  const answer = { type: discoverFeatures.messages.disclose, thid: message.thid, body }
  return (tx) => putAnswer(tx, message, discoverFeatures.name, answer)
}
