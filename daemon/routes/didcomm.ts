/** `/didcomm`: decrypts envelopes for inspection, and sends trust pings. */
import * as z from 'zod'
import { PlaintextMessage, refuse } from '../../src/exchange/didcomm/message.ts'
import { unpack } from '../../src/exchange/didcomm/unpack.ts'
import { parseEnvelope } from '../../src/exchange/didcomm/jwe.ts'
import { findFirstPeerKey } from '../../src/wallet/peer-dids.ts'
import { getPing, sendPing } from '../../src/exchange/protocols/trust-ping/flow.ts'
import { Ping, SendPing, toPing } from '../../src/exchange/protocols/trust-ping/model.ts'
import { allScopes, Uuid } from '../../src/wallet/model.ts'
import { route } from '../http/route.ts'

const Envelope = z
  .object({
    envelope: z
      .union([z.string(), z.looseObject({})])
      .describe('The JWE as it was sent, as text or as JSON.'),
  })
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
    authenticated: z.boolean().describe('Whether `from` is authenticated, or only a claim.'),
    anonymous: z.boolean(),
    message: PlaintextMessage,
  })
  .meta({ id: 'UnpackResponse' })

export default [
  route(
    'POST /didcomm/unpack',
    {
      summary: 'Decrypt an envelope for this wallet without processing its message',
      operationId: 'unpackMessage',
      extension: true,
      access: 'tenant',
      scopes: allScopes,
      body: Envelope,
      // As a JSON string, an envelope has a backslash before each quote, so it is longer.
      bodyLimit: ({ DIDCOMM_MAX_RECEIVE_BYTES }) => 2 * DIDCOMM_MAX_RECEIVE_BYTES,
      reply: [200, Explanation],
    },
    async ({ wallet, agent }, { body: { envelope } }) => {
      const text = typeof envelope === 'string' ? envelope : JSON.stringify(envelope)
      const maxBytes = agent.config.DIDCOMM_MAX_RECEIVE_BYTES
      if (Buffer.byteLength(text) > maxBytes) refuse(`the envelope is larger than ${maxBytes} bytes`)
      return unpack(parseEnvelope(text), {
        findPrivateKey: (kids) => findFirstPeerKey(wallet, kids),
        resolve: agent.env.resolver.document,
      })
    },
  ),

  route(
    'POST /didcomm/pings',
    {
      summary: 'Send a trust ping to a connection or a DID',
      operationId: 'sendPing',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      body: SendPing,
      reply: [201, Ping],
    },
    async ({ wallet }, { body }) => toPing(await sendPing(wallet, body)),
  ),

  route(
    'GET /didcomm/pings/{id}',
    {
      summary: 'Read whether a trust ping was answered',
      operationId: 'getPing',
      extension: true,
      access: 'tenant',
      path: { id: Uuid },
      reply: [200, Ping],
    },
    async ({ wallet }, { path }) => toPing(await getPing(wallet.db, path.id)),
  ),
] as const
