/**
 * The DIDComm endpoint: `POST /{mailbox}` and `POST /` on a port of its own (DIDComm Messaging 2.1,
 * Transports).
 *
 * It is open to everyone: a message is accepted if it is encrypted for a DID of this agent. `Host` and
 * `Origin` are therefore not checked.
 */
import { bodyParser } from '@koa/bodyparser'
import type Koa from 'koa'
import type { Context } from 'koa'
import type { Agent } from '../../src/agent/agent.ts'
import { isTemporary, Problem } from '../../src/foundation/problem.ts'
import { inSpan, type SpanStart } from '../../src/foundation/spans.ts'
import { didOf } from '../../src/did/document.ts'
import { encryptedType, parseEnvelope } from '../../src/exchange/didcomm/jwe.ts'
import { peerDidsOnly } from '../../src/did/peer.ts'
import { findEndpoint } from '../../src/exchange/didcomm/route.ts'
import { unpack, type Unpacked } from '../../src/exchange/didcomm/unpack.ts'
import { composition } from '../../src/exchange/all-protocols.ts'
import { receive } from '../../src/exchange/engine/receive.ts'
import { messageSpan } from '../../src/exchange/engine/spans.ts'
import { NotOwnerError } from '../../src/foundation/storage/not-owner-error.ts'
import { unlessDeleted } from '../../src/foundation/storage/transferred.ts'
import { forRequest, type Wallet } from '../../src/wallet/wallet.ts'
import { findFirstPeerKey } from '../../src/wallet/peer-dids.ts'
import { withQuotas } from '../../src/wallet/quotas.ts'
import { cors } from '../middleware/cors.ts'
import { contextOf } from '../middleware/request-context.ts'
import { messageSpans } from '../middleware/request-spans.ts'
import type { Forwarding } from '../nodes/forward.ts'
import type { Shutdown } from '../middleware/shutdown.ts'
import { createBaseApp } from './app.ts'
import { mediatorPages, receiveForMediator } from './mediator.ts'

/**
 * Makes the application. Its response is 200 with an empty body for a message that is accepted, or was
 * before.
 */
export function createDidcommApp(agent: Agent, shutdown?: Shutdown, forwarding?: Forwarding): Koa {
  const maxBytes = agent.config.DIDCOMM_MAX_RECEIVE_BYTES
  const app = createBaseApp(agent, {
    publicUrl: agent.env.urls.didcomm,
    isProxied: agent.config.MEDIATOR_TRUST_PROXY,
    clientOf: (context) => clientOf(agent, context),
    // `logRefusal` logs the reason of a refusal at `info`.
    failedLevel: 'debug',
    spans: messageSpans,
    shutdown,
    forward: forwarding?.middleware('didcomm', (ctx) =>
      agent.env.tokens.findWalletId('mailbox', ctx.path.slice(1)),
    ),
  })
  app.use(cors(agent.config.AGENT_CORS_ORIGINS))
  if (agent.mediator) app.use(mediatorPages(agent.mediator))
  app.use(
    bodyParser({
      enableTypes: ['text'],
      extendTypes: { text: [encryptedType] },
      textLimit: maxBytes,
      onError: (error) => {
        const isTooLarge = (error as { status?: number }).status === 413
        const detail = isTooLarge
          ? `The message is larger than ${maxBytes} bytes.`
          : `The body cannot be read: ${error.message}.`
        throw new Problem('error:DIDCommControllerError:RequestBodyParsingError', detail, { cause: error })
      },
    }),
  )
  app.use((ctx) => receiveMessage(agent, ctx).catch((error: unknown) => logRefusal(agent, ctx, error)))
  return app
}

