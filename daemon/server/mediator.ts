/**
 * The mediator role on the DIDComm port, like the Identus mediator: `POST /` for messages to its DID, `GET
 * /did`, `/invitation` and `/invitationOOB`, and the WebSocket `/ws` (`sockets.ts`). Without the role, none
 * of them exists.
 */
import type { Context, Middleware } from 'koa'
import { randomId } from '../../src/foundation/id.ts'
import { encryptedType, type Envelope } from '../../src/exchange/didcomm/jwe.ts'
import { createInvitation, toInvitationUrl } from '../../src/exchange/didcomm/invitation.ts'
import type { Mediator } from '../../src/exchange/mediator/mediator.ts'
import { RateLimited } from '../../src/exchange/mediator/handler.ts'

/**
 * Answers a message to the mediator's DID: 200 with the packed answer, 202 when there is none or it is sent
 * separately.
 *
 * @throws {Problem} 429 with `Retry-After` when the address sends too many messages, and the mediator's
 * refusals.
 */
export async function receiveForMediator(
  mediator: Mediator,
  context: Context,
  envelope: Envelope,
  address: string,
): Promise<void> {
  const receive = async () => {
    await mediator.countMessage(address)
    return mediator.receive(envelope, { address })
  }
  const answer = await receive().catch((error: unknown) => {
    if (error instanceof RateLimited) context.set('Retry-After', String(error.waitSeconds))
    throw error
  })
  context.body = answer ?? ''
  context.status = answer === undefined ? 202 : 200
  if (answer !== undefined) context.set('Content-Type', encryptedType)
}

/** The pages of the mediator, with CORS headers for wallets in browsers of any origin. */
export function mediatorPages(mediator: Mediator): Middleware {
  const invitation = () =>
    createInvitation({
      id: randomId(),
      from: mediator.did,
      goalCode: 'request-mediate',
      goal: 'RequestMediate',
      accept: ['didcomm/v2'],
    })
  const pages: Readonly<Record<string, () => string | object>> = {
    '/did': () => mediator.did,
    '/invitation': invitation,
    '/invitationOOB': () => toInvitationUrl(mediator.url, invitation()),
  }
  return async (context, next) => {
    const page = Object.hasOwn(pages, context.path) ? pages[context.path] : undefined
    if (context.path === '/' || page) {
      context.set({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' })
    }
    if (context.method === 'OPTIONS' && (context.path === '/' || page)) {
      context.set({
        'Access-Control-Allow-Methods': 'GET, POST',
        'Access-Control-Allow-Headers': 'Content-Type',
      })
      context.status = 204
    } else if (context.method === 'GET' && page) context.body = page()
    else await next()
  }
}
