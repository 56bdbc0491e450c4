/** `/didcomm` (ours): a look into an envelope, for whoever holds its key. */
import { z } from 'zod'
import { PlaintextMessage } from '../../src/didcomm/message.ts'
import { unpack } from '../../src/didcomm/unpack.ts'
import { parseEnvelope } from '../../src/didcomm/jwe.ts'
import { findFirstPeerKey } from '../../src/wallet/peer-dids.ts'
import { route } from '../route.ts'

const Envelope = z
  .object({ envelope: z.union([z.string(), z.looseObject({})]).describe('The JWE as it was sent, as text or as JSON.') })
  .meta({ id: 'UnpackRequest' })

const Layer = z.object({
  type: z.enum(['authcrypt', 'anoncrypt', 'signed']),
  alg: z.string().optional(),
  enc: z.string().optional(),
  recipientKids: z.array(z.string()).optional(),
  senderKid: z.string().optional(),
  signerKids: z.array(z.string()).optional(),
})

const Explanation = z
  .object({
    layers: z.array(Layer).describe('From the outside in.'),
    recipientKid: z.string().describe('The key of this wallet that opened it.'),
    senderKid: z.string().optional(),
    signerKid: z.string().optional(),
    authenticated: z.boolean().describe('Whether `from` is proved, or a mere claim.'),
    anonymous: z.boolean(),
    message: PlaintextMessage,
  })
  .meta({ id: 'UnpackResponse' })

export default [
  route(
    'POST /didcomm/unpack',
    { summary: 'Open an envelope for this wallet, and change nothing', access: 'tenant', body: Envelope, reply: [200, Explanation] },
    ({ wallet, agent }, { body: { envelope } }) =>
      unpack(parseEnvelope(typeof envelope === 'string' ? envelope : JSON.stringify(envelope)), {
        findPrivateKey: (kids) => findFirstPeerKey(wallet, kids),
        resolve: agent.env.resolver.document,
      }),
  ),
] as const
