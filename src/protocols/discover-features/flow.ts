/** Discover Features 2.0 (wire.md 7): the other side of a connection asks what we can do. */
import { z } from 'zod'
import { readBody } from '../body.ts'
import { mustKnow, putAnswer } from '../notice.ts'
import type { Handler } from '../engine/receive.ts'
import { disclose, featuresOf } from './features.ts'

export const discoverFeatures = {
  name: 'discover-features',
  messages: {
    queries: 'https://didcomm.org/discover-features/2.0/queries',
    disclose: 'https://didcomm.org/discover-features/2.0/disclose',
  },
} as const

const QueriesBody = z.looseObject({
  queries: z.array(z.looseObject({ 'feature-type': z.string(), match: z.string() })).max(100),
})

/** Discloses what is asked for, an empty list when that is nothing. */
export const onQueries: Handler = async (wallet, message) => {
  await mustKnow(wallet.db, message)
  const { queries: asked } = readBody(message, QueriesBody, 'message of queries')
  const body = { disclosures: disclose(featuresOf(wallet.env.config.DIDCOMM_MAX_RECEIVE_BYTES), asked) }
  const answer = { type: discoverFeatures.messages.disclose, thid: message.thid, body }
  return (tx) => putAnswer(tx, message, discoverFeatures.name, answer)
}