async function receiveMessage(agent: Agent, ctx: Context): Promise<void> {
  const context = contextOf(ctx)
  context.route = 'POST /{mailbox}'
  const [, token, ...more] = ctx.path.split('/')
  if (ctx.method !== 'POST' || token === undefined || more.length > 0)
    throw new Problem(
      'error:ResourcePathNotFound',
      'This is a DIDComm endpoint: it takes POST / and POST /{mailbox}.',
    )
  if (!ctx.is(encryptedType))
    throw new Problem(
      'error:DIDCommControllerError:InvalidContentType',
      `The content type must be ${encryptedType}.`,
    )
  const envelope = parseEnvelope(ctx.request.rawBody ?? '')
  const recipient = didOf(envelope.kids[0]!)
  if (agent.mediator?.owns(recipient))
    return receiveForMediator(agent.mediator, ctx, envelope, context.address)
  const walletId = await findWallet(agent, token, recipient)
  context.walletId = walletId
  const noteThread = (thid: string) => context.thids.add(thid)
  const work = async (wallet: Wallet) => {
    const unpacked = await unpack(envelope, {
      findPrivateKey: (kids) => findFirstPeerKey(wallet, kids),
      resolve: composition.resolverOf(wallet, recipient),
    })
    const { id, thid = id } = unpacked.message
    noteThread(thid)
    await inSpan(
      () => spanOf(agent, ctx, unpacked),
      () =>
        receive(
          forRequest(withQuotas(wallet, 'others'), context.log, noteThread),
          composition,
          unpacked,
          context.address,
        ),
    )
  }
  await unlessDeleted(agent.wallets.use(walletId, work, context.log), recipientNotFound)
  ctx.status = 200
  ctx.body = ''
}

/**
 * The span of a message, from the beginning of its request. The sender's context is in the plaintext, which
 * only the sender can have written.
 */
function spanOf({ config }: Agent, ctx: Context, unpacked: Unpacked): SpanStart {
  const context = contextOf(ctx)
  context.hasSpan = true
  const { traceparent } = unpacked.message as { traceparent?: unknown }
  const isTrusted = config.TRACE_PEERS && unpacked.authenticated && typeof traceparent === 'string'
  return {
    ...messageSpan(unpacked, Object.keys(composition.handlers), composition.threadOf(unpacked.message)),
    parent: isTrusted ? traceparent : null,
    startedAt: context.startedAt,
  }
}

/**
 * The client of a message is the wallet that it is addressed to. Without one in the URL, it is the sender's
 * address.
 */
async function clientOf(agent: Agent, ctx: Context): Promise<string> {
  const walletId = await agent.env.tokens.findWalletId('mailbox', ctx.path.slice(1))
  return walletId === undefined ? `address ${contextOf(ctx).address}` : `mailbox of ${walletId}`
}

/** Logs why a message was refused, never its content. Errors of status 500 and above are logged by `problem`. */
function logRefusal({ env }: Agent, ctx: Context, error: unknown): never {
  // Another process judges the message.
  if (error instanceof NotOwnerError) throw error
  const type = error instanceof Problem ? error.type : 'error:InternalServerError'
  env.metrics.add('agent_messages_refused_total', { reason: type.replace(/^.*[:/]/, '') })
  const { log, walletId, thids } = contextOf(ctx)
  if (error instanceof Problem && error.status < 500)
    log.info(
      { type: error.type, status: error.status, reason: error.message, walletId, thids: [...thids] },
      'a DIDComm message was refused',
    )
  // A sender does not learn which host cannot be reached, or where the operator has it.
  if (isTemporary(error))
    throw new Problem(error.type, 'The message cannot be judged now. Send it again later.', { cause: error })
  throw error
}

/** The wallet of the mailbox in the URL, or else in the service endpoint of the recipient's DID. */
async function findWallet(agent: Agent, token: string, recipient: string): Promise<string> {
  const walletId = await agent.env.tokens.findWalletId(
    'mailbox',
    token === '' ? await mailboxOf(agent, recipient) : token,
  )
  if (walletId === undefined) throw recipientNotFound()
  return walletId
}

function recipientNotFound(): Problem {
  return new Problem(
    'error:DIDCommControllerError:RecipientNotFound',
    'No wallet of this agent is the recipient of the message.',
  )
}

/**
 * Only did:peer is resolved, because the recipient's DID is chosen by the sender and the agent's own are
 * did:peer.
 */
async function mailboxOf(agent: Agent, recipient: string): Promise<string> {
  const document = await peerDidsOnly(agent.env.resolver.document)(recipient).catch(() => undefined)
  return (document && findEndpoint(document)?.split('/').at(-1)) ?? ''
}
